//! The Pod spec inside an object, for the commands that change one feature of it.
//!
//! Models: `k8s.io/kubectl/pkg/polymorphichelpers/updatepodspec.go` (v1.36).
//! Leaves out: ReplicationControllers and PodTemplates.

use serde_json::{Value, json};

use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::kubectl::commands::{Call, DryRun};
use crate::kubectl::failure::Failure;

/// The place of the Pod spec in an object of that kind.
pub(super) fn spec_path(kind: Kind) -> Option<&'static [&'static str]> {
    match kind {
        Kind::Pod => Some(&["spec"]),
        Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::DaemonSet | Kind::Job => {
            Some(&["spec", "template", "spec"])
        }
        Kind::CronJob => Some(&["spec", "jobTemplate", "spec", "template", "spec"]),
        _ => None,
    }
}

/// The Pod spec of an object.
///
/// # Errors
/// When it has none.
pub(super) fn spec_of(object: &Object) -> Result<Value, Failure> {
    let kind = object.kind();
    let value = object.to_value();
    spec_path(kind)
        .and_then(|path| path.iter().try_fold(&value, |value, name| value.get(name)))
        .cloned()
        .ok_or_else(|| {
            Failure::error(format!(
                "{}/{} the object is not a pod or does not have a pod template: *{}.{}",
                kind.plural(),
                object.meta().name,
                kind.version(),
                kind.name()
            ))
        })
}

/// Patches the Pod spec of an object; `what` names the change in an error.
///
/// # Errors
/// The server's refusal.
pub(super) fn patch(
    call: &mut Call,
    object: &Object,
    spec: Value,
    what: &str,
    dry_run: DryRun,
) -> Result<Value, Failure> {
    if dry_run == DryRun::Client {
        return Ok(object.to_value());
    }
    let path = spec_path(object.kind()).unwrap_or(&["spec"]);
    let body = path.iter().rev().fold(spec, |inner, name| json!({*name: inner}));
    let meta = object.meta();
    let mut request = Request::new(Verb::StrategicPatch, object.kind(), &meta.namespace, &meta.name, body);
    request.options.dry_run = dry_run == DryRun::Server;
    request.options.field_validation = FieldValidation::Warn;
    let response = call
        .host
        .ask(request)
        .map_err(|status| Failure::error(format!("failed to patch {what} {}", status.message)))?;
    call.pass_on(&response.warnings);
    Ok(response.object)
}

/// Whether `-c` chooses the container.
pub(super) fn is_chosen(call: &Call, container: &Value) -> bool {
    let pattern = call.flags.text("containers").unwrap_or("*");
    let name = container["name"].as_str().unwrap_or_default();
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}
