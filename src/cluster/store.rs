//! What etcd holds: every object, with a revision, and the changes that watchers have not been given yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};

use super::actor::Actor;
use super::fact::FactId;
use crate::api::kind::Kind;
use crate::api::meta::{Name, ObjectKey, ObjectMeta, OwnerReference, Revision, Uid};
use crate::api::object::{Object, Resource};
use crate::api::sharing::Recent;

/// One change of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The store's revision after it.
    pub revision: u64,
    /// The object.
    pub key: ObjectKey,
    /// The object before; `None` when it was created.
    pub old: Option<Object>,
    /// The object after; `None` when it vanished.
    pub new: Option<Object>,
    /// Who wrote.
    pub writer: Actor,
    /// The fact that records the write.
    pub fact: FactId,
}

impl Change {
    /// The object before, if it is of that kind.
    pub fn old_as<R: Resource>(&self) -> Option<&Arc<R>> {
        self.old.as_ref().and_then(R::from_object)
    }

    /// The object after, if it is of that kind.
    pub fn new_as<R: Resource>(&self) -> Option<&Arc<R>> {
        self.new.as_ref().and_then(R::from_object)
    }

    /// The object after, or before if it vanished, if it is of that kind.
    pub fn either_as<R: Resource>(&self) -> Option<&Arc<R>> {
        self.new.as_ref().or(self.old.as_ref()).and_then(R::from_object)
    }
}

/// Keeps once what other objects that were stored lately have, too.
fn share(meta: &mut ObjectMeta) {
    thread_local!(static OWNERS: Recent<Vec<OwnerReference>> = Recent::default());
    thread_local!(static LABELS: Recent<BTreeMap<String, String>> = Recent::default());
    OWNERS.with(|recent| meta.owner_references.share(recent));
    LABELS.with(|recent| meta.labels.share(recent));
}

/// All objects. Cloning shares everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    revision: u64,
    objects: OrdMap<ObjectKey, Object>,
    pods_by_node: OrdMap<Name, OrdSet<ObjectKey>>,
    owned_by_uid: OrdMap<Uid, OrdSet<ObjectKey>>,
    /// Pods that no controller manages, by namespace.
    orphan_pods: OrdMap<Name, OrdSet<ObjectKey>>,
    /// Changes since the last delivery, oldest first.
    undelivered: Vector<Change>,
}

