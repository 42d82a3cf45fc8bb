//! Autoscalers, disruption budgets, priorities, roles and their bindings.
//!
//! Models: `pkg/apis/{autoscaling,policy,scheduling,rbac}/validation/validation.go` (v1.36).
//! Leaves out: metrics other than of resources are judged only for their target.

use super::cluster::path_segment;
use super::field::{FieldError, quoted};
use super::meta;
use super::node::{Errors, Node, at_most_100_percent, immutable, int_or_percent};
use super::resources;
use crate::api::manifest::to_json;
use crate::api::names;

/// Judges a HorizontalPodAutoscaler.
pub fn autoscaler(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    let (least, most) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    if least.exists() && least.number() < 1 {
        errors.push(least.invalid("must be greater than or equal to 1"));
    }
    if most.number() < 1 {
        errors.push(most.required("must be set and greater than 0"));
    }
    if least.exists() && most.number() < least.number() {
        let shown = most.number().to_string();
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid_shown(&most.path, shown, detail));
    }
    scale_target(errors, &spec.at("scaleTargetRef"));
    for metric in spec.at("metrics").items() {
        self::metric(errors, &metric);
    }
    for direction in ["scaleUp", "scaleDown"] {
        scaling_rules(errors, &spec.at("behavior").at(direction));
    }
}

fn scale_target(errors: &mut Errors, target: &Node<'_>) {
    for name in ["kind", "name"] {
        let node = target.at(name);
        if node.is_empty() {
            errors.push(node.required(""));
        } else {
            path_segment(errors, &node);
        }
    }
    let version = target.at("apiVersion");
    if !version.text().contains('/') && target.at("kind").text() != "ReplicationController" {
        errors.push(FieldError::invalid_text(
            &version.path,
            version.text(),
            "apiVersion must specify API group",
        ));
    }
}

fn metric(errors: &mut Errors, metric: &Node<'_>) {
    let kind = metric.at("type");
    let sources = [
        ("Resource", "resource"),
        ("Pods", "pods"),
        ("Object", "object"),
        ("External", "external"),
        ("ContainerResource", "containerResource"),
    ];
    let Some((_, field)) = sources.into_iter().find(|(name, _)| *name == kind.text()) else {
        if kind.is_empty() {
            errors.push(kind.required("must specify a metric source type"));
        } else {
            errors.push(kind.not_supported(&["ContainerResource", "External", "Object", "Pods", "Resource"]));
        }
        return;
    };
    let source = metric.at(field);
    if !source.exists() {
        errors.push(source.required("must populate information for the given metric source"));
        return;
    }
    if matches!(field, "resource" | "containerResource") {
        if source.at("name").is_empty() {
            errors.push(source.at("name").required("must specify a resource name"));
        }
        let target = source.at("target");
        let (average, value) = (target.at("averageUtilization"), target.at("averageValue"));
        if !average.exists() && !value.exists() {
            errors.push(average.required("must set either a target raw value or a target utilization"));
        }
        if average.exists() && value.exists() {
            errors.push(value.forbidden("may not set both a target raw value and a target utilization"));
        }
        if average.exists() && average.number() < 1 {
            errors.push(average.invalid("must be greater than 0"));
        }
    }
    let target = source.at("target").at("type");
    if target.is_empty() {
        errors.push(target.required("must specify a metric target type"));
    } else if !matches!(target.text(), "Utilization" | "Value" | "AverageValue") {
        errors.push(target.invalid("must be either Utilization, Value, or AverageValue"));
    }
}

fn scaling_rules(errors: &mut Errors, rules: &Node<'_>) {
    if !rules.exists() {
        return;
    }
    let window = rules.at("stabilizationWindowSeconds");
    if window.exists() && window.number() < 0 {
        errors.push(window.invalid("must be greater than or equal to zero"));
    }
    if window.number() > 3600 {
        errors.push(window.invalid("must be less than or equal to 3600"));
    }
    let select = rules.at("selectPolicy");
    if select.exists() && !matches!(select.text(), "Max" | "Min" | "Disabled") {
        errors.push(select.not_supported(&["Disabled", "Max", "Min"]));
    }
    for policy in rules.at("policies").items() {
        let kind = policy.at("type");
        if !matches!(kind.text(), "Pods" | "Percent") {
            errors.push(kind.not_supported(&["Percent", "Pods"]));
        }
        for (name, most) in [("value", i64::MAX), ("periodSeconds", 1800)] {
            let node = policy.at(name);
            let shown = node.number().to_string();
            if node.number() <= 0 {
                errors.push(FieldError::invalid_shown(&node.path, shown, "must be greater than zero"));
            } else if node.number() > most {
                let detail = format!("must be less than or equal to {most}");
                errors.push(FieldError::invalid_shown(&node.path, shown, &detail));
            }
        }
    }
}

