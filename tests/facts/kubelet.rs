//! The kubelet: phases and conditions from container statuses, images, back-off, probes, termination, events.
//!
//! Phases and conditions are asked directly, of statuses built from the row; everything else is read off a Pod that runs on
//! a node.

use kubestep::api::codec::Codec;
use kubestep::api::kind::Kind;
use kubestep::api::kinds::pod::{ContainerStatus, PodCondition, PodSpec, Probe};
use kubestep::api::time::Timestamp;
use kubestep::cluster::kubelet::back_off::BackOff;
use kubestep::cluster::kubelet::probes::{ProbeKind, ProbeState};
use kubestep::cluster::kubelet::status;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, deployment, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "pod phase is derived" => phase(case),
        "condition ContainersReady is generated" | "condition Ready is generated" => ready(case),
        "condition Ready is generated, all containers ready" => gated(case),
        "condition Initialized is generated" => initialized(case),
        "condition types on a pod" => {
            let pod = started(json!({})).pod();
            let types: Vec<Value> =
                list(&pod["status"]["conditions"]).iter().map(|c| c["type"].clone()).collect();
            same("types", json!(types), case.expect["types"].clone())
        }
        "image is ensured before container create" => image(case),
        "event on the pod" => event(case),
        "events and state" => failed_pull(case),
        "state" if case.given.get("image").is_some() => {
            let node = started(json!({"image": case.given["image"]}));
            all([
                holds("event", node.has_event("InspectFailed", None)),
                same("waiting", node.waiting()["reason"].clone(), case.expect["waiting.reason"].clone()),
                begins(&text(&node.waiting()["message"]), &case.expected_text("message")),
            ])
        }
        "state" => {
            let status = started(json!({})).container();
            all([
                same("ready", status["ready"].clone(), json!(true)),
                same("started", status["started"].clone(), json!(true)),
            ])
        }
        "tag is missing" => {
            let mut node = Node::over_real_runtime();
            node.create(json!({"image": case.given["image"]}), "Always");
            node.scene.ticks(8);
            let image = text(&node.container()["image"]);
            holds(&image, image.ends_with(&case.expected_text("used")))
        }
        "imagePullPolicy is defaulted" => {
            let images = list(&case.given["image"]);
            all(images.iter().map(|image| {
                let name = text(image);
                let digest = format!("web@sha256:{}", "a".repeat(64));
                let (asked, key) =
                    if name.contains('@') { (digest, "digest".to_string()) } else { (name.clone(), name) };
                let mut scene = Scene::server();
                let stored = scene.create(pod(json!({"image": asked}), "Always")).unwrap();
                same(
                    &key,
                    stored["spec"]["containers"][0]["imagePullPolicy"].clone(),
                    case.expect[&key].clone(),
                )
            }))
        }
        "pull attempts of an image that always fails" => {
            waits(&list(&case.expect["back_off_after_failures_s"]))
        }
        "back-off grows" => waits(&list(&case.expect["sequence_s"])),
        "restart delays" => restart_delays(case),
        "container waits in back-off" => crash_loop(case),
        "restart" => {
            let mut node = after(json!({"command": ["sim-exit", "0", "1s"]}), "Always", 30);
            while node.waiting().is_null() && node.scene.cluster.visible_tick() < 200 {
                node.scene.ticks(1);
            }
            all([
                same("waiting", node.waiting()["reason"].clone(), json!("CrashLoopBackOff")),
                same("restarts", node.container()["restartCount"].clone(), json!(2)),
            ])
        }
        "waiting reasons of the kubelet" => reasons(case),
        "default waiting reason" => default_reason(case),
        "terminated.reason" => ends(),
        "container create" => config_missing(case),
        "pod start" => volume_missing(case),
        "container exits" => policies(case),
        "what happens" => init_fails(),
        "sidecar" => sidecar(),
        "allowed restartPolicy" => {
            let refused = ["OnFailure", "Never"].into_iter().all(|policy| {
                let document = with(deployment("web", 1), |it| {
                    it["spec"]["template"]["spec"]["restartPolicy"] = json!(policy)
                });
                Scene::server().create(document).is_err()
            });
            holds(
                "OnFailure and Never are refused",
                refused && Scene::server().create(deployment("web", 1)).is_ok(),
            )
        }
        "defaults" => {
            let probe = json!({"httpGet": {"path": "/", "port": 80}});
            let stored = Scene::server().create(pod(json!({"readinessProbe": probe}), "Always")).unwrap();
            let stored = &stored["spec"]["containers"][0]["readinessProbe"];
            all(case
                .expect
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, expected)| same(key, json!(stored[key].as_i64().unwrap_or(0)), expected.clone())))
        }
        "validation" => {
            let probe = json!({"exec": {"command": ["true"]}, "successThreshold": 2});
            all(["livenessProbe", "startupProbe"].map(|kind| {
                let refusal = Scene::server().create(pod(json!({kind: probe}), "Always")).unwrap_err();
                holds(&refusal.message, refusal.message.contains(&case.expected_text("error")))
            }))
        }
        "result before the first probe" => {
            let probe = probe(&json!({}));
            let begun = |kind| ProbeState::started(kind, &probe, Timestamp(0), Timestamp(0), 1).success;
            same(
                "readiness, liveness, startup",
                [begun(ProbeKind::Readiness), begun(ProbeKind::Liveness), begun(ProbeKind::Startup)],
                [false, true, false],
            )
        }
        "liveness and readiness probes" => {
            let fails =
                json!({"exec": {"command": ["sim-fail"]}, "periodSeconds": 1, "failureThreshold": 60});
            let node = after(
                json!({"startupProbe": fails, "livenessProbe": fails, "readinessProbe": fails}),
                "Always",
                20,
            );
            let told: Vec<String> = node.messages("Unhealthy");
            holds(
                &told.join("; "),
                told.iter().all(|message| message.starts_with("Startup")) && !told.is_empty(),
            )
        }
        "startup probe" => {
            let late = json!({"exec": {"command": ["sim-fail-after", "15s"]}, "periodSeconds": 5, "failureThreshold": 1});
            let node = after(json!({"startupProbe": late}), "Always", 60);
            same("restarts", node.container()["restartCount"].clone(), json!(0))
        }
        "result" => {
            let probe = probe(&json!({"failureThreshold": case.given["failureThreshold"]}));
            let mut state = ProbeState::started(ProbeKind::Liveness, &probe, Timestamp(0), Timestamp(0), 0);
            let failures = case.given["consecutive failures"].as_i64().unwrap();
            let changed = (0..failures).any(|_| state.take_in(&probe, false));
            same("changed", json!(changed), case.expect["changed"].clone())
        }
        "liveness" => {
            let probe = probe(&json!({"failureThreshold": case.given["failureThreshold"]}));
            let mut state = ProbeState::started(ProbeKind::Liveness, &probe, Timestamp(0), Timestamp(0), 0);
            let killed = list(&case.given["results"]).iter().position(|result| {
                state.take_in(&probe, *result != json!("F"));
                state.has_failed(&probe)
            });
            same("killed", json!(killed.map(|at| at + 1)), case.expect["killed_after_result_number"].clone())
        }
        "worker" => {
            let fails = json!({"exec": {"command": ["sim-fail"]}, "periodSeconds": 2, "failureThreshold": 3});
            let node = after(json!({"livenessProbe": fails}), "Always", 9);
            all([
                same("restarts", node.container()["restartCount"].clone(), json!(1)),
                same("Unhealthy", json!(node.count("Unhealthy")), json!(3)),
            ])
        }
        "probes" => while_deleted(),
        "probe result" => {
            let ok = json!({"exec": {"command": ["sim-ok"]}, "periodSeconds": 1});
            let node = after(json!({"command": ["sim-exit", "1", "2s"], "readinessProbe": ok}), "Never", 12);
            same("ready", node.container()["ready"].clone(), json!(false))
        }
        "effect" => not_simulated("a probe here always succeeds or fails; none comes to an error of its own"),
        "probe" => {
            let ok = json!({"exec": {"command": ["sim-ok"]}, "initialDelaySeconds": 5, "periodSeconds": 1});
            let ready =
                |ticks| after(json!({"readinessProbe": ok}), "Always", ticks).container()["ready"].clone();
            // The container starts in the third tick.
            all([same("after 4 s", ready(6), json!(false)), same("after 6 s", ready(10), json!(true))])
        }
        "HTTP probe result" => {
            not_simulated("the applications answer 200, 403 or 404; no row of statuses can be asked for")
        }
        "default" => {
            let stored = Scene::server().create(pod(json!({}), "Always")).unwrap();
            same(
                "seconds",
                stored["spec"]["terminationGracePeriodSeconds"].clone(),
                case.expect["seconds"].clone(),
            )
        }
        "order" => deletion(),
        "extension" => {
            let hook = json!({"preStop": {"exec": {"command": ["sleep", "100"]}}});
            let mut node = Node::over_real_runtime();
            node.create(
                json!({"image": "busybox", "command": ["sleep", "3600"], "lifecycle": hook}),
                "Always",
            );
            node.scene.ticks(8);
            node.scene.delete(Kind::Pod, "web-1", |options| options.grace_seconds = Some(5)).unwrap();
            let mut lasted = 0;
            while node
                .scene
                .get(Kind::Pod, "web-1")
                .is_some_and(|pod| pod["status"]["containerStatuses"][0]["state"].get("running").is_some())
                && lasted < 60
            {
                node.scene.ticks(1);
                lasted += 1;
            }
            // The kubelet sees the wish a second after it was stored, and reports the end a second after it came.
            let extra = lasted - 5 - 1;
            same("extra seconds", json!(extra), case.expect["extra_seconds"].clone())
        }
        "API" => {
            let mut node = started(json!({}));
            node.scene.delete(Kind::Pod, "web-1", |options| options.grace_seconds = Some(0)).unwrap();
            holds("gone at once", node.scene.get(Kind::Pod, "web-1").is_none())
        }
        "shutdown order" => sidecars_stop(),
        "phase" => not_simulated(
            "the sentence of the documentation is not what the controllers do: a Pod on a lost node keeps its phase until somebody removes it",
        ),
        "phase before removal" => {
            let mut node = started(json!({}));
            node.scene.delete(Kind::Pod, "web-1", |_| {}).unwrap();
            let mut last = String::new();
            for _ in 0..10 {
                node.scene.ticks(1);
                let Some(pod) = node.scene.get(Kind::Pod, "web-1") else { break };
                last = text(&pod["status"]["phase"]);
            }
            same("phase", last, "Failed".to_string())
        }
        "PodGC removes" => {
            not_simulated("four rules of another controller in one row; node-lifecycle has a row for each")
        }
        "event reasons" => event_reasons(case),
        "normal start, events in order" => normal_start(case),
        "source component of an event" => sources(),
        "event and action" => changed_image(case),
        "status fields" => {
            let node = after(json!({"command": ["sim-exit", "1", "6s"]}), "Always", 11);
            let status = node.container();
            all([
                same("restartCount", status["restartCount"].clone(), case.expect["restartCount"].clone()),
                holds("running", status["state"].get("running").is_some()),
                same(
                    "last exit code",
                    status["lastState"]["terminated"]["exitCode"].clone(),
                    case.expect["lastState.terminated.exitCode"].clone(),
                ),
                same("started", status["started"].clone(), case.expect["started"].clone()),
            ])
        }
        _ => Verdict::NotTried,
    }
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn begins(actual: &str, expected: &str) -> Verdict {
    let stem = expected.trim_end_matches("...").trim_end();
    holds(&format!("{actual:?} does not begin like {expected:?}"), actual.starts_with(stem))
}

