//! Loads of a known size, for measuring: the same for the native benchmarks and for those in the page.

use std::sync::Arc;

use serde_json::{Value, json};

use super::fact::Fact;
use super::machine::Cluster;
use super::server::request::{Request, Verb};
use super::settings::{NodeSetup, Settings};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;

/// Ticks after which a start-up that has not finished never will.
const MAX_TICKS: u32 = 600;

/// A cluster of so many large nodes (64 processors, 256 GiB, 1,000 Pods), without system Pods.
pub fn cluster_of(nodes: usize) -> Cluster {
    Cluster::boot(Settings::bare(42, large_nodes(nodes)))
}

fn large_nodes(count: usize) -> Vec<NodeSetup> {
    let node = |number: usize| NodeSetup {
        cpu_millicores: 64_000,
        memory_bytes: 256 << 30,
        pods: 1000,
        ..NodeSetup::new(format!("node-{number}"))
    };
    (1..=count).map(node).collect()
}

/// Asks for a Deployment `api` of so many Pods, or changes it.
///
/// # Panics
/// When the API server refuses, which no caller's arguments make it do.
pub fn ask_for(cluster: &mut Cluster, replicas: usize, image: &str) {
    let body = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "api", "labels": {"app": "api"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "api"}},
            "template": {
                "metadata": {"labels": {"app": "api"}},
                "spec": {"containers": [{
                    "name": "api", "image": image, "ports": [{"containerPort": 8080}],
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                }]},
            },
        },
    });
    let exists =
        cluster.store.object(&crate::api::meta::ObjectKey::new(Kind::Deployment, "default", "api")).is_some();
    let verb = if exists { Verb::MergePatch } else { Verb::Create };
    let mut facts: Vec<Arc<Fact>> = Vec::new();
    let answer = cluster.ask(&Request::new(verb, Kind::Deployment, "default", "api", body), &mut facts);
    answer.map(|_| Value::Null).expect("the Deployment is one that every API server accepts");
}

/// The same with what answers names and routes Services: the system's Pods.
pub fn serving_cluster_of(nodes: usize) -> Cluster {
    Cluster::boot(Settings { nodes: large_nodes(nodes), ..Settings::playground(42) })
}

/// Puts a Service `api` in front of the Deployment `api`.
///
/// # Panics
/// When the API server refuses, which it has no reason to.
pub fn expose(cluster: &mut Cluster) {
    let body = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "api"},
        "spec": {"selector": {"app": "api"}, "ports": [{"port": 80, "targetPort": 8080}]},
    });
    let request = Request::new(Verb::Create, Kind::Service, "default", "api", body);
    cluster.ask(&request, &mut Vec::new()).expect("the Service is one that every API server accepts");
}

/// A manifest of so many objects, as teams write them: Deployments, Services, ConfigMaps and Ingresses in turn.
pub fn manifest_of(objects: usize) -> String {
    let mut text = String::new();
    for index in 0..objects {
        let name = format!("app-{}", index / 4);
        text.push_str(&match index % 4 {
            0 => format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  labels:\n    app: {name}\nspec:\n  \
                 replicas: 2\n  selector:\n    matchLabels:\n      app: {name}\n  template:\n    metadata:\n      labels:\n        \
                 app: {name}\n    spec:\n      containers:\n      - name: web\n        image: demo/api:1.0\n        ports:\n        \
                 - containerPort: 8080\n        resources:\n          requests:\n            cpu: 100m\n            memory: 64Mi\n        \
                 readinessProbe:\n          httpGet:\n            path: /healthz\n            port: 8080\n---\n"
            ),
            1 => format!(
                "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\nspec:\n  selector:\n    app: {name}\n  ports:\n  \
                 - port: 80\n    targetPort: 8080\n---\n"
            ),
            2 => format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  settings.yaml: |\n    level: info\n    \
                 colour: green\n---\n"
            ),
            _ => format!(
                "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: {name}\nspec:\n  ingressClassName: nginx\n  \
                 rules:\n  - host: {name}.example\n    http:\n      paths:\n      - path: /\n        pathType: Prefix\n        \
                 backend:\n          service:\n            name: {name}\n            port:\n              number: 80\n---\n"
            ),
        });
    }
    text
}

/// How many Pods are Ready.
pub fn ready_pods(cluster: &Cluster) -> usize {
    cluster.store.list::<Pod>().filter(|pod| pod.is_ready()).count()
}

/// Ticks until so many Pods are Ready. Returns the ticks it took.
///
/// # Panics
/// When it takes more than 600 ticks.
pub fn run_until_ready(cluster: &mut Cluster, pods: usize) -> u32 {
    let mut facts = Vec::new();
    for ticks in 0..MAX_TICKS {
        if ready_pods(cluster) >= pods {
            return ticks;
        }
        cluster.finish_tick(&mut facts);
        facts.clear();
    }
    panic!("only {} of {pods} Pods became Ready in {MAX_TICKS} ticks", ready_pods(cluster));
}

/// Lets time pass until every Pod's report has arrived everywhere and nothing but routine is left.
pub fn run_until_quiet(cluster: &mut Cluster) {
    let mut facts = Vec::new();
    while !cluster.is_quiet() {
        cluster.finish_tick(&mut facts);
        facts.clear();
    }
}

/// A cluster of so many nodes with two Pods on each, and one more of them that is not placed yet.
pub fn before_placing(nodes: usize) -> Cluster {
    let mut cluster = cluster_of(nodes);
    ask_for(&mut cluster, nodes * 2, "demo/api:1.0");
    run_until_ready(&mut cluster, nodes * 2);
    run_until_quiet(&mut cluster);
    ask_for(&mut cluster, nodes * 2 + 1, "demo/api:1.0");
    let mut facts = Vec::new();
    while cluster.store.list::<Pod>().all(|pod| pod.is_bound()) {
        cluster.finish_tick(&mut facts);
        facts.clear();
    }
    cluster
}

/// Ticks of a rolling update that are looked at.
const ROLLOUT_TICKS: usize = 40;

/// 100 nodes and 1,000 Pods in a rolling update: the cluster before each of its first 40 ticks.
pub fn rollout() -> Vec<Cluster> {
    let mut cluster = cluster_of(100);
    ask_for(&mut cluster, 1000, "demo/api:1.0");
    run_until_ready(&mut cluster, 1000);
    ask_for(&mut cluster, 1000, "demo/api:1.1");
    let mut facts = Vec::new();
    let mut moments = Vec::new();
    for _ in 0..ROLLOUT_TICKS {
        moments.push(cluster.clone());
        cluster.finish_tick(&mut facts);
        facts.clear();
    }
    moments
}

/// The moment of [`rollout`] whose tick does most.
pub fn before_busiest_tick() -> Cluster {
    let facts_of_tick = |cluster: &Cluster| {
        let mut facts = Vec::new();
        cluster.clone().finish_tick(&mut facts);
        facts.len()
    };
    rollout().into_iter().max_by_key(facts_of_tick).expect("a rollout has ticks")
}
