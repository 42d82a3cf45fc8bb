//! The scheduler: filters, scores and their formulas, weights, messages.
//!
//! Filters and scores are asked directly, about nodes and Pods built from the row; what the scheduler writes is read from a
//! cluster with nobody but a scheduler.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubestep::api::codec::Codec;
use kubestep::api::kind::Kind;
use kubestep::api::kinds::cluster::{Node, Taint};
use kubestep::api::kinds::pod::{Pod, Toleration};
use kubestep::api::meta::Name;
use kubestep::cluster::fact::What;
use kubestep::cluster::scheduler::candidate::Candidate;
use kubestep::cluster::scheduler::filter::{self, FILTERS, Refusal};
use kubestep::cluster::scheduler::message;
use kubestep::cluster::scheduler::score::{self, Feasible, SCORES};
use kubestep::cluster::scheduler::snapshot::Snapshot;
use kubestep::cluster::store::Store;
use kubestep::cluster::verdict::NodeVerdict;
use serde_json::{Map, Value, json};

use crate::case::{Case, Verdict, all, holds, not_simulated, same, text};
use crate::scene::{NAMESPACE, Scene, pod, with};

/// The verdict on a row.
pub fn judge(case: &Case) -> Verdict {
    match case.when.as_str() {
        "NodeResourcesFit filter" => fits_resources(case),
        "request used by the scheduler" => request_of_limits(case),
        "plugin order and score weights" => order_and_weights(case),
        "filters run in the plugin order" => first_refusal_ends(),
        "message of the failure" | "counting and sorting" => message_of(case),
        "FailedScheduling event" => failed_scheduling(case),
        "what is recorded" => what_is_recorded(case),
        "event on success" => event_on_success(case),
        "TaintToleration filter" => {
            let node = json!({"spec": {"taints": case.given["taints"]}});
            refused(case, filter::taint_toleration::NAME, &tolerating(&case.given["tolerations"]), node, &[])
        }
        "does the toleration cover the taint" => {
            let toleration = Toleration::decode(case.given["toleration"].clone()).unwrap();
            let taint = Taint::decode(case.given["taint"].clone()).unwrap();
            same("tolerated", json!(toleration.tolerates(&taint)), case.expect["tolerated"].clone())
        }
        "NodeUnschedulable filter" => {
            let node = json!({"spec": {"unschedulable": case.given["node.spec.unschedulable"]}});
            let pod = tolerating(&case.given["pod tolerations"]);
            refused(case, filter::node_unschedulable::NAME, &pod, node, &[])
        }
        "NodeName filter" => {
            let pod = json!({"spec": {"nodeName": case.given["pod.spec.nodeName"]}});
            refused(case, filter::node_name::NAME, &pod, json!({}), &[])
        }
        "NodePorts filter" => {
            let taking = |port: &Value| json!({"spec": {"containers": [{"ports": [{"containerPort": 1, "hostPort": port}]}]}});
            let placed = taking(&case.given["node has pod with hostPort"]);
            refused(
                case,
                filter::node_ports::NAME,
                &taking(&case.given["pod hostPort"]),
                json!({}),
                &[placed],
            )
        }
        "nodeSelector and required node affinity" => selected(case),
        "PodTopologySpread filter, whenUnsatisfiable DoNotSchedule" => spread(case),
        "skew check" => skew(),
        "required pod (anti-)affinity on one node" => near(case),
        "required pod affinity" => first_of_a_group(case),
        other if other.starts_with("LeastAllocated score") => least_allocated(case),
        other if other.starts_with("BalancedAllocation score") => balanced_allocation(case),
        other if other.starts_with("TaintToleration score") => taint_scores(case),
        _ => Verdict::NotTried,
    }
}

/// Nodes with Pods on them, as the scheduler keeps them.
#[derive(Default)]
struct Board {
    snapshot: Snapshot,
    store: Store,
    names: Vec<Name>,
    pods: usize,
}

impl Board {
    /// One more node; `name` goes into its metadata.
    fn node(&mut self, name: &str, mut node: Value) {
        node["metadata"]["name"] = name.into();
        let node = Arc::new(Node::decode(node).unwrap());
        self.names.push(name.into());
        self.snapshot.see_node(&name.into(), Some(&node));
    }

