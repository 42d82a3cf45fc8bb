//! Node life cycle: heartbeats, taints, eviction by taints, zones, disruption budgets, drain.

use kubestep::api::kind::Kind;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::command::Fault;
use kubestep::cluster::controllers::node_lifecycle::{ZoneState, eviction_seconds, zone_state};
use kubestep::cluster::server::request::Verb;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, deployment, pod, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "controller checks node health" => health(case),
        "grace period exceeded" => silent(case),
        "heartbeat age is computed" => not_simulated("all clocks here are one clock"),
        "check" => checked(case),
        "three checks" => not_simulated(
            "no write of the controller fails here, and a node is either silent or reports Ready",
        ),
        "pods marked" => marked(case),
        "event on node" => node_event(case),
        "NoExecute tainting pass" => no_execute(case),
        "next pass" => next_pass(case),
        "NoSchedule tainting" => no_schedule(case),
        "pod GC" if case.given.get("taint").is_some() => out_of_service(),
        "pod GC" => not_simulated("the threshold is 12500 finished Pods"),
        "first status" => first_status(),
        "pod created" => tolerations(case),
        "pod appears on node" => appears(case),
        "pod updated" | "pod updated while eviction is already queued" => updated(case),
        "node appears under existing pod" => node_appears(case),
        "node updated" | "node updated, wait 1.5 s" => node_updated(case),
        "taints go none -> 1 -> 1+2 -> 1" => taints_change(case),
        "taint matches" => {
            let mut scene = tainted(&["1"]);
            scene.create(on_node("p", &[json!({"key": "1", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0})])).unwrap();
            scene.ticks(3);
            holds("deleted", is_leaving(&scene, "p"))
        }
        "condition written before delete" => {
            let mut scene = tainted(&["1"]);
            scene.create(held("p", &[])).unwrap();
            scene.ticks(4);
            condition(&scene, "p", &case.expect)
        }
        "event on pod" => eviction_event(case),
        "running pods" => {
            let mut scene = calm();
            scene.create(on_node("p", &[])).unwrap();
            scene.ticks(3);
            taint(&mut scene, json!([{"key": "1", "effect": "NoSchedule"}]));
            scene.ticks(4);
            same("evicted", json!(is_leaving(&scene, "p")), case.expect["evicted"].clone())
        }
        "zone state" => {
            let state = zone_state(count(&case.given["ready"]), count(&case.given["not_ready"]));
            same("state", format!("{state:?}"), case.expected_text("state"))
        }
        "eviction (tainting) rate" | "eviction rate in that zone" => {
            let state = match case.given_text("zone").as_str() {
                "Normal" => ZoneState::Normal,
                "PartialDisruption" => ZoneState::PartialDisruption,
                _ => ZoneState::FullDisruption,
            };
            let size = if case.given_text("zone_size").starts_with('>') { 51 } else { 50 };
            let rate = eviction_seconds(state, size).map_or(0.0, |seconds| 1.0 / seconds as f64);
            same("nodes per second", rate, case.expect["nodes_per_second"].as_f64().unwrap())
        }
        "eviction" => all_lost(),
        "default" => defaults(case),
        "object" => lease(case),
        "time line" => time_line(),
        "ReplicaSet" => replaced(Kind::ReplicaSet),
        "StatefulSet" => replaced(Kind::StatefulSet),
        "pod GC (period 20 s, quarantine 40 s)" => collected(case),
        "existing pods" => {
            let mut scene = calm();
            scene.create(on_node("p", &[])).unwrap();
            scene.ticks(4);
            scene.run("kubectl cordon node-1");
            scene.ticks(10);
            holds(
                "keeps running",
                scene.get(Kind::Pod, "p").is_some_and(|pod| pod["status"]["phase"] == "Running"),
            )
        }
        "start" => {
            let mut scene = calm();
            scene.run("kubectl cordon node-1");
            scene.create(on_node("p", &[])).unwrap();
            scene.ticks(8);
            holds("runs", scene.get(Kind::Pod, "p").is_some_and(|pod| pod["status"]["phase"] == "Running"))
        }
        "scheduling" => {
            let mut scene = calm();
            scene.run("kubectl cordon node-1");
            scene.create(daemon_set()).unwrap();
            scene.ticks(10);
            let pods = scene.list(Kind::Pod);
            holds("placed", pods.len() == 1 && pods[0]["spec"]["nodeName"] == "node-1")
        }
        "eviction posted" | "eviction refused" => eviction(case),
        "pod condition" => {
            let mut scene = Scene::server();
            scene.create(with(held("web", &[]), |it| it["spec"]["nodeName"] = json!("n"))).unwrap();
            evict(&mut scene, "web", "web").unwrap();
            condition(&scene, "web", &case.expect)
        }
        "response" => {
            let mut scene = Scene::server();
            scene.create(with(pod("web"), |it| it["spec"]["nodeName"] = json!("n"))).unwrap();
            let answer = evict(&mut scene, "web", "web").unwrap();
            all([
                same("kind", answer["kind"].clone(), case.expect["kind"].clone()),
                same("status", answer["status"].clone(), case.expect["status"].clone()),
                holds("terminating", is_leaving(&scene, "web")),
            ])
        }
        "PDB" => {
            let mut scene = budgeted(&json!({"disruptionsAllowed": 0, "desiredHealthy": 1}), "web");
            scene.create(labelled("web", "web")).unwrap();
            holds("deleted", scene.delete(Kind::Pod, "web", |_| {}).is_ok())
        }
        "PDB status computed" => budget_status(case),
        "currentHealthy" => {
            let mut scene = budget(json!({"minAvailable": 1}));
            for name in ["a", "b"] {
                scene.create(with(labelled(name, "web"), |it| it["spec"]["nodeName"] = json!("n"))).unwrap();
                make_ready(&mut scene, name);
            }
            scene.delete(Kind::Pod, "a", |_| {}).unwrap();
            scene.ticks(4);
            same("currentHealthy", budget_of(&scene)["currentHealthy"].clone(), json!(1))
        }
        "event" => {
            let mut scene = budget(json!({"minAvailable": 0}));
            scene.create(with(labelled("a", "web"), |it| it["spec"]["nodeName"] = json!("n"))).unwrap();
            make_ready(&mut scene, "a");
            scene.ticks(4);
            // An eviction that was granted, and then never came to the deletion.
            let status =
                json!({"status": {"disruptedPods": {"a": kubestep::cluster::machine::EPOCH.to_string()}}});
            scene.request_to("status", Verb::MergePatch, Kind::PodDisruptionBudget, "pdb", status).unwrap();
            scene.create(labelled("b", "web")).unwrap();
            scene.ticks(4);
            let is_counted = budget_of(&scene)["currentHealthy"] != json!(0);
            scene.ticks(130);
            let told = scene.list(Kind::Event).into_iter().find(|event| event["reason"] == "NotDeleted");
            let told = told.unwrap_or_default();
            all([
                holds("counted while it is expected to go", !is_counted),
                same("type", told["type"].clone(), case.expect["type"].clone()),
                same("reason", told["reason"].clone(), case.expect["reason"].clone()),
                same("currentHealthy", budget_of(&scene)["currentHealthy"].clone(), json!(1)),
            ])
        }
        "condition DisruptionAllowed" => allowed_condition(case),
        "validation" => {
            let document = with(budget_document(json!({"minAvailable": 1})), |it| {
                it["spec"]["maxUnavailable"] = json!(1)
            });
            same("valid", json!(Scene::server().create(document).is_ok()), case.expect["valid"].clone())
        }
        "policy/v1 selection" => {
            let of = |selector: Value| {
                let mut scene = Scene::controllers();
                scene
                    .create(with(budget_document(json!({"minAvailable": 1})), |it| match selector {
                        Value::Null => {
                            it["spec"].as_object_mut().unwrap().remove("selector");
                        }
                        selector => it["spec"]["selector"] = selector,
                    }))
                    .unwrap();
                scene.create(labelled("a", "x")).unwrap();
                scene.create(labelled("b", "y")).unwrap();
                scene.ticks(4);
                budget_of(&scene)["expectedPods"].as_i64().unwrap_or(0)
            };
            same("empty and absent", [of(json!({})), of(Value::Null)], [2, 0])
        }
        "kubectl drain node" => drain(case),
        "kubectl cordon node" | "kubectl uncordon node" => cordon(case),
        "kubectl cordon" => {
            let mut scene = Scene::nodes(2);
            let output = scene.run("kubectl cordon node-1 node-2").stdout;
            same("lines", output, "node/node-1 cordoned\nnode/node-2 cordoned\n".to_string())
        }
        "kubectl drain n1, line order" => {
            let mut scene = calm();
            halt(&mut scene, Actor::GarbageCollector);
            scene.create(with(owned("web"), |it| it["spec"]["nodeName"] = json!("node-1"))).unwrap();
            scene.ticks(4);
            let output = scene.run("kubectl drain node-1");
            let wanted: Vec<String> =
                list(&case.expect["lines"]).iter().map(|line| adapt(&text(line))).collect();
            same("lines", output.stdout.lines().map(str::to_string).collect::<Vec<_>>(), wanted)
        }
        "kubectl drain" => drain_retries(case),
        "kubectl drain waits for deletion" => {
            not_simulated("a Pod of the same name cannot come back within the tick in which the old one goes")
        }
        "node state" => {
            let mut scene = calm();
            scene.create(on_node("p", &[])).unwrap();
            scene.ticks(3);
            scene.run("kubectl drain node-1");
            same(
                "unschedulable",
                scene.get(Kind::Node, "node-1").unwrap()["spec"]["unschedulable"].clone(),
                json!(true),
            )
        }
        _ => Verdict::NotTried,
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn count(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

/// The row's names of a node and a namespace as they are here.
fn adapt(line: &str) -> String {
    line.replace("node/node", "node/node-1")
        .replace("node/n1", "node/node-1")
        .replace("default/", &format!("{NAMESPACE}/"))
        .replace("NS/POD", &format!("{NAMESPACE}/web"))
        .replace("NAME", "node-1")
}

/// One node, whose kubelet works.
fn calm() -> Scene {
    Scene::nodes(1)
}

fn taint(scene: &mut Scene, taints: Value) {
    scene.request(Verb::MergePatch, Kind::Node, "node-1", json!({"spec": {"taints": taints}})).unwrap();
}

fn taints_of(words: &[&str]) -> Value {
    json!(words.iter().map(|key| json!({"key": key, "effect": "NoExecute"})).collect::<Vec<_>>())
}

/// One node that drives Pods away.
fn tainted(words: &[&str]) -> Scene {
    let mut scene = calm();
    taint(&mut scene, taints_of(words));
    scene.ticks(2);
    scene
}

/// `1 for 100 s`, `1 forever`, `1`: tolerations of the row.
fn toleration(word: &str) -> Value {
    let (key, rest) = word.split_once(' ').unwrap_or((word, "forever"));
    let mut toleration = json!({"key": key, "operator": "Exists", "effect": "NoExecute"});
    if let Some(seconds) = rest.strip_prefix("for ").and_then(|rest| rest.strip_suffix(" s")) {
        toleration["tolerationSeconds"] = json!(seconds.parse::<i64>().unwrap());
    }
    toleration
}

fn tolerations_of(value: &Value) -> Vec<Value> {
    list(value).iter().map(|word| toleration(&text(word))).collect()
}

/// A Pod bound to the node, that nothing but a finalizer keeps.
fn on_node(name: &str, tolerations: &[Value]) -> Value {
    with(pod(name), |it| {
        it["spec"]["nodeName"] = json!("node-1");
        it["spec"]["tolerations"] = json!(tolerations);
    })
}

/// The same with a finalizer, so that it can still be looked at when it is to go.
fn held(name: &str, tolerations: &[Value]) -> Value {
    with(on_node(name, tolerations), |it| it["metadata"]["finalizers"] = json!(["example.com/hold"]))
}

fn is_leaving(scene: &Scene, name: &str) -> bool {
    scene.get(Kind::Pod, name).is_none_or(|pod| pod["metadata"].get("deletionTimestamp").is_some())
}

fn condition(scene: &Scene, name: &str, expected: &Value) -> Verdict {
    let pod = scene.get(Kind::Pod, name).unwrap();
    let found = list(&pod["status"]["conditions"])
        .into_iter()
        .find(|condition| condition["type"] == expected["type"]);
    let found = found.unwrap_or_default();
    all(["status", "reason", "message"].map(|key| same(key, found[key].clone(), expected[key].clone())))
}

fn stop(scene: &mut Scene, node: &str) {
    scene.cluster.cause(&Fault::Stop(Actor::Kubelet(node.into())), &mut Vec::new());
}

fn halt(scene: &mut Scene, actor: Actor) {
    scene.cluster.cause(&Fault::Stop(actor), &mut Vec::new());
}

fn start(scene: &mut Scene, node: &str) {
    scene.cluster.cause(&Fault::Start(Actor::Kubelet(node.into())), &mut Vec::new());
}

fn node_condition(scene: &Scene, node: &str, kind: &str) -> Value {
    let node = scene.get(Kind::Node, node).unwrap();
    list(&node["status"]["conditions"])
        .into_iter()
        .find(|condition| condition["type"] == kind)
        .unwrap_or_default()
}

fn node_taints(scene: &Scene, node: &str) -> Vec<String> {
    let node = scene.get(Kind::Node, node).unwrap();
    list(&node["spec"]["taints"])
        .iter()
        .map(|taint| format!("{}:{}", text(&taint["key"]), text(&taint["effect"])))
        .collect()
}

/// A node that no kubelet reports, beside one that works.
fn with_bare_node(lease: bool) -> Scene {
    let mut scene = calm();
    stop(&mut scene, "bare");
    scene.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bare"}})).unwrap();
    if lease {
        renew(&mut scene, true);
    }
    scene
}

fn renew(scene: &mut Scene, first: bool) {
    let time = format!("{}", scene.cluster.now()).replace('Z', ".000000Z");
    let document = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "bare", "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": "bare", "leaseDurationSeconds": 40, "renewTime": time},
    });
    if first {
        scene.create(document).unwrap();
    } else {
        let request = kubestep::cluster::server::request::Request::new(
            Verb::MergePatch,
            Kind::Lease,
            "kube-node-lease",
            "bare",
            json!({"spec": {"renewTime": time}}),
        );
        kubestep::kubectl::host::Host::ask(scene, request).unwrap();
    }
}

