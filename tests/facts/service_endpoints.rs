//! Services: who is an endpoint and where it is listed, what kube-proxy chooses from, what the server fills in.

use kubestep::api::codec::Codec;
use kubestep::api::int_or_string::IntOrString;
use kubestep::api::kind::Kind;
use kubestep::api::kinds::networking::{Endpoint, EndpointPort, EndpointSlice, Service, ServicePort};
use kubestep::api::kinds::pod::Pod;
use kubestep::api::meta::ObjectKey;
use kubestep::cluster::component::Outcome;
use kubestep::cluster::controllers::{endpoints, endpointslice};
use kubestep::cluster::network::endpoints::{Backend, Choice, Entry, Snapshot};
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::server::request::Verb;
use kubestep::cluster::server::write::Operation;
use kubestep::cluster::service_target::find_port;
use serde_json::{Value, json};

use crate::case::{Case, Verdict, all, holds, same, text};
use crate::cluster_dns;
use crate::scene::{NAMESPACE, Scene, pod as plain_pod, with};

const NODE: &str = "node-a";
const ZONE: &str = "topology.kubernetes.io/zone";
const SERVICE_NAME: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const MANAGER: &str = "endpointslice-controller.k8s.io";

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "does the pod belong in the slice" => belongs(case),
        "endpoint conditions are set" => conditions(case),
        "endpoint fields" => fields(case),
        "target port is resolved for a pod" => target_port(case),
        "labels of the slice" => labels(case),
        "a slice is created" => created(case),
        "reconcile" => reconciled(case),
        "pods are matched" => {
            let mut scene = stage(json!({"selector": null}), json!({}));
            add_pod(&mut scene, "p", json!({}), &ready("10.1.0.1"));
            same("writes", sync(&scene).writes.len(), 0)
        }
        "slice ports" => {
            let mut scene = stage(json!({"clusterIP": "None", "ports": null}), json!({}));
            add_pod(&mut scene, "p", json!({}), &ready("10.1.0.1"));
            let slices = slices(&scene);
            all([
                same("slices", slices.len(), 1),
                same(
                    "ports",
                    json!(slices[0]["ports"].as_array().cloned().unwrap_or_default()),
                    case.expect["ports"].clone(),
                ),
                same("endpoints", slices[0]["endpoints"].as_array().map(Vec::len), Some(1)),
            ])
        }
        "Service is defaulted" => defaults(case),
        "default" => default(case),
        "validation" => validation(case),
        "update" => {
            let mut scene = stage(json!({}), json!({}));
            let change =
                json!({"spec": {"type": "ExternalName", "externalName": "a.example", "selector": null}});
            let after = scene.request(Verb::MergePatch, Kind::Service, "foo", change).unwrap();
            same("clusterIP", after["spec"].get("clusterIP").cloned(), None)
        }
        "create" => creation(case),
        "status" => balancer(case),
        "dynamic and static bands" => bands(),
        "object default/kubernetes" => kubernetes(case),
        "kube-proxy chooses endpoints" => chosen(case),
        "connection to ClusterIP or NodePort" => {
            let choices = [Entry::Internal, Entry::External]
                .map(|entry| snapshot(json!({}), &[]).choice("node-a", "", entry));
            same("choices", choices, [Choice::Reject, Choice::Reject])
        }
        "connection" if case.given.get("internalTrafficPolicy").is_some() => {
            let policy = json!({"internalTrafficPolicy": "Local"});
            let choice = snapshot(policy, &[("e0", "ready remote")]).choice("node-a", "", Entry::Internal);
            same("choice", choice, Choice::Drop)
        }
        "connection" => dead_backend(),
        _ => cluster_dns::judge(case),
    }
}

// --- The EndpointSlice controller -------------------------------------------------------------------------------------

/// A server with one node and the Service `foo`, which selects `app: foo`; `null` takes a field away.
fn stage(spec: Value, labels: Value) -> Scene {
    let mut scene = Scene::server();
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": {ZONE: "us-central1-a"}},
    });
    scene.create(node).unwrap();
    scene.create(service(spec, labels)).unwrap();
    scene
}

