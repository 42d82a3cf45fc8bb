//! Job and CronJob: `batch/v1`.

use serde_json::Value;

use super::Condition;
use super::apps::{LabelSelector, PodTemplateSpec};
use super::networking::ObjectReference;
use crate::api::meta::ObjectMeta;
use crate::api::time::Timestamp;

crate::record! {
    /// `batch/v1 Job`.
    pub struct Job {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: JobSpec = "spec" always,
        /// The report.
        status: JobStatus = "status" always,
    }

    /// `batch/v1 JobSpec`.
    pub struct JobSpec {
        /// The most Pods at a time; the server fills in 1.
        parallelism: Option<i32> = "parallelism",
        /// Successes wanted; absent for a work queue.
        completions: Option<i32> = "completions",
        /// Seconds after which it has failed.
        active_deadline_seconds: Option<i64> = "activeDeadlineSeconds",
        /// What a Pod's failure means, as it came.
        pod_failure_policy: Value = "podFailurePolicy",
        /// When a part of the indexes suffices, as it came.
        success_policy: Value = "successPolicy",
        /// Failures after which it has failed; the server fills in 6.
        backoff_limit: Option<i32> = "backoffLimit",
        /// Failures of one index after which that index has failed.
        backoff_limit_per_index: Option<i32> = "backoffLimitPerIndex",
        /// Failed indexes after which it has failed.
        max_failed_indexes: Option<i32> = "maxFailedIndexes",
        /// Which Pods are its own; the server fills in its uid.
        selector: Option<LabelSelector> = "selector",
        /// What a Pod looks like.
        template: PodTemplateSpec = "template" always,
        /// Seconds after its end until it is deleted.
        ttl_seconds_after_finished: Option<i32> = "ttlSecondsAfterFinished",
        /// `NonIndexed` or `Indexed`.
        completion_mode: String = "completionMode",
        /// Whether it is held.
        suspend: Option<bool> = "suspend",
        /// `TerminatingOrFailed` or `Failed`: when a Pod is replaced.
        pod_replacement_policy: String = "podReplacementPolicy",
        /// Which controller looks after it, if not the built-in one.
        managed_by: Option<String> = "managedBy",
    }

    /// `batch/v1 JobStatus`.
    pub struct JobStatus {
        /// `Complete`, `Failed`, `Suspended`, `SuccessCriteriaMet`, `FailureTarget`.
        conditions: Vec<Condition> = "conditions",
        /// When it began.
        start_time: Option<Timestamp> = "startTime",
        /// When it completed.
        completion_time: Option<Timestamp> = "completionTime",
        /// Pods that are neither finished nor terminating.
        active: i32 = "active",
        /// Pods that succeeded.
        succeeded: i32 = "succeeded",
        /// Pods that failed.
        failed: i32 = "failed",
        /// Pods on their way out.
        terminating: Option<i32> = "terminating",
        /// The indexes that succeeded, as `0-3,5`.
        completed_indexes: String = "completedIndexes",
        /// The indexes that failed, as `0-3,5`.
        failed_indexes: Option<String> = "failedIndexes",
        /// Finished Pods that the numbers do not hold yet.
        uncounted: Option<UncountedPods> = "uncountedTerminatedPods",
        /// Pods that are ready.
        ready: Option<i32> = "ready",
    }

    /// `batch/v1 UncountedTerminatedPods`.
    pub struct UncountedPods {
        /// The uids of those that succeeded.
        succeeded: Vec<String> = "succeeded",
        /// The uids of those that failed.
        failed: Vec<String> = "failed",
    }

    /// `batch/v1 CronJob`.
    pub struct CronJob {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: CronJobSpec = "spec" always,
        /// The report.
        status: CronJobStatus = "status" always,
    }

    /// `batch/v1 CronJobSpec`.
    pub struct CronJobSpec {
        /// When, as five fields or a word.
        schedule: String = "schedule" always,
        /// The zone of the schedule's times.
        time_zone: Option<String> = "timeZone",
        /// Seconds after which a missed time is given up.
        starting_deadline_seconds: Option<i64> = "startingDeadlineSeconds",
        /// `Allow`, `Forbid` or `Replace`.
        concurrency_policy: String = "concurrencyPolicy",
        /// Whether it is held.
        suspend: Option<bool> = "suspend",
        /// What a Job looks like.
        job_template: JobTemplateSpec = "jobTemplate" always,
        /// Successful Jobs kept; the server fills in 3.
        successful_jobs_history_limit: Option<i32> = "successfulJobsHistoryLimit",
        /// Failed Jobs kept; the server fills in 1.
        failed_jobs_history_limit: Option<i32> = "failedJobsHistoryLimit",
    }

    /// `batch/v1 JobTemplateSpec`.
    pub struct JobTemplateSpec {
        /// Metadata of the Jobs to be.
        meta: ObjectMeta = "metadata" always,
        /// Spec of the Jobs to be.
        spec: JobSpec = "spec" always,
    }

    /// `batch/v1 CronJobStatus`.
    pub struct CronJobStatus {
        /// The Jobs that run.
        active: Vec<ObjectReference> = "active",
        /// The time in the schedule for which a Job was made last.
        last_schedule_time: Option<Timestamp> = "lastScheduleTime",
        /// When a Job completed last.
        last_successful_time: Option<Timestamp> = "lastSuccessfulTime",
    }
}

impl Job {
    /// Whether the condition of that type is `True`.
    pub fn has_condition(&self, condition_type: &str) -> bool {
        self.status.conditions.iter().any(|c| c.condition_type == condition_type && c.status == "True")
    }

    /// `Complete` or `Failed`, once it has ended.
    pub fn finished(&self) -> Option<&Condition> {
        let ends =
            |c: &&Condition| matches!(c.condition_type.as_str(), "Complete" | "Failed") && c.status == "True";
        self.status.conditions.iter().find(ends)
    }
}
