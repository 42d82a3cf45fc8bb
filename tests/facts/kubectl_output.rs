//! kubectl: columns, cells, messages, output formats.

use kubestep::api::kind::Kind;
use kubestep::api::object::Object;
use kubestep::kubectl::failure::Failure;
use kubestep::kubectl::jsonpath::Template;
use kubestep::kubectl::print::row;
use kubestep::kubectl::{duration, host::Host};
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, deployment, pod, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match number(case) {
        1..=19 => columns(case),
        20..=25 => layout(case),
        26..=68 => pod_row(case),
        69..=77 => service_row(case),
        78..=84 => ingress_row(case),
        85..=94 => node_row(case),
        95..=103 => job_row(case),
        104..=109 => events(case),
        110..=140 => same(
            "age",
            duration::human(case.given["seconds"].as_f64().unwrap().trunc() as i64),
            case.expected_text("text"),
        ),
        141..=158 => get(case),
        159..=176 => errors(case),
        177..=208 => messages(case),
        209..=217 => deletes(case),
        218..=231 => changes(case),
        232..=242 => rollout_status(case),
        243..=257 => rollouts(case),
        258..=281 => logs(case),
        282..=304 => describe(case),
        305..=315 => explain(case),
        316..=345 => jsonpath(case),
        346..=353 => normalised(case),
        354..=358 => custom_columns(case),
        _ => waits(case),
    }
}

fn number(case: &Case) -> u32 {
    case.id.trim_start_matches("ko-").parse().unwrap()
}

/// Words with one space between them.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shows(told: &str, wanted: &str) -> Verdict {
    holds(&format!("no {wanted:?} in {told:?}"), squeezed(told).contains(&squeezed(wanted)))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

// --- Tables ---------------------------------------------------------------------------------------------------------

fn columns(case: &Case) -> Verdict {
    let kind = Kind::from_resource(&case.given_text("resource")).unwrap();
    let shown = |wide: bool| -> Vec<String> {
        row::columns(kind).iter().filter(|c| c.wide == wide).map(|c| c.name.to_string()).collect()
    };
    let always = same("columns", shown(false), texts(&case.expect["columns"]));
    let wide = texts(&case.expect["wide_adds"]);
    if wide.is_empty() || kind == Kind::Event {
        return all([
            always,
            holds(
                "columns of events",
                kind != Kind::Event || {
                    let names: Vec<&str> = row::columns(kind).iter().map(|c| c.name).collect();
                    names
                        == [
                            "LAST SEEN",
                            "TYPE",
                            "REASON",
                            "OBJECT",
                            "SUBOBJECT",
                            "SOURCE",
                            "MESSAGE",
                            "FIRST SEEN",
                            "COUNT",
                            "NAME",
                        ]
                },
            ),
        ]);
    }
    all([always, same("wide", shown(true), wide)])
}

/// An object's cells by column.
fn row_of(kind: Kind, object: Value) -> std::collections::BTreeMap<&'static str, String> {
    let scene = Scene::server();
    let object = Object::decode(kind, object).unwrap();
    row::columns(kind).iter().map(|column| column.name).zip(row::cells(&object, &scene)).collect()
}

fn expect_cells(case: &Case, kind: Kind, object: Value) -> Verdict {
    let cells = row_of(kind, object);
    let expected = case.expect.as_object().unwrap();
    all(expected.iter().map(|(column, value)| {
        let cell = cells.get(column.as_str()).cloned().unwrap_or_default();
        same(column, cell, text(value).trim_end_matches(" without ports").to_string())
    }))
}

fn layout(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let labelled = |name: &str, labels: Value| with(pod(name), |pod| pod["metadata"]["labels"] = labels);
    scene.create(labelled("a", json!({"z": "1", "app": "x", "example.com/tier": "t"}))).unwrap();
    scene.create(labelled("b", json!({}))).unwrap();
    let mut told = |line: &str| scene.run(line).stdout;
    match number(case) {
        20 => all([
            holds("first column", told("kubectl get pods -A").starts_with("NAMESPACE ")),
            holds("none for namespaces", told("kubectl get ns -A").starts_with("NAME ")),
        ]),
        21 => {
            let out = told("kubectl get pods --show-labels");
            let lines: Vec<&str> = out.lines().collect();
            all([
                holds("header", lines[0].ends_with("LABELS")),
                holds(&out, lines[1].ends_with("app=x,example.com/tier=t,z=1")),
                holds(&out, lines[2].ends_with("<none>")),
            ])
        }
        22 => {
            let out = told("kubectl get pods -L app,example.com/tier");
            let lines: Vec<&str> = out.lines().collect();
            all([
                holds(&out, squeezed(lines[0]).ends_with("APP TIER")),
                holds(&out, squeezed(lines[1]).ends_with("x t")),
                holds(&out, squeezed(lines[2]).split(' ').count() == 5),
            ])
        }
        23 => {
            let out = scene.run("kubectl get pods --watch --output-watch-events --request-timeout=2s").stdout;
            holds(&out, out.starts_with("EVENT ") && out.contains("ADDED "))
        }
        24 => {
            let out = told("kubectl get ns ns");
            same("layout", out.lines().next().unwrap(), "NAME   STATUS   AGE")
        }
        _ => holds("no header", !told("kubectl get pods --no-headers").contains("NAME")),
    }
}

/// `10 s ago` in seconds.
fn ago(text: &str) -> i64 {
    let mut words = text.split(' ');
    let count: i64 = words.next().unwrap().parse().unwrap();
    count
        * match words.next().unwrap() {
            "s" => 1,
            "min" => 60,
            _ => 86_400,
        }
}

fn time_before(seconds: i64) -> Value {
    let now = Scene::server().now();
    json!(kubestep::api::time::Timestamp(now.0 - seconds).to_string())
}

/// A container's status from a row's words.
fn status(name: &str, given: &Value) -> Value {
    let mut status = json!({"name": name, "ready": given["ready"] == true, "restartCount": given["restarts"].as_i64().unwrap_or(0)});
    let word = text(given);
    if given["running"] == true {
        status["state"] = json!({"running": {"startedAt": time_before(60)}});
    }
    if let Some(reason) = given["waiting"].as_str() {
        status["state"] = json!({"waiting": {"reason": reason}});
    }
    if let Some(reason) = given["terminated"].as_str() {
        status["state"] = json!({"terminated": {"reason": reason, "exitCode": 0}});
    }
    if word == "waiting" {
        status["state"] = json!({"waiting": {}});
    }
    if word == "exit 0" || given["exit"] == 0 {
        status["state"] = json!({"terminated": {"reason": "Completed", "exitCode": 0}});
    }
    if let Some(finished) = given["last finished"].as_str() {
        status["lastState"] =
            json!({"terminated": {"exitCode": 1, "finishedAt": time_before(ago(finished))}});
    }
    status
}

/// A container's state from words such as `terminated, no reason, exit code 3`.
fn state_in_words(words: &str) -> Value {
    let last = words.rsplit(' ').next().unwrap();
    match words {
        _ if words.starts_with("waiting ") => {
            json!({"waiting": {"reason": words.split(' ').nth(1).unwrap()}})
        }
        "running" => json!({"running": {}}),
        _ if words.contains("signal ") => {
            json!({"terminated": {"signal": last.parse::<i64>().unwrap(), "exitCode": 137}})
        }
        _ if words.contains("exit code ") => {
            json!({"terminated": {"exitCode": last.parse::<i64>().unwrap()}})
        }
        _ => json!({"terminated": {"reason": last, "exitCode": 1}}),
    }
}

