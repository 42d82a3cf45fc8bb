//! Terms by which a Pod wants to be near other Pods, or far from them.
//!
//! Models: `pkg/scheduler/framework/types.go` (`AffinityTerm`) (v1.36). Leaves out: `matchLabelKeys` beyond what the API
//! server has written into the selectors.

use serde_json::Value;

use super::groups::Group;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::pod::Pod;
use crate::api::labels::{Labels, Selector};
use crate::api::meta::Name;
use crate::cluster::store::Store;

/// Everything that a Pod says about other Pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affinity {
    /// Pods that must be near.
    pub required: Vec<PodTerm>,
    /// Pods that must not be near.
    pub required_anti: Vec<PodTerm>,
    /// Pods that are wanted near, with weights; unwanted ones have negative weights.
    pub preferred: Vec<(PodTerm, i64)>,
}

/// One term: which Pods, and how near is near.
#[derive(Clone, Debug, PartialEq)]
pub struct PodTerm {
    selector: Selector,
    namespaces: Vec<String>,
    namespace_selector: Option<Selector>,
    /// The node label that nodes near each other share.
    pub topology_key: String,
}

impl Affinity {
    /// Reads `podAffinity` and `podAntiAffinity`.
    pub fn of(pod: &Pod) -> Self {
        let affinity = pod.spec.rest.get("affinity").unwrap_or(&Value::Null);
        let own = &pod.meta.namespace;
        let required = |part: &str| {
            let terms = affinity[part]["requiredDuringSchedulingIgnoredDuringExecution"].as_array();
            terms.into_iter().flatten().map(|term| PodTerm::read(term, own)).collect()
        };
        let mut preferred = Vec::new();
        for (part, sign) in [("podAffinity", 1), ("podAntiAffinity", -1)] {
            let terms = affinity[part]["preferredDuringSchedulingIgnoredDuringExecution"].as_array();
            for term in terms.into_iter().flatten() {
                let weight = term["weight"].as_i64().unwrap_or(0) * sign;
                preferred.push((PodTerm::read(&term["podAffinityTerm"], own), weight));
            }
        }
        Self { required: required("podAffinity"), required_anti: required("podAntiAffinity"), preferred }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.required.is_empty() && self.required_anti.is_empty() && self.preferred.is_empty()
    }
}

impl PodTerm {
    fn read(value: &Value, own_namespace: &Name) -> Self {
        let namespaces = value["namespaces"].as_array();
        let mut namespaces: Vec<String> =
            namespaces.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_string())).collect();
        let namespace_selector = value
            .get("namespaceSelector")
            .filter(|selector| !selector.is_null())
            .map(Selector::from_label_selector);
        if namespaces.is_empty() && namespace_selector.is_none() {
            namespaces.push(own_namespace.to_string());
        }
        Self {
            selector: Selector::from_label_selector(&value["labelSelector"]),
            namespaces,
            namespace_selector,
            topology_key: value["topologyKey"].as_str().unwrap_or_default().to_string(),
        }
    }

    /// Whether it means a Pod with those labels in that namespace.
    pub fn means(&self, store: &Store, namespace: &Name, labels: &Labels) -> bool {
        let is_listed = self.namespaces.iter().any(|listed| **listed == **namespace);
        let is_selected = || {
            self.namespace_selector.as_ref().is_some_and(|selector| {
                let labels = store.get::<Namespace>("", namespace).map(|found| found.meta.labels.clone());
                selector.is_everything() || labels.is_some_and(|labels| selector.matches(&labels))
            })
        };
        (is_listed || is_selected()) && self.selector.matches(labels)
    }

    /// Whether it means the Pods of that group.
    pub fn means_group(&self, store: &Store, group: &Group) -> bool {
        self.means(store, &group.namespace, &group.labels)
    }
}
