//! Pods that must be near others, and Pods that must not.
//!
//! Cured by: Pods coming or going, other labels, other terms.
//!
//! Models: `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::pod_terms::PodTerm;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "InterPodAffinity";

const REASON_AFFINITY: &str = "node(s) didn't match pod affinity rules";
const REASON_ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const REASON_UNWELCOME: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// Refuses a node far from Pods that must be near, near to Pods that must not be, or near to Pods that do not want it.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    let neighbours = &candidate.neighbours;
    let place = |term: &PodTerm| {
        let value = node.meta.labels.get(&term.topology_key)?;
        Some((term.topology_key.clone(), value.clone()))
    };
    let required = &neighbours.affinity.required;
    let places: Option<Vec<_>> = required.iter().map(place).collect();
    let is_near = match places {
        None => false,
        Some(places) => {
            places.iter().all(|place| neighbours.wanted.contains_key(place))
                || neighbours.wanted.is_empty() && neighbours.means_itself
        }
    };
    if !is_near {
        return Some(Refusal::for_good(NAME, REASON_AFFINITY));
    }
    let anti = &neighbours.affinity.required_anti;
    if anti.iter().filter_map(place).any(|place| neighbours.unwanted.contains_key(&place)) {
        return Some(Refusal::for_now(NAME, REASON_ANTI_AFFINITY));
    }
    let is_unwelcome =
        neighbours.unwelcome.keys().any(|(key, value)| node.meta.labels.get(key) == Some(value));
    is_unwelcome.then(|| Refusal::for_now(NAME, REASON_UNWELCOME))
}
