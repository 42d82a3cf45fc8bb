//! The classic failures, each dropped at its hop, with what the client sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::api::kinds::networking::{Ingress, LoadBalancerIngress, Service};
use crate::api::object::{Object, Resource};
use crate::cluster::actor::Actor;
use crate::cluster::component::View;
use crate::cluster::fact::FactId;
use crate::cluster::network::fixture::{endpoint, ingress, object, pod, put, service, slice, surroundings};
use crate::cluster::queue::WorkKey;
use crate::cluster::runtime::node::{RunningContainer, RunningPod};
use crate::cluster::runtime::process::{Listener, Process, Program};

/// A small cluster put together by hand: two nodes with proxies, CoreDNS, an Ingress controller, and what a test adds.
struct Scene {
    store: Store,
    proxies: BTreeMap<Name, proxy::Memory>,
    dns: dns::Memory,
    ingress: ingress::Memory,
    nodes: BTreeMap<Name, NodeRuntime>,
    tick: u64,
}

const NODES: [&str; 2] = ["node-1", "node-2"];
const PROXY: &str = "registry.k8s.io/kube-proxy:v1.36.2";
const COREDNS: &str = "registry.k8s.io/coredns/coredns:v1.12.4";
const CONTROLLER: &str = "registry.k8s.io/ingress-nginx/controller:v1.14.0";

impl Scene {
    /// The system without any application.
    fn new() -> Self {
        let mut scene = Self {
            store: Store::default(),
            proxies: NODES.map(|node| (Name::from(node), proxy::Memory::default())).into(),
            dns: dns::Memory::default(),
            ingress: ingress::Memory::default(),
            nodes: NODES.map(|node| (Name::from(node), NodeRuntime::default())).into(),
            tick: 0,
        };
        for (index, node) in NODES.into_iter().enumerate() {
            let ip = format!("10.0.0.{}", 11 + index);
            scene.put(object(
                Kind::Node,
                json!({"metadata": {"name": node}, "status": {
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "addresses": [{"type": "InternalIP", "address": ip}],
                }}),
            ));
            scene.run(pod("kube-system", &format!("kube-proxy-{node}"), node, &ip, PROXY), &[10249]);
        }
        scene.run(
            labelled(pod("kube-system", "coredns-1", "node-1", "10.244.1.3", COREDNS), "kube-dns"),
            &[53, 8181],
        );
        let mut dns = service("kube-system", "kube-dns", &[("dns", 53, 53)]);
        dns.spec.cluster_ip = "10.96.0.10".to_string();
        dns.spec.ports[0].protocol = "UDP".to_string();
        let mut dns_slice =
            slice(&dns, &[("dns", 53)], vec![at("kube-system", "coredns-1", "10.244.1.3", "node-1")]);
        dns_slice.ports[0].protocol = "UDP".to_string();
        scene.put(dns.into());
        scene.put(dns_slice.into());
        let mut controller =
            labelled(pod("ingress-nginx", "controller-1", "node-2", "10.244.2.2", CONTROLLER), "entry");
        let mut spec = (*controller.spec).clone();
        spec.containers[0].args = vec!["--publish-service=ingress-nginx/entry".to_string()];
        controller.spec = Arc::new(spec);
        scene.run(controller, &[80, 443, 10254]);
        let mut entry = service("ingress-nginx", "entry", &[("http", 80, 80), ("https", 443, 443)]);
        entry.spec.service_type = "LoadBalancer".to_string();
        entry.spec.cluster_ip = "10.96.0.20".to_string();
        entry.status.load_balancer.ingress =
            vec![LoadBalancerIngress { ip: "203.0.113.10".to_string(), ..LoadBalancerIngress::default() }];
        let endpoints = vec![at("ingress-nginx", "controller-1", "10.244.2.2", "node-2")];
        scene.put(slice(&entry, &[("http", 80), ("https", 443)], endpoints).into());
        scene.put(entry.into());
        scene.put(object(
            Kind::IngressClass,
            json!({"metadata": {"name": "nginx"}, "spec": {"controller": "k8s.io/ingress-nginx"}}),
        ));
        scene.put(object(Kind::Namespace, json!({"metadata": {"name": "demo"}})));
        scene.tick();
        scene
    }

