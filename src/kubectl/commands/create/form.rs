//! What the imperative forms of `kubectl create` share.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create.go` (v1.36).
//! Leaves out: nothing.

use serde_json::Value;

use crate::api::kind::Kind;
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::kubectl::commands::{Call, DryRun, Pending, apply, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::Flag;
use crate::kubectl::print::format::Format;

/// The flags that all forms take, with their own.
pub(super) const OUTPUT: &[Flag] = flags::OUTPUT;
pub(super) const DRY_RUN: &[Flag] = flags::DRY_RUN;
pub(super) const VALIDATE: &[Flag] = flags::VALIDATE;
pub(super) const FIELD_MANAGER: &[Flag] = flags::FIELD_MANAGER;
pub(super) const SAVE_CONFIG: &[Flag] = flags::SAVE_CONFIG;

/// The one name that must be given.
///
/// # Errors
/// When there is none or more than one.
pub(super) fn name(call: &Call) -> Result<String, Failure> {
    match call.args.as_slice() {
        [name] => Ok(name.clone()),
        args => Err(Failure::usage(&call.path, format!("exactly one NAME is required, got {}", args.len()))),
    }
}

/// How a refusal is told.
pub(super) enum Told<'a> {
    /// `error: failed to create deployment: …`.
    As(&'a str),
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
            Told::Plainly => Failure::server(&status),
        })?;
        call.pass_on(&response.warnings);
        value = response.object;
    }
    create::print(call, &format, kind.printed(), value, "created", dry_run)?;
    Ok(None)
}
