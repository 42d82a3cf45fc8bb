//! The endpoints controller: keeps, for each Service, the older list of its endpoints in one object.
//!
//! Watches: Services, Pods, Endpoints that somebody else changed.
//! Writes: Endpoints.
//! Models: `pkg/controller/endpoint/endpoints_controller.go`, `pkg/api/v1/endpoints/util.go: RepackSubsets` (v1.36).
//! Leaves out: the cut at 1,000 addresses, IPv6, the order of subsets by hash (they stand in the order of their ports),
//! the memory of trigger times (as in the EndpointSlice controller).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::networking::{
    EndpointAddress, EndpointSubset, EndpointSubsetPort, Endpoints, Service,
};
use crate::api::kinds::pod::Pod;
use crate::api::meta::{ObjectKey, Uid};
use crate::api::object::Object;
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::Operation;
use crate::cluster::service_target::{
    address_of, find_port, has_selector, host_name_of, is_selected, reference_to, services_of_change,
};
use crate::cluster::store::Change;

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";
const HEADLESS: &str = "service.kubernetes.io/headless";
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// The keys that a change concerns: those of Services.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Service => vec![WorkKey::Object(change.key.clone())],
        Kind::Endpoints if change.writer != Actor::Endpoints => {
            let key = ObjectKey { kind: Kind::Service, ..change.key.clone() };
            vec![WorkKey::Object(key)]
        }
        Kind::Pod => services_of_change(view.store, change),
        _ => Vec::new(),
    }
}

/// Handles one Service.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(key) = key.object() else { return Outcome::default() };
    let stored = view.store.get::<Endpoints>(&key.namespace, &key.name);
    let Some(service) = view.store.at::<Service>(key) else {
        return match stored.filter(|endpoints| is_managed(endpoints)) {
            Some(endpoints) => delete(endpoints),
            None => Outcome::nothing(Because::new("because.endpoints.gone")),
        };
    };
    if service.spec.service_type == "ExternalName" || !has_selector(service) {
        return Outcome::nothing(Because::new("because.endpoints.no_selector"));
    }
    let namespace = view.store.get::<Namespace>("", &key.namespace);
    if stored.is_none() && namespace.is_some_and(|namespace| namespace.meta.is_terminating()) {
        return Outcome::nothing(Because::new("because.endpoints.namespace"));
    }
    let selected = view.store.list_in::<Pod>(&key.namespace).filter(|pod| is_selected(service, pod));
    let selected: Vec<&Arc<Pod>> = selected.collect();
    plan(service, &selected, stored)
}

fn is_managed(endpoints: &Endpoints) -> bool {
    endpoints.meta.labels.get(MANAGED_BY).is_some_and(|manager| manager == MANAGER)
}

fn delete(endpoints: &Arc<Endpoints>) -> Outcome {
    let because = Because::new("because.endpoints.delete").with("service", &endpoints.meta.name);
    let delete = Operation::Delete {
        key: Object::Endpoints(Arc::clone(endpoints)).key(),
        uid: Some(endpoints.meta.uid.clone()),
        grace_seconds: None,
        propagation: Propagation::Background,
    };
    let writes = vec![delete.because(because.clone())];
    Outcome { writes, because: Some(because), ..Outcome::default() }
}

