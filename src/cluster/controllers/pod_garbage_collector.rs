//! The Pod garbage collector: removes Pods that no kubelet will remove any more.
//!
//! Watches: nodes, Pods.
//! Writes: the last status of such Pods, deletions without grace.
//! Models: `pkg/controller/podgc/gc_controller.go` (v1.36): Pods of nodes that are gone, Pods on their way out on nodes that
//! are out of service. Leaves out: the limit of 12,500 finished Pods; it looks when something happens, where a real one looks
//! every 20 seconds.

use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::Pod;
use crate::api::object::Resource;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

/// A node that is gone may come back for so long.
const QUARANTINE_TICKS: u64 = 40;

const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// The keys that a change concerns: a node that vanished or was taken out of service, a Pod that is to leave such a node.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_concerned = match change.key.kind {
        Kind::Node => change.new_as::<Node>().is_none_or(|node| is_out_of_service(node)),
        Kind::Pod => change.new_as::<Pod>().is_some_and(|pod| {
            pod.meta.is_terminating()
                && pod.is_bound()
                && view.store.get::<Node>("", &pod.node_name).is_some_and(|node| is_out_of_service(node))
        }),
        _ => false,
    };
    if is_concerned { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() }
}

fn is_out_of_service(node: &Node) -> bool {
    !node.is_ready() && node.spec.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE)
}

/// Handles one node or Pod.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let WorkKey::Object(key) = key else { return Outcome::default() };
    let nothing = Outcome::nothing(Because::new("because.podgc.nothing").with("name", &key.name));
    if key.kind == Kind::Node {
        let mut outcome = nothing;
        let wait = if view.store.at::<Node>(key).is_some() { 1 } else { QUARANTINE_TICKS };
        for pod in view.store.pods_on(&key.name) {
            outcome.look_again(WorkKey::Object(pod.key()), wait);
        }
        return outcome;
    }
    let Some(pod) = view.store.at::<Pod>(key).filter(|pod| pod.is_bound()) else { return nothing };
    match view.store.get::<Node>("", &pod.node_name) {
        None => remove(view, pod, true),
        Some(node) if pod.meta.is_terminating() && is_out_of_service(node) => remove(view, pod, false),
        Some(_) => nothing,
    }
}

fn remove(view: &View<'_>, pod: &Arc<Pod>, orphaned: bool) -> Outcome {
    let because =
        Because::new(if orphaned { "because.podgc.orphaned" } else { "because.podgc.out_of_service" })
            .with("pod", &pod.meta.name)
            .with("node", &pod.node_name);
    let mut outcome = Outcome::nothing(because.clone());
    if !pod.is_finished() {
        let mut changed = Pod::clone(pod);
        changed.status.phase = "Failed".into();
        if orphaned {
            let message = "PodGC: node no longer exists";
            changed.status.set_condition("DisruptionTarget", "True", "DeletionByPodGC", message, view.now);
        }
        outcome.writes.push(Operation::UpdateStatus(changed.into()).because(because.clone()));
    }
    let delete = Operation::Delete {
        key: pod.key(),
        uid: Some(pod.meta.uid.clone()),
        grace_seconds: Some(0),
        propagation: Propagation::Background,
    };
    outcome.writes.push(delete.because(because));
    outcome
}
