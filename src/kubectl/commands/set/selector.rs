//! `kubectl set selector` (of a Service) and `set serviceaccount` (of a Pod template).
//!
//! Models: `k8s.io/kubectl/pkg/cmd/set/set_selector.go`, `set_serviceaccount.go` (v1.36).
//! Leaves out: `--local`.

use serde_json::{Map, json};

use super::template;
use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::commands::{Call, DryRun, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of both.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::RECORD,
    &[Flag::long("local", Takes::Nothing), Flag::long("resource-version", Takes::Text)],
];

/// Gives a Service another selector.
pub fn selector(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let Some(expression) = call.args.pop().filter(|last| last.contains('=')) else {
        return Err(Failure::usage(&call.path, "one selector expression is required"));
    };
    let mut labels = Map::new();
    for pair in expression.split(',') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        labels.insert(key.to_string(), json!(value));
    }
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        let (kind, meta) = (object.kind(), object.meta());
        if !matches!(object, Object::Service(_)) {
            failures.push(Failure::error("setting a selector is only supported for Services"));
            continue;
        }
        let mut value = object.to_value();
        if dry_run != DryRun::Client {
            let body = json!([{"op": "add", "path": "/spec/selector", "value": labels}]);
            let mut request = Request::new(Verb::JsonPatch, kind, &meta.namespace, &meta.name, body);
            request.options.dry_run = dry_run == DryRun::Server;
            match call.host.ask(request) {
                Ok(response) => value = response.object,
                Err(status) => {
                    failures.push(Failure::server(&status));
                    continue;
                }
            }
        }
        create::print(call, &format, kind.printed(), value, "selector updated", dry_run)?;
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// Gives a Pod template another service account.
pub fn service_account(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let Some(account) = call.args.pop().filter(|_| !call.args.is_empty() || call.flags.given("filename"))
    else {
        return Err(Failure::error("serviceaccount is required"));
    };
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        let body = json!({"serviceAccountName": account});
        let result = template::spec_of(&object)
            .and_then(|_| template::patch(call, &object, body, "ServiceAccountName", dry_run));
        match result {
            Ok(value) => {
                create::print(
                    call,
                    &format,
                    object.kind().printed(),
                    value,
                    "serviceaccount updated",
                    dry_run,
                )?;
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}
