//! A mistake at a field, in the words of the API server.
//!
//! Models: `k8s.io/apimachinery/pkg/util/validation/field/errors.go` (v1.36).
//! Leaves out: nothing.

use std::fmt;

use serde_json::Value;

use crate::api::manifest::to_json;
use crate::cluster::server::status::Cause;

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// Nothing stands there.
    Required,
    /// It stands there twice.
    Duplicate,
    /// It is malformed.
    Invalid,
    /// It is none of the words that may stand there.
    NotSupported,
    /// It may not stand there in this situation.
    Forbidden,
    /// It is too long.
    TooLong,
    /// It has too many items.
    TooMany,
    /// It names something that does not exist.
    NotFound,
    /// It has a wrong type.
    TypeInvalid,
}

impl FieldErrorKind {
    /// The reason in a status' cause.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::NotFound => "FieldValueNotFound",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Duplicate => "Duplicate value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::NotFound => "Not found",
        }
    }
}

/// A mistake at a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field: `spec.containers[0].image`.
    pub path: String,
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The value as it is shown; empty where none is shown.
    pub value: String,
    /// The explanation; may be empty.
    pub detail: String,
}

/// A value as Go shows it in an error: texts quoted, records as JSON.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Null => "null".to_string(),
        other => to_json(other),
    }
}

/// A text in Go's quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl FieldError {
    fn new(path: &str, kind: FieldErrorKind, value: String, detail: &str) -> Self {
        Self { path: path.to_string(), kind, value, detail: detail.to_string() }
    }

    /// A value is missing.
    pub fn required(path: &str, detail: &str) -> Self {
        Self::new(path, FieldErrorKind::Required, String::new(), detail)
    }

    /// A value is malformed.
    pub fn invalid(path: &str, value: &Value, detail: &str) -> Self {
        Self::new(path, FieldErrorKind::Invalid, shown(value), detail)
    }

    /// A text is malformed.
    pub fn invalid_text(path: &str, value: &str, detail: &str) -> Self {
        Self::new(path, FieldErrorKind::Invalid, quoted(value), detail)
    }

    /// A value, already in the form in which it is shown, is malformed.
    pub fn invalid_shown(path: &str, value: String, detail: &str) -> Self {
        Self::new(path, FieldErrorKind::Invalid, value, detail)
    }

    /// A value stands twice.
    pub fn duplicate(path: &str, value: &Value) -> Self {
        Self::new(path, FieldErrorKind::Duplicate, shown(value), "")
    }

    /// A value, already in the form in which it is shown, stands twice.
    pub fn duplicate_shown(path: &str, value: String) -> Self {
        Self::new(path, FieldErrorKind::Duplicate, value, "")
    }

    /// A word is none of those that may stand there; they are listed in the given order.
    pub fn not_supported(path: &str, value: &str, choices: &[&str]) -> Self {
        let listed: Vec<String> = choices.iter().map(|choice| quoted(choice)).collect();
        let detail = format!("supported values: {}", listed.join(", "));
        Self::new(path, FieldErrorKind::NotSupported, quoted(value), &detail)
    }

    /// It names something that is not there.
    pub fn not_found(path: &str, value: &Value) -> Self {
        Self::new(path, FieldErrorKind::NotFound, shown(value), "")
    }

    /// A value may not stand there.
    pub fn forbidden(path: &str, detail: &str) -> Self {
        Self::new(path, FieldErrorKind::Forbidden, String::new(), detail)
    }

    /// A text is longer than `most` bytes.
    pub fn too_long(path: &str, most: usize) -> Self {
        let detail = format!("may not be more than {most} bytes");
        Self::new(path, FieldErrorKind::TooLong, String::new(), &detail)
    }

    /// There are more items than may be.
    pub fn too_many(path: &str, found: usize, most: usize) -> Self {
        let detail = format!("must have at most {most} items");
        Self::new(path, FieldErrorKind::TooMany, found.to_string(), &detail)
    }

    /// As a cause of the status `Invalid`.
    pub fn cause(&self) -> Cause {
        Cause { reason: self.kind.reason(), message: self.message(), field: self.path.clone() }
    }

    /// What is said after the path: `Invalid value: -1: must be greater than or equal to 0`.
    pub fn message(&self) -> String {
        let words = self.kind.words();
        let mut text = words.to_string();
        if !self.value.is_empty() {
            text.push_str(": ");
            text.push_str(&self.value);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message())
    }
}
