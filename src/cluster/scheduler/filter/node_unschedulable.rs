//! A cordoned node takes no new Pods.
//!
//! Cured by: `kubectl uncordon`, or a toleration of the taint `node.kubernetes.io/unschedulable`.
//!
//! Models: `pkg/scheduler/framework/plugins/nodeunschedulable` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::{Node, Taint};
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "NodeUnschedulable";

const REASON: &str = "node(s) were unschedulable";

/// Refuses a cordoned node.
pub fn refuse(candidate: &Candidate, node: &Node, info: &NodeInfo) -> Option<Refusal> {
    if info.is_open || !node.spec.unschedulable {
        return None;
    }
    (!candidate.tolerates(&taint())).then(|| Refusal::for_good(NAME, REASON))
}

/// The taint by whose toleration a Pod goes to cordoned nodes.
pub fn taint() -> Taint {
    Taint {
        key: "node.kubernetes.io/unschedulable".to_string(),
        effect: "NoSchedule".to_string(),
        ..Taint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::scheduler::filter::testing::reasons;
    use serde_json::json;

    #[test]
    fn a_cordoned_node_is_refused_unless_that_is_tolerated() {
        let tolerant = json!({"tolerations": [{"operator": "Exists"}]});
        let cordoned = || json!({"metadata": {"name": "n"}, "spec": {"unschedulable": true}});
        assert_eq!(reasons(refuse, json!({}), cordoned()), [REASON]);
        assert!(reasons(refuse, tolerant, cordoned()).is_empty());
        assert!(reasons(refuse, json!({}), json!({"metadata": {"name": "n"}})).is_empty());
    }
}
