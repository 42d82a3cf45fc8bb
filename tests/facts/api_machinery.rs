//! The API server: names, quantities, statuses, metadata, deletion, validation, apply, selectors, defaults.

use kubestep::api::int_or_string::IntOrString;
use kubestep::api::kind::Kind;
use kubestep::api::labels::{Selector, labels_of};
use kubestep::api::names;
use kubestep::api::quantity::Quantity;
use kubestep::cluster::rng::NAME_ALPHABET;
use kubestep::cluster::server::fields::FieldSet;
use kubestep::cluster::server::managed::{self, Manager};
use kubestep::cluster::server::request::{Propagation, Verb};
use kubestep::cluster::server::status::{Cause, Status};
use kubestep::cluster::server::validate::FieldError;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, deployment, pod, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "quantity is parsed and written back" => canonical(case),
        "value" => value(case),
        "scaled value" => scaled(case),
        "label selector is matched" => selector(case),
        "text of a cause" => cause_text(case),
        "status.qosClass" => quality_of_service(case),
        _ => match rule(&case.when) {
            Some(rule) if case.given.get("good").is_some() || case.given.get("bad").is_some() => {
                names_by(case, rule)
            }
            _ => one(case),
        },
    }
}

// --- Tables ---------------------------------------------------------------------------------------------------------

type Rule = fn(&str) -> Vec<String>;

fn rule(what: &str) -> Option<Rule> {
    Some(match what {
        "DNS-1123 label" => names::dns_label,
        "DNS-1123 subdomain" => names::dns_subdomain,
        "DNS-1035 label" => names::dns_1035_label,
        "label key" => names::qualified_name,
        "label value" => names::label_value,
        "port name" => names::port_name,
        "port number" => |text| names::port_number(text.parse().unwrap()),
        "ConfigMap key" => names::config_key,
        "wildcard host" => names::wildcard_subdomain,
        "percent string" => names::percent,
        _ => return None,
    })
}

fn names_by(case: &Case, rule: Rule) -> Verdict {
    let good = case
        .given_texts("good")
        .into_iter()
        .map(|text| holds(&format!("{text:?} is refused"), rule(&text).is_empty()));
    let bad = case
        .given_texts("bad")
        .into_iter()
        .map(|text| holds(&format!("{text:?} is accepted"), !rule(&text).is_empty()));
    all(good.chain(bad))
}

fn canonical(case: &Case) -> Verdict {
    let written = Quantity::parse(&case.given_text("text")).map(|quantity| quantity.to_string());
    same("written", written, Ok(case.expected_text("canonical")))
}

fn value(case: &Case) -> Verdict {
    let expected = case.expected_text("value");
    let parsed = Quantity::parse(&case.given_text("text")).unwrap();
    same("amount", parsed, Quantity::parse(&expected).unwrap())
}

fn scaled(case: &Case) -> Verdict {
    let value = match &case.given["value"] {
        Value::Number(number) => IntOrString::Int(number.as_i64().unwrap() as i32),
        text => IntOrString::Text(text.as_str().unwrap().to_string()),
    };
    let total = case.given["total"].as_i64().unwrap_or(100) as i32;
    let scaled = value.scaled(total, case.given["round_up"] == json!(true));
    same("scaled", scaled, case.expect["value"].as_i64().map(|value| value as i32))
}

fn selector(case: &Case) -> Verdict {
    let matches =
        Selector::parse(&case.given_text("selector")).map(|it| it.matches(&labels_of(&case.given["labels"])));
    same("match", matches, Ok(case.expect["match"] == json!(true)))
}

fn cause_text(case: &Case) -> Verdict {
    let field = "f";
    let error = match case.given_text("type").as_str() {
        "required" => FieldError::required(field, "must not be empty"),
        "invalid string" => FieldError::invalid(field, &json!("x"), "DETAIL"),
        "invalid number" => FieldError::invalid(field, &json!(0), "DETAIL"),
        "invalid object" => FieldError::invalid(field, &json!({"app": "web"}), "DETAIL"),
        "not supported" => FieldError::not_supported(field, "x", &["A", "B"]),
        "duplicate" => FieldError::duplicate(field, &json!("x")),
        "forbidden" => FieldError::forbidden(field, "DETAIL"),
        "too long" => FieldError::too_long(field, 63),
        "not found" => {
            let mounts = |pod: &mut Value| {
                pod["spec"]["containers"][0]["volumeMounts"] = json!([{"name": "x", "mountPath": "/x"}]);
            };
            let causes = causes(&mut Scene::server(), with(pod("web"), mounts));
            return holds(
                &causes.join("; "),
                causes.iter().any(|cause| cause.ends_with(&case.expected_text("text"))),
            );
        }
        other => return not_simulated(&format!("no error of the type {other}")),
    };
    same("text", error.message(), case.expected_text("text"))
}

fn quality_of_service(case: &Case) -> Verdict {
    let resources = match case.given_text("resources").as_str() {
        "no requests or limits" => json!({}),
        "anything else" => json!({"requests": {"cpu": "100m"}}),
        _ => json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}),
    };
    let pod = with(pod("web"), |pod| pod["spec"]["containers"][0]["resources"] = resources);
    let stored = Scene::server().create(pod).unwrap();
    same("qosClass", text(&stored["status"]["qosClass"]), case.expected_text("qosClass"))
}

// --- Rows of their own ----------------------------------------------------------------------------------------------

/// `field: message` of every cause of the refusal; none when it is accepted.
fn causes(scene: &mut Scene, document: Value) -> Vec<String> {
    let line = |cause: Cause| format!("{}: {}", cause.field, cause.message);
    match scene.create(document) {
        Ok(_) => Vec::new(),
        Err(status) => status.details.causes.into_iter().map(line).collect(),
    }
}

