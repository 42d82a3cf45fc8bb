//! CoreDNS: the zone `cluster.local`, and how a Pod's resolver walks its search list.
//!
//! Watches Services, EndpointSlices, Namespaces and its own Pods; writes nothing. The zone is synced while at least one
//! of its Pods runs; all of them answer alike.
//!
//! Models: CoreDNS v1.12 `plugin/kubernetes` (handler and lookup, `pods insecure`), the specification
//! `kubernetes/dns` 1.1.0, and glibc's resolver (search list, `ndots:5`).
//! Leaves out: a zone of its own for each Pod, caching (TTL 5 s), reverse lookups, IPv6, wildcards in names.

use imbl::{OrdMap, OrdSet};

use super::endpoints::{Snapshot, service_of};
use super::programs::Program;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::networking::{Endpoint, EndpointSlice, Service};
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Resource;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fact::What;
use crate::cluster::queue::WorkKey;
use crate::cluster::store::{Change, Store};
use crate::cluster::world::World;

/// The zone that the cluster answers for.
pub const ZONE: &str = "cluster.local";

/// Names with fewer dots than this go through the search list first.
const NDOTS: usize = 5;

/// The zone as it was synced last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    services: OrdMap<ObjectKey, Snapshot>,
    namespaces: OrdSet<Name>,
    revision: u64,
    stale_since_tick: Option<u64>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// IPv4 addresses.
    A,
    /// IPv6 addresses.
    Aaaa,
    /// Another name.
    Cname,
    /// Ports and names.
    Srv,
    /// Texts.
    Txt,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These records; none means that the name exists, but not with that type (NODATA).
    Records(Vec<String>),
    /// Another name that the question is asked again with.
    Alias(String),
    /// The name does not exist (NXDOMAIN).
    NoName,
}

/// One name that a resolver tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The full name, without the last dot.
    pub name: String,
    /// What came back.
    pub answer: Answer,
    /// Who answered.
    pub source: Source,
}

/// Who answered a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The cluster's own zone.
    Zone,
    /// DNS outside the cluster, asked by CoreDNS or by the node's resolver.
    Outside,
}

/// What became of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The names tried, in order; the last one decided.
    pub attempts: Vec<Attempt>,
    /// The addresses; empty when the name did not resolve.
    pub addresses: Vec<String>,
}

impl Memory {
    /// The zone as it would be after a sync with that store.
    pub fn of(store: &Store) -> Self {
        let snapshots = store.list::<Service>().filter_map(|service| {
            let key = service.key();
            Snapshot::take(store, &key).map(|snapshot| (key, snapshot))
        });
        Self {
            services: snapshots.collect(),
            namespaces: store.list::<Namespace>().map(|namespace| namespace.meta.name.clone()).collect(),
            revision: store.revision(),
            stale_since_tick: None,
        }
    }

    /// The store's revision that the zone reflects; 0 before the first sync.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Since which tick changes have been missed because no CoreDNS Pod runs.
    pub fn stale_since_tick(&self) -> Option<u64> {
        self.stale_since_tick
    }

    /// The Service that a full name inside the zone belongs to, as it was synced.
    pub fn service_at(&self, name: &str) -> Option<&Snapshot> {
        let name = name.to_ascii_lowercase();
        let front = name.strip_suffix(ZONE)?.strip_suffix(".svc.")?;
        let mut labels = front.rsplit('.');
        let (namespace, service) = (labels.next()?, labels.next()?);
        self.services.get(&ObjectKey::new(Kind::Service, namespace, service))
    }

    /// Answers a question about a full name inside the zone (with or without the last dot).
    pub fn answer(&self, name: &str, record: RecordType) -> Answer {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let Some(front) = name.strip_suffix(ZONE) else { return Answer::NoName };
        let labels: Vec<&str> = front.trim_end_matches('.').rsplit('.').filter(|l| !l.is_empty()).collect();
        match labels.as_slice() {
            [] | ["svc" | "pod"] => Answer::Records(Vec::new()),
            ["dns-version"] => {
                let texts = if record == RecordType::Txt { vec!["1.1.0".to_string()] } else { Vec::new() };
                Answer::Records(texts)
            }
            ["svc" | "pod", namespace] => match self.namespaces.contains(*namespace) {
                true => Answer::Records(Vec::new()),
                false => Answer::NoName,
            },
            ["pod", _, dashed] => match dashed_address(dashed) {
                Some(address) if record == RecordType::A => Answer::Records(vec![address]),
                Some(_) => Answer::Records(Vec::new()),
                None => Answer::NoName,
            },
            ["svc", namespace, service, rest @ ..] => self.answer_service(namespace, service, rest, record),
            _ => Answer::NoName,
        }
    }

