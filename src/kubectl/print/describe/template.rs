//! The template of Pods, and what it shares with Pods.

use serde_json::Value;

use super::{annotations_lines, container, labels_lines};
use crate::api::kinds::apps::PodTemplateSpec;
use crate::api::kinds::pod::PodSpec;

/// The block of a template; cells are separated by tabs.
pub fn text(template: &PodTemplateSpec) -> String {
    let spec = &template.spec;
    let mut out = "Pod Template:\n".to_string();
    out.push_str(&labels_lines("  ", "Labels", &template.meta.labels));
    if !template.meta.annotations.is_empty() {
        out.push_str(&annotations_lines("  ", &template.meta.annotations));
    }
    if !spec.service_account_name.is_empty() {
        out.push_str(&format!("  Service Account:\t{}\n", spec.service_account_name));
    }
    if !spec.init_containers.is_empty() {
        out.push_str(&container::list("Init Containers", &spec.init_containers, None, "  "));
    }
    out.push_str(&container::list("Containers", &spec.containers, None, "  "));
    out.push_str(&volumes(spec, "  "));
    out.push_str(&topology_spread(spec, "  "));
    let priority_class = spec.rest.get("priorityClassName").and_then(Value::as_str).unwrap_or_default();
    if !priority_class.is_empty() {
        out.push_str(&format!("  Priority Class Name:\t{priority_class}\n"));
    }
    out.push_str(&labels_lines("  ", "Node-Selectors", &spec.node_selector));
    out.push_str(&tolerations(spec, "  "));
    out
}

/// `Tolerations:`, sorted by key.
pub(super) fn tolerations(spec: &PodSpec, indent: &str) -> String {
    let mut out = format!("{indent}Tolerations:\t");
    if spec.tolerations.is_empty() {
        out.push_str("<none>\n");
    }
    let mut sorted: Vec<_> = spec.tolerations.iter().collect();
    sorted.sort_by(|left, right| left.key.cmp(&right.key));
    for (index, toleration) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push_str(&format!("{indent}\t"));
        }
        let mut text = toleration.key.clone();
        if !toleration.value.is_empty() {
            text.push_str(&format!("={}", toleration.value));
        }
        if !toleration.effect.is_empty() {
            text.push_str(&format!(":{}", toleration.effect));
        }
        if toleration.operator == "Exists" && toleration.value.is_empty() {
            text.push_str(if text.is_empty() { "op=Exists" } else { " op=Exists" });
        }
        if let Some(seconds) = toleration.toleration_seconds {
            text.push_str(&format!(" for {seconds}s"));
        }
        out.push_str(&format!("{text}\n"));
    }
    out
}

/// `Topology Spread Constraints:`, only if there are any.
pub(super) fn topology_spread(spec: &PodSpec, indent: &str) -> String {
    let constraints = spec.rest.get("topologySpreadConstraints").and_then(Value::as_array);
    let mut out = String::new();
    for (index, constraint) in constraints.into_iter().flatten().enumerate() {
        let title = if index == 0 { "Topology Spread Constraints:" } else { "" };
        let text = |name: &str| constraint[name].as_str().unwrap_or_default();
        let selector = crate::api::labels::Selector::from_label_selector(&constraint["labelSelector"]);
        out.push_str(&format!(
            "{indent}{title}\t{}:{} when max skew {} is exceeded for selector {selector}\n",
            text("topologyKey"),
            text("whenUnsatisfiable"),
            constraint["maxSkew"]
        ));
    }
    out
}

/// `Volumes:`.
pub(super) fn volumes(spec: &PodSpec, indent: &str) -> String {
    let Some(volumes) =
        spec.rest.get("volumes").and_then(Value::as_array).filter(|volumes| !volumes.is_empty())
    else {
        return format!("{indent}Volumes:\t<none>\n");
    };
    let mut out = format!("{indent}Volumes:\n");
    let name_indent = if indent.is_empty() { "  " } else { "   " };
    for volume in volumes {
        out.push_str(&format!("{name_indent}{}:\n", volume["name"].as_str().unwrap_or_default()));
        out.push_str(&source(volume));
    }
    out
}

fn source(volume: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::Null => String::new(),
        other => crate::kubectl::jsonpath::text_of(other),
    };
    let optional = |value: &Value| value["optional"].as_bool().unwrap_or(false);
    if let Some(empty) = volume.get("emptyDir") {
        let limit =
            if empty["sizeLimit"].is_null() { "<unset>".to_string() } else { shown(&empty["sizeLimit"]) };
        return format!(
            "    Type:\tEmptyDir (a temporary directory that shares a pod's lifetime)\n    Medium:\t{}\n    SizeLimit:\t{limit}\n",
            shown(&empty["medium"])
        );
    }
    if let Some(map) = volume.get("configMap") {
        return format!(
            "    Type:\tConfigMap (a volume populated by a ConfigMap)\n    Name:\t{}\n    Optional:\t{}\n",
            shown(&map["name"]),
            optional(map)
        );
    }
    if let Some(secret) = volume.get("secret") {
        return format!(
            "    Type:\tSecret (a volume populated by a Secret)\n    SecretName:\t{}\n    Optional:\t{}\n",
            shown(&secret["secretName"]),
            optional(secret)
        );
    }
    if let Some(path) = volume.get("hostPath") {
        return format!(
            "    Type:\tHostPath (bare host directory volume)\n    Path:\t{}\n    HostPathType:\t{}\n",
            shown(&path["path"]),
            shown(&path["type"])
        );
    }
    if let Some(claim) = volume.get("persistentVolumeClaim") {
        return format!(
            "    Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)\n    ClaimName:\t{}\n    ReadOnly:\t{}\n",
            shown(&claim["claimName"]),
            claim["readOnly"].as_bool().unwrap_or(false)
        );
    }
    if let Some(downward) = volume.get("downwardAPI") {
        let mut out =
            "    Type:\tDownwardAPI (a volume populated by information about the pod)\n    Items:\n"
                .to_string();
        for item in downward["items"].as_array().into_iter().flatten() {
            for (field, name) in [("fieldRef", "fieldPath"), ("resourceFieldRef", "resource")] {
                if let Some(reference) = item.get(field) {
                    out.push_str(&format!("      {} -> {}\n", shown(&reference[name]), shown(&item["path"])));
                }
            }
        }
        return out;
    }
    if let Some(projected) = volume.get("projected") {
        return projected_sources(projected);
    }
    "    <unknown>\n".to_string()
}

fn projected_sources(projected: &Value) -> String {
    let mut out =
        "    Type:\tProjected (a volume that contains injected data from multiple sources)\n".to_string();
    for source in projected["sources"].as_array().into_iter().flatten() {
        if let Some(map) = source.get("configMap") {
            let optional = map["optional"].as_bool().unwrap_or(false);
            out.push_str(&format!(
                "    ConfigMapName:\t{}\n    Optional:\t{optional}\n",
                map["name"].as_str().unwrap_or_default()
            ));
        } else if let Some(secret) = source.get("secret") {
            let optional = secret["optional"].as_bool().unwrap_or(false);
            let name = secret["name"].as_str().unwrap_or_default();
            out.push_str(&format!("    SecretName:\t{name}\n    Optional:\t{optional}\n"));
        } else if source.get("downwardAPI").is_some() {
            out.push_str("    DownwardAPI:\ttrue\n");
        } else if let Some(token) = source.get("serviceAccountToken") {
            out.push_str(&format!("    TokenExpirationSeconds:\t{}\n", token["expirationSeconds"]));
        }
    }
    out
}
