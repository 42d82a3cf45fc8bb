//! One object of any kind.

use std::sync::Arc;

use serde_json::Value;

use super::codec::{Codec, CodecError};
use super::kind::{CustomNames, Kind};
use super::kinds::apps::{Deployment, ReplicaSet, ReplicationController};
use super::kinds::batch::{CronJob, Job};
use super::kinds::cluster::{ConfigMap, Lease, Namespace, Node};
use super::kinds::event::Event;
use super::kinds::networking::{EndpointSlice, Endpoints, Ingress, IngressClass, Service};
use super::kinds::pod::Pod;
use super::kinds::policy::{HorizontalPodAutoscaler, PodDisruptionBudget, ResourceQuota};
use super::kinds::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use super::kinds::stored::{
    ClusterRole, ClusterRoleBinding, LimitRange, NetworkPolicy, Plain, PodTemplate, PriorityClass, Role,
    RoleBinding, RuntimeClass, Secret, ServiceAccount,
};
use super::kinds::workloads::{ControllerRevision, DaemonSet, StatefulSet};
use super::meta::{ObjectKey, ObjectMeta};

/// A typed kind.
pub trait Resource: Codec + Clone + Default + PartialEq + 'static {
    /// Which kind it is.
    const KIND: Kind;

    /// Its metadata.
    fn meta(&self) -> &ObjectMeta;

    /// Its metadata, to change.
    fn meta_mut(&mut self) -> &mut ObjectMeta;

    /// The typed object inside an object of this kind.
    fn from_object(object: &Object) -> Option<&Arc<Self>>;

    /// As an object of any kind.
    fn into_object(self: Arc<Self>) -> Object;

    /// Where it stands in the store.
    fn key(&self) -> ObjectKey {
        ObjectKey {
            kind: Self::KIND,
            namespace: self.meta().namespace.clone(),
            name: self.meta().name.clone(),
        }
    }
}

macro_rules! objects {
    ($($kind:ident),* $(,)?) => {
        /// One object of any kind, shared.
        #[derive(Clone, Debug)]
        pub enum Object { $(
            #[doc = concat!("A ", stringify!($kind), ".")]
            $kind(Arc<$kind>),
        )*
            /// One of a kind that has no type of its own.
            Plain(Arc<Plain>),
        }

        impl PartialEq for Object {
            fn eq(&self, other: &Self) -> bool {
                match (self, other) {
                    $( (Self::$kind(a), Self::$kind(b)) => Arc::ptr_eq(a, b) || a == b, )*
                    (Self::Plain(a), Self::Plain(b)) => Arc::ptr_eq(a, b) || a == b,
                    _ => false,
                }
            }
        }

        impl Object {
            /// Its kind.
            pub fn kind(&self) -> Kind {
                match self {
                    $( Self::$kind(_) => Kind::$kind, )*
                    Self::Plain(object) => object.kind,
                }
            }

            /// Its metadata.
            pub fn meta(&self) -> &ObjectMeta {
                match self {
                    $( Self::$kind(object) => &object.meta, )*
                    Self::Plain(object) => &object.meta,
                }
            }

            /// Its metadata, to change; the object is copied first if it is shared.
            pub fn meta_mut(&mut self) -> &mut ObjectMeta {
                match self {
                    $( Self::$kind(object) => &mut Arc::make_mut(object).meta, )*
                    Self::Plain(object) => &mut Arc::make_mut(object).meta,
                }
            }

            /// Whether both are the very same allocation.
            pub fn is_same(&self, other: &Self) -> bool {
                match (self, other) {
                    $( (Self::$kind(a), Self::$kind(b)) => Arc::ptr_eq(a, b), )*
                    (Self::Plain(a), Self::Plain(b)) => Arc::ptr_eq(a, b),
                    _ => false,
                }
            }

            /// Reads an object of that kind; `apiVersion` and `kind` are ignored.
            ///
            /// # Errors
            /// When a field has the wrong shape.
            pub fn decode(kind: Kind, mut value: Value) -> Result<Self, CodecError> {
                if let Value::Object(map) = &mut value {
                    map.remove("apiVersion");
                    map.remove("kind");
                }
                match kind {
                    $( Kind::$kind => $kind::decode(value).map(|object| Self::$kind(Arc::new(object))), )*
                    kind => Plain::decode(kind, value).map(|object| Self::Plain(Arc::new(object))),
                }
            }

            /// The whole object as JSON, with `apiVersion` and `kind`.
            pub fn to_value(&self) -> Value {
                let mut value = match self {
                    $( Self::$kind(object) => object.encode(), )*
                    Self::Plain(object) => object.encode(),
                };
                if let Value::Object(map) = &mut value {
                    map.insert("apiVersion".to_string(), Value::String(self.kind().api_version()));
                    map.insert("kind".to_string(), Value::String(self.kind().name().to_string()));
                }
                value
            }
        }

        $(
            impl Resource for $kind {
                const KIND: Kind = Kind::$kind;
                fn meta(&self) -> &ObjectMeta { &self.meta }
                fn meta_mut(&mut self) -> &mut ObjectMeta { &mut self.meta }
                fn from_object(object: &Object) -> Option<&Arc<Self>> {
                    match object { Object::$kind(object) => Some(object), _ => None }
                }
                fn into_object(self: Arc<Self>) -> Object { Object::$kind(self) }
            }

            impl From<$kind> for Object {
                fn from(object: $kind) -> Self { Self::$kind(Arc::new(object)) }
            }
        )*
    };
}

objects!(
    Namespace,
    Node,
    Pod,
    Service,
    Deployment,
    ReplicaSet,
    ConfigMap,
    Event,
    Lease,
    EndpointSlice,
    Ingress,
    IngressClass,
    Endpoints,
    Secret,
    ServiceAccount,
    ResourceQuota,
    LimitRange,
    PersistentVolumeClaim,
    PersistentVolume,
    StatefulSet,
    DaemonSet,
    Job,
    CronJob,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    NetworkPolicy,
    StorageClass,
    PriorityClass,
    Role,
    RoleBinding,
    ClusterRole,
    ClusterRoleBinding,
    ControllerRevision,
    ReplicationController,
    PodTemplate,
    RuntimeClass,
);

impl Object {
    /// Where it stands in the store.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            kind: self.kind(),
            namespace: self.meta().namespace.clone(),
            name: self.meta().name.clone(),
        }
    }

    /// The kind that it adds, if it is a CustomResourceDefinition: in the version that is stored.
    pub fn added_kind(&self) -> Option<Kind> {
        let Self::Plain(definition) = self else { return None };
        let spec =
            definition.rest.get("spec").filter(|_| definition.kind == Kind::CustomResourceDefinition)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let names = &spec["names"];
        let short_names = names["shortNames"].as_array().into_iter().flatten();
        let mut versions = spec["versions"].as_array()?.iter();
        let names = CustomNames {
            name: text(&names["kind"]),
            group: text(&spec["group"]),
            version: text(&versions.find(|version| version["storage"] == true)?["name"]),
            plural: text(&names["plural"]),
            singular: text(&names["singular"]),
            short_names: short_names.map(text).collect(),
            namespaced: spec["scope"] == "Namespaced",
        };
        Some(Kind::Custom(names.into()))
    }

    /// The typed object, if it is of that kind.
    pub fn get<R: Resource>(&self) -> Option<&Arc<R>> {
        R::from_object(self)
    }
}