fn probe(fields: &Value) -> Probe {
    Probe::decode(with(fields.clone(), |it| it["exec"] = json!({"command": ["true"]}))).unwrap()
}

/// A Pod of one container `web`.
fn pod(container: Value, policy: &str) -> Value {
    let container = with(container, |it| {
        it["name"] = json!("web");
        if it.get("image").is_none() {
            it["image"] = json!("web:1");
        }
    });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1"},
        "spec": {"restartPolicy": policy, "containers": [container]},
    })
}

/// A node, and the Pod `web-1` on it.
struct Node {
    scene: Scene,
}

/// The Pod a few seconds after its creation.
fn started(container: Value) -> Node {
    after(container, "Always", 6)
}

fn after(container: Value, policy: &str, ticks: u64) -> Node {
    let mut node = Node { scene: Scene::nodes(1) };
    node.create(container, policy);
    node.scene.ticks(ticks);
    node
}

impl Node {
    /// A node whose processes are not the recorder's.
    fn over_real_runtime() -> Self {
        let mut scene = Scene::nodes(1);
        std::sync::Arc::make_mut(&mut scene.cluster.settings).recorded_runtime = false;
        Self { scene }
    }

    fn create(&mut self, container: Value, policy: &str) {
        self.scene.create(pod(container, policy)).unwrap();
    }

