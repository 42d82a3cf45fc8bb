//! ReplicaSets: which Pods go first, which are claimed, what is reported, what one sync creates, deletes and tells.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::kinds::pod::{ContainerStatus, Pod, PodCondition};
use kubestep::api::meta::ObjectKey;
use kubestep::api::object::Object;
use kubestep::api::time::Timestamp;
use kubestep::cluster::component::Outcome;
use kubestep::cluster::controllers::replicaset;
use kubestep::cluster::controllers::replicaset::victims::{Criterion, plan_victims};
use kubestep::cluster::fact::What;
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::server::request::Verb;
use kubestep::cluster::server::status::Status;
use kubestep::cluster::server::write::Operation;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, pod as plain_pod, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "pods are sorted for deletion, first = deleted first" => sorted(case),
        "criteria in order, first difference decides (listed value is deleted first)" => criteria(),
        "which of two pods is deleted first" => first_of_two(case),
        "rank of a pod" => rank_of_a_pod(),
        "choosing victims" => {
            let pods = [described("1", "Running, ready for 5 h"), described("2", "no node, Pending")];
            let own: Vec<&Arc<Pod>> = pods.iter().collect();
            let victims = plan_victims(&own, std::iter::empty(), 2, NOW);
            let order: Vec<&str> = victims.iter().map(|victim| &*victim.pod.meta.uid).collect();
            all([
                same("order", order, vec!["1", "2"]),
                same("criterion", victims[0].criterion, Criterion::All),
            ])
        }
        "is the pod counted" => counted(),
        "active ReplicaSets are filtered" => active_sets(),
        "pods are claimed by a controller with selector type=production" => claimed(case),
        "ownerReference is removed on release" => released(case),
        "before the first adoption" => not_simulated(
            "a controller sees the store as it was when the tick began: no cache lags behind it",
        ),
        "status is calculated" => status(case),
        "ReplicaFailure condition is calculated" => failure(case),
        "is the pod available" => available(),
        "controller re-check is queued" => {
            // A second is added to what is left because the time of Ready is cut down to a second; here it is exact.
            let mut scene = stage(1, 5, &json!({}), &[("ready", true)]);
            scene.cluster.finish_tick(&mut Vec::new());
            let again = sync(&scene).again;
            same("ticks", again.first().map(|(_, ticks)| *ticks).is_some_and(|ticks| ticks <= 6), true)
        }
        "one sync" => {
            let scene = stage(1200, 0, &json!({}), &[]);
            same("creates", json!(creates(&sync(&scene))), case.expect["creates"].clone())
        }
        "batch sizes while creating pods" => batch_sizes(case),
        "slow start" => slow_start(case),
        "pod create is refused with cause NamespaceTerminating" => terminating_namespace(),
        "next sync before the informer saw them" => {
            let mut scene = Scene::controllers();
            scene.create(set(3, 0, &json!({}))).unwrap();
            scene.ticks(9);
            let replicas = scene.get(Kind::ReplicaSet, "web").unwrap()["status"]["replicas"].clone();
            let created = scene.events().iter().filter(|event| event.starts_with("SuccessfulCreate")).count();
            all([same("created", created, 3), same("status", replicas, json!(3))])
        }
        "controller reaction" if case.given.get("new orphan pod").is_some() => orphan_appears(),
        "controller reaction" => replaced_at_once(case),
        "sync" if case.given.get("rs in API").is_some() => not_simulated(
            "a controller sees the store as it was when the tick began: no cache lags behind it",
        ),
        "sync" => sync_of_a_terminating_set(case),
        "event on the ReplicaSet" => event(case),
        "pod is built from the template" => built(case),
        _ => Verdict::NotTried,
    }
}

const NOW: Timestamp = Timestamp(100_000_000);
const MONTH: i64 = 30 * 24 * 3600;

