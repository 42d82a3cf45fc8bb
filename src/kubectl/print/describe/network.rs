//! Services, Endpoints, EndpointSlices, Ingresses and their classes.

use super::{annotations_lines, labels_lines, or_none, or_unset};
use crate::api::int_or_string::IntOrString;
use crate::api::kind::Kind;
use crate::api::kinds::networking::{
    EndpointSlice, Endpoints, Ingress, IngressBackend, IngressClass, Service, ServicePort,
};
use crate::cluster::server::authz::Access;
use crate::kubectl::host::Host;
use crate::kubectl::print::row::{entry_points, three_and_more};
use crate::kubectl::print::table::labels_text;
use crate::kubectl::resources;

pub(super) fn service(service: &Service, host: &dyn Host) -> String {
    let (meta, spec) = (&service.meta, &service.spec);
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    let mut line = |title: &str, text: &str| out.push_str(&format!("{title}:\t{text}\n"));
    line("Selector", &labels_text(&spec.selector));
    line("Type", &spec.service_type);
    if let Some(policy) = spec.rest.get("ipFamilyPolicy").and_then(|policy| policy.as_str()) {
        line("IP Family Policy", policy);
    }
    if let Some(families) = spec.rest.get("ipFamilies").and_then(|families| families.as_array()) {
        let families: Vec<&str> = families.iter().filter_map(|family| family.as_str()).collect();
        line("IP Families", &families.join(","));
    } else {
        line("IP Families", "<none>");
    }
    line("IP", &spec.cluster_ip);
    if !spec.cluster_ips.is_empty() {
        line("IPs", &spec.cluster_ips.join(","));
    } else {
        line("IPs", "<none>");
    }
    if !spec.external_ips.is_empty() {
        line("External IPs", &spec.external_ips.join(","));
    }
    if let Some(wanted) =
        spec.rest.get("loadBalancerIP").and_then(|ip| ip.as_str()).filter(|ip| !ip.is_empty())
    {
        line("Desired LoadBalancer IP", wanted);
    }
    if !spec.external_name.is_empty() {
        line("External Name", &spec.external_name);
    }
    let entries: Vec<String> = service
        .status
        .load_balancer
        .ingress
        .iter()
        .map(|entry| match entry.rest.get("ipMode").and_then(|mode| mode.as_str()) {
            Some(mode) if !entry.ip.is_empty() => format!("{} ({mode})", entry.ip),
            _ if entry.ip.is_empty() => entry.hostname.clone(),
            _ => entry.ip.clone(),
        })
        .collect();
    if !entries.is_empty() {
        line("LoadBalancer Ingress", &entries.join(", "));
    }
    for port in &spec.ports {
        let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
        line("Port", &format!("{}\t{}/{protocol}", or_unset(&port.name), port.port));
        line("TargetPort", &format!("{}/{protocol}", port.target_port));
        if port.node_port != 0 {
            line("NodePort", &format!("{}\t{}/{protocol}", or_unset(&port.name), port.node_port));
        }
        line("Endpoints", &endpoints_of(service, port, host));
    }
    line("Session Affinity", &spec.session_affinity);
    if !spec.external_traffic_policy.is_empty() {
        line("External Traffic Policy", &spec.external_traffic_policy);
    }
    if !spec.internal_traffic_policy.is_empty() {
        line("Internal Traffic Policy", &spec.internal_traffic_policy);
    }
    if let Some(port) = spec.rest.get("healthCheckNodePort") {
        line("HealthCheck NodePort", &port.to_string());
    }
    out
}

fn slices_of<'a>(service: &'a Service, host: &'a dyn Host) -> impl Iterator<Item = &'a EndpointSlice> {
    let readable = resources::may_list(host, Kind::EndpointSlice, &service.meta.namespace);
    let slices = host.store().list_in::<EndpointSlice>(&service.meta.namespace).map(|slice| &**slice);
    slices.filter(move |slice| readable && slice.is_of(&service.meta.name))
}

/// The ready endpoints of a Service's port, three at most; `<none>` if there is no slice at all.
fn endpoints_of(service: &Service, port: &ServicePort, host: &dyn Host) -> String {
    let mut slices = 0;
    let mut shown = Vec::new();
    for slice in slices_of(service, host) {
        slices += 1;
        for slice_port in slice.ports.iter().filter(|slice_port| slice_port.name == port.name) {
            for endpoint in slice.endpoints.iter().filter(|endpoint| endpoint.is_ready()) {
                for address in &endpoint.addresses {
                    shown.push(match slice_port.port {
                        Some(number) => format!("{address}:{number}"),
                        None => address.clone(),
                    });
                }
            }
        }
    }
    if slices == 0 { "<none>".to_string() } else { three_and_more(&shown) }
}

pub(super) fn endpoint_slice(slice: &EndpointSlice) -> String {
    let meta = &slice.meta;
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    out.push_str(&format!("AddressType:\t{}\n", slice.address_type));
    if slice.ports.is_empty() {
        out.push_str("Ports: <unset>\n");
    } else {
        out.push_str("Ports:\n  Name\tPort\tProtocol\n  ----\t----\t--------\n");
        for port in &slice.ports {
            let number = port.port.map_or("<unset>".to_string(), |number| number.to_string());
            out.push_str(&format!("  {}\t{number}\t{}\n", or_unset(&port.name), port.protocol));
        }
    }
    if slice.endpoints.is_empty() {
        out.push_str("Endpoints: <none>\n");
        return out;
    }
    out.push_str("Endpoints:\n");
    for endpoint in &slice.endpoints {
        let addresses = endpoint.addresses.join(",");
        out.push_str(&format!("  - Addresses:\t{}\n", or_none(&addresses)));
        let ready = endpoint.conditions.ready.map_or("<unset>".to_string(), |ready| ready.to_string());
        out.push_str(&format!("    Conditions:\n      Ready:\t{ready}\n"));
        out.push_str(&format!("    Hostname:\t{}\n", or_unset(&endpoint.hostname)));
        if let Some(target) = &endpoint.target_ref {
            out.push_str(&format!("    TargetRef:\t{}/{}\n", target.kind, target.name));
        }
        out.push_str(&format!("    NodeName:\t{}\n", or_unset(&endpoint.node_name)));
        out.push_str(&format!("    Zone:\t{}\n", or_unset(&endpoint.zone)));
    }
    out
}

