//! Deployments: what they report, when a rollout has timed out, what their ReplicaSets are called and remember.

use kubestep::api::kind::Kind;
use kubestep::api::kinds::apps::{Deployment, DeploymentStatus, ReplicaSet, ReplicaSetCondition};
use kubestep::api::meta::ObjectMeta;
use kubestep::api::object::Object;
use kubestep::api::time::Timestamp;
use kubestep::cluster::controllers::deployment::{self, progress, revision};
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::server::request::Verb;
use kubestep::cluster::server::status::Status;
use kubestep::cluster::server::write::Operation;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::deployment_rolling::{Set, number, outcome, rolling, stage, sync};
use crate::scene::{NAMESPACE, Scene, deployment as document, with};

const SINCE: Timestamp = Timestamp(1_000_000);

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "names" => names(case),
        "timeout is checked" => timed_out(case),
        "re-check of a possibly stuck rollout is scheduled" => checked_again(case),
        "rollout status is synced" => synced(case),
        "messages of the Progressing condition" => messages(case),
        "Available condition" => available(case),
        "condition is set again" => set_again(),
        "deployment is paused" => {
            let mut held = reporting(60, "ProgressDeadlineExceeded", 0);
            held.spec.paused = true;
            let before = held.status.clone();
            progress::mark_paused(&mut held, Timestamp(SINCE.0 + 5));
            same("conditions", held.status.conditions, before.conditions)
        }
        "failure conditions are lifted to the Deployment" => lifted(case),
        "status of the Deployment" => quota_exhausted(case),
        "controller action" => deadline_exceeded(case),
        "conditions" => complete_then_unready(case),
        "template is changed" => held_template(case),
        "controller sync" => held_size(case),
        "new ReplicaSet is created" => created(case),
        "event on the Deployment" => scaling_event(case),
        "event" => {
            // As many Pods are there as may be: the new ReplicaSet begins with none.
            let scene = stage(&rolling(2, &json!(0), &json!(1)), &[Set::new("old", false, 2, 1)]);
            let grown = outcome(&scene).writes.iter().any(
                |write| matches!(&write.operation, Operation::Event(event) if event.message.starts_with("Scaled up")),
            );
            same("emitted", json!(grown), case.expect["emitted"].clone())
        }
        "an old RS becomes current again" => current_again(),
        "revision numbers" => revision_numbers(case),
        "annotations are copied to the new ReplicaSet" => copied(case),
        "counts are summed" => summed(case),
        "status fields" => status_fields(),
        _ => Verdict::NotTried,
    }
}

fn created_set(scene: &Scene) -> Option<Value> {
    outcome(scene).writes.into_iter().find_map(|write| match write.operation {
        Operation::Create(set @ Object::ReplicaSet(_)) => Some(set.to_value()),
        _ => None,
    })
}

fn names(case: &Case) -> Verdict {
    let set = created_set(&stage(&rolling(4, &json!(2), &json!(1)), &[])).unwrap();
    let annotations = &set["metadata"]["annotations"];
    let constants = [
        ("revision", revision::REVISION),
        ("history", revision::REVISION_HISTORY),
        ("desired", revision::DESIRED_REPLICAS),
        ("max", revision::MAX_REPLICAS),
    ];
    all(constants.map(|(key, name)| same(key, name.to_string(), case.expected_text(key))).into_iter().chain(
        [
            same("revision", annotations[revision::REVISION].clone(), json!("1")),
            same("desired", annotations[revision::DESIRED_REPLICAS].clone(), json!("4")),
            same("max", annotations[revision::MAX_REPLICAS].clone(), json!("6")),
        ],
    ))
}

/// A Deployment of 3 with that deadline, whose condition Progressing has had that reason for so many seconds.
fn reporting(deadline: i32, reason: &str, replicas: i32) -> Deployment {
    let mut deployment = Deployment::default();
    deployment.meta.name = "web".into();
    deployment.spec.replicas = Some(replicas);
    deployment.spec.progress_deadline_seconds = Some(deadline);
    let value = if reason == "ProgressDeadlineExceeded" { "False" } else { "True" };
    if !reason.is_empty() {
        progress::set_condition(
            &mut deployment.status.conditions,
            (progress::PROGRESSING, value),
            (reason, ""),
            SINCE,
        );
    }
    deployment
}

