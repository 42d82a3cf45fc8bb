//! What must hold whatever the bytes are. The fuzz targets and the test of saved inputs share these.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::labels::{FieldSelector, Selector};
use kubestep::api::manifest::{self, MAX_BYTES};
use kubestep::api::quantity::Quantity;
use kubestep::api::schema;
use kubestep::cluster::command::Command;
use kubestep::cluster::history::History;
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::server::patch;
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::settings::{NodeSetup, Settings};
use kubestep::kubectl::history_host::HistoryHost;
use kubestep::kubectl::jsonpath::Template;
use kubestep::kubectl::{Execution, Session, run_with_input};
use kubestep::share::link;
use serde_json::Value;

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// A text is read or refused; what was read is written as a text that reads back the same.
pub fn yaml(data: &[u8]) {
    let read = manifest::parse_bytes(data);
    if let Some(error) = &read.error {
        assert!(!error.message.is_empty() && error.at.line > 0);
    }
    for document in read.documents {
        let _ = document.places.of("spec.containers[0].image");
        reads_back(&manifest::to_yaml(&document.value), &document.value);
        // Only a text that begins with a brace is read as JSON.
        if document.value.is_object() {
            reads_back(&manifest::to_json_pretty(&document.value), &document.value);
        }
    }
}

// What is written are objects and lists; a scalar by itself has no indentation to stand in.
fn reads_back(written: &str, value: &Value) {
    if written.len() > MAX_BYTES || !(value.is_object() || value.is_array()) {
        return;
    }
    let again = manifest::parse(written);
    assert_eq!(again.error, None, "{written}");
    if let Some(document) = again.documents.first() {
        assert!(is_same(&document.value, value), "{written}\n{:?}\n{value:?}", document.value);
    }
}

// A large number with a fraction of nothing is written like a whole one, as Go does.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.0 == b.0 && is_same(a.1, b.1))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// The same of a JSON text.
pub fn json(data: &[u8]) {
    let inner = text(data);
    let _ = manifest::check_json_object(&inner);
    yaml(format!("{{{inner}").as_bytes());
}

/// A quantity is read or refused; its text is a fixed point.
pub fn quantity(data: &[u8]) {
    let Ok(quantity) = Quantity::parse(&text(data)) else { return };
    let written = quantity.to_string();
    let again = Quantity::parse(&written);
    assert_eq!(again, Ok(quantity), "{written}");
    assert_eq!(again.map(|again| again.to_string()), Ok(written));
    let _ = (quantity.milli(), quantity.value(), quantity.add(&quantity), quantity.sub(&quantity));
    assert!(quantity.rounded_to_milli() >= quantity || quantity.is_negative());
}

/// A selector is read or refused; its text reads back as the same selector.
pub fn selector(data: &[u8]) {
    let text = text(data);
    let labels =
        [("a", "1"), ("b", "x"), ("app", "web")].map(|(key, value)| (key.to_string(), value.to_string()));
    if let Ok(selector) = Selector::parse(&text) {
        let matches = selector.matches(&BTreeMap::from(labels));
        let written = selector.to_string();
        // A set of the empty word alone is written like one of no word, as upstream does; that is refused.
        if written.contains("()") {
            return;
        }
        let again = Selector::parse(&written).unwrap_or_else(|why| panic!("{written}: {why}"));
        assert_eq!(
            again.matches(&BTreeMap::from(
                [("a", "1"), ("b", "x"), ("app", "web")].map(|(k, v)| (k.to_string(), v.to_string()))
            )),
            matches,
            "{written}"
        );
        assert_eq!(again.to_string(), written);
    }
    if let Ok(selector) = FieldSelector::parse(&text) {
        selector.matches(|field| field.to_string());
    }
    let _ = Template::parse(&text);
    let _ = Template::parse_relaxed(&text);
}

