//! The Pod that is being placed, with everything about it that is the same for every node.

use std::sync::Arc;

use serde_json::Value;

use super::node_terms::{PreferredTerm, RequiredTerms};
use super::requests::Requests;
use super::snapshot::host_ports;
use crate::api::kinds::cluster::Taint;
use crate::api::kinds::pod::{Pod, Toleration};
use crate::api::meta::ObjectKey;
use crate::api::object::Resource;

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
    pub ports: Vec<(String, String, i32)>,
    /// The nodes it must have.
    pub required_nodes: Option<RequiredTerms>,
    /// The nodes it would rather have.
    pub preferred_nodes: Vec<PreferredTerm>,
}

impl Candidate {
    /// Reads everything that the plugins ask about.
    pub fn new(pod: &Arc<Pod>) -> Self {
        let affinity = node_affinity(pod);
        let field = |name: &str| affinity.and_then(|affinity| affinity.get(name));
        Self {
            key: pod.key(),
            requests: Requests::of(&pod.spec),
            ports: host_ports(&pod.spec),
            required_nodes: field("requiredDuringSchedulingIgnoredDuringExecution").map(RequiredTerms::read),
            preferred_nodes: field("preferredDuringSchedulingIgnoredDuringExecution")
                .and_then(Value::as_array)
                .map(|terms| terms.iter().filter_map(PreferredTerm::read).collect())
                .unwrap_or_default(),
            pod: pod.clone(),
        }
    }

    /// Whether the Pod puts up with the taint.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.pod.spec.tolerations.iter().any(|toleration| tolerates(toleration, taint))
    }
}

fn node_affinity(pod: &Pod) -> Option<&Value> {
    pod.spec.rest.get("affinity")?.get("nodeAffinity").filter(|value| !value.is_null())
}

/// Whether the toleration covers the taint.
///
/// Models: `core/v1.Toleration.ToleratesTaint`.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match toleration.operator.as_str() {
        "" | "Equal" => toleration.value == taint.value,
        "Exists" => true,
        _ => false,
    }
}