    fn answer_service(&self, namespace: &str, service: &str, rest: &[&str], record: RecordType) -> Answer {
        let Some(snapshot) = self.services.get(&ObjectKey::new(Kind::Service, namespace, service)) else {
            return Answer::NoName;
        };
        let spec = &snapshot.service.spec;
        let full_name = format!("{service}.{namespace}.svc.{ZONE}.");
        if spec.service_type == "ExternalName" {
            return if rest.is_empty() { Answer::Alias(spec.external_name.clone()) } else { Answer::NoName };
        }
        // `_port._protocol` in front asks for one port, anything else for one endpoint.
        let (port, endpoint) = match rest {
            [] => (None, None),
            // A port without a name has no record of its own.
            [_, "_"] => return Answer::NoName,
            [protocol, port] if protocol.starts_with('_') && port.starts_with('_') => {
                (Some((&port[1..], &protocol[1..])), None)
            }
            [name] => (None, Some(*name)),
            _ => return Answer::NoName,
        };
        let is_headless = spec.cluster_ip == "None";
        let ports: Vec<(String, i32)> = spec
            .ports
            .iter()
            .filter(|p| {
                port.is_none_or(|(name, protocol)| {
                    p.name == name && p.protocol.eq_ignore_ascii_case(protocol)
                })
            })
            .map(|p| (p.name.clone(), p.port))
            .collect();
        if port.is_some() && ports.is_empty() {
            return Answer::NoName;
        }
        if !is_headless && endpoint.is_none() {
            return Answer::Records(match record {
                RecordType::A => vec![spec.cluster_ip.clone()],
                RecordType::Srv => ports.iter().map(|(_, p)| format!("0 100 {p} {full_name}")).collect(),
                _ => Vec::new(),
            });
        }
        let addresses: Vec<&str> = snapshot
            .ready_endpoints()
            .filter(|e| endpoint.is_none_or(|wanted| label_of(e) == wanted))
            .filter_map(|e| e.addresses.first().map(String::as_str))
            .collect();
        if addresses.is_empty() {
            return Answer::NoName;
        }
        Answer::Records(match record {
            RecordType::A => addresses.into_iter().map(str::to_string).collect(),
            RecordType::Srv => {
                let endpoints: Vec<String> = snapshot.ready_endpoints().map(label_of).collect();
                let of_port = |p: &i32| {
                    let p = *p;
                    endpoints.iter().map(move |label| (p, label.clone())).collect::<Vec<_>>()
                };
                let records = ports.iter().flat_map(|(_, p)| of_port(p));
                records.map(|(p, label)| format!("0 100 {p} {label}.{full_name}")).collect()
            }
            _ => Vec::new(),
        })
    }

    /// Resolves a name to addresses as a Pod of that namespace does whose DNS policy is `ClusterFirst`.
    pub fn resolve(&self, world: &World, from_namespace: &str, name: &str) -> Resolution {
        let search = [format!("{from_namespace}.svc.{ZONE}"), format!("svc.{ZONE}"), ZONE.to_string()];
        let mut attempts = Vec::new();
        for candidate in candidates(name, &search) {
            let attempt = self.ask(world, &candidate);
            let mut addresses = match &attempt.answer {
                Answer::Records(records) => records.clone(),
                _ => Vec::new(),
            };
            let alias = match &attempt.answer {
                Answer::Alias(alias) => Some(alias.clone()),
                _ => None,
            };
            attempts.push(attempt);
            if let Some(alias) = alias {
                // A chain of names is followed once: an ExternalName that points at another is answered by nobody.
                let attempt = self.ask(world, alias.trim_end_matches('.'));
                if let Answer::Records(records) = &attempt.answer {
                    addresses.clone_from(records);
                }
                attempts.push(attempt);
                return Resolution { attempts, addresses };
            }
            if !addresses.is_empty() {
                return Resolution { attempts, addresses };
            }
        }
        Resolution { attempts, addresses: Vec::new() }
    }

