//! The TTL-after-finished controller: deletes Jobs some time after their end.
//!
//! Watches: Jobs.
//! Writes: Jobs (delete).
//! Models: `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go` (v1.36).
//! Leaves out: nothing.

use crate::api::kind::Kind;
use crate::api::kinds::batch::Job;
use crate::api::object::Resource;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

/// The keys that a change concerns.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let needs_clean_up = change.key.kind == Kind::Job
        && change.new_as::<Job>().is_some_and(|job| {
            job.spec.ttl_seconds_after_finished.is_some()
                && job.finished().is_some()
                && !job.meta.is_terminating()
        });
    if needs_clean_up { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() }
}

/// Handles one Job.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(job) = key.object().and_then(|key| view.store.at::<Job>(key)) else {
        return Outcome::nothing(Because::new("because.ttlafterfinished.gone"));
    };
    let ended = job.finished().and_then(|end| end.last_transition_time);
    let (Some(seconds), Some(ended)) = (job.spec.ttl_seconds_after_finished, ended) else {
        return Outcome::nothing(Because::new("because.ttlafterfinished.gone"));
    };
    let left = ended.0 + i64::from(seconds) - view.now.0;
    if left > 0 {
        let because =
            Because::new("because.ttlafterfinished.wait").with("seconds", seconds).with("left", left);
        let mut outcome = Outcome::nothing(because);
        outcome.look_again(key.clone(), u64::try_from(left).unwrap_or(1));
        return outcome;
    }
    let because =
        Because::new("because.ttlafterfinished.delete").with("name", &job.meta.name).with("seconds", seconds);
    let mut outcome = Outcome::nothing(because.clone());
    let delete = Operation::Delete {
        key: job.key(),
        uid: Some(job.meta.uid.clone()),
        grace_seconds: None,
        propagation: Propagation::Foreground,
    };
    outcome.writes.push(delete.because(because));
    outcome
}
