//! Namespaces, ConfigMaps, and what has no description of its own.

use super::{annotations_lines, labels_lines};
use crate::api::kinds::cluster::{ConfigMap, Namespace};
use crate::api::object::Object;

pub(super) fn namespace(namespace: &Namespace) -> String {
    let mut out = format!("Name:\t{}\n", namespace.meta.name);
    out.push_str(&labels_lines("", "Labels", &namespace.meta.labels));
    out.push_str(&annotations_lines("", &namespace.meta.annotations));
    out.push_str(&format!("Status:\t{}\n", namespace.status.phase));
    let conditions = namespace.status.rest.get("conditions").and_then(|list| list.as_array());
    if let Some(conditions) = conditions.filter(|list| !list.is_empty()) {
        out.push_str("Conditions:\n  Type\tStatus\tLastTransitionTime\tReason\tMessage\n");
        out.push_str("  ----\t------\t------------------\t------\t-------\n");
        for condition in conditions {
            let text = |name: &str| condition[name].as_str().unwrap_or_default();
            let time = crate::api::time::Timestamp::parse(text("lastTransitionTime"));
            let time = time.map(crate::kubectl::duration::rfc1123).unwrap_or_default();
            out.push_str(&format!(
                "  {} \t{} \t{time} \t{} \t{} \n",
                text("type"),
                text("status"),
                text("reason"),
                text("message")
            ));
        }
    }
    out.push_str("\nNo resource quota.\n\nNo LimitRange resource.\n");
    out
}

pub(super) fn config_map(map: &ConfigMap) -> String {
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", map.meta.name, map.meta.namespace);
    out.push_str(&labels_lines("", "Labels", &map.meta.labels));
    out.push_str(&annotations_lines("", &map.meta.annotations));
    out.push_str("\nData\n====\n");
    for (key, value) in &map.data {
        out.push_str(&format!("{key}:\n----\n{value}\n\n"));
    }
    out.push_str("\nBinaryData\n====\n");
    for (key, value) in &map.binary_data {
        let padding = value.bytes().rev().take_while(|byte| *byte == b'=').count();
        out.push_str(&format!("{key}: {} bytes\n", (value.len() / 4 * 3).saturating_sub(padding)));
    }
    out.push('\n');
    out
}

/// The fields of any object, one below the other.
///
/// Models: `genericDescriber`.
pub(super) fn any(object: &Object) -> String {
    let meta = object.meta();
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    let value = crate::kubectl::print::format::shown(object);
    let mut fields = value.as_object().cloned().unwrap_or_default();
    if let Some(metadata) = fields.get_mut("metadata").and_then(|metadata| metadata.as_object_mut()) {
        for shown in ["name", "namespace", "labels", "annotations"] {
            metadata.remove(shown);
        }
    }
    write_fields(&mut out, &fields, 0);
    out
}

fn write_fields(out: &mut String, fields: &serde_json::Map<String, serde_json::Value>, depth: usize) {
    let indent = "  ".repeat(depth);
    for (name, value) in fields {
        let title = title_of(name);
        match value {
            serde_json::Value::Object(inner) => {
                out.push_str(&format!("{indent}{title}:\n"));
                write_fields(out, inner, depth + 1);
            }
            serde_json::Value::Array(items) => {
                out.push_str(&format!("{indent}{title}:\n"));
                for item in items {
                    match item {
                        serde_json::Value::Object(inner) => write_fields(out, inner, depth + 1),
                        other => {
                            out.push_str(&format!("{indent}  {}\n", crate::kubectl::jsonpath::text_of(other)))
                        }
                    }
                }
            }
            other => {
                out.push_str(&format!(
                    "{indent}{title}:\t{}\n",
                    crate::kubectl::print::format::go_text(other)
                ));
            }
        }
    }
}

/// `creationTimestamp` as `Creation Timestamp`, `apiVersion` as `API Version`.
fn title_of(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut previous_upper = true;
    for character in name.chars() {
        let upper = character.is_uppercase();
        if upper && !previous_upper || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(character);
        }
        previous_upper = upper;
    }
    let title = |word: &String| match word.as_str() {
        "api" => "API".to_string(),
        "uid" => "UID".to_string(),
        "id" => "ID".to_string(),
        word => word[..1].to_uppercase() + &word[1..],
    };
    words.iter().map(title).collect::<Vec<_>>().join(" ")
}
