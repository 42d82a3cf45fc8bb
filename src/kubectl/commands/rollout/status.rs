//! `kubectl rollout status`: waits for a rollout and says how far it is.
//!
//! Models: `k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go`, `pkg/cmd/rollout/rollout_status.go` (v1.36).
//! Leaves out: nothing.

use crate::api::kinds::apps::Deployment;
use crate::api::kinds::workloads::{DaemonSet, StatefulSet};
use crate::api::meta::{ObjectKey, Revision, Uid};
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `rollout status`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::TIMEOUT,
    &[Flag::both("watch", 'w', Takes::Nothing), Flag::long("revision", Takes::Number)],
];

/// Says how far the rollout is, and waits for its end.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let revision = call.flags.number("revision").unwrap_or(0);
    if revision < 0 {
        return Err(Failure::error(format!("revision must be a positive integer: {revision}")));
    }
    let (objects, mut failures) = super::objects(call)?;
    let mut waiting = Vec::new();
    for object in objects {
        match &object {
            Object::Deployment(_) | Object::StatefulSet(_) | Object::DaemonSet(_) => {
                waiting.push((object.key(), object.meta().uid.clone()));
            }
            _ => failures.push(no_status(&object)),
        }
    }
    if let Some(failure) = Failure::all(failures) {
        return Err(failure);
    }
    waiting.reverse();
    if waiting.is_empty() {
        let line = format!("No resources found in {} namespace.", call.namespace());
        call.warn(line);
        return Ok(None);
    }
    let timeout_seconds = call.flags.seconds("timeout").unwrap_or(0);
    let mut watching = Watching {
        waiting,
        revision,
        seen: None,
        once: call.flags.switch("watch") == Some(false),
        until: (timeout_seconds > 0).then(|| Timestamp(call.host.now().0 + timeout_seconds)),
    };
    let poll = watching.poll(&*call.host);
    call.output.append(&poll.printed);
    match poll.finished {
        None => Ok(Some(Pending::Rollout(watching))),
        Some(0) => Ok(None),
        Some(_) => Err(Failure::silent()),
    }
}

fn no_status(object: &Object) -> Failure {
    let kind = object.kind();
    Failure::error(format!("no status viewer has been implemented for {}.{}", kind.plural(), kind.group()))
}

/// Rollouts that are waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Watching {
    /// The workloads, the next one last.
    waiting: Vec<(ObjectKey, Uid)>,
    revision: i64,
    /// The version that was spoken of last.
    seen: Option<Revision>,
    once: bool,
    until: Option<Timestamp>,
}

impl Watching {
    /// Says what is new of the rollout, and whether it is over.
    pub fn poll(&mut self, host: &dyn Host) -> Poll {
        let mut printed = Output::default();
        while let Some((key, uid)) = self.waiting.last() {
            let there = host.store().object(key).filter(|object| object.meta().uid == *uid);
            let Some(object) = there else {
                printed.stderr.push_str("error: object has been deleted\n");
                return Poll { printed, finished: Some(1) };
            };
            if self.seen != Some(object.meta().resource_version) {
                self.seen = Some(object.meta().resource_version);
                let told = match object {
                    Object::Deployment(deployment) => status_of(deployment, self.revision),
                    Object::StatefulSet(set) => status_of_stateful_set(set),
                    Object::DaemonSet(set) => status_of_daemon_set(set),
                    _ => Ok((String::new(), true)),
                };
                match told {
                    Ok((text, done)) => {
                        printed.stdout.push_str(&text);
                        printed.stdout.push('\n');
                        if done || self.once {
                            self.waiting.pop();
                            self.seen = None;
                            continue;
                        }
                    }
                    Err(problem) => {
                        printed.stderr.push_str(&format!("error: {problem}\n"));
                        return Poll { printed, finished: Some(1) };
                    }
                }
            }
            if self.until.is_some_and(|until| host.now() >= until) {
                printed.stderr.push_str("error: timed out waiting for the condition\n");
                return Poll { printed, finished: Some(1) };
            }
            return Poll { printed, finished: None };
        }
        Poll { printed, finished: Some(0) }
    }
}

/// How far a Deployment's rollout is, in one sentence, and whether it is done.
///
/// # Errors
/// When it exceeded its deadline, or another revision is running.
pub fn status_of(deployment: &Deployment, revision: i64) -> Result<(String, bool), String> {
    let (spec, status, name) = (&deployment.spec, &deployment.status, &deployment.meta.name);
    if revision > 0 {
        let running = super::revision_of(&deployment.meta.annotations);
        if running != revision {
            return Err(format!(
                "desired revision ({revision}) is different from the running revision ({running})"
            ));
        }
    }
    if deployment.meta.generation > status.observed_generation {
        return Ok(("Waiting for deployment spec update to be observed...".to_string(), false));
    }
    let failed = |condition: &crate::api::kinds::apps::DeploymentCondition| {
        condition.condition_type == "Progressing" && condition.reason == "ProgressDeadlineExceeded"
    };
    if status.conditions.iter().any(failed) {
        return Err(format!("deployment \"{name}\" exceeded its progress deadline"));
    }
    let wanted = spec.replicas.unwrap_or(1);
    let waiting = format!("Waiting for deployment \"{name}\" rollout to finish:");
    if status.updated_replicas < wanted {
        let text = format!(
            "{waiting} {} out of {wanted} new replicas have been updated...",
            status.updated_replicas
        );
        return Ok((text, false));
    }
    if status.replicas > status.updated_replicas {
        let old = status.replicas - status.updated_replicas;
        return Ok((format!("{waiting} {old} old replicas are pending termination..."), false));
    }
    if status.available_replicas < status.updated_replicas {
        let text = format!(
            "{waiting} {} of {} updated replicas are available...",
            status.available_replicas, status.updated_replicas
        );
        return Ok((text, false));
    }
    Ok((format!("deployment \"{name}\" successfully rolled out"), true))
}

