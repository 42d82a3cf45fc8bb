//! The EndpointSlice mirroring controller: what a person lists in Endpoints of a Service without selector stands in
//! EndpointSlices, too, where the proxies look.
//!
//! Watches: Endpoints, Services, EndpointSlices that somebody else changed.
//! Writes: EndpointSlices.
//! Models: `pkg/controller/endpointslicemirroring/endpointslicemirroring_controller.go`, `reconciler.go`, `utils.go`
//! (v1.36).
//! Leaves out: IPv6 and dual-stack addresses, more than 1,000 addresses of a subset.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::networking::{
    Endpoint, EndpointAddress, EndpointConditions, EndpointPort, EndpointSlice, EndpointSubsetPort,
    Endpoints, SERVICE_NAME, Service,
};
use crate::api::meta::ObjectKey;
use crate::api::object::Resource;
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::Operation;
use crate::cluster::service_target::has_selector;
use crate::cluster::store::Change;

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslicemirroring-controller.k8s.io";
/// The label by which somebody says that he keeps the slices himself.
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";
/// Annotations that say nothing of the addresses.
const NOT_COPIED: [&str; 2] =
    ["endpoints.kubernetes.io/last-change-trigger-time", "kubectl.kubernetes.io/last-applied-configuration"];
/// The annotation of Endpoints that only tell who leads.
const LEADER: &str = "control-plane.alpha.kubernetes.io/leader";

/// The keys that a change concerns: those of Endpoints.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let endpoints = |name: &str| {
        vec![WorkKey::Object(ObjectKey::new(Kind::Endpoints, change.key.namespace.clone(), name))]
    };
    match change.key.kind {
        Kind::Endpoints => vec![WorkKey::Object(change.key.clone())],
        // A Service with a selector before and after has its slices from elsewhere.
        Kind::Service => {
            let selects =
                |service: Option<&Arc<Service>>| service.is_some_and(|service| has_selector(service));
            let (old, new) = (change.old_as::<Service>(), change.new_as::<Service>());
            let is_relevant = (old.is_some() && !selects(old)) || (new.is_some() && !selects(new));
            if is_relevant { endpoints(&change.key.name) } else { Vec::new() }
        }
        Kind::EndpointSlice if change.writer != Actor::EndpointSliceMirroring => {
            let slice = change.either_as::<EndpointSlice>().filter(|slice| is_mirrored(slice));
            slice.and_then(|slice| slice.service_name()).map_or_else(Vec::new, endpoints)
        }
        _ => Vec::new(),
    }
}

fn is_mirrored(slice: &EndpointSlice) -> bool {
    slice.meta.labels.get(MANAGED_BY).is_some_and(|manager| manager == MANAGER)
}

