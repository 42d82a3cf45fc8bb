//! kube-scheduler: chooses a node for every Pod that has none.
//!
//! A key is a Pod to place, or a Pod or node whose change makes room. A Pod that no node takes waits in the scheduler's
//! memory until something changes that could help, and at most five minutes. In each tick the scheduler first takes notice
//! of what changed, and then tries Pods, the most important first.
//!
//! Models: `pkg/scheduler` (v1.36): `schedule_one.go`, `backend/queue/scheduling_queue.go`, the default plugins.
//! Leaves out: several profiles, groups of Pods that are placed together.

mod attempt;
pub mod candidate;
pub mod filter;
mod groups;
mod hints;
pub mod message;
mod neighbours;
mod nominated;
mod pod_terms;
mod preempt;
mod requests;
pub mod score;
pub mod snapshot;
mod spread;
mod volumes;
mod waiting;
mod why;

use std::sync::Arc;

use imbl::OrdMap;

use self::attempt::{Placing, attempt};
use self::candidate::Candidate;
use self::hints::Event;
use self::nominated::Nominated;
use self::preempt::{Plan, Preemption, preempt};
use self::snapshot::{Snapshot, takes_room};
use self::waiting::{LEFTOVER_TICKS, Pool};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, PodCondition};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fact::What;
use crate::cluster::queue::WorkKey;
use crate::cluster::rng::Stream;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::store::{Change, Store};

/// What the scheduler keeps to itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// What it knows of the nodes.
    snapshot: Snapshot,
    /// The Pods that no node took.
    waiting: Pool,
    /// The Pods for which room is being made.
    nominated: Nominated,
    /// The Pods whose node is chosen and whose claims are still to be bound there.
    binding: OrdMap<ObjectKey, Binding>,
    /// The number of the node at which the next attempt begins to look, in large clusters.
    next_start: u64,
}

/// A choice that is still to take effect.
#[derive(Clone, Debug, PartialEq)]
struct Binding {
    node: Name,
    since_tick: u64,
}

/// The name that Pods ask for this scheduler by.
const SCHEDULER_NAME: &str = "default-scheduler";

/// The longest that claims may take to get their volumes when the node is chosen.
const BIND_TICKS: u64 = 600;

const BIND_FAILED: &str =
    "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";

impl Memory {
    /// How many Pods wait because no node took them.
    pub fn unschedulable(&self) -> usize {
        self.waiting.len()
    }

    /// Has the Pods tried again that an event could help.
    fn wake(&mut self, view: &View<'_>, outcome: &mut Outcome, event: &Event<'_>) {
        let woken = self
            .waiting
            .wake(outcome, |_, waiting| hints::helps(view.store, &waiting.pod, &waiting.refused_by, event));
        if woken > 0 {
            outcome.saw.push(Because::new("because.scheduler.woken").with("pods", woken));
        }
    }

    /// A Pod has a node, or is gone: nothing is to be done for it any more.
    fn forget(&mut self, key: &ObjectKey) {
        self.waiting.remove(key);
        self.binding.remove(key);
        self.nominated.remove(key);
    }
}

/// The place of a key among those handled in one tick: what is only taken notice of comes before the Pods to place.
pub fn rank(memory: &Memory, store: &Store, tick: u64, key: &ObjectKey) -> u64 {
    let pod = store.at::<Pod>(key).filter(|pod| !pod.is_bound() && is_ours(pod));
    pod.map_or(0, |pod| memory.waiting.rank(key, pod, tick))
}

/// The keys that a change concerns: Pods to place, Pods that take or give room, nodes that changed what they offer.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_concerned = match change.key.kind {
        Kind::Node => node_changed(change.old_as(), change.new_as()),
        Kind::Pod => pod_changed(change),
        Kind::PersistentVolumeClaim | Kind::PersistentVolume => true,
        Kind::StorageClass | Kind::CSINode => change.new.is_some(),
        _ => false,
    };
    if is_concerned { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() }
}

