//! The Ingress controller: ingress-nginx, one loaded configuration per running Pod.
//!
//! Watches Ingresses, IngressClasses, the Services and EndpointSlices that Ingresses name, and its own Pods; writes the
//! address into Ingress status and the event `Sync`. Requests go from its Pods straight to Pod addresses: it takes
//! upstreams from EndpointSlices, not from kube-proxy.
//!
//! Models: ingress-nginx v1.14 (`internal/ingress/controller/store/store.go` for classes and events,
//! `controller.go` and `endpointslices.go` for upstreams, `internal/ingress/status/status.go` for the address).
//! Leaves out: the admission webhook, TLS certificates, the ConfigMap and most annotations, the status loop's period of
//! 60 seconds (the address is written with the load), the election of a leader (the first Pod by name writes) and the
//! removal of the address at shutdown.

use std::sync::Arc;

use imbl::OrdMap;

use super::endpoints::{Backend, Snapshot, service_of};
use super::programs::Program;
use super::proxy::change_line;
use super::routes::{BackendReference, Route, reference, routes_of};
use crate::api::int_or_string::IntOrString;
use crate::api::kind::Kind;
use crate::api::kinds::networking::{
    EndpointSlice, Ingress, IngressClass, LoadBalancerIngress, Service, ServicePort,
};
use crate::api::kinds::pod::Pod;
use crate::api::meta::ObjectKey;
use crate::api::object::{Object, Resource};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fact::What;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::{Change, Store};

/// The annotation that named the class before the field existed.
pub const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

/// What each running Pod of the controller has loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    instances: OrdMap<ObjectKey, Arc<Configuration>>,
}

/// One Pod's loaded configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The store's revision that it reflects.
    pub revision: u64,
    /// When it last changed.
    pub loaded_tick: u64,
    /// The Ingresses that it handles, the oldest first.
    pub ingresses: Vec<Arc<Ingress>>,
    /// The Services that they name; `None` for one that did not exist.
    pub upstreams: OrdMap<ObjectKey, Option<Snapshot>>,
}

/// The controller's command line, as far as it decides over requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flags {
    /// `--controller-class`: the `spec.controller` of its IngressClasses.
    pub controller_class: String,
    /// `--ingress-class`: the annotation's value.
    pub ingress_class: String,
    /// `--watch-ingress-without-class`.
    pub without_class: bool,
    /// `--publish-service`: the Service whose address Ingresses report.
    pub publish_service: Option<ObjectKey>,
}

/// Why an Ingress is not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHandled {
    /// It names no class.
    NoClass,
    /// Its class does not exist.
    ClassMissing(String),
    /// Its class belongs to another controller.
    OtherController {
        /// The class.
        class: String,
        /// The class's controller.
        controller: String,
    },
    /// Its annotation names another class.
    OtherAnnotation(String),
}

/// Why a backend has no upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoUpstream {
    /// The Service does not exist.
    NoService,
    /// The Service has no such port.
    NoPort,
    /// No endpoint is ready.
    NoEndpoint,
}

impl Memory {
    /// The running Pods of the controller with what they have loaded, by namespace and name.
    pub fn instances(&self) -> impl Iterator<Item = (&ObjectKey, &Arc<Configuration>)> {
        self.instances.iter()
    }

    /// What that Pod has loaded.
    pub fn instance(&self, pod: &ObjectKey) -> Option<&Arc<Configuration>> {
        self.instances.get(pod)
    }

    /// The sockets that requests under an Ingress can reach, by Service, and the revision they reflect; `None` when no
    /// running Pod has loaded the Ingress.
    pub fn backends_of(&self, ingress: &ObjectKey) -> Option<(Vec<(ObjectKey, Vec<String>)>, u64)> {
        let loaded = |c: &&Arc<Configuration>| c.ingresses.iter().any(|i| i.key() == *ingress);
        let configuration = self.instances.values().find(loaded)?;
        let mut backends: Vec<(ObjectKey, Vec<String>)> = Vec::new();
        for backend in configuration.references().filter(|(of, _)| of == ingress).map(|(_, backend)| backend)
        {
            let sockets = configuration.upstream(&backend).unwrap_or_default();
            backends.push((backend.service, sockets.iter().map(Backend::socket).collect()));
        }
        Some((backends, configuration.revision))
    }
}

