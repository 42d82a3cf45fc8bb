//! Objects from files and standard input: `-f x.yaml`, `-f -`.
//!
//! Models: `k8s.io/cli-runtime/pkg/resource/visitor.go`, `k8s.io/kubectl/pkg/validation` (v1.36).
//! Leaves out: addresses on the web, kustomizations.

use serde_json::Value;

use super::Call;
use crate::api::discovery;
use crate::api::kind::Kind;
use crate::api::manifest;
use crate::cluster::server::{custom, decode};
use crate::kubectl::failure::Failure;

/// An object as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// `STDIN`, or the file's name.
    pub source: String,
    /// The object, with its namespace filled in.
    pub value: Value,
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for kinds of the whole cluster.
    pub namespace: String,
    /// Its name; empty if it has none yet.
    pub name: String,
}

/// What the files hold.
#[derive(Debug, Default)]
pub struct Files {
    /// The objects, in order.
    pub objects: Vec<Described>,
    /// What could not be read.
    pub failures: Vec<Failure>,
    /// Of each failure, how many objects stand before it.
    pub places: Vec<usize>,
}

impl Files {
    fn fail(&mut self, failure: Failure) {
        self.places.push(self.objects.len());
        self.failures.push(failure);
    }
}

/// Reads every file of `-f`.
///
/// # Errors
/// When a file does not exist.
pub fn read(call: &Call) -> Result<Files, Failure> {
    if call.flags.given("kustomize") {
        return Err(super::local::no_kustomizations());
    }
    let mut files = Files::default();
    for name in call.flags.list("filename") {
        let (source, text) = if name == "-" {
            ("STDIN".to_string(), call.input.unwrap_or_default().to_string())
        } else {
            let text = call.host.file(&name);
            (name.clone(), text.ok_or_else(|| Failure::error(format!("the path \"{name}\" does not exist")))?)
        };
        let read = manifest::parse(&text);
        for document in read.documents {
            add(call, &source, document.value, &mut files);
        }
        if let Some(error) = read.error {
            files.fail(Failure::error(format!("error parsing {source}: {}", error.message)));
        }
    }
    Ok(files)
}

/// The validation that `--validate` asks for.
pub fn validates(call: &Call) -> bool {
    !matches!(call.flags.text("validate"), Some("false" | "ignore"))
}

fn add(call: &Call, source: &str, value: Value, files: &mut Files) {
    // Whatever has items is a list; they are of its kind if they name none.
    if let Some(Value::Array(items)) = value.get("items") {
        let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        let of_items = word("kind").strip_suffix("List").filter(|kind| !kind.is_empty());
        for item in items {
            let mut item = item.clone();
            if let (Some(kind), Some(fields)) = (of_items, item.as_object_mut())
                && !fields.contains_key("kind")
            {
                fields.insert("kind".to_string(), Value::from(kind));
                fields.insert("apiVersion".to_string(), Value::from(word("apiVersion")));
            }
            add(call, source, item, files);
        }
        return;
    }
    match describe(call, source, value) {
        Ok(described) => files.objects.push(described),
        Err(failure) => files.fail(failure),
    }
}

fn describe(call: &Call, source: &str, mut value: Value) -> Result<Described, Failure> {
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    let (api_version, kind_name) = (text(&value, "apiVersion"), text(&value, "kind"));
    let missing = decode::identity_problems(&value);
    let list = match missing.as_slice() {
        [] => None,
        [one] => Some((*one).to_string()),
        many => Some(format!("[{}]", many.join(", "))),
    };
    if let Some(list) = list {
        return Err(Failure::error(if validates(call) || !value.is_object() {
            format!(
                "error validating \"{source}\": error validating data: {list}; if you choose to ignore these errors, turn validation off with --validate=false"
            )
        } else {
            format!(
                "unable to decode \"{source}\": Object '{}' is missing",
                if kind_name.is_empty() { "Kind" } else { "apiVersion" }
            )
        }));
    }
    let metadata = value.get("metadata").cloned().unwrap_or(Value::Null);
    if let Some(problem) = metadata_problem(&metadata) {
        return Err(Failure::error(format!(
            "unable to decode \"{source}\": json: cannot unmarshal {problem}"
        )));
    }
    let (name, given_namespace) = (text(&metadata, "name"), text(&metadata, "namespace"));
    let known = kind_of_manifest(&api_version, &kind_name).filter(|kind| call.host.kinds().contains(kind));
    let Some(kind) = known.or_else(|| custom::of_manifest(call.host.store(), &api_version, &kind_name))
    else {
        let is_known = |resource: discovery::ApiResource| {
            resource.kind == kind_name && resource.api_version == api_version
        };
        if discovery::resources().any(is_known) {
            return Err(Failure::error(format!(
                "objects of kind {kind_name} ({api_version}) are not simulated in this release of Kubestep"
            )));
        }
        return Err(Failure::error(format!(
            "resource mapping not found for name: \"{name}\" namespace: \"{given_namespace}\" from \"{source}\": no matches for kind \"{kind_name}\" in version \"{api_version}\"\nensure CRDs are installed first"
        )));
    };
    let mut namespace = String::new();
    if kind.is_namespaced() {
        namespace = call.namespace().to_string();
        if given_namespace.is_empty() {
            if let Some(map) = value.as_object_mut() {
                let metadata = map.entry("metadata").or_insert(Value::Null);
                if metadata.is_null() {
                    *metadata = Value::Object(serde_json::Map::new());
                }
                metadata["namespace"] = Value::String(namespace.clone());
            }
        } else if call.flags.given("namespace") && given_namespace != namespace {
            return Err(Failure::error(format!(
                "the namespace from the provided object \"{given_namespace}\" does not match the namespace \"{namespace}\". You must pass '--namespace={given_namespace}' to perform this operation."
            )));
        } else {
            namespace = given_namespace;
        }
    }
    Ok(Described { source: source.to_string(), value, kind, namespace, name })
}

/// The kind of a manifest; its name may be written in small letters, which the server then refuses.
fn kind_of_manifest(api_version: &str, kind: &str) -> Option<Kind> {
    Kind::from_manifest(api_version, kind).or_else(|| {
        let lower = |k: &Kind| k.name().to_ascii_lowercase() == kind && k.api_version() == api_version;
        Kind::ALL.iter().copied().find(lower)
    })
}

/// The first thing in the metadata that has another type than Go expects, with Go's words for it.
fn metadata_problem(metadata: &Value) -> Option<String> {
    let Value::Object(fields) = metadata else {
        let into = "Go struct field metadataOnlyObject.metadata of type v1.ObjectMeta";
        return (!metadata.is_null()).then(|| format!("{} into {into}", json_type(metadata)));
    };
    fields.iter().find_map(|(field, value)| {
        let (found, expected) = match field.as_str() {
            "name" | "generateName" | "namespace" | "uid" | "resourceVersion" => {
                (Some(value).filter(|value| !value.is_string() && !value.is_null()), "string")
            }
            "labels" | "annotations" => match value {
                Value::Null => (None, ""),
                Value::Object(map) => (map.values().find(|v| !v.is_string() && !v.is_null()), "string"),
                other => (Some(other), "map[string]string"),
            },
            _ => (None, ""),
        };
        let found = json_type(found?);
        Some(format!("{found} into Go struct field ObjectMeta.metadata.{field} of type {expected}"))
    })
}

/// Go's word for a JSON value.
pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
