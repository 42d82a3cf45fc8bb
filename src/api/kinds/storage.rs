//! PersistentVolumeClaim, PersistentVolume and StorageClass.

use serde_json::Value;

use super::ResourceList;
use super::apps::LabelSelector;
use super::networking::ObjectReference;
use super::pod::ResourceRequirements;
use crate::api::meta::{Name, ObjectMeta};
use crate::api::time::Timestamp;

/// Marks the claim with the node for which its volume is to be made.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// Marks what the control plane bound by itself, and not a person.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

crate::record! {
    /// `core/v1 PersistentVolumeClaim`.
    pub struct PersistentVolumeClaim {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: ClaimSpec = "spec" always,
        /// The report.
        status: ClaimStatus = "status" always,
    }

    /// `core/v1 PersistentVolumeClaimSpec`.
    pub struct ClaimSpec {
        /// `ReadWriteOnce`, `ReadOnlyMany`, `ReadWriteMany`, `ReadWriteOncePod`.
        access_modes: Vec<String> = "accessModes",
        /// Which volumes may be taken.
        selector: Option<LabelSelector> = "selector",
        /// How much is wanted.
        resources: ResourceRequirements = "resources" always,
        /// The volume that is bound to it; empty until then.
        volume_name: Name = "volumeName",
        /// The class; absent for the default one, empty for none.
        storage_class_name: Option<String> = "storageClassName",
        /// `Filesystem` or `Block`.
        volume_mode: Option<String> = "volumeMode",
    }

    /// `core/v1 PersistentVolumeClaimStatus`.
    pub struct ClaimStatus {
        /// `Pending`, `Bound` or `Lost`.
        phase: String = "phase",
        /// What the volume allows.
        access_modes: Vec<String> = "accessModes",
        /// How much the volume has.
        capacity: ResourceList = "capacity",
    }

    /// `core/v1 PersistentVolume`.
    pub struct PersistentVolume {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: VolumeSpec = "spec" always,
        /// The report.
        status: VolumeStatus = "status" always,
    }

    /// `core/v1 PersistentVolumeSpec`.
    pub struct VolumeSpec {
        /// How much it has.
        capacity: ResourceList = "capacity",
        /// What it allows.
        access_modes: Vec<String> = "accessModes",
        /// The claim that has it.
        claim_ref: Option<ObjectReference> = "claimRef",
        /// `Retain`, `Delete` or `Recycle`.
        reclaim_policy: String = "persistentVolumeReclaimPolicy",
        /// The class; empty for none.
        storage_class_name: String = "storageClassName",
        /// `Filesystem` or `Block`.
        volume_mode: Option<String> = "volumeMode",
        /// Which nodes reach it, as it came.
        node_affinity: Value = "nodeAffinity",
    }

    /// `core/v1 PersistentVolumeStatus`.
    pub struct VolumeStatus {
        /// `Pending`, `Available`, `Bound`, `Released` or `Failed`.
        phase: String = "phase",
        /// For a person.
        message: String = "message",
        /// In one word.
        reason: String = "reason",
        /// When the phase changed last.
        last_phase_transition_time: Option<Timestamp> = "lastPhaseTransitionTime",
    }

    /// `storage/v1 StorageClass`.
    pub struct StorageClass {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// Who makes its volumes.
        provisioner: String = "provisioner" always,
        /// `Delete` or `Retain`, for its volumes.
        reclaim_policy: Option<String> = "reclaimPolicy",
        /// `Immediate` or `WaitForFirstConsumer`.
        volume_binding_mode: Option<String> = "volumeBindingMode",
    }
}