fn counted(counts: [i32; 3]) -> DeploymentStatus {
    let [replicas, updated_replicas, available_replicas] = counts;
    DeploymentStatus { replicas, updated_replicas, available_replicas, ..DeploymentStatus::default() }
}

fn set_of(size: i32, reported: i32, available: i32) -> ReplicaSet {
    let mut set = ReplicaSet::default();
    set.meta.name = "web-5d".into();
    set.spec.replicas = Some(size);
    set.status.replicas = reported;
    set.status.ready_replicas = available;
    set.status.available_replicas = available;
    set
}

/// The deadline of a row; the one that stands for none when it has none.
fn deadline(case: &Case) -> i32 {
    case.given["progressDeadlineSeconds"].as_i64().unwrap_or(i64::from(i32::MAX)) as i32
}

/// Status and reason of the condition Progressing after a sync, `removed` when there is none.
fn progressing(deployment: &Deployment, new: &ReplicaSet, after_seconds: i64) -> String {
    let now = Timestamp(SINCE.0 + after_seconds);
    let status = progress::rollout_status(deployment, &[new], Some(new), now);
    progress::condition(&status, progress::PROGRESSING)
        .map_or("removed".to_string(), |condition| format!("{}/{}", condition.status, condition.reason))
}

fn timed_out(case: &Case) -> Verdict {
    let reason = case.given["Progressing reason"].as_str().unwrap_or("ReplicaSetUpdated");
    let is_complete = reason == "NewReplicaSetAvailable";
    let deadline = if is_complete { 10 } else { deadline(case) };
    let mut deployment = reporting(deadline, reason, 3);
    deployment.status.replicas = 3;
    deployment.status.updated_replicas = 3;
    let elapsed = case.given["seconds since condition lastUpdateTime"].as_i64().unwrap_or(99);
    let found = progressing(&deployment, &set_of(3, 3, 0), elapsed);
    same("timed_out", json!(found == "False/ProgressDeadlineExceeded"), case.expect["timed_out"].clone())
}

fn checked_again(case: &Case) -> Verdict {
    let given = &case.given;
    let Some(elapsed) = given.get("elapsed_s").map_or(Some(0), Value::as_i64) else {
        return not_simulated("a tick is a second: nothing happens within one");
    };
    let reason = match () {
        () if given.get("Progressing").is_some() => "",
        () if given.get("complete").is_some() => "NewReplicaSetAvailable",
        () => given["reason"].as_str().unwrap_or("ReplicaSetUpdated"),
    };
    let deployment = reporting(deadline(case), reason, 3);
    let ticks = progress::ticks_until_deadline(&deployment, &deployment.status, Timestamp(SINCE.0 + elapsed));
    // One second is added; "now" is the next tick.
    let expected = match case.expect["after_seconds"].as_i64().unwrap() {
        -1 => None,
        seconds => Some(seconds as u64 + 1),
    };
    same("ticks", ticks, expected)
}

fn synced(case: &Case) -> Verdict {
    let given = &case.given;
    let (before, reason) = match given["Progressing"].as_str().unwrap().split_once('/') {
        Some((_, reason)) => (given["Progressing"].as_str().unwrap(), reason),
        None => panic!("no condition"),
    };
    let has_no_deadline = given.get("progressDeadlineSeconds").is_some_and(Value::is_null);
    let mut deployment = reporting(if has_no_deadline { i32::MAX } else { 60 }, reason, 3);
    let conditions = std::mem::take(&mut deployment.status.conditions);
    let is_complete = given["complete"] == json!(true);
    let (counts, set, elapsed) = match () {
        () if has_no_deadline => ([2, 2, 2], set_of(3, 2, 2), 10),
        () if given.get("status").is_some() => ([3, 3, 3], set_of(3, 3, 3), 10),
        () if is_complete => ([3, 3, 2], set_of(3, 3, 3), 10),
        () if given.get("after").is_some() || given.get("pods progress").is_some() => {
            ([2, 1, 2], set_of(3, 2, 2), 10)
        }
        () => ([3, 3, 0], set_of(3, 3, 0), 61),
    };
    deployment.status = DeploymentStatus { conditions, ..counted(counts) };
    deployment.status.ready_replicas = counts[2];
    let now = Timestamp(SINCE.0 + elapsed);
    let mut old = set_of(0, 0, 0);
    if given.get("after").is_some() {
        // An old Pod is there still: 3 in all, 2 of them updated.
        old = set_of(1, 1, 0);
    }
    let status = progress::rollout_status(&deployment, &[&old, &set], Some(&set), now);
    let found = progress::condition(&status, progress::PROGRESSING);
    let says =
        found.map_or("removed".to_string(), |condition| format!("{}/{}", condition.status, condition.reason));
    let expected = case.expected_text("Progressing");
    let keeps_times = expected.ends_with("times unchanged");
    let times = found.map(|condition| (condition.last_transition_time, condition.last_update_time));
    let kept = case.expect.get("lastTransitionTime").is_some();
    all([
        same("Progressing", says, expected.split(',').next().unwrap_or_default().to_string()),
        if keeps_times { same("times", times, Some((Some(SINCE), Some(SINCE)))) } else { Verdict::Holds },
        if kept {
            same("lastTransitionTime", times.and_then(|times| times.0), Some(SINCE))
        } else {
            Verdict::Holds
        },
        if case.expect.get("lastUpdateTime").is_some() {
            same("lastUpdateTime", times.and_then(|times| times.1), Some(now))
        } else {
            Verdict::Holds
        },
        holds(before, !before.is_empty()),
    ])
}