/// A Pod as the rows put it: `Running, ready for 5 h`, `no node, Pending`, `unscheduled, created 8 h ago`.
fn described(uid: &str, words: &str) -> Arc<Pod> {
    let mut pod = Pod::default();
    pod.meta.uid = uid.into();
    pod.meta.name = uid.into();
    pod.status.phase = "Running".into();
    pod.node_name = "node".into();
    let hours =
        |text: &str| text.trim_end_matches(" ago").trim_end_matches(" h").parse::<i64>().unwrap() * 3600;
    let age = |text: &str| match text {
        "now" => 0,
        "a month" | "a month ago" => MONTH,
        other => hours(other),
    };
    let ready = |pod: &mut Pod, since: Option<i64>| {
        pod.status.conditions.push(PodCondition {
            condition_type: "Ready".into(),
            status: "True".into(),
            last_transition_time: since.map(|age| Timestamp(NOW.0 - age)),
            ..PodCondition::default()
        });
    };
    let created = |pod: &mut Pod, age: i64| pod.meta.creation_timestamp = Some(Timestamp(NOW.0 - age));
    created(&mut pod, 0);
    for word in words.split(", ") {
        match word {
            "no node" | "unscheduled" => {
                pod.node_name = "".into();
                pod.status.phase = "Pending".into();
            }
            "on node" | "Running" | "not ready" | "no transition time" => {}
            "Pending" | "Unknown" => pod.status.phase = word.into(),
            "ready" => ready(&mut pod, None),
            "ready and created a month ago" => {
                ready(&mut pod, Some(MONTH));
                created(&mut pod, MONTH);
            }
            word if word.starts_with("ready since ") => ready(&mut pod, Some(age(&word[12..]))),
            word if word.starts_with("ready for ") => ready(&mut pod, Some(age(&word[10..]))),
            word if word.starts_with("created ") => created(&mut pod, age(&word[8..])),
            word if word.starts_with("restarts ") => pod.status.container_statuses.push(ContainerStatus {
                restart_count: word[9..].parse().unwrap(),
                ..ContainerStatus::default()
            }),
            word if word.starts_with("deletion-cost ") => {
                let cost = word[14..].to_string();
                pod.meta.annotations.insert("controller.kubernetes.io/pod-deletion-cost".to_string(), cost);
            }
            other => panic!("{other}"),
        }
    }
    Arc::new(pod)
}

/// The uids in the order in which they go.
fn order<'a>(pods: &[&'a Arc<Pod>]) -> Vec<&'a str> {
    let victims = plan_victims(pods, std::iter::empty(), pods.len() - 1, NOW);
    let mut order: Vec<&str> = victims.iter().map(|victim| &*victim.pod.meta.uid).collect();
    order
        .extend(pods.iter().map(|pod| &*pod.meta.uid).filter(|uid| !order.contains(uid)).collect::<Vec<_>>());
    order
}

fn sorted(case: &Case) -> Verdict {
    let words = |name: &str| match name {
        "unscheduled" => "no node, Pending",
        "scheduledButPending" => "on node, Pending",
        "unknownPhase" => "on node, Unknown",
        "runningButNotReady" => "Running, not ready",
        "runningNoLastTransitionTime" => "Running, ready, no transition time",
        name if name.starts_with("runningWithLastTransitionTime") => "Running, ready since now",
        name if name.starts_with("runningLongerTime") => "Running, ready for a month, restarts 3",
        name if name.starts_with("lowerContainerRestartCount") => {
            "Running, ready for a month, restarts 2, created now"
        }
        _ => "Running, ready for a month, restarts 2, created a month ago",
    };
    let names: Vec<String> = case.given_texts("pods");
    // The uids must not decide: they run the other way.
    let pods: Vec<Arc<Pod>> = names
        .iter()
        .enumerate()
        .map(|(index, name)| described(&(9 - index).to_string(), words(name)))
        .collect();
    let mixed: Vec<&Arc<Pod>> = [4, 0, 8, 2, 6, 1, 7, 3, 5].iter().map(|&index| &pods[index]).collect();
    let got: Vec<&str> =
        order(&mixed).iter().map(|uid| names[9 - uid.parse::<usize>().unwrap()].as_str()).collect();
    same("order", json!(got), case.expect["order"].clone())
}

