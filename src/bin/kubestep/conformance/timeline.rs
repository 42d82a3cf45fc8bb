//! Timelines: one manifest, one watched object, every state that a watch sees, then the events.
//!
//! The order of states that last is strict, times are loose: a retry of the pod worker comes 10 to 15 seconds after a
//! failure at random, and the further in time, the more such waits have added up.

use kubestep::api::kind::Kind;
use kubestep::api::manifest;
use kubestep::api::meta::ObjectKey;
use kubestep::api::object::Object;
use kubestep::cluster::fact::What;
use kubestep::cluster::settings::Settings;
use kubestep::kubectl::print::row;
use serde_json::{Map, Value, json};

use super::case::Case;
use super::placeholder::Bindings;
use super::stage::{NAMESPACE, Stage, recorded_node};
use super::text::{self, Tolerance};
use super::tree;

/// A state that a real cluster showed for less than this may be skipped.
const BRIEF_SECONDS: f64 = 2.0;

/// Plays a case.
///
/// # Errors
/// What differs.
pub fn play(case: &Case) -> Result<(), String> {
    let value = &case.value;
    let nodes = ["node-1", "node-2", "node-3"].map(recorded_node).to_vec();
    let mut stage = Stage::new(Settings::bare(1, nodes));
    let refused = |status: kubestep::cluster::server::status::Status| {
        format!("refused: {} {}", status.code, status.message)
    };
    if let Some(setup) = value.get("setup").and_then(Value::as_str) {
        stage.apply(setup).map_err(refused)?;
        stage.settle(3);
        stage.advance(3);
    }
    let key = key_of(text_of(value, "object"))?;
    let (first_fact, begun) = (stage.facts.len(), stage.cluster.tick());
    apply_all(&mut stage, text_of(value, "manifest")).map_err(refused)?;
    let watched = value.get("watched_seconds").and_then(Value::as_f64).unwrap_or(30.0);
    let mut bindings = Bindings::default();
    for action in list(value, "actions") {
        let at = action.get("at").and_then(Value::as_f64).unwrap_or(0.0).ceil() as u64;
        while stage.cluster.tick() < begun + at {
            stage.tick();
        }
        let output = stage.run(text_of(action, "run"), None);
        for (name, got) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let expected = text_of(action, name);
            let ways = text::matches(expected, got, Tolerance::default(), &bindings);
            let Some(way) = ways.into_iter().next() else {
                let shown = text::difference(expected, got, Tolerance::default(), &bindings);
                return Err(format!("{}\n{name}:\n{shown}", text_of(action, "run")));
            };
            bindings = way;
        }
    }
    while stage.cluster.tick() < begun + watched.ceil() as u64 {
        stage.tick();
    }
    let seen = states_of(&stage, &key, first_fact, begun);
    if key.kind == Kind::Pod {
        compare_states(list(value, "states"), &seen, watched, true)?;
    } else {
        compare_states(list(value, "states"), &seen, watched, false)?;
    }
    let slack = Slack::of(list(value, "states"), watched);
    compare_events(&stage, &key, list(value, "events"), begun, slack)
}

fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn apply_all(stage: &mut Stage, text: &str) -> Result<(), kubestep::cluster::server::status::Status> {
    let read = manifest::parse(text);
    read.documents.into_iter().try_for_each(|document| stage.apply_value(document.value))
}

fn key_of(object: &str) -> Result<ObjectKey, String> {
    let (word, name) = object.split_once('/').ok_or(format!("`{object}` is no object"))?;
    let kind = Kind::from_resource(word).ok_or(format!("the kind `{word}` is not known"))?;
    Ok(ObjectKey::new(kind, NAMESPACE, name))
}

/// A state and the second in which it began.
#[derive(Clone, Debug)]
struct Seen {
    t: f64,
    state: Value,
}

/// Every distinct state of the object, as a watch sees it.
fn states_of(stage: &Stage, key: &ObjectKey, since: usize, begun: u64) -> Vec<Seen> {
    let mut seen: Vec<Seen> = Vec::new();
    for fact in &stage.facts[since..] {
        let What::Wrote { key: written, new, .. } = &fact.what else { continue };
        if written != key {
            continue;
        }
        let state = match new {
            Some(object) => state_of(stage, object),
            None => json!({"gone": true}),
        };
        if seen.last().is_none_or(|last| last.state != state) {
            seen.push(Seen { t: fact.tick.saturating_sub(begun) as f64, state });
        }
    }
    seen
}

