//! What the scheduler says when no node takes a Pod.
//!
//! Models: `pkg/scheduler/framework/types.go` (`FitError`), `framework/preemption` (v1.36).

use std::collections::BTreeMap;

/// What the rules that act on a failure say of a Pod that was refused before any node was asked.
pub const NOT_FOUND: &str = "not found";

/// `0/3 nodes are available: 2 Insufficient cpu, 1 ….`, and what the rules that act on a failure say of it.
pub fn unschedulable<'a>(
    nodes: usize,
    reasons: impl Iterator<Item = &'a str>,
    afterwards: Option<&str>,
) -> String {
    ended(none_available(nodes, reasons), afterwards)
}

/// What is said afterwards when displacing others is no way out.
pub fn in_vain(why: &str) -> String {
    format!("no new claims to deallocate, preemption: {why}")
}

/// Why displacing others helps on no node.
pub fn no_preemption<'a>(nodes: usize, reasons: impl Iterator<Item = &'a str>) -> String {
    format!("{}.", none_available(nodes, reasons))
}

/// `0/3 nodes are available: pod affinity terms conflict.`, and what is said afterwards.
pub fn refused_at_once(nodes: usize, why: &str, afterwards: Option<&str>) -> String {
    ended(format!("0/{nodes} nodes are available: {why}"), afterwards)
}

fn ended(mut message: String, afterwards: Option<&str>) -> String {
    message.push('.');
    if let Some(afterwards) = afterwards {
        message.push(' ');
        message.push_str(afterwards);
    }
    message
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
        let mut reasons = vec!["node(s) were unschedulable"];
        reasons.extend([("Insufficient cpu"); 10]);
        assert_eq!(
            unschedulable(11, reasons.into_iter(), Some(&in_vain("no"))),
            "0/11 nodes are available: 1 node(s) were unschedulable, 10 Insufficient cpu. no new claims to deallocate, \
             preemption: no"
        );
    }
}
