//! StatefulSets, DaemonSets, Jobs and CronJobs, tried on whole clusters.

use kubestep::api::kind::Kind;
use kubestep::cluster::network::dns::RecordType;
use kubestep::cluster::server::request::Verb;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, has_fields, holds, same, text};
use crate::scene::{Scene, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Option<Verdict> {
    let has = |key: &str| case.given.get(key).is_some();
    Some(match case.when.as_str() {
        "created" if has("policy") => created_in_order(case),
        "created" => one_on_each_node(),
        "scaled down" if has("web-0") => waits_for_the_first(),
        "scaled down" => scaled_down(case),
        "scaled" => in_parallel(),
        "template changed" if has("partition") => partitioned(case),
        "template changed" if case.given["updateStrategy"] == json!("OnDelete") => on_delete(),
        "template changed" if case.given["updateStrategy"] == json!("default") => daemon_defaults(case),
        "template changed" => rolled(case),
        "OrderedReady rollout" => stuck(),
        "labels" => labels(case),
        "PVCs from volumeClaimTemplates" => claims_kept(),
        "DNS" => name_of_a_pod(case),
        "node becomes eligible" => node_added(),
        "node updated" => label_gone(),
        "placement" => cordoned(),
        "defaulting" if has("spec") => defaults(case),
        "validation" if has("restartPolicy") => restart_policy(case),
        "validation" if has("name length") => long_name(case),
        "pods running" => few_left(case),
        "one pod succeeds" => work_queue(),
        "run" => not_run(),
        "recreate delay s" => delays(case),
        "status" if has("failed_pods") => too_many_failures(case),
        "status" if has("activeDeadlineSeconds") => too_late(case),
        "finished 100 s ago" | "finished" => time_to_live(case),
        "pods" if has("job") => pods_kept(),
        "pods" => indexed(case),
        "schedule fires" => schedule_fires(case),
        "sync" => many_missed(case),
        "controller back" => controller_back(case),
        _ => return None,
    })
}

fn names(scene: &Scene, kind: Kind) -> Vec<String> {
    scene.list(kind).iter().map(|object| text(&object["metadata"]["name"])).collect()
}

fn pod(scene: &Scene, name: &str) -> Value {
    scene.get(Kind::Pod, name).unwrap_or_default()
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

// --- StatefulSets -----------------------------------------------------------------------------------------------------

fn stateful_set(replicas: i64, spec: Value) -> Value {
    let mut document = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas, "serviceName": "db", "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}], "terminationGracePeriodSeconds": 1},
            },
        },
    });
    document["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    document
}

/// A cluster whose StatefulSet is complete.
fn set_up(replicas: i64, spec: Value) -> Scene {
    let mut scene = Scene::nodes(2);
    scene.create(stateful_set(replicas, spec)).unwrap();
    scene.ticks(15 * replicas as u64);
    assert_eq!(names(&scene, Kind::Pod).len(), replicas as usize);
    scene
}

/// What happened to Pods within so many ticks: `+web-0` when it appeared, `-web-0` when it went, with how many were
/// ready of the others when it did.
fn watched(scene: &mut Scene, ticks: u64) -> Vec<String> {
    let uids = |scene: &Scene| -> Vec<(String, String)> {
        scene
            .list(Kind::Pod)
            .iter()
            .map(|pod| (text(&pod["metadata"]["name"]), text(&pod["metadata"]["uid"])))
            .collect()
    };
    let mut story = Vec::new();
    let mut before = uids(scene);
    for _ in 0..ticks {
        scene.ticks(1);
        let now = uids(scene);
        story.extend(before.iter().filter(|it| !now.contains(it)).map(|(name, _)| format!("-{name}")));
        story.extend(now.iter().filter(|it| !before.contains(it)).map(|(name, _)| format!("+{name}")));
        before = now;
    }
    story
}

