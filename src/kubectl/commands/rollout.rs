//! `kubectl rollout`: the updates of Deployments, StatefulSets and DaemonSets.

pub mod history;
pub mod pause;
pub mod restart;
pub mod status;
pub mod undo;

use std::sync::Arc;

use super::{Call, Command, NOTHING, Run};
use crate::api::kind::Kind;
use crate::api::kinds::apps::{Deployment, PodTemplateSpec, ReplicaSet};
use crate::api::kinds::workloads::ControllerRevision;
use crate::api::object::Object;
use crate::kubectl::failure::Failure;
use crate::kubectl::host::Host;
use crate::kubectl::resources;

/// The commands below `rollout`.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "history",
        about: "View rollout history",
        flags: history::FLAGS,
        run: Run::Does(history::run),
        ..NOTHING
    },
    Command {
        name: "pause",
        about: "Mark the provided resource as paused",
        flags: pause::FLAGS,
        run: Run::Does(pause::pause),
        ..NOTHING
    },
    Command {
        name: "restart",
        about: "Restart a resource",
        flags: restart::FLAGS,
        run: Run::Does(restart::run),
        ..NOTHING
    },
    Command {
        name: "resume",
        about: "Resume a paused resource",
        flags: pause::FLAGS,
        run: Run::Does(pause::resume),
        ..NOTHING
    },
    Command {
        name: "status",
        about: "Show the status of the rollout",
        flags: status::FLAGS,
        run: Run::Does(status::run),
        ..NOTHING
    },
    Command {
        name: "undo",
        about: "Undo a previous rollout",
        flags: undo::FLAGS,
        run: Run::Does(undo::run),
        ..NOTHING
    },
];

/// The annotation in which the controller numbers a revision.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation with a reason that a person gave.
pub const CHANGE_CAUSE: &str = "kubernetes.io/change-cause";

/// What the arguments name: a kind alone means all of its objects.
fn objects(call: &mut Call) -> Result<(Vec<Object>, Vec<Failure>), Failure> {
    if call.args.is_empty() && !call.flags.given("filename") {
        return Err(Failure::error("required resource not specified"));
    }
    if call.flags.given("filename") {
        return resources::targets(call);
    }
    let wanted = resources::wanted(&call.args, &*call.host)?;
    let narrowing = call.narrowing();
    let by_name = wanted.iter().any(|wish| matches!(wish, resources::Wanted::Named(..)));
    if by_name && narrowing.labels.is_some() {
        return Err(resources::name_with_selector());
    }
    let (found, failures) = resources::find(&*call.host, &wanted, &narrowing);
    Ok((found.into_iter().flat_map(|found| found.objects).collect(), failures))
}

/// The number in the revision annotation; 0 without one.
fn revision_of(annotations: &std::collections::BTreeMap<String, String>) -> i64 {
    annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The ReplicaSets of a Deployment, oldest revision first.
fn revisions(deployment: &Deployment, host: &dyn Host) -> Vec<Arc<ReplicaSet>> {
    let mut sets: Vec<Arc<ReplicaSet>> = host
        .store()
        .list_in::<ReplicaSet>(&deployment.meta.namespace)
        .filter(|set| set.meta.is_controlled_by(&deployment.meta.uid))
        .cloned()
        .collect();
    sets.sort_by_key(|set| revision_of(&set.meta.annotations));
    sets
}

/// One revision that can be rolled back to.
pub(super) struct Revised {
    /// Its number.
    number: i64,
    /// What its Pods looked like.
    template: PodTemplateSpec,
    /// The reason that a person gave.
    cause: Option<String>,
    /// What brings it back, for kinds that keep ControllerRevisions.
    patch: serde_json::Value,
}

/// The revisions of a workload, oldest first; `None` for kinds that have none.
fn revised(object: &Object, host: &dyn Host) -> Option<Vec<Revised>> {
    let cause = |meta: &crate::api::meta::ObjectMeta| {
        meta.annotations.get(CHANGE_CAUSE).filter(|cause| !cause.is_empty()).cloned()
    };
    match object {
        Object::Deployment(deployment) => {
            let sets = revisions(deployment, host);
            let of = |set: &Arc<ReplicaSet>| Revised {
                number: revision_of(&set.meta.annotations),
                template: set.spec.template.clone(),
                cause: cause(&set.meta),
                patch: serde_json::Value::Null,
            };
            Some(sets.iter().map(of).collect())
        }
        _ if matches!(object.kind(), Kind::StatefulSet | Kind::DaemonSet) => {
            let meta = object.meta();
            let mut all: Vec<Revised> = host
                .store()
                .list_in::<ControllerRevision>(&meta.namespace)
                .filter(|revision| revision.meta.is_controlled_by(&meta.uid))
                .map(|revision| Revised {
                    number: revision.revision,
                    template: crate::api::codec::Codec::decode(revision.data["spec"]["template"].clone())
                        .unwrap_or_default(),
                    cause: cause(&revision.meta),
                    patch: revision.data.clone(),
                })
                .collect();
            all.sort_by_key(|revision| revision.number);
            Some(all)
        }
        _ => None,
    }
}
