//! The volumes of a Pod.
//!
//! Models: `pkg/apis/core/validation/validation.go` `ValidateVolumes` (v1.36).
//! Leaves out: of the sources of single providers all but what they need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::container::{descending_path, field_reference, resource_reference};
use super::field::FieldError;
use super::node::{Errors, Node, complain};
use crate::api::names;

const VOLUME_FIELD_PATHS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// Judges volumes; gives the well-formed ones by name.
pub fn volumes(errors: &mut Errors, volumes: &Node<'_>) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for volume in volumes.items() {
        let mut own = Errors::new();
        source(&mut own, &volume);
        let name = volume.at("name");
        if name.is_empty() {
            own.push(name.required(""));
        } else {
            complain(&mut own, &name, names::dns_label(name.text()));
        }
        if seen.contains(name.text()) {
            own.push(FieldError::duplicate(&name.path, name.value));
        }
        if own.is_empty() {
            seen.insert(name.text());
            found.insert(name.text().to_string(), volume.value.clone());
        }
        errors.extend(own);
    }
    found
}

fn source(errors: &mut Errors, volume: &Node<'_>) {
    let mut found = false;
    let kinds = volume.members().into_iter().map(|(kind, _)| kind).filter(|kind| *kind != "name");
    for kind in kinds {
        let source = volume.at(kind);
        if found {
            errors.push(source.forbidden("may not specify more than 1 volume type"));
            continue;
        }
        found = true;
        match kind {
            "emptyDir" => {
                if source.at("sizeLimit").quantity().is_negative() {
                    errors.push(
                        source.at("sizeLimit").forbidden("SizeLimit field must be a valid resource quantity"),
                    );
                }
            }
            "hostPath" => host_path(errors, &source),
            "nfs" => nfs(errors, &source),
            "secret" => {
                required(errors, &source.at("secretName"));
                mode(errors, &source.at("defaultMode"));
                keys(errors, &source.at("items"));
            }
            "configMap" => {
                required(errors, &source.at("name"));
                mode(errors, &source.at("defaultMode"));
                keys(errors, &source.at("items"));
            }
            "persistentVolumeClaim" => required(errors, &source.at("claimName")),
            "downwardAPI" => {
                mode(errors, &source.at("defaultMode"));
                downward_files(errors, &source.at("items"));
            }
            "projected" => projected(errors, &source),
            "ephemeral" => {
                let template = source.at("volumeClaimTemplate");
                if template.exists() {
                    super::storage::claim_spec(errors, &template.at("spec"));
                } else {
                    errors.push(template.required(""));
                }
            }
            _ => of_provider(errors, kind, &source),
        }
    }
    if !found {
        errors.push(volume.required("must specify a volume type"));
    }
}

