//! One write: admission and storage.
//!
//! Models: `apiserver/pkg/registry/generic/registry.Store` (create, update, delete with graceful deletion and
//! finalizers), `registry/core/pod.strategy` and its siblings (what a status update may touch, what raises the
//! generation).

use std::sync::Arc;

use super::request::Propagation;
use super::status::{Cause, Status};
use super::write::Operation;
use super::{admit, events, managed};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{
    Component, FOREGROUND_FINALIZER, Mark, Marks, Name, ORPHAN_FINALIZER, ObjectKey, ObjectMeta, Revision,
    Uid,
};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::actor::Actor;
use crate::cluster::fact::FactId;
use crate::cluster::rng::Stream;
use crate::cluster::settings::Settings;
use crate::cluster::store::Store;

/// Everything one write touches.
#[derive(Debug)]
pub struct Transaction<'a> {
    /// The store.
    pub store: &'a mut Store,
    /// The server's random numbers: names, uids, addresses.
    pub stream: &'a mut Stream,
    /// The time.
    pub now: Timestamp,
    /// How the cluster was set up.
    pub settings: &'a Settings,
    /// Who writes.
    pub writer: &'a Actor,
    /// The fact that will record the write.
    pub fact: FactId,
}

/// What a write did to the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The object.
    pub key: ObjectKey,
    /// Before; `None` when it was created.
    pub old: Option<Object>,
    /// After; `None` when it is gone.
    pub new: Option<Object>,
}

impl Written {
    /// Whether the store is as it was.
    pub fn is_nothing(&self) -> bool {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => old.is_same(new),
            (None, None) => true,
            _ => false,
        }
    }
}

const NAME_SUFFIX_LETTERS: u8 = 5;
const MAX_GENERATED_BASE_BYTES: usize = 58;
/// How often a generated name is drawn when those before are taken.
const MAX_NAME_ATTEMPTS: u32 = 8;