/// Code, reason and message of a refusal are those of the row, as far as it names them; `SAMPLE` words are filled in.
fn refused(status: Result<Value, Status>, case: &Case) -> Verdict {
    let Err(status) = status else { return Verdict::Contradicted("it is accepted".to_string()) };
    let mut verdicts = Vec::new();
    for key in ["code", "status"] {
        if let Some(code) = case.expect.get(key) {
            verdicts.push(same("code", json!(status.code), code.clone()));
        }
    }
    if let Some(reason) = case.expect.get("reason") {
        verdicts.push(same("reason", json!(status.reason), reason.clone()));
    }
    if let Some(message) = case.expect.get("message").filter(|message| message.is_string()) {
        verdicts.push(same("message", json!(status.message), message.clone()));
    }
    if let Some(details) = case.expect.get("details") {
        let sent = status.to_value()["details"].clone();
        for (key, value) in details.as_object().unwrap() {
            if key != "causes" {
                verdicts.push(same(key, sent[key].clone(), value.clone()));
            }
        }
    }
    all(verdicts)
}

/// What kubectl says is the row's text; what stands in the row up to a newline is compared with the beginning.
fn kubectl_says(printed: &str, case: &Case) -> Verdict {
    let expected = case.expected_text("kubectl");
    same("kubectl", printed.trim_end().to_string(), expected.trim_end().to_string())
}

fn has_cause(document: Value, case: &Case) -> Verdict {
    let causes = causes(&mut Scene::server(), document);
    let expected = case.expected_text("cause");
    holds(&format!("{causes:?}, not {expected}"), causes.iter().any(|cause| cause.starts_with(&expected)))
}

