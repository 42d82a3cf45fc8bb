//! A Service with its EndpointSlices as somebody saw them, and which endpoints a request may go to.
//!
//! Models: `pkg/proxy/topology.go` and `pkg/proxy/endpointslicecache.go` of v1.36 (ready endpoints, the fall-back to
//! serving ones that terminate, traffic policies, zone hints).
//! Leaves out: hints for single nodes, IPv6. For a Service with a selector only the slices that it owns are looked at.

use std::sync::Arc;

use serde_json::Value;

use crate::api::int_or_string::IntOrString;
use crate::api::kind::Kind;
use crate::api::kinds::networking::{Endpoint, EndpointSlice, Service, ServicePort};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::cluster::store::Store;

/// A Service and its slices at one moment. Shares the store's objects, so it costs next to nothing.
#[derive(Clone, PartialEq)]
pub struct Snapshot {
    /// The Service.
    pub service: Arc<Service>,
    /// Its slices, by name.
    pub slices: Vec<Arc<EndpointSlice>>,
}

/// One endpoint of one Service port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// Its address.
    pub address: String,
    /// Its port.
    pub port: i32,
    /// The Pod behind it, if the slice names one.
    pub pod: Option<ObjectKey>,
    /// The node it is on; empty if the slice names none.
    pub node: Name,
    /// Whether it takes new connections.
    pub ready: bool,
    /// Whether it answers, even on its way out.
    pub serving: bool,
    /// Whether it is on its way out.
    pub terminating: bool,
    /// The zones that it is meant for; empty for no hint.
    pub zones: Vec<String>,
}

impl Backend {
    /// `10.244.1.5:8080`.
    pub fn socket(&self) -> String {
        format!("{}:{}", self.address, self.port)
    }
}

/// From where a connection reaches a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// By its cluster address, from inside.
    Internal,
    /// By a node port or a load balancer, from outside.
    External,
}

/// Which endpoints a node's proxy may choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// One of these.
    Any(Vec<Backend>),
    /// None at all: the connection is refused at once.
    Reject,
    /// None on this node, and the policy `Local` forbids others: the packets are dropped.
    Drop,
}

impl Snapshot {
    /// The Service of that key and its slices as they are in the store.
    pub fn take(store: &Store, key: &ObjectKey) -> Option<Self> {
        let service = store.at::<Service>(key)?.clone();
        Some(Self { slices: slices_of(store, &service), service })
    }

    /// Whether both hold the very same objects.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.service, &other.service)
            && self.slices.len() == other.slices.len()
            && self.slices.iter().zip(&other.slices).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Where the Service stands.
    pub fn key(&self) -> ObjectKey {
        self.service.key()
    }

    /// The Service's port of that number and protocol.
    pub fn port(&self, number: i32, protocol: &str) -> Option<&ServicePort> {
        self.service
            .spec
            .ports
            .iter()
            .find(|port| port.port == number && protocol_of(&port.protocol) == protocol)
    }

    /// The endpoints of one port, ready or not, in the order of the slices.
    pub fn backends(&self, port: &ServicePort) -> Vec<Backend> {
        let mut backends = Vec::new();
        for slice in &self.slices {
            let matches = |p: &&crate::api::kinds::networking::EndpointPort| {
                p.name == port.name && protocol_of(&p.protocol) == protocol_of(&port.protocol)
            };
            let Some(number) = slice.ports.iter().find(matches).and_then(|p| p.port) else { continue };
            backends.extend(slice.endpoints.iter().filter_map(|endpoint| backend_of(endpoint, number)));
        }
        backends
    }

    /// The ready endpoints, whatever their port.
    pub fn ready_endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.slices.iter().flat_map(|slice| &slice.endpoints).filter(|endpoint| endpoint.is_ready())
    }

    /// The endpoints that the proxy of `node` (in `zone`, which may be empty) may choose from.
    pub fn choose(&self, port: &ServicePort, node: &str, zone: &str, entry: Entry) -> Choice {
        let all = self.backends(port);
        let spec = &self.service.spec;
        let is_local = match entry {
            Entry::Internal => spec.internal_traffic_policy == "Local",
            Entry::External => {
                let is_outside = matches!(spec.service_type.as_str(), "NodePort" | "LoadBalancer");
                is_outside && spec.external_traffic_policy == "Local"
            }
        };
        if is_local {
            let local: Vec<Backend> = all.iter().filter(|backend| &*backend.node == node).cloned().collect();
            let chosen = ready_or_serving(local);
            return match chosen.is_empty() {
                false => Choice::Any(chosen),
                true if all.is_empty() => Choice::Reject,
                true => Choice::Drop,
            };
        }
        let chosen = ready_or_serving(in_zone(all, zone));
        if chosen.is_empty() { Choice::Reject } else { Choice::Any(chosen) }
    }
}

