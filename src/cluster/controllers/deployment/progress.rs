//! What a Deployment reports: counts, availability, progress and its deadline.
//!
//! Models: `pkg/controller/deployment/sync.go: calculateStatus`, `progress.go: syncRolloutStatus,
//! requeueStuckDeployment`, `util/deployment_util.go: SetDeploymentCondition, DeploymentComplete,
//! DeploymentProgressing, DeploymentTimedOut` (v1.36).
//! Leaves out: looking again at a rollout that was complete once, when its Pods are missing for longer than the
//! deadline: upstream looks and finds that nothing can time out.

use crate::api::kinds::apps::{
    Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet, ReplicaSetStatus,
};
use crate::api::time::Timestamp;

use super::bounds::Bounds;

/// The condition that enough Pods are available.
pub const AVAILABLE: &str = "Available";
/// The condition that the rollout moves, or is done.
pub const PROGRESSING: &str = "Progressing";
/// The condition that Pods cannot be created or deleted.
pub const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Reason: the rollout is done.
pub const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
/// Reason: nothing has moved for longer than the deadline.
pub const DEADLINE_EXCEEDED: &str = "ProgressDeadlineExceeded";
/// Reason: the rollout is held.
pub const PAUSED: &str = "DeploymentPaused";

const SET_UPDATED: &str = "ReplicaSetUpdated";
const RESUMED: &str = "DeploymentResumed";
const MINIMUM_AVAILABLE: (&str, &str) = ("MinimumReplicasAvailable", "Deployment has minimum availability.");
const MINIMUM_UNAVAILABLE: (&str, &str) =
    ("MinimumReplicasUnavailable", "Deployment does not have minimum availability.");

/// The deadline that stands for none.
const NO_DEADLINE: i32 = i32::MAX;

/// The condition of that type.
pub fn condition<'a>(status: &'a DeploymentStatus, condition_type: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().find(|condition| condition.condition_type == condition_type)
}

/// The deadline in seconds; `None` when progress is not watched.
pub fn deadline_seconds(deployment: &Deployment) -> Option<i32> {
    deployment.spec.progress_deadline_seconds.filter(|&seconds| seconds != NO_DEADLINE)
}

/// Sets a condition. Nothing changes when status and reason are the same; otherwise the condition moves to the end.
pub fn set_condition(
    conditions: &mut Vec<DeploymentCondition>,
    (condition_type, status): (&str, &str),
    (reason, message): (&str, &str),
    now: Timestamp,
) {
    let old = conditions.iter().find(|condition| condition.condition_type == condition_type);
    if old.is_some_and(|old| old.status == status && old.reason == reason) {
        return;
    }
    rewrite_condition(conditions, (condition_type, status), (reason, message), now);
}

/// Sets a condition at the end, also when status and reason are the same; the time of the last transition stays while
/// the status does.
fn rewrite_condition(
    conditions: &mut Vec<DeploymentCondition>,
    (condition_type, status): (&str, &str),
    (reason, message): (&str, &str),
    now: Timestamp,
) {
    let old = conditions.iter().find(|condition| condition.condition_type == condition_type);
    let since = old.filter(|old| old.status == status).map_or(Some(now), |old| old.last_transition_time);
    let condition = DeploymentCondition {
        condition_type: condition_type.to_string(),
        status: status.to_string(),
        last_update_time: Some(now),
        last_transition_time: since,
        reason: reason.to_string(),
        message: message.to_string(),
        ..DeploymentCondition::default()
    };
    remove_condition(conditions, condition_type);
    conditions.push(condition);
}

/// Removes a condition.
pub fn remove_condition(conditions: &mut Vec<DeploymentCondition>, condition_type: &str) {
    conditions.retain(|condition| condition.condition_type != condition_type);
}

/// Marks that the rollout is held, or no longer is, so that no deadline runs meanwhile.
pub fn mark_paused(deployment: &mut Deployment, now: Timestamp) {
    if deadline_seconds(deployment).is_none() {
        return;
    }
    let reason = condition(&deployment.status, PROGRESSING).map(|condition| condition.reason.as_str());
    let mark = match (deployment.spec.paused, reason) {
        (_, Some(DEADLINE_EXCEEDED)) | (true, Some(PAUSED)) => return,
        (true, _) => (PAUSED, "Deployment is paused"),
        (false, Some(PAUSED)) => (RESUMED, "Deployment is resumed"),
        (false, _) => return,
    };
    set_condition(&mut deployment.status.conditions, (PROGRESSING, "Unknown"), mark, now);
}

