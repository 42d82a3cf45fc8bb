//! The node lifecycle controller: notices nodes that have gone silent, and taints nodes by their conditions.
//!
//! Watches: nodes; looks at all Leases every five seconds.
//! Writes: conditions and taints of nodes, the condition `Ready` of Pods on nodes that are lost, events.
//! Models: `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (v1.36): `tryUpdateNodeHealth`,
//! `doNoScheduleTaintingPass`, `doNoExecuteTaintingPass`, disrupted zones and their rates. Leaves out: the new grace that all
//! nodes get when a full disruption ends.

use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Lease, Node, NodeCondition, Taint};
use crate::api::kinds::event::Event;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{ObjectKey, Revision};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::{Change, Store};

const LEASE_NAMESPACE: &str = "kube-node-lease";

/// How often all nodes are looked at.
const MONITOR_TICKS: u64 = 5;

/// How long a node may be silent.
const GRACE_SECONDS: i64 = 50;

/// How long a node that has never reported anything may be silent.
const STARTUP_GRACE_SECONDS: i64 = 60;

/// A Lease is renewed every ten seconds: a node silent for longer than this is watched until its grace ends.
const MISSED_SECONDS: i64 = 11;

/// At most one node of a zone begins to lose its Pods in this many seconds.
const EVICTION_SECONDS: i64 = 10;

/// The same for a large zone of which many nodes are lost.
const SLOW_EVICTION_SECONDS: i64 = 100;

/// A zone with more nodes is large.
const LARGE_ZONE: usize = 50;

/// From this share on, in hundredths, many nodes of a zone are lost.
const UNHEALTHY_PERCENT: usize = 55;

/// A node that has come this recently is new.
const NEW_SECONDS: i64 = 3;

const REGISTERED: &str = "RegisteredNode";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
const ZONE: &str = "topology.kubernetes.io/zone";

/// The conditions that a kubelet reports.
const REPORTED: [&str; 4] = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];

/// Conditions that keep new Pods away: the condition, its status, the taint.
const TAINTED_BY: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
];

/// The keys that a change concerns: a node whose conditions or taints changed; all of them when one was lost or came back,
/// since that may begin or end a full disruption.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    if change.key.kind != Kind::Node {
        return Vec::new();
    }
    let own = WorkKey::Object(change.key.clone());
    let status = |node: Option<&Arc<Node>>| node.map(|node| ready_status(node).to_string());
    match (change.old_as::<Node>(), change.new_as::<Node>()) {
        (None, Some(_)) => vec![own, WorkKey::Heartbeat],
        (Some(old), Some(new)) if old.status.conditions == new.status.conditions && old.spec == new.spec => {
            Vec::new()
        }
        (Some(old), Some(new)) if status(Some(old)) != status(Some(new)) => {
            view.store.list::<Node>().map(|node| WorkKey::Object(node.key())).collect()
        }
        (Some(old), Some(new))
            if wanted_taints(new, view.store, view.now) == (new.spec.taints.clone(), None) =>
        {
            let _ = old;
            Vec::new()
        }
        (Some(_), Some(_)) => vec![own],
        _ => Vec::new(),
    }
}

/// Handles one key.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    match key {
        WorkKey::Heartbeat => monitor(view),
        WorkKey::Object(key) => match view.store.at::<Node>(key) {
            Some(node) => look_at(view, key, node),
            None => Outcome::nothing(Because::new("because.nodelifecycle.gone").with("node", &key.name)),
        },
        _ => Outcome::default(),
    }
}

/// Looks for nodes that have missed a heartbeat.
fn monitor(view: &View<'_>) -> Outcome {
    let mut outcome = Outcome::nothing(Because::new("because.nodelifecycle.monitored"));
    outcome.look_again(WorkKey::Heartbeat, MONITOR_TICKS);
    if !view.settings.kubelets {
        return outcome;
    }
    for node in view.store.list::<Node>().filter(|node| ready_status(node) != "Unknown") {
        let silent = silent_seconds(view, node);
        if silent > MISSED_SECONDS {
            let left = u64::try_from(grace_seconds(node) - silent).unwrap_or(0).max(1);
            outcome.look_again(WorkKey::Object(node.key()), left);
        }
    }
    outcome
}

/// How long the node may be silent.
fn grace_seconds(node: &Node) -> i64 {
    if ready_condition(node).is_some() { GRACE_SECONDS } else { STARTUP_GRACE_SECONDS }
}

/// How many nodes of a zone are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneState {
    /// Few.
    Normal,
    /// Many.
    PartialDisruption,
    /// All.
    FullDisruption,
}

