//! What a Job makes of its Pods' ends: the failure policy, the success policy, and how long it backs off.
//!
//! Models: `pkg/controller/job/pod_failure_policy.go`, `success_policy.go`, `backoff_utils.go` (v1.36).
//! Leaves out: nothing.

use std::sync::Arc;

use serde_json::Value;

use super::indexes::{self, Indexes};
use crate::api::kinds::batch::Job;
use crate::api::kinds::pod::{ContainerStatus, Pod};
use crate::api::time::Timestamp;

const FIRST_BACK_OFF_SECONDS: i64 = 10;
const LONGEST_BACK_OFF_SECONDS: i64 = 600;

/// What the first matching rule of a failure policy says about a failed Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts against the back-off limit.
    Count,
    /// It does not count.
    Ignore,
    /// Its index has failed.
    FailIndex,
    /// The whole Job has failed, because.
    FailJob(String),
}

/// What a Job's failure policy says about a failed Pod.
pub fn judge(job: &Job, pod: &Pod) -> Verdict {
    let rules = job.spec.pod_failure_policy.get("rules").and_then(Value::as_array);
    for (place, rule) in rules.into_iter().flatten().enumerate() {
        let action = rule["action"].as_str().unwrap_or_default();
        let because = match (rule.get("onExitCodes"), rule.get("onPodConditions")) {
            (Some(codes), _) if !codes.is_null() => container_with_exit_code(pod, codes).map(|container| {
                let code = container.state.terminated.as_ref().map_or(0, |ended| ended.exit_code);
                let pod_name = format!("{}/{}", pod.meta.namespace, pod.meta.name);
                format!(
                    "Container {} for pod {pod_name} failed with exit code {code} matching {action} rule at index {place}",
                    container.name
                )
            }),
            (_, Some(Value::Array(patterns))) => matching_condition(pod, patterns).map(|condition| {
                let pod_name = format!("{}/{}", pod.meta.namespace, pod.meta.name);
                format!("Pod {pod_name} has condition {condition} matching {action} rule at index {place}")
            }),
            _ => None,
        };
        match (because, action) {
            (Some(because), "FailJob") => return Verdict::FailJob(because),
            (Some(_), "FailIndex") => return Verdict::FailIndex,
            (Some(_), "Ignore") => return Verdict::Ignore,
            (Some(_), _) => return Verdict::Count,
            (None, _) => {}
        }
    }
    Verdict::Count
}

/// The first container whose exit code a requirement names.
fn container_with_exit_code<'a>(pod: &'a Pod, codes: &Value) -> Option<&'a ContainerStatus> {
    let name = codes["containerName"].as_str();
    let values = codes["values"].as_array();
    let is_listed =
        |code: i32| values.into_iter().flatten().any(|value| value.as_i64() == Some(i64::from(code)));
    let matches = |container: &&ContainerStatus| {
        let Some(ended) = &container.state.terminated else { return false };
        let is_meant = name.is_none_or(|name| name == container.name) && ended.exit_code != 0;
        is_meant && is_listed(ended.exit_code) == (codes["operator"] == "In")
    };
    pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses).find(matches)
}

/// The first condition of the Pod that a pattern names.
fn matching_condition<'a>(pod: &'a Pod, patterns: &[Value]) -> Option<&'a str> {
    let matches = |pattern: &Value| {
        let condition = pod.condition(pattern["type"].as_str().unwrap_or_default())?;
        let wanted = pattern["status"].as_str().unwrap_or("True");
        (condition.status == wanted).then_some(condition.condition_type.as_str())
    };
    patterns.iter().find_map(matches)
}

/// Which rule of the success policy the succeeded indexes meet: the message that says so.
pub fn success_by_policy(job: &Job, succeeded: &Indexes) -> Option<String> {
    let rules = job.spec.success_policy.get("rules").and_then(Value::as_array)?;
    let completions = job.spec.completions.unwrap_or(0);
    let is_met = |rule: &Value| {
        let listed = rule["succeededIndexes"].as_str().map(|text| indexes::parse(text, completions));
        let found = match &listed {
            Some(listed) => succeeded.intersection(listed).count(),
            None => succeeded.len(),
        };
        let wanted = match (rule["succeededCount"].as_u64(), &listed) {
            (Some(count), _) => usize::try_from(count).unwrap_or(usize::MAX),
            (None, Some(listed)) => listed.len(),
            (None, None) => return false,
        };
        found >= wanted
    };
    let place = rules.iter().position(is_met)?;
    Some(format!("Matched rules at index {place}"))
}

/// When a finished Pod ended.
pub fn finished_at(pod: &Pod) -> Option<Timestamp> {
    let ended = |container: &ContainerStatus| container.state.terminated.as_ref()?.finished_at;
    let last = pod.status.container_statuses.iter().filter_map(ended).max();
    let not_ready = || pod.condition("Ready").and_then(|condition| condition.last_transition_time);
    last.or_else(not_ready).or(pod.meta.deletion_timestamp).or(pod.meta.creation_timestamp)
}

/// Seconds until the next Pod may be made, after failures since the last success.
pub fn back_off_seconds(ended: &[(Timestamp, bool)], now: Timestamp) -> i64 {
    let last_success = ended.iter().filter(|(_, failed)| !failed).map(|(at, _)| *at).max();
    let failures: Vec<Timestamp> = ended
        .iter()
        .filter(|(at, failed)| *failed && last_success.is_none_or(|success| *at > success))
        .map(|(at, _)| *at)
        .collect();
    let Some(last) = failures.iter().max() else { return 0 };
    let doublings = u32::try_from(failures.len() - 1).unwrap_or(u32::MAX).min(10);
    let wait = (FIRST_BACK_OFF_SECONDS << doublings).min(LONGEST_BACK_OFF_SECONDS);
    (last.0 + wait - now.0).max(0)
}

/// Whether the containers of running Pods were restarted too often, for Pods that restart on failure.
pub fn is_past_restart_limit(job: &Job, pods: &[Arc<Pod>]) -> bool {
    if job.spec.template.spec.restart_policy != "OnFailure" {
        return false;
    }
    let live = pods.iter().filter(|pod| matches!(pod.status.phase.as_str(), "Running" | "Pending"));
    let restarts: i32 = live
        .flat_map(|pod| pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses))
        .map(|container| container.restart_count)
        .sum();
    match job.spec.backoff_limit.unwrap_or(6) {
        0 => restarts > 0,
        limit => restarts >= limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_with_every_failure_since_the_last_success() {
        let table: [(&str, &[(i64, bool)], i64); 5] = [
            ("no failure", &[], 0),
            ("one failure", &[(100, true)], 10),
            ("three failures", &[(60, true), (80, true), (100, true)], 40),
            ("a success in between", &[(60, true), (80, false), (100, true)], 10),
            ("a success last", &[(60, true), (100, false)], 0),
        ];
        for (sentence, ended, expected) in table {
            let ended: Vec<_> = ended.iter().map(|(at, failed)| (Timestamp(*at), *failed)).collect();
            assert_eq!(back_off_seconds(&ended, Timestamp(100)), expected, "{sentence}");
        }
        let many = vec![(Timestamp(0), true); 40];
        assert_eq!(back_off_seconds(&many, Timestamp(0)), 600, "the wait is never longer than ten minutes");
    }
}