fn one(case: &Case) -> Verdict {
    match case.id.as_str() {
        "api-014" => same("text", names::dns_label("Bad_Name"), vec![case.expected_text("text")]),
        "api-015" => name_rules(),
        "api-049" => {
            let texts = case.given_texts("texts").into_iter();
            all(texts.map(|text| holds(&format!("{text:?} is accepted"), Quantity::parse(&text).is_err())))
        }
        "api-050" => all([
            same("0.1n", Quantity::parse("0.1n"), Quantity::parse("1n")),
            same("-0.1n", Quantity::parse("-0.1n"), Quantity::parse("-1n")),
        ]),
        "api-062" | "api-063" => generated_name(case),
        "api-064" => {
            let nameless = with(pod(""), |pod| pod["metadata"] = json!({}));
            let refusal = Scene::server().create(nameless.clone());
            all([refused(refusal, case), has_cause(nameless, case)])
        }
        "api-065" => taken_name_is_drawn_again(),
        "api-066" => refused(Scene::server().delete(Kind::Pod, "web", |_| ()), case),
        "api-067" => refused(Scene::server().delete(Kind::Deployment, "web", |_| ()), case),
        "api-068" => {
            let mut scene = Scene::server();
            scene.create(pod("web")).unwrap();
            refused(scene.create(pod("web")), case)
        }
        "api-069" => {
            let mut scene = Scene::server();
            let read = scene.create(deployment("web", 1)).unwrap();
            let first = with(read.clone(), |it| it["spec"]["replicas"] = json!(2));
            scene.request(Verb::Update, Kind::Deployment, "web", first).unwrap();
            let second = with(read, |it| it["spec"]["replicas"] = json!(3));
            refused(scene.request(Verb::Update, Kind::Deployment, "web", second), case)
        }
        "api-070" => {
            let bad = with(deployment("web", 1), |it| it["spec"]["replicas"] = json!(-1));
            let Err(status) = Scene::server().create(bad) else { return holds("accepted", false) };
            let field = &status.details.causes[0];
            all([
                same("code", json!(status.code), case.expect["code"].clone()),
                same("reason", json!(status.reason), case.expect["reason"].clone()),
                same("kind", json!(status.details.kind), case.expect["details"]["kind"].clone()),
                same("group", json!(status.details.group), case.expect["details"]["group"].clone()),
                same("cause", field.reason, "FieldValueInvalid"),
                same(
                    "message",
                    status.message.clone(),
                    format!("Deployment.apps \"web\" is invalid: {}: {}", field.field, field.message),
                ),
            ])
        }
        "api-071" => {
            let bad = with(deployment("web", -1), |it| it["spec"]["minReadySeconds"] = json!(-1));
            let Err(status) = Scene::server().create(bad) else { return holds("accepted", false) };
            let line = |cause: &Cause| format!("{}: {}", cause.field, cause.message);
            let list: Vec<String> = status.details.causes.iter().map(line).collect();
            same(
                "message",
                status.message,
                format!("Deployment.apps \"web\" is invalid: [{}]", list.join(", ")),
            )
        }
        "api-072" => all([
            same("code", Status::forbidden(Kind::Pod, "", "REASON").code, 403),
            same(
                "message",
                json!(Status::forbidden(Kind::Pod, "", "REASON").message),
                case.expect["message"].clone(),
            ),
            same(
                "message",
                json!(Status::forbidden(Kind::Pod, "web", "REASON").message),
                case.expect["with name"].clone(),
            ),
        ]),
        "api-073" => refused(Err(Status::method_not_allowed()), case),
        "api-074" => not_simulated("watches and lists read the store, so no version is ever too old"),
        "api-075" => not_simulated("the simulated server has no internal errors"),
        "api-076" => {
            refused(Scene::server().request(Verb::Create, Kind::Pod, "web", json!("no object")), case)
        }
        "api-086" => server_values_win(),
        "api-087" => {
            let mut scene = Scene::server();
            let budget = json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
            });
            scene.create(budget.clone()).unwrap();
            let answer = scene.request(Verb::Update, Kind::PodDisruptionBudget, "web", budget);
            let Err(status) = answer else { return holds("an update without a version is accepted", false) };
            holds(&status.message, status.message.contains("must be specified for an update"))
        }
        "api-088" => {
            let mut scene = Scene::server();
            scene.create(deployment("web", 1)).unwrap();
            let answer = scene.request(Verb::Update, Kind::Deployment, "web", deployment("web", 3));
            same("replicas", answer.map(|it| it["spec"]["replicas"].clone()), Ok(json!(3)))
        }
        "api-089" | "api-090" | "api-091" => generation(case),
        "api-092" => {
            let mut scene = Scene::server();
            let held = with(pod("web"), |pod| pod["metadata"]["finalizers"] = json!(["foo.com/x"]));
            scene.create(held).unwrap();
            let marked = scene.delete(Kind::Pod, "web", |_| ()).unwrap();
            let cleared = with(marked.clone(), |it| it["metadata"]["deletionTimestamp"] = Value::Null);
            let after = scene.request(Verb::Update, Kind::Pod, "web", cleared).unwrap();
            all([
                holds("it was marked", marked["metadata"]["deletionTimestamp"].is_string()),
                same(
                    "deletionTimestamp",
                    after["metadata"]["deletionTimestamp"].clone(),
                    marked["metadata"]["deletionTimestamp"].clone(),
                ),
            ])
        }
        "api-093" => {
            let mut scene = Scene::server();
            let stored = scene.create(deployment("web", 1)).unwrap();
            let again = scene.request(Verb::Update, Kind::Deployment, "web", stored.clone()).unwrap();
            same("object", again, stored)
        }
        "api-094" => not_simulated("a rule for clients: there is no outcome to see"),
        "api-095" => status_and_spec(),
        "api-096" | "api-097" | "api-098" | "api-099" => grace(case),
        "api-100" => {
            let mut scene = Scene::server();
            scene.create(pod("web")).unwrap();
            let other = "00000000-0000-0000-0000-000000000000".to_string();
            refused(scene.delete(Kind::Pod, "web", |options| options.uid = Some(other)), case)
        }
        "api-101" => {
            let mut scene = Scene::nodes(1);
            scene.create(with(pod("done"), |pod| pod["spec"]["schedulerName"] = json!("nobody"))).unwrap();
            scene.delete(Kind::Pod, "done", |_| ()).unwrap();
            let unbound_goes = scene.get(Kind::Pod, "done").is_none();
            let finished = with(pod("done"), |pod| {
                pod["spec"]["restartPolicy"] = json!("Never");
                pod["spec"]["containers"][0]["command"] = json!(["sim-exit", "0", "1s"]);
            });
            scene.create(finished).unwrap();
            scene.ticks(20);
            let phase = text(&scene.get(Kind::Pod, "done").unwrap()["status"]["phase"]);
            scene.delete(Kind::Pod, "done", |_| ()).unwrap();
            all([
                holds("a Pod without a node goes at once", unbound_goes),
                same("phase", phase, "Succeeded".to_string()),
                holds("a finished Pod goes at once", scene.get(Kind::Pod, "done").is_none()),
            ])
        }
        "api-102" => {
            let mut scene = Scene::server();
            scene
                .create(with(pod("web"), |pod| pod["metadata"]["finalizers"] = json!(["foo.com/x"])))
                .unwrap();
            scene.delete(Kind::Pod, "web", |_| ()).unwrap();
            let stays = scene
                .get(Kind::Pod, "web")
                .is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_string());
            let patch = json!({"metadata": {"finalizers": null}});
            scene.request(Verb::MergePatch, Kind::Pod, "web", patch).unwrap();
            all([holds("it stays", stays), holds("then it goes", scene.get(Kind::Pod, "web").is_none())])
        }
        id if ("api-103"..="api-110").contains(&id) => finalizers(case),
        "api-111" => {
            let mut scene = Scene::server();
            scene.create(deployment("web", 1)).unwrap();
            scene.delete(Kind::Deployment, "web", |_| ()).unwrap();
            holds("it goes at once, dependents afterwards", scene.get(Kind::Deployment, "web").is_none())
        }
        "api-112" | "api-113" | "api-114" => cascade(case),
        "api-115" | "api-116" | "api-117" => owners(case),
        "api-118" => {
            let mut scene = Scene::server();
            scene.delete(Kind::Namespace, NAMESPACE, |_| ()).unwrap();
            let answer = scene.create(pod("web"));
            let reason = answer
                .as_ref()
                .err()
                .and_then(|status| status.details.causes.first())
                .map(|cause| cause.reason);
            all([refused(answer, case), same("cause", json!(reason), case.expect["cause reason"].clone())])
        }
        "api-119" => {
            let elsewhere = with(pod("web"), |pod| pod["metadata"]["namespace"] = json!("nope"));
            refused(Scene::server().create(elsewhere), case)
        }
        "api-120" => refused(Scene::server().delete(Kind::Namespace, "default", |_| ()), case),
        "api-121" => {
            let mut scene = Scene::controllers();
            let before = scene.get(Kind::Namespace, NAMESPACE).unwrap();
            scene
                .create(with(pod("web"), |pod| pod["metadata"]["finalizers"] = json!(["foo.com/x"])))
                .unwrap();
            scene.delete(Kind::Namespace, NAMESPACE, |_| ()).unwrap();
            scene.ticks(10);
            let held = scene.get(Kind::Namespace, NAMESPACE).unwrap();
            let patch = json!({"metadata": {"finalizers": null}});
            scene.request(Verb::MergePatch, Kind::Pod, "web", patch).unwrap();
            scene.ticks(30);
            all([
                same(
                    "finalizers",
                    before["spec"]["finalizers"].clone(),
                    case.expect["spec.finalizers"].clone(),
                ),
                same("phase", held["status"]["phase"].clone(), case.expect["status.phase"].clone()),
                holds("it goes when all objects are gone", scene.get(Kind::Namespace, NAMESPACE).is_none()),
            ])
        }
        id if ("api-122"..="api-135").contains(&id) => validation(case),
        id if ("api-136"..="api-139").contains(&id) => field_validation(case),
        id if ("api-140"..="api-144").contains(&id) => server_side_apply(case),
        "api-145" => three_way(),
        "api-146" => {
            let mut scene = Scene::server();
            scene.create(deployment("web", 1)).unwrap();
            let printed = scene.apply(&deployment("web", 2).to_string());
            let warning = case.expected_text("warning");
            holds(&printed, printed.contains(&warning))
        }
        "api-163" => {
            let reads = |text: &String| Selector::parse(text).is_ok();
            let good = case.given_texts("good");
            let bad = case.given_texts("bad");
            all([
                same("refused", good.iter().find(|text| !reads(text)), None),
                same("accepted", bad.iter().find(|text| reads(text)), None),
            ])
        }
        "api-165" => pod_defaults(case),
        "api-166" => {
            let limits = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
            let stored = Scene::server()
                .create(with(pod("web"), |pod| pod["spec"]["containers"][0]["resources"] = limits.clone()))
                .unwrap();
            let resources = &stored["spec"]["containers"][0]["resources"];
            same("requests", resources["requests"].clone(), limits["limits"].clone())
        }
        "api-167" => {
            let volumes = json!([
                {"name": "a", "configMap": {"name": "a"}}, {"name": "b", "secret": {"secretName": "b"}},
                {"name": "c", "projected": {"sources": []}}, {"name": "d", "downwardAPI": {}},
            ]);
            let stored =
                Scene::server().create(with(pod("web"), |pod| pod["spec"]["volumes"] = volumes)).unwrap();
            let kinds = case.given["volumes"].as_array().unwrap();
            all(kinds.iter().enumerate().map(|(index, kind)| {
                let mode = &stored["spec"]["volumes"][index][kind.as_str().unwrap()]["defaultMode"];
                same("defaultMode", mode.clone(), case.expect["defaultMode"].clone())
            }))
        }
        "api-168" => {
            let probe = json!({"httpGet": case.given["httpGet"]});
            let stored = Scene::server()
                .create(with(pod("web"), |pod| pod["spec"]["containers"][0]["livenessProbe"] = probe))
                .unwrap();
            let get = &stored["spec"]["containers"][0]["livenessProbe"]["httpGet"];
            all([
                same("path", get["path"].clone(), case.expect["path"].clone()),
                same("scheme", get["scheme"].clone(), case.expect["scheme"].clone()),
            ])
        }
        "api-172" => {
            let mut scene = Scene::playground();
            let stored = scene.create(pod("web")).unwrap();
            let name = text(&stored["spec"]["volumes"][0]["name"]);
            let mount = &stored["spec"]["containers"][0]["volumeMounts"][0];
            all([
                holds(&name, name.starts_with("kube-api-access-") && name.len() == 21),
                same(
                    "mount",
                    text(&mount["mountPath"]),
                    "/var/run/secrets/kubernetes.io/serviceaccount".to_string(),
                ),
            ])
        }
        _ => Verdict::Contradicted("nothing tries this row".to_string()),
    }
}

