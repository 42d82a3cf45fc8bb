//! kube-proxy of one node. Not written yet.

use crate::api::meta::Name;
use crate::cluster::actor::Actor;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::store::Change;

/// What it keeps to itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {}

/// The proxies that a change concerns, with their keys.
pub fn concerns(_view: &View<'_>, _change: &Change) -> Vec<(Actor, WorkKey)> {
    Vec::new()
}

/// Handles one key.
pub fn reconcile(_node: &Name, _memory: &mut Memory, _view: &View<'_>, _key: &WorkKey) -> Outcome {
    Outcome::default()
}
