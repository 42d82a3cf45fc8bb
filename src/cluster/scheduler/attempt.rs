//! One attempt to place one Pod: every node asked, the best one chosen.
//!
//! Models: `pkg/scheduler/schedule_one.go` (v1.36): filter, score, select; sampling of nodes in large clusters.
//! Leaves out: extenders. A tie goes to the node that was there first, where a real scheduler lets the
//! order in which its threads finish decide.

use std::sync::Arc;

use super::candidate::Candidate;
use super::filter::{FILTERS, Filter, Refusal};
use super::message;
use super::nominated::Nominated;
use super::score::{Feasible, SCORES};
use super::snapshot::{NodeInfo, Snapshot};
use crate::api::kinds::pod::Pod;
use crate::api::meta::Name;
use crate::cluster::node_terms::NamedNodes;
use crate::cluster::store::Store;
use crate::cluster::verdict::{FilterVerdict, NodeVerdict, Scores, Verdicts};

/// What one attempt goes by.
#[derive(Clone, Copy, Debug)]
pub struct Placing<'a> {
    /// The Pod.
    pub pod: &'a Arc<Pod>,
    /// What the scheduler sees of the cluster.
    pub store: &'a Store,
    /// What stands where.
    pub snapshot: &'a Snapshot,
    /// The Pods for which room is being made.
    pub nominated: &'a Nominated,
}

impl Placing<'_> {
    /// Why the node would refuse the Pod if things stood as in `snapshot`.
    pub fn in_thought(&self, snapshot: &Snapshot, node: &Name) -> Option<Refusal> {
        let ask = |snapshot: &Snapshot| {
            let info = snapshot.node(node)?;
            let node = info.node.as_ref()?;
            let candidate = Candidate::new(self.pod, self.store, snapshot);
            FILTERS.iter().find_map(|filter| (filter.refuse)(&candidate, node, info))
        };
        self.with_nominated(snapshot, node).and_then(|snapshot| ask(&snapshot)).or_else(|| ask(snapshot))
    }

    /// The snapshot with the Pods on that node for which room is being made there, if there are any that matter.
    fn with_nominated(&self, snapshot: &Snapshot, node: &Name) -> Option<Snapshot> {
        if self.nominated.is_empty() {
            return None;
        }
        let mut ahead = self.nominated.ahead_of(self.pod, node).peekable();
        ahead.peek()?;
        let mut snapshot = snapshot.clone();
        ahead.for_each(|pod| snapshot.place(pod, node));
        Some(snapshot)
    }
}

/// What an attempt came to.
#[derive(Debug)]
pub struct Attempt {
    /// What was thought of each node, and the choice.
    pub verdicts: Verdicts,
    /// The rules that refused nodes.
    pub refused_by: Vec<&'static str>,
    /// What each node that was asked refused, in the order of asking.
    pub refusals: Vec<(Name, Refusal)>,
    /// Whether the node that was being cleared for the Pod takes it, so that no other was asked.
    pub is_cleared: bool,
    /// How many nodes share the highest score.
    pub tied: usize,
    /// The number of the node at which the next attempt begins to look, in large clusters.
    pub next_start: u64,
}

/// Refused by the terms of the Pod before any node was asked.
const CONFLICT: &str = "pod affinity terms conflict";

const NOT_NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/// Asks every rule about every node and chooses. In a cluster of 100 nodes or more, asking ends when enough nodes have
/// passed, and begins at `start`. The node that is being cleared for the Pod is asked first, and is chosen if it passes.
pub fn attempt(placing: &Placing<'_>, candidate: &Candidate, start: u64) -> Attempt {
    let snapshot = placing.snapshot;
    let nodes = snapshot.count();
    let mut result = Attempt {
        verdicts: Verdicts::default(),
        refused_by: Vec::new(),
        refusals: Vec::new(),
        is_cleared: false,
        tied: 0,
        next_start: start,
    };
    if nodes == 0 {
        result.verdicts.message = "no nodes available to schedule pods".to_string();
        return result;
    }
    let named = candidate.required_nodes.as_ref().map_or(NamedNodes::Any, |terms| terms.named_nodes());
    if named == NamedNodes::Conflict {
        result.refused_by.push(super::filter::node_affinity::NAME);
        result.verdicts.message = message::refused_at_once(nodes, CONFLICT, Some(message::NOT_FOUND));
        return result;
    }
    if let Some((plugin, trouble)) = &candidate.volumes.trouble {
        result.refused_by.push(plugin);
        result.verdicts.message = message::refused_at_once(nodes, trouble, Some(message::NOT_FOUND));
        return result;
    }

    let all_passed: Arc<[FilterVerdict]> = FILTERS.iter().map(passed).collect();
    let concerned: Vec<(usize, &Filter)> =
        FILTERS.iter().enumerate().filter(|(_, filter)| (filter.concerns)(candidate)).collect();
    let asking = Asking { placing, candidate, named: &named, all_passed: &all_passed, concerned: &concerned };
    let nominated = &placing.pod.status.nominated_node_name;
    if !nominated.is_empty()
        && let Some(info) = snapshot.node(nominated).filter(|info| info.node.is_some())
        && let (verdict, None) = asking.ask(info)
    {
        result.verdicts.nodes.push(verdict);
        result.verdicts.chosen = Some(nominated.clone());
        result.is_cleared = true;
        result.tied = 1;
        return result;
    }
    let enough = enough_nodes(nodes);
    result.verdicts.nodes.reserve(enough);
    let mut feasible: Vec<(usize, &NodeInfo)> = Vec::new();
    for (number, info) in snapshot.nodes_from(start) {
        if feasible.len() >= enough {
            result.next_start = number;
            break;
        }
        let (verdict, refusal) = asking.ask(info);
        match refusal {
            None => feasible.push((result.verdicts.nodes.len(), info)),
            Some(refusal) => {
                if !result.refused_by.contains(&refusal.plugin) {
                    result.refused_by.push(refusal.plugin);
                }
                result.refusals.push((info.name.clone(), refusal));
            }
        }
        result.verdicts.nodes.push(verdict);
    }

    match feasible.as_slice() {
        [] => {}
        [(_, only)] => {
            result.tied = 1;
            result.verdicts.chosen = Some(only.name.clone());
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

impl Attempt {
    /// Why no node took the Pod, in the scheduler's words; with why displacing others is no way out, unless it is one.
    pub fn message(&self, nodes: usize, preemption: Option<&str>) -> String {
        if self.refusals.is_empty() {
            return self.verdicts.message.clone();
        }
        let reasons = self.refusals.iter().flat_map(|(_, refusal)| &refusal.reasons).map(AsRef::as_ref);
        message::unschedulable(nodes, reasons, preemption.map(message::in_vain).as_deref())
    }
}

/// What is the same for all nodes of one attempt.
struct Asking<'a> {
    placing: &'a Placing<'a>,
    candidate: &'a Candidate,
    named: &'a NamedNodes,
    /// The rules that have something to say about the Pod, with their places among all.
    concerned: &'a [(usize, &'static Filter)],
    all_passed: &'a Arc<[FilterVerdict]>,
}

