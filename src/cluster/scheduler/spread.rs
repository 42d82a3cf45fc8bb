//! Constraints on how evenly Pods are spread, and the counts that they are judged by.
//!
//! Models: `pkg/scheduler/framework/plugins/podtopologyspread/common.go` (v1.36) with the system's default constraints.
//! Leaves out: default constraints of the scheduler's own configuration.

use serde_json::Value;

use super::candidate::{Candidate, tolerates};
use super::groups::Groups;
use super::snapshot::NodeInfo;
use crate::api::codec::Codec;
use crate::api::kinds::apps::{LabelSelector, ReplicaSet, ReplicationController};
use crate::api::kinds::cluster::Node;
use crate::api::kinds::networking::Service;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::workloads::StatefulSet;
use crate::api::labels::{Labels, Selector};
use crate::api::meta::Name;
use crate::cluster::store::Store;

/// The label by which every node is a place of its own.
pub const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label of the zone that a node is in.
pub const ZONE: &str = "topology.kubernetes.io/zone";

/// The constraints of one Pod.
#[derive(Debug, Default)]
pub struct Constraints {
    /// Those that refuse nodes.
    pub hard: Vec<Constraint>,
    /// Those that prefer nodes.
    pub soft: Vec<Constraint>,
    /// Whether the soft ones are the system's own, which nodes without the labels do not fail.
    pub by_default: bool,
}

/// One constraint.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// How far a place may be ahead of the emptiest.
    pub max_skew: i64,
    /// The node label whose values are the places.
    pub topology_key: String,
    /// Which label that is, if it is one of those that are looked at most.
    pub places: Places,
    /// The Pods that count.
    selectors: Vec<Selector>,
    /// With fewer places than this, the emptiest counts as empty.
    pub min_domains: i64,
    honors_affinity: bool,
    honors_taints: bool,
}

/// What the places of a constraint are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// The nodes by name.
    Hostnames,
    /// The zones.
    Zones,
    /// The values of some other label.
    Others,
}

impl Places {
    fn of(topology_key: &str) -> Self {
        match topology_key {
            HOSTNAME => Self::Hostnames,
            ZONE => Self::Zones,
            _ => Self::Others,
        }
    }
}

impl Constraints {
    /// The Pod's own constraints; without any, the system's, for Pods that a Service or their controller selects.
    pub fn of(pod: &Pod, store: &Store) -> Self {
        let own = pod.spec.rest.get("topologySpreadConstraints").and_then(Value::as_array);
        if let Some(own) = own.filter(|own| !own.is_empty()) {
            let is_hard = |value: &&Value| value["whenUnsatisfiable"] != "ScheduleAnyway";
            let read = |value: &Value| Constraint::read(value, &pod.meta.labels);
            return Self {
                hard: own.iter().filter(is_hard).map(read).collect(),
                soft: own.iter().filter(|value| !is_hard(value)).map(read).collect(),
                by_default: false,
            };
        }
        let selectors = default_selectors(pod, store);
        if selectors.is_empty() {
            return Self::default();
        }
        let default = |topology_key: &str, max_skew: i64| Constraint {
            max_skew,
            topology_key: topology_key.to_string(),
            places: Places::of(topology_key),
            selectors: selectors.clone(),
            min_domains: 1,
            honors_affinity: true,
            honors_taints: false,
        };
        Self { hard: Vec::new(), soft: vec![default(HOSTNAME, 3), default(ZONE, 5)], by_default: true }
    }
}

/// The selectors of the Services that select the Pod and of the controller that owns it; all of them have to match.
fn default_selectors(pod: &Pod, store: &Store) -> Vec<Selector> {
    let services = store.list_in::<Service>(&pod.meta.namespace).map(|service| &service.spec.selector);
    let selecting = services.filter(|selector| {
        !selector.is_empty() && selector.iter().all(|(key, value)| pod.meta.labels.get(key) == Some(value))
    });
    let mut selectors: Vec<Selector> = selecting.map(Selector::from_labels).collect();
    let Some(owner) = pod.meta.controller() else { return selectors };
    let (namespace, name) = (&*pod.meta.namespace, &*owner.name);
    let of = |selector: &LabelSelector| Selector::from_label_selector(&selector.encode());
    selectors.extend(match owner.kind.as_str() {
        "ReplicaSet" => store.get::<ReplicaSet>(namespace, name).map(|it| of(&it.spec.selector)),
        "StatefulSet" => store.get::<StatefulSet>(namespace, name).map(|it| of(&it.spec.selector)),
        "ReplicationController" => store
            .get::<ReplicationController>(namespace, name)
            .map(|it| Selector::from_labels(&it.spec.selector)),
        _ => None,
    });
    selectors
}

impl Constraint {
    fn read(value: &Value, labels: &Labels) -> Self {
        let mut selectors = vec![Selector::from_label_selector(&value["labelSelector"])];
        let keys = value["matchLabelKeys"].as_array();
        let keys = keys.into_iter().flatten().filter_map(Value::as_str);
        let same: Labels = keys.filter_map(|key| Some((key.to_string(), labels.get(key)?.clone()))).collect();
        if !same.is_empty() {
            selectors.push(Selector::from_labels(&same));
        }
        Self {
            max_skew: value["maxSkew"].as_i64().unwrap_or(1),
            topology_key: value["topologyKey"].as_str().unwrap_or_default().to_string(),
            places: Places::of(value["topologyKey"].as_str().unwrap_or_default()),
            selectors,
            min_domains: value["minDomains"].as_i64().unwrap_or(1),
            honors_affinity: value["nodeAffinityPolicy"] != "Ignore",
            honors_taints: value["nodeTaintsPolicy"] == "Honor",
        }
    }

    /// Whether Pods with those labels count.
    pub fn counts(&self, labels: &Labels) -> bool {
        self.selectors.iter().all(|selector| selector.matches(labels))
    }

    /// Whether the node takes part at all.
    pub fn includes(&self, candidate: &Candidate, node: &Node) -> bool {
        let affinity = !self.honors_affinity || candidate.selects(node);
        let taints = || {
            let mut keeping = node.spec.taints.iter().filter(|t| t.effect != "PreferNoSchedule");
            keeping.all(|taint| candidate.pod.spec.tolerations.iter().any(|t| tolerates(t, taint)))
        };
        affinity && (!self.honors_taints || taints())
    }

    /// Whether nodes with taints that the Pod does not tolerate take no part.
    pub fn honors_taints(&self) -> bool {
        self.honors_taints
    }

    /// How many Pods on the node count; those on their way out do not.
    pub fn count_on(&self, groups: &Groups, info: &NodeInfo, namespace: &Name, known: &mut Known) -> i64 {
        info.groups
            .iter()
            .map(
                |(number, members)| {
                    if known.counts(self, groups, *number, namespace) { i64::from(*members) } else { 0 }
                },
            )
            .sum()
    }
}

/// Which groups a constraint counts, as far as it was asked.
#[derive(Debug, Default)]
pub struct Known(std::collections::BTreeMap<u32, bool>);

impl Known {
    fn counts(&mut self, constraint: &Constraint, groups: &Groups, number: u32, namespace: &Name) -> bool {
        *self.0.entry(number).or_insert_with(|| {
            groups.get(number).is_some_and(|group| {
                group.namespace == *namespace && !group.terminating && constraint.counts(&group.labels)
            })
        })
    }
}

/// Whether the node has the labels of all constraints.
pub fn has_all_keys(info: &NodeInfo, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|constraint| info.place(constraint).is_some())
}