impl Store {
    /// The revision of the last write.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object at that key.
    pub fn object(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key)
    }

    /// The typed object of that namespace (empty for kinds of the whole cluster) and name.
    pub fn get<R: Resource>(&self, namespace: &str, name: &str) -> Option<&Arc<R>> {
        self.objects.get(&ObjectKey::new(R::KIND, namespace, name)).and_then(R::from_object)
    }

    /// The typed object at that key; `None` also when the key is of another kind.
    pub fn at<R: Resource>(&self, key: &ObjectKey) -> Option<&Arc<R>> {
        self.objects.get(key).and_then(R::from_object)
    }

    /// All objects, by kind, namespace and name.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is no object.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// All objects of a kind, by namespace and name.
    pub fn objects_of(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        let from = ObjectKey::new(kind, "", "");
        self.objects.range(from..).take_while(move |(key, _)| key.kind == kind).map(|(_, object)| object)
    }

    /// All typed objects of a kind, by namespace and name.
    pub fn list<R: Resource>(&self) -> impl Iterator<Item = &Arc<R>> {
        self.objects_of(R::KIND).filter_map(R::from_object)
    }

    /// All objects of a kind in a namespace, by name.
    pub fn objects_in(&self, kind: Kind, namespace: &str) -> impl Iterator<Item = &Object> {
        let from = ObjectKey::new(kind, namespace, "");
        let namespace = from.namespace.clone();
        self.objects
            .range(from..)
            .take_while(move |(key, _)| key.kind == kind && key.namespace == namespace)
            .map(|(_, object)| object)
    }

    /// All objects of a kind in a namespace whose names begin so, by name.
    pub fn objects_named<'a>(
        &'a self,
        kind: Kind,
        namespace: &str,
        prefix: &str,
    ) -> impl Iterator<Item = &'a Object> + use<'a> {
        let from = ObjectKey::new(kind, namespace, prefix);
        let (namespace, prefix) = (from.namespace.clone(), from.name.clone());
        self.objects
            .range(from..)
            .take_while(move |(key, _)| {
                key.kind == kind && key.namespace == namespace && key.name.starts_with(&*prefix)
            })
            .map(|(_, object)| object)
    }

    /// All typed objects of a kind in a namespace, by name.
    pub fn list_in<R: Resource>(&self, namespace: &str) -> impl Iterator<Item = &Arc<R>> {
        self.objects_in(R::KIND, namespace).filter_map(R::from_object)
    }

    /// The Pods bound to that node, by namespace and name.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<crate::api::kinds::pod::Pod>> {
        let keys = self.pods_by_node.get(node);
        keys.into_iter().flatten().filter_map(|key| self.at(key))
    }

    /// The objects that name `uid` as an owner, by kind, namespace and name.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = &Object> {
        let keys = self.owned_by_uid.get(uid);
        keys.into_iter().flatten().filter_map(|key| self.objects.get(key))
    }

    /// The Pods of a namespace that no controller manages, by name: those that a controller may adopt.
    pub fn orphan_pods_in(&self, namespace: &str) -> impl Iterator<Item = &Arc<crate::api::kinds::pod::Pod>> {
        let keys = self.orphan_pods.get(namespace);
        keys.into_iter().flatten().filter_map(|key| self.at(key))
    }

    /// Stores the object under a new revision and records the change. Returns what was stored.
    pub fn put(&mut self, mut object: Object, writer: &Actor, fact: FactId) -> Object {
        self.revision += 1;
        let meta = object.meta_mut();
        meta.resource_version = Revision(self.revision);
        share(meta);
        let key = object.key();
        let old = self.insert(key.clone(), object.clone());
        self.record(key, old, Some(object.clone()), writer, fact);
        object
    }

    /// Removes the object under a new revision and records the change. Returns what was removed.
    pub fn remove(&mut self, key: &ObjectKey, writer: &Actor, fact: FactId) -> Option<Object> {
        let old = self.take(key)?;
        self.revision += 1;
        self.record(key.clone(), Some(old.clone()), None, writer, fact);
        Some(old)
    }

    /// Brings a view up to date with one change, without recording it.
    pub fn follow(&mut self, change: &Change) {
        self.revision = change.revision;
        match &change.new {
            Some(object) => {
                self.insert(change.key.clone(), object.clone());
            }
            None => {
                self.take(&change.key);
            }
        }
    }

    /// The changes that watchers have not been given yet, oldest first.
    pub fn undelivered(&self) -> &Vector<Change> {
        &self.undelivered
    }

    /// Takes the changes that watchers have not been given yet, oldest first.
    pub fn take_undelivered(&mut self) -> Vector<Change> {
        std::mem::take(&mut self.undelivered)
    }

    fn record(
        &mut self,
        key: ObjectKey,
        old: Option<Object>,
        new: Option<Object>,
        writer: &Actor,
        fact: FactId,
    ) {
        self.undelivered.push_back(Change {
            revision: self.revision,
            key,
            old,
            new,
            writer: writer.clone(),
            fact,
        });
    }

    fn insert(&mut self, key: ObjectKey, object: Object) -> Option<Object> {
        let old = self.objects.insert(key.clone(), object.clone());
        self.index(&key, old.as_ref(), Some(&object));
        old
    }

    fn take(&mut self, key: &ObjectKey) -> Option<Object> {
        let old = self.objects.remove(key)?;
        self.index(key, Some(&old), None);
        Some(old)
    }

    /// Brings the indices up to date; those in which the object stands as before are left alone.
    fn index(&mut self, key: &ObjectKey, old: Option<&Object>, new: Option<&Object>) {
        let node = |object: &Object| match object {
            Object::Pod(pod) if pod.is_bound() => Some(pod.node_name.clone()),
            _ => None,
        };
        let (from, to) = (old.and_then(node), new.and_then(node));
        if from != to {
            from.iter().for_each(|node| remove_from(&mut self.pods_by_node, node, key));
            to.into_iter().for_each(|node| add_to(&mut self.pods_by_node, node, key));
        }
        let is_orphan = |object: &Object| key.kind == Kind::Pod && object.meta().controller().is_none();
        match (old.is_some_and(is_orphan), new.is_some_and(is_orphan)) {
            (true, false) => remove_from(&mut self.orphan_pods, &key.namespace, key),
            (false, true) => add_to(&mut self.orphan_pods, key.namespace.clone(), key),
            _ => {}
        }
        let owners = |object: Option<&Object>| object.map(|object| object.meta().owner_references.clone());
        let (from, to) = (owners(old).unwrap_or_default(), owners(new).unwrap_or_default());
        if from != to {
            from.iter().for_each(|owner| remove_from(&mut self.owned_by_uid, &owner.uid, key));
            to.iter().for_each(|owner| add_to(&mut self.owned_by_uid, owner.uid.clone(), key));
        }
    }
}

