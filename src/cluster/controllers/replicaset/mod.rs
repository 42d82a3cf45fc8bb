//! The ReplicaSet controller: keeps as many Pods as a ReplicaSet wants. The controller of the older ReplicationControllers
//! is the same one, which takes each of them for a ReplicaSet.
//!
//! Watches: ReplicaSets or ReplicationControllers, Pods.
//! Writes: Pods (create, delete, owner references), the status of its kind, events.
//! Models: `pkg/controller/replicaset/replica_set.go`, `replica_set_utils.go`, `pkg/controller/controller_utils.go`
//! (v1.36): `syncReplicaSet`, `manageReplicas`, `calculateStatus`; `pkg/controller/replication/conversion.go`.
//! Leaves out: expectations (a component sees its own writes at once), the refused creations in a terminating namespace
//! (none is tried).

pub mod victims;

use std::borrow::Cow;
use std::sync::Arc;

use self::victims::{Criterion, plan_victims};
use crate::api::kind::Kind;
use crate::api::kinds::apps::{
    LabelSelector, ReplicaSet, ReplicaSetCondition, ReplicaSetStatus, ReplicationController,
};
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::pod::Pod;
use crate::api::meta::OwnerReference;
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership::{self, Claim};
use crate::cluster::pod_template::pod_of;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{CREATED_NAME, EventRecord, Operation, Write};
use crate::cluster::store::{Change, Store};

/// The most Pods created or deleted in one go.
const BURST_REPLICAS: usize = 500;

const SUCCESSFUL_CREATE: &str = "SuccessfulCreate";
const FAILED_CREATE: &str = "FailedCreate";
const SUCCESSFUL_DELETE: &str = "SuccessfulDelete";
const FAILED_DELETE: &str = "FailedDelete";
const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    concerns_of(Kind::ReplicaSet, view, change)
}

/// The keys of that kind that a change concerns.
pub fn concerns_of(kind: Kind, view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        changed if changed == kind => vec![WorkKey::Object(change.key.clone())],
        Kind::Pod => {
            let pods = [change.old_as::<Pod>(), change.new_as::<Pod>()];
            let mut keys: Vec<_> = pods
                .into_iter()
                .flatten()
                .filter_map(|pod| ownership::controller_key(kind, &pod.meta))
                .collect();
            keys.dedup();
            if let Some(pod) = change.new_as::<Pod>()
                && is_new_orphan(change.old_as::<Pod>(), pod)
            {
                let (namespace, labels) = (&pod.meta.namespace, &pod.meta.labels);
                if kind == Kind::ReplicaSet {
                    let sets = view.store.list_in::<ReplicaSet>(namespace);
                    let matching = sets.filter(|set| set.spec.selector.matches(labels));
                    keys.extend(matching.map(|set| WorkKey::Object(set.key())));
                } else {
                    let all = view.store.list_in::<ReplicationController>(namespace);
                    let matching = all.filter(|found| as_set(found).spec.selector.matches(labels));
                    keys.extend(matching.map(|found| WorkKey::Object(found.key())));
                }
            }
            keys
        }
        _ => Vec::new(),
    }
}

/// Whether a Pod that nobody manages is new, or has just become adoptable.
fn is_new_orphan(old: Option<&Arc<Pod>>, new: &Arc<Pod>) -> bool {
    let is_orphan = new.meta.controller().is_none() && new.is_active();
    is_orphan && old.is_none_or(|old| old.meta.labels != new.meta.labels || old.meta.controller().is_some())
}

/// What is kept at its size: a ReplicaSet, or a ReplicationController taken for one.
struct Kept<'a> {
    set: Cow<'a, ReplicaSet>,
    object: Object,
}

impl<'a> Kept<'a> {
    fn at(store: &'a Store, key: &WorkKey) -> Option<Self> {
        let key = key.object()?;
        if key.kind == Kind::ReplicationController {
            let found = store.at::<ReplicationController>(key)?;
            let object = Object::ReplicationController(Arc::clone(found));
            return Some(Self { set: Cow::Owned(as_set(found)), object });
        }
        let found = store.at::<ReplicaSet>(key)?;
        Some(Self { set: Cow::Borrowed(found), object: Object::ReplicaSet(Arc::clone(found)) })
    }

