//! Defaults of volumes, storage classes, priority classes and role bindings.

use super::{Record, made, set_absent, text};

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "core.v1.PersistentVolume" => {
            set_absent(made(record, "status"), "phase", "Pending");
            let spec = made(record, "spec");
            set_absent(spec, "persistentVolumeReclaimPolicy", "Retain");
            set_absent(spec, "volumeMode", "Filesystem");
        }
        "core.v1.PersistentVolumeClaim" => set_absent(made(record, "status"), "phase", "Pending"),
        "core.v1.PersistentVolumeClaimSpec" => set_absent(record, "volumeMode", "Filesystem"),
        "storage.v1.StorageClass" => {
            set_absent(record, "reclaimPolicy", "Delete");
            set_absent(record, "volumeBindingMode", "Immediate");
        }
        "scheduling.v1.PriorityClass" => set_absent(record, "preemptionPolicy", "PreemptLowerPriority"),
        "rbac.v1.RoleRef" => set_absent(record, "apiGroup", RBAC_GROUP),
        "rbac.v1.Subject" => {
            if matches!(text(record, "kind"), "User" | "Group") {
                set_absent(record, "apiGroup", RBAC_GROUP);
            }
        }
        _ => {}
    }
}
