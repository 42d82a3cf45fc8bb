//! The stage that judges values.

use serde_json::Value;

use crate::api::schema::Type;

mod field;

pub use field::{FieldError, FieldErrorKind};

/// Judges a new object.
pub fn validate_create(_kind: &'static Type, _object: &Value) -> Vec<FieldError> {
    Vec::new()
}

/// Judges a changed object, given the one that is stored.
pub fn validate_update(_kind: &'static Type, _old: &Value, _new: &Value) -> Vec<FieldError> {
    Vec::new()
}
