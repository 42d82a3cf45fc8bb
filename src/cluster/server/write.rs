//! What a component asks the API server to write.

use super::request::Propagation;
use crate::api::kind::Kind;
use crate::api::meta::{Name, ObjectKey, Uid};
use crate::api::object::Object;
use crate::cluster::because::Because;
use crate::cluster::store::Store;

/// One write, with its reason.
#[derive(Clone, Debug)]
pub struct Write {
    /// What is to be written.
    pub operation: Operation,
    /// Why.
    pub because: Because,
    /// The writes of one batch are all tried, even when one of them is refused; 0 for a write that stands alone.
    pub batch: u32,
}

impl Write {
    /// The same as the so-many-th (from 0) of writes that start slowly: one, then two, then four … at a time, and no
    /// further batch after one in which a write was refused.
    ///
    /// Models: `pkg/controller/replicaset/replica_set.go: slowStartBatch` (v1.36).
    #[must_use]
    pub fn slow_start(mut self, index: usize) -> Self {
        self.batch = (index + 1).ilog2() + 1;
        self
    }
}

/// What is to be written.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A new object. With an empty name and a `generateName` the server makes the name.
    Create(Object),
    /// Metadata and spec of an object; refused if its `resourceVersion` is not the stored one.
    Update(Object),
    /// The status of an object; refused if its `resourceVersion` is not the stored one.
    UpdateStatus(Object),
    /// Deletes an object.
    Delete {
        /// The object.
        key: ObjectKey,
        /// Only if it still has this uid.
        uid: Option<Uid>,
        /// Seconds of grace; `None` for the object's own.
        grace_seconds: Option<i64>,
        /// What happens to its dependents.
        propagation: Propagation,
    },
    /// Deletes all objects of a kind in a namespace that are not being deleted yet, each in the background.
    DeleteCollection {
        /// The kind.
        kind: Kind,
        /// The namespace.
        namespace: Name,
    },
    /// Binds a Pod to a node.
    Bind {
        /// The Pod.
        pod: ObjectKey,
        /// The node.
        node: Name,
    },
    /// Tells an event about an object. Equal events are counted on one Event object.
    Event(EventRecord),
}

/// In an event's message: stands for the name of the object that the same outcome created last. A controller that
/// creates with a `generateName` does not know the name when it writes the event.
pub const CREATED_NAME: &str = "{created}";

/// An event to be told.
#[derive(Clone, Debug)]
pub struct EventRecord {
    /// What it speaks of.
    pub object: ObjectKey,
    /// The object's uid.
    pub uid: Uid,
    /// The part of it that is meant, as `spec.containers{api}`; empty for the whole.
    pub field_path: String,
    /// Whether it is a `Warning`.
    pub warning: bool,
    /// In one word.
    pub reason: &'static str,
    /// For a person; may hold [`CREATED_NAME`].
    pub message: String,
}

impl Write {
    /// The single deletions that a deletion of many comes to; any other write as it is.
    pub fn parts(self, store: &Store) -> Vec<Self> {
        let Operation::DeleteCollection { kind, namespace } = &self.operation else { return vec![self] };
        let there = store.objects_in(*kind, namespace).filter(|object| !object.meta().is_terminating());
        let delete = |object: &Object| {
            let operation = Operation::Delete {
                key: object.key(),
                uid: Some(object.meta().uid.clone()),
                grace_seconds: None,
                propagation: Propagation::Background,
            };
            operation.because(self.because.clone())
        };
        there.map(delete).collect()
    }
}

impl Operation {
    /// With its reason.
    pub fn because(self, because: Because) -> Write {
        Write { operation: self, because, batch: 0 }
    }

    /// Puts the name of the object that was created last into an event's message, where [`CREATED_NAME`] stands.
    pub fn name_created(&mut self, name: &str) {
        if let Self::Event(event) = self
            && event.message.contains(CREATED_NAME)
        {
            event.message = event.message.replace(CREATED_NAME, name);
        }
    }

    /// The object it is about; of a deletion of many, the kind and the namespace.
    pub fn key(&self) -> ObjectKey {
        match self {
            Self::Create(object) | Self::Update(object) | Self::UpdateStatus(object) => object.key(),
            Self::Delete { key, .. } => key.clone(),
            Self::DeleteCollection { kind, namespace } => ObjectKey::new(*kind, namespace.clone(), ""),
            Self::Bind { pod, .. } => pod.clone(),
            Self::Event(event) => event.object.clone(),
        }
    }
}

impl EventRecord {
    /// A `Normal` event about an object.
    pub fn normal(object: &Object, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            object: object.key(),
            uid: object.meta().uid.clone(),
            field_path: String::new(),
            warning: false,
            reason,
            message: message.into(),
        }
    }

    /// A `Warning` event about an object.
    pub fn warning(object: &Object, reason: &'static str, message: impl Into<String>) -> Self {
        Self { warning: true, ..Self::normal(object, reason, message) }
    }

    /// The same event about one container, as `spec.containers{api}`.
    #[must_use]
    pub fn of_field(mut self, field_path: impl Into<String>) -> Self {
        self.field_path = field_path.into();
        self
    }
}
