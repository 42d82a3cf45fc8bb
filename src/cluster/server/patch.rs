//! The three kinds of patches, and the patch that `kubectl apply` computes from what was applied last, what is wanted
//! now and what is there.
//!
//! Models: `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`, `endpoints/handlers/patch.go`, RFC 7386, RFC 6902
//! (v1.36).
//! Leaves out: the patch of kinds that are not in the schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::status::{Cause, Details, Status};
use crate::api::schema::{Patch, Shape, Type};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const SET_ORDER: &str = "$setElementOrder/";
/// The most operations one JSON patch may hold.
const MAX_OPERATIONS: usize = 10_000;

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchError {
    /// It is no patch.
    Malformed(String),
    /// It does not fit the object.
    Rejected,
}

impl PatchError {
    /// As the server's answer.
    pub fn status(&self) -> Status {
        match self {
            Self::Malformed(text) => Status::bad_request(text.clone()),
            Self::Rejected => Status {
                code: 422,
                reason: "Invalid",
                message: "the server rejected our request due to an error in our request".to_string(),
                details: Details::default(),
            },
        }
    }
}

impl std::fmt::Display for PatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.status().message)
    }
}

impl std::error::Error for PatchError {}

/// The refusal of a patch whose result is no object of its kind, for the given reason.
pub fn refusal(patch: &Value, reason: &str) -> Status {
    let mut shown = String::new();
    go_text(patch, &mut shown);
    let message = format!("Invalid value: {shown:?}: {reason}");
    Status {
        code: 422,
        reason: "Invalid",
        message: format!(" \"\" is invalid: patch: {message}"),
        details: Details {
            causes: vec![Cause { reason: "FieldValueInvalid", message, field: "patch".to_string() }],
            ..Details::default()
        },
    }
}

