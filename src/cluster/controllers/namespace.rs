//! Not written yet.

use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::store::Change;

/// The keys that a change concerns.
pub fn concerns(_view: &View<'_>, _change: &Change) -> Vec<WorkKey> {
    Vec::new()
}

/// Handles one key.
pub fn reconcile(_view: &View<'_>, _key: &WorkKey) -> Outcome {
    Outcome::default()
}
