//! The stage that turns a request's body into an object: strict decoding against the schema, and the round trip through
//! the server's own types, after which an object holds exactly what the server would print.
//!
//! Models: `sigs.k8s.io/json` (case-sensitive, strict decoding over `encoding/json`),
//! `k8s.io/apiserver/pkg/endpoints/handlers/create.go` `transformDecodeError`, and the JSON tags of `k8s.io/api` (v1.36).
//! Leaves out: duplicate fields, which kubectl has merged before the request is sent (see `api::manifest`).

use base64::Engine as _;
use serde_json::{Map, Value};

use crate::api::quantity::Quantity;
use crate::api::schema::{Field, Presence, Shape, Type, type_named};
use crate::api::time::Timestamp;
use crate::cluster::server::request::FieldValidation;

/// The most unknown fields that are told at once.
const MAX_PROBLEMS: usize = 100;

/// One thing that decoding finds wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The field's path, with indices: `spec.template.spec.containers[0].imagePullPolice`.
    pub path: String,
    /// In the server's words: `unknown field "spec.replica"`.
    pub text: String,
    /// The field that was probably meant: `replicas`.
    pub hint: Option<&'static str>,
}

/// What decoding gives: the object as the server holds it, and the fields that were dropped on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The object, without nulls, without zeros that the server does not print, quantities in canonical form.
    pub value: Value,
    /// Unknown fields, dropped; each is a warning when the client asked for warnings.
    pub dropped: Vec<Problem>,
}

/// Why a body is not an object of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// In the server's words; see [`refusal`] for the whole sentence.
    pub text: String,
    /// The same as the server says it of an object that a patch has made.
    pub converted: String,
    /// Each problem, with its path.
    pub problems: Vec<Problem>,
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for DecodeError {}

/// Decodes a body as an object of a kind.
///
/// # Errors
/// When a value has the wrong type, or, under strict field validation, when there are unknown fields; all of those are
/// told together, in document order.
pub fn decode(
    kind: &'static Type,
    body: &Value,
    validation: FieldValidation,
) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(kind);
    let value = reader.record(kind, body);
    if let Some(problem) = reader.fatal.or(reader.mistyped) {
        let text = problem.text.clone();
        let converted = reader.converted.unwrap_or_else(|| text.clone());
        return Err(DecodeError { text, converted, problems: vec![problem] });
    }
    if validation == FieldValidation::Strict && !reader.unknown.is_empty() {
        let texts: Vec<&str> = reader.unknown.iter().map(|problem| problem.text.as_str()).collect();
        let text = format!("strict decoding error: {}", texts.join(", "));
        return Err(DecodeError { converted: text.clone(), text, problems: reader.unknown });
    }
    Ok(Decoded { value, dropped: reader.unknown })
}

/// Sends a value through the server's types: what the server would print for it.
///
/// Values of the wrong type become zeros; unknown fields are dropped.
pub fn normalise(kind: &'static Type, value: &Value) -> Value {
    Reader::new(kind).record(kind, value)
}

/// The message of the `BadRequest` status with which the server refuses a body.
pub fn refusal(api_version: &str, kind: &str, error: &DecodeError) -> String {
    let version = api_version.rsplit('/').next().unwrap_or(api_version);
    format!("{kind} in version {version:?} cannot be handled as a {kind}: {error}")
}

/// What is missing for a document to be an object at all, in kubectl's words: `apiVersion not set`, `kind not set`.
pub fn identity_problems(document: &Value) -> Vec<&'static str> {
    let Some(members) = document.as_object() else { return vec!["invalid object to validate"] };
    [
        ("apiVersion", "apiVersion not set", "apiVersion isn't string type"),
        ("kind", "kind not set", "kind isn't string type"),
    ]
    .into_iter()
    .filter_map(|(name, absent, mistyped)| match members.get(name) {
        None | Some(Value::Null) => Some(absent),
        Some(Value::String(text)) => text.is_empty().then_some(absent),
        Some(_) => Some(mistyped),
    })
    .collect()
}

/// The sentence for a kind that the server does not know.
pub fn no_match(api_version: &str, kind: &str) -> String {
    format!("no matches for kind {kind:?} in version {api_version:?}")
}