pub(super) fn endpoints(endpoints: &Endpoints) -> String {
    let meta = &endpoints.meta;
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    out.push_str("Subsets:\n");
    for subset in &endpoints.subsets {
        for (title, addresses) in
            [("Addresses", &subset.addresses), ("NotReadyAddresses", &subset.not_ready_addresses)]
        {
            let ips: Vec<&str> = addresses.iter().map(|address| address.ip.as_str()).collect();
            out.push_str(&format!("  {title}:\t{}\n", or_none(&ips.join(","))));
        }
        if !subset.ports.is_empty() {
            out.push_str("  Ports:\n    Name\tPort\tProtocol\n    ----\t----\t--------\n");
            for port in &subset.ports {
                out.push_str(&format!("    {}\t{}\t{}\n", or_unset(&port.name), port.port, port.protocol));
            }
        }
        out.push('\n');
    }
    out
}

pub(super) fn ingress(ingress: &Ingress, host: &dyn Host) -> String {
    let (meta, spec) = (&ingress.meta, &ingress.spec);
    let mut out = format!("Name:\t{}\n", meta.name);
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&format!("Namespace:\t{}\n", meta.namespace));
    out.push_str(&format!("Address:\t{}\n", entry_points(&ingress.status.load_balancer).join(",")));
    out.push_str(&format!(
        "Ingress Class:\t{}\n",
        or_none(spec.ingress_class_name.as_deref().unwrap_or_default())
    ));
    let namespace = &*meta.namespace;
    let default = spec.default_backend.as_ref().map(|backend| backend_text(backend, namespace, host));
    out.push_str(&format!("Default backend:\t{}\n", default.as_deref().unwrap_or("<default>")));
    if !spec.tls.is_empty() {
        out.push_str("TLS:\n");
        for tls in &spec.tls {
            let hosts = tls.hosts.join(",");
            if tls.secret_name.is_empty() {
                out.push_str(&format!("  SNI routes {hosts}\n"));
            } else {
                out.push_str(&format!("  {} terminates {hosts}\n", tls.secret_name));
            }
        }
    }
    out.push_str("Rules:\n  Host\tPath\tBackends\n  ----\t----\t--------\n");
    let mut rules = 0;
    for rule in &spec.rules {
        let Some(http) = &rule.http else { continue };
        rules += 1;
        out.push_str(&format!("  {}\t\n", if rule.host.is_empty() { "*" } else { &rule.host }));
        for path in &http.paths {
            out.push_str(&format!(
                "    \t{} \t{}\n",
                path.path,
                backend_text(&path.backend, namespace, host)
            ));
        }
    }
    if rules == 0 {
        let fallback = default.unwrap_or_else(|| "<default>".to_string());
        out.push_str(&format!("  *\t*\t{fallback}\n"));
    }
    out.push_str(&annotations_lines("", &meta.annotations));
    out
}

/// `web:80 (10.244.0.5:80,…)`.
fn backend_text(backend: &IngressBackend, namespace: &str, host: &dyn Host) -> String {
    let Some(target) = &backend.service else {
        let text = |name: &str| backend.resource[name].as_str().unwrap_or_default();
        return format!("APIGroup: {}, Kind: {}, Name: {}", text("apiGroup"), text("kind"), text("name"));
    };
    let port = match target.port.number {
        0 => target.port.name.clone(),
        number => number.to_string(),
    };
    let refusal = resources::may(host, &Access::to("get", Kind::Service, namespace, &target.name)).err();
    let endpoints = match host.store().get::<Service>(namespace, &target.name) {
        _ if refusal.is_some() => {
            format!("<error: {}>", refusal.map_or(String::new(), |status| status.message))
        }
        None => format!("<error: services \"{}\" not found>", target.name),
        Some(service) => {
            let found = service.spec.ports.iter().find(|candidate| {
                IntOrString::Int(candidate.port).to_string() == port || candidate.name == port
            });
            match found {
                None => String::new(),
                Some(found) => match endpoints_of(service, found, host) {
                    none if none == "<none>" => String::new(),
                    shown => shown,
                },
            }
        }
    };
    format!("{}:{port} ({endpoints})", target.name)
}

pub(super) fn ingress_class(class: &IngressClass) -> String {
    let mut out = format!("Name:\t{}\n", class.meta.name);
    out.push_str(&labels_lines("", "Labels", &class.meta.labels));
    out.push_str(&annotations_lines("", &class.meta.annotations));
    out.push_str(&format!("Controller:\t{}\n", class.spec.controller));
    if let Some(parameters) = class.spec.parameters.as_object() {
        let text = |name: &str| parameters.get(name).and_then(|value| value.as_str()).unwrap_or_default();
        out.push_str("Parameters:\n");
        out.push_str(&format!(
            "  APIGroup:\t{}\n  Kind:\t{}\n  Name:\t{}\n",
            text("apiGroup"),
            text("kind"),
            text("name")
        ));
    }
    out
}
