//! Step traces: only the controllers run, the case's steps play scheduler and kubelet, and after each step the
//! observable state must be as recorded.
//!
//! On a real cluster a chain of controllers takes milliseconds, here each hop takes a second. So that periods written
//! in a manifest still end after the chain has come to rest, recorded seconds are played [`STRETCH`] times as long.

use std::collections::BTreeMap;

use kubestep::api::kind::Kind;
use kubestep::api::manifest;
use kubestep::api::meta::ObjectKey;
use kubestep::api::time::Timestamp;
use kubestep::cluster::server::request::{Propagation, Request, Verb};
use kubestep::cluster::server::status::Status;
use kubestep::cluster::settings::{NodeSetup, Settings};
use serde_json::{Map, Value, json};

use super::case::Case;
use super::placeholder::Bindings;
use super::setting;
use super::stage::{NAMESPACE, Stage};
use super::state;
use super::tree::{self, Order};

/// Ticks per recorded second.
const STRETCH: i64 = 10;

/// A chain of controllers has come to rest when nothing is due within this many ticks.
const REST_TICKS: u64 = 4;

/// Each link of a chain of controllers follows the one before it within so many ticks.
const CHAIN_TICKS: u64 = 1;

/// Fields of manifests that hold seconds which a controller counts.
const PERIODS: &[&str] = &["minReadySeconds", "progressDeadlineSeconds", "ttlSecondsAfterFinished"];

/// Plays a case.
///
/// # Errors
/// What differs, the step first.
pub fn play(case: &Case) -> Result<(), String> {
    let steps = case.value.get("steps").and_then(Value::as_array).cloned().unwrap_or_default();
    let actors = case.value.get("actors").and_then(Value::as_str).unwrap_or_default();
    if actors.starts_with("everything is real") {
        return super::nodes::play(case);
    }
    let racy = case.value.get("racy").and_then(Value::as_str).unwrap_or_default();
    if !racy.contains("which node") {
        return play_steps(case, &steps, actors);
    }
    // Where it is chance which node comes first, any order will do.
    let mut first = None;
    for steps in setting::orders_of_nodes(&steps) {
        match play_steps(case, &steps, actors) {
            Ok(()) => return Ok(()),
            Err(difference) => first = first.or(Some(difference)),
        }
    }
    first.map_or(Ok(()), Err)
}

fn play_steps(case: &Case, steps: &[Value], actors: &str) -> Result<(), String> {
    let zones = ["zone-a", "zone-b", "zone-c"];
    let node =
        |n: usize| NodeSetup { zone: zones[n % 3].to_string(), ..NodeSetup::new(format!("node-{}", n + 1)) };
    let settings =
        Settings { scheduler: false, kubelets: false, ..Settings::bare(1, (0..6).map(node).collect()) };
    let mut stage = Stage::new(settings);
    stage.binds_at_once = actors.contains("every unassigned pod is bound");
    let mut trace = Trace {
        fact: stage.facts.len(),
        revision: stage.cluster.store.revision(),
        ready_since: stage.cluster.now(),
        stage,
        bindings: Bindings::default(),
        others: Vec::new(),
        combined: Vec::new(),
        held: held_pods(steps),
        told: BTreeMap::new(),
        about: case.value.get("about").and_then(Value::as_str).unwrap_or_default().to_string(),
    };
    for (index, step) in steps.iter().enumerate() {
        let different = |difference: String| format!("step {}: {}\n{difference}", index + 1, summary(step));
        trace.foresee(step, &steps[index + 1..]);
        trace.set_up(step, &steps[index + 1..]).map_err(different)?;
        trace.step(step).map_err(different)?;
    }
    Ok(())
}

fn summary(step: &Value) -> String {
    let shown = step.as_object().map(|map| {
        let parts = map.iter().filter(|(key, value)| {
            !matches!(key.as_str(), "state" | "manifest" | "stdout" | "stderr" | "note") && !value.is_null()
        });
        parts.map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
    });
    shown.unwrap_or_default()
}

/// A case being played.
struct Trace {
    stage: Stage,
    bindings: Bindings,
    /// What the names may stand for as well: objects that look alike are told apart by a later state.
    others: Vec<Bindings>,
    /// Since when Pods made by hand are ready, unless their step says so.
    ready_since: Timestamp,
    /// How many facts there were at the last recorded state.
    fact: usize,
    /// The store's revision at the last recorded state.
    revision: u64,
    /// Objects whose events the real client had begun to combine or drop.
    combined: Vec<String>,
    /// Pods made by hand that carry a finalizer: a later step takes it away.
    held: Vec<String>,
    /// How many events of one reason were told of one ReplicaSet, folded into one line.
    told: BTreeMap<String, u64>,
    /// What the case says it shows.
    about: String,
}

/// The ConfigMap that every namespace has.
const ROOT_CA: &str = "kube-root-ca.crt";

/// The most readings of a state that are kept for the next one.
const MOST_WAYS: usize = 24;

/// From this many similar events on, the real client combines them.
const COMBINED_FROM: u64 = 10;