fn health(case: &Case) -> Verdict {
    let is_young = ["now", "just now"].contains(&case.given_text("node_created").as_str());
    let is_renewed = case.given.get("lease_renewTime").is_some();
    if case.given.get("node_created").is_none() {
        let mut scene = calm();
        scene.ticks(90);
        return same("Ready", node_condition(&scene, "node-1", "Ready")["status"].clone(), json!("True"));
    }
    let mut scene = with_bare_node(is_renewed);
    for _ in 0..if is_young { 5 } else { 16 } {
        scene.ticks(5);
        if is_renewed {
            renew(&mut scene, false);
        }
    }
    let expected = case.expect.as_object().unwrap();
    if expected.contains_key("action") {
        return same("Ready", node_condition(&scene, "bare", "Ready"), Value::Null);
    }
    let created = scene.get(Kind::Node, "bare").unwrap()["metadata"]["creationTimestamp"].clone();
    let conditions = expected.iter().filter(|(_, value)| value.is_object()).map(|(kind, value)| {
        let found = node_condition(&scene, "bare", kind);
        let mut verdicts: Vec<Verdict> = ["status", "reason", "message"]
            .iter()
            .map(|key| same(key, found[*key].clone(), value[*key].clone()))
            .collect();
        if expected.contains_key("lastHeartbeatTime") {
            verdicts.push(same("heartbeat", found["lastHeartbeatTime"].clone(), created.clone()));
        }
        all(verdicts)
    });
    all(conditions)
}