/// Whether a node offers something else than before; heartbeats do not count.
fn node_changed(old: Option<&Arc<Node>>, new: Option<&Arc<Node>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => {
            old.spec != new.spec
                || old.meta.labels != new.meta.labels
                || old.status.allocatable != new.status.allocatable
                || old.status.rest != new.status.rest
        }
        _ => true,
    }
}

fn pod_changed(change: &Change) -> bool {
    let (old, new) = (change.old_as::<Pod>(), change.new_as::<Pod>());
    match (old, new) {
        // What the scheduler wrote itself it knows.
        (Some(_), Some(_)) if change.writer == Actor::Scheduler => false,
        (Some(old), Some(new)) if old.is_bound() && new.is_bound() => {
            takes_room(old) != takes_room(new)
                || old.meta.labels != new.meta.labels
                || old.meta.is_terminating() != new.meta.is_terminating()
                || !Arc::ptr_eq(&old.spec, &new.spec) && old.spec != new.spec
        }
        (Some(old), Some(new)) if !new.is_bound() => {
            is_ours(new)
                && (!Arc::ptr_eq(&old.spec, &new.spec) && old.spec != new.spec
                    || old.meta.labels != new.meta.labels
                    || old.meta.is_terminating() != new.meta.is_terminating()
                    || old.status.nominated_node_name != new.status.nominated_node_name)
        }
        (_, Some(new)) => new.is_bound() || is_ours(new),
        (Some(_), None) => true,
        (None, None) => false,
    }
}

/// Whether the Pod asks for this scheduler.
fn is_ours(pod: &Pod) -> bool {
    matches!(pod.spec.scheduler_name.as_str(), "" | SCHEDULER_NAME)
}

/// Handles one key.
pub fn reconcile(memory: &mut Memory, _stream: &mut Stream, view: &View<'_>, key: &WorkKey) -> Outcome {
    match key {
        WorkKey::Object(key) if key.kind == Kind::Node => see_node(memory, view, key),
        WorkKey::Object(key) if key.kind == Kind::Pod => see_pod(memory, view, key),
        WorkKey::Object(key) => see_storage(memory, view, key),
        WorkKey::Heartbeat => flush_leftovers(memory, view),
        _ => Outcome::default(),
    }
}

/// A node came, changed or went: room may have appeared.
fn see_node(memory: &mut Memory, view: &View<'_>, key: &ObjectKey) -> Outcome {
    let node = view.store.at::<Node>(key);
    let before = memory.snapshot.node(&key.name).and_then(|info| info.node.clone());
    memory.snapshot.see_node(&key.name, node);
    let mut outcome = Outcome::nothing(match node {
        Some(_) => Because::new("because.scheduler.node-seen").with("node", &key.name),
        None => Because::new("because.scheduler.node-gone").with("node", &key.name),
    });
    if before.is_some() || node.is_some() {
        memory.wake(view, &mut outcome, &Event::Node(before.as_deref(), node.map(Arc::as_ref)));
    }
    outcome
}