    fn pod(&self) -> Value {
        self.scene.get(Kind::Pod, "web-1").unwrap()
    }

    fn container(&self) -> Value {
        self.pod()["status"]["containerStatuses"][0].clone()
    }

    fn waiting(&self) -> Value {
        self.container()["state"]["waiting"].clone()
    }

    fn uid(&self) -> String {
        text(&self.pod()["metadata"]["uid"])
    }

    /// The events of the Pod with that reason.
    fn events(&self, reason: &str) -> Vec<Value> {
        let mut events = self.scene.list(Kind::Event);
        events.retain(|event| event["reason"] == reason && event["involvedObject"]["kind"] == "Pod");
        events
    }

    fn messages(&self, reason: &str) -> Vec<String> {
        self.events(reason).iter().map(|event| text(&event["message"])).collect()
    }

    fn count(&self, reason: &str) -> i64 {
        self.events(reason).iter().map(|event| event["count"].as_i64().unwrap_or(1)).sum()
    }

    fn has_event(&self, reason: &str, message: Option<&str>) -> bool {
        self.messages(reason).iter().any(|found| message.is_none_or(|message| found == message))
    }

    /// The row's `{type, reason, message}` among the events.
    fn told(&self, expected: &Value) -> Verdict {
        let reason = text(&expected["reason"]);
        let wanted = text(&expected["message"]);
        let found = self.events(&reason);
        let is_it = |event: &Value| {
            (expected.get("type").is_none() || event["type"] == expected["type"])
                && (wanted.is_empty() || text(&event["message"]) == wanted)
        };
        holds(&format!("{reason}: {:?}, not {wanted:?}", self.messages(&reason)), found.iter().any(is_it))
    }
}

/// `running`, `exit 0`, `exit non-zero`, `terminated`, `waiting, lastState exit 0`, `started`, `ready`, `not ready` …
fn container_status(name: &str, word: &str) -> ContainerStatus {
    let ended = |word: &str| json!({"terminated": {"exitCode": if word.contains("non-zero") || word.ends_with("terminated") { 1 } else { 0 }}});
    let (state, last) = match word.split_once(", ") {
        Some((_, last)) => (json!({"waiting": {}}), ended(last)),
        None if word == "waiting" => (json!({"waiting": {}}), json!({})),
        None if word.starts_with("exit") || word == "terminated" => (ended(word), json!({})),
        None => (json!({"running": {}}), json!({})),
    };
    ContainerStatus::decode(json!({
        "name": name, "state": state, "lastState": last, "image": "", "imageID": "", "restartCount": 0,
        "ready": word == "ready", "started": word == "started" || word == "ready",
    }))
    .unwrap()
}