impl Asking<'_> {
    /// What every rule says of one node, until one refuses it. Where room is being made for more important Pods, the rules are
    /// asked with them, too.
    fn ask(&self, info: &NodeInfo) -> (NodeVerdict, Option<Refusal>) {
        let verdict = |filters| NodeVerdict { node: info.name.clone(), filters, scores: Scores::default() };
        let Some(node) = &info.node else { return (verdict(Arc::default()), None) };
        if let NamedNodes::Only(names) = self.named
            && !names.iter().any(|name| **name == *node.meta.name)
        {
            let refusal = Refusal::for_good(super::filter::node_affinity::NAME, NOT_NAMED);
            let early = FilterVerdict { before_asking: true, ..refused(&refusal) };
            return (verdict(Arc::from([early])), Some(refusal));
        }
        let first_refusal = |candidate: &Candidate, info: &NodeInfo| {
            let mut asked = self.concerned.iter();
            asked.find_map(|(at, filter)| Some((*at, (filter.refuse)(candidate, node, info)?)))
        };
        let with_nominated = || {
            let placing = self.placing;
            let snapshot = placing.with_nominated(placing.snapshot, &node.meta.name)?;
            let candidate = Candidate::new(placing.pod, placing.store, &snapshot);
            let info = snapshot.node(&node.meta.name)?;
            // With those Pods, rules may be concerned that were not without them.
            let mut asked = FILTERS.iter().enumerate();
            asked.find_map(|(at, filter)| Some((at, (filter.refuse)(&candidate, node, info)?)))
        };
        let refusal = with_nominated().or_else(|| first_refusal(self.candidate, info));
        match refusal {
            None => (verdict(Arc::clone(self.all_passed)), None),
            Some((at, refusal)) => {
                let before = FILTERS[..at].iter().map(passed);
                (verdict(before.chain([refused(&refusal)]).collect()), Some(refusal))
            }
        }
    }
}

fn passed(filter: &Filter) -> FilterVerdict {
    FilterVerdict { plugin: filter.plugin, reasons: Vec::new(), before_asking: false }
}

fn refused(refusal: &Refusal) -> FilterVerdict {
    FilterVerdict {
        plugin: refusal.plugin,
        reasons: refusal.reasons.iter().map(ToString::to_string).collect(),
        before_asking: false,
    }
}

/// Adds each rule's weighted score to the verdicts of the nodes that passed.
fn score(candidate: &Candidate, snapshot: &Snapshot, passed: &[(usize, &NodeInfo)], verdicts: &mut Verdicts) {
    let feasible = Feasible { nodes: passed.iter().map(|(_, info)| *info).collect(), snapshot };
    for (place, rule) in SCORES.iter().enumerate() {
        if let Some(scores) = (rule.score)(candidate, &feasible) {
            for ((at, _), score) in passed.iter().zip(scores) {
                verdicts.nodes[*at].scores.set(place, score * rule.weight);
            }
        }
    }
}

/// The first of the nodes with the highest total, and how many share it.
fn best(passed: &[(usize, &NodeInfo)], verdicts: &Verdicts) -> (Name, usize) {
    let (mut highest, mut first, mut tied) = (i64::MIN, 0, 0);
    for (index, (at, _)) in passed.iter().enumerate() {
        let total = verdicts.nodes[*at].total();
        if total > highest {
            (highest, first, tied) = (total, index, 0);
        }
        tied += usize::from(total == highest);
    }
    (passed[first].1.name.clone(), tied)
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
        let (pod, store, snapshot) = (Arc::new(pod), Store::default(), snapshot(nodes));
        let placing =
            Placing { pod: &pod, store: &store, snapshot: &snapshot, nominated: &Nominated::default() };
        attempt(&placing, &Candidate::new(&pod, &store, &snapshot), 0)
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
        assert_eq!(attempt.message(2, None), "0/2 nodes are available: 2 Insufficient cpu.");
        let final_ones: Vec<bool> = attempt.refusals.iter().map(|(_, refusal)| refusal.is_final).collect();
        assert_eq!(final_ones, [true, false], "the first is too small even when it is empty");
    }

    #[test]
    fn large_clusters_are_sampled() {
        for (nodes, enough) in [(3, 3), (99, 99), (100, 100), (250, 120), (5000, 500), (15_000, 750)] {
            assert_eq!(enough_nodes(nodes), enough, "{nodes} nodes");
        }
    }
}
