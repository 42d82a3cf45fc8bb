//! Defaults of Deployments, ReplicaSets, StatefulSets and DaemonSets.

use super::{Record, inner, items, made, set_absent, text};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "apps.v1.DeploymentSpec" => {
            set_absent(record, "replicas", 1);
            let strategy = made(record, "strategy");
            set_absent(strategy, "type", "RollingUpdate");
            if text(strategy, "type") == "RollingUpdate" {
                let rolling = made(strategy, "rollingUpdate");
                set_absent(rolling, "maxUnavailable", "25%");
                set_absent(rolling, "maxSurge", "25%");
            }
            set_absent(record, "revisionHistoryLimit", 10);
            set_absent(record, "progressDeadlineSeconds", 600);
        }
        "apps.v1.ReplicaSetSpec" => set_absent(record, "replicas", 1),
        "apps.v1.DaemonSetSpec" => {
            let strategy = made(record, "updateStrategy");
            set_absent(strategy, "type", "RollingUpdate");
            if text(strategy, "type") == "RollingUpdate" {
                let rolling = made(strategy, "rollingUpdate");
                set_absent(rolling, "maxUnavailable", 1);
                set_absent(rolling, "maxSurge", 0);
            }
            set_absent(record, "revisionHistoryLimit", 10);
        }
        "apps.v1.StatefulSetSpec" => stateful_set(record),
        _ => {}
    }
}

fn stateful_set(spec: &mut Record) {
    set_absent(spec, "podManagementPolicy", "OrderedReady");
    let strategy = made(spec, "updateStrategy");
    if text(strategy, "type").is_empty() {
        set_absent(strategy, "type", "RollingUpdate");
        made(strategy, "rollingUpdate");
    }
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = inner(strategy, "rollingUpdate")
    {
        set_absent(rolling, "partition", 0);
    }
    let retention = made(spec, "persistentVolumeClaimRetentionPolicy");
    set_absent(retention, "whenDeleted", "Retain");
    set_absent(retention, "whenScaled", "Retain");
    set_absent(spec, "replicas", 1);
    set_absent(spec, "revisionHistoryLimit", 10);
    for claim in items(spec, "volumeClaimTemplates") {
        set_absent(claim, "apiVersion", "v1");
        set_absent(claim, "kind", "PersistentVolumeClaim");
    }
}
