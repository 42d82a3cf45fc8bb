//! Volumes, claims on them, and their classes.

use serde_json::Value;

use super::{head, put};
use crate::api::object::Object;
use crate::kubectl::host::Host;
use crate::kubectl::print::value::{access_modes, go_list, items, joined, or, pairs, text, truth};

pub(super) fn claim(object: &Object, value: &Value, host: &dyn Host) -> String {
    let (spec, status, meta) = (&value["spec"], &value["status"], object.meta());
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    put(&mut out, "StorageClass", &text(&spec["storageClassName"]));
    put(&mut out, "Status", &phase(object, value, host));
    put(&mut out, "Volume", &text(&spec["volumeName"]));
    out.push_str(&super::labels_lines("", "Labels", &meta.labels));
    out.push_str(&super::annotations_lines("", &meta.annotations));
    put(&mut out, "Finalizers", &go_list(&value["metadata"]["finalizers"]));
    let bound = !text(&spec["volumeName"]).is_empty();
    let shown = |text: String| if bound { text } else { String::new() };
    put(&mut out, "Capacity", &shown(or(&status["capacity"]["storage"], "0")));
    let modes = access_modes(&status["accessModes"]);
    put(&mut out, "Access Modes", &shown(modes));
    put(&mut out, "VolumeMode", &or(&spec["volumeMode"], "Filesystem"));
    if let Some(source) = spec.get("dataSource") {
        out.push_str("DataSource:\n");
        for (title, field) in [("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name")] {
            if !source[field].is_null() {
                out.push_str(&format!("  {title}:\t{}\n", text(&source[field])));
            }
        }
    }
    let mut users: Vec<String> = Vec::new();
    for pod in host.store().list_in::<crate::api::kinds::pod::Pod>(&meta.namespace) {
        let claims = |volume: &Value| match volume["persistentVolumeClaim"]["claimName"].as_str() {
            Some(named) => *named == *meta.name,
            None => volume["ephemeral"].is_object() && meta.is_controlled_by(&pod.meta.uid),
        };
        if pod.spec.rest.get("volumes").is_some_and(|volumes| items(volumes).iter().any(claims)) {
            users.push(pod.meta.name.to_string());
        }
    }
    let users = if users.is_empty() { "<none>".to_string() } else { users.join("\n\t") };
    put(&mut out, "Used By", &users);
    out
}

fn phase(object: &Object, value: &Value, host: &dyn Host) -> String {
    match object.meta().deletion_timestamp {
        Some(deletion) => {
            let lasts = crate::kubectl::duration::age(Some(deletion), host.now());
            format!("Terminating (lasts {lasts})")
        }
        None => text(&value["status"]["phase"]),
    }
}

pub(super) fn volume(object: &Object, value: &Value, host: &dyn Host) -> String {
    let spec = &value["spec"];
    let mut out = head(object, false, true);
    put(&mut out, "Finalizers", &go_list(&value["metadata"]["finalizers"]));
    put(&mut out, "StorageClass", &text(&spec["storageClassName"]));
    put(&mut out, "Status", &phase(object, value, host));
    let claim = &spec["claimRef"];
    let claimed = format!("{}/{}", text(&claim["namespace"]), text(&claim["name"]));
    put(&mut out, "Claim", if claim.is_null() { "" } else { &claimed });
    put(&mut out, "Reclaim Policy", &text(&spec["persistentVolumeReclaimPolicy"]));
    put(&mut out, "Access Modes", &access_modes(&spec["accessModes"]));
    put(&mut out, "VolumeMode", &or(&spec["volumeMode"], "Filesystem"));
    put(&mut out, "Capacity", &text(&spec["capacity"]["storage"]));
    let terms = &spec["nodeAffinity"]["required"]["nodeSelectorTerms"];
    if terms.is_null() {
        put(&mut out, "Node Affinity", "<none>");
    } else {
        out.push_str("Node Affinity:\t\n  Required Terms:\t\n");
        for (index, term) in items(terms).iter().enumerate() {
            let mut title = format!("    Term {index}:");
            for expression in items(&term["matchExpressions"]) {
                let mut shown =
                    format!("{} {}", text(&expression["key"]), text(&expression["operator"]).to_lowercase());
                if !items(&expression["values"]).is_empty() {
                    shown.push_str(&format!(" [{}]", joined(&expression["values"], ", ")));
                }
                out.push_str(&format!("{title}\t{shown}\n"));
                title = "    ".to_string();
            }
        }
    }
    put(&mut out, "Message", &text(&value["status"]["message"]));
    out.push_str("Source:\n");
    out.push_str(&source(spec));
    out
}

/// Where a volume's bytes are.
fn source(spec: &Value) -> String {
    type Source = (&'static str, &'static str, &'static [(&'static str, &'static str, &'static str)]);
    const SOURCES: &[Source] = &[
        (
            "hostPath",
            "HostPath (bare host directory volume)",
            &[("Path", "path", ""), ("HostPathType", "type", "")],
        ),
        (
            "local",
            "LocalVolume (a persistent volume backed by local storage on a node)",
            &[("Path", "path", "")],
        ),
        (
            "nfs",
            "NFS (an NFS mount that lasts the lifetime of a pod)",
            &[("Server", "server", ""), ("Path", "path", ""), ("ReadOnly", "readOnly", "false")],
        ),
        (
            "csi",
            "CSI (a Container Storage Interface (CSI) volume source)",
            &[
                ("Driver", "driver", ""),
                ("FSType", "fsType", ""),
                ("VolumeHandle", "volumeHandle", ""),
                ("ReadOnly", "readOnly", "false"),
            ],
        ),
    ];
    let Some((field, kind, lines)) = SOURCES.iter().find(|(field, ..)| !spec[*field].is_null()) else {
        return "    <unknown>\n".to_string();
    };
    let mut out = format!("    Type:\t{kind}\n");
    for (title, name, otherwise) in *lines {
        out.push_str(&format!("    {title}:\t{}\n", or(&spec[*field][*name], otherwise)));
    }
    if *field == "csi" {
        let attributes = crate::api::labels::labels_of(&spec["csi"]["volumeAttributes"]);
        out.push_str(&super::labels_lines("    ", "VolumeAttributes", &attributes));
    }
    out
}

pub(super) fn storage_class(object: &Object, value: &Value) -> String {
    let mut out = format!("Name:\t{}\n", object.meta().name);
    let default = object.meta().annotations.get("storageclass.kubernetes.io/is-default-class");
    put(&mut out, "IsDefaultClass", if default.is_some_and(|value| value == "true") { "Yes" } else { "No" });
    put(&mut out, "Annotations", &pairs(&value["metadata"]["annotations"]));
    put(&mut out, "Provisioner", &text(&value["provisioner"]));
    put(&mut out, "Parameters", &pairs(&value["parameters"]));
    put(&mut out, "AllowVolumeExpansion", truth(&value["allowVolumeExpansion"]));
    match items(&value["mountOptions"]) {
        [] => put(&mut out, "MountOptions", "<none>"),
        options => {
            out.push_str("MountOptions:\n");
            out.extend(options.iter().map(|option| format!("  {}\n", text(option))));
        }
    }
    for (title, field) in [("ReclaimPolicy", "reclaimPolicy"), ("VolumeBindingMode", "volumeBindingMode")] {
        if !value[field].is_null() {
            put(&mut out, title, &text(&value[field]));
        }
    }
    out
}
