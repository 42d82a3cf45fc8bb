//! The typed kinds, one file per group of things.

pub mod apps;
pub mod cluster;
pub mod event;
pub mod networking;
pub mod pod;
pub mod stored;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::codec::{Codec, CodecError};
use crate::api::quantity::Quantity;

impl Codec for Quantity {
    fn decode(value: Value) -> Result<Self, CodecError> {
        let parsed = match &value {
            Value::String(text) => Self::parse(text).ok(),
            Value::Number(number) => Self::parse(&number.to_string()).ok(),
            _ => None,
        };
        parsed.ok_or(CodecError::expected("a quantity"))
    }
    fn encode(&self) -> Value {
        Value::String(self.to_string())
    }
}

/// Amounts by resource name (`cpu`, `memory`, `pods`, …).
pub type ResourceList = BTreeMap<String, Quantity>;