    /// One more Pod, on that node; it gets a name.
    fn place(&mut self, node: &str, mut pod: Value) {
        self.pods += 1;
        pod["metadata"]["name"] = format!("placed-{}", self.pods).into();
        if pod["metadata"]["namespace"].is_null() {
            pod["metadata"]["namespace"] = NAMESPACE.into();
        }
        self.snapshot.place(&Pod::decode(pod).unwrap(), &node.into());
    }

    fn candidate(&self, mut pod: Value) -> Candidate {
        pod["metadata"]["name"] = "p".into();
        pod["metadata"]["namespace"] = NAMESPACE.into();
        Candidate::new(&Arc::new(Pod::decode(pod).unwrap()), &self.store, &self.snapshot)
    }

    /// What one filter says of a node.
    fn refusal(&self, plugin: &str, candidate: &Candidate, node: &str) -> Option<Refusal> {
        let info = self.snapshot.node(node).unwrap();
        let filter = FILTERS.iter().find(|filter| filter.plugin == plugin).unwrap();
        (filter.refuse)(candidate, info.node.as_ref().unwrap(), info)
    }

    /// What one score says of all nodes; `None` when it has nothing to say.
    fn scores(&self, plugin: &str, pod: Value) -> Option<Vec<i64>> {
        let candidate = self.candidate(pod);
        let nodes = self.names.iter().map(|name| &**self.snapshot.node(name).unwrap()).collect();
        let rule = SCORES.iter().find(|score| score.plugin == plugin).unwrap();
        (rule.score)(&candidate, &Feasible { nodes, snapshot: &self.snapshot })
    }
}

/// Compares the one filter's answer about one node with the row.
fn refused(case: &Case, plugin: &str, pod: &Value, node: Value, placed: &[Value]) -> Verdict {
    let mut board = Board::default();
    board.node("n", node);
    placed.iter().for_each(|pod| board.place("n", pod.clone()));
    as_expected(case, board.refusal(plugin, &board.candidate(pod.clone()), "n"))
}

/// Compares a filter's answer with `fits` or `match`, `reason` or `reasons`, `preemption_can_help`.
fn as_expected(case: &Case, refusal: Option<Refusal>) -> Verdict {
    let fits = if case.expect["fits"].is_null() { &case.expect["match"] } else { &case.expect["fits"] };
    let mut verdicts = vec![same("fits", json!(refusal.is_none()), fits.clone())];
    let got: Vec<String> = refusal.iter().flat_map(|it| &it.reasons).map(ToString::to_string).collect();
    for key in ["reason", "reason_1.35+"] {
        if let Some(reason) = case.expect[key].as_str() {
            verdicts.push(same("reasons", got.clone(), vec![reason.to_string()]));
        }
    }
    if !case.expect["reasons"].is_null() {
        verdicts.push(same("reasons", json!(got), case.expect["reasons"].clone()));
    }
    if let Some(can_help) = case.expect["preemption_can_help"].as_bool() {
        let is_final = refusal.is_none_or(|refusal| refusal.is_final);
        verdicts.push(same("whether preemption can help", !is_final, can_help));
    }
    all(verdicts)
}

/// Amounts of the fit rows are written as quantities, numbers are plain.
fn quantities(amounts: &Value) -> Value {
    let written = |(name, amount): (&String, &Value)| (name.clone(), text(amount).into());
    Value::Object(amounts.as_object().into_iter().flatten().map(written).collect())
}

fn asking(amounts: &Value) -> Value {
    json!({"resources": {"requests": quantities(amounts)}})
}

