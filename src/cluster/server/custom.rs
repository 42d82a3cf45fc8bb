//! Objects of kinds that somebody added: which kinds there are, and how a body of such a kind is read, completed and
//! judged by the schema of its definition.
//!
//! Models: `apiextensions-apiserver/pkg/apiserver/{schema/pruning,schema/defaulting,validation}`,
//! `pkg/registry/customresource/strategy.go` (v1.36).
//! Leaves out: rules in CEL, patterns and formats of texts, `allOf` and its like, conversion by a webhook, managed
//! fields, the scale sub-resource.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::decode::{DecodeError, Decoded, Problem, decode};
use super::request::FieldValidation;
use super::validate::FieldError;
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::api::schema::type_named;
use crate::api::time::Timestamp;
use crate::cluster::store::Store;

/// The kinds that the definitions in a store add, each in the version that is stored.
pub fn kinds(store: &Store) -> Vec<Kind> {
    store.objects_of(Kind::CustomResourceDefinition).filter_map(Object::added_kind).collect()
}

/// The added kind that a manifest means.
pub fn of_manifest(store: &Store, api_version: &str, kind: &str) -> Option<Kind> {
    let (group, version) = api_version.split_once('/')?;
    let is_served = |spec: &Value| {
        let versions = spec["versions"].as_array().into_iter().flatten();
        spec["group"] == group
            && spec["names"]["kind"] == kind
            && versions.into_iter().any(|known| known["name"] == version && known["served"] == true)
    };
    let mut definitions = store.objects_of(Kind::CustomResourceDefinition);
    let definition = definitions.find(|definition| spec_of(definition).is_some_and(is_served))?;
    definition.added_kind()
}

/// The added kind that a person means by a word.
pub fn of_word(store: &Store, word: &str) -> Option<Kind> {
    let word = word.to_ascii_lowercase();
    kinds(store).into_iter().find(|kind| kind.is_called(&word))
}

fn spec_of(definition: &Object) -> Option<&Value> {
    match definition {
        Object::Plain(definition) => definition.rest.get("spec"),
        _ => None,
    }
}

/// A new definition whose names were taken.
///
/// Models: `apiextensions-apiserver/pkg/controller/{status,establish}`.
/// Leaves out: names that another definition has taken.
pub fn established(definition: &Object, now: Timestamp) -> Object {
    let mut definition = definition.clone();
    if let Object::Plain(plain) = &mut definition {
        let rest = &mut Arc::make_mut(plain).rest;
        let mut status = rest.get("status").cloned().unwrap_or_default();
        status["acceptedNames"] = rest.get("spec").map(|spec| spec["names"].clone()).unwrap_or_default();
        let condition = |name: &str, reason: &str, message: &str| {
            let since = now.to_string();
            json!({"type": name, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since})
        };
        status["conditions"] = json!([
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ]);
        rest.set("status", Some(status));
    }
    definition
}

/// What the definition of a kind says of its objects.
pub struct Definition {
    schema: Value,
    has_status: bool,
}

/// What the store says of an added kind; nothing when it is no longer there.
pub fn definition(store: &Store, kind: Kind) -> Option<Definition> {
    let mut definitions = store.objects_of(Kind::CustomResourceDefinition);
    let spec = spec_of(definitions.find(|definition| definition.added_kind() == Some(kind))?)?;
    let version = spec["versions"].as_array()?.iter().find(|version| version["name"] == kind.version())?;
    Some(Definition {
        schema: version["schema"]["openAPIV3Schema"].clone(),
        has_status: !version["subresources"]["status"].is_null(),
    })
}

/// The columns that the definition of a kind names.
pub fn columns(store: &Store, kind: Kind) -> Vec<Value> {
    let mut definitions = store.objects_of(Kind::CustomResourceDefinition);
    let spec = definitions.find(|definition| definition.added_kind() == Some(kind)).and_then(spec_of);
    let mut versions = spec.and_then(|spec| spec["versions"].as_array()).into_iter().flatten();
    let version = versions.find(|version| version["name"] == kind.version());
    version.and_then(|version| version["additionalPrinterColumns"].as_array()).cloned().unwrap_or_default()
}

