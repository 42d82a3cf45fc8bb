//! Defaults of Services, EndpointSlices, Ingress classes and network policies.

use serde_json::{Value, json};

use super::{Record, inner, is_empty, items, set_absent, text};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "core.v1.Service" => service(record),
        "core.v1.EndpointPort" => set_absent(record, "protocol", "TCP"),
        "discovery.v1.EndpointPort" => {
            set_absent(record, "name", "");
            set_absent(record, "protocol", "TCP");
        }
        "networking.v1.IngressClassParametersReference" => set_absent(record, "scope", "Cluster"),
        "networking.v1.NetworkPolicyPort" => set_absent(record, "protocol", "TCP"),
        "networking.v1.NetworkPolicySpec" if is_empty(record, "policyTypes") => {
            let types =
                if is_empty(record, "egress") { json!(["Ingress"]) } else { json!(["Ingress", "Egress"]) };
            record.insert("policyTypes".to_string(), types);
        }
        _ => {}
    }
}

fn service(service: &mut Record) {
    let Some(spec) = inner(service, "spec") else { return };
    set_absent(spec, "sessionAffinity", "None");
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let timeout = spec
                .get("sessionAffinityConfig")
                .and_then(|config| config.get("clientIP")?.get("timeoutSeconds"));
            if timeout.is_none() {
                let config = json!({"clientIP": {"timeoutSeconds": 10_800}});
                spec.insert("sessionAffinityConfig".to_string(), config);
            }
        }
        _ => {}
    }
    set_absent(spec, "type", "ClusterIP");
    for port in items(spec, "ports") {
        set_absent(port, "protocol", "TCP");
        let is_absent = match port.get("targetPort") {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(number) => number.as_i64() == Some(0),
        };
        if is_absent {
            let number = port.get("port").cloned().unwrap_or_else(|| Value::from(0));
            port.insert("targetPort".to_string(), number);
        }
    }
    let kind = text(spec, "type").to_string();
    let is_external = kind == "LoadBalancer"
        || kind == "NodePort"
        || (kind == "ClusterIP" && !is_empty(spec, "externalIPs"));
    if is_external {
        set_absent(spec, "externalTrafficPolicy", "Cluster");
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        set_absent(spec, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        set_absent(spec, "allocateLoadBalancerNodePorts", true);
        let balancer = inner(service, "status").and_then(|status| inner(status, "loadBalancer"));
        for ingress in balancer.into_iter().flat_map(|balancer| items(balancer, "ingress")) {
            if !text(ingress, "ip").is_empty() {
                set_absent(ingress, "ipMode", "VIP");
            }
        }
    }
}
