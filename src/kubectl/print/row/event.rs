//! Events.

use super::{Column, always, wide};
use crate::api::kinds::event::Event;
use crate::api::time::Timestamp;
use crate::kubectl::duration;

pub(super) const COLUMNS: &[Column] = &[
    always("LAST SEEN"),
    always("TYPE"),
    always("REASON"),
    always("OBJECT"),
    wide("SUBOBJECT"),
    wide("SOURCE"),
    always("MESSAGE"),
    wide("FIRST SEEN"),
    wide("COUNT"),
    wide("NAME"),
];

pub(super) fn cells(event: &Event, now: Timestamp) -> Vec<String> {
    let first = event.first_timestamp.or(event.meta.creation_timestamp);
    let last = event.last_timestamp.or(first);
    let component =
        if event.source.component.is_empty() { &event.reporting_component } else { &event.source.component };
    let source = match event.source.host.as_str() {
        "" => component.clone(),
        host => format!("{component}, {host}"),
    };
    vec![
        duration::age(last, now),
        event.event_type.clone(),
        event.reason.clone(),
        format!("{}/{}", event.involved_object.kind.to_ascii_lowercase(), event.involved_object.name),
        event.involved_object.field_path.clone(),
        source,
        event.message.trim().to_string(),
        duration::age(first, now),
        event.count.max(1).to_string(),
        event.meta.name.to_string(),
    ]
}
