//! The schema of Kubernetes v1.36: every field of every type the cluster knows.
//!
//! The tables beside this file were read off a running server; they are parsed once, on first use. They say what may be
//! written (strict decoding, completion, `kubectl explain`), how lists merge (patches) and what is printed when a value
//! is zero or absent (the server's round trip).
//!
//! Models: the OpenAPI document of v1.36.2 and the presence of pointers in `k8s.io/api/*/types.go`.
//! Leaves out: custom resources, field descriptions.

use std::collections::BTreeMap;
use std::sync::OnceLock;

const TYPES: &str = include_str!("schema/types.tsv");
const ROOTS: &str = include_str!("schema/roots.tsv");
const PRESENCE: &str = include_str!("schema/presence.tsv");
const WORDS: &str = include_str!("schema/words.tsv");

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A text.
    Text,
    /// A whole number of 32 bits.
    Integer32,
    /// A whole number of 64 bits.
    Integer64,
    /// `true` or `false`.
    Boolean,
    /// Bytes, written in base64.
    Bytes,
    /// A number or a text: a port or a percentage.
    IntOrText,
    /// An amount of a resource.
    Quantity,
    /// A moment, to the second.
    Time,
    /// A moment, to the microsecond.
    MicroTime,
    /// Anything at all.
    Any,
    /// A record of the named type.
    Record(&'static str),
    /// A list of one shape.
    List(Box<Shape>),
    /// A map from texts to one shape.
    Map(Box<Shape>),
}

/// How the server holds a field, which decides whether a zero is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Zero and absent are one: neither is printed.
    Plain,
    /// Absent is not printed, a zero that was given is.
    Pointer,
    /// Always printed: a zero, an empty record, or null for an absent list or time.
    Always,
    /// Always printed: null when absent.
    AlwaysNull,
}

/// How a strategic merge patch treats a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patch {
    /// Records merge field by field, everything else is replaced.
    Replace,
    /// A list of records that merges by this key.
    MergeBy(&'static str),
    /// A list of scalars that merges as a set.
    MergeSet,
    /// A record that drops the fields the patch does not name.
    RetainKeys,
}

/// One field of a type.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name, as manifests write it.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether the schema calls it required.
    pub required: bool,
    /// The default the schema names, as JSON text.
    pub default: Option<&'static str>,
    /// The words it may hold, comma-separated in the table; empty when any may stand.
    pub choices: Vec<&'static str>,
    /// How a strategic merge patch treats it.
    pub patch: Patch,
    /// Whether a zero is printed.
    pub presence: Presence,
    /// The server's own name for its type, where that is not plain.
    word: Option<&'static str>,
}

/// A record type.
#[derive(Debug, Clone)]
pub struct Type {
    /// The full name: `apps.v1.DeploymentSpec`.
    pub name: &'static str,
    /// The fields, sorted by name.
    pub fields: Vec<Field>,
}

/// A kind's group, version, name and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The full name of its type.
    pub type_name: &'static str,
}

struct Schema {
    types: BTreeMap<&'static str, Type>,
    roots: Vec<Root>,
}

