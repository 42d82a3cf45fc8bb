//! Services, EndpointSlices, Ingresses and their classes.

use super::{Column, always, or_none, three_and_more, wide};
use crate::api::kinds::networking::{
    EndpointSlice, Endpoints, Ingress, IngressClass, LoadBalancerStatus, Service,
};
use crate::kubectl::print::table::labels_text;

pub(super) const SERVICE: &[Column] = &[
    always("NAME"),
    always("TYPE"),
    always("CLUSTER-IP"),
    always("EXTERNAL-IP"),
    always("PORT(S)"),
    always("AGE"),
    wide("SELECTOR"),
];

pub(super) const INGRESS: &[Column] =
    &[always("NAME"), always("CLASS"), always("HOSTS"), always("ADDRESS"), always("PORTS"), always("AGE")];

pub(super) const INGRESS_CLASS: &[Column] =
    &[always("NAME"), always("CONTROLLER"), always("PARAMETERS"), always("AGE")];

pub(super) const ENDPOINT_SLICE: &[Column] =
    &[always("NAME"), always("ADDRESSTYPE"), always("PORTS"), always("ENDPOINTS"), always("AGE")];

pub(super) const ENDPOINTS: &[Column] = &[always("NAME"), always("ENDPOINTS"), always("AGE")];

pub(super) fn service(service: &Service, age: String) -> Vec<String> {
    let spec = &service.spec;
    let ports: Vec<String> = spec
        .ports
        .iter()
        .map(|port| {
            let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
            match port.node_port {
                0 => format!("{}/{protocol}", port.port),
                node_port => format!("{}:{node_port}/{protocol}", port.port),
            }
        })
        .collect();
    vec![
        service.meta.name.to_string(),
        if spec.service_type.is_empty() { "ClusterIP".to_string() } else { spec.service_type.clone() },
        or_none(&spec.cluster_ip),
        external_address(service),
        or_none(&ports.join(",")),
        age,
        labels_text(&spec.selector),
    ]
}

/// Models: `getServiceExternalIP`.
fn external_address(service: &Service) -> String {
    let given = service.spec.external_ips.join(",");
    match service.spec.service_type.as_str() {
        "ExternalName" => service.spec.external_name.clone(),
        "LoadBalancer" => {
            let mut addresses = entry_points(&service.status.load_balancer);
            addresses.extend(service.spec.external_ips.iter().cloned());
            if addresses.is_empty() { "<pending>".to_string() } else { addresses.join(",") }
        }
        _ => or_none(&given),
    }
}

/// The addresses of a load balancer, each its IP or else its host name.
pub(in crate::kubectl::print) fn entry_points(status: &LoadBalancerStatus) -> Vec<String> {
    let mut addresses: Vec<String> = Vec::new();
    for entry in &status.ingress {
        let address = if entry.ip.is_empty() { &entry.hostname } else { &entry.ip };
        if !address.is_empty() && !addresses.contains(address) {
            addresses.push(address.clone());
        }
    }
    addresses
}

pub(super) fn ingress(ingress: &Ingress, age: String) -> Vec<String> {
    let spec = &ingress.spec;
    let mut hosts: Vec<String> = Vec::new();
    let mut more = 0;
    for rule in spec.rules.iter().filter(|rule| !rule.host.is_empty()) {
        if hosts.len() < 3 {
            hosts.push(rule.host.clone());
        } else {
            more += 1;
        }
    }
    let hosts = match (hosts.is_empty(), more) {
        (true, _) => "*".to_string(),
        (false, 0) => hosts.join(","),
        (false, more) => format!("{} + {more} more...", hosts.join(",")),
    };
    vec![
        ingress.meta.name.to_string(),
        or_none(spec.ingress_class_name.as_deref().unwrap_or_default()),
        hosts,
        entry_points(&ingress.status.load_balancer).join(","),
        if spec.tls.is_empty() { "80" } else { "80, 443" }.to_string(),
        age,
    ]
}