/// Decides what the object is to say.
fn plan(service: &Service, selected: &[&Arc<Pod>], stored: Option<&Arc<Endpoints>>) -> Outcome {
    let subsets = subsets_of(service, selected);
    let mut labels = service.meta.labels.clone();
    labels.remove(HEADLESS);
    if matches!(service.spec.cluster_ip.as_str(), "" | "None") {
        labels.insert(HEADLESS.to_string(), String::new());
    }
    labels.insert(MANAGED_BY.to_string(), MANAGER.to_string());
    let count = |list: fn(&EndpointSubset) -> usize| subsets.iter().map(list).sum::<usize>();
    let ready = count(|subset| subset.addresses.len());
    let not_ready = count(|subset| subset.not_ready_addresses.len());
    if stored.is_some_and(|stored| stored.subsets == subsets && stored.meta.labels == labels) {
        let because = Because::new("because.endpoints.up_to_date").with("ready", ready);
        return Outcome::nothing(because.with("not_ready", not_ready));
    }
    let mut endpoints = stored.map_or_else(Endpoints::default, |stored| (**stored).clone());
    let said_before = readiness(&endpoints.subsets);
    let news = readiness(&subsets);
    let is_news = |pod: &&&Arc<Pod>| match said_before.get(&pod.meta.uid) {
        Some(ready) => *ready != pod.is_ready(),
        None => news.contains_key(&pod.meta.uid),
    };
    let changed = selected.iter().filter(is_news);
    let changed = changed.filter_map(|pod| pod.condition("Ready")?.last_transition_time);
    let created = service.meta.creation_timestamp.filter(|_| stored.is_none());
    match changed.chain(created).min() {
        Some(time) => endpoints.meta.annotations.insert(TRIGGER_TIME.to_string(), time.to_string()),
        None => endpoints.meta.annotations.remove(TRIGGER_TIME),
    };
    endpoints.meta.name = service.meta.name.clone();
    endpoints.meta.namespace = service.meta.namespace.clone();
    endpoints.meta.labels = labels;
    endpoints.subsets = subsets;
    let because = Because::new("because.endpoints.write")
        .with("service", &service.meta.name)
        .with("ready", ready)
        .with("not_ready", not_ready);
    let object = Object::from(endpoints);
    let operation = if stored.is_some() { Operation::Update(object) } else { Operation::Create(object) };
    let writes = vec![operation.because(because.clone())];
    Outcome { writes, because: Some(because), ..Outcome::default() }
}

/// Which Pods are listed, and whether as ready.
fn readiness(subsets: &[EndpointSubset]) -> BTreeMap<Uid, bool> {
    let listed = |addresses: &[EndpointAddress], ready: bool| -> Vec<(Uid, bool)> {
        let targets = addresses.iter().filter_map(|address| address.target_ref.as_ref());
        targets.map(|target| (target.uid.clone(), ready)).collect()
    };
    let both = |subset: &EndpointSubset| {
        let mut all = listed(&subset.addresses, true);
        all.extend(listed(&subset.not_ready_addresses, false));
        all
    };
    subsets.iter().flat_map(both).collect()
}

/// Addresses with whether they are ready, in the order of the addresses.
type Addresses = BTreeMap<(Option<Ipv4Addr>, Uid), (bool, EndpointAddress)>;

