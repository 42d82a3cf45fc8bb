//! `kubectl scale`: another number of Pods.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/scale/scale.go` (v1.36).
//! Leaves out: waiting with `--timeout`.

use serde_json::{Value, json};

use super::{Call, DryRun, Pending};
use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `scale`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::TIMEOUT,
    flags::RECORD,
    &[
        Flag::long("replicas", Takes::Number),
        Flag::long("current-replicas", Takes::Number),
        Flag::long("resource-version", Takes::Text),
    ],
];

/// Sets the number of Pods wanted.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let replicas = call.flags.number("replicas").unwrap_or(-1);
    if replicas < 0 {
        return Err(Failure::error(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0",
        ));
    }
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let (objects, mut failures) = resources::targets(call)?;
    let any = !objects.is_empty();
    for object in objects {
        match scale(call, &object, replicas, dry_run) {
            Ok(value) => {
                super::create::print(call, &format, object.kind().printed(), value, "scaled", dry_run)?
            }
            Err(failure) => failures.push(failure),
        }
    }
    if !any && failures.is_empty() {
        return Err(Failure::error("no objects passed to scale"));
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

fn scale(call: &mut Call, object: &Object, replicas: i64, dry_run: DryRun) -> Result<Value, Failure> {
    let current = match object {
        Object::Deployment(deployment) => deployment.spec.replicas,
        Object::ReplicaSet(set) => set.spec.replicas,
        Object::StatefulSet(set) => set.spec.replicas,
        Object::ReplicationController(found) => found.spec.replicas,
        _ => {
            return Err(Failure::exactly(
                "Error from server (NotFound): the server could not find the requested resource",
            ));
        }
    };
    let current = i64::from(current.unwrap_or(1));
    let meta = object.meta();
    if let Some(expected) = call.flags.number("current-replicas").filter(|expected| *expected >= 0)
        && expected != current
    {
        return Err(Failure::error(format!("Expected replicas to be {expected}, was {current}")));
    }
    let version = meta.resource_version.0.to_string();
    if let Some(expected) = call.flags.text("resource-version").filter(|expected| !expected.is_empty())
        && expected != version
    {
        return Err(Failure::error(format!("Expected resource version to be {expected}, was {version}")));
    }
    if dry_run == DryRun::Client {
        return Ok(object.to_value());
    }
    let body = json!({"spec": {"replicas": replicas}});
    let mut request = Request::new(Verb::MergePatch, object.kind(), &meta.namespace, &meta.name, body);
    request.subresource = "scale".to_string();
    request.options.dry_run = dry_run == DryRun::Server;
    call.host.ask(request).map_err(|status| Failure::server(&status))?;
    let shown = call.host.store().object(&object.key()).unwrap_or(object);
    Ok(shown.to_value())
}