/// The Pods whose finalizers a step takes away.
fn held_pods(steps: &[Value]) -> Vec<String> {
    let clears = |step: &&Value| text(step, "do") == "patch" && step.get("finalizers").is_some();
    steps.iter().filter(clears).map(|step| text(step, "pod").to_string()).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn refused(status: &Status) -> String {
    format!("refused: {} {}", status.code, status.message)
}

impl Trace {
    fn step(&mut self, step: &Value) -> Result<(), String> {
        if text(step, "do").starts_with("scale") {
            self.remove_unlisted(step)?;
        }
        let done = self.stimulate(step)?;
        self.check_response(step, &done)?;
        match text(step, "do") {
            "pod" if step.get("state").is_none() => return Ok(()),
            // The controllers ran while one Pod after the other came up.
            "pod_up" if step.get("state").is_none() => {
                self.stage.tick();
                return Ok(());
            }
            _ => {}
        }
        let waited = step.get("seconds").and_then(Value::as_f64);
        let stretched = waited.map_or(0, |seconds| (seconds * STRETCH as f64).ceil() as u64);
        // What a controller does every so many seconds of its own accord goes by the cluster's clock.
        let ticks = stretched.max(step.get("waited_seconds").and_then(Value::as_u64).unwrap_or(0));
        self.stage.advance(ticks);
        self.retry_failures();
        let waits = text(step, "do") == "wait" || step.get("seconds").is_some();
        if waits && let Some(seconds) = setting::number_after(text(step, "note"), "about ") {
            // What a controller waits for of its own accord goes by the cluster's clock.
            self.stage.advance(seconds);
        }
        // The namespace controller waits before it begins; the chain itself never pauses for so long.
        let gap = if text(step, "do") == "delete_namespace" { CHAIN_TICKS } else { REST_TICKS };
        self.stage.settle(gap);
        if !text(step, "until").is_empty() {
            self.wait_until(text(step, "until"));
        }
        if text(step, "do") == "wait" && text(step, "note").contains("progressDeadlineSeconds") {
            self.stage.advance(self.longest_deadline_ticks() + 2);
            self.stage.settle(REST_TICKS);
        }
        if let Some(expected) = step.get("state") {
            let mut expected = expected.clone();
            if step.get("waited_seconds").is_some() {
                expected["once"] = json!(true);
            }
            self.compare(&expected, text(step, "racy"))?;
            self.begin_afresh();
        }
        Ok(())
    }

    /// Lets time pass until everything that waits behind a back-off has been tried again: on a real cluster the first
    /// dozen tries take less than a second.
    fn retry_failures(&mut self) {
        const MOST_TICKS: u64 = 60;
        self.stage.tick();
        let waiting = self.stage.cluster.components().flat_map(|(_, component)| {
            component.queue.iter().filter(|(key, _)| component.queue.failures(key) > 0).map(|(_, due)| due)
        });
        let now = self.stage.cluster.tick();
        let last = waiting.max().unwrap_or(now).min(now + MOST_TICKS);
        self.stage.advance(last - now);
    }

    /// Lets time pass until what the step waits for has happened: `a second pod is created`.
    fn wait_until(&mut self, event: &str) {
        const MOST_TICKS: u64 = 600;
        let created = |this: &Self| this.stage.changes_since(this.fact, Kind::Pod).created.len();
        let before = created(self);
        for _ in 0..MOST_TICKS {
            if event.contains("created") && created(self) > before {
                break;
            }
            self.stage.tick();
        }
        self.stage.settle(REST_TICKS);
    }

    /// Brings about what the recorder had set up without a step of its own.
    fn set_up(&mut self, step: &Value, later: &[Value]) -> Result<(), String> {
        let manifest = manifest::parse(text(step, "manifest"));
        let node = text(step, "node");
        let is_shown = || {
            let slices = later.iter().filter_map(|step| step.pointer("/state/slices"));
            slices.map(Value::to_string).any(|slices| slices.contains(&format!("\"nodeName\":\"{node}\"")))
        };
        if text(step, "do") == "pod_up" && !node.is_empty() && is_shown() {
            self.label_node(node, &Map::new()).map_err(|status| refused(&status))?;
        }
        let daemons = manifest.documents.iter().find(|document| text(&document.value, "kind") == "DaemonSet");
        let selector = daemons.and_then(|set| set.value.pointer("/spec/template/spec/nodeSelector"));
        if let Some(Value::Object(labels)) = selector {
            for node in setting::nodes_of_daemons(later) {
                self.label_node(&node, labels).map_err(|status| refused(&status))?;
            }
        }
        let objects = setting::objects_before(&self.stage, step, &self.about);
        if objects.is_empty() {
            return self.ready_as_listed(step);
        }
        let makes_pods =
            objects.iter().any(|object| matches!(text(object, "kind"), "Pod" | "Deployment" | "StatefulSet"));
        for object in objects {
            self.stage.apply_value(object).map_err(|status| refused(&status))?;
        }
        if makes_pods {
            self.stage.settle(REST_TICKS);
            let is_listed_ready = |pod: &Value| {
                let listed = step.pointer("/state/Pod").and_then(Value::as_array);
                let mut listed = listed.into_iter().flatten();
                listed.any(|one| {
                    let name = text(one, "name");
                    one["ready"] == true && (name == text(&pod["metadata"], "name") || name.contains('<'))
                })
            };
            // Ordered Pods come one after the other.
            for _ in 0..20 {
                let pods: Vec<Value> = self.active_pods(None);
                let waiting: Vec<&Value> =
                    pods.iter().filter(|pod| !is_ready(pod) && is_listed_ready(pod)).collect();
                if waiting.is_empty() {
                    break;
                }
                for pod in waiting {
                    self.report(pod, &Report::ready()).map_err(|status| refused(&status))?;
                }
                self.stage.settle(REST_TICKS);
            }
        }
        Ok(())
    }

    /// Reports Pods as ready that the next state shows so, though no step says it.
    fn ready_as_listed(&mut self, step: &Value) -> Result<(), String> {
        if text(step, "do") != "pod_status" {
            return Ok(());
        }
        let subject = self.bindings.fill(text(step, "pod"));
        let listed = step.pointer("/state/Pod").and_then(Value::as_array).cloned().unwrap_or_default();
        for entry in listed.iter().filter(|entry| entry["ready"] == true && entry["phase"] == "Running") {
            let name = self.bindings.fill(text(entry, "name"));
            if let Ok(pod) = self.pod(&name)
                && name != subject
                && !is_ready(&pod)
            {
                self.report(&pod, &Report::ready()).map_err(|status| refused(&status))?;
            }
        }
        Ok(())
    }

    /// Gives a node labels; one that is not there appears, without a zone.
    fn label_node(&mut self, node: &str, labels: &Map<String, Value>) -> Result<(), Status> {
        if self.stage.cluster.store.object(&ObjectKey::new(Kind::Node, "", node)).is_none() {
            let ready = json!([{"type": "Ready", "status": "True", "reason": "KubeletReady"}]);
            let body = json!({"metadata": {"name": node}, "status": {"conditions": ready}});
            self.ask(Verb::Create, Kind::Node, "", node, body)?;
        }
        self.ask(Verb::MergePatch, Kind::Node, "", node, json!({"metadata": {"labels": labels}}))
    }

    /// What happens from here on belongs to the next recorded state.
    fn begin_afresh(&mut self) {
        self.fact = self.stage.facts.len();
        self.revision = self.stage.cluster.store.revision();
    }

    /// Removes terminating Pods that were gone before the step: a state that lists every Pod does not list them.
    fn remove_unlisted(&mut self, step: &Value) -> Result<(), String> {
        let Some(listed) = step.pointer("/state/pods").and_then(Value::as_array) else { return Ok(()) };
        let gone = step.pointer("/state/gone_this_step").and_then(Value::as_array);
        let names = listed.iter().map(|pod| text(pod, "name"));
        let names = names.chain(gone.into_iter().flatten().filter_map(Value::as_str));
        let names: Vec<String> = names.map(|name| self.bindings.fill(name)).collect();
        if names.iter().any(|name| self.bindings.unbound(name).is_some()) {
            return Ok(());
        }
        let unlisted: Vec<String> =
            self.terminating().into_iter().filter(|pod| !names.contains(pod)).collect();
        if unlisted.is_empty() {
            return Ok(());
        }
        unlisted.iter().try_for_each(|pod| self.remove(pod)).map_err(|status| refused(&status))?;
        self.stage.settle(REST_TICKS);
        self.begin_afresh();
        Ok(())
    }

    /// Finds the hash that a step names before its ReplicaSet exists: the one that a Deployment made later leads to.
    fn foresee(&mut self, step: &Value, later: &[Value]) {
        let named = format!("{} {}", text(step, "manifest"), step.get("labels").cloned().unwrap_or_default());
        let Some(hash) =
            self.bindings.unbound(&named).filter(|name| name.starts_with("hash")).map(str::to_string)
        else {
            return;
        };
        let makes_deployment = |step: &&Value| {
            text(step, "do") == "create" && text(step, "manifest").contains("kind: Deployment")
        };
        let Some(maker) = later.iter().find(makes_deployment) else { return };
        let mut rehearsal = self.stage.clone();
        if rehearsal.apply(&self.bindings.fill(text(maker, "manifest"))).is_err() {
            return;
        }
        rehearsal.settle(REST_TICKS);
        let made = rehearsal.changes_since(self.stage.facts.len(), Kind::ReplicaSet).created;
        let label = made.first().and_then(|set| set.pointer("/metadata/labels/pod-template-hash"));
        if let Some(value) = label.and_then(Value::as_str) {
            // The number was unbound a moment ago.
            let _ = self.bindings.bind(&hash, value);
        }
    }

    /// Carries out the step's stimulus.
    fn stimulate(&mut self, step: &Value) -> Result<Result<(), Status>, String> {
        let count = step.get("count").and_then(Value::as_u64).map_or(1, |n| n as usize);
        let replicas = step.get("replicas").cloned().unwrap_or_default();
        let scale = json!({"spec": {"replicas": replicas}});
        Ok(match text(step, "do") {
            "create" => {
                let read = manifest::parse(&self.filled(text(step, "manifest"))?);
                let mut result = read.error.map_or(Ok(()), |error| Err(Status::bad_request(error.message)));
                for mut document in read.documents {
                    stretch(&mut document.value);
                    result = result.and_then(|()| self.stage.apply_value(document.value));
                }
                result
            }
            "start" => self.create_what_is_listed(step),
            "settle" | "wait" | "setup" => Ok(()),
            "all_ready" => {
                for pod in self.active_pods(None) {
                    // A daemon's Pod goes to the node that it is tied to.
                    if let Some(node) = tied_to(&pod).filter(|_| text(&pod["spec"], "nodeName").is_empty()) {
                        let name = text(&pod["metadata"], "name");
                        self.stage.bind(name, &node).map_err(|status| refused(&status))?;
                    }
                }
                let pods = self.active_pods(None);
                pods.into_iter().try_for_each(|pod| self.report(&pod, &Report::ready()))
            }
            "evict" => {
                let pod = self.filled(text(step, "pod"))?;
                let body = json!({
                    "apiVersion": "policy/v1", "kind": "Eviction",
                    "metadata": {"name": pod, "namespace": NAMESPACE},
                });
                let mut request = Request::new(Verb::Create, Kind::Pod, NAMESPACE, &pod, body);
                request.subresource = "eviction".to_string();
                self.send(request)
            }
            "ready" | "unready" => {
                let replica_set = self.filled(text(step, "replicaset"))?;
                let wanted = text(step, "do") == "ready";
                let pods = self.active_pods(Some(&replica_set));
                let pods: Vec<Value> =
                    pods.into_iter().filter(|pod| is_ready(pod) != wanted).take(count).collect();
                let report = Report { ready: wanted, ..Report::ready() };
                let mut result = Ok(());
                for (index, pod) in pods.iter().enumerate() {
                    // One after the other: controllers act in between.
                    if index > 0 {
                        self.stage.settle(REST_TICKS);
                    }
                    result = result.and_then(|()| self.report(pod, &report));
                }
                result
            }
            "pulling_fails" => {
                let pods: Vec<Value> =
                    self.active_pods(None).into_iter().filter(|pod| !has_containers(pod)).collect();
                let report =
                    Report { phase: "Pending", ready: false, waiting: "ImagePullBackOff", ..Report::ready() };
                pods.into_iter().try_for_each(|pod| self.report(&pod, &report))
            }
            "one_failed" => {
                let pods = self.active_pods(None);
                let report = Report { phase: "Failed", ready: false, reason: "Evicted", ..Report::ready() };
                pods.into_iter().take(1).try_for_each(|pod| self.report(&pod, &report))
            }
            "finish" => match text(step, "pod") {
                "" => return self.finish(count, step.pointer("/state/pods")).map(Ok),
                pod => {
                    let pod = self.filled(pod)?;
                    self.remove(&pod)
                }
            },
            "set_image" => {
                let image = text(step, "image");
                let (kind, object) = self.object_at_hand(step)?;
                let containers = object.pointer("/spec/template/spec/containers").and_then(Value::as_array);
                let named =
                    containers.into_iter().flatten().map(|c| json!({"name": c["name"], "image": image}));
                let patch =
                    json!({"spec": {"template": {"spec": {"containers": named.collect::<Vec<_>>()}}}});
                self.patch(kind, text(&object["metadata"], "name"), patch)
            }
            "scale" => {
                let (kind, object) = self.object_at_hand(step)?;
                self.patch(kind, text(&object["metadata"], "name"), scale)
            }
            "scale_deployment" | "scale_rs" => {
                let kind = if text(step, "do") == "scale_rs" { Kind::ReplicaSet } else { Kind::Deployment };
                let object =
                    state::by_creation(&self.stage, kind).into_iter().next().ok_or("nothing to scale")?;
                self.patch(kind, text(&object["metadata"], "name"), scale)
            }
            "patch" => return self.patch_step(step),
            "label" => {
                let labels = labels_patch(text(step, "labels"));
                self.patch(Kind::Pod, &self.filled(text(step, "pod"))?, labels)
            }
            "label_node" | "taint_node" | "cordon" | "delete_node" => return self.node_step(step).map(Ok),
            "label_namespace" => {
                let labels = labels_patch(text(step, "labels"));
                self.ask(Verb::MergePatch, Kind::Namespace, "", NAMESPACE, labels)
            }
            "pod" | "create_pod" => self.pod_step(step)?,
            "pod_up" => self.pod_up(step)?,
            "pod_status" => self.pod_status(step)?,
            "bind" => {
                let pod = self.filled(text(step, "pod"))?;
                self.stage.bind(&pod, text(step, "node")).map(|_| ())
            }
            "delete" => {
                let (kind, name) = self.address(text(step, "object"))?;
                let propagation = match text(step, "propagation") {
                    "Background" => Some(Propagation::Background),
                    "Foreground" => Some(Propagation::Foreground),
                    "Orphan" => Some(Propagation::Orphan),
                    _ => None,
                };
                self.delete(kind, &name, None, propagation)
            }
            "delete_pod" => {
                let pod = match text(step, "pod") {
                    "" => {
                        let ready =
                            self.active_pods(None).into_iter().find(is_ready).ok_or("no ready Pod")?;
                        text(&ready["metadata"], "name").to_string()
                    }
                    pod => self.filled(pod)?,
                };
                self.delete(Kind::Pod, &pod, step.get("grace").and_then(Value::as_i64), None)
            }
            "delete_namespace" => {
                let name = if text(step, "name").is_empty() { NAMESPACE } else { text(step, "name") };
                let mut request = Request::new(Verb::Delete, Kind::Namespace, "", name, Value::Null);
                request.options.dry_run = step.get("dry_run").is_some_and(|dry_run| *dry_run != json!(false));
                self.send(request)
            }
            "remove_finalizer" => {
                let held = state::objects(&self.stage, Kind::ConfigMap).into_iter().find(|map| {
                    let finalizers = map.pointer("/metadata/finalizers").and_then(Value::as_array);
                    finalizers.is_some_and(|finalizers| !finalizers.is_empty())
                });
                let held = held.ok_or("nothing has a finalizer")?;
                let patch = json!({"metadata": {"finalizers": []}});
                self.ask(Verb::MergePatch, Kind::ConfigMap, NAMESPACE, text(&held["metadata"], "name"), patch)
            }
            "kubectl" => return self.kubectl(step).map(Ok),
            other => return Err(format!("the stimulus `{other}` cannot be given")),
        })
    }

    /// Runs a command and compares what it prints.
    fn kubectl(&mut self, step: &Value) -> Result<(), String> {
        let command = self.filled(text(step, "command"))?;
        let output = self.stage.run(&command, None);
        let mut ways = vec![self.bindings.clone()];
        let tolerance = super::text::Tolerance { rows_as_sets: true, ..super::text::Tolerance::default() };
        for (key, got) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let expected = text(step, key);
            let found: Vec<Bindings> =
                ways.iter().flat_map(|way| super::text::matches(expected, got, tolerance, way)).collect();
            if found.is_empty() {
                let texts = super::text::difference(expected, got, tolerance, &ways[0]);
                return Err(format!("{key}:\n{texts}"));
            }
            ways = found;
        }
        let exit = step.get("exit").and_then(Value::as_i64).unwrap_or(0);
        if exit != i64::from(output.exit) {
            return Err(format!("- exit {exit}\n+ exit {}", output.exit));
        }
        self.bindings = ways.into_iter().next().unwrap_or_default();
        Ok(())
    }

    /// Whether the answer to a request is the recorded one; a refusal that was not recorded is a difference.
    fn check_response(&self, step: &Value, result: &Result<(), Status>) -> Result<(), String> {
        let expected = step.get("response").or_else(|| step.get("code").is_some().then_some(step));
        match (expected, result) {
            (None, Ok(())) => Ok(()),
            (None, Err(status)) => Err(refused(status)),
            (Some(expected), result) => {
                let code = expected.get("code").and_then(Value::as_u64).unwrap_or(0);
                let message = self.bindings.fill(text(expected, "message"));
                match result {
                    Ok(()) if code < 300 => Ok(()),
                    Ok(()) => Err(format!("- {code} {message}\n+ accepted")),
                    Err(status) if u64::from(status.code) == code && status.message == message => Ok(()),
                    Err(status) => Err(format!("- {code} {message}\n+ {} {}", status.code, status.message)),
                }
            }
        }
    }

    fn filled(&self, text: &str) -> Result<String, String> {
        match self.bindings.unbound(text) {
            Some(name) => Err(format!("nothing has been seen that stands for <{name}>")),
            None => Ok(self.bindings.fill(text)),
        }
    }

    fn send(&mut self, request: Request) -> Result<(), Status> {
        kubestep::kubectl::host::Host::ask(&mut self.stage, request).map(|_| ())
    }

    fn ask(
        &mut self,
        verb: Verb,
        kind: Kind,
        namespace: &str,
        name: &str,
        body: Value,
    ) -> Result<(), Status> {
        self.send(Request::new(verb, kind, namespace, name, body))
    }

    fn patch(&mut self, kind: Kind, name: &str, mut patch: Value) -> Result<(), Status> {
        stretch(&mut patch);
        self.ask(Verb::StrategicPatch, kind, NAMESPACE, name, patch)
    }

    fn delete(
        &mut self,
        kind: Kind,
        name: &str,
        grace_seconds: Option<i64>,
        propagation: Option<Propagation>,
    ) -> Result<(), Status> {
        let mut request = Request::new(Verb::Delete, kind, NAMESPACE, name, Value::Null);
        request.options.grace_seconds = grace_seconds;
        request.options.propagation = propagation;
        self.send(request)
    }

    fn remove(&mut self, pod: &str) -> Result<(), Status> {
        self.delete(Kind::Pod, pod, Some(0), None)
    }

    /// Removes up to `count` terminating Pods: those of the owners of which the next state says that Pods went, of
    /// these those of the oldest ReplicaSet first.
    fn finish(&mut self, count: usize, next: Option<&Value>) -> Result<(), String> {
        let mut names = Vec::new();
        for (owner, numbers) in next.and_then(Value::as_object).into_iter().flatten() {
            let gone = numbers.get("gone_this_step").and_then(Value::as_u64).unwrap_or(0) as usize;
            let owner = self.bindings.fill(owner);
            let pods = self.terminating().into_iter().filter(|pod| {
                let pod = self.pod(pod).unwrap_or_default();
                pod.pointer("/metadata/ownerReferences/0/name").is_some_and(|name| *name == owner)
            });
            names.extend(pods.take(gone));
        }
        for pod in self.terminating() {
            if !names.contains(&pod) {
                names.push(pod);
            }
        }
        names.iter().take(count).try_for_each(|pod| self.remove(pod)).map_err(|status| refused(&status))
    }

    /// The names of the terminating Pods, those of the oldest ReplicaSet first.
    fn terminating(&self) -> Vec<String> {
        let pods = self.pods_by_age();
        let terminating = pods.iter().filter(|pod| pod.pointer("/metadata/deletionTimestamp").is_some());
        terminating.map(|pod| text(&pod["metadata"], "name").to_string()).collect()
    }

    /// All Pods, those of the oldest ReplicaSet first, older Pods first.
    fn pods_by_age(&self) -> Vec<Value> {
        let created = |kind| self.stage.changes_since(0, kind).created;
        let (sets, pods) = (created(Kind::ReplicaSet), created(Kind::Pod));
        let place =
            |list: &[Value], uid: Option<&Value>| list.iter().position(|o| o.pointer("/metadata/uid") == uid);
        let mut all = state::objects(&self.stage, Kind::Pod);
        all.sort_by_key(|pod| {
            let owner = pod.pointer("/metadata/ownerReferences/0/uid");
            (place(&sets, owner), place(&pods, pod.pointer("/metadata/uid")))
        });
        all
    }

    fn active_pods(&self, replica_set: Option<&str>) -> Vec<Value> {
        let active = |pod: &Value| {
            let finished = matches!(text(&pod["status"], "phase"), "Failed" | "Succeeded");
            !finished && pod.pointer("/metadata/deletionTimestamp").is_none()
        };
        let owned = |pod: &Value| {
            replica_set
                .is_none_or(|name| pod.pointer("/metadata/ownerReferences/0/name").is_some_and(|o| o == name))
        };
        self.pods_by_age().into_iter().filter(|pod| active(pod) && owned(pod)).collect()
    }

    /// The object that a step is about: the one it names, or the first Deployment, or the first ReplicaSet.
    fn object_at_hand(&self, step: &Value) -> Result<(Kind, Value), String> {
        if !text(step, "object").is_empty() {
            let (kind, name) = self.address(text(step, "object"))?;
            let key = ObjectKey::new(kind, NAMESPACE, name.as_str());
            let object = self.stage.cluster.store.object(&key).ok_or(format!("there is no {key}"))?;
            return Ok((kind, object.to_value()));
        }
        let of = |kind| state::by_creation(&self.stage, kind).into_iter().next().map(|object| (kind, object));
        of(Kind::Deployment).or_else(|| of(Kind::ReplicaSet)).ok_or("there is no object at hand".to_string())
    }

    /// `configmap/owner` as kind and name.
    fn address(&self, object: &str) -> Result<(Kind, String), String> {
        let (word, name) = object.split_once('/').unwrap_or((object, ""));
        let kind = Kind::from_resource(word).ok_or(format!("the kind `{word}` is not known"))?;
        if name.is_empty() {
            let first =
                state::objects(&self.stage, kind).into_iter().next().ok_or("there is no object at hand")?;
            return Ok((kind, text(&first["metadata"], "name").to_string()));
        }
        Ok((kind, self.filled(name)?))
    }

    /// Creates the ConfigMaps that the first state lists: their recording does not show their manifests.
    fn create_what_is_listed(&mut self, step: &Value) -> Result<(), Status> {
        let listed = step.pointer("/state/ConfigMap").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut left = listed;
        while !left.is_empty() {
            let known = |this: &Self, name: &str| {
                let key = ObjectKey::new(Kind::ConfigMap, NAMESPACE, name);
                this.stage.cluster.store.object(&key).map(|object| object.meta().uid.to_string())
            };
            let owners_of = |entry: &Value| -> Vec<String> {
                let owners = entry.get("owners").and_then(Value::as_array);
                owners.into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
            };
            let name_of =
                |owner: &str| owner.trim_start_matches("ConfigMap/").trim_end_matches(" block").to_string();
            let next = left.iter().position(|entry| {
                owners_of(entry).iter().all(|owner| known(self, &name_of(owner)).is_some())
            });
            let Some(next) = next else { return Err(Status::bad_request("owners that own one another")) };
            let entry = left.remove(next);
            let references: Vec<Value> = owners_of(&entry)
                .iter()
                .map(|owner| {
                    let mut reference = json!({
                        "apiVersion": "v1", "kind": "ConfigMap", "name": name_of(owner), "uid": known(self, &name_of(owner)),
                    });
                    if owner.ends_with(" block") {
                        reference["blockOwnerDeletion"] = json!(true);
                    }
                    reference
                })
                .collect();
            let mut body =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": entry["name"]}});
            if !references.is_empty() {
                body["metadata"]["ownerReferences"] = references.into();
            }
            if let Some(finalizers) = entry.get("finalizers") {
                body["metadata"]["finalizers"] = finalizers.clone();
            }
            self.stage.apply_value(body)?;
        }
        Ok(())
    }

    fn patch_step(&mut self, step: &Value) -> Result<Result<(), Status>, String> {
        let image = text(step, "image");
        if !image.is_empty() {
            let mut step = step.clone();
            step["do"] = json!("set_image");
            return self.stimulate(&step);
        }
        if !text(step, "pod").is_empty() {
            let finalizers: Value =
                serde_json::from_str(text(step, "finalizers")).map_err(|e| e.to_string())?;
            let patch = json!({"metadata": {"finalizers": finalizers}});
            let pod = self.filled(text(step, "pod"))?;
            return Ok(self.ask(Verb::MergePatch, Kind::Pod, NAMESPACE, &pod, patch));
        }
        let patch: Value = serde_json::from_str(text(step, "patch")).map_err(|error| error.to_string())?;
        let (kind, object) = self.object_at_hand(step)?;
        let name = text(&object["metadata"], "name");
        // The recorder replaced the lists of Services, and merged those of workloads.
        if kind == Kind::Service {
            return Ok(self.ask(Verb::MergePatch, kind, NAMESPACE, name, patch));
        }
        Ok(self.patch(kind, name, patch))
    }

    fn node_step(&mut self, step: &Value) -> Result<(), String> {
        for node in text(step, "node").split([',', ' ']).filter(|node| !node.is_empty()) {
            let result = match text(step, "do") {
                "label_node" => {
                    self.ask(Verb::MergePatch, Kind::Node, "", node, labels_patch(text(step, "labels")))
                }
                "cordon" => {
                    self.ask(Verb::MergePatch, Kind::Node, "", node, json!({"spec": {"unschedulable": true}}))
                }
                "delete_node" => self.ask(Verb::Delete, Kind::Node, "", node, Value::Null),
                _ => {
                    let taint = text(step, "taint");
                    if let Some(key) = taint.strip_suffix('-') {
                        let without = self.taints_without(node, key);
                        self.ask(
                            Verb::MergePatch,
                            Kind::Node,
                            "",
                            node,
                            json!({"spec": {"taints": without}}),
                        )
                        .map_err(|status| refused(&status))?;
                        continue;
                    }
                    let (taint, effect) = taint.rsplit_once(':').ok_or("a taint without effect")?;
                    let (key, value) = taint.split_once('=').unwrap_or((taint, ""));
                    let mut taints = self.taints_without(node, key);
                    taints.push(json!({"key": key, "value": value, "effect": effect}));
                    self.ask(Verb::MergePatch, Kind::Node, "", node, json!({"spec": {"taints": taints}}))
                }
            };
            result.map_err(|status| refused(&status))?;
        }
        Ok(())
    }

    /// The taints of a node but for those of a key.
    fn taints_without(&self, node: &str, key: &str) -> Vec<Value> {
        let node = self.stage.cluster.store.object(&ObjectKey::new(Kind::Node, "", node));
        let taints = node.map(|node| node.to_value()["spec"]["taints"].clone()).unwrap_or_default();
        let taints = taints.as_array().cloned().unwrap_or_default();
        taints.into_iter().filter(|taint| text(taint, "key") != key).collect()
    }

    /// Makes a Pod by hand.
    fn pod_step(&mut self, step: &Value) -> Result<Result<(), Status>, String> {
        let given = ["name", "pod"].map(|key| text(step, key));
        let name = given.into_iter().find(|name| !name.is_empty()).unwrap_or("x");
        let labels = match step.get("labels") {
            Some(Value::Object(labels)) => {
                let filled = labels.iter().map(|(key, value)| {
                    let value = self.bindings.fill(value.as_str().unwrap_or_default());
                    (key.clone(), Value::String(value))
                });
                Value::Object(filled.collect())
            }
            Some(Value::String(pairs)) => labels_patch(pairs)["metadata"]["labels"].clone(),
            _ => json!({"app": "web"}),
        };
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
            "spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]},
        });
        if self.held.iter().any(|held| held == name) {
            pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
        }
        let cost = step.get("deletion_cost").or_else(|| step.get("cost"));
        if let Some(cost) = cost.and_then(Value::as_str) {
            pod["metadata"]["annotations"] = json!({"controller.kubernetes.io/pod-deletion-cost": cost});
        }
        if let Err(status) = self.stage.apply_value(pod) {
            return Ok(Err(status));
        }
        if let Some(node) = step.get("node").and_then(Value::as_str).filter(|node| !node.is_empty())
            && let Err(status) = self.stage.bind(name, node)
        {
            return Ok(Err(status));
        }
        // A Pod without a node has no kubelet that could report it.
        if step.get("phase").is_none() || step.get("node").is_some_and(Value::is_null) {
            return Ok(Ok(()));
        }
        let report = Report {
            phase: text(step, "phase"),
            ready: step.get("ready") == Some(&json!(true)),
            restarts: step.get("restarts").and_then(Value::as_i64).unwrap_or(0),
            since: Timestamp(
                self.ready_since.0 - step.get("ready_for_seconds").and_then(Value::as_i64).unwrap_or(0),
            ),
            ..Report::ready()
        };
        let pod = self.pod(name)?;
        Ok(self.report(&pod, &report))
    }

    fn pod(&self, name: &str) -> Result<Value, String> {
        let key = ObjectKey::new(Kind::Pod, NAMESPACE, name);
        self.stage.cluster.store.object(&key).map(|pod| pod.to_value()).ok_or(format!("there is no {key}"))
    }

    fn pod_up(&mut self, step: &Value) -> Result<Result<(), Status>, String> {
        let read = manifest::parse(&self.filled(text(step, "manifest"))?);
        for document in read.documents {
            let name = text(&document.value["metadata"], "name").to_string();
            if let Err(status) = self.stage.apply_value(document.value) {
                return Ok(Err(status));
            }
            let node = text(step, "node");
            if !node.is_empty()
                && let Err(status) = self.stage.bind(&name, node)
            {
                return Ok(Err(status));
            }
            let report = Report {
                ready: step.get("ready") == Some(&json!(true)),
                pod_ip: text(step, "podIP"),
                ..Report::ready()
            };
            let pod = self.pod(&name)?;
            if let Err(status) = self.report(&pod, &report) {
                return Ok(Err(status));
            }
        }
        Ok(Ok(()))
    }

    fn pod_status(&mut self, step: &Value) -> Result<Result<(), Status>, String> {
        let pod = self.pod(&self.filled(text(step, "pod"))?)?;
        let ready = step.get("ready") == Some(&json!(true));
        let before = pod.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default().to_string();
        let phase = match text(step, "phase") {
            "" if ready || before.is_empty() => "Running",
            "" => &before,
            phase => phase,
        };
        let ip = pod.pointer("/status/podIP").and_then(Value::as_str).unwrap_or_default().to_string();
        let pod_ip = if text(step, "podIP").is_empty() { &ip } else { text(step, "podIP") };
        let state = step.get("cstate").map(|state| {
            let now = self.stage.cluster.now().to_string();
            let text = state.to_string().replace("<time>", &now);
            serde_json::from_str(&text).unwrap_or_default()
        });
        let report = Report { phase, ready, pod_ip, state, ..Report::ready() };
        Ok(self.report(&pod, &report))
    }

    /// Reports a Pod's status as its kubelet would.
    fn report(&mut self, pod: &Value, report: &Report<'_>) -> Result<(), Status> {
        let now = self.stage.cluster.now();
        let since = if report.since == Timestamp::default() { now } else { report.since }.to_string();
        let flag = |on: bool| if on { "True" } else { "False" };
        let old = pod.pointer("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
        let condition = |kind: &str, on: bool| {
            let kept = old.iter().find(|c| text(c, "type") == kind && text(c, "status") == flag(on));
            let time = kept.map_or(since.as_str(), |c| text(c, "lastTransitionTime"));
            json!({"type": kind, "status": flag(on), "lastTransitionTime": time})
        };
        let finished = matches!(report.phase, "Failed" | "Succeeded");
        let state = match (report.waiting, report.phase) {
            (waiting, _) if !waiting.is_empty() => json!({"waiting": {"reason": waiting}}),
            (_, "Succeeded") => json!({"terminated": {"exitCode": 0, "reason": "Completed"}}),
            (_, "Failed") => json!({"terminated": {"exitCode": 1, "reason": "Error"}}),
            (_, "Pending") => json!({"waiting": {"reason": "ContainerCreating"}}),
            _ => json!({"running": {"startedAt": since}}),
        };
        let state = report.state.clone().unwrap_or(state);
        let containers =
            pod.pointer("/spec/containers").and_then(Value::as_array).cloned().unwrap_or_default();
        let statuses: Vec<Value> = containers
            .iter()
            .map(|c| {
                json!({
                    "name": c["name"], "image": c["image"], "imageID": c["image"], "ready": report.ready,
                    "started": report.phase == "Running", "restartCount": report.restarts, "state": state,
                })
            })
            .collect();
        let mut status = json!({
            "phase": report.phase,
            "conditions": [
                condition("PodReadyToStartContainers", !finished), condition("Initialized", true),
                condition("Ready", report.ready), condition("ContainersReady", report.ready),
                condition("PodScheduled", true),
            ],
            "containerStatuses": statuses,
            "startTime": pod.pointer("/status/startTime").cloned().unwrap_or(json!(now.to_string())),
        });
        if !report.reason.is_empty() {
            status["reason"] = json!(report.reason);
        }
        if !report.pod_ip.is_empty() {
            status["podIP"] = json!(report.pod_ip);
            status["podIPs"] = json!([{"ip": report.pod_ip}]);
        }
        let mut body = pod.clone();
        body["status"] = status;
        let name = text(&pod["metadata"], "name");
        let mut request = Request::new(Verb::Update, Kind::Pod, NAMESPACE, name, body);
        request.subresource = "status".to_string();
        self.send(request)
    }

    fn longest_deadline_ticks(&self) -> u64 {
        let of = |d: &Value| d.pointer("/spec/progressDeadlineSeconds").and_then(Value::as_u64).unwrap_or(0);
        state::objects(&self.stage, Kind::Deployment).iter().map(of).max().unwrap_or(0)
    }

    /// Compares the state; what the recording does not list does not count.
    fn compare(&mut self, expected: &Value, racy: &str) -> Result<(), String> {
        let expected = expected.as_object().cloned().unwrap_or_default();
        let folded = expected.get("pods").is_some_and(Value::is_object);
        let once = expected.get("once").is_some();
        // Only objects of kinds that the state shows are told of.
        let shown: Vec<Kind> =
            Kind::ALL.iter().copied().filter(|kind| expected.contains_key(kind.name())).collect();
        let mut ways = vec![self.bindings.clone()];
        ways.append(&mut self.others);
        // The Pods come last: which of them is which may be decided by everything else.
        let mut keys: Vec<&String> =
            expected.keys().filter(|key| !matches!(key.as_str(), "racy" | "once")).collect();
        keys.sort_by_key(|key| match key.as_str() {
            "rs" => 0,
            "deployments" => 1,
            "pods" | "Pod" => 2,
            "events" => 4,
            _ => 3,
        });
        let racy = if racy.is_empty() {
            expected.get("racy").and_then(Value::as_str).unwrap_or_default()
        } else {
            racy
        };
        for key in keys {
            let wanted = &expected[key];
            if key == "events" {
                let wanted: Vec<&str> =
                    wanted.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let wanted = without_repeats(&wanted);
                let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
                ways = self.compare_events(&wanted, &ways, folded, once)?;
                continue;
            }
            let got = self.observed(key, wanted, &shown)?;
            let alternatives = alternatives(wanted, racy);
            let found: Vec<Bindings> = ways
                .iter()
                .flat_map(|way| {
                    alternatives
                        .iter()
                        .flat_map(|wanted| matches_state(wanted, &got, way))
                        .collect::<Vec<_>>()
                })
                .take(64)
                .collect();
            if found.is_empty() {
                return Err(difference(key, wanted, &got, &ways[0]));
            }
            ways = found;
        }
        let mut ways = ways.into_iter();
        self.bindings = ways.next().unwrap_or_default();
        self.others = ways.take(MOST_WAYS).filter(|way| *way != self.bindings).collect();
        Ok(())
    }

    fn observed(&self, key: &str, wanted: &Value, shown: &[Kind]) -> Result<Value, String> {
        let stage = &self.stage;
        let changes = || stage.changes_since(self.fact, Kind::Pod);
        let names = |objects: &[Value]| -> Value {
            objects.iter().map(|object| object["metadata"]["name"].clone()).collect::<Vec<_>>().into()
        };
        Ok(match key {
            "rs" => {
                let sets = wanted.as_array().into_iter().flatten();
                state::replica_sets(stage, sets.into_iter().any(|set| set.get("observed").is_some())).into()
            }
            "pods" if wanted.is_object() => state::pods_by_owner(stage, self.fact),
            "pods" => state::pods_listed(stage).into(),
            "deployments" => state::deployments(stage),
            "conditions" => state::conditions_of_replica_sets(stage),
            "slices" => state::slices(stage).into(),
            "endpoints_objects" => state::endpoints(stage).into(),
            "namespace" => state::namespace(stage),
            "created_this_step" if wanted.is_number() => changes().created.len().into(),
            "marked_this_step" => names(&changes().marked),
            "gone_this_step" | "created_this_step"
                if wanted
                    .as_array()
                    .is_some_and(|w| w.iter().all(|n| n.as_str().is_some_and(|n| n.contains('/')))) =>
            {
                let mut all = Vec::new();
                for kind in shown {
                    let changes = stage.changes_since(self.fact, *kind);
                    let objects = if key == "gone_this_step" { changes.gone } else { changes.created };
                    all.extend(
                        objects
                            .iter()
                            .map(|o| json!(format!("{}/{}", kind.name(), text(&o["metadata"], "name")))),
                    );
                }
                all.into()
            }
            "gone_this_step" => names(&changes().gone),
            "created_this_step" => names(&changes().created),
            kind => {
                let known = Kind::ALL.iter().find(|known| known.name() == kind);
                let kind = *known.ok_or(format!("- {kind}: {wanted}\n+ the kind is not known"))?;
                let with_labels =
                    wanted.as_array().is_some_and(|list| list.iter().any(|one| one.get("labels").is_some()));
                let mut found = state::general(stage, kind, with_labels);
                // Recordings leave out what every namespace has, unless they are about it.
                if !wanted.to_string().contains(ROOT_CA) {
                    found.retain(|object| text(object, "name") != ROOT_CA);
                }
                found.into()
            }
        })
    }

    /// Compares events: those of one object in order, unless they are of equal kind; up to the first combined one.
    fn compare_events(
        &mut self,
        expected: &[&str],
        ways: &[Bindings],
        folded: bool,
        once: bool,
    ) -> Result<Vec<Bindings>, String> {
        let mut got = state::events(&self.stage, self.revision, folded);
        if once {
            got.iter_mut().for_each(|line| *line = without_count(line).to_string());
        }
        let fold = |line: &str| {
            let (head, count) = line.rsplit_once(" x")?;
            Some((head.to_string(), count.parse::<u64>().ok()?))
        };
        for (head, count) in got.iter().filter_map(|line| fold(line)) {
            *self.told.entry(head).or_default() += count;
        }
        let told = &self.told;
        let is_combined =
            |line: &str| fold(line).is_some_and(|(head, _)| told.get(&head) >= Some(&COMBINED_FROM));
        let about = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_string();
        let newly_combined: Vec<String> =
            expected.iter().filter(|line| line.contains("(combined from")).map(|line| about(line)).collect();
        let mut found = Vec::new();
        for way in ways {
            let combined: Vec<String> =
                self.combined.iter().chain(&newly_combined).map(|object| way.fill(object)).collect();
            let is_counted =
                |line: &&str| !combined.contains(&way.fill(&about(line))) && !is_combined(&way.fill(line));
            let wanted: Vec<&str> = expected.iter().copied().filter(is_counted).collect();
            let told: Vec<&str> = got.iter().map(String::as_str).filter(is_counted).collect();
            found.extend(match_events(&wanted, &told, way));
        }
        if found.is_empty() {
            let wanted = json!(expected);
            return Err(difference("events", &wanted, &json!(got), &ways[0]));
        }
        self.combined.extend(newly_combined);
        Ok(found)
    }
}