pub(super) fn ingress_class(class: &IngressClass, age: String) -> Vec<String> {
    let parameters = &class.spec.parameters;
    let text = |name: &str| parameters.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let shown = match (text("kind"), text("apiGroup")) {
        ("", _) => "<none>".to_string(),
        (kind, "") => format!("{kind}/{}", text("name")),
        (kind, group) => format!("{kind}.{group}/{}", text("name")),
    };
    vec![class.meta.name.to_string(), class.spec.controller.clone(), shown, age]
}

pub(super) fn endpoint_slice(slice: &EndpointSlice, age: String) -> Vec<String> {
    let ports: Vec<String> = slice
        .ports
        .iter()
        .map(|port| match (&port.port, port.name.as_str()) {
            (Some(number), _) => number.to_string(),
            (None, "") => "*".to_string(),
            (None, name) => name.to_string(),
        })
        .collect();
    let addresses: Vec<String> =
        slice.endpoints.iter().flat_map(|endpoint| endpoint.addresses.clone()).collect();
    let or_unset = |text: String| if text.is_empty() { "<unset>".to_string() } else { text };
    vec![
        slice.meta.name.to_string(),
        slice.address_type.clone(),
        or_unset(three_and_more(&ports)),
        or_unset(three_and_more(&addresses)),
        age,
    ]
}

/// Models: `formatEndpoints`.
pub(super) fn endpoints(endpoints: &Endpoints, age: String) -> Vec<String> {
    let mut addresses: Vec<String> = Vec::new();
    for subset in &endpoints.subsets {
        let ips = subset.addresses.iter().map(|address| address.ip.as_str());
        if subset.ports.is_empty() {
            addresses.extend(ips.clone().map(ToString::to_string));
        }
        for port in &subset.ports {
            addresses.extend(ips.clone().map(|ip| format!("{ip}:{}", port.port)));
        }
    }
    let shown = if endpoints.subsets.is_empty() { "<none>".to_string() } else { three_and_more(&addresses) };
    vec![endpoints.meta.name.to_string(), shown, age]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::json;

    #[test]
    fn services_show_where_they_are_reached() {
        for (about, spec, status, shown) in [
            (
                "ClusterIP",
                json!({"type": "ClusterIP", "clusterIP": "10.96.0.10", "ports": [{"port": 80, "protocol": "TCP"}]}),
                json!({}),
                "10.96.0.10 <none> 80/TCP",
            ),
            (
                "NodePort",
                json!({"type": "NodePort", "clusterIP": "10.96.0.10", "ports": [{"port": 80, "nodePort": 30080}]}),
                json!({}),
                "10.96.0.10 <none> 80:30080/TCP",
            ),
            (
                "waiting for a load balancer",
                json!({"type": "LoadBalancer", "clusterIP": "10.96.0.10"}),
                json!({}),
                "10.96.0.10 <pending> <none>",
            ),
            (
                "with a load balancer",
                json!({"type": "LoadBalancer", "clusterIP": "10.96.0.10"}),
                json!({"loadBalancer": {"ingress": [{"ip": "203.0.113.10"}]}}),
                "10.96.0.10 203.0.113.10 <none>",
            ),
            (
                "ExternalName",
                json!({"type": "ExternalName", "externalName": "example.com"}),
                json!({}),
                "<none> example.com <none>",
            ),
            ("headless", json!({"type": "ClusterIP", "clusterIP": "None"}), json!({}), "None <none> <none>"),
        ] {
            let object = Service::decode(json!({"spec": spec, "status": status})).unwrap();
            assert_eq!(service(&object, String::new())[2..5].join(" "), shown, "{about}");
        }
    }

    #[test]
    fn ingresses_show_three_hosts() {
        let rules: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|host| json!({"host": host})).collect();
        let object = Ingress::decode(json!({"spec": {"rules": rules, "tls": [{}]}})).unwrap();
        assert_eq!(ingress(&object, String::new())[1..5], ["<none>", "a,b,c + 2 more...", "", "80, 443"]);
        assert_eq!(ingress(&Ingress::default(), String::new())[2], "*");
    }
}