/// What the sources of single providers cannot do without.
const NEEDS: [(&str, &[&str]); 17] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("gcePersistentDisk", &["pdName"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("azureFile", &["secretName", "shareName"]),
    ("cephfs", &["monitors"]),
    ("cinder", &["volumeID"]),
    ("csi", &["driver"]),
    ("flexVolume", &["driver"]),
    ("gitRepo", &["repository"]),
    ("glusterfs", &["endpoints", "path"]),
    ("iscsi", &["targetPortal", "iqn"]),
    ("local", &["path"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("quobyte", &["registry", "volume"]),
    ("rbd", &["monitors", "image"]),
    ("vsphereVolume", &["volumePath"]),
];

/// Judges the source of a single provider.
pub fn of_provider(errors: &mut Errors, kind: &str, source: &Node<'_>) {
    let needed = NEEDS.iter().find(|(known, _)| *known == kind).map(|(_, fields)| *fields);
    needed.unwrap_or_default().iter().for_each(|field| required(errors, &source.at(field)));
    let lun = source.at("lun");
    if kind == "iscsi" && !(0..=255).contains(&lun.number()) {
        errors.push(FieldError::invalid_shown(
            &lun.path,
            lun.number().to_string(),
            "must be between 0 and 255, inclusive",
        ));
    }
    let partition = source.at("partition");
    if matches!(kind, "awsElasticBlockStore" | "gcePersistentDisk")
        && !(0..=255).contains(&partition.number())
    {
        errors.push(FieldError::invalid_shown(
            &partition.path,
            partition.number().to_string(),
            "must be between 0 and 255, inclusive",
        ));
    }
    if kind == "fc" && source.at("targetWWNs").is_empty() && source.at("wwids").is_empty() {
        let detail = "must specify either targetWWNs or wwids, but not both";
        errors.push(source.at("targetWWNs").required(detail));
    }
}

fn required(errors: &mut Errors, node: &Node<'_>) {
    if node.is_empty() {
        errors.push(node.required(""));
    }
}

/// Judges a directory of the node.
pub fn host_path(errors: &mut Errors, source: &Node<'_>) {
    let path = source.at("path");
    if path.is_empty() {
        errors.push(path.required(""));
        return;
    }
    if path.text().split('/').any(|part| part == "..") {
        errors.push(path.invalid("must not contain '..'"));
    }
    let choices =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    let kind = source.at("type");
    if kind.exists() && !choices.contains(&kind.text()) {
        errors.push(kind.not_supported(&choices));
    }
}

/// Judges a share of a file server.
pub fn nfs(errors: &mut Errors, source: &Node<'_>) {
    required(errors, &source.at("server"));
    let path = source.at("path");
    required(errors, &path);
    if !path.text().starts_with('/') {
        errors.push(path.invalid("must be an absolute path"));
    }
}

fn mode(errors: &mut Errors, mode: &Node<'_>) {
    if mode.exists() && !(0..=0o777).contains(&mode.number()) {
        errors.push(mode.invalid("must be a number between 0 and 0777 (octal), both inclusive"));
    }
}

/// A path of a file in a volume.
fn file_path(errors: &mut Errors, path: &Node<'_>) {
    if path.is_empty() {
        errors.push(path.required(""));
    } else {
        descending_path(errors, path);
        if path.text().starts_with("..") && !path.text().starts_with("../") {
            errors.push(path.invalid("must not start with '..'"));
        }
    }
}

fn keys(errors: &mut Errors, items: &Node<'_>) {
    for item in items.items() {
        required(errors, &item.at("key"));
        file_path(errors, &item.at("path"));
        mode(errors, &item.at("mode"));
    }
}

fn downward_files(errors: &mut Errors, items: &Node<'_>) {
    for item in items.items() {
        file_path(errors, &item.at("path"));
        let (field, resource) = (item.at("fieldRef"), item.at("resourceFieldRef"));
        if field.exists() {
            field_reference(errors, &field, &VOLUME_FIELD_PATHS);
            if resource.exists() {
                errors
                    .push(item.invalid("fieldRef and resourceFieldRef can not be specified simultaneously"));
            }
        } else if resource.exists() {
            resource_reference(errors, &resource, true);
        } else {
            errors.push(item.required("one of fieldRef and resourceFieldRef is required"));
        }
        mode(errors, &item.at("mode"));
    }
}

fn projected(errors: &mut Errors, source: &Node<'_>) {
    mode(errors, &source.at("defaultMode"));
    for part in source.at("sources").items() {
        let mut found = 0;
        for (kind, inner) in part.members() {
            let inner = Node { path: part.path_of(kind), value: inner.value };
            found += 1;
            if found > 1 {
                errors.push(inner.forbidden("may not specify more than 1 volume type per source"));
                continue;
            }
            match kind {
                "secret" | "configMap" => {
                    required(errors, &inner.at("name"));
                    keys(errors, &inner.at("items"));
                }
                "downwardAPI" => downward_files(errors, &inner.at("items")),
                "serviceAccountToken" => {
                    let seconds = inner.at("expirationSeconds");
                    if seconds.number() < 600 {
                        errors.push(seconds.invalid("may not specify a duration less than 10 minutes"));
                    } else if seconds.number() > 1 << 32 {
                        errors.push(seconds.invalid("may not specify a duration larger than 2^32 seconds"));
                    }
                    file_path(errors, &inner.at("path"));
                }
                _ => {}
            }
        }
    }
}
