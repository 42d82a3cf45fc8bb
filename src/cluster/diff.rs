//! Which fields differ between two JSON documents.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// One field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// `spec.template.spec.containers[0].image`.
    pub path: String,
    /// Before; `None` when it was not there.
    pub old: Option<Value>,
    /// After; `None` when it is gone.
    pub new: Option<Value>,
}

/// The leaves that differ, by path. `null` counts as not there; a whole object that comes or goes is listed by leaves.
pub fn diff(old: &Value, new: &Value) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    walk(&mut String::new(), Some(old), Some(new), &mut changes);
    // Who manages a field is said by who wrote it; the bookkeeping would only hide that.
    changes.retain(|change| !change.path.starts_with("metadata.managedFields"));
    changes
}

fn walk(path: &mut String, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<FieldChange>) {
    let (old, new) = (old.filter(|v| !v.is_null()), new.filter(|v| !v.is_null()));
    let length = path.len();
    match (old, new) {
        (Some(Value::Object(_)) | None, Some(Value::Object(_))) | (Some(Value::Object(_)), None) => {
            let (old_members, new_members) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
            let is_empty = |members: Option<&Map<String, Value>>| members.is_none_or(Map::is_empty);
            if is_empty(old_members) && is_empty(new_members) && old != new {
                changes.push(FieldChange { path: path.clone(), old: old.cloned(), new: new.cloned() });
            }
            // Both are sorted, so their keys are met in order.
            let mut olds = old_members.into_iter().flatten().peekable();
            let mut news = new_members.into_iter().flatten().peekable();
            loop {
                let next = match (olds.peek(), news.peek()) {
                    (None, None) => break,
                    (Some((old, _)), Some((new, _))) => old.cmp(new),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                };
                let old = if next.is_le() { olds.next() } else { None };
                let new = if next.is_ge() { news.next() } else { None };
                let Some((key, _)) = old.or(new) else { break };
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(key);
                walk(path, old.map(|(_, value)| value), new.map(|(_, value)| value), changes);
                path.truncate(length);
            }
        }
        (Some(Value::Array(_)) | None, Some(Value::Array(_))) | (Some(Value::Array(_)), None) => {
            let count = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..count(old).max(count(new)) {
                path.push_str(&format!("[{index}]"));
                walk(path, old.and_then(|v| v.get(index)), new.and_then(|v| v.get(index)), changes);
                path.truncate(length);
            }
        }
        _ if old == new => {}
        _ => changes.push(FieldChange { path: path.clone(), old: old.cloned(), new: new.cloned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn leaves_are_named_by_their_path() {
        let changes = diff(&json!({"a": {"b": [1, 2]}, "c": 1}), &json!({"a": {"b": [1, 3]}, "d": {"e": 1}}));
        let shown: Vec<_> = changes.iter().map(|c| (c.path.as_str(), c.old.clone(), c.new.clone())).collect();
        assert_eq!(
            shown,
            [
                ("a.b[1]", Some(json!(2)), Some(json!(3))),
                ("c", Some(json!(1)), None),
                ("d.e", None, Some(json!(1)))
            ]
        );
    }
}
