//! What the imperative forms of `kubectl create` share.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create.go` (v1.36).
//! Leaves out: nothing.

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::labels::{Operator, Selector};
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::kubectl::commands::{Call, DryRun, Pending, apply, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;

/// The flags that all forms take beside their own.
pub(super) const FLAGS: &[Flag] = &[
    Flag::both("output", 'o', Takes::Text),
    Flag::long("template", Takes::Text),
    Flag::long("allow-missing-template-keys", Takes::Nothing),
    Flag::long("show-managed-fields", Takes::Nothing),
    Flag::long("dry-run", Takes::Optional("unchanged")),
    Flag::long("validate", Takes::Optional("strict")),
    Flag::long("field-manager", Takes::Text),
    Flag::long("save-config", Takes::Nothing),
];

/// The one name that must be given.
///
/// # Errors
/// When there is none or more than one.
pub(super) fn name(call: &Call) -> Result<String, Failure> {
    match call.before_dashes.unwrap_or(call.args.len()) {
        1 => Ok(call.args[0].clone()),
        other => Err(Failure::usage(&call.path, format!("exactly one NAME is required, got {other}"))),
    }
}

/// The words after the name: what the container is to run.
pub(super) fn command(call: &Call) -> Vec<String> {
    call.args.iter().skip(1).cloned().collect()
}

/// A selector as `-l` spells it, as objects hold it.
///
/// # Errors
/// When it cannot be read.
pub(super) fn label_selector(text: &str) -> Result<Value, Failure> {
    let selector = Selector::parse(text).map_err(Failure::error)?;
    let (mut labels, mut expressions) = (serde_json::Map::new(), Vec::new());
    for requirement in selector.requirements() {
        let values: Vec<Value> = requirement.values.iter().cloned().map(Value::String).collect();
        match (requirement.operator, values.as_slice()) {
            (Operator::Equals | Operator::In, [one]) => {
                labels.insert(requirement.key.clone(), one.clone());
            }
            (operator, _) => {
                let word = match operator {
                    Operator::NotIn | Operator::NotEquals => "NotIn",
                    Operator::Exists => "Exists",
                    Operator::DoesNotExist => "DoesNotExist",
                    _ => "In",
                };
                let mut expression = serde_json::json!({"key": requirement.key, "operator": word});
                if !values.is_empty() {
                    expression["values"] = Value::Array(values);
                }
                expressions.push(expression);
            }
        }
    }
    let mut value = serde_json::json!({});
    if !labels.is_empty() {
        value["matchLabels"] = Value::Object(labels);
    }
    if !expressions.is_empty() {
        value["matchExpressions"] = Value::Array(expressions);
    }
    Ok(value)
}

/// How a refusal is told.
pub(super) enum Told<'a> {
    /// `error: failed to create deployment: …`.
    As(&'a str),
    /// `error: failed to create secret …`, without a colon.
    Briefly(&'a str),
    /// As the server says it.
    Plainly,
}

/// Sends the object and says that it was created.
///
/// # Errors
/// The server's refusal.
pub(super) fn send(
    call: &mut Call,
    kind: Kind,
    mut value: Value,
    told: &Told<'_>,
) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let name = value["metadata"]["name"].as_str().unwrap_or_default().to_string();
    let namespace = if kind.is_namespaced() { call.namespace().to_string() } else { String::new() };
    if kind.is_namespaced() && call.flags.given("namespace") {
        value["metadata"]["namespace"] = Value::String(namespace.clone());
    }
    if call.flags.on("save-config") {
        apply::annotate(&mut value);
    }
    if dry_run != DryRun::Client {
        if kind.is_namespaced() {
            value["metadata"]["namespace"] = Value::String(namespace.clone());
        }
        let mut request = Request::new(Verb::Create, kind, &namespace, &name, value);
        request.options.dry_run = dry_run == DryRun::Server;
        request.options.field_validation = FieldValidation::Strict;
        let response = call.host.ask(request).map_err(|status| match told {
            Told::As(what) => Failure::error(format!("failed to create {what}: {}", status.message)),
            Told::Briefly(what) => Failure::error(format!("failed to create {what} {}", status.message)),
            Told::Plainly => Failure::server(&status),
        })?;
        call.pass_on(&response.warnings);
        value = response.object;
    }
    create::print(call, &format, kind.printed(), value, "created", dry_run)?;
    Ok(None)
}
