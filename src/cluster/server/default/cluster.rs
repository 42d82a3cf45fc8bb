//! Defaults of Namespaces, Nodes, ConfigMaps, Secrets and LimitRanges.

use base64::Engine as _;
use serde_json::{Map, Value};

use super::{Record, made, set_absent, text};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "core.v1.Namespace" => namespace(record),
        "core.v1.NodeStatus" => {
            if let (Some(capacity), None) = (record.get("capacity").cloned(), record.get("allocatable")) {
                record.insert("allocatable".to_string(), capacity);
            }
        }
        "core.v1.Secret" => secret(record),
        "core.v1.LimitRangeItem" => limits(record),
        _ => {}
    }
}

fn namespace(namespace: &mut Record) {
    let metadata = made(namespace, "metadata");
    let name = text(metadata, "name").to_string();
    if !name.is_empty() {
        made(metadata, "labels").insert("kubernetes.io/metadata.name".to_string(), Value::String(name));
    }
    set_absent(made(namespace, "status"), "phase", "Active");
}

/// The type, and the plain texts written into the data.
fn secret(secret: &mut Record) {
    set_absent(secret, "type", "Opaque");
    let Some(Value::Object(texts)) = secret.remove("stringData") else { return };
    let data = made(secret, "data");
    for (key, value) in texts {
        let bytes = value.as_str().unwrap_or_default();
        data.insert(key, Value::String(base64::engine::general_purpose::STANDARD.encode(bytes)));
    }
}

fn limits(item: &mut Record) {
    if text(item, "type") != "Container" {
        return;
    }
    let of = |item: &Record, name: &str| match item.get(name) {
        Some(Value::Object(amounts)) => amounts.clone(),
        _ => Map::new(),
    };
    let missing_from = |mut into: Map<String, Value>, from: Map<String, Value>| {
        for (name, amount) in from {
            into.entry(name).or_insert(amount);
        }
        into
    };
    let default = missing_from(of(item, "default"), of(item, "max"));
    let requests = missing_from(of(item, "defaultRequest"), default.clone());
    let requests = missing_from(requests, of(item, "min"));
    for (name, amounts) in [("default", default), ("defaultRequest", requests)] {
        if !amounts.is_empty() {
            item.insert(name.to_string(), Value::Object(amounts));
        }
    }
}
