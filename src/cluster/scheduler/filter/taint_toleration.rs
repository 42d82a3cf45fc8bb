//! A tainted node takes only Pods that tolerate its taints.
//!
//! Cured by: a toleration, or `kubectl taint nodes NODE KEY-`.
//!
//! Models: `pkg/scheduler/framework/plugins/tainttoleration` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "TaintToleration";

const REASON: &str = "node(s) had untolerated taint(s)";

/// Refuses a node with a taint that keeps Pods away and that the Pod does not tolerate.
pub fn refuse(candidate: &Candidate, node: &Node, info: &NodeInfo) -> Option<Refusal> {
    if info.is_open {
        return None;
    }
    let mut taints =
        node.spec.taints.iter().filter(|t| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute"));
    taints.any(|taint| !candidate.tolerates(taint)).then(|| Refusal::for_good(NAME, REASON))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::scheduler::filter::testing::reasons;
    use serde_json::json;

    #[test]
    fn only_taints_that_keep_pods_away_refuse_and_only_untolerated_ones() {
        let node = |effect: &str| json!({"metadata": {"name": "n"}, "spec": {"taints": [{"key": "k", "value": "v", "effect": effect}]}});
        let pod = |toleration: serde_json::Value| json!({"tolerations": [toleration]});
        let table = [
            ("no toleration", json!({}), "NoSchedule", false),
            ("a preference refuses nobody", json!({}), "PreferNoSchedule", true),
            ("an equal toleration", pod(json!({"key": "k", "value": "v"})), "NoSchedule", true),
            ("another value", pod(json!({"key": "k", "value": "w"})), "NoSchedule", false),
            ("any value", pod(json!({"key": "k", "operator": "Exists"})), "NoExecute", true),
            (
                "another effect",
                pod(json!({"key": "k", "operator": "Exists", "effect": "NoSchedule"})),
                "NoExecute",
                false,
            ),
            ("anything at all", pod(json!({"operator": "Exists"})), "NoExecute", true),
        ];
        for (sentence, spec, effect, passes) in table {
            assert_eq!(reasons(refuse, spec, node(effect)).is_empty(), passes, "{sentence}");
        }
    }
}
