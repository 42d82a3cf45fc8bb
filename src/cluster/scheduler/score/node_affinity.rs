//! Prefers nodes that match the preferred terms of `nodeAffinity`.
//!
//! Models: `pkg/scheduler/framework/plugins/nodeaffinity` (v1.36). Leaves out: terms added by the scheduler's own
//! configuration.

use super::{Feasible, normalized};
use crate::cluster::scheduler::candidate::Candidate;

/// The rule's name.
pub const NAME: &str = "NodeAffinity";

/// The sum of the weights of the terms that match.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    if candidate.preferred_nodes.is_empty() {
        return None;
    }
    let sums = feasible.nodes.iter().map(|info| {
        let of_node = |node| candidate.preferred_nodes.iter().map(|term| term.weight_for(node)).sum();
        info.node.as_deref().map_or(0, of_node)
    });
    Some(normalized(sums.collect(), false))
}
