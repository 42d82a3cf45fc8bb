//! StatefulSet, DaemonSet and their ControllerRevisions: `apps/v1`.

use serde_json::Value;

use super::Condition;
use super::apps::{LabelSelector, PodTemplateSpec};
use crate::api::int_or_string::IntOrString;
use crate::api::meta::ObjectMeta;

crate::record! {
    /// `apps/v1 StatefulSet`.
    pub struct StatefulSet {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: StatefulSetSpec = "spec" always,
        /// The report.
        status: StatefulSetStatus = "status" always,
    }

    /// `apps/v1 StatefulSetSpec`.
    pub struct StatefulSetSpec {
        /// Pods wanted; the server fills in 1.
        replicas: Option<i32> = "replicas",
        /// Which Pods are its own.
        selector: LabelSelector = "selector" always,
        /// What a Pod looks like.
        template: PodTemplateSpec = "template" always,
        /// Claims that every Pod gets for itself, as they came.
        volume_claim_templates: Vec<Value> = "volumeClaimTemplates",
        /// The headless Service that gives the Pods their names in DNS.
        service_name: String = "serviceName" always,
        /// `OrderedReady` or `Parallel`.
        pod_management_policy: String = "podManagementPolicy",
        /// How old Pods are replaced.
        update_strategy: StatefulSetUpdateStrategy = "updateStrategy" always,
        /// Old revisions kept for a rollback; the server fills in 10.
        revision_history_limit: Option<i32> = "revisionHistoryLimit",
        /// Seconds of readiness that make a Pod available.
        min_ready_seconds: i32 = "minReadySeconds",
        /// What becomes of the claims of Pods that go.
        retention: Option<ClaimRetention> = "persistentVolumeClaimRetentionPolicy",
        /// Where counting begins.
        ordinals: Option<Ordinals> = "ordinals",
    }

    /// `apps/v1 StatefulSetUpdateStrategy`.
    pub struct StatefulSetUpdateStrategy {
        /// `RollingUpdate` or `OnDelete`.
        strategy_type: String = "type",
        /// The bounds of a rolling update.
        rolling_update: Option<RollingUpdateStatefulSet> = "rollingUpdate",
    }

    /// `apps/v1 RollingUpdateStatefulSetStrategy`.
    pub struct RollingUpdateStatefulSet {
        /// Pods with a smaller number keep the old revision.
        partition: Option<i32> = "partition",
        /// Pods that may be missing; 1 if absent.
        max_unavailable: Option<IntOrString> = "maxUnavailable",
    }

    /// `apps/v1 StatefulSetPersistentVolumeClaimRetentionPolicy`.
    pub struct ClaimRetention {
        /// `Retain` or `Delete`, when the StatefulSet goes.
        when_deleted: String = "whenDeleted",
        /// `Retain` or `Delete`, when a Pod goes because fewer are wanted.
        when_scaled: String = "whenScaled",
    }

    /// `apps/v1 StatefulSetOrdinals`.
    pub struct Ordinals {
        /// The number of the first Pod.
        start: i32 = "start" always,
    }

    /// `apps/v1 StatefulSetStatus`.
    pub struct StatefulSetStatus {
        /// The generation the controller has seen.
        observed_generation: i64 = "observedGeneration",
        /// Pods that exist.
        replicas: i32 = "replicas" always,
        /// Running and ready Pods.
        ready_replicas: i32 = "readyReplicas",
        /// Pods of the current revision.
        current_replicas: i32 = "currentReplicas",
        /// Pods of the update revision.
        updated_replicas: i32 = "updatedReplicas",
        /// The revision that the last finished update led to.
        current_revision: String = "currentRevision",
        /// The revision of the present template.
        update_revision: String = "updateRevision",
        /// Clashes of revision names.
        collision_count: Option<i32> = "collisionCount",
        /// None are set by the controller.
        conditions: Vec<Condition> = "conditions",
        /// Pods ready for `minReadySeconds`.
        available_replicas: i32 = "availableReplicas" always,
    }

    /// `apps/v1 DaemonSet`.
    pub struct DaemonSet {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: DaemonSetSpec = "spec" always,
        /// The report.
        status: DaemonSetStatus = "status" always,
    }

    /// `apps/v1 DaemonSetSpec`.
    pub struct DaemonSetSpec {
        /// Which Pods are its own.
        selector: LabelSelector = "selector" always,
        /// What a Pod looks like.
        template: PodTemplateSpec = "template" always,
        /// How old Pods are replaced.
        update_strategy: DaemonSetUpdateStrategy = "updateStrategy" always,
        /// Seconds of readiness that make a Pod available.
        min_ready_seconds: i32 = "minReadySeconds",
        /// Old revisions kept for a rollback; the server fills in 10.
        revision_history_limit: Option<i32> = "revisionHistoryLimit",
    }

    /// `apps/v1 DaemonSetUpdateStrategy`.
    pub struct DaemonSetUpdateStrategy {
        /// `RollingUpdate` or `OnDelete`.
        strategy_type: String = "type",
        /// The bounds of a rolling update.
        rolling_update: Option<RollingUpdateDaemonSet> = "rollingUpdate",
    }

    /// `apps/v1 RollingUpdateDaemonSet`.
    pub struct RollingUpdateDaemonSet {
        /// Nodes that may be without a working Pod, as a number or percentage (rounded up).
        max_unavailable: Option<IntOrString> = "maxUnavailable",
        /// Nodes that may have two Pods, as a number or percentage (rounded up).
        max_surge: Option<IntOrString> = "maxSurge",
    }

    /// `apps/v1 DaemonSetStatus`.
    pub struct DaemonSetStatus {
        /// Nodes that should have a Pod and have one.
        current_number_scheduled: i32 = "currentNumberScheduled" always,
        /// Nodes that have a Pod and should have none.
        number_misscheduled: i32 = "numberMisscheduled" always,
        /// Nodes that should have a Pod.
        desired_number_scheduled: i32 = "desiredNumberScheduled" always,
        /// Nodes that should have a Pod and have a ready one.
        number_ready: i32 = "numberReady" always,
        /// The generation the controller has seen.
        observed_generation: i64 = "observedGeneration",
        /// Nodes with a Pod of the newest revision.
        updated_number_scheduled: i32 = "updatedNumberScheduled",
        /// Nodes with a Pod that has been ready for `minReadySeconds`.
        number_available: i32 = "numberAvailable",
        /// Nodes that should have a Pod and have none that is available.
        number_unavailable: i32 = "numberUnavailable",
        /// Clashes of revision names.
        collision_count: Option<i32> = "collisionCount",
        /// None are set by the controller.
        conditions: Vec<Condition> = "conditions",
    }

    /// `apps/v1 ControllerRevision`: what a StatefulSet or DaemonSet looked like.
    pub struct ControllerRevision {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The part of the object that a rollback brings back, as a patch.
        data: Value = "data",
        /// Its number; a later one is newer.
        revision: i64 = "revision" always,
    }
}
