//! What decides where a Pod may run: affinity, tolerations, spreading, taints.
//!
//! Models: `pkg/apis/core/validation/validation.go` `validateAffinity`, `ValidateTolerations`,
//! `validateTopologySpreadConstraints`, `validateNodeTaints` (v1.36).
//! Leaves out: nothing of these.

use std::collections::BTreeSet;

use super::field::{FieldError, quoted};
use super::meta;
use super::node::{Errors, Node, complain};
use crate::api::names;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Judges a Pod's affinity.
pub fn affinity(errors: &mut Errors, affinity: &Node<'_>) {
    let node = affinity.at("nodeAffinity");
    if node.at(REQUIRED).exists() {
        node_selector(errors, &node.at(REQUIRED));
    }
    for term in node.at(PREFERRED).items() {
        weight(errors, &term.at("weight"));
        node_term(errors, &term.at("preference"), true);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let pods = affinity.at(kind);
        for term in pods.at(REQUIRED).items() {
            pod_term(errors, &term);
        }
        for term in pods.at(PREFERRED).items() {
            weight(errors, &term.at("weight"));
            pod_term(errors, &term.at("podAffinityTerm"));
        }
    }
}

fn weight(errors: &mut Errors, weight: &Node<'_>) {
    if !(1..=100).contains(&weight.number()) {
        let shown = weight.number().to_string();
        errors.push(FieldError::invalid_shown(&weight.path, shown, "must be in the range 1-100"));
    }
}

/// Judges a selector of nodes.
pub fn node_selector(errors: &mut Errors, selector: &Node<'_>) {
    let terms = selector.at("nodeSelectorTerms");
    if terms.is_empty() {
        errors.push(terms.required("must have at least one node selector term"));
    }
    for term in terms.items() {
        node_term(errors, &term, false);
    }
}

fn node_term(errors: &mut Errors, term: &Node<'_>, lenient: bool) {
    for expression in term.at("matchExpressions").items() {
        let (operator, values) = (expression.at("operator"), expression.at("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                errors.push(values.required("must be specified when `operator` is 'In' or 'NotIn'"));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                errors.push(
                    values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
                );
            }
            "Gt" | "Lt" if values.items().len() != 1 => {
                errors
                    .push(values.required("must be specified single value when `operator` is 'Lt' or 'Gt'"));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => errors.push(operator.invalid("not a valid selector operator")),
        }
        meta::label_name(errors, &expression.at("key"));
        if !lenient {
            for value in values.items() {
                complain(errors, &value, names::label_value(value.text()));
            }
        }
    }
    for field in term.at("matchFields").items() {
        let (operator, values, key) = (field.at("operator"), field.at("values"), field.at("key"));
        if !matches!(operator.text(), "In" | "NotIn") {
            errors.push(operator.invalid("not a valid selector operator"));
        } else if values.items().len() != 1 {
            let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.push(values.required(detail));
        }
        if key.text() == "metadata.name" {
            for value in values.items() {
                complain(errors, &value, names::dns_subdomain(value.text()));
            }
        } else {
            errors.push(key.invalid("not a valid field selector key"));
        }
    }
}

fn pod_term(errors: &mut Errors, term: &Node<'_>) {
    meta::selector(errors, &term.at("labelSelector"));
    meta::selector(errors, &term.at("namespaceSelector"));
    for namespace in term.at("namespaces").items() {
        let node = Node { path: term.path_of("namespace"), value: namespace.value };
        complain(errors, &node, names::dns_label(namespace.text()));
    }
    let key = term.at("topologyKey");
    if key.is_empty() {
        errors.push(key.required("can not be empty"));
    }
    meta::label_name(errors, &key);
}

/// Judges tolerations.
pub fn tolerations(errors: &mut Errors, tolerations: &Node<'_>) {
    for toleration in tolerations.items() {
        let (key, operator) = (toleration.at("key"), toleration.at("operator"));
        let (value, effect) = (toleration.at("value"), toleration.at("effect"));
        if !key.is_empty() {
            meta::label_name(errors, &key);
        } else if operator.text() != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            errors.push(operator.invalid(detail));
        }
        if toleration.at("tolerationSeconds").exists() && effect.text() != "NoExecute" {
            errors.push(effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set"));
        }
        match operator.text() {
            "Equal" | "" => {
                let complaints = names::label_value(value.text());
                if !complaints.is_empty() {
                    errors.push(FieldError::invalid_text(
                        &operator.path,
                        value.text(),
                        &complaints.join(";"),
                    ));
                }
            }
            "Exists" => {
                if !value.is_empty() {
                    let detail = "value must be empty when `operator` is 'Exists'";
                    errors.push(FieldError::invalid_text(&operator.path, value.text(), detail));
                }
            }
            _ => errors.push(operator.not_supported(&["Equal", "Exists"])),
        }
        if !effect.is_empty() && !EFFECTS.contains(&effect.text()) {
            errors.push(effect.not_supported(&EFFECTS));
        }
    }
}

/// Judges the taints of a node.
pub fn taints(errors: &mut Errors, taints: &Node<'_>) {
    let mut seen = BTreeSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.at("key"), taint.at("value"), taint.at("effect"));
        meta::label_name(errors, &key);
        let complaints = names::label_value(value.text());
        if !complaints.is_empty() {
            errors.push(value.invalid(&complaints.join(";")));
        }
        if effect.is_empty() {
            errors.push(effect.required(""));
        } else if !EFFECTS.contains(&effect.text()) {
            errors.push(effect.not_supported(&EFFECTS));
        }
        if !seen.insert((effect.text(), key.text())) {
            let shown = format!(
                "{{\"Key\":{},\"Value\":{},\"Effect\":{},\"TimeAdded\":null}}",
                quoted(key.text()),
                quoted(value.text()),
                quoted(effect.text())
            );
            let mut error = FieldError::duplicate_shown(&taint.path, shown);
            error.detail = "taints must be unique by key and effect pair".to_string();
            errors.push(error);
        }
    }
}

/// Judges the constraints by which Pods spread.
pub fn spread_constraints(errors: &mut Errors, constraints: &Node<'_>) {
    let mut seen = BTreeSet::new();
    for constraint in constraints.items() {
        let (skew, key) = (constraint.at("maxSkew"), constraint.at("topologyKey"));
        let action = constraint.at("whenUnsatisfiable");
        if skew.number() <= 0 {
            let shown = skew.number().to_string();
            errors.push(FieldError::invalid_shown(&skew.path, shown, "must be greater than zero"));
        }
        if key.is_empty() {
            errors.push(key.required("can not be empty"));
        } else {
            meta::label_name(errors, &key);
        }
        if !matches!(action.text(), "DoNotSchedule" | "ScheduleAnyway") {
            errors.push(action.not_supported(&["DoNotSchedule", "ScheduleAnyway"]));
        }
        if !seen.insert((key.text(), action.text())) {
            let path = constraint.path_of("{topologyKey, whenUnsatisfiable}");
            let shown = quoted(&format!("{{{}, {}}}", key.text(), action.text()));
            errors.push(FieldError::duplicate_shown(&path, shown));
        }
        let domains = constraint.at("minDomains");
        if domains.exists() {
            if domains.number() <= 0 {
                errors.push(domains.invalid("must be greater than zero"));
            }
            if action.text() != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    action.text()
                );
                errors.push(domains.invalid(&detail));
            }
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let node = constraint.at(policy);
            if node.exists() && !matches!(node.text(), "Honor" | "Ignore") {
                errors.push(node.not_supported(&["Honor", "Ignore"]));
            }
        }
        meta::selector(errors, &constraint.at("labelSelector"));
    }
}
