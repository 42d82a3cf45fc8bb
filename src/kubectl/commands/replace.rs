//! `kubectl replace`: objects as files say, whole.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/replace/replace.go` (v1.36).
//! Leaves out: `--raw`; `--force` does not wait for the old object to be gone.

use serde_json::Value;

use super::create::{self, field_validation};
use super::{Call, DryRun, Pending, apply, files};
use crate::api::kind::Kind;
use crate::cluster::server::request::{Propagation, Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `replace`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::VALIDATE,
    flags::FIELD_MANAGER,
    flags::SAVE_CONFIG,
    flags::TIMEOUT,
    &[
        Flag::long("cascade", Takes::Optional("background")),
        Flag::long("force", Takes::Nothing),
        Flag::long("grace-period", Takes::Number),
        Flag::long("raw", Takes::Text),
        Flag::long("subresource", Takes::Text),
        Flag::long("wait", Takes::Nothing),
    ],
];

/// The kinds whose strategy is to create on update.
///
/// Models: `AllowCreateOnUpdate` of `pkg/registry/*/strategy.go` (v1.36).
const CREATED_ON_UPDATE: [Kind; 9] = [
    Kind::Service,
    Kind::Endpoints,
    Kind::LimitRange,
    Kind::Event,
    Kind::Lease,
    Kind::Role,
    Kind::RoleBinding,
    Kind::ClusterRole,
    Kind::ClusterRoleBinding,
];

/// Replaces what the files describe.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("Unexpected args: [{}]", call.args.join(" "))));
    }
    if !call.flags.given("filename") && !call.flags.given("kustomize") {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let force = call.flags.on("force");
    let files = files::read(call)?;
    let mut failures = files.failures;
    if files.objects.is_empty() && failures.is_empty() {
        return Err(Failure::error("no objects passed to replace"));
    }
    for described in files.objects {
        let kind = described.kind;
        let doing = format!("error when replacing \"{}\": ", described.source);
        let there = resources::read(&*call.host, kind, &described.namespace, &described.name).cloned();
        let there = match there {
            Ok(object) => Some(object),
            Err(_) if force => None,
            // Objects of these kinds are created by the server when they are to be replaced and are not there.
            Err(status) if status.reason == "NotFound" && CREATED_ON_UPDATE.contains(&kind) => None,
            Err(status) => {
                failures.push(Failure::server_when(&doing, &status));
                continue;
            }
        };
        let mut value = described.value;
        if call.flags.on("save-config")
            || there.as_ref().is_some_and(|o| o.meta().annotations.contains_key(apply::LAST_APPLIED))
        {
            apply::annotate(&mut value);
        }
        if dry_run == DryRun::Client {
            create::print(call, &format, kind.printed(), value, "replaced", dry_run)?;
            continue;
        }
        let verb = if force || there.is_none() { Verb::Create } else { Verb::Update };
        if let Some(there) = there.as_ref().filter(|_| !force)
            && let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut)
        {
            // What is overwritten is what was just looked at.
            let version = there.meta().resource_version.0.to_string();
            metadata.entry("resourceVersion").or_insert(Value::String(version));
        }
        if force && there.is_some() {
            let mut request =
                Request::new(Verb::Delete, kind, &described.namespace, &described.name, Value::Null);
            request.options.propagation = Some(Propagation::Background);
            request.options.grace_seconds = Some(call.flags.number("grace-period").unwrap_or(0).max(0));
            if let Err(status) = call.host.ask(request) {
                failures.push(Failure::server(&status));
                continue;
            }
            let place = if kind.is_namespaced() {
                format!(" from {} namespace", described.namespace)
            } else {
                String::new()
            };
            call.say(format!("{} \"{}\" deleted{place}", kind.printed(), described.name));
        }
        let mut request = Request::new(verb, kind, &described.namespace, &described.name, value);
        request.options.dry_run = dry_run == DryRun::Server;
        request.options.field_validation = field_validation(call);
        match call.host.ask(request) {
            Ok(response) => {
                call.pass_on(&response.warnings);
                create::print(call, &format, kind.printed(), response.object, "replaced", dry_run)?;
            }
            Err(status) => failures.push(Failure::server_when(&doing, &status)),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}
