//! Deployments: bounds of a rollout, one sync of the controller, scaling in the middle of a rollout, `kubectl rollout`.

use std::collections::BTreeMap;

use kubestep::api::int_or_string::IntOrString;
use kubestep::api::kind::Kind;
use kubestep::api::kinds::apps::{Deployment, DeploymentSpec, DeploymentStatus};
use kubestep::api::meta::ObjectKey;
use kubestep::api::object::Object;
use kubestep::cluster::component::View;
use kubestep::cluster::controllers::deployment::{self, bounds, progress};
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::server::request::Verb;
use kubestep::cluster::server::write::Operation;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, deployment, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "apps/v1 Deployment is defaulted" => defaults(case),
        "percentages are turned into pod counts against spec.replicas" => {
            let share = IntOrString::Text("25%".to_string());
            all([
                same("surge", share.scaled(3, true), Some(1)),
                same("unavailable", share.scaled(3, false), Some(0)),
            ])
        }
        "fenceposts are resolved" => fenceposts(case),
        "effective maxUnavailable is computed" => same(
            "maxUnavailable",
            json!(bounds::Bounds::of(&spec_of(&case.given)).unavailable),
            case.expect["maxUnavailable"].clone(),
        ),
        "minimum available is computed" => same(
            "minAvailable",
            json!(minimum_available(&spec_of(&case.given))),
            case.expect["minAvailable"].clone(),
        ),
        "target size of the new ReplicaSet is computed" => target_size(case),
        "new ReplicaSet is reconciled" | "old ReplicaSets are reconciled in one sync" => one_sync(case),
        "deployment is scaled outside the normal rollout step" => scaled(case),
        "history is cleaned up" => cleaned_up(case),
        "is the rollout complete" => complete(case),
        "is there progress" => same(
            "progress",
            json!(progress::is_progress(
                &counts(&case.given["old_status"]),
                &counts(&case.given["new_status"])
            )),
            case.expect["progressing"].clone(),
        ),
        "kubectl rollout status deployment foo" => rollout_status(case),
        "kubectl rollout undo" => undo(case),
        "kubectl rollout history" => {
            let mut scene = Scene::server();
            scene.create(deployment("web", 1)).unwrap();
            let output = scene.run("kubectl rollout history deployment/web");
            holds(&output.stdout, output.stdout.contains(&case.expected_text("text")))
        }
        "kubectl rollout restart" => restart(case),
        "kubectl rollout pause / resume" => pause(case),
        _ => Verdict::NotTried,
    }
}