impl Definition {
    /// Reads a body: fields that the schema does not know are dropped, or refused under strict validation.
    ///
    /// # Errors
    /// When the metadata has a wrong shape, or there are unknown fields under strict validation.
    pub fn read(&self, body: &Value, validation: FieldValidation) -> Result<Decoded, DecodeError> {
        let mut value = body.clone();
        let metadata =
            Value::Object([("metadata".to_string(), body["metadata"].clone())].into_iter().collect());
        let mut dropped = Vec::new();
        if let Some(shape) = type_named("meta.v1.CustomObject") {
            let decoded = decode(shape, &metadata, FieldValidation::Warn)?;
            value["metadata"] = decoded.value["metadata"].clone();
            dropped = decoded.dropped;
        }
        if let Value::Object(members) = &mut value {
            let outside: Map<String, Value> = ["apiVersion", "kind", "metadata"]
                .into_iter()
                .filter_map(|name| members.remove_entry(name))
                .collect();
            prune(&self.schema, members, "", &mut dropped);
            members.extend(outside);
        }
        if validation == FieldValidation::Strict && !dropped.is_empty() {
            let texts: Vec<&str> = dropped.iter().map(|problem| problem.text.as_str()).collect();
            let text = format!("strict decoding error: {}", texts.join(", "));
            return Err(DecodeError { converted: text.clone(), text, problems: dropped });
        }
        Ok(Decoded { value, dropped })
    }

    /// Fills in the defaults of the schema.
    pub fn default(&self, object: &mut Value) {
        fill(&self.schema, object);
    }

    /// Sets what the server itself sets, given the stored object if there is one.
    pub fn prepare(&self, old: Option<&Value>, object: &mut Value) {
        let Value::Object(members) = object else { return };
        if self.has_status {
            match old.and_then(|old| old.get("status")) {
                Some(status) => members.insert("status".to_string(), status.clone()),
                None => members.remove("status"),
            };
        }
    }

    /// Judges an object.
    pub fn judge(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for (name, schema) in self.schema["properties"].as_object().into_iter().flatten() {
            if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                judge(schema, object.get(name), name, &mut errors);
            }
        }
        for name in required(&self.schema) {
            if object.get(name).is_none() {
                errors.push(FieldError::required(name, ""));
            }
        }
        errors
    }
}

fn keeps_unknown(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// Drops what a schema does not know.
fn prune(schema: &Value, members: &mut Map<String, Value>, path: &str, dropped: &mut Vec<Problem>) {
    let other = &schema["additionalProperties"];
    if other.is_object() {
        for (name, value) in members.iter_mut() {
            descend(other, value, &format!("{path}.{name}"), dropped);
        }
        return;
    }
    let is_open = keeps_unknown(schema) || *other == true;
    let is_embedded = schema["x-kubernetes-embedded-resource"] == true;
    members.retain(|name, value| {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match schema["properties"].get(name) {
            Some(known) => descend(known, value, &path, dropped),
            None if is_open => {}
            None if is_embedded && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") => {}
            None => {
                let text = format!("unknown field {path:?}");
                dropped.push(Problem { path, text, hint: None });
                return false;
            }
        }
        true
    });
}

fn descend(schema: &Value, value: &mut Value, path: &str, dropped: &mut Vec<Problem>) {
    match value {
        Value::Object(members) => prune(schema, members, path, dropped),
        Value::Array(items) if schema["items"].is_object() => {
            for (index, item) in items.iter_mut().enumerate() {
                descend(&schema["items"], item, &format!("{path}[{index}]"), dropped);
            }
        }
        _ => {}
    }
}

fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, known) in schema["properties"].as_object().into_iter().flatten() {
                let default = &known["default"];
                let is_absent = match members.get(name) {
                    None => true,
                    // A null that may not stand there makes way for the default.
                    Some(Value::Null) => known["nullable"] != true,
                    Some(_) => false,
                };
                if is_absent && !default.is_null() {
                    members.insert(name.clone(), default.clone());
                }
                if let Some(value) = members.get_mut(name) {
                    fill(known, value);
                }
            }
            if schema["additionalProperties"].is_object() {
                members.values_mut().for_each(|value| fill(&schema["additionalProperties"], value));
            }
        }
        Value::Array(items) if schema["items"].is_object() => {
            items.iter_mut().for_each(|item| fill(&schema["items"], item));
        }
        _ => {}
    }
}