fn fits_resources(case: &Case) -> Verdict {
    let mut board = Board::default();
    if let Some(allocatable) = case.given["node allocatable pods"].as_u64() {
        board.node("n", json!({"status": {"allocatable": {"pods": allocatable.to_string()}}}));
        (0..case.given["pods on node"].as_u64().unwrap()).for_each(|_| board.place("n", json!({})));
    } else {
        // The node that the file's notes describe.
        let allocatable = json!({
            "cpu": "10m", "memory": "20", "pods": "32", "example.com/aaa": "5", "ephemeral-storage": "20",
            "hugepages-2Mi": "5",
        });
        board.node("n", json!({"status": {"allocatable": allocatable}}));
        board.place("n", json!({"spec": {"containers": [asking(&case.given["used_by_pods"])]}}));
    }
    let given = &case.given["pod"];
    let containers =
        |key: &str| -> Vec<Value> { given[key].as_array().into_iter().flatten().map(asking).collect() };
    let mut spec =
        json!({"containers": containers("containers"), "initContainers": containers("initContainers")});
    if !given["overhead"].is_null() {
        spec["overhead"] = quantities(&given["overhead"]);
    }
    if !given["pod.resources.requests"].is_null() {
        spec["resources"] = json!({"requests": quantities(&given["pod.resources.requests"])});
    }
    let candidate = board.candidate(json!({"spec": spec}));
    as_expected(case, board.refusal(filter::node_resources_fit::NAME, &candidate, "n"))
}

fn request_of_limits(case: &Case) -> Verdict {
    let limits = json!({"cpu": "300m", "memory": "64Mi"});
    let stored = Scene::server().create(with(pod("p"), |it| {
        it["spec"]["containers"][0]["resources"] = json!({"limits": limits});
    }));
    let candidate = Board::default().candidate(stored.unwrap());
    let asked = &candidate.requests.asked;
    all([
        holds("the row speaks of limits", case.expected_text("request").starts_with("equals the limit")),
        same("request", (asked.cpu_millicores, asked.memory_bytes), (300, 64 << 20)),
    ])
}

/// The nodes of a score row, with the Pods that `used` puts there.
fn used_nodes(case: &Case) -> Board {
    let mut board = Board::default();
    for (index, has) in case.given["nodes"].as_array().unwrap().iter().enumerate() {
        let name = format!("n{index}");
        let mut allocatable = plain_amounts(has);
        allocatable.insert("pods".to_string(), "110".into());
        board.node(&name, json!({"status": {"allocatable": allocatable}}));
        let used = &case.given["used"][index];
        if !used.is_null() {
            board.place(&name, requesting(used));
        }
    }
    board
}

/// Plain figures of processors are thousandths.
fn plain_amounts(amounts: &Value) -> Map<String, Value> {
    let written = |(name, amount): (&String, &Value)| {
        let unit = if name == "cpu" { "m" } else { "" };
        (name.clone(), format!("{}{unit}", text(amount)).into())
    };
    amounts.as_object().into_iter().flatten().map(written).collect()
}

/// A Pod that asks for the amounts; for nothing, one without containers, so that nothing is assumed of it.
fn requesting(amounts: &Value) -> Value {
    match plain_amounts(amounts) {
        none if none.is_empty() => json!({"spec": {"containers": []}}),
        some => json!({"spec": {"containers": [{"resources": {"requests": some}}]}}),
    }
}

fn least_allocated(case: &Case) -> Verdict {
    if !case.given["weights"].is_null() {
        return not_simulated(
            "the scheduler has its default configuration: processors and memory weigh the same",
        );
    }
    let scores = used_nodes(case).scores(score::least_allocated::NAME, requesting(&case.given["pod"]));
    same("scores", json!(scores), case.expect["scores"].clone())
}