/// Handles one object of Endpoints.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(key) = key.object() else { return Outcome::default() };
    let service = view.store.get::<Service>(&key.namespace, &key.name);
    let listed = view.store.at::<Endpoints>(key);
    let is_its = |slice: &&Arc<EndpointSlice>| is_mirrored(slice) && slice.is_of(&key.name);
    let source =
        listed.filter(|listed| is_to_be_mirrored(listed) && service.is_some_and(|it| !has_selector(it)));
    if source.is_none() && listed.is_some_and(|listed| !is_to_be_mirrored(listed)) {
        return Outcome::nothing(Because::new("because.mirroring.not_wanted"));
    }
    let mut existing: Vec<&Arc<EndpointSlice>> =
        view.store.list_in::<EndpointSlice>(&key.namespace).filter(is_its).collect();
    let mut outcome = Outcome::default();
    for (ports, endpoints) in source.map(|listed| groups_of(listed)).unwrap_or_default() {
        let Some(source) = source else { break };
        let same = existing.iter().position(|slice| slice.ports == ports);
        // A slice that would go is written over.
        let place = same.or_else(|| {
            existing.iter().position(|slice| !groups_of(source).iter().any(|(p, _)| *p == slice.ports))
        });
        let because = Because::new("because.mirroring.write")
            .with("service", &key.name)
            .with("count", endpoints.len())
            .with("ready", endpoints.iter().filter(|endpoint| endpoint.is_ready()).count());
        match place.map(|place| existing.remove(place)) {
            Some(old) => {
                let mut slice = (**old).clone();
                fill(&mut slice, source, ports, endpoints);
                if slice != **old {
                    outcome.writes.push(Operation::Update(slice.into()).because(because));
                }
            }
            None => {
                let mut slice =
                    EndpointSlice { address_type: "IPv4".to_string(), ..EndpointSlice::default() };
                slice.meta.generate_name = format!("{}-", key.name).into();
                slice.meta.namespace = key.namespace.clone();
                slice.meta.owner_references.push(ownership::controller_reference(&**source));
                fill(&mut slice, source, ports, endpoints);
                outcome.writes.push(Operation::Create(slice.into()).because(because));
            }
        }
    }
    for slice in existing {
        let delete = Operation::Delete {
            key: slice.key(),
            uid: Some(slice.meta.uid.clone()),
            grace_seconds: None,
            propagation: Propagation::Background,
        };
        let because = Because::new("because.mirroring.delete")
            .with("slice", &slice.meta.name)
            .with("count", slice.endpoints.len());
        outcome.writes.push(delete.because(because));
    }
    let first = outcome.writes.first().map(|write| write.because.clone());
    let idle = if source.is_some() { "because.mirroring.up_to_date" } else { "because.mirroring.not_wanted" };
    outcome.because = Some(first.unwrap_or_else(|| Because::new(idle).with("service", &key.name)));
    outcome
}

fn is_to_be_mirrored(listed: &Endpoints) -> bool {
    let skips = listed.meta.labels.get(SKIP_MIRROR).is_some_and(|value| value == "true");
    !skips && !listed.meta.annotations.contains_key(LEADER) && !listed.meta.is_terminating()
}

/// The listed addresses by the ports that they have in common, without ports of which nobody has an address.
fn groups_of(listed: &Endpoints) -> Vec<(Vec<EndpointPort>, Vec<Endpoint>)> {
    let mut groups: Vec<(Vec<EndpointPort>, Vec<Endpoint>)> = Vec::new();
    for subset in &listed.subsets {
        let ports: Vec<EndpointPort> = subset.ports.iter().map(port_of).collect();
        let ready = subset.addresses.iter().map(|address| endpoint_of(address, true));
        let unready = subset.not_ready_addresses.iter().map(|address| endpoint_of(address, false));
        let endpoints: Vec<Endpoint> = ready
            .chain(unready)
            .filter(|endpoint| endpoint.addresses.iter().all(|ip| !ip.contains(':')))
            .collect();
        if endpoints.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(known, _)| *known == ports) {
            Some((_, known)) => known.extend(endpoints),
            None => groups.push((ports, endpoints)),
        }
    }
    groups
}

fn port_of(port: &EndpointSubsetPort) -> EndpointPort {
    EndpointPort {
        name: port.name.clone(),
        protocol: port.protocol.clone(),
        port: Some(port.port),
        app_protocol: port.app_protocol.clone(),
        ..EndpointPort::default()
    }
}

fn endpoint_of(address: &EndpointAddress, ready: bool) -> Endpoint {
    Endpoint {
        addresses: vec![address.ip.clone()],
        conditions: EndpointConditions { ready: Some(ready), ..EndpointConditions::default() },
        hostname: address.hostname.clone(),
        target_ref: address.target_ref.clone(),
        node_name: address.node_name.clone(),
        ..Endpoint::default()
    }
}

