//! The kinds that somebody added: their definitions name the columns.
//!
//! Models: `apiextensions-apiserver/pkg/registry/customresource/tableconvertor` (v1.36).

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::cluster::server::custom;
use crate::kubectl::duration;
use crate::kubectl::host::Host;
use crate::kubectl::jsonpath::Template;
use crate::kubectl::print::value::text;

/// The columns: their headers, and whether only `-o wide` shows them.
pub(super) fn columns(kind: Kind, host: &dyn Host) -> Vec<(String, bool)> {
    let mut columns = vec![("NAME".to_string(), false)];
    let named = custom::columns(host.store(), kind);
    if named.is_empty() {
        columns.push(("AGE".to_string(), false));
    }
    columns.extend(named.iter().map(|column| {
        (
            text(&column["name"]).to_uppercase(),
            column["priority"].as_i64().is_some_and(|priority| priority > 0),
        )
    }));
    columns
}

/// An object's cells.
pub(super) fn cells(object: &Object, age: String, host: &dyn Host) -> Vec<String> {
    let value = object.to_value();
    let mut cells = vec![object.meta().name.to_string()];
    let named = custom::columns(host.store(), object.kind());
    if named.is_empty() {
        cells.push(age);
    }
    cells.extend(named.iter().map(|column| {
        let path = column["jsonPath"].as_str().unwrap_or_default();
        let found = Template::parse_relaxed(path).ok().and_then(|template| template.find(&value).ok());
        let first = found.and_then(|found| found.into_iter().next());
        match first {
            Some(Value::String(time)) if column["type"] == "date" => {
                duration::age(Timestamp::parse(&time), host.now())
            }
            Some(Value::Null) | None => String::new(),
            Some(value) => text(&value),
        }
    }));
    cells
}
