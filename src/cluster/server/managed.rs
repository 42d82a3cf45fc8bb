//! Who manages which fields: `metadata.managedFields`, and server-side apply, which goes by it.
//!
//! Models: `apimachinery/pkg/util/managedfields`, `structured-merge-diff/v6/merge/update.go`,
//! `apiserver/pkg/endpoints/handlers/patch.go` (apply) (v1.36).
//!
//! What components write costs a mark on the object, no more ([`crate::api::meta::Marks`]): as long as one component
//! alone has written the object itself, and for every status, [`implied`] makes their entries from the object as it is
//! when somebody asks. The first write by another one writes the entries down.
//!
//! Leaves out: fields that a component wrote and then did not any more.

mod components;

use serde_json::{Map, Value, json};

pub use components::{managers_of, settle, with_managers, written_by};

use super::fields::{self, Comparison, FieldSet, Path};
use super::request::Request;
use super::status::{Cause, Details, Status};
use crate::api::kind::Kind;
use crate::api::meta::{Component, Mark};
use crate::api::schema::{self, Type};
use crate::api::time::Timestamp;

const APPLY: &str = "Apply";
const UPDATE: &str = "Update";
/// The manager of `kubectl apply --server-side`, which alone inherits from what kubectl did without the server.
const KUBECTL: &str = "kubectl";
/// The annotation with what a client applied last.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The fields of one manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// Its name.
    pub name: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// `status`, `scale`; empty for the object itself.
    pub subresource: String,
    /// The version that the fields are named in.
    pub api_version: String,
    /// When they last changed.
    pub time: String,
    /// The fields.
    pub fields: FieldSet,
}

impl Manager {
    fn new(request: &Request, operation: &str) -> Self {
        Self {
            name: request.options.field_manager.clone(),
            operation: operation.to_string(),
            subresource: request.subresource.clone(),
            api_version: request.kind.api_version(),
            time: String::new(),
            fields: FieldSet::default(),
        }
    }

    /// A component's entry.
    fn of_component(mark: Mark, kind: Kind, fields: FieldSet) -> Self {
        Self {
            name: mark.by.manager().to_string(),
            operation: match mark.by {
                Component::ClusterRoleAggregation => APPLY.to_string(),
                _ => UPDATE.to_string(),
            },
            subresource: if mark.of_status { "status".to_string() } else { String::new() },
            api_version: kind.api_version(),
            time: mark.at.to_string(),
            fields,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let versions = self.operation == APPLY || self.api_version == other.api_version;
        self.name == other.name
            && self.operation == other.operation
            && self.subresource == other.subresource
            && versions
    }

    /// How a conflict calls it.
    fn shown(&self) -> String {
        let mut text = format!("{:?}", self.name);
        if !self.subresource.is_empty() {
            text.push_str(&format!(" with subresource {:?}", self.subresource));
        }
        if self.operation == UPDATE {
            text.push_str(&format!(" using {}", self.api_version));
            if !self.time.is_empty() {
                text.push_str(&format!(" at {}", self.time));
            }
        }
        text
    }
}

/// Reads `metadata.managedFields`.
pub fn read(managed: Option<&Value>) -> Vec<Manager> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_string();
    let entries = managed.and_then(Value::as_array).into_iter().flatten();
    entries
        .map(|entry| Manager {
            name: text(entry, "manager"),
            operation: text(entry, "operation"),
            subresource: text(entry, "subresource"),
            api_version: text(entry, "apiVersion"),
            time: text(entry, "time"),
            fields: FieldSet::from_value(&entry["fieldsV1"]),
        })
        .filter(|manager| !manager.operation.is_empty())
        .collect()
}