/// Behind an event that is told again and again.
const REPEATED: &str = " (repeated with growing back-off)";

/// An event's line without its count.
fn without_count(line: &str) -> &str {
    line.rsplit_once(" (count ").map_or(line, |(text, _)| text)
}

/// The lines but for those that are told again with a count.
fn without_repeats(lines: &[&str]) -> Vec<String> {
    let times = |line: &str| lines.iter().filter(|other| without_count(other) == without_count(line)).count();
    let is_last = |place: usize| {
        !lines[place + 1..].iter().any(|later| without_count(later) == without_count(lines[place]))
    };
    let kept = lines.iter().enumerate().filter(|(place, _)| is_last(*place));
    // From the third time on it is a retry, and how often that is told is a matter of time.
    let told = kept.map(|(_, line)| match times(line) {
        3.. => format!("{}{REPEATED}", without_count(line)),
        _ => line.to_string(),
    });
    told.collect()
}

/// The node that a Pod's required affinity names.
fn tied_to(pod: &Value) -> Option<String> {
    let terms = pod.pointer(
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms",
    )?;
    let name = terms.pointer("/0/matchFields/0/values/0")?.as_str()?;
    Some(name.to_string())
}

/// Events as lists per object; an expected one that is `repeated with growing back-off` stands for any number.
fn match_events(expected: &[&str], got: &[&str], bindings: &Bindings) -> Vec<Bindings> {
    let (repeated, once): (Vec<&str>, Vec<&str>) = expected.iter().partition(|line| line.ends_with(REPEATED));
    let mut left: Vec<&str> = got.to_vec();
    let mut bindings = bindings.clone();
    for line in repeated {
        let wanted = line.trim_end_matches(REPEATED);
        let fits = |got: &&str| {
            let got = without_count(got).replacen("(combined from similar events): ", "", 1);
            super::text::matches_line(wanted, &got, super::text::Tolerance::default(), &bindings)
        };
        let Some(way) = left.iter().find_map(|got| fits(got).into_iter().next()) else { return Vec::new() };
        left.retain(|got| fits(got).is_empty());
        bindings = way;
    }
    let values = |lines: &[&str]| lines.iter().map(|line| json!(line)).collect::<Vec<_>>();
    let of_pods = |line: &str| line.contains(" SuccessfulCreate") || line.contains(" SuccessfulDelete");
    let split = |lines: &[&str]| -> (Vec<Value>, Vec<Value>) {
        let (pods, others): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| of_pods(line));
        (values(&pods), values(&others))
    };
    let ((wanted_pods, wanted), (got_pods, got)) = (split(&once), split(&left));
    // Objects are sorted by names that hold random parts: sort what is left by object again.
    let ways =
        tree::matches_list(&wanted, &sorted_like(&wanted, &got, &bindings), Order::Given, &[], &bindings);
    ways.iter().flat_map(|way| tree::matches_list(&wanted_pods, &got_pods, Order::Free, &[], way)).collect()
}