/// A value as Go's `%+v` prints it.
fn go_text(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { " " } else { "" });
                go_text(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push_str("map[");
            for (index, (key, member)) in members.iter().enumerate() {
                out.push_str(if index > 0 { " " } else { "" });
                let _ = write!(out, "{key}:");
                go_text(member, out);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// Applies a JSON merge patch: maps merge, null removes, everything else replaces.
pub fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    if let Value::Object(members) = value {
        for (key, change) in patch {
            if change.is_null() {
                members.remove(key);
            } else {
                merge(members.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
    }
}

/// Applies a JSON patch: a list of operations, all or none.
///
/// # Errors
/// When it is no list of operations, or one of them does not fit.
pub fn json(value: &mut Value, patch: &Value) -> Result<(), PatchError> {
    let word = match patch {
        Value::Array(operations) if operations.len() > MAX_OPERATIONS => {
            let (found, most) = (operations.len(), MAX_OPERATIONS);
            let text = format!("The allowed maximum operations in a JSON patch is {most}, got {found}");
            return Err(PatchError::Malformed(text));
        }
        Value::Array(operations) => {
            let mut changed = value.clone();
            for operation in operations {
                operate(&mut changed, operation).ok_or(PatchError::Rejected)?;
            }
            *value = changed;
            return Ok(());
        }
        Value::Object(_) => "object",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    let text = format!(
        "error decoding patch: json: cannot unmarshal {word} into Go value of type []handlers.jsonPatchOp"
    );
    Err(PatchError::Malformed(text))
}

fn operate(value: &mut Value, operation: &Value) -> Option<()> {
    let path = operation["path"].as_str()?;
    let given = operation.get("value").cloned().unwrap_or(Value::Null);
    match operation["op"].as_str()? {
        "add" => add(value, path, given),
        "remove" => remove(value, path).map(|_| ()),
        "replace" if path.is_empty() => {
            *value = given;
            Some(())
        }
        "replace" => {
            *value.pointer_mut(path)? = given;
            Some(())
        }
        "copy" => {
            let copied = value.pointer(operation["from"].as_str()?)?.clone();
            add(value, path, copied)
        }
        "move" => {
            let moved = remove(value, operation["from"].as_str()?)?;
            add(value, path, moved)
        }
        "test" => (value.pointer(path).unwrap_or(&Value::Null) == &given).then_some(()),
        _ => None,
    }
}

/// The parent a pointer leads to, and the unescaped last step.
fn parent<'a>(value: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    Some((value.pointer_mut(parent)?, last.replace("~1", "/").replace("~0", "~")))
}

fn add(value: &mut Value, path: &str, given: Value) -> Option<()> {
    if path.is_empty() {
        *value = given;
        return Some(());
    }
    let (parent, last) = parent(value, path)?;
    match parent {
        Value::Object(members) => {
            members.insert(last, given);
        }
        Value::Array(items) if last == "-" => items.push(given),
        Value::Array(items) => {
            let index: usize = last.parse().ok().filter(|index| *index <= items.len())?;
            items.insert(index, given);
        }
        _ => return None,
    }
    Some(())
}

fn remove(value: &mut Value, path: &str) -> Option<Value> {
    let (parent, last) = parent(value, path)?;
    match parent {
        Value::Object(members) => members.remove(&last),
        Value::Array(items) => {
            let index: usize = last.parse().ok().filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

// --- Strategic merge -------------------------------------------------------------------------------------------------

type Record = Map<String, Value>;

/// What the schema says of one field, for merging.
#[derive(Clone, Copy)]
struct Meta {
    inner: Option<&'static Type>,
    patch: Patch,
}

fn meta(kind: Option<&'static Type>, name: &str) -> Meta {
    match kind.and_then(|kind| kind.field(name)) {
        Some(field) => Meta {
            inner: field.shape.record().filter(|_| !matches!(field.shape, Shape::Map(_))),
            patch: field.patch,
        },
        None => Meta { inner: None, patch: Patch::Replace },
    }
}

impl Meta {
    fn merge_key(&self) -> Option<&'static str> {
        match self.patch {
            Patch::MergeBy(key) => Some(key),
            _ => None,
        }
    }

    fn merges_list(&self) -> bool {
        matches!(self.patch, Patch::MergeBy(_) | Patch::MergeSet)
    }
}

/// How directives are treated: carried out on an object, or kept because two patches are merged into one.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Apply,
    Combine,
}

/// Applies a strategic merge patch.
///
/// # Errors
/// When a directive is unknown or a list's item lacks its merge key.
pub fn strategic(kind: &'static Type, value: &mut Value, patch: &Value) -> Result<(), PatchError> {
    let Value::Object(patch) = patch else {
        return Err(PatchError::Malformed("error decoding patch: the patch is no object".to_string()));
    };
    let original = match std::mem::take(value) {
        Value::Object(members) => members,
        _ => Record::new(),
    };
    *value = Value::Object(merge_records(original, patch.clone(), Some(kind), Mode::Apply)?);
    Ok(())
}

fn malformed<T>(text: impl Into<String>) -> Result<T, PatchError> {
    Err(PatchError::Malformed(text.into()))
}

fn merge_records(
    mut original: Record,
    mut patch: Record,
    kind: Option<&'static Type>,
    mode: Mode,
) -> Result<Record, PatchError> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Record::new()),
            _ => malformed(format!("unknown patch type: {}", directive.as_str().unwrap_or_default())),
        };
    }
    retain_keys(&mut original, &mut patch, mode);
    merge_ordered_lists(&mut original, &mut patch, kind, mode)?;
    for (key, change) in patch {
        let deleted_from = key.strip_prefix(DELETE_FROM).map(str::to_string);
        if deleted_from.is_some() && mode == Mode::Combine {
            original.insert(key, change);
            continue;
        }
        let is_deletion = deleted_from.is_some();
        let name = deleted_from.unwrap_or(key);
        if change.is_null() {
            original.remove(&name);
            if mode == Mode::Apply {
                continue;
            }
        }
        let merged = match (original.remove(&name), change) {
            (None, _) if is_deletion => continue,
            (None, change) if mode == Mode::Apply => without_directives(without_nulls(change)),
            (None, change) => change,
            (Some(Value::Object(before)), Value::Object(change)) => {
                Value::Object(merge_records(before, change, meta(kind, &name).inner, mode)?)
            }
            (Some(Value::Array(before)), Value::Array(change)) => {
                let meta = meta(kind, &name);
                if meta.merges_list() {
                    Value::Array(merge_lists(before, change, meta, is_deletion, mode)?)
                } else {
                    Value::Array(change)
                }
            }
            (Some(before), _) if is_deletion => before,
            (Some(_), change) => change,
        };
        original.insert(name, merged);
    }
    Ok(original)
}

/// A record for which `$retainKeys` is given keeps no other field.
fn retain_keys(original: &mut Record, patch: &mut Record, mode: Mode) {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return };
    if mode == Mode::Combine {
        original.insert(RETAIN_KEYS.to_string(), keys);
        return;
    }
    let kept: Vec<&str> = keys.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    original.retain(|name, _| kept.contains(&name.as_str()));
}

