//! A Pod that names its node goes nowhere else.
//!
//! Models: `pkg/scheduler/framework/plugins/nodename` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "NodeName";

const REASON: &str = "node(s) didn't match the requested node name";

/// Refuses every node but the named one.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    let wanted = &candidate.pod.node_name;
    (!wanted.is_empty() && *wanted != node.meta.name).then(|| Refusal::for_good(NAME, REASON))
}
