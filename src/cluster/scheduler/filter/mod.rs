//! Rules that refuse nodes, in the order in which they are asked. One file per rule.

pub mod inter_pod_affinity;
pub mod node_affinity;
pub mod node_name;
pub mod node_ports;
pub mod node_resources_fit;
pub mod node_unschedulable;
pub mod node_volume_limits;
pub mod pod_topology_spread;
pub mod taint_toleration;
pub mod volume_binding;
pub mod volume_restrictions;
pub mod volume_zone;

use std::borrow::Cow;

use super::candidate::Candidate;
use super::snapshot::NodeInfo;
use crate::api::kinds::cluster::Node;

/// Why a rule refuses a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The rule.
    pub plugin: &'static str,
    /// In the scheduler's words; at least one.
    pub reasons: Vec<Cow<'static, str>>,
    /// Whether the node would still be refused if other Pods went away.
    pub is_final: bool,
}

impl Refusal {
    /// A refusal that ends when other Pods go away.
    pub fn for_now(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { plugin, reasons: vec![reason.into()], is_final: false }
    }

    /// A refusal that has nothing to do with other Pods.
    pub fn for_good(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { is_final: true, ..Self::for_now(plugin, reason) }
    }
}

/// One rule.
#[derive(Clone, Copy)]
pub struct Filter {
    /// Its name.
    pub plugin: &'static str,
    /// Asks about one node.
    pub refuse: fn(&Candidate, &Node, &NodeInfo) -> Option<Refusal>,
    /// Whether it has anything to say about the Pod at all; one that has not passes every node.
    pub concerns: fn(&Candidate) -> bool,
}

fn always(_candidate: &Candidate) -> bool {
    true
}

/// The rules, in the scheduler's order.
pub const FILTERS: &[Filter] = &[
    Filter { plugin: node_unschedulable::NAME, refuse: node_unschedulable::refuse, concerns: always },
    Filter {
        plugin: node_name::NAME,
        refuse: node_name::refuse,
        concerns: |it| !it.pod.node_name.is_empty(),
    },
    Filter { plugin: taint_toleration::NAME, refuse: taint_toleration::refuse, concerns: always },
    Filter {
        plugin: node_affinity::NAME,
        refuse: node_affinity::refuse,
        concerns: |it| it.required_nodes.is_some() || !it.pod.spec.node_selector.is_empty(),
    },
    Filter { plugin: node_ports::NAME, refuse: node_ports::refuse, concerns: |it| !it.ports.is_empty() },
    Filter { plugin: node_resources_fit::NAME, refuse: node_resources_fit::refuse, concerns: always },
    Filter {
        plugin: volume_restrictions::NAME,
        refuse: volume_restrictions::refuse,
        concerns: |it| it.volumes.in_use_elsewhere || !it.busy_nodes.is_empty(),
    },
    Filter {
        plugin: node_volume_limits::NAME,
        refuse: node_volume_limits::refuse,
        concerns: |it| !it.full_nodes.is_empty(),
    },
    Filter {
        plugin: volume_binding::NAME,
        refuse: volume_binding::refuse,
        concerns: |it| it.volumes.has_claims(),
    },
    Filter {
        plugin: volume_zone::NAME,
        refuse: volume_zone::refuse,
        concerns: |it| !it.volumes.bound.is_empty(),
    },
    Filter {
        plugin: pod_topology_spread::NAME,
        refuse: pod_topology_spread::refuse,
        concerns: |it| !it.constraints.hard.is_empty(),
    },
    Filter {
        plugin: inter_pod_affinity::NAME,
        refuse: inter_pod_affinity::refuse,
        concerns: |it| it.neighbours.may_refuse(),
    },
];

#[cfg(test)]
pub(in crate::cluster::scheduler) mod testing {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::api::codec::Codec;
    use crate::api::kinds::pod::Pod;
    use crate::api::meta::Name;
    use crate::cluster::scheduler::snapshot::Snapshot;
    use crate::cluster::store::Store;

    /// The reasons for which `refuse` sends a Pod of that spec away from a node of that shape.
    pub fn reasons(
        refuse: fn(&Candidate, &Node, &NodeInfo) -> Option<Refusal>,
        spec: Value,
        node: Value,
    ) -> Vec<String> {
        let pod = Pod::decode(json!({"metadata": {"name": "p", "namespace": "demo"}, "spec": spec})).unwrap();
        let node = Arc::new(Node::decode(node).unwrap());
        let name: Name = node.meta.name.clone();
        let mut snapshot = Snapshot::default();
        snapshot.see_node(&name, Some(&node));
        let info = snapshot.node(&name).unwrap();
        let candidate = Candidate::new(&Arc::new(pod), &Store::default(), &snapshot);
        let refusal = refuse(&candidate, &node, info);
        refusal.map_or(Vec::new(), |refusal| refusal.reasons.into_iter().map(Cow::into_owned).collect())
    }
}