/// Writes `metadata.managedFields`; `None` when nobody manages anything.
pub fn write(mut managers: Vec<Manager>) -> Option<Value> {
    managers.retain(|manager| !manager.fields.is_empty());
    let order = |manager: &Manager| {
        let Manager { name, operation, subresource, api_version, time, .. } = manager;
        [operation, time, name, api_version, subresource].map(Clone::clone)
    };
    managers.sort_by_cached_key(order);
    let entry = |manager: &Manager| {
        let mut entry = json!({
            "apiVersion": manager.api_version, "fieldsType": "FieldsV1", "fieldsV1": manager.fields.to_value(),
            "manager": manager.name, "operation": manager.operation, "time": manager.time,
        });
        if !manager.subresource.is_empty() {
            entry["subresource"] = json!(manager.subresource);
        }
        entry
    };
    (!managers.is_empty()).then(|| Value::Array(managers.iter().map(entry).collect()))
}

/// The fields that nobody manages: what the server sets, and what this way of writing cannot change.
fn without_system_fields(subresource: &str, set: &mut FieldSet) {
    const META: [&str; 10] = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "generation",
        "managedFields",
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ];
    set.retain(|path| {
        let element = |at: usize| path.get(at).and_then(|element| element.strip_prefix("f:"));
        match (element(0), element(1)) {
            (Some("apiVersion" | "kind"), _) => false,
            // A Pod without containers has the list all the same, so nobody has added it.
            _ if path.last().is_some_and(|last| last == "f:containers") => false,
            (Some("metadata"), None) => false,
            (Some("metadata"), Some(name)) => !META.contains(&name),
            (Some("status"), _) => subresource == "status",
            (Some("spec"), _) => subresource != "status",
            _ => true,
        }
    });
}

fn comparison(subresource: &str, kind: &'static Type, old: &Value, new: &Value) -> Comparison {
    let mut found = fields::compare(kind, old, new);
    for set in [&mut found.added, &mut found.removed, &mut found.modified] {
        without_system_fields(subresource, set);
    }
    found
}

/// Takes changed and removed fields from everybody.
fn take_away(managers: &mut [Manager], found: &Comparison) {
    let taken = found.added.union(&found.modified).union(&found.removed);
    for manager in managers {
        manager.fields = manager.fields.difference(&taken);
    }
}

/// Gives the writer what he changed, and takes it from everybody else.
fn take_over(managers: &mut Vec<Manager>, mut writer: Manager, found: &Comparison, now: Timestamp) {
    if let Some(at) = managers.iter().position(|manager| manager.is_same(&writer)) {
        writer = managers.remove(at);
    }
    take_away(managers, found);
    let set = found.modified.union(&found.added);
    if !set.is_empty() {
        writer.time = now.to_string();
    }
    writer.fields = writer.fields.difference(&found.removed).union(&set);
    managers.push(writer);
    forget_the_oldest(managers);
}

/// Puts the oldest updates together under one name when there are too many.
fn forget_the_oldest(managers: &mut Vec<Manager>) {
    const MAX_UPDATE_MANAGERS: usize = 10;
    const OLD: &str = "ancient-changes";
    managers.retain(|manager| !manager.fields.is_empty());
    let is_update = |manager: &Manager| manager.operation == UPDATE;
    let mut count = managers.iter().filter(|manager| is_update(manager)).count();
    if count <= MAX_UPDATE_MANAGERS {
        return;
    }
    managers.sort_by_cached_key(|manager| (manager.time.clone(), manager.name.clone()));
    // Of each version, the oldest alone keeps its name; with a second one they become one entry.
    let mut buckets: Vec<Manager> = Vec::new();
    let mut kept: Vec<Manager> = Vec::new();
    for manager in std::mem::take(managers) {
        let bucket = buckets.iter_mut().find(|bucket| bucket.api_version == manager.api_version);
        match bucket {
            _ if !is_update(&manager) || count <= MAX_UPDATE_MANAGERS => kept.push(manager),
            None => buckets.push(manager),
            Some(bucket) => {
                bucket.name = OLD.to_string();
                bucket.subresource = String::new();
                bucket.fields = bucket.fields.union(&manager.fields);
                bucket.time = manager.time;
                count -= 1;
            }
        }
    }
    *managers = buckets;
    managers.extend(kept);
}

fn set_managed(object: &mut Value, managers: Vec<Manager>) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    match write(managers) {
        Some(value) => metadata.insert("managedFields".to_string(), value),
        None => metadata.remove("managedFields"),
    };
}

