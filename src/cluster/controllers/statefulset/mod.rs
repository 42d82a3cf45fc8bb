//! The StatefulSet controller: numbered Pods, each with a name and claims of its own, one after the other.
//!
//! Watches: StatefulSets, Pods.
//! Writes: Pods, PersistentVolumeClaims, ControllerRevisions, StatefulSet status, events.
//! Models: `pkg/controller/statefulset/stateful_set_control.go`, `stateful_pod_control.go` (v1.36): `updateStatefulSet`,
//! `processReplica`, `processCondemned`, `updateStatefulSetAfterInvariantEstablished`, `completeRollingUpdate`.
//! Leaves out: repairing identity or volumes that somebody changed by hand.

mod claims;
mod pods;

use std::sync::Arc;

use self::pods::{
    claims_of, is_running_and_available, is_running_and_ready, is_unavailable, new_pod, ordinal_of,
    revision_of, wanted_ordinals, with_identity,
};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::storage::PersistentVolumeClaim;
use crate::api::kinds::workloads::{ControllerRevision, StatefulSet, StatefulSetStatus};
use crate::api::object::{Object, Resource};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership::{self, Claim};
use crate::cluster::queue::WorkKey;
use crate::cluster::revisions::{self, History, Style, template_in};
use crate::cluster::server::request::Propagation;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::store::Change;

const SUCCESSFUL_CREATE: &str = "SuccessfulCreate";
const FAILED_CREATE: &str = "FailedCreate";
const SUCCESSFUL_DELETE: &str = "SuccessfulDelete";

const REVISIONS: Style =
    Style { hash_label: "controller.kubernetes.io/hash", because: "because.statefulset.revision" };

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::StatefulSet => vec![WorkKey::Object(change.key.clone())],
        Kind::Pod => {
            let pods = [change.old_as::<Pod>(), change.new_as::<Pod>()];
            let mut keys: Vec<_> = pods
                .into_iter()
                .flatten()
                .filter_map(|pod| ownership::controller_key(Kind::StatefulSet, &pod.meta))
                .collect();
            keys.dedup();
            if let Some(pod) = change.new_as::<Pod>().filter(|pod| pod.meta.controller().is_none()) {
                let sets = view.store.list_in::<StatefulSet>(&pod.meta.namespace);
                let matching = sets.filter(|set| {
                    ordinal_of(set, &pod.meta.name).is_some() && set.spec.selector.matches(&pod.meta.labels)
                });
                keys.extend(matching.map(|set| WorkKey::Object(set.key())));
            }
            keys
        }
        _ => Vec::new(),
    }
}

/// Handles one StatefulSet.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(set) = key.object().and_then(|key| view.store.at::<StatefulSet>(key)) else {
        return Outcome::nothing(Because::new("because.statefulset.gone"));
    };
    let mut sync = Sync::of(view, set);
    let history = revisions::history(
        view.store,
        &**set,
        &set.spec.template,
        set.status.collision_count.unwrap_or(0),
        &REVISIONS,
    );
    let current = history.named(&set.status.current_revision).unwrap_or(&history.update);
    sync.current = Some(Arc::clone(current));
    sync.update = Some(Arc::clone(&history.update));
    if set.meta.is_terminating() {
        sync.say(Because::new("because.statefulset.terminating"));
    } else {
        sync.outcome.writes.extend(history.writes.clone());
        sync.act();
    }
    let status = sync.status(&history);
    sync.report(status);
    sync.clean_up(&history);
    sync.look_again(key);
    sync.outcome
}

/// What is still to be written after a refusal: the event about it.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(set) = key.object().and_then(|key| view.store.at::<StatefulSet>(key)) else { return Vec::new() };
    let name = &set.meta.name;
    let text = match &write.operation {
        Operation::Create(Object::Pod(pod)) => {
            format!("Create Pod {} in StatefulSet {name} failed error: {}", pod.meta.name, status.message)
        }
        Operation::Create(Object::PersistentVolumeClaim(claim)) => {
            let ordinal = claim.meta.name.rsplit('-').next().unwrap_or_default();
            let message = &status.message;
            format!(
                "Create Claim {} for Pod {name}-{ordinal} in StatefulSet {name} failed error: {message}",
                claim.meta.name
            )
        }
        _ => return Vec::new(),
    };
    let because = Because::new("because.statefulset.refused").with("message", &status.message);
    let event = EventRecord::warning(&Object::StatefulSet(Arc::clone(set)), FAILED_CREATE, text);
    vec![Operation::Event(event).because(because)]
}