/// Checks `metadata` alone, as kubectl does before it sends anything.
///
/// # Errors
/// With the problem, whose text follows kubectl's `unable to decode "STDIN": `.
pub fn check_metadata(document: &Value) -> Result<(), Problem> {
    let Some(metadata) = document.get("metadata") else { return Ok(()) };
    let Some(kind) = type_named("meta.v1.ObjectMeta") else { return Ok(()) };
    if let (Some(word), false) = (word_for(metadata), metadata.is_object()) {
        let text = format!(
            "json: cannot unmarshal {word} into Go struct field metadataOnlyObject.metadata of type v1.ObjectMeta"
        );
        return Err(Problem { path: "metadata".to_string(), text, hint: None });
    }
    let mut reader = Reader::new(kind);
    reader.enter("metadata");
    reader.record(kind, metadata);
    reader.fatal.or(reader.mistyped).map_or(Ok(()), Err)
}

/// What Go calls a JSON value; none for null, which fits everywhere.
fn word_for(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    })
}

/// How the server words a wrong type when it converts a patched object instead of reading a body.
fn conversion_problem(value: &Value, expected: &str) -> String {
    let source = match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    };
    if expected.starts_with("[]") {
        format!("cannot restore slice from {source}")
    } else if expected.starts_with("map[") || expected == "v1.ResourceList" {
        format!("cannot restore map from {source}")
    } else if matches!(expected, "int32" | "int64" | "bool") && value.is_string() {
        format!("unrecognized type: {expected}")
    } else if matches!(expected, "int32" | "int64" | "bool" | "string")
        || !value.is_object() && !value.is_array()
    {
        format!("cannot convert {source} to {expected}")
    } else {
        format!("cannot restore struct from: {source}")
    }
}

struct Reader {
    /// The path with indices.
    path: String,
    /// The same path without them.
    names: String,
    /// The record whose fields are being read.
    owner: &'static str,
    unknown: Vec<Problem>,
    /// The first value of a wrong type: reading goes on behind it.
    mistyped: Option<Problem>,
    /// How the conversion of a patched object words the first value of a wrong type.
    converted: Option<String>,
    /// A value that ends the reading, such as a malformed quantity.
    fatal: Option<Problem>,
}

impl Reader {
    fn new(kind: &'static Type) -> Self {
        Self {
            path: String::new(),
            names: String::new(),
            owner: kind.short_name(),
            unknown: Vec::new(),
            mistyped: None,
            converted: None,
            fatal: None,
        }
    }

