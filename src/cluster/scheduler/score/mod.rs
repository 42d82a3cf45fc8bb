//! Rules that prefer nodes. One file per rule; each gives 0 to 100, which its weight multiplies.

pub mod balanced_allocation;
pub mod image_locality;
pub mod inter_pod_affinity;
pub mod least_allocated;
pub mod node_affinity;
pub mod pod_topology_spread;
pub mod taint_toleration;

use super::candidate::Candidate;
use super::snapshot::{NodeInfo, Snapshot};

/// The highest score before weighting.
pub const MAX_SCORE: i64 = 100;

/// One rule.
#[derive(Clone, Copy)]
pub struct Score {
    /// Its name.
    pub plugin: &'static str,
    /// Its weight.
    pub weight: i64,
    /// Scores all nodes that passed the filters, in their order; `None` when the rule has nothing to say about the Pod.
    pub score: fn(&Candidate, &Feasible<'_>) -> Option<Vec<i64>>,
}

/// The nodes that passed the filters.
#[derive(Debug)]
pub struct Feasible<'a> {
    /// The nodes, in the scheduler's order.
    pub nodes: Vec<&'a NodeInfo>,
    /// All nodes, passed or not.
    pub snapshot: &'a Snapshot,
}

/// The rules, in the order in which they are shown.
pub const SCORES: &[Score] = &[
    Score { plugin: taint_toleration::NAME, weight: 3, score: taint_toleration::score },
    Score { plugin: node_affinity::NAME, weight: 2, score: node_affinity::score },
    Score { plugin: least_allocated::NAME, weight: 1, score: least_allocated::score },
    Score { plugin: pod_topology_spread::NAME, weight: 2, score: pod_topology_spread::score },
    Score { plugin: inter_pod_affinity::NAME, weight: 2, score: inter_pod_affinity::score },
    Score { plugin: balanced_allocation::NAME, weight: 1, score: balanced_allocation::score },
    Score { plugin: image_locality::NAME, weight: 1, score: image_locality::score },
];

/// Stretches the scores so that the highest is 100; with `reversed`, so that the highest becomes 0.
///
/// Models: `framework/plugins/helper.DefaultNormalizeScore`.
pub fn normalized(mut scores: Vec<i64>, reversed: bool) -> Vec<i64> {
    let highest = scores.iter().copied().max().unwrap_or(0);
    for score in &mut scores {
        *score = match (highest, reversed) {
            (0, true) => MAX_SCORE,
            (0, false) => 0,
            (highest, true) => MAX_SCORE - *score * MAX_SCORE / highest,
            (highest, false) => *score * MAX_SCORE / highest,
        };
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_stretched_to_a_hundred() {
        assert_eq!(normalized(vec![1, 2, 4], false), [25, 50, 100]);
        assert_eq!(normalized(vec![0, 1, 3], true), [100, 67, 0]);
        assert_eq!(normalized(vec![0, 0], true), [100, 100]);
        assert_eq!(normalized(vec![0, 0], false), [0, 0]);
    }
}