/// A number or a text of a row.
fn int_or_string(value: &Value) -> Option<IntOrString> {
    match value {
        Value::Null => None,
        Value::Number(number) => Some(IntOrString::Int(number.as_i64().unwrap() as i32)),
        other => Some(IntOrString::Text(text(other))),
    }
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

fn spec_of(given: &Value) -> DeploymentSpec {
    let mut spec =
        DeploymentSpec { replicas: Some(number(&given["replicas"]) as i32), ..DeploymentSpec::default() };
    spec.strategy.strategy_type = given["strategy"].as_str().unwrap_or("RollingUpdate").to_string();
    let mut rolling = spec.strategy.rolling_update.take().unwrap_or_default();
    rolling.max_surge = int_or_string(&given["maxSurge"]);
    rolling.max_unavailable = int_or_string(&given["maxUnavailable"]);
    spec.strategy.rolling_update = Some(rolling);
    spec
}

/// What upstream calls so: nothing for a strategy that is no rolling update.
fn minimum_available(spec: &DeploymentSpec) -> i32 {
    if spec.strategy.strategy_type == "RollingUpdate" { bounds::Bounds::of(spec).at_least() } else { 0 }
}

fn defaults(case: &Case) -> Verdict {
    let bare = with(deployment("web", 1), |it| {
        it["spec"].as_object_mut().unwrap().remove("replicas");
    });
    let stored = Scene::server().create(bare).unwrap();
    all(case.expect.as_object().unwrap().iter().map(|(key, expected)| {
        let spec = &stored["spec"];
        let actual = match key.as_str() {
            "strategy.type" => spec["strategy"]["type"].clone(),
            "maxSurge" | "maxUnavailable" => spec["strategy"]["rollingUpdate"][key].clone(),
            // What is zero is not written.
            "minReadySeconds" => json!(number(&spec[key])),
            _ => spec[key].clone(),
        };
        same(key, actual, expected.clone())
    }))
}

fn fenceposts(case: &Case) -> Verdict {
    let [surge, unavailable] = ["maxSurge", "maxUnavailable"].map(|key| int_or_string(&case.given[key]));
    let wanted = number(&case.given["replicas"]) as i32;
    let resolved = bounds::fenceposts(surge.as_ref(), unavailable.as_ref(), wanted);
    let expected = match case.expect["error"] == json!(true) {
        true => None,
        false => Some((number(&case.expect["surge"]) as i32, number(&case.expect["unavailable"]) as i32)),
    };
    same("surge and unavailable", resolved, expected)
}

fn target_size(case: &Case) -> Verdict {
    let given = with(case.given.clone(), |it| {
        it["replicas"] = it["deployment.replicas"].clone();
        it["maxUnavailable"] = json!(1);
    });
    let spec = spec_of(&given);
    let is_rolling = spec.strategy.strategy_type == "RollingUpdate";
    let total = number(&given["all_replica_sets_total"]) as i32;
    let size =
        bounds::Bounds::of(&spec).new_set_size(number(&given["newRS.replicas"]) as i32, total, is_rolling);
    same("newRS.replicas", json!(size), case.expect["newRS.replicas"].clone())
}

/// A ReplicaSet of the Deployment `web`.
struct Set {
    name: String,
    is_new: bool,
    size: i64,
    reported: i64,
    available: i64,
    /// The annotations that say for which size of the Deployment it was sized, and with how many Pods at most.
    sized_for: Option<(i64, i64)>,
}

impl Set {
    fn new(name: &str, is_new: bool, size: i64, available: i64) -> Self {
        Self { name: name.to_string(), is_new, size, reported: size, available, sized_for: None }
    }
}

/// A server with the Deployment and its ReplicaSets, in the order in which they were made.
fn stage(document: &Value, sets: &[Set]) -> Scene {
    let mut scene = Scene::server();
    let owner = scene.create(document.clone()).unwrap();
    for (index, set) in sets.iter().enumerate() {
        scene.ticks(1);
        let mut template = document["spec"]["template"].clone();
        if !set.is_new {
            template["spec"]["containers"][0]["image"] = json!(format!("nginx:{index}"));
        }
        let hash = format!("hash{index}");
        template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
        let mut annotations = json!({"deployment.kubernetes.io/revision": (index + 1).to_string()});
        if let Some((desired, most)) = set.sized_for {
            annotations["deployment.kubernetes.io/desired-replicas"] = json!(desired.to_string());
            annotations["deployment.kubernetes.io/max-replicas"] = json!(most.to_string());
        }
        let labels = template["metadata"]["labels"].clone();
        scene
            .create(json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {
                    "name": set.name, "labels": labels, "annotations": annotations,
                    "ownerReferences": [{
                        "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": owner["metadata"]["uid"],
                        "controller": true, "blockOwnerDeletion": true,
                    }],
                },
                "spec": {"replicas": set.size, "selector": {"matchLabels": labels}, "template": template},
            }))
            .unwrap();
        let status = json!({"status": {
            "replicas": set.reported, "availableReplicas": set.available, "readyReplicas": set.available,
            "observedGeneration": 1,
        }});
        scene.request_to("status", Verb::MergePatch, Kind::ReplicaSet, &set.name, status).unwrap();
    }
    let total: i64 = sets.iter().map(|set| set.reported).sum();
    let status = json!({"status": {"replicas": total, "observedGeneration": 1}});
    scene.request_to("status", Verb::MergePatch, Kind::Deployment, "web", status).unwrap();
    scene
}

/// What one sync of the controller writes: the new size of each ReplicaSet it changes, none for one it deletes.
fn sync(scene: &Scene) -> BTreeMap<String, Option<i64>> {
    let cluster = &scene.cluster;
    let view = View {
        store: &cluster.store,
        now: cluster.now(),
        tick: cluster.tick(),
        settings: &cluster.settings,
        world: &cluster.world,
    };
    let key = WorkKey::Object(ObjectKey::new(Kind::Deployment, NAMESPACE, "web"));
    let mut sizes = BTreeMap::new();
    for write in deployment::reconcile(&view, &key).writes {
        match write.operation {
            Operation::Update(Object::ReplicaSet(set)) | Operation::Create(Object::ReplicaSet(set)) => {
                sizes.insert(set.meta.name.to_string(), set.spec.replicas.map(i64::from));
            }
            Operation::Delete { key, .. } => {
                sizes.insert(key.name.to_string(), None);
            }
            _ => {}
        }
    }
    sizes
}

