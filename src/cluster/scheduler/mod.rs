//! kube-scheduler: chooses a node for every Pod that has none.
//!
//! A key is a Pod to place, or a Pod or node whose change makes room. A Pod that no node takes waits in the scheduler's
//! memory until something changes that could help, and at most five minutes.
//!
//! Models: `pkg/scheduler` (v1.36): `schedule_one.go`, `backend/queue/scheduling_queue.go`, the default plugins.
//! Leaves out: several profiles, the queue's order by priority.

mod attempt;
pub mod candidate;
pub mod filter;
mod groups;
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

use std::sync::Arc;

use imbl::OrdMap;

use self::attempt::{Attempt, Placing, attempt};
use self::candidate::Candidate;
use self::nominated::Nominated;
use self::preempt::{Plan, Preemption, preempt};
use self::snapshot::{Snapshot, takes_room};
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
use crate::cluster::store::Change;

/// What the scheduler keeps to itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// What it knows of the nodes.
    snapshot: Snapshot,
    /// The Pods that no node took.
    waiting: OrdMap<ObjectKey, Waiting>,
    /// The Pods for which room is being made.
    nominated: Nominated,
    /// The Pods whose node is chosen and whose claims are still to be bound there.
    binding: OrdMap<ObjectKey, Name>,
    /// The number of the node at which the next attempt begins to look, in large clusters.
    next_start: u64,
}

/// One Pod that no node took.
#[derive(Clone, Debug, Default, PartialEq)]
struct Waiting {
    /// How often it was tried.
    attempts: u32,
    /// When it was tried last.
    tried_tick: u64,
    /// The rules that refused nodes.
    refused_by: Vec<&'static str>,
}

/// The name that Pods ask for this scheduler by.
const SCHEDULER_NAME: &str = "default-scheduler";

/// The longest a Pod waits without a cause to try again.
const LEFTOVER_TICKS: u64 = 300;

/// The longest wait after failed attempts.
const MAX_BACK_OFF_TICKS: u64 = 10;

impl Waiting {
    /// How many ticks are left until the Pod may be tried again; at least 1.
    fn ticks_left(&self, tick: u64) -> u64 {
        self.back_off_ends().saturating_sub(tick).max(1)
    }

    /// The first tick in which the Pod may be tried again: 1 tick after the first attempt, doubling to 10.
    fn back_off_ends(&self) -> u64 {
        let doubled = 1_u64 << self.attempts.saturating_sub(1).min(10);
        self.tried_tick + doubled.min(MAX_BACK_OFF_TICKS)
    }
}

impl Memory {
    /// How many Pods wait because no node took them.
    pub fn unschedulable(&self) -> usize {
        self.waiting.len()
    }
}

/// The keys that a change concerns: Pods to place, Pods that take or give room, nodes that changed what they offer.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_concerned = match change.key.kind {
        Kind::Node => node_changed(change.old_as(), change.new_as()),
        Kind::Pod => pod_changed(change),
        Kind::PersistentVolumeClaim | Kind::PersistentVolume => true,
        Kind::StorageClass => change.new.is_some(),
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
    if let Some(node) = node {
        for (key, waiting) in &memory.waiting {
            let pod = view.store.at::<Pod>(key);
            if pod.is_some_and(|pod| node_helps(pod, waiting, before.as_deref(), node)) {
                outcome.look_again(WorkKey::Object(key.clone()), waiting.ticks_left(view.tick));
            }
        }
    }
    outcome
}

/// Whether a node's change could cure what a waiting Pod was refused for.
///
/// Models: the queueing hints of the plugins, `isSchedulableAfterNodeChange`.
fn node_helps(pod: &Pod, waiting: &Waiting, before: Option<&Node>, node: &Node) -> bool {
    let Some(before) = before else { return true };
    let tolerated = || {
        let mut taints = node.spec.taints.iter().filter(|taint| taint.effect != "PreferNoSchedule");
        taints.all(|taint| {
            pod.spec.tolerations.iter().any(|toleration| candidate::tolerates(toleration, taint))
        })
    };
    let taints_changed = before.spec.taints != node.spec.taints;
    let labels_changed = before.meta.labels != node.meta.labels;
    waiting.refused_by.iter().any(|plugin| match *plugin {
        filter::taint_toleration::NAME => taints_changed && tolerated(),
        filter::node_unschedulable::NAME => !node.spec.unschedulable && before.spec.unschedulable,
        filter::node_affinity::NAME => labels_changed && candidate::selects(pod, node),
        filter::node_resources_fit::NAME => {
            before.status.allocatable != node.status.allocatable || taints_changed
        }
        _ => labels_changed || taints_changed,
    })
}