fn criteria() -> Verdict {
    // Each pair differs in one criterion; in all later ones the second Pod would go first.
    let pairs = [
        (
            "no node",
            "no node, Pending, restarts 0, created a month ago",
            "on node, Pending, restarts 9, created now",
        ),
        ("phase", "on node, Pending, deletion-cost 9", "on node, Unknown, deletion-cost 1"),
        ("phase", "on node, Unknown, ready for 9 h, deletion-cost 9", "Running, not ready, deletion-cost 1"),
        ("ready", "Running, not ready, deletion-cost 9", "Running, ready since now, deletion-cost 1"),
        ("cost", "Running, ready for 99 h, deletion-cost 1", "Running, ready since now, deletion-cost 2"),
        ("cost", "Running, ready for 99 h", "Running, ready since now, deletion-cost 1"),
        (
            "ready time",
            "Running, ready for 2 h, restarts 0, created a month ago",
            "Running, ready for 5 h, restarts 9",
        ),
        (
            "restarts",
            "Running, ready for 5 h, restarts 3, created a month ago",
            "Running, ready for 5 h, restarts 2",
        ),
        ("created", "Running, ready for 5 h, created now", "Running, ready for 5 h, created a month ago"),
    ];
    let plain = pairs.iter().map(|(what, first, second)| {
        let (first, second) = (described("2", first), described("1", second));
        same(what, order(&[&second, &first]), vec!["2", "1"])
    });
    // The rank stands between the cost and the time of readiness.
    let ranked = |a: &str, b: &str| {
        let (a, b) = (described("2", a), described("1", b));
        first(&a, 2, &b, 1)
    };
    all(plain.chain([
        same(
            "rank before ready time",
            ranked("Running, ready for 9 h", "Running, ready since now").as_str(),
            "2",
        ),
        same(
            "cost before rank",
            ranked("Running, ready for 9 h, deletion-cost 2", "Running, ready for 9 h, deletion-cost 1")
                .as_str(),
            "1",
        ),
    ]))
}

/// Which of two Pods goes first, when so many related Pods are on the node of each.
fn first(a: &Arc<Pod>, rank_a: usize, b: &Arc<Pod>, rank_b: usize) -> String {
    let on = |pod: &Arc<Pod>, node: &str| {
        let mut pod = (**pod).clone();
        if !pod.node_name.is_empty() {
            pod.node_name = node.into();
        }
        Arc::new(pod)
    };
    let (a, b) = (on(a, "a"), on(b, "b"));
    let relative = |node: &str| on(&described("r", "Running, ready since now"), node);
    let related: Vec<Arc<Pod>> = std::iter::repeat_with(|| relative("a"))
        .take(rank_a)
        .chain(std::iter::repeat_with(|| relative("b")).take(rank_b))
        .collect();
    plan_victims(&[&b, &a], related.iter(), 1, NOW)[0].pod.meta.uid.to_string()
}

fn first_of_two(case: &Case) -> Verdict {
    let rank = |key: &str| case.given[key].as_u64().unwrap_or(1) as usize;
    let (a, b) = (case.given_text("a"), case.given_text("b"));
    let cost = |words: &str| match words.starts_with("deletion-cost") {
        true => format!("Running, ready since now, {words}"),
        false => words.to_string(),
    };
    let (a, b) = (cost(&a), cost(&b));
    let run = |uid_a: &str, uid_b: &str| {
        let found = first(&described(uid_a, &a), rank("rank_a"), &described(uid_b, &b), rank("rank_b"));
        if found == uid_a { "a" } else { "b" }
    };
    if case.expected_text("first").starts_with("neither") {
        return all([same("smaller uid", run("1", "2"), "a"), same("smaller uid", run("2", "1"), "b")]);
    }
    all([same("first", run("1", "2"), "a"), same("first", run("2", "1"), "a")])
}

/// A ReplicaSet `web` that selects `type: production`; the template has those labels, too.
fn set(replicas: i64, min_ready_seconds: i64, more_labels: &Value) -> Value {
    let mut labels = json!({"type": "production"});
    labels.as_object_mut().unwrap().extend(more_labels.as_object().unwrap().clone());
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas, "minReadySeconds": min_ready_seconds,
            "selector": {"matchLabels": {"type": "production"}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "nginx"}]},
            },
        },
    })
}