/// Whether the rest of the work waits for this.
#[derive(PartialEq)]
enum Next {
    GoOn,
    Wait,
}

/// One look at a StatefulSet.
struct Sync<'a> {
    view: &'a View<'a>,
    set: &'a Arc<StatefulSet>,
    /// The wanted numbers with their Pods.
    replicas: Vec<(i32, Option<Arc<Pod>>)>,
    /// Pods whose numbers are not wanted, highest number first.
    condemned: Vec<Arc<Pod>>,
    current: Option<Arc<ControllerRevision>>,
    update: Option<Arc<ControllerRevision>>,
    /// Pods deleted to be replaced.
    replaced: i32,
    outcome: Outcome,
}

impl<'a> Sync<'a> {
    fn of(view: &'a View<'a>, set: &'a Arc<StatefulSet>) -> Self {
        let mut pods: Vec<(i32, Arc<Pod>)> = Vec::new();
        let mut outcome = Outcome::default();
        let owned = view.store.owned_by(&set.meta.uid).filter_map(Object::get::<Pod>);
        let owned = owned.filter(|pod| pod.meta.is_controlled_by(&set.meta.uid));
        for pod in owned.chain(view.store.orphan_pods_in(&set.meta.namespace)) {
            let Some(ordinal) = ordinal_of(set, &pod.meta.name) else { continue };
            let matches = set.spec.selector.matches(&pod.meta.labels);
            match ownership::claim(&set.meta, &pod.meta, matches) {
                Claim::Owned => pods.push((ordinal, Arc::clone(pod))),
                Claim::Adopt => {
                    let mut adopted = (**pod).clone();
                    ownership::adopt(&**set, &mut adopted.meta);
                    let because = Because::new("because.statefulset.adopt").with("pod", &pod.meta.name);
                    outcome.writes.push(Operation::Update(adopted.into()).because(because));
                    pods.push((ordinal, Arc::clone(pod)));
                }
                Claim::Release => {
                    let mut freed = (**pod).clone();
                    ownership::release(&set.meta, &mut freed.meta);
                    let because = Because::new("because.statefulset.release").with("pod", &pod.meta.name);
                    outcome.writes.push(Operation::Update(freed.into()).because(because));
                }
                Claim::Foreign => {}
            }
        }
        let wanted = wanted_ordinals(set);
        let find = |ordinal| pods.iter().find(|(known, _)| *known == ordinal).map(|(_, pod)| Arc::clone(pod));
        let replicas: Vec<_> = wanted.clone().map(|ordinal| (ordinal, find(ordinal))).collect();
        let mut condemned: Vec<_> =
            pods.iter().filter(|(ordinal, _)| !wanted.contains(ordinal)).cloned().collect();
        condemned.sort_by_key(|(ordinal, _)| std::cmp::Reverse(*ordinal));
        let ready = pods.iter().filter(|(_, pod)| is_running_and_ready(pod)).count();
        let saw = Because::new("because.statefulset.saw").with("name", &set.meta.name);
        outcome.saw.push(saw.with("wanted", wanted.len()).with("pods", pods.len()).with("ready", ready));
        let condemned = condemned.into_iter().map(|(_, pod)| pod).collect();
        Self { view, set, replicas, condemned, current: None, update: None, replaced: 0, outcome }
    }

    /// Keeps the first sentence as the reason of the whole look.
    fn say(&mut self, because: Because) {
        self.outcome.because.get_or_insert(because);
    }

    fn is_ordered(&self) -> bool {
        self.set.spec.pod_management_policy != "Parallel"
    }