fn name_rules() -> Verdict {
    let mut scene = Scene::server();
    let named = |document: Value, name: &str| with(document, |it| it["metadata"]["name"] = json!(name));
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {}, "spec": {"ports": [{"port": 80}]},
    });
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {}});
    let container = |name: &str| with(pod("b"), |pod| pod["spec"]["containers"][0]["name"] = json!(name));
    let port = |name: &str| {
        with(pod("c"), |pod| {
            pod["spec"]["containers"][0]["ports"] = json!([{"name": name, "containerPort": 80}]);
        })
    };
    let rows = [
        ("a Namespace may not hold dots", named(namespace, "a.b"), false),
        ("a Pod may hold dots", pod("a.b"), true),
        ("a Deployment may hold dots", deployment("a.b", 1), true),
        ("a ConfigMap may begin with a digit", named(config, "1.b"), true),
        ("a Service may not hold dots", named(service.clone(), "a.b"), false),
        (
            "a Service may begin with a digit, as the newest releases have it",
            named(service.clone(), "1a"),
            true,
        ),
        ("a Service is a label", named(service, "a1"), true),
        ("a container may not hold dots", container("a.b"), false),
        ("a container may begin with a digit", container("1"), true),
        ("a port has at most 15 letters", port("abcdefghijklmnop"), false),
        ("a port has a letter", port("80"), false),
    ];
    all(rows
        .into_iter()
        .map(|(sentence, document, fine)| same(sentence, scene.create(document).is_ok(), fine)))
}

fn generated_name(case: &Case) -> Verdict {
    let base = match case.given_text("generateName").as_str() {
        "70 characters" => "a".repeat(70),
        base => base.to_string(),
    };
    let nameless = with(pod(""), |pod| pod["metadata"] = json!({"generateName": base}));
    let name = text(&Scene::server().create(nameless).unwrap()["metadata"]["name"]);
    if let Some(length) = case.expect["name_length"].as_u64() {
        return same("length", name.len() as u64, length);
    }
    let suffix = name.strip_prefix(&base).unwrap();
    all([
        same("suffix", suffix.len() as u64, case.expect["suffix_length"].as_u64().unwrap()),
        same("alphabet", String::from_utf8_lossy(NAME_ALPHABET).to_string(), case.expected_text("alphabet")),
        holds(suffix, suffix.bytes().all(|byte| NAME_ALPHABET.contains(&byte))),
    ])
}

