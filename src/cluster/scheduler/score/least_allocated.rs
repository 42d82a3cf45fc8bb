//! Prefers nodes with more left over.
//!
//! Models: `pkg/scheduler/framework/plugins/noderesources/least_allocated.go` (v1.36), processors and memory with equal
//! weight. Leaves out: other resources and weights that a configuration could name.

use super::{Feasible, MAX_SCORE};
use crate::cluster::scheduler::candidate::Candidate;

/// The rule's name.
pub const NAME: &str = "NodeResourcesFit";

/// The mean of what is left of processors and memory, in hundredths.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let asked = &candidate.requests.assumed;
    let scores = feasible.nodes.iter().map(|info| {
        let parts = [
            left_over(
                info.allocatable.cpu_millicores,
                info.used_assumed.cpu_millicores + asked.cpu_millicores,
            ),
            left_over(info.allocatable.memory_bytes, info.used_assumed.memory_bytes + asked.memory_bytes),
        ];
        match parts {
            [None, None] => 0,
            [Some(one), None] | [None, Some(one)] => one,
            [Some(cpu), Some(memory)] => (cpu + memory) / 2,
        }
    });
    Some(scores.collect())
}

/// Hundredths left of `has`; `None` when the node has none of it.
fn left_over(has: i64, used: i64) -> Option<i64> {
    match has {
        0 => None,
        has if used > has => Some(0),
        has => match (has - used).checked_mul(MAX_SCORE) {
            Some(hundredths) => Some(hundredths / has),
            None => i64::try_from(i128::from(has - used) * i128::from(MAX_SCORE) / i128::from(has)).ok(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_cut_to_whole_hundredths() {
        assert_eq!(left_over(3000, 1000), Some(66));
        assert_eq!(left_over(3000, 3000), Some(0));
        assert_eq!(left_over(3000, 3001), Some(0));
        assert_eq!(left_over(0, 10), None);
    }
}