fn see_pod(memory: &mut Memory, view: &View<'_>, key: &ObjectKey) -> Outcome {
    match view.store.at::<Pod>(key) {
        Some(pod) if takes_room(pod) => {
            memory.forget(key);
            let before = memory.snapshot.neighbour(key);
            memory.snapshot.place(pod, &pod.node_name);
            let because = Because::new("because.scheduler.pod-counted");
            let mut outcome = Outcome::nothing(because.with("pod", &key.name).with("node", &pod.node_name));
            let now = memory.snapshot.neighbour(key);
            memory.wake(view, &mut outcome, &Event::Placed(before, now));
            outcome
        }
        Some(pod) if !pod.is_bound() && !pod.is_finished() => {
            let binding = memory.binding.get(key).cloned().filter(|_| !pod.meta.is_terminating());
            if let Some(outcome) = binding.and_then(|binding| bind_when_ready(memory, view, pod, &binding)) {
                return outcome;
            }
            memory.snapshot.remove(key);
            memory.binding.remove(key);
            if !is_ours(pod) || pod.meta.is_terminating() {
                memory.waiting.remove(key);
                memory.nominated.remove(key);
                return Outcome::nothing(Because::new("because.scheduler.not-ours").with("pod", &key.name));
            }
            try_or_wait(memory, view, key, pod)
        }
        _ => {
            let was_nominated = memory.nominated.has(key);
            memory.forget(key);
            let before = memory.snapshot.neighbour(key);
            match memory.snapshot.remove(key) {
                Some(node) => {
                    let because = Because::new("because.scheduler.room-made");
                    let mut outcome = Outcome::nothing(because.with("pod", &key.name).with("node", node));
                    memory.wake(view, &mut outcome, &Event::Placed(before, None));
                    outcome
                }
                None => {
                    let because = Because::new("because.scheduler.pod-gone").with("pod", &key.name);
                    let mut outcome = Outcome::nothing(because);
                    if was_nominated {
                        memory.wake(view, &mut outcome, &Event::NominatedGone);
                    }
                    outcome
                }
            }
        }
    }
}

/// Tries every Pod again that has waited long without a cause, or whose claims have had long enough to get their volumes.
fn flush_leftovers(memory: &mut Memory, view: &View<'_>) -> Outcome {
    let mut outcome = Outcome::nothing(Because::new("because.scheduler.flush"));
    let mut next = memory.waiting.wake_leftovers(&mut outcome, view.tick);
    for (key, binding) in &memory.binding {
        let due = binding.since_tick + BIND_TICKS;
        if due <= view.tick {
            outcome.look_now(WorkKey::Object(key.clone()));
        } else {
            next = Some(next.map_or(due, |next| next.min(due)));
        }
    }
    if let Some(due) = next {
        outcome.look_again(WorkKey::Heartbeat, due - view.tick);
    }
    outcome
}

/// A claim, a volume or a class changed: Pods that wait for it go on.
fn see_storage(memory: &mut Memory, view: &View<'_>, key: &ObjectKey) -> Outcome {
    let mut outcome =
        Outcome::nothing(Because::new("because.scheduler.storage-seen").with("name", &key.name));
    for (pod, _) in &memory.binding {
        let concerns = |pod: &Arc<Pod>| {
            key.kind != Kind::PersistentVolumeClaim
                || pod.meta.namespace == key.namespace
                    && volumes::claims_of(&pod.meta.name, &pod.spec).iter().any(|c| **c == *key.name)
        };
        if view.store.at::<Pod>(pod).is_some_and(concerns) {
            outcome.look_now(WorkKey::Object(pod.clone()));
        }
    }
    if view.store.object(key).is_some() {
        memory.wake(view, &mut outcome, &Event::Storage(key));
    }
    outcome
}

/// A Pod without a node is new, or is to be tried again, or was changed while it waits.
fn try_or_wait(memory: &mut Memory, view: &View<'_>, key: &ObjectKey, pod: &Arc<Pod>) -> Outcome {
    memory.nominated.see(pod, &pod.status.nominated_node_name);
    if pod.spec.has_scheduling_gates() {
        return Outcome::nothing(Because::new("because.scheduler.gated"));
    }
    if let Some(waiting) = memory.waiting.get(key).filter(|waiting| !waiting.is_woken)
        && !hints::helps(view.store, &waiting.pod, &waiting.refused_by, &Event::Own(pod))
    {
        let because = Because::new("because.scheduler.still-waits")
            .with("pod", &key.name)
            .with("rules", waiting.refused_by.join(", "));
        let nominated = &pod.status.nominated_node_name;
        let untold = with_condition(view, pod, "Unschedulable", &waiting.message, nominated);
        memory.waiting.see(key, pod);
        let mut outcome = Outcome::nothing(because.clone());
        outcome.writes.extend(untold.map(|pod| Operation::UpdateStatus(pod.into()).because(because)));
        return outcome;
    }
    try_to_place(memory, view, key, pod)
}