/// Counts and availability, from what the ReplicaSets report.
pub fn counted_status(
    deployment: &Deployment,
    sets: &[&ReplicaSet],
    new: Option<&ReplicaSet>,
    now: Timestamp,
) -> DeploymentStatus {
    let sum =
        |count: &dyn Fn(&ReplicaSetStatus) -> i32| sets.iter().map(|set| count(&set.status)).sum::<i32>();
    let sized: i32 = sets.iter().map(|set| set.spec.replicas.unwrap_or(1)).sum();
    let available = sum(&|status| status.available_replicas);
    let mut status = deployment.status.clone();
    status.observed_generation = deployment.meta.generation;
    status.replicas = sum(&|status| status.replicas);
    status.updated_replicas = new.map_or(0, |set| set.status.replicas);
    status.ready_replicas = sum(&|status| status.ready_replicas);
    status.available_replicas = available;
    status.unavailable_replicas = (sized - available).max(0);
    status.terminating_replicas = sets.iter().map(|set| set.status.terminating_replicas).sum();
    let (value, words) = if available >= Bounds::of(&deployment.spec).at_least() {
        ("True", MINIMUM_AVAILABLE)
    } else {
        ("False", MINIMUM_UNAVAILABLE)
    };
    set_condition(&mut status.conditions, (AVAILABLE, value), words, now);
    status
}

/// The report of a rollout: what was counted, whether it moves compared with the last report, and what its
/// ReplicaSets fail at.
pub fn rollout_status(
    deployment: &Deployment,
    sets: &[&ReplicaSet],
    new: Option<&ReplicaSet>,
    now: Timestamp,
) -> DeploymentStatus {
    let mut status = counted_status(deployment, sets, new, now);
    let current = condition(&deployment.status, PROGRESSING);
    let was_complete = status.replicas == status.updated_replicas
        && current.is_some_and(|condition| condition.reason == NEW_SET_AVAILABLE);
    let subject = match new {
        Some(set) => format!("ReplicaSet \"{}\"", set.meta.name),
        None => format!("Deployment \"{}\"", deployment.meta.name),
    };
    match deadline_seconds(deployment) {
        None => remove_condition(&mut status.conditions, PROGRESSING),
        Some(_) if was_complete => {}
        Some(_) if is_complete(deployment, &status) => {
            let message = format!("{subject} has successfully progressed.");
            set_condition(&mut status.conditions, (PROGRESSING, "True"), (NEW_SET_AVAILABLE, &message), now);
        }
        Some(_) if is_progress(&deployment.status, &status) => {
            let message = format!("{subject} is progressing.");
            rewrite_condition(&mut status.conditions, (PROGRESSING, "True"), (SET_UPDATED, &message), now);
        }
        Some(seconds) if is_timed_out(seconds, &status, now) => {
            let message = format!("{subject} has timed out progressing.");
            set_condition(&mut status.conditions, (PROGRESSING, "False"), (DEADLINE_EXCEEDED, &message), now);
        }
        Some(_) => {}
    }
    match replica_failure(sets, new) {
        Some((value, reason, message)) => {
            set_condition(&mut status.conditions, (REPLICA_FAILURE, value), (reason, message), now);
        }
        None => remove_condition(&mut status.conditions, REPLICA_FAILURE),
    }
    status
}

/// Whether all Pods are of the new revision and available, and no old one is left.
pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = deployment.spec.replicas.unwrap_or(1);
    status.updated_replicas == wanted
        && status.replicas == wanted
        && status.available_replicas == wanted
        && status.observed_generation >= deployment.meta.generation
}

/// Whether more Pods are new, ready or available, or fewer are old.
pub fn is_progress(old: &DeploymentStatus, new: &DeploymentStatus) -> bool {
    let old_pods = |status: &DeploymentStatus| status.replicas - status.updated_replicas;
    new.updated_replicas > old.updated_replicas
        || old_pods(new) < old_pods(old)
        || new.ready_replicas > old.ready_replicas
        || new.available_replicas > old.available_replicas
}

fn is_timed_out(deadline_seconds: i32, status: &DeploymentStatus, now: Timestamp) -> bool {
    let Some(condition) = condition(status, PROGRESSING) else { return false };
    match condition.reason.as_str() {
        NEW_SET_AVAILABLE => false,
        DEADLINE_EXCEEDED => true,
        _ => {
            let since = condition.last_update_time.unwrap_or_default();
            since.0 + i64::from(deadline_seconds) < now.0
        }
    }
}

