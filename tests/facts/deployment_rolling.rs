//! Deployments: bounds of a rollout, one sync of the controller, scaling in the middle of a rollout, `kubectl rollout`.

use std::collections::BTreeMap;

use kubestep::api::codec::Codec;
use kubestep::api::int_or_string::IntOrString;
use kubestep::api::kind::Kind;
use kubestep::api::kinds::apps::{Deployment, DeploymentSpec, DeploymentStatus};
use kubestep::api::meta::ObjectKey;
use kubestep::api::object::Object;
use kubestep::cluster::because::Because;
use kubestep::cluster::component::Outcome;
use kubestep::cluster::controllers::deployment::{self, bounds, progress, revision};
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::server::request::Verb;
use kubestep::cluster::server::write::Operation;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, same, text};
use crate::deployment_status;
use crate::scene::{NAMESPACE, Scene, deployment, pod as plain_pod, with};

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
        "kubectl rollout history deployment/web" => {
            let mut scene = two_revisions();
            scene.run("kubectl annotate deployment/web kubernetes.io/change-cause='kubectl set image'");
            scene.ticks(3);
            let output = scene.run("kubectl rollout history deployment/web");
            let lines: Vec<&str> = output.stdout.lines().filter(|line| !line.is_empty()).collect();
            same("lines", json!(lines), case.expect["lines"].clone())
        }
        "kubectl rollout status" => rollout_failure(case),
        "unhealthy replicas of old ReplicaSets are removed first" => unhealthy_first(case),
        "available old replicas are scaled down" => available_down(case),
        "how many old replicas may go in one sync" => budget_formula(),
        "a crash-looping rollout while one old pod is unavailable" | "rollout undo has been issued" => {
            worked_case(case)
        }
        "a third template is pushed during a stuck rollout" => third_template(case),
        "one sync of the controller" => order_in_one_sync(),
        "new ReplicaSet is chosen" | "old ReplicaSets are listed" => oldest_of_equal_templates(),
        "templates are compared" => templates(case),
        "proportional scaling" => sharing_order(),
        "scaling event" => one_or_none_active(),
        "share of a ReplicaSet in a scaling event" => share(case),
        "scaled while a rollout is stuck" => stuck_and_scaled(case),
        "may the new ReplicaSet start" => recreate_waits(case),
        "rollout starts" => {
            let document =
                with(deployment("web", 3), |it| it["spec"]["strategy"] = json!({"type": "Recreate"}));
            let sizes = sync(&stage(&document, &[Set::new("old", false, 3, 3)]));
            same("oldRS", json!(sizes.get("old").copied().flatten()), case.expect["oldRS"].clone())
        }
        "kubectl rollout restart" => restart(case),
        "kubectl rollout pause / resume" => pause(case),
        _ => deployment_status::judge(case),
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

