//! Event: `core/v1`.

use super::networking::ObjectReference;
use crate::api::meta::ObjectMeta;
use crate::api::time::Timestamp;

crate::record! {
    /// `core/v1 Event`.
    pub struct Event {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// What it speaks of.
        involved_object: ObjectReference = "involvedObject" always,
        /// In one word.
        reason: String = "reason",
        /// For a person.
        message: String = "message",
        /// Who says so.
        source: EventSource = "source" always,
        /// When it happened first.
        first_timestamp: Option<Timestamp> = "firstTimestamp",
        /// When it happened last.
        last_timestamp: Option<Timestamp> = "lastTimestamp",
        /// How often it happened.
        count: i32 = "count",
        /// `Normal` or `Warning`.
        event_type: String = "type",
        /// The component, in newer words.
        reporting_component: String = "reportingComponent" always,
        /// The component's instance, in newer words.
        reporting_instance: String = "reportingInstance" always,
    }

    /// `core/v1 EventSource`.
    pub struct EventSource {
        /// The component.
        component: String = "component",
        /// The node it runs on.
        host: String = "host",
    }
}
