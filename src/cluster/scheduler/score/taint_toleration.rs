//! Prefers nodes with fewer `PreferNoSchedule` taints that the Pod does not tolerate.
//!
//! Models: `pkg/scheduler/framework/plugins/tainttoleration` (v1.36). Leaves out: nothing.

use super::{Feasible, normalized};
use crate::cluster::scheduler::candidate::{Candidate, tolerates};

/// The rule's name.
pub const NAME: &str = "TaintToleration";

/// The fewer such taints, the higher.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let tolerations = &candidate.pod.spec.tolerations;
    let relevant: Vec<_> =
        tolerations.iter().filter(|t| matches!(t.effect.as_str(), "" | "PreferNoSchedule")).collect();
    let counts = feasible.nodes.iter().map(|info| {
        if info.is_open {
            return 0;
        }
        let taints = info.node.iter().flat_map(|node| &node.spec.taints);
        let untolerated = taints
            .filter(|taint| taint.effect == "PreferNoSchedule")
            .filter(|taint| !relevant.iter().any(|toleration| tolerates(toleration, taint)));
        i64::try_from(untolerated.count()).unwrap_or(i64::MAX)
    });
    Some(normalized(counts.collect(), true))
}
