//! The taint eviction controller: deletes Pods from nodes whose `NoExecute` taints they do not put up with, or no longer.
//!
//! Watches: nodes, Pods.
//! Writes: the condition `DisruptionTarget` of Pods, deletions, events.
//! Models: `pkg/controller/tainteviction/taint_eviction.go` (v1.36). Leaves out: nothing.

use std::sync::Arc;

use imbl::OrdMap;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Node, Taint};
use crate::api::kinds::pod::{Pod, Toleration};
use crate::api::meta::ObjectKey;
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::Change;

const REASON: &str = "DeletionByTaintManager";
const MESSAGE: &str = "Taint manager: deleting due to NoExecute taint";

/// What the controller keeps to itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Pods that are to be deleted: since when that is known, and when it is due.
    due: OrdMap<ObjectKey, (Timestamp, Timestamp)>,
}

/// The Pods that a change concerns: those on a node whose `NoExecute` taints changed, and one that came to such a node or
/// changed what it puts up with.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Node => {
            let taints =
                |node: Option<&Arc<Node>>| node.map(|node| driving(node).cloned().collect::<Vec<_>>());
            let (old, new) = (change.old_as::<Node>(), change.new_as::<Node>());
            if taints(old).unwrap_or_default() == taints(new).unwrap_or_default() {
                return Vec::new();
            }
            view.store.pods_on(&change.key.name).map(|pod| WorkKey::Object(pod.key())).collect()
        }
        Kind::Pod => {
            let (old, new) = (change.old_as::<Pod>(), change.new_as::<Pod>());
            let Some(pod) = new.or(old).filter(|pod| pod.is_bound()) else { return Vec::new() };
            let is_same = old.zip(new).is_some_and(|(old, new)| {
                old.node_name == new.node_name && Arc::ptr_eq(&old.spec, &new.spec)
            });
            let node = view.store.get::<Node>("", &pod.node_name);
            if is_same || node.is_none_or(|node| driving(node).next().is_none()) {
                return Vec::new();
            }
            vec![WorkKey::Object(change.key.clone())]
        }
        _ => Vec::new(),
    }
}

fn driving(node: &Node) -> impl Iterator<Item = &Taint> {
    node.spec.taints.iter().filter(|taint| taint.effect == "NoExecute")
}

/// Handles one Pod.
pub fn reconcile(memory: &mut Memory, view: &View<'_>, key: &WorkKey) -> Outcome {
    let WorkKey::Object(key) = key else { return Outcome::default() };
    let pod = view.store.at::<Pod>(key).filter(|pod| pod.is_bound() && !pod.meta.is_terminating());
    let Some(pod) = pod else {
        memory.due.remove(key);
        return Outcome::nothing(Because::new("because.tainteviction.gone").with("pod", &key.name));
    };
    let node = view.store.get::<Node>("", &pod.node_name);
    let taints: Vec<&Taint> = node.map(|node| driving(node).collect()).unwrap_or_default();
    match plan(&taints, &pod.spec.tolerations) {
        Plan::Stay => {
            let because = Because::new(if taints.is_empty() {
                "because.tainteviction.untainted"
            } else {
                "because.tainteviction.tolerated"
            });
            let mut outcome = Outcome::nothing(because.with("pod", &key.name).with("node", &pod.node_name));
            cancel(memory, pod, &mut outcome);
            outcome
        }
        Plan::LeaveNow => {
            let mut outcome = Outcome::default();
            cancel(memory, pod, &mut outcome);
            evict(view, pod, &mut outcome);
            outcome
        }
        Plan::LeaveAfter(seconds) => {
            // A Pod that is to go already does not go at another time because it is to put up with more, or less, by now.
            let planned = memory.due.get(key).copied();
            let (since, due) = planned.unwrap_or((view.now, Timestamp(view.now.0 + seconds)));
            if due <= view.now {
                memory.due.remove(key);
                let mut outcome = Outcome::default();
                evict(view, pod, &mut outcome);
                return outcome;
            }
            memory.due.insert(key.clone(), (since, due));
            let because = Because::new("because.tainteviction.waits").with("pod", &key.name);
            let mut outcome = Outcome::nothing(because.with("node", &pod.node_name).with("seconds", seconds));
            let left = u64::try_from(due.seconds_since(view.now)).unwrap_or(1);
            outcome.look_again(WorkKey::Object(key.clone()), left);
            outcome
        }
    }
}

