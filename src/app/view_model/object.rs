//! One object from all sides.

use serde_json::Value;

use super::pods::{is_system, marks_of, note_of};
use super::why::{Link, link};
use super::{Mark, Marks, ObjectReference};
use crate::api::kinds::event::Event;
use crate::api::kinds::networking::Endpoint;
use crate::api::kinds::pod::Pod;
use crate::api::manifest::to_yaml;
use crate::api::object::Object;
use crate::cluster::fact::What;
use crate::cluster::history::History;
use crate::cluster::machine::{Cluster, EPOCH};
use crate::i18n::Catalogue;

/// The selected object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectView {
    /// Which object.
    pub object: ObjectReference,
    /// Whether it exists at the moment on screen.
    pub exists: bool,
    /// Its two marks.
    pub marks: Marks,
    /// What they mean here, in a sentence.
    pub status: String,
    /// Its owners, nearest first.
    pub owners: Vec<ObjectReference>,
    /// What it owns.
    pub dependents: Vec<ObjectReference>,
    /// Its conditions as name, state and message.
    pub conditions: Vec<Condition>,
    /// Its events, newest last.
    pub events: Vec<EventLine>,
    /// Everything that wrote it, newest last.
    pub history: Vec<Link>,
    /// As `kubectl get -o yaml` prints it.
    pub yaml: String,
    /// The kubectl line that shows it.
    pub command: String,
    /// The kubectl line that deletes it.
    pub delete_command: String,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its type.
    pub name: String,
    /// `True`, `False` or `Unknown`.
    pub state: String,
    /// Reason and message.
    pub note: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    /// Whether it is a warning.
    pub is_warning: bool,
    /// Its reason.
    pub reason: String,
    /// Who reported it.
    pub source: String,
    /// The tick of its last occurrence.
    pub tick: i64,
    /// How often.
    pub count: u64,
    /// Its message.
    pub message: String,
}

/// The most lines of history and events.
const LINES_LIMIT: usize = 40;

/// The selected object at the moment on screen.
pub fn object_view(words: &Catalogue, history: &History, object: &ObjectReference) -> Option<ObjectView> {
    let key = object.key()?;
    let cluster = history.cluster();
    let found = cluster.store.object(&key);
    let writers: Vec<Link> = history
        .facts()
        .rev()
        .filter(|fact| matches!(&fact.what, What::Wrote { key: of, .. } if *of == key) && !fact.routine)
        .take(LINES_LIMIT)
        .map(|fact| link(words, history, fact, false))
        .collect();
    let (namespace, resource) = object.in_kubectl();
    let resource = resource.replacen('/', " ", 1);
    let mut view = ObjectView {
        object: object.clone(),
        exists: found.is_some(),
        history: writers.into_iter().rev().collect(),
        events: events_of(cluster, object),
        command: ["kubectl ", &namespace, "get ", &resource, " -o yaml"].concat(),
        ..ObjectView::default()
    };
    let Some(found) = found else {
        view.status = words.say("object.status_gone", &[]);
        return Some(view);
    };
    view.marks = Marks::new(Mark::Done, achieved_of(found));
    view.status = match found.get::<Pod>() {
        Some(pod) => note_of(words, pod),
        None => words.say("object.status_exists", &[]),
    };
    let owners = found.meta().owner_references.iter();
    view.owners =
        owners.map(|owner| ObjectReference::new(&owner.kind, &object.namespace, &owner.name)).collect();
    let owned = cluster.store.owned_by(&found.meta().uid);
    view.dependents =
        owned.map(|dependent| ObjectReference::from(&dependent.key())).take(LINES_LIMIT).collect();
    let value = found.to_value();
    view.conditions = conditions_of(&value);
    view.yaml = to_yaml(&value);
    if matches!(
        object.kind.as_str(),
        "Pod" | "Deployment" | "ReplicaSet" | "Service" | "Ingress" | "ConfigMap"
    ) && !is_system(&object.namespace)
    {
        view.delete_command = ["kubectl ", &namespace, "delete ", &resource].concat();
    }
    Some(view)
}

/// Whether an object achieves its purpose, as far as its own status tells.
fn achieved_of(object: &Object) -> Mark {
    match object {
        Object::Pod(pod) => marks_of(pod).achieved,
        Object::Node(node) => {
            if node.is_ready() {
                Mark::Done
            } else {
                Mark::Failed
            }
        }
        Object::Deployment(deployment) => {
            let wanted = deployment.spec.replicas.unwrap_or(1);
            if deployment.status.available_replicas >= wanted && deployment.status.updated_replicas >= wanted
            {
                Mark::Done
            } else {
                Mark::UnderWay
            }
        }
        Object::ReplicaSet(set) => {
            if set.status.ready_replicas >= set.spec.replicas.unwrap_or(1) {
                Mark::Done
            } else {
                Mark::UnderWay
            }
        }
        Object::EndpointSlice(slice) => {
            if slice.endpoints.iter().any(Endpoint::is_ready) {
                Mark::Done
            } else {
                Mark::Empty
            }
        }
        Object::Ingress(ingress) => {
            if ingress.status.load_balancer.ingress.is_empty() {
                Mark::UnderWay
            } else {
                Mark::Done
            }
        }
        _ => Mark::Done,
    }
}

fn conditions_of(value: &Value) -> Vec<Condition> {
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_string();
    let list = value["status"]["conditions"].as_array();
    list.into_iter()
        .flatten()
        .map(|condition| {
            let parts = [text(condition, "reason"), text(condition, "message")];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            Condition {
                name: text(condition, "type"),
                state: text(condition, "status"),
                note: parts.join(": "),
            }
        })
        .collect()
}

fn events_of(cluster: &Cluster, object: &ObjectReference) -> Vec<EventLine> {
    let namespace = if object.namespace.is_empty() { "default" } else { &object.namespace };
    let mut events: Vec<EventLine> = cluster
        .store
        .list_in::<Event>(namespace)
        .filter(|event| {
            event.involved_object.kind == object.kind && *event.involved_object.name == *object.name
        })
        .map(|event| EventLine {
            is_warning: event.event_type == "Warning",
            reason: event.reason.clone(),
            source: if event.source.component.is_empty() {
                event.reporting_component.clone()
            } else {
                event.source.component.clone()
            },
            tick: event.last_timestamp.map_or(0, |at| at.0 - EPOCH.0),
            count: u64::try_from(event.count).unwrap_or(1).max(1),
            message: event.message.clone(),
        })
        .collect();
    events.sort_by_key(|event| event.tick);
    let surplus = events.len().saturating_sub(LINES_LIMIT);
    events.split_off(surplus)
}
