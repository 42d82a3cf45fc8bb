//! What a running Pod takes of the memory, so that no change makes it fat unnoticed. `cargo bench --bench memory` measures at
//! full size.

#![allow(clippy::unwrap_used)]

use kubestep::api::kind::Kind;
use kubestep::cluster::workload::{ask_for, cluster_of, run_until_quiet, run_until_ready};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Two kilobytes, and what a cluster of this size has once, whatever runs in it.
const MOST_BYTES_A_POD: usize = 2200;

#[test]
fn a_pod_at_rest_takes_two_kilobytes_and_its_events_go_after_an_hour() {
    let (nodes, pods) = (60, 1800);
    let mut cluster = cluster_of(nodes);
    let empty_bytes = ALLOCATOR.current_usage();
    ask_for(&mut cluster, pods, "demo/api:1.0");
    run_until_ready(&mut cluster, pods);
    run_until_quiet(&mut cluster);
    let told = cluster.store.objects_of(Kind::Event).count();
    assert!(told > 4 * pods, "each Pod's way has been told: {told}");
    for _ in 0..3700 {
        cluster.finish_tick(&mut Vec::new());
    }
    assert_eq!(cluster.store.objects_of(Kind::Event).count(), 0);
    let bytes = ALLOCATOR.current_usage().saturating_sub(empty_bytes) / pods;
    assert!(bytes <= MOST_BYTES_A_POD, "a Pod takes {bytes} bytes");
}