/// The rows have the formula of earlier releases; v1.36 makes of it `50 + (50 + with - without) / 2`, see sch-044.
fn balanced_allocation(case: &Case) -> Verdict {
    let names = ["nodes", "pod"].map(|key| case.given[key].to_string());
    if names.iter().any(|names| names.contains("nvidia")) {
        return not_simulated(
            "the scheduler has its default configuration: only processors and memory are balanced",
        );
    }
    let of_formula = |with: i64, without: i64| 50 + (50 + with - without) / 2;
    if case.given.get("S_with").is_some() {
        // A quarter of the processors is used; the Pod brings memory up to the same share.
        let mut board = Board::default();
        for name in ["n0", "n1"] {
            board.node(name, json!({"status": {"allocatable": {"cpu": "4", "memory": "4000", "pods": "9"}}}));
        }
        board.place("n0", requesting(&json!({"cpu": 1000, "memory": 0})));
        let scores =
            board.scores(score::balanced_allocation::NAME, requesting(&json!({"cpu": 0, "memory": 1000})));
        return same("scores", scores, Some(vec![of_formula(100, 87), of_formula(87, 100)]));
    }
    let scores = used_nodes(case).scores(score::balanced_allocation::NAME, requesting(&case.given["pod"]));
    let Some(with) = case.expect["scores"].as_array() else {
        return same("scores", scores, None);
    };
    let share = |index: usize, name: &str| {
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        number(&case.given["used"][index][name]) / number(&case.given["nodes"][index][name])
    };
    let expected = with.iter().enumerate().map(|(index, with)| {
        let deviation = (share(index, "cpu") - share(index, "memory")).abs() / 2.0;
        of_formula(with.as_i64().unwrap(), ((1.0 - deviation) * 100.0) as i64)
    });
    same("scores", scores, Some(expected.collect()))
}

fn tolerating(tolerations: &Value) -> Value {
    let tolerations = tolerations.as_array().cloned().unwrap_or_default();
    json!({"spec": {"tolerations": tolerations}})
}

fn taint_scores(case: &Case) -> Verdict {
    let mut board = Board::default();
    for (index, taints) in case.given["nodes_taints"].as_array().unwrap().iter().enumerate() {
        board.node(&format!("n{index}"), json!({"spec": {"taints": taints}}));
    }
    let scores = board.scores(score::taint_toleration::NAME, tolerating(&case.given["tolerations"]));
    same("scores", json!(scores), case.expect["scores"].clone())
}

fn order_and_weights(case: &Case) -> Verdict {
    let order: Vec<&str> =
        case.expect["order"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let in_order = |names: Vec<&str>| {
        let places: Vec<_> = names.iter().map(|name| order.iter().position(|it| it == name)).collect();
        places.iter().all(Option::is_some) && places.is_sorted()
    };
    let weights: Map<String, Value> =
        SCORES.iter().map(|score| (score.plugin.to_string(), json!(score.weight))).collect();
    let is_rule = |name: &&str| {
        FILTERS.iter().any(|filter| filter.plugin == *name)
            || SCORES.iter().any(|score| score.plugin == *name)
    };
    let others: Vec<&str> = order.iter().copied().filter(|name| !is_rule(name)).collect();
    all([
        holds("the filters' order", in_order(FILTERS.iter().map(|filter| filter.plugin).collect())),
        holds("the scores' order", in_order(SCORES.iter().map(|score| score.plugin).collect())),
        same("weights", Value::Object(weights), case.expect["weights"].clone()),
        // These neither refuse nodes nor score them: gates, the queue's order, preemption and the binding.
        same(
            "neither filters nor scores",
            json!(others),
            json!(["SchedulingGates", "PrioritySort", "DefaultPreemption", "DefaultBinder"]),
        ),
    ])
}

/// The amounts of a node in a cluster that only schedules.
fn cluster_node(name: &str, cpu: &str, memory: &str, spec: Value) -> Value {
    let amounts = json!({"cpu": cpu, "memory": memory, "pods": "110"});
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts},
    })
}

fn add_node(scene: &mut Scene, node: Value) {
    let name = node["metadata"]["name"].as_str().unwrap().to_string();
    scene.create(node.clone()).unwrap();
    // Admission taints a new node until somebody has seen it ready.
    let taints = json!({"spec": {"taints": node["spec"]["taints"]}});
    scene.request(kubestep::cluster::server::request::Verb::MergePatch, Kind::Node, &name, taints).unwrap();
    scene.ticks(1);
}

fn asking_pod(name: &str, cpu: &str, memory: &str) -> Value {
    with(pod(name), |it| {
        let requests = json!({"cpu": cpu, "memory": memory});
        it["spec"]["containers"][0]["resources"] = json!({"requests": requests});
    })
}