/// The same draws twice; the second time, the name that they make is taken.
fn taken_name_is_drawn_again() -> Verdict {
    let before = Scene::server();
    let map = |meta: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta});
    let generated = |scene: &mut Scene| scene.create(map(json!({"generateName": "web-"})));
    let mut first = before.clone();
    first.create(map(json!({"name": "other"}))).unwrap();
    let name = text(&generated(&mut first).unwrap()["metadata"]["name"]);
    let mut second = before;
    second.create(map(json!({"name": name}))).unwrap();
    match generated(&mut second) {
        Ok(object) => holds("another name", text(&object["metadata"]["name"]) != name),
        Err(status) => Verdict::Contradicted(status.message),
    }
}

fn server_values_win() -> Verdict {
    let mut scene = Scene::server();
    let sent = with(pod("web"), |pod| {
        pod["metadata"]["uid"] = json!("00000000-0000-0000-0000-000000000000");
        pod["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
        pod["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    });
    let stored = scene.create(sent.clone()).unwrap();
    let meta = &stored["metadata"];
    all([
        holds("uid", meta["uid"] != sent["metadata"]["uid"]),
        holds("creationTimestamp", meta["creationTimestamp"] != sent["metadata"]["creationTimestamp"]),
        holds("deletionTimestamp", meta.get("deletionTimestamp").is_none()),
    ])
}

fn generation(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let stored = scene.create(deployment("web", 1)).unwrap();
    let generation = |object: &Value| object["metadata"]["generation"].as_i64().unwrap();
    let mut patched =
        |patch: Value| generation(&scene.request(Verb::MergePatch, Kind::Deployment, "web", patch).unwrap());
    let first = generation(&stored);
    match case.id.as_str() {
        "api-089" => all([
            same("changed by a client", patched(json!({"metadata": {"generation": 7}})), first),
            same("spec", patched(json!({"spec": {"replicas": 2}})), first + 1),
        ]),
        "api-090" => all([
            same("starts at", json!(first), case.expect["starts at"].clone()),
            same("labels", patched(json!({"metadata": {"labels": {"a": "b"}}})), first),
            same("spec", patched(json!({"spec": {"replicas": 2}})), first + 1),
        ]),
        _ => all([
            same("labels", patched(json!({"metadata": {"labels": {"a": "b"}}})), first),
            same("annotations", patched(json!({"metadata": {"annotations": {"a": "b"}}})), first + 1),
        ]),
    }
}

fn status_and_spec() -> Verdict {
    let mut scene = Scene::server();
    let stored = scene.create(pod("web")).unwrap();
    let both = with(stored.clone(), |pod| {
        pod["spec"]["containers"][0]["image"] = json!("other");
        pod["status"]["phase"] = json!("Running");
    });
    let by_status = scene.request_to("status", Verb::Update, Kind::Pod, "web", both).unwrap();
    let again = with(by_status.clone(), |pod| {
        pod["spec"]["containers"][0]["image"] = json!("other");
        pod["status"]["phase"] = json!("Failed");
    });
    let by_main = scene.request(Verb::Update, Kind::Pod, "web", again).unwrap();
    all([
        same("spec", by_status["spec"].clone(), stored["spec"].clone()),
        same("status", text(&by_status["status"]["phase"]), "Running".to_string()),
        same("image", text(&by_main["spec"]["containers"][0]["image"]), "other".to_string()),
        same("phase", text(&by_main["status"]["phase"]), "Running".to_string()),
    ])
}

/// A running Pod of a node whose kubelet does not end it, deleted with a grace.
fn grace(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene.create(pod("web")).unwrap();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}});
    scene.create(node).unwrap();
    let target = json!({"target": {"kind": "Node", "name": "node-1"}});
    scene.request_to("binding", Verb::Create, Kind::Pod, "web", target).unwrap();
    let before = scene.get(Kind::Pod, "web").unwrap();
    let delete = |scene: &mut Scene, grace: i64| {
        scene.delete(Kind::Pod, "web", |options| options.grace_seconds = Some(grace)).unwrap()
    };
    let grace_of = |pod: &Value| pod["metadata"]["deletionGracePeriodSeconds"].clone();
    let goes_at = |pod: &Value| text(&pod["metadata"]["deletionTimestamp"]);
    match case.id.as_str() {
        "api-096" => {
            let now = scene.cluster.now();
            let marked = scene.delete(Kind::Pod, "web", |_| ()).unwrap();
            let generation = |pod: &Value| pod["metadata"]["generation"].as_i64().unwrap();
            all([
                same("grace", grace_of(&marked), case.expect["deletionGracePeriodSeconds"].clone()),
                same("time", goes_at(&marked), kubestep::api::time::Timestamp(now.0 + 30).to_string()),
                same("generation", generation(&marked), generation(&before) + 1),
                holds("it stays", scene.get(Kind::Pod, "web").is_some()),
            ])
        }
        "api-097" => {
            let first = delete(&mut scene, 30);
            let second = delete(&mut scene, 10);
            all([
                same("grace", grace_of(&second), case.expect["deletionGracePeriodSeconds"].clone()),
                holds("earlier", goes_at(&second) < goes_at(&first)),
            ])
        }
        "api-098" => {
            let first = delete(&mut scene, 10);
            let second = delete(&mut scene, 30);
            same("object", second, first)
        }
        _ => same("grace", grace_of(&delete(&mut scene, -5)), case.expect["treated_as"].clone()),
    }
}

fn finalizers(case: &Case) -> Verdict {
    // Of all kinds a client meets, only Jobs default to orphaning.
    let kind = if case.given_text("kind default") == "kind defaults to orphan" {
        Kind::Job
    } else {
        Kind::ReplicaSet
    };
    let spec = json!({"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}});
    let mut document = match kind {
        Kind::Job => {
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "web"}, "spec": spec})
        }
        _ => with(deployment("web", 1), |it| it["kind"] = json!("ReplicaSet")),
    };
    document["metadata"]["finalizers"] = case.given["finalizers"].clone();
    let mut scene = Scene::server();
    scene.create(document).unwrap();
    let propagation = match &case.given["orphanDependents"] {
        Value::Bool(true) => Some(Propagation::Orphan),
        Value::Bool(false) => Some(Propagation::Background),
        _ => None,
    };
    scene.delete(kind, "web", |options| options.propagation = propagation).unwrap();
    let left = scene.get(kind, "web");
    let sorted = |value: &Value| {
        let mut texts: Vec<String> = value.as_array().into_iter().flatten().map(text).collect();
        texts.sort();
        texts
    };
    let finalizers =
        left.as_ref().map(|object| sorted(&object["metadata"]["finalizers"])).unwrap_or_default();
    all([
        same("gone at once", left.is_none(), case.expect["gone_at_once"] == json!(true)),
        same("finalizers", finalizers, sorted(&case.expect["finalizers"])),
    ])
}