fn messages(case: &Case) -> Verdict {
    if case.expect.get("NewReplicaSetAvailable").is_some() {
        return rollout_messages(case);
    }
    let message = |value: &Value| {
        let conditions = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.into_iter().find(|condition| condition["type"] == "Progressing");
        found.map_or_else(String::new, |condition| text(&condition["message"]))
    };
    let written = |scene: &Scene| {
        let writes = outcome(scene).writes;
        let status = writes.into_iter().find_map(|write| match write.operation {
            Operation::UpdateStatus(object) => Some(object.to_value()),
            _ => None,
        });
        message(&status.unwrap())
    };
    let named = |key: &str, name: &str| case.expected_text(key).replace("web-5d", name);
    let fresh = stage(&rolling(1, &json!(1), &json!(0)), &[]);
    let name = text(&created_set(&fresh).unwrap()["metadata"]["name"]);
    // It reports nothing yet: no progress is seen beside it.
    let mut idle = Set::new("web-5d", true, 1, 0);
    idle.reported = 0;
    let found = stage(&rolling(1, &json!(1), &json!(0)), &[idle]);
    let create = outcome(&fresh)
        .writes
        .into_iter()
        .find(|write| matches!(write.operation, Operation::Create(_)))
        .unwrap();
    let refusal = Status { message: "ERR".to_string(), ..Status::forbidden(Kind::ReplicaSet, "x", "") };
    let key = WorkKey::Object(kubestep::api::meta::ObjectKey::new(Kind::Deployment, NAMESPACE, "web"));
    let refused = deployment::after_refusal(&fresh.view(), &key, &create, &refusal);
    let refused = refused.into_iter().find_map(|write| match write.operation {
        Operation::UpdateStatus(object) => Some(message(&object.to_value())),
        _ => None,
    });
    let mut held = reporting(60, "ReplicaSetUpdated", 1);
    held.spec.paused = true;
    let says = |deployment: &Deployment| {
        let condition = progress::condition(&deployment.status, progress::PROGRESSING).unwrap();
        (condition.status.clone(), condition.message.clone())
    };
    progress::mark_paused(&mut held, SINCE);
    let paused = says(&held);
    held.spec.paused = false;
    progress::mark_paused(&mut held, SINCE);
    let unknown = |key: &str| ("Unknown".to_string(), case.expected_text(key));
    all([
        same("created", written(&fresh), named("NewReplicaSetCreated", &name)),
        same("found", written(&found), named("FoundNewReplicaSet", "web-5d")),
        same("error", refused.unwrap_or_default(), named("ReplicaSetCreateError", &name)),
        same("paused", paused, unknown("DeploymentPaused (Unknown)")),
        same("resumed", says(&held), unknown("DeploymentResumed (Unknown)")),
    ])
}