    fn reference(&self) -> OwnerReference {
        match &self.object {
            Object::ReplicationController(found) => ownership::controller_reference(&**found),
            _ => ownership::controller_reference(&*self.set),
        }
    }

    fn with_status(&self, status: ReplicaSetStatus) -> Object {
        let mut object = self.object.clone();
        match &mut object {
            Object::ReplicationController(found) => Arc::make_mut(found).status = status,
            Object::ReplicaSet(found) => Arc::make_mut(found).status = status,
            _ => {}
        }
        object
    }

    /// The report on the Pods that were seen. `failure` is reason and message of a refusal.
    fn status(&self, seen: &Seen, failure: Option<(&str, &str)>, now: Timestamp) -> ReplicaSetStatus {
        let mut status = status_of(&self.set, seen, failure, now);
        if self.object.kind() == Kind::ReplicationController {
            // Its report has no such count.
            status.terminating_replicas = None;
        }
        status
    }
}

/// A ReplicationController as the ReplicaSet that it would be.
fn as_set(found: &ReplicationController) -> ReplicaSet {
    let spec = &found.spec;
    let selector = LabelSelector { match_labels: spec.selector.clone(), ..LabelSelector::default() };
    let mut set =
        ReplicaSet { meta: found.meta.clone(), status: found.status.clone(), ..ReplicaSet::default() };
    set.spec.replicas = spec.replicas;
    set.spec.min_ready_seconds = spec.min_ready_seconds;
    set.spec.selector = selector;
    set.spec.template = spec.template.clone().unwrap_or_default();
    set
}

/// Handles one ReplicaSet or ReplicationController.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(kept) = Kept::at(view.store, key) else {
        return Outcome::nothing(Because::new("because.replicaset.gone"));
    };
    let set = &*kept.set;
    let seen = Seen::of(view.store, set);
    let namespace = view.store.get::<Namespace>("", &set.meta.namespace);
    let may_create = namespace.is_none_or(|namespace| !namespace.meta.is_terminating());
    let mut outcome = plan(view.store, &kept, &seen, may_create, view.now);
    let status = kept.status(&seen, None, view.now);
    let (replicas, ready) = (status.replicas, status.ready_replicas);
    if status != set.status {
        let observed = status.observed_generation;
        let is_only_seen = ReplicaSetStatus { observed_generation: observed, ..set.status.clone() } == status;
        let key = if is_only_seen { "because.replicaset.status_seen" } else { "because.replicaset.status" };
        let because = Because::new(key)
            .with("generation", observed)
            .with("replicas", replicas)
            .with("ready", ready)
            .with("available", status.available_replicas);
        outcome.because.get_or_insert_with(|| because.clone());
        outcome.writes.push(Operation::UpdateStatus(kept.with_status(status)).because(because));
    }
    outcome.because.get_or_insert_with(|| {
        Because::new("because.replicaset.satisfied").with("active", replicas).with("ready", ready)
    });
    let wait = seen.active.iter().filter_map(|pod| ticks_until_available(set, pod, view.now)).min();
    if let Some(ticks) = wait {
        outcome.look_again(key.clone(), ticks);
    }
    outcome
}

/// What is still to be written after a refusal: the event about it, and the condition `ReplicaFailure`.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(kept) = Kept::at(view.store, key) else { return Vec::new() };
    let set = &*kept.set;
    let (reason, text, message) = match &write.operation {
        Operation::Create(_) => {
            (FAILED_CREATE, format!("Error creating: {}", status.message), status.message.clone())
        }
        Operation::Delete { .. } if status.code != 404 => (
            FAILED_DELETE,
            format!("Error deleting: {}", status.message),
            format!("unable to delete pods: {}", status.message),
        ),
        _ => return Vec::new(),
    };
    let because = Because::new("because.replicaset.refused").with("message", &status.message);
    let event = EventRecord::warning(&kept.object, reason, text);
    let mut writes = vec![Operation::Event(event).because(because.clone())];
    let report = kept.status(&Seen::of(view.store, set), Some((reason, &message)), view.now);
    if report != set.status {
        writes.push(Operation::UpdateStatus(kept.with_status(report)).because(because));
    }
    writes
}

