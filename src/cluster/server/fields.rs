//! Sets of fields, and what a schema says of how values come apart: which lists are sets or maps, which records are one
//! whole.
//!
//! A field is a path of elements as `metadata.managedFields` writes them: `f:spec`, `k:{"name":"web"}`, `v:"x"`.
//!
//! Models: `sigs.k8s.io/structured-merge-diff/v6` (`fieldpath`, `typed`), the list and map types in the OpenAPI
//! document of v1.36.
//! Leaves out: values of kinds that are not in the schema.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::schema::{Field, Patch, Shape, Type};

/// The elements of a path, from the outside in.
pub type Path = Vec<String>;

/// A set of fields. Sets made of others share their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet(BTreeSet<Arc<Path>>);

/// Lists whose items have more than one key; a second key that is left out has this value.
const KEYS: [(&str, &str, &[(&str, Option<&str>)]); 4] = [
    ("core.v1.Container", "ports", &[("containerPort", None), ("protocol", Some("TCP"))]),
    ("core.v1.EphemeralContainer", "ports", &[("containerPort", None), ("protocol", Some("TCP"))]),
    ("core.v1.ServiceSpec", "ports", &[("port", None), ("protocol", Some("TCP"))]),
    ("core.v1.PodSpec", "topologySpreadConstraints", &[("topologyKey", None), ("whenUnsatisfiable", None)]),
];

/// Records that are one whole.
const WHOLE_TYPES: [&str; 20] = [
    "core.v1.ConfigMapKeySelector",
    "core.v1.EndpointPort",
    "core.v1.FileKeySelector",
    "core.v1.LocalObjectReference",
    "core.v1.NodeSelector",
    "core.v1.NodeSelectorTerm",
    "core.v1.ObjectFieldSelector",
    "core.v1.ObjectReference",
    "core.v1.ResourceFieldSelector",
    "core.v1.ScopeSelector",
    "core.v1.ScopedResourceSelectorRequirement",
    "core.v1.SecretKeySelector",
    "core.v1.SecretReference",
    "core.v1.TopologySelectorTerm",
    "core.v1.TypedLocalObjectReference",
    "discovery.v1.EndpointPort",
    "meta.v1.LabelSelector",
    "meta.v1.OwnerReference",
    "rbac.v1.RoleRef",
    "rbac.v1.Subject",
];

/// Maps that are one whole.
const WHOLE_MAPS: [(&str, &str); 2] =
    [("core.v1.ServiceSpec", "selector"), ("core.v1.PodSpec", "nodeSelector")];