fn rollout_messages(case: &Case) -> Verdict {
    let message = |counts: [i32; 3], new: Option<&ReplicaSet>, sets: &[&ReplicaSet], elapsed: i64| {
        let mut deployment = reporting(60, "NewReplicaSetCreated", 3);
        let conditions = std::mem::take(&mut deployment.status.conditions);
        deployment.status = DeploymentStatus { conditions, ..counted(counts) };
        deployment.status.ready_replicas = counts[2];
        let status = progress::rollout_status(&deployment, sets, new, Timestamp(SINCE.0 + elapsed));
        progress::condition(&status, progress::PROGRESSING)
            .map(|condition| condition.message.clone())
            .unwrap_or_default()
    };
    let (complete, moving, stuck) = (set_of(3, 3, 3), set_of(3, 3, 1), set_of(3, 3, 0));
    let of_set = [
        ("NewReplicaSetAvailable", message([3, 3, 2], Some(&complete), &[&complete], 1)),
        ("ReplicaSetUpdated", message([3, 3, 0], Some(&moving), &[&moving], 1)),
        ("ProgressDeadlineExceeded", message([3, 3, 0], Some(&stuck), &[&stuck], 61)),
    ];
    let gone = message([3, 0, 0], None, &[&stuck], 61);
    all(of_set.map(|(key, found)| same(key, found, case.expected_text(key))).into_iter().chain([same(
        "without a new one",
        gone,
        "Deployment \"web\" has timed out progressing.".to_string(),
    )]))
}

fn available(case: &Case) -> Verdict {
    let says = |available: i32| {
        let mut deployment: Deployment =
            kubestep::api::codec::Codec::decode(rolling(3, &json!("25%"), &json!("25%"))).unwrap();
        deployment.status = DeploymentStatus::default();
        let set = set_of(3, 3, available);
        let status = progress::counted_status(&deployment, &[&set], Some(&set), SINCE);
        let condition = progress::condition(&status, progress::AVAILABLE).unwrap().clone();
        (condition.status, json!({"reason": condition.reason, "message": condition.message}))
    };
    let expected = |value: &str| (value.to_string(), case.expect[value].clone());
    all([same("2 of 3", says(2), expected("False")), same("3 of 3", says(3), expected("True"))])
}

fn set_again() -> Verdict {
    let mut conditions = reporting(60, "ReplicaSetUpdated", 1).status.conditions;
    progress::set_condition(&mut conditions, (progress::AVAILABLE, "True"), ("a", ""), SINCE);
    let before = conditions.clone();
    let later = Timestamp(SINCE.0 + 9);
    progress::set_condition(
        &mut conditions,
        (progress::PROGRESSING, "True"),
        ("ReplicaSetUpdated", "x"),
        later,
    );
    let unchanged = same("the same again", conditions.clone(), before);
    progress::set_condition(&mut conditions, (progress::PROGRESSING, "True"), ("Other", ""), later);
    let last = conditions.last().cloned().unwrap_or_default();
    all([
        unchanged,
        same("at the end", last.condition_type.as_str(), progress::PROGRESSING),
        same("transition", last.last_transition_time, Some(SINCE)),
        same("update", last.last_update_time, Some(later)),
    ])
}

fn lifted(case: &Case) -> Verdict {
    let failing = |message: &str| {
        let mut set = set_of(1, 0, 0);
        set.status.conditions.push(ReplicaSetCondition {
            condition_type: "ReplicaFailure".to_string(),
            status: "True".to_string(),
            reason: "FailedCreate".to_string(),
            message: message.to_string(),
            ..ReplicaSetCondition::default()
        });
        set
    };
    let (old, new, plain) = (failing("old"), failing("new"), set_of(1, 0, 0));
    let deployment = reporting(60, "", 1);
    let message = |deployment: &Deployment, sets: &[&ReplicaSet]| {
        let status = progress::rollout_status(deployment, sets, sets.last().copied(), SINCE);
        let found = progress::condition(&status, &case.expected_text("type")).cloned();
        found.map(|condition| condition.message)
    };
    let mut had = deployment.clone();
    progress::set_condition(
        &mut had.status.conditions,
        ("ReplicaFailure", "True"),
        ("FailedCreate", ""),
        SINCE,
    );
    all([
        same("the new one's first", message(&deployment, &[&old, &new]), Some("new".to_string())),
        same("else any", message(&deployment, &[&old, &plain]), Some("old".to_string())),
        same("absent", message(&had, &[&plain, &plain]), None),
    ])
}