    fn enter(&mut self, name: &str) -> (usize, usize) {
        let lengths = (self.path.len(), self.names.len());
        for path in [&mut self.path, &mut self.names] {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
        lengths
    }

    fn leave(&mut self, (path, names): (usize, usize)) {
        self.path.truncate(path);
        self.names.truncate(names);
    }

    fn problem(&self, text: String) -> Problem {
        Problem { path: self.path.clone(), text, hint: None }
    }

    fn type_problem(&self, what: &str, expected: &str) -> Problem {
        let text = if self.names.is_empty() {
            format!("json: cannot unmarshal {what} into Go value of type {expected}")
        } else {
            let (owner, names) = (self.owner, &self.names);
            format!("json: cannot unmarshal {what} into Go struct field {owner}.{names} of type {expected}")
        };
        self.problem(text)
    }

    /// Notes that a value has the wrong type.
    fn mistype(&mut self, value: &Value, expected: &str) {
        if self.mistyped.is_none() {
            self.converted = Some(conversion_problem(value, expected));
            self.mistyped = word_for(value).map(|word| self.type_problem(word, expected));
        }
    }

    fn end(&mut self, text: String) {
        if self.fatal.is_none() {
            self.fatal = Some(self.problem(text));
        }
    }

    fn record(&mut self, kind: &'static Type, value: &Value) -> Value {
        let empty = Map::new();
        let members = match value {
            Value::Object(members) => members,
            Value::Null => &empty,
            other => {
                self.mistype(other, &Shape::Record(kind.name).server_name());
                &empty
            }
        };
        let owner = std::mem::replace(&mut self.owner, kind.short_name());
        let mut read = Map::new();
        for (name, given) in members {
            if self.fatal.is_some() {
                break;
            }
            let lengths = self.enter(name);
            match kind.field(name) {
                None if self.unknown.len() < MAX_PROBLEMS => {
                    let text = format!("unknown field {:?}", self.path);
                    self.unknown.push(Problem { path: self.path.clone(), text, hint: kind.nearest(name) });
                }
                Some(field) if !given.is_null() => {
                    let value = self.value(field, &field.shape, given);
                    if field.presence != Presence::Plain || !is_zero(&value) {
                        read.insert(name.clone(), value);
                    }
                }
                _ => {}
            }
            self.leave(lengths);
        }
        for field in &kind.fields {
            let value = match field.presence {
                Presence::Always if !read.contains_key(field.name) => zero(&field.shape),
                Presence::AlwaysNull if !read.contains_key(field.name) => Value::Null,
                _ => continue,
            };
            read.insert(field.name.to_string(), value);
        }
        self.owner = owner;
        Value::Object(read)
    }

    fn value(&mut self, field: &Field, shape: &'static Shape, value: &Value) -> Value {
        match (shape, value) {
            (Shape::Record(name), _) => match type_named(name) {
                Some(kind) => self.record_value(kind, value),
                None => value.clone(),
            },
            (Shape::List(inner), Value::Array(items)) => {
                let mut read = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let length = self.path.len();
                    self.path.push_str(&format!("[{index}]"));
                    read.push(if item.is_null() { zero(inner) } else { self.value(field, inner, item) });
                    self.path.truncate(length);
                }
                Value::Array(read)
            }
            (Shape::Map(inner), Value::Object(members)) => {
                let mut read = Map::new();
                for (key, member) in members {
                    let length = self.path.len();
                    self.path.push_str(&format!("[{key}]"));
                    let value = if member.is_null() { zero(inner) } else { self.value(field, inner, member) };
                    read.insert(key.clone(), value);
                    self.path.truncate(length);
                }
                Value::Object(read)
            }
            (Shape::Any, _) => value.clone(),
            (Shape::Text, Value::String(_)) | (Shape::Boolean, Value::Bool(_)) => value.clone(),
            (Shape::Integer32 | Shape::Integer64, Value::Number(number)) => self.integer(shape, number),
            (Shape::Bytes, Value::String(text)) => self.bytes(text),
            (Shape::Quantity, _) => self.quantity(value),
            (Shape::IntOrText, Value::String(_)) => value.clone(),
            (Shape::IntOrText, Value::Number(number)) => {
                let before = self.mistyped.take();
                let read = self.integer(&Shape::Integer32, number);
                if let Some(problem) = std::mem::replace(&mut self.mistyped, before) {
                    self.fatal.get_or_insert(problem);
                }
                read
            }
            (Shape::IntOrText, _) => {
                if let Some(word) = word_for(value) {
                    let problem = self.type_problem(word, "int32");
                    self.fatal.get_or_insert(problem);
                }
                zero(shape)
            }
            (Shape::Time | Shape::MicroTime, Value::String(text)) => self.time(shape, text),
            (Shape::Time | Shape::MicroTime, _) => {
                if let Some(word) = word_for(value) {
                    let problem = self.type_problem(word, "string");
                    self.fatal.get_or_insert(problem);
                }
                zero(shape)
            }
            _ => {
                let expected =
                    if std::ptr::eq(shape, &field.shape) { field.server_type() } else { shape.server_name() };
                self.mistype(value, &expected);
                zero(shape)
            }
        }
    }

    fn record_value(&mut self, kind: &'static Type, value: &Value) -> Value {
        if value.is_object() {
            return self.record(kind, value);
        }
        self.mistype(value, &Shape::Record(kind.name).server_name());
        self.record(kind, &Value::Null)
    }

    fn integer(&mut self, shape: &Shape, number: &serde_json::Number) -> Value {
        let fits = |value: &i64| *shape != Shape::Integer32 || i32::try_from(*value).is_ok();
        match number.as_i64().filter(fits) {
            Some(value) => Value::from(value),
            None => {
                if self.mistyped.is_none() {
                    self.mistyped =
                        Some(self.type_problem(&format!("number {number}"), &shape.server_name()));
                }
                Value::from(0)
            }
        }
    }

