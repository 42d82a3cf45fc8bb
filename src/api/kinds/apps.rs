//! Deployment and ReplicaSet: `apps/v1`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::pod::PodSpec;
use crate::api::int_or_string::IntOrString;
use crate::api::meta::ObjectMeta;
use crate::api::time::Timestamp;

crate::record! {
    /// `apps/v1 Deployment`.
    pub struct Deployment {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: DeploymentSpec = "spec" always,
        /// The report.
        status: DeploymentStatus = "status" always,
    }

    /// `apps/v1 DeploymentSpec`.
    pub struct DeploymentSpec {
        /// Pods wanted; the server fills in 1.
        replicas: Option<i32> = "replicas",
        /// Which Pods are its own.
        selector: LabelSelector = "selector" always,
        /// What a Pod looks like.
        template: PodTemplateSpec = "template" always,
        /// How old Pods are replaced.
        strategy: DeploymentStrategy = "strategy" always,
        /// Seconds of readiness that make a Pod available.
        min_ready_seconds: i32 = "minReadySeconds",
        /// Old ReplicaSets kept for a rollback; the server fills in 10.
        revision_history_limit: Option<i32> = "revisionHistoryLimit",
        /// Whether rolling out is held.
        paused: bool = "paused",
        /// Seconds without progress after which the rollout is said to have failed; the server fills in 600.
        progress_deadline_seconds: Option<i32> = "progressDeadlineSeconds",
    }

    /// `apps/v1 DeploymentStrategy`.
    pub struct DeploymentStrategy {
        /// `RollingUpdate` or `Recreate`.
        strategy_type: String = "type",
        /// The bounds of a rolling update.
        rolling_update: Option<RollingUpdateDeployment> = "rollingUpdate",
    }

    /// `apps/v1 RollingUpdateDeployment`.
    pub struct RollingUpdateDeployment {
        /// Pods that may be missing, as a number or percentage (rounded down).
        max_unavailable: Option<IntOrString> = "maxUnavailable",
        /// Pods that may be extra, as a number or percentage (rounded up).
        max_surge: Option<IntOrString> = "maxSurge",
    }

    /// `apps/v1 DeploymentStatus`.
    pub struct DeploymentStatus {
        /// The generation the controller has seen.
        observed_generation: i64 = "observedGeneration",
        /// Pods of all revisions that are not terminating.
        replicas: i32 = "replicas",
        /// Pods of the newest revision.
        updated_replicas: i32 = "updatedReplicas",
        /// Ready Pods.
        ready_replicas: i32 = "readyReplicas",
        /// Pods ready for `minReadySeconds`.
        available_replicas: i32 = "availableReplicas",
        /// Pods still missing.
        unavailable_replicas: i32 = "unavailableReplicas",
        /// Pods on their way out; absent until the first report.
        terminating_replicas: Option<i32> = "terminatingReplicas",
        /// Clashes of pod-template-hash.
        collision_count: Option<i32> = "collisionCount",
        /// `Available`, `Progressing`, `ReplicaFailure`.
        conditions: Vec<DeploymentCondition> = "conditions",
    }

    /// `apps/v1 DeploymentCondition`.
    pub struct DeploymentCondition {
        /// `Available`, `Progressing` or `ReplicaFailure`.
        condition_type: String = "type" always,
        /// `True`, `False` or `Unknown`.
        status: String = "status" always,
        /// When it was updated last.
        last_update_time: Option<Timestamp> = "lastUpdateTime",
        /// When its status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: String = "reason",
        /// For a person.
        message: String = "message",
    }

    /// `core/v1 PodTemplateSpec`.
    pub struct PodTemplateSpec {
        /// Metadata of the Pods to be.
        meta: ObjectMeta = "metadata" always,
        /// Spec of the Pods to be, shared with them.
        spec: Arc<PodSpec> = "spec" always,
    }

    /// `metav1.LabelSelector`.
    pub struct LabelSelector {
        /// Labels that must be equal.
        match_labels: BTreeMap<String, String> = "matchLabels",
        /// Further requirements.
        match_expressions: Vec<LabelSelectorRequirement> = "matchExpressions",
    }

    /// `metav1.LabelSelectorRequirement`.
    pub struct LabelSelectorRequirement {
        /// The label.
        key: String = "key" always,
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        operator: String = "operator" always,
        /// The values for `In` and `NotIn`.
        values: Vec<String> = "values",
    }

    /// `apps/v1 ReplicaSet`.
    pub struct ReplicaSet {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: ReplicaSetSpec = "spec" always,
        /// The report.
        status: ReplicaSetStatus = "status" always,
    }

    /// `apps/v1 ReplicaSetSpec`.
    pub struct ReplicaSetSpec {
        /// Pods wanted; the server fills in 1.
        replicas: Option<i32> = "replicas",
        /// Seconds of readiness that make a Pod available.
        min_ready_seconds: i32 = "minReadySeconds",
        /// Which Pods are its own.
        selector: LabelSelector = "selector" always,
        /// What a Pod looks like.
        template: PodTemplateSpec = "template",
    }

    /// `apps/v1 ReplicaSetStatus`.
    pub struct ReplicaSetStatus {
        /// Pods that are not terminating.
        replicas: i32 = "replicas" always,
        /// Pods with all labels of the template.
        fully_labeled_replicas: i32 = "fullyLabeledReplicas",
        /// Ready Pods.
        ready_replicas: i32 = "readyReplicas",
        /// Pods ready for `minReadySeconds`.
        available_replicas: i32 = "availableReplicas",
        /// Pods on their way out; absent until the first report.
        terminating_replicas: Option<i32> = "terminatingReplicas",
        /// The generation the controller has seen.
        observed_generation: i64 = "observedGeneration",
        /// `ReplicaFailure`.
        conditions: Vec<ReplicaSetCondition> = "conditions",
    }

    /// `core/v1 ReplicationController`.
    pub struct ReplicationController {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: ReplicationControllerSpec = "spec",
        /// The report.
        status: ReplicaSetStatus = "status",
    }

    /// `core/v1 ReplicationControllerSpec`.
    pub struct ReplicationControllerSpec {
        /// Pods wanted; the server fills in 1.
        replicas: Option<i32> = "replicas",
        /// Seconds of readiness that make a Pod available.
        min_ready_seconds: i32 = "minReadySeconds",
        /// The labels of its Pods.
        selector: BTreeMap<String, String> = "selector",
        /// What a Pod looks like.
        template: Option<PodTemplateSpec> = "template",
    }

    /// `apps/v1 ReplicaSetCondition`.
    pub struct ReplicaSetCondition {
        /// `ReplicaFailure`.
        condition_type: String = "type" always,
        /// `True`, `False` or `Unknown`.
        status: String = "status" always,
        /// When its status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: String = "reason",
        /// For a person.
        message: String = "message",
    }
}

impl LabelSelector {
    /// The selector as Go prints the struct.
    pub fn as_go_prints(&self) -> String {
        let mut text = "&LabelSelector{MatchLabels:map[string]string{".to_string();
        for (key, value) in &self.match_labels {
            let _ = write!(text, "{key}: {value},");
        }
        text.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
        for one in &self.match_expressions {
            let values = one.values.join(" ");
            let _ = write!(
                text,
                "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{values}],}},",
                one.key, one.operator
            );
        }
        text.push_str("},}");
        text
    }

    /// Whether the labels meet every requirement; an empty selector meets all.
    ///
    /// Models: `apimachinery/pkg/labels.Selector.Matches`. An unknown operator (which validation refuses) meets none.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let equal = self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
        equal
            && self.match_expressions.iter().all(|requirement| {
                let value = labels.get(&requirement.key);
                match requirement.operator.as_str() {
                    "In" => value.is_some_and(|value| requirement.values.contains(value)),
                    "NotIn" => value.is_none_or(|value| !requirement.values.contains(value)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }

    /// Whether it has no requirement.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

impl PodTemplateSpec {
    /// The template as a JSON value, for hashing and comparing.
    pub fn to_value(&self) -> Value {
        crate::api::codec::Codec::encode(self)
    }
}
