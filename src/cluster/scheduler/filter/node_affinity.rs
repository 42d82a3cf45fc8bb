//! A node must have the labels that the Pod selects nodes by.
//!
//! Cured by: labels on nodes, or another `nodeSelector` or `nodeAffinity`.
//!
//! Models: `pkg/scheduler/framework/plugins/nodeaffinity` (v1.36). Leaves out: affinity added by the scheduler's own
//! configuration.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "NodeAffinity";

const REASON: &str = "node(s) didn't match Pod's node affinity/selector";

/// Refuses a node that `nodeSelector` or the required terms of `nodeAffinity` leave out.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    (!candidate.selects(node)).then(|| Refusal::for_good(NAME, REASON))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::scheduler::filter::testing::reasons;
    use serde_json::json;

    #[test]
    fn both_the_selector_and_the_terms_must_match() {
        let node = || json!({"metadata": {"name": "n", "labels": {"disk": "ssd"}}});
        let affinity = |value: &str| json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": [value]}]}]}}});
        let table = [
            ("no wish", json!({}), true),
            ("the right label", json!({"nodeSelector": {"disk": "ssd"}}), true),
            ("another value", json!({"nodeSelector": {"disk": "hdd"}}), false),
            ("the right term", json!({"affinity": affinity("ssd")}), true),
            (
                "selector and term disagree",
                json!({"nodeSelector": {"disk": "ssd"}, "affinity": affinity("hdd")}),
                false,
            ),
        ];
        for (sentence, spec, passes) in table {
            assert_eq!(reasons(refuse, spec, node()).is_empty(), passes, "{sentence}");
        }
    }
}