fn pod_row(case: &Case) -> Verdict {
    let given = &case.given;
    let bare = |count: usize, inits: usize| {
        let list = |prefix: &str, count: usize| -> Vec<Value> {
            (0..count).map(|n| json!({"name": format!("{prefix}{n}"), "image": "nginx"})).collect()
        };
        let mut pod = json!({"metadata": {"name": "p"}, "spec": {"containers": list("c", count), "nodeName": "n"}, "status": {}});
        if inits > 0 {
            pod["spec"]["initContainers"] = json!(list("i", inits));
        }
        pod
    };
    let one = |change: &dyn Fn(&mut Value)| with(bare(1, 0), |pod| change(pod));
    let shown = |pod: Value| row_of(Kind::Pod, pod);
    let status_is = |pod: Value| same("STATUS", shown(pod)["STATUS"].clone(), case.expected_text("STATUS"));
    match number(case) {
        26..=43 => {
            let list = given["containers"].as_array().cloned();
            let count = list.as_ref().map_or(given["containers"].as_u64().unwrap_or(1) as usize, Vec::len);
            let inits = given["inits"].as_array().cloned().unwrap_or_default();
            let mut pod = bare(count, inits.len());
            let statuses = list.unwrap_or_default();
            let name = |prefix: &str, n: usize| format!("{prefix}{n}");
            pod["status"] = json!({
                "phase": given["phase"].as_str().unwrap_or("podPhase"),
                "containerStatuses": statuses.iter().enumerate().map(|(n, s)| status(&name("c", n), s)).collect::<Vec<_>>(),
                "initContainerStatuses": inits.iter().enumerate().map(|(n, s)| status(&name("i", n), s)).collect::<Vec<_>>(),
            });
            if let Some(reason) = given["status.reason"].as_str() {
                pod["status"]["reason"] = json!(reason);
            }
            if let Some(conditions) = given.get("conditions") {
                pod["status"]["conditions"] = conditions.clone();
            }
            if let Some(ready) = given["Ready condition"].as_str().filter(|ready| *ready != "absent") {
                pod["status"]["conditions"] = json!([{"type": "Ready", "status": ready}]);
            }
            if given.get("deletionTimestamp").is_some() {
                pod["metadata"]["deletionTimestamp"] = time_before(5);
            }
            let cells = shown(pod);
            if number(case) == 30 {
                return same("STATUS", cells["STATUS"].clone(), "test".to_string());
            }
            let row = format!("{} {} {}", cells["READY"], cells["STATUS"], cells["RESTARTS"]);
            same("row", row, case.expected_text("row"))
        }
        44..=50 => {
            let state = state_in_words(&case.given_text("init"));
            let pod = with(bare(1, 2), |pod| {
                pod["status"] = json!({"phase": "Pending", "initContainerStatuses": [
                    {"name": "i0", "state": state, "restartCount": 0},
                    {"name": "i1", "state": {"waiting": {"reason": "PodInitializing"}}, "restartCount": 0},
                ]});
            });
            same("STATUS", shown(pod)["STATUS"].clone(), case.expected_text("STATUS").replace("i/n", "0/2"))
        }
        51..=56 => {
            let state = state_in_words(case.given_text("app").trim_end_matches(" (inits done)"));
            status_is(one(&|pod| {
                pod["status"] = json!({"phase": "Pending", "containerStatuses": [{"name": "c0", "state": state, "restartCount": 0}]});
            }))
        }
        57..=59 => status_is(one(&|pod| {
            pod["metadata"]["deletionTimestamp"] = time_before(1);
            pod["status"] = json!({"phase": given["phase"].as_str().unwrap_or("Running"), "reason": text(&given["status.reason"])});
        })),
        60 => status_is(one(&|pod| pod["status"] = json!({"phase": "Pending"}))),
        61 => status_is(one(&|pod| pod["status"] = json!({"phase": "Failed", "reason": "Evicted"}))),
        62 | 63 => {
            let mut pod = bare(2, 1);
            pod["spec"]["initContainers"][0]["restartPolicy"] = json!("Always");
            let running = json!({"running": {}});
            pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "initContainerStatuses": [{"name": "i0", "state": running, "started": true, "ready": true, "restartCount": 0}],
            "containerStatuses": [
                {"name": "c0", "state": running, "ready": true, "restartCount": 0},
                {"name": "c1", "state": running, "ready": false, "restartCount": 0},
            ]});
            let cells = shown(pod);
            all([
                same("READY", cells["READY"].clone(), "2/3".to_string()),
                same("STATUS", cells["STATUS"].clone(), "Running".to_string()),
            ])
        }
        64 | 65 => {
            let finished = given["lastState.terminated.finishedAt"].as_str();
            let mut container = json!({"running": true, "restarts": given["restarts"]});
            if let Some(finished) = finished {
                container["last finished"] = json!(finished);
            }
            let pod = one(&|pod| {
                pod["status"] = json!({"phase": "Running", "containerStatuses": [status("c0", &container)]});
            });
            expect_cells(case, Kind::Pod, pod)
        }
        66 => expect_cells(case, Kind::Pod, one(&|pod| pod["spec"]["nodeName"] = json!(""))),
        67 => {
            let pod = one(&|pod| {
                pod["spec"]["readinessGates"] = json!([{"conditionType": "a/x"}, {"conditionType": "a/y"}]);
                pod["status"]["conditions"] =
                    json!([{"type": "a/x", "status": "True"}, {"type": "a/y", "status": "False"}]);
            });
            same("gates", shown(pod)["READINESS GATES"].clone(), case.expected_text("value"))
        }
        _ => expect_cells(case, Kind::Pod, bare(1, 0)),
    }
}

fn service_row(case: &Case) -> Verdict {
    let given = &case.given;
    let port = |port: &Value| match port.as_str() {
        Some(text) => {
            let (number, protocol) = text.split_once('/').unwrap();
            json!({"port": number.parse::<i64>().unwrap(), "protocol": protocol})
        }
        None => with(port.clone(), |port| port["protocol"] = json!("TCP")),
    };
    let ports: Vec<Value> = given["ports"].as_array().into_iter().flatten().map(port).collect();
    let mut service = json!({"metadata": {"name": "s"}, "spec": {
        "type": given["type"].as_str().unwrap_or("ClusterIP"),
        "clusterIP": given["clusterIP"].as_str().unwrap_or(""),
        "ports": ports,
    }});
    if let Some(selector) = given.get("selector") {
        service["spec"]["selector"] = selector.clone();
    }
    if let Some(name) = given["externalName"].as_str() {
        service["spec"]["externalName"] = json!(name);
    }
    let ingress: Vec<Value> = texts(&given["ingress"]).iter().map(|ip| json!({"ip": ip})).collect();
    service["status"] = json!({"loadBalancer": {"ingress": ingress}});
    expect_cells(case, Kind::Service, service)
}

fn ingress_row(case: &Case) -> Verdict {
    let given = &case.given;
    let rules: Vec<Value> = texts(&given["hosts"]).iter().map(|host| json!({"host": host})).collect();
    let mut ingress = json!({"metadata": {"name": "i"}, "spec": {"rules": rules}, "status": {}});
    if !texts(&given["tls"]).is_empty() {
        ingress["spec"]["tls"] = json!([{"hosts": ["a"]}]);
    }
    expect_cells(case, Kind::Ingress, ingress)
}

fn node_row(case: &Case) -> Verdict {
    let given = &case.given;
    let mut node = json!({"metadata": {"name": "n"}, "spec": {}, "status": {}});
    if let Some(ready) = given["Ready"].as_str().filter(|ready| *ready != "absent") {
        node["status"]["conditions"] = json!([{"type": "Ready", "status": ready}]);
    }
    if given["unschedulable"] == true {
        node["spec"]["unschedulable"] = json!(true);
    }
    if let Some(labels) = given.get("labels") {
        node["metadata"]["labels"] = labels.clone();
    }
    expect_cells(case, Kind::Node, node)
}

fn job_row(case: &Case) -> Verdict {
    let given = &case.given;
    let condition = |kind: String| json!({"type": kind, "status": "True"});
    let conditions: Vec<Value> = texts(&given["conditions"]).into_iter().map(condition).collect();
    let mut job =
        json!({"metadata": {"name": "j"}, "spec": {"template": {}}, "status": {"conditions": conditions}});
    for field in ["completions", "parallelism"] {
        if given[field].is_number() {
            job["spec"][field] = given[field].clone();
        }
    }
    if given["succeeded"].is_number() {
        job["status"]["succeeded"] = given["succeeded"].clone();
    }
    if given.get("deletionTimestamp").is_some() {
        job["metadata"]["deletionTimestamp"] = time_before(1);
    }
    expect_cells(case, Kind::Job, job)
}

// --- Events ---------------------------------------------------------------------------------------------------------

fn event(name: &str, count: i64, first: i64, last: i64) -> Value {
    json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": "web-1", "namespace": NAMESPACE},
        "type": "Normal", "reason": "R", "message": "m", "count": count, "source": {"component": "kubelet"},
        "firstTimestamp": time_before(first), "lastTimestamp": time_before(last)})
}