impl Configuration {
    /// Everything that it can route to, with the Ingress that says so.
    fn references(&self) -> impl Iterator<Item = (ObjectKey, BackendReference)> {
        references_of(&self.ingresses).into_iter()
    }

    /// The loaded rules, in order.
    pub fn routes(&self) -> Vec<Route> {
        routes_of(&self.ingresses)
    }

    /// The ready endpoints of a backend.
    ///
    /// # Errors
    /// Why there is none.
    pub fn upstream(&self, backend: &BackendReference) -> Result<Vec<Backend>, NoUpstream> {
        upstream(self.upstreams.get(&backend.service).and_then(Option::as_ref), backend)
    }

    /// The named Service as it was loaded.
    pub fn snapshot(&self, service: &ObjectKey) -> Option<&Snapshot> {
        self.upstreams.get(service).and_then(Option::as_ref)
    }
}

/// Every Service port that Ingresses name, with the Ingress.
fn references_of(ingresses: &[Arc<Ingress>]) -> Vec<(ObjectKey, BackendReference)> {
    let mut references = Vec::new();
    for ingress in ingresses {
        let default = ingress.spec.default_backend.as_ref().and_then(|backend| reference(ingress, backend));
        let routes = routes_of([ingress]).into_iter().filter_map(|route| route.backend);
        references.extend(default.into_iter().chain(routes).map(|backend| (ingress.key(), backend)));
    }
    references
}

/// The port of a Service that a backend means: by number, by name, or by target port.
pub fn port_of<'a>(service: &'a Service, backend: &BackendReference) -> Option<&'a ServicePort> {
    let wanted = backend.port_text();
    service.spec.ports.iter().find(|port| {
        port.port.to_string() == wanted || port.target_port.to_string() == wanted || port.name == wanted
    })
}

/// The ready endpoints of a Service for a backend.
///
/// # Errors
/// Why there is none.
pub fn upstream(snapshot: Option<&Snapshot>, backend: &BackendReference) -> Result<Vec<Backend>, NoUpstream> {
    let snapshot = snapshot.ok_or(NoUpstream::NoService)?;
    let service = &snapshot.service;
    if service.spec.service_type == "ExternalName" {
        let port = match port_of(service, backend).map(|port| &port.target_port) {
            Some(IntOrString::Int(number)) if *number > 0 => *number,
            _ => backend.port.number,
        };
        return Ok(vec![Backend {
            address: service.spec.external_name.clone(),
            port,
            pod: None,
            node: "".into(),
            ready: true,
            serving: true,
            terminating: false,
            zones: Vec::new(),
        }]);
    }
    let port = port_of(service, backend).ok_or(NoUpstream::NoPort)?;
    let ready: Vec<Backend> = snapshot.backends(port).into_iter().filter(|backend| backend.ready).collect();
    if ready.is_empty() { Err(NoUpstream::NoEndpoint) } else { Ok(ready) }
}

impl Flags {
    /// The flags of the controller that runs in the Pod.
    pub fn of(pod: &Pod) -> Self {
        let mut flags = Self {
            controller_class: "k8s.io/ingress-nginx".to_string(),
            ingress_class: "nginx".to_string(),
            without_class: false,
            publish_service: None,
        };
        let container = Program::IngressNginx.container_of(pod);
        for arg in container.into_iter().flat_map(|c| c.command.iter().chain(&c.args)) {
            let (name, value) = arg.split_once('=').unwrap_or((arg, "true"));
            match name {
                "--controller-class" => flags.controller_class = value.to_string(),
                "--ingress-class" => flags.ingress_class = value.to_string(),
                "--watch-ingress-without-class" => flags.without_class = value == "true",
                "--publish-service" => {
                    let value = value.replace("$(POD_NAMESPACE)", &pod.meta.namespace);
                    let name = value.split_once('/');
                    flags.publish_service = name.map(|(ns, name)| ObjectKey::new(Kind::Service, ns, name));
                }
                _ => {}
            }
        }
        flags
    }

    /// Whether a controller with these flags handles the Ingress.
    ///
    /// # Errors
    /// Why it does not.
    pub fn handle(&self, store: &Store, ingress: &Ingress) -> Result<(), NotHandled> {
        if let Some(value) = ingress.meta.annotations.get(CLASS_ANNOTATION) {
            let is_ours = *value == self.ingress_class;
            return if is_ours { Ok(()) } else { Err(NotHandled::OtherAnnotation(value.clone())) };
        }
        let Some(class) = ingress.spec.ingress_class_name.as_ref() else {
            return if self.without_class { Ok(()) } else { Err(NotHandled::NoClass) };
        };
        let Some(stored) = store.get::<IngressClass>("", class) else {
            return Err(NotHandled::ClassMissing(class.clone()));
        };
        if stored.spec.controller == self.controller_class {
            Ok(())
        } else {
            let controller = stored.spec.controller.clone();
            Err(NotHandled::OtherController { class: class.clone(), controller })
        }
    }

