//! Pods.

use super::{annotations_lines, container, labels_lines, or_none};
use crate::api::kinds::pod::Pod;
use crate::kubectl::duration;
use crate::kubectl::host::Host;

pub(super) fn describe(pod: &Pod, host: &dyn Host) -> String {
    let (meta, spec, status) = (&pod.meta, &pod.spec, &pod.status);
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    let mut line = |title: &str, text: &str| out.push_str(&format!("{title}:\t{text}\n"));
    if let Some(priority) = spec.priority {
        line("Priority", &priority.to_string());
    }
    let stored = |name: &str| spec.rest.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    for (title, text) in [
        ("Priority Class Name", stored("priorityClassName")),
        ("Runtime Class Name", stored("runtimeClassName")),
        ("Service Account", &spec.service_account_name),
    ] {
        if !text.is_empty() {
            line(title, text);
        }
    }
    match &*pod.node_name {
        "" => line("Node", "<none>"),
        node => line("Node", &format!("{node}/{}", status.host_ip)),
    }
    if let Some(start) = status.start_time {
        line("Start Time", &duration::rfc1123(start));
    }
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    let mut line = |title: &str, text: &str| out.push_str(&format!("{title}:\t{text}\n"));
    match meta.deletion_timestamp {
        Some(deletion) if status.reason != "NodeLost" => {
            let lasts = duration::human(host.now().seconds_since(deletion));
            line("Status", &format!("Terminating (lasts {lasts})"));
            let grace = meta.deletion_grace_period_seconds.unwrap_or(0);
            line("Termination Grace Period", &format!("{grace}s"));
        }
        _ => line("Status", &status.phase),
    }
    for (title, text) in [("Reason", &status.reason), ("Message", &status.message)] {
        if !text.is_empty() {
            line(title, text);
        }
    }
    line("IP", &status.pod_ip);
    if status.pod_ips.is_empty() {
        line("IPs", "<none>");
    } else {
        out.push_str("IPs:\n");
        for ip in &status.pod_ips {
            out.push_str(&format!("  IP:\t{}\n", ip.ip));
        }
    }
    super::put_controller(&mut out, meta);
    let node = &status.nominated_node_name;
    if !node.is_empty() {
        out.push_str(&format!("NominatedNodeName:\t{node}\n"));
    }
    if !spec.init_containers.is_empty() {
        let statuses = Some(status.init_container_statuses.as_slice());
        out.push_str(&container::list("Init Containers", &spec.init_containers, statuses, ""));
    }
    let statuses = Some(status.container_statuses.as_slice());
    out.push_str(&container::list("Containers", &spec.containers, statuses, ""));
    if !spec.readiness_gates.is_empty() {
        out.push_str("Readiness Gates:\n  Type\tStatus\n");
        for gate in &spec.readiness_gates {
            let condition = pod.condition(&gate.condition_type);
            let shown = condition.map_or("<none>", |condition| condition.status.as_str());
            out.push_str(&format!("  {} \t{shown} \n", gate.condition_type));
        }
    }
    if !status.conditions.is_empty() {
        out.push_str("Conditions:\n  Type\tStatus\n");
        for condition in &status.conditions {
            out.push_str(&format!("  {} \t{} \n", condition.condition_type, condition.status));
        }
    }
    out.push_str(&super::template::volumes(spec, ""));
    out.push_str(&format!("QoS Class:\t{}\n", or_none(&status.qos_class)));
    out.push_str(&labels_lines("", "Node-Selectors", &spec.node_selector));
    out.push_str(&super::template::tolerations(spec, ""));
    out.push_str(&super::template::topology_spread(spec, ""));
    out
}
