//! What the scheduler says when no node takes a Pod.
//!
//! Models: `pkg/scheduler/framework/types.go` (`FitError`), `framework/preemption` (v1.36).

use std::collections::BTreeMap;

use super::filter::Refusal;

/// `0/3 nodes are available: 2 Insufficient cpu, 1 …. no new claims to deallocate, preemption: 0/3 nodes are available: …`
pub fn unschedulable(nodes: usize, refusals: &[Refusal]) -> String {
    let reasons = refusals.iter().flat_map(|refusal| refusal.reasons.iter().map(AsRef::as_ref));
    let preemption = refusals.iter().map(|refusal| {
        if refusal.is_final {
            "Preemption is not helpful for scheduling"
        } else {
            "No preemption victims found for incoming pod"
        }
    });
    format!(
        "{}. no new claims to deallocate, preemption: {}.",
        none_available(nodes, reasons),
        none_available(nodes, preemption)
    )
}

/// `0/3 nodes are available: 1 a, 2 b`: the counts as text, sorted as text.
fn none_available<'a>(nodes: usize, reasons: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut parts: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    parts.sort();
    format!("0/{nodes} nodes are available: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_sort_as_text() {
        let mut refusals = vec![Refusal::for_good("A", "node(s) were unschedulable")];
        refusals.extend((0..10).map(|_| Refusal::for_now("B", "Insufficient cpu")));
        assert_eq!(
            unschedulable(11, &refusals),
            "0/11 nodes are available: 1 node(s) were unschedulable, 10 Insufficient cpu. no new claims to deallocate, \
             preemption: 0/11 nodes are available: 1 Preemption is not helpful for scheduling, \
             10 No preemption victims found for incoming pod."
        );
    }
}