/// What is inside a value.
#[derive(Clone, Copy)]
pub enum Inside {
    /// Nothing that can be owned apart.
    Whole(&'static Shape),
    /// The fields of a record.
    Record(&'static Type),
    /// The values of a map.
    Map(&'static Shape),
    /// Records that are told apart by keys.
    Items(&'static Type, Keys),
    /// Scalars, each once.
    Set(&'static Shape),
}

/// How the items of a list are told apart.
#[derive(Clone, Copy)]
pub enum Keys {
    /// By one field.
    One(&'static str),
    /// By several, some of which may be left out.
    Several(&'static [(&'static str, Option<&'static str>)]),
}

impl Keys {
    fn element(self, item: &Value) -> Option<String> {
        let mut keys = Map::new();
        match self {
            Self::One(key) => {
                keys.insert(key.to_string(), item.get(key)?.clone());
            }
            Self::Several(several) => {
                for (key, standard) in several {
                    let value = item
                        .get(key)
                        .cloned()
                        .or_else(|| standard.map(|text| Value::String(text.to_string())));
                    keys.insert((*key).to_string(), value?);
                }
            }
        }
        Some(format!("k:{}", Value::Object(keys)))
    }

    fn missing(self, item: &Value) -> &'static str {
        match self {
            Self::One(key) => key,
            Self::Several(several) => several
                .iter()
                .find(|(key, standard)| standard.is_none() && item.get(key).is_none())
                .map_or("", |(key, _)| key),
        }
    }
}

/// What is inside the value of a field.
fn inside(owner: &'static Type, field: &'static Field) -> Inside {
    match &field.shape {
        Shape::Map(_) if WHOLE_MAPS.contains(&(owner.name, field.name)) => Inside::Whole(&field.shape),
        Shape::List(inner) => {
            let several = KEYS.iter().find(|(kind, name, _)| (*kind, *name) == (owner.name, field.name));
            match (several, field.patch, inner.record()) {
                (Some((.., keys)), _, Some(kind)) => Inside::Items(kind, Keys::Several(keys)),
                (None, Patch::MergeBy(key), Some(kind)) => Inside::Items(kind, Keys::One(key)),
                (_, Patch::MergeSet, _) => Inside::Set(inner),
                _ => Inside::Whole(&field.shape),
            }
        }
        shape => inside_shape(shape),
    }
}

fn inside_shape(shape: &'static Shape) -> Inside {
    match shape {
        Shape::Record(_) => match shape.record() {
            Some(kind) if !WHOLE_TYPES.contains(&kind.name) => Inside::Record(kind),
            _ => Inside::Whole(shape),
        },
        Shape::Map(inner) => Inside::Map(inner),
        _ => Inside::Whole(shape),
    }
}

fn item_inside(kind: &'static Type) -> Option<&'static Type> {
    (!WHOLE_TYPES.contains(&kind.name)).then_some(kind)
}

/// An item of a list that is told apart by keys: its fields, or one whole.
fn of_item(kind: &'static Type) -> Inside {
    static ANY: Shape = Shape::Any;
    item_inside(kind).map_or(Inside::Whole(&ANY), Inside::Record)
}

/// A value by element, in the order in which it stands; `None` for what is no list or record.
fn parts(inside: Inside, value: &Value) -> Vec<(String, Inside, &Value)> {
    match (inside, value) {
        (Inside::Record(kind), Value::Object(map)) => map
            .iter()
            .filter_map(|(name, value)| {
                let field = kind.field(name)?;
                Some((format!("f:{name}"), self::inside(kind, field), value))
            })
            .collect(),
        (Inside::Map(shape), Value::Object(map)) => {
            map.iter().map(|(name, value)| (format!("f:{name}"), inside_shape(shape), value)).collect()
        }
        (Inside::Items(kind, keys), Value::Array(items)) => {
            items.iter().filter_map(|item| Some((keys.element(item)?, of_item(kind), item))).collect()
        }
        (Inside::Set(shape), Value::Array(items)) => {
            items.iter().map(|item| (format!("v:{item}"), Inside::Whole(shape), item)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_nothing(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => false,
    }
}

/// The fields that a configuration sets.
pub fn fields_of(kind: &'static Type, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(Inside::Record(kind), value, &mut Vec::new(), &mut set);
    set
}

fn collect(inside: Inside, value: &Value, path: &mut Path, set: &mut FieldSet) {
    if let Inside::Whole(_) = inside {
        set.insert(path);
        return;
    }
    for (element, within, part) in parts(inside, value) {
        let is_item = !element.starts_with("f:");
        path.push(element);
        collect(within, part, path, set);
        if is_item || is_nothing(Some(part)) {
            set.insert(path);
        }
        path.pop();
    }
}

/// How one object differs from another.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Fields that only the new one has.
    pub added: FieldSet,
    /// Fields that only the old one has.
    pub removed: FieldSet,
    /// Fields with another value.
    pub modified: FieldSet,
}

/// Compares two objects of a kind.
pub fn compare(kind: &'static Type, old: &Value, new: &Value) -> Comparison {
    let mut comparison = Comparison::default();
    walk(Inside::Record(kind), Some(old), Some(new), &mut Vec::new(), &mut comparison);
    comparison
}

fn walk(inside: Inside, old: Option<&Value>, new: Option<&Value>, path: &mut Path, found: &mut Comparison) {
    let (old, new) = (old.filter(|value| !value.is_null()), new.filter(|value| !value.is_null()));
    let note = |found: &mut Comparison, path: &Path| match (old, new) {
        (None, Some(_)) => {
            found.added.insert(path);
        }
        (Some(_), None) => {
            found.removed.insert(path);
        }
        _ => {}
    };
    if matches!(inside, Inside::Whole(_)) || (is_nothing(old) && is_nothing(new)) {
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            found.modified.insert(path);
        }
        return note(found, path);
    }
    let olds = old.map_or_else(Vec::new, |old| parts(inside, old));
    let news = new.map_or_else(Vec::new, |new| parts(inside, new));
    for (element, within, part) in &olds {
        let other = news.iter().find(|(other, ..)| other == element).map(|(.., part)| *part);
        path.push(element.clone());
        walk(*within, Some(part), other, path, found);
        path.pop();
    }
    for (element, within, part) in &news {
        if olds.iter().all(|(other, ..)| other != element) {
            path.push(element.clone());
            walk(*within, None, Some(part), path, found);
            path.pop();
        }
    }
    note(found, path);
}

/// An object with a configuration laid over it.
pub fn merged(kind: &'static Type, live: &Value, config: &Value) -> Value {
    merge(Inside::Record(kind), live, config)
}

fn merge(inside: Inside, live: &Value, config: &Value) -> Value {
    match (inside, live, config) {
        (Inside::Record(_) | Inside::Map(_), Value::Object(had), Value::Object(_)) => {
            let mut map = had.clone();
            for (element, within, part) in parts(inside, config) {
                let name = &element[2..];
                let value = match had.get(name) {
                    Some(live) => merge(within, live, part),
                    None => part.clone(),
                };
                map.insert(name.to_string(), value);
            }
            Value::Object(map)
        }
        (Inside::Items(..) | Inside::Set(_), Value::Array(_), Value::Array(_)) => {
            let (live, config) = (parts(inside, live), parts(inside, config));
            let stands = |list: &[(String, Inside, &Value)], element: &str| {
                list.iter().any(|(other, ..)| other == element)
            };
            let mut items = Vec::new();
            let mut ahead = live.iter().peekable();
            for (element, within, part) in &config {
                // What the configuration does not name stays before the item that it stood before.
                if stands(&live, element) {
                    while let Some((other, ..)) = ahead.peek() {
                        if stands(&config, other) && items_has(&items, other) {
                            ahead.next();
                        } else if stands(&config, other) {
                            break;
                        } else if let Some((_, _, item)) = ahead.next() {
                            items.push((String::new(), (*item).clone()));
                        }
                    }
                }
                let value = match live.iter().find(|(other, ..)| other == element) {
                    Some((.., had)) => merge(*within, had, part),
                    None => (*part).clone(),
                };
                items.push((element.clone(), value));
            }
            for (element, _, item) in ahead {
                if !stands(&config, element) {
                    items.push((String::new(), (*item).clone()));
                }
            }
            Value::Array(items.into_iter().map(|(_, item)| item).collect())
        }
        _ => config.clone(),
    }
}

fn items_has(items: &[(String, Value)], element: &str) -> bool {
    items.iter().any(|(other, _)| other == element)
}

/// The object without those fields; what becomes empty by that goes too.
pub fn without(kind: &'static Type, value: &Value, fields: &FieldSet) -> Value {
    remove(Inside::Record(kind), value, &mut Vec::new(), fields)
}

fn remove(inside: Inside, value: &Value, path: &mut Path, fields: &FieldSet) -> Value {
    let mut kept: Vec<(String, Value)> = Vec::new();
    let all = parts(inside, value);
    if all.is_empty() {
        return value.clone();
    }
    let mut touched = false;
    for (element, within, part) in all {
        path.push(element.clone());
        if fields.0.contains(path) {
            touched = true;
        } else if fields.begins_with(path) {
            let left = remove(within, part, path, fields);
            touched = true;
            if !is_nothing(Some(&left)) || is_nothing(Some(part)) {
                kept.push((element, left));
            }
        } else {
            kept.push((element, part.clone()));
        }
        path.pop();
    }
    match value {
        _ if !touched => value.clone(),
        Value::Object(_) => {
            Value::Object(kept.into_iter().map(|(name, part)| (name[2..].to_string(), part)).collect())
        }
        _ => Value::Array(kept.into_iter().map(|(_, part)| part).collect()),
    }
}

/// What a configuration says that its kind's schema does not allow, in the order of the fields.
pub fn problems(kind: &'static Type, value: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    judge(Inside::Record(kind), value, String::new(), &mut problems);
    problems
}

fn judge(inside: Inside, value: &Value, path: String, problems: &mut Vec<String>) {
    if value.is_null() {
        return;
    }
    let wrong = |expected: &str, got: String| format!("{path}: expected {expected}, got {got}");
    match inside {
        Inside::Record(kind) => {
            let Value::Object(map) = value else {
                return problems.push(wrong("map", go_value(value)));
            };
            for (name, part) in map {
                let path = format!("{path}.{name}");
                match kind.field(name) {
                    Some(field) => judge(self::inside(kind, field), part, path, problems),
                    None => problems.push(format!("{path}: field not declared in schema")),
                }
            }
        }
        Inside::Map(shape) => {
            let Value::Object(map) = value else {
                return problems.push(wrong("map", go_value(value)));
            };
            for (name, part) in map {
                judge(inside_shape(shape), part, format!("{path}.{name}"), problems);
            }
        }
        Inside::Items(kind, keys) => {
            let Value::Array(items) = value else {
                return problems.push(wrong("list", go_value(value)));
            };
            let mut seen: Vec<String> = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let Some(element) = keys.element(item) else {
                    let key = keys.missing(item);
                    problems.push(format!(
                        "{path}: element {index}: associative list with keys has an element that omits key field {key:?} (and doesn't have default value)"
                    ));
                    continue;
                };
                if seen.contains(&element) {
                    problems.push(format!("{path}: duplicate entries for key {}", shown_element(&element)));
                    continue;
                }
                judge(of_item(kind), item, format!("{path}{}", shown_element(&element)), problems);
                seen.push(element);
            }
        }
        Inside::Set(shape) => {
            let Value::Array(items) = value else {
                return problems.push(wrong("list", go_value(value)));
            };
            for item in items {
                judge(Inside::Whole(shape), item, format!("{path}[={item}]"), problems);
            }
        }
        Inside::Whole(shape) => {
            let problem = match (shape, value) {
                (Shape::Integer32 | Shape::Integer64, Value::Number(_)) => None,
                (Shape::Integer32 | Shape::Integer64, _) => {
                    Some(wrong("numeric (int or float)", go_type(value).to_string()))
                }
                (Shape::Boolean, Value::Bool(_)) => None,
                (Shape::Boolean, _) => Some(wrong("boolean", go_value(value))),
                (Shape::Text | Shape::Time | Shape::MicroTime | Shape::Bytes, Value::String(_)) => None,
                (Shape::Text | Shape::Time | Shape::MicroTime | Shape::Bytes, _) => {
                    Some(wrong("string", go_value(value)))
                }
                (Shape::List(inner), Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        judge(inside_shape_of_item(inner), item, format!("{path}[{index}]"), problems);
                    }
                    None
                }
                (Shape::List(_), _) => Some(wrong("list", go_value(value))),
                (Shape::Record(_), Value::Object(_)) => {
                    if let Some(kind) = shape.record() {
                        judge(Inside::Record(kind), value, path, problems);
                    }
                    return;
                }
                (Shape::Map(_), Value::Object(_)) => None,
                (Shape::Record(_) | Shape::Map(_), _) => Some(wrong("map", go_value(value))),
                _ => None,
            };
            problems.extend(problem);
        }
    }
}

fn inside_shape_of_item(shape: &'static Shape) -> Inside {
    match shape.record() {
        Some(kind) if matches!(shape, Shape::Record(_)) => Inside::Record(kind),
        _ => inside_shape(shape),
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Null => "<nil>",
    }
}

/// A value as Go's `%#v` shows the wrapper around it.
fn go_value(value: &Value) -> String {
    let inner = match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(_) | Value::Object(_) => format!("{}{{…}}", go_type(value)),
        other => other.to_string(),
    };
    format!("&value.valueUnstructured{{Value:{inner}}}")
}

/// `.spec` or `[name="web"]`.
fn shown_element(element: &str) -> String {
    let (sort, text) = element.split_at(2.min(element.len()));
    match sort {
        "k:" => {
            let keys: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
            let keys: Vec<String> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        "v:" => format!("[={text}]"),
        "i:" => format!("[{text}]"),
        _ => format!(".{text}"),
    }
}

/// `.spec.template.spec.containers[name="web"].image`.
pub fn shown(path: &Path) -> String {
    path.iter().map(|element| shown_element(element)).collect()
}

impl FieldSet {
    /// Whether some field lies below that path.
    pub fn begins_with(&self, path: &Path) -> bool {
        let after =
            self.0.range::<Path, _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded)).next();
        after.is_some_and(|next| next.starts_with(path))
    }

    /// Whether the field is in it.
    pub fn contains(&self, path: &Path) -> bool {
        self.0.contains(path)
    }

    /// Adds a field.
    pub fn insert(&mut self, path: &Path) {
        self.0.insert(Arc::new(path.clone()));
    }

    /// Takes a field out.
    pub fn remove(&mut self, path: &Path) {
        self.0.remove(path);
    }

    /// Keeps the fields that `is_kept` says.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&Path) -> bool) {
        self.0.retain(|path| is_kept(path));
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// The fields in this one only.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).cloned().collect())
    }

    /// The fields in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// The fields as refusals list them: those of a record before those below them.
    pub fn in_order(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = self.0.iter().map(|path| &**path).collect();
        paths.sort_by_key(|path| {
            let last = path.len().saturating_sub(1);
            path.iter().enumerate().map(|(at, element)| (at != last, element.clone())).collect::<Vec<_>>()
        });
        paths
    }

    /// Reads `fieldsV1`.
    pub fn from_value(value: &Value) -> Self {
        fn read(value: &Value, path: &mut Path, set: &mut FieldSet) {
            let Value::Object(map) = value else { return };
            if map.is_empty() && !path.is_empty() {
                set.insert(path);
            }
            for (element, below) in map {
                if element == "." {
                    set.insert(path);
                    continue;
                }
                path.push(element.clone());
                read(below, path, set);
                path.pop();
            }
        }
        let mut set = Self::default();
        read(value, &mut Vec::new(), &mut set);
        set
    }

    /// Writes `fieldsV1`.
    pub fn to_value(&self) -> Value {
        let mut root = Map::new();
        for path in &self.0 {
            let mut map = &mut root;
            for (at, element) in path.iter().enumerate() {
                let mut is_member = true;
                let below = map.entry(element.clone()).or_insert_with(|| {
                    is_member = false;
                    Value::Object(Map::new())
                });
                let Value::Object(below) = below else { break };
                // A member comes before what lies below it, so it stands here empty; with something below, it says so
                // with a dot.
                if is_member && below.is_empty() && at + 1 < path.len() {
                    below.insert(".".to_string(), Value::Object(Map::new()));
                }
                map = below;
            }
        }
        Value::Object(root)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::schema::root_of;

    fn deployment() -> &'static Type {
        root_of("apps/v1", "Deployment").unwrap()
    }

    fn shown_all(set: &FieldSet) -> Vec<String> {
        set.in_order().into_iter().map(shown).collect()
    }

    #[test]
    fn a_configuration_owns_its_leaves_and_its_items() {
        let config = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
            "template": {"spec": {"containers": [{"name": "web", "image": "x", "ports": [{"containerPort": 80}]}]}}}});
        let set = fields_of(deployment(), &config);
        assert_eq!(
            shown_all(&set),
            [
                ".metadata.labels.a",
                ".spec.replicas",
                ".spec.selector",
                ".spec.template.spec.containers[name=\"web\"]",
                ".spec.template.spec.containers[name=\"web\"].image",
                ".spec.template.spec.containers[name=\"web\"].name",
                ".spec.template.spec.containers[name=\"web\"].ports[containerPort=80,protocol=\"TCP\"]",
                ".spec.template.spec.containers[name=\"web\"].ports[containerPort=80,protocol=\"TCP\"].containerPort",
            ]
        );
        assert_eq!(FieldSet::from_value(&set.to_value()), set);
    }