/// Lists that come with the order they shall have.
fn merge_ordered_lists(
    original: &mut Record,
    patch: &mut Record,
    kind: Option<&'static Type>,
    mode: Mode,
) -> Result<(), PatchError> {
    let ordered: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for key in ordered {
        let order = patch.remove(&key).unwrap_or_default();
        if mode == Mode::Combine {
            original.insert(key, order);
            continue;
        }
        let name = key[SET_ORDER.len()..].to_string();
        let meta = meta(kind, &name);
        let Value::Array(order) = order else { return malformed(format!("{key} is no list")) };
        let before = match original.get(&name) {
            Some(Value::Array(items)) => items.clone(),
            _ => Vec::new(),
        };
        let deletions = patch.remove(&format!("{DELETE_FROM}{name}"));
        let changes = patch.remove(&name);
        if before.is_empty() && changes.is_none() {
            continue;
        }
        let mut merged = before.clone();
        if let Some(Value::Array(deletions)) = deletions {
            merged.retain(|item| !deletions.contains(item));
        }
        match changes {
            Some(Value::Array(changes)) => {
                merged = match meta.merge_key() {
                    Some(merge_key) => {
                        let (items, rest) = special_items(merged, changes, merge_key)?;
                        merge_items(items, rest, merge_key, meta, mode)?
                    }
                    None => deduplicated(merged.into_iter().chain(changes).collect()),
                };
            }
            Some(Value::Null) => {
                original.remove(&name);
                continue;
            }
            _ => {}
        }
        let (first, rest) = partition(merged, &order, meta.merge_key());
        original.insert(name, Value::Array(in_order(first, rest, &order, &before, meta.merge_key())));
    }
    Ok(())
}

fn merge_lists(
    before: Vec<Value>,
    changes: Vec<Value>,
    meta: Meta,
    is_deletion: bool,
    mode: Mode,
) -> Result<Vec<Value>, PatchError> {
    if before.is_empty() && changes.is_empty() {
        return Ok(before);
    }
    let are_records = before.iter().chain(&changes).any(Value::is_object);
    let order = changes.clone();
    let (merged, merge_key) = match meta.merge_key() {
        Some(merge_key) if are_records => {
            let (items, rest) = special_items(before.clone(), changes, merge_key)?;
            (merge_items(items, rest, merge_key, meta, mode)?, Some(merge_key))
        }
        _ if is_deletion => (before.iter().filter(|item| !changes.contains(item)).cloned().collect(), None),
        _ => (deduplicated(before.iter().cloned().chain(changes).collect()), None),
    };
    let (first, rest) = partition(merged, &order, merge_key);
    Ok(in_order(first, rest, &order, &before, merge_key))
}