/// Judges a PodDisruptionBudget.
pub fn disruption_budget(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    let (available, unavailable) = (spec.at("minAvailable"), spec.at("maxUnavailable"));
    if available.exists() && unavailable.exists() {
        let shown = format!(
            "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
            to_json(available.value),
            to_json(spec.at("selector").value),
            to_json(unavailable.value),
            to_json(spec.at("unhealthyPodEvictionPolicy").value)
        );
        let detail = "minAvailable and maxUnavailable cannot be both set";
        errors.push(FieldError::invalid_shown(&spec.path, shown, detail));
    }
    for bound in [&available, &unavailable] {
        if bound.exists() {
            int_or_percent(errors, bound);
            at_most_100_percent(errors, bound);
        }
    }
    let policy = spec.at("unhealthyPodEvictionPolicy");
    if policy.exists() && !matches!(policy.text(), "IfHealthyBudget" | "AlwaysAllow") {
        errors.push(policy.not_supported(&["AlwaysAllow", "IfHealthyBudget"]));
    }
    meta::selector(errors, &spec.at("selector"));
}

/// Judges a new PriorityClass.
pub fn priority_class(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let (name, value) = (object.at("metadata").at("name"), object.at("value"));
    let system = [("system-node-critical", 2_000_001_000_i64), ("system-cluster-critical", 2_000_000_000)];
    if name.text().starts_with("system-") {
        if !system.contains(&(name.text(), value.number())) {
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known system priority class",
                name.text()
            );
            errors.push(name.forbidden(&detail));
        }
    } else if value.number() > 1_000_000_000 {
        errors.push(value.forbidden("maximum allowed value of a user defined priority is 1000000000"));
    }
    let policy = object.at("preemptionPolicy");
    if policy.exists() && !matches!(policy.text(), "PreemptLowerPriority" | "Never") {
        errors.push(policy.not_supported(&["PreemptLowerPriority", "Never"]));
    }
}

/// Judges a new RuntimeClass.
pub fn runtime_class(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let handler = object.at("handler");
    for detail in names::dns_label(handler.text()) {
        errors.push(handler.invalid(&detail));
    }
    let fixed = object.at("overhead").at("podFixed");
    for (name, amount) in fixed.members() {
        let amount = Node { path: format!("{}.limits[{name}]", fixed.path), value: amount.value };
        resources::amount(errors, name, &amount);
    }
}

/// Judges a changed PriorityClass.
pub fn priority_class_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    if old.at("value").value != new.at("value").value {
        errors.push(new.at("value").forbidden("may not be changed in an update."));
    }
    immutable(errors, &old.at("preemptionPolicy"), &new.at("preemptionPolicy"));
}

/// Judges a Role or ClusterRole.
pub fn role(errors: &mut Errors, object: &Node<'_>, namespaced: bool) {
    named_by_path(errors, object, namespaced);
    for rule in object.at("rules").items() {
        if rule.at("verbs").is_empty() {
            errors.push(rule.at("verbs").required("verbs must contain at least one value"));
        }
        let urls = !rule.at("nonResourceURLs").is_empty();
        if urls {
            if namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                errors.push(rule.at("nonResourceURLs").invalid(detail));
            }
            if !rule.at("apiGroups").is_empty() || !rule.at("resources").is_empty() {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                errors.push(rule.at("nonResourceURLs").invalid(detail));
            }
            continue;
        }
        if rule.at("apiGroups").is_empty() {
            errors.push(rule.at("apiGroups").required("resource rules must supply at least one api group"));
        }
        if rule.at("resources").is_empty() {
            errors.push(rule.at("resources").required("resource rules must supply at least one resource"));
        }
    }
}

/// Judges the metadata of an object whose name may be any part of a path.
pub fn named_by_path(errors: &mut Errors, object: &Node<'_>, namespaced: bool) {
    meta::metadata(errors, object, namespaced, |_| Vec::new());
    path_segment(errors, &object.at("metadata").at("name"));
}

/// Judges a RoleBinding or ClusterRoleBinding.
pub fn role_binding(errors: &mut Errors, object: &Node<'_>, namespaced: bool) {
    named_by_path(errors, object, namespaced);
    const GROUP: &str = "rbac.authorization.k8s.io";
    let role = object.at("roleRef");
    if role.at("apiGroup").text() != GROUP {
        errors.push(role.at("apiGroup").not_supported(&[GROUP]));
    }
    let kinds: &[&str] = if namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&role.at("kind").text()) {
        errors.push(role.at("kind").not_supported(kinds));
    }
    if role.at("name").is_empty() {
        errors.push(role.at("name").required(""));
    } else {
        path_segment(errors, &role.at("name"));
    }
    for subject in object.at("subjects").items() {
        if subject.at("name").is_empty() {
            errors.push(subject.at("name").required(""));
        }
        let group = subject.at("apiGroup");
        match subject.at("kind").text() {
            "ServiceAccount" => {
                if !group.is_empty() {
                    errors.push(group.not_supported(&[""]));
                }
                if !namespaced && subject.at("namespace").is_empty() {
                    errors.push(subject.at("namespace").required(""));
                }
            }
            "User" | "Group" => {
                if group.text() != GROUP {
                    errors.push(group.not_supported(&[GROUP]));
                }
            }
            _ => errors.push(subject.at("kind").not_supported(&["ServiceAccount", "User", "Group"])),
        }
    }
}

/// Judges a changed binding.
pub fn role_binding_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>, namespaced: bool) {
    role_binding(errors, new, namespaced);
    let (before, after) = (old.at("roleRef"), new.at("roleRef"));
    if before.value != after.value {
        let text = |name: &str| quoted(after.at(name).text());
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            text("apiGroup"),
            text("kind"),
            text("name")
        );
        errors.push(FieldError::invalid_shown(&after.path, shown, "cannot change roleRef"));
    }
}