fn cascade(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(with(deployment("web", 2), |it| it["kind"] = json!("ReplicaSet"))).unwrap();
    scene.ticks(5);
    let pods = scene.list(Kind::Pod).len();
    let (propagation, finalizer) = match case.given_text("propagationPolicy").as_str() {
        "Foreground" => (Propagation::Foreground, Some("foregroundDeletion")),
        "Orphan" => (Propagation::Orphan, Some("orphan")),
        _ => (Propagation::Background, None),
    };
    // One dependent stays for a while, so that the order can be seen.
    let first = text(&scene.list(Kind::Pod)[0]["metadata"]["name"]);
    let hold = json!({"metadata": {"finalizers": ["foo.com/x"]}});
    scene.request(Verb::MergePatch, Kind::Pod, &first, hold).unwrap();
    let owner =
        scene.delete(Kind::ReplicaSet, "web", |options| options.propagation = Some(propagation)).unwrap();
    let at_once = scene.get(Kind::ReplicaSet, "web").is_none();
    scene.ticks(10);
    let owner_waits = scene.get(Kind::ReplicaSet, "web").is_some();
    let left = scene.list(Kind::Pod);
    scene.request(Verb::MergePatch, Kind::Pod, &first, json!({"metadata": {"finalizers": null}})).unwrap();
    scene.ticks(10);
    let ends = holds("the owner goes in the end", scene.get(Kind::ReplicaSet, "web").is_none());
    let marked = match finalizer {
        Some(finalizer) => same("finalizers", owner["metadata"]["finalizers"].clone(), json!([finalizer])),
        None => holds("the owner goes at once", at_once),
    };
    let rest = match propagation {
        Propagation::Foreground => all([
            holds("the owner waits for its dependents", owner_waits),
            same("left meanwhile", left.len(), 1),
            same("left", scene.list(Kind::Pod).len(), 0),
        ]),
        Propagation::Background => same("left", scene.list(Kind::Pod).len(), 0),
        Propagation::Orphan => all([
            same("left", scene.list(Kind::Pod).len(), pods),
            holds(
                "no owner is named",
                scene.list(Kind::Pod).iter().all(|pod| pod["metadata"].get("ownerReferences").is_none()),
            ),
        ]),
    };
    all([same("Pods", pods, 2), marked, rest, ends])
}

fn owners(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    let map = |name: &str, namespace: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}});
    let refer = |owner: &Value, uid: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": uid});
    let owned = |owners: Vec<Value>| {
        with(map("dependent", NAMESPACE), |it| it["metadata"]["ownerReferences"] = json!(owners))
    };
    match case.id.as_str() {
        "api-115" => {
            let owner = scene.create(map("far", "default")).unwrap();
            scene.create(owned(vec![refer(&owner, owner["metadata"]["uid"].as_str().unwrap())])).unwrap();
            scene.ticks(20);
            let events = scene.events();
            all([
                holds("the dependent goes", scene.get(Kind::ConfigMap, "dependent").is_none()),
                holds(
                    &format!("{events:?}"),
                    events.iter().any(|line| line.starts_with("OwnerRefInvalidNamespace")),
                ),
            ])
        }
        "api-116" => {
            let first = scene.create(map("first", NAMESPACE)).unwrap();
            let second = scene.create(map("second", NAMESPACE)).unwrap();
            let owners =
                [&first, &second].map(|owner| refer(owner, owner["metadata"]["uid"].as_str().unwrap()));
            scene.create(owned(owners.to_vec())).unwrap();
            scene.delete(Kind::ConfigMap, "first", |_| ()).unwrap();
            scene.ticks(10);
            let kept = scene.get(Kind::ConfigMap, "dependent").is_some();
            scene.delete(Kind::ConfigMap, "second", |_| ()).unwrap();
            scene.ticks(10);
            all([
                holds("it is kept while one owner is there", kept),
                holds("then it goes", scene.get(Kind::ConfigMap, "dependent").is_none()),
            ])
        }
        _ => {
            let owner = scene.create(map("owner", NAMESPACE)).unwrap();
            scene.create(owned(vec![refer(&owner, "00000000-0000-0000-0000-000000000000")])).unwrap();
            scene.ticks(10);
            holds("the dependent goes", scene.get(Kind::ConfigMap, "dependent").is_none())
        }
    }
}

