//! The Pod that is being placed, with everything about it that is the same for every node.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::filter::node_volume_limits;
use super::filter::pod_topology_spread::Counts;
use super::filter::volume_restrictions;
use super::neighbours::{self, Neighbours};
use super::requests::Requests;
use super::snapshot::{HostPort, Snapshot, host_ports};
use super::spread::Constraints;
use super::volumes::Volumes;
use crate::api::kinds::cluster::{Node, Taint};
use crate::api::kinds::pod::{Pod, Toleration};
use crate::api::meta::ObjectKey;
use crate::api::object::Resource;
use crate::cluster::node_terms::{self, PreferredTerm, RequiredTerms};
use crate::cluster::store::Store;

/// The Pod that is being placed.
#[derive(Debug)]
pub struct Candidate {
    /// The Pod.
    pub pod: Arc<Pod>,
    /// Its key.
    pub key: ObjectKey,
    /// What it asks for.
    pub requests: Requests,
    /// The node's ports it takes.
    pub ports: Vec<HostPort>,
    /// The nodes it must have.
    pub required_nodes: Option<RequiredTerms>,
    /// The nodes it would rather have.
    pub preferred_nodes: Vec<PreferredTerm>,
    /// The claims that its volumes name.
    pub volumes: Volumes,
    /// The nodes to which its volumes cannot be attached, since there are too many.
    pub full_nodes: BTreeSet<String>,
    /// The nodes on which others use its disks.
    pub busy_nodes: BTreeSet<String>,
    /// How evenly it is to be spread.
    pub constraints: Constraints,
    /// The counts for the hard ones of these constraints.
    pub spread_counts: Counts,
    /// What it and the placed Pods think of each other.
    pub neighbours: Neighbours,
}

impl Candidate {
    /// Reads everything that the plugins ask about.
    pub fn new(pod: &Arc<Pod>, store: &Store, snapshot: &Snapshot) -> Self {
        let affinity = node_terms::node_affinity(&pod.spec);
        let field = |name: &str| affinity.and_then(|affinity| affinity.get(name));
        let mut candidate = Self {
            key: pod.key(),
            requests: Requests::of(&pod.spec),
            ports: host_ports(&pod.spec),
            required_nodes: field("requiredDuringSchedulingIgnoredDuringExecution").map(RequiredTerms::read),
            preferred_nodes: field("preferredDuringSchedulingIgnoredDuringExecution")
                .and_then(Value::as_array)
                .map(|terms| terms.iter().filter_map(PreferredTerm::read).collect())
                .unwrap_or_default(),
            pod: pod.clone(),
            volumes: Volumes::of(pod, store, snapshot),
            full_nodes: node_volume_limits::full_nodes(pod, store, snapshot),
            busy_nodes: volume_restrictions::busy_nodes(pod, store, snapshot),
            constraints: Constraints::of(pod, store),
            spread_counts: Counts::default(),
            neighbours: neighbours::count(pod, store, snapshot),
        };
        candidate.spread_counts = Counts::of(&candidate, snapshot);
        candidate
    }

    /// Whether the Pod's selector and required terms choose the node.
    pub fn selects(&self, node: &Node) -> bool {
        node_terms::has_selected_labels(&self.pod.spec, node)
            && self.required_nodes.as_ref().is_none_or(|terms| terms.match_node(node))
    }

    /// Whether the Pod puts up with the taint.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.pod.spec.tolerations.iter().any(|toleration| tolerates(toleration, taint))
    }
}

/// Whether the Pod's selector and required terms choose the node; for a Pod that is not being placed right now.
pub fn selects(pod: &Pod, node: &Node) -> bool {
    node_terms::selects(&pod.spec, node)
}

/// Whether the toleration covers the taint.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    toleration.tolerates(taint)
}