impl Transaction<'_> {
    /// Carries out a component's write.
    ///
    /// # Errors
    /// The server's refusal; the store is then as it was.
    pub fn execute(&mut self, operation: Operation) -> Result<Written, Status> {
        match operation {
            Operation::Create(object) => self.create(object),
            Operation::Update(object) => self.update(object),
            Operation::UpdateStatus(object) => self.update_status(object),
            Operation::Delete { key, uid, grace_seconds, propagation } => {
                self.delete(&key, uid.as_ref(), grace_seconds, Some(propagation))
            }
            // The machine carries out its parts.
            Operation::DeleteCollection { .. } => Err(Status::method_not_allowed()),
            Operation::Bind { pod, node } => self.bind(&pod, node),
            Operation::Event(event) => Ok(events::tell(self, event)),
        }
    }

    /// Stores a new object.
    ///
    /// # Errors
    /// 404 when the namespace does not exist, 403 when it is terminating, 409 when the name is taken, and what
    /// admission refuses.
    pub fn create(&mut self, mut object: Object) -> Result<Written, Status> {
        let kind = object.kind();
        self.check_namespace(kind, object.meta())?;
        let meta = object.meta_mut();
        let is_generated = meta.name.is_empty() && !meta.generate_name.is_empty();
        let mut key = object.key();
        for attempt in 1..=if is_generated { MAX_NAME_ATTEMPTS } else { 1 } {
            if is_generated {
                let meta = object.meta_mut();
                meta.name = self.generated_name(&meta.generate_name).into();
                key = object.key();
            }
            match self.store.object(&key) {
                None => break,
                Some(_) if is_generated && attempt < MAX_NAME_ATTEMPTS => {}
                Some(_) => return Err(Status::already_exists(kind, &key.name)),
            }
        }
        let now = self.now;
        let meta = object.meta_mut();
        if meta.uid.is_empty() {
            meta.uid = self.stream.uuid().into();
        }
        meta.creation_timestamp = Some(now);
        meta.deletion_timestamp = None;
        meta.deletion_grace_period_seconds = None;
        meta.generation = i64::from(has_generation(kind));
        admit::on_create(self, &mut object)?;
        if let Some(by) = self.by(&key) {
            object.meta_mut().marks = Marks::default();
            object.meta_mut().marks.note(Mark { by, of_status: false, at: now });
        }
        let new = self.store.put(object, self.writer, self.fact);
        Ok(Written { key, old: None, new: Some(new) })
    }

    /// Replaces metadata and spec; the status stays as stored.
    ///
    /// # Errors
    /// 404, or 409 when the object carries a resourceVersion that is not the stored one, or 422 when the kind must
    /// carry one and does not.
    pub fn update(&mut self, object: Object) -> Result<Written, Status> {
        let key = object.key();
        if must_name_version(key.kind) && object.meta().resource_version == Revision(0) {
            let cause = Cause {
                reason: "FieldValueInvalid",
                message: "Invalid value: 0: must be specified for an update".to_string(),
                field: "metadata.resourceVersion".to_string(),
            };
            return Err(Status::invalid(key.kind, &key.name, vec![cause]));
        }
        let old = self.current(&key, object.meta())?;
        let mut new = object;
        copy_status(&mut new, &old);
        self.keep_system_meta(&old, &mut new);
        if spec_differs(&old, &new) {
            new.meta_mut().generation = old.meta().generation + i64::from(has_generation(key.kind));
        }
        admit::on_update(self, &old, &mut new)?;
        let by = self.by(&key);
        if by.is_some() {
            new.meta_mut().keep_managers(old.meta());
        }
        self.put_or_vanish(key, old, new, by.map(|by| (by, false)))
    }

    /// Replaces the status; all else stays as stored.
    ///
    /// # Errors
    /// 404, or 409 when the object carries a resourceVersion that is not the stored one.
    pub fn update_status(&mut self, object: Object) -> Result<Written, Status> {
        let key = object.key();
        let old = self.current(&key, object.meta())?;
        let mut new = old.clone();
        take_status(&mut new, &object);
        let by = self.by(&key);
        if by.is_none() {
            new.meta_mut().keep_managers(object.meta());
        }
        self.put_or_vanish(key, old, new, by.map(|by| (by, true)))
    }

    /// Deletes an object, or begins to.
    ///
    /// `propagation: None` means what the object's finalizers say, else the kind's default.
    ///
    /// # Errors
    /// 404, 403 for namespaces that must stay, or 409 when the uid differs.
    pub fn delete(
        &mut self,
        key: &ObjectKey,
        uid: Option<&Uid>,
        grace_seconds: Option<i64>,
        propagation: Option<Propagation>,
    ) -> Result<Written, Status> {
        let old = self.store.object(key).cloned().ok_or_else(|| Status::not_found(key.kind, &key.name))?;
        if let Some(uid) = uid
            && *uid != old.meta().uid
        {
            let why = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                old.meta().uid
            );
            return Err(Status::conflict_because(key.kind, &key.name, &why));
        }
        admit::on_delete(key)?;
        let mut new = old.clone();
        // A Pod that waits out its grace keeps the finalizers it has.
        if !(old.meta().is_terminating() && has_grace(key.kind)) {
            new.meta_mut().finalizers = finalizers_after_delete(&old, propagation).into();
        }
        let grace_seconds = granted_grace_seconds(&old, grace_seconds);
        let is_held = !new.meta().finalizers.is_empty() || holds_namespace(&new);
        if grace_seconds == 0 && !is_held {
            if let Some(added) = old.added_kind() {
                // Without its definition nothing of the kind can be reached.
                let objects: Vec<ObjectKey> = self.store.objects_of(added).map(Object::key).collect();
                for object in objects {
                    self.store.remove(&object, self.writer, self.fact);
                }
            }
            self.store.remove(key, self.writer, self.fact);
            return Ok(Written { key: key.clone(), old: Some(old), new: None });
        }
        let shorter = old.meta().deletion_grace_period_seconds.is_none_or(|before| grace_seconds < before);
        if old.meta().is_terminating() && !shorter {
            return self.put_or_vanish(key.clone(), old, new, None);
        }
        let now = self.now;
        let meta = new.meta_mut();
        meta.deletion_timestamp = Some(Timestamp(now.0 + grace_seconds));
        meta.deletion_grace_period_seconds = Some(grace_seconds);
        if meta.generation > 0 {
            meta.generation += 1;
        }
        if let Object::Namespace(namespace) = &mut new {
            Arc::make_mut(namespace).status.phase = "Terminating".to_string();
            Arc::make_mut(namespace).meta.deletion_grace_period_seconds = None;
        }
        let new = self.store.put(new, self.writer, self.fact);
        Ok(Written { key: key.clone(), old: Some(old), new: Some(new) })
    }

    /// Sets a Pod's node.
    ///
    /// # Errors
    /// 404, or 409 when the Pod has a node or is on its way out.
    pub fn bind(&mut self, key: &ObjectKey, node: Name) -> Result<Written, Status> {
        let old = self.store.at::<Pod>(key).cloned().ok_or_else(|| Status::not_found(key.kind, &key.name))?;
        if old.meta.is_terminating() {
            let why = format!("pod {} is being deleted, cannot be assigned to a host", key.name);
            return Err(Status::conflict_because(key.kind, &key.name, &why));
        }
        if old.is_bound() {
            let why = format!("pod {} is already assigned to node \"{}\"", key.name, old.node_name);
            return Err(Status::conflict_because(key.kind, &key.name, &why));
        }
        let mut pod = (*old).clone();
        pod.node_name = node;
        pod.status.nominated_node_name = Name::default();
        admit::add_topology_labels(self.store, &mut pod);
        pod.status.set_condition("PodScheduled", "True", "", "", self.now);
        let new = self.store.put(Object::from(pod), self.writer, self.fact);
        Ok(Written { key: key.clone(), old: Some(Object::Pod(old)), new: Some(new) })
    }

    /// The component that writes; `None` for people, and for events.
    fn by(&self, key: &ObjectKey) -> Option<Component> {
        if key.kind == Kind::Event { None } else { self.writer.component(key.kind, &key.namespace) }
    }

    fn generated_name(&mut self, base: &str) -> String {
        let mut base = base.to_string();
        while base.len() > MAX_GENERATED_BASE_BYTES {
            base.pop();
        }
        base + &self.stream.name_suffix(NAME_SUFFIX_LETTERS)
    }

    /// The stored object, if `meta` was read from it.
    fn current(&self, key: &ObjectKey, meta: &ObjectMeta) -> Result<Object, Status> {
        let old = self.store.object(key).cloned().ok_or_else(|| Status::not_found(key.kind, &key.name))?;
        let stale =
            meta.resource_version != Revision(0) && meta.resource_version != old.meta().resource_version;
        let replaced = !meta.uid.is_empty() && meta.uid != old.meta().uid;
        if replaced {
            let why = format!(
                "Precondition failed: UID in precondition: {}, UID in object meta: {}",
                meta.uid,
                old.meta().uid
            );
            return Err(Status::conflict_because(key.kind, &key.name, &why));
        }
        if stale { Err(Status::conflict(key.kind, &key.name)) } else { Ok(old) }
    }

    fn check_namespace(&self, kind: Kind, meta: &ObjectMeta) -> Result<(), Status> {
        if !kind.is_namespaced() {
            return Ok(());
        }
        match self.store.get::<Namespace>("", &meta.namespace) {
            None => Err(Status::not_found(Kind::Namespace, &meta.namespace)),
            Some(namespace) if namespace.meta.is_terminating() && kind != Kind::Event => {
                let why = format!(
                    "unable to create new content in namespace {} because it is being terminated",
                    meta.namespace
                );
                let mut status = Status::forbidden(kind, &meta.name, &why);
                status.details.causes.push(Cause {
                    reason: "NamespaceTerminating",
                    message: format!("namespace {} is being terminated", meta.namespace),
                    field: "metadata.namespace".to_string(),
                });
                Err(status)
            }
            Some(_) => Ok(()),
        }
    }

    /// What no update may change.
    fn keep_system_meta(&self, old: &Object, new: &mut Object) {
        let old = old.meta();
        let new = new.meta_mut();
        new.uid = old.uid.clone();
        new.creation_timestamp = old.creation_timestamp;
        new.deletion_timestamp = old.deletion_timestamp;
        new.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
        new.generation = old.generation;
        new.generate_name = old.generate_name.clone();
        new.resource_version = old.resource_version;
    }

    /// Stores the new object unless nothing changed; removes it if it was only held by finalizers that are gone.
    ///
    /// `by` is the component that writes, and whether it writes the status.
    fn put_or_vanish(
        &mut self,
        key: ObjectKey,
        old: Object,
        mut new: Object,
        by: Option<(Component, bool)>,
    ) -> Result<Written, Status> {
        new.meta_mut().resource_version = old.meta().resource_version;
        if old == new {
            return Ok(Written { key, new: Some(old.clone()), old: Some(old) });
        }
        if let Some((by, of_status)) = by {
            let scales = *self.writer == Actor::HorizontalPodAutoscaler;
            managed::written_by(&old, &mut new, Mark { by, of_status, at: self.now }, scales);
        }
        let meta = new.meta();
        let is_over = meta.is_terminating()
            && meta.finalizers.is_empty()
            && !holds_namespace(&new)
            && meta.deletion_grace_period_seconds.unwrap_or(0) == 0;
        if is_over {
            self.store.remove(&key, self.writer, self.fact);
            return Ok(Written { key, old: Some(old), new: None });
        }
        let new = self.store.put(new, self.writer, self.fact);
        Ok(Written { key, old: Some(old), new: Some(new) })
    }
}