fn insert(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        map.insert(key.to_string(), value);
    }
}

fn state_of(stage: &Stage, object: &Object) -> Value {
    let value = object.to_value();
    let cells = row::cells(object, stage);
    let column = |name: &str| {
        let place = row::columns(object.kind()).iter().position(|column| column.name == name);
        place.and_then(|place| cells.get(place)).cloned().unwrap_or_default()
    };
    let mut map = Map::new();
    let is_pod = object.kind() == Kind::Pod;
    let conditions = list(&value["status"], "conditions");
    let condition = |c: &Value| {
        let mut shown = Map::new();
        for key in ["type", "status", "reason", "message"] {
            let is_kept = key != "message" || !is_pod || text_of(c, "type") == "PodScheduled";
            if is_kept && !text_of(c, key).is_empty() {
                shown.insert(key.to_string(), c[key].clone());
            }
        }
        Value::Object(shown)
    };
    map.insert("conditions".to_string(), conditions.iter().map(condition).collect());
    if !is_pod {
        let number = |name: &str| column(name).parse::<i64>().map_or(Value::Null, Value::from);
        map.insert("generation".to_string(), value["metadata"]["generation"].clone());
        let columns = json!({
            "READY": column("READY"), "UP-TO-DATE": number("UP-TO-DATE"), "AVAILABLE": number("AVAILABLE"),
        });
        map.insert("columns".to_string(), columns);
        for key in [
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "terminatingReplicas",
        ] {
            insert(&mut map, key, value["status"].get(key).cloned());
        }
        return Value::Object(map);
    }
    let restarts = column("RESTARTS").split(' ').next().and_then(|n| n.parse::<i64>().ok()).unwrap_or(0);
    map.insert("status".to_string(), column("STATUS").into());
    map.insert("ready".to_string(), column("READY").into());
    map.insert("restarts".to_string(), restarts.into());
    map.insert("phase".to_string(), value["status"]["phase"].clone());
    for key in ["reason", "message"] {
        insert(&mut map, key, value["status"].get(key).cloned());
    }
    if value.pointer("/metadata/deletionTimestamp").is_some() {
        map.insert("deleting".to_string(), true.into());
        map.insert("gracePeriodSeconds".to_string(), value["metadata"]["deletionGracePeriodSeconds"].clone());
    }
    map.insert("node".to_string(), (!text_of(&value["spec"], "nodeName").is_empty()).into());
    map.insert("ip".to_string(), (!text_of(&value["status"], "podIP").is_empty()).into());
    for (key, statuses) in [("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")]
    {
        let statuses = list(&value["status"], statuses);
        if !statuses.is_empty() {
            let shown = statuses.iter().map(|s| (text_of(s, "name").to_string(), container_of(s)));
            map.insert(key.to_string(), Value::Object(shown.collect()));
        }
    }
    Value::Object(map)
}

fn container_of(status: &Value) -> Value {
    let mut map = Map::new();
    let state = status.get("state").and_then(Value::as_object).and_then(|state| state.iter().next());
    if let Some((name, state)) = state {
        map.insert("state".to_string(), name.clone().into());
        for key in ["reason", "exitCode", "message"] {
            insert(&mut map, key, state.get(key).cloned());
        }
    }
    if let Some(last) = status.pointer("/lastState/terminated") {
        let mut shown = Map::new();
        for key in ["exitCode", "reason"] {
            insert(&mut shown, key, last.get(key).cloned());
        }
        map.insert("last".to_string(), Value::Object(shown));
    }
    map.insert("ready".to_string(), status["ready"].clone());
    map.insert("started".to_string(), status.get("started").cloned().unwrap_or(json!(false)));
    let restarts = status.get("restartCount").and_then(Value::as_i64).unwrap_or(0);
    if restarts > 0 {
        map.insert("restartCount".to_string(), restarts.into());
    }
    Value::Object(map)
}

/// How far times may lie apart.
#[derive(Clone, Copy, Debug)]
struct Slack {
    /// How fast waits add up, in seconds per second: the pod worker looks again 10 to 15 seconds after each failure, at
    /// random; and every link of a rollout's chain takes a tick here and a moment there.
    drift: f64,
    watched: f64,
}