/// A server with that ReplicaSet and Pods of its own. A Pod's words: `ready`, `terminating`, `failed`, `testing` (its
/// labels do not match), `foreign`, `orphan`; and whether it has all labels of the template.
fn stage(replicas: i64, min_ready_seconds: i64, more_labels: &Value, pods: &[(&str, bool)]) -> Scene {
    let mut scene = Scene::server();
    let stored = scene.create(set(replicas, min_ready_seconds, more_labels)).unwrap();
    let uid = text(&stored["metadata"]["uid"]);
    for (index, (words, is_complete)) in pods.iter().enumerate() {
        add_pod(&mut scene, &format!("pod{}", index + 1), words, &uid, more_labels, *is_complete);
    }
    scene
}

fn add_pod(scene: &mut Scene, name: &str, words: &str, uid: &str, more_labels: &Value, is_complete: bool) {
    let has = |word: &str| words.split_whitespace().any(|found| found == word);
    let mut document = plain_pod(name);
    let mut labels = json!({"type": if has("testing") { "testing" } else { "production" }});
    if is_complete {
        labels.as_object_mut().unwrap().extend(more_labels.as_object().unwrap().clone());
    }
    document["metadata"]["labels"] = labels;
    document["spec"]["nodeName"] = json!("node");
    if has("elsewhere") {
        document["metadata"]["namespace"] = json!("default");
    }
    if !has("orphan") {
        let (owner, name) = if has("foreign") { ("11111111-1111", "other") } else { (uid, "web") };
        document["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": owner, "controller": true,
        }]);
    }
    scene.create(document).unwrap();
    let phase = match () {
        () if has("failed") => "Failed",
        () if has("succeeded") => "Succeeded",
        () if has("pending") => "Pending",
        () => "Running",
    };
    let since = scene.cluster.now().to_string();
    let ready = if has("ready") { "True" } else { "False" };
    let status = json!({"status": {
        "phase": phase, "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}],
    }});
    if has("elsewhere") {
        return;
    }
    scene.request_to("status", Verb::MergePatch, Kind::Pod, name, status).unwrap();
    if has("terminating") {
        scene.delete(Kind::Pod, name, |_| {}).unwrap();
    }
}

fn key() -> WorkKey {
    WorkKey::Object(ObjectKey::new(Kind::ReplicaSet, NAMESPACE, "web"))
}

fn sync(scene: &Scene) -> Outcome {
    replicaset::reconcile(&scene.view(), &key())
}

fn creates(outcome: &Outcome) -> usize {
    outcome.writes.iter().filter(|write| matches!(write.operation, Operation::Create(_))).count()
}

fn deletes(outcome: &Outcome) -> usize {
    outcome.writes.iter().filter(|write| matches!(write.operation, Operation::Delete { .. })).count()
}

fn pod_updates(outcome: &Outcome) -> Vec<Object> {
    let updates = outcome.writes.iter().filter_map(|write| match &write.operation {
        Operation::Update(object @ Object::Pod(_)) => Some(object.clone()),
        _ => None,
    });
    updates.collect()
}

/// The status that a sync writes, or that stands already.
fn reported(scene: &Scene, outcome: &Outcome) -> Value {
    let written = outcome.writes.iter().find_map(|write| match &write.operation {
        Operation::UpdateStatus(object) => Some(object.to_value()),
        _ => None,
    });
    written.or_else(|| scene.get(Kind::ReplicaSet, "web")).unwrap()["status"].clone()
}

