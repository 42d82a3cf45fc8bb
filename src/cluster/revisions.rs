//! ControllerRevisions: what a StatefulSet or DaemonSet looked like, so that it can be rolled back.
//!
//! Models: `pkg/controller/history/controller_history.go`, `pkg/controller/statefulset/stateful_set_control.go:
//! getStatefulSetRevisions, truncateHistory`, `pkg/controller/daemon/update.go: constructHistory, cleanupHistory` (v1.36).
//! Leaves out: adoption of revisions that nobody owns; the hash is of the canonical JSON, so it looks like upstream's but
//! differs from it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::because::Because;
use super::fnv::fnv1a_32;
use super::ownership;
use super::rng::NAME_ALPHABET;
use super::server::request::Propagation;
use super::server::write::{Operation, Write};
use super::store::Store;
use crate::api::kind::Kind;
use crate::api::kinds::apps::PodTemplateSpec;
use crate::api::kinds::workloads::ControllerRevision;
use crate::api::meta::{Name, ObjectKey, ObjectMeta};
use crate::api::object::{Object, Resource};

/// The label that tells the Pods of one revision from those of another.
pub const REVISION_HASH: &str = "controller-revision-hash";

/// How the owner writes its revisions down.
#[derive(Debug)]
pub struct Style {
    /// The label of a revision that holds its hash.
    pub hash_label: &'static str,
    /// Why a revision is written.
    pub because: &'static str,
}

/// The revisions of one owner, with the newest one of the present template.
#[derive(Debug)]
pub struct History {
    /// All, oldest first, the newest among them; one that is still to be written comes last.
    pub all: Vec<Arc<ControllerRevision>>,
    /// The one of the present template.
    pub update: Arc<ControllerRevision>,
    /// How often a name was taken by something else.
    pub collision_count: i32,
    /// What is to be written first.
    pub writes: Vec<Write>,
}

/// The part of an object that a revision keeps.
fn data_of(template: &PodTemplateSpec) -> Value {
    let mut template = template.to_value();
    template["$patch"] = json!("replace");
    json!({"spec": {"template": template}})
}

/// The hash of a revision, in the letters of generated names. Clashes are told apart by their count.
fn hash_of(data: &Value, collision_count: i32) -> String {
    let collisions = (collision_count > 0).then(|| collision_count.to_le_bytes());
    let hash = fnv1a_32(data.to_string().bytes().chain(collisions.into_iter().flatten()));
    hash.to_string().bytes().map(|digit| char::from(NAME_ALPHABET[usize::from(digit) % 27])).collect()
}

/// The revisions of the owner, and what is to be written so that its present template has the newest.
pub fn history<R: Resource>(
    store: &Store,
    owner: &R,
    template: &PodTemplateSpec,
    collision_count: i32,
    style: &Style,
) -> History {
    plan(store, owner.meta(), ownership::controller_reference(owner), template, collision_count, style)
}

fn plan(
    store: &Store,
    owner: &ObjectMeta,
    reference: crate::api::meta::OwnerReference,
    template: &PodTemplateSpec,
    mut collision_count: i32,
    style: &Style,
) -> History {
    let owned = store.owned_by(&owner.uid).filter_map(Object::get::<ControllerRevision>);
    let mut all: Vec<Arc<ControllerRevision>> =
        owned.filter(|revision| revision.meta.is_controlled_by(&owner.uid)).cloned().collect();
    all.sort_by_key(|revision| {
        (revision.revision, revision.meta.creation_timestamp, revision.meta.name.clone())
    });
    let data = data_of(template);
    let next = all.last().map_or(1, |newest| newest.revision + 1);
    let mut writes = Vec::new();
    let update = match all.iter().rposition(|revision| revision.data == data) {
        Some(place) if place + 1 == all.len() => Arc::clone(&all[place]),
        Some(place) => {
            let mut again = all.remove(place);
            Arc::make_mut(&mut again).revision = next;
            let because = Because::new(style.because).with("name", &again.meta.name).with("revision", next);
            writes.push(Operation::Update(Object::ControllerRevision(Arc::clone(&again))).because(because));
            all.push(Arc::clone(&again));
            again
        }
        None => {
            let taken = |hash: &str| {
                store.get::<ControllerRevision>(&owner.namespace, &format!("{}-{hash}", owner.name)).is_some()
            };
            let mut hash = hash_of(&data, collision_count);
            while taken(&hash) {
                collision_count += 1;
                hash = hash_of(&data, collision_count);
            }
            let mut labels = template.meta.labels.clone();
            labels.insert(style.hash_label.to_string(), hash.clone());
            let meta = ObjectMeta {
                name: Name::from(format!("{}-{hash}", owner.name)),
                namespace: owner.namespace.clone(),
                labels,
                annotations: owner.annotations.clone(),
                owner_references: vec![reference].into(),
                ..ObjectMeta::default()
            };
            let new =
                Arc::new(ControllerRevision { meta, data, revision: next, ..ControllerRevision::default() });
            let because = Because::new(style.because).with("name", &new.meta.name).with("revision", next);
            writes.push(Operation::Create(Object::ControllerRevision(Arc::clone(&new))).because(because));
            all.push(Arc::clone(&new));
            new
        }
    };
    History { all, update, collision_count, writes }
}

impl History {
    /// The revision of that name.
    pub fn named(&self, name: &str) -> Option<&Arc<ControllerRevision>> {
        self.all.iter().find(|revision| *revision.meta.name == *name)
    }

    /// Deletes the oldest revisions beyond the limit; those for which `is_live` holds do not count.
    pub fn plan_cleanup(
        &self,
        limit: usize,
        because: &'static str,
        is_live: impl Fn(&ControllerRevision) -> bool,
    ) -> Vec<Write> {
        let dead: Vec<_> = self.all.iter().filter(|revision| !is_live(revision)).collect();
        let surplus = dead.len().saturating_sub(limit);
        let delete = |revision: &&Arc<ControllerRevision>| {
            let key = ObjectKey {
                kind: Kind::ControllerRevision,
                namespace: revision.meta.namespace.clone(),
                name: revision.meta.name.clone(),
            };
            let operation = Operation::Delete {
                key,
                uid: None,
                grace_seconds: None,
                propagation: Propagation::Background,
            };
            let count = dead.len();
            operation.because(
                Because::new(because)
                    .with("name", &revision.meta.name)
                    .with("count", count)
                    .with("limit", limit),
            )
        };
        dead.iter().take(surplus).map(delete).collect()
    }
}

/// The template that a revision kept.
pub fn template_in(revision: &ControllerRevision) -> Option<PodTemplateSpec> {
    let mut template = revision.data.pointer("/spec/template")?.clone();
    template.as_object_mut()?.remove("$patch");
    crate::api::codec::Codec::decode(template).ok()
}