fn rolling(replicas: i64, surge: &Value, unavailable: &Value) -> Value {
    with(deployment("web", replicas), |it| {
        it["spec"]["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
    })
}

fn one_sync(case: &Case) -> Verdict {
    let given = &case.given;
    let (surge, unavailable) = (&given["maxSurge"], &given["maxUnavailable"]);
    if number(surge) == 0 && number(unavailable) == 0 {
        // No server takes such a Deployment; the rule for what such bounds mean is tried by itself.
        return not_simulated("validation refuses it when both bounds are 0");
    }
    let wanted = number(&given["replicas"]);
    let size = |name: &str| number(&given[format!("{name}.replicas").as_str()]);
    let available = |name: &str| given.get(format!("{name}.available").as_str()).map_or(size(name), number);
    let most = wanted + number(surge);
    let mut sets = [
        Set::new("old", false, size("oldRS"), available("oldRS")),
        Set::new("new", true, size("newRS"), available("newRS")),
    ];
    for set in &mut sets {
        set.sized_for = Some((wanted, most));
    }
    let sizes = sync(&stage(&rolling(wanted, surge, unavailable), &sets));
    let (which, key) = match case.expect.get("newRS.replicas") {
        Some(_) => (&sets[1], "newRS.replicas"),
        None => (&sets[0], "oldRS.replicas"),
    };
    let after = sizes.get(&which.name).copied().flatten().unwrap_or(which.size);
    all([
        same(key, json!(after), case.expect[key].clone()),
        same("scaled", json!(after != which.size), case.expect["scaled"].clone()),
    ])
}

fn scaled(case: &Case) -> Verdict {
    let given = &case.given;
    let (wanted, before) = (number(&given["deployment.replicas"]), number(&given["previous.replicas"]));
    let surge = given.get("maxSurge").map_or(0, number);
    let surge_before = given.get("previous.maxSurge").map_or(surge, number);
    let mut sets = Vec::new();
    let olds: Vec<i64> = given["oldRSs (newest first)"].as_array().unwrap().iter().map(number).collect();
    for (index, size) in olds.iter().enumerate().rev() {
        sets.push(Set::new(&format!("old-{index}"), false, *size, *size));
    }
    if let Some(size) = given["newRS"].as_i64() {
        let available = given.get("newRS.available").map_or(size, number);
        sets.push(Set::new("new", true, size, available));
    }
    for set in &mut sets {
        set.sized_for = Some((before, before + surge_before));
    }
    let unavailable = given.get("maxUnavailable").cloned().unwrap_or(json!(if surge == 0 { 1 } else { 0 }));
    let sizes = sync(&stage(&rolling(wanted, &json!(surge), &unavailable), &sets));
    let after = |name: &str, size: i64| sizes.get(name).copied().flatten().unwrap_or(size);
    let new = given["newRS"].as_i64().map(|size| after("new", size));
    let old: Vec<i64> =
        olds.iter().enumerate().map(|(index, size)| after(&format!("old-{index}"), *size)).collect();
    all([
        same("newRS", json!(new), case.expect["newRS"].clone()),
        same("oldRSs", json!(old), case.expect["oldRSs"].clone()),
    ])
}

fn cleaned_up(case: &Case) -> Verdict {
    if case.given.get("deletionTimestamp set").is_some() {
        return Verdict::NotTried;
    }
    let has_pods = |pair: &Value| number(&pair[0]) + number(&pair[1]) > 0;
    if case.given["old RSs as [spec.replicas,status.replicas]"].as_array().unwrap().iter().any(has_pods) {
        return not_simulated("history is cleaned up only after a rollout, when no old ReplicaSet has Pods");
    }
    let mut sets: Vec<Set> = Vec::new();
    for (index, pair) in
        case.given["old RSs as [spec.replicas,status.replicas]"].as_array().unwrap().iter().enumerate()
    {
        let mut set = Set::new(&format!("old-{index}"), false, number(&pair[0]), 0);
        set.reported = number(&pair[1]);
        set.sized_for = Some((1, 1));
        sets.push(set);
    }
    let mut new = Set::new("new", true, 1, 1);
    new.sized_for = Some((1, 1));
    sets.push(new);
    let document = with(rolling(1, &json!(0), &json!(1)), |it| {
        it["spec"]["revisionHistoryLimit"] = case.given["revisionHistoryLimit"].clone();
    });
    let mut scene = stage(&document, &sets);
    // History is only cleaned up once the rollout is complete.
    let status = json!({"status": {
        "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1, "observedGeneration": 1,
    }});
    scene.request_to("status", Verb::MergePatch, Kind::Deployment, "web", status).unwrap();
    let deleted = sync(&scene).values().filter(|size| size.is_none()).count();
    same("deleted", json!(deleted), case.expect["deleted"].clone())
}

fn complete(case: &Case) -> Verdict {
    let given = &case.given;
    let count = |key: &str| number(&given[key]) as i32;
    let status = DeploymentStatus {
        replicas: count("status.replicas"),
        updated_replicas: count("updatedReplicas"),
        available_replicas: count("availableReplicas"),
        ..DeploymentStatus::default()
    };
    let mut deployment = Deployment::default();
    deployment.spec.replicas = Some(count("spec.replicas"));
    same("complete", json!(progress::is_complete(&deployment, &status)), case.expect["complete"].clone())
}

fn counts(list: &Value) -> DeploymentStatus {
    let count = |index: usize| number(&list[index]) as i32;
    DeploymentStatus {
        replicas: count(0),
        updated_replicas: count(1),
        ready_replicas: count(2),
        available_replicas: count(3),
        ..DeploymentStatus::default()
    }
}

fn rollout_status(case: &Case) -> Verdict {
    let given = &case.given;
    let mut scene = Scene::server();
    scene.create(deployment("foo", number(&given["spec.replicas"]))).unwrap();
    for _ in 1..number(&given["generation"]) {
        let patch = json!({"spec": {"minReadySeconds": scene.cluster.tick() % 7 + 1}});
        scene.request(Verb::MergePatch, Kind::Deployment, "foo", patch).unwrap();
    }
    let status = json!({"status": given["status"]});
    scene.request_to("status", Verb::MergePatch, Kind::Deployment, "foo", status).unwrap();
    let output = scene.run("kubectl rollout status deployment foo --watch=false");
    same("line", output.stdout.trim_end().to_string(), case.expected_text("line"))
}

/// A Deployment of two revisions: the second one runs.
fn two_revisions() -> Scene {
    let mut scene = Scene::controllers();
    scene.create(deployment("web", 1)).unwrap();
    scene.ticks(5);
    scene.run("kubectl set image deployment/web web=nginx:2");
    scene.ticks(5);
    scene
}

fn undo(case: &Case) -> Verdict {
    let says = |scene: &mut Scene, line: &str| {
        let output = scene.run(line);
        (output.stdout + &output.stderr).trim_end().to_string()
    };
    let has = |printed: String, key: &str| holds(&printed, printed.contains(&case.expected_text(key)));
    match &case.given {
        given if given.get("only one revision").is_some() => {
            let mut scene = Scene::controllers();
            scene.create(deployment("web", 1)).unwrap();
            scene.ticks(5);
            has(says(&mut scene, "kubectl rollout undo deployment/web"), "error")
        }
        given if given.get("paused").is_some() => {
            let mut scene = two_revisions();
            scene.run("kubectl rollout pause deployment/web");
            has(says(&mut scene, "kubectl rollout undo deployment/web"), "error")
        }
        given if given.get("exists").is_some() => {
            has(says(&mut two_revisions(), "kubectl rollout undo deployment/web --to-revision=9"), "error")
        }
        given if given.get("template equals target revision").is_some() => {
            has(says(&mut two_revisions(), "kubectl rollout undo deployment/web --to-revision=2"), "stdout")
        }
        _ => {
            let mut scene = two_revisions();
            let printed = says(&mut scene, "kubectl rollout undo deployment/web --to-revision=0");
            let live = scene.get(Kind::Deployment, "web").unwrap();
            let image = text(&live["spec"]["template"]["spec"]["containers"][0]["image"]);
            all([has(printed, "stdout"), same("image", image, "nginx:1.29".to_string())])
        }
    }
}

fn restart(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene.create(deployment("web", 1)).unwrap();
    let first = scene.run("kubectl rollout restart deployment/web");
    let live = scene.get(Kind::Deployment, "web").unwrap();
    let stamp = &live["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"];
    scene.run("kubectl rollout pause deployment/web");
    let second = scene.run("kubectl rollout restart deployment/web");
    all([
        same("stdout", first.stdout.trim_end().to_string(), case.expected_text("stdout")),
        holds("restartedAt", stamp.is_string()),
        holds(&second.stderr, second.stderr.contains(&case.expected_text("when paused"))),
    ])
}

fn pause(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene.create(deployment("web", 1)).unwrap();
    let first = scene.run("kubectl rollout pause deployment/web").stdout.trim_end().to_string();
    let again = scene.run("kubectl rollout pause deployment/web").stderr;
    let second = scene.run("kubectl rollout resume deployment/web").stdout.trim_end().to_string();
    all([
        same("stdout", json!([first, second]), case.expect["stdout"].clone()),
        holds(&again, again.contains("is already paused")),
    ])
}
