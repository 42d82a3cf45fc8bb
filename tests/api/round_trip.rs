//! Properties of the round trip through the server's types, on random objects made from the schema.

use kubestep::api::kind::Kind;
use kubestep::api::manifest;
use kubestep::api::object::Object;
use kubestep::api::schema::{self, Field, Patch, Shape, Type};
use kubestep::cluster::server::request::FieldValidation;
use kubestep::cluster::server::{decode, default, patch, prepare, validate};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::recorded::differs;

/// A small deterministic stream of draws.
struct Draws(u64);

impl Draws {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.next(words.len() as u64) as usize]
    }
}

const WORDS: [&str; 12] = [
    "web",
    "yes",
    "a b",
    "1",
    "한국어",
    "x: y",
    "2026-01-05",
    "#",
    "line\nline\n",
    "*",
    "app.kubernetes.io/name",
    "it's",
];

/// A value that is not the zero of its shape.
fn value(shape: &Shape, field: Option<&Field>, draws: &mut Draws, depth: u64) -> Value {
    match shape {
        Shape::Text => match field.map(|field| &field.choices[..]) {
            Some(choices) if !choices.is_empty() => json!(draws.pick(choices)),
            // The one text that the server itself writes and counts with.
            _ if field.is_some_and(|field| field.name == "resourceVersion") => {
                json!((1 + draws.next(1000)).to_string())
            }
            _ => json!(draws.pick(&WORDS)),
        },
        Shape::Integer32 | Shape::Integer64 => json!(1 + draws.next(1000)),
        Shape::Boolean => json!(true),
        Shape::Bytes => json!("AAEC"),
        Shape::IntOrText => match draws.next(2) {
            0 => json!(1 + draws.next(100)),
            _ => json!("25%"),
        },
        Shape::Quantity => json!(draws.pick(&["100m", "1", "64Mi", "1500m", "12e6"])),
        Shape::Time => json!("2026-01-05T09:00:00Z"),
        Shape::MicroTime => json!("2026-01-05T09:00:00.000000Z"),
        Shape::Any => json!({"f:metadata": {}}),
        Shape::Record(name) => Value::Object(record(schema::type_named(name).unwrap(), draws, depth)),
        Shape::List(inner) => {
            let count = 1 + draws.next(2);
            let mut items: Vec<Value> = (0..count).map(|_| value(inner, field, draws, depth)).collect();
            if let Some(Patch::MergeBy(key)) = field.map(|field| field.patch) {
                // Items that merge by a key have one, and no two the same.
                let kind = inner.record().unwrap();
                let is_number = matches!(kind.field(key).unwrap().shape, Shape::Integer32);
                for (index, item) in items.iter_mut().enumerate() {
                    item[key] = if is_number { json!(8000 + index) } else { json!(format!("item-{index}")) };
                }
            }
            items.dedup();
            Value::Array(items)
        }
        Shape::Map(inner) => {
            let keys = ["app", "tier", "a.txt"];
            let count = 1 + draws.next(2) as usize;
            Value::Object(
                keys[..count].iter().map(|key| (key.to_string(), value(inner, None, draws, depth))).collect(),
            )
        }
    }
}

fn record(kind: &'static Type, draws: &mut Draws, depth: u64) -> Map<String, Value> {
    let mut members = Map::new();
    for field in &kind.fields {
        // The deeper, the sparser.
        if draws.next(3 + depth * 2) < 2 {
            members.insert(field.name.to_string(), value(&field.shape, Some(field), draws, depth + 1));
        }
    }
    members
}

fn object(root: &schema::Root, seed: u64) -> Value {
    let kind = schema::type_named(root.type_name).unwrap();
    let mut members = record(kind, &mut Draws(seed), 0);
    let api_version = if root.group.is_empty() {
        root.version.to_string()
    } else {
        format!("{}/{}", root.group, root.version)
    };
    members.insert("apiVersion".to_string(), json!(api_version));
    members.insert("kind".to_string(), json!(root.kind));
    Value::Object(members)
}

/// Whether everything in `part` is in `whole`.
fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|other| is_within(value, other)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_within(part, whole))
        }
        _ => part == whole,
    }
}

