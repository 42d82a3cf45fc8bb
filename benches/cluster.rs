//! How fast a cluster moves: a tick mid-rollout, and a whole start-up. `docs/PERFORMANCE.md` has the figures.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kubestep::cluster::workload::{ask_for, before_busiest_tick, cluster_of, rollout, run_until_ready};

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

fn ticks_of_a_rollout(c: &mut Criterion) {
    let mut group = c.benchmark_group("rolling update, 100 nodes, 1,000 Pods");
    let cluster = before_busiest_tick();
    group.bench_function("the busiest tick", |b| {
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
    let moments = rollout();
    let mut next = moments.iter().cycle();
    group.bench_function("a tick, over 40 in turn", |b| {
        b.iter_batched(
            || next.next().expect("a cycle has no end").clone(),
            |mut cluster| {
                let mut facts = Vec::new();
                cluster.finish_tick(&mut facts);
                (cluster, facts)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, apply_to_ready, ticks_of_a_rollout);
criterion_main!(benches);
