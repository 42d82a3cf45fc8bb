//! Whether a node's kubelet takes a Pod on that is bound to it: the scheduler, or whoever bound it by hand, may be wrong.
//!
//! Models: `pkg/kubelet/lifecycle/predicate.go`, `pkg/kubelet/eviction/eviction_manager.go` (`Admit`),
//! `pkg/scheduler/framework/plugins/noderesources/fit.go` (`Fits`) (v1.36). Leaves out: making room for critical Pods,
//! operating systems, extended resources.

use crate::api::kinds::ResourceList;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Container, Pod};
use crate::cluster::node_terms;

/// Why a Pod is not taken on: the reason in one word, and the message.
pub type Refusal = (&'static str, String);

/// Pods with at least this priority are critical.
const CRITICAL_PRIORITY: i32 = 2_000_000_000;

/// Whether the kubelet keeps the Pod even when the node runs out of something.
pub fn is_critical(pod: &Pod) -> bool {
    pod.spec.priority.is_some_and(|priority| priority >= CRITICAL_PRIORITY)
}

/// How much of a resource a Pod asks for: milli-units of `cpu`, units of all others.
///
/// Models: `component-helpers/resource.PodRequests`.
fn requested(pod: &Pod, name: &str) -> i64 {
    let of = |list: &ResourceList| {
        list.get(name).map_or(0, |amount| if name == "cpu" { amount.milli() } else { amount.value() })
    };
    let asks = |container: &Container| of(&container.resources.requests);
    let mut sidecars = 0;
    let mut most_at_start = 0;
    for container in &pod.spec.init_containers {
        let own = asks(container);
        if super::restarts::is_sidecar(container) {
            sidecars += own;
            most_at_start = most_at_start.max(sidecars);
        } else {
            most_at_start = most_at_start.max(sidecars + own);
        }
    }
    let together = pod.spec.containers.iter().map(asks).sum::<i64>() + sidecars;
    together.max(most_at_start) + of(&pod.spec.overhead)
}

/// What Pods ask of a node together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pods: i64,
    cpu_millis: i64,
    memory_bytes: i64,
    storage_bytes: i64,
}

impl Asked {
    /// What one Pod asks for.
    pub fn by(pod: &Pod) -> Self {
        Asked {
            pods: 1,
            cpu_millis: requested(pod, "cpu"),
            memory_bytes: requested(pod, "memory"),
            storage_bytes: requested(pod, "ephemeral-storage"),
        }
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Asked {
            pods: self.pods + other.pods,
            cpu_millis: self.cpu_millis + other.cpu_millis,
            memory_bytes: self.memory_bytes + other.memory_bytes,
            storage_bytes: self.storage_bytes + other.storage_bytes,
        }
    }

    /// What is left without the other's part.
    pub fn without(self, other: Self) -> Self {
        Asked {
            pods: self.pods - other.pods,
            cpu_millis: self.cpu_millis - other.cpu_millis,
            memory_bytes: self.memory_bytes - other.memory_bytes,
            storage_bytes: self.storage_bytes - other.storage_bytes,
        }
    }

    /// Whether a node surely has as much.
    pub fn surely_fits(self, node: &Node) -> bool {
        let allocatable = &node.status.allocatable;
        let has = |name: &str, wanted: i64| {
            let amount = allocatable.get(name);
            amount.is_some_and(|amount| wanted <= if name == "cpu" { amount.milli() } else { amount.value() })
        };
        has("pods", self.pods)
            && has("cpu", self.cpu_millis)
            && has("memory", self.memory_bytes)
            && (self.storage_bytes == 0 || has("ephemeral-storage", self.storage_bytes))
    }
}

/// Whether a Pod wants ports of the node itself.
pub fn claims_ports(pod: &Pod) -> bool {
    let mut containers = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    pod.spec.host_network || containers.any(|container| container.ports.iter().any(|port| port.host_port > 0))
}

