//! The typed kinds, one file per group of things.

pub mod apps;
pub mod batch;
pub mod cluster;
pub mod event;
pub mod networking;
pub mod pod;
pub mod policy;
pub mod storage;
pub mod stored;
pub mod workloads;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::codec::{Codec, CodecError};
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;

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

crate::record! {
    /// A condition as Jobs, autoscalers and their like carry it.
    pub struct Condition {
        /// What it is about.
        condition_type: String = "type" always,
        /// `True`, `False` or `Unknown`.
        status: String = "status" always,
        /// When it was looked at last.
        last_probe_time: Option<Timestamp> = "lastProbeTime",
        /// When its status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: String = "reason",
        /// For a person.
        message: String = "message",
    }
}