/// A cluster with a quota of so many Pods and a Deployment of four with a deadline.
fn under_quota(pods: i64, deadline: i64) -> Scene {
    let mut scene = Scene::nodes(1);
    scene
        .create(json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota"},
            "spec": {"hard": {"pods": pods.to_string()}},
        }))
        .unwrap();
    scene.ticks(5);
    scene
        .create(with(document("web", 4), |it| it["spec"]["progressDeadlineSeconds"] = json!(deadline)))
        .unwrap();
    scene
}

fn condition(scene: &Scene, kind: &str) -> Value {
    let deployment = scene.get(Kind::Deployment, "web").unwrap();
    let conditions = deployment["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
}

fn says(condition: &Value) -> String {
    format!("{}/{}", text(&condition["status"]), text(&condition["reason"]))
}

fn quota_exhausted(case: &Case) -> Verdict {
    let mut scene = under_quota(3, 20);
    let rolling = json!({"maxSurge": 1, "maxUnavailable": 1});
    let change = json!({"spec": {"replicas": 3, "strategy": {"rollingUpdate": rolling}}});
    scene.request(Verb::MergePatch, Kind::Deployment, "web", change).unwrap();
    scene.ticks(20);
    let fewer = json!({"spec": {"hard": {"pods": "2"}}});
    scene.request(Verb::MergePatch, Kind::ResourceQuota, "quota", fewer).unwrap();
    scene.ticks(5);
    scene.run("kubectl set image deployment/web web=nginx:2");
    scene.ticks(8);
    let early = says(&condition(&scene, "Progressing"));
    scene.ticks(30);
    let late = says(&condition(&scene, "Progressing"));
    let failure = condition(&scene, "ReplicaFailure");
    let message = text(&failure["message"]);
    let name = message.split('"').nth(1).unwrap_or_default().to_string();
    // The row writes the name up to where it is chance.
    let (base, _) = name.rsplit_once('-').unwrap_or_default();
    let plain = message.replace(&name, &format!("{base}-"));
    let expected = case.expected_text("message").replace("NAME", base).replace("QUOTA", "quota");
    all([
        same("Progressing", format!("{early} then {late}"), case.expected_text("Progressing")),
        same("ReplicaFailure", says(&failure), case.expected_text("ReplicaFailure")),
        same("message", plain, expected),
    ])
}

fn deadline_exceeded(case: &Case) -> Verdict {
    let mut scene = under_quota(3, 10);
    scene.ticks(30);
    let late = says(&condition(&scene, "Progressing"));
    let sets = scene.list(Kind::ReplicaSet).len();
    let more = json!({"spec": {"hard": {"pods": "9"}}});
    scene.request(Verb::MergePatch, Kind::ResourceQuota, "quota", more).unwrap();
    scene.ticks(60);
    let after = says(&condition(&scene, "Progressing"));
    all([
        same("exceeded", late.as_str(), "False/ProgressDeadlineExceeded"),
        same("rollback", json!(sets != 1), case.expect["rollback"].clone()),
        same(
            "keeps_retrying",
            json!(after == "True/NewReplicaSetAvailable"),
            case.expect["keeps_retrying"].clone(),
        ),
    ])
}

fn complete_then_unready(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    let report = |scene: &mut Scene, ready: &str| {
        for pod in scene.list(Kind::Pod) {
            let status = json!({"status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": ready, "lastTransitionTime": scene.cluster.now().to_string()},
            ]}});
            scene
                .request_to("status", Verb::MergePatch, Kind::Pod, &text(&pod["metadata"]["name"]), status)
                .unwrap();
        }
        scene.ticks(5);
    };
    scene.create(document("web", 2)).unwrap();
    scene.ticks(5);
    report(&mut scene, "True");
    let complete = says(&condition(&scene, "Progressing"));
    report(&mut scene, "False");
    scene.ticks(700);
    let after = says(&condition(&scene, "Progressing"));
    let expected = case.expected_text("Progressing").replace("stays ", "");
    all([
        same("complete", complete, expected.clone()),
        same("after", after, expected),
        same("Available", text(&condition(&scene, "Available")["status"]), "False".to_string()),
    ])
}

