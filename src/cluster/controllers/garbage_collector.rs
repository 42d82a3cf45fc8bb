//! The garbage collector: deletes what nobody owns any more, and holds owners back until their dependents are gone or
//! let go.
//!
//! Watches: every kind.
//! Writes: deletions, owner references, the finalizers `foregroundDeletion` and `orphan`.
//! Models: `pkg/controller/garbagecollector/garbagecollector.go: attemptToDeleteItem, attemptToOrphanWorker` (v1.36).
//! Leaves out: owners of kinds that the cluster does not know (taken to exist), breaking circles of objects that wait for one another.

use crate::api::kind::Kind;
use crate::api::meta::{ObjectKey, ObjectMeta, OwnerReference};
use crate::api::object::Object;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::store::{Change, Store};

/// The finalizer that holds an owner until its dependents are gone.
const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer that holds an owner until its dependents have let go of it.
const ORPHAN: &str = "orphan";

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let old = change.old.as_ref().map(Object::meta);
    let Some(new) = change.new.as_ref().map(Object::meta) else {
        return old.map_or_else(Vec::new, |old| after_vanishing(view.store, old));
    };
    let mut keys = Vec::new();
    let references_changed = old.is_none_or(|old| old.owner_references != new.owner_references);
    if references_changed {
        let is_solid = |reference| fate_of(view.store, &change.key, reference) == Fate::Solid;
        if !new.owner_references.iter().all(is_solid) {
            keys.push(WorkKey::Object(change.key.clone()));
        }
        let let_go = old.into_iter().flat_map(|old| &old.owner_references);
        keys.extend(let_go.filter_map(|reference| waiting_owner(view.store, reference, new)));
    }
    let was_waiting = old.is_some_and(is_waiting);
    if is_waiting(new) && !was_waiting {
        keys.push(WorkKey::Object(change.key.clone()));
        let dependents = view.store.owned_by(&new.uid).map(|dependent| WorkKey::Object(dependent.key()));
        keys.extend(dependents);
    }
    keys
}

/// The dependents of what has vanished, and the owners that were waiting for it.
fn after_vanishing(store: &Store, old: &ObjectMeta) -> Vec<WorkKey> {
    let mut keys: Vec<WorkKey> =
        store.owned_by(&old.uid).map(|dependent| WorkKey::Object(dependent.key())).collect();
    let owners = old.owner_references.iter();
    keys.extend(owners.filter_map(|reference| waiting_owner(store, reference, old)));
    keys
}

/// The key of an owner that waits for its dependents.
fn waiting_owner(store: &Store, reference: &OwnerReference, dependent: &ObjectMeta) -> Option<WorkKey> {
    let owner = owner_of(store, reference, dependent)?;
    is_waiting(owner.meta()).then(|| WorkKey::Object(owner.key()))
}

/// Whether an object is on its way out and waits for the collector.
fn is_waiting(meta: &ObjectMeta) -> bool {
    meta.is_terminating() && (has_finalizer(meta, FOREGROUND) || has_finalizer(meta, ORPHAN))
}

fn has_finalizer(meta: &ObjectMeta, finalizer: &str) -> bool {
    meta.finalizers.iter().any(|other| other == finalizer)
}

/// What has become of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is there.
    Solid,
    /// It is gone, or another object has its name.
    Gone,
    /// It waits for its dependents to be gone.
    Waiting,
}

fn fate_of(store: &Store, dependent: &ObjectKey, reference: &OwnerReference) -> Fate {
    let Some(kind) = Kind::from_manifest(&reference.api_version, &reference.kind) else { return Fate::Solid };
    if kind.is_namespaced() && dependent.namespace.is_empty() {
        return Fate::Solid;
    }
    match store.object(&owner_key(kind, &dependent.namespace, reference)) {
        Some(owner) if owner.meta().uid != reference.uid => Fate::Gone,
        Some(owner) if owner.meta().is_terminating() && has_finalizer(owner.meta(), FOREGROUND) => {
            Fate::Waiting
        }
        Some(_) => Fate::Solid,
        None => Fate::Gone,
    }
}

fn owner_of<'a>(store: &'a Store, reference: &OwnerReference, dependent: &ObjectMeta) -> Option<&'a Object> {
    let kind = Kind::from_manifest(&reference.api_version, &reference.kind)?;
    let owner = store.object(&owner_key(kind, &dependent.namespace, reference))?;
    (owner.meta().uid == reference.uid).then_some(owner)
}

fn owner_key(kind: Kind, namespace: &str, reference: &OwnerReference) -> ObjectKey {
    ObjectKey::new(kind, if kind.is_namespaced() { namespace } else { "" }, reference.name.clone())
}