fn silent(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(2);
    scene.create(on_node("p", &[])).unwrap();
    scene.ticks(5);
    let before = node_condition(&scene, "node-1", "Ready")["lastHeartbeatTime"].clone();
    stop(&mut scene, "node-1");
    scene.ticks(62);
    let found = node_condition(&scene, "node-1", "Ready");
    let expected = &case.expect["Ready"];
    let pod = scene.get(Kind::Pod, "p").unwrap();
    let ready = list(&pod["status"]["conditions"]).into_iter().find(|c| c["type"] == "Ready").unwrap();
    all([
        all(["status", "reason", "message"].map(|key| same(key, found[key].clone(), expected[key].clone()))),
        same("heartbeat", found["lastHeartbeatTime"].clone(), before),
        same("Pod", ready["status"].clone(), json!("False")),
    ])
}

/// How often the condition Ready of the Pod on the node was changed.
fn changes(ticks: u64, is_stopped: bool) -> (usize, String) {
    let mut scene = Scene::nodes(2);
    scene.create(on_node("p", &[])).unwrap();
    scene.ticks(6);
    if is_stopped {
        stop(&mut scene, "node-1");
    }
    let ready = |scene: &Scene| {
        let pod = scene.get(Kind::Pod, "p").unwrap();
        list(&pod["status"]["conditions"])
            .into_iter()
            .find(|c| c["type"] == "Ready")
            .map_or(String::new(), |c| text(&c["status"]))
    };
    let (mut last, mut changes) = (ready(&scene), 0);
    for _ in 0..ticks {
        scene.ticks(1);
        let now = ready(&scene);
        changes += usize::from(now != last);
        last = now;
    }
    (changes, last)
}

fn checked(case: &Case) -> Verdict {
    let (changed, last) = changes(75, case.given_text("node").contains("silent"));
    let expected = count(&case.expect["pod_status_updates"]);
    all([
        same("updates", changed, expected),
        same("Ready", last, if expected > 0 { "False" } else { "True" }.to_string()),
    ])
}

fn marked(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(2);
    let fails = json!({"exec": {"command": ["sim-fail"]}});
    scene.create(on_node("ready", &[])).unwrap();
    scene
        .create(with(on_node("unready", &[]), |it| it["spec"]["containers"][0]["readinessProbe"] = fails))
        .unwrap();
    scene.ticks(8);
    stop(&mut scene, "node-1");
    scene.ticks(62);
    let expected = &case.expect["event_on_pod"];
    let events = scene.list(Kind::Event);
    let told: Vec<String> = events
        .iter()
        .filter(|event| {
            event["reason"] == expected["reason"]
                && event["message"] == expected["message"]
                && event["type"] == expected["type"]
        })
        .map(|event| text(&event["involvedObject"]["name"]))
        .collect();
    let pod = scene.get(Kind::Pod, "ready").unwrap();
    all([
        same("told", told, vec!["ready".to_string()]),
        same("phase", pod["status"]["phase"].clone(), json!("Running")),
        holds("container", pod["status"]["containerStatuses"][0]["state"].get("running").is_some()),
    ])
}

fn node_event(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(2);
    if case.expected_text("reason") == "NodeNotReady" {
        stop(&mut scene, "node-1");
        scene.ticks(65);
    }
    let message = adapt(&case.expected_text("message"));
    let events: Vec<Value> =
        scene.cluster.store.objects_of(Kind::Event).map(|event| event.to_value()).collect();
    let is_it = |event: &Value| {
        event["reason"] == case.expect["reason"]
            && event["type"] == case.expect["type"]
            && text(&event["message"]) == message
    };
    holds(&message, events.iter().any(is_it))
}

/// Nodes without kubelets, whose status a test writes itself.
fn by_hand(nodes: &[(&str, &str)]) -> Scene {
    let mut scene = Scene::controllers();
    for (name, _) in nodes {
        scene.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})).unwrap();
    }
    for (name, ready) in nodes {
        report(&mut scene, name, "Ready", ready);
    }
    scene.ticks(3);
    scene
}

fn report(scene: &mut Scene, node: &str, kind: &str, status: &str) {
    let mut conditions = list(&scene.get(Kind::Node, node).unwrap()["status"]["conditions"]);
    conditions.retain(|condition| condition["type"] != kind);
    conditions.push(json!({"type": kind, "status": status}));
    scene
        .request_to(
            "status",
            Verb::MergePatch,
            Kind::Node,
            node,
            json!({"status": {"conditions": conditions}}),
        )
        .unwrap();
}

fn driving(scene: &Scene, node: &str) -> String {
    let taints = node_taints(scene, node);
    taints.into_iter().find(|taint| taint.ends_with(":NoExecute")).unwrap_or_else(|| "none".to_string())
}

fn no_execute(case: &Case) -> Verdict {
    let given = case.given.as_object().unwrap();
    let nodes: Vec<(&str, String)> =
        given.iter().map(|(name, word)| (name.as_str(), text(word).replace("Ready ", ""))).collect();
    let mut scene = by_hand(&nodes.iter().map(|(name, ready)| (*name, ready.as_str())).collect::<Vec<_>>());
    // One node in ten seconds.
    scene.ticks(25);
    all(nodes.iter().map(|(name, _)| same(name, driving(&scene, name), case.expected_text(name))))
}