fn only_rolling(strategy: &str) -> Result<(), String> {
    match strategy {
        "" | "RollingUpdate" => Ok(()),
        _ => Err("rollout status is only available for RollingUpdate strategy type".to_string()),
    }
}

/// How far a StatefulSet's rollout is, and whether it is done.
///
/// # Errors
/// When it is not rolled out by itself.
fn status_of_stateful_set(set: &StatefulSet) -> Result<(String, bool), String> {
    let (spec, status) = (&set.spec, &set.status);
    only_rolling(&spec.update_strategy.strategy_type)?;
    if status.observed_generation == 0 || set.meta.generation > status.observed_generation {
        return Ok(("Waiting for statefulset spec update to be observed...".to_string(), false));
    }
    let wanted = spec.replicas.unwrap_or(1);
    if status.ready_replicas < wanted {
        return Ok((format!("Waiting for {} pods to be ready...", wanted - status.ready_replicas), false));
    }
    let updated = status.updated_replicas;
    if let Some(rolling) = &spec.update_strategy.rolling_update {
        if let Some(partition) = rolling.partition.filter(|partition| updated < wanted - partition) {
            let new = wanted - partition;
            let text = format!(
                "Waiting for partitioned roll out to finish: {updated} out of {new} new pods have been updated..."
            );
            return Ok((text, false));
        }
        return Ok((format!("partitioned roll out complete: {updated} new pods have been updated..."), true));
    }
    if status.update_revision != status.current_revision {
        let text = format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {}...",
            status.update_revision
        );
        return Ok((text, false));
    }
    let text = format!(
        "statefulset rolling update complete {} pods at revision {}...",
        status.current_replicas, status.current_revision
    );
    Ok((text, true))
}

/// How far a DaemonSet's rollout is, and whether it is done.
///
/// # Errors
/// When it is not rolled out by itself.
fn status_of_daemon_set(set: &DaemonSet) -> Result<(String, bool), String> {
    let (status, name) = (&set.status, &set.meta.name);
    only_rolling(&set.spec.update_strategy.strategy_type)?;
    if set.meta.generation > status.observed_generation {
        return Ok(("Waiting for daemon set spec update to be observed...".to_string(), false));
    }
    let waiting = format!("Waiting for daemon set \"{name}\" rollout to finish:");
    let (wanted, updated) = (status.desired_number_scheduled, status.updated_number_scheduled);
    if updated < wanted {
        return Ok((format!("{waiting} {updated} out of {wanted} new pods have been updated..."), false));
    }
    if status.number_available < wanted {
        let available = status.number_available;
        return Ok((format!("{waiting} {available} of {wanted} updated pods are available..."), false));
    }
    Ok((format!("daemon set \"{name}\" successfully rolled out"), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_told_in_one_sentence() {
        let of = |generation, observed, wanted, updated, total, available| {
            let mut deployment = Deployment::default();
            deployment.meta.name = "foo".into();
            deployment.meta.generation = generation;
            deployment.spec.replicas = Some(wanted);
            deployment.status.observed_generation = observed;
            deployment.status.updated_replicas = updated;
            deployment.status.replicas = total;
            deployment.status.available_replicas = available;
            status_of(&deployment, 0).unwrap()
        };
        let waiting = "Waiting for deployment \"foo\" rollout to finish:";
        for (about, (text, done), expected) in [
            (
                "not seen yet",
                of(1, 0, 1, 0, 0, 0),
                "Waiting for deployment spec update to be observed...".to_string(),
            ),
            (
                "nothing updated",
                of(1, 1, 1, 0, 1, 1),
                format!("{waiting} 0 out of 1 new replicas have been updated..."),
            ),
            (
                "old Pods left",
                of(1, 1, 1, 1, 2, 2),
                format!("{waiting} 1 old replicas are pending termination..."),
            ),
            (
                "not available",
                of(1, 1, 2, 2, 2, 1),
                format!("{waiting} 1 of 2 updated replicas are available..."),
            ),
        ] {
            assert_eq!((text, done), (expected, false), "{about}");
        }
        assert_eq!(of(1, 1, 2, 2, 2, 2), ("deployment \"foo\" successfully rolled out".to_string(), true));
    }
}