/// The lines of `got`, grouped by object in the order in which the objects appear in `expected`.
fn sorted_like(expected: &[Value], got: &[Value], bindings: &Bindings) -> Vec<Value> {
    let about =
        |line: &Value| line.as_str().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_string();
    let objects: Vec<String> = expected.iter().map(|line| bindings.fill(&about(line))).collect();
    let mut sorted = got.to_vec();
    sorted.sort_by_key(|line| objects.iter().position(|object| *object == about(line)).unwrap_or(usize::MAX));
    sorted
}

/// Multiplies the periods of a manifest or patch.
fn stretch(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_i64() {
                    // A period of one second has passed once a chain has come to rest, on both clocks.
                    Some(seconds) if seconds > 1 && PERIODS.contains(&key.as_str()) => {
                        *value = json!(seconds * STRETCH);
                    }
                    _ => stretch(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(stretch),
        _ => {}
    }
}

/// `a=b,c-` as a patch of labels.
fn labels_patch(pairs: &str) -> Value {
    let mut labels = Map::new();
    for pair in pairs.split([',', ' ']).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some((key, value)) => labels.insert(key.to_string(), json!(value)),
            None => labels.insert(pair.trim_end_matches('-').to_string(), Value::Null),
        };
    }
    json!({"metadata": {"labels": labels}})
}