/// Handles one object.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(object) = key.object().and_then(|key| view.store.object(key)) else {
        return Outcome::nothing(Because::new("because.garbagecollector.gone"));
    };
    let meta = object.meta();
    if meta.is_terminating() {
        return match () {
            () if has_finalizer(meta, ORPHAN) => set_dependents_free(view.store, object),
            () if has_finalizer(meta, FOREGROUND) => wait_for_dependents(view.store, object),
            () => Outcome::nothing(Because::new("because.garbagecollector.on_its_way")),
        };
    }
    let key = object.key();
    let fates: Vec<Fate> =
        meta.owner_references.iter().map(|reference| fate_of(view.store, &key, reference)).collect();
    let saw =
        meta.owner_references.iter().zip(&fates).map(|(reference, fate)| saw(reference, *fate)).collect();
    let (operation, because) = match () {
        () if fates.iter().all(|fate| *fate == Fate::Solid) => {
            let because = Because::new("because.garbagecollector.owned").with("object", &meta.name);
            return Outcome { saw, ..Outcome::nothing(because) };
        }
        () if fates.contains(&Fate::Solid) => {
            let mut kept = object.clone();
            let mut solid = fates.iter().map(|fate| *fate == Fate::Solid);
            kept.meta_mut().owner_references.retain(|_| solid.next().unwrap_or(true));
            (Operation::Update(kept), Because::new("because.garbagecollector.forget_owner"))
        }
        () => {
            let has_dependents = view.store.owned_by(&meta.uid).next().is_some();
            let propagation = match () {
                () if fates.contains(&Fate::Waiting) && has_dependents => Propagation::Foreground,
                () if has_finalizer(meta, ORPHAN) => Propagation::Orphan,
                () if has_finalizer(meta, FOREGROUND) => Propagation::Foreground,
                () => Propagation::Background,
            };
            let uid = Some(meta.uid.clone());
            let delete = Operation::Delete { key, uid, grace_seconds: None, propagation };
            let reason = if fates.contains(&Fate::Waiting) {
                "because.garbagecollector.delete_first"
            } else {
                "because.garbagecollector.delete"
            };
            (delete, Because::new(reason))
        }
    };
    let left = fates.iter().filter(|fate| **fate == Fate::Solid).count();
    let because = because
        .with("object", format!("{} {}", object.kind().name(), meta.name))
        .with("owners", meta.owner_references.len())
        .with("left", left);
    let mut writes: Vec<Write> =
        elsewhere(view.store, object).into_iter().map(|event| event.because(because.clone())).collect();
    writes.push(operation.because(because.clone()));
    Outcome { saw, because: Some(because), writes, ..Outcome::default() }
}

/// An event for each owner that is there, but in another namespace, where nobody looks for it.
fn elsewhere(store: &Store, object: &Object) -> Vec<Operation> {
    let mut events = Vec::new();
    for reference in &object.meta().owner_references {
        let Some(kind) = Kind::from_manifest(&reference.api_version, &reference.kind) else { continue };
        let namespace = &object.meta().namespace;
        let is_elsewhere = |owner: &Object| {
            owner.meta().uid == reference.uid && owner.meta().namespace != *namespace && kind.is_namespaced()
        };
        if !namespace.is_empty() && store.objects_of(kind).any(is_elsewhere) {
            let message = format!(
                "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace \"{namespace}\"",
                reference.api_version, reference.kind, reference.name, reference.uid
            );
            events.push(Operation::Event(EventRecord::warning(object, "OwnerRefInvalidNamespace", message)));
        }
    }
    events
}

fn saw(reference: &OwnerReference, fate: Fate) -> Because {
    let key = match fate {
        Fate::Solid => "because.garbagecollector.saw_owner",
        Fate::Gone => "because.garbagecollector.saw_owner_gone",
        Fate::Waiting => "because.garbagecollector.saw_owner_waiting",
    };
    Because::new(key).with("owner", format!("{} {}", reference.kind, reference.name))
}

/// Takes the owner out of its dependents, then lets the owner go.
fn set_dependents_free(store: &Store, owner: &Object) -> Outcome {
    let mut outcome = Outcome::default();
    let uid = &owner.meta().uid;
    for dependent in store.owned_by(uid) {
        let mut free = dependent.clone();
        free.meta_mut().owner_references.retain(|reference| reference.uid != *uid);
        let because = Because::new("because.garbagecollector.set_free")
            .with("object", format!("{} {}", dependent.kind().name(), dependent.meta().name))
            .with("owner", &owner.meta().name);
        outcome.writes.push(Operation::Update(free).because(because));
    }
    let because = Because::new("because.garbagecollector.orphaned").with("count", outcome.writes.len());
    outcome.writes.push(Operation::Update(without_finalizer(owner, ORPHAN)).because(because.clone()));
    outcome.because = Some(because);
    outcome
}

/// Lets an owner go when no dependent holds it any more.
fn wait_for_dependents(store: &Store, owner: &Object) -> Outcome {
    let uid = &owner.meta().uid;
    let blocks = |dependent: &&Object| {
        let mut references = dependent.meta().owner_references.iter();
        references.any(|reference| reference.uid == *uid && reference.block_owner_deletion == Some(true))
    };
    let blocking = store.owned_by(uid).filter(blocks).count();
    if blocking > 0 {
        let because = Because::new("because.garbagecollector.wait").with("count", blocking);
        return Outcome::nothing(because.with("object", &owner.meta().name));
    }
    let because = Because::new("because.garbagecollector.dependents_gone").with("object", &owner.meta().name);
    let write = Operation::Update(without_finalizer(owner, FOREGROUND)).because(because.clone());
    Outcome { because: Some(because), writes: vec![write], ..Outcome::default() }
}

fn without_finalizer(object: &Object, finalizer: &str) -> Object {
    let mut object = object.clone();
    object.meta_mut().finalizers.retain(|other| other != finalizer);
    object
}
