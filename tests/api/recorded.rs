//! Reads the recorded cases.

use std::fs;
use std::path::Path;

use kubestep::api::manifest;
use serde_json::Value;

/// The cases of a group of the area `api`, by file name.
pub fn cases(group: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/recorded/api");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let read = manifest::parse(&fs::read_to_string(&path).unwrap());
        assert_eq!(read.error, None, "{}", path.display());
        let case = read.documents.into_iter().next().unwrap().value;
        if case["group"] == group {
            found.push((path.file_stem().unwrap().to_string_lossy().into_owned(), case));
        }
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

/// Whether a value is what was recorded; a placeholder stands for anything, also for nothing.
pub fn differs(path: &str, expected: &Value, actual: &Value, out: &mut Vec<String>) {
    match (expected, actual) {
        (Value::String(text), _) if text.starts_with('<') && text.ends_with('>') => {}
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let inner = format!("{path}.{key}");
                differs(
                    &inner,
                    left.get(key).unwrap_or(&Value::Null),
                    right.get(key).unwrap_or(&Value::Null),
                    out,
                );
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differs(&format!("{path}[{index}]"), left, right, out);
            }
        }
        (Value::Array(left), Value::Null)
            if left.iter().all(|item| item.as_str().is_some_and(|t| t.starts_with('<'))) => {}
        _ if expected == actual => {}
        _ => out.push(format!("{path}: expected {expected}, got {actual}")),
    }
}
