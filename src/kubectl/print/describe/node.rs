//! Nodes.

use std::collections::BTreeMap;

use super::{annotations_lines, labels_lines};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Lease, Node};
use crate::api::kinds::pod::Pod;
use crate::api::quantity::Quantity;
use crate::kubectl::duration;
use crate::kubectl::host::Host;
use crate::kubectl::print::row::roles;
use crate::kubectl::resources;

const LEASES: &str = "kube-node-lease";

pub(super) fn describe(node: &Node, host: &dyn Host) -> String {
    let (meta, spec, status) = (&node.meta, &node.spec, &node.status);
    let time = |time: Option<_>| time.map_or("<unset>".to_string(), duration::rfc1123);
    let mut out = format!("Name:\t{}\nRoles:\t{}\n", meta.name, roles(node));
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    out.push_str(&format!("CreationTimestamp:\t{}\nTaints:\t", time(meta.creation_timestamp)));
    let taints: Vec<String> = spec
        .taints
        .iter()
        .map(|taint| match taint.value.as_str() {
            "" => format!("{}:{}", taint.key, taint.effect),
            value => format!("{}={value}:{}", taint.key, taint.effect),
        })
        .collect();
    out.push_str(&if taints.is_empty() { "<none>".to_string() } else { taints.join("\n\t") });
    out.push_str(&format!("\nUnschedulable:\t{}\n", spec.unschedulable));
    out.push_str("Lease:\n");
    match host.store().get::<Lease>(LEASES, &meta.name) {
        None => out.push_str("  HolderIdentity:\t<unset>\n  AcquireTime:\t<unset>\n  RenewTime:\t<unset>\n"),
        Some(lease) => {
            let holder = lease.spec.holder_identity.as_deref().unwrap_or("<unset>");
            let renewed = time(lease.spec.renew_time);
            out.push_str(&format!(
                "  HolderIdentity:\t{holder}\n  AcquireTime:\t<unset>\n  RenewTime:\t{renewed}\n"
            ));
        }
    }
    if !status.conditions.is_empty() {
        out.push_str("Conditions:\n  Type\tStatus\tLastHeartbeatTime\tLastTransitionTime\tReason\tMessage\n");
        out.push_str("  ----\t------\t-----------------\t------------------\t------\t-------\n");
        for condition in &status.conditions {
            out.push_str(&format!(
                "  {} \t{} \t{} \t{} \t{} \t{}\n",
                condition.condition_type,
                condition.status,
                time(condition.last_heartbeat_time),
                time(condition.last_transition_time),
                condition.reason,
                condition.message
            ));
        }
    }
    out.push_str("Addresses:\n");
    for address in &status.addresses {
        out.push_str(&format!("  {}:\t{}\n", address.address_type, address.address));
    }
    for (title, list) in [("Capacity", &status.capacity), ("Allocatable", &status.allocatable)] {
        if !list.is_empty() {
            out.push_str(&format!("{title}:\n"));
            for (name, quantity) in list {
                out.push_str(&format!("  {name}:\t{quantity}\n"));
            }
        }
    }
    let info = &status.node_info;
    out.push_str("System Info:\n");
    for (title, text) in [
        ("Machine ID", &info.machine_id),
        ("System UUID", &info.system_uuid),
        ("Boot ID", &info.boot_id),
        ("Kernel Version", &info.kernel_version),
        ("OS Image", &info.os_image),
        ("Operating System", &info.operating_system),
        ("Architecture", &info.architecture),
        ("Container Runtime Version", &info.container_runtime_version),
        ("Kubelet Version", &info.kubelet_version),
    ] {
        out.push_str(&format!("  {title}:\t{text}\n"));
    }
    if !spec.pod_cidr.is_empty() {
        out.push_str(&format!("PodCIDR:\t{}\n", spec.pod_cidr));
    }
    if !spec.pod_cidrs.is_empty() {
        out.push_str(&format!("PodCIDRs:\t{}\n", spec.pod_cidrs.join(",")));
    }
    if let Some(provider) = spec.rest.get("providerID").and_then(|id| id.as_str()) {
        out.push_str(&format!("ProviderID:\t{provider}\n"));
    }
    out.push_str(&pods_and_totals(node, host));
    out
}

