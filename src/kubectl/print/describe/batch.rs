//! Jobs, CronJobs and autoscalers.

use serde_json::Value;

use super::{head, put, workload};
use crate::api::object::Object;
use crate::kubectl::duration;
use crate::kubectl::print::value::{items, number, or, text, time, truth};

pub(super) fn job(object: &Object, value: &Value) -> String {
    let (spec, status, meta) = (&value["spec"], &value["status"], object.meta());
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    put(&mut out, "Selector", &workload::selector_of(&spec["selector"]));
    out.push_str(&super::labels_lines("", "Labels", &meta.labels));
    out.push_str(&super::annotations_lines("", &meta.annotations));
    super::put_controller(&mut out, meta);
    let mut optional = |title: &str, value: &Value, unit: &str| {
        if !value.is_null() {
            put(&mut out, title, &format!("{}{unit}", text(value)));
        }
    };
    optional("Parallelism", &spec["parallelism"], "");
    optional("Completions", &Value::String(or(&spec["completions"], "<unset>")), "");
    optional("Completion Mode", &spec["completionMode"], "");
    optional("Suspend", &spec["suspend"], "");
    optional("Backoff Limit", &spec["backoffLimit"], "");
    optional("TTL Seconds After Finished", &spec["ttlSecondsAfterFinished"], "");
    let (start, end) = (time(&status["startTime"]), time(&status["completionTime"]));
    for (title, time) in [("Start Time", start), ("Completed At", end)] {
        if let Some(time) = time {
            put(&mut out, title, &duration::rfc1123(time));
        }
    }
    if let (Some(start), Some(end)) = (start, end) {
        put(&mut out, "Duration", &duration::human(end.seconds_since(start)));
    }
    if !spec["activeDeadlineSeconds"].is_null() {
        put(&mut out, "Active Deadline Seconds", &format!("{}s", number(&spec["activeDeadlineSeconds"])));
    }
    let [active, ready, succeeded, failed] =
        ["active", "ready", "succeeded", "failed"].map(|field| number(&status[field]));
    put(
        &mut out,
        "Pods Statuses",
        &format!("{active} Active ({ready} Ready) / {succeeded} Succeeded / {failed} Failed"),
    );
    if spec["completionMode"] == "Indexed" {
        put(&mut out, "Completed Indexes", &indexes(&text(&status["completedIndexes"])));
    }
    out.push_str(&workload::template_of(&spec["template"]));
    out
}

/// The most that is shown of a list of indexes.
const INDEXES_LENGTH: usize = 50;

fn indexes(list: &str) -> String {
    if list.len() <= INDEXES_LENGTH {
        return if list.is_empty() { "<none>".to_string() } else { list.to_string() };
    }
    let end = list[..=INDEXES_LENGTH].rfind(',').map_or(0, |at| at + 1);
    format!("{}...", &list[..end])
}

pub(super) fn cron_job(object: &Object, value: &Value) -> String {
    let (spec, status) = (&value["spec"], &value["status"]);
    let mut out = head(object, true, true);
    put(&mut out, "Schedule", &text(&spec["schedule"]));
    put(&mut out, "Concurrency Policy", &text(&spec["concurrencyPolicy"]));
    put(&mut out, "Suspend", truth(&spec["suspend"]));
    let template = &spec["jobTemplate"]["spec"];
    let deadline = match spec["startingDeadlineSeconds"].as_i64() {
        Some(seconds) => format!("{seconds}s"),
        None => "<unset>".to_string(),
    };
    let selector = match &template["selector"] {
        Value::Null => "<unset>".to_string(),
        selector => workload::selector_of(selector),
    };
    for (title, shown) in [
        ("Time Zone", or(&spec["timeZone"], "<unset>")),
        ("Successful Job History Limit", or(&spec["successfulJobsHistoryLimit"], "<unset>")),
        ("Failed Job History Limit", or(&spec["failedJobsHistoryLimit"], "<unset>")),
        ("Starting Deadline Seconds", deadline),
        ("Selector", selector),
        ("Parallelism", or(&template["parallelism"], "<unset>")),
        ("Completions", or(&template["completions"], "<unset>")),
    ] {
        put(&mut out, title, &shown);
    }
    if let Some(seconds) = template["activeDeadlineSeconds"].as_i64() {
        put(&mut out, "Active Deadline Seconds", &format!("{seconds}s"));
    }
    out.push_str(&workload::template_of(&template["template"]));
    let last = time(&status["lastScheduleTime"]).map_or("<unset>".to_string(), duration::rfc1123);
    put(&mut out, "Last Schedule Time", &last);
    let active: Vec<String> = items(&status["active"]).iter().map(|job| text(&job["name"])).collect();
    let active = if active.is_empty() { "<none>".to_string() } else { active.join(", ") };
    put(&mut out, "Active Jobs", &active);
    out
}

