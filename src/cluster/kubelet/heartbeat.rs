//! The sign of life of a node: its Lease every ten seconds, its status every five minutes.
//!
//! Models: `component-helpers/apimachinery/lease`, `pkg/kubelet/kubelet_node_status.go` (v1.36). Leaves out: registering
//! the node (the installer does), the list of images.

use super::eviction::{Pressure, Scarce};
use crate::api::kinds::cluster::{Lease, LeaseSpec, Node, NodeCondition};
use crate::api::meta::{Name, OwnerReference};
use crate::api::object::Object;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fnv::fnv1a_32;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation, Write};

const LEASE_NAMESPACE: &str = "kube-node-lease";
const RENEW_SECONDS: u64 = 10;
const LEASE_SECONDS: i32 = 40;
const STATUS_SECONDS: i64 = 300;

/// A condition as a node reports it: type, status, reason, message.
type Report = (&'static str, &'static str, &'static str, &'static str);

/// The conditions that the node reports.
fn conditions(pressure: &Pressure) -> [Report; 4] {
    [
        if pressure.is_under(Scarce::Memory) {
            (
                "MemoryPressure",
                "True",
                "KubeletHasInsufficientMemory",
                "kubelet has insufficient memory available",
            )
        } else {
            (
                "MemoryPressure",
                "False",
                "KubeletHasSufficientMemory",
                "kubelet has sufficient memory available",
            )
        },
        if pressure.is_under(Scarce::Disk) {
            ("DiskPressure", "True", "KubeletHasDiskPressure", "kubelet has disk pressure")
        } else {
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
        },
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
}

/// Renews the Lease, and reports the node's conditions when they are due or differ.
/// `outcome` is what the same look at the node has come to already.
pub fn beat(node: &Name, pressure: &Pressure, view: &View<'_>, mut outcome: Outcome) -> Outcome {
    // Nodes that began at the same time do not all call at the same time.
    let is_first = view.store.get::<Lease>(LEASE_NAMESPACE, node).is_none();
    let wait = if is_first { 1 + u64::from(fnv1a_32(node.bytes())) % RENEW_SECONDS } else { RENEW_SECONDS };
    outcome.look_again(WorkKey::Heartbeat, wait);
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
    let conditions = conditions(pressure);
    if is_report_due(object, &conditions, view) {
        let because = Because::new("because.kubelet.node-reported").with("node", node);
        for (condition_type, status, reason, _) in conditions {
            let stored = object.status.conditions.iter().find(|c| c.condition_type == condition_type);
            if stored.is_some_and(|stored| stored.status != status) {
                let reason = if condition_type == "Ready" { "NodeReady" } else { told_reason(reason) };
                outcome.writes.push(tell(object, reason, status_message(node, reason), &because));
            }
        }
        let reported = reported(object, &conditions, view);
        outcome.writes.push(Operation::UpdateStatus(reported.into()).because(because));
    }
    outcome.because.get_or_insert(alive);
    outcome
}

/// The kubelet has started: it says so, and reports the node.
pub fn start(node: &Name, pressure: &Pressure, view: &View<'_>) -> Outcome {
    let mut outcome = beat(node, pressure, view, Outcome::default());
    if let Some(object) = view.store.get::<Node>("", node) {
        let because = Because::new("because.kubelet.starts").with("node", node);
        let mut told = vec![tell(object, "Starting", "Starting kubelet.".to_string(), &because)];
        for (_, _, reason, _) in conditions(pressure).into_iter().filter(|(name, ..)| *name != "Ready") {
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
        "KubeletHasInsufficientMemory" => "NodeHasInsufficientMemory",
        "KubeletHasNoDiskPressure" => "NodeHasNoDiskPressure",
        "KubeletHasDiskPressure" => "NodeHasDiskPressure",
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
    }]
    .into();
    lease.spec = LeaseSpec {
        holder_identity: Some(node.meta.name.to_string()),
        lease_duration_seconds: Some(LEASE_SECONDS),
        renew_time: Some(view.now),
        ..LeaseSpec::default()
    };
    lease.into()
}

fn is_report_due(node: &Node, conditions: &[Report], view: &View<'_>) -> bool {
    conditions.iter().any(|(condition_type, status, ..)| {
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

fn reported(node: &Node, conditions: &[Report], view: &View<'_>) -> Node {
    let mut node = node.clone();
    for &(condition_type, status, reason, message) in conditions {
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