/// What a Pod asks for (or may use at most) of one resource, its init containers counted.
///
/// Models: `k8s.io/kubectl/pkg/util/resource/resource.go` (`PodRequestsAndLimits`).
fn of_pod(pod: &Pod, resource: &str, limits: bool) -> Quantity {
    let of = |container: &crate::api::kinds::pod::Container| {
        let list = if limits { &container.resources.limits } else { &container.resources.requests };
        list.get(resource).cloned().unwrap_or_else(|| Quantity::from_value(0))
    };
    let mut total = Quantity::from_value(0);
    let mut first = true;
    let mut add = |quantity: Quantity| {
        total = if first { quantity } else { total.add(&quantity) };
        first = false;
    };
    pod.spec.containers.iter().map(of).filter(|quantity| !quantity.is_zero()).for_each(&mut add);
    let (sidecars, inits): (Vec<_>, Vec<_>) = pod
        .spec
        .init_containers
        .iter()
        .partition(|container| container.restart_policy.as_deref() == Some("Always"));
    sidecars.into_iter().map(of).filter(|quantity| !quantity.is_zero()).for_each(&mut add);
    inits
        .into_iter()
        .map(of)
        .fold(total, |largest, quantity| if quantity > largest { quantity } else { largest })
}

fn percent(part: &Quantity, whole: Option<&Quantity>) -> i64 {
    let whole = whole.map_or(0, Quantity::milli);
    if whole == 0 { 0 } else { (i128::from(part.milli()) * 100 / i128::from(whole)).try_into().unwrap_or(0) }
}

fn pods_and_totals(node: &Node, host: &dyn Host) -> String {
    if !resources::may_list(host, Kind::Pod, "") {
        return "Pods:\tnot authorized\n".to_string();
    }
    let allocatable = &node.status.allocatable;
    let pods: Vec<_> = host.store().pods_on(&node.meta.name).filter(|pod| !pod.is_finished()).collect();
    let mut out = format!("Non-terminated Pods:\t({} in total)\n", pods.len());
    out.push_str("  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge\n");
    out.push_str("  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---\n");
    let cell = |quantity: &Quantity, resource: &str| {
        format!("{quantity} ({}%)", percent(quantity, allocatable.get(resource)))
    };
    let mut totals: BTreeMap<(&str, bool), Quantity> = BTreeMap::new();
    for pod in &pods {
        let mut cells = Vec::new();
        for resource in ["cpu", "memory"] {
            for limits in [false, true] {
                cells.push(cell(&of_pod(pod, resource, limits), resource));
            }
        }
        for resource in ["cpu", "memory", "ephemeral-storage"] {
            for limits in [false, true] {
                let part = of_pod(pod, resource, limits);
                let total = totals.remove(&(resource, limits));
                let sum = match total {
                    Some(total) if part.is_zero() => total,
                    Some(total) if !total.is_zero() => total.add(&part),
                    _ => part,
                };
                totals.insert((resource, limits), sum);
            }
        }
        let age = duration::age(pod.meta.creation_timestamp, host.now());
        out.push_str(&format!(
            "  {}\t{}\t\t{}\t{age}\n",
            pod.meta.namespace,
            pod.meta.name,
            cells.join("\t")
        ));
    }
    out.push_str("Allocated resources:\n  (Total limits may be over 100 percent, i.e., overcommitted.)\n");
    out.push_str("  Resource\tRequests\tLimits\n  --------\t--------\t------\n");
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        let total = |limits: bool| {
            totals.get(&(resource, limits)).cloned().unwrap_or_else(|| Quantity::from_value(0))
        };
        out.push_str(&format!(
            "  {resource}\t{}\t{}\n",
            cell(&total(false), resource),
            cell(&total(true), resource)
        ));
    }
    out
}