/// `containers A and B; restartPolicy Always`, `init X, sidecar Y, container A; restartPolicy Always`.
fn spec_of(words: &str) -> PodSpec {
    let (containers, policy) = words.split_once("; restartPolicy ").unwrap();
    let (mut init, mut main) = (Vec::new(), Vec::new());
    let plain = containers.replace("(init, restartPolicy Always)", "");
    let mut group = "";
    for word in plain.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and") {
        match (word, group) {
            ("init" | "sidecar" | "container" | "containers", _) => group = word,
            (name, "init") => init.push(json!({"name": name})),
            (name, "sidecar") => init.push(json!({"name": name, "restartPolicy": "Always"})),
            (name, _) => main.push(json!({"name": name})),
        }
    }
    PodSpec::decode(json!({"restartPolicy": policy, "initContainers": init, "containers": main})).unwrap()
}

fn phase(case: &Case) -> Verdict {
    if case.given.get("all stopped").is_some() {
        let spec = spec_of("containers A and B; restartPolicy OnFailure");
        let of = |a: &str, b: &str| {
            let statuses = [container_status("A", a), container_status("B", b)];
            status::phase_of(&spec, &statuses.iter().collect::<Vec<_>>(), false)
        };
        return all([
            same("all exit 0", json!(of("exit 0", "exit 0")), case.expect["all exit 0"].clone()),
            begins(&case.expected_text("any exit non-zero"), of("exit 0", "exit non-zero")),
        ]);
    }
    let spec = spec_of(&case.given_text("spec"));
    let statuses = case.given["statuses"].as_object().unwrap();
    let statuses: Vec<ContainerStatus> =
        statuses.iter().map(|(name, word)| container_status(name, &text(word))).collect();
    let is_terminal = case.given["pod_is_terminal"] == json!(true);
    let phase = status::phase_of(&spec, &statuses.iter().collect::<Vec<_>>(), is_terminal);
    same("phase", json!(phase), case.expect["phase"].clone())
}

/// The row's containers (`sidecar r1` among them) and statuses.
fn ready_setting(case: &Case) -> (PodSpec, Option<Vec<ContainerStatus>>) {
    let (mut init, mut main) = (Vec::new(), Vec::new());
    for name in list(&case.given["containers"]) {
        let name = text(&name);
        match name.strip_prefix("sidecar ") {
            Some(name) => init.push(json!({"name": name, "restartPolicy": "Always"})),
            None => main.push(json!({"name": name})),
        }
    }
    let spec = PodSpec::decode(json!({"initContainers": init, "containers": main})).unwrap();
    let statuses = case.given["statuses"].as_object();
    let read = |statuses: &serde_json::Map<String, Value>| {
        statuses.iter().map(|(name, word)| container_status(name, &text(word))).collect()
    };
    (spec, statuses.map(read))
}

fn told_as(case: &Case, (holds, reason, message): status::Told) -> Verdict {
    let expected = &case.expect;
    let mut verdicts =
        vec![same("status", json!(if holds { "True" } else { "False" }), expected["status"].clone())];
    if expected.get("reason").is_some() {
        verdicts.push(same("reason", json!(reason), expected["reason"].clone()));
    }
    if expected.get("message").is_some() {
        verdicts.push(same("message", json!(message), expected["message"].clone()));
    }
    all(verdicts)
}

fn ready(case: &Case) -> Verdict {
    let (spec, statuses) = ready_setting(case);
    let statuses: Option<Vec<&ContainerStatus>> = statuses.as_ref().map(|statuses| statuses.iter().collect());
    let containers = status::containers_ready(&spec, statuses.as_deref(), &case.given_text("phase"));
    let told = if case.when.contains("ContainersReady") {
        containers
    } else {
        status::ready(&spec, &[], containers)
    };
    told_as(case, told)
}

fn gated(case: &Case) -> Verdict {
    let gates: Vec<Value> =
        list(&case.given["readinessGates"]).iter().map(|gate| json!({"conditionType": gate})).collect();
    let spec = PodSpec::decode(json!({"readinessGates": gates, "containers": []})).unwrap();
    let conditions = case.given["conditions"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, status)| PodCondition::decode(json!({"type": name, "status": status})).unwrap());
    let conditions: Vec<PodCondition> = conditions.collect();
    told_as(case, status::ready(&spec, &conditions, (true, "", String::new())))
}

fn initialized(case: &Case) -> Verdict {
    let init: Vec<Value> = list(&case.given["initContainers"])
        .iter()
        .map(|name| {
            let name = text(name);
            match name.strip_suffix(" (sidecar)") {
                Some(name) => json!({"name": name, "restartPolicy": "Always"}),
                None => json!({"name": name}),
            }
        })
        .collect();
    let spec = PodSpec::decode(json!({"initContainers": init, "containers": [{"name": "regular"}]})).unwrap();
    let statuses: Vec<ContainerStatus> = case.given["statuses"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, word)| container_status(name, &text(word)))
        .collect();
    let statuses: Vec<&ContainerStatus> = statuses.iter().collect();
    told_as(case, status::initialized(&spec, Some(&statuses), &case.given_text("phase")))
}

