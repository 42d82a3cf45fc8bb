//! Prefers nodes that have the Pod's images, the more the larger they are.
//!
//! Models: `pkg/scheduler/framework/plugins/imagelocality` (v1.36). Leaves out: nothing.

use super::{Feasible, MAX_SCORE};
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;

/// The rule's name.
pub const NAME: &str = "ImageLocality";

const SMALLEST_BYTES: i64 = 23 << 20;
const LARGEST_BYTES_PER_CONTAINER: i64 = 1000 << 20;

/// The sizes of the images that are there, each in proportion to the share of nodes that have it.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let spec = &candidate.pod.spec;
    let containers: Vec<_> = spec.init_containers.iter().chain(&spec.containers).collect();
    let images: Vec<(String, i64)> = containers
        .iter()
        .map(|container| with_tag(&container.image))
        .map(|image| (image.clone(), nodes_with(feasible, &image)))
        .collect();
    let all_nodes = feasible.snapshot.nodes().count();
    let largest = LARGEST_BYTES_PER_CONTAINER * i64::try_from(containers.len()).unwrap_or(1);
    let score = |sum: i64| {
        let sum = sum.clamp(SMALLEST_BYTES, largest);
        MAX_SCORE * (sum - SMALLEST_BYTES) / (largest - SMALLEST_BYTES)
    };
    let of_node = |node: &Node| {
        let spread = |(image, nodes): &(String, i64)| {
            let size = images_on(node).find(|(name, _)| name == image).map_or(0, |(_, size)| size);
            (size as f64 * (*nodes as f64 / all_nodes.max(1) as f64)) as i64
        };
        images.iter().map(spread).sum()
    };
    Some(feasible.nodes.iter().map(|info| score(info.node.as_deref().map_or(0, of_node))).collect())
}

/// On how many nodes, passed or not, the image is.
fn nodes_with(feasible: &Feasible<'_>, image: &str) -> i64 {
    let has = |node: &Node| images_on(node).any(|(name, _)| name == image);
    let nodes = feasible.snapshot.nodes().filter(|info| info.node.as_deref().is_some_and(has));
    i64::try_from(nodes.count()).unwrap_or(i64::MAX)
}

/// The images that a node says it has, with their sizes.
fn images_on(node: &Node) -> impl Iterator<Item = (&str, i64)> {
    let images = node.status.rest.get("images").and_then(|images| images.as_array());
    images.into_iter().flatten().flat_map(|image| {
        let size = image.get("sizeBytes").and_then(serde_json::Value::as_i64).unwrap_or(0);
        let names = image.get("names").and_then(|names| names.as_array());
        names.into_iter().flatten().filter_map(move |name| Some((name.as_str()?, size)))
    })
}

/// The image's name with `:latest` where it has no tag.
fn with_tag(image: &str) -> String {
    let behind_slash = image.rfind('/').map_or(0, |at| at + 1);
    if image[behind_slash..].contains(':') { image.to_string() } else { format!("{image}:latest") }
}
