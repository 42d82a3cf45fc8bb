//! `kubectl create -f`: objects from files, which must not exist yet.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create.go` (v1.36).
//! Leaves out: the imperative forms, `--edit`, `--raw`.

use serde_json::Value;

use super::{Call, Command, DryRun, Pending, apply, files};
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::{self, Format};

/// The flags of `create`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::VALIDATE,
    flags::FIELD_MANAGER,
    flags::SAVE_CONFIG,
    flags::RECORD,
    &[
        Flag::long("edit", Takes::Nothing),
        Flag::long("raw", Takes::Text),
        Flag::long("windows-line-endings", Takes::Nothing),
    ],
];

/// The commands below `create`.
pub const COMMANDS: &[Command] = &[];

/// Creates what the files describe.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.flags.given("filename") && !call.flags.given("kustomize") {
        if !call.args.is_empty() {
            return Err(Failure::error(format!(
                "{} {} is not in this release of Kubestep; use -f with a file",
                call.path, call.args[0]
            )));
        }
        return Err(Failure::error("must specify one of -f and -k"));
    }
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("unexpected args: [{}]", call.args.join(" "))));
    }
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let files = files::read(call)?;
    let mut failures = Vec::new();
    let mut created = 0;
    for described in files.objects {
        let doing = format!("error when creating \"{}\": ", described.source);
        let mut value = described.value;
        if call.flags.on("save-config") {
            apply::annotate(&mut value);
        }
        if dry_run != DryRun::Client {
            let mut request =
                Request::new(Verb::Create, described.kind, &described.namespace, &described.name, value);
            request.options.dry_run = dry_run == DryRun::Server;
            request.options.field_validation = field_validation(call);
            match call.host.ask(request) {
                Ok(response) => {
                    call.pass_on(&response.warnings);
                    value = response.object;
                }
                Err(status) => {
                    failures.push(Failure::server_when(&doing, &status));
                    continue;
                }
            }
        }
        created += 1;
        print(call, &format, described.kind.printed(), value, "created", dry_run)?;
    }
    failures.extend(files.failures);
    if created == 0 && failures.is_empty() {
        return Err(Failure::error("no objects passed to create"));
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// What `--validate` asks the server to do with unknown fields.
pub fn field_validation(call: &Call) -> FieldValidation {
    match call.flags.text("validate") {
        Some("false" | "ignore") => FieldValidation::Ignore,
        Some("warn") => FieldValidation::Warn,
        _ => FieldValidation::Strict,
    }
}

/// Prints what became of one object: a sentence, or the object in the form asked for.
///
/// # Errors
/// When a template cannot be applied.
pub fn print(
    call: &mut Call,
    format: &Format,
    printed_kind: String,
    mut object: Value,
    word: &str,
    dry_run: DryRun,
) -> Result<(), Failure> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_string();
    match format {
        Format::Plain => call.say(format!("{printed_kind}/{name} {word}{}", dry_run.suffix())),
        Format::Name => call.say(format!("{printed_kind}/{name}")),
        format => {
            if !call.flags.on("show-managed-fields") {
                format::hide_managed_fields(&mut object);
            }
            let text = format.value(&object)?;
            if matches!(format, Format::Yaml) && !call.output.stdout.is_empty() {
                call.output.stdout.push_str("---\n");
            }
            call.output.stdout.push_str(&text);
        }
    }
    Ok(())
}