fn change(scene: &mut Scene, kind: Kind, name: &str, spec: Value) {
    scene.request(Verb::MergePatch, kind, name, json!({"spec": spec})).unwrap();
}

fn created_in_order(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(2);
    scene.create(stateful_set(3, json!({}))).unwrap();
    let mut order = Vec::new();
    let mut early = false;
    for _ in 0..60 {
        scene.ticks(1);
        for name in names(&scene, Kind::Pod) {
            if !order.contains(&name) {
                early |= order.iter().any(|before: &String| !is_ready(&pod(&scene, before)));
                order.push(name);
            }
        }
    }
    all([
        same("order", json!(order), case.expect["order"].clone()),
        same("before one was ready", early, false),
    ])
}

fn scaled_down(case: &Case) -> Verdict {
    let mut scene = set_up(3, json!({}));
    change(&mut scene, Kind::StatefulSet, "web", json!({"replicas": 1}));
    let mut order = Vec::new();
    let mut overlap = false;
    for _ in 0..40 {
        scene.ticks(1);
        let going: Vec<String> = scene
            .list(Kind::Pod)
            .iter()
            .filter(|pod| pod["metadata"].get("deletionTimestamp").is_some())
            .map(|pod| text(&pod["metadata"]["name"]))
            .collect();
        overlap |= going.len() > 1;
        for name in going {
            if !order.contains(&name) {
                order.push(name);
            }
        }
    }
    all([same("order", json!(order), case.expect["order"].clone()), same("two at a time", overlap, false)])
}

fn waits_for_the_first() -> Verdict {
    // Without kubelets the readiness of web-0 is what the row says.
    let mut scene = Scene::controllers();
    scene.create(stateful_set(3, json!({}))).unwrap();
    let report = |scene: &mut Scene, name: &str, ready: &str| {
        let since = scene.cluster.now().to_string();
        let conditions = json!([{"type": "Ready", "status": ready, "lastTransitionTime": since}]);
        let status = json!({"status": {"phase": "Running", "conditions": conditions}});
        scene.request_to("status", Verb::MergePatch, Kind::Pod, name, status).unwrap();
    };
    for name in ["web-0", "web-1", "web-2"] {
        scene.ticks(4);
        report(&mut scene, name, "True");
    }
    scene.ticks(4);
    change(&mut scene, Kind::StatefulSet, "web", json!({"replicas": 1}));
    report(&mut scene, "web-0", "False");
    scene.ticks(9);
    let held = names(&scene, Kind::Pod);
    report(&mut scene, "web-0", "True");
    scene.ticks(9);
    all([
        holds(&format!("{held:?}"), held.contains(&"web-1".to_string())),
        same("after", names(&scene, Kind::Pod), vec!["web-0".to_string()]),
    ])
}

fn in_parallel() -> Verdict {
    let mut scene = Scene::nodes(2);
    scene.create(stateful_set(3, json!({"podManagementPolicy": "Parallel"}))).unwrap();
    let grown: Vec<usize> = (0..4)
        .map(|_| {
            scene.ticks(1);
            names(&scene, Kind::Pod).len()
        })
        .collect();
    scene.ticks(20);
    change(&mut scene, Kind::StatefulSet, "web", json!({"replicas": 0}));
    let mut most = 0;
    for _ in 0..8 {
        scene.ticks(1);
        let pods = scene.list(Kind::Pod);
        most = most.max(pods.iter().filter(|pod| pod["metadata"].get("deletionTimestamp").is_some()).count());
    }
    all([
        holds(&format!("{grown:?}"), grown.contains(&3) && !grown.contains(&1) && !grown.contains(&2)),
        same("going at a time", most, 3),
    ])
}

fn set_image(scene: &mut Scene, kind: Kind, image: &str) {
    let containers = json!([{"name": "c", "image": image}]);
    change(scene, kind, "web", json!({"template": {"spec": {"containers": containers}}}));
}