impl Slack {
    fn of(expected: &[Value], watched: f64) -> Self {
        let failures = ["BackOff", "ErrImagePull", "Error", "Completed"];
        let has_failure = |state: &Value| failures.iter().any(|f| text_of(state, "status").contains(f));
        let drift = if expected.iter().any(|state| state.get("columns").is_some()) {
            0.3
        } else if expected.iter().any(has_failure) {
            0.25
        } else {
            0.0
        };
        Self { drift, watched }
    }

    /// At that second. The first Pod starts a few ticks later here than there, each component taking one.
    fn at(self, t: f64) -> f64 {
        8.0 + self.drift * t
    }

    /// Whether what began at that second may be missing at the end.
    fn is_late(self, t: f64) -> bool {
        t + 7.0 > self.watched || (self.drift > 0.0 && t + self.at(t) > self.watched)
    }
}

/// What a recorded state says, without when.
fn content(state: &Value) -> Value {
    let mut content = state.clone();
    if let Some(map) = content.as_object_mut() {
        map.remove("t");
        map.remove("brief");
        if map.contains_key("gone") {
            map.retain(|key, _| key == "gone");
        }
    }
    content
}

/// Whether the states seen are the recorded ones: in order, none that lasts left out, and (if `strict`) none besides.
fn compare_states(expected: &[Value], seen: &[Seen], watched: f64, strict: bool) -> Result<(), String> {
    let at = |index: usize| expected[index].get("t").and_then(Value::as_f64).unwrap_or(0.0);
    let lasts = |index: usize| {
        if index + 1 < expected.len() { at(index + 1) - at(index) } else { watched - at(index) }
    };
    // What began in the last seconds, or later than the random waits allow to tell, may be missing.
    let slack = Slack::of(expected, watched);
    let is_late = |t: f64| slack.is_late(t);
    let optional = |index: usize| {
        expected[index].get("brief") == Some(&json!(true))
            || lasts(index) < BRIEF_SECONDS
            || is_late(at(index))
    };
    // The states seen, matched one by one: for each, how far in the recording it can lead.
    let mut ways: Vec<(usize, Bindings)> = vec![(0, Bindings::default())];
    for (number, one) in seen.iter().enumerate() {
        let mut next: Vec<(usize, Bindings)> = Vec::new();
        for (from, bindings) in &ways {
            for (index, state) in expected.iter().enumerate().skip(*from) {
                if (at(index) - one.t).abs() <= slack.at(at(index)) {
                    for way in tree::matches(&content(state), &one.state, &[], bindings) {
                        if !next.iter().any(|(known, _)| *known == index + 1) {
                            next.push((index + 1, way));
                        }
                    }
                }
                if !optional(index) {
                    break;
                }
            }
        }
        if next.is_empty() {
            let is_tail = is_late(one.t) && number > 0;
            let lasts = seen.get(number + 1).map_or(watched, |next| next.t) - one.t;
            if !strict || is_tail || (lasts < BRIEF_SECONDS && is_being_created(&one.state)) {
                continue;
            }
            let from = ways.iter().map(|(from, _)| *from).max().unwrap_or(0);
            return Err(states_difference(expected, seen, from, number));
        }
        if !strict {
            next.extend(ways.clone());
        }
        ways = next;
    }
    let is_over = |from: usize| (from..expected.len()).all(optional);
    if ways.iter().any(|(from, _)| is_over(*from)) {
        return Ok(());
    }
    let from = ways.iter().map(|(from, _)| *from).max().unwrap_or(0);
    Err(states_difference(expected, seen, from, seen.len()))
}

/// Whether no container has been created yet. Which steps on the way there a watch sees is a matter of milliseconds:
/// recordings of like Pods differ in them.
fn is_being_created(state: &Value) -> bool {
    let groups = ["initContainers", "containers"].map(|key| state.get(key).and_then(Value::as_object));
    let waits = |container: &Value| {
        text_of(container, "state") == "waiting"
            && matches!(text_of(container, "reason"), "ContainerCreating" | "PodInitializing")
    };
    state.get("phase") == Some(&json!("Pending"))
        && groups.into_iter().flatten().flat_map(Map::values).all(waits)
}