fn image(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(1);
    if case.given["image present"] == json!(true) {
        let other = with(pod(json!({"image": case.given["image"]}), "Always"), |it| {
            it["metadata"]["name"] = json!("other")
        });
        scene.create(other).unwrap();
        scene.ticks(6);
    }
    let mut node = Node { scene };
    node.create(
        json!({"image": case.given["image"], "imagePullPolicy": case.given["imagePullPolicy"]}),
        "Always",
    );
    node.scene.ticks(6);
    let own = |reason: &str| {
        node.events(reason)
            .into_iter()
            .filter(|event| event["involvedObject"]["name"] == "web-1")
            .collect::<Vec<_>>()
    };
    let mut verdicts = vec![same("pull", json!(!own("Pulling").is_empty()), case.expect["pull"].clone())];
    if case.expect.get("waiting.reason").is_some() {
        verdicts.push(same(
            "waiting",
            node.waiting()["reason"].clone(),
            case.expect["waiting.reason"].clone(),
        ));
        verdicts.push(same("message", node.waiting()["message"].clone(), case.expect["message"].clone()));
    } else if case.expect.get("message").is_some() {
        // Newer releases say more behind it.
        verdicts.push(begins(&text(&own("Pulled")[0]["message"]), &case.expected_text("message")));
    }
    if let Some((kind, reason)) = case.expected_text("event").split_once(' ') {
        verdicts.push(holds("event", own(reason).iter().any(|event| event["type"] == kind)));
    }
    all(verdicts)
}