/// Asks every node about the Pod, and binds it or says why not.
fn try_to_place(memory: &mut Memory, view: &View<'_>, key: &ObjectKey, pod: &Arc<Pod>) -> Outcome {
    let placing =
        Placing { pod, store: view.store, snapshot: &memory.snapshot, nominated: &memory.nominated };
    let candidate = Candidate::new(pod, view.store, &memory.snapshot);
    let mut attempt = attempt(&placing, &candidate, memory.next_start);
    memory.next_start = attempt.next_start;

    let mut outcome = Outcome { saw: vec![why::saw_pod(&candidate)], ..Outcome::default() };
    if let Some(waiting) = memory.waiting.get(key) {
        let saw = Because::new("because.scheduler.tried-before").with("attempts", waiting.attempts);
        outcome.saw.push(saw.with("rules", waiting.refused_by.join(", ")));
    }
    match attempt.verdicts.chosen.clone() {
        Some(node) => {
            let because = why::why_chosen(&attempt);
            memory.waiting.remove(key);
            memory.nominated.remove(key);
            memory.snapshot.place(pod, &node);
            let chosen = memory.snapshot.node(&node).and_then(|info| info.node.clone());
            let changes = chosen.map(|node| candidate.volumes.changes_for(&node)).unwrap_or_default();
            if changes.is_empty() {
                outcome.writes.extend(bind(pod, node, &because));
                let now = memory.snapshot.neighbour(key);
                memory.wake(view, &mut outcome, &Event::Placed(None, now));
            } else {
                for change in changes {
                    outcome.writes.push(Operation::Update(change).because(because.clone()));
                }
                if pod.status.nominated_node_name != node {
                    let mut told = Pod::clone(pod);
                    told.status.nominated_node_name = node.clone();
                    outcome.writes.push(Operation::UpdateStatus(told.into()).because(because.clone()));
                }
                outcome.look_again(WorkKey::Heartbeat, BIND_TICKS);
                memory.binding.insert(key.clone(), Binding { node, since_tick: view.tick });
            }
            outcome.because = Some(because);
        }
        None => {
            let nodes = memory.snapshot.count();
            let placing =
                Placing { pod, store: view.store, snapshot: &memory.snapshot, nominated: &memory.nominated };
            let preemption = if attempt.refusals.is_empty() {
                None
            } else {
                Some(preempt(&placing, &attempt, nodes, view.now))
            };
            let (vain, nominated) = match &preemption {
                Some(Preemption::Chosen(plan)) => (None, plan.node.clone()),
                Some(Preemption::Vain { message, keeps_nomination: true }) => {
                    (Some(message.as_str()), pod.status.nominated_node_name.clone())
                }
                Some(Preemption::Vain { message, .. }) => (Some(message.as_str()), Name::default()),
                None => (None, Name::default()),
            };
            let message = attempt.message(nodes, vain);
            attempt.verdicts.message.clone_from(&message);
            let because = Because::new("because.scheduler.unschedulable").with("message", &message);
            let refused_by = attempt.refused_by.clone();
            memory.waiting.failed(key, pod, view.tick, refused_by, message.clone());
            outcome.look_again(WorkKey::Heartbeat, LEFTOVER_TICKS);
            let object = Object::Pod(pod.clone());
            let told = EventRecord::warning(&object, "FailedScheduling", message.clone());
            outcome.writes.push(Operation::Event(told).because(because.clone()));
            if let Some(changed) = with_condition(view, pod, "Unschedulable", &message, &nominated) {
                outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because.clone()));
            }
            outcome.because = Some(because);
            if let Some(Preemption::Chosen(plan)) = preemption {
                displace(memory, view, pod, &plan, &mut outcome);
            }
            memory.nominated.see(pod, &nominated);
        }
    }
    outcome.notes.push(What::Compared { pod: key.clone(), verdicts: Arc::new(attempt.verdicts) });
    outcome
}