/// The state of a zone with so many nodes that are ready, and are not.
pub fn zone_state(ready: usize, not_ready: usize) -> ZoneState {
    match (ready, not_ready) {
        (0, 1..) => ZoneState::FullDisruption,
        (_, 3..) if not_ready * 100 >= UNHEALTHY_PERCENT * (ready + not_ready) => {
            ZoneState::PartialDisruption
        }
        _ => ZoneState::Normal,
    }
}

/// In how many seconds one node of a zone of that size begins to lose its Pods; `None` when none does.
pub fn eviction_seconds(state: ZoneState, size: usize) -> Option<i64> {
    match state {
        ZoneState::Normal | ZoneState::FullDisruption => Some(EVICTION_SECONDS),
        ZoneState::PartialDisruption if size > LARGE_ZONE => Some(SLOW_EVICTION_SECONDS),
        ZoneState::PartialDisruption => None,
    }
}

/// How long nothing has been heard of the node.
fn silent_seconds(view: &View<'_>, node: &Node) -> i64 {
    let lease = view.store.get::<Lease>(LEASE_NAMESPACE, &node.meta.name);
    let renewed = lease.and_then(|lease| lease.spec.renew_time);
    let reported = ready_condition(node).and_then(|condition| condition.last_heartbeat_time);
    let heard = renewed.max(reported).max(node.meta.creation_timestamp).max(view.world.listening_since);
    let heard = heard.unwrap_or(view.now);
    view.now.seconds_since(heard)
}

fn ready_condition(node: &Node) -> Option<&NodeCondition> {
    node.status.conditions.iter().find(|condition| condition.condition_type == "Ready")
}

fn ready_status(node: &Node) -> &str {
    ready_condition(node).map_or("", |condition| condition.status.as_str())
}

/// Whether the node has just come, and has not been greeted.
fn is_new(view: &View<'_>, node: &Node) -> bool {
    let came = node.meta.creation_timestamp.is_some_and(|came| view.now.seconds_since(came) <= NEW_SECONDS);
    came && !view.store.list_in::<Event>("default").any(|event| {
        event.reason == REGISTERED
            && event.involved_object.kind == "Node"
            && event.involved_object.name == node.meta.name
    })
}

/// Looks at one node: is it lost, and which taints should it have?
fn look_at(view: &View<'_>, key: &ObjectKey, node: &Arc<Node>) -> Outcome {
    let mut outcome = Outcome::default();
    if is_new(view, node) {
        let because = Because::new("because.nodelifecycle.registered").with("node", &key.name);
        let message = format!("Node {} event: Registered Node {} in Controller", key.name, key.name);
        let event = EventRecord::normal(&Object::Node(node.clone()), REGISTERED, message);
        outcome.writes.push(Operation::Event(event).because(because.clone()));
        outcome.because = Some(because);
    }
    let silent = silent_seconds(view, node);
    let is_lost = view.settings.kubelets && silent >= grace_seconds(node) && ready_status(node) != "Unknown";
    let mut seen = Node::clone(node);
    if is_lost {
        mark_lost(&mut seen, view.now);
        let because =
            Because::new("because.nodelifecycle.lost").with("node", &key.name).with("seconds", silent);
        outcome.because = Some(because.clone());
        let object = Object::Node(node.clone());
        let message = format!("Node {} status is now: NodeNotReady", key.name);
        outcome.writes.push(Operation::UpdateStatus(seen.clone().into()).because(because.clone()));
        outcome
            .writes
            .push(Operation::Event(EventRecord::normal(&object, "NodeNotReady", message)).because(because));
        for pod in view.store.pods_on(&key.name) {
            lose_pod(view, pod, &mut outcome);
        }
    }
    let (taints, wait) = wanted_taints(&seen, view.store, view.now);
    if let Some(ticks) = wait {
        outcome.look_again(WorkKey::Object(key.clone()), ticks);
    }
    if taints != seen.spec.taints {
        let words: Vec<String> =
            taints.iter().map(|taint| format!("{}:{}", taint.key, taint.effect)).collect();
        let because = if words.is_empty() {
            Because::new("because.nodelifecycle.untainted").with("node", &key.name)
        } else {
            Because::new("because.nodelifecycle.tainted")
                .with("node", &key.name)
                .with("taints", words.join(", "))
        };
        seen.spec.taints = taints;
        // A patch, whoever has written in between.
        seen.meta.resource_version = Revision(0);
        outcome.because.get_or_insert_with(|| because.clone());
        outcome.writes.push(Operation::Update(seen.into()).because(because));
    }
    outcome
        .because
        .get_or_insert_with(|| Because::new("because.nodelifecycle.as_wished").with("node", &key.name));
    outcome
}

