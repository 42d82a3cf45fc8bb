//! kube-proxy of one node: the node's table of Services and their endpoints.
//!
//! Watches Services, EndpointSlices and its own Pod; writes nothing to the store. The table is programmed only while
//! kube-proxy's Pod runs and is ready on the node. Otherwise the last table stays in the kernel and keeps forwarding,
//! ever staler.
//!
//! Models: `pkg/proxy/iptables/proxier.go` of v1.36 (`syncProxyRules`): cluster IPs, node ports, load balancer and
//! external IPs; a Service without endpoints is refused at once.
//! Leaves out: the minimum time between two syncs, connection tracking (an established connection to an endpoint that
//! is gone), health check node ports.

use std::collections::BTreeSet;

use imbl::OrdMap;

use super::endpoints::{Snapshot, has_cluster_ip, service_of};
use super::programs::Program;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::networking::{EndpointSlice, Service, ServicePort};
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Resource;
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fact::What;
use crate::cluster::queue::WorkKey;
use crate::cluster::store::Change;

/// One node's table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    services: OrdMap<ObjectKey, Programmed>,
    revision: u64,
    stale_since_tick: Option<u64>,
}

/// One Service in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Programmed {
    /// The Service and its slices as they were programmed.
    pub snapshot: Snapshot,
    /// The store's revision that they were read at.
    pub revision: u64,
    /// When they were programmed.
    pub tick: u64,
}

/// By which of its addresses a Service was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// The cluster IP.
    ClusterIp,
    /// A load balancer's address.
    LoadBalancer,
    /// One of `spec.externalIPs`.
    ExternalIp,
}

impl Memory {
    /// The store's revision that the whole table reflects; 0 before it was first programmed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Since which tick changes have been missed because kube-proxy does not run; `None` while it keeps up.
    pub fn stale_since_tick(&self) -> Option<u64> {
        self.stale_since_tick
    }

    /// The programmed state of a Service.
    pub fn service(&self, key: &ObjectKey) -> Option<&Programmed> {
        self.services.get(key)
    }

    /// The programmed Services, by namespace and name.
    pub fn services(&self) -> impl Iterator<Item = &Programmed> {
        self.services.values()
    }

    /// The programmed Service that has this address, and what kind of address it is.
    pub fn by_address(&self, address: &str) -> Option<(&Programmed, AddressKind)> {
        self.services.values().find_map(|programmed| {
            address_kind(&programmed.snapshot.service, address).map(|kind| (programmed, kind))
        })
    }

    /// The programmed Service port that has this node port.
    pub fn by_node_port(&self, number: i32) -> Option<(&Programmed, &ServicePort)> {
        self.services.values().find_map(|programmed| {
            let port = programmed.snapshot.service.spec.ports.iter().find(|port| port.node_port == number)?;
            Some((programmed, port))
        })
    }

    /// The addresses of the ready endpoints of a Service in this table, and the revision they reflect.
    pub fn endpoints_of(&self, service: &ObjectKey) -> Option<(Vec<String>, u64)> {
        let programmed = self.services.get(service)?;
        let addresses = programmed.snapshot.ready_endpoints().filter_map(|e| e.addresses.first().cloned());
        Some((addresses.collect(), programmed.revision))
    }
}

/// As which kind of address a Service has this one.
pub fn address_kind(service: &Service, address: &str) -> Option<AddressKind> {
    if service.spec.cluster_ip == address {
        Some(AddressKind::ClusterIp)
    } else if service.status.load_balancer.ingress.iter().any(|ingress| ingress.ip == address) {
        Some(AddressKind::LoadBalancer)
    } else if service.spec.external_ips.iter().any(|ip| ip == address) {
        Some(AddressKind::ExternalIp)
    } else {
        None
    }
}