/// How a schema calls the type of a value.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|n| n.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn judge(schema: &Value, value: Option<&Value>, path: &str, errors: &mut Vec<FieldError>) {
    let Some(value) = value else { return };
    let expected = schema["type"].as_str().unwrap_or_default();
    let found = type_of(value);
    let fits = match expected {
        "" => true,
        "number" => matches!(found, "number" | "integer"),
        _ if schema["x-kubernetes-int-or-string"] == true => matches!(found, "integer" | "string"),
        _ => expected == found || (found == "null" && schema["nullable"] == true),
    };
    if !fits {
        let shown = Value::String(found.to_string());
        let detail = format!("{path} in body must be of type {expected}: {shown}");
        errors.push(FieldError::invalid(path, &shown, &detail));
        return;
    }
    if let Value::Number(number) = value {
        let number = number.as_f64().unwrap_or_default();
        for (bound, is_beyond, words) in [
            ("minimum", (|number, bound| number < bound) as fn(f64, f64) -> bool, "greater"),
            ("maximum", |number, bound| number > bound, "less"),
        ] {
            if let Some(limit) = schema[bound].as_f64().filter(|limit| is_beyond(number, *limit)) {
                let detail = format!("{path} in body should be {words} than or equal to {limit}");
                errors.push(FieldError::invalid(path, value, &detail));
            }
        }
    }
    if let Some(choices) = schema["enum"].as_array().filter(|choices| !choices.contains(value)) {
        let words: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        errors.push(FieldError::not_supported(path, value.as_str().unwrap_or_default(), &words));
    }
    if let Value::String(text) = value {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if schema["minLength"].as_i64().is_some_and(|least| length < least) {
            let detail = format!("{path} in body should be at least {} chars long", schema["minLength"]);
            errors.push(FieldError::invalid(path, value, &detail));
        }
    }
    match value {
        Value::Object(members) => {
            for name in required(schema).filter(|name| !members.contains_key(*name)) {
                errors.push(FieldError::required(&format!("{path}.{name}"), ""));
            }
            for (name, value) in members {
                let known = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                if known.is_object() {
                    judge(known, Some(value), &format!("{path}.{name}"), errors);
                }
            }
        }
        Value::Array(items) if schema["items"].is_object() => {
            for (index, item) in items.iter().enumerate() {
                judge(&schema["items"], Some(item), &format!("{path}[{index}]"), errors);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boats() -> Definition {
        let schema = json!({"type": "object", "properties": {"spec": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "masts": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
                "kind": {"type": "string", "enum": ["sloop", "brig"]},
                "cargo": {"type": "object", "additionalProperties": {"type": "integer"}},
                "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                "crew": {"type": "array", "items": {"type": "object", "properties": {"rank": {"type": "string", "default": "sailor"}}}},
            },
        }}});
        Definition { schema, has_status: true }
    }

    #[test]
    fn unknown_fields_are_refused_or_dropped() {
        let body = json!({"metadata": {"name": "a", "colour": "red"}, "spec": {
            "name": "a", "sails": 3, "cargo": {"tea": 1}, "extra": {"any": {"thing": 1}}, "crew": [{"rank": "x", "age": 7}],
        }});
        let refused = boats().read(&body, FieldValidation::Strict).unwrap_err();
        assert_eq!(
            refused.text,
            "strict decoding error: unknown field \"metadata.colour\", unknown field \"spec.crew[0].age\", unknown field \"spec.sails\""
        );
        let read = boats().read(&body, FieldValidation::Warn).unwrap();
        let spec = json!({"name": "a", "cargo": {"tea": 1}, "extra": {"any": {"thing": 1}}, "crew": [{"rank": "x"}]});
        assert_eq!(read.value, json!({"metadata": {"name": "a"}, "spec": spec}));
    }

    #[test]
    fn defaults_come_from_the_schema() {
        let mut object = json!({"spec": {"masts": null, "crew": [{}]}});
        boats().default(&mut object);
        assert_eq!(object, json!({"spec": {"masts": 2, "crew": [{"rank": "sailor"}]}}));
    }

    #[test]
    fn values_are_judged_by_the_schema() {
        let table: [(&str, Value, &[&str]); 6] = [
            ("a sound boat", json!({"name": "a", "masts": 3, "kind": "brig"}), &[]),
            ("no name", json!({}), &["spec.name: Required value"]),
            (
                "a text for a number",
                json!({"name": "a", "masts": "many"}),
                &[
                    "spec.masts: Invalid value: \"string\": spec.masts in body must be of type integer: \"string\"",
                ],
            ),
            (
                "too many masts",
                json!({"name": "a", "masts": 9}),
                &["spec.masts: Invalid value: 9: spec.masts in body should be less than or equal to 5"],
            ),
            (
                "an empty name",
                json!({"name": ""}),
                &["spec.name: Invalid value: \"\": spec.name in body should be at least 1 chars long"],
            ),
            (
                "a kind of boat that there is not",
                json!({"name": "a", "kind": "raft"}),
                &["spec.kind: Unsupported value: \"raft\": supported values: \"sloop\", \"brig\""],
            ),
        ];
        for (sentence, spec, expected) in table {
            let found: Vec<String> =
                boats().judge(&json!({"spec": spec})).iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{sentence}");
        }
    }

    #[test]
    fn a_status_of_its_own_is_not_written_with_the_object() {
        let mut object = json!({"spec": {}, "status": {"afloat": true}});
        boats().prepare(None, &mut object);
        assert_eq!(object, json!({"spec": {}}));
        boats().prepare(Some(&json!({"status": {"afloat": false}})), &mut object);
        assert_eq!(object["status"], json!({"afloat": false}));
    }
}
