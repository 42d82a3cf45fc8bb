//! The node must be one on which the Pod's claims have their volumes, or can get them.
//!
//! Cured by: volumes on that node, a class that makes them, another node.
//!
//! Models: `pkg/scheduler/framework/plugins/volumebinding` (v1.36). Leaves out: storage capacity of drivers.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "VolumeBinding";

const REASON_GONE: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
const REASON_CONFLICT: &str = "node(s) didn't match PersistentVolume's node affinity";
const REASON_NONE: &str = "node(s) didn't find available persistent volumes to bind";

/// Refuses a node from which a bound volume cannot be reached, or on which an unbound claim finds none.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    let volumes = &candidate.volumes;
    let Some(reachable) = volumes.may_be_used_on(node) else {
        return Some(Refusal::for_good(NAME, REASON_GONE));
    };
    let mut refusal = (!reachable).then(|| Refusal::for_good(NAME, REASON_CONFLICT));
    if !volumes.can_be_bound_on(node) {
        match &mut refusal {
            Some(refusal) => refusal.reasons.push(REASON_NONE.into()),
            None => refusal = Some(Refusal::for_good(NAME, REASON_NONE)),
        }
    }
    refusal
}