    fn ask(&self, world: &World, name: &str) -> Attempt {
        let is_inside = name == ZONE || name.strip_suffix(ZONE).is_some_and(|front| front.ends_with('.'));
        if is_inside {
            Attempt { name: name.to_string(), answer: self.answer(name, RecordType::A), source: Source::Zone }
        } else {
            ask_outside(world, name)
        }
    }
}

/// Asks DNS outside the cluster.
pub fn ask_outside(world: &World, name: &str) -> Attempt {
    let answer = match world.resolve(name) {
        Some((_, address)) => Answer::Records(vec![address.to_string()]),
        None => Answer::NoName,
    };
    Attempt { name: name.to_string(), answer, source: Source::Outside }
}

/// The full names that a resolver tries for a name, in order.
///
/// Models: glibc `res_nsearch`: a trailing dot tries the name alone; with fewer dots than `ndots` the name itself comes
/// last, otherwise first.
pub fn candidates(name: &str, search: &[String]) -> Vec<String> {
    if let Some(absolute) = name.strip_suffix('.') {
        return vec![absolute.to_string()];
    }
    let mut names: Vec<String> = search.iter().map(|domain| format!("{name}.{domain}")).collect();
    let place = if name.matches('.').count() < NDOTS { names.len() } else { 0 };
    names.insert(place, name.to_string());
    names
}

/// The label that an endpoint has below its Service: its host name or its address with dashes.
fn label_of(endpoint: &Endpoint) -> String {
    if endpoint.hostname.is_empty() {
        endpoint.addresses.first().map(|address| address.replace('.', "-")).unwrap_or_default()
    } else {
        endpoint.hostname.clone()
    }
}

/// `10.240.0.1` for `10-240-0-1`.
fn dashed_address(label: &str) -> Option<String> {
    let address = label.replace('-', ".");
    address.parse::<std::net::Ipv4Addr>().is_ok().then_some(address)
}

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    if !view.settings.system_pods {
        return Vec::new();
    }
    match change.key.kind {
        Kind::Service => vec![WorkKey::Object(change.key.clone())],
        Kind::EndpointSlice => {
            let service = change.either_as::<EndpointSlice>().and_then(|slice| service_of(slice));
            service.map(WorkKey::Object).into_iter().collect()
        }
        Kind::Namespace if change.old.is_none() || change.new.is_none() => {
            vec![WorkKey::Object(change.key.clone())]
        }
        Kind::Pod => {
            let runs =
                |pod: Option<&std::sync::Arc<Pod>>| pod.is_some_and(|pod| Program::CoreDns.runs_in(pod));
            if runs(change.old_as()) == runs(change.new_as()) { Vec::new() } else { vec![WorkKey::Sync] }
        }
        _ => Vec::new(),
    }
}

/// Handles one key: one Service, one namespace, or the whole zone.
pub fn reconcile(memory: &mut Memory, view: &View<'_>, key: &WorkKey) -> Outcome {
    if Program::CoreDns.pods(view.store).is_empty() {
        memory.stale_since_tick.get_or_insert(view.tick);
        return Outcome::nothing(Because::new("because.dns.stopped"));
    }
    let everything = memory.stale_since_tick.is_some() || memory.revision == 0 || *key == WorkKey::Sync;
    memory.stale_since_tick = None;
    memory.revision = view.store.revision();
    let mut changes = Vec::new();
    let namespace_of = |key: &WorkKey| key.object().filter(|key| key.kind == Kind::Namespace).cloned();
    if everything || namespace_of(key).is_some() {
        memory.namespaces =
            view.store.list::<Namespace>().map(|namespace| namespace.meta.name.clone()).collect();
    }
    let keys: Vec<ObjectKey> = if everything {
        let stored = view.store.list::<Service>().map(|service| service.key());
        let mut keys: Vec<ObjectKey> = stored.chain(memory.services.keys().cloned()).collect();
        keys.sort();
        keys.dedup();
        keys
    } else {
        key.object().filter(|key| key.kind == Kind::Service).cloned().into_iter().collect()
    };
    for key in keys {
        let before = records_of(memory, &key);
        match Snapshot::take(view.store, &key) {
            Some(snapshot) => memory.services.insert(key.clone(), snapshot),
            None => memory.services.remove(&key),
        };
        let after = records_of(memory, &key);
        if before != after {
            let name = format!("{}.{}.svc.{ZONE}", key.name, key.namespace);
            changes.push(match after {
                Answer::Records(records) if records.is_empty() => format!("{name}: no address"),
                Answer::Records(records) => format!("{name} A {}", records.join(" ")),
                Answer::Alias(alias) => format!("{name} CNAME {alias}"),
                Answer::NoName => format!("{name}: gone"),
            });
        }
    }
    let because = if changes.is_empty() { "because.dns.unchanged" } else { "because.dns.changed" };
    let mut outcome = Outcome::nothing(Because::new(because));
    outcome.saw.push(Because::new("because.dns.saw").with("revision", memory.revision));
    if !changes.is_empty() {
        outcome.notes.push(What::Programmed { revision: memory.revision, changes });
    }
    outcome
}