fn states_difference(expected: &[Value], seen: &[Seen], from: usize, number: usize) -> String {
    let mut lines = vec!["states:".to_string()];
    for one in &seen[..number.min(seen.len())] {
        lines.push(format!("  t={} {}", one.t, one.state));
    }
    for state in expected.iter().skip(from).take(3) {
        let brief = if state.get("brief") == Some(&json!(true)) { " brief" } else { "" };
        lines.push(format!("- t={}{brief} {}", state["t"], content(state)));
    }
    if let Some(one) = seen.get(number) {
        lines.push(format!("+ t={} {}", one.t, one.state));
    }
    lines.join("\n")
}

/// An event's message; which node was chosen is chance.
fn message_of(event: &Value) -> &str {
    let message = text_of(event, "message");
    match text_of(event, "reason") {
        "Scheduled" => message.rsplit_once(" to ").map_or(message, |(message, _)| message),
        _ => message,
    }
}

/// From this many on, the real client drops events of one object.
const DROPPED_FROM: i64 = 20;

/// One event of the object, counted.
#[derive(Debug)]
struct Told {
    first: f64,
    count: i64,
    object: String,
    fields: Value,
}

fn compare_events(
    stage: &Stage,
    key: &ObjectKey,
    expected: &[Value],
    begun: u64,
    slack: Slack,
) -> Result<(), String> {
    let start =
        kubestep::api::time::Timestamp(stage.cluster.now().0 - (stage.cluster.tick() - begun).cast_signed());
    let names_objects = expected.iter().any(|event| event.get("object").is_some());
    let mut told: Vec<(u64, Told)> = stage
        .cluster
        .store
        .objects_in(Kind::Event, NAMESPACE)
        .map(|event| event.to_value())
        .filter(|event| {
            names_objects || event.pointer("/involvedObject/name").is_some_and(|n| *n == *key.name)
        })
        .map(|event| {
            let first = text_of(&event, "firstTimestamp");
            let first = kubestep::api::time::Timestamp::parse(first).unwrap_or_default();
            let involved = &event["involvedObject"];
            let revision = text_of(&event["metadata"], "resourceVersion").parse().unwrap_or(0);
            let told = Told {
                first: first.seconds_since(start) as f64,
                count: event.get("count").and_then(Value::as_i64).unwrap_or(1),
                object: format!("{}/{}", text_of(involved, "kind").to_lowercase(), text_of(involved, "name")),
                fields: json!({
                    "type": event["type"], "reason": event["reason"], "message": message_of(&event),
                    "component": event["source"]["component"], "fieldPath": text_of(involved, "fieldPath"),
                }),
            };
            (revision, told)
        })
        .collect();
    told.sort_by(|a, b| a.1.first.total_cmp(&b.1.first).then(a.0.cmp(&b.0)));
    let told: Vec<Told> = told.into_iter().map(|(_, told)| told).collect();
    let wanted: Vec<Wanted<'_>> = expected.iter().map(Wanted::of).collect();
    let mut search = Search { told: &told, wanted: &wanted, slack, tries_left: MAX_TRIES, furthest: None };
    let Some(taken) = search.go(0, &mut Vec::new(), &Bindings::default()) else {
        return Err(search.furthest.map_or(String::new(), |(_, difference)| difference));
    };
    let extra = told
        .iter()
        .enumerate()
        .find(|(index, told)| !taken.iter().any(|(place, _)| place == index) && !slack.is_late(told.first));
    match extra {
        Some((_, told)) if !names_objects => {
            Err(format!("events:\n+ {} x{} at {}", told.fields, told.count, told.first))
        }
        _ => Ok(()),
    }
}

/// The most events that are tried in the place of recorded ones: which of several like Pods is which is open.
const MAX_TRIES: u32 = 20_000;

/// One recorded event.
struct Wanted<'v> {
    first: f64,
    count: i64,
    object: String,
    fields: Value,
    event: &'v Value,
}

impl<'v> Wanted<'v> {
    fn of(event: &'v Value) -> Self {
        Self {
            first: event["at"].get(0).and_then(Value::as_f64).unwrap_or(0.0),
            count: event.get("count").and_then(Value::as_i64).unwrap_or(1),
            object: text_of(event, "object").to_lowercase(),
            fields: json!({
                "type": event["type"], "reason": event["reason"], "message": message_of(event),
                "component": event["component"], "fieldPath": text_of(event, "fieldPath"),
            }),
            event,
        }
    }
}

