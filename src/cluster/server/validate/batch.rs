//! Jobs and CronJobs.
//!
//! Models: `pkg/apis/batch/validation/validation.go` (v1.36).
//! Leaves out: rules for Pod failure and success, the zone database: a zone must only look like one.

use super::field::FieldError;
use super::internal;
use super::meta;
use super::node::{Errors, Node, immutable, non_negative};
use super::pod;
use crate::api::cron::Schedule;
use crate::api::labels::{Selector, labels_of};
use crate::api::names;

/// The longest name of a CronJob: its Jobs get eleven more characters.
const CRON_JOB_NAME_BYTES: usize = 52;

/// Judges a new Job.
pub fn job(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    job_spec(errors, &spec);
    if !spec.at("manualSelector").is_true() && spec.at("selector").exists() {
        generated_selector(errors, object);
    }
    let labels = spec.at("template").at("metadata").at("labels");
    let selector = spec.at("selector");
    let parsed = Selector::from_label_selector(selector.value);
    if selector.exists() && !parsed.matches(&labels_of(labels.value)) {
        let detail = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid(&labels.path, labels.value, detail));
    }
}

/// A selector of one's own needs `manualSelector`.
fn generated_selector(errors: &mut Errors, object: &Node<'_>) {
    let selector = object.at("spec").at("selector");
    let uid = object.at("metadata").at("uid");
    let expected = serde_json::json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid.text()}});
    if selector.value != &expected {
        errors.push(selector.invalid("`selector` not auto-generated"));
    }
}

fn job_spec(errors: &mut Errors, spec: &Node<'_>) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        non_negative(errors, &spec.at(name));
    }
    let mode = spec.at("completionMode");
    if mode.exists() {
        if !matches!(mode.text(), "NonIndexed" | "Indexed") {
            errors.push(mode.not_supported(&["Indexed", "NonIndexed"]));
        }
        if mode.text() == "Indexed" && !spec.at("completions").exists() {
            errors.push(spec.at("completions").required("when completion mode is Indexed"));
        }
    }
    let (limit, most) = (spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes"));
    if mode.text() != "Indexed" {
        for node in [&limit, &most].into_iter().filter(|node| node.exists()) {
            errors.push(node.invalid("requires indexed completion mode"));
        }
    } else if most.exists() && !limit.exists() {
        errors.push(limit.required("when maxFailedIndexes is specified"));
    } else if spec.at("completions").exists() && most.number() > spec.at("completions").number() {
        errors.push(most.invalid("must be less than or equal to completions"));
    }
    failure_policy(errors, spec);
    let success = spec.at("successPolicy");
    if success.exists() && mode.text() != "Indexed" {
        errors.push(success.invalid("requires indexed completion mode"));
    }
    let replacement = spec.at("podReplacementPolicy");
    let choices: &[&str] = match spec.at("podFailurePolicy").exists() {
        true => &["Failed"],
        false => &["Failed", "TerminatingOrFailed"],
    };
    if replacement.exists() && !choices.contains(&replacement.text()) {
        errors.push(replacement.not_supported(choices));
    }
    pod::template(errors, &spec.at("template"));
    let policy = spec.at("template").at("spec").at("restartPolicy");
    match policy.text() {
        "OnFailure" if spec.at("podFailurePolicy").exists() => {
            errors.push(policy.invalid("only \"Never\" is supported when podFailurePolicy is specified"));
        }
        "OnFailure" | "Never" => {}
        "Always" | "" => errors.push(policy.required("valid values: \"OnFailure\", \"Never\"")),
        _ => errors.push(policy.not_supported(&["OnFailure", "Never"])),
    }
}

