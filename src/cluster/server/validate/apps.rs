//! Deployments, ReplicaSets, StatefulSets and DaemonSets.
//!
//! Models: `pkg/apis/apps/validation/validation.go`, `pkg/registry/apps/*/strategy.go` (v1.36).
//! Leaves out: the rules for shared disks.

use serde_json::Value;

use super::field::{FieldError, quoted};
use super::meta;
use super::node::{
    Errors, Node, at_most_100_percent, immutable, int_or_percent, int_or_percent_value, non_negative,
};
use super::pod;
use super::storage;
use crate::api::labels::{Selector, labels_of};
use crate::api::names;

/// Judges a new Deployment.
pub fn deployment(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    deployment_spec(errors, &object.at("spec"));
}

/// Judges a changed Deployment.
pub fn deployment_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    deployment_spec(errors, &new.at("spec"));
    immutable(errors, &old.at("spec").at("selector"), &new.at("spec").at("selector"));
}

fn deployment_spec(errors: &mut Errors, spec: &Node<'_>) {
    non_negative(errors, &spec.at("replicas"));
    selector_and_template(errors, spec, "empty selector is invalid for deployment", "invalid label selector");
    strategy(errors, &spec.at("strategy"));
    let ready = spec.at("minReadySeconds");
    non_negative(errors, &ready);
    non_negative(errors, &spec.at("revisionHistoryLimit"));
    let deadline = spec.at("progressDeadlineSeconds");
    if deadline.exists() {
        non_negative(errors, &deadline);
        if deadline.number() <= ready.number() {
            errors.push(deadline.invalid("must be greater than minReadySeconds"));
        }
    }
}

/// The selector, and the template whose labels it must match.
fn selector_and_template(errors: &mut Errors, spec: &Node<'_>, empty: &str, unreadable: &str) {
    let selector = spec.at("selector");
    if selector.exists() {
        meta::selector(errors, &selector);
        if meta::selects_everything(&selector) {
            errors.push(selector.invalid(empty));
        }
    } else {
        errors.push(selector.required(""));
    }
    if !meta::is_readable(&selector) {
        errors.push(selector.invalid(unreadable));
        return;
    }
    template(errors, &spec.at("template"), &selector, "ReplicaSet");
}

fn template(errors: &mut Errors, template: &Node<'_>, selector: &Node<'_>, owner: &str) {
    let labels = template.at("metadata").at("labels");
    let parsed = Selector::from_label_selector(selector.value);
    if !parsed.is_everything() && !parsed.matches(&labels_of(labels.value)) {
        let shown =
            if labels.exists() { crate::api::manifest::to_json(labels.value) } else { "null".to_string() };
        let detail = "`selector` does not match template `labels`";
        errors.push(FieldError::invalid_shown(&labels.path, shown, detail));
    }
    // A StatefulSet's Pods mount claims that its template does not name, so its Pods are judged one by one.
    match owner {
        "StatefulSet" => pod::template_metadata(errors, template),
        _ => pod::template(errors, template),
    }
    always_restarts(errors, template, owner);
}

fn always_restarts(errors: &mut Errors, template: &Node<'_>, owner: &str) {
    let policy = template.at("spec").at("restartPolicy");
    if policy.text() != "Always" {
        errors.push(policy.not_supported(&["Always"]));
    }
    let deadline = template.at("spec").at("activeDeadlineSeconds");
    if deadline.exists() {
        errors.push(deadline.forbidden(&format!("activeDeadlineSeconds in {owner} is not Supported")));
    }
}

