//! Whole clusters in real time: nodes whose kubelets stop and start again, taints, drains. What changes on nodes, Pods and
//! endpoints is noted second by second and compared with what was recorded, ten seconds more or less.
//!
//! The recorder chose the nodes of the Pods by closing the others while they were placed; so does the runner.

use std::collections::BTreeMap;

use kubestep::api::kind::Kind;
use kubestep::api::kinds::cluster::{Lease, Node};
use kubestep::api::kinds::networking::EndpointSlice;
use kubestep::api::kinds::pod::Pod;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::command::Fault;
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::settings::Settings;
use kubestep::kubectl::host::Host;
use serde_json::{Value, json};

use super::case::Case;
use super::placeholder::Bindings;
use super::stage::{NAMESPACE, Stage, recorded_node};
use super::text::{self, Tolerance};

/// How far times may lie apart, in seconds.
const SLACK_SECONDS: f64 = 10.0;

/// How long a step without a timeline is watched.
const WATCHED_TICKS: u64 = 40;

/// How long after the last recorded change a step is watched.
const BEHIND_TICKS: u64 = 12;

/// How long a command takes.
const COMMAND_TICKS: u64 = 2;

const NODES: [&str; 3] = ["node-1", "node-2", "node-3"];

/// What is known of nodes, Pods and endpoints, by a name for each.
type Facts = BTreeMap<String, String>;

/// One change of one fact.
#[derive(Clone, Debug)]
struct Change {
    t: f64,
    what: String,
    to: String,
}

/// Plays a case.
///
/// # Errors
/// What differs, the step first.
pub fn play(case: &Case) -> Result<(), String> {
    let mut scene = Scene {
        stage: Stage::new(Settings::bare(1, NODES.map(recorded_node).to_vec())),
        bindings: Bindings::default(),
        since: 0,
    };
    scene.stage.advance(10);
    for (index, step) in list(&case.value, "steps").iter().enumerate() {
        let place = |difference| format!("step {}: {}\n{difference}", index + 1, text_of(step, "do"));
        scene.step(step).map_err(place)?;
    }
    Ok(())
}

fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The nodes that a text names.
fn named(text: &str) -> Vec<&'static str> {
    NODES.into_iter().filter(|node| text.contains(node)).collect()
}

struct Scene {
    stage: Stage,
    bindings: Bindings,
    /// The store's revision at the last events that were compared.
    since: u64,
}

impl Scene {
    fn step(&mut self, step: &Value) -> Result<(), String> {
        if !list(step, "manifests").is_empty() {
            self.place(step)?;
        }
        self.compare_facts(step.get("before"))?;
        if !matches!(text_of(step, "do"), "wait" | "kubectl") {
            self.since = self.stage.cluster.store.revision();
        }
        let mut changes = Vec::new();
        let last =
            list(step, "timeline").iter().filter_map(|change| change["t"].as_f64()).fold(0.0, f64::max);
        let watched = if step.get("timeline").is_some() && last > 0.0 {
            last as u64 + BEHIND_TICKS
        } else {
            WATCHED_TICKS.max(if text_of(step, "do") == "stop_kubelet" { 100 } else { 0 })
        };
        match text_of(step, "do") {
            "setup" => {}
            "kubectl" => {
                let since = self.since;
                self.run(step)?;
                // On a real cluster a command takes longer than a controller.
                self.stage.advance(COMMAND_TICKS);
                self.since = since;
            }
            "stop_kubelet" => {
                let nodes = named(text_of(step, "node"));
                self.await_lease(nodes.first().copied().unwrap_or_default());
                for node in nodes {
                    let fault = Fault::Stop(Actor::Kubelet(node.into()));
                    self.stage.cluster.cause(&fault, &mut self.stage.facts);
                }
                changes = self.watch(watched);
            }
            "start_kubelet" => {
                for node in named(text_of(step, "node")) {
                    let fault = Fault::Start(Actor::Kubelet(node.into()));
                    self.stage.cluster.cause(&fault, &mut self.stage.facts);
                }
                changes = self.watch(watched);
            }
            "wait" => changes = self.watch(watched),
            other => return Err(format!("the step `{other}` is not known")),
        }
        self.compare_facts(step.get("state"))?;
        if step.get("timeline").is_some() {
            self.compare_timeline(list(step, "timeline"), &changes)?;
        }
        for (key, namespace) in [("events", NAMESPACE), ("node_events", "default")] {
            self.compare_events(key, list(step, key), namespace, self.since)?;
        }
        Ok(())
    }