fn rank_of_a_pod() -> Verdict {
    // Two ReplicaSets of one Deployment: of the newer one's Pods, the one that shares its node with an old Pod goes.
    let mut scene = Scene::server();
    let mut document = set(1, 0, &json!({}));
    let owner = json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "22222222-2222", "controller": true,
    }]);
    document["metadata"]["ownerReferences"] = owner;
    let uid = text(&scene.create(document.clone()).unwrap()["metadata"]["uid"]);
    document["metadata"]["name"] = json!("old");
    let old = text(&scene.create(document).unwrap()["metadata"]["uid"]);
    let mut add = |name: &str, uid: &str, node: &str, phase: &str| {
        let mut document = plain_pod(name);
        document["metadata"]["labels"] = json!({"type": "production"});
        document["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": uid, "controller": true,
        }]);
        document["spec"]["nodeName"] = json!(node);
        scene.create(document).unwrap();
        let conditions = json!([{"type": "Ready", "status": "True"}]);
        let status = json!({"status": {"phase": phase, "conditions": conditions}});
        scene.request_to("status", Verb::MergePatch, Kind::Pod, name, status).unwrap();
    };
    add("alone", &uid, "a", "Running");
    add("shares", &uid, "b", "Running");
    add("relative", &old, "b", "Running");
    add("ended", &old, "a", "Succeeded");
    add("ended-too", &old, "a", "Failed");
    let outcome = sync(&scene);
    let gone: Vec<String> = outcome
        .writes
        .iter()
        .filter_map(|write| match &write.operation {
            Operation::Delete { key, .. } => Some(key.name.to_string()),
            _ => None,
        })
        .collect();
    same("goes", gone, vec!["shares".to_string()])
}

fn counted() -> Verdict {
    all(["failed", "succeeded", "terminating ready"].map(|words| {
        let scene = stage(1, 0, &json!({}), &[(words, true)]);
        let outcome = sync(&scene);
        all([
            same(words, creates(&outcome), 1),
            same("replicas", reported(&scene, &outcome)["replicas"].clone(), json!(0)),
        ])
    }))
}

fn active_sets() -> Verdict {
    // Only the active ones are sized in proportion when the Deployment is.
    let sets = [("zero", 0), ("foo", 1), ("bar", 2)];
    let sizes = crate::deployment_rolling::sizes_after_scaling(&sets, 3, 6);
    let grown: BTreeSet<&str> = sizes
        .iter()
        .filter(|(name, size)| sets.iter().any(|(set, before)| set == name && before != *size))
        .map(|(name, _)| name.as_str())
        .collect();
    same("sized", grown, BTreeSet::from(["bar", "foo"]))
}

fn claimed(case: &Case) -> Verdict {
    let given = &case.given;
    if given.get("controller.namespace").is_some() {
        return not_simulated("no controller that claims Pods is without a namespace");
    }
    let pods: Vec<(String, String)> = ["pod1", "pod2", "pod3"]
        .iter()
        .filter_map(|name| Some((name.to_string(), given[*name].as_str()?.to_string())))
        .collect();
    let words = |about: &str| {
        let mut words: Vec<&str> = Vec::new();
        if about.contains("another controller") {
            words.push("foreign");
        } else if about.contains("orphan") || about.contains("no owner") {
            words.push("orphan");
        }
        if about.contains("testing") || about.contains("not matching") {
            words.push("testing");
        }
        if about.contains("deletionTimestamp") {
            words.push("terminating");
        }
        if about.contains("other namespace") {
            words.push("elsewhere");
        }
        words.join(" ")
    };
    let mut scene = Scene::server();
    let wanted = pods.iter().filter(|(_, about)| !about.contains("deletionTimestamp")).count();
    let mut document = set(wanted as i64, 0, &json!({}));
    let is_terminating = given.get("controller").is_some();
    if is_terminating {
        document["metadata"]["finalizers"] = json!(["example.com/hold"]);
    }
    let uid = text(&scene.create(document).unwrap()["metadata"]["uid"]);
    if is_terminating {
        scene.delete(Kind::ReplicaSet, "web", |_| {}).unwrap();
    }
    for (name, about) in &pods {
        add_pod(&mut scene, name, &words(about), &uid, &json!({}), true);
    }
    let outcome = sync(&scene);
    let updates = pod_updates(&outcome);
    let mut owned: BTreeMap<String, bool> = pods
        .iter()
        .map(|(name, about)| {
            (
                name.clone(),
                words(about).is_empty() || words(about) == "terminating" || words(about) == "testing",
            )
        })
        .collect();
    for pod in &updates {
        owned.insert(pod.meta().name.to_string(), pod.meta().is_controlled_by(&uid.as_str().into()));
    }
    let claimed: Vec<&String> = owned.iter().filter(|(_, is)| **is).map(|(name, _)| name).collect();
    all([
        same("claimed", json!(claimed), case.expect["claimed"].clone()),
        same("patches", json!(updates.len()), case.expect["patches"].clone()),
    ])
}