fn strategy(errors: &mut Errors, strategy: &Node<'_>) {
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "Recreate" => {
            if rolling.exists() {
                errors.push(rolling.forbidden("may not be specified when strategy `type` is 'Recreate'"));
            }
        }
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.at("maxUnavailable"), rolling.at("maxSurge"));
            int_or_percent(errors, &unavailable);
            int_or_percent(errors, &surge);
            if int_or_percent_value(&unavailable) == 0 && int_or_percent_value(&surge) == 0 {
                errors.push(unavailable.invalid("may not be 0 when `maxSurge` is 0"));
            }
            at_most_100_percent(errors, &unavailable);
        }
        other => {
            let rolling = match rolling.value {
                Value::Null => "null".to_string(),
                value => format!(
                    "{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}",
                    value.get("maxUnavailable").unwrap_or(&Value::Null),
                    value.get("maxSurge").unwrap_or(&Value::Null)
                ),
            };
            let mut error = strategy.not_supported(&["Recreate", "RollingUpdate"]);
            error.value = format!("{{\"Type\":{},\"RollingUpdate\":{rolling}}}", quoted(other));
            errors.push(error);
        }
    }
}

/// Judges a ReplicationController.
pub fn replication_controller(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    non_negative(errors, &spec.at("minReadySeconds"));
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    if selector.is_empty() {
        errors.push(selector.required(""));
    }
    let replicas = spec.at("replicas");
    if replicas.exists() {
        non_negative(errors, &replicas);
    } else {
        errors.push(replicas.required(""));
    }
    if !template.exists() {
        errors.push(template.required(""));
        return;
    }
    let labels = template.at("metadata").at("labels");
    let own = labels_of(labels.value);
    if labels_of(selector.value).iter().any(|(key, value)| own.get(key) != Some(value)) {
        let detail = "`selector` does not match template `labels`";
        let shown = crate::api::manifest::to_json(labels.value);
        errors.push(FieldError::invalid_shown(&labels.path, shown, detail));
    }
    pod::template(errors, &template);
    let policy = template.at("spec").at("restartPolicy");
    if policy.text() != "Always" {
        errors.push(policy.not_supported(&["Always"]));
    }
    let deadline = template.at("spec").at("activeDeadlineSeconds");
    if deadline.exists() {
        errors.push(deadline.forbidden("activeDeadlineSeconds in ReplicationController is not Supported"));
    }
}

/// Judges a new ReplicaSet.
pub fn replica_set(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    replica_set_spec(errors, &object.at("spec"));
}

/// Judges a changed ReplicaSet.
pub fn replica_set_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    replica_set_spec(errors, &new.at("spec"));
    immutable(errors, &old.at("spec").at("selector"), &new.at("spec").at("selector"));
}

fn replica_set_spec(errors: &mut Errors, spec: &Node<'_>) {
    non_negative(errors, &spec.at("replicas"));
    non_negative(errors, &spec.at("minReadySeconds"));
    selector_and_template(errors, spec, "empty selector is invalid for deployment", "");
}

/// Judges a new StatefulSet.
pub fn stateful_set(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    stateful_set_spec(errors, &object.at("spec"));
}

fn stateful_set_spec(errors: &mut Errors, spec: &Node<'_>) {
    let policy = spec.at("podManagementPolicy");
    if policy.is_empty() {
        errors.push(policy.required(""));
    } else if !matches!(policy.text(), "OrderedReady" | "Parallel") {
        errors.push(policy.invalid("must be 'OrderedReady' or 'Parallel'"));
    }
    let strategy = spec.at("updateStrategy");
    let rolling = strategy.at("rollingUpdate");
    match strategy.at("type").text() {
        "OnDelete" => {
            if rolling.exists() {
                errors.push(rolling.invalid("only allowed for updateStrategy 'RollingUpdate'"));
            }
        }
        "RollingUpdate" => {
            non_negative(errors, &rolling.at("partition"));
            let unavailable = rolling.at("maxUnavailable");
            if unavailable.exists() {
                int_or_percent(errors, &unavailable);
                if int_or_percent_value(&unavailable) == 0 {
                    errors.push(unavailable.invalid("cannot be 0"));
                }
                at_most_100_percent(errors, &unavailable);
            }
        }
        "" => errors.push(strategy.required("")),
        _ => errors.push(strategy.invalid("must be 'RollingUpdate' or 'OnDelete'")),
    }
    for when in ["whenDeleted", "whenScaled"] {
        let node = spec.at("persistentVolumeClaimRetentionPolicy").at(when);
        if !matches!(node.text(), "Retain" | "Delete") {
            errors.push(node.not_supported(&["Retain", "Delete"]));
        }
    }
    non_negative(errors, &spec.at("replicas"));
    non_negative(errors, &spec.at("minReadySeconds"));
    let start = spec.at("ordinals").at("start");
    if start.number() < 0 {
        errors.push(start.invalid("must be greater than or equal to 0"));
    }
    let selector = spec.at("selector");
    if selector.exists() {
        meta::selector(errors, &selector);
        if meta::selects_everything(&selector) {
            errors.push(selector.invalid("empty selector is invalid for statefulset"));
        }
    } else {
        errors.push(selector.required(""));
    }
    if meta::is_readable(&selector) {
        template(errors, &spec.at("template"), &selector, "StatefulSet");
    } else {
        errors.push(selector.invalid(""));
    }
    for claim in spec.at("volumeClaimTemplates").items() {
        storage::claim_spec(errors, &claim.at("spec"));
    }
}