fn validation(case: &Case) -> Verdict {
    let template = |key: &str, value: Value| {
        with(deployment("web", 1), |it| it["spec"]["template"]["spec"][key] = value)
    };
    let spec = |key: &str, value: Value| with(deployment("web", 1), |it| it["spec"][key] = value);
    let container = |key: &str, value: Value| with(pod("web"), |it| it["spec"]["containers"][0][key] = value);
    let says = |document: Value| {
        let printed = Scene::server().with_file("kubectl create -f x.yaml", &document.to_string());
        kubectl_says(&printed, case)
    };
    match case.id.as_str() {
        "api-122" => says(with(deployment("web", 1), |it| {
            it["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"})
        })),
        "api-123" => says(with(deployment("web", 1), |it| {
            it["spec"].as_object_mut().unwrap().remove("selector");
        })),
        "api-124" => {
            let mut scene = Scene::server();
            scene.create(deployment("web", 1)).unwrap();
            let other = with(deployment("web", 1), |it| {
                it["spec"]["selector"] = json!({"matchLabels": {"app": "new"}});
                it["spec"]["template"]["metadata"]["labels"] = json!({"app": "new"});
            });
            kubectl_says(&scene.with_file("kubectl replace -f x.yaml", &other.to_string()), case)
        }
        "api-125" => says(spec("strategy", json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}))),
        "api-126" => has_cause(template("restartPolicy", json!("Never")), case),
        "api-127" => has_cause(spec("replicas", json!(-1)), case),
        "api-128" => has_cause(
            with(deployment("web", 1), |it| {
                it["spec"]["progressDeadlineSeconds"] = json!(5);
                it["spec"]["minReadySeconds"] = json!(10);
            }),
            case,
        ),
        "api-129" => {
            has_cause(spec("strategy", json!({"type": "Recreate", "rollingUpdate": {"maxSurge": 1}})), case)
        }
        "api-130" => has_cause(with(pod("web"), |it| it["spec"]["containers"] = json!([])), case),
        "api-131" => has_cause(container("image", Value::Null), case),
        "api-132" => {
            let twice = json!([{"name": "a", "image": "i"}, {"name": "a", "image": "i"}]);
            has_cause(with(pod("web"), |it| it["spec"]["containers"] = twice), case)
        }
        "api-133" => has_cause(
            container("resources", json!({"requests": {"cpu": "200m"}, "limits": {"cpu": "100m"}})),
            case,
        ),
        "api-134" => has_cause(container("volumeMounts", json!([{"name": "v", "mountPath": "/v"}])), case),
        _ => {
            let mut scene = Scene::server();
            scene.create(pod("web")).unwrap();
            let other = container("env", json!([{"name": "A", "value": "b"}]));
            let printed = scene.with_file("kubectl replace -f x.yaml", &other.to_string());
            let expected = case.expected_text("kubectl");
            holds(&printed, printed.starts_with(&expected))
        }
    }
}

fn field_validation(case: &Case) -> Verdict {
    let stray = with(deployment("web", 1), |it| it["spec"]["foo"] = json!("bar")).to_string();
    let mut scene = Scene::server();
    match case.id.as_str() {
        "api-136" => all(["create", "apply"].map(|verb| {
            kubectl_says(&Scene::server().with_file(&format!("kubectl {verb} -f x.yaml"), &stray), case)
        })),
        "api-137" => {
            let printed = scene.with_file("kubectl create -f x.yaml --validate=warn", &stray);
            all([
                holds(&printed, printed.contains(&case.expected_text("kubectl"))),
                holds("it is stored", scene.get(Kind::Deployment, "web").is_some()),
            ])
        }
        "api-138" => {
            let printed = scene.with_file("kubectl create -f x.yaml --validate=ignore", &stray);
            let stored = scene.get(Kind::Deployment, "web").unwrap();
            all([
                same("printed", printed, "deployment.apps/web created\n".to_string()),
                holds("the field is dropped", stored["spec"].get("foo").is_none()),
            ])
        }
        _ => not_simulated(
            "kubectl merges what stands twice before it sends (a recorded case shows it), and a request here holds no text",
        ),
    }
}

