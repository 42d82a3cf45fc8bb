//! Ingresses, Ingress classes, EndpointSlices and network policies.
//!
//! Models: `pkg/apis/networking/validation/validation.go`, `pkg/apis/discovery/validation/validation.go` (v1.36).
//! Leaves out: the hints of endpoints.

use std::collections::BTreeSet;

use super::field::FieldError;
use super::meta;
use super::node::{
    Errors, Node, cidr, complain, immutable, not_special_ip, one_of, one_of_if_given, port, port_number,
};
use crate::api::names;

/// Judges a new Ingress.
pub fn ingress(errors: &mut Errors, object: &Node<'_>) {
    ingress_itself(errors, object);
    const ANNOTATION: &str = "kubernetes.io/ingress.class";
    let annotation = object.at("metadata").at("annotations").at(ANNOTATION);
    let class = object.at("spec").at("ingressClassName");
    if annotation.exists() && class.exists() && annotation.text() != class.text() {
        let detail = "must match `ingressClassName` when both are specified";
        errors.push(FieldError::invalid_text(
            &format!("annotations.{ANNOTATION}"),
            annotation.text(),
            detail,
        ));
    }
}

/// Judges a changed Ingress.
pub fn ingress_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    ingress_itself(errors, new);
}

fn ingress_itself(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    let (rules, backend) = (spec.at("rules"), spec.at("defaultBackend"));
    if rules.is_empty() && !backend.exists() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(FieldError::invalid_shown(&spec.path, "null".to_string(), detail));
    }
    if backend.exists() {
        ingress_backend(errors, &backend);
    }
    for rule in rules.items() {
        let host = rule.at("host");
        if !host.is_empty() {
            if host.text().parse::<std::net::IpAddr>().is_ok() {
                errors.push(host.invalid("must be a DNS name, not an IP address"));
            }
            host_name(errors, &host);
        }
        if rule.at("http").exists() {
            let paths = rule.at("http").at("paths");
            if paths.is_empty() {
                errors.push(paths.required(""));
            }
            for path in paths.items() {
                ingress_path(errors, &path);
            }
        }
    }
    for tls in spec.at("tls").items() {
        for host in tls.at("hosts").items() {
            host_name(errors, &host);
        }
        let secret = tls.at("secretName");
        if !secret.is_empty() {
            complain(errors, &secret, names::dns_subdomain(secret.text()));
        }
    }
    let class = spec.at("ingressClassName");
    if class.exists() {
        complain(errors, &class, names::dns_subdomain(class.text()));
    }
}

fn host_name(errors: &mut Errors, host: &Node<'_>) {
    let rule = if host.text().contains('*') { names::wildcard_subdomain } else { names::dns_subdomain };
    complain(errors, host, rule(host.text()));
}

fn ingress_path(errors: &mut Errors, node: &Node<'_>) {
    let (kind, path) = (node.at("pathType"), node.at("path"));
    if !kind.exists() {
        errors.push(kind.required("pathType must be specified"));
        return;
    }
    let is_absolute = path.text().starts_with('/');
    match kind.text() {
        "Exact" | "Prefix" => {
            if !is_absolute {
                errors.push(path.invalid("must be an absolute path"));
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if path.text().contains(part) {
                    errors.push(path.invalid(&format!("must not contain '{part}'")));
                }
            }
            for end in ["/..", "/."] {
                if path.text().ends_with(end) {
                    errors.push(path.invalid(&format!("cannot end with '{end}'")));
                }
            }
        }
        "ImplementationSpecific" => {
            if !path.is_empty() && !is_absolute {
                errors.push(path.invalid("must be an absolute path"));
            }
        }
        _ => errors.push(kind.not_supported(&["Exact", "ImplementationSpecific", "Prefix"])),
    }
    ingress_backend(errors, &node.at("backend"));
}