fn next_pass(case: &Case) -> Verdict {
    let words: Vec<String> = case
        .given
        .as_object()
        .unwrap()
        .values()
        .next()
        .map(text)
        .unwrap_or_default()
        .replace("Ready ", "")
        .split(" then ")
        .map(str::to_string)
        .collect();
    let mut scene = by_hand(&[("a", "True"), ("b", &words[0])]);
    scene.ticks(3);
    let before = driving(&scene, "b");
    report(&mut scene, "b", "Ready", &words[1]);
    scene.ticks(15);
    let after = driving(&scene, "b");
    if words[1] == "True" {
        return same(
            "taint",
            (before.as_str(), after.as_str()),
            ("node.kubernetes.io/not-ready:NoExecute", "none"),
        );
    }
    let named = |key: &str| format!("node.kubernetes.io/{}:NoExecute", case.expected_text(key));
    same("taint", (before, after), (named("removed"), named("added")))
}

fn no_schedule(case: &Case) -> Verdict {
    let expected = case.expected_text("taint");
    let mut scene = by_hand(&[("a", "True"), ("b", "True")]);
    if case.given.get("spec.unschedulable").is_some() {
        let cordon = |scene: &mut Scene, value: bool| {
            scene
                .request(Verb::MergePatch, Kind::Node, "b", json!({"spec": {"unschedulable": value}}))
                .unwrap();
            scene.ticks(3);
            node_taints(scene, "b").contains(&expected)
        };
        return same(
            "cordoned, uncordoned",
            (cordon(&mut scene, true), cordon(&mut scene, false)),
            (true, false),
        );
    }
    report(&mut scene, "b", &case.given_text("condition"), &case.given_text("status"));
    scene.ticks(3);
    let taints = node_taints(&scene, "b");
    holds(&taints.join(", "), taints.contains(&expected))
}

fn out_of_service() -> Verdict {
    let mut scene = Scene::nodes(2);
    scene.create(on_node("p", &[])).unwrap();
    scene.ticks(5);
    stop(&mut scene, "node-1");
    scene.ticks(65);
    let mut taints = list(&scene.get(Kind::Node, "node-1").unwrap()["spec"]["taints"]);
    taints.push(
        json!({"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}),
    );
    taint(&mut scene, json!(taints));
    scene.ticks(30);
    holds("gone", scene.get(Kind::Pod, "p").is_none())
}

fn first_status() -> Verdict {
    let mut scene = calm();
    stop(&mut scene, "bare");
    let document = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bare"}});
    let stored = scene.create(document).unwrap();
    let taints: Vec<String> = list(&stored["spec"]["taints"])
        .iter()
        .map(|taint| format!("{}:{}", text(&taint["key"]), text(&taint["effect"])))
        .collect();
    let has = taints.contains(&"node.kubernetes.io/not-ready:NoSchedule".to_string());
    report(&mut scene, "bare", "Ready", "True");
    scene.ticks(4);
    same("tainted until ready", (has, node_taints(&scene, "bare").is_empty()), (true, true))
}

/// `not-ready 300 s`, `not-ready:NoExecute 700 s`, `foo=bar:NoSchedule`, `unreachable Exists, effect empty, 700 s`.
fn user_toleration(word: &str) -> Value {
    let seconds = word.split_whitespace().rev().nth(1).and_then(|number| number.parse::<i64>().ok());
    let mut toleration = json!({});
    if let Some((key, rest)) = word.split_once('=') {
        let (value, effect) = rest.split_once(':').unwrap();
        return json!({"key": key, "value": value, "effect": effect, "operator": "Equal"});
    }
    let key = word.split([' ', ':', ',']).next().unwrap();
    toleration["operator"] = json!("Exists");
    if key != "operator" {
        toleration["key"] = json!(format!("node.kubernetes.io/{key}"));
        if !word.contains("effect empty") {
            toleration["effect"] = json!("NoExecute");
        }
    } else {
        toleration["effect"] = json!("NoExecute");
    }
    if let Some(seconds) = seconds {
        toleration["effect"] = json!("NoExecute");
        toleration["tolerationSeconds"] = json!(seconds);
        if word.contains("effect empty") {
            toleration.as_object_mut().unwrap().remove("effect");
        }
    }
    toleration
}

fn tolerations(case: &Case) -> Verdict {
    if case.given_text("pod").contains("DaemonSet") {
        let mut scene = calm();
        scene.create(daemon_set()).unwrap();
        scene.ticks(4);
        let pod = scene.list(Kind::Pod).remove(0);
        let found: Vec<String> = list(&pod["spec"]["tolerations"])
            .iter()
            .map(|t| {
                format!(
                    "{}:{}{}",
                    text(&t["key"]).replace("node.kubernetes.io/", ""),
                    text(&t["effect"]),
                    if t.get("tolerationSeconds").is_some() { " with seconds" } else { "" }
                )
            })
            .collect();
        let wanted =
            list(&case.expect["tolerations_without_seconds"]).into_iter().chain(list(&case.expect["also"]));
        let wanted = wanted.map(|word| text(&word)).filter(|word| !word.contains("only when"));
        return all(wanted.map(|word| holds(&format!("{word} among {found:?}"), found.contains(&word))));
    }
    let given: Vec<Value> =
        list(&case.given["tolerations"]).iter().map(|word| user_toleration(&text(word))).collect();
    if given
        .iter()
        .any(|toleration| toleration.get("effect").is_none() && toleration.get("tolerationSeconds").is_some())
    {
        return not_simulated("validation takes tolerationSeconds only with the effect NoExecute");
    }
    let stored =
        Scene::server().create(with(pod("p"), |it| it["spec"]["tolerations"] = json!(given))).unwrap();
    let stored = list(&stored["spec"]["tolerations"]);
    let added: Vec<String> = stored[given.len()..]
        .iter()
        .map(|t| {
            format!("{} {} s", text(&t["key"]).replace("node.kubernetes.io/", ""), t["tolerationSeconds"])
        })
        .collect();
    let expected: Vec<String> = match case.expect.get("added") {
        Some(added) => list(added).iter().map(text).collect(),
        None => return same("tolerations", json!(stored), case.expect["tolerations"].clone()),
    };
    same("added", added, expected)
}

fn appears(case: &Case) -> Verdict {
    let mut scene = tainted(&["1"]);
    scene.create(held("p", &tolerations_of(&case.given["pod_tolerations"]))).unwrap();
    scene.ticks(4);
    let now = is_leaving(&scene, "p");
    scene.ticks(100);
    let later = is_leaving(&scene, "p");
    let expected = match case.expected_text("deleted").as_str() {
        "immediately" => (true, true),
        "" => (false, true),
        _ => (false, false),
    };
    same("deleted now and after 100 s", (now, later), expected)
}

fn updated(case: &Case) -> Verdict {
    let words = |text: String| -> Vec<Value> {
        let seconds =
            text.split("tolerates ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<i64>().ok());
        seconds.map(|seconds| toleration(&format!("1 for {seconds} s"))).into_iter().collect()
    };
    let (old, new) = (case.given_text("old"), case.given_text("new"));
    let mut scene = tainted(&["1"]);
    if old == "unassigned" {
        let document = with(held("p", &[]), |it| {
            it["spec"].as_object_mut().unwrap().remove("nodeName");
            it["spec"]["schedulerName"] = json!("mine");
        });
        scene.create(document).unwrap();
        scene.ticks(2);
        let before = is_leaving(&scene, "p");
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "node-1"}});
        scene.request_to("binding", Verb::Create, Kind::Pod, "p", binding).unwrap();
        scene.ticks(3);
        return same("before and after", (before, is_leaving(&scene, "p")), (false, true));
    }
    if words(new.clone()).is_empty() {
        return not_simulated("tolerations can only be added to a Pod");
    }
    scene.create(held("p", &words(old))).unwrap();
    scene.ticks(1);
    let tolerations = list(&scene.get(Kind::Pod, "p").unwrap()["spec"]["tolerations"]);
    let lengthened: Vec<Value> = tolerations
        .into_iter()
        .map(|it| if it["key"] == "1" { words(new.clone()).remove(0) } else { it })
        .collect();
    if scene.request(Verb::MergePatch, Kind::Pod, "p", json!({"spec": {"tolerations": lengthened}})).is_err()
    {
        return not_simulated("a toleration of a Pod cannot be changed, only added");
    }
    scene.ticks(5);
    holds("deleted after the original second", is_leaving(&scene, "p"))
}

