//! What every object carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kind::Kind;
use super::time::Timestamp;

/// A name, a namespace, a node name: shared, since many objects repeat it.
pub type Name = Arc<str>;

/// The unique id of an object, `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`; empty before it is stored.
pub type Uid = Arc<str>;

/// The finalizer that holds an object until its dependents are gone.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// The finalizer that holds an object until its dependents have let go of it.
pub const ORPHAN_FINALIZER: &str = "orphan";

/// Where an object stands in the store; orders by kind, then namespace, then name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for kinds of the whole cluster.
    pub namespace: Name,
    /// Its name.
    pub name: Name,
}

impl ObjectKey {
    /// The key of `name` in `namespace`.
    pub fn new(kind: Kind, namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }
}

impl std::fmt::Display for ObjectKey {
    /// `Pod demo/api-1` or `Node node-1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.namespace {
            "" => write!(f, "{} {}", self.kind.name(), self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind.name(), self.name),
        }
    }
}

crate::record! {
    /// `metav1.ObjectMeta`.
    pub struct ObjectMeta {
        /// The name; empty only in a request with `generate_name`.
        name: Name = "name",
        /// The prefix from which the server makes a name.
        generate_name: String = "generateName",
        /// The namespace; empty for kinds of the whole cluster.
        namespace: Name = "namespace",
        /// Set by the server on creation.
        uid: Uid = "uid",
        /// The store's revision at the last write; 0 before it is stored.
        resource_version: Revision = "resourceVersion",
        /// Counts changes of the wish (`spec`).
        generation: i64 = "generation",
        /// When the server stored it first.
        creation_timestamp: Option<Timestamp> = "creationTimestamp",
        /// When it is due to be gone; set once deletion was asked for.
        deletion_timestamp: Option<Timestamp> = "deletionTimestamp",
        /// The grace period that was granted, in seconds.
        deletion_grace_period_seconds: Option<i64> = "deletionGracePeriodSeconds",
        /// Labels, by which selectors find it.
        labels: BTreeMap<String, String> = "labels",
        /// Annotations.
        annotations: BTreeMap<String, String> = "annotations",
        /// The objects it belongs to.
        owner_references: Vec<OwnerReference> = "ownerReferences",
        /// Who must let go before it can vanish.
        finalizers: Vec<String> = "finalizers",
    }

    /// `metav1.OwnerReference`.
    pub struct OwnerReference {
        /// Group and version of the owner.
        api_version: String = "apiVersion" always,
        /// Kind of the owner.
        kind: String = "kind" always,
        /// Name of the owner.
        name: Name = "name" always,
        /// Uid of the owner.
        uid: Uid = "uid" always,
        /// Whether this owner manages the object.
        controller: Option<bool> = "controller",
        /// Whether foreground deletion of the owner waits for the object.
        block_owner_deletion: Option<bool> = "blockOwnerDeletion",
    }
}

impl ObjectMeta {
    /// The owner that manages the object, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller == Some(true))
    }

    /// Whether that object manages this one.
    pub fn is_controlled_by(&self, uid: &Uid) -> bool {
        self.controller().is_some_and(|owner| owner.uid == *uid)
    }

    /// Whether deletion was asked for.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// A resourceVersion: a number in the store, a string in JSON.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Revision(pub u64);

impl super::codec::Codec for Revision {
    fn decode(value: serde_json::Value) -> Result<Self, super::codec::CodecError> {
        let number =
            value.as_str().and_then(|text| if text.is_empty() { Some(0) } else { text.parse().ok() });
        number.map(Self).ok_or(super::codec::CodecError::expected("a resource version"))
    }
    fn encode(&self) -> serde_json::Value {
        serde_json::Value::String(self.0.to_string())
    }
    fn is_absent(&self) -> bool {
        self.0 == 0
    }
}
