//! What the scheduler thought of every node in one attempt: kept, so that the screen can answer "why there?".

use std::sync::Arc;

use crate::api::meta::Name;

/// One attempt to place one Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts {
    /// Every node, by name.
    pub nodes: Vec<NodeVerdict>,
    /// The node that was chosen.
    pub chosen: Option<Name>,
    /// What the Pod's condition and event say when there is none.
    pub message: String,
}

/// One node in one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVerdict {
    /// The node.
    pub node: Name,
    /// Each filter that was asked, in order; those behind a refusal were not asked. Nodes that passed them all share one
    /// list.
    pub filters: Arc<[FilterVerdict]>,
    /// Each score, after normalising and weighting; empty when the node was refused or was the only one.
    pub scores: Vec<(&'static str, i64)>,
}

/// One filter's answer for one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterVerdict {
    /// The plugin (`NodeResourcesFit`).
    pub plugin: &'static str,
    /// Why the node was refused, in the scheduler's words; empty when it passed.
    pub reasons: Vec<String>,
    /// Whether the Pod's own terms left the node out before any node was asked.
    pub before_asking: bool,
}

impl NodeVerdict {
    /// Whether every filter let the node through.
    pub fn is_feasible(&self) -> bool {
        self.filters.iter().all(|filter| filter.reasons.is_empty())
    }

    /// The sum of the scores.
    pub fn total(&self) -> i64 {
        self.scores.iter().map(|(_, score)| score).sum()
    }
}