/// The proxies that a change concerns, with their keys.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<(Actor, WorkKey)> {
    if !view.settings.system_pods {
        return Vec::new();
    }
    if let Some(pod) = change.either_as::<Pod>() {
        let runs = |pod: Option<&std::sync::Arc<Pod>>| pod.is_some_and(|pod| is_ready_proxy(pod));
        let turned = runs(change.old_as()) != runs(change.new_as());
        let restarted = change.old_as::<Pod>().is_some_and(|old| restarts(old) != restarts(pod));
        if pod.is_bound() && Program::KubeProxy.container_of(pod).is_some() && (turned || restarted) {
            return vec![(Actor::KubeProxy(pod.node_name.clone()), WorkKey::Sync)];
        }
        return Vec::new();
    }
    let service = match change.either_as::<EndpointSlice>() {
        Some(slice) => service_of(slice),
        None => change.either_as::<Service>().map(|service| service.key()),
    };
    let Some(service) = service else { return Vec::new() };
    let nodes = view.store.list::<Node>();
    nodes.map(|node| (Actor::KubeProxy(node.meta.name.clone()), WorkKey::Object(service.clone()))).collect()
}

fn restarts(pod: &Pod) -> i32 {
    pod.status.container_statuses.iter().map(|status| status.restart_count).sum()
}

fn is_ready_proxy(pod: &Pod) -> bool {
    // The state of its containers: the Pod of a node that nobody hears of counts as not ready, and its proxy goes on.
    Program::KubeProxy.runs_in(pod) && pod.status.container_statuses.iter().all(|status| status.ready)
}

/// The Pod that programs a node, if it runs and is ready.
pub fn running_on<'a>(store: &'a crate::cluster::store::Store, node: &str) -> Option<&'a Pod> {
    store.pods_on(node).map(|pod| &**pod).find(|pod| is_ready_proxy(pod))
}

/// Handles one key: programs one Service, or all of them.
pub fn reconcile(node: &Name, memory: &mut Memory, view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(pod) = running_on(view.store, node) else {
        memory.stale_since_tick.get_or_insert(view.tick);
        return Outcome::nothing(Because::new("because.proxy.stopped").with("node", node));
    };
    let saw = vec![Because::new("because.proxy.saw").with("revision", view.store.revision())];
    let keys: Vec<ObjectKey> = match key {
        WorkKey::Object(service) if memory.stale_since_tick.is_none() => vec![service.clone()],
        _ => {
            let stored = view.store.list::<Service>().map(|service| service.key());
            let mut keys: Vec<ObjectKey> = stored.chain(memory.services.keys().cloned()).collect();
            keys.sort();
            keys.dedup();
            keys
        }
    };
    memory.stale_since_tick = None;
    memory.revision = view.store.revision();
    let changes: Vec<String> = keys.iter().filter_map(|key| program(memory, view, key)).collect();
    let because = match (changes.is_empty(), key) {
        (true, _) => Because::new("because.proxy.unchanged"),
        (false, WorkKey::Object(service)) => Because::new("because.proxy.changed")
            .with("service", format!("{}/{}", service.namespace, service.name)),
        (false, _) => Because::new("because.proxy.started").with("pod", &pod.meta.name),
    };
    let mut outcome = Outcome { saw, because: Some(because), ..Outcome::default() };
    if !changes.is_empty() {
        outcome.notes.push(What::Programmed { revision: memory.revision, changes });
    }
    outcome
}

/// Brings one Service of the table up to the view. Returns what changed, in a line.
fn program(memory: &mut Memory, view: &View<'_>, key: &ObjectKey) -> Option<String> {
    let wanted = Snapshot::take(view.store, key).filter(|snapshot| has_cluster_ip(&snapshot.service));
    let old = memory.services.get(key).map(|programmed| &programmed.snapshot);
    let line = change_line(key, old, wanted.as_ref());
    match wanted {
        Some(snapshot) if old.is_none_or(|old| !old.is_same(&snapshot)) => {
            let revision = view.store.revision();
            memory.services.insert(key.clone(), Programmed { snapshot, revision, tick: view.tick });
        }
        Some(_) => {}
        None => {
            memory.services.remove(key);
        }
    }
    line
}

/// The most endpoints that a line names.
const NAMED_ENDPOINTS: usize = 8;

