//! `kubectl apply`: makes the cluster as the files say.
//!
//! What was applied last is kept in an annotation; the patch is computed from it, the file and the live object, so that
//! what the file no longer says is removed and what others have set stays.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/apply/apply.go`, `patcher.go`, `pkg/util/apply.go` (v1.36).
//! Leaves out: apply sets.

pub mod forced;
mod prune;
mod server_side;

use serde_json::{Map, Value, json};

use super::create::{self, field_validation};
use super::files::{self, Described};
use super::{Call, Command, DryRun, NOTHING, Pending, Run, later};
use crate::api::kind::Kind;
use crate::api::labels::{Selector, labels_of};
use crate::api::object::Object;
use crate::api::{manifest, schema, versions};
use crate::cluster::server::patch;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The annotation with what was applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The flags of `apply`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::VALIDATE,
    flags::FIELD_MANAGER,
    flags::TIMEOUT,
    flags::RECORD,
    &[
        Flag::long("cascade", Takes::Optional("background")),
        Flag::long("force", Takes::Nothing),
        Flag::long("force-conflicts", Takes::Nothing),
        Flag::long("grace-period", Takes::Number),
        Flag::long("openapi-patch", Takes::Nothing),
        Flag::long("overwrite", Takes::Nothing),
        Flag::long("prune", Takes::Nothing),
        Flag::long("prune-allowlist", Takes::Texts),
        Flag::long("server-side", Takes::Nothing),
        Flag::long("wait", Takes::Nothing),
    ],
];

/// The commands below `apply`.
pub const COMMANDS: &[Command] = &[
    later("edit-last-applied", "Edit latest last-applied-configuration annotations of a resource/object"),
    later(
        "set-last-applied",
        "Set the last-applied-configuration annotation on a live object to match the contents of a file",
    ),
    Command {
        name: "view-last-applied",
        about: "View the latest last-applied-configuration annotations of a resource/object",
        flags: &[flags::FILES, flags::SELECTOR, flags::ALL, &[Flag::both("output", 'o', Takes::Text)]],
        run: Run::Does(view_last_applied),
        ..NOTHING
    },
];

/// Applies the files.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("Unexpected args: [{}]", call.args.join(" "))));
    }
    if call.flags.on("force-conflicts") && !call.flags.on("server-side") {
        return Err(Failure::error("--force-conflicts only works with --server-side"));
    }
    if !call.flags.given("filename") && !call.flags.given("kustomize") {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let on_server = call.flags.on("server-side");
    let forces = call.flags.on("force");
    if on_server && dry_run == DryRun::Client {
        return Err(Failure::error(
            "--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)",
        ));
    }
    if forces && on_server {
        return Err(Failure::error("--force cannot be used with --server-side"));
    }
    if forces && dry_run == DryRun::Server {
        return Err(Failure::error("--dry-run=server cannot be used with --force"));
    }
    let selector = call.flags.text("selector").unwrap_or_default().to_string();
    if call.flags.on("all") && !selector.is_empty() {
        return Err(Failure::error("cannot set --all and --selector at the same time"));
    }
    let prunes = call.flags.on("prune");
    if prunes && !call.flags.on("all") && selector.is_empty() {
        return Err(Failure::error(
            "all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. If you did not mean to prune all resources, specify a label selector",
        ));
    }
    let kinds = if prunes { prune::kinds(call)? } else { Vec::new() };
    let selected = Selector::parse(&selector).map_err(Failure::error)?;
    let mut files = files::read(call)?;
    files.objects.retain(|described| selected.matches(&labels_of(&described.value["metadata"]["labels"])));
    let mut visited = prune::Visited::default();
    if call.flags.given("namespace") {
        visited.namespaces.insert(call.namespace().to_string());
    }
    let mut replacing = Vec::new();
    let (unread, mut refused) = (files.failures, Vec::new());
    if files.objects.is_empty() && unread.is_empty() {
        return Err(Failure::error("no objects passed to apply"));
    }
    let mut applied = Vec::new();
    for described in files.objects {
        if described.kind.is_namespaced() {
            visited.namespaces.insert(described.namespace.clone());
        }
        let result = match on_server {
            true => server_side::apply(call, &described, dry_run),
            false => apply(call, &described, dry_run),
        };
        match result {
            Ok((value, word)) => {
                visited.uids.extend(value["metadata"]["uid"].as_str().map(str::to_string));
                let kind = described.kind.printed();
                match format {
                    Format::Plain | Format::Name => create::print(call, &format, kind, value, word, dry_run)?,
                    _ => applied.push((kind, value, word)),
                }
            }
            Err(failure) if forces && dry_run == DryRun::No && is_stuck(&failure) => {
                let suffix = if matches!(format, Format::Name) { "" } else { " configured" };
                let line = format!("{}/{}{suffix}\n", described.kind.printed(), described.name);
                match replace(call, &described) {
                    Ok(request) if call.host.store().object(&request.key()).is_some() => {
                        replacing.push((request, line));
                    }
                    Ok(request) => match call.host.ask(request) {
                        Ok(response) => {
                            let uid = response.object["metadata"]["uid"].as_str().map(str::to_string);
                            visited.uids.extend(uid);
                            call.output.stdout.push_str(&line);
                        }
                        Err(status) => refused.push(Failure::server(&status)),
                    },
                    Err(failure) => refused.push(failure),
                }
            }
            Err(failure) => refused.push(failure),
        }
    }
    match applied.len() {
        0 => {}
        1 => {
            for (kind, value, word) in applied {
                create::print(call, &format, kind, value, word, dry_run)?;
            }
        }
        _ => {
            let mut items: Vec<Value> = applied.into_iter().map(|(_, value, _)| value).collect();
            if !call.flags.on("show-managed-fields") {
                items.iter_mut().for_each(crate::kubectl::print::format::hide_managed_fields);
            }
            let list = crate::kubectl::print::format::list_of(items);
            let text = format.value(&list)?;
            call.output.stdout.push_str(&text);
        }
    }
    // What could not be read is one failure if there are others besides.
    let mut failures = if refused.is_empty() { unread } else { Failure::bracketed(unread) };
    failures.extend(refused);
    if let Some(failure) = Failure::all(failures) {
        return Err(failure);
    }
    if prunes {
        prune::prune(call, &kinds, &visited, &format, dry_run)?;
    }
    if replacing.is_empty() {
        return Ok(None);
    }
    Ok(Some(Pending::Replace(forced::Replacing { left: replacing })))
}

