//! `kubectl taint`: marks on nodes that keep Pods away.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/taint/taint.go` (v1.36).
//! Leaves out: nothing.

use serde_json::json;

use super::{Call, DryRun, Pending, create};
use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Taint;
use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `taint`.
pub const FLAGS: &[&[Flag]] = &[
    flags::SELECTOR,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::VALIDATE,
    flags::FIELD_MANAGER,
    &[Flag::long("overwrite", Takes::Nothing)],
];

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// Adds and removes taints.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let args = std::mem::take(&mut call.args);
    let is_change = |arg: &String| arg.contains([':', '=']) || arg.ends_with('-');
    let (changes, targets): (Vec<String>, Vec<String>) = args.into_iter().partition(is_change);
    call.args = targets;
    if call.args.is_empty() {
        return Err(Failure::error("one or more resources must be specified as <resource> <name>"));
    }
    if changes.is_empty() {
        return Err(Failure::error("at least one taint update is required"));
    }
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for change in &changes {
        match change.strip_suffix('-') {
            Some(rest) => {
                let (key, effect) = rest.split_once(':').unwrap_or((rest, ""));
                removed.push((key.split('=').next().unwrap_or(key).to_string(), effect.to_string()));
            }
            None => added.push(taint_of(change).map_err(|problem| Failure::usage(&call.path, problem))?),
        }
    }
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        match change(call, &object, &added, &removed, dry_run) {
            Ok((value, word)) => create::print(call, &format, object.kind().printed(), value, word, dry_run)?,
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// `key=value:Effect` or `key:Effect`.
fn taint_of(text: &str) -> Result<Taint, String> {
    let invalid = || format!("invalid taint spec: {text}");
    let (pair, effect) = text.split_once(':').ok_or_else(invalid)?;
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    if key.is_empty() {
        return Err(invalid());
    }
    if !EFFECTS.contains(&effect) {
        return Err(format!("invalid taint effect: {effect}, unsupported taint effect"));
    }
    Ok(Taint {
        key: key.to_string(),
        value: value.to_string(),
        effect: effect.to_string(),
        ..Taint::default()
    })
}

fn change(
    call: &mut Call,
    object: &Object,
    added: &[Taint],
    removed: &[(String, String)],
    dry_run: DryRun,
) -> Result<(serde_json::Value, &'static str), Failure> {
    let Object::Node(node) = object else {
        return Err(Failure::error(format!(
            "invalid resource type {}, only node is supported",
            object.kind().plural()
        )));
    };
    let name = &node.meta.name;
    let same = |left: &Taint, right: &Taint| left.key == right.key && left.effect == right.effect;
    let mut taints = node.spec.taints.clone();
    let taken: Vec<&str> = added
        .iter()
        .filter(|taint| taints.iter().any(|there| same(there, taint)))
        .map(|taint| taint.key.as_str())
        .collect();
    if !taken.is_empty() && !call.flags.on("overwrite") {
        return Err(Failure::error(format!(
            "node {name} already has {} taint(s) with same effect(s) and --overwrite is false",
            taken.join(", ")
        )));
    }
    let overwritten = !taken.is_empty();
    for (key, effect) in removed {
        let before = taints.len();
        taints.retain(|taint| taint.key != *key || !(effect.is_empty() || taint.effect == *effect));
        if taints.len() == before {
            let shown = if effect.is_empty() { key.clone() } else { format!("{key}:{effect}") };
            return Err(Failure::error(format!("taint \"{shown}\" not found")));
        }
    }
    let mut new: Vec<Taint> = added.to_vec();
    new.extend(taints.into_iter().filter(|there| !added.iter().any(|taint| same(taint, there))));
    let word = match (added.is_empty(), removed.is_empty(), overwritten) {
        (true, ..) => "untainted",
        (false, true, false) => "tainted",
        _ => "modified",
    };
    if dry_run == DryRun::Client {
        return Ok((object.to_value(), word));
    }
    let list = if new.is_empty() { json!(null) } else { new.encode() };
    let body = json!({"spec": {"taints": list}});
    let mut request = Request::new(Verb::MergePatch, Kind::Node, "", name, body);
    request.options.dry_run = dry_run == DryRun::Server;
    let response = call.host.ask(request).map_err(|status| Failure::server(&status))?;
    call.pass_on(&response.warnings);
    Ok((response.object, word))
}
