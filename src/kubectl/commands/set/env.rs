//! `kubectl set env`: environment variables of containers.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/set/set_env.go` (v1.36).
//! Leaves out: `--local`, `--resolve`, variables from standard input.

use serde_json::{Map, Value, json};

use super::template;
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `set env`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    &[
        Flag::both("env", 'e', Takes::Texts),
        Flag::both("containers", 'c', Takes::Text),
        Flag::long("from", Takes::Text),
        Flag::long("prefix", Takes::Text),
        Flag::long("keys", Takes::List),
        Flag::long("list", Takes::Nothing),
        Flag::long("overwrite", Takes::Nothing),
        Flag::long("local", Takes::Nothing),
        Flag::long("resolve", Takes::Nothing),
    ],
];

/// Sets, removes or lists variables.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let args = std::mem::take(&mut call.args);
    let is_change = |arg: &String| arg.contains('=') || arg.ends_with('-');
    let (mut changes, targets): (Vec<String>, Vec<String>) = args.into_iter().partition(is_change);
    changes.extend(call.flags.texts("env").iter().cloned());
    call.args = targets;
    if call.args.is_empty() && !call.flags.given("filename") {
        return Err(Failure::usage(
            &call.path,
            "one or more resources must be specified as <resource> <name> or <resource>/<name>",
        ));
    }
    let mut set: Vec<Value> = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    for change in &changes {
        match change.split_once('=') {
            Some((name, value)) => set.push(json!({"name": name, "value": value})),
            None => removed.push(change[..change.len() - 1].to_string()),
        }
    }
    if let Some(source) = call.flags.text("from").filter(|source| !source.is_empty()).map(str::to_string) {
        set.extend(from_source(call, &source)?);
    }
    let list = call.flags.on("list");
    if set.is_empty() && removed.is_empty() && !list {
        return Err(Failure::usage(&call.path, "at least one environment variable must be provided"));
    }
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        let spec = match template::spec_of(&object) {
            Ok(spec) => spec,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        let mut containers = spec["containers"].as_array().cloned().unwrap_or_default();
        containers.retain(|container| template::is_chosen(call, container));
        if list {
            for container in &containers {
                let name = container["name"].as_str().unwrap_or_default();
                call.say(format!("# {} {}, container {name}", object.kind().name(), object.meta().name));
                for variable in container["env"].as_array().into_iter().flatten() {
                    call.say(listed(variable));
                }
            }
            continue;
        }
        let patched: Vec<Value> = containers
            .iter()
            .map(|container| {
                let mut env = set.clone();
                env.extend(removed.iter().map(|name| json!({"name": name, "$patch": "delete"})));
                json!({"name": container["name"], "env": env})
            })
            .collect();
        if patched.is_empty() {
            let pattern = call.flags.text("containers").unwrap_or("*").to_string();
            call.warn(format!(
                "warning: {}/{} does not have any containers matching \"{pattern}\"",
                object.kind().plural(),
                object.meta().name
            ));
            continue;
        }
        let body = json!({"containers": patched});
        match template::patch(call, &object, body, "env update to pod template:", dry_run) {
            Ok(value) => {
                create::print(call, &format, object.kind().printed(), value, "env updated", dry_run)?
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

fn listed(variable: &Value) -> String {
    let name = variable["name"].as_str().unwrap_or_default();
    let from = &variable["valueFrom"];
    for (field, word) in [("configMapKeyRef", "configmap"), ("secretKeyRef", "secret")] {
        if let Some(reference) = from.get(field) {
            let text = |name: &str| reference[name].as_str().unwrap_or_default();
            return format!("# {name} from {word} {}, key {}", text("name"), text("key"));
        }
    }
    if let Some(field) = from.get("fieldRef") {
        return format!("# {name} from field path {}", field["fieldPath"].as_str().unwrap_or_default());
    }
    format!("{name}={}", variable["value"].as_str().unwrap_or_default())
}

/// One variable for each key of a ConfigMap or a Secret.
fn from_source(call: &mut Call, source: &str) -> Result<Vec<Value>, Failure> {
    let (word, name) = source
        .split_once('/')
        .ok_or_else(|| Failure::error(format!("unable to parse --from \"{source}\": expected TYPE/NAME")))?;
    let kind = resources::kind_of(word, &*call.host)?;
    let field = match kind {
        Kind::ConfigMap => "configMapKeyRef",
        Kind::Secret => "secretKeyRef",
        _ => return Err(Failure::error(format!("unsupported resource specified in --from: \"{word}\""))),
    };
    let namespace = call.namespace().to_string();
    let object =
        resources::read(&*call.host, kind, &namespace, name).map_err(|status| Failure::server(&status))?;
    let data: Map<String, Value> = object.to_value()["data"].as_object().cloned().unwrap_or_default();
    let prefix = call.flags.text("prefix").unwrap_or_default().to_string();
    let wanted = call.flags.list("keys");
    let mut variables = Vec::new();
    for key in data.keys().filter(|key| wanted.is_empty() || wanted.contains(key)) {
        let plain: String =
            key.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let variable = format!("{prefix}{}", plain.to_uppercase());
        if variable != *key {
            call.warn(format!("Warning: key {key} transferred to {variable}"));
        }
        variables.push(json!({"name": variable, "valueFrom": {field: {"key": key, "name": name}}}));
    }
    Ok(variables)
}
