//! A request through a whole cluster: it dies at one hop after the other while the machine builds the road, and then
//! reaches a Pod.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::manifest;
use kubestep::cluster::fact::Fact;
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::network::trace::{HopResult, Trace, TraceRequest};
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::settings::Settings;
use kubestep::i18n::{Language, catalogue};
use kubestep::kubectl::trace_text::render_trace;
use serde_json::{Value, json};

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n";

const INGRESS: &str = "
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: demo}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http:
      paths:
      - path: /api
        pathType: Prefix
        backend: {service: {name: api, port: {number: 80}}}
";

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: api, namespace: demo}
spec:
  selector: {app: api}
  ports:
  - {port: 80, targetPort: 8080}
";

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: demo}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - name: api
        image: registry.example/shop/api:1.0
        ports: [{containerPort: 8080}]
        resources: {requests: {cpu: 100m, memory: 64Mi}}
";

const CLIENT: &str = "
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: demo}
spec:
  containers:
  - {name: client, image: busybox, command: [sleep, '3600']}
";

const SHOP: &str = "http://shop.example/api/items";

/// A cluster that keeps its facts and checks every trace it draws.
struct Scene {
    cluster: Cluster,
    facts: Vec<Arc<Fact>>,
}

impl Scene {
    fn boot() -> Self {
        Self { cluster: Cluster::boot(Settings::default()), facts: Vec::new() }
    }

    fn apply(&mut self, text: &str) {
        for document in manifest::parse(text).documents {
            let of = |value: &Value| value.as_str().unwrap_or_default().to_string();
            let value = document.value;
            let kind = Kind::from_manifest(&of(&value["apiVersion"]), &of(&value["kind"])).unwrap();
            let (namespace, name) = (of(&value["metadata"]["namespace"]), of(&value["metadata"]["name"]));
            let request = Request::new(Verb::Create, kind, &namespace, &name, value);
            self.cluster.ask(&request, &mut self.facts).unwrap();
        }
    }

    fn patch(&mut self, kind: Kind, namespace: &str, name: &str, body: Value) {
        let request = Request::new(Verb::MergePatch, kind, namespace, name, body);
        self.cluster.ask(&request, &mut self.facts).unwrap();
    }

    fn tick(&mut self) {
        self.cluster.finish_tick(&mut self.facts);
    }

    fn settle(&mut self) {
        for _ in 0..300 {
            if self.cluster.is_quiet() {
                return;
            }
            self.tick();
        }
        panic!("not quiet after 300 ticks");
    }

    fn trace(&self, request: &TraceRequest) -> Trace {
        let trace = self.cluster.trace(request);
        for language in Language::ALL {
            let text = render_trace(&trace, catalogue(language));
            assert!(
                !text.contains('{') && !text.contains("trace."),
                "an argument or a text is missing:\n{text}"
            );
        }
        trace
    }

    fn get(&self, url: &str) -> Trace {
        self.trace(&TraceRequest::get(url, 0).unwrap())
    }

    /// What the client sees, where, and what would help.
    fn end(&self, url: &str) -> (String, &'static str, &'static str) {
        let trace = self.get(url);
        let repair = match trace.failed_hop().map(|hop| &hop.result) {
            Some(HopResult::Drop(dropped)) => dropped.repair.key,
            _ => "",
        };
        (trace.outcome.sees.word(), trace.outcome.failed_at.map_or("", |stage| stage.word()), repair)
    }
}

#[test]
fn a_request_dies_at_one_hop_after_the_other_until_the_road_is_built() {
    let mut scene = Scene::boot();
    let dead = |sees: &str, stage: &'static str, repair: &'static str| (sees.to_string(), stage, repair);
    assert_eq!(scene.end(SHOP), dead("404", "rule", "trace.rule.repair_none"));
    scene.apply(NAMESPACE);
    scene.apply(INGRESS);
    assert_eq!(scene.end(SHOP), dead("404", "rule", "trace.rule.soon"));
    scene.settle();
    assert_eq!(scene.end(SHOP), dead("503", "service", "trace.service.repair_missing"));
    scene.apply(SERVICE);
    scene.settle();
    assert_eq!(scene.end(SHOP), dead("503", "service", "trace.repair.no_pods"));
    scene.apply(DEPLOYMENT);
    let mut ends: Vec<(String, &str, &str)> = Vec::new();
    for _ in 0..120 {
        let end = scene.end(SHOP);
        if ends.last() != Some(&end) {
            ends.push(end);
        }
        if scene.cluster.is_quiet() {
            break;
        }
        scene.tick();
    }
    let repairs: Vec<&str> = ends.iter().map(|(_, _, repair)| *repair).collect();
    assert_eq!(
        repairs,
        [
            "trace.repair.not_made",
            "trace.repair.starting",
            "trace.repair.not_listed",
            "trace.repair.controller_loads",
            "",
        ]
    );
    assert_eq!(scene.end(SHOP), dead("200", "", ""));
    let pods: std::collections::BTreeSet<String> = (0..9)
        .map(|n| scene.trace(&TraceRequest::get(SHOP, n).unwrap()).answered_by().unwrap().name.to_string())
        .collect();
    assert_eq!(pods.len(), 3, "requests in a row spread over all Pods");
}