fn rolled(case: &Case) -> Verdict {
    let mut scene = set_up(3, json!({}));
    set_image(&mut scene, Kind::StatefulSet, "nginx:2");
    let story = watched(&mut scene, 80);
    let expected: Vec<String> = case.expect["order"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|name| [format!("-{}", text(name)), format!("+{}", text(name))])
        .collect();
    same("story", story, expected)
}

fn image(scene: &Scene, name: &str) -> String {
    text(&pod(scene, name)["spec"]["containers"][0]["image"])
}

fn partitioned(case: &Case) -> Verdict {
    let replicas = case.given["replicas"].as_i64().unwrap();
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": case.given["partition"]}});
    let mut scene = set_up(replicas, json!({"updateStrategy": rolling}));
    set_image(&mut scene, Kind::StatefulSet, "nginx:2");
    scene.ticks(80);
    let mut updated: Vec<String> =
        names(&scene, Kind::Pod).into_iter().filter(|name| image(&scene, name) == "nginx:2").collect();
    updated.reverse();
    let kept = names(&scene, Kind::Pod).into_iter().find(|name| image(&scene, name) == "nginx:1").unwrap();
    scene.delete(Kind::Pod, &kept, |_| {}).unwrap();
    scene.ticks(20);
    all([
        same("updated", json!(updated), case.expect["updated"].clone()),
        same("the kept one comes back as it was", image(&scene, &kept), "nginx:1".to_string()),
    ])
}

fn on_delete() -> Verdict {
    let mut scene = set_up(2, json!({"updateStrategy": {"type": "OnDelete"}}));
    set_image(&mut scene, Kind::StatefulSet, "nginx:2");
    scene.ticks(30);
    let before = image(&scene, "web-0");
    scene.delete(Kind::Pod, "web-0", |_| {}).unwrap();
    scene.ticks(20);
    all([
        same("before", before, "nginx:1".to_string()),
        same("after", image(&scene, "web-0"), "nginx:2".to_string()),
        same("the other", image(&scene, "web-1"), "nginx:1".to_string()),
    ])
}

fn stuck() -> Verdict {
    let mut scene = set_up(2, json!({}));
    set_image(&mut scene, Kind::StatefulSet, "missing:2");
    scene.ticks(30);
    set_image(&mut scene, Kind::StatefulSet, "nginx:1");
    scene.ticks(60);
    let held = image(&scene, "web-1");
    scene.delete(Kind::Pod, "web-1", |_| {}).unwrap();
    scene.ticks(30);
    all([
        same("stays stuck", held, "missing:2".to_string()),
        same("until deleted", image(&scene, "web-1"), "nginx:1".to_string()),
    ])
}

fn labels(case: &Case) -> Verdict {
    let scene = set_up(2, json!({}));
    let found = pod(&scene, "web-1")["metadata"]["labels"].clone();
    all(case.expect.as_object().unwrap().iter().map(|(key, value)| match text(value).as_str() {
        "present" => holds(key, found[key].is_string()),
        _ => same(key, found[key].clone(), value.clone()),
    }))
}

fn claims_kept() -> Verdict {
    let claim = json!([{
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    let mut scene = Scene::controllers();
    scene.create(stateful_set(1, json!({"volumeClaimTemplates": claim}))).unwrap();
    scene.ticks(5);
    scene.delete(Kind::StatefulSet, "web", |_| {}).unwrap();
    scene.ticks(20);
    all([
        same("claims", names(&scene, Kind::PersistentVolumeClaim), vec!["data-web-0".to_string()]),
        same("Pods", names(&scene, Kind::Pod).len(), 0),
    ])
}

fn name_of_a_pod(case: &Case) -> Verdict {
    let mut scene = Scene::playground();
    scene
        .create(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"},
            "spec": {"clusterIP": "None", "selector": {"app": "web"}, "ports": [{"port": 80}]},
        }))
        .unwrap();
    scene.create(stateful_set(2, json!({}))).unwrap();
    scene.ticks(60);
    let ip = text(&pod(&scene, "web-1")["status"]["podIP"]);
    let name = case.expected_text("name");
    let zone = scene.cluster.dns_zone().unwrap();
    let answer = zone.answer(&name, RecordType::A);
    same("address", answer, kubestep::cluster::network::dns::Answer::Records(vec![ip]))
}

// --- DaemonSets -------------------------------------------------------------------------------------------------------

fn daemon_set(spec: Value) -> Value {
    let mut document = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}], "terminationGracePeriodSeconds": 1},
            },
        },
    });
    document["spec"]["template"]["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    document
}

