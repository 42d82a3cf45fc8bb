//! The namespace controller: empties a namespace that is being deleted, then lets it go.
//!
//! Watches: Namespaces, and every object of a namespace that is being deleted.
//! Writes: deletions, Namespace status and finalizers.
//! Models: `pkg/controller/namespace/namespace_controller.go`, `deletion/namespaced_resources_deleter.go`,
//! `deletion/status_condition_utils.go` (v1.36): Pods first, then all else, then the finalizer `kubernetes`.
//! Leaves out: kinds that cannot be discovered or deleted (the first two conditions are always False).

use std::collections::BTreeMap;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Namespace, NamespaceCondition};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

/// The finalizer by which this controller holds every namespace.
const FINALIZER: &str = "kubernetes";

/// How long it waits before it begins, so that every API server has heard of the deletion.
const GRACE_TICKS: i64 = 5;

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    if let Some(namespace) = change.new_as::<Namespace>() {
        let is_due = namespace.meta.is_terminating();
        return if is_due { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() };
    }
    if change.key.namespace.is_empty() {
        return Vec::new();
    }
    let namespace = view.store.get::<Namespace>("", &change.key.namespace);
    let emptying = namespace.filter(|namespace| namespace.meta.is_terminating());
    emptying.map(|namespace| WorkKey::Object(namespace.key())).into_iter().collect()
}

/// Handles one Namespace.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(namespace) = key.object().and_then(|key| view.store.at::<Namespace>(key)) else {
        return Outcome::nothing(Because::new("because.namespace.gone"));
    };
    let Some(deleted_at) = namespace.meta.deletion_timestamp else {
        return Outcome::nothing(Because::new("because.namespace.active"));
    };
    let name = &namespace.meta.name;
    if !namespace.spec.finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        return Outcome::nothing(Because::new("because.namespace.let_go").with("namespace", name));
    }
    let due = deleted_at.0 + GRACE_TICKS;
    if view.now.0 < due {
        let because = Because::new("because.namespace.grace").with("seconds", due - view.now.0);
        let mut outcome = Outcome::nothing(because);
        outcome.look_again(key.clone(), u64::try_from(due - view.now.0).unwrap_or(1));
        return outcome;
    }
    let definitions = view.store.objects_of(Kind::CustomResourceDefinition);
    let kinds = Kind::ALL.iter().copied().chain(definitions.filter_map(Object::added_kind));
    let kinds = kinds.filter(|kind| kind.is_namespaced());
    let content: Vec<&Object> = kinds.flat_map(|kind| view.store.objects_in(kind, name)).collect();
    let pods = content.iter().filter(|object| object.kind() == Kind::Pod).count();
    let saw = Because::new("because.namespace.saw")
        .with("namespace", name)
        .with("count", content.len())
        .with("pods", pods);
    let mut outcome = Outcome { saw: vec![saw], ..Outcome::default() };
    if content.is_empty() {
        let mut emptied = (**namespace).clone();
        emptied.spec.finalizers.retain(|finalizer| finalizer != FINALIZER);
        let because = Because::new("because.namespace.finalize").with("namespace", name);
        outcome.writes.push(Operation::Update(emptied.into()).because(because.clone()));
        outcome.because = Some(because);
        return outcome;
    }
    // Pods first; the server deletes all of a kind in one request.
    let mut kinds: Vec<Kind> = content
        .iter()
        .filter(|object| (pods == 0 || object.kind() == Kind::Pod) && !object.meta().is_terminating())
        .map(|object| object.kind())
        .collect();
    kinds.dedup();
    for kind in kinds {
        let because =
            Because::new("because.namespace.delete").with("kind", kind.name()).with("namespace", name);
        let because = because.with("count", content.iter().filter(|object| object.kind() == kind).count());
        let delete = Operation::DeleteCollection { kind, namespace: name.clone() };
        outcome.writes.push(delete.because(because));
    }
    if let Some(write) = outcome.writes.first() {
        outcome.because = Some(write.because.clone());
        return outcome;
    }
    let because = Because::new("because.namespace.wait").with("namespace", name).with("count", content.len());
    let mut reported = (**namespace).clone();
    let conditions = remaining_conditions(&content);
    for (condition_type, status, reason, message) in conditions {
        set_condition(&mut reported.status.conditions, (condition_type, status), (reason, message), view.now);
    }
    if reported.status != namespace.status {
        outcome.writes.push(Operation::UpdateStatus(reported.into()).because(because.clone()));
    }
    outcome.because = Some(because);
    outcome
}

/// The five conditions of a namespace whose content does not go: type, status, reason, message.
fn remaining_conditions(content: &[&Object]) -> [(&'static str, &'static str, &'static str, String); 5] {
    let mut by_resource: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_finalizer: BTreeMap<&str, usize> = BTreeMap::new();
    for object in content {
        let info = object.kind().info();
        *by_resource.entry(format!("{}.{}", info.plural, info.group)).or_default() += 1;
        for finalizer in &object.meta().finalizers {
            *by_finalizer.entry(finalizer).or_default() += 1;
        }
    }
    let remaining: Vec<String> = by_resource
        .iter()
        .map(|(resource, count)| format!("{resource} has {count} resource instances"))
        .collect();
    let finalizers: Vec<String> = by_finalizer
        .iter()
        .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"))
        .collect();
    let held = if finalizers.is_empty() {
        (
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished".to_string(),
        )
    } else {
        (
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            format!("Some content in the namespace has finalizers remaining: {}", finalizers.join(", ")),
        )
    };
    [
        (
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered".to_string(),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed".to_string(),
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization".to_string(),
        ),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            format!("Some resources are remaining: {}", remaining.join(", ")),
        ),
        held,
    ]
}

/// Sets a condition in its place.
fn set_condition(
    conditions: &mut Vec<NamespaceCondition>,
    (condition_type, status): (&str, &str),
    (reason, message): (&str, String),
    now: Timestamp,
) {
    let old = conditions.iter_mut().find(|condition| condition.condition_type == condition_type);
    let since =
        old.as_ref().filter(|old| old.status == status).map_or(Some(now), |old| old.last_transition_time);
    let condition = NamespaceCondition {
        condition_type: condition_type.to_string(),
        status: status.to_string(),
        last_transition_time: since,
        reason: reason.to_string(),
        message,
        ..NamespaceCondition::default()
    };
    match old {
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
}
