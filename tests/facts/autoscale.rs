//! Autoscaling: how many Pods a metric asks for, and how fast the size follows.

use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::kinds::pod::{Pod, PodCondition};
use kubestep::api::time::Timestamp;
use kubestep::cluster::controllers::horizontal_pod_autoscaler::pace::{Limits, Track, plan_size};
use kubestep::cluster::controllers::horizontal_pod_autoscaler::replicas::{
    CPU_INITIALIZATION_SECONDS, Goal, Groups, INITIAL_READINESS_SECONDS, Proposal, Samples, Tolerance, group,
    plan_replicas,
};
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::Scene;

const NOW: Timestamp = Timestamp(10_000_000);
const WINDOW_SECONDS: i64 = 15;

/// The verdict on a row.
pub fn judge(case: &Case) -> Option<Verdict> {
    Some(match case.when.as_str() {
        "CPU utilisation metric evaluated" => utilisation(case),
        "evaluated" => refused(case),
        "custom metric evaluated" if case.given["metric"] == json!("pods") => average(case),
        "custom metric evaluated" => {
            not_simulated("nobody serves custom, object or external metrics in this cluster")
        }
        "desired replicas" => match case.given.get("formula") {
            Some(_) => formula(),
            None => several_metrics(),
        },
        "controller" => settings(case),
        "scale-up limit per 15 s" => {
            let size = |current: i32| sized(&Value::Null, current, 1000).0;
            same("sizes", [size(1), size(3), size(10)], [4, 6, 20])
        }
        "scale-down limit" => {
            let mut track = Track::default();
            let limits = Limits { behavior: &Value::Null, least: 1, most: 1000 };
            plan_size(&mut track, limits, 50, 50, NOW);
            let at = |track: &mut Track, seconds: i64| {
                plan_size(track, limits, 50, 1, Timestamp(NOW.0 + seconds)).replicas
            };
            same("sizes", [at(&mut track, 299), at(&mut track, 300)], [50, 1])
        }
        "steps" => {
            let rule = |kind: &str, value: i64| json!({"type": kind, "value": value, "periodSeconds": 60});
            let behavior = json!({"scaleDown": {
                "selectPolicy": "Max", "stabilizationWindowSeconds": 0, "policies": [rule("Pods", 4), rule("Percent", 10)],
            }});
            let step = |current: i32| current - sized(&behavior, current, 10).0;
            all([
                same("first", json!(step(80)), case.expect["first"].clone()),
                same("then", json!(step(72)), case.expect["then at 72"].clone()),
                same("below 40", json!(step(39)), case.expect["below 40"].clone()),
            ])
        }
        "HPA" => disabled(case),
        "scale-down" => {
            let behavior = json!({"scaleDown": {"selectPolicy": "Disabled", "stabilizationWindowSeconds": 0, "policies": []}});
            same("size", sized(&behavior, 7, 1).0, 7)
        }
        "event on HPA" => rescaled(case),
        _ => return None,
    })
}

/// The size that follows, and why no other one.
fn sized(behavior: &Value, current: i32, asked: i32) -> (i32, &'static str) {
    let limits = Limits { behavior, least: 1, most: 10_000 };
    let paced = plan_size(&mut Track::default(), limits, current, asked, NOW);
    (paced.replicas, paced.limited.1)
}

/// A Pod that has long run.
fn pod(name: &str) -> Pod {
    let mut pod = Pod::default();
    pod.meta.name = name.into();
    pod.status.phase = "Running".into();
    pod.status.start_time = Some(Timestamp(NOW.0 - 3600));
    pod.status.conditions.push(PodCondition {
        condition_type: "Ready".into(),
        status: "True".into(),
        last_transition_time: Some(Timestamp(NOW.0 - 3500)),
        ..PodCondition::default()
    });
    pod
}

fn positions(value: &Value) -> Vec<usize> {
    value.as_array().into_iter().flatten().map(|place| place.as_u64().unwrap() as usize - 1).collect()
}