/// After a create, an update or a patch: the writer manages what he changed.
pub fn updated(request: &Request, kind: &'static Type, old: Option<&Value>, new: &mut Value, now: Timestamp) {
    // An apply has said already who manages what.
    if request.verb == super::request::Verb::Apply {
        return;
    }
    let given = new["metadata"].get("managedFields").cloned();
    let had = old.and_then(|old| old["metadata"].get("managedFields"));
    let before = if request.options.field_manager.is_empty() { had } else { given.as_ref().or(had) };
    let mut managers = read(before);
    if !request.options.field_manager.is_empty() {
        let empty;
        let old = match old {
            Some(old) => old,
            None => {
                empty = super::decode::normalise(kind, &Value::Null);
                &empty
            }
        };
        let found = comparison(&request.subresource, kind, old, new);
        take_over(&mut managers, Manager::new(request, UPDATE), &found, now);
    }
    set_managed(new, managers);
}

/// After a change of the scale: the writer manages `spec.replicas`, unless it is zero, which a Scale leaves out.
pub fn scaled(managers: Vec<Manager>, request: &Request, replicas: i32, now: Timestamp) -> Option<Value> {
    write(with_scale(managers, Manager::new(request, UPDATE), replicas, now))
}

fn with_scale(
    mut managers: Vec<Manager>,
    mut writer: Manager,
    replicas: i32,
    now: Timestamp,
) -> Vec<Manager> {
    let path: Path = vec!["f:spec".to_string(), "f:replicas".to_string()];
    for manager in &mut managers {
        manager.fields.remove(&path);
    }
    if replicas != 0 {
        if let Some(at) = managers.iter().position(|manager| manager.is_same(&writer)) {
            writer = managers.remove(at);
        }
        writer.fields.insert(&path);
        writer.time = now.to_string();
        managers.push(writer);
    }
    managers
}

