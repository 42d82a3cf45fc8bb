//! The observable state of a cluster, in the words of a step trace.

use kubestep::api::kind::Kind;
use kubestep::cluster::fact::What;
use serde_json::{Map, Value, json};

use super::stage::{NAMESPACE, Stage};

/// A field by JSON pointer, or null.
fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    at(value, pointer).as_str().unwrap_or_default()
}

fn number(value: &Value, pointer: &str) -> i64 {
    at(value, pointer).as_i64().unwrap_or(0)
}

/// Every object of a kind in the session's namespace, by name.
pub fn objects(stage: &Stage, kind: Kind) -> Vec<Value> {
    let namespace = if kind.is_namespaced() { NAMESPACE } else { "" };
    stage.cluster.store.objects_in(kind, namespace).map(|object| object.to_value()).collect()
}

/// The same, in order of creation.
pub fn by_creation(stage: &Stage, kind: Kind) -> Vec<Value> {
    let mut objects = objects(stage, kind);
    // Revisions tell apart what was created in the same second: facts stand in order of creation.
    let created = stage.changes_since(0, kind).created;
    let place =
        |object: &Value| created.iter().position(|c| at(c, "/metadata/uid") == at(object, "/metadata/uid"));
    objects.sort_by_key(|object| {
        (place(object).unwrap_or(usize::MAX), text(object, "/metadata/name").to_string())
    });
    objects
}

