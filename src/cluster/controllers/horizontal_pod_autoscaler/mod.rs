//! The HorizontalPodAutoscaler controller: sets the size of a workload by what is measured.
//!
//! Watches: HorizontalPodAutoscalers; each is looked at every 15 s, not when something changes.
//! Writes: the size of Deployments, ReplicaSets, StatefulSets and ReplicationControllers; HorizontalPodAutoscaler status, events.
//! Models: `pkg/controller/podautoscaler/horizontal.go` (v1.36): `reconcileAutoscaler`, `computeReplicasForMetrics`.
//! Leaves out: custom, object and external metrics: nobody serves them in this cluster, and the controller says so in
//! upstream's words; the use of sidecars; two autoscalers of the same Pods.

pub mod pace;
pub mod replicas;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use self::pace::{Limits, Track, plan_size, tolerance_of};
use self::replicas::{Goal, Proposal, Samples, group, plan_replicas};

use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::Condition;
use crate::api::kinds::apps::{Deployment, LabelSelector, ReplicaSet, ReplicationController};
use crate::api::kinds::pod::Pod;
use crate::api::kinds::policy::{HorizontalPodAutoscaler, ScaleTarget};
use crate::api::kinds::workloads::StatefulSet;
use crate::api::meta::ObjectKey;
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::metrics::{self, Load};
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
const SCALING_LIMITED: &str = "ScalingLimited";

/// What the controller remembers: of each autoscaler, what it recommended and changed of late.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    tracks: BTreeMap<ObjectKey, Track>,
}

/// The keys that a change concerns. A changed autoscaler waits for its turn like any other.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_it = change.key.kind == Kind::HorizontalPodAutoscaler && change.new.is_some();
    if is_it { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() }
}

/// Handles one autoscaler.
pub fn reconcile(memory: &mut Memory, view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(scaler) = key.object().and_then(|key| view.store.at::<HorizontalPodAutoscaler>(key)) else {
        if let Some(key) = key.object() {
            memory.tracks.remove(key);
        }
        return Outcome::nothing(Because::new("because.autoscaler.gone"));
    };
    let turn = WorkKey::Resync(scaler_key(scaler));
    if !matches!(key, WorkKey::Resync(_)) {
        let mut outcome =
            Outcome::nothing(Because::new("because.autoscaler.wait").with("seconds", PERIOD_TICKS));
        outcome.look_again(turn, PERIOD_TICKS);
        return outcome;
    }
    let track = memory.tracks.entry(scaler_key(scaler)).or_default();
    let mut look = Look { view, scaler, track, status: (**scaler).clone(), outcome: Outcome::default() };
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

fn scaler_key(scaler: &Arc<HorizontalPodAutoscaler>) -> ObjectKey {
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
    let reason =
        write.because.args.iter().find(|(name, _)| *name == "reason").map_or("", |(_, reason)| reason);
    let text = format!("New size: {size}; reason: {reason}; error: {}", status.message);
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
        Some(Kind::ReplicationController) => store
            .get::<ReplicationController>(namespace, &target.name)
            .map(|found| (Object::ReplicationController(Arc::clone(found)), found.spec.replicas.unwrap_or(1)))
            .ok_or_else(|| not_found("replicationcontrollers")),
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
        Object::ReplicationController(found) => Arc::make_mut(found).spec.replicas = Some(replicas),
        _ => {}
    }
    object
}

/// The labels of a target's Pods.
fn selector_of(object: &Object) -> LabelSelector {
    match object {
        Object::Deployment(found) => found.spec.selector.clone(),
        Object::ReplicaSet(found) => found.spec.selector.clone(),
        Object::StatefulSet(found) => found.spec.selector.clone(),
        Object::ReplicationController(found) => {
            LabelSelector { match_labels: found.spec.selector.clone(), ..LabelSelector::default() }
        }
        _ => LabelSelector::default(),
    }
}