fn events(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    if number(case) == 108 {
        let told = scene.run("kubectl events -n default");
        return same("message", told.stderr.trim_end(), &*case.expected_text("stderr"));
    }
    scene.create(event("web-1.b", 4, 120, 10)).unwrap();
    if number(case) == 109 {
        scene.create(event("web-1.a", 1, 5, 5)).unwrap();
        let names = |told: String| told.replace('\n', " ");
        let plain = names(scene.run("kubectl get events -o name").stdout);
        let sorted = names(scene.run("kubectl get events --sort-by=.lastTimestamp -o name").stdout);
        return all([
            same("by name", plain.trim(), "event/web-1.a event/web-1.b"),
            same("by time", sorted.trim(), "event/web-1.b event/web-1.a"),
        ]);
    }
    let line = match case.when.as_str() {
        when if when.starts_with("kubectl events") => "kubectl events --no-headers",
        _ => "kubectl get events --no-headers",
    };
    let told = scene.run(line).stdout;
    let wanted = text(case.expect.as_object().unwrap().values().next().unwrap());
    match number(case) {
        107 => holds(&told, told.starts_with("10s  ")),
        _ => shows(&told, &wanted),
    }
}

// --- get ------------------------------------------------------------------------------------------------------------

fn get(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let expected = |key: &str| case.expected_text(key);
    match number(case) {
        141 => {
            let told = scene.run("kubectl get pods -n default");
            all([
                same("stderr", told.stderr.trim_end(), &*expected("stderr")),
                same("stdout", told.stdout.as_str(), ""),
                same("exit", told.exit, 0),
            ])
        }
        142 => all(["kubectl get pods -A", "kubectl get pv"].map(|line| {
            let told = scene.run(line);
            all([same("stderr", told.stderr.trim_end(), &*expected("stderr")), same("exit", told.exit, 0)])
        })),
        143 => {
            let told = scene.run("kubectl get pods -o yaml");
            let yaml = "apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";
            all([same("stdout", told.stdout.as_str(), yaml), same("stderr", told.stderr.as_str(), "")])
        }
        144 => {
            scene.with_file("kubectl apply --server-side -f x.yaml", &pod_text("web"));
            let told = scene.run("kubectl get pod web -o yaml").stdout;
            let managed = scene.run("kubectl get pod web -o yaml --show-managed-fields").stdout;
            all([
                holds("the object", told.contains("kind: Pod\n") && !told.contains("items:")),
                holds("hidden", !told.contains("managedFields")),
                holds("shown", managed.contains("managedFields")),
            ])
        }
        145 => {
            scene.create(pod("a")).unwrap();
            scene.create(pod("b")).unwrap();
            let told: Value = serde_json::from_str(&scene.run("kubectl get pods -o json").stdout).unwrap();
            all([
                same("kind", told["kind"].clone(), json!("List")),
                same("version", told["apiVersion"].clone(), json!("v1")),
            ])
        }
        146 => {
            scene.create(pod("web")).unwrap();
            scene.create(service("web")).unwrap();
            let told = scene.run("kubectl get pods,svc").stdout;
            holds(
                &told,
                told.contains("\npod/web ") && told.contains("\n\nNAME ") && told.contains("\nservice/web "),
            )
        }
        147 => {
            scene.create(deployment("web", 1)).unwrap();
            same("name", scene.run("kubectl get deploy web -o name").stdout.trim_end(), &*expected("stdout"))
        }
        148 => {
            let told = scene.run("kubectl get");
            all([
                holds(&told.stderr, told.stderr.starts_with(&expected("stderr_starts"))),
                same("exit", told.exit, 1),
            ])
        }
        149 => {
            let mut scene = Scene::nodes(1);
            scene.create(pod("web")).unwrap();
            let told = scene.run("kubectl get pods -w --request-timeout=8s").stdout;
            let lines: Vec<&str> = told.lines().collect();
            let headers = lines.iter().filter(|line| line.starts_with("NAME")).count();
            all([same("headers", headers, 1), holds(&told, lines.len() > 3 && told.contains("Running"))])
        }
        150 => {
            scene.create(pod("web")).unwrap();
            let told = scene.run("kubectl get pod web -w --request-timeout=3s").stdout;
            same("lines", told.lines().count(), 2)
        }
        151 => shows(&scene.run("kubectl get pods,svc -w").stderr, &expected("error")),
        152 => {
            scene.create(pod("web")).unwrap();
            let told = scene.run("kubectl get pods -w --sort-by=.metadata.name --request-timeout=2s").stderr;
            shows(&told, &expected("stderr"))
        }
        153 => shows(&scene.run("kubectl get pod/a b").stderr, &expected("error_starts")),
        154 => {
            same("error", scene.run("kubectl get pod web -l app=x").stderr.trim_end(), &*expected("error"))
        }
        155 => {
            same("error", scene.run("kubectl apply -f missing.yaml").stderr.trim_end(), &*expected("error"))
        }
        156 => {
            scene.create(deployment("web", 1)).unwrap();
            // A table is empty instead, as a recorded case shows.
            let told = scene.run("kubectl get deploy --sort-by='{.status.availableReplicas}' -o name");
            shows(&told.stderr, &expected("error_contains"))
        }
        157 => {
            let labelled = |name: &str| with(pod(name), |pod| pod["metadata"]["labels"] = json!({"k": "v"}));
            scene.create(labelled("a")).unwrap();
            scene.create(pod("b")).unwrap();
            let told = scene.run("kubectl get pods --sort-by=.metadata.labels.k -o name").stdout;
            same("order", told.as_str(), "pod/b\npod/a\n")
        }
        _ => {
            let sized = |name: &str, cpu: &str| {
                with(pod(name), |pod| {
                    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"memory": cpu}})
                })
            };
            scene.create(sized("a", "1Ti")).unwrap();
            scene.create(sized("b", "1Gi")).unwrap();
            scene.create(sized("c", "1Ki")).unwrap();
            let told = scene
                .run("kubectl get pods --sort-by='{.spec.containers[0].resources.requests.memory}' -o name")
                .stdout;
            same("order", told.as_str(), "pod/c\npod/b\npod/a\n")
        }
    }
}

fn pod_text(name: &str) -> String {
    pod(name).to_string()
}

fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}], "selector": {"app": name}}})
}

// --- Errors ---------------------------------------------------------------------------------------------------------

fn errors(case: &Case) -> Verdict {
    use kubestep::cluster::server::status::{Cause, Status};
    let mut scene = Scene::server();
    let wanted = case.expected_text("stderr");
    let mut told = |line: &str| {
        let output = scene.run(line);
        all([same("stderr", output.stderr.trim_end(), wanted.as_str()), same("exit", output.exit, 1)])
    };
    let cause = |field: &str, message: &str| Cause {
        reason: "FieldValueInvalid",
        message: message.to_string(),
        field: field.to_string(),
    };
    let invalid = |causes: Vec<Cause>| {
        same("text", Failure::server(&Status::invalid(Kind::Deployment, "web", causes)).text, wanted.clone())
    };
    match number(case) {
        159 => told("kubectl get pod web"),
        160 => told("kubectl get deploy web"),
        161 => {
            scene.create(pod("web")).unwrap();
            told_with(&mut scene, "kubectl run web --image=nginx", &wanted)
        }
        162 => same("text", Failure::server(&Status::conflict(Kind::Deployment, "web")).text, wanted),
        163 => told_with(&mut scene, "kubectl get pods --as=u", &wanted),
        164 => {
            let status = Status { reason: "", message: "M".to_string(), ..Status::conflict(Kind::Pod, "x") };
            same("text", Failure::server(&status).text, wanted)
        }
        165 => {
            let status = Status::unauthorized();
            let text = Failure::server(&status).text;
            same("text", text, wanted.replace("(M)", &format!("({})", status.message)))
        }
        166 => invalid(vec![cause("FIELD", "MESSAGE")]),
        167 => invalid(vec![cause("F1", "M1"), cause("F2", "M2")]),
        168 => invalid(Vec::new()),
        169 => {
            let mut status = Status::invalid(Kind::Pod, "", Vec::new());
            status.details = Default::default();
            status.message = "M".to_string();
            same("text", Failure::server(&status).text, wanted)
        }
        170 => told("kubectl get foo"),
        171 => {
            scene.cluster.cause(
                &kubestep::cluster::command::Fault::Stop(kubestep::cluster::actor::Actor::ApiServer),
                &mut Vec::new(),
            );
            let output = scene.run("kubectl get pods");
            same(
                "stderr",
                output.stderr.trim_end(),
                &*wanted.replace("server H ", "server kubestep.example:6443 "),
            )
        }
        172 => same("text", Failure::error("M").text, wanted),
        173 => {
            scene.create(pod("web")).unwrap();
            let told = scene.with_file("kubectl create -f x.yaml", &pod_text("web"));
            same("stderr", told.trim_end(), &*wanted)
        }
        174 => {
            let text = with(pod("web"), |pod| pod["metadata"]["namespace"] = json!("nope")).to_string();
            let told = scene.with_file("kubectl create -f x.yaml", &text);
            same("stderr", told.trim_end(), &*wanted)
        }
        175 => {
            let text =
                Failure::server(&Status::invalid(Kind::Pod, "p", vec![cause("a", "b"), cause("a", "b")]))
                    .text;
            same("text", text.as_str(), "The Pod \"p\" is invalid: a: b")
        }
        _ => {
            scene.create(pod("a")).unwrap();
            let output = scene.run("kubectl get pod a b");
            all([
                holds(&output.stdout, output.stdout.contains("\na ")),
                same("stderr", output.stderr.trim_end(), &*wanted),
                same("exit", output.exit, 1),
            ])
        }
    }
}