fn fill(slice: &mut EndpointSlice, source: &Endpoints, ports: Vec<EndpointPort>, endpoints: Vec<Endpoint>) {
    let mut labels = source.meta.labels.clone();
    labels.insert(SERVICE_NAME.to_string(), source.meta.name.to_string());
    labels.insert(MANAGED_BY.to_string(), MANAGER.to_string());
    slice.meta.labels = labels;
    let copied = source.meta.annotations.iter().filter(|(key, _)| !NOT_COPIED.contains(&key.as_str()));
    slice.meta.annotations =
        copied.map(|(key, value)| (key.clone(), value.clone())).collect::<BTreeMap<_, _>>().into();
    slice.ports = ports;
    slice.endpoints = endpoints;
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::object::Object;
    use crate::cluster::fact::FactId;
    use crate::cluster::settings::Settings;
    use crate::cluster::store::Store;
    use crate::cluster::world::World;

    /// What is written for a Service of that spec and Endpoints with those labels and subsets: ports and addresses.
    fn written(spec: Value, labels: Value, subsets: Value) -> Vec<(Vec<Option<i32>>, Vec<String>)> {
        let mut store = Store::default();
        let mut put = |kind: Kind, value: Value| {
            let mut object = Object::decode(kind, value).unwrap();
            object.meta_mut().uid = format!("uid-{kind:?}").as_str().into();
            store.put(object, &Actor::Installer, FactId(0));
        };
        let meta = json!({"namespace": "demo", "name": "db"});
        put(Kind::Service, json!({"metadata": meta, "spec": spec}));
        let meta = json!({"namespace": "demo", "name": "db", "labels": labels});
        put(Kind::Endpoints, json!({"metadata": meta, "subsets": subsets}));
        let (settings, world) = (Settings::default(), World::default());
        let view = View::of(&store, &settings, &world, 1);
        let key = WorkKey::Object(ObjectKey::new(Kind::Endpoints, "demo", "db"));
        let slices = reconcile(&view, &key).writes.into_iter().filter_map(|write| match write.operation {
            Operation::Create(Object::EndpointSlice(slice)) => Some(slice),
            _ => None,
        });
        let ip = |endpoint: &Endpoint| {
            let mark = if endpoint.is_ready() { "" } else { " not ready" };
            format!("{}{mark}", endpoint.addresses[0])
        };
        let outline = |slice: Arc<EndpointSlice>| {
            (slice.ports.iter().map(|port| port.port).collect(), slice.endpoints.iter().map(ip).collect())
        };
        slices.map(outline).collect()
    }

    #[test]
    fn endpoints_by_hand_stand_in_slices_too() {
        let subset = |port: i32, ip: &str| json!({"addresses": [{"ip": ip}], "ports": [{"port": port}]});
        let unready = json!({"notReadyAddresses": [{"ip": "10.0.0.9"}], "ports": [{"port": 80}]});
        let one = |port: i32, ips: &[&str]| {
            (vec![Some(port)], ips.iter().map(|ip| ip.to_string()).collect::<Vec<_>>())
        };
        let table = [
            (
                "one address",
                json!({}),
                json!({}),
                json!([subset(80, "10.0.0.1")]),
                vec![one(80, &["10.0.0.1"])],
            ),
            (
                "one that is not ready",
                json!({}),
                json!({}),
                json!([subset(80, "10.0.0.1"), unready]),
                vec![one(80, &["10.0.0.1", "10.0.0.9 not ready"])],
            ),
            (
                "two ports make two slices",
                json!({}),
                json!({}),
                json!([subset(80, "10.0.0.1"), subset(81, "10.0.0.2")]),
                vec![one(80, &["10.0.0.1"]), one(81, &["10.0.0.2"])],
            ),
            (
                "a Service that selects",
                json!({"selector": {"a": "b"}}),
                json!({}),
                json!([subset(80, "10.0.0.1")]),
                vec![],
            ),
            (
                "one that asks for none",
                json!({}),
                json!({SKIP_MIRROR: "true"}),
                json!([subset(80, "10.0.0.1")]),
                vec![],
            ),
            ("nobody", json!({}), json!({}), json!([]), vec![]),
        ];
        for (sentence, spec, labels, subsets, expected) in table {
            assert_eq!(written(spec, labels, subsets), expected, "{sentence}");
        }
    }
}