fn node_appears(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(with(held("p", &[]), |it| it["spec"]["nodeName"] = json!("late"))).unwrap();
    scene.ticks(2);
    let taints = taints_of(if list(&case.given["node_taints"]).is_empty() { &[] } else { &["1"] });
    scene.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}, "spec": {"taints": taints}})).unwrap();
    scene.ticks(4);
    same("deleted", json!(is_leaving(&scene, "p")), case.expect["deleted"].clone())
}

fn node_updated(case: &Case) -> Verdict {
    let given = &case.given;
    let names = |key: &str| given[key].as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
    let (before, after) = (names("taints_before"), names("taints_after"));
    let mut scene = calm();
    let as_words = |words: &[String]| taints_of(&words.iter().map(String::as_str).collect::<Vec<_>>());
    taint(&mut scene, as_words(&before));
    scene.ticks(2);
    let pods: Vec<(String, Vec<Value>)> = match given["pods"].as_object() {
        Some(pods) => pods
            .iter()
            .map(|(name, word)| {
                let word = text(word);
                let tolerations = match word.as_str() {
                    "none" => Vec::new(),
                    "forever" => vec![toleration("1 forever")],
                    word if word.starts_with('1') && (word.contains("for") || word.contains("forever")) => {
                        vec![toleration(word)]
                    }
                    word => vec![toleration(&format!("1 for {word}"))],
                };
                (name.clone(), tolerations)
            })
            .collect(),
        None => vec![("p".to_string(), tolerations_of(&given["pod_tolerations"]))],
    };
    for (name, tolerations) in &pods {
        scene.create(held(name, tolerations)).unwrap();
    }
    scene.ticks(if before.is_empty() { 3 } else { 1 });
    taint(&mut scene, as_words(&after));
    let mut left: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for tick in 1..=12 {
        scene.ticks(1);
        for (name, _) in &pods {
            if is_leaving(&scene, name) {
                left.entry(name.clone()).or_insert(tick);
            }
        }
    }
    // A taint is seen in the tick after it was set, and acted upon.
    let begun = left.values().min().copied().unwrap_or(0);
    if let Some(expected) = case.expect["deleted_at_s"].as_object() {
        let kept = list(&case.expect["kept"]);
        let times = expected
            .iter()
            .map(|(name, second)| same(name, left.get(name).map(|tick| tick - begun), second.as_u64()));
        return all(times.chain(kept.iter().map(|name| same("kept", left.contains_key(&text(name)), false))));
    }
    if case.expect.get("deleted_after").is_some() {
        return holds(&format!("{left:?}"), left.get("p").is_some_and(|tick| (2..=4).contains(tick)));
    }
    let is_deleted = left.contains_key("p");
    let wanted = !matches!(case.expected_text("deleted").as_str(), "false");
    all([same("deleted", is_deleted, wanted), holds("at once", !wanted || left["p"] <= 2)])
}

fn taints_change(case: &Case) -> Verdict {
    let mut scene = calm();
    scene.create(held("p", &tolerations_of(&case.given["pod_tolerations"]))).unwrap();
    scene.ticks(3);
    let queued = |scene: &Scene| {
        let Some(component) = scene.cluster.component(&Actor::TaintEviction) else { return false };
        format!("{:?}", component.memory).contains("name: \"p\"")
    };
    let mut found = vec![json!(queued(&scene))];
    for words in [&["1"][..], &["1", "2"], &["1"]] {
        taint(&mut scene, taints_of(words));
        scene.ticks(3);
        found.push(json!(queued(&scene)));
    }
    same("queued", json!(found), case.expect["eviction_queued"].clone())
}

fn eviction_event(case: &Case) -> Verdict {
    let is_cancelled = case.given.get("taint").is_some();
    let mut scene = tainted(&["1"]);
    let tolerations = if is_cancelled { vec![toleration("1 for 60 s")] } else { Vec::new() };
    scene.create(held("web", &tolerations)).unwrap();
    scene.ticks(4);
    if is_cancelled {
        taint(&mut scene, json!([]));
        scene.ticks(4);
    }
    let message = adapt(&case.expected_text("message"));
    let events = scene.list(Kind::Event);
    let is_it = |event: &Value| {
        event["reason"] == case.expect["reason"]
            && event["type"] == case.expect["type"]
            && text(&event["message"]) == message
    };
    holds(&message, events.iter().any(is_it))
}

fn all_lost() -> Verdict {
    let mut scene = by_hand(&[("a", "True"), ("b", "Unknown")]);
    scene.ticks(3);
    let before = driving(&scene, "b");
    report(&mut scene, "a", "Ready", "Unknown");
    scene.ticks(25);
    let found = (before, driving(&scene, "a"), driving(&scene, "b"));
    let taint = "node.kubernetes.io/unreachable:NoExecute".to_string();
    same("taints", found, (taint, "none".to_string(), "none".to_string()))
}

