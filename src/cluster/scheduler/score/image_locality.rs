//! Prefers nodes that have the Pod's images, the more the larger they are.
//!
//! Models: `pkg/scheduler/framework/plugins/imagelocality` (v1.36). Leaves out: nothing.

use super::{Feasible, MAX_SCORE};
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "ImageLocality";

const SMALLEST_BYTES: i64 = 23 << 20;
const LARGEST_BYTES_PER_CONTAINER: i64 = 1000 << 20;

/// The sizes of the images that are there, each in proportion to the share of nodes that have it.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let spec = &candidate.pod.spec;
    let containers: Vec<_> = spec.init_containers.iter().chain(&spec.containers).collect();
    // An image that is on no node counts nowhere.
    let images: Vec<(String, f64)> = containers
        .iter()
        .map(|container| with_tag(&container.image))
        .map(|image| (feasible.snapshot.nodes_with(&image), image))
        .filter(|(nodes, _)| *nodes > 0)
        .map(|(nodes, image)| (image, nodes as f64 / feasible.snapshot.count().max(1) as f64))
        .collect();
    if images.is_empty() {
        return Some(vec![0; feasible.nodes.len()]);
    }
    let largest = LARGEST_BYTES_PER_CONTAINER * i64::try_from(containers.len()).unwrap_or(1);
    let score = |sum: i64| {
        let sum = sum.clamp(SMALLEST_BYTES, largest);
        MAX_SCORE * (sum - SMALLEST_BYTES) / (largest - SMALLEST_BYTES)
    };
    let of_node = |info: &&NodeInfo| {
        let spread = |(image, share): &(String, f64)| {
            (info.images.get(image).copied().unwrap_or(0) as f64 * share) as i64
        };
        score(images.iter().map(spread).sum())
    };
    Some(feasible.nodes.iter().map(of_node).collect())
}

/// The image's name with `:latest` where it has no tag.
fn with_tag(image: &str) -> String {
    let behind_slash = image.rfind('/').map_or(0, |at| at + 1);
    if image[behind_slash..].contains(':') { image.to_string() } else { format!("{image}:latest") }
}