/// Judges what a Job does about Pods that fail.
fn failure_policy(errors: &mut Errors, spec: &Node<'_>) {
    const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
    let pod = spec.at("template").at("spec");
    let has_container = |name: &str| {
        let lists = ["containers", "initContainers"];
        lists
            .into_iter()
            .flat_map(|list| pod.at(list).items())
            .any(|container| container.at("name").text() == name)
    };
    for rule in spec.at("podFailurePolicy").at("rules").items() {
        let (action, codes) = (rule.at("action"), rule.at("onExitCodes"));
        if action.is_empty() {
            let words: Vec<String> = ACTIONS.iter().map(|word| format!("{word:?}")).collect();
            errors.push(action.required(&format!("valid values: [{}]", words.join(" "))));
        } else if !ACTIONS.contains(&action.text()) {
            errors.push(action.not_supported(&ACTIONS));
        } else if action.text() == "FailIndex" && !spec.at("backoffLimitPerIndex").exists() {
            errors.push(action.invalid("requires the backoffLimitPerIndex to be set"));
        }
        if codes.exists() {
            exit_codes(errors, &codes, &has_container);
        }
        let detail = match (codes.exists(), !rule.at("onPodConditions").is_empty()) {
            (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        errors.push(FieldError::invalid_shown(&rule.path, String::new(), detail));
    }
}

fn exit_codes(errors: &mut Errors, codes: &Node<'_>, has_container: &dyn Fn(&str) -> bool) {
    let (operator, container, values) = (codes.at("operator"), codes.at("containerName"), codes.at("values"));
    if operator.is_empty() {
        errors.push(operator.required("valid values: [\"In\" \"NotIn\"]"));
    } else if !matches!(operator.text(), "In" | "NotIn") {
        errors.push(operator.not_supported(&["In", "NotIn"]));
    }
    if container.exists() && !has_container(container.text()) {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.push(container.invalid(detail));
    }
    if values.is_empty() {
        errors.push(values.invalid("at least one value is required"));
    }
    let mut numbers: Vec<i64> = Vec::new();
    for value in values.items() {
        if operator.text() == "In" && value.number() == 0 {
            errors.push(value.invalid("must not be 0 for the In operator"));
        }
        if numbers.contains(&value.number()) {
            errors.push(FieldError::duplicate(&value.path, value.value));
        }
        numbers.push(value.number());
    }
    if !numbers.is_sorted() {
        errors.push(values.invalid("must be ordered"));
    }
}

/// Judges a changed Job.
pub fn job_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    let (old_spec, spec) = (old.at("spec"), new.at("spec"));
    job_spec(errors, &spec);
    let is_indexed = spec.at("completionMode").text() == "Indexed";
    if !is_indexed {
        immutable(errors, &old_spec.at("completions"), &spec.at("completions"));
    }
    immutable(errors, &old_spec.at("selector"), &spec.at("selector"));
    if !old_spec.at("suspend").is_true() || !spec.at("suspend").is_true() {
        let template = spec.at("template");
        if template.value != old_spec.at("template").value {
            let shown = internal::compact("PodTemplateSpec", template.value);
            errors.push(FieldError::invalid_shown(&template.path, shown, "field is immutable"));
        }
    }
    for (name, kind) in [
        ("completionMode", ""),
        ("podFailurePolicy", "PodFailurePolicy"),
        ("backoffLimitPerIndex", ""),
        ("managedBy", ""),
        ("successPolicy", "SuccessPolicy"),
    ] {
        let (old, new) = (old_spec.at(name), spec.at(name));
        if kind.is_empty() || !new.exists() {
            immutable(errors, &old, &new);
        } else if old.value != new.value {
            let shown = internal::compact(kind, new.value);
            errors.push(FieldError::invalid_shown(&new.path, shown, "field is immutable"));
        }
    }
}

/// Judges a CronJob.
pub fn cron_job(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    let schedule = spec.at("schedule");
    if schedule.is_empty() {
        errors.push(schedule.required(""));
    } else {
        schedule_and_zone(errors, &spec);
    }
    if spec.at("startingDeadlineSeconds").exists() {
        non_negative(errors, &spec.at("startingDeadlineSeconds"));
    }
    let policy = spec.at("concurrencyPolicy");
    match policy.text() {
        "Allow" | "Forbid" | "Replace" => {}
        "" => errors.push(policy.required("")),
        _ => errors.push(policy.not_supported(&["Allow", "Forbid", "Replace"])),
    }
    let template = spec.at("jobTemplate").at("spec");
    if template.at("manualSelector").is_true() {
        errors.push(template.at("manualSelector").not_supported(&["nil", "false"]));
    }
    job_spec(errors, &template);
    non_negative(errors, &spec.at("successfulJobsHistoryLimit"));
    non_negative(errors, &spec.at("failedJobsHistoryLimit"));
    let name = object.at("metadata").at("name");
    if name.text().len() > CRON_JOB_NAME_BYTES {
        let complaint = names::too_long_characters(CRON_JOB_NAME_BYTES);
        errors.push(name.invalid(&complaint));
    }
}

/// Judges a changed CronJob.
pub fn cron_job_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    cron_job(errors, new);
}

fn schedule_and_zone(errors: &mut Errors, spec: &Node<'_>) {
    let (schedule, zone) = (spec.at("schedule"), spec.at("timeZone"));
    if schedule.text().contains("TZ") {
        errors.push(schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead"));
    } else if let Err(complaint) = Schedule::parse(schedule.text()) {
        errors.push(schedule.invalid(&complaint));
    }
    if !zone.exists() {
        return;
    }
    if zone.is_empty() {
        errors.push(zone.invalid("timeZone must be nil or non-empty string"));
    } else if zone.text().eq_ignore_ascii_case("local") {
        errors.push(
            zone.invalid(
                "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
            ),
        );
    } else if !looks_like_zone(zone.text()) {
        errors.push(zone.invalid(&format!("unknown time zone {}", zone.text())));
    }
}

/// Whether a text begins with an area of the zone database.
fn looks_like_zone(zone: &str) -> bool {
    const AREAS: [&str; 11] = [
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Etc",
        "Europe",
        "Indian",
        "Pacific",
    ];
    const WORDS: [&str; 8] = ["UTC", "GMT", "EST", "MST", "HST", "CET", "EET", "WET"];
    match zone.split_once('/') {
        Some((area, place)) => AREAS.contains(&area) && place.starts_with(|c: char| c.is_ascii_uppercase()),
        None => WORDS.contains(&zone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_judged() {
        let table = [
            ("every five minutes", "*/5 * * * *", None),
            ("names of days", "0 9 * * mon-fri", None),
            ("a word", "@daily", None),
            ("four fields", "* * * *", Some("expected exactly 5 fields, found 4: [* * * *]")),
            ("too large", "75 * * * *", Some("end of range (75) above maximum (59): 75")),
            ("a step of nothing", "*/0 * * * *", Some("step of range should be a positive number: */0")),
            (
                "no number",
                "x * * * *",
                Some("failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(Schedule::parse(text).err().as_deref(), expected, "{sentence}");
        }
    }
}