fn service(spec: Value, labels: Value) -> Value {
    let mut document = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "foo", "labels": labels},
        "spec": {"selector": {"app": "foo"}, "ports": [{"port": 80}]},
    });
    for (key, value) in spec.as_object().unwrap() {
        match value {
            Value::Null => drop(document["spec"].as_object_mut().unwrap().remove(key)),
            value => document["spec"][key] = value.clone(),
        }
    }
    document
}

fn ready(ip: &str) -> Value {
    json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [{"type": "Ready", "status": "True"}]})
}

/// A Pod of the Service on the node, with that status.
fn add_pod(scene: &mut Scene, name: &str, spec: Value, status: &Value) {
    let document = with(plain_pod(name), |it| {
        it["metadata"]["labels"] = json!({"app": "foo"});
        it["spec"]["nodeName"] = json!(NODE);
        it["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    });
    scene.create(document).unwrap();
    scene.request_to("status", Verb::MergePatch, Kind::Pod, name, json!({"status": status})).unwrap();
}

fn sync(scene: &Scene) -> Outcome {
    let key = WorkKey::Object(ObjectKey::new(Kind::Service, NAMESPACE, "foo"));
    endpointslice::reconcile(&scene.view(), &key)
}

/// The slices that a sync creates and writes over.
fn slices(scene: &Scene) -> Vec<Value> {
    let written = sync(scene).writes.into_iter().filter_map(|write| match write.operation {
        Operation::Create(object) | Operation::Update(object) => Some(object.to_value()),
        _ => None,
    });
    written.collect()
}

fn belongs(case: &Case) -> Verdict {
    let given = &case.given;
    let mut scene = stage(json!({}), json!({}));
    let policy = given["restartPolicy"].as_str().unwrap_or("Never");
    let ips: Vec<Value> = match given.get("podIPs") {
        Some(ips) => ips.as_array().unwrap().iter().map(|ip| json!({"ip": ip})).collect(),
        None if text(&given["podIP"]).is_empty() => Vec::new(),
        None => vec![json!({"ip": given["podIP"]})],
    };
    let first = ips.first().map_or(json!(""), |ip| ip["ip"].clone());
    let status = json!({"phase": given["phase"], "podIP": first, "podIPs": ips});
    add_pod(&mut scene, "p", json!({"restartPolicy": policy}), &status);
    if given["deletionTimestamp"] == json!(true) {
        scene.delete(Kind::Pod, "p", |_| {}).unwrap();
    }
    let included = if given["include_terminating"] == json!(false) {
        // The older list of endpoints.
        let key = WorkKey::Object(ObjectKey::new(Kind::Service, NAMESPACE, "foo"));
        endpoints::reconcile(&scene.view(), &key).writes.iter().any(|write| match &write.operation {
            Operation::Create(object) => {
                object.to_value()["subsets"].as_array().is_some_and(|all| !all.is_empty())
            }
            _ => false,
        })
    } else {
        slices(&scene).iter().any(|slice| slice["endpoints"].as_array().is_some_and(|all| !all.is_empty()))
    };
    same("included", json!(included), case.expect["included"].clone())
}

fn conditions(case: &Case) -> Verdict {
    let given = &case.given;
    let published = given["publishNotReadyAddresses"] == json!(true);
    let mut scene = stage(json!({"publishNotReadyAddresses": published}), json!({}));
    let is_ready = if given["ready"] == json!(true) { "True" } else { "False" };
    let mut status = ready("10.1.0.1");
    status["conditions"][0]["status"] = json!(is_ready);
    add_pod(&mut scene, "p", json!({}), &status);
    if given["terminating"] == json!(true) {
        scene.delete(Kind::Pod, "p", |_| {}).unwrap();
    }
    same("conditions", slices(&scene)[0]["endpoints"][0]["conditions"].clone(), case.expect.clone())
}

fn fields(case: &Case) -> Verdict {
    let mut scene = stage(json!({}), json!({}));
    if case.expect.get("hostname").is_some() {
        add_pod(
            &mut scene,
            "p",
            json!({"hostname": "example-hostname", "subdomain": "foo"}),
            &ready("10.1.0.1"),
        );
        add_pod(
            &mut scene,
            "q",
            json!({"hostname": "example-hostname", "subdomain": "bar"}),
            &ready("10.1.0.2"),
        );
        let endpoints = slices(&scene)[0]["endpoints"].clone();
        let hostname = |name: &str| {
            let all = endpoints.as_array().unwrap();
            all.iter().find(|endpoint| endpoint["targetRef"]["name"] == name).unwrap()["hostname"].clone()
        };
        return all([
            same("hostname", hostname("p"), case.expect["hostname"].clone()),
            same("of another Service", hostname("q"), Value::Null),
        ]);
    }
    add_pod(&mut scene, "p", json!({}), &ready("10.1.0.1"));
    let endpoint = slices(&scene)[0]["endpoints"][0].clone();
    let uid = scene.get(Kind::Pod, "p").unwrap()["metadata"]["uid"].clone();
    let target = json!({"kind": "Pod", "namespace": NAMESPACE, "name": "p", "uid": uid});
    all([
        same("zone", endpoint["zone"].clone(), case.expect["zone"].clone()),
        same("nodeName", endpoint["nodeName"].clone(), json!(NODE)),
        same("targetRef", endpoint["targetRef"].clone(), target),
    ])
}

fn target_port(case: &Case) -> Verdict {
    let given = &case.given;
    let ports = |list: &Value| -> Value {
        let port = |port: &Value| {
            let mut port = port.clone();
            let number = port.as_object_mut().unwrap().remove("port");
            port["containerPort"] = number.unwrap();
            port
        };
        json!(list.as_array().into_iter().flatten().map(port).collect::<Vec<_>>())
    };
    let container = |list: &Value| json!({"name": "c", "ports": ports(list)});
    let containers: Vec<Value> = match given["containers"].as_array() {
        Some(containers) => containers.iter().map(container).collect(),
        None => vec![container(&given["containerPorts"])],
    };
    let sidecar = given
        .get("sidecar ports")
        .map(|list| with(container(list), |it| it["restartPolicy"] = json!("Always")));
    let init = sidecar.into_iter().chain(given.get("initContainer ports").map(container));
    let spec = json!({"containers": containers, "initContainers": init.collect::<Vec<_>>()});
    let pod: Pod = Codec::decode(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
    let target = &given["targetPort"];
    let port = ServicePort {
        port: 80,
        protocol: "TCP".to_string(),
        target_port: target
            .as_i64()
            .map_or_else(|| IntOrString::Text(text(target)), |number| IntOrString::Int(number as i32)),
        ..ServicePort::default()
    };
    same("port", json!(find_port(&pod, &port)), case.expect["port"].clone())
}

fn labels(case: &Case) -> Verdict {
    let given = &case.given;
    let spec = match given["clusterIP"].as_str() {
        Some("None") => json!({"clusterIP": "None"}),
        _ => json!({}),
    };
    let labels = given["service labels"].as_object().cloned().unwrap_or_default();
    // A person may write nearly anything; what is no label at all never reaches the controller.
    let mut scene = stage(spec, json!(labels));
    if let Some(old) = given.get("slice labels") {
        let service = scene.get(Kind::Service, "foo").unwrap();
        scene.create(slice_of(&service, "foo-abcde", &[], old)).unwrap();
    }
    let expected = with(case.expect["labels"].clone(), |it| it[MANAGED_BY] = json!(MANAGER));
    same("labels", slices(&scene)[0]["metadata"]["labels"].clone(), expected)
}

/// A slice of the Service with those Pods, as the controller would have written it.
fn slice_of(service: &Value, name: &str, pods: &[Value], more_labels: &Value) -> Value {
    let mut labels = json!({SERVICE_NAME: service["metadata"]["name"], MANAGED_BY: MANAGER});
    labels.as_object_mut().unwrap().extend(more_labels.as_object().unwrap().clone());
    let endpoint = |pod: &Value| {
        json!({
            "addresses": [pod["status"]["podIP"]], "nodeName": NODE, "zone": "us-central1-a",
            "conditions": {"ready": true, "serving": true, "terminating": false},
            "targetRef": {"kind": "Pod", "namespace": NAMESPACE, "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]},
        })
    };
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": name, "labels": labels, "ownerReferences": [{
            "apiVersion": "v1", "kind": "Service", "name": service["metadata"]["name"],
            "uid": service["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
        }]},
        "addressType": "IPv4",
        "endpoints": pods.iter().map(endpoint).collect::<Vec<_>>(),
        "ports": [{"name": "", "port": 80, "protocol": "TCP"}],
    })
}

fn created(case: &Case) -> Verdict {
    let slice = slices(&stage(json!({}), json!({}))).remove(0);
    let owner = &slice["metadata"]["ownerReferences"][0];
    all([
        same("generateName", slice["metadata"]["generateName"].clone(), case.expect["generateName"].clone()),
        same("addressType", slice["addressType"].clone(), case.expect["addressType"].clone()),
        same("owner", owner["kind"].clone(), json!("Service")),
        same("controller", owner["controller"].clone(), json!(true)),
        same("blockOwnerDeletion", owner["blockOwnerDeletion"].clone(), json!(true)),
    ])
}

/// So many ready Pods.
fn add_pods(scene: &mut Scene, count: usize, spec: impl Fn(usize) -> Value) {
    for index in 0..count {
        let ip = format!("10.1.{}.{}", index / 250, index % 250 + 1);
        add_pod(scene, &format!("pod-{index:03}"), spec(index), &ready(&ip));
    }
}

fn reconciled(case: &Case) -> Verdict {
    let given = &case.given;
    let sizes = |slices: &[Value]| -> Vec<usize> {
        slices.iter().map(|slice| slice["endpoints"].as_array().map_or(0, Vec::len)).collect()
    };
    let expected: Vec<usize> = case.expect["slices"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|size| size.as_u64().unwrap() as usize)
        .collect();
    if given.get("pod.nodeName").is_some() {
        return node_missing();
    }
    let count = given["pods"].as_u64().unwrap() as usize;
    if count == 0 {
        let slices = slices(&stage(json!({}), json!({})));
        let name = text(&slices[0]["metadata"]["generateName"]);
        return all([
            same("slices", json!(slices.len()), case.expect["slices"].clone()),
            same("endpoints", sizes(&slices), vec![0]),
            same("ports", slices[0].get("ports").cloned().unwrap_or(json!([])), case.expect["ports"].clone()),
            holds(&name, name.starts_with("foo")),
        ]);
    }
    if given.get("publishNotReadyAddresses").is_some() {
        let mut scene = stage(json!({"publishNotReadyAddresses": true}), json!({}));
        add_pods(&mut scene, count, |_| json!({}));
        for index in (0..count).step_by(3) {
            let status = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
            scene
                .request_to("status", Verb::MergePatch, Kind::Pod, &format!("pod-{index:03}"), status)
                .unwrap();
        }
        let slices = slices(&scene);
        let ready = |endpoint: &Value| endpoint["conditions"]["ready"] == json!(true);
        let all_ready = slices[0]["endpoints"].as_array().unwrap().iter().all(ready);
        return all([same("slices", sizes(&slices), expected), holds("all ready", all_ready)]);
    }
    if given.get("named port maps to 5 different numbers").is_some() {
        let mut scene = stage(json!({"ports": [{"port": 80, "targetPort": "http"}]}), json!({}));
        add_pods(&mut scene, count, |index| {
            let port = json!([{"name": "http", "containerPort": 8080 + index % 5}]);
            json!({"containers": [{"name": "c", "image": "nginx", "ports": port}]})
        });
        return same("slices", sizes(&slices(&scene)), expected);
    }
    let mut scene = stage(json!({}), json!({}));
    add_pods(&mut scene, count, |_| json!({}));
    let existing: Vec<usize> = given["existing"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|size| size.as_u64().unwrap() as usize)
        .collect();
    let service = scene.get(Kind::Service, "foo").unwrap();
    let pods = scene.list(Kind::Pod);
    let mut taken = 0;
    for (index, size) in existing.iter().enumerate() {
        let name = format!("foo-{index}");
        scene.create(slice_of(&service, &name, &pods[taken..taken + size], &json!({}))).unwrap();
        taken += size;
    }
    let (mut creates, mut updates) = (0, 0);
    let mut after: Vec<(String, usize)> =
        existing.iter().enumerate().map(|(index, size)| (format!("foo-{index}"), *size)).collect();
    for write in sync(&scene).writes {
        match write.operation {
            Operation::Create(object) => {
                creates += 1;
                after.push((String::new(), sizes(&[object.to_value()])[0]));
            }
            Operation::Update(object) => {
                updates += 1;
                let name = object.meta().name.to_string();
                after.iter_mut().find(|(known, _)| *known == name).unwrap().1 =
                    sizes(&[object.to_value()])[0];
            }
            _ => {}
        }
    }
    let found: Vec<usize> = after.into_iter().map(|(_, size)| size).collect();
    let actions = case.expected_text("actions");
    let says = |count: usize, word: &str| count == 0 || actions.contains(&format!("{count} {word}"));
    all([
        same("slices", found, expected),
        holds(
            &format!("{creates} creates, {updates} updates"),
            actions.is_empty() || (says(creates, "create") && says(updates, "update")),
        ),
    ])
}

fn node_missing() -> Verdict {
    let run = |published: bool| {
        let mut scene = stage(json!({"publishNotReadyAddresses": published}), json!({}));
        add_pod(&mut scene, "p", json!({"nodeName": "nowhere"}), &ready("10.1.0.1"));
        let outcome = sync(&scene);
        let listed = slices(&scene)
            .iter()
            .any(|slice| slice["endpoints"].as_array().is_some_and(|all| !all.is_empty()));
        (listed, outcome.failed)
    };
    all([same("left out, an error", run(false), (false, true)), same("included", run(true), (true, false))])
}

// --- The server -------------------------------------------------------------------------------------------------------

fn defaults(case: &Case) -> Verdict {
    let stored = Scene::server().create(service(json!({}), json!({}))).unwrap();
    let spec = &stored["spec"];
    all(case.expect.as_object().unwrap().iter().map(|(key, expected)| match key.as_str() {
        "protocol" | "targetPort" => same(key, spec["ports"][0][key].clone(), expected.clone()),
        "clusterIP" => holds(key, spec["clusterIP"].as_str().is_some_and(|ip| ip.contains('.'))),
        "clusterIPs" => same(key, spec["clusterIPs"].clone(), json!([spec["clusterIP"]])),
        _ => same(key, spec[key].clone(), expected.clone()),
    }))
}

fn default(case: &Case) -> Verdict {
    let stored = |spec: Value| Scene::server().create(service(spec, json!({}))).unwrap()["spec"].clone();
    match () {
        () if case.given.get("targetPort").is_some() => same(
            "targetPort",
            stored(json!({}))["ports"][0]["targetPort"].clone(),
            case.expect["targetPort"].clone(),
        ),
        () if case.given.get("sessionAffinity").is_some() => {
            let spec = stored(json!({"sessionAffinity": case.given["sessionAffinity"]}));
            let found = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].clone();
            same(
                "timeoutSeconds",
                found,
                case.expect["sessionAffinityConfig.clientIP.timeoutSeconds"].clone(),
            )
        }
        () => {
            let pod = Scene::server().create(plain_pod("p")).unwrap();
            same("dnsPolicy", pod["spec"]["dnsPolicy"].clone(), case.expect["dnsPolicy"].clone())
        }
    }
}