pub fn number(value: &Value) -> i64 {
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
pub struct Set {
    name: String,
    is_new: bool,
    size: i64,
    /// How many of its Pods it reports.
    pub reported: i64,
    available: i64,
    /// The annotations that say for which size of the Deployment it was sized, and with how many Pods at most.
    sized_for: Option<(i64, i64)>,
}

impl Set {
    /// A ReplicaSet of that size, all of whose Pods are there.
    pub fn new(name: &str, is_new: bool, size: i64, available: i64) -> Self {
        Self { name: name.to_string(), is_new, size, reported: size, available, sized_for: None }
    }

    /// The same, sized when the Deployment was that large and might have that many Pods.
    #[must_use]
    pub fn sized_for(mut self, desired: i64, most: i64) -> Self {
        self.sized_for = Some((desired, most));
        self
    }
}

/// A server with the Deployment and its ReplicaSets, in the order in which they were made.
pub fn stage(document: &Value, sets: &[Set]) -> Scene {
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

/// One sync of the controller.
pub fn outcome(scene: &Scene) -> Outcome {
    let key = WorkKey::Object(ObjectKey::new(Kind::Deployment, NAMESPACE, "web"));
    deployment::reconcile(&scene.view(), &key)
}

/// What one sync of the controller writes: the new size of each ReplicaSet it changes, none for one it deletes.
pub fn sync(scene: &Scene) -> BTreeMap<String, Option<i64>> {
    let mut sizes = BTreeMap::new();
    for write in outcome(scene).writes {
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

pub fn rolling(replicas: i64, surge: &Value, unavailable: &Value) -> Value {
    // No server takes two bounds of 0, but it takes a share that comes to nothing.
    let nothing = json!("1%");
    let unavailable = if number(surge) == 0 && unavailable == 0 { &nothing } else { unavailable };
    with(deployment("web", replicas), |it| {
        it["spec"]["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
    })
}

fn one_sync(case: &Case) -> Verdict {
    let given = &case.given;
    let (surge, unavailable) = (&given["maxSurge"], &given["maxUnavailable"]);
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
    let given = &case.given;
    let pairs = given["old RSs as [spec.replicas,status.replicas]"].as_array().unwrap();
    let has_pods = pairs.iter().any(|pair| number(&pair[0]) + number(&pair[1]) > 0);
    let wanted = pairs.iter().map(|pair| number(&pair[0])).sum::<i64>() + 1;
    let mut sets: Vec<Set> = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let mut set = Set::new(&format!("old-{index}"), false, number(&pair[0]), number(&pair[0]));
        set.reported = number(&pair[1]);
        sets.push(set);
    }
    sets.push(Set::new("new", true, 1, 1));
    for set in &mut sets {
        set.sized_for = Some((wanted, wanted));
    }
    // A rollout that is held cleans up whatever its old ReplicaSets have; another one when they have no Pods.
    let document = with(rolling(wanted, &json!(0), &json!(1)), |it| {
        it["spec"]["revisionHistoryLimit"] = given["revisionHistoryLimit"].clone();
        it["spec"]["paused"] = json!(has_pods);
    });
    let mut scene = stage(&document, &sets);
    if given.get("deletionTimestamp set").is_some() {
        let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
        scene.request(Verb::MergePatch, Kind::ReplicaSet, "old-0", hold).unwrap();
        scene.delete(Kind::ReplicaSet, "old-0", |_| {}).unwrap();
    }
    let status = json!({"status": {
        "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1, "observedGeneration": 1,
    }});
    scene.request_to("status", Verb::MergePatch, Kind::Deployment, "web", status).unwrap();
    let deleted = sync(&scene).values().filter(|size| size.is_none()).count();
    same("deleted", json!(deleted), case.expect["deleted"].clone())
}

/// The sizes after a Deployment with those ReplicaSets, the newest last, was scaled from one size to another.
pub fn sizes_after_scaling(sets: &[(&str, i64)], before: i64, after: i64) -> BTreeMap<String, i64> {
    let last = sets.len() - 1;
    let staged: Vec<Set> = sets
        .iter()
        .enumerate()
        .map(|(index, (name, size))| {
            let mut set = Set::new(name, index == last, *size, *size);
            set.sized_for = Some((before, before));
            set
        })
        .collect();
    let sizes = sync(&stage(&rolling(after, &json!(0), &json!(1)), &staged));
    let size = |(name, before): &(&str, i64)| {
        (name.to_string(), sizes.get(*name).copied().flatten().unwrap_or(*before))
    };
    sets.iter().map(size).collect()
}

/// How many Pods one sync takes from a ReplicaSet for one reason.
fn removed_because(scene: &Scene, set: &str, key: &str) -> i64 {
    let arg = |because: &Because, name: &str| -> String {
        because
            .args
            .iter()
            .find(|(known, _)| *known == name)
            .map_or_else(String::new, |(_, value)| value.clone())
    };
    outcome(scene)
        .writes
        .iter()
        .filter(|write| matches!(write.operation, Operation::Event(_)) && write.because.key == key)
        .filter(|write| arg(&write.because, "set") == set)
        .map(|write| {
            let number = |name: &str| arg(&write.because, name).parse::<i64>().unwrap();
            number("from") - number("to")
        })
        .sum()
}

fn unhealthy_first(case: &Case) -> Verdict {
    let number_of = |key: &str| number(&case.given[key]);
    let budget = number_of("max_cleanup");
    // A new ReplicaSet as large as the surge, of whose Pods as many are available as may go.
    let size = budget.max(1);
    let sets = [
        Set::new("old", false, number_of("oldRS.replicas"), number_of("oldRS.available")),
        Set::new("new", true, size, budget),
    ];
    let scene = stage(&rolling(number_of("oldRS.replicas"), &json!(size), &json!(0)), &sets);
    let removed = removed_because(&scene, "old", "because.deployment.clean_up_unhealthy");
    same("removed", json!(removed), case.expect["removed"].clone())
}

fn available_down(case: &Case) -> Verdict {
    let number_of = |key: &str| number(&case.given[key]);
    let size = number_of("oldRS.replicas");
    let sets =
        [Set::new("old", false, size, number_of("available_total").min(size)), Set::new("new", true, 0, 0)];
    let (surge, unavailable) = (&case.given["maxSurge"], &case.given["maxUnavailable"]);
    let scene = stage(&rolling(number_of("replicas"), surge, unavailable), &sets);
    let removed = removed_because(&scene, "old", "because.deployment.shrink_old");
    all([
        same("oldRS.replicas", json!(size - removed), case.expect["oldRS.replicas"].clone()),
        same("scaled", json!(removed > 0), case.expect["scaled"].clone()),
    ])
}

fn budget_formula() -> Verdict {
    // The new ReplicaSet is as large as it may be; two old ones stand beside it, the older one first.
    let table = [
        (10, 3, 2, (5, 2), [(4, 2), (4, 4)]),
        (10, 3, 2, (3, 3), [(5, 1), (5, 5)]),
        (6, 1, 1, (1, 1), [(3, 3), (3, 3)]),
        (10, 3, 2, (5, 0), [(4, 3), (4, 4)]),
    ];
    all(table.map(|(wanted, surge, unavailable, new, old)| {
        let sets = [
            Set::new("older", false, old[0].0, old[0].1),
            Set::new("old", false, old[1].0, old[1].1),
            Set::new("new", true, new.0, new.1),
        ];
        let least = wanted - unavailable;
        let budget: i64 = new.0 + old[0].0 + old[1].0 - least - (new.0 - new.1);
        let mut expected = [old[0].0, old[1].0];
        if budget > 0 {
            let mut left = budget;
            for (size, (before, available)) in expected.iter_mut().zip(old) {
                let gone = left.min(before - available);
                *size -= gone;
                left -= gone;
            }
            let mut spare = (new.1 + old[0].1 + old[1].1 - least).max(0);
            for size in &mut expected {
                let gone = spare.min(*size);
                *size -= gone;
                spare -= gone;
            }
        }
        let sizes = sync(&stage(&rolling(wanted, &json!(surge), &json!(unavailable)), &sets));
        let after = |name: &str, size: i64| sizes.get(name).copied().flatten().unwrap_or(size);
        same("older and old", [after("older", old[0].0), after("old", old[1].0)], expected)
    }))
}

fn worked_case(case: &Case) -> Verdict {
    let given = &case.given;
    let of = |set: &str, key: &str| number(&given[set][key]);
    let sets = [
        Set::new("old", false, of("oldRS", "replicas"), of("oldRS", "available")),
        Set::new("new", true, of("newRS", "replicas"), of("newRS", "available")),
    ];
    let (wanted, unavailable) = (number(&given["replicas"]), number(&given["maxUnavailable"]));
    let scene = stage(&rolling(wanted, &given["maxSurge"], &given["maxUnavailable"]), &sets);
    let sizes = sync(&scene);
    let old = sizes.get("old").copied().flatten().unwrap_or(of("oldRS", "replicas"));
    let new = sizes.get("new").copied().flatten().unwrap_or(of("newRS", "replicas"));
    let budget = of("oldRS", "replicas") + of("newRS", "available") - (wanted - unavailable);
    let removed = of("oldRS", "replicas") - old;
    let optional = |key: &str, actual: i64| {
        case.expect.get(key).map_or(Verdict::Holds, |expected| same(key, json!(actual), expected.clone()))
    };
    all([
        optional("budget", budget),
        optional("oldRS.replicas", old),
        optional("crashlooping_removed", removed),
        optional("total_after", old + new),
    ])
}

fn third_template(case: &Case) -> Verdict {
    let given = &case.given;
    // Of the 13 Pods there are, 8 are available: as many as must be.
    let total = number(&given["old_total"]);
    let scene = stage(
        &rolling(number(&given["replicas"]), &given["maxSurge"], &given["maxUnavailable"]),
        &[Set::new("old", false, total, 8)],
    );
    let created = outcome(&scene).writes.iter().find_map(|write| match &write.operation {
        Operation::Create(Object::ReplicaSet(set)) => set.spec.replicas,
        _ => None,
    });
    let old = sync(&scene).get("old").copied().flatten().unwrap_or(total);
    all([
        same("newRS", json!(created), case.expect["newRS.replicas_at_creation"].clone()),
        same("budget", json!(total - old), case.expect["budget"].clone()),
    ])
}

fn order_in_one_sync() -> Verdict {
    let run = |new: i64, old: i64, limit: i64| {
        let document =
            with(rolling(10, &json!(1), &json!(1)), |it| it["spec"]["revisionHistoryLimit"] = json!(limit));
        let mut scene =
            stage(&document, &[Set::new("old", false, old, old), Set::new("new", true, new, new)]);
        let status = json!({"status": {
            "replicas": old + new, "updatedReplicas": new, "availableReplicas": old + new, "observedGeneration": 1,
        }});
        scene.request_to("status", Verb::MergePatch, Kind::Deployment, "web", status).unwrap();
        sync(&scene)
    };
    let entry = |name: &str, size: Option<i64>| (name.to_string(), size);
    all([
        same("the new one grows, and that is all", run(5, 5, 0), BTreeMap::from([entry("new", Some(6))])),
        same("else the old one shrinks", run(6, 5, 0), BTreeMap::from([entry("old", Some(3))])),
        same("when it is complete, the old one goes", run(10, 0, 0), BTreeMap::from([entry("old", None)])),
        same("unless it is within the limit", run(10, 0, 1), BTreeMap::new()),
    ])
}

fn oldest_of_equal_templates() -> Verdict {
    // Three ReplicaSets, the last two of the present template. The older of those grows; the newer one shrinks as old.
    let sets = [Set::new("old", false, 1, 1), Set::new("new-dup", true, 1, 1), Set::new("new", true, 1, 1)];
    let grows = sync(&stage(&rolling(4, &json!(0), &json!(1)), &sets));
    let sets = [Set::new("old", false, 1, 1), Set::new("new-dup", true, 4, 4), Set::new("new", true, 1, 1)];
    let shrink = sync(&stage(&rolling(4, &json!(0), &json!(1)), &sets));
    let entries = [("old", Some(0)), ("new-dup", Some(4)), ("new", Some(0))]
        .map(|(name, size)| (name.to_string(), size));
    all([
        same("grows", grows, BTreeMap::from([("new-dup".to_string(), Some(2))])),
        same("shrink", shrink, BTreeMap::from(entries)),
    ])
}

fn templates(case: &Case) -> Verdict {
    let template = |change: &str| {
        let mut deployment: Deployment = Codec::decode(deployment("web", 1)).unwrap();
        let meta = &mut deployment.spec.template.meta;
        match change {
            "label" => drop(meta.labels.insert("pod-template-hash".to_string(), "a".to_string())),
            "annotations" => drop(meta.annotations.insert("a".to_string(), "b".to_string())),
            _ => {}
        }
        deployment.spec.template
    };
    let changed = if case.given.get("templates differ in").is_some() { "annotations" } else { "label" };
    let equal = revision::is_same_template(&template(""), &template(changed));
    same("equal", json!(equal), case.expect["equal"].clone())
}

fn sharing_order() -> Verdict {
    // Ranks count from the oldest.
    let order = |grows: bool| {
        let mut sizes = vec![(0, 2), (1, 5), (2, 5), (3, 1)];
        bounds::sharing_order(&mut sizes, grows);
        sizes.into_iter().map(|(rank, _)| rank).collect::<Vec<_>>()
    };
    let sizes = |bounds: (i32, i32), sizes: &[i32]| {
        let bounds = bounds::Bounds { wanted: bounds.0, surge: bounds.1, unavailable: 0 };
        let total = sizes.iter().sum();
        let share = |&size: &i32| bounds::Share { size, max_replicas: Some(total) };
        bounds::proportional_sizes(bounds, total, &sizes.iter().map(share).collect::<Vec<_>>())
    };
    let recreate = with(deployment("web", 6), |it| it["spec"]["strategy"] = json!({"type": "Recreate"}));
    let mut sets = [Set::new("old", false, 2, 2), Set::new("new", true, 1, 1)];
    sets.iter_mut().for_each(|set| set.sized_for = Some((3, 3)));
    all([
        same("growing: by size, then the newest", order(true), vec![2, 1, 0, 3]),
        same("shrinking: by size, then the oldest", order(false), vec![1, 2, 0, 3]),
        same("at most replicas + maxSurge", sizes((10, 3), &[4, 4]).iter().sum::<i32>(), 13),
        same("nobody when 0 are wanted", sizes((0, 3), &[4, 4]), vec![0, 0]),
        same("what is left goes to the first", sizes((10, 0), &[3, 3, 3]), vec![4, 3, 3]),
        same("only a rolling update", sync(&stage(&recreate, &sets)), BTreeMap::new()),
    ])
}

fn one_or_none_active() -> Verdict {
    let run = |old: i64, new: i64, paused: bool| {
        let document = with(rolling(5, &json!(0), &json!(1)), |it| it["spec"]["paused"] = json!(paused));
        let mut sets = [Set::new("old", false, old, old), Set::new("new", true, new, new)];
        sets.iter_mut().for_each(|set| set.sized_for = Some((3, 3)));
        sync(&stage(&document, &sets))
    };
    let only = |name: &str| BTreeMap::from([(name.to_string(), Some(5))]);
    all([
        same("one active", run(3, 0, true), only("old")),
        same("the new one is active", run(0, 3, false), only("new")),
        same("none active", run(0, 0, true), only("new")),
    ])
}

fn share(case: &Case) -> Verdict {
    let given = &case.given;
    let number_of = |key: &str| number(&given[key]) as i32;
    let bounds = bounds::Bounds {
        wanted: number_of("deployment.replicas"),
        surge: number_of("maxSurge"),
        unavailable: 0,
    };
    let share = bounds::Share {
        size: number_of("rs.replicas"),
        max_replicas: given["annotation max-replicas"].as_str().map(|text| text.parse().unwrap()),
    };
    same(
        "delta",
        json!(bounds::fraction(bounds, number_of("status.replicas"), share)),
        case.expect["delta"].clone(),
    )
}

fn stuck_and_scaled(case: &Case) -> Verdict {
    let given = &case.given;
    let before = number(&given["replicas"]);
    let most = before + number(&given["maxSurge"]);
    let mut sets = [
        Set::new("old", false, number(&given["oldRS"]), 8),
        Set::new("new", true, number(&given["newRS"]), 0),
    ];
    sets.iter_mut().for_each(|set| set.sized_for = Some((before, most)));
    let sizes = sync(&stage(
        &rolling(number(&given["new replicas"]), &given["maxSurge"], &given["maxUnavailable"]),
        &sets,
    ));
    all([
        same("oldRS", json!(sizes["old"]), case.expect["oldRS"].clone()),
        same("newRS", json!(sizes["new"]), case.expect["newRS"].clone()),
    ])
}

fn recreate_waits(case: &Case) -> Verdict {
    let document = with(deployment("web", 2), |it| it["spec"]["strategy"] = json!({"type": "Recreate"}));
    let (sets, pods) = (text(&case.given["oldRSs"]), text(&case.given["old_pods"]));
    let mut staged = Vec::new();
    if sets != "[]" {
        let mut set = Set::new("old", false, 0, 0);
        set.reported = i64::from(sets.ends_with("=1"));
        staged.push(set);
    }
    let mut scene = stage(&document, &staged);
    let phases: Vec<&str> = match pods.as_str() {
        "" => Vec::new(),
        "two pods each" => vec!["Running", "Running"],
        phases => phases.split(',').collect(),
    };
    for (index, phase) in phases.into_iter().enumerate() {
        let name = format!("pod-{index}");
        let uid = scene.get(Kind::ReplicaSet, "old").unwrap()["metadata"]["uid"].clone();
        let pod = with(plain_pod(&name), |it| {
            it["metadata"]["labels"] = json!({"app": "web"});
            it["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "old", "uid": uid, "controller": true,
            }]);
        });
        scene.create(pod).unwrap();
        scene
            .request_to("status", Verb::MergePatch, Kind::Pod, &name, json!({"status": {"phase": phase}}))
            .unwrap();
    }
    let started = sync(&scene).iter().any(|(name, size)| name != "old" && *size == Some(2));
    same("old_pods_block", json!(!started), case.expect["old_pods_block"].clone())
}

fn rollout_failure(case: &Case) -> Verdict {
    if let Some(error) = case.expect.get("error") {
        let mut scene = two_revisions();
        scene.run("kubectl set image deployment/web web=nginx:3");
        scene.ticks(5);
        let output = scene.run("kubectl rollout status deployment/web --revision=2");
        return holds(&output.stderr, output.stderr.contains(&text(error)));
    }
    let mut scene = Scene::server();
    scene.create(deployment("foo", 2)).unwrap();
    // Fewer are updated than wanted: the deadline is told first.
    let condition =
        json!([{"type": "Progressing", "status": "False", "reason": case.given["Progressing reason"]}]);
    let status = json!({"status": {"observedGeneration": 1, "conditions": condition, "updatedReplicas": 1}});
    scene.request_to("status", Verb::MergePatch, Kind::Deployment, "foo", status).unwrap();
    let output = scene.run("kubectl rollout status deployment foo");
    scene
        .request(Verb::MergePatch, Kind::Deployment, "foo", json!({"spec": {"minReadySeconds": 3}}))
        .unwrap();
    let unseen = scene.run("kubectl rollout status deployment foo --watch=false");
    all([
        same("stderr", output.stderr.trim_end().to_string(), case.expected_text("stderr")),
        same("exit", json!(output.exit), case.expect["exit"].clone()),
        holds(&unseen.stdout, unseen.stdout.contains("spec update to be observed")),
    ])
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
