//! Services.
//!
//! Models: `pkg/apis/core/validation/validation.go` `ValidateService`, `ValidateServiceUpdate` (v1.36), on a cluster with
//! IPv4 only.
//! Leaves out: the allocation of addresses and ports, which needs the store.

use std::collections::BTreeSet;

use super::field::{FieldError, quoted};
use super::meta;
use super::node::{
    Errors, Node, cidr, complain, immutable, ip, not_special_ip, one_of, one_of_if_given, port, port_number,
};
use crate::api::names;

fn is_headless(spec: &Node<'_>) -> bool {
    spec.at("clusterIP").text() == "None" || spec.at("clusterIPs").value == &serde_json::json!(["None"])
}

/// Judges a new Service.
pub fn create(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_label);
    let spec = object.at("spec");
    let kind = spec.at("type").text();
    if spec.at("ports").is_empty() && !is_headless(&spec) && kind != "ExternalName" {
        errors.push(spec.at("ports").required(""));
    }
    by_type(errors, &spec);
    let ports = spec.at("ports").items();
    let mut seen = BTreeSet::new();
    for port in &ports {
        service_port(errors, port, ports.len() > 1, &mut seen);
    }
    meta::labels(errors, &spec.at("selector"));
    one_of(errors, &spec.at("sessionAffinity"), &["ClientIP", "None"]);
    if spec.at("sessionAffinity").text() == "ClientIP" {
        let timeout = spec.at("sessionAffinityConfig").at("clientIP").at("timeoutSeconds");
        if !(1..=86_400).contains(&timeout.number()) {
            errors.push(timeout.invalid("must be greater than 0 and less than 86400"));
        }
    }
    addresses(errors, &spec);
    for address in spec.at("externalIPs").items() {
        if ip(errors, &address) {
            not_special_ip(errors, &address);
        }
    }
    one_of(errors, &spec.at("type"), &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    port_conflicts(errors, &spec, &ports);
    balancer(errors, &spec);
    traffic_policies(errors, &spec);
}

fn by_type(errors: &mut Errors, spec: &Node<'_>) {
    let kind = spec.at("type").text();
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(spec) => {
            let path = format!("{}[0]", spec.path_of("clusterIPs"));
            let detail = format!("may not be set to 'None' for {kind} services");
            errors.push(FieldError::invalid_text(&path, "None", &detail));
        }
        "ExternalName" => {
            for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                if !spec.at(name).is_empty() {
                    errors.push(spec.at(name).forbidden("may not be set for ExternalName services"));
                }
            }
            let name = spec.at("externalName");
            let host = name.text().strip_suffix('.').unwrap_or(name.text());
            if host.is_empty() {
                errors.push(name.required(""));
            } else {
                complain(errors, &name, names::dns_subdomain(host));
            }
        }
        _ => {}
    }
}

fn service_port<'a>(errors: &mut Errors, node: &Node<'a>, needs_name: bool, seen: &mut BTreeSet<&'a str>) {
    let name = node.at("name");
    if needs_name && name.is_empty() {
        errors.push(name.required(""));
    } else if !name.is_empty() {
        complain(errors, &name, names::dns_label(name.text()));
        if !seen.insert(name.text()) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        }
    }
    port_number(errors, &node.at("port"));
    one_of(errors, &node.at("protocol"), &["SCTP", "TCP", "UDP"]);
    port(errors, &node.at("targetPort"));
    let protocol = node.at("appProtocol");
    if protocol.exists() {
        complain(errors, &protocol, names::qualified_name(protocol.text()));
    }
}

/// Addresses and their families.
fn addresses(errors: &mut Errors, spec: &Node<'_>) {
    if spec.at("type").text() == "ExternalName" {
        return;
    }
    let (address, list) = (spec.at("clusterIP"), spec.at("clusterIPs"));
    if !address.is_empty() {
        match list.items().first() {
            None => errors.push(list.required("")),
            Some(first) if first.text() != address.text() => {
                errors.push(list.invalid("first value must match `clusterIP`"));
            }
            _ => {}
        }
    } else if !list.is_empty() {
        errors.push(list.invalid("must be empty when `clusterIP` is not specified"));
    }
    let families = spec.at("ipFamilies");
    let mut seen = BTreeSet::new();
    for family in families.items() {
        if !matches!(family.text(), "IPv4" | "IPv6") {
            errors.push(family.not_supported(&["IPv4", "IPv6"]));
        }
        if !seen.insert(family.text()) {
            errors.push(FieldError::duplicate(&family.path, family.value));
        }
    }
    one_of_if_given(
        errors,
        &spec.at("ipFamilyPolicy"),
        &["PreferDualStack", "RequireDualStack", "SingleStack"],
    );
    let items = list.items();
    for item in &items {
        match item.text() {
            "None" if items.len() > 1 => errors.push(item.invalid("'None' must be the first and only value")),
            "None" => {}
            "" => errors.push(item.required("must be empty string, 'None', or a valid IP address")),
            _ => {
                ip(errors, item);
            }
        }
    }
    if items.len() > 2 {
        errors.push(list.invalid("may only hold up to 2 values"));
    }
}