fn told_with(scene: &mut Scene, line: &str, wanted: &str) -> Verdict {
    let output = scene.run(line);
    same("stderr", output.stderr.trim_end(), wanted)
}

// --- Messages -------------------------------------------------------------------------------------------------------

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

/// A server with a Pod, a Deployment and a Node.
fn furnished() -> Scene {
    let mut scene = Scene::server();
    scene.create(with(pod("web"), |pod| pod["metadata"]["labels"] = json!({"app": "a"}))).unwrap();
    scene.create(deployment("web", 1)).unwrap();
    scene.create(node("n1")).unwrap();
    scene
}

fn messages(case: &Case) -> Verdict {
    let wanted = case.expected_text("stdout");
    let text = deployment("web", 1).to_string();
    let changed = deployment("web", 2).to_string();
    let mut scene = match number(case) {
        177..=183 | 198 | 206..=208 => Scene::server(),
        _ => furnished(),
    };
    let told = match number(case) {
        177 => scene.with_file("kubectl create -f x.yaml", &pod_text("web")),
        178 => scene.apply(&text),
        179 => {
            scene.apply(&text);
            scene.apply(&changed)
        }
        180 => {
            scene.apply(&text);
            scene.apply(&text)
        }
        181 => scene.with_file("kubectl apply --server-side -f x.yaml", &text),
        182 => scene.with_file("kubectl apply --dry-run=client -f x.yaml", &text),
        183 => scene.with_file("kubectl apply --dry-run=server -f x.yaml", &text),
        195 => return not_simulated("an edit is carried out by the editor of the page, which a test of a line has not"),
        196 => scene.with_file("kubectl replace -f x.yaml", &changed),
        203 => {
            scene.request_to("status", Verb::MergePatch, Kind::Pod, "web", json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})).unwrap();
            scene.run("kubectl wait pod/web --for=condition=Ready").stdout
        }
        207 => scene.apply("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {defaultBackend: {service: {name: a, port: {number: 80}}}}"),
        208 => scene.apply("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 1, selector: {matchLabels: {a: b}}}"),
        201 => {
            scene.run("kubectl rollout pause deploy/web");
            scene.run("kubectl rollout resume deploy/web").stdout
        }
        202 => {
            let mut scene = Scene::controllers();
            scene.create(deployment("web", 1)).unwrap();
            scene.settle();
            scene.run("kubectl set image deploy/web *=nginx:2");
            scene.settle();
            let told = scene.run("kubectl rollout undo deploy/web").stdout;
            return same("stdout", told.trim_end(), &*wanted);
        }
        205 => {
            scene.run("kubectl taint node n1 k=v:NoSchedule");
            scene.run("kubectl taint node n1 k-").stdout
        }
        other => {
            let line = match other {
                184 => "kubectl scale deploy web --replicas=2",
                185 => "kubectl set image deploy/web *=nginx:2",
                186 => "kubectl set env deploy/web A=b",
                187 => "kubectl set resources deploy/web --requests=cpu=1m",
                188 => "kubectl expose deploy web --port=80",
                189 => "kubectl label pod web a=b",
                190 => "kubectl label pod web app=a",
                191 => "kubectl label pod web app-",
                192 => "kubectl annotate pod web a=b",
                193 => "kubectl patch deploy web -p '{\"spec\":{\"replicas\":2}}'",
                194 => "kubectl patch deploy web -p '{\"spec\":{\"replicas\":1}}'",
                197 => "kubectl autoscale deploy web --max=3",
                198 => "kubectl run web --image=nginx",
                199 => "kubectl rollout restart deploy/web",
                200 => "kubectl rollout pause deploy/web",
                204 => "kubectl taint node n1 k=v:NoSchedule",
                206 => "kubectl create ns x",
                _ => return Verdict::NotTried,
            };
            scene.run(line).stdout
        }
    };
    same("stdout", told.trim_end(), &*wanted)
}

use kubestep::cluster::server::request::Verb;

fn deletes(case: &Case) -> Verdict {
    let mut scene = furnished();
    let in_default = |value: Value| with(value, |value| value["metadata"]["namespace"] = json!("default"));
    scene.create(in_default(pod("web"))).unwrap();
    scene.create(in_default(deployment("web", 1))).unwrap();
    let given = case.given_text("command");
    match number(case) {
        209..=212 => {
            let output = scene.run(&format!("kubectl -n default {given}"));
            let stderr = case.expected_text("stderr");
            all([
                same("stdout", output.stdout.trim_end(), &*case.expected_text("stdout")),
                same("stderr", output.stderr.trim_end(), stderr.as_str()),
            ])
        }
        213 => same(
            "error",
            scene.run(&format!("kubectl {given}")).stderr.trim_end(),
            &*case.expected_text("error"),
        ),
        214 => {
            let output = scene.run(&format!("kubectl {given}"));
            all([
                same("stdout", output.stdout.trim_end(), "No resources found"),
                same("exit", output.exit, 0),
            ])
        }
        215 => {
            let mut scene = Scene::nodes(1);
            scene.create(with(pod("web"), |pod| pod["metadata"]["finalizers"] = json!(["a/b"]))).unwrap();
            let at_once = scene.run("kubectl delete pod web --wait=false");
            let there = scene.get(Kind::Pod, "web").is_some();
            let waited = scene.run("kubectl delete pod web --timeout=3s");
            all([
                holds("printed", at_once.stdout.contains("deleted")),
                holds("still there", there),
                shows(&waited.stderr, "timed out waiting for the condition"),
            ])
        }
        216 => {
            let mut scene = Scene::controllers();
            scene.create(deployment("web", 1)).unwrap();
            scene.settle();
            scene.run("kubectl delete deploy web --cascade=orphan");
            scene.settle();
            let orphaned = scene.list(Kind::ReplicaSet).len();
            scene.run("kubectl delete rs --all");
            scene.create(deployment("web", 1)).unwrap();
            scene.settle();
            scene.run("kubectl delete deploy web");
            scene.settle();
            all([same("orphans", orphaned, 1), same("left", scene.list(Kind::ReplicaSet).len(), 0)])
        }
        _ => not_simulated("kubectl delete --interactive"),
    }
}