    /// Applies the manifests while only the nodes are open on which their Pods were recorded.
    fn place(&mut self, step: &Value) -> Result<(), String> {
        let mut open: Vec<&str> = named(text_of(step, "note"));
        if let Some(state) = step.get("state").and_then(Value::as_object) {
            let pods = state.iter().filter(|(what, _)| what.starts_with("pod "));
            open.extend(pods.flat_map(|(_, to)| named(to.as_str().unwrap_or_default())));
        }
        if text_of(step, "do") == "stop_kubelet" && open.is_empty() {
            open = named(text_of(step, "node"));
        }
        open.sort_unstable();
        open.dedup();
        let closed: Vec<&str> =
            NODES.into_iter().filter(|node| !open.is_empty() && !open.contains(node)).collect();
        for node in &closed {
            self.close(node, true)?;
        }
        self.stage.advance(2);
        for manifest in list(step, "manifests") {
            self.stage.apply(manifest.as_str().unwrap_or_default()).map_err(|status| status.message)?;
        }
        self.stage.advance(20);
        for node in &closed {
            self.close(node, false)?;
        }
        self.stage.advance(4);
        Ok(())
    }

    fn close(&mut self, node: &str, closed: bool) -> Result<(), String> {
        let body = json!({"spec": {"unschedulable": closed}});
        let request = Request::new(Verb::MergePatch, Kind::Node, "", node, body);
        self.stage.ask(request).map(|_| ()).map_err(|status| status.message)
    }

    /// Lets time pass until the node's Lease has just been renewed.
    fn await_lease(&mut self, node: &str) {
        for _ in 0..15 {
            let lease = self.stage.cluster.store.get::<Lease>("kube-node-lease", node);
            if lease.and_then(|lease| lease.spec.renew_time) == Some(self.stage.cluster.now()) {
                return;
            }
            self.stage.tick();
        }
    }