fn shape_of(text: &'static str) -> Shape {
    if let Some(inner) = text.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>')) {
        return Shape::List(Box::new(shape_of(inner)));
    }
    if let Some(inner) = text.strip_prefix("map<").and_then(|rest| rest.strip_suffix('>')) {
        return Shape::Map(Box::new(shape_of(inner)));
    }
    match text {
        "string" => Shape::Text,
        "int32" => Shape::Integer32,
        "int64" => Shape::Integer64,
        "boolean" => Shape::Boolean,
        "byte" => Shape::Bytes,
        "util.intstr.IntOrString" => Shape::IntOrText,
        "api.resource.Quantity" => Shape::Quantity,
        "meta.v1.Time" => Shape::Time,
        "meta.v1.MicroTime" => Shape::MicroTime,
        "object" | "meta.v1.FieldsV1" => Shape::Any,
        name => Shape::Record(name),
    }
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn load() -> Schema {
    let mut types: BTreeMap<&'static str, Type> = BTreeMap::new();
    for row in rows(TYPES).skip(1) {
        let [type_name, name, value, required, default, choices, patch] = row[..] else { continue };
        if name == "." {
            continue;
        }
        let required = required == "required";
        types.entry(type_name).or_insert_with(|| Type { name: type_name, fields: Vec::new() }).fields.push(
            Field {
                name,
                shape: shape_of(value),
                required,
                default: Some(default).filter(|text| !text.is_empty()),
                choices: choices.split(',').filter(|word| !word.is_empty()).collect(),
                patch: match patch {
                    "merge" => Patch::MergeSet,
                    "retainKeys" => Patch::RetainKeys,
                    _ => patch.strip_prefix("merge:").map_or(Patch::Replace, Patch::MergeBy),
                },
                presence: match required {
                    true => Presence::Always,
                    false => Presence::Plain,
                },
                word: None,
            },
        );
    }
    for kind in types.values_mut() {
        kind.fields.sort_by_key(|field| field.name);
        for field in &mut kind.fields {
            if field.presence == Presence::Plain && matches!(field.shape, Shape::Record(_)) {
                field.presence = Presence::Pointer;
            }
        }
    }
    let mut field_named = |type_name: &str, name: &str, change: &dyn Fn(&mut Field)| {
        let field =
            types.get_mut(type_name).and_then(|kind| kind.fields.iter_mut().find(|field| field.name == name));
        debug_assert!(field.is_some(), "the tables name {type_name}.{name}, which does not exist");
        if let Some(field) = field {
            change(field);
        }
    };
    for row in rows(PRESENCE) {
        let [type_name, presence, names] = row[..] else { continue };
        let presence = match presence {
            "pointer" | "nullable" => Presence::Pointer,
            "null" => Presence::AlwaysNull,
            _ => Presence::Always,
        };
        for name in names.split(' ') {
            field_named(type_name, name, &|field| field.presence = presence);
        }
    }
    for row in rows(WORDS) {
        let [type_name, name, word] = row[..] else { continue };
        field_named(type_name, name, &|field| field.word = Some(word));
    }
    let roots = rows(ROOTS)
        .skip(1)
        .filter_map(|row| match row[..] {
            [group, version, kind, type_name] => Some(Root { group, version, kind, type_name }),
            _ => None,
        })
        .collect();
    Schema { types, roots }
}

fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(load)
}

/// All kinds, in the order of the table (by group, then kind).
pub fn roots() -> &'static [Root] {
    &schema().roots
}

/// The type of a kind, or none when no such kind is known.
pub fn root(group: &str, version: &str, kind: &str) -> Option<&'static Type> {
    let root =
        roots().iter().find(|root| root.group == group && root.version == version && root.kind == kind)?;
    type_named(root.type_name)
}

/// The type of a kind by its `apiVersion` (`v1`, `apps/v1`).
pub fn root_of(api_version: &str, kind: &str) -> Option<&'static Type> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    root(group, version, kind)
}

/// The type of this full name.
pub fn type_named(name: &str) -> Option<&'static Type> {
    schema().types.get(name)
}

/// All record types, by name.
pub fn types() -> impl Iterator<Item = &'static Type> {
    schema().types.values()
}

impl Type {
    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.binary_search_by_key(&name, |field| field.name).ok().map(|index| &self.fields[index])
    }

    /// The field whose name is nearest to a misspelt one: "did you mean …?".
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        nearest(name, self.fields.iter().map(|field| field.name))
    }

    /// The bare name: `DeploymentSpec`.
    pub fn short_name(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The field a dotted path leads to, through lists and maps: `spec.template.spec.containers`.
    pub fn field_at(&'static self, path: &str) -> Option<&'static Field> {
        let mut kind = self;
        let mut names = path.split('.').peekable();
        while let Some(name) = names.next() {
            let field = kind.field(name)?;
            if names.peek().is_none() {
                return Some(field);
            }
            kind = field.shape.record()?;
        }
        None
    }
}

impl Shape {
    /// The record type inside, through lists and maps.
    pub fn record(&self) -> Option<&'static Type> {
        match self {
            Shape::Record(name) => type_named(name),
            Shape::List(inner) | Shape::Map(inner) => inner.record(),
            _ => None,
        }
    }

    /// The server's name for the type: `[]v1.Container`.
    pub fn server_name(&self) -> String {
        match self {
            Shape::Text => "string".to_string(),
            Shape::Integer32 => "int32".to_string(),
            Shape::Integer64 => "int64".to_string(),
            Shape::Boolean => "bool".to_string(),
            Shape::Bytes => "[]uint8".to_string(),
            Shape::IntOrText => "intstr.IntOrString".to_string(),
            Shape::Quantity => "resource.Quantity".to_string(),
            Shape::Time => "v1.Time".to_string(),
            Shape::MicroTime => "v1.MicroTime".to_string(),
            Shape::Any => "v1.FieldsV1".to_string(),
            Shape::Record(name) => {
                let mut parts = name.rsplit('.');
                let (kind, version) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                format!("{version}.{kind}")
            }
            Shape::List(inner) => format!("[]{}", inner.server_name()),
            Shape::Map(inner) => format!("map[string]{}", inner.server_name()),
        }
    }

    /// The type as `kubectl explain` writes it: `<[]Container>`.
    pub fn explained_name(&self) -> String {
        match self {
            Shape::Text | Shape::Bytes | Shape::Time | Shape::MicroTime => "string".to_string(),
            Shape::Integer32 | Shape::Integer64 => "integer".to_string(),
            Shape::Boolean => "boolean".to_string(),
            Shape::IntOrText => "IntOrString".to_string(),
            Shape::Quantity => "Quantity".to_string(),
            Shape::Any => "FieldsV1".to_string(),
            Shape::Record(name) => name.rsplit('.').next().unwrap_or(name).to_string(),
            Shape::List(inner) => format!("[]{}", inner.explained_name()),
            Shape::Map(inner) => format!("map[string]{}", inner.explained_name()),
        }
    }
}