fn records_of(memory: &Memory, key: &ObjectKey) -> Answer {
    memory.answer(&format!("{}.{}.svc.{ZONE}", key.name, key.namespace), RecordType::A)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::network::fixture::{endpoint, pod, service, slice, store, surroundings};

    fn at(name: &str, hostname: &str) -> Endpoint {
        let mut endpoint = endpoint(name, "node-1");
        endpoint.hostname = hostname.to_string();
        endpoint
    }

    fn named(namespace: &str, name: &str, cluster_ip: &str, ports: &[(&str, i32, i32)]) -> Service {
        let mut service = service(namespace, name, ports);
        service.spec.cluster_ip = cluster_ip.to_string();
        service
    }

    fn zone() -> (Memory, Store) {
        let http: &[(&str, i32, i32)] = &[("http", 80, 80)];
        let plain = named("testns", "svc1", "10.0.0.1", http);
        let empty = named("testns", "svcempty", "10.0.0.1", http);
        let headless = named("testns", "hdls1", "None", http);
        let portless = named("testns", "hdlsprtls", "None", &[]);
        let lonely = named("testns", "lonely", "None", http);
        let mut external = named("testns", "external", "", &[]);
        external.spec.service_type = "ExternalName".to_string();
        external.spec.external_name = "ext.interwebs.test".to_string();
        let of_headless = vec![
            at("172.0.0.2", ""),
            at("172.0.0.3", ""),
            at("172.0.0.4", "dup-name"),
            at("172.0.0.5", "dup-name"),
        ];
        let headless_slice = slice(&headless, &[("http", 80)], of_headless);
        let portless_slice = slice(&portless, &[], vec![at("172.0.0.20", "")]);
        let mut testns = Namespace::default();
        testns.meta.name = "testns".into();
        let coredns = pod(
            "kube-system",
            "coredns-1",
            "node-1",
            "10.244.1.3",
            "registry.k8s.io/coredns/coredns:v1.12.4",
        );
        let objects: Vec<crate::api::object::Object> = vec![
            plain.into(),
            empty.into(),
            headless.into(),
            portless.into(),
            lonely.into(),
            external.into(),
            headless_slice.into(),
            portless_slice.into(),
            testns.into(),
            coredns.into(),
            named("bar", "foo", "10.0.0.7", http).into(),
        ];
        let store = store(objects);
        let mut memory = Memory::default();
        let (settings, world) = surroundings();
        let view = View::of(&store, &settings, &world, 4);
        let outcome = reconcile(&mut memory, &view, &WorkKey::Sync);
        assert_eq!(outcome.notes.len(), 1);
        assert!(
            reconcile(&mut memory, &view, &WorkKey::Sync).notes.is_empty(),
            "a second run changes nothing"
        );
        (memory, store)
    }

    #[test]
    fn the_zone_answers_as_coredns_does() {
        use RecordType::{A, Aaaa, Cname, Srv, Txt};
        let (memory, _) = zone();
        let records = |records: &[&str]| Answer::Records(records.iter().map(|r| (*r).to_string()).collect());
        let nxdomain = Answer::NoName;
        #[rustfmt::skip]
        let table = [
            ("svc1.testns.svc.cluster.local.", A, records(&["10.0.0.1"])),
            ("svcempty.testns.svc.cluster.local.", A, records(&["10.0.0.1"])),
            ("svc1.testns.svc.cluster.local.", Srv, records(&["0 100 80 svc1.testns.svc.cluster.local."])),
            ("_http._tcp.svc1.testns.svc.cluster.local.", Srv, records(&["0 100 80 svc1.testns.svc.cluster.local."])),
            ("_none._tcp.svc1.testns.svc.cluster.local.", Srv, nxdomain.clone()),
            ("hdls1.testns.svc.cluster.local.", A, records(&["172.0.0.2", "172.0.0.3", "172.0.0.4", "172.0.0.5"])),
            ("hdlsprtls.testns.svc.cluster.local.", A, records(&["172.0.0.20"])),
            ("svc1.testns.svc.cluster.local.", Aaaa, records(&[])),
            ("svc0.testns.svc.cluster.local.", A, nxdomain.clone()),
            ("svc0.svc-nons.svc.cluster.local.", A, nxdomain.clone()),
            ("dns-version.cluster.local.", Txt, records(&["1.1.0"])),
            ("svc1.testns.svc.cluster.local.", Txt, records(&[])),
            ("bogusendpoint.hdls1.testns.svc.cluster.local.", A, nxdomain.clone()),
            ("svc.cluster.local.", A, records(&[])),
            ("pod.cluster.local.", A, records(&[])),
            ("testns.svc.cluster.local.", A, records(&[])),
            ("foo.cluster.local.", A, nxdomain.clone()),
            ("external.testns.svc.cluster.local.", Cname, Answer::Alias("ext.interwebs.test".to_string())),
            ("endpoint.external.testns.svc.cluster.local.", Cname, nxdomain.clone()),
            ("172-0-0-2.hdls1.testns.svc.cluster.local.", A, records(&["172.0.0.2"])),
            ("dup-name.hdls1.testns.svc.cluster.local.", A, records(&["172.0.0.4", "172.0.0.5"])),
            ("10-240-0-1.podns.pod.cluster.local.", A, records(&["10.240.0.1"])),
            ("blah.podns.pod.cluster.local.", A, nxdomain.clone()),
            ("lonely.testns.svc.cluster.local.", A, nxdomain.clone()),
            ("SVC1.TestNS.svc.cluster.local.", A, records(&["10.0.0.1"])),
        ];
        for (name, record, expected) in table {
            assert_eq!(memory.answer(name, record), expected, "{name} {record:?}");
        }
    }

    #[test]
    fn a_pod_finds_short_names_through_its_search_list() {
        let (memory, _) = zone();
        let world = World::default();
        for (namespace, name, tried, addresses) in [
            ("testns", "svc1", vec!["svc1.testns.svc.cluster.local"], vec!["10.0.0.1"]),
            (
                "quux",
                "foo.bar",
                vec!["foo.bar.quux.svc.cluster.local", "foo.bar.svc.cluster.local"],
                vec!["10.0.0.7"],
            ),
            (
                "quux",
                "foo",
                vec!["foo.quux.svc.cluster.local", "foo.svc.cluster.local", "foo.cluster.local", "foo"],
                vec![],
            ),
            ("quux", "foo.bar.svc.cluster.local.", vec!["foo.bar.svc.cluster.local"], vec!["10.0.0.7"]),
            (
                "quux",
                "shop.example",
                vec![
                    "shop.example.quux.svc.cluster.local",
                    "shop.example.svc.cluster.local",
                    "shop.example.cluster.local",
                    "shop.example",
                ],
                vec!["203.0.113.10"],
            ),
            ("testns", "external", vec!["external.testns.svc.cluster.local", "ext.interwebs.test"], vec![]),
        ] {
            let resolution = memory.resolve(&world, namespace, name);
            let names: Vec<&str> = resolution.attempts.iter().map(|attempt| attempt.name.as_str()).collect();
            assert_eq!(
                (names, resolution.addresses.iter().map(String::as_str).collect::<Vec<_>>()),
                (tried, addresses),
                "{name}"
            );
        }
    }

    #[test]
    fn without_a_running_pod_the_zone_grows_stale() {
        let (mut memory, mut store) = zone();
        let coredns = ObjectKey::new(Kind::Pod, "kube-system", "coredns-1");
        store.remove(&coredns, &crate::cluster::actor::Actor::You, crate::cluster::fact::FactId(0));
        let (settings, world) = surroundings();
        let view = View::of(&store, &settings, &world, 9);
        let outcome = reconcile(&mut memory, &view, &WorkKey::Sync);
        assert_eq!(outcome.because.unwrap().key, "because.dns.stopped");
        assert_eq!(memory.stale_since_tick(), Some(9));
        assert_eq!(
            memory.answer("svc1.testns.svc.cluster.local", RecordType::A),
            Answer::Records(vec!["10.0.0.1".to_string()])
        );
    }
}
