//! What a running Pod takes of the memory, counted by the allocator. `docs/PERFORMANCE.md` has the figures.

mod counting;

fn main() {
    for nodes in [1000, 5000] {
        let pods = nodes * 30;
        let (with_events, steady) = counting::bytes_of_a_pod(nodes, pods);
        println!(
            "{nodes} nodes, {pods} Pods: {with_events} bytes a Pod, {steady} when the Events have expired"
        );
    }
}