/// The Pods of one ReplicaSet.
#[derive(Debug, Default)]
struct Seen {
    /// Neither finished nor terminating, the adopted ones among them, by name.
    active: Vec<Arc<Pod>>,
    /// How many are on their way out.
    terminating: usize,
    /// Active ones that are to be adopted.
    orphans: Vec<Arc<Pod>>,
    /// Active ones whose labels match no longer.
    strays: Vec<Arc<Pod>>,
}

impl Seen {
    fn of(store: &Store, set: &ReplicaSet) -> Self {
        let mut seen = Self::default();
        let owned = store.owned_by(&set.meta.uid).filter_map(Object::get::<Pod>);
        let owned = owned.filter(|pod| pod.meta.is_controlled_by(&set.meta.uid));
        for pod in owned.chain(store.orphan_pods_in(&set.meta.namespace)) {
            if pod.is_finished() {
                continue;
            }
            let matches = set.spec.selector.matches(&pod.meta.labels);
            match ownership::claim(&set.meta, &pod.meta, matches) {
                Claim::Owned if pod.meta.is_terminating() => seen.terminating += 1,
                Claim::Owned => seen.active.push(Arc::clone(pod)),
                Claim::Adopt => {
                    seen.orphans.push(Arc::clone(pod));
                    seen.active.push(Arc::clone(pod));
                }
                Claim::Release if !pod.meta.is_terminating() => seen.strays.push(Arc::clone(pod)),
                Claim::Release | Claim::Foreign => {}
            }
        }
        seen
    }

    fn ready(&self) -> usize {
        self.active.iter().filter(|pod| pod.is_ready()).count()
    }
}

/// Adopts, releases, creates and deletes.
fn plan(store: &Store, kept: &Kept<'_>, seen: &Seen, may_create: bool, now: Timestamp) -> Outcome {
    let (set, object) = (&*kept.set, &kept.object);
    let wanted = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or(0);
    let active = seen.active.len();
    let counted = |key| {
        Because::new(key).with("wanted", wanted).with("active", active).with("terminating", seen.terminating)
    };
    let mut outcome = Outcome {
        saw: vec![
            counted("because.replicaset.saw")
                .with("kind", object.kind().name())
                .with("name", &set.meta.name)
                .with("ready", seen.ready()),
        ],
        ..Outcome::default()
    };
    for pod in &seen.strays {
        let mut freed = (**pod).clone();
        ownership::release(&set.meta, &mut freed.meta);
        let because = counted("because.replicaset.release").with("pod", &pod.meta.name);
        outcome.writes.push(Operation::Update(freed.into()).because(because));
    }
    for pod in &seen.orphans {
        let mut adopted = (**pod).clone();
        ownership::adopt_by(kept.reference(), &mut adopted.meta);
        let because = counted("because.replicaset.adopt").with("pod", &pod.meta.name);
        outcome.writes.push(Operation::Update(adopted.into()).because(because));
    }
    if set.meta.is_terminating() {
        outcome.because = Some(Because::new("because.replicaset.terminating"));
        return outcome;
    }
    if active < wanted {
        let count = (wanted - active).min(BURST_REPLICAS);
        if !may_create {
            let because = Because::new("because.replicaset.namespace").with("namespace", &set.meta.namespace);
            outcome.because = Some(because);
            return outcome;
        }
        let key = match seen.terminating {
            0 => "because.replicaset.create",
            _ => "because.replicaset.create_beside",
        };
        let because = counted(key).with("count", count);
        let pod = Object::from(pod_of(&set.spec.template, &set.meta, kept.reference()));
        let event = EventRecord::normal(object, SUCCESSFUL_CREATE, format!("Created pod: {CREATED_NAME}"));
        for index in 0..count {
            let create = Operation::Create(pod.clone()).because(because.clone());
            let tell = Operation::Event(event.clone()).because(because.clone());
            outcome.writes.extend([create, tell].map(|write| write.slow_start(index)));
        }
        outcome.because = Some(because);
    } else if active > wanted {
        let count = (active - wanted).min(BURST_REPLICAS);
        let own: Vec<&Arc<Pod>> = seen.active.iter().collect();
        for victim in plan_victims(&own, related_pods(store, set), count, now) {
            let because =
                counted(victim_key(victim.criterion)).with("count", count).with("pod", &victim.pod.meta.name);
            let delete = Operation::Delete {
                key: victim.pod.key(),
                uid: Some(victim.pod.meta.uid.clone()),
                grace_seconds: None,
                propagation: Propagation::Background,
            };
            outcome.writes.push(delete.because(because.clone()));
            let text = format!("Deleted pod: {}", victim.pod.meta.name);
            let event = EventRecord::normal(object, SUCCESSFUL_DELETE, text);
            outcome.writes.push(Operation::Event(event).because(because));
        }
        outcome.because = Some(counted("because.replicaset.delete").with("count", count));
    } else {
        outcome.because = outcome.writes.first().map(|write| write.because.clone());
    }
    outcome
}