fn on_nodes(scene: &Scene) -> Vec<String> {
    let mut nodes: Vec<String> =
        scene.list(Kind::Pod).iter().map(|pod| text(&pod["spec"]["nodeName"])).collect();
    nodes.sort();
    nodes
}

fn one_on_each_node() -> Verdict {
    let mut scene = Scene::nodes(3);
    scene.create(daemon_set(json!({}))).unwrap();
    scene.ticks(10);
    let pods = scene.list(Kind::Pod);
    let is_tied = |pod: &Value| {
        let terms =
            &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        let field = &terms["nodeSelectorTerms"][0]["matchFields"][0];
        field["key"] == "metadata.name" && field["values"][0] == pod["spec"]["nodeName"]
    };
    let scheduled = scene.events().iter().filter(|event| event.starts_with("Scheduled")).count();
    all([
        same(
            "nodes",
            on_nodes(&scene),
            vec!["node-1".to_string(), "node-2".to_string(), "node-3".to_string()],
        ),
        holds("tied by name", pods.iter().all(is_tied)),
        same("by the scheduler", scheduled, 3),
    ])
}

fn node_added() -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(daemon_set(json!({}))).unwrap();
    scene.ticks(5);
    let before = names(&scene, Kind::Pod).len();
    scene.create(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}})).unwrap();
    scene.ticks(5);
    same("Pods", (before, names(&scene, Kind::Pod).len()), (0, 1))
}

fn label_gone() -> Verdict {
    let mut scene = Scene::nodes(1);
    scene.run("kubectl label node node-1 disk=ssd");
    scene.create(daemon_set(json!({"nodeSelector": {"disk": "ssd"}}))).unwrap();
    scene.ticks(10);
    let before = names(&scene, Kind::Pod).len();
    scene.run("kubectl label node node-1 disk-");
    scene.ticks(15);
    same("Pods", (before, names(&scene, Kind::Pod).len()), (1, 0))
}

fn cordoned() -> Verdict {
    let mut scene = Scene::nodes(1);
    scene.run("kubectl cordon node-1");
    scene.create(daemon_set(json!({}))).unwrap();
    scene.ticks(10);
    same("nodes", on_nodes(&scene), vec!["node-1".to_string()])
}

fn daemon_defaults(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let stored = scene.create(daemon_set(json!({}))).unwrap();
    let strategy = &stored["spec"]["updateStrategy"];
    all([
        same("type", strategy["type"].clone(), case.expect["type"].clone()),
        all(["maxUnavailable", "maxSurge"]
            .map(|key| same(key, strategy["rollingUpdate"][key].clone(), case.expect[key].clone()))),
    ])
}

// --- Jobs -------------------------------------------------------------------------------------------------------------

/// A Job whose Pods end with that code after so many seconds.
fn job(code: i64, seconds: i64, spec: Value) -> Value {
    let command = json!(["sim-exit", code.to_string(), format!("{seconds}s")]);
    let mut document = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"},
        "spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox", "command": command}],
        }}},
    });
    document["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    document
}

fn running(scene: &Scene) -> usize {
    scene
        .list(Kind::Pod)
        .iter()
        .filter(|pod| !matches!(text(&pod["status"]["phase"]).as_str(), "Succeeded" | "Failed"))
        .count()
}

