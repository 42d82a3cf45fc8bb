//! How fast a cluster moves: a tick mid-rollout, a whole start-up, a large manifest. `docs/PERFORMANCE.md` has the figures.

use std::collections::BTreeMap;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kubestep::api::manifest;
use kubestep::cluster::history::History;
use kubestep::cluster::workload::{
    ask_for, before_busiest_tick, cluster_of, manifest_of, rollout, run_until_ready,
};
use kubestep::kubectl::history_host::HistoryHost;
use kubestep::kubectl::{Execution, Session, run};

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

fn kubectl_apply(c: &mut Criterion) {
    let mut group = c.benchmark_group("kubectl apply -f, 1,000 objects");
    group.sample_size(20);
    let files = BTreeMap::from([("all.yaml".to_string(), manifest_of(1000))]);
    let apply = |history: &mut History| {
        let mut host = HistoryHost::new(history, &files);
        match run("kubectl apply -f all.yaml", &mut Session::default(), &mut host) {
            Execution::Finished(output) if output.exit == 0 => output.stdout.len(),
            other => panic!("not applied: {other:?}"),
        }
    };
    group.bench_function("the reading of the text", |b| b.iter(|| manifest::parse(&files["all.yaml"])));
    let empty = History::from_cluster(cluster_of(3));
    group.bench_function("for the first time", |b| {
        b.iter_batched(|| empty.clone(), |mut history| (apply(&mut history), history), BatchSize::LargeInput);
    });
    let mut applied = empty.clone();
    apply(&mut applied);
    group.bench_function("again", |b| {
        b.iter_batched(
            || applied.clone(),
            |mut history| (apply(&mut history), history),
            BatchSize::LargeInput,
        );
    });
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

criterion_group!(benches, apply_to_ready, kubectl_apply, ticks_of_a_rollout);
criterion_main!(benches);
