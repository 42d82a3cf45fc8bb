//! `kubectl set image`: other images for containers.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/set/set_image.go` (v1.36).
//! Leaves out: `--local`.

use serde_json::{Value, json};

use super::template;
use crate::api::object::Object;
use crate::kubectl::commands::{Call, DryRun, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `set image`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::RECORD,
    &[Flag::long("local", Takes::Nothing)],
];

/// Changes the images of containers; says nothing of objects that had them already.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let args = std::mem::take(&mut call.args);
    let (images, resources): (Vec<String>, Vec<String>) = args.into_iter().partition(|arg| arg.contains('='));
    call.args = resources;
    if call.args.is_empty() && !call.flags.given("filename") {
        return Err(resources::nothing_given());
    }
    let images: Vec<(&str, &str)> = images.iter().filter_map(|pair| pair.split_once('=')).collect();
    if images.is_empty() && !call.args.iter().any(|arg| !arg.contains('/')) {
        return Err(Failure::error("at least one image update is required"));
    }
    let (objects, mut failures) = resources::targets(call)?;
    if images.is_empty() {
        return Err(Failure::error("at least one image update is required"));
    }
    for object in objects {
        match set(call, &object, &images, dry_run) {
            Ok(Some(value)) => {
                create::print(call, &format, object.kind().printed(), value, "image updated", dry_run)?;
            }
            Ok(None) if format != Format::Plain => {
                create::print(
                    call,
                    &format,
                    object.kind().printed(),
                    object.to_value(),
                    "image updated",
                    dry_run,
                )?;
            }
            Ok(None) => {}
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// Sends the images that differ; `None` if none does.
fn set(
    call: &mut Call,
    object: &Object,
    images: &[(&str, &str)],
    dry_run: DryRun,
) -> Result<Option<Value>, Failure> {
    let spec = template::spec_of(object)?;
    let mut lists = [("initContainers", Vec::new()), ("containers", Vec::new())];
    for (name, image) in images {
        let mut found = *name == "*";
        for (list, changed) in &mut lists {
            let containers = spec[*list].as_array().into_iter().flatten();
            for container in containers.filter(|container| *name == "*" || container["name"] == *name) {
                found = true;
                if container["image"] != *image {
                    changed.push(json!({"name": container["name"], "image": image}));
                }
            }
        }
        if !found {
            return Err(Failure::error(format!("unable to find container named \"{name}\"")));
        }
    }
    let changed: serde_json::Map<String, Value> = lists
        .into_iter()
        .filter(|(_, containers)| !containers.is_empty())
        .map(|(list, containers)| (list.to_string(), Value::Array(containers)))
        .collect();
    if changed.is_empty() {
        return Ok(None);
    }
    let body = Value::Object(changed);
    template::patch(call, object, body, "image update to pod template:", dry_run).map(Some)
}