fn end_of(scene: &Scene) -> Value {
    let job = scene.get(Kind::Job, "work").unwrap_or_default();
    let conditions = job["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let is_end = |condition: &Value| matches!(text(&condition["type"]).as_str(), "Complete" | "Failed");
    conditions.into_iter().find(is_end).unwrap_or_default()
}

fn defaults(case: &Case) -> Verdict {
    let is_cron = case.expect.get("concurrencyPolicy").is_some();
    let mut scene = Scene::server();
    let stored =
        if is_cron { scene.create(cron("* * * * *", json!({}))) } else { scene.create(job(0, 1, json!({}))) };
    let spec = stored.unwrap()["spec"].clone();
    has_fields(&spec, &case.expect)
}

fn restart_policy(case: &Case) -> Verdict {
    let with_policy = |policy: &str| {
        let document =
            with(job(0, 1, json!({})), |it| it["spec"]["template"]["spec"]["restartPolicy"] = json!(policy));
        Scene::server().create(document)
    };
    let supported = case.expect["supported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| holds(&text(policy), with_policy(&text(policy)).is_ok()));
    let refused = with_policy(&case.given_text("restartPolicy")).unwrap_err();
    all(supported.chain([holds(&refused.message, refused.message.contains("\"OnFailure\", \"Never\""))]))
}

fn few_left(case: &Case) -> Verdict {
    // Three of five have succeeded: two are left, whatever may run beside them.
    let (completions, parallelism) =
        (case.given["completions"].as_i64().unwrap(), case.given["parallelism"].as_i64().unwrap());
    let mut scene = Scene::controllers();
    scene.create(job(0, 1, json!({"completions": completions, "parallelism": 3}))).unwrap();
    scene.ticks(4);
    for name in names(&scene, Kind::Pod) {
        let status = json!({"status": {"phase": "Succeeded"}});
        scene.request_to("status", Verb::MergePatch, Kind::Pod, &name, status).unwrap();
    }
    change(&mut scene, Kind::Job, "work", json!({"parallelism": parallelism}));
    scene.ticks(6);
    let at_most = case.expect["at_most"].as_u64().unwrap() as usize;
    same("running", running(&scene), at_most)
}

fn work_queue() -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(job(0, 1, json!({"parallelism": 3}))).unwrap();
    scene.ticks(4);
    let pods = names(&scene, Kind::Pod);
    let end = |scene: &mut Scene, name: &str| {
        scene
            .request_to(
                "status",
                Verb::MergePatch,
                Kind::Pod,
                name,
                json!({"status": {"phase": "Succeeded"}}),
            )
            .unwrap();
        scene.ticks(6);
    };
    end(&mut scene, &pods[0]);
    let first = (running(&scene), names(&scene, Kind::Pod).len(), end_of(&scene));
    end(&mut scene, &pods[1]);
    end(&mut scene, &pods[2]);
    all([
        same("after one", first, (2, 3, Value::Null)),
        same("after all", text(&end_of(&scene)["type"]), "Complete".to_string()),
    ])
}

fn not_run() -> Verdict {
    let mut scene = Scene::nodes(1);
    scene.create(job(0, 1, json!({"parallelism": 0}))).unwrap();
    scene.ticks(20);
    all([same("Pods", names(&scene, Kind::Pod).len(), 0), same("end", end_of(&scene), Value::Null)])
}

fn delays(case: &Case) -> Verdict {
    let count = case.given["failures"].as_array().unwrap().len();
    let mut scene = Scene::nodes(1);
    scene.create(job(1, 0, json!({"backoffLimit": 20}))).unwrap();
    let (mut made, mut ended): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for _ in 0..1500 {
        scene.ticks(1);
        let tick = scene.cluster.tick();
        let pods = scene.list(Kind::Pod);
        if pods.len() > made.len() {
            made.push(tick);
        }
        let failed = pods.iter().filter(|pod| pod["status"]["phase"] == "Failed").count();
        if failed > ended.len() {
            ended.push(tick);
        }
    }
    // A step or two pass until the end is seen and the next Pod is there.
    let found: Vec<i64> =
        ended.iter().zip(made.iter().skip(1)).map(|(end, next)| (next - end) as i64).take(count).collect();
    let expected: Vec<i64> =
        case.expect["delays"].as_array().unwrap().iter().map(|delay| delay.as_i64().unwrap()).collect();
    let near = |found: i64, expected: i64| (found - expected).abs() <= 3;
    let agree = found.iter().zip(&expected).filter(|(found, expected)| near(**found, **expected)).count();
    if agree == found.len() {
        return Verdict::Holds;
    }
    // Ten seconds doubled up to the controller's own constant of ten minutes.
    let by_code = found.iter().enumerate().all(|(index, found)| near(*found, (10 << index).min(600)));
    let why =
        "the page caps the delay at six minutes, the controller's constant MaxJobPodFailureBackOff is ten";
    Verdict::Contradicted(if by_code { why.to_string() } else { format!("{found:?}") })
}

fn too_many_failures(case: &Case) -> Verdict {
    let limit = case.given["backoffLimit"].clone();
    let mut scene = Scene::nodes(1);
    scene.create(job(1, 0, json!({"backoffLimit": limit}))).unwrap();
    scene.ticks(900);
    let failed = scene.list(Kind::Pod).len();
    let end = end_of(&scene);
    all([
        same("failed Pods", json!(failed), case.given["failed_pods"].clone()),
        all(["type", "reason", "message"]
            .map(|key| same(key, end[key].clone(), case.expect["condition"][key].clone()))),
    ])
}

fn too_late(case: &Case) -> Verdict {
    let seconds = case.given["activeDeadlineSeconds"].clone();
    let mut scene = Scene::nodes(1);
    scene.create(job(0, 9999, json!({"activeDeadlineSeconds": seconds}))).unwrap();
    scene.ticks(95);
    let early = end_of(&scene);
    scene.ticks(60);
    let end = end_of(&scene);
    all([
        same("before", early, Value::Null),
        all(["type", "reason", "message"]
            .map(|key| same(key, end[key].clone(), case.expect["condition"][key].clone()))),
        same("running", running(&scene), 0),
    ])
}

fn time_to_live(case: &Case) -> Verdict {
    let is_kept = case.expected_text("job") == "kept";
    let spec = if is_kept {
        json!({})
    } else {
        json!({"ttlSecondsAfterFinished": case.given["ttlSecondsAfterFinished"]})
    };
    let mut scene = Scene::nodes(1);
    scene.create(job(0, 1, spec)).unwrap();
    scene.ticks(80);
    let before = scene.get(Kind::Job, "work").is_some();
    scene.ticks(60);
    let left = (scene.get(Kind::Job, "work").is_some(), names(&scene, Kind::Pod).len());
    all([same("before", before, true), same("after", left, if is_kept { (true, 1) } else { (false, 0) })])
}

fn pods_kept() -> Verdict {
    let mut scene = Scene::playground();
    let document = with(job(0, 1, json!({})), |it| {
        it["spec"]["template"]["spec"]["containers"][0]["command"] = json!(["sh", "-c", "echo done"]);
    });
    scene.create(document).unwrap();
    scene.ticks(40);
    let name = names(&scene, Kind::Pod).remove(0);
    all([
        same("end", text(&end_of(&scene)["type"]), "Complete".to_string()),
        same("log", scene.run(&format!("kubectl logs {name}")).stdout, "done\n".to_string()),
    ])
}

fn indexed(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    let spec =
        json!({"completionMode": "Indexed", "completions": case.given["completions"], "parallelism": 3});
    scene.create(job(0, 1, spec)).unwrap();
    scene.ticks(4);
    let annotation = case.expected_text("annotation");
    let pods = scene.list(Kind::Pod);
    let mut indexes: Vec<i64> =
        pods.iter().map(|pod| text(&pod["metadata"]["annotations"][&annotation]).parse().unwrap()).collect();
    indexes.sort_unstable();
    all(pods
        .iter()
        .map(|pod| {
            let index = text(&pod["metadata"]["annotations"][&annotation]);
            let variables = pod["spec"]["containers"][0]["env"].as_array().cloned().unwrap_or_default();
            all([
                same("hostname", text(&pod["spec"]["hostname"]), format!("work-{index}")),
                holds("env", variables.iter().any(|variable| variable["name"] == case.expect["env"])),
            ])
        })
        .chain([same("values", json!(indexes), case.expect["values"].clone())]))
}

// --- CronJobs ---------------------------------------------------------------------------------------------------------

fn cron(schedule: &str, spec: Value) -> Value {
    let mut document = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"},
        "spec": {"schedule": schedule, "jobTemplate": {"spec": job(0, 9999, json!({}))["spec"]}},
    });
    document["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    document
}