fn changes(case: &Case) -> Verdict {
    let mut scene = furnished();
    let error = |scene: &mut Scene, line: &str| {
        let told = scene.run(line);
        all([
            same("error", told.stderr.trim_end(), &*case.expected_text("error")),
            same("exit", told.exit, 1),
        ])
    };
    match number(case) {
        218 => {
            let told = scene.run("kubectl scale deploy web --replicas=-1");
            match shows(&told.stderr, &case.expected_text("error")) {
                Verdict::Holds => Verdict::Contradicted(
                    "that is what --replicas=-1 gives; a missing flag is refused before, as a recorded case shows".to_string(),
                ),
                other => other,
            }
        }
        219 => {
            scene.run("kubectl scale deploy web --replicas=3");
            error(&mut scene, "kubectl scale deploy web --replicas=5 --current-replicas=2")
        }
        220 => {
            let told = scene.apply(&deployment("web", 2).to_string());
            all([
                shows(&told, &case.expected_text("stderr_starts")),
                shows(&told, "deployment.apps/web configured"),
            ])
        }
        221 => {
            let held =
                with(deployment("web", 1), |web| web["metadata"]["finalizers"] = json!(["a/b"])).to_string();
            let mut scene = Scene::server();
            scene.apply(&held);
            scene.run("kubectl delete deploy web --wait=false");
            shows(
                &scene.apply(&held.replace("\"replicas\":1", "\"replicas\":2")),
                &case.expected_text("stderr"),
            )
        }
        222 => {
            let text = with(pod("x"), |pod| pod["metadata"] = json!({"generateName": "web-"})).to_string();
            shows(&scene.apply(&text), &case.expected_text("error"))
        }
        223 => {
            let mut scene = Scene::server();
            scene.with_file(
                "kubectl apply --server-side --field-manager=other -f x.yaml",
                &deployment("web", 1).to_string(),
            );
            let told =
                scene.with_file("kubectl apply --server-side -f x.yaml", &deployment("web", 2).to_string());
            all([
                shows(&told, &case.expected_text("error_starts").replace(" using apps/v1", "")),
                shows(&told, "--force-conflicts"),
            ])
        }
        224 => shows(
            &scene.with_file("kubectl apply --force-conflicts -f x.yaml", &deployment("web", 1).to_string()),
            &case.expected_text("error"),
        ),
        225 => error(&mut scene, "kubectl label pod web app=b"),
        226 => {
            let told = scene.run("kubectl label pod web foo-").stdout;
            same("lines", told.lines().map(str::to_string).collect::<Vec<_>>(), texts(&case.expect["stdout"]))
        }
        227 => error(&mut scene, "kubectl set image deploy/web nope=nginx:2"),
        228 => shows(&scene.run("kubectl set image deploy/web").stderr, &case.expected_text("error")),
        229 => {
            let mut web = deployment("two", 1);
            web["spec"]["template"]["spec"]["initContainers"] = json!([{"name": "i", "image": "busybox"}]);
            scene.create(web).unwrap();
            scene.run("kubectl set image deploy/two *=nginx:2");
            let template = scene.get(Kind::Deployment, "two").unwrap()["spec"]["template"]["spec"].clone();
            all([
                same("init", template["initContainers"][0]["image"].clone(), json!("nginx:2")),
                same("app", template["containers"][0]["image"].clone(), json!("nginx:2")),
            ])
        }
        230 => {
            let mut web = deployment("bare", 1);
            if let Some(container) = web["spec"]["template"]["spec"]["containers"][0].as_object_mut() {
                container.remove("ports");
            }
            scene.create(web).unwrap();
            shows(&scene.run("kubectl expose deploy bare").stderr, &case.expected_text("error"))
        }
        _ => {
            not_simulated("an edit is carried out by the editor of the page, which a test of a line has not")
        }
    }
}

fn rollout_status(case: &Case) -> Verdict {
    let given = &case.given;
    let mut scene = Scene::server();
    let count = |key: &str| given[key].as_i64().unwrap_or(0);
    let labels = json!({"app": "foo"});
    let template =
        json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}});
    let mut line = "kubectl rollout status deploy/foo --watch=false".to_string();
    let patch = |scene: &mut Scene, kind: Kind, status: Value| {
        let generation = scene.get(kind, "foo").unwrap()["metadata"]["generation"].clone();
        let status = with(status, |status| {
            status["observedGeneration"] = given.get("observedGeneration").cloned().unwrap_or(generation);
        });
        scene.request_to("status", Verb::MergePatch, kind, "foo", json!({"status": status})).unwrap();
    };
    match number(case) {
        232..=238 => {
            let replicas = given["replicas"].as_i64().unwrap_or(1);
            scene.create(deployment("foo", replicas)).unwrap();
            let mut status = json!({"replicas": given["total"].as_i64().unwrap_or(count("updated")),
                "updatedReplicas": count("updated"), "availableReplicas": count("available")});
            if number(case) == 237 {
                status["conditions"] =
                    json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]);
            }
            patch(&mut scene, Kind::Deployment, status);
            if number(case) == 238 {
                scene.run("kubectl annotate deploy foo deployment.kubernetes.io/revision=2");
                line.push_str(" --revision=1");
            }
        }
        239 | 240 => {
            scene
                .create(json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "foo"},
                "spec": {"selector": {"matchLabels": labels}, "template": template}}))
                .unwrap();
            let words = case.given_text("daemonset");
            let of = |word: &str| -> i64 {
                let at = words.split(", ").find_map(|part| part.strip_prefix(word));
                at.map_or(0, |number| number.trim().parse().unwrap())
            };
            patch(
                &mut scene,
                Kind::DaemonSet,
                json!({"desiredNumberScheduled": of("desired"),
                "updatedNumberScheduled": of("updated"), "numberAvailable": of("available")}),
            );
            line = line.replace("deploy/", "ds/");
        }
        _ => {
            let mut set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "foo"},
                "spec": {"serviceName": "foo", "replicas": 3, "selector": {"matchLabels": labels}, "template": template}});
            if number(case) == 242 {
                set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
            }
            scene.create(set).unwrap();
            patch(&mut scene, Kind::StatefulSet, json!({"replicas": 3, "readyReplicas": 1}));
            line = line.replace("deploy/", "sts/");
        }
    }
    let told = scene.run(&line);
    match case.expect.get("line") {
        Some(line) => same("line", told.stdout.trim_end(), &*text(line)),
        None => all([
            same("error", told.stderr.trim_end(), &*case.expected_text("error")),
            same("exit", told.exit, 1),
        ]),
    }
}

/// A Deployment `web` that had so many images.
fn rolled(revisions: usize) -> Scene {
    let mut scene = Scene::controllers();
    scene.create(deployment("web", 1)).unwrap();
    scene.settle();
    for revision in 2..=revisions {
        scene.run(&format!("kubectl set image deploy/web *=nginx:{revision}"));
        scene.settle();
    }
    scene
}

fn rollouts(case: &Case) -> Verdict {
    let error = |scene: &mut Scene, line: &str| {
        let told = scene.run(line);
        let last = told.stderr.lines().last().unwrap_or_default().to_string();
        all([same("error", last, case.expected_text("error")), same("exit", told.exit, 1)])
    };
    let revisions = |scene: &mut Scene| -> Vec<i64> {
        let told = scene.run("kubectl rollout history deploy/web").stdout;
        told.lines().filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
    };
    match number(case) {
        243 => {
            let told = rolled(1).run("kubectl rollout history deploy/web").stdout;
            same(
                "history",
                told.as_str(),
                "deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n\n",
            )
        }
        244 => {
            let told = rolled(2).run("kubectl rollout history deploy/web --revision=2").stdout;
            all([
                holds(&told, told.starts_with("deployment.apps/web with revision #2\nPod Template:\n")),
                shows(&told, "Labels:"),
                shows(&told, "Containers:"),
            ])
        }
        245 => {
            let mut scene = furnished();
            let told = scene.run("kubectl rollout history deploy/web");
            shows(&[told.stdout, told.stderr].concat(), &case.expected_text("text"))
        }
        246 => error(&mut rolled(2), "kubectl rollout history deploy/web --revision=9"),
        247 => {
            let mut scene = rolled(2);
            scene.run("kubectl annotate deploy web kubernetes.io/change-cause=why");
            scene.settle();
            let told = scene.run("kubectl rollout history deploy/web").stdout;
            all([
                same("order", revisions(&mut scene), vec![1, 2]),
                shows(&told, "2 why"),
                shows(&told, "1 <none>"),
            ])
        }
        248 => {
            let mut scene = rolled(3);
            scene.run("kubectl rollout undo deploy/web --to-revision=1");
            scene.settle();
            same("revisions", revisions(&mut scene), vec![2, 3, 4])
        }
        249 => {
            let mut scene = rolled(2);
            scene.run("kubectl rollout pause deploy/web");
            error(&mut scene, "kubectl rollout undo deploy/web")
        }
        250 => error(&mut rolled(1), "kubectl rollout undo deploy/web"),
        251 => error(&mut rolled(2), "kubectl rollout undo deploy/web --to-revision=9"),
        252 => {
            let told = rolled(2).run("kubectl rollout undo deploy/web --to-revision=2").stdout;
            same("stdout", told.trim_end(), &*case.expected_text("stdout"))
        }
        253 => {
            let mut scene = furnished();
            scene.run("kubectl rollout pause deploy/web");
            error(&mut scene, "kubectl rollout pause deploy/web")
        }
        254 => error(&mut furnished(), "kubectl rollout resume deploy/web"),
        255 => {
            let mut scene = furnished();
            scene.run("kubectl rollout pause deploy/web");
            shows(
                &scene.run("kubectl rollout restart deploy/web").stderr,
                &case.expected_text("error_contains"),
            )
        }
        256 => {
            let mut scene = furnished();
            scene.run("kubectl rollout restart deploy/web");
            let web = scene.get(Kind::Deployment, "web").unwrap();
            let at = text(
                &web["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"],
            );
            holds(&at, kubestep::api::time::Timestamp::parse(&at).is_some())
        }
        _ => {
            let mut scene = furnished();
            scene.run("kubectl rollout restart deploy/web");
            error(&mut scene, "kubectl rollout restart deploy/web")
        }
    }
}