    /// The addresses that a handled Ingress reports.
    fn addresses(&self, store: &Store) -> Vec<LoadBalancerIngress> {
        let of_ip = |ip: &str| LoadBalancerIngress { ip: ip.to_string(), ..LoadBalancerIngress::default() };
        let Some(service) = self.publish_service.as_ref().and_then(|key| store.at::<Service>(key)) else {
            return Vec::new();
        };
        let spec = &service.spec;
        match spec.service_type.as_str() {
            "LoadBalancer" => {
                let balancers = service.status.load_balancer.ingress.iter();
                let balancers =
                    balancers.map(|i| LoadBalancerIngress { rest: Default::default(), ..i.clone() });
                balancers.chain(spec.external_ips.iter().map(|ip| of_ip(ip))).collect()
            }
            "NodePort" if !spec.external_ips.is_empty() => {
                spec.external_ips.iter().map(|ip| of_ip(ip)).collect()
            }
            "ClusterIP" | "NodePort" if !spec.cluster_ip.is_empty() => vec![of_ip(&spec.cluster_ip)],
            "ExternalName" => {
                let hostname = spec.external_name.clone();
                vec![LoadBalancerIngress { hostname, ..LoadBalancerIngress::default() }]
            }
            _ => Vec::new(),
        }
    }
}

/// What a controller with these flags would load now.
pub fn configuration_of(store: &Store, flags: &Flags, tick: u64) -> Configuration {
    let handled = store.list::<Ingress>().filter(|ingress| flags.handle(store, ingress).is_ok());
    let mut ingresses: Vec<Arc<Ingress>> = handled.cloned().collect();
    ingresses.sort_by_key(|ingress| (ingress.meta.creation_timestamp, ingress.key()));
    let mut upstreams = OrdMap::new();
    for (_, backend) in references_of(&ingresses) {
        if !upstreams.contains_key(&backend.service) {
            let snapshot = Snapshot::take(store, &backend.service);
            upstreams.insert(backend.service, snapshot);
        }
    }
    Configuration { revision: store.revision(), loaded_tick: tick, ingresses, upstreams }
}

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let named = |service: &ObjectKey| {
        let of_ingress = |ingress: &Arc<Ingress>| {
            references_of(std::slice::from_ref(ingress))
                .iter()
                .any(|(_, backend)| backend.service == *service)
        };
        view.store.list_in::<Ingress>(&service.namespace).any(of_ingress)
    };
    let published = |service: &ObjectKey| {
        let pods = view.store.list_in::<Pod>(&service.namespace);
        let is_it = |pod: &&Arc<Pod>| Program::IngressNginx.container_of(pod).is_some();
        pods.filter(is_it).any(|pod| Flags::of(pod).publish_service.as_ref() == Some(service))
    };
    let concerned = match change.key.kind {
        Kind::Ingress | Kind::IngressClass => true,
        Kind::Service => named(&change.key) || published(&change.key),
        Kind::EndpointSlice => {
            change.either_as::<EndpointSlice>().and_then(|slice| service_of(slice)).is_some_and(|s| named(&s))
        }
        Kind::Pod => {
            let runs = |pod: Option<&Arc<Pod>>| pod.is_some_and(|pod| Program::IngressNginx.runs_in(pod));
            let ids = |pod: Option<&Arc<Pod>>| {
                let statuses = pod.map(|pod| pod.status.container_statuses.as_slice()).unwrap_or_default();
                statuses.iter().map(|status| status.restart_count).sum::<i32>()
            };
            let (old, new) = (change.old_as::<Pod>(), change.new_as::<Pod>());
            runs(old) != runs(new) || runs(new) && ids(old) != ids(new)
        }
        _ => false,
    };
    if concerned { vec![WorkKey::Sync] } else { Vec::new() }
}