    fn bytes(&mut self, text: &str) -> Value {
        let packed: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        let standard = base64::engine::general_purpose::STANDARD;
        match standard.decode(&packed) {
            Ok(bytes) => Value::String(standard.encode(bytes)),
            Err(error) => {
                if self.mistyped.is_none() {
                    let text = format!("illegal base64 data at input byte {}", base64_fault(&packed, &error));
                    self.mistyped = Some(self.problem(text));
                }
                Value::String(String::new())
            }
        }
    }

    fn quantity(&mut self, value: &Value) -> Value {
        let text = match value {
            Value::String(text) => text.trim().to_string(),
            other => other.to_string(),
        };
        match Quantity::parse(&text) {
            Ok(quantity) => Value::String(quantity.to_string()),
            Err(error) => {
                self.end(error.to_string());
                Value::String("0".to_string())
            }
        }
    }

    fn time(&mut self, shape: &Shape, text: &str) -> Value {
        let Some(time) = Timestamp::parse(text).filter(|_| !text.contains([' ', 't', 'z'])) else {
            let layout = if *shape == Shape::Time {
                "2006-01-02T15:04:05Z07:00"
            } else {
                "2006-01-02T15:04:05.000000Z07:00"
            };
            let (rest, element) = time_fault(text, layout);
            self.end(format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}"));
            return Value::Null;
        };
        if *shape == Shape::Time {
            return Value::String(time.to_string());
        }
        let fraction = text.split_once('.').map_or("", |(_, after)| after);
        let digits: String =
            fraction.chars().take_while(char::is_ascii_digit).chain("000000".chars()).take(6).collect();
        Value::String(time.to_string().replace('Z', &format!(".{digits}Z")))
    }
}

/// The byte Go's decoder complains about: it reads four at a time and tells where the group went wrong.
fn base64_fault(packed: &str, error: &base64::DecodeError) -> usize {
    match error {
        base64::DecodeError::InvalidByte(offset, _)
        | base64::DecodeError::InvalidLastSymbol { offset, .. } => *offset,
        _ => packed.len() / 4 * 4,
    }
}

/// Where in a text a moment stops making sense, and which part of the layout was expected there.
fn time_fault<'a>(text: &'a str, layout: &'static str) -> (&'a str, &'static str) {
    let elements = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];
    let mut rest = text;
    for element in elements {
        let is_number = element.as_bytes()[0].is_ascii_digit();
        let taken = match is_number {
            true => {
                let digits = rest.bytes().take(element.len()).take_while(u8::is_ascii_digit).count();
                (digits == element.len()).then_some(digits)
            }
            false => rest.starts_with(element).then_some(1),
        };
        match taken {
            Some(length) => rest = &rest[length..],
            None => return (rest, element),
        }
    }
    let micro = layout.contains('.');
    if micro && !rest.starts_with('.') { (rest, ".000000") } else { (rest, "Z07:00") }
}