impl std::fmt::Debug for Snapshot {
    /// `demo/api@12 [api-x2c4v@15]`: the revisions say it all, and every node has such a table.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let meta = &self.service.meta;
        write!(f, "{}/{}@{} [", meta.namespace, meta.name, meta.resource_version.0)?;
        for slice in &self.slices {
            write!(f, "{}@{} ", slice.meta.name, slice.meta.resource_version.0)?;
        }
        f.write_str("]")
    }
}

/// The protocol; an absent one is TCP.
pub fn protocol_of(protocol: &str) -> &str {
    if protocol.is_empty() { "TCP" } else { protocol }
}

/// The ready ones; if there is none, those that still serve while they terminate.
fn ready_or_serving(backends: Vec<Backend>) -> Vec<Backend> {
    let ready: Vec<Backend> = backends.iter().filter(|backend| backend.ready).cloned().collect();
    if ready.is_empty() {
        backends.into_iter().filter(|backend| backend.serving && backend.terminating).collect()
    } else {
        ready
    }
}

/// Those meant for the zone, if every ready one has a hint and at least one ready one is meant for it.
fn in_zone(backends: Vec<Backend>, zone: &str) -> Vec<Backend> {
    let is_meant = |backend: &Backend| backend.zones.iter().any(|hint| hint == zone);
    let all_hinted = backends.iter().filter(|backend| backend.ready).all(|backend| !backend.zones.is_empty());
    if zone.is_empty() || !all_hinted || !backends.iter().any(|backend| backend.ready && is_meant(backend)) {
        return backends;
    }
    backends.into_iter().filter(is_meant).collect()
}

fn backend_of(endpoint: &Endpoint, port: i32) -> Option<Backend> {
    let pod = endpoint.target_ref.as_ref().filter(|target| target.kind == "Pod");
    let zones = endpoint.rest.get("hints").and_then(|hints| hints.get("forZones")).and_then(Value::as_array);
    let name_of = |zone: &Value| zone.get("name").and_then(Value::as_str).map(str::to_string);
    Some(Backend {
        address: endpoint.addresses.first()?.clone(),
        port,
        pod: pod.map(|pod| ObjectKey::new(Kind::Pod, pod.namespace.clone(), pod.name.clone())),
        node: endpoint.node_name.clone(),
        ready: endpoint.is_ready(),
        serving: endpoint.conditions.serving.unwrap_or_else(|| endpoint.is_ready()),
        terminating: endpoint.conditions.terminating == Some(true),
        zones: zones.into_iter().flatten().filter_map(name_of).collect(),
    })
}

/// The slices of a Service: those it owns; for a Service without selector every slice that names it.
fn slices_of(store: &Store, service: &Service) -> Vec<Arc<EndpointSlice>> {
    let is_its = |slice: &&Arc<EndpointSlice>| slice.is_of(&service.meta.name);
    if service.spec.selector.is_empty() {
        store.list_in::<EndpointSlice>(&service.meta.namespace).filter(is_its).cloned().collect()
    } else {
        store.owned_by(&service.meta.uid).filter_map(Object::get).filter(is_its).cloned().collect()
    }
}

/// The Service that a slice belongs to.
pub fn service_of(slice: &EndpointSlice) -> Option<ObjectKey> {
    let name = slice.service_name()?;
    Some(ObjectKey::new(Kind::Service, slice.meta.namespace.clone(), name))
}

/// Whether a Service has an address that proxies serve.
pub fn has_cluster_ip(service: &Service) -> bool {
    service.spec.service_type != "ExternalName"
        && !service.spec.cluster_ip.is_empty()
        && service.spec.cluster_ip != "None"
}

