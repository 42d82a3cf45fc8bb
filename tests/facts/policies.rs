//! Quotas, limits, network policies and rights.

use kubestep::api::kind::Kind;
use kubestep::cluster::server::authn::{self, Credentials};
use kubestep::cluster::server::authz::{self, Access};
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::server::status::Status;
use kubestep::kubectl::host::Host;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, has_fields, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, pod as plain_pod, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Option<Verdict> {
    let given = &case.given;
    let has = |key: &str| given.get(key).is_some();
    Some(match case.when.as_str() {
        "pod x created" => {
            let status = under_quota(json!({"pods": "2"}), 2).create(plain_pod("x")).unwrap_err();
            refusal(case, &status)
        }
        "message" => exceeded(case),
        "pod created" if has("quota") && has("pod") => {
            let status = under_quota(json!({"limits.cpu": "2"}), 0).create(plain_pod("x")).unwrap_err();
            refusal(case, &status)
        }
        "pod created" if has("quota") => {
            not_simulated("admission counts the store each time: no quota waits for its status to be known")
        }
        "controllers" => refused_pods(case),
        "existing objects" => {
            let mut scene = under_quota(json!({"pods": "3"}), 3);
            let fewer = json!({"spec": {"hard": {"pods": "1"}}});
            scene.request(Verb::MergePatch, Kind::ResourceQuota, "q", fewer).unwrap();
            scene.ticks(9);
            all([
                same("Pods", scene.list(Kind::Pod).len(), 3),
                holds("new ones", scene.create(plain_pod("x")).is_err()),
            ])
        }
        "quota key" => {
            let mut scene = under_quota(json!({"count/deployments.apps": "3"}), 0);
            let results: Vec<bool> = (0..4)
                .map(|index| {
                    scene.ticks(3);
                    scene.create(crate::scene::deployment(&format!("d{index}"), 0)).is_ok()
                })
                .collect();
            same("created", results, vec![true, true, true, false])
        }
        "quota use of pods" => {
            let mut scene = under_quota(json!({"pods": "5"}), 3);
            for (name, phase) in [("p0", "Succeeded"), ("p1", "Failed")] {
                scene
                    .request_to(
                        "status",
                        Verb::MergePatch,
                        Kind::Pod,
                        name,
                        json!({"status": {"phase": phase}}),
                    )
                    .unwrap();
            }
            scene.ticks(9);
            let quota = scene.get(Kind::ResourceQuota, "q").unwrap();
            same("used", quota["status"]["used"]["pods"].clone(), json!("1"))
        }
        "pod created" if has("default") => filled_in(case),
        "LimitRange defaulting" => range_defaults(case),
        "pod created" => limited(case),
        "LimitRanger" => not_checked(),
        "defaulting" if has("policyTypes") => policy_types(case),
        "traffic" | "ingress" | "peer" | "peers" | "rule" | "source 172.17.1.5" | "allowed when"
        | "ingress policy" => {
            not_simulated("network policies are judged and stored; the way of a request asks none of them")
        }
        "authorizer denies" => denied(case),
        "decision" if has("rules") => union(),
        "decision" => escalation(case),
        "scope" => bound_in_namespace(),
        "validation" if has("roleRef") => role_changed(case),
        "user name" => service_account(case),
        _ => return None,
    })
}

fn refusal(case: &Case, status: &Status) -> Verdict {
    all([
        case.expect.get("code").map_or(Verdict::Holds, |code| same("code", json!(status.code), code.clone())),
        case.expect
            .get("message")
            .map_or(Verdict::Holds, |message| same("message", status.message.clone(), text(message))),
        case.expect
            .get("message_contains")
            .map_or(Verdict::Holds, |part| holds(&status.message, status.message.contains(&text(part)))),
    ])
}

// --- Quotas -----------------------------------------------------------------------------------------------------------

fn quota(hard: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}})
}

