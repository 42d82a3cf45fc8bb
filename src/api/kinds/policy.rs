//! HorizontalPodAutoscaler, PodDisruptionBudget and ResourceQuota.

use serde_json::Value;

use super::apps::LabelSelector;
use super::{Condition, ResourceList};
use crate::api::int_or_string::IntOrString;
use crate::api::meta::{Name, ObjectMeta};
use crate::api::time::Timestamp;

crate::record! {
    /// `autoscaling/v2 HorizontalPodAutoscaler`.
    pub struct HorizontalPodAutoscaler {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: AutoscalerSpec = "spec" always,
        /// The report.
        status: AutoscalerStatus = "status" always,
    }

    /// `autoscaling/v2 HorizontalPodAutoscalerSpec`.
    pub struct AutoscalerSpec {
        /// What is scaled.
        target: ScaleTarget = "scaleTargetRef" always,
        /// The fewest Pods; the server fills in 1.
        min_replicas: Option<i32> = "minReplicas",
        /// The most Pods.
        max_replicas: i32 = "maxReplicas" always,
        /// What is measured, as it came.
        metrics: Vec<Value> = "metrics",
        /// How fast it may scale, as it came.
        behavior: Value = "behavior",
    }

    /// `autoscaling/v2 CrossVersionObjectReference`.
    pub struct ScaleTarget {
        /// Its kind.
        kind: String = "kind" always,
        /// Its name.
        name: Name = "name" always,
        /// Its group and version.
        api_version: String = "apiVersion",
    }

    /// `autoscaling/v2 HorizontalPodAutoscalerStatus`.
    pub struct AutoscalerStatus {
        /// The generation the controller has seen; it never says.
        observed_generation: Option<i64> = "observedGeneration",
        /// When it scaled last.
        last_scale_time: Option<Timestamp> = "lastScaleTime",
        /// Pods that the target had.
        current_replicas: i32 = "currentReplicas",
        /// Pods that it should have.
        desired_replicas: i32 = "desiredReplicas" always,
        /// `AbleToScale`, `ScalingActive`, `ScalingLimited`.
        conditions: Vec<Condition> = "conditions",
    }

    /// `policy/v1 PodDisruptionBudget`.
    pub struct PodDisruptionBudget {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: DisruptionBudgetSpec = "spec" always,
        /// The report.
        status: DisruptionBudgetStatus = "status" always,
    }

    /// `policy/v1 PodDisruptionBudgetSpec`.
    pub struct DisruptionBudgetSpec {
        /// Pods that must stay, as a number or percentage (rounded up).
        min_available: Option<IntOrString> = "minAvailable",
        /// Which Pods it protects; none if absent.
        selector: Option<LabelSelector> = "selector",
        /// Pods that may be missing, as a number or percentage (rounded up).
        max_unavailable: Option<IntOrString> = "maxUnavailable",
        /// `IfHealthyBudget` or `AlwaysAllow`.
        unhealthy_policy: Option<String> = "unhealthyPodEvictionPolicy",
    }

    /// `policy/v1 PodDisruptionBudgetStatus`.
    pub struct DisruptionBudgetStatus {
        /// The generation the controller has seen.
        observed_generation: i64 = "observedGeneration",
        /// Pods whose eviction was granted but not seen yet: name to time.
        disrupted_pods: std::collections::BTreeMap<String, Timestamp> = "disruptedPods",
        /// Evictions that are granted at present.
        disruptions_allowed: i32 = "disruptionsAllowed" always,
        /// Healthy Pods.
        current_healthy: i32 = "currentHealthy" always,
        /// The fewest healthy Pods.
        desired_healthy: i32 = "desiredHealthy" always,
        /// Pods that it counts.
        expected_pods: i32 = "expectedPods" always,
        /// `DisruptionAllowed`.
        conditions: Vec<BudgetCondition> = "conditions",
    }

    /// `metav1.Condition`.
    pub struct BudgetCondition {
        /// `DisruptionAllowed`.
        condition_type: String = "type" always,
        /// `True` or `False`.
        status: String = "status" always,
        /// The generation it speaks of.
        observed_generation: i64 = "observedGeneration",
        /// When its status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: String = "reason" always,
        /// For a person.
        message: String = "message" always,
    }

    /// `core/v1 ResourceQuota`.
    pub struct ResourceQuota {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: QuotaSpec = "spec" always,
        /// The report.
        status: QuotaStatus = "status" always,
    }

    /// `core/v1 ResourceQuotaSpec`.
    pub struct QuotaSpec {
        /// The most of each resource.
        hard: ResourceList = "hard",
    }

    /// `core/v1 ResourceQuotaStatus`.
    pub struct QuotaStatus {
        /// The limits that the report is about.
        hard: ResourceList = "hard",
        /// What is used of each.
        used: ResourceList = "used",
    }
}

const DISRUPTION_ALLOWED: &str = "DisruptionAllowed";

/// The reason of a budget whose Pods could not be counted.
pub const SYNC_FAILED: &str = "SyncFailed";

impl DisruptionBudgetStatus {
    /// Grants so many evictions from now on, and says so in the condition; none after a failure.
    pub fn allow(&mut self, evictions: i32, generation: i64, failure: Option<&str>, now: Timestamp) {
        self.disruptions_allowed = evictions;
        let (is_allowed, reason) = match (failure, evictions) {
            (Some(_), _) => ("False", SYNC_FAILED),
            (None, 0) => ("False", "InsufficientPods"),
            (None, _) => ("True", "SufficientPods"),
        };
        let known = self.conditions.iter().position(|it| it.condition_type == DISRUPTION_ALLOWED);
        let since = known.and_then(|place| {
            let old = &self.conditions[place];
            old.last_transition_time.filter(|_| old.status == is_allowed)
        });
        let condition = BudgetCondition {
            condition_type: DISRUPTION_ALLOWED.to_string(),
            status: is_allowed.to_string(),
            observed_generation: generation,
            last_transition_time: since.or(Some(now)),
            reason: reason.to_string(),
            message: failure.unwrap_or_default().to_string(),
            ..BudgetCondition::default()
        };
        match known {
            Some(place) => self.conditions[place] = condition,
            None => self.conditions.push(condition),
        }
    }
}