fn see_pod(memory: &mut Memory, view: &View<'_>, key: &ObjectKey) -> Outcome {
    match view.store.at::<Pod>(key) {
        Some(pod) if takes_room(pod) => {
            memory.waiting.remove(key);
            memory.binding.remove(key);
            memory.nominated.remove(key);
            memory.snapshot.place(pod, &pod.node_name);
            let because = Because::new("because.scheduler.pod-counted");
            let mut outcome = Outcome::nothing(because.with("pod", &key.name).with("node", &pod.node_name));
            wake_waiting(memory, view, &mut outcome, |key, waiting| pod_helps(view, key, waiting, pod));
            outcome
        }
        Some(pod) if !pod.is_bound() && !pod.is_finished() => {
            if let Some(node) = memory.binding.get(key).cloned().filter(|_| !pod.meta.is_terminating()) {
                return bind_when_ready(memory, view, pod, &node);
            }
            memory.snapshot.remove(key);
            memory.binding.remove(key);
            if !is_ours(pod) || pod.meta.is_terminating() {
                memory.waiting.remove(key);
                memory.nominated.remove(key);
                return Outcome::nothing(Because::new("because.scheduler.not-ours").with("pod", &key.name));
            }
            try_to_place(memory, view, key, pod)
        }
        _ => {
            memory.waiting.remove(key);
            memory.binding.remove(key);
            memory.nominated.remove(key);
            match memory.snapshot.remove(key) {
                Some(node) => {
                    let because = Because::new("because.scheduler.room-made");
                    let mut outcome = Outcome::nothing(because.with("pod", &key.name).with("node", node));
                    wake_waiting(memory, view, &mut outcome, |_, _| true);
                    outcome
                }
                None => Outcome::nothing(Because::new("because.scheduler.pod-gone").with("pod", &key.name)),
            }
        }
    }
}

/// Whether a Pod that is placed now could cure what a waiting Pod was refused for.
///
/// Models: the queueing hints of InterPodAffinity and PodTopologySpread.
fn pod_helps(view: &View<'_>, key: &ObjectKey, waiting: &Waiting, placed: &Pod) -> bool {
    let Some(pod) = view.store.at::<Pod>(key) else { return true };
    waiting.refused_by.iter().any(|plugin| match *plugin {
        filter::inter_pod_affinity::NAME => {
            let means = |term: &pod_terms::PodTerm| {
                term.means(view.store, &placed.meta.namespace, &placed.meta.labels)
            };
            pod_terms::Affinity::of(pod).required.iter().any(means)
        }
        filter::pod_topology_spread::NAME => {
            let constraints = spread::Constraints::of(pod, view.store);
            placed.meta.namespace == pod.meta.namespace
                && constraints.hard.iter().any(|constraint| constraint.counts(&placed.meta.labels))
        }
        _ => false,
    })
}

/// Tries the waiting Pods again, each when its back-off has ended.
fn wake_waiting(
    memory: &Memory,
    view: &View<'_>,
    outcome: &mut Outcome,
    helps: impl Fn(&ObjectKey, &Waiting) -> bool,
) {
    for (key, waiting) in memory.waiting.iter().filter(|(key, waiting)| helps(key, waiting)) {
        outcome.look_again(WorkKey::Object(key.clone()), waiting.ticks_left(view.tick));
    }
}

/// Tries every Pod again that has waited long without a cause.
fn flush_leftovers(memory: &Memory, view: &View<'_>) -> Outcome {
    let mut outcome = Outcome::nothing(Because::new("because.scheduler.flush"));
    let mut next = None;
    for (key, waiting) in &memory.waiting {
        let due = waiting.tried_tick + LEFTOVER_TICKS;
        if due <= view.tick {
            outcome.look_again(WorkKey::Object(key.clone()), 1);
        } else {
            next = Some(next.map_or(due, |next: u64| next.min(due)));
        }
    }
    if let Some(due) = next {
        outcome.look_again(WorkKey::Heartbeat, due - view.tick);
    }
    outcome
}

/// A claim, a volume or a class changed: Pods that wait for it go on.
///
/// Models: the queueing hints of VolumeBinding, `isSchedulableAfterPersistentVolumeClaimChange` and its kin.
fn see_storage(memory: &mut Memory, view: &View<'_>, key: &ObjectKey) -> Outcome {
    let mut outcome =
        Outcome::nothing(Because::new("because.scheduler.storage-seen").with("name", &key.name));
    let concerns = |pod: &Pod| {
        key.kind != Kind::PersistentVolumeClaim
            || pod.meta.namespace == key.namespace && volumes::claims_of(pod).iter().any(|c| **c == *key.name)
    };
    for (pod, _) in &memory.binding {
        if view.store.at::<Pod>(pod).is_some_and(|pod| concerns(pod)) {
            outcome.look_again(WorkKey::Object(pod.clone()), 1);
        }
    }
    wake_waiting(memory, view, &mut outcome, |pod, waiting| {
        waiting.refused_by.iter().any(|plugin| plugin.starts_with("Volume"))
            && view.store.at::<Pod>(pod).is_some_and(|pod| concerns(pod))
    });
    outcome
}