#[test]
fn a_pod_reaches_a_service_by_its_name() {
    let mut scene = Scene::boot();
    for text in [NAMESPACE, SERVICE, DEPLOYMENT] {
        scene.apply(text);
    }
    scene.settle();
    let store = &scene.cluster.store;
    let pod = store.list_in::<kubestep::api::kinds::pod::Pod>("demo").next().unwrap().meta.name.to_string();
    for (url, sees) in [
        ("http://api/", "200"),
        ("http://api.demo.svc.cluster.local/", "200"),
        ("http://nobody/", "NXDOMAIN"),
        ("http://ingress-nginx-controller/", "NXDOMAIN"),
        ("http://ingress-nginx-controller.ingress-nginx/", "404"),
        ("http://shop.example/", "404"),
        ("https://kubernetes.default/", "unknown"),
    ] {
        let request = TraceRequest::get(url, 0).unwrap().from_pod("demo", &pod);
        assert_eq!(scene.trace(&request).outcome.sees.word(), sees, "{url}");
    }
}

#[test]
fn the_ways_to_break_a_working_road() {
    type Break = fn(&mut Scene);
    let table: &[(&str, Break, &str, &str)] = &[
        (
            "a target port that nobody listens on",
            |s| {
                s.patch(
                    Kind::Service,
                    "demo",
                    "api",
                    json!({"spec": {"ports": [{"port": 80, "targetPort": 9999}]}}),
                )
            },
            "502",
            "process",
        ),
        (
            "a selector that matches nothing",
            |s| s.patch(Kind::Service, "demo", "api", json!({"spec": {"selector": {"app": "apu"}}})),
            "503",
            "service",
        ),
        (
            "a class that nobody handles",
            |s| s.patch(Kind::Ingress, "demo", "shop", json!({"spec": {"ingressClassName": "ngnix"}})),
            "404",
            "rule",
        ),
        (
            "no replicas",
            |s| s.patch(Kind::Deployment, "demo", "api", json!({"spec": {"replicas": 0}})),
            "503",
            "service",
        ),
        (
            "no Ingress controller",
            |s| {
                let controller = "ingress-nginx-controller";
                s.patch(Kind::Deployment, "ingress-nginx", controller, json!({"spec": {"replicas": 0}}));
            },
            "refused",
            "entry",
        ),
    ];
    let mut working = Scene::boot();
    for text in [NAMESPACE, SERVICE, INGRESS, DEPLOYMENT] {
        working.apply(text);
    }
    working.settle();
    assert_eq!(working.end(SHOP).0, "200");
    let working = working.cluster;
    for (sentence, change, sees, stage) in table {
        let mut scene = Scene { cluster: working.clone(), facts: Vec::new() };
        change(&mut scene);
        scene.settle();
        let (seen, failed_at, _) = scene.end(SHOP);
        assert_eq!((seen.as_str(), failed_at), (*sees, *stage), "{sentence}");
    }
}

