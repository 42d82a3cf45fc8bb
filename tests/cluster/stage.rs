//! What these tests stand on: the example of the house, and ways to move.

use kubestep::api::kind::Kind;
use kubestep::api::kinds::pod::Pod;
use kubestep::api::manifest;
use kubestep::cluster::command::Command;
use kubestep::cluster::history::{History, Performed};
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::settings::Settings;
use serde_json::Value;

/// Namespace `demo`, Deployment and Service `api`, an Ingress for `shop.example/api`.
pub const SHOP: &str = include_str!("shop.yaml");

/// A session in the playground.
pub fn playground() -> History {
    History::new(Settings::default())
}

/// The request that creates what a document describes.
pub fn create(document: Value) -> Command {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let kind =
        Kind::from_manifest(&text(&document["apiVersion"]), &text(&document["kind"])).expect("a known kind");
    let (namespace, name) = (text(&document["metadata"]["namespace"]), text(&document["metadata"]["name"]));
    Command::Ask(Request::new(Verb::Create, kind, &namespace, &name, document))
}

/// Creates every object of a manifest; each must be accepted.
pub fn create_all(history: &mut History, text: &str) {
    for document in manifest::parse(text).documents {
        ask(history, create(document.value)).answer.expect("a request").expect("accepted");
    }
}

/// Carries out a command.
pub fn ask(history: &mut History, command: Command) -> Performed {
    history.perform(command)
}

/// So many whole ticks.
pub fn tick(history: &mut History, ticks: usize) {
    for _ in 0..ticks {
        history.perform(Command::Tick);
    }
}

/// Ticks until nothing but heartbeats is left; at most 200.
pub fn until_quiet(history: &mut History) {
    for _ in 0..200 {
        if history.cluster().is_quiet() {
            return;
        }
        history.perform(Command::Tick);
    }
    panic!("not quiet after 200 ticks");
}

/// The Pods of a namespace that are Ready.
pub fn ready(history: &History, namespace: &str) -> usize {
    history.cluster().store.list_in::<Pod>(namespace).filter(|pod| pod.is_ready()).count()
}