// --- Logs -----------------------------------------------------------------------------------------------------------

fn logs(case: &Case) -> Verdict {
    let named = |change: &dyn Fn(&mut Value)| {
        with(pod("p"), |pod| {
            pod["spec"]["containers"][0]["name"] = json!("web");
            change(pod);
        })
    };
    let two = |change: &dyn Fn(&mut Value)| {
        with(pod("p"), |pod| {
            pod["spec"]["containers"] =
                json!([{"name": "a", "image": "nginx"}, {"name": "b", "image": "nginx"}]);
            change(pod);
        })
    };
    let mut scene = Scene::nodes(1);
    let stderr = case.expected_text("stderr");
    let refused = |scene: &mut Scene, line: &str, wanted: &str| {
        let told = scene.run(line);
        all([same("stderr", told.stderr.trim_end(), wanted), same("exit", told.exit, 1)])
    };
    match number(case) {
        258 => {
            scene.create(named(&|pod| pod["spec"]["containers"][0]["image"] = json!("slow"))).unwrap();
            scene.ticks(4);
            refused(&mut scene, "kubectl logs p", &stderr)
        }
        259 => {
            scene
                .create(named(&|pod| {
                    pod["spec"]["initContainers"] = json!([{"name": "i", "image": "nginx"}])
                }))
                .unwrap();
            scene.ticks(6);
            refused(&mut scene, "kubectl logs p -c web", &stderr)
        }
        260 | 261 => {
            scene.create(named(&|pod| pod["spec"]["containers"][0]["image"] = json!("missing"))).unwrap();
            scene.ticks(if number(case) == 260 { 4 } else { 16 });
            let mut verdict = Verdict::NotTried;
            for _ in 0..40 {
                verdict = refused(&mut scene, "kubectl logs p", &stderr);
                if verdict == Verdict::Holds {
                    break;
                }
                scene.ticks(1);
            }
            verdict
        }
        262 => {
            let variable =
                json!([{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "nope", "key": "k"}}}]);
            scene.create(named(&|pod| pod["spec"]["containers"][0]["env"] = variable.clone())).unwrap();
            scene.ticks(8);
            refused(&mut scene, "kubectl logs p", &stderr)
        }
        263 => {
            scene.create(named(&|_| {})).unwrap();
            scene.ticks(8);
            refused(&mut scene, "kubectl logs p --previous", &stderr)
        }
        264..=266 => {
            let mut scene = Scene::playground();
            let script = if number(case) == 266 { "echo run; exit 0" } else { "echo run; sleep 8; exit 1" };
            let policy = if number(case) == 266 { "Never" } else { "Always" };
            scene.create(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": policy,
                "containers": [{"name": "web", "image": "busybox", "command": ["sh", "-c", script]}]}})).unwrap();
            let wanted = |scene: &mut Scene, status: &str, line: &str| {
                for _ in 0..90 {
                    scene.ticks(1);
                    let now = scene.run("kubectl get pod p --no-headers").stdout;
                    if now.contains(status) && (status != "Running" || !squeezed(&now).contains("Running 0"))
                    {
                        break;
                    }
                }
                let told = scene.run(line);
                all([same("log", told.stdout.as_str(), "run\n"), same("stderr", told.stderr.as_str(), "")])
            };
            match number(case) {
                264 => wanted(&mut scene, "CrashLoopBackOff", "kubectl logs p"),
                265 => wanted(&mut scene, "Running", "kubectl logs p --previous"),
                _ => wanted(&mut scene, "Completed", "kubectl logs p"),
            }
        }
        267..=269 => {
            use kubestep::cluster::inside::LogRequest;
            let mut scene = Scene::server();
            scene.create(two(&|_| {})).unwrap();
            let container = (number(case) == 268).then(|| "nope".to_string());
            let container = if number(case) == 269 { Some("a".to_string()) } else { container };
            let request = LogRequest {
                namespace: NAMESPACE.to_string(),
                pod: "p".to_string(),
                container,
                previous: false,
            };
            match scene.cluster.container_log(&request) {
                Ok(lines) => holds("empty", number(case) == 269 && lines.is_empty()),
                Err(status) => all([
                    same("code", status.code, 400),
                    same("message", status.message, case.expected_text("message")),
                ]),
            }
        }
        270..=273 => {
            let made = match number(case) {
                270 => two(&|pod| {
                    pod["spec"]["initContainers"] =
                        json!([{"name": "i", "image": "nginx", "command": ["sim-exit", "0", "0s"]}])
                }),
                271 => named(&|_| {}),
                272 => two(&|pod| {
                    pod["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/default-container": "b"})
                }),
                _ => two(&|_| {}),
            };
            scene.create(made).unwrap();
            scene.ticks(10);
            if number(case) == 273 {
                return refused(&mut scene, "kubectl logs p -c nope", &case.expected_text("error"));
            }
            same("stderr", scene.run("kubectl logs p").stderr.trim_end(), stderr.as_str())
        }
        274 => {
            scene.create(deployment("web", 3)).unwrap();
            scene.settle();
            let told = scene.run("kubectl logs deploy/web").stderr;
            holds(&told, told.starts_with("Found 3 pods, using pod/web-"))
        }
        275 => {
            let mut web = deployment("web", 6);
            web["spec"]["template"]["metadata"]["labels"]["x"] = json!("y");
            scene.create(web).unwrap();
            scene.settle();
            refused(&mut scene, "kubectl logs -l x=y -f", &case.expected_text("error"))
        }
        276 | 277 => {
            let mut scene = Scene::playground();
            scene.create(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"app": "x"}},
                "spec": {"containers": [{"name": "c", "image": "busybox", "command": ["sh", "-c", "for i in $(seq 1 15); do echo $i; done; sleep 3600"]}]}})).unwrap();
            scene.ticks(12);
            if number(case) == 277 {
                return holds(
                    "prefix",
                    scene.run("kubectl logs p --prefix").stdout.starts_with("[pod/p/c] 1\n"),
                );
            }
            all([
                same("selected", scene.run("kubectl logs -l app=x").stdout.lines().count(), 10),
                same("named", scene.run("kubectl logs p").stdout.lines().count(), 15),
            ])
        }
        278 => {
            let told = scene.run("kubectl logs nope -n default");
            same("error", told.stderr.trim_end(), &*case.expected_text("error"))
        }
        279 => shows(&scene.run("kubectl logs").stderr, &case.expected_text("error_contains")),
        280 => {
            scene
                .create(named(&|pod| {
                    pod["spec"]["restartPolicy"] = json!("Never");
                    pod["spec"]["containers"][0]["command"] = json!(["sim-exit", "0", "1s"]);
                }))
                .unwrap();
            scene.ticks(12);
            refused(&mut scene, "kubectl exec p -- ls", &case.expected_text("error"))
        }
        _ => {
            let mut scene = Scene::server();
            scene.create(pod("p")).unwrap();
            refused(&mut scene, "kubectl port-forward p 80", &case.expected_text("error"))
        }
    }
}