fn released(case: &Case) -> Verdict {
    let scene = stage(1, 0, &json!({}), &[("testing", true)]);
    let outcome = sync(&scene);
    let pod = pod_updates(&outcome).remove(0);
    // The patch that the row speaks of leaves the same Pod behind.
    let mut patched = scene.clone();
    let body = case
        .expected_text("strategic merge patch")
        .replace("ss2", &pod.meta().uid)
        .replace("ss1", &text(&scene.get(Kind::ReplicaSet, "web").unwrap()["metadata"]["uid"]));
    let body: Value = serde_json::from_str(&body).unwrap();
    let after = patched.request(Verb::StrategicPatch, Kind::Pod, "pod1", body).unwrap();
    same(
        "ownerReferences",
        pod.to_value()["metadata"].get("ownerReferences").cloned(),
        after["metadata"].get("ownerReferences").cloned(),
    )
}

fn status(case: &Case) -> Verdict {
    let extra = json!({"tier": "front"});
    let seconds = case.given["minReadySeconds"].as_i64().unwrap_or(0);
    let pods: &[(&str, bool)] = match case.given_text("pods").as_str() {
        "1 Running ready, all template labels" | "1 ready just now" => &[("ready", true)],
        "1 ready pod" => &[("ready", false)],
        "2 ready pods with all labels" => &[("ready", true), ("ready", true)],
        "2 ready, one with all labels" => &[("ready", true), ("ready", false)],
        _ => &[("pending", true)],
    };
    let scene = stage(pods.len() as i64, seconds, &extra, pods);
    let report = reported(&scene, &sync(&scene));
    all(case.expect.as_object().unwrap().iter().map(|(key, expected)| {
        // What is zero is not written.
        same(key, json!(report[key].as_i64().unwrap_or(0)), expected.clone())
    }))
}

fn refusal() -> Status {
    Status { message: "E".to_string(), ..Status::forbidden(Kind::Pod, "x", "E") }
}

fn failure(case: &Case) -> Verdict {
    let given = &case.given;
    let condition = |report: &Value| report["conditions"].as_array().and_then(|all| all.first()).cloned();
    let number = |key: &str| given[key].as_i64().unwrap_or(1);
    let pods = vec![("ready", true); number("pods") as usize];
    let mut scene = stage(number("replicas"), 0, &json!({}), &pods);
    let is_present = given.get("condition").is_some_and(|condition| !condition.is_null());
    if is_present {
        let failure =
            json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "old"});
        let status = json!({"status": {"replicas": 1, "conditions": [failure]}});
        scene.request_to("status", Verb::MergePatch, Kind::ReplicaSet, "web", status).unwrap();
    }
    if given["error"].is_null() {
        let expected = Value::Null;
        return same("condition", condition(&reported(&scene, &sync(&scene))).unwrap_or_default(), expected);
    }
    let with_more = if number("replicas") == 1 { 2 } else { number("replicas") };
    let mut grown = scene.clone();
    grown
        .request(Verb::MergePatch, Kind::ReplicaSet, "web", json!({"spec": {"replicas": with_more}}))
        .unwrap();
    let outcome = sync(&grown);
    let is_change =
        |operation: &Operation| matches!(operation, Operation::Create(_) | Operation::Delete { .. });
    let write = outcome.writes.iter().find(|write| is_change(&write.operation)).unwrap();
    let more = replicaset::after_refusal(&grown.view(), &key(), write, &refusal());
    let after = Outcome { writes: more, ..Outcome::default() };
    let found = condition(&reported(&grown, &after)).unwrap_or_default();
    if is_present {
        return same("message", found["message"].clone(), json!("old"));
    }
    // The error of a deletion is the server's, in the controller's words.
    let message = text(&found["message"]);
    all([
        same("status", found["status"].clone(), case.expect["ReplicaFailure"].clone()),
        same("reason", found["reason"].clone(), case.expect["reason"].clone()),
        holds(&message, message == "E" || message == "unable to delete pods: E"),
    ])
}

