//! An allocator that counts the bytes asked for and not given back, and what a running Pod takes by that count.
#![allow(unsafe_code, reason = "an allocator is one")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use kubestep::cluster::workload::{ask_for, cluster_of, run_until_quiet, run_until_ready};

struct Counting;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes a Pod: when all run, with the Events of their start; and when those have expired.
pub fn bytes_of_a_pod(nodes: usize, pods: usize) -> (usize, usize) {
    let mut cluster = cluster_of(nodes);
    let before = LIVE_BYTES.load(Relaxed);
    let grown = || LIVE_BYTES.load(Relaxed).saturating_sub(before) / pods;
    ask_for(&mut cluster, pods, "demo/api:1.0");
    run_until_ready(&mut cluster, pods);
    run_until_quiet(&mut cluster);
    let with_events = grown();
    for _ in 0..3700 {
        cluster.finish_tick(&mut Vec::new());
    }
    (with_events, grown())
}