/// Controllers, a quota that has been counted, and so many Pods.
fn under_quota(hard: Value, pods: usize) -> Scene {
    let mut scene = Scene::controllers();
    scene.create(quota(hard)).unwrap();
    scene.ticks(6);
    for index in 0..pods {
        scene.create(plain_pod(&format!("p{index}"))).unwrap();
    }
    scene.ticks(6);
    scene
}

fn exceeded(case: &Case) -> Verdict {
    let mut scene = under_quota(json!({"requests.cpu": "1", "pods": "1", "requests.memory": "9Gi"}), 0);
    let pod = |name: &str| {
        with(plain_pod(name), |it| {
            it["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "800m", "memory": "1Gi"}});
        })
    };
    scene.create(pod("first")).unwrap();
    scene.ticks(6);
    let status = scene.create(pod("x")).unwrap_err();
    let listed: Vec<&str> = status
        .message
        .split("requested: ")
        .nth(1)
        .unwrap()
        .split(", used")
        .next()
        .unwrap()
        .split(',')
        .collect();
    let names: Vec<&str> = listed.iter().map(|part| part.split('=').next().unwrap()).collect();
    let mut expected: Vec<String> = case.given["exceeded"].as_array().unwrap().iter().map(text).collect();
    expected.sort();
    same("resources", names, expected.iter().map(String::as_str).collect())
}

fn refused_pods(case: &Case) -> Verdict {
    let mut scene = under_quota(json!({"pods": "0"}), 0);
    scene.create(crate::scene::deployment("web", 1)).unwrap();
    scene.ticks(9);
    let condition = |kind: Kind| {
        let object = scene.list(kind).remove(0);
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == "ReplicaFailure").unwrap_or_default()
    };
    let agrees = |found: Value, expected: &Value| {
        all(expected
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| same(key, found[key].clone(), value.clone())))
    };
    let told = scene
        .list(Kind::Event)
        .iter()
        .any(|event| event["reason"] == "FailedCreate" && event["involvedObject"]["kind"] == "ReplicaSet");
    all([
        agrees(condition(Kind::ReplicaSet), &case.expect["replicaset_condition"]),
        agrees(condition(Kind::Deployment), &case.expect["deployment_condition"]),
        holds("told", told),
    ])
}

// --- Limits -----------------------------------------------------------------------------------------------------------

fn range(limits: Value) -> Value {
    let mut limit = json!({"type": "Container"});
    limit.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r"}, "spec": {"limits": [limit]},
    })
}

fn container(resources: Value) -> Value {
    with(plain_pod("x"), |it| {
        it["spec"]["containers"][0]["name"] = json!("web");
        it["spec"]["containers"][0]["resources"] = resources;
    })
}

fn filled_in(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene
        .create(range(
            json!({"default": case.given["default"], "defaultRequest": case.given["defaultRequest"]}),
        ))
        .unwrap();
    let stored = scene.create(container(json!({}))).unwrap();
    let resources = &stored["spec"]["containers"][0]["resources"];
    all([
        same("limits", resources["limits"].clone(), case.expect["limits"].clone()),
        same("requests", resources["requests"].clone(), case.expect["requests"].clone()),
        same(
            "annotation",
            text(&stored["metadata"]["annotations"]["kubernetes.io/limit-ranger"]),
            case.expected_text("annotation kubernetes.io/limit-ranger"),
        ),
    ])
}

fn range_defaults(case: &Case) -> Verdict {
    let mut given = case.given.as_object().unwrap().clone();
    given.retain(|_, value| value.is_object());
    let stored = Scene::server().create(range(Value::Object(given))).unwrap();
    let limit = stored["spec"]["limits"][0].clone();
    has_fields(&limit, &case.expect)
}