/// The writes that bind the Pod to that node and tell it.
fn bind(pod: &Arc<Pod>, node: Name, because: &Because) -> [Write; 2] {
    let key = pod.key();
    let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
    let told = EventRecord::normal(&Object::Pod(pod.clone()), "Scheduled", message);
    [
        Operation::Bind { pod: key, node }.because(because.clone()),
        Operation::Event(told).because(because.clone()),
    ]
}

/// The node is chosen: the Pod is bound to it as soon as its claims have their volumes. Nothing if that has come to
/// nothing, so that a node is to be chosen anew.
fn bind_when_ready(
    memory: &mut Memory,
    view: &View<'_>,
    pod: &Arc<Pod>,
    binding: &Binding,
) -> Option<Outcome> {
    let node = &binding.node;
    let because = Because::new("because.scheduler.claims-bound").with("node", node);
    if !volumes::are_all_bound(pod, view.store) {
        if !volumes::are_under_way(pod, view.store) {
            return None;
        }
        if view.tick < binding.since_tick + BIND_TICKS {
            return Some(Outcome::nothing(Because::new("because.scheduler.claims-wait").with("node", node)));
        }
        memory.binding.remove(&pod.key());
        memory.snapshot.remove(&pod.key());
        return Some(bind_failed(memory, view, pod, node));
    }
    memory.binding.remove(&pod.key());
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.extend(bind(pod, node.clone(), &because));
    let now = memory.snapshot.neighbour(&pod.key());
    memory.wake(view, &mut outcome, &Event::Placed(None, now));
    Some(outcome)
}

/// The claims did not get their volumes in time: the Pod is tried again after its back-off.
fn bind_failed(memory: &mut Memory, view: &View<'_>, pod: &Arc<Pod>, node: &Name) -> Outcome {
    let because =
        Because::new("because.scheduler.claims-late").with("node", node).with("seconds", BIND_TICKS);
    let mut outcome = Outcome::nothing(because.clone());
    let object = Object::Pod(pod.clone());
    let told = EventRecord::warning(&object, "FailedScheduling", BIND_FAILED.to_string());
    outcome.writes.push(Operation::Event(told).because(because.clone()));
    if let Some(changed) = with_condition(view, pod, "SchedulerError", BIND_FAILED, node) {
        outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because));
    }
    memory.waiting.failed(&pod.key(), pod, view.tick, Vec::new(), BIND_FAILED.to_string());
    memory.waiting.retry(&pod.key(), view.tick, &mut outcome);
    outcome
}

/// Deletes the victims; Pods of less importance that were nominated for the node lose their nomination.
fn displace(memory: &mut Memory, view: &View<'_>, pod: &Arc<Pod>, plan: &Plan, outcome: &mut Outcome) {
    let because = Because::new("because.scheduler.preempted")
        .with("node", &plan.node)
        .with("victims", plan.victims.len())
        .with("priority", nominated::priority(pod));
    for victim in plan.victims.iter().filter(|victim| !victim.meta.is_terminating()) {
        let because = because.clone();
        let mut changed = Pod::clone(victim);
        changed.status.set_condition("DisruptionTarget", "True", preempt::REASON, preempt::MESSAGE, view.now);
        if let Some(condition) = changed.status.conditions.last_mut() {
            condition.observed_generation = victim.meta.generation;
        }
        let delete = Operation::Delete {
            key: victim.key(),
            uid: Some(victim.meta.uid.clone()),
            grace_seconds: None,
            propagation: Propagation::Background,
        };
        let message = format!("Preempted by pod {} on node {}", pod.meta.uid, plan.node);
        let told = EventRecord::normal(&Object::Pod(victim.clone()), "Preempted", message);
        outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because.clone()));
        outcome.writes.push(delete.because(because.clone()));
        outcome.writes.push(Operation::Event(told).because(because));
    }
    let behind: Vec<Arc<Pod>> = memory.nominated.behind(pod, &plan.node).cloned().collect();
    for other in behind {
        memory.nominated.remove(&other.key());
        if let Some(stored) = view.store.at::<Pod>(&other.key()).filter(|pod| !pod.is_bound()) {
            let mut changed = Pod::clone(stored);
            changed.status.nominated_node_name = Name::default();
            outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because.clone()));
            outcome.look_again(WorkKey::Object(other.key()), 1);
        }
    }
    outcome.because = Some(because);
}