/// Why a metric is of no use: a reason, the error, and the error as the sum of all metrics quotes it.
type Invalid = (&'static str, String, String);

/// One look at an autoscaler.
struct Look<'a> {
    view: &'a View<'a>,
    scaler: &'a Arc<HorizontalPodAutoscaler>,
    track: &'a mut Track,
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
            self.measure(&target, current);
        }
    }

    fn rescale(&mut self, target: &Object, current: i32, desired: i32, reason: &str) {
        let text = format!("the HPA controller was able to update the target scale to {desired}");
        self.condition(ABLE_TO_SCALE, "True", "SucceededRescale", &text);
        // What an earlier recommendation asks for has no reason of its own.
        let key = if reason.is_empty() {
            "because.autoscaler.rescale_earlier"
        } else {
            "because.autoscaler.rescale"
        };
        let because = Because::new(key)
            .with("current", current)
            .with("desired", desired)
            .with("least", self.scaler.spec.min_replicas.unwrap_or(1))
            .with("most", self.scaler.spec.max_replicas)
            .with("reason", reason);
        let resize = Operation::Update(resized(target, desired));
        self.outcome.writes.push(resize.because(because.clone()));
        self.tell(false, SUCCESSFUL_RESCALE, format!("New size: {desired}; reason: {reason}"), because);
        self.report(current, desired);
        self.status.status.last_scale_time = Some(self.view.now);
        self.track.note_change(current, desired, self.view.now);
    }

    /// Asks every metric how many Pods there should be; the largest answer counts.
    fn measure(&mut self, target: &Object, current: i32) {
        if self.track.recommended.is_empty() {
            self.track.recommended.push((current, self.view.now));
        }
        let metrics = self.scaler.spec.metrics.clone();
        let (mut invalid, mut statuses) = (Vec::new(), Vec::new());
        let mut best: Option<(i32, String)> = None;
        for metric in &metrics {
            match self.ask(metric, target, current) {
                Ok((proposal, name, status)) => {
                    statuses.push(status);
                    if best.as_ref().is_none_or(|(replicas, _)| proposal.replicas > *replicas) {
                        best = Some((proposal.replicas, name));
                    }
                }
                Err(error) => {
                    let because = Because::new("because.autoscaler.no_metric").with("message", &error.1);
                    self.tell(true, error.0, error.1.clone(), because);
                    statuses.push(Value::Null);
                    invalid.push(error);
                }
            }
        }
        let is_measured = statuses.iter().any(|status| !status.is_null());
        let placeholder = |status: Value| if status.is_null() { json!({"type": ""}) } else { status };
        let statuses: Vec<Value> = statuses.into_iter().map(placeholder).collect();
        // With a metric missing, Pods may be added and none taken away.
        let is_usable = best.as_ref().is_some_and(|(replicas, _)| invalid.is_empty() || *replicas >= current);
        let Some((asked, name)) = best.filter(|_| is_usable) else {
            self.give_up(&metrics, &invalid, current);
            self.status.status.rest.set("currentMetrics", is_measured.then_some(Value::Array(statuses)));
            return;
        };
        let text = format!("the HPA was able to successfully calculate a replica count from {name}");
        self.condition(SCALING_ACTIVE, "True", "ValidMetricFound", &text);
        let behavior = self.scaler.spec.behavior.clone();
        let limits = Limits {
            behavior: &behavior,
            least: self.scaler.spec.min_replicas.unwrap_or(1),
            most: self.scaler.spec.max_replicas,
        };
        let paced = plan_size(self.track, limits, current, asked, self.view.now);
        let word = |is: bool| if is { "True" } else { "False" };
        self.condition(ABLE_TO_SCALE, word(paced.able.0), paced.able.1, paced.able.2);
        self.condition(SCALING_LIMITED, word(paced.limited.0), paced.limited.1, paced.limited.2);
        if paced.replicas == current {
            let because =
                Because::new("because.autoscaler.keep").with("current", current).with("asked", asked);
            self.outcome.because.get_or_insert(because);
            self.report(current, current);
        } else {
            let reason = match asked.cmp(&current) {
                std::cmp::Ordering::Greater => format!("{name} above target"),
                std::cmp::Ordering::Less => "All metrics below target".to_string(),
                std::cmp::Ordering::Equal => String::new(),
            };
            self.rescale(target, current, paced.replicas, &reason);
        }
        self.status.status.rest.set("currentMetrics", Some(Value::Array(statuses)));
    }

    /// Says that no size can be computed.
    fn give_up(&mut self, metrics: &[Value], invalid: &[Invalid], current: i32) {
        let Some((reason, error, wrapped)) = invalid.first() else { return };
        let text = format!("the HPA was unable to compute the replica count: {error}");
        self.condition(SCALING_ACTIVE, "False", reason, &text);
        let (bad, count) = (invalid.len(), metrics.len());
        let text = format!("invalid metrics ({bad} invalid out of {count}), first error is: {wrapped}");
        let because = Because::new("because.autoscaler.no_metric").with("message", error);
        self.tell(true, FAILED_COMPUTE, text, because);
        let desired = self.scaler.status.desired_replicas;
        self.report(current, desired);
    }

    /// What one metric asks for: the Pods, its name in words, and its status.
    fn ask(
        &mut self,
        metric: &Value,
        target: &Object,
        current: i32,
    ) -> Result<(Proposal, String, Value), Invalid> {
        let (field, reason) = match metric["type"].as_str() {
            Some("Resource") => ("resource", "FailedGetResourceMetric"),
            Some("ContainerResource") => ("containerResource", "FailedGetContainerResourceMetric"),
            _ => return Err(unserved(metric, &self.scaler.meta.namespace)),
        };
        if self.view.settings.recorded_runtime {
            return Err(unserved(metric, &self.scaler.meta.namespace));
        }
        let source = &metric[field];
        let name = source["name"].as_str().unwrap_or_default();
        let goal = match &source["target"]["averageValue"] {
            Value::Null => Goal::Percent(source["target"]["averageUtilization"].as_i64().unwrap_or(0)),
            Value::String(text) => Goal::Average(Quantity::parse(text).map_or(0, |amount| amount.milli())),
            other => Goal::Average(other.as_i64().unwrap_or(0).saturating_mul(1000)),
        };
        let (what, words) = match goal {
            Goal::Percent(_) => {
                ("utilization", format!("{name} resource utilization (percentage of request)"))
            }
            Goal::Average(_) => ("usage", format!("{name} resource")),
        };
        let container = source["container"].as_str();
        let proposal = self.propose(name, container, goal, target, current).map_err(|error| {
            let error = format!("failed to get {name} {what}: {error}");
            let kind = if container.is_some() { "container" } else { "resource" };
            (reason, error.clone(), format!("failed to get {name} {kind} metric value: {error}"))
        })?;
        let mut now = json!({"averageValue": Quantity::from_milli(proposal.average_milli).to_string()});
        if let Some(percent) = proposal.percent {
            now["averageUtilization"] = json!(percent);
        }
        let mut status = json!({"type": metric["type"], field: {"name": name, "current": now}});
        if let Some(container) = container {
            status[field]["container"] = json!(container);
        }
        let (wanted, found) = match (goal, proposal.percent) {
            (Goal::Percent(wanted), Some(percent)) => (format!("{wanted}%"), format!("{percent}%")),
            (Goal::Average(wanted), _) | (Goal::Percent(wanted), None) => {
                let text = |milli| Quantity::from_milli(milli).to_string();
                (text(wanted), text(proposal.average_milli))
            }
        };
        let saw = Because::new("because.autoscaler.measured")
            .with("metric", &words)
            .with("found", found)
            .with("wanted", wanted)
            .with("current", current)
            .with("asked", proposal.replicas);
        self.outcome.saw.push(saw);
        Ok((proposal, words, status))
    }

    /// How many Pods a resource asks for.
    fn propose(
        &self,
        resource: &str,
        container: Option<&str>,
        goal: Goal,
        target: &Object,
        current: i32,
    ) -> Result<Proposal, String> {
        let view = self.view;
        let selector = selector_of(target);
        let is_its = |pod: &&Arc<Pod>| selector.matches(&pod.meta.labels);
        let pods: Vec<&Arc<Pod>> =
            view.store.list_in::<Pod>(&self.scaler.meta.namespace).filter(is_its).collect();
        let load = Load::of(view);
        let (mut samples, mut requests) = (Samples::new(), Samples::new());
        for pod in &pods {
            let Some(used) = metrics::measured(view, &load, pod) else { continue };
            let counted = used.iter().filter(|(name, _)| container.is_none_or(|wanted| wanted == name));
            let amount = counted.map(|(_, used)| match resource {
                "cpu" => used.cpu_millicores,
                "memory" => used.memory_bytes.saturating_mul(1000),
                _ => 0,
            });
            samples.insert(pod.meta.name.clone(), amount.sum());
        }
        if samples.is_empty() {
            return Err(format!(
                "unable to get metrics for resource {resource}: no metrics returned from resource metrics API"
            ));
        }
        if matches!(goal, Goal::Percent(_)) {
            for pod in &pods {
                requests.insert(pod.meta.name.clone(), requested(pod, container, resource)?);
            }
        }
        let window = (metrics::measured_at(view), metrics::WINDOW_SECONDS);
        let groups = group(pods.iter().copied(), &samples, resource, window, view.now);
        plan_replicas(current, goal, samples, &groups, &requests, tolerance_of(&self.scaler.spec.behavior))
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

/// What a Pod requests of a resource, or one of its containers does, in thousandths.
fn requested(pod: &Pod, container: Option<&str>, resource: &str) -> Result<i64, String> {
    let counted = pod.spec.containers.iter().filter(|it| container.is_none_or(|wanted| wanted == it.name));
    let mut sum = 0;
    for container in counted {
        let Some(request) = container.resources.requests.get(resource) else {
            return Err(format!(
                "missing request for {resource} in container {} of Pod {}",
                container.name, pod.meta.name
            ));
        };
        sum += request.milli();
    }
    Ok(sum)
}

/// What comes of asking for a metric that nobody serves.
fn unserved(metric: &Value, namespace: &str) -> Invalid {
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
            let error = format!(
                "unable to get metric {}: {kind} on {namespace} {name}/{CUSTOM}",
                text("/object/metric/name")
            );
            let wrapped = format!("failed to get object metric value: {error}");
            ("FailedGetObjectMetric", error, wrapped)
        }
        "External" => {
            let name = text("/external/metric/name");
            let selector = metric.pointer("/external/metric/selector").filter(|selector| !selector.is_null());
            let selector = selector.cloned().and_then(|selector| LabelSelector::decode(selector).ok());
            let selector = selector.as_ref().map_or("nil".to_string(), LabelSelector::as_go_prints);
            let error = format!(
                "unable to get external metric {namespace}/{name}/{selector}: unable to fetch metrics from external metrics API: the server could not find the requested resource (get {name}.external.metrics.k8s.io)"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_nobody_serves_is_told_of_in_the_words_of_a_cluster_without_such_an_api() {
        let table = [
            (
                json!({"type": "Pods", "pods": {"metric": {"name": "hits"}}}),
                "unable to get metric hits: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
            ),
            (
                json!({"type": "Object", "object": {"metric": {"name": "hits"}, "describedObject": {"kind": "Ingress", "name": "front"}}}),
                "unable to get metric hits: Ingress on demo front/unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
            ),
            (
                json!({"type": "External", "external": {"metric": {"name": "jobs", "selector": {"matchLabels": {"queue": "a"}}}}}),
                "unable to get external metric demo/jobs/&LabelSelector{MatchLabels:map[string]string{queue: a,},MatchExpressions:[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: the server could not find the requested resource (get jobs.external.metrics.k8s.io)",
            ),
        ];
        for (metric, expected) in table {
            assert_eq!(unserved(&metric, "demo").1, expected);
        }
    }
}
