//! What a process finds when it asks the network from inside its Pod: does a name resolve, does somebody answer there?
//!
//! Models: the records of CoreDNS and the outcome of a connection through a Service, as far as a script can tell. Leaves
//! out: proxies and DNS servers that lag behind or are stopped (the traces of requests show those), network policies.

use crate::api::kinds::networking::{EndpointSlice, Service};
use crate::api::kinds::pod::Pod;
use crate::cluster::component::View;
use crate::cluster::runtime::script::{Answered, Question};
use crate::cluster::store::Store;
use crate::cluster::world::World;

/// The domain of the cluster.
const CLUSTER_DOMAIN: &str = ".svc.cluster.local";

/// The answer to a question that a process in that namespace asks: an address for a name, something for a port that is open.
pub fn answer_to(view: &View<'_>, namespace: &str, question: &Question) -> Answered {
    let address = address_of(view.store, view.world, namespace, &question.host)?;
    let Some(port) = question.port else { return Some(address) };
    match service_of(view.store, namespace, &question.host) {
        Some(service) => endpoint_of(view.store, service, port).map(|_| String::new()),
        None => {
            let is_pod = view.store.list::<Pod>().any(|pod| pod.status.pod_ip == address && pod.is_ready());
            let is_outside = !address.starts_with("10.");
            let page = || format!("<html><head></head><body>{}</body></html>\n", question.host);
            (is_pod || is_outside).then(|| if is_outside { page() } else { String::new() })
        }
    }
}

/// The Service that a name means to somebody in that namespace, or that has that address.
pub fn service_of<'a>(store: &'a Store, namespace: &str, host: &str) -> Option<&'a Service> {
    let host = host.trim_end_matches('.');
    let short = host.strip_suffix(CLUSTER_DOMAIN).or_else(|| host.strip_suffix(".svc")).unwrap_or(host);
    let (name, namespace) = short.split_once('.').unwrap_or((short, namespace));
    let by_name = store.get::<Service>(namespace, name).map(AsRef::as_ref);
    by_name.or_else(|| store.list::<Service>().find(|s| s.spec.cluster_ip == host).map(AsRef::as_ref))
}

fn address_of(store: &Store, world: &World, namespace: &str, host: &str) -> Option<String> {
    let is_address = host.split('.').count() == 4 && host.split('.').all(|part| part.parse::<u8>().is_ok());
    if is_address {
        return Some(host.to_string());
    }
    if let Some(service) = service_of(store, namespace, host) {
        return match service.spec.cluster_ip.as_str() {
            "" | "None" => first_ready(store, service).map(|(address, _)| address),
            address => Some(address.to_string()),
        };
    }
    let short = host.strip_suffix(CLUSTER_DOMAIN).unwrap_or(host);
    if matches!(short, "kubernetes" | "kubernetes.default" | "kubernetes.default.svc") {
        return Some("10.96.0.1".to_string());
    }
    let resolved = world.resolve(host).map(|(_, address)| address.to_string());
    resolved.or_else(|| is_elsewhere(host).then(|| ELSEWHERE_ADDRESS.to_string()))
}

/// The address of every host of the internet that no record speaks of.
const ELSEWHERE_ADDRESS: &str = "198.51.100.7";

/// Whether the name is one of the internet at large, which is there for whoever asks.
fn is_elsewhere(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    let ends = ["com", "org", "net", "io", "dev", "edu", "gov", "ch", "de", "kr", "eu"];
    host.rsplit_once('.')
        .is_some_and(|(name, end)| !name.ends_with(".example") && !name.is_empty() && ends.contains(&end))
}

fn slices<'a>(store: &'a Store, service: &'a Service) -> impl Iterator<Item = &'a EndpointSlice> {
    let slices = store.list_in::<EndpointSlice>(&service.meta.namespace);
    slices.filter(|slice| slice.is_of(&service.meta.name)).map(AsRef::as_ref)
}

fn first_ready<'a>(store: &'a Store, service: &'a Service) -> Option<(String, &'a EndpointSlice)> {
    slices(store, service).find_map(|slice| {
        let ready = slice.endpoints.iter().find(|endpoint| endpoint.conditions.ready != Some(false))?;
        Some((ready.addresses.first()?.clone(), slice))
    })
}

/// The address and port of the first ready endpoint behind that port of the Service.
pub fn endpoint_of(store: &Store, service: &Service, port: i32) -> Option<(String, i32)> {
    let (address, slice) = first_ready(store, service)?;
    if service.spec.cluster_ip == "None" {
        return Some((address, port));
    }
    let wanted = service.spec.ports.iter().find(|candidate| candidate.port == port)?;
    let target = slice.ports.iter().find(|candidate| candidate.name == wanted.name)?;
    Some((address, target.port.unwrap_or(port)))
}