fn limited(case: &Case) -> Verdict {
    let given = &case.given;
    let limits = match () {
        () if given.get("violations").is_some() => json!({"max": {"cpu": "1", "memory": "1Gi"}}),
        () if given.get("max cpu").is_some() => json!({"max": {"cpu": given["max cpu"]}}),
        () if given.get("min cpu").is_some() => json!({"min": {"cpu": given["min cpu"]}}),
        () => json!({"maxLimitRequestRatio": {"cpu": given["maxLimitRequestRatio cpu"]}}),
    };
    let mut resources = json!({});
    for (key, field) in [("request", "requests"), ("limit", "limits")] {
        if let Some(amount) = given[key].as_str().filter(|amount| *amount != "unset") {
            resources[field] = json!({"cpu": amount});
        }
    }
    if given.get("violations").is_some() {
        resources =
            json!({"limits": {"cpu": "2", "memory": "2Gi"}, "requests": {"cpu": "2", "memory": "2Gi"}});
    }
    let mut scene = Scene::server();
    scene.create(range(limits)).unwrap();
    // A range for containers fills in what is missing.
    let live = scene.get(Kind::LimitRange, "r").unwrap()["spec"]["limits"][0].clone();
    let is_unset = ["request", "limit"].iter().any(|key| given[*key] == json!("unset"));
    if is_unset && (live.get("default").is_some() || live.get("defaultRequest").is_some()) {
        return unset_limit(case);
    }
    let status = scene.create(container(resources)).unwrap_err();
    match case.expect.get("message_form") {
        Some(_) => {
            let reason = status.message.split("is forbidden: ").nth(1).unwrap_or_default();
            let parts = reason.trim_start_matches('[').trim_end_matches(']').split(", maximum").count();
            holds(&status.message, reason.starts_with('[') && reason.ends_with(']') && parts == 2)
        }
        None => refusal(case, &status),
    }
}

/// A minimum or maximum for whole Pods fills nothing in; the words are the same but for what they are about.
fn unset_limit(case: &Case) -> Verdict {
    let limits = match case.given.get("max cpu") {
        Some(most) => json!({"type": "Pod", "max": {"cpu": most}}),
        None => json!({"type": "Pod", "min": {"cpu": case.given["min cpu"]}}),
    };
    let mut scene = Scene::server();
    scene
        .create(json!({
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "r"}, "spec": {"limits": [limits]},
        }))
        .unwrap();
    let status = scene.create(container(json!({}))).unwrap_err();
    let expected = case.expected_text("message_contains").replace("per Container", "per Pod");
    holds(&status.message, status.message.contains(&expected))
}

fn not_checked() -> Verdict {
    let mut scene = Scene::server();
    scene.create(container(json!({"limits": {"cpu": "2"}}))).unwrap();
    scene.create(range(json!({"max": {"cpu": "1"}}))).unwrap();
    let change = json!({"metadata": {"labels": {"a": "b"}}});
    holds("the update", scene.request(Verb::MergePatch, Kind::Pod, "x", change).is_ok())
}

// --- Network policies -------------------------------------------------------------------------------------------------

fn policy_types(case: &Case) -> Verdict {
    let mut spec = json!({"podSelector": {}});
    if case.given["egress rules"] == json!("some") {
        spec["egress"] = json!([{}]);
    }
    let stored = Scene::server().create(json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p"}, "spec": spec,
    }));
    same("policyTypes", stored.unwrap()["spec"]["policyTypes"].clone(), case.expect["policyTypes"].clone())
}

// --- Rights -----------------------------------------------------------------------------------------------------------

fn credentials(user: &str) -> Credentials {
    Credentials { user: user.to_string(), ..Credentials::default() }
}

/// Asks as the user who may do nothing.
fn as_bob(
    scene: &mut Scene,
    verb: Verb,
    kind: Kind,
    namespace: &str,
    name: &str,
    body: Value,
) -> Result<Value, Status> {
    let mut request = Request::new(verb, kind, namespace, name, body);
    request.credentials = Box::new(credentials("bob"));
    scene.ask(request).map(|response| response.object)
}

