//! The load balancer outside the cluster: gives each Service of type `LoadBalancer` an address.
//!
//! Watches: Services.
//! Writes: Service status, events.
//! Models: `staging/src/k8s.io/cloud-provider/controllers/service/controller.go` (v1.36), with a cloud that always
//! succeeds while it has addresses.
//! Leaves out: the clean-up finalizer, `loadBalancerClass`, the nodes behind the load balancer (each entry address
//! reaches every node).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::kinds::networking::{LoadBalancerIngress, Service};
use crate::api::object::{Object, Resource};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::{Change, Store};

const LOAD_BALANCER: &str = "LoadBalancer";
const ENSURING: (&str, &str) = ("EnsuringLoadBalancer", "Ensuring load balancer");
const ENSURED: (&str, &str) = ("EnsuredLoadBalancer", "Ensured load balancer");
const DELETING: (&str, &str) = ("DeletingLoadBalancer", "Deleting load balancer");
const DELETED: (&str, &str) = ("DeletedLoadBalancer", "Deleted load balancer");
const FAILED: (&str, &str) = (
    "SyncLoadBalancerFailed",
    "Error syncing load balancer: failed to ensure load balancer: no address is left",
);

/// Ticks until it looks for an address again when none was left.
const RETRY_TICKS: u64 = 300;

/// The keys that a change concerns.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.new_as::<Service>() {
        Some(service) if needs_work(service) => vec![WorkKey::Object(change.key.clone())],
        _ => Vec::new(),
    }
}

/// Whether the Service lacks an address that it should have, or has one that it should not.
fn needs_work(service: &Service) -> bool {
    let wants = service.spec.service_type == LOAD_BALANCER && !service.meta.is_terminating();
    wants == service.status.load_balancer.ingress.is_empty()
}

/// Handles one Service.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let service = key.object().and_then(|key| view.store.at::<Service>(key));
    let Some(service) = service.filter(|service| needs_work(service)) else {
        return Outcome::nothing(Because::new("because.serviceloadbalancer.nothing"));
    };
    let object = Object::Service(Arc::clone(service));
    let event = |(reason, message)| Operation::Event(EventRecord::normal(&object, reason, message));
    let mut changed = (**service).clone();
    if !changed.status.load_balancer.ingress.is_empty() {
        changed.status.load_balancer.ingress.clear();
        let because =
            Because::new("because.serviceloadbalancer.withdraw").with("service", &service.meta.name);
        return done([event(DELETING), Operation::UpdateStatus(changed.into()), event(DELETED)], because);
    }
    let Some(address) = first_free(&view.world.entry_addresses, view.store) else {
        let because = Because::new("because.serviceloadbalancer.none_left")
            .with("service", &service.meta.name)
            .with("count", view.world.entry_addresses.len());
        let failed = Operation::Event(EventRecord::warning(&object, FAILED.0, FAILED.1));
        let mut outcome = done([failed], because);
        outcome.look_again(key.clone(), RETRY_TICKS);
        return outcome;
    };
    let mut ingress = LoadBalancerIngress { ip: address.clone(), ..LoadBalancerIngress::default() };
    ingress.rest.set("ipMode", Some(Value::String("VIP".to_string())));
    changed.status.load_balancer.ingress.push(ingress);
    let because = Because::new("because.serviceloadbalancer.assign")
        .with("service", &service.meta.name)
        .with("address", address);
    done([event(ENSURING), Operation::UpdateStatus(changed.into()), event(ENSURED)], because)
}

fn done<const N: usize>(operations: [Operation; N], because: Because) -> Outcome {
    let writes = operations.into_iter().map(|operation| operation.because(because.clone())).collect();
    Outcome { writes, because: Some(because), ..Outcome::default() }
}

/// The first address that no Service has.
fn first_free<'a>(addresses: &'a [String], store: &Store) -> Option<&'a String> {
    let services = store.objects_of(Kind::Service).filter_map(Service::from_object);
    let taken: BTreeSet<&str> = services
        .flat_map(|service| service.status.load_balancer.ingress.iter().map(|ingress| ingress.ip.as_str()))
        .collect();
    addresses.iter().find(|address| !taken.contains(address.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::actor::Actor;
    use crate::cluster::fact::FactId;
    use crate::cluster::settings::Settings;
    use crate::cluster::world::World;

    fn service(name: &str, service_type: &str, address: Option<&str>) -> Service {
        let mut service = Service::default();
        service.meta.name = name.into();
        service.meta.namespace = "demo".into();
        service.spec.service_type = service_type.to_string();
        let ingress = |ip: &str| LoadBalancerIngress { ip: ip.to_string(), ..LoadBalancerIngress::default() };
        service.status.load_balancer.ingress.extend(address.map(ingress));
        service
    }

    /// The address that `web` has after one run, if the run wrote its status.
    fn run(services: Vec<Service>, addresses: &[&str]) -> Option<String> {
        let mut store = Store::default();
        for service in services {
            store.put(service.into(), &Actor::You, FactId(1));
        }
        let world = World {
            entry_addresses: addresses.iter().map(ToString::to_string).collect(),
            ..World::default()
        };
        let settings = Settings::default();
        let view = View::of(&store, &settings, &world, 1);
        let key = WorkKey::Object(service("web", "", None).key());
        reconcile(&view, &key).writes.into_iter().find_map(|write| match write.operation {
            Operation::UpdateStatus(Object::Service(service)) => {
                let ingress = &service.status.load_balancer.ingress;
                Some(ingress.first().map_or(String::new(), |ingress| ingress.ip.clone()))
            }
            _ => None,
        })
    }

    #[test]
    fn a_load_balancer_gets_the_first_free_address() {
        let lb = |name, address| service(name, LOAD_BALANCER, address);
        let table = [
            ("the first address", vec![lb("web", None)], &["a", "b"][..], Some("a")),
            ("the first is taken", vec![lb("other", Some("a")), lb("web", None)], &["a", "b"], Some("b")),
            ("none is left", vec![lb("other", Some("a")), lb("web", None)], &["a"], None),
            ("it has one already", vec![lb("web", Some("a"))], &["a", "b"], None),
            ("another type wants none", vec![service("web", "ClusterIP", None)], &["a"], None),
            ("another type gives it back", vec![service("web", "ClusterIP", Some("a"))], &["a"], Some("")),
        ];
        for (sentence, services, addresses, expected) in table {
            assert_eq!(run(services, addresses).as_deref(), expected, "{sentence}");
        }
    }
}