/// What becomes of a Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// It stays.
    Stay,
    /// It has to go at once.
    LeaveNow,
    /// It has to go after so many seconds.
    LeaveAfter(i64),
}

/// The shortest time for which the tolerations that are used put up with the taints.
fn plan(taints: &[&Taint], tolerations: &[Toleration]) -> Plan {
    let mut shortest: Option<i64> = None;
    for taint in taints {
        let mut used = tolerations.iter().filter(|toleration| tolerates(toleration, taint));
        let Some(toleration) = used.next() else { return Plan::LeaveNow };
        if let Some(seconds) = toleration.toleration_seconds {
            shortest = Some(shortest.map_or(seconds, |shortest| shortest.min(seconds)));
        }
    }
    match shortest {
        None => Plan::Stay,
        Some(seconds) if seconds <= 0 => Plan::LeaveNow,
        Some(seconds) => Plan::LeaveAfter(seconds),
    }
}

/// Models: `core/v1.Toleration.ToleratesTaint`.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let matches = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
    matches(&toleration.effect, &taint.effect)
        && matches(&toleration.key, &taint.key)
        && match toleration.operator.as_str() {
            "" | "Equal" => toleration.value == taint.value,
            "Exists" => true,
            _ => false,
        }
}

/// The Pod does not have to go after all.
fn cancel(memory: &mut Memory, pod: &Arc<Pod>, outcome: &mut Outcome) {
    if memory.due.remove(&pod.key()).is_none() {
        return;
    }
    let because = Because::new("because.tainteviction.cancelled").with("pod", &pod.meta.name);
    let message = format!("Cancelling deletion of Pod {}/{}", pod.meta.namespace, pod.meta.name);
    let told = EventRecord::normal(&Object::Pod(pod.clone()), "TaintManagerEviction", message);
    outcome.because = Some(because.clone());
    outcome.writes.push(Operation::Event(told).because(because));
}

fn evict(view: &View<'_>, pod: &Arc<Pod>, outcome: &mut Outcome) {
    let because = Because::new("because.tainteviction.evicted")
        .with("pod", &pod.meta.name)
        .with("node", &pod.node_name);
    let message = format!("Marking for deletion Pod {}/{}", pod.meta.namespace, pod.meta.name);
    let told = EventRecord::normal(&Object::Pod(pod.clone()), "TaintManagerEviction", message);
    let mut changed = Pod::clone(pod);
    changed.status.set_condition("DisruptionTarget", "True", REASON, MESSAGE, view.now);
    if let Some(condition) = changed.status.conditions.last_mut() {
        condition.observed_generation = pod.meta.generation;
    }
    let delete = Operation::Delete {
        key: pod.key(),
        uid: Some(pod.meta.uid.clone()),
        grace_seconds: None,
        propagation: Propagation::Background,
    };
    outcome.because = Some(because.clone());
    outcome.writes.push(Operation::Event(told).because(because.clone()));
    outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because.clone()));
    outcome.writes.push(delete.because(because));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_toleration_that_is_used_counts() {
        let taint =
            |key: &str| Taint { key: key.to_string(), effect: "NoExecute".to_string(), ..Taint::default() };
        let toleration = |key: &str, seconds: Option<i64>| Toleration {
            key: key.to_string(),
            operator: "Exists".to_string(),
            toleration_seconds: seconds,
            ..Toleration::default()
        };
        let table = [
            ("no taint", vec![], vec![], Plan::Stay),
            ("a taint that is not tolerated", vec!["a"], vec![], Plan::LeaveNow),
            ("one tolerated for ever", vec!["a"], vec![toleration("a", None)], Plan::Stay),
            ("one tolerated for a while", vec!["a"], vec![toleration("a", Some(20))], Plan::LeaveAfter(20)),
            (
                "the shorter of two",
                vec!["a", "b"],
                vec![toleration("a", Some(20)), toleration("b", Some(5))],
                Plan::LeaveAfter(5),
            ),
            ("one of two is not tolerated", vec!["a", "b"], vec![toleration("a", None)], Plan::LeaveNow),
            ("for no time at all", vec!["a"], vec![toleration("a", Some(0))], Plan::LeaveNow),
        ];
        for (sentence, keys, tolerations, expected) in table {
            let taints: Vec<Taint> = keys.into_iter().map(taint).collect();
            let taints: Vec<&Taint> = taints.iter().collect();
            assert_eq!(plan(&taints, &tolerations), expected, "{sentence}");
        }
    }
}
