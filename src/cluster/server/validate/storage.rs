//! Volumes, claims and storage classes.
//!
//! Models: `pkg/apis/core/validation/validation.go` `ValidatePersistentVolume`, `ValidatePersistentVolumeClaim`,
//! `pkg/apis/storage/validation/validation.go` (v1.36).
//! Leaves out: the sources of single cloud providers, topology.

use serde_json::Value;

use super::field::FieldError;
use super::internal;
use super::meta;
use super::node::{Errors, Node, complain, immutable, one_of};
use super::scheduling;
use super::volume;
use crate::api::names;

const ACCESS_MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// Judges a new claim.
pub fn claim(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    claim_spec(errors, &object.at("spec"));
}

/// Judges a claim's spec.
pub fn claim_spec(errors: &mut Errors, spec: &Node<'_>) {
    let modes = spec.at("accessModes");
    if modes.is_empty() {
        errors.push(modes.required("at least 1 access mode is required"));
    }
    access_modes(errors, &modes);
    meta::selector(errors, &spec.at("selector"));
    let size = Node {
        path: format!("{}[storage]", spec.path_of("resources")),
        value: spec.at("resources").at("requests").at("storage").value,
    };
    if !size.exists() {
        errors.push(size.required(""));
    } else if size.quantity().is_zero() || size.quantity().is_negative() {
        errors.push(size.invalid("must be greater than zero"));
    }
    let class = spec.at("storageClassName");
    if !class.is_empty() {
        let complaints = names::dns_subdomain(class.text());
        errors
            .extend(complaints.iter().map(|text| FieldError::invalid_text(&class.path, class.text(), text)));
    }
    let mode = spec.at("volumeMode");
    if mode.exists() && !matches!(mode.text(), "Block" | "Filesystem") {
        errors.push(mode.not_supported(&["Block", "Filesystem"]));
    }
}

fn access_modes(errors: &mut Errors, modes: &Node<'_>) {
    for mode in modes.items() {
        if !ACCESS_MODES.contains(&mode.text()) {
            errors.push(FieldError::not_supported(&modes.path, mode.text(), &ACCESS_MODES));
        }
    }
    let items = modes.items();
    if items.len() > 1 && items.iter().any(|mode| mode.text() == "ReadWriteOncePod") {
        errors.push(modes.forbidden("may not use ReadWriteOncePod with other access modes"));
    }
}

/// Judges a changed claim.
pub fn claim_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    claim_spec(errors, &new.at("spec"));
    let is_bound = old.at("status").at("phase").text() == "Bound";
    let fixed = |object: &Node<'_>| {
        let mut spec = object.at("spec").value.clone();
        if let Value::Object(members) = &mut spec {
            if is_bound {
                members.remove("resources");
                members.remove("volumeAttributesClassName");
            }
            if old.at("spec").at("volumeName").is_empty() {
                members.remove("volumeName");
            }
        }
        spec
    };
    if fixed(old) != fixed(new) {
        let difference = internal::difference("PersistentVolumeClaimSpec", &fixed(old), &fixed(new));
        let detail = format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n{difference}"
        );
        errors.push(new.at("spec").forbidden(&detail));
    }
    let size = |object: &Node<'_>| object.at("spec").at("resources").at("requests").at("storage").quantity();
    if is_bound && size(new) < size(old) {
        let detail = "field can not be less than status.capacity";
        errors.push(new.at("spec").at("resources").at("requests").at("storage").forbidden(detail));
    }
}

/// What stands in a volume's spec beside its source.
const BESIDE_THE_SOURCE: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

