//! Events: equal ones are counted on one object.
//!
//! Models: `client-go/tools/record/events_cache.go` (v1.36): de-duplication by involved object, reason and message;
//! after ten different messages for one reason within ten minutes, one event for all further ones; at most 25 events of
//! one source and reason about one object, and one more every five minutes. The scheduler's events, which take another way, are
//! only de-duplicated.
//! Leaves out: the correlator's own memory (what is stored stands in for it).

use std::sync::Arc;

use super::transaction::{Transaction, Written};
use super::write::EventRecord;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::event::{Event, EventSource};
use crate::api::kinds::networking::ObjectReference;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Object;
use crate::cluster::actor::Actor;
use crate::cluster::fnv::fnv1a_64;

/// From so many different messages of one reason on, further ones share one event.
const MAX_SIMILAR: usize = 10;
/// How long messages count as similar.
const SIMILAR_SECONDS: i64 = 600;
const COMBINED: &str = "(combined from similar events): ";
/// So many events of one source and reason about one object are let through at once …
const BURST: i64 = 25;
/// … and one more after each of these.
const REFILL_SECONDS: i64 = 300;

/// Stores the event, or counts it on the equal one that is stored already, or drops it when there are too many, or
/// when its namespace is on its way out.
pub fn tell(transaction: &mut Transaction<'_>, mut record: EventRecord) -> Written {
    let namespace: Name =
        if record.object.namespace.is_empty() { "default".into() } else { record.object.namespace.clone() };
    let mut name = event_name(&record, transaction.writer);
    let key = |name: String| ObjectKey { kind: Kind::Event, namespace: namespace.clone(), name: name.into() };
    let now = transaction.now;
    let home = transaction.store.get::<Namespace>("", &namespace);
    let is_homeless = home.is_none_or(|home| home.meta.is_terminating());
    if is_homeless || (*transaction.writer != Actor::Scheduler && is_spam(transaction, &namespace, &record)) {
        return Written { key: key(name), old: None, new: None };
    }
    let is_new = transaction.store.object(&key(name.clone())).is_none();
    if is_new && *transaction.writer != Actor::Scheduler && has_many_similar(transaction, &namespace, &record)
    {
        let message = std::mem::replace(&mut record.message, COMBINED.to_string());
        name = event_name(&record, transaction.writer);
        record.message.push_str(&message);
    }
    let key = key(name);
    let old = transaction.store.object(&key).cloned();
    let event = match old.as_ref().and_then(Object::get::<Event>) {
        Some(event) => {
            let mut event = Arc::clone(event);
            let changed = Arc::make_mut(&mut event);
            changed.count += 1;
            changed.last_timestamp = Some(now);
            changed.message = record.message;
            event
        }
        None => Arc::new(new_event(transaction, &key, record)),
    };
    let new = transaction.store.put(Object::Event(event), transaction.writer, transaction.fact);
    Written { key, old, new: Some(new) }
}

/// The stored events of the writer about the same object.
fn told_before<'a>(
    transaction: &'a Transaction<'_>,
    namespace: &str,
    record: &'a EventRecord,
) -> impl Iterator<Item = &'a Arc<Event>> {
    let prefix = format!("{}.", record.object.name);
    let source = transaction.writer.event_source();
    let host = transaction.writer.node().map_or("", |node| node);
    let stored = transaction.store.objects_named(Kind::Event, namespace, &prefix);
    stored.filter_map(Object::get::<Event>).filter(move |event| {
        event.involved_object.uid == record.uid
            && event.source.component == source
            && event.source.host == host
    })
}

/// Whether the writer has told too much about the object already.
fn is_spam(transaction: &Transaction<'_>, namespace: &str, record: &EventRecord) -> bool {
    let mut told = 0;
    let mut first = transaction.now;
    for event in told_before(transaction, namespace, record).filter(|event| event.reason == record.reason) {
        told += i64::from(event.count);
        first = first.min(event.first_timestamp.unwrap_or(first));
    }
    told >= BURST + transaction.now.seconds_since(first) / REFILL_SECONDS
}

/// Whether so many different messages of the same reason were told lately that this one joins a common event.
fn has_many_similar(transaction: &Transaction<'_>, namespace: &str, record: &EventRecord) -> bool {
    let event_type = if record.warning { "Warning" } else { "Normal" };
    let is_similar = |event: &&Arc<Event>| {
        event.reason == record.reason
            && event.event_type == event_type
            && !event.message.starts_with(COMBINED)
            && event.last_timestamp.is_some_and(|last| transaction.now.seconds_since(last) <= SIMILAR_SECONDS)
    };
    told_before(transaction, namespace, record).filter(is_similar).count() + 1 >= MAX_SIMILAR
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
    let hash = fnv1a_64(parts.iter().flat_map(|part| part.bytes().chain([0])));
    format!("{}.{hash:016x}", record.object.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::pod::Pod;
    use crate::api::time::Timestamp;
    use crate::cluster::fact::FactId;
    use crate::cluster::rng::Stream;
    use crate::cluster::settings::Settings;
    use crate::cluster::store::Store;

    /// Tells each message at its time about one Pod; returns what is stored, as `message xcount`.
    fn told(messages: impl IntoIterator<Item = (i64, String)>) -> Vec<String> {
        let (mut store, mut stream) = (Store::default(), Stream::new(1, "test"));
        let mut namespace = Namespace::default();
        namespace.meta.name = "demo".into();
        store.put(namespace.into(), &Actor::You, FactId(1));
        let mut pod = Pod::default();
        (pod.meta.name, pod.meta.namespace, pod.meta.uid) = ("a".into(), "demo".into(), "u".into());
        let pod = Object::from(pod);
        for (second, message) in messages {
            let mut transaction = Transaction {
                store: &mut store,
                stream: &mut stream,
                now: Timestamp(second),
                settings: &Settings::default(),
                writer: &Actor::ReplicaSet,
                fact: FactId(2),
            };
            tell(&mut transaction, EventRecord::normal(&pod, "Why", message));
        }
        let mut lines: Vec<String> =
            store.list::<Event>().map(|event| format!("{} x{}", event.message, event.count)).collect();
        lines.sort();
        lines
    }

    #[test]
    fn equal_events_are_counted_similar_ones_combined_and_too_many_dropped() {
        let numbered = |range: std::ops::Range<i64>| range.map(|n| (n, format!("m{n:02}")));
        assert_eq!(told([(1, "a".into()), (2, "a".into()), (3, "b".into())]), ["a x2", "b x1"]);
        let twelve = told(numbered(0..12));
        assert_eq!(twelve.len(), 10);
        assert_eq!(twelve[0], "(combined from similar events): m11 x3");
        let forty = told(numbered(0..40));
        assert_eq!(forty[0], "(combined from similar events): m24 x16", "25 are let through");
        let slow = told((0..12).map(|n| (n * 601, format!("m{n:02}"))));
        assert_eq!(slow.len(), 12, "what is ten minutes old is not similar");
        let patient = told(numbered(0..30).chain([(400, "late".into())]));
        assert_eq!(patient[0], "(combined from similar events): late x17", "one more after five minutes");
    }
}