fn held_template(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(document("web", 1)).unwrap();
    scene.ticks(5);
    let history = scene.run("kubectl rollout history deployment/web").stdout;
    scene.run("kubectl rollout pause deployment/web");
    scene.run("kubectl set image deployment/web web=nginx:2");
    scene.ticks(9);
    all([
        same(
            "new ReplicaSet",
            json!(scene.list(Kind::ReplicaSet).len() > 1),
            case.expect["new ReplicaSet"].clone(),
        ),
        same("history", scene.run("kubectl rollout history deployment/web").stdout, history),
    ])
}

fn held_size(case: &Case) -> Verdict {
    let document = with(rolling(9, &json!(0), &json!(1)), |it| {
        it["spec"]["paused"] = json!(true);
        // Of a template that no ReplicaSet has.
        it["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:new");
    });
    let sets =
        [("older", 2), ("old", 4)].map(|(name, size)| Set::new(name, false, size, size).sized_for(6, 6));
    let scene = stage(&document, &sets);
    let sizes = sync(&scene);
    let total: i64 = sizes.values().flatten().sum();
    all([
        same("scaled", json!(total == 9 && sizes.len() == 2), case.expect["scaled"].clone()),
        same("no new one", created_set(&scene), None),
    ])
}

fn created(case: &Case) -> Verdict {
    let document = rolling(1, &json!(1), &json!(0));
    let scene = stage(&document, &[Set::new("old", false, 1, 1)]);
    let set = created_set(&scene).unwrap();
    let meta = &set["metadata"];
    let hash = text(&meta["labels"]["pod-template-hash"]);
    let owner = &meta["ownerReferences"][0];
    let label = case.expected_text("labels add");
    let expected = case.expected_text("name").replace(&case.given_text("hash"), &hash);
    all([
        same("name", text(&meta["name"]), expected),
        holds("the hash is a label", !hash.is_empty() && label == "pod-template-hash"),
        same("selector", text(&set["spec"]["selector"]["matchLabels"][&label]), hash.clone()),
        same("template", text(&set["spec"]["template"]["metadata"]["labels"][&label]), hash),
        same(
            "owner",
            (owner["controller"].clone(), owner["blockOwnerDeletion"].clone()),
            (json!(true), json!(true)),
        ),
        same("revision", meta["annotations"][revision::REVISION].clone(), json!("2")),
    ])
}

fn scaling_event(case: &Case) -> Verdict {
    let (from, to) = (number(&case.given["from"]), number(&case.given["to"]));
    let name = case.given_text("rs");
    let sets = match to > from {
        true => vec![Set::new(&name, true, from, from)],
        // The new one is as large as it may be, and available.
        false => vec![Set::new(&name, false, from, from), Set::new("new", true, 1, 1)],
    };
    let wanted = if to > from { to } else { from };
    let mut scene =
        stage(&rolling(wanted, &json!(i64::from(to < from)), &json!(if to < from { 0 } else { 1 })), &sets);
    let message = |scene: &Scene| {
        outcome(scene).writes.into_iter().find_map(|write| match write.operation {
            Operation::Event(event) => Some((event.warning, event.reason, event.message)),
            _ => None,
        })
    };
    let (warning, reason, found) = message(&scene).unwrap();
    // Who tells it is on the stored event.
    scene = Scene::controllers();
    scene.create(document("web", 1)).unwrap();
    scene.ticks(4);
    let events = scene.list(Kind::Event);
    let stored = events.iter().find(|event| event["reason"] == "ScalingReplicaSet").unwrap();
    all([
        same("message", found, case.expected_text("message")),
        same(
            "type",
            if warning { "Warning" } else { "Normal" },
            case.expect["type"].as_str().unwrap_or("Normal"),
        ),
        same("reason", reason, case.expect["reason"].as_str().unwrap_or("ScalingReplicaSet")),
        same(
            "component",
            text(&stored["source"]["component"]),
            case.expect["component"].as_str().unwrap_or("deployment-controller").to_string(),
        ),
    ])
}

