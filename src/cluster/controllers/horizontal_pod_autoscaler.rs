//! The HorizontalPodAutoscaler controller: sets the size of a workload by what is measured.
//!
//! Watches: HorizontalPodAutoscalers; each is looked at every 15 s, not when something changes.
//! Writes: the size of Deployments, ReplicaSets and StatefulSets; HorizontalPodAutoscaler status, events.
//! Models: `pkg/controller/podautoscaler/horizontal.go` (v1.36): `reconcileAutoscaler`, `computeReplicasForMetrics`.
//! Leaves out: metrics: nobody serves them in this cluster, and the controller says so in upstream's words.

use std::sync::Arc;

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::kinds::Condition;
use crate::api::kinds::apps::{Deployment, ReplicaSet};
use crate::api::kinds::policy::{HorizontalPodAutoscaler, ScaleTarget};
use crate::api::kinds::workloads::StatefulSet;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::store::{Change, Store};

/// Between two looks.
const PERIOD_TICKS: u64 = 15;

const ABLE_TO_SCALE: &str = "AbleToScale";
const SCALING_ACTIVE: &str = "ScalingActive";
const FAILED_GET_SCALE: &str = "FailedGetScale";
const FAILED_COMPUTE: &str = "FailedComputeMetricsReplicas";
const SUCCESSFUL_RESCALE: &str = "SuccessfulRescale";

/// The keys that a change concerns. A changed autoscaler waits for its turn like any other.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_it = change.key.kind == Kind::HorizontalPodAutoscaler && change.new.is_some();
    if is_it { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() }
}

/// Handles one autoscaler.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(scaler) = key.object().and_then(|key| view.store.at::<HorizontalPodAutoscaler>(key)) else {
        return Outcome::nothing(Because::new("because.autoscaler.gone"));
    };
    let turn = WorkKey::Resync(scaler_key(scaler));
    if !matches!(key, WorkKey::Resync(_)) {
        let mut outcome =
            Outcome::nothing(Because::new("because.autoscaler.wait").with("seconds", PERIOD_TICKS));
        outcome.look_again(turn, PERIOD_TICKS);
        return outcome;
    }
    let mut look = Look { view, scaler, status: (**scaler).clone(), outcome: Outcome::default() };
    look.run();
    if look.status.status != scaler.status {
        let because = Because::new("because.autoscaler.status")
            .with("current", look.status.status.current_replicas)
            .with("desired", look.status.status.desired_replicas);
        let write = Operation::UpdateStatus(look.status.clone().into()).because(because.clone());
        look.outcome.writes.push(write);
        look.outcome.because.get_or_insert(because);
    }
    look.outcome.because.get_or_insert_with(|| Because::new("because.autoscaler.nothing"));
    look.outcome.look_again(turn, PERIOD_TICKS);
    look.outcome
}

fn scaler_key(scaler: &Arc<HorizontalPodAutoscaler>) -> crate::api::meta::ObjectKey {
    crate::api::object::Resource::key(&**scaler)
}

/// What is still to be written after the size was refused: the event about it.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(scaler) = key.object().and_then(|key| view.store.at::<HorizontalPodAutoscaler>(key)) else {
        return Vec::new();
    };
    let Operation::Update(object) = &write.operation else { return Vec::new() };
    let size = object.to_value()["spec"]["replicas"].as_i64().unwrap_or(0);
    let because = Because::new("because.autoscaler.refused").with("message", &status.message);
    let text = format!("New size: {size}; error: {}", status.message);
    let event =
        EventRecord::warning(&Object::HorizontalPodAutoscaler(Arc::clone(scaler)), "FailedRescale", text);
    vec![Operation::Event(event).because(because)]
}