/// The endpoints, grouped so that each group has the same ports.
fn subsets_of(service: &Service, selected: &[&Arc<Pod>]) -> Vec<EndpointSubset> {
    let mut by_port: Vec<(Option<EndpointSubsetPort>, Addresses)> = Vec::new();
    let mut add = |port: Option<EndpointSubsetPort>, pod: &Pod, ip: &str| {
        let address = EndpointAddress {
            ip: ip.to_string(),
            hostname: host_name_of(service, pod).to_string(),
            node_name: pod.node_name.clone(),
            target_ref: Some(reference_to(pod)),
            ..EndpointAddress::default()
        };
        let is_ready = service.spec.publish_not_ready_addresses || pod.is_ready();
        let place = match by_port.iter().position(|(known, _)| *known == port) {
            Some(place) => place,
            None => {
                by_port.push((port, Addresses::new()));
                by_port.len() - 1
            }
        };
        by_port[place].1.insert((ip.parse().ok(), pod.meta.uid.clone()), (is_ready, address));
    };
    for pod in selected {
        let counts =
            !pod.is_finished() && (service.spec.publish_not_ready_addresses || !pod.meta.is_terminating());
        let Some(ip) = address_of(pod).filter(|_| counts) else { continue };
        if service.spec.ports.is_empty() && service.spec.cluster_ip == "None" {
            add(None, pod, ip);
        }
        for port in &service.spec.ports {
            let Some(number) = find_port(pod, port) else { continue };
            let subset_port = EndpointSubsetPort {
                name: port.name.clone(),
                port: number,
                protocol: port.protocol.clone(),
                app_protocol: port.app_protocol.clone(),
                ..EndpointSubsetPort::default()
            };
            add(Some(subset_port), pod, ip);
        }
    }
    // Ports that have the same addresses stand together.
    let mut groups: Vec<(Addresses, Vec<EndpointSubsetPort>)> = Vec::new();
    for (port, addresses) in by_port {
        match groups.iter_mut().find(|(known, _)| *known == addresses) {
            Some((_, ports)) => ports.extend(port),
            None => groups.push((addresses, port.into_iter().collect())),
        }
    }
    let subset = |(addresses, ports): (Addresses, Vec<EndpointSubsetPort>)| {
        let (ready, not_ready): (Vec<_>, Vec<_>) =
            addresses.into_values().partition(|(is_ready, _)| *is_ready);
        EndpointSubset {
            addresses: ready.into_iter().map(|(_, address)| address).collect(),
            not_ready_addresses: not_ready.into_iter().map(|(_, address)| address).collect(),
            ports,
            ..EndpointSubset::default()
        }
    };
    groups.into_iter().map(subset).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::codec::Codec;

    fn pod(name: &str, ip: &str, ready: bool, port: i32) -> Arc<Pod> {
        let condition = json!({"type": "Ready", "status": if ready { "True" } else { "False" }});
        let value = json!({
            "metadata": {"name": name, "uid": name},
            "spec": {"containers": [{"name": "c", "ports": [{"name": "http", "containerPort": port}]}]},
            "status": {"phase": "Running", "podIP": ip, "conditions": [condition]},
        });
        Arc::new(Pod::decode(value).unwrap())
    }

    /// Each subset as `ready/not ready at ports`.
    fn outline(ports: serde_json::Value, pods: &[Arc<Pod>]) -> Vec<String> {
        let service = json!({"metadata": {"name": "web"}, "spec": {"clusterIP": "None", "ports": ports}});
        let service = Service::decode(service).unwrap();
        let ips = |addresses: &[EndpointAddress]| {
            addresses.iter().map(|address| address.ip.clone()).collect::<Vec<_>>().join(",")
        };
        let line = |subset: &EndpointSubset| {
            let ports: Vec<String> = subset.ports.iter().map(|port| port.port.to_string()).collect();
            format!("{}/{} at {}", ips(&subset.addresses), ips(&subset.not_ready_addresses), ports.join(","))
        };
        subsets_of(&service, &pods.iter().collect::<Vec<_>>()).iter().map(line).collect()
    }

    #[test]
    fn addresses_are_grouped_by_the_ports_they_have_in_common() {
        let http = json!({"name": "http", "port": 80, "targetPort": "http"});
        let two =
            json!([{"name": "a", "port": 1, "targetPort": 1}, {"name": "b", "port": 2, "targetPort": 2}]);
        let table = [
            ("no Pods", json!([http]), vec![], vec![]),
            (
                "addresses in numeric order",
                json!([http]),
                vec![pod("a", "10.0.0.10", true, 80), pod("b", "10.0.0.9", true, 80)],
                vec!["10.0.0.9,10.0.0.10/ at 80"],
            ),
            (
                "ready and not",
                json!([http]),
                vec![pod("a", "10.0.0.1", true, 80), pod("b", "10.0.0.2", false, 80)],
                vec!["10.0.0.1/10.0.0.2 at 80"],
            ),
            (
                "another number is another subset",
                json!([http]),
                vec![pod("a", "10.0.0.1", true, 80), pod("b", "10.0.0.2", true, 81)],
                vec!["10.0.0.1/ at 80", "10.0.0.2/ at 81"],
            ),
            ("two ports, one subset", two, vec![pod("a", "10.0.0.1", true, 80)], vec!["10.0.0.1/ at 1,2"]),
            (
                "headless without ports",
                json!([]),
                vec![pod("a", "10.0.0.1", true, 80)],
                vec!["10.0.0.1/ at "],
            ),
        ];
        for (sentence, ports, pods, expected) in table {
            assert_eq!(outline(ports, &pods), expected, "{sentence}");
        }
    }
}