fn ingress_backend(errors: &mut Errors, backend: &Node<'_>) {
    let (service, resource) = (backend.at("service"), backend.at("resource"));
    let refuse = |detail: &str| FieldError::invalid_text(&backend.path, "", detail);
    match (service.exists(), resource.exists()) {
        (true, true) => errors.push(refuse("cannot set both resource and service backends")),
        (false, true) => {
            let group = resource.at("apiGroup");
            if group.exists() {
                complain(errors, &group, names::dns_subdomain(group.text()));
            }
            for name in ["kind", "name"] {
                if resource.at(name).is_empty() {
                    errors.push(resource.at(name).required(""));
                }
            }
        }
        (true, false) => {
            let name = service.at("name");
            if name.is_empty() {
                errors.push(name.required(""));
            } else {
                complain(errors, &name, names::dns_label(name.text()));
            }
            let (name, number) = (service.at("port").at("name"), service.at("port").at("number"));
            match (!name.is_empty(), number.number() != 0) {
                (true, true) => errors.push(refuse("cannot set both port name & port number")),
                (true, false) => complain(errors, &name, names::port_name(name.text())),
                (false, true) => port_number(errors, &number),
                (false, false) => errors.push(backend.required("port name or number is required")),
            }
        }
        (false, false) => errors.push(refuse("resource or service backend is required")),
    }
}

/// Judges a new Ingress class.
pub fn ingress_class(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let spec = object.at("spec");
    let controller = spec.at("controller");
    if controller.is_empty() {
        errors.push(controller.required(""));
    } else {
        if controller.text().len() > 250 {
            errors.push(FieldError::too_long(&controller.path, 250));
        }
        domain_prefixed_path(errors, &controller);
    }
    let parameters = spec.at("parameters");
    if !parameters.exists() {
        return;
    }
    let group = parameters.at("apiGroup");
    if group.exists() {
        complain(errors, &group, names::dns_subdomain(group.text()));
    }
    for name in ["kind", "name"] {
        if parameters.at(name).is_empty() {
            errors.push(parameters.at(name).required(""));
        }
    }
    let namespace = parameters.at("namespace");
    match parameters.at("scope").text() {
        "Namespace" => {
            if namespace.exists() {
                complain(errors, &namespace, names::dns_label(namespace.text()));
            } else {
                errors.push(namespace.required("`parameters.scope` is set to 'Namespace'"));
            }
        }
        "Cluster" => {
            if namespace.exists() {
                errors.push(namespace.forbidden("`parameters.scope` is set to 'Cluster'"));
            }
        }
        _ => errors.push(parameters.at("scope").not_supported(&["Cluster", "Namespace"])),
    }
}

fn domain_prefixed_path(errors: &mut Errors, node: &Node<'_>) {
    match node.text().split_once('/') {
        Some((domain, path)) if !domain.is_empty() && !path.is_empty() => {
            complain(errors, node, names::dns_subdomain(domain));
        }
        _ => errors.push(node.invalid("must be a domain-prefixed path (such as \"acme.io/foo\")")),
    }
}

/// Judges a changed Ingress class.
pub fn ingress_class_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    immutable(errors, &old.at("spec").at("controller"), &new.at("spec").at("controller"));
    ingress_class(errors, new);
}

/// Judges a new EndpointSlice.
pub fn endpoint_slice(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let kind = object.at("addressType");
    one_of(errors, &kind, &["FQDN", "IPv4", "IPv6"]);
    let endpoints = object.at("endpoints");
    if endpoints.items().len() > 1000 {
        errors.push(FieldError::too_many(&endpoints.path, endpoints.items().len(), 1000));
        return;
    }
    for endpoint in endpoints.items() {
        let addresses = endpoint.at("addresses");
        if addresses.is_empty() {
            errors.push(addresses.required("must contain at least 1 address"));
        }
        if addresses.items().len() > 100 {
            errors.push(FieldError::too_many(&addresses.path, addresses.items().len(), 100));
        }
        for address in addresses.items() {
            endpoint_address(errors, &address, kind.text());
        }
        let (node, hostname) = (endpoint.at("nodeName"), endpoint.at("hostname"));
        if node.exists() {
            complain(errors, &node, names::dns_subdomain(node.text()));
        }
        if hostname.exists() {
            complain(errors, &hostname, names::dns_label(hostname.text()));
        }
    }
    let ports = object.at("ports");
    if ports.items().len() > 100 {
        errors.push(FieldError::too_many(&ports.path, ports.items().len(), 100));
        return;
    }
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if !name.is_empty() {
            complain(errors, &name, names::dns_label(name.text()));
        }
        if !seen.insert(name.text()) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        }
        one_of(errors, &port.at("protocol"), &["SCTP", "TCP", "UDP"]);
        if port.at("port").exists() {
            port_number(errors, &port.at("port"));
        }
        let protocol = port.at("appProtocol");
        if protocol.exists() {
            complain(errors, &protocol, names::qualified_name(protocol.text()));
        }
    }
}