/// The scheduler's opinion of a node in its last attempt.
fn opinion(scene: &Scene, node: &str) -> NodeVerdict {
    let compared = scene.facts.iter().rev().find_map(|fact| match &fact.what {
        What::Compared { verdicts, .. } => Some(verdicts),
        _ => None,
    });
    compared.unwrap().nodes.iter().find(|verdict| *verdict.node == *node).unwrap().clone()
}

fn first_refusal_ends() -> Verdict {
    let mut scene = Scene::scheduler();
    add_node(&mut scene, cluster_node("cordoned", "1", "1Gi", json!({"unschedulable": true})));
    add_node(&mut scene, cluster_node("small", "1", "1Gi", json!({})));
    scene.create(asking_pod("p", "2", "2Gi")).unwrap();
    scene.ticks(2);
    let refusals = |node: &str| -> Vec<(&str, usize)> {
        let verdict = opinion(&scene, node);
        let asked = verdict.filters.iter().filter(|filter| !filter.reasons.is_empty());
        asked.map(|filter| (filter.plugin, filter.reasons.len())).collect()
    };
    all([
        same("the cordoned node", refusals("cordoned"), vec![(filter::node_unschedulable::NAME, 1)]),
        same("asked", opinion(&scene, "cordoned").filters.len(), 1),
        same("the small node", refusals("small"), vec![(filter::node_resources_fit::NAME, 2)]),
    ])
}

fn message_of(case: &Case) -> Verdict {
    let afterwards = case.given["postfilter_message"].as_str();
    let reasons = case.given["reasons"].as_object().cloned().unwrap_or_default();
    let nodes = case.given["nodes"].as_u64().map_or(reasons.len(), |nodes| nodes as usize);
    let got = match case.given["prefilter_message"].as_str() {
        Some(why) => message::refused_at_once(nodes, why, afterwards),
        None => {
            let each = |value: &Value| match value {
                Value::Array(several) => several.iter().map(text).collect(),
                one => vec![text(one)],
            };
            let all: Vec<String> = reasons.values().flat_map(each).collect();
            message::unschedulable(nodes, all.iter().map(String::as_str), afterwards)
        }
    };
    let mut verdicts = vec![same("message", got, case.expected_text("message"))];
    if !case.expect["rule"].is_null() {
        let reasons = ["X"; 10].into_iter().chain(["Y"; 2]);
        let got = message::unschedulable(12, reasons, None);
        verdicts.push(same("message", got.as_str(), "0/12 nodes are available: 10 X, 2 Y."));
    }
    all(verdicts)
}

