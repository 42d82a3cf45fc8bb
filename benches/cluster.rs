//! How fast a cluster moves: a tick mid-rollout, and a whole start-up. `docs/PERFORMANCE.md` has the figures.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kubestep::cluster::workload::{ask_for, cluster_of, mid_rollout, run_until_ready};

fn apply_to_ready(c: &mut Criterion) {
    let mut group = c.benchmark_group("apply to all Ready");
    group.sample_size(10);
    for (nodes, pods) in [(3, 100), (3, 300), (3, 700), (3, 1000), (100, 1000)] {
        let cluster = cluster_of(nodes);
        group.bench_function(format!("{nodes} nodes, {pods} Pods"), |b| {
            b.iter_batched(
                || cluster.clone(),
                |mut cluster| {
                    ask_for(&mut cluster, pods, "demo/api:1.0");
                    run_until_ready(&mut cluster, pods);
                    cluster
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn tick_mid_rollout(c: &mut Criterion) {
    let cluster = mid_rollout();
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