fn utilisation(case: &Case) -> Verdict {
    let given = &case.given;
    let current = given["current"].as_i64().unwrap() as i32;
    let mut usage: Vec<Option<i64>> =
        given["usage_milli"].as_array().unwrap().iter().map(Value::as_i64).collect();
    let strangers = text(&given["usage_milli"]).contains("unknown pods");
    if strangers {
        usage.pop();
    }
    let count = given["pods"].as_u64().map_or(usage.len(), |count| count as usize);
    let mut pods: Vec<Pod> = (0..count).map(|index| pod(&format!("p{index}"))).collect();
    for place in positions(&given["unready"]) {
        // It has never been ready.
        pods[place].status.conditions[0].status = "False".into();
        pods[place].status.conditions[0].last_transition_time = pods[place].status.start_time;
    }
    for place in positions(&given["still_starting"]) {
        pods[place].status.start_time = Some(NOW);
        pods[place].status.conditions[0].last_transition_time = Some(NOW);
    }
    let mut samples: Samples = usage
        .iter()
        .enumerate()
        .filter_map(|(index, used)| Some((format!("p{index}").as_str().into(), (*used)?)))
        .collect();
    if strangers {
        samples.insert("stranger".into(), 4000);
        samples.insert("other-stranger".into(), 4000);
    }
    let extra = |kind: &str| given[kind].as_u64().unwrap_or(0);
    for index in 0..extra("failed_pods") {
        let mut failed = pod(&format!("failed-{index}"));
        failed.status.phase = "Failed".into();
        pods.push(failed);
    }
    for index in 0..extra("terminating_pods") {
        let mut going = pod(&format!("going-{index}"));
        going.meta.deletion_timestamp = Some(NOW);
        samples.insert(going.meta.name.clone(), 500);
        pods.push(going);
    }
    for index in 0..extra("pending_unscheduled") {
        let mut pending = pod(&format!("pending-{index}"));
        pending.status.phase = "Pending".into();
        pods.push(pending);
    }
    let request = |index: usize| match &given["request_milli"] {
        Value::Array(each) => each[index.min(each.len() - 1)].as_i64().unwrap(),
        one => one.as_i64().unwrap(),
    };
    let requests: Samples =
        pods.iter().enumerate().map(|(index, pod)| (pod.meta.name.clone(), request(index))).collect();
    let pods: Vec<Arc<Pod>> = pods.into_iter().map(Arc::new).collect();
    let groups = group(&pods, &samples, "cpu", (NOW, WINDOW_SECONDS), NOW);
    let goal = Goal::Percent(given["target_percent"].as_i64().unwrap());
    let found = plan_replicas(current, goal, samples, &groups, &requests, Tolerance::default()).unwrap();
    all([
        same("desired", json!(found.replicas), case.expect["desired"].clone()),
        same("percent", json!(found.percent), case.expect["reported_utilization_percent"].clone()),
    ])
}

fn average(case: &Case) -> Verdict {
    let given = &case.given;
    let values = given["values_milli"].as_array().unwrap();
    let samples: Samples = values
        .iter()
        .enumerate()
        .map(|(index, value)| (format!("p{index}").as_str().into(), value.as_i64().unwrap()))
        .collect();
    let pods: Vec<Arc<Pod>> = (0..values.len()).map(|index| Arc::new(pod(&format!("p{index}")))).collect();
    // Readiness says nothing about what is not processor time.
    let groups = group(&pods, &samples, "", (NOW, WINDOW_SECONDS), NOW);
    let goal = Goal::Average(given["target_milli"].as_i64().unwrap());
    let current = given["current"].as_i64().unwrap() as i32;
    let found =
        plan_replicas(current, goal, samples, &groups, &Samples::new(), Tolerance::default()).unwrap();
    same("desired", json!(found.replicas), case.expect["desired"].clone())
}

fn formula() -> Verdict {
    let run = |current: i32, used: i64| -> Proposal {
        let samples: Samples =
            (0..current).map(|index| (format!("p{index}").as_str().into(), used)).collect();
        let groups = Groups { ready: current as usize, ..Groups::default() };
        plan_replicas(current, Goal::Average(100), samples, &groups, &Samples::new(), Tolerance::default())
            .unwrap()
    };
    let desired = |current: i32, used: i64| run(current, used).replicas;
    all([
        same("doubled", desired(3, 200), 6),
        same("rounded up", desired(3, 150), 5),
        same("within a tenth above", desired(3, 110), 3),
        same("just beyond it", desired(10, 111), 12),
        same("within a tenth below", desired(10, 90), 10),
        same("beyond it", desired(10, 89), 9),
    ])
}

/// The playground with a Deployment of that image, command and requests, and an autoscaler of those metrics.
fn autoscaled(container: Value, replicas: i64, spec: Value) -> Scene {
    let mut scene = Scene::playground();
    let deployment = crate::scene::with(crate::scene::deployment("web", replicas), |it| {
        it["spec"]["template"]["spec"]["containers"][0]
            .as_object_mut()
            .unwrap()
            .extend(container.as_object().unwrap().clone());
    });
    scene.create(deployment).unwrap();
    let mut document = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1, "maxReplicas": 10,
        },
    });
    document["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    scene.create(document).unwrap();
    scene
}

fn cpu(percent: i64) -> Value {
    json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}})
}

fn busy() -> Value {
    json!({
        "image": "busybox", "command": ["sh", "-c", "while true; do :; done"],
        "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}},
    })
}