fn long_name(case: &Case) -> Verdict {
    let named = |length: usize| {
        with(cron("* * * * *", json!({})), |it| it["metadata"]["name"] = json!("a".repeat(length)))
    };
    let length = case.given["name length"].as_u64().unwrap() as usize;
    let most = case.expect["max"].as_u64().unwrap() as usize;
    let mut scene = Scene::controllers();
    scene.create(cron("* * * * *", json!({}))).unwrap();
    scene.ticks(65);
    let minutes = scene.cluster.now().0 / 60;
    all([
        holds("too long", Scene::server().create(named(length)).is_err()),
        holds("as long as may be", Scene::server().create(named(most)).is_ok()),
        same("job", names(&scene, Kind::Job), vec![format!("tick-{minutes}")]),
    ])
}

fn schedule_fires(case: &Case) -> Verdict {
    let policy = case.given["concurrencyPolicy"].clone();
    let mut scene = Scene::controllers();
    scene.create(cron("* * * * *", json!({"concurrencyPolicy": policy}))).unwrap();
    scene.ticks(62);
    let first = names(&scene, Kind::Job);
    scene.ticks(62);
    let second = names(&scene, Kind::Job);
    let told = scene.events().iter().any(|event| event.starts_with("JobAlreadyActive"));
    same("first", first.len(), 1);
    match text(&policy).as_str() {
        "Allow" => same("jobs", second.len(), 2),
        "Forbid" => all([same("jobs", second, first), holds("told", told)]),
        _ => all([same("jobs", second.len(), 1), holds("another one", second != first)]),
    }
}