/// Whether an update of the kind must say which version it replaces.
///
/// Models: `AllowUnconditionalUpdate` of each kind's strategy.
fn must_name_version(kind: Kind) -> bool {
    match kind {
        Kind::PodDisruptionBudget | Kind::Lease => true,
        _ => false,
    }
}

/// Whether the kind counts generations.
fn has_generation(kind: Kind) -> bool {
    match kind {
        Kind::Pod
        | Kind::Deployment
        | Kind::ReplicaSet
        | Kind::EndpointSlice
        | Kind::Ingress
        | Kind::IngressClass
        | Kind::StatefulSet
        | Kind::DaemonSet
        | Kind::Job
        | Kind::CronJob
        | Kind::PodDisruptionBudget
        | Kind::NetworkPolicy
        | Kind::ReplicationController
        | Kind::PodTemplate
        | Kind::PriorityClass
        | Kind::MutatingAdmissionPolicy
        | Kind::MutatingAdmissionPolicyBinding
        | Kind::MutatingWebhookConfiguration
        | Kind::ValidatingAdmissionPolicy
        | Kind::ValidatingAdmissionPolicyBinding
        | Kind::ValidatingWebhookConfiguration
        | Kind::CustomResourceDefinition
        | Kind::FlowSchema
        | Kind::PriorityLevelConfiguration
        | Kind::DeviceClass
        | Kind::ResourceSlice
        | Kind::CSIDriver
        | Kind::Custom(_) => true,
        _ => false,
    }
}