/// The port that a Pod's containers declare for a Service's target port; `None` when no container declares that name.
///
/// Models: `pkg/api/v1/pod/util.go` `FindPort`: a number is taken as it is, a name is looked up.
pub fn target_port(pod: &crate::api::kinds::pod::Pod, port: &ServicePort) -> Option<i32> {
    let name = match &port.target_port {
        IntOrString::Int(0) => return Some(port.port),
        IntOrString::Int(number) => return Some(*number),
        IntOrString::Text(name) => name,
    };
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.restart_policy.as_deref() == Some("Always"));
    let mut ports = pod.spec.containers.iter().chain(sidecars).flat_map(|container| &container.ports);
    let is_it = |p: &&crate::api::kinds::pod::ContainerPort| {
        p.name == *name && protocol_of(&p.protocol) == protocol_of(&port.protocol)
    };
    ports.find(is_it).map(|p| p.container_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::network::fixture::{endpoint, service, slice};

    /// `ready/serving/terminating`, node and zone hint of one endpoint, by name.
    type Given = (&'static str, bool, bool, bool, &'static str, &'static str);

    fn snapshot(policies: (&str, &str), given: &[Given]) -> Snapshot {
        let mut service = service("demo", "api", &[("", 80, 8080)]);
        service.spec.internal_traffic_policy = policies.0.to_string();
        service.spec.external_traffic_policy = policies.1.to_string();
        if policies.1 == "Local" {
            service.spec.service_type = "NodePort".to_string();
        }
        let endpoints = given.iter().map(|&(name, ready, serving, terminating, node, zone)| {
            let mut endpoint = endpoint(name, node);
            endpoint.conditions.ready = Some(ready);
            endpoint.conditions.serving = Some(serving);
            endpoint.conditions.terminating = Some(terminating);
            if !zone.is_empty() {
                endpoint.rest.set("hints", Some(serde_json::json!({"forZones": [{"name": zone}]})));
            }
            endpoint
        });
        let slice = slice(&service, &[("", 8080)], endpoints.collect());
        Snapshot { service: Arc::new(service), slices: vec![Arc::new(slice)] }
    }

    fn chosen(snapshot: &Snapshot, zone: &str, entry: Entry) -> Result<Vec<String>, Choice> {
        let port = snapshot.port(80, "TCP").unwrap();
        match snapshot.choose(port, "here", zone, entry) {
            Choice::Any(backends) => Ok(backends.into_iter().map(|backend| backend.address).collect()),
            other => Err(other),
        }
    }

    #[test]
    fn a_proxy_chooses_among_endpoints_as_upstream_does() {
        use Entry::{External, Internal};
        let none = || Err(Choice::Reject);
        let cluster = ("Cluster", "Cluster");
        let (internal_local, external_local) = (("Local", "Cluster"), ("Cluster", "Local"));
        #[rustfmt::skip]
        let table: &[(&str, (&str, &str), &[Given], &str, Entry, Result<Vec<&str>, Choice>)] = &[
            ("none is ready", cluster, &[("e0", false, false, false, "here", ""), ("e1", false, false, false, "there", "")], "", Internal, none()),
            ("some are ready", cluster, &[("e0", false, false, false, "here", ""), ("e1", true, true, false, "there", "")], "", Internal, Ok(vec!["e1"])),
            ("all terminate and still serve", cluster, &[("e0", false, true, true, "here", ""), ("e1", false, true, true, "there", "")], "", Internal, Ok(vec!["e0", "e1"])),
            ("local policy, no endpoint at all", internal_local, &[], "", Internal, none()),
            ("local policy, all are elsewhere", internal_local, &[("e0", true, true, false, "there", ""), ("e1", true, true, false, "there", "")], "", Internal, Err(Choice::Drop)),
            ("local policy, some are here", internal_local, &[("e0", true, true, false, "here", ""), ("e1", true, true, false, "there", "")], "", Internal, Ok(vec!["e0"])),
            ("external local policy with terminating ones", external_local, &[("e0", true, true, false, "there", ""), ("e1", false, false, false, "here", ""), ("e2", false, true, true, "here", ""), ("e3", false, true, true, "there", "")], "", External, Ok(vec!["e2"])),
            ("external local policy does not bind traffic from inside", external_local, &[("e0", true, true, false, "there", ""), ("e2", false, true, true, "here", "")], "", Internal, Ok(vec!["e0"])),
            ("zone hints", cluster, &[("e3", true, true, false, "n", "a"), ("e4", true, true, false, "n", "b"), ("e5", true, true, false, "n", "c"), ("e6", true, true, false, "n", "a")], "a", Internal, Ok(vec!["e3", "e6"])),
            ("zone hints, none for this zone", cluster, &[("e3", true, true, false, "n", "a")], "b", Internal, Ok(vec!["e3"])),
            ("one endpoint has no hint", cluster, &[("e3", true, true, false, "n", "a"), ("e4", true, true, false, "n", "b"), ("e5", true, true, false, "n", ""), ("e6", true, true, false, "n", "a")], "a", Internal, Ok(vec!["e3", "e4", "e5", "e6"])),
            ("those of this zone are not ready", cluster, &[("e3", false, false, false, "n", "a"), ("e4", true, true, false, "n", "b"), ("e5", true, true, false, "n", "c"), ("e6", false, false, false, "n", "a")], "a", Internal, Ok(vec!["e4", "e5"])),
        ];
        for (sentence, policies, given, zone, entry, expected) in table {
            let expected = expected.clone().map(|names| names.into_iter().map(str::to_string).collect());
            assert_eq!(chosen(&snapshot(*policies, given), zone, *entry), expected, "{sentence}");
        }
    }
}
