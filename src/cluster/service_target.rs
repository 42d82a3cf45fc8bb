//! Which Pods stand behind a Service, and at which address and port.
//!
//! Models: `staging/src/k8s.io/endpointslice/util/controller_utils.go: GetServicesToUpdateOnPodChange,
//! podEndpointsChanged`, `pkg/api/v1/pod/util.go: FindPort` (v1.36).
//! Leaves out: IPv6.

use std::sync::Arc;

use serde_json::Value;

use super::queue::WorkKey;
use super::store::{Change, Store};
use crate::api::int_or_string::IntOrString;
use crate::api::kinds::networking::{ObjectReference, Service, ServicePort};
use crate::api::kinds::pod::{Container, Pod};
use crate::api::object::Resource;

/// Whether the Service selects Pods at all.
pub fn has_selector(service: &Service) -> bool {
    !service.spec.selector.is_empty()
}

/// Whether the Pod has all labels that the Service asks for.
pub fn is_selected(service: &Service, pod: &Pod) -> bool {
    service.spec.selector.iter().all(|(key, value)| pod.meta.labels.get(key) == Some(value))
}

/// `app=web,tier=front`.
pub fn selector_text(service: &Service) -> String {
    let parts: Vec<String> =
        service.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
    parts.join(",")
}

/// The keys of the Services whose endpoints a change of a Pod can change.
pub fn services_of_change(store: &Store, change: &Change) -> Vec<WorkKey> {
    let (old, new) = (change.old_as::<Pod>(), change.new_as::<Pod>());
    if let (Some(old), Some(new)) = (old, new)
        && !makes_a_difference(old, new)
    {
        return Vec::new();
    }
    let selects = |service: &&Arc<Service>| {
        let mut pods = [old, new].into_iter().flatten();
        has_selector(service) && pods.any(|pod| is_selected(service, pod))
    };
    let services = store.list_in::<Service>(&change.key.namespace).filter(selects);
    services.map(|service| WorkKey::Object(service.key())).collect()
}

/// Whether a change of a Pod can change what a Service says of it.
fn makes_a_difference(old: &Pod, new: &Pod) -> bool {
    old.is_ready() != new.is_ready()
        || old.is_finished() != new.is_finished()
        || old.meta.is_terminating() != new.meta.is_terminating()
        || old.meta.labels != new.meta.labels
        || old.meta.uid != new.meta.uid
        || old.node_name != new.node_name
        || old.status.pod_ip != new.status.pod_ip
        || old.status.pod_ips != new.status.pod_ips
}

/// The Pod's address, once it has one.
pub fn address_of(pod: &Pod) -> Option<&str> {
    let first = pod.status.pod_ips.iter().map(|ip| ip.ip.as_str()).find(|ip| !ip.contains(':'));
    first.or(Some(pod.status.pod_ip.as_str())).filter(|ip| !ip.is_empty())
}

/// The host name that the Pod has in the Service's part of DNS; empty unless its subdomain is the Service.
pub fn host_name_of<'a>(service: &Service, pod: &'a Pod) -> &'a str {
    let text = |field: &str| pod.spec.rest.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("subdomain") == &*service.meta.name { text("hostname") } else { "" }
}

/// How endpoints name the Pod behind them.
pub fn reference_to(pod: &Pod) -> ObjectReference {
    ObjectReference {
        kind: "Pod".to_string(),
        namespace: pod.meta.namespace.clone(),
        name: pod.meta.name.clone(),
        uid: pod.meta.uid.clone(),
        ..ObjectReference::default()
    }
}

/// The number of a Service port in a Pod. Containers are asked before sidecars.
pub fn find_port(pod: &Pod, port: &ServicePort) -> Option<i32> {
    let name = match &port.target_port {
        IntOrString::Int(0) => return Some(port.port),
        IntOrString::Int(number) => return Some(*number),
        IntOrString::Text(name) => name,
    };
    let is_sidecar = |container: &&Container| container.restart_policy.as_deref() == Some("Always");
    let containers = pod.spec.containers.iter().chain(pod.spec.init_containers.iter().filter(is_sidecar));
    let mut ports = containers.flat_map(|container| &container.ports);
    let protocol =
        |protocol: &str| if protocol.is_empty() { "TCP".to_string() } else { protocol.to_string() };
    ports
        .find(|declared| declared.name == *name && protocol(&declared.protocol) == protocol(&port.protocol))
        .map(|declared| declared.container_port)
}