fn defaults(case: &Case) -> Verdict {
    let value = case.expected_text("value");
    let lost_after = || {
        let mut scene = Scene::nodes(2);
        let at = scene.cluster.now().0;
        stop(&mut scene, "node-1");
        while node_condition(&scene, "node-1", "Ready")["status"] == "True"
            && scene.cluster.now().0 < at + 100
        {
            scene.ticks(1);
        }
        let node = scene.get(Kind::Node, "node-1").unwrap();
        let _ = node;
        scene.cluster.now().0 - at
    };
    match case.given_text("setting").as_str() {
        // The last sign of life is up to ten seconds old, and the controller looks every five.
        "--node-monitor-grace-period" => {
            holds(&format!("{} s", lost_after()), (40..=56).contains(&lost_after()))
        }
        "--node-eviction-rate" => same("rate", eviction_seconds(ZoneState::Normal, 3), Some(10)),
        "--secondary-node-eviction-rate" => {
            same("rate", eviction_seconds(ZoneState::PartialDisruption, 51), Some(100))
        }
        "--unhealthy-zone-threshold" => {
            let found = (zone_state(45, 55), zone_state(46, 54));
            same("threshold", found, (ZoneState::PartialDisruption, ZoneState::Normal))
        }
        "--large-cluster-size-threshold" => {
            let found = (
                eviction_seconds(ZoneState::PartialDisruption, 50),
                eviction_seconds(ZoneState::PartialDisruption, 51),
            );
            same("threshold", found, (None, Some(100)))
        }
        "--node-startup-grace-period" => {
            let mut scene = with_bare_node(false);
            scene.ticks(56);
            let before = node_condition(&scene, "bare", "Ready");
            scene.ticks(12);
            same(
                "before and behind 60 s",
                (before, node_condition(&scene, "bare", "Ready")["status"].clone()),
                (Value::Null, json!("Unknown")),
            )
        }
        "kubelet nodeLeaseDurationSeconds" => {
            let mut scene = calm();
            scene.ticks(30);
            let mut times = std::collections::BTreeSet::new();
            for _ in 0..30 {
                scene.ticks(1);
                times.insert(text(&lease_of(&scene)["spec"]["renewTime"]));
            }
            all([
                same("seconds", lease_of(&scene)["spec"]["leaseDurationSeconds"].clone(), json!(40)),
                holds(&format!("{times:?}"), (3..=4).contains(&times.len())),
            ])
        }
        "kubelet nodeStatusReportFrequency" => {
            let mut scene = calm();
            let mut times = std::collections::BTreeSet::new();
            for _ in 0..620 {
                scene.ticks(1);
                times.insert(text(&node_condition(&scene, "node-1", "Ready")["lastHeartbeatTime"]));
            }
            holds(&format!("{times:?}"), times.len() == 3)
        }
        _ => not_simulated(&format!("a pace that nothing outside the component shows: {value}")),
    }
}

fn lease_of(scene: &Scene) -> Value {
    let key = kubestep::api::meta::ObjectKey::new(Kind::Lease, "kube-node-lease", "node-1");
    scene.cluster.store.object(&key).map(|lease| lease.to_value()).unwrap_or_default()
}

fn lease(case: &Case) -> Verdict {
    let mut scene = calm();
    scene.ticks(12);
    let lease = lease_of(&scene);
    let owner = &lease["metadata"]["ownerReferences"][0];
    all([
        same("holder", lease["spec"]["holderIdentity"].clone(), json!("node-1")),
        same(
            "duration",
            lease["spec"]["leaseDurationSeconds"].clone(),
            case.expect["spec.leaseDurationSeconds"].clone(),
        ),
        same("owner", (owner["kind"].clone(), owner["name"].clone()), (json!("Node"), json!("node-1"))),
    ])
}

fn time_line() -> Verdict {
    let mut scene = Scene::nodes(2);
    scene
        .create(with(deployment("web", 2), |it| {
            it["spec"]["template"]["spec"]["topologySpreadConstraints"] = json!([{
                "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }]);
        }))
        .unwrap();
    scene.ticks(20);
    let on_first =
        |scene: &Scene| scene.list(Kind::Pod).into_iter().find(|pod| pod["spec"]["nodeName"] == "node-1");
    let name = text(&on_first(&scene).unwrap()["metadata"]["name"]);
    stop(&mut scene, "node-1");
    scene.ticks(60);
    let lost = node_condition(&scene, "node-1", "Ready")["status"] == "Unknown" && !is_leaving(&scene, &name);
    scene.ticks(280);
    let waits = !is_leaving(&scene, &name);
    scene.ticks(30);
    let leaves = scene.get(Kind::Pod, &name).is_some() && is_leaving(&scene, &name);
    let replaced = scene.list(Kind::Pod).len() == 3;
    scene.ticks(200);
    let stays = scene.get(Kind::Pod, &name).is_some();
    start(&mut scene, "node-1");
    scene.ticks(20);
    let gone = scene.get(Kind::Pod, &name).is_none();
    same("time line", [lost, waits, leaves, replaced, stays, gone], [true; 6])
}

fn replaced(kind: Kind) -> Verdict {
    let mut scene = Scene::nodes(2);
    let mut document = deployment("web", 1);
    document["kind"] = json!(kind.name());
    if kind == Kind::StatefulSet {
        document["spec"]["serviceName"] = json!("web");
    }
    document["spec"]["template"]["spec"]["tolerations"] = json!([{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}]);
    scene.create(document).unwrap();
    scene.ticks(10);
    let pod = scene.list(Kind::Pod).remove(0);
    let (name, node) = (text(&pod["metadata"]["name"]), text(&pod["spec"]["nodeName"]));
    stop(&mut scene, &node);
    scene.ticks(85);
    let pods = scene.list(Kind::Pod).len();
    let expected = if kind == Kind::StatefulSet { 1 } else { 2 };
    same("leaving, Pods", (is_leaving(&scene, &name), pods), (true, expected))
}

fn collected(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(2);
    scene.create(held("p", &[])).unwrap();
    scene.ticks(5);
    stop(&mut scene, "node-1");
    scene.delete(Kind::Node, "node-1", |_| {}).unwrap();
    scene.ticks(30);
    let early = is_leaving(&scene, "p");
    scene.ticks(40);
    let phase = scene.get(Kind::Pod, "p").unwrap()["status"]["phase"].clone();
    all([
        same("early, late", (early, is_leaving(&scene, "p")), (false, true)),
        same("phase", phase, json!("Failed")),
        condition(&scene, "p", &with(case.expect["condition"].clone(), |it| it["status"] = json!("True"))),
    ])
}

fn daemon_set() -> Value {
    with(deployment("agent", 1), |it| {
        it["kind"] = json!("DaemonSet");
        it["spec"].as_object_mut().unwrap().remove("replicas");
    })
}

fn labelled(name: &str, app: &str) -> Value {
    with(pod(name), |it| it["metadata"]["labels"] = json!({"app": app}))
}

/// A Pod that a ReplicaSet of that name would manage.
fn owned(name: &str) -> Value {
    with(pod(name), |it| {
        it["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u", "controller": true}]);
    })
}

fn budget_document(spec: Value) -> Value {
    let spec = with(spec, |it| it["selector"] = json!({"matchLabels": {"app": "web"}}));
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "pdb"}, "spec": spec})
}

/// The controllers, and a budget.
fn budget(spec: Value) -> Scene {
    let mut scene = Scene::controllers();
    scene.create(budget_document(spec)).unwrap();
    scene
}

fn budget_of(scene: &Scene) -> Value {
    scene.get(Kind::PodDisruptionBudget, "pdb").unwrap()["status"].clone()
}

fn make_ready(scene: &mut Scene, name: &str) {
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    scene.request_to("status", Verb::MergePatch, Kind::Pod, name, status).unwrap();
}

fn evict(
    scene: &mut Scene,
    name: &str,
    named: &str,
) -> Result<Value, kubestep::cluster::server::status::Status> {
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": named, "namespace": NAMESPACE}});
    scene.request_to("eviction", Verb::Create, Kind::Pod, name, body)
}

