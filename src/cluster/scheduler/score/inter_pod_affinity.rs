//! Prefers nodes near to Pods that are wanted near, and far from those that are not.
//!
//! Models: `pkg/scheduler/framework/plugins/interpodaffinity/scoring.go` (v1.36). Leaves out: other weights of required
//! terms than the default 1.

use super::{Feasible, MAX_SCORE};
use crate::cluster::scheduler::candidate::Candidate;

/// The rule's name.
pub const NAME: &str = "InterPodAffinity";

/// The sum of the weights of all terms that hold on a node, stretched to 0 … 100.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let scores = &candidate.neighbours.scores;
    if scores.is_empty() {
        return None;
    }
    let sum = |labels: &crate::api::labels::Labels| -> i64 {
        scores.iter().filter(|((key, value), _)| labels.get(key) == Some(value)).map(|(_, score)| score).sum()
    };
    let sums: Vec<i64> = feasible
        .nodes
        .iter()
        .map(|info| info.node.as_deref().map_or(0, |node| sum(&node.meta.labels)))
        .collect();
    let highest = sums.iter().copied().max().unwrap_or(0);
    let lowest = sums.iter().copied().min().unwrap_or(0);
    let stretch = |sum: &i64| match highest - lowest {
        0 => 0,
        range => (MAX_SCORE as f64 * ((sum - lowest) as f64 / range as f64)) as i64,
    };
    Some(sums.iter().map(stretch).collect())
}