fn denied(case: &Case) -> Verdict {
    let scene = Scene::server();
    let cluster = &scene.cluster;
    let bob = authn::identify(&cluster.store, &cluster.settings, &credentials("bob")).unwrap();
    if case.given.get("path").is_some() {
        return not_simulated("no request of this cluster is about a path alone");
    }
    let (resource, group) = (case.given_text("resource"), case.given_text("group"));
    let (subresource, namespace, name) =
        (case.given_text("subresource"), case.given_text("namespace"), case.given_text("name"));
    let access = Access {
        verb: "get",
        group: &group,
        resource: &resource,
        subresource: &subresource,
        namespace: &namespace,
        name: &name,
        path: "",
    };
    let status = authz::authorize(&cluster.store, &bob, &access).unwrap_err();
    all([
        same("code", json!(status.code), case.expect["code"].clone()),
        same("reason", status.reason.to_string(), case.expected_text("reason")),
        same("message", status.message, case.expected_text("message").replace("NAME", "bob")),
    ])
}

fn role(kind: &str, name: &str, verbs: &[&str], resource: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name},
        "rules": [{"apiGroups": [""], "resources": [resource], "verbs": verbs}],
    })
}

fn binding(name: &str, role_kind: &str, role: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}],
    })
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

fn union() -> Verdict {
    let mut scene = Scene::server();
    scene.create(role("Role", "makes", &["create"], "configmaps")).unwrap();
    scene.create(role("Role", "deletes", &["delete"], "configmaps")).unwrap();
    scene.create(binding("one", "Role", "makes")).unwrap();
    scene.create(binding("two", "Role", "deletes")).unwrap();
    let made = as_bob(&mut scene, Verb::Create, Kind::ConfigMap, NAMESPACE, "a", config_map("a"));
    let patched =
        as_bob(&mut scene, Verb::MergePatch, Kind::ConfigMap, NAMESPACE, "a", json!({"data": {"a": "b"}}));
    let gone = as_bob(&mut scene, Verb::Delete, Kind::ConfigMap, NAMESPACE, "a", Value::Null);
    same("made, patched, gone", (made.is_ok(), patched.is_ok(), gone.is_ok()), (true, false, true))
}

fn bound_in_namespace() -> Verdict {
    let mut scene = Scene::server();
    scene.create(role("ClusterRole", "makes", &["create"], "configmaps")).unwrap();
    scene.create(binding("one", "ClusterRole", "makes")).unwrap();
    let here = as_bob(&mut scene, Verb::Create, Kind::ConfigMap, NAMESPACE, "a", config_map("a"));
    let elsewhere = as_bob(&mut scene, Verb::Create, Kind::ConfigMap, "default", "a", config_map("a"));
    same("here and elsewhere", (here.is_ok(), elsewhere.is_ok()), (true, false))
}

fn role_changed(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene.create(role("Role", "a", &["get"], "pods")).unwrap();
    scene.create(role("Role", "b", &["get"], "pods")).unwrap();
    scene.create(binding("one", "Role", "a")).unwrap();
    let change = json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "b"}});
    refusal(case, &scene.request(Verb::MergePatch, Kind::RoleBinding, "one", change).unwrap_err())
}

fn escalation(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let rules = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "roles"},
        "rules": [{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]}],
    });
    scene.create(rules).unwrap();
    scene.create(binding("one", "Role", "roles")).unwrap();
    let wish = role("Role", "mine", &["get"], "secrets");
    let status = as_bob(&mut scene, Verb::Create, Kind::Role, NAMESPACE, "mine", wish).unwrap_err();
    all([
        same("code", json!(status.code), case.expect["code"].clone()),
        holds(
            &status.message,
            status.message.contains("attempting to grant RBAC permissions not currently held"),
        ),
    ])
}

fn service_account(case: &Case) -> Verdict {
    let scene = Scene::server();
    let acting = Credentials { acts_as: case.expected_text("user"), ..Credentials::default() };
    let identity = authn::identify(&scene.cluster.store, &scene.cluster.settings, &acting).unwrap();
    let mut groups = identity.groups.clone();
    groups.sort();
    let mut expected: Vec<String> = case.expect["groups"].as_array().unwrap().iter().map(text).collect();
    expected.sort();
    all([
        same("name", authn::service_account(&identity.name), Some(("default", "app"))),
        same("groups", groups, expected),
    ])
}