fn deduplicated(items: Vec<Value>) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// Carries out the items of a patch that are directives; gives the list as it is then, and the other items.
fn special_items(
    mut before: Vec<Value>,
    changes: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut rest = Vec::new();
    let mut replaces = false;
    for change in changes {
        match change.get(DIRECTIVE).and_then(Value::as_str) {
            None => rest.push(change),
            Some("delete") => {
                let Some(key) = change.get(merge_key) else {
                    return malformed(format!("delete patch type with no merge key defined: {change}"));
                };
                before.retain(|item| item.get(merge_key) != Some(key));
            }
            Some("replace") => replaces = true,
            Some("merge") => return malformed("merging lists cannot yet be specified in the patch"),
            Some(other) => return malformed(format!("unknown patch type: {other}")),
        }
    }
    if replaces { Ok((rest, Vec::new())) } else { Ok((before, rest)) }
}

/// Merges a patch's items into those with the same key; new ones are added.
fn merge_items(
    mut items: Vec<Value>,
    changes: Vec<Value>,
    merge_key: &str,
    meta: Meta,
    mode: Mode,
) -> Result<Vec<Value>, PatchError> {
    for change in changes {
        let (Some(key), Value::Object(record)) = (change.get(merge_key).cloned(), &change) else {
            return malformed(format!("map: {change} does not contain declared merge key: {merge_key}"));
        };
        let record = record.clone();
        match items.iter_mut().find(|item| item.get(merge_key) == Some(&key)) {
            Some(item) => {
                let before = match std::mem::take(item) {
                    Value::Object(before) => before,
                    _ => Record::new(),
                };
                *item = Value::Object(merge_records(before, record, meta.inner, mode)?);
            }
            None if mode == Mode::Apply => items.push(without_directives(without_nulls(change))),
            None => items.push(change),
        }
    }
    Ok(items)
}

fn is_same(left: &Value, right: &Value, merge_key: Option<&str>) -> bool {
    match merge_key {
        Some(key) => left.get(key).is_some() && left.get(key) == right.get(key),
        None => left == right,
    }
}

fn place(item: &Value, order: &[Value], merge_key: Option<&str>) -> Option<usize> {
    order.iter().position(|candidate| is_same(candidate, item, merge_key))
}

/// The items that an order names, and the others.
fn partition(items: Vec<Value>, order: &[Value], merge_key: Option<&str>) -> (Vec<Value>, Vec<Value>) {
    items.into_iter().partition(|item| place(item, order, merge_key).is_some())
}

/// Puts the items a patch names in the patch's order, and the server's own items where they stood relative to them.
fn in_order(
    mut named: Vec<Value>,
    mut own: Vec<Value>,
    order: &[Value],
    before: &[Value],
    merge_key: Option<&str>,
) -> Vec<Value> {
    named.sort_by_key(|item| place(item, order, merge_key));
    own.sort_by_key(|item| place(item, before, merge_key));
    let mut merged = Vec::with_capacity(named.len() + own.len());
    let (mut named, mut own) = (named.into_iter().peekable(), own.into_iter().peekable());
    loop {
        let take_own = match (own.peek(), named.peek()) {
            (None, None) => return merged,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(left), Some(right)) => {
                match (place(left, before, merge_key), place(right, before, merge_key)) {
                    (Some(left), Some(right)) => left < right,
                    _ => false,
                }
            }
        };
        merged.extend(if take_own { own.next() } else { named.next() });
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, member)| !member.is_null());
            Value::Object(kept.map(|(key, member)| (key, without_nulls(member))).collect())
        }
        other => other,
    }
}

/// A part of a patch that is new to the object, without what only tells how to merge.
fn without_directives(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let is_directive = |key: &str| {
                key == DIRECTIVE
                    || key == RETAIN_KEYS
                    || key.starts_with(DELETE_FROM)
                    || key.starts_with(SET_ORDER)
            };
            let kept = members.into_iter().filter(|(key, _)| !is_directive(key));
            Value::Object(kept.map(|(key, member)| (key, without_directives(member))).collect())
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter(|item| item.get(DIRECTIVE).is_none());
            Value::Array(kept.map(without_directives).collect())
        }
        other => other,
    }
}

