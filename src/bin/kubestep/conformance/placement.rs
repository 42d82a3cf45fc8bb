//! Placements: nodes, Pods that stand on them, and where the scheduler puts further ones, with all its verdicts.

use std::collections::BTreeMap;

use kubestep::api::kind::Kind;
use kubestep::api::meta::ObjectKey;
use kubestep::cluster::fact::What;
use kubestep::cluster::server::patch::merge;
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::server::status::Status;
use kubestep::cluster::settings::Settings;
use kubestep::cluster::verdict::{FilterVerdict, Verdicts};
use kubestep::kubectl::host::Host;
use serde_json::{Map, Value, json};

use super::case::Case;
use super::stage::Stage;

/// The namespace of Pods that name none.
const NAMESPACE: &str = "default";

/// Long enough for every back-off of a Pod that becomes schedulable.
const PATIENCE_TICKS: u64 = 15;

/// Plays a case.
///
/// # Errors
/// What differs.
pub fn play(case: &Case) -> Result<(), String> {
    let value = &case.value;
    let kind = text(value, "kind");
    let controllers = matches!(kind, "volume" | "deployment");
    let settings = Settings { controllers, kubelets: false, ..Settings::bare(1, Vec::new()) };
    let mut scene = Scene { stage: Stage::new(settings), started: 0 };
    for object in list(value, "objects") {
        scene.create_object(object)?;
    }
    for node in list(value, "nodes") {
        scene.create_node(node)?;
    }
    for pod in list(value, "pods") {
        scene.create_bound_pod(pod, matches!(kind, "preemption" | "scenario"))?;
    }
    scene.stage.settle(2);
    let expected = &value["expect"];
    match kind {
        "" | "volume" => scene.one(value, expected),
        "preemption" => scene.preemption(value, expected),
        "sequence" | "deployment" => scene.sequence(value, expected),
        "retry" => scene.retry(value, expected),
        "scenario" => scene.scenario(value, expected),
        other => Err(format!("the kind `{other}` is not known")),
    }
}

/// A cluster with only a scheduler.
struct Scene {
    stage: Stage,
    /// How many bound Pods have a start time.
    started: u32,
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn refused(status: Status) -> String {
    format!("refused: {} {}", status.code, status.message)
}

fn differs(what: &str, expected: &Value, got: &Value) -> Result<(), String> {
    let is_same = match (expected, got) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        _ => expected == got,
    };
    if is_same { Ok(()) } else { Err(format!("{what}:\n- {expected}\n+ {got}")) }
}

/// Quantities may be written as numbers.
fn quantity(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.to_string().into(),
        other => other.clone(),
    }
}

impl Scene {
    fn ask(
        &mut self,
        verb: Verb,
        kind: Kind,
        namespace: &str,
        name: &str,
        body: Value,
    ) -> Result<(), String> {
        self.stage.ask(Request::new(verb, kind, namespace, name, body)).map(|_| ()).map_err(refused)
    }

    fn update_status(
        &mut self,
        kind: Kind,
        namespace: &str,
        name: &str,
        status: &Value,
    ) -> Result<(), String> {
        let key = ObjectKey::new(kind, namespace, name);
        let mut body = self.stage.cluster.store.object(&key).ok_or(format!("there is no {key}"))?.to_value();
        merge(&mut body["status"], status);
        let mut request = Request::new(Verb::Update, kind, namespace, name, body);
        request.subresource = "status".to_string();
        self.stage.ask(request).map(|_| ()).map_err(refused)
    }

    fn create_object(&mut self, object: &Value) -> Result<(), String> {
        let (api_version, word) = (text(object, "apiVersion"), text(object, "kind"));
        let kind = Kind::from_manifest(api_version, word);
        let name = text(&object["metadata"], "name").to_string();
        let kind = kind.ok_or(format!("no matches for kind \"{word}\" in version \"{api_version}\""))?;
        let namespace = match (kind.is_namespaced(), text(&object["metadata"], "namespace")) {
            (false, _) => "",
            (true, "") => NAMESPACE,
            (true, namespace) => namespace,
        };
        self.ask(Verb::Create, kind, namespace, &name, object.clone())?;
        match object.get("status") {
            Some(status) => self.update_status(kind, namespace, &name, status),
            None => Ok(()),
        }
    }

