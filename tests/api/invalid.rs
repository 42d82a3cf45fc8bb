//! Recorded cases of the group `invalid`: how the server refuses a manifest. A few lines here play the part of kubectl,
//! so that the words of the layers below can be compared with what was recorded.

use std::collections::BTreeMap;

use kubestep::api::manifest::{self, to_json};
use kubestep::api::schema::{self, Type};
use kubestep::cluster::server::request::FieldValidation;
use kubestep::cluster::server::validate::FieldError;
use kubestep::cluster::server::{decode, default, patch, prepare, validate};
use serde_json::{Value, json};

use crate::recorded::cases;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

type Store = BTreeMap<(String, String), Value>;

fn invalid(kind: &str, name: &str, errors: &[FieldError]) -> String {
    match errors {
        [one] => format!("The {kind} {name:?} is invalid: {one}\n"),
        many => {
            let lines: Vec<String> = many.iter().map(|error| format!("* {error}\n")).collect();
            format!("The {kind} {name:?} is invalid: \n{}", lines.concat())
        }
    }
}

/// One document; what kubectl would print to stderr.
fn apply(store: &mut Store, document: &Value, is_apply: bool) -> String {
    let problems = decode::identity_problems(document);
    if !problems.is_empty() {
        let told = match problems[..] {
            [one] => one.to_string(),
            _ => format!("[{}]", problems.join(", ")),
        };
        return format!(
            "error: error validating \"STDIN\": error validating data: {told}; if you choose to ignore these errors, turn validation off with --validate=false\n"
        );
    }
    if let Err(problem) = decode::check_metadata(document) {
        return format!("error: unable to decode \"STDIN\": {}\n", problem.text);
    }
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_string();
    let (api_version, kind_name) = (text("apiVersion"), text("kind"));
    let name = document["metadata"]["name"].as_str().unwrap_or_default().to_string();
    let Some(kind) = schema::root_of(&api_version, &kind_name) else {
        let why = decode::no_match(&api_version, &kind_name);
        return format!(
            "error: resource mapping not found for name: {name:?} namespace: \"\" from \"STDIN\": {why}\nensure CRDs are installed first\n"
        );
    };
    let namespaced = !matches!(
        kind_name.as_str(),
        "Namespace"
            | "Node"
            | "PersistentVolume"
            | "ClusterRole"
            | "ClusterRoleBinding"
            | "PriorityClass"
            | "StorageClass"
            | "IngressClass"
    );
    let mut wanted = document.clone();
    if namespaced {
        wanted["metadata"]["namespace"] = json!("demo");
    } else if let Some(metadata) = wanted["metadata"].as_object_mut() {
        metadata.remove("namespace");
    }
    if is_apply {
        let mut applied = wanted.clone();
        if applied["metadata"].get("annotations").is_none() {
            applied["metadata"]["annotations"] = json!({});
        }
        wanted["metadata"]["annotations"][LAST_APPLIED] = json!(format!("{}\n", to_json(&applied)));
    }
    let key = (kind_name.clone(), name.clone());
    match store.get(&key).cloned() {
        None => create(store, kind, key, &api_version, &wanted),
        Some(live) => update(store, kind, key, &live, &wanted),
    }
}

fn create(
    store: &mut Store,
    kind: &'static Type,
    key: (String, String),
    api_version: &str,
    wanted: &Value,
) -> String {
    let (kind_name, name) = (&key.0, &key.1);
    let mut object = match decode::decode(kind, wanted, FieldValidation::Strict) {
        Ok(decoded) => decoded.value,
        Err(error) => {
            let why = decode::refusal(api_version, kind_name, &error);
            return format!("Error from server (BadRequest): error when creating \"STDIN\": {why}\n");
        }
    };
    object["metadata"]["uid"] = json!("00000000-0000-0000-0000-000000000000");
    default::default(kind, &mut object);
    prepare::prepare_for_create(kind, &mut object);
    let errors = validate::validate_create(kind, &object);
    if !errors.is_empty() {
        return invalid(kind_name, name, &errors);
    }
    let warnings = validate::warnings(kind, None, &object);
    store.insert(key.clone(), object);
    warnings.iter().map(|warning| format!("Warning: {warning}\n")).collect()
}

fn update(
    store: &mut Store,
    kind: &'static Type,
    key: (String, String),
    live: &Value,
    wanted: &Value,
) -> String {
    let last = live["metadata"]["annotations"][LAST_APPLIED].as_str().unwrap_or("{}").trim();
    let original: Value = serde_json::from_str(last).unwrap();
    let change = patch::three_way(kind, &original, wanted, live).unwrap();
    let mut object = live.clone();
    patch::strategic(kind, &mut object, &change).unwrap();
    object = match decode::decode(kind, &object, FieldValidation::Strict) {
        Ok(decoded) => decoded.value,
        Err(error) => {
            let status = patch::refusal(&change, &error.converted);
            let message = status.message.trim_start_matches(" \"\" is invalid: ");
            return format!("The request is invalid: {message}\n");
        }
    };
    default::default(kind, &mut object);
    prepare::prepare_for_update(kind, live, &mut object);
    let errors = validate::validate_update(kind, live, &object);
    if !errors.is_empty() {
        return invalid(&key.0, &key.1, &errors);
    }
    store.insert(key, object);
    String::new()
}

/// The same text with every uid replaced.
fn without_uids(text: &str) -> String {
    text.replace("00000000-0000-0000-0000-000000000000", "<uid1>")
}

#[test]
fn refusals_are_what_the_server_recorded() {
    let (mut passed, mut total) = (0, 0);
    let mut report = String::new();
    for (id, case) in cases("invalid") {
        let mut store = Store::new();
        let mut wrong = Vec::new();
        let mut tried = false;
        for step in case["steps"].as_array().unwrap() {
            let run = step["run"].as_str().unwrap_or_default();
            let (Some(stdin), Some(expected)) = (step["stdin"].as_str(), step["stderr"].as_str()) else {
                continue;
            };
            if !matches!(run, "kubectl apply -f -" | "kubectl create -f -") {
                continue;
            }
            tried = true;
            let read = manifest::parse(stdin);
            let mut told = String::new();
            for document in &read.documents {
                told.push_str(&apply(&mut store, &document.value, run.contains("apply")));
            }
            if let Some(error) = read.error {
                told.push_str(&format!("error: error parsing STDIN: {error}\n"));
            }
            if without_uids(&told) != expected {
                wrong.push(format!("expected: {expected}\n  told:     {told}"));
            }
        }
        if !tried {
            continue;
        }
        total += 1;
        if wrong.is_empty() {
            passed += 1;
        } else {
            report.push_str(&format!("{id}\n  {}\n", wrong.join("\n  ")));
        }
    }
    println!("{report}invalid {passed}/{total}");
    assert!(passed >= 165, "{report}only {passed} of {total}");
}