fn available() -> Verdict {
    // A tick is a second: in the tenth after it became Ready those ten seconds have passed.
    let at = |age: i64| {
        let pod = described("1", "Running, ready since now");
        pod.is_available(10, Timestamp(NOW.0 + age))
    };
    let unready = described("1", "Running, not ready");
    all([
        same("9 s", at(9), false),
        same("11 s", at(11), true),
        same("none needed", described("1", "Running, ready since now").is_available(0, NOW), true),
        same("not ready", unready.is_available(0, Timestamp(NOW.0 + 99)), false),
        same("no time of Ready", described("1", "Running, ready").is_available(10, NOW), false),
    ])
}

/// A ReplicaSet of that size under a quota of Pods; how many were created and how many were refused in its first sync.
fn under_quota(replicas: i64, allowed: i64) -> (usize, usize) {
    let mut scene = Scene::controllers();
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": allowed.to_string()}},
    });
    scene.create(quota).unwrap();
    scene.ticks(5);
    scene.create(set(replicas, 0, &json!({}))).unwrap();
    let mut seen = (0, 0);
    for _ in 0..3 {
        scene.ticks(1);
        seen.0 = scene.list(Kind::Pod).len();
        // Of the tries within a tick, the first counts.
        let refused = scene.facts.iter().filter(|fact| matches!(fact.what, What::Refused { .. }));
        let step = refused.clone().map(|fact| fact.step).min();
        seen.1 = refused.filter(|fact| Some(fact.step) == step).count();
        if seen != (0, 0) {
            break;
        }
    }
    seen
}

fn batch_sizes(case: &Case) -> Verdict {
    // The first batch that fails goes on to its end: how many are refused tells how large it was.
    let sizes = [0, 1, 3, 7].map(|allowed| under_quota(20, allowed).1);
    same("sizes", json!(sizes), case.expect["sizes"].clone())
}

fn slow_start(case: &Case) -> Verdict {
    let (created, refused) = under_quota(
        case.given["count"].as_i64().unwrap(),
        case.given["calls that succeed"].as_i64().unwrap(),
    );
    all([
        same("successes", json!(created), case.expect["successes"].clone()),
        same("calls", json!(created + refused), case.expect["calls"].clone()),
        same("error", json!(refused > 0), case.expect["error"].clone()),
    ])
}

fn terminating_namespace() -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(set(1, 0, &json!({}))).unwrap();
    scene.ticks(4);
    // A finalizer keeps the ReplicaSet, and with it the namespace.
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    scene.request(Verb::MergePatch, Kind::ReplicaSet, "web", hold).unwrap();
    let other = with(set(2, 0, &json!({})), |it| it["metadata"]["name"] = json!("other"));
    scene.create(other).unwrap();
    scene.delete(Kind::Namespace, NAMESPACE, |_| {}).unwrap();
    scene.ticks(9);
    let failed = scene.events().iter().filter(|event| event.starts_with("FailedCreate")).count();
    same("refusals told", failed, 0)
}

fn orphan_appears() -> Verdict {
    let adopted = {
        let scene = stage(2, 0, &json!({}), &[("ready", true), ("ready orphan", true)]);
        let outcome = sync(&scene);
        all([same("adopted", pod_updates(&outcome).len(), 1), same("deletes", deletes(&outcome), 0)])
    };
    let mut scene = Scene::controllers();
    scene.create(set(1, 0, &json!({}))).unwrap();
    scene.ticks(5);
    let extra = with(plain_pod("extra"), |it| it["metadata"]["labels"] = json!({"type": "production"}));
    scene.create(extra).unwrap();
    scene.ticks(5);
    all([adopted, same("left", scene.list(Kind::Pod).len(), 1)])
}

fn replaced_at_once(case: &Case) -> Verdict {
    let scene = stage(1, 0, &json!({}), &[("ready terminating", true)]);
    let outcome = sync(&scene);
    let report = reported(&scene, &outcome);
    all([
        same("replacement", creates(&outcome), 1),
        same("counts_as_deleted", json!(report["replicas"] == 0), case.expect["counts_as_deleted"].clone()),
    ])
}