/// The Pod with `PodScheduled: False` for that reason and nominated for that node; `None` when it says so already.
fn with_condition(
    view: &View<'_>,
    pod: &Arc<Pod>,
    reason: &str,
    message: &str,
    nominated: &Name,
) -> Option<Pod> {
    let old = pod.condition("PodScheduled");
    let said = |c: &PodCondition| c.status == "False" && c.reason == reason && c.message == message;
    if old.is_some_and(said) && pod.status.nominated_node_name == *nominated {
        return None;
    }
    let since = old.filter(|c| c.status == "False").and_then(|c| c.last_transition_time);
    let condition = PodCondition {
        condition_type: "PodScheduled".into(),
        status: "False".into(),
        reason: reason.into(),
        message: message.into(),
        last_transition_time: Some(since.unwrap_or(view.now)),
        observed_generation: pod.meta.generation,
        ..PodCondition::default()
    };
    let mut changed = Pod::clone(pod);
    changed.status.nominated_node_name = nominated.clone();
    let conditions = &mut changed.status.conditions;
    match conditions.iter_mut().find(|c| c.condition_type == "PodScheduled") {
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
    Some(changed)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::machine::Cluster;
    use crate::cluster::server::request::{Request, Verb};
    use crate::cluster::settings::{NodeSetup, Settings};

    fn cluster() -> Cluster {
        let nodes = vec![NodeSetup::new("node-1")];
        Cluster::boot(Settings { kubelets: false, ..Settings::bare(1, nodes) })
    }

    fn create(cluster: &mut Cluster, name: &str, spec: Value) {
        let body = json!({"metadata": {"name": name}, "spec": spec});
        let request = Request::new(Verb::Create, Kind::Pod, "default", name, body);
        cluster.ask(&request, &mut Vec::new()).unwrap();
    }

    fn asking(cpu: &str) -> Value {
        json!({"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]})
    }

    fn ticks(cluster: &mut Cluster, count: u32) {
        (0..count).for_each(|_| cluster.finish_tick(&mut Vec::new()));
    }

    fn node_of(cluster: &Cluster, name: &str) -> String {
        cluster.store.get::<Pod>("default", name).unwrap().node_name.to_string()
    }

    #[test]
    fn a_pod_without_room_waits_quietly_and_is_placed_when_room_is_made() {
        let mut cluster = cluster();
        create(&mut cluster, "a", asking("1500m"));
        create(&mut cluster, "b", asking("1"));
        ticks(&mut cluster, 3);
        assert_eq!((node_of(&cluster, "a"), node_of(&cluster, "b")), ("node-1".to_string(), String::new()));
        let waiting =
            cluster.store.get::<Pod>("default", "b").unwrap().condition("PodScheduled").unwrap().clone();
        assert_eq!((waiting.status.as_str(), waiting.reason.as_str()), ("False", "Unschedulable"));
        assert!(cluster.is_quiet());
        let mut delete = Request::new(Verb::Delete, Kind::Pod, "default", "a", Value::Null);
        delete.options.grace_seconds = Some(0);
        cluster.ask(&delete, &mut Vec::new()).unwrap();
        ticks(&mut cluster, 2);
        assert_eq!(node_of(&cluster, "b"), "node-1");
    }

    #[test]
    fn an_important_pod_displaces_as_few_as_possible_and_waits_for_them_to_go() {
        let mut cluster = cluster();
        let with = |cpu: &str, priority: i64| {
            let mut spec = asking(cpu);
            spec["priority"] = json!(priority);
            spec
        };
        for (name, cpu, priority) in [("a", "500m", 0), ("b", "500m", 5), ("c", "900m", 5)] {
            create(&mut cluster, name, with(cpu, priority));
        }
        ticks(&mut cluster, 3);
        create(&mut cluster, "important", with("600m", 10));
        ticks(&mut cluster, 3);
        let pod = cluster.store.get::<Pod>("default", "important").unwrap();
        assert_eq!(&*pod.status.nominated_node_name, "node-1");
        let message = &pod.condition("PodScheduled").unwrap().message;
        assert_eq!(message, "0/1 nodes are available: 1 Insufficient cpu.");
        let leaving = |cluster: &Cluster, name: &str| {
            cluster.store.get::<Pod>("default", name).is_some_and(|pod| pod.meta.is_terminating())
        };
        assert_eq!(["a", "b", "c"].map(|name| leaving(&cluster, name)), [true, false, false]);
        let mut delete = Request::new(Verb::Delete, Kind::Pod, "default", "a", Value::Null);
        delete.options.grace_seconds = Some(0);
        cluster.ask(&delete, &mut Vec::new()).unwrap();
        ticks(&mut cluster, 3);
        assert_eq!(node_of(&cluster, "important"), "node-1");
    }

    #[test]
    fn in_one_tick_the_most_important_pod_is_tried_first_and_then_who_came_first() {
        let mut cluster = cluster();
        for (name, priority) in [("a", 1), ("b", 10), ("c", 10)] {
            let mut spec = asking("900m");
            spec["priority"] = json!(priority);
            create(&mut cluster, name, spec);
        }
        ticks(&mut cluster, 2);
        let nodes = ["a", "b", "c"].map(|name| node_of(&cluster, name));
        assert_eq!(nodes, ["", "node-1", "node-1"], "nobody has to be displaced");
    }

    #[test]
    fn a_pod_that_is_bound_wakes_those_that_want_to_be_near_it_in_the_same_tick() {
        let mut cluster = cluster();
        let labels = json!({"metadata": {"labels": {"kubernetes.io/hostname": "node-1"}}});
        cluster
            .ask(&Request::new(Verb::MergePatch, Kind::Node, "", "node-1", labels), &mut Vec::new())
            .unwrap();
        let term = json!([{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}]);
        let mut spec = asking("100m");
        spec["affinity"] = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}});
        create(&mut cluster, "web", spec);
        ticks(&mut cluster, 3);
        assert_eq!(node_of(&cluster, "web"), "");
        let body = json!({"metadata": {"name": "db", "labels": {"app": "db"}}, "spec": asking("100m")});
        cluster.ask(&Request::new(Verb::Create, Kind::Pod, "default", "db", body), &mut Vec::new()).unwrap();
        ticks(&mut cluster, 1);
        assert_eq!((node_of(&cluster, "db"), node_of(&cluster, "web")), ("node-1".into(), "node-1".into()));
    }

    #[test]
    fn a_pod_with_closed_gates_is_not_tried() {
        let mut cluster = cluster();
        let mut spec = asking("100m");
        spec["schedulingGates"] = json!([{"name": "example.com/wait"}]);
        create(&mut cluster, "a", spec);
        ticks(&mut cluster, 3);
        let pod = cluster.store.get::<Pod>("default", "a").unwrap();
        assert_eq!(
            (&*pod.node_name, pod.condition("PodScheduled").unwrap().reason.as_str()),
            ("", "SchedulingGated")
        );
        assert!(cluster.is_quiet());
    }
}