fn validation(case: &Case) -> Verdict {
    if case.given.get("update").is_some() {
        let mut scene = Scene::server();
        let document = with(service(json!({"clusterIP": "10.96.0.7"}), json!({})), |it| {
            it["metadata"]["name"] = json!("web")
        });
        scene.create(document).unwrap();
        let change = json!({"spec": {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"]}});
        let status = scene.request(Verb::MergePatch, Kind::Service, "web", change).unwrap_err();
        let printed = scene.run(
            r#"kubectl patch service web -p '{"spec":{"clusterIP":"10.96.0.9","clusterIPs":["10.96.0.9"]}}'"#,
        );
        return all([
            same("status", json!(status.code), case.expect["status"].clone()),
            same("printed", printed.stderr.trim_end().to_string(), case.expected_text("message")),
        ]);
    }
    let ports = json!([{"port": 80}, {"port": 81}]);
    let status = Scene::server().create(service(json!({"ports": ports}), json!({}))).unwrap_err();
    holds(&status.message, status.message.contains("spec.ports[0].name: Required value"))
}

fn creation(case: &Case) -> Verdict {
    let mut scene = Scene::server();
    let node_port = &case.given["nodePort"];
    if case.given.get("type").is_some() {
        let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
        let stored = scene.create(service(json!({"type": "NodePort", "ports": ports}), json!({}))).unwrap();
        let ports: Vec<i64> = stored["spec"]["ports"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|port| port["nodePort"].as_i64())
            .collect();
        return all([
            holds("clusterIP", stored["spec"]["clusterIP"].as_str().is_some_and(|ip| ip.contains('.'))),
            same("node ports", ports.len(), 2),
            holds("range", ports.iter().all(|port| (30000..=32767).contains(port)) && ports[0] != ports[1]),
        ]);
    }
    let taken = node_port.as_i64().is_none();
    let number = node_port.as_i64().unwrap_or(30080);
    let document = |name: &str| {
        let spec = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": number}]});
        with(service(spec, json!({})), |it| it["metadata"]["name"] = json!(name))
    };
    if taken {
        scene.create(document("first")).unwrap();
    }
    let status = scene.create(document("s")).unwrap_err();
    all([
        same("status", json!(status.code), case.expect["status"].clone()),
        holds(&status.message, {
            let expected = case.expected_text("message");
            let bare = expected.strip_prefix("The Service \"s\" is invalid: ").unwrap_or(&expected);
            status.message.contains(bare)
        }),
    ])
}

fn balancer(case: &Case) -> Verdict {
    let mut scene = Scene::controllers();
    scene.create(service(json!({"type": "LoadBalancer"}), json!({}))).unwrap();
    scene.ticks(9);
    let stored = scene.get(Kind::Service, "foo").unwrap();
    let printed = scene.run("kubectl get service foo").stdout;
    all([
        same("status", stored["status"]["loadBalancer"].clone(), case.expect["status.loadBalancer"].clone()),
        holds(&printed, printed.contains(&case.expected_text("kubectl EXTERNAL-IP"))),
        holds("node port", stored["spec"]["ports"][0]["nodePort"].is_i64()),
    ])
}

fn bands() -> Verdict {
    // The range is 10.96.0.0/16: the static band is 256 addresses.
    let mut scene = Scene::server();
    let addresses: Vec<String> = (0..40)
        .map(|index| {
            let document =
                with(service(json!({}), json!({})), |it| it["metadata"]["name"] = json!(format!("s{index}")));
            text(&scene.create(document).unwrap()["spec"]["clusterIP"])
        })
        .collect();
    let fixed = scene.create(service(json!({"clusterIP": "10.96.0.200"}), json!({})));
    all([
        holds("the upper band first", addresses.iter().all(|address| !address.starts_with("10.96.0."))),
        holds("the static band is free for the asking", fixed.is_ok()),
    ])
}

fn kubernetes(case: &Case) -> Verdict {
    let scene = Scene::server();
    let key = ObjectKey::new(Kind::Service, "default", "kubernetes");
    let service = scene.cluster.store.object(&key).map(|object| object.to_value()).unwrap_or_default();
    let (spec, port) = (&service["spec"], &service["spec"]["ports"][0]);
    all([
        same("clusterIP", spec["clusterIP"].clone(), json!("10.96.0.1")),
        all(["port", "targetPort", "name"].map(|key| same(key, port[key].clone(), case.expect[key].clone()))),
    ])
}

// --- kube-proxy -------------------------------------------------------------------------------------------------------

/// A Service and its endpoints, as a proxy has them.
struct Table(Snapshot);

impl Table {
    fn choice(&self, node: &str, zone: &str, entry: Entry) -> Choice {
        self.0.choose(&self.0.service.spec.ports[0], node, zone, entry)
    }

    /// The names of those that a node's proxy may choose.
    fn names(&self, node: &str, zone: &str, entry: Entry) -> Vec<String> {
        match self.choice(node, zone, entry) {
            Choice::Any(backends) => {
                backends.iter().map(|backend: &Backend| backend.address.clone()).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The Service with that spec, and endpoints in words: `ready`, `not ready`, `serving`, `terminating`, `local`, `remote`.
fn snapshot(spec: Value, endpoints: &[(&str, &str)]) -> Table {
    let mut document = service(spec, json!({}));
    document["metadata"]["namespace"] = json!(NAMESPACE);
    let service: Service = Codec::decode(document).unwrap();
    let endpoint = |(name, words): &(&str, &str)| {
        let is_ready = !words.contains("not ready") && words.contains("ready");
        let mut endpoint = Endpoint {
            addresses: vec![name.to_string()],
            node_name: if words.contains("local") { "node-a" } else { "node-b" }.into(),
            ..Endpoint::default()
        };
        endpoint.conditions.ready = Some(is_ready);
        endpoint.conditions.serving =
            Some(is_ready || (words.contains("serving") && !words.contains("not serving")));
        endpoint.conditions.terminating = Some(words.contains("terminating"));
        endpoint
    };
    let port = EndpointPort { port: Some(80), protocol: "TCP".to_string(), ..EndpointPort::default() };
    let slice = EndpointSlice {
        endpoints: endpoints.iter().map(endpoint).collect(),
        ports: vec![port],
        ..EndpointSlice::default()
    };
    Table(Snapshot { service: service.into(), slices: vec![slice.into()] })
}

fn chosen(case: &Case) -> Verdict {
    let given = &case.given;
    let endpoints: Vec<(String, String)> = match (&given["endpoints"], given["hints"].as_object()) {
        (Value::Array(list), _) => {
            list.iter().enumerate().map(|(index, words)| (format!("e{index}"), text(words))).collect()
        }
        (Value::Object(list), _) => list.iter().map(|(name, words)| (name.clone(), text(words))).collect(),
        (_, Some(hints)) => hints
            .iter()
            .map(|(name, hint)| {
                let ready = if text(hint).ends_with("not ready") { "not ready" } else { "ready" };
                (name.clone(), ready.to_string())
            })
            .collect(),
        _ => Vec::new(),
    };
    let mut spec = json!({});
    for key in ["internalTrafficPolicy", "externalTrafficPolicy"] {
        if let Some(policy) = given.get(key) {
            spec[key] = policy.clone();
        }
    }
    let is_outside = spec.get("externalTrafficPolicy").is_some();
    spec["type"] =
        json!(if is_outside && given.get("nodePort").is_none() { "NodePort" } else { "ClusterIP" });
    let words: Vec<(&str, &str)> =
        endpoints.iter().map(|(name, words)| (name.as_str(), words.as_str())).collect();
    let mut table = snapshot(spec, &words);
    if let Some(hints) = given["hints"].as_object() {
        let mut slice = (*table.0.slices[0]).clone();
        for endpoint in &mut slice.endpoints {
            let hint = text(&hints[&endpoint.addresses[0]]);
            let zone = hint.split(' ').next().unwrap_or_default();
            if !zone.is_empty() {
                endpoint.rest.set("hints", Some(json!({"forZones": [{"name": zone}]})));
            }
        }
        table.0.slices = vec![slice.into()];
    }
    let zone = case.given_text("node zone");
    let entry = if is_outside { Entry::External } else { Entry::Internal };
    let ignored = given.get("nodePort").is_some();
    all(["cluster endpoints", "local endpoints"].map(|key| {
        let Some(expected) = case.expect.get(key) else { return Verdict::Holds };
        // With a policy for outside, those of the whole cluster are for requests from inside.
        let entry = if key == "cluster endpoints" && !ignored { Entry::Internal } else { entry };
        let names = table.names("node-a", &zone, entry);
        match expected {
            Value::Number(count) => same(key, json!(names.len()), json!(count)),
            expected => same(key, json!(names), expected.clone()),
        }
    }))
}

fn dead_backend() -> Verdict {
    // Two endpoints by hand, one of which nobody has: some requests fail, and each goes to one of them only.
    let mut scene = Scene::playground();
    scene
        .create(json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "live", "labels": {"app": "live"}},
            "spec": {"containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}]}]},
        }))
        .unwrap();
    scene.settle();
    scene.ticks(20);
    let ip = text(&scene.get(Kind::Pod, "live").unwrap()["status"]["podIP"]);
    scene.create(service(json!({"selector": null}), json!({}))).unwrap();
    scene
        .create(json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": "foo-1", "labels": {SERVICE_NAME: "foo"}}, "addressType": "IPv4",
            "endpoints": [{"addresses": [ip]}, {"addresses": ["10.244.9.9"]}],
            "ports": [{"name": "", "port": 80, "protocol": "TCP"}],
        }))
        .unwrap();
    scene.ticks(4);
    let address = text(&scene.get(Kind::Service, "foo").unwrap()["spec"]["clusterIP"]);
    let outputs: Vec<i32> = (0..12)
        .map(|_| scene.run(&format!("kubectl exec live -- curl -s -m 2 http://{address}/")).exit)
        .collect();
    let failed = outputs.iter().filter(|exit| **exit != 0).count();
    holds(&format!("{failed} of 12 failed"), failed > 0 && failed < 12)
}
