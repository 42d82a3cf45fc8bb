//! `-o`: which form the output has.
//!
//! Models: `k8s.io/cli-runtime/pkg/genericclioptions/print_flags.go` (v1.36).
//! Leaves out: kyaml and templates from files.

use serde_json::{Value, json};

use super::tabs;
use crate::api::manifest;
use crate::api::object::Object;
use crate::kubectl::failure::Failure;
use crate::kubectl::go_template::GoTemplate;
use crate::kubectl::jsonpath::{self, Template};
use crate::kubectl::parse::Flags;

/// A form of output.
#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    /// What the verb says by itself: a table, or a sentence.
    Plain,
    /// A table with all columns.
    Wide,
    /// YAML.
    Yaml,
    /// JSON.
    Json,
    /// `pod/web`.
    Name,
    /// What a template says.
    JsonPath(Template),
    /// Found values as one JSON list.
    JsonPathAsJson(Template),
    /// `-o go-template=…`.
    GoTemplate(GoTemplate),
    /// A table of chosen columns: header and expression.
    Columns(Vec<(String, Template)>),
}

const OF_GET: &str = "custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,wide,yaml";
const OF_OTHERS: &str = "go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,template,templatefile,yaml";

impl Format {
    /// Reads `-o`; `tables` is whether the verb prints tables.
    ///
    /// # Errors
    /// In kubectl's words.
    pub fn of(flags: &Flags, tables: bool) -> Result<Self, Failure> {
        // A template alone is one of Go.
        let is_template = flags.text("template").is_some_and(|template| !template.is_empty());
        let text = match flags.text("output").filter(|text| !text.is_empty()) {
            Some(text) => text,
            None if is_template => "go-template",
            None => return Ok(Self::Plain),
        };
        let (name, argument) = match text.split_once('=') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        let argument = argument.or(flags.text("template")).filter(|argument| !argument.is_empty());
        let template = || {
            let text =
                argument.ok_or_else(|| Failure::error("template format specified but no template given"))?;
            Template::parse(text)
                .map_err(|why| Failure::error(format!("error parsing jsonpath {text}, {why}")))
        };
        Ok(match name {
            "" => Self::Plain,
            "wide" if tables => Self::Wide,
            "yaml" => Self::Yaml,
            "json" => Self::Json,
            "name" => Self::Name,
            "jsonpath" => Self::JsonPath(template()?),
            "jsonpath-as-json" => Self::JsonPathAsJson(template()?),
            "custom-columns" if tables => {
                let spec = argument.ok_or_else(|| {
                    Failure::error("custom-columns format specified but no custom columns given")
                })?;
                Self::Columns(columns(spec)?)
            }
            "go-template" | "template" | "go-template-file" | "templatefile" | "jsonpath-file"
                if argument.is_none() =>
            {
                return Err(Failure::error("template format specified but no template given"));
            }
            "go-template" | "template" => {
                let text = argument.unwrap_or_default();
                Self::GoTemplate(GoTemplate::parse(text).map_err(|why| {
                    Failure::error(format!("error parsing template {text}, template: output:1: {why}"))
                })?)
            }
            "go-template-file" | "templatefile" | "jsonpath-file" | "kyaml" | "custom-columns-file" => {
                return Err(Failure::error(format!(
                    "the output format \"{name}\" is not in this release of Kubestep"
                )));
            }
            _ => {
                let allowed = if tables { OF_GET } else { OF_OTHERS };
                return Err(Failure::error(format!(
                    "unable to match a printer suitable for the output format \"{text}\", allowed formats are: {allowed}"
                )));
            }
        })
    }

    /// Whether a person reads it: a table.
    pub fn is_table(&self) -> bool {
        matches!(self, Self::Plain | Self::Wide)
    }

    /// The text for one value, an object or a list of them; nothing for tables and columns.
    ///
    /// # Errors
    /// When a template cannot be applied.
    pub fn value(&self, value: &Value) -> Result<String, Failure> {
        let failed = |template: &str, why: String| {
            Failure::error(format!("error executing jsonpath \"{template}\": {why}"))
        };
        Ok(match self {
            Self::Yaml => manifest::to_yaml(value),
            Self::Json => manifest::to_json_pretty(value),
            Self::JsonPath(template) => template.render(value).map_err(|why| failed("", why))?,
            Self::JsonPathAsJson(template) => {
                let found = template.find(value).map_err(|why| failed("", why))?;
                manifest::to_json_pretty(&Value::Array(found))
            }
            Self::GoTemplate(template) => template
                .render(value)
                .map_err(|why| Failure::error(format!("error executing template: {why}")))?,
            Self::Plain | Self::Wide | Self::Name | Self::Columns(_) => String::new(),
        })
    }
}

fn columns(spec: &str) -> Result<Vec<(String, Template)>, Failure> {
    spec.split(',')
        .map(|column| {
            let (header, path) = column.split_once(':').ok_or_else(|| {
                Failure::error(format!(
                    "unexpected custom-columns spec: {column}, expected <header>:<json-path-expr>"
                ))
            })?;
            let template = Template::parse_relaxed(path).map_err(Failure::error)?;
            Ok((header.to_string(), template))
        })
        .collect()
}

/// A table of chosen columns.
pub fn custom_columns(columns: &[(String, Template)], objects: &[Object], no_headers: bool) -> String {
    let mut out = String::new();
    if !no_headers {
        let headers: Vec<&str> = columns.iter().map(|(header, _)| header.as_str()).collect();
        out.push_str(&headers.join("\t"));
        out.push('\n');
    }
    for object in objects {
        let value = shown(object);
        let cells: Vec<String> = columns
            .iter()
            .map(|(_, template)| {
                let found = template.find(&value).unwrap_or_default();
                let texts: Vec<String> = found.iter().map(go_text).collect();
                if texts.is_empty() { "<none>".to_string() } else { texts.join(",") }
            })
            .collect();
        out.push_str(&cells.join("\t"));
        out.push('\n');
    }
    tabs::align(&out, super::table::MINIMUM, super::table::PADDING)
}

/// A value as Go's `%v` prints it.
pub fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<none>".to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{key}:{}", go_text(value))).collect();
            format!("map[{}]", pairs.join(" "))
        }
        other => jsonpath::text_of(other),
    }
}

/// An object as it is shown: without the record of who manages which field.
pub fn shown(object: &Object) -> Value {
    let mut value = object.to_value();
    hide_managed_fields(&mut value);
    value
}

/// Takes the record of who manages which field out of an object.
pub fn hide_managed_fields(value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Several objects as the list that kubectl makes of them.
pub fn list_of(items: Vec<Value>) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}
