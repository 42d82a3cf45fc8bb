//! `kubectl set resources`: requests and limits of containers.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/set/set_resources.go` (v1.36).
//! Leaves out: `--local`.

use serde_json::{Map, Value, json};

use super::template;
use crate::api::quantity::Quantity;
use crate::kubectl::commands::{Call, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `set resources`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    &[
        Flag::both("containers", 'c', Takes::Text),
        Flag::long("limits", Takes::Text),
        Flag::long("requests", Takes::Text),
        Flag::long("local", Takes::Nothing),
    ],
];

/// Changes requests and limits.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let mut update = Map::new();
    for flag in ["limits", "requests"] {
        if let Some(text) = call.flags.text(flag).filter(|text| !text.is_empty()) {
            update.insert(flag.to_string(), amounts(text)?);
        }
    }
    if update.is_empty() {
        return Err(Failure::error(
            "you must specify an update to requests or limits (in the form of --requests/--limits)",
        ));
    }
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        let result = template::spec_of(&object).and_then(|spec| {
            let containers: Vec<Value> = spec["containers"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|container| template::is_chosen(call, container))
                .map(|container| json!({"name": container["name"], "resources": update}))
                .collect();
            if containers.is_empty() {
                let pattern = call.flags.text("containers").unwrap_or("*");
                return Err(Failure::error(format!("unable to find container named {pattern}")));
            }
            let body = json!({"containers": containers});
            template::patch(call, &object, body, "resources update to pod template", dry_run)
        });
        match result {
            Ok(value) => {
                let word = "resource requirements updated";
                create::print(call, &format, object.kind().printed(), value, word, dry_run)?;
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// `cpu=200m,memory=64Mi`.
fn amounts(text: &str) -> Result<Value, Failure> {
    let mut amounts = Map::new();
    for pair in text.split(',') {
        let (name, amount) = pair.split_once('=').ok_or_else(|| {
            Failure::error(format!("invalid argument syntax {pair}, expected <resource>=<value>"))
        })?;
        Quantity::parse(amount).map_err(Failure::error)?;
        amounts.insert(name.to_string(), json!(amount));
    }
    Ok(Value::Object(amounts))
}
