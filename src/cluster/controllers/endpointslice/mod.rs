//! The EndpointSlice controller: lists, for each Service, the Pods behind it and the condition each is in.
//!
//! Watches: Services, Pods, EndpointSlices that somebody else changed.
//! Writes: EndpointSlices.
//! Models: `pkg/controller/endpointslice/endpointslice_controller.go`, `staging/src/k8s.io/endpointslice/reconciler.go`
//! (v1.36).
//! Leaves out: IPv6 and dual-stack slices; the memory of trigger times (whether a Pod's readiness is news is read off
//! the slice, so a slice that a person emptied by hand gets the trigger-time annotation back).

mod endpoint;
mod placement;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::endpoint::{Standing, endpoint_of, ports_of, standing_of};
use self::placement::{Wanted, plan_placement};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Namespace, Node};
use crate::api::kinds::networking::{Endpoint, EndpointPort, EndpointSlice, SERVICE_NAME, Service};
use crate::api::kinds::pod::Pod;
use crate::api::meta::{ObjectKey, Uid};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::service_target::{has_selector, is_selected, selector_text, services_of_change};
use crate::cluster::store::Change;

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";
const HEADLESS: &str = "service.kubernetes.io/headless";
const FAILED_TO_UPDATE: &str = "FailedToUpdateEndpointSlices";
/// The annotation that says since when what the slice says has been so, for measuring how long it takes to spread.
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Service => vec![WorkKey::Object(change.key.clone())],
        Kind::EndpointSlice if change.writer != Actor::EndpointSlice => {
            let slice = change.either_as::<EndpointSlice>().filter(|slice| is_managed(slice));
            let name = slice.and_then(|slice| slice.service_name());
            let key = |name: &str| ObjectKey::new(Kind::Service, change.key.namespace.clone(), name);
            name.map(|name| WorkKey::Object(key(name))).into_iter().collect()
        }
        Kind::Pod => services_of_change(view.store, change),
        _ => Vec::new(),
    }
}

fn is_managed(slice: &EndpointSlice) -> bool {
    slice.meta.labels.get(MANAGED_BY).is_some_and(|manager| manager == MANAGER)
}

/// Handles one Service.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(service) = key.object().and_then(|key| view.store.at::<Service>(key)) else {
        return Outcome::nothing(Because::new("because.endpointslice.gone"));
    };
    if service.spec.service_type == "ExternalName" {
        return Outcome::nothing(Because::new("because.endpointslice.external_name"));
    }
    if !has_selector(service) {
        return Outcome::nothing(Because::new("because.endpointslice.no_selector"));
    }
    let selected: Vec<&Arc<Pod>> =
        view.store.list_in::<Pod>(&service.meta.namespace).filter(|pod| is_selected(service, pod)).collect();
    let owned = view.store.owned_by(&service.meta.uid).filter_map(Object::get::<EndpointSlice>);
    let existing: Vec<&Arc<EndpointSlice>> = owned
        .filter(|slice| is_managed(slice) && !slice.meta.is_terminating())
        .filter(|slice| slice.is_of(&service.meta.name))
        .collect();
    let namespace = view.store.get::<Namespace>("", &service.meta.namespace);
    let may_create =
        !service.meta.is_terminating() && namespace.is_none_or(|namespace| !namespace.meta.is_terminating());
    let node_of = |pod: &Pod| view.store.get::<Node>("", &pod.node_name).map(Arc::as_ref);
    plan(service, &selected, &existing, node_of, may_create)
}