fn current_again() -> Verdict {
    let deployment = Deployment::default();
    let mut set = ObjectMeta::default();
    let of = |set: &ObjectMeta, key: &str| set.annotations.get(key).cloned().unwrap_or_default();
    for revision in 1..=3 {
        revision::annotate(&deployment, &mut set, revision);
    }
    let short = (of(&set, revision::REVISION), of(&set, revision::REVISION_HISTORY));
    let unchanged = revision::annotate(&deployment, &mut set, 3);
    for revision in 4..=900 {
        revision::annotate(&deployment, &mut set, revision);
    }
    let history = of(&set, revision::REVISION_HISTORY);
    all([
        same("revision and history", short, ("3".to_string(), "1,2".to_string())),
        same("the same revision again", unchanged, false),
        holds(
            "the oldest are dropped",
            history.len() <= 2000 && !history.starts_with("1,") && history.ends_with(",899"),
        ),
    ])
}

fn revision_numbers(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(document("web", 1)).unwrap();
    scene.ticks(5);
    let name = text(&scene.list(Kind::ReplicaSet)[0]["metadata"]["name"]);
    for image in ["nginx:2", "nginx:3"] {
        scene.run(&format!("kubectl set image deployment/web web={image}"));
        scene.ticks(5);
    }
    scene.run("kubectl rollout undo deployment/web --to-revision=1");
    scene.ticks(5);
    let set = scene.get(Kind::ReplicaSet, &name).unwrap();
    let annotations = &set["metadata"]["annotations"];
    let history = scene.run("kubectl rollout history deployment/web").stdout;
    let revision = text(&annotations[revision::REVISION]);
    all([
        same("that RS", revision.clone(), "4".to_string()),
        holds("row", case.expected_text("that RS").starts_with(&format!("revision {revision} "))),
        same(
            "revision-history",
            annotations[revision::REVISION_HISTORY].clone(),
            case.expect["revision-history"].clone(),
        ),
        holds(&history, !history.lines().any(|line| line.starts_with("1 "))),
    ])
}

fn copied(case: &Case) -> Verdict {
    let skipped = case.expect["skipped"].as_array().unwrap();
    let copied = case.expect["copied"].as_array().unwrap();
    let document = with(rolling(1, &json!(1), &json!(0)), |it| {
        for name in skipped.iter().chain(copied) {
            it["metadata"]["annotations"][text(name)] = json!("7");
        }
    });
    let set = created_set(&stage(&document, &[])).unwrap();
    let annotations = &set["metadata"]["annotations"];
    // Those of the revision and the size are the ReplicaSet's own.
    all(copied
        .iter()
        .map(|name| same(&text(name), annotations[text(name)].clone(), json!("7")))
        .chain(skipped.iter().map(|name| holds(&text(name), annotations[text(name)] != json!("7")))))
}

fn summed(case: &Case) -> Verdict {
    let sets = ["rs1", "rs2"].map(|name| {
        let of = |key: &str| number(&case.given[name][key]) as i32;
        let mut set = set_of(of("spec"), of("status"), 0);
        set.status.terminating_replicas = Some(of("terminating"));
        set
    });
    let deployment = reporting(60, "", 3);
    let status = progress::counted_status(&deployment, &[&sets[0], &sets[1]], Some(&sets[1]), SINCE);
    all([
        same("spec, less the available", json!(status.unavailable_replicas), case.expect["spec"].clone()),
        same("actual", json!(status.replicas), case.expect["actual"].clone()),
        same("terminating", json!(status.terminating_replicas), case.expect["terminating"].clone()),
    ])
}

fn status_fields() -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(document("web", 3)).unwrap();
    scene.ticks(5);
    // On a node, so that they stay while they terminate; one of them has ended.
    let names: Vec<String> = scene.list(Kind::Pod).iter().map(|pod| text(&pod["metadata"]["name"])).collect();
    for (index, name) in names.iter().enumerate() {
        let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
        scene.request(Verb::MergePatch, Kind::Pod, name, hold).unwrap();
        let phase = if index == 0 { "Failed" } else { "Running" };
        scene
            .request_to("status", Verb::MergePatch, Kind::Pod, name, json!({"status": {"phase": phase}}))
            .unwrap();
        if index < 2 {
            scene.delete(Kind::Pod, name, |_| {}).unwrap();
        }
    }
    scene.ticks(6);
    let status = scene.get(Kind::Deployment, "web").unwrap()["status"].clone();
    all([
        same("replicas", status["replicas"].clone(), json!(3)),
        same("updated", status["updatedReplicas"].clone(), json!(3)),
        same("terminating", status["terminatingReplicas"].clone(), json!(1)),
        same("unavailable", status["unavailableReplicas"].clone(), json!(3)),
    ])
}