    fn run(&mut self, step: &Value) -> Result<(), String> {
        let line = self.bindings.fill(text_of(step, "command"));
        let output = self.stage.run(&line, None);
        let tolerance =
            Tolerance { unordered: line.contains("drain"), rows_as_sets: true, ..Tolerance::default() };
        for (name, got) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            // In which order kubectl lists what keeps it from draining a node is chance.
            let split = |text: &str| match line.contains("drain") {
                true => text.replace(", ", "\n").replace(['[', ']'], "\n"),
                false => text.to_string(),
            };
            let (expected, got) = (&split(text_of(step, name)), &split(got));
            match text::matches(expected, got, tolerance, &self.bindings).into_iter().next() {
                Some(way) => self.bindings = way,
                None => {
                    let shown = text::difference(expected, got, tolerance, &self.bindings);
                    return Err(format!("{line}\n{name}:\n{shown}"));
                }
            }
        }
        let exit = step.get("exit").and_then(Value::as_i64).unwrap_or(0);
        if exit == i64::from(output.exit) { Ok(()) } else { Err(format!("{line}\nexit {}", output.exit)) }
    }

    /// Lets time pass and notes what changes.
    fn watch(&mut self, ticks: u64) -> Vec<Change> {
        let mut known = facts_of(&self.stage);
        let mut changes = Vec::new();
        for tick in 0..=ticks {
            let now = facts_of(&self.stage);
            for (what, to) in &now {
                if known.get(what) != Some(to) {
                    changes.push(Change { t: tick as f64, what: what.clone(), to: to.clone() });
                }
            }
            for what in known.keys().filter(|what| !now.contains_key(*what)) {
                changes.push(Change { t: tick as f64, what: what.clone(), to: "gone".to_string() });
            }
            known = now;
            self.stage.tick();
        }
        changes
    }

    fn compare_facts(&mut self, expected: Option<&Value>) -> Result<(), String> {
        let Some(expected) = expected.and_then(Value::as_object) else { return Ok(()) };
        let facts = facts_of(&self.stage);
        for (what, to) in expected {
            let wanted = format!("{what}: {}", to.as_str().unwrap_or_default());
            let mut found = facts.iter().filter_map(|(what, to)| {
                let line = format!("{what}: {to}");
                text::matches_line(&wanted, &line, Tolerance::default(), &self.bindings).into_iter().next()
            });
            match found.next() {
                Some(way) => self.bindings = way,
                None => {
                    let kind = what.split(' ').next().unwrap_or_default();
                    let shown: Vec<String> = facts
                        .iter()
                        .filter(|(what, _)| what.starts_with(kind))
                        .map(|(what, to)| format!("+ {what}: {to}"))
                        .collect();
                    return Err(format!("- {wanted}\n{}", shown.join("\n")));
                }
            }
        }
        Ok(())
    }

    /// Every recorded change happened, in order for each object, and nothing else that has lasted.
    fn compare_timeline(&mut self, expected: &[Value], changes: &[Change]) -> Result<(), String> {
        let mut wanted: Vec<(String, Vec<Change>)> = Vec::new();
        for change in expected {
            let what = text_of(change, "what").to_string();
            let t = change["t"].as_f64().unwrap_or(0.0);
            let change = Change { t, what: what.clone(), to: text_of(change, "to").to_string() };
            match wanted.iter_mut().find(|(known, _)| *known == what) {
                Some((_, list)) => list.push(change),
                None => wanted.push((what, vec![change])),
            }
        }
        let mut got: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
        for change in changes {
            got.entry(&change.what).or_default().push(change);
        }
        match assign(&wanted, &got, &mut Vec::new(), &self.bindings) {
            Some(way) => {
                self.bindings = way;
                Ok(())
            }
            None => {
                let shown: Vec<String> = changes
                    .iter()
                    .map(|change| format!("+ {} {}: {}", change.t, change.what, change.to))
                    .collect();
                Err(format!("timeline:\n- {}\n{}", json!(expected), shown.join("\n")))
            }
        }
    }

    fn compare_events(
        &mut self,
        key: &str,
        expected: &[Value],
        namespace: &str,
        since: u64,
    ) -> Result<(), String> {
        let told = events_since(&self.stage, namespace, since);
        for event in expected.iter().filter_map(Value::as_str) {
            // What the recorder's own machine complains of.
            if event.contains("ImageGCFailed") || event.contains("NodeSchedulable") {
                continue;
            }
            let found = told.iter().find_map(|line| {
                text::matches_line(event, line, Tolerance::default(), &self.bindings).into_iter().next()
            });
            match found {
                Some(way) => self.bindings = way,
                None => return Err(format!("{key}:\n- {event}\n+ {}", told.join("\n+ "))),
            }
        }
        Ok(())
    }
}

/// Finds for each recorded object one whose changes are the same.
fn assign(
    wanted: &[(String, Vec<Change>)],
    got: &BTreeMap<&str, Vec<&Change>>,
    taken: &mut Vec<String>,
    bindings: &Bindings,
) -> Option<Bindings> {
    let Some(((what, changes), rest)) = wanted.split_first() else { return Some(bindings.clone()) };
    for (name, seen) in got {
        if taken.iter().any(|taken| taken == name) {
            continue;
        }
        for way in text::matches_line(what, name, Tolerance::default(), bindings) {
            let Some(way) = follows(changes, seen, &way) else { continue };
            taken.push((*name).to_string());
            if let Some(found) = assign(rest, got, taken, &way) {
                return Some(found);
            }
            taken.pop();
        }
    }
    None
}

