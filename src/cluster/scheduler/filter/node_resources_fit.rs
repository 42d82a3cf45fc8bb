//! What a Pod asks for must be free on the node.
//!
//! Cured by: smaller requests, other Pods going away, a larger node.
//!
//! Models: `pkg/scheduler/framework/plugins/noderesources/fit.go` (v1.36). Leaves out: resources that a scheduler
//! extender or a device claim looks after.

use std::borrow::Cow;

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::requests::Amounts;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "NodeResourcesFit";

/// Refuses a node on which something that the Pod asks for is not free. A request beyond what the whole node has is
/// refused for good.
pub fn refuse(candidate: &Candidate, _node: &Node, info: &NodeInfo) -> Option<Refusal> {
    short_of(&candidate.requests.asked, info)
}

/// Whether the node would have enough if nobody else were there.
pub fn fits_alone(asked: &Amounts, node: &Node) -> bool {
    let allocatable = &node.status.allocatable;
    let mut info = NodeInfo::default();
    info.allocatable = Amounts::of(allocatable);
    info.allocatable_pods = allocatable.get("pods").map_or(0, |count| count.value());
    short_of(asked, &info).is_none()
}

fn short_of(asked: &Amounts, info: &NodeInfo) -> Option<Refusal> {
    let mut reasons: Vec<Cow<'static, str>> = Vec::new();
    let mut is_final = false;
    if info.pods + 1 > info.allocatable_pods {
        reasons.push("Too many pods".into());
    }
    let (has, used) = (&info.allocatable, &info.used);
    let mut check = |name: &str, asked: i64, has: i64, used: i64| {
        if asked > 0 && asked > has - used {
            reasons.push(match name {
                "cpu" => "Insufficient cpu".into(),
                "memory" => "Insufficient memory".into(),
                name => format!("Insufficient {name}").into(),
            });
            is_final |= asked > has;
        }
    };
    check("cpu", asked.cpu_millicores, has.cpu_millicores, used.cpu_millicores);
    check("memory", asked.memory_bytes, has.memory_bytes, used.memory_bytes);
    check(
        "ephemeral-storage",
        asked.ephemeral_storage_bytes,
        has.ephemeral_storage_bytes,
        used.ephemeral_storage_bytes,
    );
    for (name, asked) in &asked.extended {
        let of = |list: &std::collections::BTreeMap<String, i64>| list.get(name).copied().unwrap_or(0);
        check(name, *asked, of(&has.extended), of(&used.extended));
    }
    (!reasons.is_empty()).then_some(Refusal { plugin: NAME, reasons, is_final })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::scheduler::filter::testing::reasons;
    use serde_json::json;

    #[test]
    fn everything_that_is_short_is_named() {
        let node = || json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "1"}}});
        let pod =
            |requests: serde_json::Value| json!({"containers": [{"resources": {"requests": requests}}]});
        let table = [
            ("an exact fit fits", pod(json!({"cpu": "1", "memory": "1Gi"})), vec![]),
            ("nothing asked fits", pod(json!({})), vec![]),
            ("a thousandth too much", pod(json!({"cpu": "1001m"})), vec!["Insufficient cpu"]),
            (
                "both short",
                pod(json!({"cpu": "2", "memory": "2Gi"})),
                vec!["Insufficient cpu", "Insufficient memory"],
            ),
            (
                "a resource the node has not heard of",
                pod(json!({"example.com/gpu": "1"})),
                vec!["Insufficient example.com/gpu"],
            ),
        ];
        for (sentence, spec, expected) in table {
            assert_eq!(reasons(refuse, spec, node()), expected, "{sentence}");
        }
    }
}
