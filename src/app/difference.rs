//! A file against the live objects: what Apply would change of what the file speaks of.

use serde_json::Value;

use super::view_model::ObjectReference;
use super::view_model::why::{DiffLine, Sign};
use crate::api::kind::Kind;
use crate::api::manifest::parse;
use crate::api::meta::ObjectKey;
use crate::cluster::diff::diff;
use crate::cluster::store::Store;

/// The lines of the difference, an object after the other; empty when there is none.
pub fn difference_of(store: &Store, text: &str) -> Vec<DiffLine> {
    let mut lines = Vec::new();
    for document in parse(text).documents {
        let word = |name: &str| document.value[name].as_str().unwrap_or_default();
        let Some(kind) = Kind::from_manifest(word("apiVersion"), word("kind")) else { continue };
        let metadata = &document.value["metadata"];
        let namespace = match kind.is_namespaced() {
            true => metadata["namespace"].as_str().unwrap_or("default"),
            false => "",
        };
        let key = ObjectKey::new(kind, namespace, metadata["name"].as_str().unwrap_or_default());
        let live = store.object(&key).map(|object| object.to_value());
        let live = live.map_or(Value::Null, |live| part_of(&live, &document.value));
        let changes = diff(&live, &document.value);
        if changes.is_empty() {
            continue;
        }
        lines.push(DiffLine { sign: Sign::Same, text: ObjectReference::from(&key).title() });
        for change in changes {
            let line = |sign, value: &Value| {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                DiffLine { sign, text: [change.path.as_str(), ": ", &value].concat() }
            };
            lines.extend(change.old.as_ref().map(|old| line(Sign::Removed, old)));
            lines.extend(change.new.as_ref().map(|new| line(Sign::Added, new)));
        }
    }
    lines
}

/// What of the live object the file speaks of: the rest was filled in by the server.
fn part_of(live: &Value, wish: &Value) -> Value {
    match (live, wish) {
        (Value::Object(live), Value::Object(wish)) => {
            let spoken =
                wish.iter().filter_map(|(name, wish)| Some((name.clone(), part_of(live.get(name)?, wish))));
            Value::Object(spoken.collect())
        }
        (Value::Array(live), Value::Array(wish)) => {
            let spoken =
                live.iter().enumerate().map(|(at, live)| part_of(live, wish.get(at).unwrap_or(live)));
            Value::Array(spoken.collect())
        }
        _ => live.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::session::FIRST_MANIFEST;
    use crate::app::state::State;
    use crate::cluster::settings::Settings;

    #[test]
    fn what_was_just_applied_does_not_differ_and_an_edit_does() {
        let mut state = State::new(Settings::bare(1, Vec::new()));
        crate::app::shell::enter(&mut state, "kubectl apply -f api.yaml");
        let store = &state.history.cluster().store;
        assert_eq!(difference_of(store, FIRST_MANIFEST), []);
        let edited = FIRST_MANIFEST.replace("replicas: 3", "replicas: 5");
        let lines: Vec<String> = difference_of(store, &edited).into_iter().map(|line| line.text).collect();
        assert_eq!(lines, ["Deployment/api", "spec.replicas: 3", "spec.replicas: 5"]);
    }
}