    /// The Pods that exist.
    fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.replicas.iter().filter_map(|(_, pod)| pod.as_ref()).chain(&self.condemned)
    }

    /// Creates, scales down and updates, as far as the order allows.
    fn act(&mut self) {
        for place in 0..self.replicas.len() {
            let (ordinal, pod) = self.replicas[place].clone();
            let next = match pod {
                Some(pod) => self.keep(ordinal, &pod),
                None => self.create(ordinal),
            };
            if next == Next::Wait {
                return;
            }
        }
        for pod in self.condemned.clone() {
            let ordinal = ordinal_of(self.set, &pod.meta.name).unwrap_or(0);
            self.fix_claims(ordinal, Some(&pod));
        }
        let first_unavailable = self.first_unavailable();
        for pod in self.condemned.clone() {
            if self.condemn(&pod, first_unavailable.as_deref()) == Next::Wait {
                return;
            }
        }
        if self.set.spec.update_strategy.strategy_type != "OnDelete" {
            self.replace();
        }
    }

    /// Looks after a Pod that is wanted.
    fn keep(&mut self, ordinal: i32, pod: &Arc<Pod>) -> Next {
        let name = &pod.meta.name;
        if pod.is_finished() {
            if !pod.meta.is_terminating() {
                let phase = &pod.status.phase;
                let because =
                    Because::new("because.statefulset.delete_finished").with("wanted", self.replicas.len());
                self.delete(pod, because.with("pod", name).with("phase", phase));
            }
            return Next::Wait;
        }
        if self.is_ordered() {
            let waits_for = if pod.meta.is_terminating() {
                Some("because.statefulset.wait_gone")
            } else if !is_running_and_ready(pod) {
                Some("because.statefulset.wait_ready")
            } else if !is_running_and_available(self.set, pod, self.view.now) {
                Some("because.statefulset.wait_available")
            } else {
                None
            };
            if let Some(key) = waits_for {
                let seconds = self.set.spec.min_ready_seconds;
                let wanted = self.replicas.len();
                self.say(Because::new(key).with("pod", name).with("seconds", seconds).with("wanted", wanted));
                return Next::Wait;
            }
        }
        self.fix_claims(ordinal, None);
        if let Some(named) = with_identity(pod, ordinal) {
            let because =
                Because::new("because.statefulset.identity").with("pod", name).with("ordinal", ordinal);
            self.outcome.writes.push(Operation::Update(named.into()).because(because.clone()));
            self.say(because);
        }
        Next::GoOn
    }

    /// Makes the Pod of a number, its claims first.
    fn create(&mut self, ordinal: i32) -> Next {
        let (Some(current), Some(update)) = (self.current.clone(), self.update.clone()) else {
            return Next::Wait;
        };
        let set = self.set;
        let strategy = &set.spec.update_strategy;
        let start = wanted_ordinals(set).start;
        // Below the partition, Pods come back as they were.
        let kept = match (&strategy.rolling_update, strategy.strategy_type.as_str()) {
            (Some(rolling), "RollingUpdate") => start + rolling.partition.unwrap_or(0),
            (None, "RollingUpdate") => start + set.status.current_replicas,
            _ => start,
        };
        let (revision, template) = match template_in(&current).filter(|_| ordinal < kept) {
            Some(template) => (current, template),
            None => (update, set.spec.template.clone()),
        };
        let pod = new_pod(set, &template, &revision.meta.name, ordinal);
        let object = Object::StatefulSet(Arc::clone(set));
        let because = Because::new("because.statefulset.create")
            .with("pod", &pod.meta.name)
            .with("ordinal", ordinal)
            .with("wanted", self.replicas.len())
            .with("revision", &revision.meta.name);
        for claim in claims_of(set, ordinal) {
            let (name, pod) = (claim.meta.name.clone(), &pod.meta.name);
            if self.view.store.get::<PersistentVolumeClaim>(&set.meta.namespace, &name).is_some() {
                continue;
            }
            let because = Because::new("because.statefulset.claim").with("claim", &name).with("pod", pod);
            let text = format!("Create Claim {name} Pod {pod} in StatefulSet {} success", set.meta.name);
            let event = EventRecord::normal(&object, SUCCESSFUL_CREATE, text);
            self.outcome.writes.push(Operation::Create(claim.into()).because(because.clone()));
            self.outcome.writes.push(Operation::Event(event).because(because));
        }
        let text = format!("Create Pod {} in StatefulSet {} successful", pod.meta.name, set.meta.name);
        let event = EventRecord::normal(&object, SUCCESSFUL_CREATE, text);
        self.outcome.writes.push(Operation::Create(pod.into()).because(because.clone()));
        self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        self.say(because);
        if self.is_ordered() { Next::Wait } else { Next::GoOn }
    }

    /// The unavailable Pod that comes first: of the wanted ones, then of the others from the lowest number.
    fn first_unavailable(&self) -> Option<Arc<Pod>> {
        let wanted = self.replicas.iter().filter_map(|(_, pod)| pod.as_ref());
        let mut all = wanted.chain(self.condemned.iter().rev());
        all.find(|pod| is_unavailable(self.set, pod, self.view.now)).cloned()
    }

    /// Deletes a Pod that is not wanted, if it is its turn.
    fn condemn(&mut self, pod: &Arc<Pod>, first_unavailable: Option<&Pod>) -> Next {
        let name = &pod.meta.name;
        let is_ordered = self.is_ordered();
        if pod.meta.is_terminating() {
            let wanted = self.replicas.len();
            self.say(Because::new("because.statefulset.wait_gone").with("pod", name).with("wanted", wanted));
            return if is_ordered { Next::Wait } else { Next::GoOn };
        }
        let is_first = first_unavailable.is_some_and(|first| first.meta.uid == pod.meta.uid);
        if is_ordered && !is_first && !is_running_and_available(self.set, pod, self.view.now) {
            let waits_for = first_unavailable.map_or(name, |first| &first.meta.name);
            self.say(
                Because::new("because.statefulset.wait_scale_down")
                    .with("pod", name)
                    .with("for", waits_for)
                    .with("wanted", self.replicas.len())
                    .with("surplus", self.condemned.len()),
            );
            return Next::Wait;
        }
        let because = Because::new("because.statefulset.delete_surplus")
            .with("pod", name)
            .with("wanted", self.replicas.len())
            .with("pods", self.pods().count());
        self.delete(pod, because);
        if is_ordered { Next::Wait } else { Next::GoOn }
    }

    /// Deletes Pods of older revisions, highest number first, as many as may be missing.
    fn replace(&mut self) {
        let Some(update) = self.update.clone() else { return };
        let rolling = self.set.spec.update_strategy.rolling_update.clone().unwrap_or_default();
        let wanted = i32::try_from(self.replicas.len()).unwrap_or(i32::MAX);
        let most = rolling.max_unavailable.and_then(|most| most.scaled(wanted, true)).unwrap_or(1).max(1);
        let lowest = wanted_ordinals(self.set).start + rolling.partition.unwrap_or(0);
        let is_missing = |pod: &Option<Arc<Pod>>| {
            pod.as_ref().is_none_or(|pod| is_unavailable(self.set, pod, self.view.now))
        };
        let missing = self.replicas.iter().filter(|(_, pod)| is_missing(pod)).count();
        let missing = i32::try_from(missing).unwrap_or(i32::MAX);
        let old: Vec<Arc<Pod>> = self
            .replicas
            .iter()
            .rev()
            .filter(|(ordinal, _)| *ordinal >= lowest)
            .filter_map(|(_, pod)| pod.clone())
            .filter(|pod| revision_of(pod) != &*update.meta.name && !pod.meta.is_terminating())
            .collect();
        let allowed = usize::try_from(most - missing).unwrap_or(0);
        let counted =
            |key| Because::new(key).with("old", old.len()).with("missing", missing).with("most", most);
        if allowed == 0 && !old.is_empty() {
            self.say(counted("because.statefulset.wait_update"));
        }
        for pod in old.iter().take(allowed) {
            let revision = revision_of(pod);
            let because = counted("because.statefulset.delete_old").with("pod", &pod.meta.name);
            self.delete(pod, because.with("from", revision).with("to", &update.meta.name));
            self.replaced += 1;
        }
    }

    fn delete(&mut self, pod: &Arc<Pod>, because: Because) {
        let delete = Operation::Delete {
            key: pod.key(),
            uid: Some(pod.meta.uid.clone()),
            grace_seconds: None,
            propagation: Propagation::Background,
        };
        let text = format!("Delete Pod {} in StatefulSet {} successful", pod.meta.name, self.set.meta.name);
        let event = EventRecord::normal(&Object::StatefulSet(Arc::clone(self.set)), SUCCESSFUL_DELETE, text);
        self.outcome.writes.push(delete.because(because.clone()));
        self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        self.say(because);
    }

    /// Brings the owners of a Pod's claims in line with what is to become of them.
    fn fix_claims(&mut self, ordinal: i32, condemned: Option<&Arc<Pod>>) {
        let writes = claims::plan(self.view.store, self.set, ordinal, condemned);
        self.outcome.writes.extend(writes);
    }

    /// The report on the Pods that were seen.
    fn status(&self, history: &History) -> StatefulSetStatus {
        let set = self.set;
        let count = |is: &dyn Fn(&Pod) -> bool| {
            i32::try_from(self.pods().filter(|pod| is(pod)).count()).unwrap_or(i32::MAX)
        };
        let name_of = |revision: &Option<Arc<ControllerRevision>>| {
            revision.as_ref().map(|revision| revision.meta.name.to_string()).unwrap_or_default()
        };
        let (current, update) = (name_of(&self.current), name_of(&self.update));
        let of_revision = |name: &str| count(&|pod| !pod.meta.is_terminating() && revision_of(pod) == name);
        let mut status = StatefulSetStatus {
            observed_generation: set.meta.generation,
            replicas: count(&|_| true),
            ready_replicas: count(&is_running_and_ready),
            available_replicas: count(&|pod| is_running_and_available(set, pod, self.view.now)),
            current_replicas: (of_revision(&current) - self.replaced).max(0),
            updated_replicas: of_revision(&update),
            current_revision: current,
            update_revision: update,
            collision_count: Some(history.collision_count),
            ..set.status.clone()
        };
        let wanted = set.spec.replicas.unwrap_or(1);
        let is_rolled_out = set.spec.update_strategy.strategy_type == "RollingUpdate"
            && [status.updated_replicas, status.ready_replicas, status.replicas].iter().all(|n| *n == wanted);
        if is_rolled_out {
            status.current_replicas = status.updated_replicas;
            status.current_revision = status.update_revision.clone();
        }
        status
    }

    fn report(&mut self, status: StatefulSetStatus) {
        let (replicas, ready) = (status.replicas, status.ready_replicas);
        if status != self.set.status {
            let because = Because::new("because.statefulset.status")
                .with("replicas", replicas)
                .with("ready", ready)
                .with("current", status.current_replicas)
                .with("updated", status.updated_replicas);
            let mut set = Arc::clone(self.set);
            Arc::make_mut(&mut set).status = status;
            let write = Operation::UpdateStatus(Object::StatefulSet(set)).because(because.clone());
            self.outcome.writes.push(write);
            self.say(because);
        }
        self.say(
            Because::new("because.statefulset.satisfied").with("replicas", replicas).with("ready", ready),
        );
    }

    /// Forgets the oldest revisions beyond the limit.
    fn clean_up(&mut self, history: &History) {
        let limit = usize::try_from(self.set.spec.revision_history_limit.unwrap_or(10)).unwrap_or(0);
        let used: Vec<&str> = self.pods().map(|pod| revision_of(pod)).collect();
        let is_live = |revision: &ControllerRevision| {
            let of = |one: &Option<Arc<ControllerRevision>>| {
                one.as_ref().is_some_and(|one| one.meta.name == revision.meta.name)
            };
            of(&self.current) || of(&self.update) || used.contains(&&*revision.meta.name)
        };
        let writes = history.plan_cleanup(limit, "because.statefulset.forget", is_live);
        self.outcome.writes.extend(writes);
    }

    /// Looks again when the next ready Pod counts as available.
    fn look_again(&mut self, key: &WorkKey) {
        let (seconds, now) = (i64::from(self.set.spec.min_ready_seconds), self.view.now);
        let wait = self.pods().filter_map(|pod| {
            let ticks = pod.ready_since()?.0 + seconds - now.0;
            u64::try_from(ticks).ok().filter(|&ticks| ticks > 0)
        });
        if let Some(ticks) = wait.min() {
            self.outcome.look_again(key.clone(), ticks);
        }
    }
}