/// The object that an apply makes of the live one.
///
/// # Errors
/// 400 when the request is no configuration, 409 when others manage what it would change, and a refusal without a
/// reason when the schema does not know a field.
pub fn applied(request: &Request, live: Option<&Value>, now: Timestamp) -> Result<Value, Status> {
    let kind_name = request.kind;
    let kind = schema::root(kind_name.group(), kind_name.version(), kind_name.name())
        .ok_or_else(Status::method_not_allowed)?;
    if request.options.field_manager.is_empty() {
        return Err(Status::bad_request(
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ));
    }
    let config = &request.body;
    if config["metadata"].get("managedFields").is_some_and(|managed| !managed.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    let problems = fields::problems(kind, config);
    if !problems.is_empty() {
        return Err(untyped(request, &problems));
    }
    let config = &without_nulls(config);
    let mut set = fields::fields_of(kind, config);
    without_system_fields(&request.subresource, &mut set);
    let mut managers = read(live.and_then(|live| live["metadata"].get("managedFields")));
    let mut writer = Manager::new(request, APPLY);
    let mut last = FieldSet::default();
    if let Some(at) = managers.iter().position(|manager| manager.is_same(&writer)) {
        writer = managers.remove(at);
        last = writer.fields.clone();
    }
    let unchanged = last == set && writer.api_version == kind_name.api_version();
    writer.fields = set;
    writer.api_version = kind_name.api_version();
    if !unchanged {
        writer.time = now.to_string();
    }
    let mut object = match live {
        None => config.clone(),
        Some(live) => {
            let merged = fields::merged(kind, live, config);
            let owned =
                managers.iter().fold(writer.fields.clone(), |all, manager| all.union(&manager.fields));
            let mut gone = last.difference(&owned);
            // A record stays as long as somebody manages a field in it; an item of a list does not.
            gone.retain(|path| {
                let is_field = path.last().is_some_and(|element| element.starts_with("f:"));
                !(is_field && owned.begins_with(path))
            });
            let object = fields::without(kind, &merged, &gone);
            let found = comparison(&request.subresource, kind, live, &object);
            let touched = found.modified.union(&found.added);
            // A manager is known by all but the time of its last change.
            let mut conflicts: Vec<Manager> = managers
                .iter()
                .map(|manager| Manager {
                    time: String::new(),
                    fields: manager.fields.intersection(&touched),
                    ..manager.clone()
                })
                .collect();
            conflicts.retain(|conflict| !conflict.fields.is_empty());
            if request.options.field_manager == KUBECTL
                && !conflicts.is_empty()
                && let Some(own) = applied_by_the_client(kind, live)
            {
                for conflict in &mut conflicts {
                    conflict.fields = conflict.fields.difference(&own);
                }
                conflicts.retain(|conflict| !conflict.fields.is_empty());
            }
            if !conflicts.is_empty() && !request.options.force {
                return Err(conflict(request.kind, &request.name, conflicts));
            }
            take_away(&mut managers, &found);
            object
        }
    };
    managers.push(writer);
    set_managed(&mut object, managers);
    if request.options.field_manager == KUBECTL {
        keep_last_applied(&mut object, config);
    }
    Ok(object)
}

/// The fields that the client said last, if the live object still says the same: nobody else has changed them since.
fn applied_by_the_client(kind: &'static Type, live: &Value) -> Option<FieldSet> {
    let text = live["metadata"]["annotations"][LAST_APPLIED].as_str()?;
    let said: Value = serde_json::from_str(text).ok()?;
    let found = fields::compare(kind, &said, live);
    let mut own = fields::fields_of(kind, &said);
    for other in [&found.modified, &found.added, &found.removed] {
        own = own.difference(other);
    }
    Some(own)
}

/// Where an object still has what a client applied last, an apply of the server's writes it anew, so that both ways can
/// be used.
fn keep_last_applied(object: &mut Value, config: &Value) {
    let Some(text) = object["metadata"]["annotations"].get_mut(LAST_APPLIED) else { return };
    if text.as_str().is_none_or(str::is_empty) {
        return;
    }
    let mut said = config.clone();
    if let Some(annotations) = said.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    *text = Value::String(crate::api::manifest::to_json(&said).trim_end().to_string() + "\n");
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                kept.map(|(name, value)| (name.clone(), without_nulls(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

fn untyped(request: &Request, problems: &[String]) -> Status {
    let list = match problems {
        [one] => one.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let kind = request.kind;
    // The server writes group and version with their slash also where there is no group.
    let version = if kind.group().is_empty() { format!("/{}", kind.version()) } else { kind.api_version() };
    let place = match &*request.namespace {
        namespace if kind.is_namespaced() => format!("{namespace}/{}", request.name),
        _ => format!("/{}", request.name),
    };
    let message =
        format!("failed to create typed patch object ({place}; {version}, Kind={}): {list}", kind.name());
    Status { code: 500, reason: "", message, details: Details::default() }
}

/// The refusal of an apply that would change what those manage; each with the fields in question.
pub fn conflict(kind: Kind, name: &str, mut conflicts: Vec<Manager>) -> Status {
    conflicts.sort_by_cached_key(|manager| {
        let Manager { name, operation, api_version, subresource, .. } = manager;
        [name, operation, api_version, subresource].map(Clone::clone)
    });
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for manager in &conflicts {
        let shown = manager.shown();
        if lines.last() != Some(&format!("conflicts with {shown}:")) {
            lines.push(format!("conflicts with {shown}:"));
        }
        for path in manager.fields.in_order() {
            let field = fields::shown(path);
            lines.push(format!("- {field}"));
            causes.push(Cause {
                reason: "FieldManagerConflict",
                message: format!("conflict with {shown}"),
                field,
            });
        }
    }
    let message = match causes.as_slice() {
        [one] => format!("Apply failed with 1 conflict: {}: {}", one.message, one.field),
        many => format!("Apply failed with {} conflicts: {}", many.len(), lines.join("\n")),
    };
    let mut status = Status::conflict_because(kind, name, "");
    status.message = message;
    status.details = Details { causes, ..Details::default() };
    status
}