    /// The same with a working application: Pods a and b, Service api, Ingress shop.example /api.
    fn with_shop() -> Self {
        let mut scene = Self::new();
        scene.run(pod("demo", "a", "node-1", "10.244.1.5", "example/api:1"), &[8080]);
        scene.run(pod("demo", "b", "node-2", "10.244.2.5", "example/api:1"), &[8080]);
        scene.put(shop().into());
        scene.put(api().into());
        scene.list(&["a", "b"]);
        scene.tick();
        scene
    }

    fn put(&mut self, object: Object) {
        put(&mut self.store, object);
    }

    fn remove(&mut self, kind: Kind, namespace: &str, name: &str) {
        self.store.remove(&ObjectKey::new(kind, namespace, name), &Actor::You, FactId(0));
    }

    /// Stores a Pod and runs a process that listens on these ports in it.
    fn run(&mut self, pod: Pod, ports: &[i32]) {
        let listens = ports.iter().map(|&port| Listener { port, after_seconds: 0 }).collect();
        let process = Process {
            container_id: "".into(),
            program: Arc::new(Program { listens, ..Program::default() }),
            started_at: Timestamp(0),
            beside: Vec::new().into(),
            answers: Vec::new().into(),
            variables: None,
            ended: None,
        };
        let container = RunningContainer {
            name: "main".into(),
            image: pod.spec.containers[0].image.as_str().into(),
            init: false,
            process,
            ..RunningContainer::default()
        };
        let running = RunningPod {
            uid: pod.meta.uid.clone(),
            name: pod.meta.name.clone(),
            ip: pod.status.pod_ip.clone(),
            containers: vec![container],
        };
        let node = self.nodes.get_mut(&pod.node_name).expect("the node is there");
        node.pods.insert(pod.key(), Arc::new(running));
        self.put(pod.into());
    }

    /// The EndpointSlice of Service api with these Pods of namespace demo.
    fn list(&mut self, pods: &[&str]) {
        let endpoints = pods.iter().map(|name| {
            let pod = self.store.get::<Pod>("demo", name).expect("the Pod is there");
            at("demo", name, &pod.status.pod_ip, &pod.node_name)
        });
        let slice = slice(&api(), &[("", 8080)], endpoints.collect());
        self.put(slice.into());
    }

    /// Every network component programs what the store holds.
    fn tick(&mut self) {
        self.tick += 1;
        let (settings, world) = surroundings();
        let view = View { now: Timestamp(100), ..View::of(&self.store, &settings, &world, self.tick) };
        for (node, memory) in &mut self.proxies {
            proxy::reconcile(node, memory, &view, &WorkKey::Sync);
        }
        dns::reconcile(&mut self.dns, &view, &WorkKey::Sync);
        ingress::reconcile(&mut self.ingress, &view, &WorkKey::Sync);
    }

