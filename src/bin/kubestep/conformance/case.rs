//! Reading recorded cases from disk.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// How a case is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Commands with what they print.
    Session,
    /// Stimuli with the state after each.
    Steps,
    /// Nodes, Pods, and where the scheduler puts one more.
    Placement,
    /// One object over time.
    Timeline,
    /// Something else.
    Unknown,
}

/// One recorded case.
#[derive(Debug)]
pub struct Case {
    /// Its name, unique within its area.
    pub id: String,
    /// The area it counts for.
    pub area: String,
    /// What it shows.
    pub about: String,
    /// How it is told.
    pub format: Format,
    /// All of it.
    pub value: Value,
}

/// Every `.yaml` file under the paths, in order of path.
///
/// # Errors
/// When a path cannot be read. A file that is no case is one of unknown format.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Case>, String> {
    let mut files = Vec::new();
    for path in paths {
        walk(path, &mut files)?;
    }
    files.sort();
    files.dedup();
    files.iter().map(|file| read(file)).collect()
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    if !path.is_dir() {
        std::fs::metadata(path).map_err(failed)?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Case, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    // Not read as a manifest: cases are YAML as their recorder wrote it, in which a bare `y` is a text.
    let value = serde_yaml::from_slice(&bytes).map(json_of).unwrap_or_default();
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    Ok(from_value(value, stem, folder))
}

fn json_of(yaml: serde_yaml::Value) -> Value {
    match yaml {
        serde_yaml::Value::Null => Value::Null,
        serde_yaml::Value::Bool(flag) => Value::Bool(flag),
        serde_yaml::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Value::from(whole),
            (None, Some(whole)) => Value::from(whole),
            (None, None) => number.as_f64().map_or(Value::Null, Value::from),
        },
        serde_yaml::Value::String(text) => Value::String(text),
        serde_yaml::Value::Sequence(items) => items.into_iter().map(json_of).collect(),
        serde_yaml::Value::Mapping(map) => {
            let key = |key| match json_of(key) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            map.into_iter().map(|(name, value)| (key(name), json_of(value))).collect()
        }
        serde_yaml::Value::Tagged(tagged) => json_of(tagged.value),
    }
}

fn from_value(value: Value, file_name: &str, folder: &str) -> Case {
    let text =
        |key: &str, fallback: &str| value.get(key).and_then(Value::as_str).unwrap_or(fallback).to_string();
    Case {
        id: text("id", file_name),
        area: text("area", folder),
        about: text("about", ""),
        format: format_of(&value),
        value,
    }
}

fn format_of(value: &Value) -> Format {
    let has = |key: &str| value.get(key).is_some();
    if let Some(steps) = value.get("steps").and_then(Value::as_array)
        && !has("expect")
    {
        let all = |keys: &[&str]| steps.iter().all(|step| keys.iter().any(|key| step.get(key).is_some()));
        return match () {
            () if all(&["do"]) => Format::Steps,
            () if all(&["run", "settle", "sleep", "until"]) => Format::Session,
            () => Format::Unknown,
        };
    }
    match () {
        () if has("states") && has("manifest") => Format::Timeline,
        () if has("expect") && (has("pod") || has("run") || has("steps")) => Format::Placement,
        () => Format::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_format_follows_from_the_keys() {
        for (value, expected) in [
            (json!({"steps": [{"run": "kubectl get pods"}, {"settle": true}]}), Format::Session),
            (json!({"steps": [{"do": "create"}]}), Format::Steps),
            (json!({"steps": [{"do": "create"}, {"dance": 1}]}), Format::Unknown),
            (json!({"expect": {}, "pod": {}, "steps": [{"action": "add-node"}]}), Format::Placement),
            (json!({"manifest": "", "states": []}), Format::Timeline),
            (json!(null), Format::Unknown),
        ] {
            assert_eq!(format_of(&value), expected, "{value}");
        }
    }
}