/// What a silent node reported last is no longer known to be so.
fn mark_lost(node: &mut Node, now: Timestamp) {
    for condition_type in REPORTED {
        let found = node.status.conditions.iter_mut().find(|c| c.condition_type == condition_type);
        let (reason, message) = match found {
            Some(_) => ("NodeStatusUnknown", "Kubelet stopped posting node status."),
            None => ("NodeStatusNeverUpdated", "Kubelet never posted node status."),
        };
        let unknown = NodeCondition {
            condition_type: condition_type.to_string(),
            status: "Unknown".to_string(),
            last_transition_time: Some(now),
            last_heartbeat_time: found
                .as_ref()
                .map_or(node.meta.creation_timestamp, |c| c.last_heartbeat_time),
            reason: reason.to_string(),
            message: message.to_string(),
            ..NodeCondition::default()
        };
        match found {
            Some(condition) if condition.status == "Unknown" => {}
            Some(condition) => *condition = unknown,
            None => node.status.conditions.push(unknown),
        }
    }
}

/// A Pod on a lost node is not ready: no traffic may go there.
fn lose_pod(view: &View<'_>, pod: &Arc<Pod>, outcome: &mut Outcome) {
    let because = Because::new("because.nodelifecycle.pod_lost").with("pod", &pod.meta.name);
    let Some(ready) = pod.condition("Ready").filter(|condition| condition.status != "False") else { return };
    let (reason, message) = (ready.reason.clone(), ready.message.clone());
    let mut changed = Pod::clone(pod);
    changed.status.set_condition("Ready", "False", &reason, &message, view.now);
    let told = EventRecord::warning(&Object::Pod(pod.clone()), "NodeNotReady", "Node is not ready");
    outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because.clone()));
    outcome.writes.push(Operation::Event(told).because(because));
}

/// The taints that the node should have, and after how many ticks it may get one that drives its Pods away, if it has
/// to wait for that.
fn wanted_taints(node: &Node, store: &Store, now: Timestamp) -> (Vec<Taint>, Option<u64>) {
    let status_of = |condition_type: &str| {
        let mut all = node.status.conditions.iter();
        all.find(|condition| condition.condition_type == condition_type).map_or("", |c| c.status.as_str())
    };
    let mut keys: Vec<&str> = TAINTED_BY
        .iter()
        .filter(|(condition_type, status, _)| status_of(condition_type) == *status)
        .map(|(.., key)| *key)
        .collect();
    if node.spec.unschedulable {
        keys.push(UNSCHEDULABLE);
    }
    let is_ours = |taint: &Taint| {
        let by_condition = taint.key == UNSCHEDULABLE || TAINTED_BY.iter().any(|(.., key)| *key == taint.key);
        match taint.effect.as_str() {
            "NoSchedule" => by_condition,
            "NoExecute" => matches!(taint.key.as_str(), NOT_READY | UNREACHABLE),
            _ => false,
        }
    };
    let mut wanted: Vec<(&str, &str)> = keys.iter().map(|key| (*key, "NoSchedule")).collect();
    let driving = match status_of("Ready") {
        "False" => Some(NOT_READY),
        "Unknown" => Some(UNREACHABLE),
        _ => None,
    };
    let mut wait = None;
    if let Some(key) = driving.filter(|_| store.list::<Node>().any(|other| is_well(other, node))) {
        let has = node.spec.taints.iter().any(|taint| taint.effect == "NoExecute" && is_ours(taint));
        match if has { Some(0) } else { seconds_to_wait(node, store, now) } {
            Some(left) if left > 0 => wait = u64::try_from(left).ok(),
            Some(_) => wanted.push((key, "NoExecute")),
            None => {}
        }
    }
    let is_wanted =
        |taint: &Taint| wanted.iter().any(|(key, effect)| taint.key == *key && taint.effect == *effect);
    let mut taints: Vec<Taint> =
        node.spec.taints.iter().filter(|taint| !is_ours(taint) || is_wanted(taint)).cloned().collect();
    for (key, effect) in &wanted {
        if !taints.iter().any(|taint| taint.key == *key && taint.effect == *effect) {
            taints.push(Taint {
                key: (*key).to_string(),
                effect: (*effect).to_string(),
                time_added: Some(now),
                ..Taint::default()
            });
        }
    }
    (taints, wait)
}

/// Whether another node is ready: as long as none is, the fault may be on the controller's side, and nobody is driven away.
fn is_well(other: &Node, node: &Node) -> bool {
    other.meta.name != node.meta.name && other.is_ready()
}

