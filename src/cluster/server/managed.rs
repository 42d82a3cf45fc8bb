//! Who manages which fields: `metadata.managedFields`, and server-side apply, which goes by it.
//!
//! Models: `apimachinery/pkg/util/managedfields`, `structured-merge-diff/v6/merge/update.go`,
//! `apiserver/pkg/endpoints/handlers/patch.go` (apply) (v1.36).
//! Leaves out: the fields that components write (they are nobody's here), the bound on the number of managers.

use serde_json::{Map, Value, json};

use super::fields::{self, Comparison, FieldSet, Path};
use super::request::Request;
use super::status::{Cause, Details, Status};
use crate::api::kind::Kind;
use crate::api::schema::{self, Type};
use crate::api::time::Timestamp;

const APPLY: &str = "Apply";
const UPDATE: &str = "Update";

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
fn without_system_fields(request: &Request, set: &mut FieldSet) {
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
            (Some("metadata"), None) => false,
            (Some("metadata"), Some(name)) => !META.contains(&name),
            (Some("status"), _) => request.subresource == "status",
            (Some("spec"), _) => request.subresource != "status",
            _ => true,
        }
    });
}

fn comparison(request: &Request, kind: &'static Type, old: &Value, new: &Value) -> Comparison {
    let mut found = fields::compare(kind, old, new);
    for set in [&mut found.added, &mut found.removed, &mut found.modified] {
        without_system_fields(request, set);
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
        let found = comparison(request, kind, old, new);
        let mut writer = Manager::new(request, UPDATE);
        let at = managers.iter().position(|manager| manager.is_same(&writer));
        if let Some(at) = at {
            writer = managers.remove(at);
        }
        let owned = writer.fields.difference(&found.removed).union(&found.modified).union(&found.added);
        take_away(&mut managers, &found);
        if owned != writer.fields {
            writer.time = now.to_string();
            writer.fields = owned;
        }
        managers.push(writer);
    }
    set_managed(new, managers);
}

/// After a change of the scale: the writer manages `spec.replicas`, unless it is zero, which a Scale leaves out.
pub fn scaled(managed: Option<&Value>, request: &Request, replicas: i32, now: Timestamp) -> Option<Value> {
    let mut managers = read(managed);
    let path: Path = vec!["f:spec".to_string(), "f:replicas".to_string()];
    for manager in &mut managers {
        manager.fields.remove(&path);
    }
    if replicas != 0 {
        let mut writer = Manager::new(request, UPDATE);
        if let Some(at) = managers.iter().position(|manager| manager.is_same(&writer)) {
            writer = managers.remove(at);
        }
        writer.fields.insert(&path);
        writer.time = now.to_string();
        managers.push(writer);
    }
    write(managers)
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
    without_system_fields(request, &mut set);
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
            let found = comparison(request, kind, live, &object);
            let touched = found.modified.union(&found.added);
            let mut conflicts: Vec<(&Manager, FieldSet)> = managers
                .iter()
                .map(|manager| (manager, manager.fields.intersection(&touched)))
                .filter(|(_, fields)| !fields.is_empty())
                .collect();
            if !conflicts.is_empty() && !request.options.force {
                conflicts.sort_by_key(|(manager, _)| {
                    (&manager.name, &manager.operation, &manager.api_version, &manager.subresource)
                });
                return Err(conflict(request.kind, &request.name, &conflicts));
            }
            take_away(&mut managers, &found);
            object
        }
    };
    managers.push(writer);
    set_managed(&mut object, managers);
    Ok(object)
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

fn conflict(kind: Kind, name: &str, conflicts: &[(&Manager, FieldSet)]) -> Status {
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for (manager, fields) in conflicts {
        let shown = manager.shown();
        if lines.last() != Some(&format!("conflicts with {shown}:")) {
            lines.push(format!("conflicts with {shown}:"));
        }
        for path in fields.in_order() {
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
