//! Events: equal ones are counted on one object.
//!
//! Models: `client-go/tools/record` (the correlator's de-duplication by involved object, reason and message).
//! Leaves out: the similarity grouping after ten different messages, the spam filter, expiry after an hour.

use std::sync::Arc;

use super::transaction::{Transaction, Written};
use super::write::EventRecord;
use crate::api::kind::Kind;
use crate::api::kinds::event::{Event, EventSource};
use crate::api::kinds::networking::ObjectReference;
use crate::api::meta::ObjectKey;
use crate::api::object::Object;
use crate::cluster::actor::Actor;

/// Stores the event, or counts it on the equal one that is stored already.
pub fn tell(transaction: &mut Transaction<'_>, record: EventRecord) -> Written {
    let namespace =
        if record.object.namespace.is_empty() { "default".into() } else { record.object.namespace.clone() };
    let key =
        ObjectKey { kind: Kind::Event, namespace, name: event_name(&record, transaction.writer).into() };
    let now = transaction.now;
    let old = transaction.store.object(&key).cloned();
    let event = match old.as_ref().and_then(Object::get::<Event>) {
        Some(event) => {
            let mut event = Arc::clone(event);
            let changed = Arc::make_mut(&mut event);
            changed.count += 1;
            changed.last_timestamp = Some(now);
            event
        }
        None => Arc::new(new_event(transaction, &key, record)),
    };
    let new = transaction.store.put(Object::Event(event), transaction.writer, transaction.fact);
    Written { key, old, new: Some(new) }
}

fn new_event(transaction: &mut Transaction<'_>, key: &ObjectKey, record: EventRecord) -> Event {
    let now = transaction.now;
    let revision =
        transaction.store.object(&record.object).map(|object| object.meta().resource_version.0.to_string());
    let source = transaction.writer.event_source().to_string();
    let mut event = Event {
        involved_object: ObjectReference {
            kind: record.object.kind.name().to_string(),
            namespace: record.object.namespace.clone(),
            name: record.object.name.clone(),
            uid: record.uid,
            api_version: record.object.kind.api_version(),
            resource_version: revision.unwrap_or_default(),
            field_path: record.field_path,
            ..ObjectReference::default()
        },
        reason: record.reason.to_string(),
        message: record.message,
        source: EventSource {
            component: source.clone(),
            host: transaction.writer.node().map(ToString::to_string).unwrap_or_default(),
            ..EventSource::default()
        },
        first_timestamp: Some(now),
        last_timestamp: Some(now),
        count: 1,
        event_type: if record.warning { "Warning" } else { "Normal" }.to_string(),
        reporting_component: source,
        reporting_instance: transaction.writer.node().map(ToString::to_string).unwrap_or_default(),
        ..Event::default()
    };
    event.meta.name = key.name.clone();
    event.meta.namespace = key.namespace.clone();
    event.meta.uid = transaction.stream.uuid().into();
    event.meta.creation_timestamp = Some(now);
    event
}

/// `api-7d9c5b6f4-2xkqp.17f2a9c4d5e6f708`: the object's name and a number that stands for what is told.
fn event_name(record: &EventRecord, writer: &Actor) -> String {
    let parts = [
        record.object.kind.name(),
        &record.uid,
        &record.field_path,
        record.reason,
        &record.message,
        writer.event_source(),
        writer.node().map_or("", |node| node),
    ];
    let spread = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = parts.iter().flat_map(|part| part.bytes().chain([0])).fold(0xcbf2_9ce4_8422_2325, spread);
    format!("{}.{hash:016x}", record.object.name)
}