    fn create_node(&mut self, node: &Value) -> Result<(), String> {
        let name = text(node, "name");
        let mut capacity = Map::new();
        for resource in ["cpu", "memory", "pods", "ephemeral-storage"] {
            if let Some(amount) = node.get(resource) {
                capacity.insert(resource.to_string(), quantity(amount));
            }
        }
        for (resource, amount) in node.get("extended").and_then(Value::as_object).into_iter().flatten() {
            capacity.insert(resource.clone(), quantity(amount));
        }
        let mut spec = Map::new();
        for key in ["taints", "unschedulable"] {
            if let Some(value) = node.get(key) {
                spec.insert(key.to_string(), value.clone());
            }
        }
        let labels = node.get("labels").cloned().unwrap_or(json!({}));
        let status = json!({
            "capacity": capacity, "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "images": node.get("images").cloned().unwrap_or(json!([])),
        });
        let body = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
            "status": status,
        });
        self.ask(Verb::Create, Kind::Node, "", name, body)?;
        // Admission may have tainted the new node; the recording set the taints to exactly the listed ones.
        let taints = node.get("taints").cloned().unwrap_or(Value::Null);
        self.ask(Verb::MergePatch, Kind::Node, "", name, json!({"spec": {"taints": taints}}))?;
        self.update_status(Kind::Node, "", name, &status)
    }

    fn create_bound_pod(&mut self, pod: &Value, with_start_time: bool) -> Result<(), String> {
        let name = text(pod, "name");
        let namespace = if text(pod, "namespace").is_empty() { NAMESPACE } else { text(pod, "namespace") };
        let mut container = json!({"name": "c", "image": "registry.example/pause:1"});
        if let Some(requests) = pod.get("requests") {
            container["resources"] = json!({"requests": requests});
        }
        if let Some(ports) = pod.get("ports") {
            container["ports"] = ports.clone();
        }
        let mut spec = json!({"containers": [container], "nodeName": text(pod, "node")});
        for key in
            ["affinity", "tolerations", "volumes", "priorityClassName", "terminationGracePeriodSeconds"]
        {
            if let Some(value) = pod.get(key) {
                spec[key] = value.clone();
            }
        }
        merge(&mut spec, pod.get("spec").unwrap_or(&json!({})));
        let mut metadata = json!({"name": name, "namespace": namespace});
        for key in ["labels", "ownerReferences"] {
            if let Some(value) = pod.get(key) {
                metadata[key] = value.clone();
            }
        }
        let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        self.ask(Verb::Create, Kind::Pod, namespace, name, body)?;
        let phase = if text(pod, "phase").is_empty() { "Running" } else { text(pod, "phase") };
        let mut status = json!({"phase": phase});
        if with_start_time {
            let default = format!("2026-11-30T10:00:{:02}Z", self.started);
            let given = text(pod, "startTime");
            status["startTime"] = json!(if given.is_empty() { &default } else { given });
            self.started += 1;
        }
        self.update_status(Kind::Pod, namespace, name, &status)?;
        if pod.get("terminating") == Some(&json!(true)) {
            self.delete(Kind::Pod, namespace, name, None)?;
        }
        Ok(())
    }

    fn delete(
        &mut self,
        kind: Kind,
        namespace: &str,
        name: &str,
        grace_seconds: Option<i64>,
    ) -> Result<(), String> {
        let mut request = Request::new(Verb::Delete, kind, namespace, name, Value::Null);
        request.options.grace_seconds = grace_seconds;
        self.stage.ask(request).map(|_| ()).map_err(refused)
    }

    /// Creates a Pod to be scheduled, under that name.
    fn create_pod(&mut self, pod: &Value, name: &str) -> Result<(), String> {
        if pod.get("spec").is_none() {
            return self.create_bound_pod(pod, true);
        }
        let mut pod = pod.clone();
        pod["metadata"]["name"] = json!(name);
        let namespace = text(&pod["metadata"], "namespace").to_string();
        let namespace = if namespace.is_empty() { NAMESPACE.to_string() } else { namespace };
        self.ask(Verb::Create, Kind::Pod, &namespace, name, pod)
    }

    fn pod(&self, name: &str) -> Option<Value> {
        let mut pods = self.stage.cluster.store.objects_of(Kind::Pod);
        pods.find(|pod| *pod.meta().name == *name).map(|pod| pod.to_value())
    }

    fn node_of(&self, name: &str) -> String {
        let pod = self.pod(name).unwrap_or_default();
        text(&pod["spec"], "nodeName").to_string()
    }

    /// The verdicts of every attempt for that Pod since `fact`.
    fn attempts(&self, name: &str, fact: usize) -> Vec<&Verdicts> {
        self.stage.facts[fact..]
            .iter()
            .filter_map(|fact| match &fact.what {
                What::Compared { pod, verdicts } if *pod.name == *name => Some(&**verdicts),
                _ => None,
            })
            .collect()
    }

    /// One Pod, with every verdict.
    fn one(&mut self, value: &Value, expected: &Value) -> Result<(), String> {
        let pod = &value["pod"];
        let name = text(&pod["metadata"], "name").to_string();
        let before = self.stage.facts.len();
        self.create_pod(pod, &name)?;
        self.stage.settle(2);
        let node = self.node_of(&name);
        if let Some(wanted) = expected.get("node") {
            differs("node", wanted, &json!(node))?;
        }
        if let Some(any) = expected.get("nodes_any_of").and_then(Value::as_array)
            && !any.iter().any(|wanted| *wanted == node)
        {
            return Err(format!("node:\n- any of {}\n+ {node:?}", json!(any)));
        }
        if expected.get("unschedulable") == Some(&json!(true)) {
            differs("node", &json!(""), &json!(node))?;
            self.compare_condition(&name, expected)?;
            self.compare_events(&name, list(expected, "events"))?;
        }
        self.compare_verdicts(&name, before, expected)?;
        if expected.get("pending_without_condition") == Some(&json!(true)) {
            differs("node", &json!(""), &json!(node))?;
            self.compare_events(&name, &[])?;
        }
        for (claim, wanted) in expected.get("claims").and_then(Value::as_object).into_iter().flatten() {
            differs(&format!("claim {claim}"), wanted, &self.shown_claim(claim, wanted))?;
        }
        Ok(())
    }

    /// A claim, as far as it is told in `wanted`.
    fn shown_claim(&self, name: &str, wanted: &Value) -> Value {
        let key = ObjectKey::new(Kind::PersistentVolumeClaim, NAMESPACE, name);
        let claim = self.stage.cluster.store.object(&key).map(|claim| claim.to_value()).unwrap_or_default();
        let mut shown = Map::new();
        let fields = [
            ("phase", "/status/phase"),
            ("volumeName", "/spec/volumeName"),
            ("selected_node", "/metadata/annotations/volume.kubernetes.io~1selected-node"),
        ];
        for (field, pointer) in fields {
            if let Some(value) = claim.pointer(pointer) {
                shown.insert(field.to_string(), value.clone());
            }
        }
        if wanted.get("events").is_some() {
            let event =
                |e: &Value| json!({"type": e["type"], "reason": e["reason"], "message": e["message"]});
            let events: Vec<Value> = self.events_of(name, None).iter().map(event).collect();
            shown.insert("events".to_string(), json!(events));
        }
        Value::Object(shown)
    }

    fn compare_condition(&self, name: &str, expected: &Value) -> Result<(), String> {
        let pod = self.pod(name).unwrap_or_default();
        let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
        let scheduled = conditions.into_iter().flatten().find(|c| text(c, "type") == "PodScheduled");
        let scheduled = scheduled.cloned().unwrap_or_default();
        for key in ["message", "reason"] {
            if let Some(wanted) = expected.get(key) {
                differs(key, wanted, &json!(text(&scheduled, key)))?;
            }
        }
        Ok(())
    }

    fn events_of(&self, name: &str, source: Option<&str>) -> Vec<Value> {
        let mut events: Vec<Value> =
            self.stage.cluster.store.objects_of(Kind::Event).map(|event| event.to_value()).collect();
        events.retain(|event| {
            event.pointer("/involvedObject/name").is_some_and(|n| n == name)
                && source.is_none_or(|source| event.pointer("/reason").is_some_and(|reason| reason == source))
        });
        events.sort_by_key(|e| text(&e["metadata"], "resourceVersion").parse::<u64>().unwrap_or(0));
        events
    }

    fn compare_events(&self, name: &str, expected: &[Value]) -> Result<(), String> {
        let got: Vec<Value> = self
            .events_of(name, None)
            .iter()
            .map(|event| json!({"type": event["type"], "reason": event["reason"], "message": event["message"]}))
            .collect();
        differs("events", &json!(expected), &json!(got))
    }

    fn compare_verdicts(&self, name: &str, since: usize, expected: &Value) -> Result<(), String> {
        let attempts = self.attempts(name, since);
        let Some(verdicts) = attempts.first() else {
            let needs = ["filters", "scores", "total"].iter().any(|key| expected.get(key).is_some());
            return if needs { Err("the scheduler's verdicts were not kept".to_string()) } else { Ok(()) };
        };
        let refusals = verdicts.nodes.iter().filter_map(|node| {
            let refused = |filter: &&FilterVerdict| !filter.reasons.is_empty() && !filter.before_asking;
            let filter = node.filters.iter().find(refused)?;
            Some((node.node.to_string(), filter))
        });
        let (mut filters, mut reasons) = (Map::new(), Map::new());
        for (node, filter) in refusals {
            filters.insert(node.clone(), json!(filter.plugin));
            reasons.insert(node, json!(filter.reasons));
        }
        for (key, got) in [("filters", filters), ("filter_reasons", reasons)] {
            if let Some(wanted) = expected.get(key) {
                differs(key, wanted, &Value::Object(got))?;
            }
        }
        let mut scores: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        let mut total = Map::new();
        for node in verdicts.nodes.iter().filter(|node| !node.scores.is_empty()) {
            for (plugin, score) in node.scores.iter() {
                scores.entry(plugin).or_default().insert(node.node.to_string(), json!(score));
            }
            total.insert(node.node.to_string(), json!(node.total()));
        }
        if let Some(wanted) = expected.get("scores").and_then(Value::as_object) {
            for (plugin, wanted) in wanted {
                let zeros = |map: &Map<String, Value>| map.values().all(|score| *score == json!(0));
                let got = scores.get(plugin.as_str()).cloned().unwrap_or_default();
                let both_zero = wanted.as_object().is_some_and(&zeros) && zeros(&got);
                if !both_zero {
                    differs(&format!("score {plugin}"), wanted, &Value::Object(got))?;
                }
            }
            for (plugin, got) in &scores {
                if !wanted.contains_key(*plugin) && got.values().any(|score| *score != json!(0)) {
                    return Err(format!("score {plugin}:\n- skipped\n+ {}", json!(got)));
                }
            }
        }
        match expected.get("total") {
            Some(wanted) => differs("total", wanted, &Value::Object(total)),
            None => Ok(()),
        }
    }

    fn preemption(&mut self, value: &Value, expected: &Value) -> Result<(), String> {
        let pod = &value["pod"];
        let name = text(&pod["metadata"], "name").to_string();
        let before = self.stage.facts.len();
        self.create_pod(pod, &name)?;
        self.stage.settle(2);
        self.compare_condition(&name, expected)?;
        self.compare_events(&name, list(expected, "events"))?;
        self.compare_verdicts(&name, before, expected)?;
        let shown = self.pod(&name).unwrap_or_default();
        let nominated = shown.pointer("/status/nominatedNodeName").cloned().unwrap_or(json!(""));
        differs(
            "nominated_node_name",
            expected.get("nominated_node_name").unwrap_or(&json!("")),
            &nominated,
        )?;
        let mut victims: Vec<String> = self
            .stage
            .changes_in("", before, Kind::Pod)
            .marked
            .iter()
            .map(|pod| text(&pod["metadata"], "name").to_string())
            .collect();
        victims.sort();
        let mut wanted: Vec<String> =
            list(expected, "victims").iter().filter_map(Value::as_str).map(str::to_string).collect();
        wanted.sort();
        differs("victims", &json!(wanted), &json!(victims))?;
        let uid = shown.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
        for event in list(expected, "victim_events") {
            let message = text(event, "message").replace(&format!("<uid of {name}>"), uid);
            let told = self.events_of(text(event, "pod"), Some(text(event, "reason")));
            let got: Vec<&str> = told.iter().map(|event| text(event, "message")).collect();
            differs("victim_events", &json!([message]), &json!(got))?;
        }
        for condition in list(expected, "victim_conditions") {
            let changes = self.stage.changes_in("", before, Kind::Pod);
            let victim = changes.marked.iter().rev().find(|pod| pod["metadata"]["name"] == condition["pod"]);
            let conditions =
                victim.and_then(|pod| pod.pointer("/status/conditions")).and_then(Value::as_array);
            let got = conditions.into_iter().flatten().find(|c| c["type"] == condition["type"]);
            for key in ["status", "reason", "message"] {
                differs("victim_conditions", &condition[key], &got.map_or(Value::Null, |c| c[key].clone()))?;
            }
        }
        let Some(node) = expected.get("node_after_victims_gone") else { return Ok(()) };
        for victim in wanted {
            if let Some(pod) = self.pod(&victim) {
                self.delete(Kind::Pod, text(&pod["metadata"], "namespace"), &victim, Some(0))?;
            }
        }
        self.stage.advance(PATIENCE_TICKS);
        differs("node_after_victims_gone", node, &json!(self.node_of(&name)))
    }

    fn sequence(&mut self, value: &Value, expected: &Value) -> Result<(), String> {
        for run in list(value, "run") {
            if let Some(replicas) = run.get("deployment_replicas") {
                let labels = run.get("labels").cloned().unwrap_or(json!({"app": "web"}));
                let template = json!({"metadata": {"labels": labels}, "spec": run["template"]});
                let spec =
                    json!({"replicas": replicas, "selector": {"matchLabels": labels}, "template": template});
                let body = json!({
                    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec,
                });
                self.ask(Verb::Create, Kind::Deployment, NAMESPACE, "web", body)?;
                self.stage.settle(3);
                continue;
            }
            let name = text(&run["pod"]["metadata"], "name").to_string();
            let count = run.get("count").and_then(Value::as_u64).unwrap_or(1);
            for index in 0..count {
                let name = if count > 1 { format!("{name}-{index}") } else { name.clone() };
                self.create_pod(&run["pod"], &name)?;
                self.stage.settle(2);
            }
        }
        let bound: Vec<String> =
            list(value, "pods").iter().map(|pod| text(pod, "name").to_string()).collect();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for pod in self.stage.cluster.store.objects_of(Kind::Pod) {
            let pod = pod.to_value();
            if bound.contains(&text(&pod["metadata"], "name").to_string()) {
                continue;
            }
            let node = text(&pod["spec"], "nodeName");
            *counts.entry(if node.is_empty() { "<pending>" } else { node }.to_string()).or_default() += 1;
        }
        let got = json!(counts);
        let mut accepted: Vec<Value> = list(expected, "counts_any_of").to_vec();
        accepted.extend(expected.get("counts").cloned());
        for counts in &mut accepted {
            if let Some(map) = counts.as_object_mut() {
                map.remove("seen");
                map.retain(|_, count| *count != json!(0));
            }
        }
        if accepted.contains(&got) {
            return Ok(());
        }
        let mut sorted: Vec<u64> =
            counts.iter().filter(|(node, _)| *node != "<pending>").map(|(_, count)| *count).collect();
        sorted.sort_by(|a, b| b.cmp(a));
        if interchangeable(list(value, "nodes")) && expected.get("counts_sorted") == Some(&json!(sorted)) {
            return Ok(());
        }
        Err(format!("counts:\n- {}\n+ {got}", json!(accepted)))
    }

    fn act(&mut self, action: &Value) -> Result<(), String> {
        let name = text(action, "name");
        let patch = action.get("patch").cloned().unwrap_or_default();
        match text(action, "action") {
            "create-pending-pod" | "create-pod" => {
                let pod = &action["pod"];
                let name = text(&pod["metadata"], "name").to_string();
                self.create_pod(pod, &name)
            }
            "add-node" => self.create_node(&action["node"]),
            "create" => self.create_object(&action["object"]),
            "patch-node" => self.ask(Verb::MergePatch, Kind::Node, "", name, patch),
            "patch-pod" => self.ask(Verb::MergePatch, Kind::Pod, NAMESPACE, name, patch),
            "delete-node" => self.ask(Verb::Delete, Kind::Node, "", name, Value::Null),
            "delete-pod" => self.delete(Kind::Pod, NAMESPACE, name, Some(0)),
            "patch-node-status" => {
                let status = patch.get("status").unwrap_or(&patch).clone();
                self.update_status(Kind::Node, "", name, &status)
            }
            "patch-pod-status" => {
                let status = patch.get("status").unwrap_or(&patch).clone();
                self.update_status(Kind::Pod, NAMESPACE, name, &status)
            }
            "wait" => {
                let seconds = action.get("seconds").and_then(Value::as_f64).unwrap_or(1.0);
                self.stage.advance(seconds.ceil() as u64);
                Ok(())
            }
            other => Err(format!("the action `{other}` is not known")),
        }
    }

    fn retry(&mut self, value: &Value, expected: &Value) -> Result<(), String> {
        let pod = &value["pod"];
        let name = text(&pod["metadata"], "name").to_string();
        let start = self.stage.facts.len();
        self.create_pod(pod, &name)?;
        self.stage.settle(2);
        let before = &expected["before"];
        self.compare_condition(&name, before).map_err(|difference| format!("before: {difference}"))?;
        self.compare_verdicts(&name, start, before).map_err(|difference| format!("before: {difference}"))?;
        self.stage.advance(1);
        let acted = self.stage.facts.len();
        for action in list(value, "steps") {
            self.act(action)?;
        }
        self.stage.advance(PATIENCE_TICKS);
        let attempts = self.attempts(&name, acted).len();
        if let Some(node) = expected.get("node") {
            differs("node", node, &json!(self.node_of(&name)))?;
        }
        if expected.get("still_pending") == Some(&json!(true)) {
            differs("node", &json!(""), &json!(self.node_of(&name)))?;
            self.compare_condition(&name, expected)?;
        }
        let wanted = expected.get("new_attempts").and_then(Value::as_u64).unwrap_or(0);
        if (wanted == 0) != (attempts == 0) {
            return Err(format!("new_attempts:\n- {wanted}\n+ {attempts}"));
        }
        Ok(())
    }

    fn scenario(&mut self, value: &Value, expected: &Value) -> Result<(), String> {
        for (index, (step, after)) in
            list(value, "steps").iter().zip(list(expected, "after_each_step")).enumerate()
        {
            let at_once = step.as_array().cloned().unwrap_or_else(|| vec![step.clone()]);
            for action in &at_once {
                self.act(action)?;
            }
            self.stage.settle(2);
            // A Pod whose back-off has begun is tried again when it ends.
            let waits = |scene: &Self| {
                after
                    .as_object()
                    .into_iter()
                    .flatten()
                    .any(|(name, wanted)| wanted.get("node").is_some() && scene.node_of(name).is_empty())
            };
            if waits(self) {
                self.stage.advance(PATIENCE_TICKS);
            }
            for (name, wanted) in after.as_object().into_iter().flatten() {
                let got = self.shown(name);
                differs(&format!("after step {}, {name}", index + 1), wanted, &got)?;
            }
        }
        Ok(())
    }

    /// A Pod as scenarios show it.
    fn shown(&self, name: &str) -> Value {
        let Some(pod) = self.pod(name) else { return json!({"gone": true}) };
        let mut shown = Map::new();
        let node = text(&pod["spec"], "nodeName");
        if !node.is_empty() {
            shown.insert("node".to_string(), json!(node));
        }
        if let Some(nominated) = pod.pointer("/status/nominatedNodeName") {
            shown.insert("nominated_node_name".to_string(), nominated.clone());
        }
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            shown.insert("terminating".to_string(), json!(true));
        }
        let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
        let scheduled = conditions.into_iter().flatten().find(|c| text(c, "type") == "PodScheduled");
        if let Some(condition) = scheduled.filter(|c| text(c, "status") == "False") {
            shown.insert("reason".to_string(), condition["reason"].clone());
            shown.insert("message".to_string(), condition["message"].clone());
        }
        Value::Object(shown)
    }
}

/// Whether the nodes differ only in name.
fn interchangeable(nodes: &[Value]) -> bool {
    let mut anonymous = nodes.iter().map(|node| {
        let mut node = node.clone();
        if let Some(map) = node.as_object_mut() {
            map.remove("name");
        }
        if let Some(labels) = node.get_mut("labels").and_then(Value::as_object_mut) {
            labels.remove("kubernetes.io/hostname");
        }
        node
    });
    let first = anonymous.next();
    anonymous.all(|node| Some(&node) == first.as_ref())
}