/// The catalogue key that says why this Pod goes and not another.
fn victim_key(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::All => "because.replicaset.delete_all",
        Criterion::Unassigned => "because.replicaset.delete_unassigned",
        Criterion::Phase => "because.replicaset.delete_phase",
        Criterion::NotReady => "because.replicaset.delete_not_ready",
        Criterion::DeletionCost => "because.replicaset.delete_cost",
        Criterion::DoubledUp => "because.replicaset.delete_doubled_up",
        Criterion::ReadyTime => "because.replicaset.delete_ready_time",
        Criterion::Restarts => "because.replicaset.delete_restarts",
        Criterion::Created => "because.replicaset.delete_created",
        Criterion::Uid => "because.replicaset.delete_any",
    }
}

/// The Pods of all ReplicaSets that have the same controller: those that a victim is compared with for doubling up.
fn related_pods<'a>(store: &'a Store, set: &ReplicaSet) -> impl Iterator<Item = &'a Arc<Pod>> {
    let owner = set.meta.controller().map(|owner| owner.uid.clone());
    let siblings = owner.into_iter().flat_map(|uid| {
        store
            .owned_by(&uid)
            .filter_map(Object::get::<ReplicaSet>)
            .filter(|sibling| sibling.meta.is_controlled_by(&uid))
            .collect::<Vec<_>>()
    });
    siblings.flat_map(|sibling| store.owned_by(&sibling.meta.uid)).filter_map(Object::get::<Pod>)
}

/// The report on the Pods that were seen. `failure` is reason and message of a refusal.
fn status_of(
    set: &ReplicaSet,
    seen: &Seen,
    failure: Option<(&str, &str)>,
    now: Timestamp,
) -> ReplicaSetStatus {
    let count = |is: &dyn Fn(&Pod) -> bool| {
        i32::try_from(seen.active.iter().filter(|pod| is(pod)).count()).unwrap_or(i32::MAX)
    };
    let template_labels = &set.spec.template.meta.labels;
    let has_all_labels =
        |pod: &Pod| template_labels.iter().all(|(key, value)| pod.meta.labels.get(key) == Some(value));
    let mut status = set.status.clone();
    status.replicas = count(&|_| true);
    status.fully_labeled_replicas = count(&has_all_labels);
    status.ready_replicas = count(&Pod::is_ready);
    status.available_replicas = count(&|pod| pod.is_available(set.spec.min_ready_seconds, now));
    status.terminating_replicas = Some(i32::try_from(seen.terminating).unwrap_or(i32::MAX));
    status.observed_generation = set.meta.generation;
    let has_failed = status.conditions.iter().any(|condition| condition.condition_type == REPLICA_FAILURE);
    match failure {
        Some((reason, message)) if !has_failed => status.conditions.push(ReplicaSetCondition {
            condition_type: REPLICA_FAILURE.to_string(),
            status: "True".to_string(),
            last_transition_time: Some(now),
            reason: reason.to_string(),
            message: message.to_string(),
            ..ReplicaSetCondition::default()
        }),
        Some(_) => {}
        None => status.conditions.retain(|condition| condition.condition_type != REPLICA_FAILURE),
    }
    status
}

/// Ticks until a Pod that is Ready counts as available; `None` if it does, or is not Ready.
fn ticks_until_available(set: &ReplicaSet, pod: &Pod, now: Timestamp) -> Option<u64> {
    let available_at = pod.ready_since()?.0 + i64::from(set.spec.min_ready_seconds);
    u64::try_from(available_at - now.0).ok().filter(|&ticks| ticks > 0)
}