/// The target with that size; and the size that it has.
fn target_of(store: &Store, namespace: &str, target: &ScaleTarget) -> Result<(Object, i32), String> {
    let kind = Kind::from_manifest(&target.api_version, &target.kind);
    let not_found = |resource: &str| format!("{resource} \"{}\" not found", target.name);
    match kind {
        Some(Kind::Deployment) => store
            .get::<Deployment>(namespace, &target.name)
            .map(|found| (Object::Deployment(Arc::clone(found)), found.spec.replicas.unwrap_or(1)))
            .ok_or_else(|| not_found("deployments.apps")),
        Some(Kind::ReplicaSet) => store
            .get::<ReplicaSet>(namespace, &target.name)
            .map(|found| (Object::ReplicaSet(Arc::clone(found)), found.spec.replicas.unwrap_or(1)))
            .ok_or_else(|| not_found("replicasets.apps")),
        Some(Kind::StatefulSet) => store
            .get::<StatefulSet>(namespace, &target.name)
            .map(|found| (Object::StatefulSet(Arc::clone(found)), found.spec.replicas.unwrap_or(1)))
            .ok_or_else(|| not_found("statefulsets.apps")),
        Some(_) => Err("the server could not find the requested resource".to_string()),
        None => {
            let group = target.api_version.split_once('/').map_or("", |(group, _)| group);
            Err(format!("no matches for kind {:?} in group {group:?}", target.kind))
        }
    }
}

/// The object with another size.
fn resized(object: &Object, replicas: i32) -> Object {
    let mut object = object.clone();
    match &mut object {
        Object::Deployment(found) => Arc::make_mut(found).spec.replicas = Some(replicas),
        Object::ReplicaSet(found) => Arc::make_mut(found).spec.replicas = Some(replicas),
        Object::StatefulSet(found) => Arc::make_mut(found).spec.replicas = Some(replicas),
        _ => {}
    }
    object
}

/// One look at an autoscaler.
struct Look<'a> {
    view: &'a View<'a>,
    scaler: &'a Arc<HorizontalPodAutoscaler>,
    /// The autoscaler with the report to be.
    status: HorizontalPodAutoscaler,
    outcome: Outcome,
}

impl Look<'_> {
    fn run(&mut self) {
        let spec = &self.scaler.spec;
        let namespace = &self.scaler.meta.namespace;
        let (target, current) = match target_of(self.view.store, namespace, &spec.target) {
            Ok(found) => found,
            Err(error) => {
                let because = Because::new("because.autoscaler.no_target").with("message", &error);
                let text =
                    format!("the HPA controller was unable to get the target's current scale: {error}");
                self.condition(ABLE_TO_SCALE, "False", FAILED_GET_SCALE, &text);
                self.tell(true, FAILED_GET_SCALE, error, because);
                return;
            }
        };
        let least = spec.min_replicas.unwrap_or(1);
        let saw = Because::new("because.autoscaler.saw")
            .with("target", format!("{} {}", spec.target.kind, spec.target.name))
            .with("current", current)
            .with("least", least);
        self.outcome.saw.push(saw.with("most", spec.max_replicas));
        let able = "the HPA controller was able to get the target's current scale";
        self.condition(ABLE_TO_SCALE, "True", "SucceededGetScale", able);
        if current == 0 && least != 0 {
            let text = "scaling is disabled since the replica count of the target is zero";
            self.condition(SCALING_ACTIVE, "False", "ScalingDisabled", text);
            self.report(0, 0);
            self.outcome.because = Some(Because::new("because.autoscaler.zero"));
        } else if current > spec.max_replicas {
            let reason = "Current number of replicas above Spec.MaxReplicas";
            self.rescale(&target, current, spec.max_replicas, reason);
        } else if current < least {
            self.rescale(&target, current, least, "Current number of replicas below Spec.MinReplicas");
        } else {
            self.measure(current);
        }
    }

    fn rescale(&mut self, target: &Object, current: i32, desired: i32, reason: &str) {
        let text = format!("the HPA controller was able to update the target scale to {desired}");
        self.condition(ABLE_TO_SCALE, "True", "SucceededRescale", &text);
        let because = Because::new("because.autoscaler.rescale")
            .with("current", current)
            .with("desired", desired)
            .with("least", self.scaler.spec.min_replicas.unwrap_or(1))
            .with("most", self.scaler.spec.max_replicas);
        let resize = Operation::Update(resized(target, desired));
        self.outcome.writes.push(resize.because(because.clone()));
        self.tell(false, SUCCESSFUL_RESCALE, format!("New size: {desired}; reason: {reason}"), because);
        self.report(current, desired);
        self.status.status.last_scale_time = Some(self.view.now);
    }

    /// Asks for every metric; none is served.
    fn measure(&mut self, current: i32) {
        let metrics = self.scaler.spec.metrics.clone();
        let mut first = None;
        for metric in &metrics {
            let (reason, error, wrapped) = unserved(metric);
            let because = Because::new("because.autoscaler.no_metric").with("message", &error);
            self.tell(true, reason, error.clone(), because);
            first.get_or_insert((reason, error, wrapped));
        }
        let Some((reason, error, wrapped)) = first else { return };
        let text = format!("the HPA was unable to compute the replica count: {error}");
        self.condition(SCALING_ACTIVE, "False", reason, &text);
        let count = metrics.len();
        let text = format!("invalid metrics ({count} invalid out of {count}), first error is: {wrapped}");
        let because = Because::new("because.autoscaler.no_metric").with("message", &error);
        self.tell(true, FAILED_COMPUTE, text, because);
        let desired = self.scaler.status.desired_replicas;
        self.report(current, desired);
    }

    fn report(&mut self, current: i32, desired: i32) {
        self.status.status.current_replicas = current;
        self.status.status.desired_replicas = desired;
    }

    fn tell(&mut self, warning: bool, reason: &'static str, text: String, because: Because) {
        let object = Object::HorizontalPodAutoscaler(Arc::clone(self.scaler));
        let event = EventRecord { warning, ..EventRecord::normal(&object, reason, text) };
        self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        self.outcome.because.get_or_insert(because);
    }

    fn condition(&mut self, condition_type: &str, status: &str, reason: &str, message: &str) {
        set_condition(
            &mut self.status.status.conditions,
            (condition_type, status),
            (reason, message),
            self.view.now,
        );
    }
}

