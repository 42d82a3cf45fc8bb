//! `kubectl label` and `kubectl annotate`: marks on objects.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/label/label.go`, `pkg/cmd/annotate/annotate.go` (v1.36).
//! Leaves out: `--local`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Call, DryRun, Pending};
use crate::api::names;
use crate::api::object::Object;
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of both.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::FIELD_SELECTOR,
    flags::ALL_NAMESPACES,
    flags::ALL,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::RECORD,
    &[
        Flag::long("list", Takes::Nothing),
        Flag::long("local", Takes::Nothing),
        Flag::long("overwrite", Takes::Nothing),
        Flag::long("resource-version", Takes::Text),
    ],
];

/// Which marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marks {
    Labels,
    Annotations,
}

impl Marks {
    fn word(self) -> &'static str {
        match self {
            Self::Labels => "label",
            Self::Annotations => "annotation",
        }
    }

    fn field(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Annotations => "annotations",
        }
    }

    fn of(self, object: &Object) -> &BTreeMap<String, String> {
        match self {
            Self::Labels => &object.meta().labels,
            Self::Annotations => &object.meta().annotations,
        }
    }
}

/// Sets and removes labels.
pub fn label(call: &mut Call) -> Result<Option<Pending>, Failure> {
    mark(call, Marks::Labels)
}

/// Sets and removes annotations.
pub fn annotate(call: &mut Call) -> Result<Option<Pending>, Failure> {
    mark(call, Marks::Annotations)
}

fn mark(call: &mut Call, marks: Marks) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let args = std::mem::take(&mut call.args);
    let is_change = |arg: &String| arg.contains('=') || arg.ends_with('-');
    let first = args.iter().position(|arg| is_change(arg) && !arg.starts_with('-')).unwrap_or(args.len());
    let (targets, changes) = args.split_at(first);
    if let Some(late) = changes.iter().find(|arg| !is_change(arg)) {
        return Err(Failure::error(format!(
            "all resources must be specified before {} changes: {late}",
            marks.word()
        )));
    }
    call.args = targets.to_vec();
    if call.args.is_empty() && !call.flags.given("filename") {
        return Err(Failure::error(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>",
        ));
    }
    let list = call.flags.on("list");
    if changes.is_empty() && !list {
        return Err(Failure::error(format!("at least one {} update is required", marks.word())));
    }
    let (set, removed) = changes_of(changes, marks)?;
    let (objects, mut failures) = resources::targets(call)?;
    for object in objects {
        if list {
            for (key, value) in marks.of(&object) {
                call.say(format!("{key}={value}"));
            }
            continue;
        }
        match change(call, &object, marks, &set, &removed, dry_run) {
            Ok((value, word)) => {
                super::create::print(call, &format, object.kind().printed(), value, word, dry_run)?
            }
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

type Changes = (BTreeMap<String, String>, Vec<String>);

fn changes_of(changes: &[String], marks: Marks) -> Result<Changes, Failure> {
    let (mut set, mut removed) = (BTreeMap::new(), Vec::new());
    for change in changes {
        match change.split_once('=') {
            Some((key, value)) => {
                let problems = if marks == Marks::Labels { names::label_value(value) } else { Vec::new() };
                if !problems.is_empty() {
                    return Err(Failure::error(format!(
                        "invalid label value: \"{change}\": {}",
                        problems.join("; ")
                    )));
                }
                set.insert(key.to_string(), value.to_string());
            }
            None => removed.push(change[..change.len() - 1].to_string()),
        }
    }
    if removed.iter().any(|key| set.contains_key(key)) {
        let article = if marks == Marks::Labels { "a" } else { "an" };
        return Err(Failure::error(format!(
            "can not both modify and remove {article} {} in the same command",
            marks.word()
        )));
    }
    Ok((set, removed))
}

/// Changes the marks of one object; hands back what it is now, and the word for what was done.
fn change(
    call: &mut Call,
    object: &Object,
    marks: Marks,
    set: &BTreeMap<String, String>,
    removed: &[String],
    dry_run: DryRun,
) -> Result<(Value, &'static str), Failure> {
    let there = marks.of(object);
    if !call.flags.on("overwrite") {
        let taken: Vec<String> = set
            .iter()
            .filter_map(|(key, value)| {
                let old = there.get(key).filter(|old| *old != value)?;
                Some(format!("'{key}' already has a value ({old})"))
            })
            .collect();
        if let Some(first) = taken.first() {
            return Err(Failure::error(match marks {
                Marks::Labels => format!("{first}, and --overwrite is false"),
                Marks::Annotations => format!(
                    "--overwrite is false but found the following declared annotation(s): {}",
                    taken.join("; ")
                ),
            }));
        }
    }
    let mut patch = Map::new();
    for (key, value) in set.iter().filter(|(key, value)| there.get(*key) != Some(value)) {
        patch.insert(key.clone(), json!(value));
    }
    let added = !patch.is_empty();
    let mut taken = false;
    for key in removed {
        if there.contains_key(key) {
            patch.insert(key.clone(), Value::Null);
            taken = true;
        } else if marks == Marks::Labels {
            call.say(format!("label \"{key}\" not found."));
        }
    }
    let word = match (marks, added, taken) {
        (Marks::Annotations, ..) => "annotated",
        (Marks::Labels, true, true) => "modified",
        (Marks::Labels, true, false) => "labeled",
        (Marks::Labels, false, true) => "unlabeled",
        (Marks::Labels, false, false) => "not labeled",
    };
    if patch.is_empty() || dry_run == DryRun::Client {
        return Ok((object.to_value(), word));
    }
    let mut metadata = json!({marks.field(): patch});
    if let Some(version) = call.flags.text("resource-version").filter(|version| !version.is_empty()) {
        metadata["resourceVersion"] = json!(version);
    }
    let meta = object.meta();
    let body = json!({"metadata": metadata});
    let mut request = Request::new(Verb::MergePatch, object.kind(), &meta.namespace, &meta.name, body);
    request.options.dry_run = dry_run == DryRun::Server;
    request.options.field_validation = FieldValidation::Warn;
    let response = call.host.ask(request).map_err(|status| Failure::server(&status))?;
    call.pass_on(&response.warnings);
    Ok((response.object, word))
}
