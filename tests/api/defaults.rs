//! Recorded cases of the group `defaults`: what the server makes of a manifest, without the stages that need a store.

use kubestep::api::manifest::{parse, to_yaml};
use kubestep::api::schema;
use kubestep::cluster::server::request::FieldValidation;
use kubestep::cluster::server::{decode, default, prepare, validate};
use serde_json::{Value, json};

use crate::recorded::{cases, differs};

/// What admission adds, which is not tried here.
fn without_admission(object: &mut Value) {
    if object["kind"] == "Pod"
        && let Some(spec) = object["spec"].as_object_mut()
    {
        for name in ["tolerations", "priority", "preemptionPolicy"] {
            spec.remove(name);
        }
    }
    if object["kind"] == "PersistentVolume"
        && let Some(status) = object["status"].as_object_mut()
    {
        status.remove("lastPhaseTransitionTime");
    }
}

#[test]
fn defaulted_objects_are_what_the_server_recorded() {
    let (mut passed, mut total) = (0, 0);
    let mut report = String::new();
    for (id, case) in cases("defaults") {
        for step in case["steps"].as_array().unwrap() {
            let (Some(stdin), Some(stdout)) = (step["stdin"].as_str(), step["stdout"].as_str()) else {
                continue;
            };
            let expected = parse(stdout).documents;
            let Some(mut expected) = expected.into_iter().next().map(|document| document.value) else {
                continue;
            };
            let Some(document) = parse(stdin).documents.into_iter().next() else { continue };
            let text = |name: &str| document.value[name].as_str().unwrap_or_default().to_string();
            let Some(kind) = schema::root_of(&text("apiVersion"), &text("kind")) else { continue };
            total += 1;
            let decoded = decode::decode(kind, &document.value, FieldValidation::Strict).unwrap();
            let mut object = decoded.value;
            if expected["metadata"]["namespace"] == "demo" {
                object["metadata"]["namespace"] = json!("demo");
            }
            object["metadata"]["uid"] = json!("00000000-0000-0000-0000-000000000000");
            object["metadata"]["creationTimestamp"] = json!("2026-01-05T09:00:00Z");
            if let Some(prefix) = object["metadata"]["generateName"].as_str() {
                object["metadata"]["name"] = json!(format!("{prefix}abcde"));
                expected["metadata"]["name"] = object["metadata"]["name"].clone();
            }
            default::default(kind, &mut object);
            prepare::prepare_for_create(kind, &mut object);
            let object_before = object.clone();
            let errors = validate::validate_create(kind, &object);
            without_admission(&mut object);
            without_admission(&mut expected);
            let mut differences: Vec<String> =
                errors.iter().map(|error| format!("refused: {error}")).collect();
            differs("", &expected, &object, &mut differences);
            if decode::normalise(kind, &object_before) != object_before {
                let mut again = Vec::new();
                differs("", &object_before, &decode::normalise(kind, &object_before), &mut again);
                differences.push(format!("the round trip changes it: {again:?}"));
            }
            if differences.is_empty() {
                passed += 1;
            } else {
                report.push_str(&format!("{id}\n  {}\n", differences.join("\n  ")));
            }
        }
    }
    println!("{report}defaults {passed}/{total}");
    assert!(passed >= 90, "{report}only {passed} of {total}");
}

#[test]
fn recorded_yaml_is_written_as_kubectl_wrote_it() {
    let mut wrong = Vec::new();
    for group in ["defaults", "lifecycle"] {
        for (id, case) in cases(group) {
            for step in case["steps"].as_array().unwrap() {
                let (run, Some(stdout)) = (step["run"].as_str().unwrap_or_default(), step["stdout"].as_str())
                else {
                    continue;
                };
                if !run.contains("-o yaml") || stdout.contains("---") || run.contains("| ") {
                    continue;
                }
                let read = parse(stdout);
                if let (None, [document]) = (&read.error, &read.documents[..])
                    && to_yaml(&document.value)
                        != stdout.replace("\"<time>\"", "<time>").replace("\"<rv>\"", "<rv>")
                {
                    wrong.push(format!("{id}: {}\n{}", run, to_yaml(&document.value)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