#[test]
fn a_rolling_update_is_felt_inside_and_a_broken_one_by_nobody() {
    use kubestep::cluster::network::trace::{Sees, Stage};
    use kubestep::cluster::network::traffic::{SteadyClient, Tally};
    let mut scene = Scene::boot();
    for text in [NAMESPACE, SERVICE, INGRESS, DEPLOYMENT, CLIENT] {
        scene.apply(text);
    }
    (0..40).for_each(|_| scene.tick());
    let inside = TraceRequest::get("http://api/", 0).unwrap().from_pod("demo", "client");
    let clients = [
        SteadyClient { request: TraceRequest::get(SHOP, 0).unwrap(), per_tick: 6 },
        SteadyClient { request: inside, per_tick: 6 },
    ];
    let mut roll_out = |image: &str| {
        let container = json!({"name": "api", "image": image, "ports": [{"containerPort": 8080}]});
        let body = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        scene.patch(Kind::Deployment, "demo", "api", body);
        let mut tallies: [Vec<Tally>; 2] = [Vec::new(), Vec::new()];
        for _ in 0..60 {
            let input = scene.cluster.trace_input();
            for (client, tallies) in clients.iter().zip(&mut tallies) {
                tallies.push(client.send(&input, scene.cluster.tick()));
            }
            scene.tick();
        }
        tallies
    };
    let answered_by = |tally: &Tally| tally.by_pod.keys().map(|pod| pod.name.to_string()).collect::<Vec<_>>();

    let [outside, inside] = roll_out("registry.example/shop/api:2.0");
    assert!(outside.iter().all(|tally| tally.failures() == 0), "nginx tries the next endpoint");
    assert!(outside.iter().any(|tally| tally.by_pod.len() > 3), "old and new Pods answer side by side");
    let lost: std::collections::BTreeSet<_> =
        inside.iter().flat_map(|tally| tally.failed.keys().copied()).collect();
    assert_eq!(lost.into_iter().collect::<Vec<_>>(), [(Sees::TimedOut, Some(Stage::Pod))]);
    let before = answered_by(outside.last().unwrap());

    let [outside, inside] = roll_out("registry.example/shop/api:missing");
    assert!(outside.iter().chain(&inside).all(|tally| tally.failures() == 0));
    assert_eq!(answered_by(outside.last().unwrap()), before, "the old Pods go on serving");
}

#[test]
fn system_pods_that_are_deleted_are_missed_until_they_are_back() {
    use kubestep::api::kinds::pod::Pod;
    let mut scene = Scene::boot();
    for text in [NAMESPACE, SERVICE, INGRESS, DEPLOYMENT, CLIENT] {
        scene.apply(text);
    }
    (0..40).for_each(|_| scene.tick());
    let by_name = TraceRequest::get("http://api/", 0).unwrap().from_pod("demo", "client");
    let delete_all = |scene: &mut Scene, namespace: &str, prefix: &str, request: &TraceRequest| {
        let pods = scene.cluster.store.list_in::<Pod>(namespace).map(|pod| pod.meta.name.clone());
        let names: Vec<_> = pods.filter(|name| name.starts_with(prefix)).collect();
        for name in names {
            let request = Request::new(Verb::Delete, Kind::Pod, namespace, &name, Value::Null);
            scene.cluster.ask(&request, &mut scene.facts).unwrap();
        }
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..60 {
            scene.tick();
            let sees = scene.trace(request).outcome.sees.word();
            if seen.last() != Some(&sees) {
                seen.push(sees);
            }
        }
        seen
    };
    let outside = TraceRequest::get(SHOP, 0).unwrap();
    let controller = delete_all(&mut scene, "ingress-nginx", "ingress-nginx-controller", &outside);
    assert_eq!(controller, ["200", "timeout", "refused", "200"], "used, gone, left out, replaced");
    assert_eq!(delete_all(&mut scene, "kube-system", "coredns", &by_name), ["200", "SERVFAIL", "200"]);
    assert_eq!(
        delete_all(&mut scene, "kube-system", "kube-proxy", &by_name),
        ["200"],
        "the tables stay in the kernel"
    );
    assert_eq!(
        delete_all(&mut scene, "demo", "api", &by_name),
        ["timeout", "refused", "200"],
        "proxies are back, and learn of it"
    );
    let request = Request::new(Verb::Delete, Kind::DaemonSet, "kube-system", "kube-proxy", Value::Null);
    scene.cluster.ask(&request, &mut scene.facts).unwrap();
    assert_eq!(
        delete_all(&mut scene, "kube-system", "kube-proxy", &by_name),
        ["200"],
        "the tables stay in the kernel"
    );
    assert_eq!(
        delete_all(&mut scene, "demo", "api", &by_name),
        ["timeout"],
        "and nobody brings them up to date"
    );
    assert_eq!(
        delete_all(&mut scene, "demo", "nobody", &outside),
        ["200"],
        "the Ingress controller has its own view"
    );
}
