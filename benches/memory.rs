//! What a running Pod takes of the memory: bytes that are allocated, not pages that the process holds.
//!
//! `MEMORY_NODES` (5,000) nodes get `MEMORY_PODS` (30) Pods each. Measured are the growth from the empty nodes to all Pods
//! running, with the Events that tell how they got there, and what is left of it once those have expired.

use kubestep::api::kind::Kind;
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::workload::{ask_for, cluster_of, run_until_quiet, run_until_ready};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn events(cluster: &Cluster) -> usize {
    cluster.store.objects_of(Kind::Event).count()
}

fn main() {
    let nodes = number("MEMORY_NODES", 5000);
    let pods = nodes * number("MEMORY_PODS", 30);
    let mut cluster = cluster_of(nodes);
    let empty = ALLOCATOR.current_usage();
    let tell = |what: &str, cluster: &Cluster| {
        let bytes = ALLOCATOR.current_usage().saturating_sub(empty) / pods;
        println!("{nodes} nodes, {pods} Pods, {what}: {bytes} bytes a Pod, {} Events", events(cluster));
    };
    ask_for(&mut cluster, pods, "demo/api:1.0");
    run_until_ready(&mut cluster, pods);
    run_until_quiet(&mut cluster);
    tell("just started", &cluster);
    if std::env::var_os("MEMORY_STOP").is_some() {
        std::process::exit(0);
    }
    let mut facts = Vec::new();
    for _ in 0..3700 {
        cluster.finish_tick(&mut facts);
        facts.clear();
    }
    tell("an hour later", &cluster);
    std::process::exit(0);
}