// --- describe -------------------------------------------------------------------------------------------------------

/// Whether the lines that begin with these words come in this order.
fn in_order(told: &str, words: &[&str]) -> Verdict {
    let mut rest = told;
    for word in words {
        let begin = [&format!("\n{word}:"), &format!("\n  {word}:"), &format!("\n    {word}:")]
            .iter()
            .filter_map(|begin| rest.find(begin.as_str()))
            .min();
        match begin {
            Some(at) => rest = &rest[at + 1..],
            None => return holds(&format!("{word} in order in {told}"), false),
        }
    }
    Verdict::Holds
}

fn describe(case: &Case) -> Verdict {
    let mut scene = Scene::nodes(1);
    match number(case) {
        282 | 284..=286 | 292 => {
            scene
                .create(with(pod("p"), |pod| {
                    pod["spec"]["restartPolicy"] = json!("Always");
                    if number(case) != 286 && number(case) != 292 {
                        pod["spec"]["containers"][0]["command"] = json!(["sim-exit", "1", "1s"]);
                    }
                }))
                .unwrap();
            scene.ticks(if number(case) == 285 || number(case) == 284 { 30 } else { 10 });
            let mut told = String::new();
            for _ in 0..40 {
                told = ["\n", &scene.run("kubectl describe pod p").stdout].concat();
                if number(case) != 284 && number(case) != 285 || told.contains("CrashLoopBackOff") {
                    break;
                }
                scene.ticks(1);
            }
            match number(case) {
                282 => in_order(
                    &told,
                    &[
                        "Name",
                        "Namespace",
                        "Priority",
                        "Node",
                        "Start Time",
                        "Labels",
                        "Annotations",
                        "Status",
                        "IP",
                        "IPs",
                        "Containers",
                        "Conditions",
                        "Volumes",
                        "QoS Class",
                        "Node-Selectors",
                        "Tolerations",
                        "Events",
                    ],
                ),
                284 => shows(&told, "State: Waiting Reason: CrashLoopBackOff"),
                285 => all([
                    shows(&told, "Last State: Terminated Reason: Error Exit Code: 1 Started: "),
                    in_order(
                        &told,
                        &[
                            "Last State",
                            "  Reason",
                            "  Exit Code",
                            "  Started",
                            "  Finished",
                            "Ready",
                            "Restart Count",
                        ],
                    ),
                ]),
                286 => all([
                    in_order(
                        &told,
                        &[
                            "Container ID",
                            "Image",
                            "Image ID",
                            "Port",
                            "Host Port",
                            "State",
                            "Ready",
                            "Restart Count",
                            "Environment",
                            "Mounts",
                        ],
                    ),
                    shows(&told, "Port: <none>"),
                    shows(&told, "Environment: <none>"),
                    shows(&told, "Mounts: <none>"),
                ]),
                _ => shows(&told, "spec.containers{c}: Container started"),
            }
        }
        283 => {
            let mut scene = furnished();
            scene.create(with(pod("p"), |pod| pod["spec"]["nodeName"] = json!("n1"))).unwrap();
            scene.run("kubectl delete pod p --wait=false");
            scene.ticks(60);
            let told = scene.run("kubectl describe pod p").stdout;
            all([shows(&told, "Status: Terminating (lasts "), shows(&told, "Termination Grace Period: 30s")])
        }
        287..=289 => {
            let probe = Value::Object(case.given.as_object().unwrap().clone());
            let probe = match probe.get("exec") {
                Some(command) => json!({"exec": {"command": command}}),
                None => probe,
            };
            scene
                .create(with(pod("p"), |pod| pod["spec"]["containers"][0]["livenessProbe"] = probe))
                .unwrap();
            shows(&scene.run("kubectl describe pod p").stdout, &case.expected_text("text up to 1.36"))
        }
        290 => {
            scene
                .create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}))
                .unwrap();
            shows(&scene.run("kubectl describe cm c").stdout, &case.expected_text("line"))
        }
        291 => {
            let mut scene = Scene::server();
            scene.create(pod("web-1")).unwrap();
            let mut told = event("web-1.e", 3, 45, 12);
            let uid = scene.get(Kind::Pod, "web-1").unwrap()["metadata"]["uid"].clone();
            told["involvedObject"]["uid"] = uid;
            scene.create(told).unwrap();
            let told = scene.run("kubectl describe pod web-1").stdout;
            all([shows(&told, "Type Reason Age From Message"), shows(&told, &case.expected_text("Age"))])
        }
        293..=296 => {
            scene.create(deployment("web", 3)).unwrap();
            scene.settle();
            if number(case) == 294 {
                scene = Scene::server();
                scene.create(deployment("web", 3)).unwrap();
                let status = json!({"status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 2, "unavailableReplicas": 1}});
                scene.request_to("status", Verb::MergePatch, Kind::Deployment, "web", status).unwrap();
            }
            let told = ["\n", &scene.run("kubectl describe deploy web").stdout].concat();
            match number(case) {
                293 => in_order(
                    &told,
                    &[
                        "Name",
                        "Namespace",
                        "CreationTimestamp",
                        "Labels",
                        "Annotations",
                        "Selector",
                        "Replicas",
                        "StrategyType",
                        "MinReadySeconds",
                        "RollingUpdateStrategy",
                        "Pod Template",
                        "Conditions",
                        "OldReplicaSets",
                        "NewReplicaSet",
                        "Events",
                    ],
                ),
                296 => all([shows(&told, "(3/3 replicas created)"), shows(&told, "OldReplicaSets: <none>")]),
                _ => shows(&told, &case.expected_text("line")),
            }
        }
        297 | 298 => {
            scene.create(deployment("web", 1)).unwrap();
            let mut made = service("web");
            made["spec"]["type"] = json!("NodePort");
            made["spec"]["ports"][0]["targetPort"] = json!(8080);
            let labels =
                scene.get(Kind::Deployment, "web").unwrap()["spec"]["selector"]["matchLabels"].clone();
            made["spec"]["selector"] = labels;
            scene.create(made).unwrap();
            scene.settle();
            let told = ["\n", &scene.run("kubectl describe svc web").stdout].concat();
            match number(case) {
                297 => in_order(
                    &told,
                    &[
                        "Name",
                        "Namespace",
                        "Labels",
                        "Annotations",
                        "Selector",
                        "Type",
                        "IP Family Policy",
                        "IP Families",
                        "IP",
                        "IPs",
                        "Port",
                        "TargetPort",
                        "NodePort",
                        "Endpoints",
                        "Session Affinity",
                        "External Traffic Policy",
                        "Internal Traffic Policy",
                        "Events",
                    ],
                ),
                _ => all([
                    shows(&told, "Port: <unset> 80/TCP"),
                    shows(&told, "TargetPort: 8080/TCP"),
                    holds(
                        &told,
                        told.lines().any(|line| line.starts_with("Endpoints:") && line.ends_with(":8080")),
                    ),
                ]),
            }
        }
        299 | 300 => {
            scene.create(json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": {"rules": [
                {"host": "h", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "svc", "port": {"number": 80}}}}]}}]}})).unwrap();
            let told = scene.run("kubectl describe ingress i").stdout;
            let wanted = if number(case) == 299 { "backend_text" } else { "line" };
            shows(&told, &case.expected_text(wanted))
        }
        301..=303 => {
            if number(case) == 301 {
                // The nodes of the recordings have no addresses for Pods.
                scene = Scene::playground();
            }
            let requests = |name: &str, cpu: &str| {
                with(pod(name), |pod| {
                    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": cpu}})
                })
            };
            scene.create(requests("a", "550m")).unwrap();
            scene.create(requests("b", "1m")).unwrap();
            scene
                .create(with(pod("done"), |pod| {
                    pod["spec"]["restartPolicy"] = json!("Never");
                    pod["spec"]["containers"][0]["command"] = json!(["sim-exit", "0", "1s"]);
                }))
                .unwrap();
            scene.ticks(15);
            let told = ["\n", &scene.run("kubectl describe node node-1").stdout].concat();
            match number(case) {
                301 => in_order(
                    &told,
                    &[
                        "Name",
                        "Roles",
                        "Labels",
                        "Annotations",
                        "CreationTimestamp",
                        "Taints",
                        "Unschedulable",
                        "Lease",
                        "Conditions",
                        "Addresses",
                        "Capacity",
                        "Allocatable",
                        "System Info",
                        "PodCIDR",
                        "PodCIDRs",
                        "Non-terminated Pods",
                        "Allocated resources",
                        "Events",
                    ],
                ),
                302 => {
                    let capacity =
                        scene.get(Kind::Node, "node-1").unwrap()["status"]["allocatable"]["cpu"].clone();
                    let cores: i64 = text(&capacity).parse().unwrap();
                    all([
                        shows(&told, &format!("cpu 551m ({}%)", 551 / (10 * cores))),
                        shows(&told, &case.expected_text("note_line")),
                    ])
                }
                _ => shows(&told, &case.expected_text("header")),
            }
        }
        _ => {
            scene
                .create(with(pod("p"), |pod| pod["metadata"]["labels"] = json!({"b": "2", "a": "1"})))
                .unwrap();
            scene.create(pod("q")).unwrap();
            let told = scene.run("kubectl describe pod p").stdout;
            let bare = scene.run("kubectl describe pod q").stdout;
            all([
                holds(
                    &told,
                    told.lines().any(|line| squeezed(line) == "Labels: a=1")
                        && told.lines().any(|line| line.trim() == "b=2"),
                ),
                shows(&bare, "Labels: <none>"),
            ])
        }
    }
}

