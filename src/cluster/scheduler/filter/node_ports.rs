//! A port of the node belongs to one Pod at a time.
//!
//! Cured by: another `hostPort`, or the other Pod going away.
//!
//! Models: `pkg/scheduler/framework/plugins/nodeports` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "NodePorts";

const REASON: &str = "node(s) didn't have free ports for the requested pod ports";

const ANY_ADDRESS: &str = "0.0.0.0";

/// Refuses a node on which a port that the Pod wants is taken.
pub fn refuse(candidate: &Candidate, _node: &Node, info: &NodeInfo) -> Option<Refusal> {
    let conflicts = |(ip, protocol, port): &(String, String, i32)| {
        info.ports.iter().any(|(taken_ip, taken_protocol, taken_port, _)| {
            taken_port == port
                && taken_protocol == protocol
                && (taken_ip == ip || ip == ANY_ADDRESS || taken_ip == ANY_ADDRESS)
        })
    };
    candidate.ports.iter().any(conflicts).then(|| Refusal::for_now(NAME, REASON))
}