/// Sets a condition, keeping its transition time while the status stays the same; a new one goes to the end.
fn set_condition(
    conditions: &mut Vec<Condition>,
    (condition_type, status): (&str, &str),
    (reason, message): (&str, &str),
    now: Timestamp,
) {
    let place = match conditions.iter().position(|known| known.condition_type == condition_type) {
        Some(place) => place,
        None => {
            let condition_type = condition_type.to_string();
            conditions.push(Condition { condition_type, ..Condition::default() });
            conditions.len() - 1
        }
    };
    let condition = &mut conditions[place];
    if condition.status != status {
        condition.status = status.to_string();
        condition.last_transition_time = Some(now);
    }
    condition.reason = reason.to_string();
    condition.message = message.to_string();
}

/// What comes of asking for a metric that nobody serves: the reason, the error, and the error as the sum of all
/// metrics quotes it.
fn unserved(metric: &Value) -> (&'static str, String, String) {
    const RESOURCES: &str = "unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
    const CUSTOM: &str = "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";
    let text = |pointer: &str| metric.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match text("/type") {
        "ContainerResource" => {
            let name = text("/containerResource/name");
            let error = format!(
                "failed to get {name} utilization: unable to get metrics for resource {name}: {RESOURCES}"
            );
            let wrapped = format!("failed to get {name} container metric value: {error}");
            ("FailedGetContainerResourceMetric", error, wrapped)
        }
        "Pods" => {
            let error = format!("unable to get metric {}: {CUSTOM}", text("/pods/metric/name"));
            let wrapped = format!("failed to get pods metric value: {error}");
            ("FailedGetPodsMetric", error, wrapped)
        }
        "Object" => {
            let (kind, name) = (text("/object/describedObject/kind"), text("/object/describedObject/name"));
            let error =
                format!("unable to get metric {}: {kind} on {name}: {CUSTOM}", text("/object/metric/name"));
            let wrapped = format!("failed to get object metric value: {error}");
            ("FailedGetObjectMetric", error, wrapped)
        }
        "External" => {
            let name = text("/external/metric/name");
            let error = format!(
                "unable to get external metric {name}: unable to fetch metrics from external metrics API: the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
            );
            let wrapped = format!("failed to get external metric value: {error}");
            ("FailedGetExternalMetric", error, wrapped)
        }
        _ => {
            let name = text("/resource/name");
            let what = if text("/resource/target/type") == "AverageValue" { "usage" } else { "utilization" };
            let error = format!(
                "failed to get {name} {what}: unable to get metrics for resource {name}: {RESOURCES}"
            );
            let wrapped = format!("failed to get {name} resource metric value: {error}");
            ("FailedGetResourceMetric", error, wrapped)
        }
    }
}