// --- The patch that apply computes -----------------------------------------------------------------------------------

/// Which differences a comparison looks for.
#[derive(Clone, Copy)]
struct Look {
    changes: bool,
    deletions: bool,
    retain_keys: bool,
}

/// The strategic merge patch that makes `current` what `modified` says, and removes what `original` (what was applied
/// last) said and `modified` no longer does. An empty record means that there is nothing to do.
///
/// # Errors
/// When an item of a list that merges lacks its merge key.
pub fn three_way(
    kind: &'static Type,
    original: &Value,
    modified: &Value,
    current: &Value,
) -> Result<Value, PatchError> {
    let empty = Record::new();
    let (original, modified, current) =
        (as_record(original, &empty), as_record(modified, &empty), as_record(current, &empty));
    let look = Look { changes: true, deletions: false, retain_keys: false };
    let delta = difference(current, modified, Some(kind), look)?;
    let look = Look { changes: false, deletions: true, retain_keys: false };
    let deletions = difference(original, modified, Some(kind), look)?;
    Ok(Value::Object(merge_records(deletions, delta, Some(kind), Mode::Combine)?))
}

fn as_record<'a>(value: &'a Value, empty: &'a Record) -> &'a Record {
    value.as_object().unwrap_or(empty)
}

/// The JSON merge patch for the same purpose, for kinds without a schema.
pub fn three_way_merge(original: &Value, modified: &Value, current: &Value) -> Value {
    fn walk(original: &Value, modified: &Value, current: &Value) -> Record {
        let empty = Record::new();
        let (original, modified, current) =
            (as_record(original, &empty), as_record(modified, &empty), as_record(current, &empty));
        let mut patch = Record::new();
        for (key, wanted) in modified {
            let there = current.get(key).unwrap_or(&Value::Null);
            if wanted.is_object() && there.is_object() {
                let inner = walk(original.get(key).unwrap_or(&Value::Null), wanted, there);
                if !inner.is_empty() {
                    patch.insert(key.clone(), Value::Object(inner));
                }
            } else if wanted != there {
                patch.insert(key.clone(), wanted.clone());
            }
        }
        for key in original.keys().filter(|key| !modified.contains_key(*key)) {
            patch.insert(key.clone(), Value::Null);
        }
        patch
    }
    Value::Object(walk(original, modified, current))
}

fn difference(
    original: &Record,
    modified: &Record,
    kind: Option<&'static Type>,
    look: Look,
) -> Result<Record, PatchError> {
    let mut patch = Record::new();
    for (key, wanted) in modified {
        match (original.get(key), wanted) {
            (Some(Value::Object(before)), Value::Object(after)) => {
                let meta = meta(kind, key);
                let look = Look { retain_keys: meta.patch == Patch::RetainKeys, ..look };
                let inner = difference(before, after, meta.inner, look)?;
                if !inner.is_empty() {
                    patch.insert(key.clone(), Value::Object(inner));
                }
            }
            (Some(Value::Array(before)), Value::Array(after)) if meta(kind, key).merges_list() => {
                list_difference(key, before, after, meta(kind, key), look, &mut patch)?;
            }
            (before, wanted) => {
                if look.changes && before != Some(wanted) {
                    patch.insert(key.clone(), wanted.clone());
                }
            }
        }
    }
    if look.deletions {
        for key in original.keys().filter(|key| !modified.contains_key(*key)) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    let has_more = original.keys().any(|key| !modified.contains_key(key));
    if look.retain_keys && !modified.is_empty() && (!patch.is_empty() || has_more) {
        let kept =
            modified.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| Value::from(key.as_str()));
        patch.insert(RETAIN_KEYS.to_string(), Value::Array(kept.collect()));
    }
    Ok(patch)
}