/// What the ReplicaSets cannot do: the new one's failure first.
fn replica_failure<'a>(
    sets: &[&'a ReplicaSet],
    new: Option<&'a ReplicaSet>,
) -> Option<(&'a str, &'a str, &'a str)> {
    let failure = |set: &'a ReplicaSet| {
        let condition = set.status.conditions.iter().find(|c| c.condition_type == REPLICA_FAILURE)?;
        Some((condition.status.as_str(), condition.reason.as_str(), condition.message.as_str()))
    };
    new.and_then(failure).or_else(|| sets.iter().find_map(|set| failure(set)))
}

/// Ticks until the deadline has passed if nothing moves; `None` when nothing can time out.
pub fn ticks_until_deadline(
    deployment: &Deployment,
    status: &DeploymentStatus,
    now: Timestamp,
) -> Option<u64> {
    let deadline = deadline_seconds(deployment)?;
    let condition = condition(status, PROGRESSING)?;
    if matches!(condition.reason.as_str(), NEW_SET_AVAILABLE | DEADLINE_EXCEEDED) {
        return None;
    }
    let due = condition.last_update_time?.0 + i64::from(deadline) + 1;
    Some(u64::try_from(due - now.0).unwrap_or(0).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(counts: [i32; 4]) -> DeploymentStatus {
        let [replicas, updated_replicas, ready_replicas, available_replicas] = counts;
        DeploymentStatus {
            replicas,
            updated_replicas,
            ready_replicas,
            available_replicas,
            ..DeploymentStatus::default()
        }
    }

    fn deployment(wanted: i32, deadline: i32, reason: &str, updated_at: i64) -> Deployment {
        let mut deployment = Deployment::default();
        deployment.spec.replicas = Some(wanted);
        deployment.spec.progress_deadline_seconds = Some(deadline);
        if !reason.is_empty() {
            let value = if reason == DEADLINE_EXCEEDED { "False" } else { "True" };
            set_condition(
                &mut deployment.status.conditions,
                (PROGRESSING, value),
                (reason, ""),
                Timestamp(updated_at),
            );
        }
        deployment
    }

    /// A ReplicaSet with as many Pods wanted, existing, ready and available.
    fn set(name: &str, counts: [i32; 4]) -> ReplicaSet {
        let mut set = ReplicaSet::default();
        set.meta.name = name.into();
        set.spec.replicas = Some(counts[0]);
        [set.status.replicas, set.status.ready_replicas, set.status.available_replicas] =
            [counts[1], counts[2], counts[3]];
        set
    }

    #[test]
    fn a_rollout_is_complete_when_all_is_new_and_available() {
        let table = [
            ("one not available", 5, [5, 5, 5, 4], false),
            ("complete", 5, [5, 5, 5, 5], true),
            ("not all updated", 5, [5, 4, 5, 5], false),
            ("an old Pod is left", 1, [2, 1, 1, 1], false),
            ("never came up", 1, [1, 1, 0, 0], false),
        ];
        for (sentence, wanted, counts, expected) in table {
            assert_eq!(is_complete(&deployment(wanted, 600, "", 0), &status(counts)), expected, "{sentence}");
        }
    }

    #[test]
    fn progress_is_seen_in_the_counts() {
        let table = [
            ("more updated", [10, 4, 4, 4], [10, 6, 4, 4], true),
            ("nothing", [10, 4, 4, 4], [10, 4, 4, 4], false),
            ("old ones removed", [10, 4, 6, 6], [8, 4, 6, 6], true),
            ("fewer new ones", [10, 7, 3, 3], [10, 6, 3, 3], false),
            ("fewer in all, more new", [10, 4, 7, 7], [8, 8, 5, 5], true),
            ("more ready", [10, 10, 9, 8], [10, 10, 10, 8], true),
            ("more available", [10, 10, 10, 9], [10, 10, 10, 10], true),
        ];
        for (sentence, old, new, expected) in table {
            assert_eq!(is_progress(&status(old), &status(new)), expected, "{sentence}");
        }
    }

    #[test]
    fn the_condition_progressing_tells_where_the_rollout_stands() {
        let table = [
            ("complete", "ReplicaSetUpdated", [3, 3, 3, 3], [3, 3, 3, 2], 10, "True NewReplicaSetAvailable"),
            (
                "complete after the deadline",
                DEADLINE_EXCEEDED,
                [3, 3, 3, 3],
                [3, 3, 3, 2],
                99,
                "True NewReplicaSetAvailable",
            ),
            ("progress", "NewReplicaSetCreated", [3, 3, 1, 1], [3, 3, 0, 0], 10, "True ReplicaSetUpdated"),
            (
                "progress after the deadline",
                DEADLINE_EXCEEDED,
                [3, 3, 1, 1],
                [3, 3, 0, 0],
                99,
                "True ReplicaSetUpdated",
            ),
            (
                "no progress yet",
                "NewReplicaSetCreated",
                [3, 3, 0, 0],
                [3, 3, 0, 0],
                10,
                "True NewReplicaSetCreated",
            ),
            (
                "exactly at the deadline",
                "ReplicaSetUpdated",
                [3, 3, 0, 0],
                [3, 3, 0, 0],
                60,
                "True ReplicaSetUpdated",
            ),
            (
                "past the deadline",
                "ReplicaSetUpdated",
                [3, 3, 0, 0],
                [3, 3, 0, 0],
                61,
                "False ProgressDeadlineExceeded",
            ),
            (
                "past the deadline when it was complete",
                NEW_SET_AVAILABLE,
                [3, 3, 0, 0],
                [3, 3, 3, 3],
                99,
                "True NewReplicaSetAvailable",
            ),
        ];
        for (sentence, reason, counts, reported, now, expected) in table {
            let mut deployment = deployment(3, 60, reason, 0);
            let conditions = std::mem::take(&mut deployment.status.conditions);
            deployment.status = DeploymentStatus { conditions, ..status(reported) };
            let new = set("web-1", counts);
            let got = rollout_status(&deployment, &[&new], Some(&new), Timestamp(now));
            let progressing = condition(&got, PROGRESSING).unwrap();
            assert_eq!(format!("{} {}", progressing.status, progressing.reason), expected, "{sentence}");
        }
    }

    #[test]
    fn without_a_deadline_progress_is_not_reported() {
        let deployment = deployment(3, NO_DEADLINE, "ReplicaSetUpdated", 0);
        let new = set("web-1", [3, 2, 2, 2]);
        let got = rollout_status(&deployment, &[&new], Some(&new), Timestamp(99));
        assert_eq!(condition(&got, PROGRESSING), None);
        assert_eq!(condition(&got, AVAILABLE).unwrap().reason, "MinimumReplicasUnavailable");
    }

    #[test]
    fn the_deadline_is_looked_at_a_second_after_it() {
        let table = [
            ("30 seconds in", "ReplicaSetUpdated", 30, Some(31)),
            ("a second before", "ReplicaSetUpdated", 59, Some(2)),
            ("after it", "ReplicaSetUpdated", 61, Some(1)),
            ("already timed out", DEADLINE_EXCEEDED, 61, None),
            ("complete", NEW_SET_AVAILABLE, 30, None),
            ("no condition", "", 30, None),
        ];
        for (sentence, reason, now, expected) in table {
            let deployment = deployment(3, 60, reason, 0);
            let got = ticks_until_deadline(&deployment, &deployment.status, Timestamp(now));
            assert_eq!(got, expected, "{sentence}");
        }
    }

    #[test]
    fn a_condition_that_says_the_same_stays_where_it_is() {
        let mut conditions = Vec::new();
        set_condition(&mut conditions, (AVAILABLE, "False"), MINIMUM_UNAVAILABLE, Timestamp(1));
        set_condition(&mut conditions, (PROGRESSING, "True"), (SET_UPDATED, ""), Timestamp(1));
        let before = conditions.clone();
        set_condition(&mut conditions, (AVAILABLE, "False"), MINIMUM_UNAVAILABLE, Timestamp(9));
        assert_eq!(conditions, before);
        set_condition(&mut conditions, (AVAILABLE, "True"), MINIMUM_AVAILABLE, Timestamp(9));
        assert_eq!(conditions[1].last_transition_time, Some(Timestamp(9)));
        set_condition(&mut conditions, (PROGRESSING, "True"), (NEW_SET_AVAILABLE, ""), Timestamp(9));
        assert_eq!(conditions[1].last_transition_time, Some(Timestamp(1)), "the status stayed True");
        assert_eq!(conditions[1].last_update_time, Some(Timestamp(9)));
    }

    #[test]
    fn pausing_and_resuming_are_marked_but_a_timeout_is_not_overwritten() {
        let table = [
            ("paused", true, "ReplicaSetUpdated", "DeploymentPaused"),
            ("still paused", true, PAUSED, "DeploymentPaused"),
            ("resumed", false, PAUSED, "DeploymentResumed"),
            ("paused after a timeout", true, DEADLINE_EXCEEDED, "ProgressDeadlineExceeded"),
            ("never paused", false, "ReplicaSetUpdated", "ReplicaSetUpdated"),
        ];
        for (sentence, paused, reason, expected) in table {
            let mut deployment = deployment(3, 60, reason, 0);
            deployment.spec.paused = paused;
            mark_paused(&mut deployment, Timestamp(5));
            assert_eq!(condition(&deployment.status, PROGRESSING).unwrap().reason, expected, "{sentence}");
        }
    }
}