/// How long the node has to wait until another one of its zone has been given time; `None` while so many nodes of the zone
/// are lost that none is to lose its Pods.
fn seconds_to_wait(node: &Node, store: &Store, now: Timestamp) -> Option<i64> {
    let zone = node.meta.labels.get(ZONE);
    let is_beside =
        |other: &&Arc<Node>| other.meta.name != node.meta.name && other.meta.labels.get(ZONE) == zone;
    let others: Vec<&Arc<Node>> = store.list::<Node>().filter(is_beside).collect();
    let not_ready = 1 + others.iter().filter(|other| !other.is_ready()).count();
    let size = 1 + others.len();
    let seconds = eviction_seconds(zone_state(size - not_ready, not_ready), size)?;
    let taints = others.into_iter().flat_map(|other| &other.spec.taints);
    let driving = taints
        .filter(|taint| taint.effect == "NoExecute" && matches!(taint.key.as_str(), NOT_READY | UNREACHABLE));
    let last = driving.filter_map(|taint| taint.time_added).max();
    Some(last.map_or(0, |last| seconds - now.seconds_since(last)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::actor::Actor;
    use crate::cluster::command::Fault;
    use crate::cluster::machine::Cluster;
    use crate::cluster::server::request::{Request, Verb};
    use crate::cluster::settings::{NodeSetup, Settings};
    use serde_json::json;

    fn ticks(cluster: &mut Cluster, count: u32) {
        (0..count).for_each(|_| cluster.finish_tick(&mut Vec::new()));
    }

    fn taints(cluster: &Cluster, node: &str) -> Vec<String> {
        let node = cluster.store.get::<Node>("", node).unwrap();
        node.spec.taints.iter().map(|taint| format!("{}:{}", taint.key, taint.effect)).collect()
    }

    #[test]
    fn a_silent_node_is_lost_after_its_grace_its_pods_leave_and_it_comes_back() {
        let nodes = ["node-1", "node-2"].map(NodeSetup::new).to_vec();
        let mut cluster = Cluster::boot(Settings::bare(1, nodes));
        let spec = json!({
            "nodeName": "node-1", "containers": [{"name": "c", "image": "x"}],
            "tolerations": [{"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}],
        });
        let body = json!({"metadata": {"name": "p"}, "spec": spec});
        cluster.ask(&Request::new(Verb::Create, Kind::Pod, "default", "p", body), &mut Vec::new()).unwrap();
        ticks(&mut cluster, 10);
        let ready = |cluster: &Cluster| cluster.store.get::<Pod>("default", "p").map(|pod| pod.is_ready());
        assert_eq!(ready(&cluster), Some(true));
        cluster.cause(&Fault::Stop(Actor::Kubelet("node-1".into())), &mut Vec::new());
        ticks(&mut cluster, 38);
        assert_eq!(taints(&cluster, "node-1"), [""; 0]);
        ticks(&mut cluster, 16);
        assert_eq!(
            taints(&cluster, "node-1"),
            [format!("{UNREACHABLE}:NoSchedule"), format!("{UNREACHABLE}:NoExecute")]
        );
        assert_eq!(ready(&cluster), Some(false));
        ticks(&mut cluster, 24);
        let pod = cluster.store.get::<Pod>("default", "p").unwrap();
        assert!(pod.meta.is_terminating());
        assert_eq!(pod.condition("DisruptionTarget").unwrap().reason, "DeletionByTaintManager");
        cluster.cause(&Fault::Start(Actor::Kubelet("node-1".into())), &mut Vec::new());
        ticks(&mut cluster, 5);
        assert_eq!(taints(&cluster, "node-1"), [""; 0]);
        assert_eq!(ready(&cluster), None);
    }

    #[test]
    fn a_cordoned_node_is_tainted() {
        let mut cluster = Cluster::boot(Settings::bare(1, vec![NodeSetup::new("node-1")]));
        let patch = |value: bool| {
            let body = json!({"spec": {"unschedulable": value}});
            Request::new(Verb::MergePatch, Kind::Node, "", "node-1", body)
        };
        cluster.ask(&patch(true), &mut Vec::new()).unwrap();
        ticks(&mut cluster, 2);
        assert_eq!(taints(&cluster, "node-1"), [format!("{UNSCHEDULABLE}:NoSchedule")]);
        cluster.ask(&patch(false), &mut Vec::new()).unwrap();
        ticks(&mut cluster, 2);
        assert_eq!(taints(&cluster, "node-1"), [""; 0]);
    }
}