/// Handles one key: every running Pod loads what the view holds.
pub fn reconcile(memory: &mut Memory, view: &View<'_>, key: &WorkKey) -> Outcome {
    if *key != WorkKey::Sync {
        return Outcome::default();
    }
    let pods = Program::IngressNginx.pods(view.store);
    let keys: Vec<ObjectKey> = pods.iter().map(|pod| pod.key()).collect();
    let loaded = std::mem::take(&mut memory.instances);
    memory.instances = loaded.into_iter().filter(|(pod, _)| keys.contains(pod)).collect();
    let Some(first) = pods.first() else {
        return Outcome::nothing(Because::new("because.ingress.stopped"));
    };
    let mut outcome = Outcome::default();
    let mut changes = Vec::new();
    for pod in &pods {
        let flags = Flags::of(pod);
        let mut wanted = configuration_of(view.store, &flags, view.tick);
        let old = memory.instances.get(&pod.key());
        for ingress in &wanted.ingresses {
            let seen = old.and_then(|old| old.ingresses.iter().find(|i| i.meta.uid == ingress.meta.uid));
            if seen.is_none_or(|seen| seen.meta.resource_version != ingress.meta.resource_version) {
                let event =
                    EventRecord::normal(&Object::Ingress(ingress.clone()), "Sync", "Scheduled for sync");
                outcome.writes.push(Operation::Event(event).because(Because::new("because.ingress.event")));
            }
        }
        let lines = changes_between(old.map(|old| &**old), &wanted);
        match old {
            Some(old) if lines.is_empty() => wanted.loaded_tick = old.loaded_tick,
            _ => {}
        }
        let several = pods.len() > 1;
        let line = |line| if several { format!("{}: {line}", pod.meta.name) } else { line };
        changes.extend(lines.into_iter().map(line));
        memory.instances.insert(pod.key(), Arc::new(wanted));
    }
    let flags = Flags::of(first);
    let addresses = flags.addresses(view.store);
    let loaded = &memory.instances[&first.key()];
    for ingress in loaded.ingresses.iter().filter(|ingress| ingress.status.load_balancer.ingress != addresses)
    {
        let mut reported = ingress.clone();
        Arc::make_mut(&mut reported).status.load_balancer.ingress = addresses.clone();
        let texts: Vec<&str> =
            addresses.iter().map(|a| if a.ip.is_empty() { &*a.hostname } else { &*a.ip }).collect();
        let because = Because::new("because.ingress.address").with("address", texts.join(", "));
        outcome.writes.push(Operation::UpdateStatus(Object::Ingress(reported)).because(because));
    }
    let count = loaded.routes().len();
    outcome.saw.push(
        Because::new("because.ingress.saw")
            .with("ingresses", loaded.ingresses.len())
            .with("paths", count)
            .with("revision", view.store.revision()),
    );
    outcome.because = Some(Because::new(match changes.is_empty() {
        true => "because.ingress.unchanged",
        false => "because.ingress.loaded",
    }));
    if !changes.is_empty() {
        outcome.notes.push(What::Programmed { revision: view.store.revision(), changes });
    }
    outcome
}