/// A server with a budget whose status is as given.
fn budgeted(pdb: &Value, app: &str) -> Scene {
    let mut scene = Scene::server();
    let selected = if pdb["selector"] == json!("other") { "other" } else { app };
    let mut document = budget_document(json!({"minAvailable": 1}));
    document["spec"]["selector"] = json!({"matchLabels": {"app": selected}});
    let policy = text(&pdb["unhealthyPodEvictionPolicy"]);
    if policy == "AlwaysAllow" {
        document["spec"]["unhealthyPodEvictionPolicy"] = json!(policy);
    }
    scene.create(document).unwrap();
    let status: Value = ["disruptionsAllowed", "currentHealthy", "desiredHealthy"]
        .into_iter()
        .map(|key| (key.to_string(), json!(pdb[key].as_i64().unwrap_or(0))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let status = with(status, |it| {
        it["expectedPods"] = json!(1);
        it["observedGeneration"] = if pdb.get("observedGeneration").is_some() { json!(0) } else { json!(1) };
    });
    scene
        .request_to("status", Verb::MergePatch, Kind::PodDisruptionBudget, "pdb", json!({"status": status}))
        .unwrap();
    scene
}

fn eviction(case: &Case) -> Verdict {
    let given = &case.given;
    if given.get("url_name").is_some() {
        let mut scene = Scene::server();
        scene.create(pod("t7bad-name")).unwrap();
        let refusal = evict(&mut scene, "t7bad-name", "t7").unwrap_err();
        return all([
            same("code", json!(refusal.code), case.expect["code"].clone()),
            same("message", refusal.message, case.expected_text("message")),
        ]);
    }
    let pdb = given.get("pdb").cloned().unwrap_or(json!({}));
    let mut scene = budgeted(&pdb, "web");
    scene.create(with(labelled("web", "web"), |it| it["spec"]["nodeName"] = json!("n"))).unwrap();
    let is_ready = given["pod_Ready"] != json!(false);
    let phase = given["pod_phase"].as_str().unwrap_or("Running");
    let status = json!({"status": {"phase": phase, "conditions": [{"type": "Ready", "status": if is_ready { "True" } else { "False" }}]}});
    scene.request_to("status", Verb::MergePatch, Kind::Pod, "web", status).unwrap();
    // As many other Pods are healthy as the budget's status says.
    let others = pdb["currentHealthy"].as_i64().unwrap_or(0) - i64::from(is_ready);
    for index in 0..others.max(0) {
        let name = format!("other-{index}");
        scene.create(labelled(&name, "web")).unwrap();
        make_ready(&mut scene, &name);
    }
    if given.get("pdbs_matching").is_some() {
        scene
            .create(with(budget_document(json!({"minAvailable": 1})), |it| {
                it["metadata"]["name"] = json!("second")
            }))
            .unwrap();
    }
    if given_text_has(given, "pod", "deletionTimestamp") {
        scene.delete(Kind::Pod, "web", |_| {}).unwrap();
    }
    let answer = evict(&mut scene, "web", "web");
    let expected = &case.expect;
    let mut verdicts = Vec::new();
    if expected.get("allowed").is_some() {
        verdicts.push(same("allowed", json!(answer.is_ok()), expected["allowed"].clone()));
    }
    if expected.get("disruptionsAllowed_after").is_some() {
        verdicts.push(same(
            "disruptionsAllowed",
            budget_of(&scene)["disruptionsAllowed"].clone(),
            expected["disruptionsAllowed_after"].clone(),
        ));
    }
    if let Err(refusal) = answer {
        for key in ["code", "message", "reason"] {
            let found = match key {
                "code" => json!(refusal.code),
                "message" => json!(refusal.message),
                _ => json!(refusal.reason),
            };
            if expected.get(key).is_some() {
                verdicts.push(same(key, found, expected[key].clone()));
            }
        }
        let cause = refusal.details.causes.first().map(|cause| cause.message.clone()).unwrap_or_default();
        match expected.get("cause") {
            Some(Value::String(wanted)) => verdicts.push(same("cause", cause, wanted.clone())),
            Some(wanted) => verdicts.push(same("cause", cause, text(&wanted["message"]))),
            None => {}
        }
        if expected.get("retryAfterSeconds").is_some() {
            verdicts.push(same(
                "retry",
                json!(refusal.details.retry_after_seconds),
                expected["retryAfterSeconds"].clone(),
            ));
        }
    } else if expected.get("code").is_some() {
        verdicts.push(holds("refused", false));
    }
    all(verdicts)
}

fn given_text_has(given: &Value, key: &str, word: &str) -> bool {
    given[key].as_str().is_some_and(|text| text.contains(word))
}

fn budget_status(case: &Case) -> Verdict {
    let given = &case.given;
    if given.get("custom_controller_replicas").is_some() {
        return not_simulated("a Pod cannot belong to a custom kind that scales");
    }
    let spec = ["minAvailable", "maxUnavailable"]
        .into_iter()
        .find_map(|key| Some(json!({key: given.get(key)?})))
        .unwrap();
    let mut scene = budget(spec);
    // One ReplicationController of so many, or that and a ReplicaSet.
    let replicas = given.get("rc_replicas").or(given.get("replicas")).map(text).unwrap_or_default();
    let owners: Vec<(&str, i64)> = match given["rs_replicas"].as_i64() {
        Some(replicas) => vec![("ReplicaSet", replicas)],
        None => {
            let kinds = ["ReplicationController", "ReplicaSet"].into_iter();
            kinds.zip(replicas.split(" + ").filter_map(|count| count.parse().ok())).collect()
        }
    };
    if owners.is_empty() {
        let count =
            ["naked_ready_pods", "naked_pods"].into_iter().find_map(|key| given[key].as_i64()).unwrap_or(1);
        for index in 0..count {
            scene.create(labelled(&format!("pod-{index}"), "web")).unwrap();
        }
    } else {
        if given["ready_pods"] == json!(0) {
            halt(&mut scene, Actor::ReplicationController);
        }
        for (kind, replicas) in &owners {
            let document = with(deployment("web", *replicas), |it| {
                it["kind"] = json!(kind);
                if *kind == "ReplicationController" {
                    it["apiVersion"] = json!("v1");
                    it["spec"]["selector"] = json!({"app": "web"});
                }
            });
            scene.create(document).unwrap();
        }
    }
    scene.ticks(4);
    let names: Vec<String> = scene.list(Kind::Pod).iter().map(|pod| text(&pod["metadata"]["name"])).collect();
    let ready =
        ["ready_pods", "ready"].into_iter().find_map(|key| given[key].as_i64()).unwrap_or(names.len() as i64);
    names.iter().take(ready as usize).for_each(|name| make_ready(&mut scene, name));
    scene.ticks(4);
    let status = budget_of(&scene);
    all(case
        .expect
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| same(key, json!(status[key].as_i64().unwrap_or(0)), value.clone())))
}

fn allowed_condition(case: &Case) -> Verdict {
    let of = |spec: Value, owner: Option<Value>| {
        let mut scene = budget(spec);
        scene
            .create(with(labelled("a", "web"), |it| {
                if let Some(owner) = owner {
                    it["metadata"]["ownerReferences"] = json!([owner])
                }
            }))
            .unwrap();
        make_ready(&mut scene, "a");
        scene.ticks(4);
        let found = list(&budget_of(&scene)["conditions"])
            .into_iter()
            .find(|c| c["type"] == "DisruptionAllowed")
            .unwrap_or_default();
        json!({"status": found["status"], "reason": found["reason"]})
    };
    let stranger =
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "name": "t", "uid": "u", "controller": true});
    all([
        same("> 0", of(json!({"minAvailable": 0}), None), case.expect["> 0"].clone()),
        same("0", of(json!({"minAvailable": 1}), None), case.expect["0"].clone()),
        same("error", of(json!({"maxUnavailable": 1}), Some(stranger)), case.expect["error"].clone()),
    ])
}

