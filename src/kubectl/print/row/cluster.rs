//! Nodes, Namespaces, ConfigMaps and Leases.

use super::{Column, always, or_none, wide};
use crate::api::kinds::cluster::{ConfigMap, Lease, Namespace, Node};

pub(super) const NODE: &[Column] = &[
    always("NAME"),
    always("STATUS"),
    always("ROLES"),
    always("AGE"),
    always("VERSION"),
    wide("INTERNAL-IP"),
    wide("EXTERNAL-IP"),
    wide("OS-IMAGE"),
    wide("KERNEL-VERSION"),
    wide("CONTAINER-RUNTIME"),
];

pub(super) const NAMESPACE: &[Column] = &[always("NAME"), always("STATUS"), always("AGE")];
pub(super) const CONFIG_MAP: &[Column] = &[always("NAME"), always("DATA"), always("AGE")];
pub(super) const LEASE: &[Column] = &[always("NAME"), always("HOLDER"), always("AGE")];

pub(super) fn node(node: &Node, age: String) -> Vec<String> {
    let ready = node.status.conditions.iter().find(|condition| condition.condition_type == "Ready");
    let mut status = match ready.map(|condition| condition.status.as_str()) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_string();
    if node.spec.unschedulable {
        status.push_str(",SchedulingDisabled");
    }
    let info = &node.status.node_info;
    let or_unknown = |text: &str| if text.is_empty() { "<unknown>".to_string() } else { text.to_string() };
    let kernel = match (info.kernel_version.as_str(), info.architecture.as_str()) {
        ("", _) => "<unknown>".to_string(),
        (kernel, "") => kernel.to_string(),
        (kernel, architecture) => format!("{kernel} ({architecture})"),
    };
    vec![
        node.meta.name.to_string(),
        status,
        roles(node),
        age,
        info.kubelet_version.clone(),
        or_none(node.address("InternalIP").unwrap_or_default()),
        or_none(node.address("ExternalIP").unwrap_or_default()),
        or_unknown(&info.os_image),
        kernel,
        or_unknown(&info.container_runtime_version),
    ]
}

/// The roles that a node's labels give it, or `<none>`.
///
/// Models: `findNodeRoles`.
pub(in crate::kubectl::print) fn roles(node: &Node) -> String {
    let mut roles: Vec<String> = Vec::new();
    for (key, value) in &node.meta.labels {
        let role = match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => role,
            None if key == "kubernetes.io/role" => value,
            None => continue,
        };
        if !role.is_empty() && !roles.iter().any(|known| known == role) {
            roles.push(role.to_string());
        }
    }
    roles.sort();
    or_none(&roles.join(","))
}

pub(super) fn namespace(namespace: &Namespace, age: String) -> Vec<String> {
    vec![namespace.meta.name.to_string(), namespace.status.phase.clone(), age]
}

pub(super) fn config_map(map: &ConfigMap, age: String) -> Vec<String> {
    vec![map.meta.name.to_string(), (map.data.len() + map.binary_data.len()).to_string(), age]
}

pub(super) fn lease(lease: &Lease, age: String) -> Vec<String> {
    vec![lease.meta.name.to_string(), lease.spec.holder_identity.clone().unwrap_or_default(), age]
}