    fn with_input<T>(&self, look: impl FnOnce(&TraceInput<'_>) -> T) -> T {
        let world = World::default();
        let input = TraceInput {
            store: &self.store,
            world: &world,
            now: Timestamp(100),
            origin_tick: 0,
            proxies: self.proxies.iter().map(|(node, memory)| (node.clone(), memory)).collect(),
            dns: Some(&self.dns),
            ingress: Some(&self.ingress),
            nodes: self.nodes.iter().map(|(node, runtime)| (node.clone(), runtime)).collect(),
        };
        look(&input)
    }

    fn trace(&self, request: &TraceRequest) -> Trace {
        self.with_input(|input| super::trace(input, request))
    }

    fn get(&self, url: &str) -> Trace {
        self.trace(&TraceRequest::get(url, 0).unwrap())
    }

    fn get_from(&self, pod: &str, url: &str) -> Trace {
        self.trace(&TraceRequest::get(url, 0).unwrap().from_pod("demo", pod))
    }
}

fn at(namespace: &str, pod: &str, ip: &str, node: &str) -> crate::api::kinds::networking::Endpoint {
    let mut endpoint = endpoint(pod, node);
    endpoint.addresses = vec![ip.to_string()];
    if let Some(target) = &mut endpoint.target_ref {
        target.namespace = namespace.into();
    }
    endpoint
}

fn labelled(mut pod: Pod, app: &str) -> Pod {
    pod.meta.labels = [("app".to_string(), app.to_string())].into_iter().collect();
    pod
}

fn api() -> Service {
    service("demo", "api", &[("", 80, 8080)])
}

fn shop() -> Ingress {
    ingress("demo", "shop", &[("shop.example", "/api", "Prefix", "api", 80)])
}

/// What the client sees, where it ended, what would help and in how many ticks.
fn end(trace: &Trace) -> (String, Option<&'static str>, Option<&'static str>, Option<u32>) {
    let dropped = trace.failed_hop().and_then(|hop| match &hop.result {
        HopResult::Drop(dropped) => Some(dropped),
        _ => None,
    });
    (
        trace.outcome.sees.word(),
        trace.outcome.failed_at.map(Stage::word),
        dropped.map(|dropped| dropped.repair.key),
        dropped.and_then(|dropped| dropped.ticks_away),
    )
}

const SHOP: &str = "http://shop.example/api/items";

#[test]
fn a_request_passes_every_hop_and_requests_in_a_row_spread_over_pods() {
    let scene = Scene::with_shop();
    let trace = scene.get(SHOP);
    let stages: Vec<_> = trace.hops.iter().map(|hop| hop.stage.word()).collect();
    assert_eq!(stages, ["dns", "entry", "controller", "rule", "service", "pod", "process"]);
    assert!(trace.hops.iter().all(|hop| hop.result == HopResult::Pass), "{trace:#?}");
    assert_eq!(end(&trace), ("200".to_string(), None, None, None));
    let answered = (0..4).map(|n| {
        let trace = scene.trace(&TraceRequest::get(SHOP, n).unwrap());
        trace.answered_by().unwrap().name.to_string()
    });
    assert_eq!(answered.collect::<Vec<_>>(), ["a", "b", "a", "b"]);
}

/// A change of the working scene, and how the request to it ends.
type Break = fn(&mut Scene);

#[test]
fn each_classic_failure_ends_at_its_hop() {
    fn change_service(scene: &mut Scene, change: fn(&mut Service)) {
        let mut service = api();
        change(&mut service);
        scene.put(service.into());
    }
    fn change_ingress(scene: &mut Scene, change: fn(&mut Ingress)) {
        let mut ingress = shop();
        change(&mut ingress);
        scene.put(ingress.into());
    }
    #[rustfmt::skip]
    let table: &[(&str, Break, &str, &str, &str)] = &[
        ("no Ingress at all", |s| s.remove(Kind::Ingress, "demo", "shop"), "404", "rule", "trace.rule.repair_none"),
        ("a class that does not exist", |s| change_ingress(s, |i| i.spec.ingress_class_name = Some("ngnix".to_string())), "404", "rule", "trace.rule.repair_class"),
        ("no class", |s| change_ingress(s, |i| i.spec.ingress_class_name = None), "404", "rule", "trace.rule.repair_class"),
        ("another host in the rule", |s| change_ingress(s, |i| i.spec.rules[0].host = "other.example".to_string()), "404", "rule", "trace.rule.repair_host"),
        ("another path in the rule", |s| change_ingress(s, |i| i.spec.rules[0].http.as_mut().unwrap().paths[0].path = "/apiv2".to_string()), "404", "rule", "trace.rule.repair_path"),
        ("a TLS section", |s| change_ingress(s, |i| i.spec.tls = vec![crate::api::kinds::networking::IngressTls { hosts: vec!["shop.example".to_string()], ..Default::default() }]), "308", "rule", "trace.rule.repair_redirect"),
        ("no Service, others are there", |s| { s.remove(Kind::Service, "demo", "api"); s.put(service("demo", "web", &[("", 80, 80)]).into()); }, "503", "service", "trace.service.repair_named"),
        ("no Service at all", |s| s.remove(Kind::Service, "demo", "api"), "503", "service", "trace.service.repair_missing"),
        ("a port that the Service does not have", |s| change_ingress(s, |i| i.spec.rules[0].http.as_mut().unwrap().paths[0].backend.service.as_mut().unwrap().port.number = 81), "503", "service", "trace.service.repair_port"),
        ("a selector that matches nothing", |s| { change_service(s, |service| { service.spec.selector.insert("app".to_string(), "web".to_string()); }); s.list(&[]); }, "503", "service", "trace.repair.no_match"),
        ("no Pods", |s| { s.remove(Kind::Pod, "demo", "a"); s.remove(Kind::Pod, "demo", "b"); s.list(&[]); }, "503", "service", "trace.repair.no_pods"),
        ("a target port that nobody listens on", |s| { let mut slice = slice(&api(), &[("", 9090)], vec![at("demo", "a", "10.244.1.5", "node-1"), at("demo", "b", "10.244.2.5", "node-2")]); slice.meta.name = "api-abcde".into(); s.put(slice.into()); }, "502", "process", "trace.process.repair_port"),
        ("no Ingress controller", |s| { let c = ObjectKey::new(Kind::Pod, "ingress-nginx", "controller-1"); s.remove(Kind::Pod, "ingress-nginx", "controller-1"); s.nodes.get_mut("node-2").unwrap().pods.remove(&c); let entry = s.store.get::<Service>("ingress-nginx", "entry").unwrap().clone(); s.put(slice(&entry, &[("http", 80)], vec![]).into()); }, "refused", "entry", "trace.repair.no_pods"),
        ("no entry Service", |s| s.remove(Kind::Service, "ingress-nginx", "entry"), "timeout", "entry", "trace.entry.repair_nobody"),
        ("Pods that are gone from their nodes", |s| { for (node, name) in [("node-1", "a"), ("node-2", "b")] { s.nodes.get_mut(node).unwrap().pods.remove(&ObjectKey::new(Kind::Pod, "demo", name)); } }, "504", "pod", "trace.pod.repair_gone"),
    ];
    for (sentence, change, sees, stage, repair) in table {
        let mut scene = Scene::with_shop();
        change(&mut scene);
        scene.tick();
        let trace = scene.get(SHOP);
        let (seen, failed_at, suggestion, ticks) = end(&trace);
        assert_eq!(
            (seen.as_str(), failed_at, suggestion, ticks),
            (*sees, Some(*stage), Some(*repair), None),
            "{sentence}"
        );
    }
}

#[test]
fn what_the_store_holds_but_nobody_has_programmed_is_one_tick_away() {
    let mut scene = Scene::new();
    assert_eq!(end(&scene.get(SHOP)).2, Some("trace.rule.repair_none"));
    scene.put(shop().into());
    assert_eq!(end(&scene.get(SHOP)), ("404".to_string(), Some("rule"), Some("trace.rule.soon"), Some(1)));
    scene.tick();
    assert_eq!(end(&scene.get(SHOP)).2, Some("trace.service.repair_missing"));
    scene.put(api().into());
    let trace = scene.get(SHOP);
    assert_eq!(trace.failed_hop().unwrap().finding.key, "trace.service.missing_yet");
    scene.tick();
    assert_eq!(
        end(&scene.get(SHOP)),
        ("503".to_string(), Some("service"), Some("trace.repair.no_pods"), None)
    );
    let mut waiting = pod("demo", "a", "", "", "example/api:1");
    waiting.status.conditions.clear();
    scene.put(waiting.clone().into());
    assert_eq!(end(&scene.get(SHOP)).2, Some("trace.repair.starting"));
    waiting.status.conditions = vec![crate::api::kinds::pod::PodCondition {
        condition_type: "PodScheduled".into(),
        status: "False".into(),
        reason: "Unschedulable".into(),
        ..Default::default()
    }]
    .into();
    scene.put(waiting.into());
    assert_eq!(end(&scene.get(SHOP)).2, Some("trace.repair.no_node"));
    scene.run(pod("demo", "a", "node-1", "10.244.1.5", "example/api:1"), &[8080]);
    assert_eq!(
        end(&scene.get(SHOP)),
        ("503".to_string(), Some("service"), Some("trace.repair.not_listed"), Some(2))
    );
    scene.list(&["a"]);
    let trace = scene.get(SHOP);
    assert_eq!(
        end(&trace),
        ("503".to_string(), Some("service"), Some("trace.repair.controller_loads"), Some(1))
    );
    let pod = &trace.failed_hop().unwrap().candidates[0];
    assert_eq!(
        (pod.name.as_str(), pod.verdict, pod.reason.key),
        ("a", Verdict::LeftOut, "trace.left.not_loaded")
    );
    scene.tick();
    assert_eq!(end(&scene.get(SHOP)).0, "200");
}

#[test]
fn a_pod_that_is_left_out_says_why() {
    let mut scene = Scene::with_shop();
    let mut tired = pod("demo", "tired", "node-1", "10.244.1.9", "example/api:1");
    tired.status.conditions[0].status = "False".into();
    scene.put(tired.into());
    let trace = scene.get(SHOP);
    let hop = trace.hops.iter().find(|hop| hop.stage == Stage::Service).unwrap();
    let seen: Vec<_> = hop.candidates.iter().map(|c| (c.name.as_str(), c.verdict, c.reason.key)).collect();
    assert_eq!(
        seen,
        [
            ("a", Verdict::Used, "trace.left.used"),
            ("b", Verdict::Spare, "trace.left.spare"),
            ("tired", Verdict::LeftOut, "trace.unready.starting"),
        ]
    );
}

#[test]
fn names_decide_from_outside_and_from_inside() {
    let scene = Scene::with_shop();
    let outside = |url: &str| end(&scene.get(url));
    let inside = |url: &str| end(&scene.get_from("a", url));
    let nxdomain = |repair| ("NXDOMAIN".to_string(), Some("dns"), Some(repair), None);
    assert_eq!(outside("http://shop.test/api"), nxdomain("trace.dns.repair_record"));
    assert_eq!(outside("http://api.demo/"), nxdomain("trace.dns.repair_inside"));
    assert_eq!(inside("http://nobody/"), nxdomain("trace.dns.repair_none"));
    assert_eq!(inside("http://entry/"), nxdomain("trace.dns.repair_namespace"));
    for url in [
        "http://api/x",
        "http://api.demo/x",
        "http://api.demo.svc.cluster.local/x",
        "http://10.96.0.50/x",
        "http://10.244.2.5:8080/x",
        SHOP,
    ] {
        assert_eq!(inside(url).0, "200", "{url}");
    }
    assert_eq!(
        inside("http://api:81/"),
        ("timeout".to_string(), Some("service"), Some("trace.service.repair_port"), None)
    );
    assert_eq!(
        inside("http://10.244.2.5/"),
        ("refused".to_string(), Some("process"), Some("trace.process.repair_port"), None)
    );
    assert_eq!(
        outside("http://10.96.0.50/"),
        ("timeout".to_string(), Some("entry"), Some("trace.entry.repair_expose"), None)
    );
    assert_eq!(outside("http://203.0.113.10:8080/").0, "refused");
    assert_eq!(outside("http://10.0.0.11:30080/").2, Some("trace.entry.repair_node_port"));
    let trace = scene.get_from("a", "http://api/x");
    let stages: Vec<_> = trace.hops.iter().map(|hop| hop.stage.word()).collect();
    assert_eq!(stages, ["client", "dns", "service", "pod", "process"]);
    assert_eq!(end(&scene.get_from("nobody", "http://api/")).0, "not sent");
}

#[test]
fn without_dns_pods_no_name_resolves_inside() {
    let mut scene = Scene::with_shop();
    let dns = scene.store.get::<Service>("kube-system", "kube-dns").unwrap().clone();
    let mut empty = slice(&dns, &[("dns", 53)], vec![]);
    empty.ports[0].protocol = "UDP".to_string();
    scene.remove(Kind::Pod, "kube-system", "coredns-1");
    scene.put(empty.into());
    scene.tick();
    assert_eq!(
        end(&scene.get_from("a", "http://api/")),
        ("SERVFAIL".to_string(), Some("dns"), Some("trace.dns.repair_server"), None)
    );
    assert_eq!(end(&scene.get_from("a", "http://10.96.0.50/")).0, "200", "addresses need no name server");
    assert_eq!(end(&scene.get(SHOP)).0, "200", "nor does the way in from outside");
}

#[test]
fn without_kube_proxy_a_node_forwards_by_a_stale_table() {
    let mut scene = Scene::with_shop();
    scene.remove(Kind::Pod, "kube-system", "kube-proxy-node-1");
    scene.run(pod("demo", "c", "node-2", "10.244.2.7", "example/api:1"), &[8080]);
    scene.list(&["c"]);
    for (node, name) in [("node-1", "a"), ("node-2", "b")] {
        scene.remove(Kind::Pod, "demo", name);
        scene.nodes.get_mut(node).unwrap().pods.remove(&ObjectKey::new(Kind::Pod, "demo", name));
    }
    scene.run(labelled(pod("demo", "client", "node-1", "10.244.1.8", "example/shell:1"), "client"), &[]);
    scene.tick();
    let trace = scene.get_from("client", "http://10.96.0.50/");
    assert_eq!(end(&trace), ("timeout".to_string(), Some("pod"), Some("trace.pod.repair_gone"), None));
    let hop = trace.hops.iter().find(|hop| hop.stage == Stage::Service).unwrap();
    assert_eq!(hop.notes[0].key, "trace.note.proxy_stale");
    assert_eq!(
        end(&scene.get(SHOP)).0,
        "200",
        "the Ingress controller does not need the proxy of node-1 to reach Pods"
    );
}

#[test]
fn a_steady_client_counts_what_came_of_its_requests() {
    use crate::cluster::network::traffic::SteadyClient;
    let mut scene = Scene::with_shop();
    let client = SteadyClient { request: TraceRequest::get(SHOP, 0).unwrap(), per_tick: 5 };
    let tally = |scene: &Scene, tick| scene.with_input(|input| client.send(input, tick));
    let calm = tally(&scene, 1);
    assert_eq!((calm.sent, calm.succeeded, calm.failures()), (5, 5, 0));
    assert_eq!(calm.by_pod.values().copied().collect::<Vec<_>>(), [2, 3]);
    scene.remove(Kind::Service, "demo", "api");
    scene.tick();
    let broken = tally(&scene, 2);
    assert_eq!(broken.failed, BTreeMap::from([((Sees::Status(503), Some(Stage::Service)), 5)]));
}

#[test]
fn https_ends_at_the_controller_and_nothing_is_claimed_of_a_process() {
    let mut scene = Scene::with_shop();
    assert_eq!(
        end(&scene.get("https://shop.example/api")).0,
        "200",
        "the controller has a certificate of its own"
    );
    assert_eq!(end(&scene.get_from("a", "https://10.244.2.5:8080/")).0, "unknown");
    let mut with_tls = shop();
    let hosts = vec!["shop.example".to_string()];
    with_tls.spec.tls = vec![crate::api::kinds::networking::IngressTls { hosts, ..Default::default() }];
    scene.put(with_tls.into());
    scene.tick();
    assert_eq!(end(&scene.get("https://shop.example/api")).0, "200");
    assert_eq!(end(&scene.get(SHOP)).0, "308");
}

#[test]
fn a_service_that_stands_for_a_name_outside_is_not_followed() {
    let mut scene = Scene::with_shop();
    for (name, sees) in [("nowhere.test", "502"), ("other.example", "unknown")] {
        let mut external = api();
        external.spec.service_type = "ExternalName".to_string();
        external.spec.external_name = name.to_string();
        external.spec.cluster_ip = String::new();
        scene.put(external.into());
        scene.tick();
        assert_eq!(end(&scene.get(SHOP)).0, sees, "{name}");
    }
}

#[test]
fn a_service_whose_policy_is_local_drops_what_enters_elsewhere() {
    let mut scene = Scene::with_shop();
    let mut local = api();
    local.spec.internal_traffic_policy = "Local".to_string();
    scene.put(local.into());
    scene.list(&["b"]);
    scene.tick();
    let from = |scene: &Scene, pod: &str| end(&scene.get_from(pod, "http://api/"));
    assert_eq!(from(&scene, "b").0, "200");
    let repair = Some("trace.service.repair_local");
    assert_eq!(from(&scene, "a"), ("timeout".to_string(), Some("service"), repair, None));
}

#[test]
fn ten_pods_share_a_hundred_requests_and_a_sticky_client_stays() {
    let mut scene = Scene::with_shop();
    let names: Vec<String> = (0..10).map(|n| format!("p{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        scene.run(pod("demo", name, "node-1", &format!("10.244.1.{}", 100 + n), "example/api:1"), &[8080]);
    }
    scene.list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    scene.tick();
    let answering = |scene: &Scene, request: &TraceRequest| {
        let answers = (0..100).map(|number| {
            scene.trace(&TraceRequest { number, ..request.clone() }).answered_by().unwrap().name.to_string()
        });
        answers.collect::<std::collections::BTreeSet<_>>().len()
    };
    let inside = TraceRequest::get("http://api/", 0).unwrap().from_pod("demo", "a");
    assert_eq!(answering(&scene, &TraceRequest::get(SHOP, 0).unwrap()), 10);
    assert_eq!(answering(&scene, &inside), 10);
    let mut sticky = api();
    sticky.spec.session_affinity = "ClientIP".to_string();
    scene.put(sticky.into());
    scene.tick();
    assert_eq!(answering(&scene, &inside), 1);
}