fn endpoint_address(errors: &mut Errors, address: &Node<'_>, kind: &str) {
    use std::net::{Ipv4Addr, Ipv6Addr};
    match kind {
        "IPv4" if address.text().parse::<Ipv4Addr>().is_err() => {
            errors.push(address.invalid("must be a valid IPv4 address"));
        }
        "IPv6" if address.text().parse::<Ipv6Addr>().is_err() => {
            errors.push(address.invalid("must be a valid IPv6 address"));
        }
        "IPv4" | "IPv6" => not_special_ip(errors, address),
        "FQDN" => complain(errors, address, names::dns_subdomain(address.text())),
        _ => {}
    }
}

/// Judges a changed EndpointSlice.
pub fn endpoint_slice_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    immutable(errors, &old.at("addressType"), &new.at("addressType"));
    endpoint_slice(errors, new);
}

/// Judges a network policy.
pub fn network_policy(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    meta::selector(errors, &spec.at("podSelector"));
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.at(direction).items() {
            for port in rule.at("ports").items() {
                policy_port(errors, &port);
            }
            for peer in rule.at(peers).items() {
                policy_peer(errors, &peer);
            }
        }
    }
    let kinds = spec.at("policyTypes");
    if kinds.items().len() > 2 {
        errors.push(kinds.invalid("may not specify more than two policyTypes"));
        return;
    }
    for kind in kinds.items() {
        one_of_if_given(errors, &kind, &["Ingress", "Egress"]);
    }
}

fn policy_port(errors: &mut Errors, node: &Node<'_>) {
    one_of_if_given(errors, &node.at("protocol"), &["TCP", "UDP", "SCTP"]);
    let (number, end) = (node.at("port"), node.at("endPort"));
    if number.value.is_number() {
        port(errors, &number);
        if end.exists() {
            if end.number() < number.number() {
                errors.push(end.invalid("must be greater than or equal to `port`"));
            }
            port_number(errors, &end);
        }
    } else if number.exists() {
        if end.exists() {
            errors.push(end.invalid("may not be specified when `port` is non-numeric"));
        }
        port(errors, &number);
    } else if end.exists() {
        errors.push(end.invalid("may not be specified when `port` is not specified"));
    }
}

/// Whether a range lies in another one and is smaller.
fn is_strict_subset(inner: &str, outer: &str) -> bool {
    use std::net::IpAddr;
    let parse = |text: &str| -> Option<(u128, u32, u32)> {
        let (address, bits) = text.trim().split_once('/')?;
        let (number, width) = match address.parse::<IpAddr>().ok()? {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        Some((number, width, bits.parse().ok().filter(|bits| *bits <= width)?))
    };
    let (Some((inner, inner_width, inner_bits)), Some((outer, width, bits))) = (parse(inner), parse(outer))
    else {
        return true;
    };
    let network = |number: u128| number.checked_shr(width - bits).unwrap_or(0);
    inner_width == width && inner_bits > bits && network(inner) == network(outer)
}

fn policy_peer(errors: &mut Errors, peer: &Node<'_>) {
    let mut found = 0;
    for selector in ["podSelector", "namespaceSelector"] {
        if peer.at(selector).exists() {
            found += 1;
            meta::selector(errors, &peer.at(selector));
        }
    }
    let block = peer.at("ipBlock");
    if block.exists() {
        found += 1;
        if block.at("cidr").is_empty() {
            errors.push(block.at("cidr").required(""));
        } else {
            cidr(errors, &block.at("cidr"));
            for except in block.at("except").items() {
                let before = errors.len();
                cidr(errors, &except);
                if errors.len() == before && !is_strict_subset(except.text(), block.at("cidr").text()) {
                    errors.push(except.invalid("must be a strict subset of `cidr`"));
                }
            }
        }
    }
    if found == 0 {
        errors.push(peer.required("must specify a peer"));
    } else if found > 1 && block.exists() {
        errors.push(peer.forbidden("may not specify both ipBlock and another peer"));
    }
}
