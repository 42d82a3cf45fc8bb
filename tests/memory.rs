//! What a running Pod takes of the memory stays in bounds.

#[path = "../benches/counting/mod.rs"]
mod counting;

#[test]
fn a_running_pod_takes_few_bytes_and_its_events_expire() {
    let (with_events, steady) = counting::bytes_of_a_pod(10, 300);
    println!("{with_events} bytes a Pod, {steady} when the Events have expired");
    assert!(with_events <= WITH_EVENTS_MAX, "{with_events} bytes a Pod, with the Events of its start");
    assert!(steady <= STEADY_MAX, "{steady} bytes a Pod, without Events");
}

const WITH_EVENTS_MAX: usize = 9500;
const STEADY_MAX: usize = 4700;