/// Whether a change was refused for a reason that a new object would not meet.
fn is_stuck(failure: &Failure) -> bool {
    failure.text.contains(" is invalid: ") || failure.text.contains("(Conflict)")
}

/// Deletes the live object; hands back the creation of the new one.
fn replace(call: &mut Call, described: &Described) -> Result<Request, Failure> {
    let mut request =
        Request::new(Verb::Delete, described.kind, &described.namespace, &described.name, Value::Null);
    request.options.propagation = Some(propagation(call));
    request.options.grace_seconds = call.flags.number("grace-period").filter(|seconds| *seconds >= 0);
    call.host.ask(request).map_err(|status| Failure::server(&status))?;
    let mut modified = described.value.clone();
    annotate(&mut modified);
    let mut request =
        Request::new(Verb::Create, described.kind, &described.namespace, &described.name, modified);
    request.options.field_validation = field_validation(call);
    request.options.field_manager = crate::kubectl::acting::field_manager(&call.path, &call.flags);
    request.credentials = Box::new(call.host.credentials());
    Ok(request)
}

fn propagation(call: &Call) -> crate::cluster::server::request::Propagation {
    prune::propagation_of(call.flags.text("cascade").unwrap_or_default())
}

/// Applies one object; hands back what it is now, and the word for it.
fn apply(call: &mut Call, described: &Described, dry_run: DryRun) -> Result<(Value, &'static str), Failure> {
    let kind = described.kind;
    if described.name.is_empty()
        && let Some(prefix) =
            described.value["metadata"]["generateName"].as_str().filter(|prefix| !prefix.is_empty())
    {
        return Err(Failure::error(format!("from {prefix}: cannot use generate name with apply")));
    }
    check_name(described)?;
    let mut modified = described.value.clone();
    annotate(&mut modified);
    let current = match resources::read(&*call.host, kind, &described.namespace, &described.name) {
        Ok(object) => Some(object.clone()),
        Err(status) if status.reason == "NotFound" => None,
        Err(status) => return Err(Failure::server_when(&retrieving(described), &status)),
    };
    let Some(current) = current else {
        if dry_run == DryRun::Client {
            return Ok((modified, "created"));
        }
        let mut request = Request::new(Verb::Create, kind, &described.namespace, &described.name, modified);
        request.options.dry_run = dry_run == DryRun::Server;
        request.options.field_validation = field_validation(call);
        let doing = format!("error when creating \"{}\": ", described.source);
        let response = call.host.ask(request).map_err(|status| Failure::server_when(&doing, &status))?;
        call.pass_on(&response.warnings);
        return Ok((response.object, "created"));
    };
    let original = current.meta().annotations.get(LAST_APPLIED).cloned();
    if original.is_none() {
        call.warn(format!(
            "Warning: resource {}/{} is missing the {LAST_APPLIED} annotation which is required by {}. kubectl apply should only be used on resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.",
            kind.plural(),
            described.name,
            call.path
        ));
    }
    let mut original: Value =
        original.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(Value::Null);
    versions::upgrade(&mut original);
    let is_older = versions::upgrade(&mut modified);
    let live = current.to_value();
    let patch = match schema::root(kind.group(), kind.version(), kind.name()) {
        Some(root) => patch::three_way(root, &original, &modified, &live)
            .map_err(|problem| Failure::error(format!("error when creating patch for: {problem}")))?,
        None => patch::three_way_merge(&original, &modified, &live),
    };
    if patch.as_object().is_none_or(Map::is_empty) {
        return Ok((live, "unchanged"));
    }
    if current.meta().is_terminating() {
        call.warn(format!(
            "Warning: Detected changes to resource {} which is currently being deleted.",
            described.name
        ));
    }
    if dry_run == DryRun::Client {
        return Ok((live, "configured"));
    }
    let text = manifest::to_json(&patch);
    let verb = if matches!(kind, Kind::Custom(_)) { Verb::MergePatch } else { Verb::StrategicPatch };
    let mut request = Request::new(verb, kind, &described.namespace, &described.name, patch);
    request.options.dry_run = dry_run == DryRun::Server;
    request.options.field_validation = field_validation(call);
    let mut response = call.host.ask(request).map_err(|status| {
        let doing = format!(
            "error when applying patch:\n{}\nto:\n{}\nfor: \"{}\": error when patching \"{}\": ",
            text.trim_end(),
            identity(described, &current),
            described.source,
            described.source
        );
        Failure::server_when(&doing, &status)
    })?;
    call.pass_on(&response.warnings);
    if is_older {
        versions::downgrade(&mut response.object);
    }
    Ok((response.object, if response.changed { "configured" } else { "unchanged" }))
}

