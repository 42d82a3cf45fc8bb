//! Defaults of Jobs and CronJobs.

use serde_json::Value;

use super::{Record, inner, is_empty, made, set_absent};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "batch.v1.Job" => job(record),
        "batch.v1.PodFailurePolicyOnPodConditionsPattern" => set_absent(record, "status", "True"),
        "batch.v1.CronJobSpec" => {
            set_absent(record, "concurrencyPolicy", "Allow");
            set_absent(record, "suspend", false);
            set_absent(record, "successfulJobsHistoryLimit", 3);
            set_absent(record, "failedJobsHistoryLimit", 1);
        }
        _ => {}
    }
}

/// A Job's own defaults; the template of a CronJob does not get them.
fn job(job: &mut Record) {
    let Some(spec) = inner(job, "spec") else { return };
    if !spec.contains_key("completions") && !spec.contains_key("parallelism") {
        set_absent(spec, "completions", 1);
    }
    set_absent(spec, "parallelism", 1);
    let limit = if spec.contains_key("backoffLimitPerIndex") { i64::from(i32::MAX) } else { 6 };
    set_absent(spec, "backoffLimit", limit);
    set_absent(spec, "completionMode", "NonIndexed");
    set_absent(spec, "suspend", false);
    set_absent(spec, "manualSelector", false);
    let replacement = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    set_absent(spec, "podReplacementPolicy", replacement);
    let template = spec.get("template").and_then(|template| template.get("metadata")?.get("labels")).cloned();
    if let Some(labels @ Value::Object(_)) = template {
        let metadata = made(job, "metadata");
        if is_empty(metadata, "labels") {
            metadata.insert("labels".to_string(), labels);
        }
    }
}