/// Whether the changes that were seen contain the recorded ones in order, and end as they do.
fn follows(wanted: &[Change], seen: &[&Change], bindings: &Bindings) -> Option<Bindings> {
    let mut way = bindings.clone();
    let mut rest = seen.iter();
    let mut last = None;
    // Changes that were recorded in the same five seconds come in no order.
    for change in wanted {
        let found = rest.by_ref().find_map(|candidate| {
            let near = (candidate.t - change.t).abs() <= SLACK_SECONDS;
            let ways = text::matches_line(&change.to, &candidate.to, Tolerance::default(), &way);
            ways.into_iter().next().filter(|_| near)
        });
        match found {
            Some(found) => {
                way = found;
                last = Some(change);
            }
            // What was there for a moment only may be passed over.
            None if wanted.iter().any(|other| other.t == change.t && other.to != change.to) => {
                rest = seen.iter();
            }
            None => return None,
        }
    }
    let (end, _) = (seen.last()?, last?);
    let is_end = wanted
        .iter()
        .any(|change| !text::matches_line(&change.to, &end.to, Tolerance::default(), &way).is_empty());
    is_end.then_some(way)
}

/// Everything that is watched.
fn facts_of(stage: &Stage) -> Facts {
    let store = &stage.cluster.store;
    let mut facts = Facts::new();
    for node in store.list::<Node>() {
        let name = &node.meta.name;
        for condition in &node.status.conditions {
            let to = format!("{} {}: {}", condition.status, condition.reason, condition.message);
            facts.insert(format!("node {name} condition {}", condition.condition_type), to);
        }
        let mut taints: Vec<String> =
            node.spec.taints.iter().map(|taint| format!("{}:{}", taint.key, taint.effect)).collect();
        taints.sort();
        let taints = if taints.is_empty() { "none".to_string() } else { taints.join(", ") };
        facts.insert(format!("node {name} taints"), taints);
        let closed = if node.spec.unschedulable { "True" } else { "False" };
        facts.insert(format!("node {name} unschedulable"), closed.to_string());
    }
    for pod in store.list_in::<Pod>(NAMESPACE) {
        let node = if pod.is_bound() { &*pod.node_name } else { "(none)" };
        let ready = pod.condition("Ready").map_or("None", |condition| condition.status.as_str());
        let mut to = format!("{} on {node}, Ready {ready}", pod.status.phase);
        if pod.meta.is_terminating() {
            to.push_str(", deleting");
        }
        if let Some(condition) = pod.condition("DisruptionTarget") {
            to.push_str(&format!(", DisruptionTarget {}: {}", condition.reason, condition.message));
        }
        facts.insert(format!("pod {}", pod.meta.name), to);
    }
    for slice in store.list_in::<EndpointSlice>(NAMESPACE) {
        for endpoint in &slice.endpoints {
            let Some(pod) = &endpoint.target_ref else { continue };
            let word =
                |value: Option<bool>, absent: bool| if value.unwrap_or(absent) { "True" } else { "False" };
            let conditions = &endpoint.conditions;
            let to = format!(
                "ready {}, serving {}, terminating {}, node {}",
                word(conditions.ready, true),
                word(conditions.serving, true),
                word(conditions.terminating, false),
                endpoint.node_name
            );
            facts.insert(format!("endpoint of {}", pod.name), to);
        }
    }
    facts
}

/// The events told in a namespace since that revision, as lines, oldest first.
fn events_since(stage: &Stage, namespace: &str, since: u64) -> Vec<String> {
    let text = |event: &Value, pointer: &str| {
        event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string()
    };
    let mut told: Vec<(u64, String)> = stage
        .cluster
        .store
        .objects_in(Kind::Event, namespace)
        .map(|event| event.to_value())
        .map(|event| {
            let line = format!(
                "{} {}/{} {}: {}",
                text(&event, "/type"),
                text(&event, "/involvedObject/kind"),
                text(&event, "/involvedObject/name"),
                text(&event, "/reason"),
                text(&event, "/message")
            );
            (text(&event, "/metadata/resourceVersion").parse().unwrap_or(0), line)
        })
        .filter(|(revision, _)| *revision > since)
        .collect();
    told.sort();
    told.into_iter().map(|(_, line)| line).collect()
}