fn identity(described: &Described, current: &Object) -> String {
    let kind = current.kind();
    let group_version = format!("{}/{}", kind.group(), kind.version());
    format!(
        "Resource: \"{group_version}, Resource={}\", GroupVersionKind: \"{group_version}, Kind={}\"\nName: \"{}\", Namespace: \"{}\"",
        kind.plural(),
        kind.name(),
        described.name,
        described.namespace
    )
}

/// Refuses names that cannot stand in an address.
fn check_name(described: &Described) -> Result<(), Failure> {
    let problem = match described.name.as_str() {
        "" => "resource name may not be empty".to_string(),
        name @ ("." | "..") => format!("invalid resource name \"{name}\": [may not be '{name}']"),
        name if name.contains('/') => format!("invalid resource name \"{name}\": [may not contain '/']"),
        name if name.contains('%') => format!("invalid resource name \"{name}\": [may not contain '%']"),
        _ => return Ok(()),
    };
    Err(Failure::error(format!("{}{problem}", retrieving(described))))
}

/// What failed when the live object could not be read.
fn retrieving(described: &Described) -> String {
    let kind = described.kind;
    let group_version = format!("{}/{}", kind.group(), kind.version());
    format!(
        "error when retrieving current configuration of:\nResource: \"{group_version}, Resource={}\", GroupVersionKind: \"{group_version}, Kind={}\"\nName: \"{}\", Namespace: \"{}\"\nfrom server for: \"{}\": ",
        kind.plural(),
        kind.name(),
        described.name,
        described.namespace,
        described.source
    )
}

/// Writes into an object what it says, in the annotation that the next apply reads.
pub fn annotate(value: &mut Value) {
    let Some(object) = value.as_object_mut() else { return };
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else { return };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if annotations.is_null() {
        *annotations = json!({});
    }
    let Some(annotations) = annotations.as_object_mut() else { return };
    annotations.remove(LAST_APPLIED);
    let mut text = manifest::to_json(value).trim_end().to_string();
    text.push('\n');
    value["metadata"]["annotations"][LAST_APPLIED] = Value::String(text);
}

fn view_last_applied(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let as_json = match call.flags.text("output") {
        None | Some("" | "yaml") => false,
        Some("json") => true,
        Some(other) => {
            return Err(Failure::usage(
                &call.path,
                format!("Unexpected -o output mode: {other}, the flag 'output' must be one of yaml|json"),
            ));
        }
    };
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        let meta = object.meta();
        let stored =
            meta.annotations.get(LAST_APPLIED).and_then(|text| serde_json::from_str::<Value>(text).ok());
        match stored {
            Some(value) if as_json => call.output.stdout.push_str(&manifest::to_json_pretty(&value)),
            Some(value) => call.output.stdout.push_str(&manifest::to_yaml(&value)),
            None => failures.push(Failure::error(format!(
                "no last-applied-configuration annotation found on resource: {}",
                meta.name
            ))),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}