proptest! {
    // A tenth of the usual number, since each case is an object of every kind; PROPTEST_CASES=20000 tries 2,000.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decoding_loses_no_field_and_changes_nothing_twice(seed in any::<u64>()) {
        for root in schema::roots() {
            let kind = schema::type_named(root.type_name).unwrap();
            let given = object(root, seed);
            let decoded = decode::decode(kind, &given, FieldValidation::Strict).unwrap();
            prop_assert!(is_within(&given, &decoded.value), "{given}\n{}", decoded.value);
            prop_assert_eq!(&decode::normalise(kind, &decoded.value), &decoded.value);
        }
    }

    #[test]
    fn defaulting_and_preparing_keep_the_servers_form(seed in any::<u64>()) {
        for root in schema::roots() {
            let kind = schema::type_named(root.type_name).unwrap();
            let mut value = decode::normalise(kind, &object(root, seed));
            default::default(kind, &mut value);
            let once = value.clone();
            default::default(kind, &mut value);
            prop_assert_eq!(&value, &once, "{}", root.kind);
            let old = value.clone();
            prepare::prepare_for_create(kind, &mut value);
            validate::validate_create(kind, &value);
            validate::warnings(kind, None, &value);
            prepare::prepare_for_update(kind, &old, &mut value);
            validate::validate_update(kind, &old, &value);
        }
    }

    #[test]
    fn typed_objects_lose_no_field_and_read_back_as_themselves(seed in any::<u64>()) {
        for &kind in Kind::ALL {
            let root = schema::roots().iter().find(|root| root.group == kind.group() && root.kind == kind.name());
            let root = root.unwrap();
            let schema = schema::type_named(root.type_name).unwrap();
            let mut given = decode::normalise(schema, &object(root, seed));
            default::default(schema, &mut given);
            let typed = Object::decode(kind, given.clone());
            prop_assert!(typed.is_ok(), "{}: {:?}", root.kind, typed.err());
            let typed = typed.unwrap();
            let encoded = typed.to_value();
            let mut differences = Vec::new();
            differs("", &given, &decode::normalise(schema, &encoded), &mut differences);
            // An absent list or record may become an empty one.
            let is_empty = |text: &str| text.ends_with("expected null, got []") || text.ends_with("expected null, got {}");
            differences.retain(|difference| !is_empty(difference));
            prop_assert!(differences.is_empty(), "{}: {differences:#?}", root.kind);
            let again = Object::decode(kind, encoded).unwrap();
            prop_assert_eq!(&again, &typed, "{}", root.kind);
        }
    }

    #[test]
    fn what_is_applied_twice_changes_nothing(seed in any::<u64>()) {
        for root in schema::roots() {
            let kind = schema::type_named(root.type_name).unwrap();
            let [original, modified, mut current] = [seed, seed ^ 1, seed ^ 2].map(|seed| object(root, seed));
            let change = patch::three_way(kind, &original, &modified, &current).unwrap();
            patch::strategic(kind, &mut current, &change).unwrap();
            let again = patch::three_way(kind, &modified, &modified, &current).unwrap();
            let before = current.clone();
            patch::strategic(kind, &mut current, &again).unwrap();
            prop_assert_eq!(&current, &before, "{}: {}", root.kind, again);
        }
    }

    #[test]
    fn written_manifests_read_back_the_same(seed in any::<u64>()) {
        for root in schema::roots() {
            let given = object(root, seed);
            for text in [manifest::to_yaml(&given), manifest::to_json_pretty(&given)] {
                let read = manifest::parse(&text);
                prop_assert_eq!(&read.error, &None, "{}", text);
                prop_assert_eq!(&read.documents[0].value, &given, "{}", text);
            }
        }
    }

    #[test]
    fn no_text_stops_the_reader(text in "\\PC{0,200}|[ \\n:\\-\\[\\]{}&*!|>'\"%@#,?a1]{0,200}") {
        let read = manifest::parse(&text);
        for document in &read.documents {
            manifest::to_yaml(&document.value);
        }
        manifest::parse(&format!("{{\"a\": {text}"));
    }
}