fn sync_of_a_terminating_set(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let document =
        with(set(2, 0, &json!({})), |it| it["metadata"]["finalizers"] = json!(["example.com/hold"]));
    let uid = text(&scene.create(document).unwrap()["metadata"]["uid"]);
    let has_orphan = case.expect.get("patches").is_some();
    add_pod(&mut scene, "pod1", if has_orphan { "orphan" } else { "ready" }, &uid, &json!({}), true);
    scene.delete(Kind::ReplicaSet, "web", |_| {}).unwrap();
    let outcome = sync(&scene);
    let changes = (creates(&outcome), deletes(&outcome), pod_updates(&outcome).len());
    let report = reported(&scene, &outcome);
    all([
        same("creates, deletes, patches", changes, (0, 0, 0)),
        same("status", report["replicas"].clone(), json!(i32::from(!has_orphan))),
        same("observed", report["observedGeneration"].clone(), json!(2)),
    ])
}

fn event(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    let document = with(set(1, 0, &json!({})), |it| it["metadata"]["name"] = json!("web-5d"));
    let error = case.given.get("API error");
    if error.is_some() {
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}},
        });
        scene.create(quota).unwrap();
        scene.ticks(4);
    }
    scene.create(document).unwrap();
    scene.ticks(4);
    let pod = scene.list(Kind::Pod).first().map_or_else(String::new, |pod| text(&pod["metadata"]["name"]));
    if case.expected_text("reason") == "SuccessfulDelete" {
        let size = json!({"spec": {"replicas": 0}});
        scene.request(Verb::MergePatch, Kind::ReplicaSet, "web-5d", size).unwrap();
        scene.ticks(3);
    }
    let events = scene.list(Kind::Event);
    let condition =
        scene.get(Kind::ReplicaSet, "web-5d").unwrap()["status"]["conditions"][0]["message"].clone();
    // Each try has a Pod name of its own: the condition keeps that of the first.
    let is_it = |event: &&Value| {
        event["reason"] == case.expect["reason"]
            && (error.is_none() || text(&event["message"]).ends_with(&text(&condition)))
    };
    let Some(found) = events.iter().find(is_it) else { return holds("no such event", false) };
    let message = match error {
        // The error is the condition's message.
        Some(_) => case.expected_text("message").replace(": E", &format!(": {}", text(&condition))),
        None => case.expected_text("message").replace("web-5d-abcde", &pod),
    };
    all([
        same("type", found["type"].clone(), case.expect["type"].clone()),
        same("message", text(&found["message"]), message),
        same(
            "component",
            text(&found["source"]["component"]),
            case.expect["component"].as_str().unwrap_or("replicaset-controller").to_string(),
        ),
    ])
}

fn built(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let document = with(set(1, 0, &json!({"tier": "front"})), |it| {
        it["metadata"]["name"] = json!("web-5d");
        it["spec"]["template"]["metadata"]["annotations"] = json!({"a": "b"});
        it["spec"]["template"]["metadata"]["finalizers"] = json!(["example.com/f"]);
    });
    scene.create(document).unwrap();
    let key = WorkKey::Object(ObjectKey::new(Kind::ReplicaSet, NAMESPACE, "web-5d"));
    let outcome = replicaset::reconcile(&scene.view(), &key);
    let pod = outcome.writes.iter().find_map(|write| match &write.operation {
        Operation::Create(object) => Some(object.to_value()),
        _ => None,
    });
    let meta = pod.unwrap()["metadata"].clone();
    let owner = &meta["ownerReferences"][0];
    let expected = &case.expect["ownerReferences"][0];
    all([
        same("generateName", meta["generateName"].clone(), case.expect["generateName"].clone()),
        same("labels", meta["labels"].clone(), json!({"type": "production", "tier": "front"})),
        same("annotations", meta["annotations"].clone(), json!({"a": "b"})),
        same("finalizers", meta["finalizers"].clone(), json!(["example.com/f"])),
        all(expected
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| same(key, owner[key].clone(), value.clone()))),
        same("name", owner["name"].clone(), json!("web-5d")),
    ])
}