/// What a kubelet reports of a Pod.
struct Report<'a> {
    phase: &'a str,
    ready: bool,
    restarts: i64,
    /// Since when; now if it is the beginning of time.
    since: Timestamp,
    waiting: &'a str,
    reason: &'a str,
    pod_ip: &'a str,
    /// What every container does, if the step says so.
    state: Option<Value>,
}

impl Report<'_> {
    fn ready() -> Self {
        Self {
            phase: "Running",
            ready: true,
            restarts: 0,
            since: Timestamp::default(),
            waiting: "",
            reason: "",
            pod_ip: "",
            state: None,
        }
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|c| text(c, "type") == "Ready" && text(c, "status") == "True")
}

fn has_containers(pod: &Value) -> bool {
    pod.pointer("/status/containerStatuses").is_some()
}

/// Up to so many objects that look alike are told apart by a later state.
const MOST_ALIKE: usize = 6;

/// The keys of state whose lists are sets.
const SETS: &[&str] = &["endpoints", "ports"];

fn matches_state(expected: &Value, got: &Value, bindings: &Bindings) -> Vec<Bindings> {
    match (expected, got) {
        (Value::Array(wanted), Value::Array(found)) => {
            // Lists with readable names come in order; the others are sets.
            let mut ways = tree::matches_list(wanted, found, Order::Given, SETS, bindings);
            if ways.is_empty() || wanted.len() <= MOST_ALIKE {
                for way in tree::matches_list(wanted, found, Order::Free, SETS, bindings) {
                    if !ways.contains(&way) {
                        ways.push(way);
                    }
                }
            }
            ways
        }
        _ => tree::matches(expected, got, SETS, bindings),
    }
}

