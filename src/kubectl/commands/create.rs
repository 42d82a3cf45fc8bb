//! `kubectl create`: objects from files or words, which must not exist yet.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create.go` (v1.36).
//! Leaves out: `--edit`, `--raw`.

pub mod binding;
pub mod configmap;
pub mod deployment;
mod form;
pub mod ingress;
pub mod job;
pub mod namespace;
pub mod policy;
pub mod role;
pub mod secret;
pub mod service;
pub mod token;

use serde_json::Value;

use super::{Call, Command, DryRun, NOTHING, Pending, Run, apply, files, help};
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
pub const COMMANDS: &[Command] = &[
    Command {
        name: "clusterrole",
        about: "Create a cluster role",
        flags: role::CLUSTER_ROLE_FLAGS,
        run: Run::Does(role::cluster_role),
        ..NOTHING
    },
    Command {
        name: "clusterrolebinding",
        about: "Create a cluster role binding for a particular cluster role",
        flags: binding::FLAGS,
        run: Run::Does(binding::cluster_role_binding),
        ..NOTHING
    },
    Command {
        name: "configmap",
        about: "Create a config map from a local file, directory or literal value",
        aliases: &["cm"],
        flags: configmap::FLAGS,
        run: Run::Does(configmap::run),
        ..NOTHING
    },
    Command {
        name: "cronjob",
        about: "Create a cron job with the specified name",
        aliases: &["cj"],
        flags: job::CRON_JOB,
        required: &["image", "schedule"],
        run: Run::Does(job::cron_job),
        ..NOTHING
    },
    Command {
        name: "deployment",
        about: "Create a deployment with the specified name",
        aliases: &["deploy"],
        flags: deployment::FLAGS,
        required: &["image"],
        run: Run::Does(deployment::run),
        ..NOTHING
    },
    Command {
        name: "ingress",
        about: "Create an ingress with the specified name",
        aliases: &["ing"],
        flags: ingress::FLAGS,
        run: Run::Does(ingress::run),
        ..NOTHING
    },
    Command {
        name: "job",
        about: "Create a job with the specified name",
        flags: job::JOB,
        run: Run::Does(job::job),
        ..NOTHING
    },
    Command {
        name: "namespace",
        about: "Create a namespace with the specified name",
        aliases: &["ns"],
        flags: namespace::FLAGS,
        run: Run::Does(namespace::run),
        ..NOTHING
    },
    Command {
        name: "poddisruptionbudget",
        about: "Create a pod disruption budget with the specified name",
        aliases: &["pdb"],
        flags: policy::BUDGET,
        run: Run::Does(policy::budget),
        ..NOTHING
    },
    Command {
        name: "priorityclass",
        about: "Create a priority class with the specified name",
        aliases: &["pc"],
        flags: policy::PRIORITY,
        required: &["value"],
        run: Run::Does(policy::priority),
        ..NOTHING
    },
    Command {
        name: "quota",
        about: "Create a quota with the specified name",
        aliases: &["resourcequota"],
        flags: policy::QUOTA,
        run: Run::Does(policy::quota),
        ..NOTHING
    },
    Command {
        name: "role",
        about: "Create a role with single rule",
        flags: role::ROLE_FLAGS,
        run: Run::Does(role::role),
        ..NOTHING
    },
    Command {
        name: "rolebinding",
        about: "Create a role binding for a particular role or cluster role",
        flags: binding::FLAGS,
        run: Run::Does(binding::role_binding),
        ..NOTHING
    },
    Command {
        name: "secret",
        about: "Create a secret using a specified subcommand",
        long: help::SECRET,
        usage: "(docker-registry | generic | tls)",
        run: Run::Group(secret::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "service",
        about: "Create a service using a specified subcommand",
        aliases: &["svc"],
        usage: "[flags]",
        run: Run::Group(service::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "serviceaccount",
        about: "Create a service account with the specified name",
        aliases: &["sa"],
        flags: binding::ACCOUNT_FLAGS,
        run: Run::Does(binding::service_account),
        ..NOTHING
    },
    Command {
        name: "token",
        about: "Request a service account token",
        flags: token::FLAGS,
        run: Run::Does(token::run),
        ..NOTHING
    },
];

/// Creates what the files describe.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.flags.given("filename") && !call.flags.given("kustomize") {
        if !call.args.is_empty() {
            return Err(Failure::usage(&call.path, format!("Unexpected args: [{}]", call.args.join(" "))));
        }
        return Err(Failure::error("must specify one of -f and -k"));
    }
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("Unexpected args: [{}]", call.args.join(" "))));
    }
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let files = files::read(call)?;
    let mut failures = Vec::new();
    let mut created = 0;
    // Mistakes are told in the order of the documents.
    let mut unread = files.failures.into_iter().zip(files.places).peekable();
    for (index, described) in files.objects.into_iter().enumerate() {
        while let Some((failure, _)) = unread.next_if(|(_, place)| *place <= index) {
            failures.push(failure);
        }
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
    failures.extend(unread.map(|(failure, _)| failure));
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