/// The first reason not to take the Pod on; `others` are the Pods that the node has taken on already.
pub fn refusal(pod: &Pod, node: &Node, others: &[&Pod]) -> Option<Refusal> {
    let allocatable = &node.status.allocatable;
    let short = |name: &str, reason: &'static str, requested: i64, used: i64, capacity: i64| {
        (requested > 0 && used + requested > capacity).then(|| {
            let message = format!(
                "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
            );
            (reason, message)
        })
    };
    let capacity = |name: &str| {
        allocatable.get(name).map_or(0, |amount| if name == "cpu" { amount.milli() } else { amount.value() })
    };
    let used = i64::try_from(others.len()).unwrap_or(i64::MAX);
    if allocatable.contains_key("pods")
        && let Some(refusal) = short("pods", "OutOfpods", 1, used, capacity("pods"))
    {
        return Some(refusal);
    }
    for (name, reason) in
        [("cpu", "OutOfcpu"), ("memory", "OutOfmemory"), ("ephemeral-storage", "OutOfephemeral-storage")]
    {
        let wanted = requested(pod, name);
        if wanted == 0 || (name == "ephemeral-storage" && !allocatable.contains_key(name)) {
            continue;
        }
        let used = others.iter().map(|other| requested(other, name)).sum();
        if let Some(refusal) = short(name, reason, wanted, used, capacity(name)) {
            return Some(refusal);
        }
    }
    let failed = |name: &'static str, why: &str| Some((name, format!("Predicate {name} failed: {why}")));
    if !node_terms::selects(&pod.spec, node) {
        return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
    }
    if others.iter().any(|other| claims_same_port(pod, other)) {
        return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
    }
    let mut driving = node.spec.taints.iter().filter(|taint| taint.effect == "NoExecute");
    if driving.any(|taint| !pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(taint))) {
        return failed("TaintToleration", "node(s) had taints that the pod didn't tolerate");
    }
    None
}

/// Whether both want the same port of the node.
fn claims_same_port(pod: &Pod, other: &Pod) -> bool {
    let claims = |pod: &Pod| -> Vec<(i32, String, String)> {
        let sidecars = pod.spec.init_containers.iter().filter(|c| super::restarts::is_sidecar(c));
        let ports = pod.spec.containers.iter().chain(sidecars).flat_map(|container| &container.ports);
        let claim = |port: &crate::api::kinds::pod::ContainerPort| {
            let number = if pod.spec.host_network && port.host_port == 0 {
                port.container_port
            } else {
                port.host_port
            };
            let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
            let ip = if port.host_ip.is_empty() { "0.0.0.0" } else { &port.host_ip };
            (number, protocol.to_string(), ip.to_string())
        };
        ports.map(claim).filter(|(number, ..)| *number > 0).collect()
    };
    let own = claims(pod);
    if own.is_empty() {
        return false;
    }
    let everywhere = |ip: &str| ip == "0.0.0.0";
    claims(other).iter().any(|(number, protocol, ip)| {
        own.iter()
            .any(|(n, p, i)| n == number && p == protocol && (i == ip || everywhere(i) || everywhere(ip)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::{Value, json};

    fn pod(spec: Value) -> Pod {
        Pod::decode(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap()
    }

    #[test]
    fn what_does_not_fit_is_refused_in_the_kubelets_words() {
        let node = Node::decode(json!({
            "metadata": {"name": "n", "labels": {"disk": "ssd"}},
            "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
            "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "2"}},
        }))
        .unwrap();
        let calm = json!([{"key": "k", "operator": "Exists"}]);
        let asking = |requests: Value| json!({"containers": [{"name": "c", "resources": {"requests": requests}}], "tolerations": calm.clone()});
        let resource = |name: &str, requested: i64, used: i64, capacity: i64| {
            format!(
                "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
            )
        };
        let port = json!({"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 8080}]}], "tolerations": calm.clone()});
        let one = pod(asking(json!({"cpu": "1500m"})));
        let table = [
            ("what fits is taken on", asking(json!({"cpu": "500m"})), vec![&one], None),
            (
                "too much CPU",
                asking(json!({"cpu": "1"})),
                vec![&one],
                Some(("OutOfcpu", resource("cpu", 1000, 1500, 2000))),
            ),
            (
                "too much memory",
                asking(json!({"memory": "2Gi"})),
                vec![],
                Some(("OutOfmemory", resource("memory", 2 << 30, 0, 1 << 30))),
            ),
            (
                "too many Pods",
                asking(json!({})),
                vec![&one, &one],
                Some(("OutOfpods", resource("pods", 1, 2, 2))),
            ),
            (
                "another kind of node",
                json!({"containers": [{"name": "c"}], "nodeSelector": {"disk": "hdd"}, "tolerations": calm.clone()}),
                vec![],
                Some((
                    "NodeAffinity",
                    "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
                        .to_string(),
                )),
            ),
            (
                "a taint that drives Pods away",
                json!({"containers": [{"name": "c"}]}),
                vec![],
                Some((
                    "TaintToleration",
                    "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
                        .to_string(),
                )),
            ),
        ];
        for (sentence, spec, others, expected) in table {
            assert_eq!(refusal(&pod(spec), &node, &others), expected, "{sentence}");
        }
        let holder = pod(port.clone());
        let (reason, _) = refusal(&pod(port), &node, &[&holder]).unwrap();
        assert_eq!(reason, "NodePorts");
    }
}