impl Field {
    /// The server's name for the field's type, with the name of its own that some texts have.
    pub fn server_type(&self) -> String {
        self.word.map_or_else(|| self.shape.server_name(), str::to_string)
    }
}

/// The nearest candidate to a misspelt word, if any is near enough to suggest.
pub fn nearest(word: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let limit = match word.chars().count() {
        0..=2 => 1,
        3..=7 => 2,
        _ => 3,
    };
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// The number of single-character edits between two words, letter case counting as none; bounded for long words.
fn distance(left: &str, right: &str) -> usize {
    if left.len() > 64 || right.len() > 64 {
        return usize::MAX;
    }
    let right: Vec<char> = right.to_ascii_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, left) in left.to_ascii_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, right) in right.iter().enumerate() {
            let above = row[column + 1];
            let replaced = diagonal + usize::from(left != *right);
            row[column + 1] = replaced.min(above + 1).min(row[column] + 1);
            diagonal = above;
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_known_shape() {
        for kind in types() {
            for field in &kind.fields {
                let mut shape = &field.shape;
                while let Shape::List(inner) | Shape::Map(inner) = shape {
                    shape = inner;
                }
                if let Shape::Record(name) = shape {
                    assert!(
                        type_named(name).is_some(),
                        "{}.{} is of the unknown type {name}",
                        kind.name,
                        field.name
                    );
                }
            }
        }
        for root in roots() {
            assert!(type_named(root.type_name).is_some(), "{} has no type", root.kind);
        }
    }

    #[test]
    fn fields_are_found() {
        let deployment = root_of("apps/v1", "Deployment").unwrap();
        let containers = deployment.field_at("spec.template.spec.containers").unwrap();
        assert_eq!(containers.patch, Patch::MergeBy("name"));
        assert_eq!(containers.shape.server_name(), "[]v1.Container");
        assert_eq!(containers.shape.explained_name(), "[]Container");
        assert_eq!(deployment.field_at("spec.strategy").unwrap().patch, Patch::RetainKeys);
        assert_eq!(deployment.field_at("spec.replicas").unwrap().presence, Presence::Pointer);
        let pull_policy = containers.shape.record().unwrap().field("imagePullPolicy").unwrap();
        assert_eq!(pull_policy.server_type(), "v1.PullPolicy");
        assert_eq!(pull_policy.choices, ["Always", "IfNotPresent", "Never"]);
    }

    #[test]
    fn misspelt_fields_have_a_nearest_one() {
        let table = [
            ("a missing letter", "apps.v1.DeploymentSpec", "replica", Some("replicas")),
            ("the wrong case", "apps.v1.DeploymentSpec", "Replicas", Some("replicas")),
            ("swapped letters", "core.v1.PodSpec", "contianers", Some("containers")),
            ("the wrong ending", "core.v1.Container", "imagePullPolice", Some("imagePullPolicy")),
            ("nothing like it", "core.v1.Container", "colour", None),
        ];
        for (sentence, kind, name, expected) in table {
            assert_eq!(type_named(kind).unwrap().nearest(name), expected, "{sentence}");
        }
    }
}