fn event(case: &Case) -> Verdict {
    let given = &case.given;
    let fails = json!({"exec": {"command": ["sim-fail"]}, "periodSeconds": 1, "failureThreshold": 2});
    if given.get("pull") == Some(&json!("starts")) {
        return started(json!({})).told(&case.expect);
    }
    if given.get("pull").is_some() {
        // Times and sizes are the registry's own; the sentence is the row's.
        let node = started(json!({}));
        let message = node.messages("Pulled").pop().unwrap_or_default();
        let shape = |text: &str| {
            text.split(' ')
                .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        return same("message", shape(&message), shape(&case.expected_text("message")));
    }
    if given.get("readiness HTTP 503").is_some() {
        return not_simulated("no application answers 503");
    }
    if given.get("liveness failed").is_some() {
        return after(json!({"livenessProbe": fails}), "Always", 8).told(&case.expect);
    }
    if given.get("startup failed").is_some() {
        return after(json!({"startupProbe": fails}), "Always", 8).told(&case.expect);
    }
    if given["pod"] == json!("deleted") {
        let mut node = started(json!({}));
        node.scene.delete(Kind::Pod, "web-1", |_| {}).unwrap();
        node.scene.ticks(3);
        return node.told(&case.expect);
    }
    Verdict::NotTried
}

fn failed_pull(case: &Case) -> Verdict {
    let is_later = case.given_text("pull").contains("back-off");
    let node = after(json!({"image": "registry.example/missing:1"}), "Always", if is_later { 20 } else { 5 });
    let adapted = |value: &Value| {
        let error = node
            .messages("Failed")
            .iter()
            .find_map(|message| Some(message.split_once(": rpc")?.1.to_string()));
        let error = format!("rpc{}", error.unwrap_or_default());
        let message = text(&value["message"]).replace("web:1", "registry.example/missing:1");
        with(value.clone(), |it| {
            it["message"] =
                json!(message.strip_suffix(": E").map_or(message.clone(), |stem| format!("{stem}: {error}")))
        })
    };
    let waiting = &case.expect["waiting"];
    let message = match text(&waiting["message"]).as_str() {
        "E" => "rpc error".to_string(),
        other => other.replace("web:1", "registry.example/missing:1"),
    };
    all([
        node.told(&adapted(&case.expect["event"])),
        node.told(&case.expect["second event"]),
        same("waiting", node.waiting()["reason"].clone(), waiting["reason"].clone()),
        begins(&text(&node.waiting()["message"]), &message),
    ])
}

fn waits(expected: &[Value]) -> Verdict {
    let mut now = Timestamp(0);
    let mut last = None;
    let mut seconds = Vec::new();
    for _ in 0..expected.len() {
        let next = BackOff::after(last.as_ref(), now, now);
        seconds.push(json!(next.seconds));
        now = Timestamp(now.0 + next.seconds);
        last = Some(next);
    }
    let anew = BackOff::after(last.as_ref(), Timestamp(now.0 + 601), Timestamp(now.0 + 601)).seconds;
    all([same("seconds", json!(seconds), json!(expected)), same("anew after 600 s", anew, 10)])
}

fn restart_delays(case: &Case) -> Verdict {
    let mut node = Node { scene: Scene::nodes(1) };
    node.create(json!({"command": ["sim-exit", "1", "1s"]}), "Always");
    let mut delays = Vec::new();
    let mut ended = None;
    for tick in 0..1500_i64 {
        node.scene.ticks(1);
        let Some(pod) = node.scene.get(Kind::Pod, "web-1") else { continue };
        let state = &pod["status"]["containerStatuses"][0];
        let finished =
            [&state["state"], &state["lastState"]].map(|state| text(&state["terminated"]["finishedAt"]));
        let _ = finished;
        if state["state"].get("running").is_some() {
            if let Some(ended) = ended.take() {
                delays.push(tick - ended);
            }
        } else if state["restartCount"].is_i64() && ended.is_none() && delays.len() < 7 {
            ended = Some(tick);
        }
    }
    let wanted = list(&case.expect["then_s"]);
    // A restart comes at the first look at the Pod after the wait: up to fifteen seconds later.
    let fits = wanted.iter().zip(delays.iter().skip(1)).all(|(wanted, delay)| {
        let wanted = wanted.as_i64().unwrap();
        (wanted - 2..=wanted + 16).contains(delay)
    });
    holds(&format!("{delays:?}, not {wanted:?}"), fits && delays.len() >= wanted.len())
}

fn crash_loop(case: &Case) -> Verdict {
    let node = after(json!({"command": ["sim-exit", "1", "1s"]}), "Always", 80);
    let uid = node.uid();
    let adapted = |text: String| text.replace("web-1_default(U)", &format!("web-1_{NAMESPACE}({uid})"));
    let event = with(case.expect["event"].clone(), |it| it["message"] = json!(adapted(text(&it["message"]))));
    all([
        same("reason", node.waiting()["reason"].clone(), case.expect["waiting"]["reason"].clone()),
        same("message", text(&node.waiting()["message"]), adapted(text(&case.expect["waiting"]["message"]))),
        node.told(&event),
    ])
}

fn reasons(case: &Case) -> Verdict {
    // Each reason that the simulated runtime can come to is come to; the others need a runtime that breaks.
    let hook = json!({"postStart": {"exec": {"command": ["sim-fail"]}}});
    let scenes: Vec<(&str, Value, u64)> = vec![
        ("CrashLoopBackOff", json!({"command": ["sim-exit", "1", "1s"]}), 50),
        ("CreateContainerConfigError", json!({"envFrom": [{"configMapRef": {"name": "none"}}]}), 5),
        ("ErrImagePull", json!({"image": "missing:1"}), 4),
        ("ImagePullBackOff", json!({"image": "missing:1"}), 20),
        ("ErrImageNeverPull", json!({"imagePullPolicy": "Never"}), 4),
        ("InvalidImageName", json!({"image": "UPPER:1"}), 4),
        ("PostStartHookError", json!({"lifecycle": hook}), 3),
        ("ContainerCreating", json!({"image": "slow:1"}), 4),
    ];
    let known = list(&case.expect["reasons"]);
    all(scenes.into_iter().map(|(reason, container, ticks)| {
        let mut node = after(container, "Always", ticks);
        while node.waiting().is_null() && node.scene.cluster.visible_tick() < 200 {
            node.scene.ticks(1);
        }
        let found = node.waiting()["reason"].clone();
        all([same("reason", found.clone(), json!(reason)), holds(reason, known.contains(&found))])
    }))
}

fn default_reason(case: &Case) -> Verdict {
    let mut node = Node { scene: Scene::nodes(1) };
    node.create(json!({"image": "slow:1"}), "Always");
    let document = with(pod(json!({}), "Always"), |it| {
        it["metadata"]["name"] = json!("other");
        it["spec"]["initContainers"] = json!([{"name": "init", "image": "slow:2"}]);
    });
    node.scene.create(document).unwrap();
    node.scene.ticks(4);
    let other = node.scene.get(Kind::Pod, "other").unwrap();
    let other = other["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].clone();
    all([
        same("without", node.waiting()["reason"].clone(), case.expect["no init containers"].clone()),
        same("with", other, case.expect["has init containers (app containers)"].clone()),
    ])
}

fn ends() -> Verdict {
    let end = |container: Value| {
        let mut node = Node::over_real_runtime();
        node.create(container, "Never");
        node.scene.ticks(12);
        let ended = node.container()["state"]["terminated"].clone();
        (text(&ended["reason"]), ended["exitCode"].as_i64().unwrap_or(-1))
    };
    let script = |script: &str| json!({"image": "busybox", "command": ["sh", "-c", script]});
    let stress = json!({"image": "polinux/stress", "command": ["stress", "--vm", "1", "--vm-bytes", "250M"], "resources": {"limits": {"memory": "100Mi"}}});
    let pair = |reason: &str, code: i64| (reason.to_string(), code);
    all([
        same("exit 0", end(script("exit 0")), pair("Completed", 0)),
        same("exit 3", end(script("exit 3")), pair("Error", 3)),
        same("out of memory", end(stress), pair("OOMKilled", 137)),
        same(
            "no such command",
            end(json!({"image": "busybox", "command": ["no-such"]})),
            pair("StartError", 128),
        ),
    ])
}

fn config_missing(case: &Case) -> Verdict {
    let node = after(json!({"envFrom": [{"configMapRef": {"name": "missing-cm"}}]}), "Always", 30);
    all([
        same("waiting", node.waiting()["reason"].clone(), case.expect["waiting.reason"].clone()),
        same("message", node.waiting()["message"].clone(), case.expect["message"].clone()),
        node.told(&case.expect["event"]),
        holds("tried again", node.count("Failed") > 1),
    ])
}

fn volume_missing(case: &Case) -> Verdict {
    let mut node = Node { scene: Scene::nodes(1) };
    let document = with(pod(json!({}), "Always"), |it| {
        it["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "missing-cm"}}]);
    });
    node.scene.create(document).unwrap();
    node.scene.ticks(20);
    all([
        begins(&case.expected_text("waiting.reason"), &text(&node.waiting()["reason"])),
        node.told(&case.expect["event"]),
    ])
}

fn policies(case: &Case) -> Verdict {
    let restarts = |policy: &str, code: &str| {
        after(json!({"command": ["sim-exit", code, "1s"]}), policy, 10).container()["restartCount"]
            .as_i64()
            .unwrap()
            > 0
    };
    let default = Scene::server()
        .create(with(pod(json!({}), "Always"), |it| {
            it["spec"].as_object_mut().unwrap().remove("restartPolicy");
        }))
        .unwrap();
    all([
        same("Always", [restarts("Always", "0"), restarts("Always", "1")], [true, true]),
        same("OnFailure", [restarts("OnFailure", "0"), restarts("OnFailure", "1")], [false, true]),
        same("Never", [restarts("Never", "0"), restarts("Never", "1")], [false, false]),
        same("default", default["spec"]["restartPolicy"].clone(), case.expect["default"].clone()),
    ])
}

fn init_fails() -> Verdict {
    let run = |policy: &str| {
        let mut node = Node { scene: Scene::nodes(1) };
        let document = with(pod(json!({}), policy), |it| {
            it["spec"]["initContainers"] =
                json!([{"name": "init", "image": "i:1", "command": ["sim-exit", "1", "1s"]}]);
        });
        node.scene.create(document).unwrap();
        node.scene.ticks(25);
        let status = node.pod()["status"].clone();
        (text(&status["phase"]), status["initContainerStatuses"][0]["restartCount"].as_i64().unwrap() > 0)
    };
    let pair = |phase: &str, again| (phase.to_string(), again);
    all([
        same("Always", run("Always"), pair("Pending", true)),
        same("OnFailure", run("OnFailure"), pair("Pending", true)),
        same("Never", run("Never"), pair("Failed", false)),
    ])
}

fn sidecar() -> Verdict {
    let mut node = Node { scene: Scene::nodes(1) };
    let document = with(pod(json!({"command": ["sim-exit", "0", "30s"]}), "Never"), |it| {
        it["spec"]["initContainers"] = json!([{
            "name": "s", "image": "s:1", "restartPolicy": "Always", "command": ["sim-exit", "1", "12s"],
            "startupProbe": {"exec": {"command": ["sim-ok-after", "5s"]}, "periodSeconds": 1, "failureThreshold": 60},
        }]);
    });
    node.scene.create(document).unwrap();
    node.scene.ticks(5);
    let held = node.container()["state"].get("waiting").is_some();
    node.scene.ticks(6);
    let begun = node.container()["state"].get("running").is_some();
    node.scene.ticks(14);
    let again = node.pod()["status"]["initContainerStatuses"][0]["restartCount"].as_i64().unwrap() > 0;
    node.scene.ticks(40);
    let phase = text(&node.pod()["status"]["phase"]);
    same(
        "held, begun, restarted, over",
        (held, begun, again, phase),
        (true, true, true, "Succeeded".to_string()),
    )
}

fn while_deleted() -> Verdict {
    let mut node = Node::over_real_runtime();
    let probe =
        |file: &str| json!({"exec": {"command": ["cat", file]}, "periodSeconds": 1, "failureThreshold": 1});
    let script = "touch /a; trap 'rm /a; sleep 20; exit 0' TERM; sleep 3600";
    node.create(json!({
        "image": "busybox", "command": ["sh", "-c", script], "livenessProbe": probe("/a"), "readinessProbe": probe("/a"),
    }), "Always");
    node.scene.ticks(12);
    node.scene.delete(Kind::Pod, "web-1", |_| {}).unwrap();
    node.scene.ticks(12);
    let told = node.messages("Killing");
    holds(&told.join("; "), told.iter().all(|message| message == "Stopping container web") && told.len() == 1)
}

fn deletion() -> Verdict {
    let mut node = Node::over_real_runtime();
    let hook = json!({"preStop": {"exec": {"command": ["sleep", "5"]}}});
    node.create(json!({"image": "busybox", "command": ["sleep", "3600"], "lifecycle": hook}), "Always");
    node.scene.ticks(8);
    node.scene.delete(Kind::Pod, "web-1", |_| {}).unwrap();
    let pod = node.pod();
    let marked = pod["metadata"].get("deletionTimestamp").is_some()
        && pod["metadata"]["deletionGracePeriodSeconds"] == 30;
    let shown = node.scene.run("kubectl get pods").stdout.contains("Terminating");
    node.scene.ticks(28);
    let lives = node.container()["state"].get("running").is_some();
    let mut code = Value::Null;
    let mut phase = Value::Null;
    for _ in 0..8 {
        node.scene.ticks(1);
        let Some(pod) = node.scene.get(Kind::Pod, "web-1") else { break };
        code = pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"].clone();
        phase = pod["status"]["phase"].clone();
    }
    let gone = node.scene.get(Kind::Pod, "web-1").is_none();
    same(
        "steps",
        (marked, shown, lives, code, phase, gone),
        (true, true, true, json!(137), json!("Failed"), true),
    )
}

fn sidecars_stop() -> Verdict {
    let mut node = Node::over_real_runtime();
    let script = |seconds: u32| {
        json!(["sh", "-c", format!("trap 'sleep {seconds}; exit 0' TERM; while true; do sleep 1; done")])
    };
    let side = |name: &str| json!({"name": name, "image": "busybox", "restartPolicy": "Always", "command": script(3)});
    let document = with(pod(json!({"image": "busybox", "command": script(4)}), "Always"), |it| {
        it["spec"]["initContainers"] = json!([side("s1"), side("s2")]);
    });
    node.scene.create(document).unwrap();
    node.scene.ticks(14);
    node.scene.delete(Kind::Pod, "web-1", |_| {}).unwrap();
    let mut order = Vec::new();
    for _ in 0..25 {
        node.scene.ticks(1);
        let Some(pod) = node.scene.get(Kind::Pod, "web-1") else { break };
        for status in list(&pod["status"]["initContainerStatuses"])
            .iter()
            .chain(&list(&pod["status"]["containerStatuses"]))
        {
            let name = text(&status["name"]);
            if status["state"].get("terminated").is_some() && !order.contains(&name) {
                order.push(name);
            }
        }
    }
    same("order", order, ["web", "s2", "s1"].map(str::to_string).to_vec())
}

fn event_reasons(case: &Case) -> Verdict {
    // Every event that these Pods and their node make has a reason of the row's, or is told by somebody else.
    let mut known: Vec<String> =
        case.expect.as_object().unwrap().values().flat_map(list).map(|name| text(&name)).collect();
    known.extend(
        ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"].map(str::to_string),
    );
    let fails = json!({"exec": {"command": ["sim-fail"]}, "periodSeconds": 1, "failureThreshold": 2});
    let hooks = json!({"postStart": {"exec": {"command": ["sim-fail"]}}});
    let containers = [
        json!({}),
        json!({"image": "missing:1"}),
        json!({"image": "UPPER:1"}),
        json!({"imagePullPolicy": "Never"}),
        json!({"livenessProbe": fails}),
        json!({"lifecycle": hooks}),
        json!({"command": ["sim-exit", "1", "1s"]}),
    ];
    let mut unknown = Vec::new();
    for container in containers {
        let node = after(container, "Always", 25);
        let events = node.scene.list(Kind::Event);
        let own = events.iter().filter(|event| event["source"]["component"] == "kubelet");
        unknown.extend(own.map(|event| text(&event["reason"])).filter(|reason| !known.contains(reason)));
    }
    holds(&unknown.join(", "), unknown.is_empty())
}

fn normal_start(case: &Case) -> Verdict {
    let node = started(json!({}));
    let mut events = node.scene.list(Kind::Event);
    events.retain(|event| event["involvedObject"]["name"] == "web-1");
    let number = |event: &Value| text(&event["metadata"]["resourceVersion"]).parse::<u64>().unwrap_or(0);
    events.sort_by_key(number);
    let expected = list(&case.expect["reasons"]);
    let reasons: Vec<String> = events.iter().map(|event| text(&event["reason"])).collect();
    let wanted: Vec<String> =
        expected.iter().map(|reason| text(reason).split(' ').next().unwrap().to_string()).collect();
    let messages = list(&case.expect["messages"]);
    let alike = events.iter().zip(&messages).map(|(event, message)| {
        let message = text(message).replace("default/", &format!("{NAMESPACE}/"));
        begins(&text(&event["message"]), &message)
    });
    let path = events.last().map(|event| event["involvedObject"]["fieldPath"].clone());
    all([
        same("reasons", reasons, wanted),
        all(alike),
        same("field path", path, Some(case.expect["fieldPath_of_the_last_two"].clone())),
    ])
}

fn sources() -> Verdict {
    let mut scene = Scene::nodes(1);
    scene.create(deployment("web", 1)).unwrap();
    scene.ticks(10);
    let wanted = [
        ("Scheduled", "default-scheduler"),
        ("ScalingReplicaSet", "deployment-controller"),
        ("SuccessfulCreate", "replicaset-controller"),
        ("Pulling", "kubelet"),
        ("Started", "kubelet"),
    ];
    let events = scene.list(Kind::Event);
    all(wanted.map(|(reason, component)| {
        let found = events.iter().find(|event| event["reason"] == reason).unwrap();
        let source = match text(&found["source"]["component"]) {
            source if source.is_empty() => text(&found["reportingComponent"]),
            source => source,
        };
        same(reason, source, component.to_string())
    }))
}

fn changed_image(case: &Case) -> Verdict {
    let mut node = started(json!({}));
    let uid = node.uid();
    let patch = json!({"spec": {"containers": [{"name": "web", "image": "web:2"}]}});
    node.scene
        .request(kubestep::cluster::server::request::Verb::StrategicPatch, Kind::Pod, "web-1", patch)
        .unwrap();
    node.scene.ticks(6);
    all([
        node.told(&case.expect["event"]),
        same("restarts", node.container()["restartCount"].clone(), json!(1)),
        same("uid", node.uid(), uid),
    ])
}