/// `demo/api 10.96.0.50: 2 endpoints, +10.244.1.5:8080`, or nothing if the node forwards as before.
pub(super) fn change_line(key: &ObjectKey, old: Option<&Snapshot>, new: Option<&Snapshot>) -> Option<String> {
    if let (Some(old), Some(new)) = (old, new)
        && old.is_same(new)
    {
        return None;
    }
    let name = format!("{}/{}", key.namespace, key.name);
    let Some(new) = new else { return old.map(|_| format!("{name}: removed")) };
    let addresses_changed = old.is_none_or(|old| front(&old.service) != front(&new.service));
    let (gone, come) = match old {
        Some(old) => (sockets_beyond(old, Some(new)), sockets_beyond(new, Some(old))),
        None => (BTreeSet::new(), sockets_beyond(new, None)),
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(come.difference(&gone).map(|(address, port)| format!("+{address}:{port}")));
    parts.extend(gone.difference(&come).map(|(address, port)| format!("-{address}:{port}")));
    if parts.is_empty() && !addresses_changed {
        return None;
    }
    if parts.len() > NAMED_ENDPOINTS {
        let more = parts.len() - NAMED_ENDPOINTS;
        parts.truncate(NAMED_ENDPOINTS);
        parts.push(format!("… {more} more"));
    }
    let count = new.ready_endpoints().count();
    let plural = if count == 1 { "" } else { "s" };
    let mut line = format!("{name} {}: {count} endpoint{plural}", new.service.spec.cluster_ip);
    if !parts.is_empty() {
        line.push_str(", ");
        line.push_str(&parts.join(" "));
    }
    Some(line)
}

/// Everything by which a Service is reached.
fn front(service: &Service) -> (&str, &[ServicePort], Vec<&str>, &[String], [&str; 3]) {
    let spec = &service.spec;
    let balancers = service.status.load_balancer.ingress.iter().map(|ingress| ingress.ip.as_str()).collect();
    let policies = [&spec.session_affinity, &spec.internal_traffic_policy, &spec.external_traffic_policy];
    (&spec.cluster_ip, &spec.ports, balancers, &spec.external_ips, policies.map(String::as_str))
}

/// The sockets of ready endpoints, leaving out those that stand at the same place in the other snapshot. Every proxy
/// compares at every change, so what is equal by allocation or by place is not looked at further.
fn sockets_beyond<'a>(snapshot: &'a Snapshot, other: Option<&Snapshot>) -> BTreeSet<(&'a str, i32)> {
    let mut sockets = BTreeSet::new();
    let same_ports = other.is_some_and(|other| other.service.spec.ports == snapshot.service.spec.ports);
    for slice in &snapshot.slices {
        let twin = other.and_then(|other| other.slices.iter().find(|s| s.meta.name == slice.meta.name));
        let twin = twin.filter(|twin| same_ports && twin.ports == slice.ports);
        if twin.is_some_and(|twin| std::sync::Arc::ptr_eq(twin, slice)) {
            continue;
        }
        let named = |name: &str| snapshot.service.spec.ports.iter().any(|port| port.name == name);
        let ports: Vec<i32> = slice.ports.iter().filter(|p| named(&p.name)).filter_map(|p| p.port).collect();
        for (index, endpoint) in
            slice.endpoints.iter().enumerate().filter(|(_, endpoint)| endpoint.is_ready())
        {
            let in_place = twin.and_then(|twin| twin.endpoints.get(index));
            if in_place.is_some_and(|e| e.is_ready() && e.addresses == endpoint.addresses) {
                continue;
            }
            if let Some(address) = endpoint.addresses.first() {
                sockets.extend(ports.iter().map(|port| (address.as_str(), *port)));
            }
        }
    }
    sockets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kind::Kind;
    use crate::cluster::network::fixture::{endpoint, pod, put, service, slice, store, surroundings};
    use crate::cluster::store::Store;

    const IMAGE: &str = "registry.k8s.io/kube-proxy:v1.36.2";

    fn run(memory: &mut Memory, store: &Store, tick: u64, key: &WorkKey) -> Outcome {
        let (settings, world) = surroundings();
        let view = View::of(store, &settings, &world, tick);
        reconcile(&"node-1".into(), memory, &view, key)
    }

    fn changes(outcome: &Outcome) -> Vec<String> {
        outcome
            .notes
            .iter()
            .flat_map(|note| match note {
                What::Programmed { changes, .. } => changes.clone(),
                _ => Vec::new(),
            })
            .collect()
    }

    fn api_key() -> ObjectKey {
        ObjectKey::new(Kind::Service, "demo", "api")
    }

    #[test]
    fn the_table_follows_the_store_while_the_proxy_runs_and_is_idempotent() {
        let api = service("demo", "api", &[("", 80, 8080)]);
        let first = slice(&api, &[("", 8080)], vec![endpoint("a", "node-1")]);
        let proxy = pod("kube-system", "kube-proxy-node-1", "node-1", "10.0.0.11", IMAGE);
        let mut store = store([api.clone().into(), first.into(), proxy.into()]);
        let mut memory = Memory::default();
        let key = WorkKey::Object(api_key());
        assert_eq!(changes(&run(&mut memory, &store, 3, &key)), ["demo/api 10.96.0.50: 1 endpoint, +a:8080"]);
        assert_eq!(changes(&run(&mut memory, &store, 4, &key)), Vec::<String>::new());
        let second = slice(&api, &[("", 8080)], vec![endpoint("b", "node-2"), endpoint("c", "node-2")]);
        put(&mut store, second.into());
        assert_eq!(
            changes(&run(&mut memory, &store, 5, &key)),
            ["demo/api 10.96.0.50: 2 endpoints, +b:8080 +c:8080 -a:8080"]
        );
        let (addresses, revision) = memory.endpoints_of(&api_key()).unwrap();
        assert_eq!((addresses, revision), (vec!["b".to_string(), "c".to_string()], store.revision()));
        store.remove(&api_key(), &Actor::You, crate::cluster::fact::FactId(0));
        assert_eq!(changes(&run(&mut memory, &store, 6, &key)), ["demo/api: removed"]);
        assert_eq!(memory.endpoints_of(&api_key()), None);
    }

    #[test]
    fn without_a_ready_proxy_pod_the_table_grows_stale_and_says_since_when() {
        let api = service("demo", "api", &[("", 80, 8080)]);
        let first = slice(&api, &[("", 8080)], vec![endpoint("a", "node-1")]);
        let proxy = pod("kube-system", "kube-proxy-node-1", "node-1", "10.0.0.11", IMAGE);
        let mut store = store([api.clone().into(), first.into(), proxy.clone().into()]);
        let mut memory = Memory::default();
        run(&mut memory, &store, 3, &WorkKey::Sync);
        store.remove(&proxy.key(), &Actor::You, crate::cluster::fact::FactId(0));
        put(&mut store, slice(&api, &[("", 8080)], vec![endpoint("b", "node-2")]).into());
        let outcome = run(&mut memory, &store, 7, &WorkKey::Object(api_key()));
        assert_eq!(outcome.because.unwrap().key, "because.proxy.stopped");
        assert_eq!(memory.stale_since_tick(), Some(7));
        assert_eq!(memory.endpoints_of(&api_key()).unwrap().0, ["a"]);
        put(&mut store, proxy.into());
        run(&mut memory, &store, 9, &WorkKey::Sync);
        assert_eq!(memory.stale_since_tick(), None);
        assert_eq!(memory.endpoints_of(&api_key()).unwrap().0, ["b"]);
    }

    #[test]
    fn a_headless_service_and_a_name_outside_have_no_place_in_the_table() {
        let mut headless = service("demo", "api", &[("", 80, 8080)]);
        headless.spec.cluster_ip = "None".to_string();
        let proxy = pod("kube-system", "kube-proxy-node-1", "node-1", "10.0.0.11", IMAGE);
        let store = store([headless.into(), proxy.into()]);
        let mut memory = Memory::default();
        run(&mut memory, &store, 1, &WorkKey::Sync);
        assert_eq!(memory.services().count(), 0);
    }
}