/// The expected value, and with a race in the reason of Progressing also the other one.
fn alternatives(expected: &Value, racy: &str) -> Vec<Value> {
    let mut all = vec![expected.clone()];
    if !racy.starts_with("Progressing reason") {
        return all;
    }
    let swap = |line: &str| -> Option<String> {
        let tail = line.strip_prefix("Progressing=True ")?;
        if let Some(rest) = tail.strip_prefix("ReplicaSetUpdated: ReplicaSet ") {
            let name = rest.strip_suffix(" is progressing.")?;
            return Some(format!("Progressing=True NewReplicaSetCreated: Created new replica set {name}"));
        }
        let name = tail.strip_prefix("NewReplicaSetCreated: Created new replica set ")?;
        Some(format!("Progressing=True ReplicaSetUpdated: ReplicaSet {name} is progressing."))
    };
    fn walk(value: &mut Value, swap: &dyn Fn(&str) -> Option<String>) {
        match value {
            Value::String(line) => {
                if let Some(other) = swap(line) {
                    *line = other;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, swap)),
            Value::Object(map) => map.values_mut().for_each(|item| walk(item, swap)),
            _ => {}
        }
    }
    let mut other = expected.clone();
    walk(&mut other, &swap);
    if other != *expected {
        all.push(other);
    }
    all
}

fn difference(key: &str, expected: &Value, got: &Value, bindings: &Bindings) -> String {
    let lines = |value: &Value| match value {
        Value::Array(items) => items.iter().map(|item| item.to_string() + "\n").collect::<String>(),
        Value::Object(map) => map.iter().map(|(key, value)| format!("{key}: {value}\n")).collect(),
        other => other.to_string(),
    };
    let shown =
        super::text::difference(&lines(expected), &lines(got), super::text::Tolerance::default(), bindings);
    format!("{key}:\n{}", shown.trim_end())
}
