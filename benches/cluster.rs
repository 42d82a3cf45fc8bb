//! How fast a cluster moves: a tick mid-rollout, a whole start-up, a large manifest. `docs/PERFORMANCE.md` has the figures.

use std::collections::BTreeMap;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kubestep::api::kinds::pod::Pod;
use kubestep::api::manifest;
use kubestep::api::object::Resource;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::component::Memory;
use kubestep::cluster::history::History;
use kubestep::cluster::network::trace::TraceRequest;
use kubestep::cluster::network::traffic::SteadyClient;
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::rng::Stream;
use kubestep::cluster::scheduler;
use kubestep::cluster::workload::{
    ask_for, before_busiest_tick, before_placing, cluster_of, expose, manifest_of, rollout, run_until_quiet,
    run_until_ready, serving_cluster_of,
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

/// One decision of the scheduler: the work item of one Pod that is to be placed.
fn a_decision(c: &mut Criterion) {
    let mut group = c.benchmark_group("a scheduling decision");
    for nodes in [10, 100, 1000, 5000] {
        let cluster = before_placing(nodes);
        let pod = cluster.store.list::<Pod>().find(|pod| !pod.is_bound()).expect("one waits").key();
        let view = cluster.present_view();
        let Some(Memory::Scheduler(memory)) = cluster.component(&Actor::Scheduler).map(|it| &it.memory)
        else {
            panic!("there is a scheduler");
        };
        let key = WorkKey::Object(pod);
        let mut stream = Stream::new(1, "bench");
        group.bench_function(format!("{nodes} nodes"), |b| {
            b.iter_batched(
                || (**memory).clone(),
                |mut memory| {
                    let outcome = scheduler::reconcile(&mut memory, &mut stream, &view, &key);
                    assert!(!outcome.writes.is_empty());
                    (memory, outcome)
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// What a tick's thousand requests of one client cost, through the Service of a Deployment.
fn requests_of_a_tick(c: &mut Criterion) {
    let mut cluster = serving_cluster_of(100);
    ask_for(&mut cluster, 1000, "demo/api:1.0");
    expose(&mut cluster);
    run_until_ready(&mut cluster, 1000);
    run_until_quiet(&mut cluster);
    let client = cluster.store.list::<Pod>().next().expect("there are Pods").meta.name.clone();
    let request = TraceRequest::get("http://api.default/", 0).expect("it is an address");
    let client = SteadyClient { request: request.from_pod("default", &client), per_tick: 1000 };
    let input = cluster.trace_input();
    let tally = client.send(&input, 1);
    assert_eq!((tally.sent, tally.failures()), (1000, 0));
    c.bench_function("1,000 requests of one tick, 1,000 Pods behind a Service", |b| {
        b.iter(|| client.send(&input, 1));
    });
}

/// A tick in which nothing happens but heartbeats.
#[allow(clippy::disallowed_types, reason = "what is measured is real time")]
fn a_steady_tick(c: &mut Criterion) {
    let mut group = c.benchmark_group("a steady tick, 30 Pods a node");
    group.sample_size(20);
    let largest = std::env::var("LARGEST").ok().and_then(|text| text.parse().ok()).unwrap_or(5000);
    for nodes in [10, 100, 1000, 5000].into_iter().filter(|nodes| *nodes <= largest) {
        let mut cluster = cluster_of(nodes);
        let pods = nodes * 30;
        ask_for(&mut cluster, pods, "demo/api:1.0");
        run_until_ready(&mut cluster, pods);
        run_until_quiet(&mut cluster);
        group.bench_function(format!("{nodes} nodes, {pods} Pods"), |b| {
            b.iter_custom(|ticks| {
                let mut facts = Vec::new();
                let begin = std::time::Instant::now();
                for _ in 0..ticks {
                    cluster.finish_tick(&mut facts);
                    facts.clear();
                }
                begin.elapsed()
            });
        });
        let mut slowest = std::time::Duration::ZERO;
        for _ in 0..40 {
            let begin = std::time::Instant::now();
            cluster.finish_tick(&mut Vec::new());
            slowest = slowest.max(begin.elapsed());
        }
        println!("{nodes} nodes: the slowest of 40 ticks took {slowest:?}");
    }
    group.finish();
}

criterion_group!(
    benches,
    apply_to_ready,
    kubectl_apply,
    ticks_of_a_rollout,
    a_decision,
    requests_of_a_tick,
    a_steady_tick
);
criterion_main!(benches);