/// Judges a changed StatefulSet.
pub fn stateful_set_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    stateful_set_spec(errors, &new.at("spec"));
    let fixed = |object: &Node<'_>| {
        let mut spec = object.at("spec").value.clone();
        if let Value::Object(members) = &mut spec {
            for name in [
                "replicas",
                "ordinals",
                "template",
                "updateStrategy",
                "revisionHistoryLimit",
                "persistentVolumeClaimRetentionPolicy",
                "minReadySeconds",
            ] {
                members.remove(name);
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        errors.push(new.at("spec").forbidden("updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
    }
}

/// Judges a new DaemonSet.
pub fn daemon_set(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    daemon_set_spec(errors, &object.at("spec"));
}

/// Judges a changed DaemonSet.
pub fn daemon_set_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    daemon_set_spec(errors, &new.at("spec"));
    immutable(errors, &old.at("spec").at("selector"), &new.at("spec").at("selector"));
}

fn daemon_set_spec(errors: &mut Errors, spec: &Node<'_>) {
    let selector = spec.at("selector");
    if !selector.exists() {
        errors.push(selector.required(""));
    }
    meta::selector(errors, &selector);
    let labels = spec.at("template").at("metadata").at("labels");
    let parsed = Selector::from_label_selector(selector.value);
    if meta::is_readable(&selector) && !parsed.matches(&labels_of(labels.value)) {
        let detail = "`selector` does not match template `labels`";
        let shown = crate::api::manifest::to_json(labels.value);
        errors.push(FieldError::invalid_shown(&labels.path, shown, detail));
    }
    if selector.exists() && meta::selects_everything(&selector) {
        errors.push(selector.invalid("empty selector is invalid for daemonset"));
    }
    pod::template(errors, &spec.at("template"));
    always_restarts(errors, &spec.at("template"), "DaemonSet");
    non_negative(errors, &spec.at("minReadySeconds"));
    let strategy = spec.at("updateStrategy");
    match strategy.at("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let rolling = strategy.at("rollingUpdate");
            let (unavailable, surge) = (rolling.at("maxUnavailable"), rolling.at("maxSurge"));
            let has_unavailable = int_or_percent_value(&unavailable) != 0;
            let has_surge = int_or_percent_value(&surge) != 0;
            int_or_percent(errors, &unavailable);
            int_or_percent(errors, &surge);
            match (has_unavailable, has_surge) {
                (true, true) => errors.push(surge.invalid("may not be set when maxUnavailable is non-zero")),
                (false, false) => errors.push(unavailable.required("cannot be 0 when maxSurge is 0")),
                _ => {}
            }
            at_most_100_percent(errors, &unavailable);
            at_most_100_percent(errors, &surge);
        }
        _ => errors.push(strategy.at("type").not_supported(&["RollingUpdate", "OnDelete"])),
    }
    non_negative(errors, &spec.at("revisionHistoryLimit"));
}
