//! `kubectl rollout undo`: back to an earlier revision.
//!
//! Models: `k8s.io/kubectl/pkg/polymorphichelpers/rollback.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Map, Value, json};

use super::Revised;
use crate::api::kinds::apps::{Deployment, PodTemplateSpec};
use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::commands::apply::LAST_APPLIED;
use crate::kubectl::commands::{Call, DryRun, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::describe;
use crate::kubectl::print::format::Format;

/// The flags of `rollout undo`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::OUTPUT,
    flags::DRY_RUN,
    &[Flag::long("to-revision", Takes::Number)],
];

const HASH_LABEL: &str = "pod-template-hash";

/// Annotations that belong to the Deployment, whatever its revision.
const OF_DEPLOYMENT: &[&str] = &[
    LAST_APPLIED,
    super::REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
];

/// Puts an earlier template back.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let to = call.flags.number("to-revision").unwrap_or(0);
    if to < 0 {
        return Err(Failure::error(format!("revision must be a positive integer: {to}")));
    }
    let (objects, mut failures) = super::objects(call)?;
    for object in objects {
        let kind = object.kind();
        let Some(revisions) = super::revised(&object, &*call.host) else {
            failures.push(Failure::error(format!(
                "no rollbacker has been implemented for {}.{}",
                kind.plural(),
                kind.group()
            )));
            continue;
        };
        if object.meta().annotations.contains_key(LAST_APPLIED) {
            call.warn(format!(
                "Warning: resource {}/{} was previously managed with 'kubectl apply'. Rolling back will not update the {LAST_APPLIED} annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.",
                kind.plural(),
                object.meta().name
            ));
        }
        let undone = match &object {
            Object::Deployment(deployment) => undo(call, deployment, to, dry_run),
            _ => undo_revision(call, &object, &revisions, to, dry_run),
        };
        match undone {
            Ok(word) => create::print(call, &format, kind.printed(), object.to_value(), &word, dry_run)?,
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// Rolls one Deployment back; says what became of it.
fn undo(call: &mut Call, deployment: &Deployment, to: i64, dry_run: DryRun) -> Result<String, Failure> {
    let sets = super::revisions(deployment, &*call.host);
    let number = |set: &crate::api::kinds::apps::ReplicaSet| super::revision_of(&set.meta.annotations);
    let set = match to {
        0 => sets.iter().rev().nth(1).ok_or_else(|| {
            Failure::error(format!("no rollout history found for deployment \"{}\"", deployment.meta.name))
        })?,
        _ => sets
            .iter()
            .find(|set| number(set) == to)
            .ok_or_else(|| Failure::error(format!("unable to find specified revision {to} in history")))?,
    };
    if dry_run == DryRun::Client {
        return Ok(describe::template::text(&set.spec.template));
    }
    if deployment.spec.paused {
        return Err(Failure::error(
            "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again",
        ));
    }
    let template = without_hash(&set.spec.template);
    if template == without_hash(&deployment.spec.template) {
        return Ok(format!("skipped rollback (current template already matches revision {})", number(set)));
    }
    let mut annotations = Map::new();
    let kept = deployment.meta.annotations.iter().filter(|(key, _)| OF_DEPLOYMENT.contains(&key.as_str()));
    let taken = set.meta.annotations.iter().filter(|(key, _)| !OF_DEPLOYMENT.contains(&key.as_str()));
    annotations.extend(kept.chain(taken).map(|(key, value)| (key.clone(), json!(value))));
    let body = json!([
        {"op": "replace", "path": "/spec/template", "value": template},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ]);
    let kind = crate::api::kind::Kind::Deployment;
    let mut request =
        Request::new(Verb::JsonPatch, kind, &deployment.meta.namespace, &deployment.meta.name, body);
    request.options.dry_run = dry_run == DryRun::Server;
    call.host
        .ask(request)
        .map_err(|status| Failure::error(format!("failed restoring revision {to}: {}", status.message)))?;
    Ok("rolled back".to_string())
}

/// Rolls a StatefulSet or a DaemonSet back to what a ControllerRevision holds.
fn undo_revision(
    call: &mut Call,
    object: &Object,
    revisions: &[Revised],
    to: i64,
    dry_run: DryRun,
) -> Result<String, Failure> {
    let revision = match to {
        0 if revisions.len() < 2 => {
            return Err(Failure::error("no last revision to roll back to"));
        }
        0 => revisions.iter().rev().nth(1),
        _ => revisions.iter().find(|revision| revision.number == to),
    };
    let Some(revision) = revision else {
        return Err(Failure::error(format!("unable to find specified revision {to} in history")));
    };
    if dry_run == DryRun::Client {
        return Ok(describe::template::text(&revision.template));
    }
    let template = object.to_value()["spec"]["template"].clone();
    let present: PodTemplateSpec = crate::api::codec::Codec::decode(template).unwrap_or_default();
    if present == revision.template {
        return Ok(format!(
            "skipped rollback (current template already matches revision {})",
            revision.number
        ));
    }
    let meta = object.meta();
    let mut request = Request::new(
        Verb::StrategicPatch,
        object.kind(),
        &meta.namespace,
        &meta.name,
        revision.patch.clone(),
    );
    request.options.dry_run = dry_run == DryRun::Server;
    call.host
        .ask(request)
        .map_err(|status| Failure::error(format!("failed restoring revision {to}: {}", status.message)))?;
    Ok("rolled back".to_string())
}

fn without_hash(template: &PodTemplateSpec) -> Value {
    let mut template = template.clone();
    template.meta.labels.remove(HASH_LABEL);
    template.to_value()
}