/// Any patch can be tried on any object; a three-way merge leads to what was wanted and then changes nothing.
pub fn patch(data: &[u8]) {
    let text = text(data);
    let mut values = text.split('\0').map(|text| serde_json::from_str::<Value>(text).unwrap_or(Value::Null));
    let (first, second, third) = (values.next(), values.next(), values.next());
    let (original, modified) = (first.unwrap_or_default(), second.unwrap_or_default());
    let current = third.unwrap_or_default();
    let mut merged = original.clone();
    patch::merge(&mut merged, &modified);
    let once = merged.clone();
    patch::merge(&mut merged, &modified);
    assert_eq!(merged, once);
    let _ = patch::json(&mut original.clone(), &modified);
    for kind in ["core.v1.Pod", "apps.v1.Deployment", "core.v1.Service"] {
        let Some(kind) = schema::type_named(kind) else { continue };
        let _ = patch::strategic(kind, &mut original.clone(), &modified);
        if let Ok(change) = patch::three_way(kind, &original, &modified, &current) {
            let _ = patch::strategic(kind, &mut current.clone(), &change);
        }
    }
    let _ = patch::three_way_merge(&original, &modified, &current);
}

/// A link is read or refused; what was read makes a link that reads the same.
pub fn link(data: &[u8]) {
    let text = text(data);
    for address in [text.clone(), format!("#v1:{text}")] {
        let Ok(shared) = link::decode(&address) else { continue };
        assert_eq!(link::decode(&link::encode(&shared)), Ok(shared));
    }
}

thread_local! {
    /// A cluster of one node with something on it, made once.
    static HISTORY: RefCell<Option<History>> = const { RefCell::new(None) };
}

fn history() -> History {
    HISTORY.with_borrow_mut(|made| {
        let made = made.get_or_insert_with(|| {
            let mut history = History::new(Settings::bare(1, vec![NodeSetup::new("node-1")]));
            let mut session = Session::default();
            let files = BTreeMap::new();
            let mut host = HistoryHost::new(&mut history, &files);
            for line in [
                "kubectl create deployment web --image=nginx --replicas=2",
                "kubectl expose deployment web --port=80",
            ] {
                run_with_input(line, None, &mut session, &mut host);
            }
            for _ in 0..5 {
                history.perform(Command::Tick);
            }
            history
        });
        made.clone()
    })
}

/// A line of the terminal ends, or waits, for any number of ticks. What follows a NUL is its standard input.
pub fn shell(data: &[u8]) {
    let text = text(data);
    let (line, input) = text.split_once('\0').map_or((&*text, None), |(line, input)| (line, Some(input)));
    let mut history = history();
    let files = BTreeMap::from([("web.yaml".to_string(), input.unwrap_or("kind: Pod").to_string())]);
    let mut session = Session::default();
    let execution = {
        let mut host = HistoryHost::new(&mut history, &files);
        run_with_input(line, input, &mut session, &mut host)
    };
    if let Execution::Waiting(_, mut waiting) = execution {
        for _ in 0..3 {
            history.perform(Command::Tick);
            let mut host = HistoryHost::new(&mut history, &files);
            if waiting.poll(&mut session, &mut host).finished.is_some() {
                break;
            }
        }
    }
    history.perform(Command::Tick);
}

/// Whatever is asked of the server is carried out or refused, a refused request changes nothing, and the cluster goes on.
pub fn request(data: &[u8]) {
    let mut cluster: Cluster = Cluster::clone(history().cluster());
    let mut facts = Vec::new();
    for document in manifest::parse_bytes(data).documents {
        let value = document.value;
        let word =
            |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string();
        let Some(kind) = Kind::from_manifest(&word("/apiVersion"), &word("/kind")) else { continue };
        let name = word("/metadata/name");
        let namespace = if kind.is_namespaced() { "default" } else { "" };
        let there = cluster.store.objects_in(kind, namespace).any(|object| *object.meta().name == *name);
        let verb = match (there, word("/metadata/annotations/verb").as_str()) {
            (false, _) => Verb::Create,
            (true, "replace") => Verb::Update,
            (true, "delete") => Verb::Delete,
            (true, "merge") => Verb::MergePatch,
            _ => Verb::StrategicPatch,
        };
        let before = cluster.store.clone();
        let answer = cluster.ask(&Request::new(verb, kind, namespace, &name, value), &mut facts);
        match answer {
            Ok(_) => {}
            Err(status) => {
                assert!(!status.message.is_empty() && status.code >= 400);
                assert!(cluster.store == before, "refused, yet changed: {}", status.message);
            }
        }
    }
    for _ in 0..4 {
        cluster.finish_tick(&mut facts);
    }
    let _: Vec<Arc<_>> = facts;
}