fn drain(case: &Case) -> Verdict {
    let given = &case.given;
    let about = format!("{} {} {}", given["pod"], given["volume types"], given["filter order"]);
    if about.contains("mirror") || about.contains("several") {
        return not_simulated("static Pods, which mirror Pods show");
    }
    let mut scene = calm();
    // Owners that are not there, and what they own, are left as they are.
    halt(&mut scene, Actor::GarbageCollector);
    halt(&mut scene, Actor::DaemonSet);
    if given.get("pods").is_none() {
        let mut document = on_node("web", &[]);
        let owner = |kind: &str, version: &str| json!([{"apiVersion": version, "kind": kind, "name": "owner", "uid": "u", "controller": true}]);
        let mut owner_uid = None;
        if about.contains("DaemonSet") && !about.contains("does not exist") {
            // An owner that keeps its Pod: no node of its own is left to it.
            let set = with(daemon_set(), |it| {
                it["metadata"]["name"] = json!("owner");
                it["spec"]["template"]["spec"]["nodeSelector"] = json!({"none": "such"});
            });
            owner_uid = Some(scene.create(set).unwrap()["metadata"]["uid"].clone());
        }
        if about.contains("ReplicaSet") {
            let set = with(deployment("owner", 1), |it| it["kind"] = json!("ReplicaSet"));
            scene.create(set).unwrap();
            scene.ticks(6);
            let name = text(&scene.list(Kind::Pod)[0]["metadata"]["name"]);
            let output = scene.run("kubectl drain node-1");
            return all([
                same("fatal", json!(output.exit != 0), case.expect["fatal"].clone()),
                same("evicted", json!(is_leaving(&scene, &name)), case.expect["evicted"].clone()),
                same(
                    "last line",
                    output.stdout.lines().last().unwrap_or_default().to_string(),
                    adapt(&case.expected_text("last_line")),
                ),
            ]);
        }
        document["metadata"]["ownerReferences"] = match () {
            () if about.contains("DaemonSet") => with(owner("DaemonSet", "apps/v1"), |it| {
                if let Some(uid) = &owner_uid {
                    it[0]["uid"] = uid.clone()
                }
            }),
            () if about.contains("Job") => owner("Job", "batch/v1"),
            () => json!([]),
        };
        let volumes: Vec<Value> = ["emptyDir", "hostPath", "configMap", "secret"]
            .iter()
            .filter(|kind| about.contains(*kind))
            .map(|kind| {
                let source = match *kind {
                    "hostPath" => json!({"path": "/tmp"}),
                    "configMap" => json!({"name": "c", "optional": true}),
                    "secret" => json!({"secretName": "s", "optional": true}),
                    _ => json!({}),
                };
                json!({"name": kind.to_lowercase(), *kind: source})
            })
            .collect();
        document["spec"]["volumes"] = json!(volumes);
        scene.create(document).unwrap();
        if about.contains("erminated") || about.contains("Succeeded") {
            scene
                .request_to(
                    "status",
                    Verb::MergePatch,
                    Kind::Pod,
                    "web",
                    json!({"status": {"phase": "Succeeded"}}),
                )
                .unwrap();
        } else {
            scene.ticks(1);
        }
    }
    let mut flags: Vec<String> = list(&given["flags"]).iter().map(text).collect();
    if about.contains("hostPath") {
        flags.push("--force".to_string());
    }
    let output = scene.run(&format!("kubectl drain node-1 {}", flags.join(" ")));
    let said = format!("{}{}", output.stdout, output.stderr).replace('\n', " / ");
    let expected = &case.expect;
    let mut verdicts = Vec::new();
    if expected.get("local_storage").is_some() {
        verdicts.push(same(
            "local storage",
            json!(said.contains("local storage")),
            expected["local_storage"].clone(),
        ));
    }
    if expected.get("fatal").is_some() {
        verdicts.push(same(&format!("fatal ({said})"), json!(output.exit != 0), expected["fatal"].clone()));
    }
    if expected.get("evicted").is_some() {
        verdicts.push(same("evicted", json!(is_leaving(&scene, "web")), expected["evicted"].clone()));
    }
    for key in ["message_contains", "last_line", "warning"] {
        match expected.get(key) {
            Some(Value::String(wanted)) => {
                verdicts.push(holds(&format!("{said:?} lacks {wanted:?}"), said.contains(&adapt(wanted))))
            }
            Some(Value::Bool(true)) => verdicts.push(holds(&said, said.contains("Warning:"))),
            _ => {}
        }
    }
    all(verdicts)
}

fn cordon(case: &Case) -> Verdict {
    let mut scene = calm();
    let verb = case.given_text("cmd");
    if case.given.get("node").is_some() {
        let output = scene.run(&format!("kubectl {verb} none"));
        return same("fatal", json!(output.exit != 0), case.expect["fatal"].clone());
    }
    if case.given["unschedulable"] == json!(true) {
        scene.run("kubectl cordon node-1");
    }
    let before = scene.get(Kind::Node, "node-1").unwrap()["metadata"]["resourceVersion"].clone();
    let output = scene.run(&format!("kubectl {verb} node-1")).stdout;
    let after = scene.get(Kind::Node, "node-1").unwrap()["metadata"]["resourceVersion"].clone();
    all([
        same("output", output.trim_end().to_string(), adapt(&case.expected_text("output"))),
        same("patch", json!(before != after), case.expect["patch"].clone()),
    ])
}

fn drain_retries(case: &Case) -> Verdict {
    let about = case.given.to_string();
    if about.contains("404") || about.contains("403") {
        return not_simulated("an answer between two looks of kubectl that a single terminal cannot arrange");
    }
    let mut scene = calm();
    scene.create(with(on_node("web", &[]), |it| it["metadata"]["labels"] = json!({"app": "web"}))).unwrap();
    scene.create(budget_document(json!({"minAvailable": 1}))).unwrap();
    scene.ticks(8);
    let output = scene.run("kubectl drain node-1 --force --timeout=10s");
    let wanted = ["stderr", "error_contains"].into_iter().find_map(|key| case.expect[key].as_str()).unwrap();
    let wanted = wanted.replace("\"default\"", &format!("{NAMESPACE:?}"));
    holds(&output.stderr, output.stderr.contains(&wanted))
}
