//! No place may be too far ahead of the others.
//!
//! Cured by: Pods in the emptier places, more places, a larger `maxSkew`, `whenUnsatisfiable: ScheduleAnyway`.
//!
//! Models: `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go` (v1.36). Leaves out: nothing.

use std::collections::BTreeMap;

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::{NodeInfo, Snapshot};
use crate::cluster::scheduler::spread::{Constraint, Known, has_all_keys};

/// The rule's name.
pub const NAME: &str = "PodTopologySpread";

const REASON: &str = "node(s) didn't match pod topology spread constraints";
const REASON_NO_LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";

/// By constraint: how many Pods count in each place.
#[derive(Debug, Default)]
pub struct Counts(Vec<BTreeMap<String, i64>>);

impl Counts {
    /// Counts for the hard constraints of the Pod.
    pub fn of(candidate: &Candidate, snapshot: &Snapshot) -> Self {
        let constraints = &candidate.constraints.hard;
        let mut counts: Vec<BTreeMap<String, i64>> = vec![BTreeMap::new(); constraints.len()];
        let mut known: Vec<Known> = constraints.iter().map(|_| Known::default()).collect();
        if constraints.is_empty() {
            return Self(counts);
        }
        for info in snapshot.nodes() {
            let Some(node) = info.node.as_deref().filter(|_| has_all_keys(info, constraints)) else {
                continue;
            };
            for (index, constraint) in
                constraints.iter().enumerate().filter(|(_, c)| c.includes(candidate, node))
            {
                let Some(place) = node.meta.labels.get(&constraint.topology_key) else { continue };
                let namespace = &candidate.pod.meta.namespace;
                let count = constraint.count_on(snapshot.groups(), info, namespace, &mut known[index]);
                *counts[index].entry(place.clone()).or_default() += count;
            }
        }
        Self(counts)
    }
}

/// Refuses a node in a place that would get too far ahead, or in no place at all.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    for (constraint, counts) in candidate.constraints.hard.iter().zip(&candidate.spread_counts.0) {
        let Some(place) = node.meta.labels.get(&constraint.topology_key) else {
            return Some(Refusal::for_good(NAME, REASON_NO_LABEL));
        };
        let own = i64::from(constraint.counts(&candidate.pod.meta.labels));
        let here = counts.get(place).copied().unwrap_or(0);
        if here + own - emptiest(constraint, counts) > constraint.max_skew {
            return Some(Refusal::for_now(NAME, REASON));
        }
    }
    None
}

fn emptiest(constraint: &Constraint, counts: &BTreeMap<String, i64>) -> i64 {
    let places = i64::try_from(counts.len()).unwrap_or(i64::MAX);
    if places < constraint.min_domains { 0 } else { counts.values().copied().min().unwrap_or(i64::MAX / 2) }
}
