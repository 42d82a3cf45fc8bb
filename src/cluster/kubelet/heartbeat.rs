//! The sign of life of a node: its Lease every ten seconds, its status every five minutes.
//!
//! Models: `component-helpers/apimachinery/lease`, `pkg/kubelet/kubelet_node_status.go` (v1.36). Leaves out: registering
//! the node (the installer does), pressures, the list of images.

use crate::api::kinds::cluster::{Lease, LeaseSpec, Node, NodeCondition};
use crate::api::meta::{Name, OwnerReference};
use crate::api::object::Object;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation, Write};

const LEASE_NAMESPACE: &str = "kube-node-lease";
const RENEW_SECONDS: u64 = 10;
const LEASE_SECONDS: i32 = 40;
const STATUS_SECONDS: i64 = 300;

/// The conditions that a healthy node reports: type, status, reason, message.
const CONDITIONS: [(&str, &str, &str, &str); 4] = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
];

/// Renews the Lease, and reports the node's conditions when they are due or differ.
pub fn beat(node: &Name, view: &View<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.look_again(WorkKey::Heartbeat, RENEW_SECONDS);
    let Some(object) = view.store.get::<Node>("", node) else {
        outcome.because = Some(Because::new("because.kubelet.no-node").with("node", node));
        return outcome;
    };
    let alive = Because::new("because.kubelet.alive").with("seconds", RENEW_SECONDS);
    match view.store.get::<Lease>(LEASE_NAMESPACE, node) {
        Some(lease) => {
            let mut lease = Lease::clone(lease);
            lease.spec.renew_time = Some(view.now);
            outcome.writes.push(Operation::Update(lease.into()).because(alive.clone()));
        }
        None => outcome.writes.push(Operation::Create(new_lease(object, view)).because(alive.clone())),
    }
    if is_report_due(object, view) {
        let because = Because::new("because.kubelet.node-reported").with("node", node);
        for (condition_type, status, reason, _) in CONDITIONS {
            let stored = object.status.conditions.iter().find(|c| c.condition_type == condition_type);
            if stored.is_some_and(|stored| stored.status != status) {
                let reason = if condition_type == "Ready" { "NodeReady" } else { told_reason(reason) };
                outcome.writes.push(tell(object, reason, status_message(node, reason), &because));
            }
        }
        outcome.writes.push(Operation::UpdateStatus(reported(object, view).into()).because(because));
    }
    outcome.because = Some(alive);
    outcome
}

/// The kubelet has started: it says so, and reports the node.
pub fn start(node: &Name, view: &View<'_>) -> Outcome {
    let mut outcome = beat(node, view);
    if let Some(object) = view.store.get::<Node>("", node) {
        let because = Because::new("because.kubelet.starts").with("node", node);
        let mut told = vec![tell(object, "Starting", "Starting kubelet.".to_string(), &because)];
        for (condition_type, _, reason, _) in CONDITIONS.into_iter().filter(|(name, ..)| *name != "Ready") {
            let _ = condition_type;
            let reason = told_reason(reason);
            told.push(tell(object, reason, status_message(node, reason), &because));
        }
        told.append(&mut outcome.writes);
        outcome.writes = told;
        outcome.because = Some(because);
    }
    outcome
}

/// The reason of the event for a condition's reason: `NodeHasSufficientMemory` for `KubeletHasSufficientMemory`.
fn told_reason(reason: &str) -> &'static str {
    match reason {
        "KubeletHasSufficientMemory" => "NodeHasSufficientMemory",
        "KubeletHasNoDiskPressure" => "NodeHasNoDiskPressure",
        _ => "NodeHasSufficientPID",
    }
}

fn status_message(node: &Name, reason: &str) -> String {
    format!("Node {node} status is now: {reason}")
}

fn tell(node: &std::sync::Arc<Node>, reason: &'static str, message: String, because: &Because) -> Write {
    let record = EventRecord::normal(&Object::Node(node.clone()), reason, message);
    Operation::Event(record).because(because.clone())
}

fn new_lease(node: &Node, view: &View<'_>) -> Object {
    let mut lease = Lease::default();
    lease.meta.name = node.meta.name.clone();
    lease.meta.namespace = LEASE_NAMESPACE.into();
    lease.meta.owner_references = vec![OwnerReference {
        api_version: "v1".to_string(),
        kind: "Node".to_string(),
        name: node.meta.name.clone(),
        uid: node.meta.uid.clone(),
        ..OwnerReference::default()
    }];
    lease.spec = LeaseSpec {
        holder_identity: Some(node.meta.name.to_string()),
        lease_duration_seconds: Some(LEASE_SECONDS),
        renew_time: Some(view.now),
        ..LeaseSpec::default()
    };
    lease.into()
}

fn is_report_due(node: &Node, view: &View<'_>) -> bool {
    CONDITIONS.iter().any(|(condition_type, status, ..)| {
        let stored =
            node.status.conditions.iter().find(|condition| condition.condition_type == *condition_type);
        stored.is_none_or(|stored| {
            stored.status != *status
                || stored
                    .last_heartbeat_time
                    .is_none_or(|beat| view.now.seconds_since(beat) >= STATUS_SECONDS)
        })
    })
}

fn reported(node: &Node, view: &View<'_>) -> Node {
    let mut node = node.clone();
    for (condition_type, status, reason, message) in CONDITIONS {
        let stored = node.status.conditions.iter_mut().find(|c| c.condition_type == condition_type);
        let since =
            stored.as_ref().filter(|c| c.status == status).map_or(Some(view.now), |c| c.last_transition_time);
        let condition = NodeCondition {
            condition_type: condition_type.to_string(),
            status: status.to_string(),
            last_heartbeat_time: Some(view.now),
            last_transition_time: since,
            reason: reason.to_string(),
            message: message.to_string(),
            ..NodeCondition::default()
        };
        match stored {
            Some(stored) => *stored = condition,
            None => node.status.conditions.push(condition),
        }
    }
    node
}
