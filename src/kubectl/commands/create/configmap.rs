//! `kubectl create configmap`, and where its data and a Secret's come from.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_configmap.go` (v1.36).
//! Leaves out: folders, files that are not text.

use serde_json::{Map, Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::api::names;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `create configmap`.
pub const FLAGS: &[&[Flag]] = &[form::FLAGS, SOURCES];

/// Where data comes from.
pub(super) const SOURCES: &[Flag] = &[
    Flag::long("from-literal", Takes::Texts),
    Flag::long("from-file", Takes::List),
    Flag::long("from-env-file", Takes::List),
    Flag::long("append-hash", Takes::Nothing),
];

/// Creates a ConfigMap from literals and files.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let data = data(call, "ConfigMap", &name)?;
    let mut value = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    if !data.is_empty() {
        value["data"] = Value::Object(data);
    }
    form::send(call, Kind::ConfigMap, value, &Told::As("configmap"))
}

pub(super) fn read(call: &Call, path: &str) -> Result<String, Failure> {
    if matches!(path, "-" | "/dev/stdin") {
        return Ok(call.input.unwrap_or_default().to_string());
    }
    call.host
        .file(path)
        .ok_or_else(|| Failure::error(format!("error reading {path}: no such file or directory")))
}

/// What the flags of a ConfigMap or a Secret give: each key once and well formed.
pub(super) fn data(call: &Call, kind: &str, name: &str) -> Result<Map<String, Value>, Failure> {
    if call.flags.given("from-env-file")
        && (call.flags.given("from-literal") || call.flags.given("from-file"))
    {
        return Err(Failure::error("from-env-file cannot be combined with from-file or from-literal"));
    }
    if call.flags.on("append-hash") {
        return Err(Failure::error(format!(
            "{} --append-hash is not in this release of Kubestep",
            call.path
        )));
    }
    let mut data = Map::new();
    let mut add = |key: &str, text: String| {
        let problems = names::config_key(key);
        if !problems.is_empty() {
            let problems = problems.join(",");
            return Err(Failure::error(format!(
                "\"{key}\" is not a valid key name for a {kind}: {problems}"
            )));
        }
        if data.contains_key(key) {
            return Err(Failure::error(format!(
                "cannot add key \"{key}\", another key by that name already exists in Data for {kind} \"{name}\""
            )));
        }
        data.insert(key.to_string(), Value::String(text));
        Ok(())
    };
    for source in call.flags.list("from-file") {
        let (key, path) = match source.split_once('=') {
            Some((key, path)) => (key.to_string(), path.to_string()),
            None => (source.rsplit('/').next().unwrap_or_default().to_string(), source.clone()),
        };
        add(&key, read(call, &path)?)?;
    }
    for source in call.flags.texts("from-literal") {
        let (key, text) = source
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| Failure::error(format!("invalid literal source {source}, expected key=value")))?;
        add(key, text.to_string())?;
    }
    for path in call.flags.list("from-env-file") {
        for line in read(call, &path)?.lines().map(str::trim_start) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some((key, text)) = line.split_once('=') {
                add(key, text.to_string())?;
            }
        }
    }
    Ok(data)
}