/// The search for an event that was told for each recorded one.
struct Search<'s> {
    told: &'s [Told],
    wanted: &'s [Wanted<'s>],
    slack: Slack,
    tries_left: u32,
    /// What was missing furthest down.
    furthest: Option<(usize, String)>,
}

impl Search<'_> {
    /// Finds events for those from `index` on. `taken`: which were found, each with when it was recorded.
    fn go(
        &mut self,
        index: usize,
        taken: &mut Vec<(usize, f64)>,
        bindings: &Bindings,
    ) -> Option<Vec<(usize, f64)>> {
        let Some(wanted) = self.wanted.get(index) else { return Some(taken.clone()) };
        for (place, told) in self.told.iter().enumerate() {
            if taken.iter().any(|(known, _)| *known == place) || self.tries_left == 0 {
                continue;
            }
            self.tries_left -= 1;
            let Some(way) = fits(wanted, told, bindings) else { continue };
            // What was recorded more than a second earlier was told earlier, too.
            if taken.iter().any(|(known, first)| wanted.first - first > 1.0 && *known > place) {
                self.note(index, || {
                    format!("{} after what came before it at {}\n+ earlier", wanted.fields, wanted.first)
                });
                continue;
            }
            taken.push((place, wanted.first));
            if let Some(found) = self.go(index + 1, taken, &way) {
                return Some(found);
            }
            taken.pop();
        }
        if self.slack.is_late(wanted.first) {
            return self.go(index + 1, taken, bindings);
        }
        let told = self.told;
        let left =
            told.iter().enumerate().filter(|(place, _)| !taken.iter().any(|(known, _)| known == place));
        let left: Vec<String> = left.map(|(_, told)| format!("+ {} x{}", told.fields, told.count)).collect();
        self.note(index, || format!("{} x{}\n{}", wanted.fields, wanted.count, left.join("\n")));
        None
    }

    fn note(&mut self, index: usize, difference: impl Fn() -> String) {
        if self.furthest.as_ref().is_none_or(|(furthest, _)| *furthest < index) {
            self.furthest = Some((index, format!("events:\n- {}", difference())));
        }
    }
}

/// Whether an event is the recorded one, and with which bindings.
fn fits(wanted: &Wanted<'_>, told: &Told, bindings: &Bindings) -> Option<Bindings> {
    // Cheap comparisons first: there are many pairs.
    if wanted.event["reason"] != told.fields["reason"] {
        return None;
    }
    let is_dropped = wanted.count >= DROPPED_FROM && told.count >= DROPPED_FROM;
    if !is_dropped && told.count.abs_diff(wanted.count) > (wanted.count.unsigned_abs() / 5).max(2) {
        return None;
    }
    let ways = if wanted.object.is_empty() {
        vec![bindings.clone()]
    } else {
        text::matches_line(&wanted.object, &told.object, Tolerance::default(), bindings)
    };
    ways.iter().find_map(|way| tree::matches(&wanted.fields, &told.fields, &[], way).into_iter().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(states: &[(f64, &str)]) -> Vec<Seen> {
        states.iter().map(|(t, status)| Seen { t: *t, state: json!({"status": status}) }).collect()
    }

    #[test]
    fn states_that_last_come_in_order_and_brief_ones_may_be_skipped() {
        let expected = [
            json!({"t": 0, "brief": true, "status": "Pending"}),
            json!({"t": 0, "status": "Running"}),
            json!({"t": 10, "status": "Error"}),
        ];
        for (name, states, equal) in [
            ("all", vec![(0.0, "Pending"), (1.0, "Running"), (11.0, "Error")], true),
            ("a brief one skipped", vec![(1.0, "Running"), (11.0, "Error")], true),
            ("a lasting one skipped", vec![(0.0, "Pending"), (11.0, "Error")], false),
            ("one that was not recorded", vec![(1.0, "Running"), (2.0, "Odd"), (11.0, "Error")], false),
            ("much too late", vec![(1.0, "Running"), (35.0, "Error")], false),
            ("the end missing", vec![(1.0, "Running")], false),
        ] {
            assert_eq!(compare_states(&expected, &seen(&states), 60.0, true).is_ok(), equal, "{name}");
        }
    }
}