/// Decides what the slices of one Service are to say.
fn plan<'a>(
    service: &Arc<Service>,
    selected: &[&'a Arc<Pod>],
    existing: &[&Arc<EndpointSlice>],
    node_of: impl Fn(&Pod) -> Option<&'a Node>,
    may_create: bool,
) -> Outcome {
    let mut wanted: Wanted = Vec::new();
    let mut tally: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut skipped: Vec<String> = Vec::new();
    for pod in selected {
        let node = node_of(pod);
        let has_node = node.is_some() || service.spec.publish_not_ready_addresses;
        let word = match standing_of(service, pod) {
            Standing::NoAddress => "no_address",
            Standing::Finished => "finished",
            _ if !has_node => {
                let (namespace, name) = (&service.meta.namespace, &service.meta.name);
                skipped.push(format!(
                    "skipping Pod {} for Service {namespace}/{name}: Node {} Not Found",
                    pod.meta.name, pod.node_name
                ));
                "no_address"
            }
            Standing::Ready => "ready",
            Standing::NotReady => "not_ready",
            Standing::Terminating => "terminating",
        };
        *tally.entry(word).or_default() += 1;
        if let Some(endpoint) = endpoint_of(service, pod, node).filter(|_| has_node) {
            let ports = ports_of(service, pod);
            match wanted.iter_mut().find(|(group, _)| *group == ports) {
                Some((_, endpoints)) => endpoints.push(endpoint),
                None => wanted.push((ports, vec![endpoint])),
            }
        }
    }
    let count = |word: &str| tally.get(word).copied().unwrap_or(0);
    let saw = Because::new("because.endpointslice.saw")
        .with("service", &service.meta.name)
        .with("selector", selector_text(service))
        .with("count", selected.len())
        .with("ready", count("ready"))
        .with("not_ready", count("not_ready"))
        .with("terminating", count("terminating"))
        .with("no_address", count("no_address"));
    let mut outcome = Outcome { saw: vec![saw], ..Outcome::default() };

    let trigger = trigger_time(service, selected, existing, &wanted);
    let slices: Vec<&EndpointSlice> = existing.iter().map(|slice| &***slice).collect();
    let labels = labels_of(service);
    let relabelled: Vec<bool> = slices.iter().map(|slice| *slice.meta.labels != labels).collect();
    let placement = plan_placement(&slices, &relabelled, wanted);
    let listed = |key, endpoints: &[Endpoint]| {
        let ready = endpoints.iter().filter(|endpoint| endpoint.is_ready()).count();
        Because::new(key)
            .with("service", &service.meta.name)
            .with("count", endpoints.len())
            .with("ready", ready)
            .with("not_ready", endpoints.len() - ready)
    };
    for (ports, endpoints) in placement.create.into_iter().filter(|_| may_create) {
        let key = if endpoints.is_empty() {
            "because.endpointslice.create_empty"
        } else {
            "because.endpointslice.create"
        };
        let because = listed(key, &endpoints);
        let mut slice = EndpointSlice::default();
        slice.meta.generate_name = format!("{}-", service.meta.name).into();
        slice.meta.namespace = service.meta.namespace.clone();
        slice.meta.owner_references.push(ownership::controller_reference(&**service));
        slice.address_type = "IPv4".to_string();
        write_slice(&mut slice, &labels, ports, endpoints, trigger);
        outcome.writes.push(Operation::Create(slice.into()).because(because));
    }
    for (index, ports, endpoints) in placement.update {
        let slice = slices[index];
        let because = difference(slice, &endpoints, listed("because.endpointslice.update", &endpoints));
        let mut changed = slice.clone();
        write_slice(&mut changed, &labels, ports, endpoints, trigger);
        outcome.writes.push(Operation::Update(changed.into()).because(because));
    }
    outcome.writes.extend(placement.delete.into_iter().map(|index| delete(slices[index])));
    if !skipped.is_empty() {
        let because = Because::new("because.endpointslice.no_node").with("count", skipped.len());
        let errors = if skipped.len() == 1 { skipped.remove(0) } else { format!("[{}]", skipped.join(", ")) };
        let message = format!(
            "Error updating Endpoint Slices for Service {}/{}: {errors}",
            service.meta.namespace, service.meta.name
        );
        let event = EventRecord::warning(&Object::Service(Arc::clone(service)), FAILED_TO_UPDATE, message);
        outcome.writes.push(Operation::Event(event).because(because));
        outcome.failed = true;
    }
    let first = outcome.writes.first().map(|write| write.because.clone());
    outcome.because = first.or_else(|| {
        let key = if selected.is_empty() {
            "because.endpointslice.nobody_selected"
        } else {
            "because.endpointslice.up_to_date"
        };
        Some(Because::new(key).with("selector", selector_text(service)).with("ready", count("ready")))
    });
    outcome
}

fn delete(slice: &EndpointSlice) -> Write {
    let because = Because::new("because.endpointslice.delete").with("slice", &slice.meta.name);
    let delete = Operation::Delete {
        key: slice.key(),
        uid: Some(slice.meta.uid.clone()),
        grace_seconds: None,
        propagation: Propagation::Background,
    };
    delete.because(because)
}

fn write_slice(
    slice: &mut EndpointSlice,
    labels: &BTreeMap<String, String>,
    ports: Vec<EndpointPort>,
    endpoints: Vec<Endpoint>,
    trigger: Option<Timestamp>,
) {
    slice.meta.labels = labels.clone().into();
    match trigger {
        Some(time) => slice.meta.annotations.insert(TRIGGER_TIME.to_string(), time.to_string()),
        None => slice.meta.annotations.remove(TRIGGER_TIME),
    };
    slice.ports = ports;
    slice.endpoints = endpoints;
}

