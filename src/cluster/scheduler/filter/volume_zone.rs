//! A volume that is in one zone can be used only on nodes of that zone.
//!
//! Cured by: nodes in the volume's zone.
//!
//! Models: `pkg/scheduler/framework/plugins/volumezone` (v1.36). Leaves out: nothing.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "VolumeZone";

const REASON: &str = "node(s) had no available volume zone";

/// The labels that name a place, the older ones behind.
const PLACES: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

/// Refuses a node outside the zones that the labels of a bound volume name. A node that names no place passes.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    let labels = &node.meta.labels;
    if candidate.volumes.bound.is_empty() || !PLACES.iter().any(|place| labels.contains_key(*place)) {
        return None;
    }
    let is_elsewhere = |volume: &serde_json::Value, place: &str| {
        let wanted = volume["metadata"]["labels"][place].as_str();
        // Several zones stand in one label, joined by two underscores.
        wanted.is_some_and(|wanted| {
            !wanted.split("__").any(|zone| labels.get(place).is_some_and(|l| l == zone))
        })
    };
    let volumes = &candidate.volumes.bound;
    let refused = volumes.iter().any(|volume| PLACES.iter().any(|place| is_elsewhere(volume, place)));
    refused.then(|| Refusal::for_good(NAME, REASON))
}