fn port_conflicts(errors: &mut Errors, spec: &Node<'_>, ports: &[Node<'_>]) {
    let is_cluster_ip = spec.at("type").text() == "ClusterIP";
    for port in ports.iter().filter(|port| is_cluster_ip && port.at("nodePort").number() != 0) {
        errors.push(port.at("nodePort").forbidden("may not be used when `type` is 'ClusterIP'"));
    }
    let mut seen = BTreeSet::new();
    for port in ports {
        let (protocol, number) = (port.at("protocol").text(), port.at("nodePort"));
        if number.number() != 0 && !seen.insert((protocol, number.number())) {
            errors.push(FieldError::duplicate(&number.path, number.value));
        }
    }
    let mut seen = BTreeSet::new();
    for port in ports {
        let (protocol, number) = (port.at("protocol").text(), port.at("port").number());
        if !seen.insert((protocol, number)) {
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\"TargetPort\":0,\"NodePort\":0}}",
                quoted(protocol)
            );
            errors.push(FieldError::duplicate_shown(&port.path, shown));
        }
    }
}

fn balancer(errors: &mut Errors, spec: &Node<'_>) {
    let is_balancer = spec.at("type").text() == "LoadBalancer";
    let only = "may only be used when `type` is 'LoadBalancer'";
    if !spec.at("loadBalancerSourceRanges").is_empty() {
        let path = spec.path_of("LoadBalancerSourceRanges");
        if !is_balancer {
            errors.push(FieldError::forbidden(&path, only));
        }
        for (index, range) in spec.at("loadBalancerSourceRanges").items().into_iter().enumerate() {
            cidr(errors, &Node { path: format!("{path}[{index}]"), value: range.value });
        }
    }
    if spec.at("allocateLoadBalancerNodePorts").exists() && !is_balancer {
        errors.push(spec.at("allocateLoadBalancerNodePorts").forbidden(only));
    }
    let class = spec.at("loadBalancerClass");
    if class.exists() {
        if is_balancer {
            complain(errors, &class, names::qualified_name(class.text()));
        } else {
            errors.push(class.forbidden(only));
        }
    }
}

fn traffic_policies(errors: &mut Errors, spec: &Node<'_>) {
    let kind = spec.at("type").text();
    let is_external = matches!(kind, "LoadBalancer" | "NodePort")
        || (kind == "ClusterIP" && !spec.at("externalIPs").is_empty());
    let external = spec.at("externalTrafficPolicy");
    if is_external {
        one_of(errors, &external, &["Cluster", "Local"]);
    } else if !external.is_empty() {
        errors.push(external.invalid("may only be set for externally-accessible services"));
    }
    let needs_check = kind == "LoadBalancer" && external.text() == "Local";
    let check = spec.at("healthCheckNodePort");
    if !needs_check && check.number() != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.push(check.invalid(detail));
    }
    one_of_if_given(errors, &spec.at("internalTrafficPolicy"), &["Cluster", "Local"]);
    one_of_if_given(
        errors,
        &spec.at("trafficDistribution"),
        &["PreferClose", "PreferSameNode", "PreferSameZone"],
    );
}

/// Judges a changed Service.
pub fn update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    let (old_spec, spec) = (old.at("spec"), new.at("spec"));
    let is_named = |spec: &Node<'_>| spec.at("type").text() == "ExternalName";
    let both_headless = is_headless(&old_spec) && is_headless(&spec);
    if !is_named(&old_spec) && !is_named(&spec) && !both_headless {
        let (before, after) = (old_spec.at("clusterIPs").items(), spec.at("clusterIPs").items());
        let list = spec.at("clusterIPs");
        let changed = |index: usize, detail: &str| {
            let path = format!("{}[{index}]", list.path);
            FieldError::invalid(&path, list.value, detail)
        };
        if before.len() == after.len() {
            for (index, (before, after)) in before.iter().zip(&after).enumerate() {
                if before.text() != after.text() {
                    errors.push(changed(index, "may not change once set"));
                }
            }
        } else if after.is_empty() {
            errors.push(changed(0, "primary clusterIP can not be unset"));
        } else if let (Some(before), Some(after)) = (before.first(), after.first())
            && before.text() != after.text()
        {
            errors.push(changed(0, "may not change once set"));
        }
    }
    let needs_check = |spec: &Node<'_>| {
        spec.at("type").text() == "LoadBalancer" && spec.at("externalTrafficPolicy").text() == "Local"
    };
    if needs_check(&old_spec) && needs_check(&spec) {
        let (before, after) = (old_spec.at("healthCheckNodePort"), spec.at("healthCheckNodePort"));
        if before.value != after.value {
            errors.push(after.forbidden("field is immutable"));
        }
    }
    if old_spec.at("type").text() == "LoadBalancer" && spec.at("type").text() == "LoadBalancer" {
        let (before, after) = (old_spec.at("loadBalancerClass"), spec.at("loadBalancerClass"));
        let mut found = Errors::new();
        immutable(&mut found, &before, &after);
        for mut error in found {
            error.detail = "may not change once set".to_string();
            errors.push(error);
        }
    }
    create(errors, new);
}

/// What a cluster with IPv4 only refuses of a Service's families. This is asked before anything else; a headless Service
/// may be of any family.
pub fn families_of_cluster(errors: &mut Errors, object: &Node<'_>) {
    let spec = object.at("spec");
    if spec.at("clusterIP").text() == "None" || spec.at("type").text() == "ExternalName" {
        return;
    }
    let policy = spec.at("ipFamilyPolicy");
    if policy.text() == "RequireDualStack" {
        errors.push(policy.invalid("this cluster is not configured for dual-stack services"));
    }
    for family in spec.at("ipFamilies").items() {
        if family.text() == "IPv6" {
            errors.push(family.invalid("not configured on this cluster"));
        }
    }
}
