//! How fast a cluster moves: a tick mid-rollout, and a whole start-up.

use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kubestep::api::kind::Kind;
use kubestep::api::kinds::pod::Pod;
use kubestep::cluster::fact::Fact;
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::settings::{NodeSetup, Settings};
use serde_json::{Value, json};

/// Nodes large enough for the load, without system Pods.
fn cluster_of(nodes: usize) -> Cluster {
    let node = |n: usize| NodeSetup {
        cpu_millicores: 64_000,
        memory_bytes: 256 << 30,
        pods: 1000,
        ..NodeSetup::new(format!("node-{n}"))
    };
    Cluster::boot(Settings::bare(42, (1..=nodes).map(node).collect()))
}

fn deployment(replicas: usize, image: &str) -> Value {
    json!({
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
    })
}

fn ask(cluster: &mut Cluster, verb: Verb, body: Value) {
    let mut facts: Vec<Arc<Fact>> = Vec::new();
    cluster.ask(&Request::new(verb, Kind::Deployment, "default", "api", body), &mut facts).expect("accepted");
}

/// How many Pods are Ready.
fn ready(cluster: &Cluster) -> usize {
    cluster.store.list::<Pod>().filter(|pod| pod.is_ready()).count()
}

fn until_ready(cluster: &mut Cluster, wanted: usize) {
    let mut facts = Vec::new();
    for _ in 0..600 {
        if ready(cluster) >= wanted {
            return;
        }
        cluster.finish_tick(&mut facts);
        facts.clear();
    }
    panic!("only {} of {wanted} Pods became Ready", ready(cluster));
}

fn apply_to_ready(c: &mut Criterion) {
    let mut group = c.benchmark_group("apply to all Ready");
    group.sample_size(10);
    for (nodes, pods) in [(3, 100), (3, 300), (3, 700), (3, 1000), (100, 1000)] {
        let cluster = cluster_of(nodes);
        group.bench_function(format!("{nodes} nodes, {pods} Pods"), |b| {
            b.iter_batched(
                || cluster.clone(),
                |mut cluster| {
                    ask(&mut cluster, Verb::Create, deployment(pods, "demo/api:1.0"));
                    until_ready(&mut cluster, pods);
                    cluster
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn tick_mid_rollout(c: &mut Criterion) {
    let mut cluster = cluster_of(100);
    ask(&mut cluster, Verb::Create, deployment(1000, "demo/api:1.0"));
    until_ready(&mut cluster, 1000);
    ask(&mut cluster, Verb::MergePatch, deployment(1000, "demo/api:1.1"));
    let mut facts = Vec::new();
    for _ in 0..6 {
        cluster.finish_tick(&mut facts);
    }
    c.bench_function("tick, 100 nodes, 1,000 Pods mid-rollout", |b| {
        b.iter_batched(
            || cluster.clone(),
            |mut cluster| {
                let mut facts = Vec::new();
                cluster.finish_tick(&mut facts);
                (cluster, facts)
            },
            BatchSize::LargeInput,
        );
    });
}

criterion_group!(benches, apply_to_ready, tick_mid_rollout);
criterion_main!(benches);
