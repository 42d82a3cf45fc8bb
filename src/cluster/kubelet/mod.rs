//! The kubelet of one node. Not written yet.

use crate::api::meta::Name;
use crate::cluster::actor::Actor;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::rng::Stream;
use crate::cluster::runtime::node::NodeRuntime;
use crate::cluster::store::Change;

/// What a kubelet keeps to itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// What runs on its node.
    pub runtime: NodeRuntime,
}

/// The kubelets that a change concerns, with their keys.
pub fn concerns(_view: &View<'_>, _change: &Change) -> Vec<(Actor, WorkKey)> {
    Vec::new()
}

/// Handles one key.
pub fn reconcile(
    _node: &Name,
    _memory: &mut Memory,
    _stream: &mut Stream,
    _view: &View<'_>,
    _key: &WorkKey,
) -> Outcome {
    Outcome::default()
}