/// The labels of a Service's slices: its own, and those by which slices are found, which nobody can take over.
fn labels_of(service: &Service) -> BTreeMap<String, String> {
    let mut labels = service.meta.labels.clone().into_inner();
    labels.remove(HEADLESS);
    if matches!(service.spec.cluster_ip.as_str(), "" | "None") {
        labels.insert(HEADLESS.to_string(), String::new());
    }
    labels.insert(SERVICE_NAME.to_string(), service.meta.name.to_string());
    labels.insert(MANAGED_BY.to_string(), MANAGER.to_string());
    labels
}

/// The earliest time since which something is so that the slices did not say: a Pod's readiness, the Service itself.
fn trigger_time(
    service: &Service,
    selected: &[&Arc<Pod>],
    existing: &[&Arc<EndpointSlice>],
    wanted: &Wanted,
) -> Option<Timestamp> {
    let entry = |endpoint: &Endpoint| {
        Some((endpoint.target_ref.as_ref()?.uid.clone(), endpoint.conditions.serving == Some(true)))
    };
    let said: BTreeMap<Uid, bool> =
        existing.iter().flat_map(|slice| &slice.endpoints).filter_map(entry).collect();
    let listed: BTreeMap<Uid, bool> =
        wanted.iter().flat_map(|(_, endpoints)| endpoints).filter_map(entry).collect();
    let is_news = |pod: &&&Arc<Pod>| match said.get(&pod.meta.uid) {
        Some(serving) => *serving != pod.is_ready(),
        None => listed.contains_key(&pod.meta.uid),
    };
    let changed = selected.iter().filter(is_news);
    let changed = changed.filter_map(|pod| pod.condition("Ready")?.last_transition_time);
    let created = service.meta.creation_timestamp.filter(|_| existing.is_empty());
    changed.chain(created).min()
}

/// What an update adds and takes away, by name where it is one Pod.
fn difference(slice: &EndpointSlice, endpoints: &[Endpoint], because: Because) -> Because {
    let name = |endpoint: &Endpoint| {
        endpoint.target_ref.as_ref().map_or_else(String::new, |target| target.name.to_string())
    };
    let by_name = |endpoints: &[Endpoint]| -> BTreeMap<String, Endpoint> {
        endpoints.iter().map(|endpoint| (name(endpoint), endpoint.clone())).collect()
    };
    let (old, new) = (by_name(&slice.endpoints), by_name(endpoints));
    let names = |list: &[&String]| {
        let shown: Vec<&str> = list.iter().take(3).map(|name| name.as_str()).collect();
        let more = if list.len() > 3 { " …" } else { "" };
        if shown.is_empty() {
            "0".to_string()
        } else {
            format!("{} ({}{more})", list.len(), shown.join(", "))
        }
    };
    let added: Vec<&String> = new.keys().filter(|name| !old.contains_key(*name)).collect();
    let removed: Vec<&String> = old.keys().filter(|name| !new.contains_key(*name)).collect();
    let is_changed =
        |(name, endpoint): &(&String, &Endpoint)| old.get(*name).is_some_and(|old| old != *endpoint);
    let changed: Vec<&String> = new.iter().filter(is_changed).map(|(name, _)| name).collect();
    let key = match (added.is_empty(), removed.is_empty(), changed.is_empty()) {
        (false, true, true) => "because.endpointslice.update_added",
        (true, false, true) => "because.endpointslice.update_removed",
        (true, true, false) => "because.endpointslice.update_changed",
        _ => "because.endpointslice.update",
    };
    Because { key, ..because }
        .with("slice", &slice.meta.name)
        .with("added", names(&added))
        .with("removed", names(&removed))
        .with("changed", names(&changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(labels: &[(&str, &str)], cluster_ip: &str) -> Service {
        let mut service = Service::default();
        service.meta.name = "foo".into();
        service.spec.cluster_ip = cluster_ip.to_string();
        service.meta.labels =
            labels.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        service
    }

    #[test]
    fn slices_carry_the_labels_of_their_service_and_some_that_nobody_can_take_over() {
        let table = [
            ("without labels", service(&[], "1.1.1.1"), vec![]),
            ("labels are copied", service(&[("foo", "bar")], "1.1.1.1"), vec![("foo", "bar")]),
            ("headless", service(&[], "None"), vec![(HEADLESS, "")]),
            ("a claim to be headless is dropped", service(&[(HEADLESS, "")], "1.1.1.1"), vec![]),
            (
                "reserved labels are overwritten",
                service(&[(SERVICE_NAME, "bad"), (MANAGED_BY, "actor")], "1.1.1.1"),
                vec![],
            ),
        ];
        for (sentence, service, extra) in table {
            let mut expected: BTreeMap<String, String> =
                extra.into_iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            expected.insert(SERVICE_NAME.to_string(), "foo".to_string());
            expected.insert(MANAGED_BY.to_string(), MANAGER.to_string());
            assert_eq!(labels_of(&service), expected, "{sentence}");
        }
    }
}
