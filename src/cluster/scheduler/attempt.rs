//! One attempt to place one Pod: every node asked, the best one chosen.
//!
//! Models: `pkg/scheduler/schedule_one.go` (v1.36): filter, score, select; sampling of nodes in large clusters.
//! Leaves out: nominated nodes, extenders. A tie goes to the node that was there first, where a real scheduler lets the
//! order in which its threads finish decide.

use std::sync::Arc;

use super::candidate::Candidate;
use super::filter::{FILTERS, Filter, Refusal};
use super::node_terms::NamedNodes;
use super::score::{Feasible, SCORES};
use super::snapshot::{NodeInfo, Snapshot};
use crate::api::meta::Name;
use crate::cluster::verdict::{FilterVerdict, NodeVerdict, Verdicts};

/// What an attempt came to.
#[derive(Debug)]
pub struct Attempt {
    /// What was thought of each node, and the choice.
    pub verdicts: Verdicts,
    /// The rules that refused nodes.
    pub refused_by: Vec<&'static str>,
    /// How many nodes share the highest score.
    pub tied: usize,
    /// Where the next attempt begins to look, in large clusters.
    pub next_start: usize,
}

/// Refused by the terms of the Pod before any node was asked.
const CONFLICT: &str = "pod affinity terms conflict";

const NOT_NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/// Asks every rule about every node and chooses. In a cluster of 100 nodes or more, asking ends when enough nodes have
/// passed, and begins at `start`.
pub fn attempt(candidate: &Candidate, snapshot: &Snapshot, start: usize) -> Attempt {
    let nodes: Vec<&NodeInfo> = snapshot.nodes().map(AsRef::as_ref).collect();
    let mut result =
        Attempt { verdicts: Verdicts::default(), refused_by: Vec::new(), tied: 0, next_start: 0 };
    if nodes.is_empty() {
        result.verdicts.message = "no nodes available to schedule pods".to_string();
        return result;
    }
    if let Some(trouble) = &candidate.claim_trouble {
        result.refused_by.push("VolumeBinding");
        result.verdicts.message = format!("0/{} nodes are available: {trouble}. not found", nodes.len());
        return result;
    }
    let named = candidate.required_nodes.as_ref().map_or(NamedNodes::Any, |terms| terms.named_nodes());
    if named == NamedNodes::Conflict {
        result.refused_by.push(super::filter::node_affinity::NAME);
        result.verdicts.message = format!("0/{} nodes are available: {CONFLICT}. not found", nodes.len());
        return result;
    }

    let all_passed: Arc<[FilterVerdict]> = FILTERS.iter().map(passed).collect();
    let enough = enough_nodes(nodes.len());
    result.verdicts.nodes.reserve(nodes.len());
    let mut feasible: Vec<(usize, &NodeInfo)> = Vec::new();
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut asked = 0;
    for offset in 0..nodes.len() {
        if feasible.len() >= enough {
            break;
        }
        asked += 1;
        let info = nodes[(start + offset) % nodes.len()];
        let (verdict, refusal) = ask(candidate, info, &named, &all_passed);
        match refusal {
            None => feasible.push((result.verdicts.nodes.len(), info)),
            Some(refusal) => {
                if !result.refused_by.contains(&refusal.plugin) {
                    result.refused_by.push(refusal.plugin);
                }
                refusals.push(refusal);
            }
        }
        result.verdicts.nodes.push(verdict);
    }
    result.next_start = (start + asked) % nodes.len();

    match feasible.as_slice() {
        [] => result.verdicts.message = super::message::unschedulable(nodes.len(), &refusals),
        [(_, only)] => {
            result.tied = 1;
            result.verdicts.chosen = Some(only.name());
        }
        _ => {
            score(candidate, snapshot, &feasible, &mut result.verdicts);
            let (chosen, tied) = best(&feasible, &result.verdicts);
            result.tied = tied;
            result.verdicts.chosen = Some(chosen);
        }
    }
    result
}

/// What every rule says of one node, until one refuses it.
fn ask(
    candidate: &Candidate,
    info: &NodeInfo,
    named: &NamedNodes,
    all_passed: &Arc<[FilterVerdict]>,
) -> (NodeVerdict, Option<Refusal>) {
    let verdict = |filters| NodeVerdict { node: info.name(), filters, scores: Vec::new() };
    let Some(node) = &info.node else { return (verdict(Arc::default()), None) };
    if let NamedNodes::Only(names) = named
        && !names.iter().any(|name| **name == *node.meta.name)
    {
        let refusal = Refusal::for_good(super::filter::node_affinity::NAME, NOT_NAMED);
        return (verdict(Arc::from([refused(&refusal)])), Some(refusal));
    }
    let asked = FILTERS.iter().enumerate();
    match asked.into_iter().find_map(|(at, filter)| Some((at, (filter.refuse)(candidate, node, info)?))) {
        None => (verdict(Arc::clone(all_passed)), None),
        Some((at, refusal)) => {
            let before = FILTERS[..at].iter().map(passed);
            (verdict(before.chain([refused(&refusal)]).collect()), Some(refusal))
        }
    }
}