fn explain(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let mut told = |what: &str| {
        let output = scene.run(&format!("kubectl explain {what}"));
        [output.stdout, output.stderr].concat()
    };
    match number(case) {
        305 => {
            let told = told("deployment");
            let head = "GROUP:      apps\nKIND:       Deployment\nVERSION:    v1\n\nDESCRIPTION:\n    ";
            all([
                holds(&told, told.starts_with(head)),
                holds(&told, told.contains("FIELDS:\n") && told.contains("  spec\t<DeploymentSpec>\n    ")),
            ])
        }
        306 => {
            let told = told("pod");
            holds(&told, told.starts_with("KIND:       Pod\nVERSION:    v1\n"))
        }
        307 => shows(&told("pod.spec.containers"), "FIELD: containers <[]Container>"),
        308 => shows(&told("pod.spec"), "containers <[]Container> -required-"),
        309 => shows(&told("pod.spec.containers"), "args <[]string>"),
        310 => shows(&told("pod.metadata"), "labels <map[string]string>"),
        311 => shows(&told("pod"), "metadata <ObjectMeta>"),
        312 => not_simulated("no known kind has a field that is a plain object"),
        313 => shows(&told("deployment.spec"), "replicas <integer>"),
        314 => shows(&told("pod.does.not.exist"), &case.expected_text("error_contains")),
        _ => {
            let told = told("");
            holds(&told, told.starts_with(&case.expected_text("error_starts")))
        }
    }
}

// --- Templates ------------------------------------------------------------------------------------------------------

fn jsonpath(case: &Case) -> Verdict {
    let given = case.given_text("data");
    let nodes = json!({"kind": "List", "items": [
        {"kind": "None", "metadata": {"name": "127.0.0.1", "labels": {"kubernetes.io/hostname": "127.0.0.1"}}, "status": {"capacity": {"cpu": "4"}, "ready": true}},
        {"kind": "None", "metadata": {"name": "127.0.0.2", "labels": {"kubernetes.io/hostname": "127.0.0.2"}}, "status": {"capacity": {"cpu": "8"}, "ready": false}},
    ], "users": [{"name": "myself", "user": {}}, {"name": "e2e", "user": {"username": "admin", "password": "secret"}}]});
    let data = match number(case) {
        321 => serde_json::from_str(&given).unwrap(),
        322 => json!({"integers": [1, 2, 3, 4]}),
        323..=325 => json!({"strings": ["one", "two", "three", "four"]}),
        329..=336 => nodes,
        338 => json!({"items": [
            {"metadata": {"name": "pod1"}, "spec": {"containers": [{"name": "foo"}, {"name": "bar"}]}},
            {"metadata": {"name": "pod2"}, "spec": {"containers": [{"name": "baz"}]}},
        ]}),
        339..=343 => json!({"Labels": {"web": 1}, "Book": [{"Price": 10}]}),
        344 => json!({}),
        345 => {
            let mut scene = Scene::server();
            scene.create(pod("p")).unwrap();
            return same(
                "output",
                scene.run("kubectl get pod p -o jsonpath='{.metadata.name}'").stdout.as_str(),
                "p",
            );
        }
        _ => serde_json::from_str(&given).unwrap_or(Value::Null),
    };
    let template = case.given_text("template");
    let template = template.trim_end_matches(" (strict mode, field absent)").trim_end_matches(" (map)");
    let told = Template::parse(template).and_then(|template| template.render(&data));
    match case.expect.get("error").map(text) {
        Some(_) if number(case) == 340 => not_simulated(
            "templates of `get`, `wait` and `--sort-by` alone are read, and none of them is strict",
        ),
        Some(wanted) if number(case) == 341 => match told {
            Err(error) => holds(&error, error.ends_with(wanted.split_once(' ').unwrap().1)),
            Ok(told) => holds(&told, false),
        },
        Some(wanted) => match told {
            Err(error) => holds(&error, error.contains(&wanted)),
            Ok(told) => holds(&format!("{told:?}, not an error"), false),
        },
        None => same("output", told, Ok(case.expected_text("output").replace("<TAB>", "\t"))),
    }
}

fn normalised(case: &Case) -> Verdict {
    let expression = case.given_text("expression");
    let told = Template::parse_relaxed(&expression).and_then(|t| t.render(&json!({"foo": {"bar": "found"}})));
    match case.expected_text("result").as_str() {
        "error" => holds(&format!("{told:?}"), told.is_err()),
        _ => same("found", told, Ok("found".to_string())),
    }
}

fn custom_columns(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene.create(pod("foo")).unwrap();
    let spec = case.given_text("spec").replace("(empty)", "");
    let told = scene.run(&format!("kubectl get pod foo -o custom-columns='{spec}'"));
    match case.expect.get("lines") {
        Some(lines) => {
            let wanted = texts(lines).join("\n").replace("baz ", "v1  ");
            same("lines", told.stdout.trim_end(), wanted.as_str())
        }
        None => all([holds(&told.stderr, told.stderr.starts_with("error")), same("exit", told.exit, 1)]),
    }
}

fn waits(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    scene.create(pod("web")).unwrap();
    match number(case) {
        359 | 362 => {
            let told = scene.run("kubectl wait pod/web --for=condition=ready --timeout=3s");
            match case.expect.get("error") {
                Some(error) => {
                    all([same("error", told.stderr.trim_end(), &*text(error)), same("exit", told.exit, 1)])
                }
                None => {
                    let told = scene.run("kubectl wait pod/web --for=condition=ready --timeout=0");
                    shows(&told.stderr, &case.expected_text("error_contains"))
                }
            }
        }
        360 => {
            let told = scene.run("kubectl wait pod/gone --for=delete --timeout=3s");
            same("exit", told.exit, 0)
        }
        361 => {
            let told = scene.run("kubectl wait pod -l app=none --for=condition=ready --timeout=3s");
            all([
                same("error", told.stderr.trim_end(), &*case.expected_text("error")),
                same("exit", told.exit, 1),
            ])
        }
        363 => {
            let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]}});
            scene.request_to("status", Verb::MergePatch, Kind::Pod, "web", ready).unwrap();
            let before = scene.run("kubectl wait pod/web --for=condition=ready --timeout=2s");
            scene.run("kubectl set image pod/web *=nginx:2");
            let after = scene.run("kubectl wait pod/web --for=condition=ready --timeout=2s");
            all([same("before", before.exit, 0), same("after", after.exit, 1)])
        }
        _ => {
            let mut scene = Scene::nodes(1);
            scene.create(pod("bare")).unwrap();
            scene.ticks(10);
            let told = scene.run("kubectl drain node-1");
            all([
                shows(&told.stderr, "error: unable to drain node \"node-1\" due to error: "),
                shows(&told.stderr, ", continuing command..."),
                shows(&told.stderr, "There are pending nodes to be drained: node-1"),
                same("exit", told.exit, 1),
            ])
        }
    }
}