fn many_missed(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(cron("* * * * *", json!({"suspend": true}))).unwrap();
    scene.ticks(102 * 60);
    change(&mut scene, Kind::CronJob, "tick", json!({"suspend": false}));
    scene.ticks(3);
    let events = scene.list(Kind::Event);
    let event = &case.expect["event"];
    let is_told =
        events.iter().any(|found| found["reason"] == event["reason"] && found["type"] == event["type"]);
    let minutes = scene.cluster.now().0 / 60;
    all([
        holds("told", is_told),
        same("the most recent one", names(&scene, Kind::Job), vec![format!("tick-{minutes}")]),
    ])
}

fn controller_back(case: &Case) -> Verdict {
    // As after a stop from 08:29 to 10:21: of the times of the last 200 s three are counted, and one Job is made.
    let seconds = case.given["startingDeadlineSeconds"].clone();
    let mut scene = Scene::controllers();
    scene.create(cron("* * * * *", json!({"suspend": true, "startingDeadlineSeconds": seconds}))).unwrap();
    scene.ticks(112 * 60);
    change(&mut scene, Kind::CronJob, "tick", json!({"suspend": false}));
    scene.ticks(3);
    let told = scene.events().iter().any(|event| event.starts_with("TooManyMissedTimes"));
    all([same("started", names(&scene, Kind::Job).len(), 1), same("too many", told, false)])
}