fn passed(filter: &Filter) -> FilterVerdict {
    FilterVerdict { plugin: filter.plugin, reasons: Vec::new() }
}

fn refused(refusal: &Refusal) -> FilterVerdict {
    FilterVerdict {
        plugin: refusal.plugin,
        reasons: refusal.reasons.iter().map(ToString::to_string).collect(),
    }
}

/// Adds each rule's weighted score to the verdicts of the nodes that passed.
fn score(candidate: &Candidate, snapshot: &Snapshot, passed: &[(usize, &NodeInfo)], verdicts: &mut Verdicts) {
    for (at, _) in passed {
        verdicts.nodes[*at].scores.reserve_exact(SCORES.len());
    }
    let feasible = Feasible { nodes: passed.iter().map(|(_, info)| *info).collect(), snapshot };
    for rule in SCORES {
        if let Some(scores) = (rule.score)(candidate, &feasible) {
            for ((at, _), score) in passed.iter().zip(scores) {
                verdicts.nodes[*at].scores.push((rule.plugin, score * rule.weight));
            }
        }
    }
}

/// The first of the nodes with the highest total, and how many share it.
fn best(passed: &[(usize, &NodeInfo)], verdicts: &Verdicts) -> (Name, usize) {
    let totals: Vec<i64> = passed.iter().map(|(at, _)| verdicts.nodes[*at].total()).collect();
    let highest = totals.iter().copied().max().unwrap_or(0);
    let tied = totals.iter().filter(|total| **total == highest).count();
    let first = totals.iter().position(|total| *total == highest).unwrap_or(0);
    (passed[first].1.name(), tied)
}

/// How many nodes have to pass before the asking ends.
///
/// Models: `numFeasibleNodesToFind` with the default (adaptive) percentage.
fn enough_nodes(nodes: usize) -> usize {
    const ALWAYS: usize = 100;
    if nodes < ALWAYS {
        return nodes;
    }
    let percentage = 50_usize.saturating_sub(nodes / 125).max(5);
    (nodes * percentage / 100).max(ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use crate::api::kinds::cluster::Node;
    use crate::api::kinds::pod::Pod;
    use crate::cluster::store::Store;
    use serde_json::{Value, json};

    fn snapshot(nodes: &[(&str, &str, &str)]) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (name, cpu, used) in nodes {
            let node = json!({"metadata": {"name": name}, "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}});
            let node_name: Name = (*name).into();
            snapshot.see_node(&node_name, Some(&Arc::new(Node::decode(node).unwrap())));
            let spec = json!({"containers": [{"resources": {"requests": {"cpu": used, "memory": "0"}}}]});
            let pod =
                Pod::decode(json!({"metadata": {"name": name, "namespace": "demo"}, "spec": spec})).unwrap();
            snapshot.place(&pod, &node_name);
        }
        snapshot
    }

    fn place(nodes: &[(&str, &str, &str)], requests: Value) -> Attempt {
        let spec = json!({"containers": [{"resources": {"requests": requests}}]});
        let pod = Pod::decode(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
        let snapshot = snapshot(nodes);
        attempt(&Candidate::new(&Arc::new(pod), &Store::default(), &snapshot), &snapshot, 0)
    }

    #[test]
    fn the_emptiest_node_is_chosen_and_a_tie_goes_to_the_first() {
        let ask = || json!({"cpu": "100m", "memory": "100Mi"});
        let chosen = |nodes: &[(&str, &str, &str)]| place(nodes, ask()).verdicts.chosen.unwrap().to_string();
        assert_eq!(chosen(&[("a", "4", "2"), ("b", "4", "1")]), "b");
        assert_eq!(chosen(&[("b", "4", "1"), ("a", "4", "1")]), "b");
        assert_eq!(place(&[("a", "4", "1"), ("b", "4", "1")], ask()).tied, 2);
    }

    #[test]
    fn one_feasible_node_is_not_scored() {
        let attempt = place(&[("a", "1", "1"), ("b", "4", "1")], json!({"cpu": "1"}));
        assert_eq!(attempt.verdicts.chosen.as_deref(), Some("b"));
        assert!(attempt.verdicts.nodes.iter().all(|node| node.scores.is_empty()));
    }

    #[test]
    fn when_every_node_refuses_the_message_counts_the_reasons() {
        let attempt = place(&[("a", "1", "1"), ("b", "4", "1")], json!({"cpu": "4"}));
        assert_eq!(
            attempt.verdicts.message,
            "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: \
             1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
        );
    }

    #[test]
    fn large_clusters_are_sampled() {
        for (nodes, enough) in [(3, 3), (99, 99), (100, 100), (250, 120), (5000, 500), (15_000, 750)] {
            assert_eq!(enough_nodes(nodes), enough, "{nodes} nodes");
        }
    }
}