fn server_side_apply(case: &Case) -> Verdict {
    match case.id.as_str() {
        "api-140" => {
            let mut manager = manager(&case.given_text("manager"), ".spec.replicas", "2001-02-03T04:05:06Z");
            manager.api_version = case.given_text("apiVersion");
            let status = managed::conflict(Kind::Deployment, "web", vec![manager]);
            let cause = &status.details.causes[0];
            all([
                same("code", json!(status.code), case.expect["code"].clone()),
                same("reason", status.reason, &case.expected_text("reason")),
                same("message", status.message.clone(), case.expected_text("message")),
                same("type", json!(cause.reason), case.expect["cause"]["type"].clone()),
                same("field", json!(cause.field), case.expect["cause"]["field"].clone()),
            ])
        }
        "api-141" => {
            let mut names = case.given_texts("managers").into_iter();
            let updated = manager(&names.next().unwrap(), ".spec.Y", "TIME");
            let applied =
                Manager { operation: "Apply".to_string(), ..manager(&names.next().unwrap(), ".spec.X", "") };
            let status = managed::conflict(Kind::Deployment, "web", vec![updated, applied]);
            same("message", status.message, case.expected_text("message"))
        }
        "api-142" => {
            let mut manager = manager(&case.given_text("manager"), ".spec.replicas", "2001-02-03T04:05:06Z");
            manager.subresource = case.given_text("subresource");
            let status = managed::conflict(Kind::Deployment, "web", vec![manager]);
            same("message", status.message, case.expected_text("message"))
        }
        "api-143" => {
            let mut scene = Scene::server();
            let object = with(deployment("web", 2), |_| {}).to_string();
            let first = scene.run_with("kubectl apply --server-side --field-manager=a -f -", Some(&object));
            let second = scene.run_with("kubectl apply --server-side --field-manager=b -f -", Some(&object));
            let of = |name: &str| {
                let live = scene.get(Kind::Deployment, "web").unwrap();
                let managers = managed::read(live["metadata"].get("managedFields"));
                let fields = managers.into_iter().find(|manager| manager.name == name).unwrap().fields;
                fields.to_value()["f:spec"]["f:replicas"].clone()
            };
            all([
                same("both are applied", (first.exit, second.exit), (0, 0)),
                same("both manage it", (of("a"), of("b")), (json!({}), json!({}))),
            ])
        }
        _ => {
            let mut scene = Scene::server();
            let apply = |scene: &mut Scene, object: &Value| {
                scene.run_with("kubectl apply --server-side -f -", Some(&object.to_string())).exit
            };
            let whole = with(deployment("web", 2), |it| it["metadata"]["labels"] = json!({"a": "b"}));
            let less = with(whole.clone(), |it| {
                it["metadata"].as_object_mut().unwrap().remove("labels");
                it["spec"].as_object_mut().unwrap().remove("replicas");
            });
            let codes = [apply(&mut scene, &whole), apply(&mut scene, &less)];
            let live = scene.get(Kind::Deployment, "web").unwrap();
            all([
                same("both are applied", codes, [0, 0]),
                holds("a field without a default is removed", live["metadata"].get("labels").is_none()),
                same("a field with one is reset", live["spec"]["replicas"].clone(), json!(1)),
            ])
        }
    }
}

/// A manager that updated one field.
fn manager(name: &str, field: &str, time: &str) -> Manager {
    let path: Vec<String> = field.split('.').skip(1).map(|name| format!("f:{name}")).collect();
    let mut fields = FieldSet::default();
    fields.insert(&path);
    Manager {
        name: name.to_string(),
        operation: "Update".to_string(),
        subresource: String::new(),
        api_version: "v1".to_string(),
        time: time.to_string(),
        fields,
    }
}

fn three_way() -> Verdict {
    let mut scene = Scene::server();
    let container = |args: Value, ports: Value| {
        with(deployment("web", 1), |it| {
            it["spec"]["template"]["spec"]["containers"][0]["args"] = args;
            it["spec"]["template"]["spec"]["containers"][0]["ports"] = ports;
        })
    };
    let first = with(container(json!(["a", "b"]), json!([{"containerPort": 80}])), |it| {
        it["metadata"]["labels"] = json!({"gone": "x", "kept": "x"});
    });
    scene.apply(&first.to_string());
    let others = json!({
        "metadata": {"labels": {"live": "x"}},
        "spec": {"template": {"spec": {"containers": [
            {"name": "side", "image": "side"}, {"name": "web", "ports": [{"containerPort": 81}]},
        ]}}},
    });
    scene.request(Verb::StrategicPatch, Kind::Deployment, "web", others).unwrap();
    let second = with(container(json!(["c"]), json!([{"containerPort": 80, "name": "http"}])), |it| {
        it["metadata"]["labels"] = json!({"kept": "x", "new": "x"});
    });
    scene.apply(&second.to_string());
    let live = scene.get(Kind::Deployment, "web").unwrap();
    let labels: Vec<&String> = live["metadata"]["labels"].as_object().unwrap().keys().collect();
    let containers = live["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    let mut names: Vec<String> = containers.iter().map(|it| text(&it["name"])).collect();
    names.sort();
    let web = containers.iter().find(|it| it["name"] == json!("web")).unwrap();
    all([
        same("labels", format!("{labels:?}"), r#"["kept", "live", "new"]"#.to_string()),
        same("containers", names, vec!["side".to_string(), "web".to_string()]),
        same("ports", web["ports"].as_array().unwrap().len(), 2),
        same("args", web["args"].clone(), json!(["c"])),
    ])
}

fn pod_defaults(case: &Case) -> Verdict {
    let mut scene = Scene::playground();
    let sent = with(pod("web"), |pod| {
        pod["spec"]["containers"][0]["ports"] = json!([{"containerPort": 80}]);
    });
    let stored = scene.create(sent).unwrap();
    let spec = &stored["spec"];
    let container = &spec["containers"][0];
    let mut verdicts = Vec::new();
    for (key, expected) in case.expect.as_object().unwrap() {
        verdicts.push(match key.as_str() {
            "serviceAccountName" => same(key, text(&spec[key]), "default".to_string()),
            "tolerations" => same(key, spec[key].as_array().map(Vec::len), Some(2)),
            "containers[].imagePullPolicy" => {
                same(key, text(&container["imagePullPolicy"]), "Always".to_string())
            }
            "ports[].protocol" => same(key, container["ports"][0]["protocol"].clone(), expected.clone()),
            "qosClass in status" => same(key, stored["status"]["qosClass"].clone(), expected.clone()),
            _ => match key.strip_prefix("containers[].") {
                Some(field) => same(key, container[field].clone(), expected.clone()),
                None => same(key, spec[key].clone(), expected.clone()),
            },
        });
    }
    all(verdicts)
}
