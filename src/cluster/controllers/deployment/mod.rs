//! The Deployment controller: turns a Deployment into ReplicaSets, one for each revision of its Pod template, and moves
//! Pods from the old ones to the new one within the bounds that the strategy sets.
//!
//! Watches: Deployments, ReplicaSets, Pods (that vanish, for the strategy `Recreate`).
//! Writes: ReplicaSets (create, size, annotations, owner references, delete), Deployment status and revision, events.
//! Models: `pkg/controller/deployment/deployment_controller.go`, `sync.go`, `rolling.go`, `recreate.go`,
//! `progress.go` (v1.36).
//! Leaves out: the rollback annotation of `extensions/v1beta1` (kubectl rolls back by writing the template),
//! `podReplacementPolicy` (alpha), the warning about an empty selector (validation refuses it).

pub mod bounds;
pub mod progress;
pub mod revision;
mod rollout;

use std::sync::Arc;

pub use self::revision::pod_template_hash;
use self::rollout::{Rollout, Surroundings};
use crate::api::kind::Kind;
use crate::api::kinds::apps::{Deployment, ReplicaSet};
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::pod::Pod;
use crate::api::object::{Object, Resource};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership::{self, Claim};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::store::{Change, Store};

const CREATE_ERROR: &str = "ReplicaSetCreateError";

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Deployment => vec![WorkKey::Object(change.key.clone())],
        Kind::ReplicaSet => {
            let (old, new) = (change.old_as::<ReplicaSet>(), change.new_as::<ReplicaSet>());
            let owners = [old, new]
                .into_iter()
                .flatten()
                .filter_map(|set| ownership::controller_key(Kind::Deployment, &set.meta));
            let mut keys: Vec<_> = owners.collect();
            keys.dedup();
            if let Some(set) = new.filter(|set| is_new_orphan(old, set)) {
                let all = view.store.list_in::<Deployment>(&set.meta.namespace);
                let matching = all.filter(|deployment| deployment.spec.selector.matches(&set.meta.labels));
                keys.extend(matching.map(|deployment| WorkKey::Object(deployment.key())));
            }
            keys
        }
        Kind::Pod if change.new.is_none() => {
            let recreating = change.old_as::<Pod>().and_then(|pod| recreating_key(view.store, pod));
            recreating.into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The key of a Pod's Deployment, if that waits for Pods to vanish.
fn recreating_key(store: &Store, pod: &Pod) -> Option<WorkKey> {
    let owner = pod.meta.controller().filter(|owner| owner.kind == Kind::ReplicaSet.name())?;
    let set = store.get::<ReplicaSet>(&pod.meta.namespace, &owner.name)?;
    let key = ownership::controller_key(Kind::Deployment, &set.meta)?;
    let deployment = store.at::<Deployment>(key.object()?)?;
    (deployment.spec.strategy.strategy_type == "Recreate").then_some(key)
}

/// Whether a ReplicaSet that nobody manages is new, or has just become adoptable.
fn is_new_orphan(old: Option<&Arc<ReplicaSet>>, new: &Arc<ReplicaSet>) -> bool {
    let is_orphan = new.meta.controller().is_none() && !new.meta.is_terminating();
    is_orphan && old.is_none_or(|old| old.meta.labels != new.meta.labels || old.meta.controller().is_some())
}

/// Handles one Deployment.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(deployment) = key.object().and_then(|key| view.store.at::<Deployment>(key)) else {
        return Outcome::nothing(Because::new("because.deployment.gone"));
    };
    let mut outcome = Outcome { saw: saw(deployment), ..Outcome::default() };
    let namespace = view.store.get::<Namespace>("", &deployment.meta.namespace);
    let mut surroundings = Surroundings {
        namespace_is_terminating: namespace.is_some_and(|namespace| namespace.meta.is_terminating()),
        ..Surroundings::default()
    };
    let mut sets = Vec::new();
    for set in view.store.list_in::<ReplicaSet>(&deployment.meta.namespace) {
        let matches = deployment.spec.selector.matches(&set.meta.labels);
        match ownership::claim(&deployment.meta, &set.meta, matches) {
            Claim::Owned => sets.push((**set).clone()),
            Claim::Adopt => {
                surroundings.orphans.push(set.meta.name.clone());
                sets.push((**set).clone());
            }
            Claim::Release => {
                let mut freed = (**set).clone();
                ownership::release(&deployment.meta, &mut freed.meta);
                let because = Because::new("because.deployment.release").with("set", &set.meta.name);
                outcome.writes.push(Operation::Update(freed.into()).because(because));
                surroundings.taken_names.push(set.meta.name.clone());
            }
            Claim::Foreign => surroundings.taken_names.push(set.meta.name.clone()),
        }
    }
    if deployment.spec.strategy.strategy_type == "Recreate" {
        let owned = sets.iter().flat_map(|set| view.store.owned_by(&set.meta.uid));
        surroundings.pods = owned.filter_map(Object::get::<Pod>).collect();
    }
    outcome.saw.extend(sets.iter().filter(|set| is_worth_seeing(set)).map(saw_set));

    let mut rollout = Rollout::new(deployment, sets, view.now);
    rollout.run(&surroundings);
    let is_watched = rollout.is_judged;
    let (writes, status, because) = rollout.writes();
    outcome.writes.extend(writes);
    outcome.because = Some(because);
    if is_watched && let Some(ticks) = progress::ticks_until_deadline(deployment, &status, view.now) {
        outcome.look_again(key.clone(), ticks);
    }
    outcome
}

/// What is still to be written after a refusal: that the new ReplicaSet cannot be made.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(deployment) = key.object().and_then(|key| view.store.at::<Deployment>(key)) else {
        return Vec::new();
    };
    let Operation::Create(set) = &write.operation else { return Vec::new() };
    if status.reason == "AlreadyExists" || status.reason == "Conflict" {
        return Vec::new();
    }
    let message = format!("Failed to create new replica set \"{}\": {}", set.meta().name, status.message);
    let because = Because::new("because.deployment.refused").with("message", &status.message);
    let object = Object::Deployment(Arc::clone(deployment));
    let event = EventRecord::warning(&object, CREATE_ERROR, message.clone());
    let mut writes = vec![Operation::Event(event).because(because.clone())];
    if progress::deadline_seconds(deployment).is_some() {
        let mut reported = (**deployment).clone();
        progress::set_condition(
            &mut reported.status.conditions,
            (progress::PROGRESSING, "False"),
            (CREATE_ERROR, &message),
            view.now,
        );
        writes.push(Operation::UpdateStatus(reported.into()).because(because));
    }
    writes
}

fn saw(deployment: &Deployment) -> Vec<Because> {
    let status = &deployment.status;
    let saw = Because::new("because.deployment.saw")
        .with("name", &deployment.meta.name)
        .with("wanted", deployment.spec.replicas.unwrap_or(1))
        .with("replicas", status.replicas)
        .with("updated", status.updated_replicas)
        .with("available", status.available_replicas);
    vec![saw]
}

fn is_worth_seeing(set: &ReplicaSet) -> bool {
    set.spec.replicas.unwrap_or(1) > 0 || set.status.replicas > 0
}

fn saw_set(set: &ReplicaSet) -> Because {
    Because::new("because.deployment.saw_set")
        .with("set", &set.meta.name)
        .with("revision", revision::revision_of(&set.meta))
        .with("wanted", set.spec.replicas.unwrap_or(1))
        .with("replicas", set.status.replicas)
        .with("available", set.status.available_replicas)
}
