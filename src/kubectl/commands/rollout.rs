//! `kubectl rollout`: the updates of a Deployment.

pub mod history;
pub mod pause;
pub mod restart;
pub mod status;
pub mod undo;

use std::sync::Arc;

use super::{Call, Command, NOTHING, Run};
use crate::api::kinds::apps::{Deployment, ReplicaSet};
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
