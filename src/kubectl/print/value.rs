//! Reading an object's JSON for a cell or a line.

use serde_json::Value;

use crate::api::labels::Selector;
use crate::api::time::Timestamp;

/// A scalar as a text; empty when it is absent.
pub fn text(value: &Value) -> String {
    or(value, "")
}

/// A scalar as a text, or that other text when it is absent.
pub fn or(value: &Value, otherwise: &str) -> String {
    match value {
        Value::Null => otherwise.to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number as a text; nothing counts as zero.
pub fn number(value: &Value) -> String {
    value.as_i64().unwrap_or(0).to_string()
}

/// How many entries a map has.
pub fn count(value: &Value) -> usize {
    value.as_object().map_or(0, serde_json::Map::len)
}

/// The items of a list; none when it is absent.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The texts of a list, joined; `<none>` of none.
pub fn joined(value: &Value, separator: &str) -> String {
    let texts: Vec<String> = items(value).iter().map(text).collect();
    if texts.is_empty() { "<none>".to_string() } else { texts.join(separator) }
}

/// A list as Go prints it: `[a b]`.
pub fn go_list(value: &Value) -> String {
    let texts: Vec<String> = items(value).iter().map(text).collect();
    format!("[{}]", texts.join(" "))
}

/// A boolean as kubectl prints a pointer to one.
pub fn truth(value: &Value) -> &'static str {
    match value {
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        _ => "<unset>",
    }
}

/// `RWO,ROX`.
pub fn access_modes(value: &Value) -> String {
    let short = |mode: &Value| match mode.as_str() {
        Some("ReadWriteOnce") => "RWO",
        Some("ReadOnlyMany") => "ROX",
        Some("ReadWriteMany") => "RWX",
        Some("ReadWriteOncePod") => "RWOP",
        _ => "",
    };
    items(value).iter().map(short).collect::<Vec<_>>().join(",")
}

/// A label selector as a text, or `<none>`.
pub fn selector(value: &Value) -> String {
    let text = Selector::from_label_selector(value).to_string();
    if text.is_empty() { "<none>".to_string() } else { text }
}

/// A date and time.
pub fn time(value: &Value) -> Option<Timestamp> {
    value.as_str().and_then(Timestamp::parse)
}

/// A map of texts as `a=1,b=2`, or `<none>`.
pub fn pairs(value: &Value) -> String {
    super::table::labels_text(&crate::api::labels::labels_of(value))
}
