//! Namespaces, ConfigMaps, Secrets, priority classes, and what has no description of its own.

use serde_json::Value;

use super::{annotations_lines, head, labels_lines, put};
use crate::api::kinds::cluster::{ConfigMap, Namespace};
use crate::api::object::Object;
use crate::kubectl::host::Host;
use crate::kubectl::print::value::{number, or, text};

pub(super) fn namespace(namespace: &Namespace, host: &dyn Host) -> String {
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
    out.push_str(&super::policy::of_namespace(&namespace.meta.name, host));
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
        out.push_str(&format!("{key}: {} bytes\n", decoded_bytes(value)));
    }
    out.push('\n');
    out
}

/// How many bytes a text in base64 stands for.
fn decoded_bytes(data: &str) -> usize {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    (data.len() / 4 * 3).saturating_sub(padding)
}

pub(super) fn priority_class(object: &Object, value: &Value) -> String {
    let mut out = format!("Name:\t{}\n", object.meta().name);
    put(&mut out, "Value", &number(&value["value"]));
    put(&mut out, "GlobalDefault", &or(&value["globalDefault"], "false"));
    put(&mut out, "PreemptionPolicy", &text(&value["preemptionPolicy"]));
    put(&mut out, "Description", &text(&value["description"]));
    out.push_str(&annotations_lines("", &object.meta().annotations));
    out
}

pub(super) fn secret(object: &Object, value: &Value) -> String {
    let mut out = head(object, true, true);
    let secret_type = text(&value["type"]);
    out.push_str(&format!("\nType:\t{secret_type}\n\nData\n====\n"));
    for (key, data) in value["data"].as_object().into_iter().flatten() {
        let data = data.as_str().unwrap_or_default();
        out.push_str(&format!("{key}:\t{} bytes\n", decoded_bytes(data)));
    }
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

fn write_fields(out: &mut String, fields: &serde_json::Map<String, Value>, depth: usize) {
    let indent = "  ".repeat(depth);
    for (name, value) in fields {
        let title = title_of(name);
        match value {
            Value::Object(inner) => {
                out.push_str(&format!("{indent}{title}:\n"));
                write_fields(out, inner, depth + 1);
            }
            Value::Array(items) => {
                out.push_str(&format!("{indent}{title}:\n"));
                for item in items {
                    match item {
                        Value::Object(inner) => write_fields(out, inner, depth + 1),
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