fn condition(scene: &Scene, kind: &str) -> Value {
    let scaler = scene.get(Kind::HorizontalPodAutoscaler, "web").unwrap();
    let conditions = scaler["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
}

fn wanted(scene: &Scene) -> i64 {
    scene.get(Kind::Deployment, "web").unwrap()["spec"]["replicas"].as_i64().unwrap()
}

fn several_metrics() -> Verdict {
    let memory = json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}});
    let custom = json!({"type": "Pods", "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "1"}}});
    let run = |metrics: Value, replicas: i64| {
        let mut scene = autoscaled(busy(), replicas, json!({"metrics": metrics}));
        scene.ticks(60);
        wanted(&scene)
    };
    all([
        // 200 % of what is requested, where 100 % is wanted; of memory next to nothing is used.
        same("the largest", run(json!([memory, cpu(100)]), 1) >= 2, true),
        same("with one failing: up", run(json!([cpu(100), custom]), 1) >= 2, true),
        same("with one failing: not down", run(json!([memory, custom]), 3), 3),
    ])
}

fn settings(case: &Case) -> Verdict {
    let number = |key: &str| case.expect[key].as_i64().unwrap();
    let mut scene = autoscaled(busy(), 1, json!({"metrics": [cpu(100)]}));
    let looks = |scene: &mut Scene| {
        let mut ticks = Vec::new();
        for _ in 0..64 {
            scene.ticks(1);
            let tick = scene.cluster.tick();
            let looked = scene.facts.iter().any(|fact| {
                fact.tick == tick
                    && fact.actor.word() == "autoscaler"
                    && format!("{:?}", fact.what).contains("Resync")
            });
            if looked {
                ticks.push(tick as i64);
            }
        }
        ticks
    };
    let ticks = looks(&mut scene);
    let steps: Vec<i64> = ticks.windows(2).map(|pair| pair[1] - pair[0]).collect();
    all([
        holds(
            &format!("looks at {ticks:?}"),
            !steps.is_empty() && steps.iter().all(|step| *step == number("sync_period_s")),
        ),
        same(
            "downscale",
            kubestep::cluster::controllers::horizontal_pod_autoscaler::pace::DOWNSCALE_SECONDS,
            number("downscale_stabilisation_s"),
        ),
        same("upscale", sized(&Value::Null, 2, 3).0, 3),
        same("cpu", CPU_INITIALIZATION_SECONDS, number("cpu_initialisation_period_s")),
        same("readiness", INITIAL_READINESS_SECONDS, number("initial_readiness_delay_s")),
    ])
}

fn disabled(case: &Case) -> Verdict {
    let mut scene = autoscaled(busy(), 0, json!({"metrics": [cpu(100)]}));
    scene.ticks(40);
    let active = condition(&scene, "ScalingActive");
    all([
        same(
            "condition",
            format!("{} {}", text(&active["type"]), text(&active["status"])),
            case.expected_text("condition"),
        ),
        same("size", wanted(&scene), 0),
    ])
}

fn rescaled(case: &Case) -> Verdict {
    // Twice what is wanted of each: 2 become 4.
    let mut scene = autoscaled(busy(), 2, json!({"metrics": [cpu(100)]}));
    scene.ticks(90);
    let events = scene.list(Kind::Event);
    let is_it = |event: &&Value| event["message"] == case.expect["message"];
    let found = events.iter().find(is_it).cloned().unwrap_or_default();
    all([
        same("type", found["type"].clone(), case.expect["type"].clone()),
        same("message", text(&found["message"]), case.expected_text("message")),
    ])
}

fn refused(case: &Case) -> Verdict {
    let expected = case.expected_text("error_contains");
    if case.given.get("cpu request").is_some() {
        let mut scene = autoscaled(json!({"image": "nginx"}), 1, json!({"metrics": [cpu(50)]}));
        scene.ticks(60);
        let events = scene.events();
        return holds(
            &format!("{events:?}"),
            events
                .iter()
                .any(|event| event.starts_with("FailedGetResourceMetric") && event.contains(&expected)),
        );
    }
    if case.given["metrics"] == json!("none") {
        // The image is never there, so nothing runs.
        let mut scene =
            autoscaled(json!({"image": "registry.example/missing:1"}), 1, json!({"metrics": [cpu(50)]}));
        scene.ticks(40);
        let message = text(&condition(&scene, "ScalingActive")["message"]);
        return holds(&message, message.contains(&expected));
    }
    let samples: Samples = [("stranger".into(), 100)].into();
    let pods = [Arc::new(pod("p"))];
    let groups = group(&pods, &samples, "cpu", (NOW, WINDOW_SECONDS), NOW);
    let requests: Samples = [("p".into(), 1000)].into();
    let error =
        plan_replicas(1, Goal::Percent(50), samples, &groups, &requests, Tolerance::default()).unwrap_err();
    holds(&error, error.contains(&expected))
}