/// Asks every node about the Pod, and binds it or says why not.
fn try_to_place(memory: &mut Memory, view: &View<'_>, key: &ObjectKey, pod: &Arc<Pod>) -> Outcome {
    memory.nominated.see(pod, &pod.status.nominated_node_name);
    if has_gates(pod) {
        return gated(view, pod);
    }
    let placing =
        Placing { pod, store: view.store, snapshot: &memory.snapshot, nominated: &memory.nominated };
    let candidate = Candidate::new(pod, view.store, &memory.snapshot);
    let mut attempt = attempt(&placing, &candidate, memory.next_start);
    memory.next_start = attempt.next_start;

    let mut outcome = Outcome { saw: vec![saw_pod(&candidate)], ..Outcome::default() };
    match attempt.verdicts.chosen.clone() {
        Some(node) => {
            let because = why_chosen(&attempt);
            memory.waiting.remove(key);
            memory.nominated.remove(key);
            memory.snapshot.place(pod, &node);
            let chosen = memory.snapshot.node(&node).and_then(|info| info.node.clone());
            let changes = chosen.map(|node| candidate.volumes.changes_for(&node)).unwrap_or_default();
            if changes.is_empty() {
                outcome.writes.extend(binding(pod, node, &because));
            } else {
                memory.binding.insert(key.clone(), node);
                for change in changes {
                    outcome.writes.push(Operation::Update(change).because(because.clone()));
                }
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
            let waiting = memory.waiting.entry(key.clone()).or_default();
            waiting.attempts += 1;
            waiting.tried_tick = view.tick;
            waiting.refused_by.clone_from(&attempt.refused_by);
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
fn binding(pod: &Arc<Pod>, node: Name, because: &Because) -> [Write; 2] {
    let key = pod.key();
    let message = format!("Successfully assigned {}/{} to {node}", key.namespace, key.name);
    let told = EventRecord::normal(&Object::Pod(pod.clone()), "Scheduled", message);
    [
        Operation::Bind { pod: key, node }.because(because.clone()),
        Operation::Event(told).because(because.clone()),
    ]
}

/// The node is chosen: the Pod is bound to it as soon as its claims have their volumes.
fn bind_when_ready(memory: &mut Memory, view: &View<'_>, pod: &Arc<Pod>, node: &Name) -> Outcome {
    let because = Because::new("because.scheduler.claims-bound").with("node", node);
    if !volumes::are_all_bound(pod, view.store) {
        return Outcome::nothing(Because::new("because.scheduler.claims-wait").with("node", node));
    }
    memory.binding.remove(&pod.key());
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.extend(binding(pod, node.clone(), &because));
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

fn has_gates(pod: &Pod) -> bool {
    let gates = pod.spec.rest.get("schedulingGates").and_then(serde_json::Value::as_array);
    gates.is_some_and(|gates| !gates.is_empty())
}

/// A Pod whose gates are closed is not tried; its condition says so.
fn gated(view: &View<'_>, pod: &Arc<Pod>) -> Outcome {
    let because = Because::new("because.scheduler.gated");
    let message = "Scheduling is blocked due to non-empty scheduling gates";
    let mut outcome = Outcome::nothing(because.clone());
    if let Some(changed) = with_condition(view, pod, "SchedulingGated", message, &Name::default()) {
        outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because));
    }
    outcome
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
        condition_type: "PodScheduled".to_string(),
        status: "False".to_string(),
        reason: reason.to_string(),
        message: message.to_string(),
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

fn saw_pod(candidate: &Candidate) -> Because {
    let asked = &candidate.requests.asked;
    Because::new("because.scheduler.saw-pod")
        .with("pod", &candidate.pod.meta.name)
        .with("cpu", crate::api::quantity::Quantity::from_milli(asked.cpu_millicores))
        .with("memory", crate::api::quantity::Quantity::from_bytes(asked.memory_bytes))
}

/// Why the chosen node, in numbers: with a single best node, against whom it won and what made the difference.
fn why_chosen(attempt: &Attempt) -> Because {
    let verdicts = &attempt.verdicts;
    let node = verdicts.chosen.as_deref().unwrap_or_default();
    let feasible: Vec<_> = verdicts.nodes.iter().filter(|verdict| verdict.is_feasible()).collect();
    let because = |key: &'static str| {
        Because::new(key)
            .with("node", node)
            .with("nodes", verdicts.nodes.len())
            .with("feasible", feasible.len())
    };
    let Some(chosen) = feasible.iter().find(|verdict| *verdict.node == *node) else {
        return because("because.scheduler.only-node");
    };
    if feasible.len() == 1 {
        return because("because.scheduler.only-node");
    }
    if attempt.tied > 1 {
        return because("because.scheduler.first-of-tied")
            .with("score", chosen.total())
            .with("tied", attempt.tied);
    }
    let others = feasible.iter().filter(|verdict| *verdict.node != *node);
    let best = because("because.scheduler.best-node").with("score", chosen.total());
    let Some(second) = others.max_by(|a, b| a.total().cmp(&b.total()).then(b.node.cmp(&a.node))) else {
        return best;
    };
    let pairs = chosen.scores.iter().zip(second.scores.iter());
    let Some(((plugin, own), (_, other))) = pairs.max_by_key(|((_, own), (_, other))| own - other) else {
        return best;
    };
    best.with("second", &second.node)
        .with("second_score", second.total())
        .with("plugin", plugin)
        .with("own", own)
        .with("other", other)
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
