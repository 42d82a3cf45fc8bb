//! A port of the node belongs to one Pod at a time.
//!
//! Cured by: another `hostPort`, or the other Pod going away.
//!
//! Models: `pkg/scheduler/framework/plugins/nodeports` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::{HostPort, NodeInfo};

/// The rule's name.
pub const NAME: &str = "NodePorts";

const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

const ANY_ADDRESS: &str = "0.0.0.0";

/// Refuses a node on which a port that the Pod wants is taken.
pub fn refuse(candidate: &Candidate, _node: &Node, info: &NodeInfo) -> Option<Refusal> {
    let is_taken = |wanted: &HostPort| info.ports.iter().any(|(taken, _)| conflict(taken, wanted));
    candidate.ports.iter().any(is_taken).then(|| Refusal::for_now(NAME, REASON))
}

/// Whether both cannot be had at once.
pub fn conflict(a: &HostPort, b: &HostPort) -> bool {
    let ((ip, protocol, port), (other_ip, other_protocol, other_port)) = (a, b);
    port == other_port
        && protocol == other_protocol
        && (ip == other_ip || ip == ANY_ADDRESS || other_ip == ANY_ADDRESS)
}
