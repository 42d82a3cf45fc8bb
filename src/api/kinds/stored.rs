//! Kinds that the cluster judges and stores, but that nothing acts on yet: metadata, and everything else as it came.

use serde_json::Value;

use crate::api::codec::{self, CodecError, Rest};
use crate::api::kind::Kind;
use crate::api::meta::ObjectMeta;

macro_rules! stored {
    ($($name:ident)*) => { $(
        crate::record! {
            #[doc = concat!("A ", stringify!($name), ", stored as it came.")]
            pub struct $name {
                /// Metadata.
                meta: ObjectMeta = "metadata" always,
            }
        }
    )* };
}

stored!(
    Secret
    ServiceAccount
    LimitRange
    NetworkPolicy
    PriorityClass
    Role
    RoleBinding
    ClusterRole
    ClusterRoleBinding
    PodTemplate
    RuntimeClass
);

/// An object of a kind that has no type of its own: what the schema says of it is all the cluster knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    /// Its kind.
    pub kind: Kind,
    /// Metadata.
    pub meta: ObjectMeta,
    /// Everything else.
    pub rest: Rest,
}

impl Plain {
    /// Reads an object of that kind.
    ///
    /// # Errors
    /// When its metadata has another shape.
    pub fn decode(kind: Kind, value: Value) -> Result<Self, CodecError> {
        let mut map = codec::object(value)?;
        let meta = codec::take(&mut map, "metadata")?;
        Ok(Self { kind, meta, rest: Rest::from_map(map) })
    }

    /// Writes it.
    pub fn encode(&self) -> Value {
        let mut map = self.rest.to_map();
        codec::put(&mut map, "metadata", &self.meta, true);
        Value::Object(map)
    }
}
