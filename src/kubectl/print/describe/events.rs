//! The events of an object, at the end of its description.

use crate::api::kind::Kind;
use crate::api::kinds::event::Event;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::kubectl::duration;
use crate::kubectl::host::Host;
use crate::kubectl::resources;

/// The events about an object, oldest first.
pub(super) fn of(object: &Object, host: &dyn Host) -> String {
    let mut events: Vec<&Event> = about(object, host);
    if events.is_empty() {
        return "Events:\t<none>\n".to_string();
    }
    events.sort_by_key(|event| (last(event), event.meta.resource_version));
    let mut out =
        "Events:\n  Type\tReason\tAge\tFrom\tMessage\n  ----\t------\t----\t----\t-------\n".to_string();
    for event in events {
        let since = |time: Option<Timestamp>| duration::age(time, host.now());
        let age = if event.count > 1 {
            format!("{} (x{} over {})", since(last(event)), event.count, since(first(event)))
        } else {
            since(first(event))
        };
        let from = match event.source.component.as_str() {
            "" => &event.reporting_component,
            component => component,
        };
        let path = match event.involved_object.field_path.as_str() {
            "" => String::new(),
            path => format!("{path}: "),
        };
        let message = event.message.trim();
        out.push_str(&format!("  {}\t{}\t{age}\t{from}\t{path}{message}\n", event.event_type, event.reason));
    }
    out
}

fn about<'a>(object: &Object, host: &'a dyn Host) -> Vec<&'a Event> {
    let (meta, kind) = (object.meta(), object.kind().name());
    let namespace: &str = if meta.namespace.is_empty() { "default" } else { &meta.namespace };
    // Who may not list events is told that there are none.
    if !resources::may_list(host, Kind::Event, namespace) {
        return Vec::new();
    }
    host.store()
        .list_in::<Event>(namespace)
        .map(|event| &**event)
        .filter(|event| {
            let involved = &event.involved_object;
            involved.kind == kind
                && involved.name == meta.name
                && (involved.uid == meta.uid || involved.uid.is_empty() || object.kind().name() == "Node")
        })
        .collect()
}

fn first(event: &Event) -> Option<Timestamp> {
    event.first_timestamp.or(event.meta.creation_timestamp)
}

fn last(event: &Event) -> Option<Timestamp> {
    event.last_timestamp.or(first(event))
}
