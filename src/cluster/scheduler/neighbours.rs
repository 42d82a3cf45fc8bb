//! How the Pod that is being placed and the Pods that are placed see each other, counted once per attempt.
//!
//! Models: the pre-filter and pre-score states of `pkg/scheduler/framework/plugins/interpodaffinity` (v1.36).

use std::collections::BTreeMap;

use super::pod_terms::Affinity;
use super::snapshot::Snapshot;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::Pod;
use crate::cluster::store::Store;

/// A place: a node label and its value.
pub type Place = (String, String);

/// The weight of a placed Pod's required affinity in the scores.
const REQUIRED_WEIGHT: i64 = 1;

/// What was counted.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// What the Pod says about others.
    pub affinity: Affinity,
    /// Whether the Pod itself is one that its required terms mean.
    pub means_itself: bool,
    /// By place: Pods that all required terms mean.
    pub wanted: BTreeMap<Place, i64>,
    /// By place: Pods that a required anti-affinity term means.
    pub unwanted: BTreeMap<Place, i64>,
    /// By place: placed Pods that do not want this Pod near.
    pub unwelcome: BTreeMap<Place, i64>,
    /// By place: the sum of the weights.
    pub scores: BTreeMap<Place, i64>,
}

impl Neighbours {
    /// Whether the Pod or a placed one says what must be near to whom, or must not be.
    pub fn may_refuse(&self) -> bool {
        !self.affinity.required.is_empty()
            || !self.affinity.required_anti.is_empty()
            || !self.unwelcome.is_empty()
    }
}

/// Counts over all nodes, group by group.
pub fn count(pod: &Pod, store: &Store, snapshot: &Snapshot) -> Neighbours {
    let affinity = Affinity::of(pod);
    let mut found = Neighbours::default();
    if affinity.is_empty() && !snapshot.groups().have_affinity() {
        return found;
    }
    let (namespace, labels) = (&pod.meta.namespace, &pod.meta.labels);
    found.means_itself = affinity.required.iter().all(|term| term.means(store, namespace, labels));
    // What each group means to the Pod, and the Pod to it: asked once, however many nodes have the group.
    let mut opinions: BTreeMap<u32, Opinion> = BTreeMap::new();
    for info in snapshot.nodes() {
        let Some(node) = &info.node else { continue };
        for (number, members) in &info.groups {
            let opinion =
                opinions.entry(*number).or_insert_with(|| opinion(pod, &affinity, *number, store, snapshot));
            let members = i64::from(*members);
            add(&mut found.wanted, node, &opinion.wanted, members);
            add(&mut found.unwanted, node, &opinion.unwanted, members);
            add(&mut found.unwelcome, node, &opinion.unwelcome, members);
            for (key, weight) in &opinion.weights {
                add(&mut found.scores, node, std::slice::from_ref(key), weight * members);
            }
        }
    }
    found.affinity = affinity;
    found
}

/// What one group and the Pod think of each other, as node labels that count.
#[derive(Debug, Default)]
struct Opinion {
    wanted: Vec<String>,
    unwanted: Vec<String>,
    unwelcome: Vec<String>,
    weights: Vec<(String, i64)>,
}

fn opinion(pod: &Pod, affinity: &Affinity, number: u32, store: &Store, snapshot: &Snapshot) -> Opinion {
    let mut opinion = Opinion::default();
    let Some(group) = snapshot.groups().get(number) else { return opinion };
    let (namespace, labels) = (&pod.meta.namespace, &pod.meta.labels);
    if !affinity.required.is_empty() && affinity.required.iter().all(|term| term.means_group(store, group)) {
        opinion.wanted = affinity.required.iter().map(|term| term.topology_key.clone()).collect();
    }
    for term in affinity.required_anti.iter().filter(|term| term.means_group(store, group)) {
        opinion.unwanted.push(term.topology_key.clone());
    }
    for term in group.affinity.required_anti.iter().filter(|term| term.means(store, namespace, labels)) {
        opinion.unwelcome.push(term.topology_key.clone());
    }
    for (term, weight) in affinity.preferred.iter().filter(|(term, _)| term.means_group(store, group)) {
        opinion.weights.push((term.topology_key.clone(), *weight));
    }
    for term in group.affinity.required.iter().filter(|term| term.means(store, namespace, labels)) {
        opinion.weights.push((term.topology_key.clone(), REQUIRED_WEIGHT));
    }
    for (term, weight) in
        group.affinity.preferred.iter().filter(|(term, _)| term.means(store, namespace, labels))
    {
        opinion.weights.push((term.topology_key.clone(), *weight));
    }
    opinion
}

fn add(counts: &mut BTreeMap<Place, i64>, node: &Node, keys: &[String], amount: i64) {
    for key in keys {
        if let Some(value) = node.meta.labels.get(key) {
            *counts.entry((key.clone(), value.clone())).or_default() += amount;
        }
    }
}