pub(super) fn autoscaler(object: &Object, value: &Value) -> String {
    let (spec, status) = (&value["spec"], &value["status"]);
    let mut out = head(object, true, true);
    let created = object.meta().creation_timestamp.map(duration::rfc1123).unwrap_or_default();
    put(&mut out, "CreationTimestamp", &created);
    let target = &spec["scaleTargetRef"];
    put(&mut out, "Reference", &format!("{}/{}", text(&target["kind"]), text(&target["name"])));
    put(&mut out, "Metrics", "( current / target )");
    for (index, metric) in items(&spec["metrics"]).iter().enumerate() {
        let (kind, current) = (text(&metric["type"]), &status["currentMetrics"][index]);
        let field = match kind.as_str() {
            "" => continue,
            kind => kind[..1].to_lowercase() + &kind[1..],
        };
        let (metric, current) = (&metric[field.as_str()], &current[field.as_str()]["current"]);
        let target = &metric["target"];
        let unknown = "<unknown>";
        let name = text(&metric["name"]);
        let other = text(&metric["metric"]["name"]);
        let value = |field: &str| format!("{} / {}", or(&current[field], unknown), text(&target[field]));
        let percent = || {
            let current = match current["averageUtilization"].as_i64() {
                Some(percent) => format!("{percent}% ({})", text(&current["averageValue"])),
                None => unknown.to_string(),
            };
            let wanted = target["averageUtilization"].as_i64();
            format!("{current} / {}", wanted.map_or("<auto>".to_string(), |percent| format!("{percent}%")))
        };
        let average = !target["averageValue"].is_null();
        let (title, shown) = match kind.as_str() {
            "Resource" | "ContainerResource" => {
                let of = match kind.as_str() {
                    "Resource" => String::new(),
                    _ => format!(" of container \"{}\"", text(&metric["container"])),
                };
                match average {
                    true => (format!("resource {name}{of} on pods"), value("averageValue")),
                    false => {
                        (format!("resource {name}{of} on pods  (as a percentage of request)"), percent())
                    }
                }
            }
            "Pods" => (format!("\"{other}\" on pods"), value("averageValue")),
            "External" if average => (format!("\"{other}\" (target average value)"), value("averageValue")),
            "External" => (format!("\"{other}\" (target value)"), value("value")),
            _ => {
                let object = &metric["describedObject"];
                let on = format!("{}/{}", text(&object["kind"]), text(&object["name"]));
                let (how, field) =
                    if average { ("average value", "averageValue") } else { ("value", "value") };
                (format!("\"{other}\" on {on} (target {how})"), value(field))
            }
        };
        out.push_str(&format!("  {title}:\t{shown}\n"));
    }
    put(&mut out, "Min replicas", &or(&spec["minReplicas"], "<unset>"));
    put(&mut out, "Max replicas", &number(&spec["maxReplicas"]));
    if !spec["behavior"].is_null() {
        out.push_str("Behavior:\n");
        for (title, field) in [("Scale Up", "scaleUp"), ("Scale Down", "scaleDown")] {
            behaviour(&mut out, title, &spec["behavior"][field]);
        }
    }
    let (now, wanted) = (number(&status["currentReplicas"]), number(&status["desiredReplicas"]));
    out.push_str(&format!("{} pods:\t{now} current / {wanted} desired\n", text(&target["kind"])));
    if !items(&status["conditions"]).is_empty() {
        out.push_str("Conditions:\n  Type\tStatus\tReason\tMessage\n  ----\t------\t------\t-------\n");
        for condition in items(&status["conditions"]) {
            let cells = ["type", "status", "reason", "message"].map(|field| text(&condition[field]));
            out.push_str(&format!("  {}\n", cells.join("\t")));
        }
    }
    out
}

/// How fast an autoscaler may act in one direction.
fn behaviour(out: &mut String, title: &str, rules: &Value) {
    if rules.is_null() {
        return;
    }
    out.push_str(&format!("  {title}:\n"));
    if let Some(seconds) = rules["stabilizationWindowSeconds"].as_i64() {
        out.push_str(&format!("    Stabilization Window: {seconds} seconds\n"));
    }
    if !items(&rules["policies"]).is_empty() {
        out.push_str(&format!("    Select Policy: {}\n    Policies:\n", or(&rules["selectPolicy"], "Max")));
        for policy in items(&rules["policies"]) {
            out.push_str(&format!(
                "      - Type: {}\tValue: {}\tPeriod: {} seconds\n",
                text(&policy["type"]),
                number(&policy["value"]),
                number(&policy["periodSeconds"])
            ));
        }
    }
}