/// Judges a new volume.
pub fn persistent_volume(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let spec = object.at("spec");
    let modes = spec.at("accessModes");
    if modes.is_empty() {
        errors.push(modes.required(""));
    }
    access_modes(errors, &modes);
    let capacity = spec.at("capacity");
    if capacity.is_empty() {
        errors.push(capacity.required(""));
    } else if !capacity.at("storage").exists() {
        errors.push(FieldError::not_supported(&capacity.path, "", &["storage"]));
    }
    if capacity.at("storage").exists() && capacity.at("storage").quantity() <= Default::default() {
        let path = format!("{}[storage]", capacity.path);
        let size = Node { path, value: capacity.at("storage").value };
        errors.push(size.invalid("must be greater than zero"));
    }
    let affinity = spec.at("nodeAffinity");
    if affinity.exists() {
        let terms = affinity.at("required");
        if terms.exists() {
            scheduling::node_selector(errors, &terms);
        } else {
            errors.push(terms.required("must specify required node constraints"));
        }
    }
    let policy = spec.at("persistentVolumeReclaimPolicy");
    if !policy.is_empty() && !matches!(policy.text(), "Delete" | "Recycle" | "Retain") {
        errors.push(policy.not_supported(&["Delete", "Recycle", "Retain"]));
    }
    let mut found = false;
    for (kind, _) in spec.members().into_iter().filter(|(kind, _)| !BESIDE_THE_SOURCE.contains(kind)) {
        let source = spec.at(kind);
        if found {
            errors.push(source.forbidden("may not specify more than 1 volume type"));
            continue;
        }
        found = true;
        match kind {
            "hostPath" => volume::host_path(errors, &source),
            "nfs" => volume::nfs(errors, &source),
            "local" if !spec.at("nodeAffinity").exists() => {
                errors.push(spec.at("nodeAffinity").required("Local volume requires node affinity"));
            }
            _ => volume::of_provider(errors, kind, &source),
        }
    }
    if !found {
        errors.push(spec.required("must specify a volume type"));
    }
    let is_root = spec.at("hostPath").at("path").text().trim_end_matches('/').is_empty();
    if spec.at("hostPath").exists() && is_root && policy.text() == "Recycle" {
        errors.push(policy.forbidden("may not be 'recycle' for a hostPath mount of '/'"));
    }
    let class = spec.at("storageClassName");
    if !class.is_empty() {
        complain(errors, &class, names::dns_subdomain(class.text()));
    }
    let mode = spec.at("volumeMode");
    if mode.exists() && !matches!(mode.text(), "Block" | "Filesystem") {
        errors.push(mode.not_supported(&["Block", "Filesystem"]));
    }
}

/// Judges a changed volume.
pub fn persistent_volume_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    persistent_volume(errors, new);
    let sources = |object: &Node<'_>| {
        let mut spec = object.at("spec").value.clone();
        if let Value::Object(members) = &mut spec {
            members.retain(|name, _| !BESIDE_THE_SOURCE.contains(&name.as_str()));
        }
        spec
    };
    let (had, has) = (sources(old), sources(new));
    if had != has {
        let difference = internal::difference("PersistentVolumeSource", &had, &has);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        errors.push(
            Node { path: "spec.persistentvolumesource".to_string(), ..new.at("spec") }.forbidden(&detail),
        );
    }
    immutable(errors, &old.at("spec").at("volumeMode"), &new.at("spec").at("volumeMode"));
}

/// Judges a storage class.
pub fn storage_class(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let provisioner = object.at("provisioner");
    if provisioner.is_empty() {
        errors.push(provisioner.required(""));
    } else {
        let complaints = names::qualified_name(&provisioner.text().to_lowercase());
        errors.extend(
            complaints
                .iter()
                .map(|text| FieldError::invalid_text(&provisioner.path, provisioner.text(), text)),
        );
    }
    if object.at("parameters").members().iter().any(|(key, _)| key.is_empty()) {
        errors.push(FieldError::invalid_text("parameters", "", "field can not be empty."));
    }
    let policy = object.at("reclaimPolicy");
    if policy.exists() && !matches!(policy.text(), "Delete" | "Retain") {
        errors.push(policy.not_supported(&["Delete", "Retain"]));
    }
    one_of(errors, &object.at("volumeBindingMode"), &["Immediate", "WaitForFirstConsumer"]);
    allowed_topologies(errors, &object.at("allowedTopologies"));
}

/// Judges where volumes of a class may be.
fn allowed_topologies(errors: &mut Errors, terms: &Node<'_>) {
    for term in terms.items() {
        let mut keys = std::collections::BTreeSet::new();
        for (index, expression) in term.at("matchLabelExpressions").items().iter().enumerate() {
            // The path does not tell which of the terms is meant.
            let path = format!("{}.matchLabelExpressions[{index}]", terms.path);
            let at = |name: &str| Node { path: format!("{path}.{name}"), value: expression.at(name).value };
            let (key, values) = (at("key"), at("values"));
            if values.is_empty() {
                errors.push(values.required(""));
            }
            let mut seen = std::collections::BTreeSet::new();
            for value in values.items() {
                if !seen.insert(value.text()) {
                    errors.push(FieldError::duplicate(&value.path, value.value));
                }
            }
            complain(errors, &key, names::qualified_name(key.text()));
            if !keys.insert(key.text()) {
                errors.push(FieldError::duplicate(&key.path, key.value));
            }
        }
    }
}

/// Judges a changed storage class.
pub fn storage_class_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    for name in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
        immutable(errors, &old.at(name), &new.at(name));
    }
}
