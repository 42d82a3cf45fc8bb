//! Kinds that the cluster judges and stores, but that nothing acts on yet: metadata, and everything else as it came.

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
    ReplicationController
    PodTemplate
    RuntimeClass
);
