//! `kubectl patch`: changes given as a patch.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/patch/patch.go` (v1.36).
//! Leaves out: `--local`.

use serde_json::Value;

use super::{Call, DryRun, Pending, create};
use crate::api::manifest;
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::cluster::server::status::Status;
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `patch`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::RECORD,
    &[
        Flag::both("patch", 'p', Takes::Text),
        Flag::long("patch-file", Takes::Text),
        Flag::long("type", Takes::Text),
        Flag::long("subresource", Takes::Text),
        Flag::long("local", Takes::Nothing),
    ],
];

/// Patches objects.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let text = match (call.flags.text("patch"), call.flags.text("patch-file")) {
        (Some(text), _) => text.to_string(),
        (None, Some("-")) => call.input.unwrap_or_default().to_string(),
        (None, Some(name)) => {
            let missing = || {
                Failure::error(format!("unable to read patch file: open {name}: no such file or directory"))
            };
            call.host.file(name).ok_or_else(missing)?
        }
        (None, None) => {
            return Err(Failure::error(
                "must specify --patch or --patch-file containing the contents of the patch",
            ));
        }
    };
    let verb = match call.flags.text("type").map(str::to_lowercase).as_deref() {
        None | Some("strategic") => Verb::StrategicPatch,
        Some("merge") => Verb::MergePatch,
        Some("json") => Verb::JsonPatch,
        Some(other) => {
            return Err(Failure::error(format!(
                "--type must be one of [json merge strategic], not \"{other}\""
            )));
        }
    };
    let subresource = call.flags.text("subresource").unwrap_or_default().to_string();
    if !matches!(subresource.as_str(), "" | "status" | "scale" | "resize") {
        return Err(Failure::error(format!(
            "invalid subresource value: \"{subresource}\". Must be one of [resize scale status]"
        )));
    }
    let dry_run = call.dry_run()?;
    let body = body_of(&text).and_then(|body| match (&body, verb) {
        (Value::Object(_), _) | (_, Verb::JsonPatch) => Ok(body),
        (other, _) => Err(format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            super::files::json_type(other)
        )),
    });
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        let body = match &body {
            Ok(body) => body.clone(),
            Err(problem) => {
                failures.push(Failure::server(&Status::bad_request(problem.clone())));
                continue;
            }
        };
        let (kind, meta) = (object.kind(), object.meta());
        let printed = if subresource == "scale" { "scale.autoscaling".to_string() } else { kind.printed() };
        if dry_run == DryRun::Client {
            create::print(call, &format, printed, object.to_value(), "patched", dry_run)?;
            continue;
        }
        let mut request = Request::new(verb, kind, &meta.namespace, &meta.name, body);
        request.subresource.clone_from(&subresource);
        request.options.dry_run = dry_run == DryRun::Server;
        request.options.field_validation = FieldValidation::Warn;
        match call.host.ask(request) {
            Ok(response) => {
                call.pass_on(&response.warnings);
                let word = if response.changed { "patched" } else { "patched (no change)" };
                create::print(call, &format, printed, response.object, word, dry_run)?;
            }
            Err(status) => failures.push(Failure::server(&status)),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// The patch inside a text, JSON or YAML.
fn body_of(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) if error.is_eof() => Err("unexpected end of JSON input".to_string()),
        Err(_) => {
            let read = manifest::parse(text);
            match (read.documents.into_iter().next(), read.error) {
                (_, Some(error)) => Err(error.message),
                (Some(document), None) => Ok(document.value),
                (None, None) => Ok(Value::Null),
            }
        }
    }
}