/// What a load changes for requests, a line each; empty when they go on as before.
pub(super) fn changes_between(old: Option<&Configuration>, new: &Configuration) -> Vec<String> {
    let text_of = |route: &Route| {
        let host = if route.host.is_empty() { "*" } else { &route.host };
        let backend = match &route.backend {
            Some(backend) => {
                format!("{}/{}:{}", backend.service.namespace, backend.service.name, backend.port_text())
            }
            None => "404".to_string(),
        };
        format!("{host} {} {} → {backend}", route.path_type.word(), route.path)
    };
    let defaults_of = |configuration: &Configuration| -> Vec<String> {
        let default = |ingress: &Arc<Ingress>| {
            let backend =
                ingress.spec.default_backend.as_ref().and_then(|backend| reference(ingress, backend))?;
            let service = &backend.service;
            Some(format!("default → {}/{}:{}", service.namespace, service.name, backend.port_text()))
        };
        configuration.ingresses.iter().filter_map(default).collect()
    };
    let texts_of = |configuration: &Configuration| -> Vec<String> {
        let routes = configuration.routes();
        routes.iter().map(text_of).chain(defaults_of(configuration)).collect()
    };
    let (before, after) = (old.map(texts_of).unwrap_or_default(), texts_of(new));
    let mut lines: Vec<String> =
        after.iter().filter(|text| !before.contains(text)).map(|text| format!("+ {text}")).collect();
    lines.extend(before.iter().filter(|text| !after.contains(text)).map(|text| format!("- {text}")));
    if old.is_none() && lines.is_empty() {
        lines.push("loaded, no rules".to_string());
    }
    for (key, snapshot) in &new.upstreams {
        let before = old.and_then(|old| old.snapshot(key));
        match (before, snapshot) {
            (None, None) if old.is_none_or(|old| !old.upstreams.contains_key(key)) => {
                lines.push(format!("{}/{}: no such Service", key.namespace, key.name));
            }
            (before, after) => lines.extend(change_line(key, before, after.as_ref())),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::network::fixture::{
        endpoint, ingress, object, pod, put, service, slice, store, surroundings,
    };
    use serde_json::json;

    const IMAGE: &str = "registry.k8s.io/ingress-nginx/controller:v1.14.0";

    fn controller() -> Pod {
        let mut controller = pod("ingress-nginx", "controller-1", "node-1", "10.244.1.2", IMAGE);
        let mut spec = (*controller.spec).clone();
        spec.containers[0].args = vec!["--publish-service=$(POD_NAMESPACE)/entry".to_string()];
        controller.spec = Arc::new(spec);
        controller
    }

    fn class(name: &str, controller: &str) -> Object {
        object(Kind::IngressClass, json!({"metadata": {"name": name}, "spec": {"controller": controller}}))
    }

    fn entry() -> Object {
        let mut entry = service("ingress-nginx", "entry", &[("http", 80, 80)]);
        entry.spec.service_type = "LoadBalancer".to_string();
        entry.status.load_balancer.ingress =
            vec![LoadBalancerIngress { ip: "203.0.113.10".to_string(), ..LoadBalancerIngress::default() }];
        entry.into()
    }

    fn shop() -> Ingress {
        ingress("demo", "shop", &[("shop.example", "/api", "Prefix", "api", 80)])
    }

    fn run(memory: &mut Memory, store: &Store, tick: u64) -> Outcome {
        let (settings, world) = surroundings();
        let view = View::of(store, &settings, &world, tick);
        reconcile(memory, &view, &WorkKey::Sync)
    }

    fn changes(outcome: &Outcome) -> Vec<String> {
        let lines = |note: &What| match note {
            What::Programmed { changes, .. } => changes.clone(),
            _ => Vec::new(),
        };
        outcome.notes.iter().flat_map(lines).collect()
    }

    #[test]
    fn a_running_controller_loads_the_rules_reports_its_address_and_says_so_once() {
        let api = service("demo", "api", &[("", 80, 8080)]);
        let endpoints = slice(&api, &[("", 8080)], vec![endpoint("a", "node-1")]);
        let objects: [Object; 6] = [
            shop().into(),
            class("nginx", "k8s.io/ingress-nginx"),
            entry(),
            controller().into(),
            api.into(),
            endpoints.into(),
        ];
        let mut store = store(objects);
        let mut memory = Memory::default();
        let outcome = run(&mut memory, &store, 5);
        assert_eq!(
            changes(&outcome),
            ["+ shop.example Prefix /api → demo/api:80", "demo/api 10.96.0.50: 1 endpoint, +a:8080"]
        );
        let [event, status] = outcome.writes.as_slice() else { panic!("{:?}", outcome.writes) };
        assert!(
            matches!(&event.operation, Operation::Event(e) if e.reason == "Sync" && e.message == "Scheduled for sync")
        );
        let Operation::UpdateStatus(reported) = &status.operation else {
            panic!("a status was to be written")
        };
        let reported = reported.get::<Ingress>().unwrap();
        assert_eq!(reported.status.load_balancer.ingress[0].ip, "203.0.113.10");
        put(&mut store, Object::Ingress(reported.clone()));
        let again = run(&mut memory, &store, 6);
        assert_eq!(changes(&again), Vec::<String>::new());
        assert_eq!(again.writes.len(), 1, "its own status write is one more change to be told of");
        assert!(run(&mut memory, &store, 7).writes.is_empty());
        let key = shop().key();
        let (backends, revision) = memory.backends_of(&key).unwrap();
        assert_eq!(backends[0].1, ["a:8080"]);
        assert_eq!(revision, store.revision());
        assert_eq!(memory.instance(&controller().key()).unwrap().loaded_tick, 5);
    }

    #[test]
    fn a_controller_that_does_not_run_loads_and_writes_nothing() {
        let mut stopped = controller();
        stopped.status.container_statuses[0].state.running = None;
        let store = store([shop().into(), class("nginx", "k8s.io/ingress-nginx"), entry(), stopped.into()]);
        let mut memory = Memory::default();
        let outcome = run(&mut memory, &store, 5);
        assert!(outcome.writes.is_empty() && outcome.notes.is_empty());
        assert_eq!(memory.backends_of(&shop().key()), None);
    }

    #[test]
    fn an_ingress_is_handled_by_its_class() {
        let store = store([class("nginx", "k8s.io/ingress-nginx"), class("other", "example.com/other")]);
        let flags = Flags::of(&controller());
        let of = |class: Option<&str>, annotation: Option<&str>| {
            let mut ingress = shop();
            ingress.spec.ingress_class_name = class.map(str::to_string);
            ingress.meta.annotations =
                annotation.into_iter().map(|a| (CLASS_ANNOTATION.to_string(), a.to_string())).collect();
            flags.handle(&store, &ingress)
        };
        let other = || NotHandled::OtherController {
            class: "other".to_string(),
            controller: "example.com/other".to_string(),
        };
        for (sentence, class, annotation, expected) in [
            ("its class", Some("nginx"), None, Ok(())),
            ("the old annotation", None, Some("nginx"), Ok(())),
            ("no class at all", None, None, Err(NotHandled::NoClass)),
            ("an unknown class", Some("ngin"), None, Err(NotHandled::ClassMissing("ngin".to_string()))),
            ("another controller's class", Some("other"), None, Err(other())),
            ("another annotation", None, Some("gce"), Err(NotHandled::OtherAnnotation("gce".to_string()))),
        ] {
            assert_eq!(of(class, annotation), expected, "{sentence}");
        }
    }

    #[test]
    fn a_backend_without_upstream_says_why() {
        let api = service("demo", "api", &[("http", 80, 8080)]);
        let mut tired = endpoint("a", "node-1");
        tired.conditions.ready = Some(false);
        let unready = Snapshot {
            slices: vec![Arc::new(slice(&api, &[("http", 8080)], vec![tired]))],
            service: Arc::new(api.clone()),
        };
        let ready = Snapshot {
            slices: vec![Arc::new(slice(&api, &[("http", 8080)], vec![endpoint("a", "node-1")]))],
            service: Arc::new(api),
        };
        let backend = |name: &str, number: i32| BackendReference {
            service: ObjectKey::new(Kind::Service, "demo", "api"),
            port: crate::api::kinds::networking::ServiceBackendPort {
                name: name.to_string(),
                number,
                ..Default::default()
            },
        };
        for (sentence, snapshot, backend, expected) in [
            ("no such Service", None, backend("", 80), Err(NoUpstream::NoService)),
            ("no such port", Some(&ready), backend("", 81), Err(NoUpstream::NoPort)),
            ("no such port name", Some(&ready), backend("web", 0), Err(NoUpstream::NoPort)),
            ("no ready endpoint", Some(&unready), backend("", 80), Err(NoUpstream::NoEndpoint)),
            ("by number", Some(&ready), backend("", 80), Ok("a:8080".to_string())),
            ("by name", Some(&ready), backend("http", 0), Ok("a:8080".to_string())),
            ("by target port", Some(&ready), backend("", 8080), Ok("a:8080".to_string())),
        ] {
            assert_eq!(upstream(snapshot, &backend).map(|b| b[0].socket()), expected, "{sentence}");
        }
    }

    #[test]
    fn a_change_of_what_no_ingress_names_concerns_nobody() {
        let (settings, world) = surroundings();
        let store = store([shop().into()]);
        let view = View::of(&store, &settings, &world, 1);
        let change = |object: Object| Change {
            revision: 9,
            key: object.key(),
            old: None,
            new: Some(object),
            writer: crate::cluster::actor::Actor::You,
            fact: crate::cluster::fact::FactId(1),
        };
        let web = service("demo", "web", &[("", 80, 80)]);
        let api = service("demo", "api", &[("", 80, 80)]);
        for (object, expected) in [
            (Object::from(web.clone()), 0),
            (slice(&web, &[("", 80)], vec![]).into(), 0),
            (api.clone().into(), 1),
            (slice(&api, &[("", 80)], vec![]).into(), 1),
            (shop().into(), 1),
            (controller().into(), 1),
        ] {
            assert_eq!(concerns(&view, &change(object.clone())).len(), expected, "{}", object.key());
        }
    }
}