/// Whether Go's `omitempty` leaves the value out.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// The zero of a shape.
fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::Text | Shape::Bytes => Value::String(String::new()),
        Shape::Integer32 | Shape::Integer64 | Shape::IntOrText => Value::from(0),
        Shape::Boolean => Value::Bool(false),
        Shape::Quantity => Value::String("0".to_string()),
        Shape::Record(name) => type_named(name).map_or(Value::Null, |kind| normalise(kind, &Value::Null)),
        Shape::Time | Shape::MicroTime | Shape::Any | Shape::List(_) | Shape::Map(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::root_of;
    use serde_json::json;

    fn deployment() -> &'static Type {
        root_of("apps/v1", "Deployment").unwrap()
    }

    #[test]
    fn wrong_bodies_are_refused_in_the_servers_words() {
        let pod = root_of("v1", "Pod").unwrap();
        let secret = root_of("v1", "Secret").unwrap();
        let container = |fields: Value| json!({"spec": {"containers": [fields]}});
        let table = [
            (
                "an unknown field is named with its path",
                deployment(),
                json!({"spec": {"replica": 3, "template": {"spec": {"containers": [{"imagePullPolice": "x"}]}}}}),
                "strict decoding error: unknown field \"spec.replica\", unknown field \"spec.template.spec.containers[0].imagePullPolice\"",
            ),
            (
                "a text is no number",
                deployment(),
                json!({"spec": {"replicas": "many"}}),
                "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                "a fraction is told with the number",
                deployment(),
                json!({"spec": {"replicas": 1.5}}),
                "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                "so is what does not fit",
                deployment(),
                json!({"spec": {"replicas": 3_000_000_000_i64}}),
                "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                "a map is no list",
                pod,
                json!({"spec": {"containers": {"name": "a"}}}),
                "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
            ),
            (
                "indices are not named",
                pod,
                container(json!({"env": [{"name": "A", "value": true}]})),
                "json: cannot unmarshal bool into Go struct field EnvVar.spec.containers.env.value of type string",
            ),
            (
                "some texts have a type of their own",
                pod,
                container(json!({"imagePullPolicy": 1})),
                "json: cannot unmarshal number into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy",
            ),
            (
                "a port is a number or a text",
                pod,
                container(json!({"livenessProbe": {"httpGet": {"port": true}}})),
                "json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32",
            ),
            (
                "a malformed quantity comes before a type that was wrong earlier",
                pod,
                container(json!({"image": 1, "resources": {"limits": {"cpu": "lots"}}})),
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            ),
            (
                "bytes are base64",
                secret,
                json!({"data": {"a": "c2*j"}}),
                "illegal base64 data at input byte 2",
            ),
            (
                "times have a form",
                pod,
                json!({"metadata": {"creationTimestamp": "yesterday"}}),
                "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"",
            ),
        ];
        for (sentence, kind, body, expected) in table {
            let error = decode(kind, &body, FieldValidation::Strict).unwrap_err();
            assert_eq!(error.text, expected, "{sentence}");
        }
    }

    #[test]
    fn a_misspelt_field_comes_with_a_hint() {
        let error =
            decode(deployment(), &json!({"spec": {"replica": 3}}), FieldValidation::Strict).unwrap_err();
        assert_eq!(error.problems[0].path, "spec.replica");
        assert_eq!(error.problems[0].hint, Some("replicas"));
        assert_eq!(
            refusal("apps/v1", "Deployment", &error),
            "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \"spec.replica\""
        );
        let decoded = decode(deployment(), &json!({"spec": {"replica": 3}}), FieldValidation::Warn).unwrap();
        assert_eq!(decoded.dropped.len(), 1);
        assert_eq!(decoded.value["spec"].get("replica"), None);
    }

    #[test]
    fn the_round_trip_keeps_what_the_server_prints() {
        let pod = root_of("v1", "Pod").unwrap();
        let body = json!({
            "metadata": {"name": "a", "labels": {}, "annotations": null, "creationTimestamp": null},
            "spec": {
                "hostNetwork": false, "priority": 0, "enableServiceLinks": false, "nodeName": "",
                "containers": [{"name": "c", "command": [], "env": [{"value": null}], "resources": {"limits": {"cpu": 0.5}}}],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        });
        let expected = json!({
            "metadata": {"name": "a"},
            "spec": {
                "priority": 0, "enableServiceLinks": false,
                "containers": [{"name": "c", "env": [{"name": ""}], "resources": {"limits": {"cpu": "500m"}}}],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
            "status": {},
        });
        assert_eq!(normalise(pod, &body), expected);
    }

    #[test]
    fn kubectls_own_checks_speak_as_kubectl() {
        assert_eq!(identity_problems(&json!({"metadata": {}})), ["apiVersion not set", "kind not set"]);
        assert_eq!(identity_problems(&json!("text")), ["invalid object to validate"]);
        let mistyped = json!({"apiVersion": 1, "kind": ["Pod"]});
        assert_eq!(identity_problems(&mistyped), ["apiVersion isn't string type", "kind isn't string type"]);
        let table = [
            (
                json!({"metadata": "x"}),
                "json: cannot unmarshal string into Go struct field metadataOnlyObject.metadata of type v1.ObjectMeta",
            ),
            (
                json!({"metadata": {"labels": [1]}}),
                "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
            ),
            (
                json!({"metadata": {"labels": {"a": true}}}),
                "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
            ),
            (
                json!({"metadata": {"name": 7}}),
                "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
            ),
        ];
        for (document, expected) in table {
            assert_eq!(check_metadata(&document).unwrap_err().text, expected);
        }
    }
}