    #[test]
    fn what_a_configuration_does_not_name_stays() {
        let live = json!({"spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "a"}, {"name": "b", "image": "1"}]}}}});
        let config = json!({"spec": {"template": {"spec": {"containers": [{"name": "c"}, {"name": "b", "tty": true}]}}}});
        assert_eq!(
            merged(deployment(), &live, &config),
            json!({"spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c"}, {"name": "a"}, {"name": "b", "image": "1", "tty": true}]}}}})
        );
    }

    #[test]
    fn fields_go_with_what_they_empty() {
        let live = json!({"metadata": {"name": "x", "labels": {"a": "b"}}, "spec": {"replicas": 1}});
        let path = |text: &str| text.split('.').map(|name| format!("f:{name}")).collect::<Path>();
        let mut fields = FieldSet::default();
        [path("metadata.labels.a"), path("spec.replicas")].iter().for_each(|path| fields.insert(path));
        assert_eq!(without(deployment(), &live, &fields), json!({"metadata": {"name": "x"}}));
    }

    #[test]
    fn comparisons_name_records_that_came_with_their_fields() {
        let old = json!({"metadata": {}, "spec": {"replicas": 1}});
        let new = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 2}});
        let found = compare(deployment(), &old, &new);
        assert_eq!(shown_all(&found.added), [".metadata.labels", ".metadata.labels.a"]);
        assert_eq!(shown_all(&found.modified), [".spec.replicas"]);
        assert!(found.removed.is_empty());
    }

    #[test]
    fn what_the_schema_does_not_allow_is_named() {
        for (about, config, expected) in [
            (
                "an unknown field",
                json!({"spec": {"replica": 1}}),
                ".spec.replica: field not declared in schema",
            ),
            (
                "a text for a number",
                json!({"spec": {"replicas": "1"}}),
                ".spec.replicas: expected numeric (int or float), got string",
            ),
            (
                "an item without its key",
                json!({"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}),
                ".spec.template.spec.containers: element 0: associative list with keys has an element that omits key field \"name\" (and doesn't have default value)",
            ),
            (
                "an item told twice",
                json!({"spec": {"template": {"spec": {"containers": [{"name": "x"}, {"name": "x"}]}}}}),
                ".spec.template.spec.containers: duplicate entries for key [name=\"x\"]",
            ),
        ] {
            assert_eq!(problems(deployment(), &config), [expected], "{about}");
        }
    }
}