/// Whether an update changes what raises the generation.
///
/// Models: the `PrepareForUpdate` of each kind; a Deployment's annotations count, since they are copied to its
/// ReplicaSets.
fn spec_differs(old: &Object, new: &Object) -> bool {
    match (old, new) {
        (Object::Pod(old), Object::Pod(new)) => old.spec != new.spec || old.node_name != new.node_name,
        (Object::Deployment(old), Object::Deployment(new)) => {
            old.spec != new.spec || old.meta.annotations != new.meta.annotations
        }
        (Object::ReplicaSet(old), Object::ReplicaSet(new)) => old.spec != new.spec,
        (Object::Ingress(old), Object::Ingress(new)) => old.spec != new.spec,
        (Object::IngressClass(old), Object::IngressClass(new)) => old.spec != new.spec,
        (Object::EndpointSlice(old), Object::EndpointSlice(new)) => {
            old.endpoints != new.endpoints
                || old.ports != new.ports
                || old.meta.labels != new.meta.labels
                || old.meta.annotations != new.meta.annotations
        }
        _ if !has_generation(old.kind()) => false,
        (Object::Plain(old), Object::Plain(new)) if matches!(old.kind, Kind::Custom(_)) => {
            old.rest != new.rest
        }
        (Object::Plain(old), Object::Plain(new)) => {
            old.rest.get("spec") != new.rest.get("spec")
                || old.rest.get("webhooks") != new.rest.get("webhooks")
        }
        _ => old.to_value().get("spec") != new.to_value().get("spec"),
    }
}

