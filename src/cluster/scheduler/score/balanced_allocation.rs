//! Prefers nodes on which the Pod brings the use of processors and memory closer together.
//!
//! Models: `pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go` (v1.36). Leaves out: resources beyond
//! these two.

use super::Feasible;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "NodeResourcesBalancedAllocation";

/// 75 when the Pod changes nothing, more when it balances the node; nothing for a Pod that asks for neither.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let asked = &candidate.requests.asked;
    if asked.cpu_millicores == 0 && asked.memory_bytes == 0 {
        return None;
    }
    let score = |info: &&NodeInfo| {
        let with = balance(info, asked.cpu_millicores, asked.memory_bytes);
        let without = balance(info, 0, 0);
        50 + (50 + with - without) / 2
    };
    Some(feasible.nodes.iter().map(score).collect())
}

/// 100 when both are used to the same share.
fn balance(info: &NodeInfo, more_cpu: i64, more_memory: i64) -> i64 {
    let cpu = share(info.used.cpu_millicores + more_cpu, info.allocatable.cpu_millicores);
    let memory = share(info.used.memory_bytes + more_memory, info.allocatable.memory_bytes);
    let deviation = match (cpu, memory) {
        (Some(cpu), Some(memory)) => (cpu - memory).abs() / 2.0,
        _ => 0.0,
    };
    ((1.0 - deviation) * 100.0) as i64
}

fn share(used: i64, has: i64) -> Option<f64> {
    (has != 0).then(|| (used as f64 / has as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balanced_node_has_a_hundred() {
        let mut info = NodeInfo::default();
        info.allocatable.cpu_millicores = 4000;
        info.allocatable.memory_bytes = 4 << 30;
        assert_eq!(balance(&info, 1000, 1 << 30), 100);
        assert_eq!(balance(&info, 4000, 0), 50);
    }
}
