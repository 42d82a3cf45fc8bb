//! Metadata and label selectors, which every kind has.
//!
//! Models: `k8s.io/apimachinery/pkg/api/validation/{objectmeta,generic}.go`, `pkg/apis/meta/v1/validation` (v1.36).
//! Leaves out: managed fields.

use super::field::FieldError;
use super::node::{Errors, Node, complain, immutable, non_negative};
use crate::api::names;

/// The most bytes that all annotations of an object may hold together.
const ANNOTATIONS_BYTES: usize = 256 * 1024;
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// A rule for names.
pub type NameRule = fn(&str) -> Vec<String>;

/// Judges the metadata of an object whose names follow a rule.
pub fn metadata(errors: &mut Errors, object: &Node<'_>, namespaced: bool, rule: NameRule) {
    let metadata = object.at("metadata");
    let (name, prefix) = (metadata.at("name"), metadata.at("generateName"));
    if !prefix.is_empty() {
        // A dash at the end will have characters behind it.
        let completed = match prefix.text().strip_suffix('-') {
            Some(rest) if !rest.is_empty() => format!("{rest}a"),
            _ => prefix.text().to_string(),
        };
        complain(errors, &prefix, rule(&completed));
    }
    if !name.is_empty() {
        complain(errors, &name, rule(name.text()));
    } else if prefix.is_empty() {
        errors.push(name.required("name or generateName is required"));
    }
    let namespace = metadata.at("namespace");
    if namespaced {
        if namespace.is_empty() {
            errors.push(namespace.required(""));
        } else {
            complain(errors, &namespace, names::dns_label(namespace.text()));
        }
    } else if !namespace.is_empty() {
        errors.push(namespace.forbidden("not allowed on this type"));
    }
    non_negative(errors, &metadata.at("generation"));
    shared(errors, &metadata);
    for finalizer in metadata.at("finalizers").items() {
        let before = errors.len();
        complain(errors, &finalizer, names::qualified_name(finalizer.text()));
        let is_known = finalizer.text().contains('/') || STANDARD_FINALIZERS.contains(&finalizer.text());
        if errors.len() == before && !is_known {
            errors.push(
                finalizer.invalid("name is neither a standard finalizer name nor is it fully qualified"),
            );
        }
    }
}

/// Judges the change of an object's metadata.
pub fn metadata_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    let (old, new) = (old.at("metadata"), new.at("metadata"));
    for name in
        ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"]
    {
        immutable(errors, &old.at(name), &new.at(name));
    }
    shared(errors, &new);
}

/// Labels, annotations and owners.
fn shared(errors: &mut Errors, metadata: &Node<'_>) {
    labels(errors, &metadata.at("labels"));
    annotations(errors, &metadata.at("annotations"));
    owners(errors, &metadata.at("ownerReferences"));
}

/// Judges labels; every mistake is told at the whole map.
pub fn labels(errors: &mut Errors, labels: &Node<'_>) {
    for (key, value) in labels.members() {
        let complaints = names::qualified_name(key);
        errors.extend(
            complaints.iter().map(|complaint| FieldError::invalid_text(&labels.path, key, complaint)),
        );
        let complaints = names::label_value(value.text());
        let text = value.text();
        errors.extend(
            complaints.iter().map(|complaint| FieldError::invalid_text(&labels.path, text, complaint)),
        );
    }
}

/// Judges annotations.
pub fn annotations(errors: &mut Errors, annotations: &Node<'_>) {
    let mut bytes = 0;
    for (key, value) in annotations.members() {
        let complaints = names::qualified_name(&key.to_lowercase());
        errors.extend(
            complaints.iter().map(|complaint| FieldError::invalid_text(&annotations.path, key, complaint)),
        );
        bytes += key.len() + value.text().len();
    }
    if bytes > ANNOTATIONS_BYTES {
        errors.push(FieldError::too_long(&annotations.path, ANNOTATIONS_BYTES));
    }
}

fn owners(errors: &mut Errors, owners: &Node<'_>) {
    let mut controller: Option<&str> = None;
    for owner in owners.items() {
        // The path names no index.
        let at = |name: &str| Node { path: format!("{}.{name}", owners.path), value: owner.at(name).value };
        if at("apiVersion").is_empty() {
            errors.push(at("apiVersion").invalid("version must not be empty"));
        }
        for name in ["kind", "name", "uid"] {
            if at(name).is_empty() {
                errors.push(at(name).invalid("must not be empty"));
            }
        }
        if owner.at("kind").text() == "Event" {
            errors.push(FieldError::invalid(
                &owners.path,
                owner.value,
                "/v1, Kind=Event is disallowed from being an owner",
            ));
        }
        if owner.at("controller").is_true() {
            let name = owner.at("name").text();
            match controller {
                None => controller = Some(name),
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                    );
                    errors.push(FieldError::invalid(&owners.path, owners.value, &detail));
                }
            }
        }
    }
}

/// Judges a label selector.
pub fn selector(errors: &mut Errors, selector: &Node<'_>) {
    labels(errors, &selector.at("matchLabels"));
    for expression in selector.at("matchExpressions").items() {
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
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => errors.push(operator.invalid("not a valid selector operator")),
        }
        label_name(errors, &expression.at("key"));
        for value in values.items() {
            complain(errors, &value, names::label_value(value.text()));
        }
    }
}

/// Whether a label selector can be read at all.
pub fn is_readable(selector: &Node<'_>) -> bool {
    let mut errors = Errors::new();
    self::selector(&mut errors, selector);
    errors.is_empty()
}

/// Whether a selector selects everything for want of conditions.
pub fn selects_everything(selector: &Node<'_>) -> bool {
    selector.at("matchLabels").is_empty() && selector.at("matchExpressions").is_empty()
}

/// Judges a label's key.
pub fn label_name(errors: &mut Errors, key: &Node<'_>) {
    complain(errors, key, names::qualified_name(key.text()));
}