/// An object under construction: fields that are absent, zero or false stay out.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn always(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_string(), value.into());
        self
    }

    fn unless_empty(self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        let empty = match &value {
            Value::Null => true,
            Value::Bool(flag) => !flag,
            Value::Number(number) => number.as_i64() == Some(0),
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
        };
        if empty { self } else { self.always(key, value) }
    }

    /// Every member of an object.
    fn all(mut self, members: &Value) -> Self {
        self.0.extend(members.as_object().cloned().unwrap_or_default());
        self
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn annotations(object: &Value) -> Value {
    match at(object, "/metadata/annotations") {
        Value::Null => json!({}),
        annotations => annotations.clone(),
    }
}

/// A Job: its status, with times as whether they are set.
fn job(fields: Fields, object: &Value) -> Fields {
    let mut status = at(object, "/status").clone();
    if let Value::Object(members) = &mut status {
        for apart in ["conditions", "startTime", "completionTime"] {
            members.remove(apart);
        }
    }
    fields
        .all(&status)
        .always("startTime", !at(object, "/status/startTime").is_null())
        .always("completionTime", !at(object, "/status/completionTime").is_null())
        .always("suspend", at(object, "/spec/suspend") == &Value::Bool(true))
        .always("conditions", conditions(object))
}

/// `Type=Status Reason: message`, in the order of the object.
fn conditions(object: &Value) -> Vec<Value> {
    let list = at(object, "/status/conditions").as_array().cloned().unwrap_or_default();
    let line = |c: &Value| {
        let (kind, status) = (text(c, "/type"), text(c, "/status"));
        let (reason, message) = (text(c, "/reason"), text(c, "/message"));
        let text = match (reason.is_empty(), message.is_empty()) {
            (true, _) => format!("{kind}={status}"),
            (false, true) => format!("{kind}={status} {reason}"),
            (false, false) => format!("{kind}={status} {reason}: {message}"),
        };
        Value::String(text)
    };
    list.iter().map(line).collect()
}

const ANNOTATION: &str = "/metadata/annotations/deployment.kubernetes.io~1";

/// `rs`: ReplicaSets in order of creation; with generations where the trace shows them.
pub fn replica_sets(stage: &Stage, with_generations: bool) -> Vec<Value> {
    let one = |rs: &Value| {
        let annotation = |name: &str| text(rs, &format!("{ANNOTATION}{name}")).to_string();
        let fields = Fields::default()
            .always("name", text(rs, "/metadata/name"))
            .unless_empty("revision", annotation("revision"))
            .unless_empty("history", annotation("revision-history"))
            .always("spec", number(rs, "/spec/replicas"))
            .always("current", number(rs, "/status/replicas"))
            .always("ready", number(rs, "/status/readyReplicas"))
            .always("available", number(rs, "/status/availableReplicas"))
            .unless_empty("terminating", number(rs, "/status/terminatingReplicas"))
            .unless_empty("desired", annotation("desired-replicas"))
            .unless_empty("max", annotation("max-replicas"));
        let fields = if with_generations {
            fields
                .always("fullyLabeled", number(rs, "/status/fullyLabeledReplicas"))
                .always("generation", number(rs, "/metadata/generation"))
                .always("observed", number(rs, "/status/observedGeneration"))
        } else {
            fields
        };
        fields.unless_empty("deleting", deleting(rs)).done()
    };
    by_creation(stage, Kind::ReplicaSet).iter().map(one).collect()
}

/// `conditions`: those of ReplicaSets that have any, by name.
pub fn conditions_of_replica_sets(stage: &Stage) -> Value {
    let sets = objects(stage, Kind::ReplicaSet).into_iter();
    let with_conditions = sets.map(|set| (text(&set, "/metadata/name").to_string(), conditions(&set)));
    Value::Object(
        with_conditions
            .filter(|(_, lines)| !lines.is_empty())
            .map(|(name, lines)| (name, lines.into()))
            .collect(),
    )
}

fn deleting(object: &Value) -> bool {
    !at(object, "/metadata/deletionTimestamp").is_null()
}

fn is_ready(pod: &Value) -> bool {
    let list = at(pod, "/status/conditions").as_array();
    list.into_iter().flatten().any(|c| text(c, "/type") == "Ready" && text(c, "/status") == "True")
}

fn owner_name(object: &Value) -> &str {
    text(object, "/metadata/ownerReferences/0/name")
}

/// `pods` of Deployment traces: numbers per owner.
pub fn pods_by_owner(stage: &Stage, since: usize) -> Value {
    let changes = stage.changes_since(since, Kind::Pod);
    let pods = objects(stage, Kind::Pod);
    let all = pods.iter().chain(&changes.created).chain(&changes.gone);
    let mut owners: Vec<&str> = all.map(owner_name).collect();
    owners.sort_unstable();
    owners.dedup();
    let mut map = Map::new();
    for owner in owners {
        let mine = |objects: &[Value]| objects.iter().filter(|pod| owner_name(pod) == owner).count();
        let count = |accept: &dyn Fn(&Value) -> bool| {
            pods.iter().filter(|pod| owner_name(pod) == owner && accept(pod)).count()
        };
        let finished = |pod: &Value| matches!(text(pod, "/status/phase"), "Failed" | "Succeeded");
        let active = |pod: &Value| !finished(pod) && !deleting(pod);
        let fields = Fields::default()
            .always("active", count(&active))
            .always("ready", count(&|pod| active(pod) && is_ready(pod)))
            .always("terminating", count(&|pod| deleting(pod)))
            .unless_empty("finished", count(&|pod| finished(pod) && !deleting(pod)))
            .unless_empty("created_this_step", mine(&changes.created))
            .unless_empty("gone_this_step", mine(&changes.gone));
        map.insert(if owner.is_empty() { "(none)" } else { owner }.to_string(), fields.done());
    }
    Value::Object(map)
}

/// `pods` of ReplicaSet traces: one by one.
pub fn pods_listed(stage: &Stage) -> Vec<Value> {
    let one = |pod: &Value| {
        let restarts = number(pod, "/status/containerStatuses/0/restartCount");
        let owner = match owner_name(pod) {
            "" => Value::Null,
            owner => owner.into(),
        };
        Fields::default()
            .always("name", text(pod, "/metadata/name"))
            .always("node", text(pod, "/spec/nodeName"))
            .always("phase", text(pod, "/status/phase"))
            .always("ready", is_ready(pod))
            .unless_empty("terminating", deleting(pod))
            .always("owner", owner)
            .unless_empty(
                "cost",
                text(pod, "/metadata/annotations/controller.kubernetes.io~1pod-deletion-cost"),
            )
            .unless_empty("restarts", restarts)
            .done()
    };
    objects(stage, Kind::Pod).iter().map(one).collect()
}

/// `deployments`: by name.
pub fn deployments(stage: &Stage) -> Value {
    let mut map = Map::new();
    for deployment in objects(stage, Kind::Deployment) {
        let of = |field: &str| number(&deployment, &format!("/status/{field}"));
        let status = json!({
            "generation": number(&deployment, "/metadata/generation"),
            "observed": of("observedGeneration"),
            "spec": number(&deployment, "/spec/replicas"),
            "replicas": of("replicas"),
            "updated": of("updatedReplicas"),
            "ready": of("readyReplicas"),
            "available": of("availableReplicas"),
            "unavailable": of("unavailableReplicas"),
            "terminating": of("terminatingReplicas"),
        });
        let finalizers = at(&deployment, "/metadata/finalizers").clone();
        let marked = if deleting(&deployment) { finalizers } else { Value::Null };
        let fields = Fields::default()
            .always("status", status)
            .always("revision", at(&deployment, &format!("{ANNOTATION}revision")).clone())
            .unless_empty("collisionCount", at(&deployment, "/status/collisionCount").clone())
            .unless_empty("paused", at(&deployment, "/spec/paused").clone())
            .unless_empty("deleting", marked)
            .always("conditions", conditions(&deployment));
        map.insert(text(&deployment, "/metadata/name").to_string(), fields.done());
    }
    Value::Object(map)
}

/// Hints as JSON text, in the server's order and with spaces, as the recordings have them.
fn spaced(hints: &Value) -> String {
    let part = |field: &str| {
        let text = hints.get(field)?.to_string();
        let text = text.replace("\":", "\": ").replace(",\"", ", \"").replace("},{", "}, {");
        Some(format!("\"{field}\": {text}"))
    };
    let parts: Vec<String> = ["forZones", "forNodes"].into_iter().filter_map(part).collect();
    format!("{{{}}}", parts.join(", "))
}

/// `slices`: EndpointSlices.
pub fn slices(stage: &Stage) -> Vec<Value> {
    let one = |slice: &Value| {
        let owners = at(slice, "/metadata/ownerReferences").as_array().cloned().unwrap_or_default();
        let owners: Vec<String> =
            owners.iter().map(|o| format!("{}/{}", text(o, "/kind"), text(o, "/name"))).collect();
        let mut endpoints: Vec<Value> = at(slice, "/endpoints").as_array().cloned().unwrap_or_default();
        endpoints.sort_by_key(|endpoint| text(endpoint, "/targetRef/name").to_string());
        let endpoint = |endpoint: &Value| {
            let target = match text(endpoint, "/targetRef/kind") {
                "" => Value::Null,
                kind => format!("{kind}/{}", text(endpoint, "/targetRef/name")).into(),
            };
            let hints = match at(endpoint, "/hints") {
                Value::Null => String::new(),
                hints => spaced(hints),
            };
            Fields::default()
                .always("addresses", at(endpoint, "/addresses").clone())
                .unless_empty("conditions", at(endpoint, "/conditions").clone())
                .unless_empty("hostname", text(endpoint, "/hostname"))
                .unless_empty("nodeName", text(endpoint, "/nodeName"))
                .unless_empty("zone", text(endpoint, "/zone"))
                .unless_empty("targetRef", target)
                .unless_empty("hints", hints)
                .done()
        };
        let ports = match at(slice, "/ports").as_array() {
            Some(ports) if !ports.is_empty() => Value::Array(ports.clone()),
            _ => Value::Null,
        };
        Fields::default()
            .always("name", text(slice, "/metadata/name"))
            .always("addressType", text(slice, "/addressType"))
            .unless_empty("labels", at(slice, "/metadata/labels").clone())
            .unless_empty("annotations", at(slice, "/metadata/annotations").clone())
            .always("owner", owners)
            .always("ports", ports)
            .always("endpoints", endpoints.iter().map(endpoint).collect::<Vec<_>>())
            .done()
    };
    objects(stage, Kind::EndpointSlice).iter().map(one).collect()
}

/// `endpoints_objects`: Endpoints.
pub fn endpoints(stage: &Stage) -> Vec<Value> {
    let addresses = |subset: &Value, field: &str| -> Vec<String> {
        let list = at(subset, field).as_array().cloned().unwrap_or_default();
        list.iter().map(|one| format!("{} {}", text(one, "/ip"), text(one, "/targetRef/name"))).collect()
    };
    let port = |port: &Value| {
        let name = Some(text(port, "/name")).filter(|name| !name.is_empty()).unwrap_or("(unnamed)");
        format!("{name} {}/{}", number(port, "/port"), text(port, "/protocol"))
    };
    let subset = |subset: &Value| {
        let ports = at(subset, "/ports").as_array().cloned().unwrap_or_default();
        Fields::default()
            .always("addresses", addresses(subset, "/addresses"))
            .always("notReady", addresses(subset, "/notReadyAddresses"))
            .always("ports", ports.iter().map(port).collect::<Vec<_>>())
            .done()
    };
    let one = |object: &Value| {
        let subsets = at(object, "/subsets").as_array().cloned().unwrap_or_default();
        Fields::default()
            .always("name", text(object, "/metadata/name"))
            .unless_empty("labels", at(object, "/metadata/labels").clone())
            .always("subsets", subsets.iter().map(subset).collect::<Vec<_>>())
            .done()
    };
    objects(stage, Kind::Endpoints).iter().map(one).collect()
}

/// `namespace`: the session's own.
pub fn namespace(stage: &Stage) -> Value {
    let key = kubestep::api::meta::ObjectKey::new(Kind::Namespace, "", NAMESPACE);
    let Some(object) = stage.cluster.store.object(&key) else { return "gone".into() };
    let object = object.to_value();
    let fields = Fields::default()
        .always("phase", text(&object, "/status/phase"))
        .always("spec.finalizers", at(&object, "/spec/finalizers").clone())
        .always("deleting", deleting(&object))
        .always("conditions", conditions(&object));
    fields.done()
}

/// A list of objects of a kind as general traces show them; `labels` only if the trace shows any.
pub fn general(stage: &Stage, kind: Kind, with_labels: bool) -> Vec<Value> {
    let one = |object: &Value| {
        let owners = at(object, "/metadata/ownerReferences").as_array().cloned().unwrap_or_default();
        let block = |owner: &Value| {
            if at(owner, "/blockOwnerDeletion") == &Value::Bool(true) { " block" } else { "" }
        };
        let owner_line = |o: &Value| format!("{}/{}{}", text(o, "/kind"), text(o, "/name"), block(o));
        let fields = Fields::default()
            .always("name", text(object, "/metadata/name"))
            .unless_empty("deleting", deleting(object))
            .unless_empty("finalizers", at(object, "/metadata/finalizers").clone());
        let owners: Vec<String> = owners.iter().map(owner_line).collect();
        let fields = match kind {
            Kind::ConfigMap => fields.unless_empty("owners", owners),
            Kind::Pod => {
                let mut labels = at(object, "/metadata/labels").as_object().cloned().unwrap_or_default();
                labels.remove("app");
                let fields = fields
                    .always("node", text(object, "/spec/nodeName"))
                    .always("phase", text(object, "/status/phase"))
                    .always("ready", is_ready(object))
                    .always("image", text(object, "/spec/containers/0/image"));
                if with_labels { fields.unless_empty("labels", labels) } else { fields }
            }
            Kind::Deployment | Kind::ReplicaSet => fields
                .always("spec", number(object, "/spec/replicas"))
                .always("replicas", number(object, "/status/replicas")),
            Kind::Service => fields
                .always("type", text(object, "/spec/type"))
                .always("loadBalancer", at(object, "/status/loadBalancer").to_string()),
            Kind::StatefulSet | Kind::DaemonSet => {
                fields.always("generation", number(object, "/metadata/generation")).all(at(object, "/status"))
            }
            Kind::Job => job(fields, object),
            Kind::CronJob => {
                let active = at(object, "/status/active").as_array().cloned().unwrap_or_default();
                let active: Vec<Value> = active.iter().map(|job| at(job, "/name").clone()).collect();
                fields
                    .always("suspend", at(object, "/spec/suspend") == &Value::Bool(true))
                    .always("active", active)
                    .always("lastSchedule", !at(object, "/status/lastScheduleTime").is_null())
                    .always("lastSuccessful", !at(object, "/status/lastSuccessfulTime").is_null())
            }
            Kind::HorizontalPodAutoscaler => fields
                .always("min", at(object, "/spec/minReplicas").clone())
                .always("max", at(object, "/spec/maxReplicas").clone())
                .always("current", at(object, "/status/currentReplicas").clone())
                .always("desired", at(object, "/status/desiredReplicas").clone())
                .always("conditions", conditions(object)),
            Kind::PodDisruptionBudget => {
                let of = |field: &str| number(object, &format!("/status/{field}"));
                let disrupted = at(object, "/status/disruptedPods").as_object().cloned().unwrap_or_default();
                fields
                    .always("observedGeneration", of("observedGeneration"))
                    .always("disruptionsAllowed", of("disruptionsAllowed"))
                    .always("currentHealthy", of("currentHealthy"))
                    .always("desiredHealthy", of("desiredHealthy"))
                    .always("expectedPods", of("expectedPods"))
                    .always("disruptedPods", disrupted.keys().cloned().collect::<Vec<_>>())
                    .always("conditions", conditions(object))
            }
            Kind::PersistentVolumeClaim => fields
                .always("phase", at(object, "/status/phase").clone())
                .always("volume", at(object, "/spec/volumeName").clone())
                .always("storageClass", at(object, "/spec/storageClassName").clone())
                .always("annotations", annotations(object))
                .unless_empty("owners", owners),
            Kind::PersistentVolume => fields
                .always("phase", at(object, "/status/phase").clone())
                .always("claim", at(object, "/spec/claimRef/name").clone()),
            Kind::ResourceQuota => fields
                .always("hard", at(object, "/status/hard").clone())
                .always("used", at(object, "/status/used").clone()),
            _ => fields,
        };
        fields.done()
    };
    objects(stage, kind).iter().map(one).collect()
}

/// How often an event was told since `revision`.
fn times_told(stage: &Stage, name: &str, revision: u64) -> usize {
    let is_it = |what: &What| match what {
        What::Wrote { key, new: Some(new), .. } => {
            key.kind == Kind::Event && *key.name == *name && new.meta().resource_version.0 > revision
        }
        _ => false,
    };
    stage.facts.iter().rev().filter(|fact| is_it(&fact.what)).count()
}

/// `events`: those told in the session's namespace since `revision`, sorted by object, oldest first within one.
pub fn events(stage: &Stage, revision: u64, folded: bool) -> Vec<String> {
    let mut told: Vec<(String, u64, Value)> = objects(stage, Kind::Event)
        .into_iter()
        .map(|event| {
            let of = text(&event, "/metadata/resourceVersion").parse().unwrap_or(0);
            let about =
                format!("{}/{}", text(&event, "/involvedObject/kind"), text(&event, "/involvedObject/name"));
            (about, of, event)
        })
        .filter(|(_, of, _)| *of > revision)
        .collect();
    told.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let mut lines: Vec<String> = Vec::new();
    let mut folds: Vec<(String, usize, usize)> = Vec::new();
    for (about, _, event) in &told {
        let (kind, reason) = (text(event, "/type"), text(event, "/reason"));
        let is_pod_event =
            matches!(reason, "SuccessfulCreate" | "SuccessfulDelete") && about.starts_with("ReplicaSet/");
        if folded && is_pod_event {
            let head = format!("{kind} {about} {reason}");
            let times = times_told(stage, text(event, "/metadata/name"), revision);
            match folds.iter_mut().find(|(known, _, _)| *known == head) {
                Some((_, _, count)) => *count += times,
                None => {
                    folds.push((head, lines.len(), times));
                    lines.push(String::new());
                }
            }
            continue;
        }
        let count = match number(event, "/count") {
            0 | 1 => String::new(),
            count => format!(" (count {count})"),
        };
        lines.push(format!("{kind} {about} {reason}: {}{count}", text(event, "/message")));
    }
    for (head, line, count) in folds {
        lines[line] = format!("{head} x{count}");
    }
    lines
}