macro_rules! statuses {
    ($($kind:ident),* $(,)?) => {
        /// Gives `to` the status of `from`, for the kinds whose status is a sub-resource.
        fn copy_status(to: &mut Object, from: &Object) {
            match (to, from) {
                $( (Object::$kind(to), Object::$kind(from)) if to.status != from.status => {
                    Arc::make_mut(to).status = from.status.clone();
                } )*
                _ => {}
            }
        }
    };
}

statuses!(
    Pod,
    Deployment,
    ReplicaSet,
    ReplicationController,
    Service,
    Ingress,
    Node,
    Namespace,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    ResourceQuota,
    PersistentVolumeClaim,
    PersistentVolume,
);

/// Gives `stored` the status of `sent`, and what else a status update of the kind may change.
fn take_status(stored: &mut Object, sent: &Object) {
    copy_status(stored, sent);
    if let (Object::Plain(stored), Object::Plain(sent)) = (&mut *stored, sent) {
        Arc::make_mut(stored).rest.set("status", sent.rest.get("status").cloned());
    }
    if let (Object::Deployment(stored), Object::Deployment(sent)) = (stored, sent) {
        // The Deployment controller writes its revision annotation through the status sub-resource.
        Arc::make_mut(stored).meta.annotations = sent.meta.annotations.clone();
    }
}

/// Whether a namespace's own finalizers still hold it.
fn holds_namespace(object: &Object) -> bool {
    object.get::<Namespace>().is_some_and(|namespace| !namespace.spec.finalizers.is_empty())
}

/// The finalizers of an object after a deletion was asked for: those that hold it for its dependents' sake are set anew.
///
/// `propagation: None` leaves it to the finalizers that are there, then to the kind's default.
///
/// Models: `registry/generic/registry/store.go: deletionFinalizersForGarbageCollection`.
fn finalizers_after_delete(object: &Object, propagation: Option<Propagation>) -> Vec<String> {
    let had = &object.meta().finalizers;
    let propagation = propagation.unwrap_or_else(|| match () {
        () if had.iter().any(|finalizer| finalizer == ORPHAN_FINALIZER) => Propagation::Orphan,
        () if had.iter().any(|finalizer| finalizer == FOREGROUND_FINALIZER) => Propagation::Foreground,
        // For the sake of old clients, a Job's Pods stay unless something else is asked for.
        () if object.kind() == Kind::Job => Propagation::Orphan,
        () => Propagation::Background,
    });
    let wanted = match propagation {
        Propagation::Foreground => Some(FOREGROUND_FINALIZER),
        Propagation::Orphan => Some(ORPHAN_FINALIZER),
        Propagation::Background => None,
    };
    let others = |finalizer: &&String| {
        Some(finalizer.as_str()) == wanted
            || ![FOREGROUND_FINALIZER, ORPHAN_FINALIZER].contains(&finalizer.as_str())
    };
    let mut finalizers: Vec<String> = had.iter().filter(others).cloned().collect();
    if let Some(wanted) = wanted
        && !finalizers.iter().any(|finalizer| finalizer == wanted)
    {
        finalizers.push(wanted.to_string());
    }
    finalizers
}

/// Whether a deletion of the kind can take time of its own: only a kubelet needs it.
fn has_grace(kind: Kind) -> bool {
    kind == Kind::Pod
}

/// The grace that a deletion gets: only Pods that a kubelet may be running get any. Less than nothing is one second.
fn granted_grace_seconds(object: &Object, asked: Option<i64>) -> i64 {
    let Some(pod) = Pod::from_object(object) else { return 0 };
    if !pod.is_bound() || pod.is_finished() {
        return 0;
    }
    let seconds = asked.or(pod.spec.termination_grace_period_seconds).unwrap_or(30);
    if seconds < 0 { 1 } else { seconds }
}