fn failed_scheduling(case: &Case) -> Verdict {
    let mut scene = Scene::scheduler();
    let nodes = case.given["nodes"].as_u64().unwrap();
    if case.given.get("n1").is_some() {
        add_node(&mut scene, cluster_node("n1", "4", "1Gi", json!({})));
        let taints = json!({"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]});
        for name in ["n2", "n3"] {
            add_node(&mut scene, cluster_node(name, "4", "1Gi", taints.clone()));
        }
        scene.create(asking_pod("other", "1", "600Mi")).unwrap();
        scene.ticks(2);
        scene.create(asking_pod("p", "1", "600Mi")).unwrap();
    } else if case.given.get("request").is_some() {
        add_node(&mut scene, cluster_node("n1", "1", "1Gi", json!({})));
        scene.create(asking_pod("p", "2", "100Mi")).unwrap();
    } else if nodes == 0 {
        scene.create(asking_pod("p", "2", "100Mi")).unwrap();
    } else {
        return not_simulated("the words of releases before v1.36");
    }
    scene.ticks(2);
    let expected = format!("FailedScheduling: {}", case.expected_text("message"));
    let events: Vec<String> =
        scene.events().into_iter().filter(|event| event.starts_with("FailedScheduling")).collect();
    same("events", events, vec![expected])
}

fn what_is_recorded(case: &Case) -> Verdict {
    let mut scene = Scene::scheduler();
    scene.create(pod("p")).unwrap();
    scene.ticks(2);
    let events = scene.list(Kind::Event);
    let event = events.iter().find(|event| event["reason"] == case.expect["event"]["reason"]).unwrap();
    let stored = scene.get(Kind::Pod, "p").unwrap();
    let condition = &stored["status"]["conditions"][0];
    let expected = &case.expect["condition"];
    all([
        same("type", &event["type"], &case.expect["event"]["type"]),
        same("component", &event["source"]["component"], &case.expect["event"]["component"]),
        same("condition", &condition["type"], &expected["type"]),
        same("status", &condition["status"], &expected["status"]),
        same("reason", &condition["reason"], &expected["reason"]),
        same("message", &condition["message"], &event["message"]),
        same("phase", &stored["status"]["phase"], &case.expect["phase"]),
    ])
}

fn event_on_success(case: &Case) -> Verdict {
    let mut scene = Scene::scheduler();
    add_node(&mut scene, cluster_node(&case.given_text("node"), "1", "1Gi", json!({})));
    let key = case.given_text("pod");
    let (namespace, name) = key.split_once('/').unwrap();
    scene.create(with(pod(name), |it| it["metadata"]["namespace"] = namespace.into())).unwrap();
    scene.ticks(2);
    let events = scene.cluster.store.objects_in(Kind::Event, namespace).map(|event| event.to_value());
    let got: Vec<_> = events
        .map(|event| json!({"type": event["type"], "reason": event["reason"], "message": event["message"]}))
        .collect();
    same("events", got, vec![case.expect.clone()])
}

fn expressions(terms: &Value) -> Value {
    let one = |it: &Value| {
        let mut read = json!({"key": it["key"], "operator": it["op"]});
        if !it["values"].is_null() {
            read["values"] = it["values"].clone();
        }
        read
    };
    json!({"matchExpressions": terms.as_array().unwrap().iter().map(one).collect::<Vec<_>>()})
}

fn selected(case: &Case) -> Verdict {
    let given = &case.given;
    let mut spec = Map::new();
    if !given["nodeSelector"].is_null() {
        spec.insert("nodeSelector".to_string(), given["nodeSelector"].clone());
    }
    let names = |values: &Value| json!([{"key": "metadata.name", "operator": "In", "values": values}]);
    let terms = match &given["terms"] {
        Value::Array(terms) => Some(terms.iter().map(expressions).collect()),
        // `metadata.name In [node_1] and foo In [bar]`
        Value::String(_) => {
            let label = json!([{"key": "foo", "operator": "In", "values": ["bar"]}]);
            Some(json!([{"matchFields": names(&json!(["node_1"])), "matchExpressions": label}]))
        }
        _ if !given["matchFields"].is_null() => {
            Some(json!([{"matchFields": names(&given["matchFields"]["metadata.name"])}]))
        }
        _ => None,
    };
    if let Some(terms) = terms {
        let required = json!({"nodeSelectorTerms": terms});
        let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
        spec.insert("affinity".to_string(), affinity);
    } else if !given["affinity"].is_null() {
        spec.insert("affinity".to_string(), given["affinity"].clone());
    }
    let name = given["node"].as_str().unwrap_or("n");
    let mut board = Board::default();
    let labels = if given["labels"].is_null() { json!({}) } else { given["labels"].clone() };
    board.node(name, json!({"metadata": {"labels": labels}}));
    let candidate = board.candidate(json!({"spec": spec}));
    as_expected(case, board.refusal(filter::node_affinity::NAME, &candidate, name))
}

/// Four nodes in two zones, as most rows about spreading have them.
fn zones(case: &Case) -> Board {
    let mut board = Board::default();
    let lacks = |node: &str| case.given_text("topology").contains(&format!("{node} lacks the label"));
    for (name, zone) in [("a", "zone1"), ("b", "zone1"), ("x", "zone2"), ("y", "zone2")] {
        let mut labels = json!({"node": name});
        if !lacks(name) {
            labels["zone"] = zone.into();
        }
        board.node(name, json!({"metadata": {"labels": labels}}));
    }
    board
}

fn labelled(labels: Value) -> Value {
    json!({"metadata": {"labels": labels}})
}

fn spreading(constraints: &[(&str, i64, &str)], labels: Value) -> Value {
    let read = |(key, max_skew, selected): &(&str, i64, &str)| {
        let selector = json!({"matchExpressions": [{"key": selected, "operator": "Exists"}]});
        json!({"topologyKey": key, "maxSkew": max_skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector})
    };
    let constraints: Vec<Value> = constraints.iter().map(read).collect();
    json!({"metadata": {"labels": labels}, "spec": {"topologySpreadConstraints": constraints}})
}

fn spread(case: &Case) -> Verdict {
    let given = &case.given;
    let mut board = zones(case);
    let has_foo = || labelled(json!({"foo": ""}));
    let counts = if given["counts"].is_null() { &given["counts a,b,x,y"] } else { &given["counts"] };
    for (name, count) in ["a", "b", "x", "y"].iter().zip(counts.as_array().into_iter().flatten()) {
        (0..count.as_u64().unwrap()).for_each(|_| board.place(name, has_foo()));
    }
    let mut nodes = vec!["a", "b", "x", "y"];
    match given["pods"].as_str() {
        Some("two in other namespaces on a; one each on x and y") => {
            for namespace in ["ns1", "ns2"] {
                board.place("a", with(has_foo(), |it| it["metadata"]["namespace"] = namespace.into()));
            }
            ["x", "y"].iter().for_each(|node| board.place(node, has_foo()));
        }
        Some("terminating one on a, one on b") => {
            // The row has two nodes.
            let (a, b) =
                (board.snapshot.node("a").cloned().unwrap(), board.snapshot.node("b").cloned().unwrap());
            board.snapshot = Snapshot::default();
            for info in [a, b] {
                board.snapshot.see_node(&info.name, info.node.as_ref());
            }
            let terminating =
                |it: &mut Value| it["metadata"]["deletionTimestamp"] = "2026-01-05T09:00:00Z".into();
            board.place("a", with(has_foo(), terminating));
            board.place("b", has_foo());
            nodes = vec!["a", "b"];
        }
        Some(other) => panic!("unread: {other}"),
        None => {}
    }
    let selected = if case.given_text("selector").starts_with("bar") { "bar" } else { "foo" };
    let labels = match given["pod"].as_str() {
        Some("does not match the selector") => json!({"bar": ""}),
        _ => json!({"foo": ""}),
    };
    let max_skew = given["maxSkew"].as_i64().unwrap_or(1);
    let constraints = match given["key"].as_str() {
        Some(key) => vec![(key, max_skew, selected)],
        None => vec![("zone", 1, selected), ("node", 1, selected)],
    };
    let mut pod = spreading(&constraints, labels);
    if case.given_text("pod nodeAffinity") == "node in [a,y]" {
        let terms = json!([{"matchExpressions": [{"key": "node", "operator": "In", "values": ["a", "y"]}]}]);
        let required = json!({"nodeSelectorTerms": terms});
        pod["spec"]["affinity"] =
            json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
        // The others are refused by NodeAffinity already.
        nodes = vec!["a", "y"];
    }
    let candidate = board.candidate(pod);
    let mut sorted: BTreeMap<&str, Vec<&str>> =
        ["fits", "unschedulable", "unresolvable"].map(|key| (key, Vec::new())).into();
    let mut reasons = Vec::new();
    for node in nodes {
        let refusal = board.refusal(filter::pod_topology_spread::NAME, &candidate, node);
        let key = match &refusal {
            None => "fits",
            Some(refusal) if refusal.is_final => "unresolvable",
            Some(_) => "unschedulable",
        };
        reasons.extend(refusal.into_iter().flat_map(|refusal| refusal.reasons));
        sorted.entry(key).or_default().push(node);
    }
    let is_listed = |key: &&&str| case.expect.get(**key).is_some();
    let mut verdicts: Vec<Verdict> = ["fits", "unschedulable", "unresolvable"]
        .iter()
        .filter(is_listed)
        .map(|key| {
            // One row names two of the four.
            let expected = case.expect[*key].as_array().unwrap();
            let got =
                sorted[*key].iter().filter(|node| *key != "unresolvable" || expected.contains(&json!(node)));
            same(key, json!(got.collect::<Vec<_>>()), case.expect[*key].clone())
        })
        .collect();
    if let Some(reason) = case.expect["reason"].as_str() {
        verdicts.push(holds(&format!("{reasons:?}"), reasons.iter().all(|it| it == reason)));
    }
    all(verdicts)
}

/// `m + s - min <= maxSkew`, over small numbers.
fn skew() -> Verdict {
    let mut verdicts = Vec::new();
    for (here, own, least, max_skew) in (0..4)
        .flat_map(|m| (0..2).flat_map(move |s| (0..3).flat_map(move |l| (1..4).map(move |k| (m, s, l, k)))))
    {
        let mut board = Board::default();
        for (name, count) in [("a", here), ("b", least)] {
            board.node(name, json!({"metadata": {"labels": {"node": name}}}));
            (0..count).for_each(|_| board.place(name, labelled(json!({"foo": ""}))));
        }
        let labels = if own == 1 { json!({"foo": ""}) } else { json!({}) };
        let candidate = board.candidate(spreading(&[("node", max_skew, "foo")], labels));
        let fits = board.refusal(filter::pod_topology_spread::NAME, &candidate, "a").is_none();
        let expected = here + own - here.min(least) <= max_skew;
        verdicts.push(same(&format!("{here} here, {own} own, {least} there, {max_skew}"), fits, expected));
    }
    all(verdicts)
}

/// `{service In: [a, b], key DoesNotExist: true, topologyKey: zone, namespaces: [n]}` as a term.
fn pod_term(given: &Value) -> Value {
    let mut expressions = Vec::new();
    for (words, value) in given.as_object().unwrap() {
        if let Some((key, operator)) = words.split_once(' ') {
            let mut expression = json!({"key": key, "operator": operator});
            if value.is_array() {
                expression["values"] = value.clone();
            }
            expressions.push(expression);
        }
    }
    let mut term = json!({
        "labelSelector": {"matchExpressions": expressions},
        "topologyKey": given["topologyKey"].as_str().unwrap_or("region"),
    });
    if !given["namespaces"].is_null() {
        term["namespaces"] = given["namespaces"].clone();
    }
    term
}

fn pod_terms(affinity: &Value, anti: &Value) -> Value {
    let mut read = Map::new();
    for (key, given) in [("podAffinity", affinity), ("podAntiAffinity", anti)] {
        let terms: Vec<Value> = match given {
            Value::Null => continue,
            Value::Array(several) => several.iter().map(pod_term).collect(),
            one => vec![pod_term(one)],
        };
        read.insert(key.to_string(), json!({"requiredDuringSchedulingIgnoredDuringExecution": terms}));
    }
    Value::Object(read)
}

fn near(case: &Case) -> Verdict {
    let given = &case.given;
    let mut board = Board::default();
    board.node("n", labelled(given["node labels"].clone()));
    if !given["existing labels"].is_null() {
        let mut existing = labelled(given["existing labels"].clone());
        if let Some(namespace) = given["existing namespace"].as_str() {
            existing["metadata"]["namespace"] = namespace.into();
        }
        existing["spec"]["affinity"] = pod_terms(&Value::Null, &given["existing antiAffinity"]);
        board.place("n", existing);
    }
    let labels = if given["pod labels"].is_null() { json!({}) } else { given["pod labels"].clone() };
    let mut pod = labelled(labels);
    pod["spec"]["affinity"] = pod_terms(&given["affinity"], &given["antiAffinity"]);
    as_expected(case, board.refusal(filter::inter_pod_affinity::NAME, &board.candidate(pod), "n"))
}

fn first_of_a_group(case: &Case) -> Verdict {
    let mut board = Board::default();
    board.node("with", labelled(json!({"zone": "z"})));
    board.node("without", json!({}));
    let mut pod = labelled(json!({"app": "web"}));
    pod["spec"]["affinity"] = pod_terms(&json!({"app In": ["web"], "topologyKey": "zone"}), &Value::Null);
    let candidate = board.candidate(pod);
    let fits = |node| board.refusal(filter::inter_pod_affinity::NAME, &candidate, node).is_none();
    all([
        same("with the topology key", json!(fits("with")), case.expect["fits"].clone()),
        same("without it", fits("without"), false),
    ])
}