/// Puts a key into an index.
fn add_to(index: &mut OrdMap<Arc<str>, OrdSet<ObjectKey>>, entry: Arc<str>, key: &ObjectKey) {
    index.entry(entry).or_default().insert(key.clone());
}

/// Takes a key out of an index, and the entry with its last key.
fn remove_from(index: &mut OrdMap<Arc<str>, OrdSet<ObjectKey>>, entry: &Arc<str>, key: &ObjectKey) {
    if let Some(keys) = index.get_mut(entry) {
        keys.remove(key);
        if keys.is_empty() {
            index.remove(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::pod::Pod;

    fn pod(name: &str, node: &str) -> Object {
        let mut pod = Pod::default();
        pod.meta.name = name.into();
        pod.meta.namespace = "demo".into();
        pod.node_name = node.into();
        pod.into()
    }

    #[test]
    fn revisions_grow_with_every_write_and_stand_in_the_object() {
        let mut store = Store::default();
        let first = store.put(pod("a", ""), &Actor::You, FactId(1));
        let second = store.put(pod("a", ""), &Actor::You, FactId(2));
        assert!(first.meta().resource_version < second.meta().resource_version);
        assert_eq!(store.undelivered().len(), 2);
    }

    #[test]
    fn the_index_of_a_node_follows_its_pods() {
        let mut store = Store::default();
        store.put(pod("a", "node-1"), &Actor::You, FactId(1));
        store.put(pod("b", "node-1"), &Actor::You, FactId(2));
        store.remove(&pod("a", "").key(), &Actor::You, FactId(3));
        assert_eq!(store.pods_on("node-1").map(|pod| pod.meta.name.to_string()).collect::<Vec<_>>(), ["b"]);
        store.put(pod("b", "node-2"), &Actor::You, FactId(4));
        assert_eq!(store.pods_on("node-1").count(), 0);
    }

    #[test]
    fn the_index_of_orphans_follows_ownership() {
        use crate::api::meta::OwnerReference;
        let mut store = Store::default();
        store.put(pod("a", ""), &Actor::You, FactId(1));
        assert_eq!(store.orphan_pods_in("demo").count(), 1);
        let mut adopted = pod("a", "");
        let owner = OwnerReference { uid: "u".into(), controller: Some(true), ..OwnerReference::default() };
        adopted.meta_mut().owner_references.push(owner);
        store.put(adopted, &Actor::You, FactId(2));
        assert_eq!(store.orphan_pods_in("demo").count(), 0);
        assert_eq!(store.owned_by("u").count(), 1);
    }

    #[test]
    fn a_view_that_follows_every_change_holds_the_same_objects() {
        let mut store = Store::default();
        let mut view = store.clone();
        store.put(pod("a", "node-1"), &Actor::You, FactId(1));
        store.put(pod("b", ""), &Actor::You, FactId(2));
        store.remove(&pod("a", "").key(), &Actor::You, FactId(3));
        let changes = store.take_undelivered();
        changes.iter().for_each(|change| view.follow(change));
        assert_eq!(view, store);
    }
}
