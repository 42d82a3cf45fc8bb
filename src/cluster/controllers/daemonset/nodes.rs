//! Which nodes a DaemonSet wants a Pod on, and how a Pod is tied to its node.
//!
//! Models: `pkg/controller/daemon/daemon_controller.go: NodeShouldRunDaemonPod`,
//! `pkg/controller/daemon/util/daemonset_util.go: AddOrUpdateDaemonPodTolerations,
//! ReplaceDaemonSetPodNodeNameNodeAffinity, GetTargetNodeName` (v1.36).
//! Leaves out: nothing.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, PodSpec, Toleration};
use crate::api::kinds::workloads::DaemonSet;
use crate::cluster::node_terms;

/// What a DaemonSet wants of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Whether a Pod is to be made there.
    pub should_run: bool,
    /// Whether a Pod that is there may stay.
    pub may_stay: bool,
}

/// What a DaemonSet's Pods put up with beyond what their template says.
pub fn tolerations(spec: &PodSpec) -> Vec<Toleration> {
    let mut table = vec![
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ];
    if spec.host_network {
        table.push(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    }
    let mut all = spec.tolerations.clone();
    for (key, effect) in table {
        let toleration = Toleration {
            key: key.to_string(),
            operator: "Exists".to_string(),
            effect: effect.to_string(),
            ..Toleration::default()
        };
        if !all.contains(&toleration) {
            all.push(toleration);
        }
    }
    all
}

/// What the DaemonSet wants of the node; `tolerations` are those of its Pods.
pub fn wish(set: &DaemonSet, tolerations: &[Toleration], node: &Node) -> Wish {
    const NO: Wish = Wish { should_run: false, may_stay: false };
    let spec = &set.spec.template.spec;
    let named = spec.rest.get("nodeName").and_then(Value::as_str).unwrap_or_default();
    if (!named.is_empty() && *named != *node.meta.name) || !node_terms::selects(spec, node) {
        return NO;
    }
    let keeps_away = |effects: &[&str]| {
        let mut taints = node.spec.taints.iter().filter(|taint| effects.contains(&taint.effect.as_str()));
        taints.any(|taint| !tolerations.iter().any(|toleration| toleration.tolerates(taint)))
    };
    Wish { should_run: !keeps_away(&["NoSchedule", "NoExecute"]), may_stay: !keeps_away(&["NoExecute"]) }
}

/// Ties a Pod to a node: the scheduler will find that only this one will do.
pub fn tie(pod: &mut Pod, node: &str) {
    let spec = Arc::make_mut(&mut pod.spec);
    let mut affinity =
        spec.rest.get("affinity").filter(|value| value.is_object()).cloned().unwrap_or_else(|| json!({}));
    affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!({
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}],
    });
    spec.rest.set("affinity", Some(affinity));
}

/// The node that a Pod is on or tied to.
pub fn target_of(pod: &Pod) -> Option<String> {
    if pod.is_bound() {
        return Some(pod.node_name.to_string());
    }
    let required =
        node_terms::node_affinity(&pod.spec)?.get("requiredDuringSchedulingIgnoredDuringExecution")?;
    let terms = required.get("nodeSelectorTerms")?.as_array()?;
    let fields = terms.iter().filter_map(|term| term.get("matchFields")?.as_array()).flatten();
    let mut named = fields.filter(|field| field["key"] == "metadata.name" && field["operator"] == "In");
    named.find_map(|field| Some(field["values"].get(0)?.as_str()?.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::cluster::Taint;

    #[test]
    fn labels_and_taints_decide_where_pods_run() {
        let mut set = DaemonSet::default();
        let spec = Arc::make_mut(&mut set.spec.template.spec);
        spec.node_selector.insert("pool".into(), "a".into());
        let node = |label: &str, effect: &str| {
            let mut node = Node::default();
            node.meta.labels.insert("pool".into(), label.into());
            if !effect.is_empty() {
                let taint = Taint { key: "k".into(), effect: effect.into(), ..Taint::default() };
                node.spec.taints.push(taint);
            }
            node
        };
        let table = [
            ("a node of the pool", node("a", ""), true, true),
            ("a node of another pool", node("b", ""), false, false),
            ("a taint keeps new Pods away", node("a", "NoSchedule"), false, true),
            ("a taint drives Pods away", node("a", "NoExecute"), false, false),
        ];
        let tolerations = tolerations(&set.spec.template.spec);
        for (sentence, node, should_run, may_stay) in table {
            assert_eq!(wish(&set, &tolerations, &node), Wish { should_run, may_stay }, "{sentence}");
        }
    }

    #[test]
    fn a_pod_that_was_tied_to_a_node_names_it() {
        let mut pod = Pod::default();
        tie(&mut pod, "node-2");
        assert_eq!(target_of(&pod).as_deref(), Some("node-2"));
        pod.node_name = "node-1".into();
        assert_eq!(target_of(&pod).as_deref(), Some("node-1"));
    }
}