fn list_difference(
    name: &str,
    before: &[Value],
    after: &[Value],
    meta: Meta,
    look: Look,
    patch: &mut Record,
) -> Result<(), PatchError> {
    if before.is_empty() {
        if !after.is_empty() && look.changes {
            patch.insert(name.to_string(), Value::Array(after.to_vec()));
        }
        return Ok(());
    }
    let look = Look { retain_keys: false, ..look };
    let Some(merge_key) = meta.merge_key() else {
        let added: Vec<Value> = after.iter().filter(|item| !before.contains(item)).cloned().collect();
        let gone: Vec<Value> = before.iter().filter(|item| !after.contains(item)).cloned().collect();
        let orders = (look.deletions && !gone.is_empty()) || (look.changes && before != after);
        if look.changes && !added.is_empty() {
            patch.insert(name.to_string(), Value::Array(added));
        }
        if look.deletions && !gone.is_empty() {
            patch.insert(format!("{DELETE_FROM}{name}"), Value::Array(gone));
        }
        if orders && !after.is_empty() {
            patch.insert(format!("{SET_ORDER}{name}"), Value::Array(after.to_vec()));
        }
        return Ok(());
    };
    let mut items = Vec::new();
    for item in after {
        let (Some(key), Value::Object(record)) = (item.get(merge_key), item) else {
            return malformed(format!("map: {item} does not contain declared merge key: {merge_key}"));
        };
        match before.iter().find(|candidate| candidate.get(merge_key) == Some(key)) {
            Some(Value::Object(before)) => {
                let mut inner = difference(before, record, meta.inner, look)?;
                if !inner.is_empty() {
                    inner.insert(merge_key.to_string(), key.clone());
                    items.push(Value::Object(inner));
                }
            }
            _ if look.changes => items.push(item.clone()),
            _ => {}
        }
    }
    if look.deletions {
        for item in before {
            let Some(key) = item.get(merge_key) else { continue };
            if !after.iter().any(|candidate| candidate.get(merge_key) == Some(key)) {
                let mut deletion = Record::new();
                deletion.insert(merge_key.to_string(), key.clone());
                deletion.insert(DIRECTIVE.to_string(), Value::from("delete"));
                items.push(Value::Object(deletion));
            }
        }
    }
    let same_order = before.len() == after.len()
        && before.iter().zip(after).all(|(left, right)| left.get(merge_key) == right.get(merge_key));
    let orders =
        (look.changes && (!items.is_empty() || !same_order)) || (look.deletions && !items.is_empty());
    if orders && !after.is_empty() {
        let keys = after.iter().map(|item| {
            let key = item.get(merge_key).cloned().unwrap_or(Value::Null);
            Value::Object(Record::from_iter([(merge_key.to_string(), key)]))
        });
        patch.insert(format!("{SET_ORDER}{name}"), Value::Array(keys.collect()));
    }
    if !items.is_empty() {
        patch.insert(name.to_string(), Value::Array(items));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::root_of;
    use serde_json::json;

    fn pod() -> &'static Type {
        root_of("v1", "Pod").unwrap()
    }

    #[test]
    fn strategic_patches_merge_lists_by_key() {
        let containers = |items: Value| json!({"spec": {"containers": items}});
        let two = json!([{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]);
        let table = [
            (
                "an item with a known key is merged",
                json!([{"name": "b", "image": "2"}]),
                json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]),
            ),
            (
                "a new item comes first",
                json!([{"name": "c"}]),
                json!([{"name": "c"}, {"name": "a", "image": "1"}, {"name": "b", "image": "1"}]),
            ),
            (
                "an item is deleted",
                json!([{"name": "a", "$patch": "delete"}]),
                json!([{"name": "b", "image": "1"}]),
            ),
            ("the list is replaced", json!([{"$patch": "replace"}, {"name": "c"}]), json!([{"name": "c"}])),
            (
                "a field is removed",
                json!([{"name": "a", "image": null}]),
                json!([{"name": "a"}, {"name": "b", "image": "1"}]),
            ),
        ];
        for (sentence, patch, expected) in table {
            let mut value = containers(two.clone());
            strategic(pod(), &mut value, &containers(patch)).unwrap();
            assert_eq!(value, containers(expected), "{sentence}");
        }
        let mut value = containers(two.clone());
        let patch = json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}});
        strategic(pod(), &mut value, &patch).unwrap();
        assert_eq!(value["spec"]["containers"][0]["name"], "b");
    }

    #[test]
    fn retained_keys_drop_the_others() {
        let deployment = root_of("apps/v1", "Deployment").unwrap();
        let mut value =
            json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
        let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
        strategic(deployment, &mut value, &patch).unwrap();
        assert_eq!(value, json!({"spec": {"strategy": {"type": "Recreate"}}}));
    }

    #[test]
    fn apply_computes_what_is_to_change() {
        let deployment = root_of("apps/v1", "Deployment").unwrap();
        let spec = |value: Value| json!({"spec": value});
        let table = [
            (
                "nothing",
                json!({"replicas": 1}),
                json!({"replicas": 1}),
                json!({"replicas": 1, "paused": true}),
                json!({}),
            ),
            (
                "a change",
                json!({"replicas": 1}),
                json!({"replicas": 2}),
                json!({"replicas": 1}),
                json!({"spec": {"replicas": 2}}),
            ),
            (
                "a field that is no longer wanted",
                json!({"replicas": 1}),
                json!({}),
                json!({"replicas": 1}),
                json!({"spec": {"replicas": null}}),
            ),
            ("a field that somebody else has set", json!({}), json!({}), json!({"replicas": 5}), json!({})),
            (
                "a container gone, another new",
                json!({"template": {"spec": {"containers": [{"name": "a"}]}}}),
                json!({"template": {"spec": {"containers": [{"name": "b"}]}}}),
                json!({"template": {"spec": {"containers": [{"name": "a", "image": "x"}]}}}),
                json!({"spec": {"template": {"spec": {
                    "$setElementOrder/containers": [{"name": "b"}],
                    "containers": [{"name": "b"}, {"name": "a", "$patch": "delete"}],
                }}}}),
            ),
            (
                "another strategy",
                json!({}),
                json!({"strategy": {"type": "Recreate"}}),
                json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}),
                json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
            ),
        ];
        for (sentence, original, modified, current, expected) in table {
            let patch = three_way(deployment, &spec(original), &spec(modified), &spec(current)).unwrap();
            assert_eq!(patch, expected, "{sentence}");
        }
    }

    #[test]
    fn json_patches_are_all_or_nothing() {
        let mut value = json!({"a": [1, 2], "b/c": 1});
        let patch = json!([
            {"op": "add", "path": "/a/1", "value": 9}, {"op": "add", "path": "/a/-", "value": 3},
            {"op": "remove", "path": "/b~1c"}, {"op": "test", "path": "/a/0", "value": 1},
            {"op": "copy", "from": "/a/0", "path": "/d"}, {"op": "move", "from": "/d", "path": "/e"},
            {"op": "replace", "path": "/e", "value": {}},
        ]);
        json(&mut value, &patch).unwrap();
        assert_eq!(value, json!({"a": [1, 9, 2, 3], "e": {}}));
        let before = value.clone();
        let patch = json!([{"op": "remove", "path": "/e"}, {"op": "remove", "path": "/z"}]);
        assert_eq!(json(&mut value, &patch), Err(PatchError::Rejected));
        assert_eq!(value, before);
        assert_eq!(
            json(&mut value, &json!({})).unwrap_err().to_string(),
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
        );
    }

    #[test]
    fn refusals_show_the_patch_as_go_does() {
        let patch = json!({"spec": {"replica": 2, "replicas": null, "list": ["a", {"b": true}]}});
        assert_eq!(
            refusal(&patch, "why").message,
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[list:[a map[b:true]] replica:2 replicas:<nil>]]\": why"
        );
    }
}
