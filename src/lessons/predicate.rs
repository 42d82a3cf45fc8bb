//! The language of goals: predicates over state, facts, requests, what was typed, and over time.
//!
//! ```yaml
//! object: {kind: Pod, namespace: demo, count: {at_least: 3}, where: {status.phase: Running}}
//! fact: {actor: deployment, what: created, kind: ReplicaSet}
//! traced: {url: shop.example/api, sees: "503", dropped_at: controller}
//! typed: kubectl describe pod
//! predicted: who-writes
//! ticks: {at_least: 1}
//! all: [...]    any: [...]    not: ...    once: ...
//! before: {first: ..., then: ...}
//! always: {since: ..., holds: ...}
//! ```
//!
//! `object`, `ticks`, `all`, `any`, `not` say what holds at a moment; `fact`, `traced`, `typed`, `predicted`, `once`
//! say what has happened by then; `before` that something had happened earlier than something else; `always` that
//! something has held at every moment since.

use serde_json::Value;

use super::evidence::What;
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::cluster::fact::{Fact, What as FactWhat};
use crate::cluster::machine::Cluster;

/// A predicate, with what it remembers from one moment to the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// Objects in the newest state.
    Object(ObjectTest),
    /// Something happened.
    Fact(FactTest, bool),
    /// A request was sent.
    Traced(TraceTest, bool),
    /// A line was typed that begins with (or, after `…`, contains) these words in this order.
    Typed(Vec<String>, bool),
    /// A question was answered.
    Predicted(String, bool),
    /// Ticks that have passed since the lesson began.
    Ticks(Bounds),
    /// Every one holds.
    All(Vec<Self>),
    /// One holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// It held at some moment.
    Once(Box<Self>, bool),
    /// The first had held before the second did.
    Before {
        /// What comes first.
        first: Box<Self>,
        /// What comes then.
        then: Box<Self>,
        /// Whether the first has held.
        seen: bool,
        /// Whether the second has held, and if so, whether in this order.
        told: Option<bool>,
    },
    /// From when `since` holds on, `holds` does at every moment.
    Always {
        /// From when on; `None` for the lesson's beginning.
        since: Option<Box<Self>>,
        /// What.
        holds: Box<Self>,
        /// Whether it has begun.
        begun: bool,
        /// Whether it failed once.
        broken: bool,
    },
}

/// A test of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectTest {
    kind: Kind,
    namespace: Option<String>,
    name: Option<String>,
    labels: Vec<(String, String)>,
    fields: Vec<(String, FieldTest)>,
    count: Bounds,
}

/// A test of a field.
#[derive(Clone, Debug, PartialEq)]
enum FieldTest {
    Is(Value),
    IsNot(Value),
    Exists(bool),
    Within(Bounds),
    Contains(String),
}

/// A range of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    at_least: Option<i64>,
    at_most: Option<i64>,
}

/// A test of facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactTest {
    actor: Option<String>,
    what: Option<String>,
    kind: Option<Kind>,
    namespace: Option<String>,
    name: Option<String>,
    writes: bool,
}

/// A test of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceTest {
    url: Option<String>,
    sees: Option<String>,
    dropped_at: Option<String>,
    fails: Option<bool>,
}

/// What a predicate is asked about: one moment, and what is new in it.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The facts that led here from the moment before.
    pub facts: &'a [std::sync::Arc<Fact>],
    /// What the learner did at this moment.
    pub deeds: &'a [&'a What],
    /// Ticks since the lesson began.
    pub ticks: i64,
}

impl Bounds {
    fn holds(self, number: i64) -> bool {
        self.at_least.is_none_or(|least| number >= least) && self.at_most.is_none_or(|most| number <= most)
    }
}

impl Predicate {
    /// Whether it holds at this moment. Moments are to be shown in order.
    pub fn observe(&mut self, instant: &Instant<'_>) -> bool {
        match self {
            Self::Object(test) => test.holds(instant.cluster),
            Self::Fact(test, happened) => {
                *happened = *happened || instant.facts.iter().any(|fact| test.holds(fact));
                *happened
            }
            Self::Traced(test, happened) => {
                *happened = *happened || instant.deeds.iter().any(|deed| test.holds(deed));
                *happened
            }
            Self::Typed(words, happened) => {
                let typed = |deed: &&&What| matches!(deed, What::Typed { line } if says(line, words));
                *happened = *happened || instant.deeds.iter().any(|deed| typed(&deed));
                *happened
            }
            Self::Predicted(id, happened) => {
                let answered =
                    |deed: &&What| matches!(deed, What::Predicted { prediction, .. } if prediction == id);
                *happened = *happened || instant.deeds.iter().any(answered);
                *happened
            }
            Self::Ticks(bounds) => bounds.holds(instant.ticks),
            // Each is shown every moment, since each may have something to remember.
            Self::All(all) => {
                all.iter_mut().map(|one| one.observe(instant)).filter(|holds| !holds).count() == 0
            }
            Self::Any(any) => {
                any.iter_mut().map(|one| one.observe(instant)).filter(|holds| *holds).count() > 0
            }
            Self::Not(inner) => !inner.observe(instant),
            Self::Once(inner, held) => {
                *held = inner.observe(instant) || *held;
                *held
            }
            Self::Before { first, then, seen, told } => {
                let (now_first, now_then) = (first.observe(instant), then.observe(instant));
                if told.is_none() && now_then {
                    *told = Some(*seen);
                }
                *seen = *seen || now_first;
                *told == Some(true)
            }
            Self::Always { since, holds, begun, broken } => {
                let begins = since.as_mut().is_none_or(|since| since.observe(instant));
                let now = holds.observe(instant);
                *begun = *begun || begins;
                *broken = *broken || (*begun && !now);
                *begun && !*broken
            }
        }
    }

    /// Reads a predicate.
    ///
    /// # Errors
    /// A sentence that names what is wrong.
    pub fn read(value: &Value) -> Result<Self, String> {
        let map = value.as_object().filter(|map| map.len() == 1);
        let (key, value) = map
            .and_then(|map| map.iter().next())
            .ok_or(format!("a predicate is one key and its value, not {value}"))?;
        let list = || value.as_array().ok_or(format!("`{key}` is a list")).map(Vec::as_slice);
        let text = || value.as_str().map(str::to_string).ok_or(format!("`{key}` is a text"));
        let part = |name: &str| {
            value.get(name).ok_or(format!("`{key}` has `{name}`")).and_then(Self::read).map(Box::new)
        };
        Ok(match key.as_str() {
            "object" => Self::Object(ObjectTest::read(value)?),
            "fact" => Self::Fact(FactTest::read(value)?, false),
            "traced" => Self::Traced(TraceTest::read(value)?, false),
            "typed" => Self::Typed(text()?.split_whitespace().map(str::to_string).collect(), false),
            "predicted" => Self::Predicted(text()?, false),
            "ticks" => Self::Ticks(bounds(value)?),
            "all" => Self::All(list()?.iter().map(Self::read).collect::<Result<_, _>>()?),
            "any" => Self::Any(list()?.iter().map(Self::read).collect::<Result<_, _>>()?),
            "not" => Self::Not(Box::new(Self::read(value)?)),
            "once" => Self::Once(Box::new(Self::read(value)?), false),
            "before" => Self::Before { first: part("first")?, then: part("then")?, seen: false, told: None },
            "always" => Self::Always {
                since: value.get("since").map(|since| Self::read(since).map(Box::new)).transpose()?,
                holds: part("holds")?,
                begun: false,
                broken: false,
            },
            other => return Err(format!("`{other}` is no predicate")),
        })
    }

    /// The questions that it asks about.
    pub fn predictions(&self) -> Vec<&str> {
        match self {
            Self::Predicted(id, _) => vec![id],
            Self::All(all) | Self::Any(all) => all.iter().flat_map(Self::predictions).collect(),
            Self::Not(inner) | Self::Once(inner, _) => inner.predictions(),
            Self::Before { first, then, .. } => {
                [first, then].into_iter().flat_map(|p| p.predictions()).collect()
            }
            Self::Always { since, holds, .. } => {
                since.iter().chain([holds]).flat_map(|p| p.predictions()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How many objects match now and how many are wanted, for a predicate that counts.
    pub fn count(&self, cluster: &Cluster) -> Option<(usize, i64)> {
        match self {
            Self::Object(test) => {
                test.count.at_least.filter(|least| *least > 1).map(|least| (test.matching(cluster), least))
            }
            Self::Once(inner, false) => inner.count(cluster),
            _ => None,
        }
    }
}

/// Whether a line begins with these words in this order; options in between do not count.
fn says(line: &str, words: &[String]) -> bool {
    let mut wanted = words.iter().peekable();
    for word in line.split_whitespace() {
        if wanted.peek().is_some_and(|next| *next == word) {
            wanted.next();
        }
    }
    wanted.peek().is_none() && line.split_whitespace().next() == words.first().map(String::as_str)
}

fn bounds(value: &Value) -> Result<Bounds, String> {
    if let Some(exactly) = value.as_i64() {
        return Ok(Bounds { at_least: Some(exactly), at_most: Some(exactly) });
    }
    let map = value.as_object().ok_or(format!("a number or `at_least` and `at_most`, not {value}"))?;
    only(map.keys(), &["at_least", "at_most"])?;
    let of = |key: &str| map.get(key).map(|n| n.as_i64().ok_or(format!("`{key}` is a number"))).transpose();
    Ok(Bounds { at_least: of("at_least")?, at_most: of("at_most")? })
}

fn only<'k>(mut keys: impl Iterator<Item = &'k String>, known: &[&str]) -> Result<(), String> {
    match keys.find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("`{key}` is not known here; {} are", known.join(", "))),
        None => Ok(()),
    }
}

fn kind_of(value: &Value) -> Result<Option<Kind>, String> {
    let Some(word) = value.get("kind") else { return Ok(None) };
    let known = word.as_str().and_then(|word| Kind::ALL.iter().copied().find(|kind| kind.name() == word));
    known.map(Some).ok_or(format!("{word} is no kind"))
}

fn text_of(value: &Value, key: &str) -> Result<Option<String>, String> {
    match value.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(format!("`{key}` is a text")),
    }
}

impl ObjectTest {
    fn read(value: &Value) -> Result<Self, String> {
        let map = value.as_object().ok_or("`object` has `kind` and what is to be tested")?;
        only(map.keys(), &["kind", "namespace", "name", "labels", "where", "count"])?;
        let labels = map.get("labels").and_then(Value::as_object).into_iter().flatten();
        let fields = map.get("where").and_then(Value::as_object).into_iter().flatten();
        Ok(Self {
            kind: kind_of(value)?.ok_or("`object` has a `kind`")?,
            namespace: text_of(value, "namespace")?,
            name: text_of(value, "name")?,
            labels: labels.map(|(k, v)| (k.clone(), v.as_str().unwrap_or_default().to_string())).collect(),
            fields: fields
                .map(|(path, test)| Ok((path.clone(), FieldTest::read(test)?)))
                .collect::<Result<_, String>>()?,
            count: map.get("count").map_or(Ok(Bounds { at_least: Some(1), at_most: None }), bounds)?,
        })
    }

    fn holds(&self, cluster: &Cluster) -> bool {
        self.count.holds(i64::try_from(self.matching(cluster)).unwrap_or(i64::MAX))
    }

    fn matching(&self, cluster: &Cluster) -> usize {
        match &self.namespace {
            Some(namespace) => {
                cluster.store.objects_in(self.kind, namespace).filter(|o| self.fits(o)).count()
            }
            None => cluster.store.objects_of(self.kind).filter(|o| self.fits(o)).count(),
        }
    }

    fn fits(&self, object: &Object) -> bool {
        let meta = object.meta();
        let has = |(key, value): &(String, String)| meta.labels.get(key) == Some(value);
        if self.name.as_ref().is_some_and(|name| *name != *meta.name) || !self.labels.iter().all(has) {
            return false;
        }
        if self.fields.is_empty() {
            return true;
        }
        let value = object.to_value();
        self.fields.iter().all(|(path, test)| test.holds(field(&value, path)))
    }
}

/// The field at `status.conditions.Ready.status` or `spec.containers.0.image`: in lists, by index, `name` or `type`.
fn field<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |value, segment| match value {
        Value::Object(map) => map.get(segment),
        Value::Array(items) => match segment.parse::<usize>() {
            Ok(index) => items.get(index),
            Err(_) => {
                let named = |item: &&Value| {
                    ["type", "name"].iter().any(|key| item.get(key).is_some_and(|name| name == segment))
                };
                items.iter().find(named)
            }
        },
        _ => None,
    })
}

impl FieldTest {
    fn read(value: &Value) -> Result<Self, String> {
        let Some(map) = value.as_object() else { return Ok(Self::Is(value.clone())) };
        if let Some(exists) = map.get("exists") {
            return exists.as_bool().map(Self::Exists).ok_or("`exists` is true or false".to_string());
        }
        if let Some(other) = map.get("not") {
            return Ok(Self::IsNot(other.clone()));
        }
        if let Some(part) = map.get("contains") {
            return part
                .as_str()
                .map(|p| Self::Contains(p.to_string()))
                .ok_or("`contains` is a text".to_string());
        }
        bounds(value).map(Self::Within)
    }

    fn holds(&self, found: Option<&Value>) -> bool {
        match self {
            Self::Is(wanted) => found == Some(wanted),
            Self::IsNot(other) => found != Some(other),
            Self::Exists(wanted) => found.is_some() == *wanted,
            // What Go leaves out because it is zero counts as zero.
            Self::Within(bounds) => bounds.holds(found.and_then(Value::as_i64).unwrap_or(0)),
            Self::Contains(part) => found.and_then(Value::as_str).is_some_and(|text| text.contains(part)),
        }
    }
}

impl FactTest {
    fn read(value: &Value) -> Result<Self, String> {
        let map = value.as_object().ok_or("`fact` says who did what")?;
        only(map.keys(), &["actor", "what", "kind", "namespace", "name", "writes"])?;
        let what = text_of(value, "what")?;
        const WORDS: [&str; 9] = [
            "asked",
            "created",
            "changed",
            "removed",
            "reconciled",
            "refused",
            "compared",
            "ran",
            "programmed",
        ];
        if let Some(word) = what.as_ref().filter(|word| !WORDS.contains(&word.as_str())) {
            return Err(format!("`{word}` is no fact; {} are", WORDS.join(", ")));
        }
        Ok(Self {
            actor: text_of(value, "actor")?,
            what,
            kind: kind_of(value)?,
            namespace: text_of(value, "namespace")?,
            name: text_of(value, "name")?,
            writes: map.get("writes").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn holds(&self, fact: &Fact) -> bool {
        let word = match &fact.what {
            FactWhat::Asked { .. } => "asked",
            FactWhat::Staged { .. } => "staged",
            FactWhat::Reconciled { .. } => "reconciled",
            FactWhat::Wrote { old: None, .. } => "created",
            FactWhat::Wrote { new: None, .. } => "removed",
            FactWhat::Wrote { .. } => "changed",
            FactWhat::Refused { .. } => "refused",
            FactWhat::Compared { .. } => "compared",
            FactWhat::Ran { .. } => "ran",
            FactWhat::Programmed { .. } => "programmed",
        };
        let object = fact.object();
        self.actor.as_ref().is_none_or(|actor| actor == fact.actor.word() || *actor == fact.actor.to_string())
            && self.what.as_ref().is_none_or(|what| what == word)
            && self.kind.is_none_or(|kind| object.is_some_and(|object| object.kind == kind))
            && self.namespace.as_ref().is_none_or(|ns| object.is_some_and(|object| *object.namespace == **ns))
            && self.name.as_ref().is_none_or(|name| object.is_some_and(|object| *object.name == **name))
            && (!self.writes || (!fact.routine && matches!(fact.what, FactWhat::Wrote { .. })))
    }
}

impl TraceTest {
    fn read(value: &Value) -> Result<Self, String> {
        let map = value.as_object().ok_or("`traced` says what request")?;
        only(map.keys(), &["url", "sees", "dropped_at", "fails"])?;
        Ok(Self {
            url: text_of(value, "url")?,
            sees: text_of(value, "sees")?,
            dropped_at: text_of(value, "dropped_at")?,
            fails: map.get("fails").and_then(Value::as_bool),
        })
    }

    fn holds(&self, deed: &What) -> bool {
        let What::Traced { url, sees, dropped_at } = deed else { return false };
        self.url.as_ref().is_none_or(|part| url.contains(part.as_str()))
            && self.sees.as_ref().is_none_or(|wanted| wanted == sees)
            && self.dropped_at.as_ref().is_none_or(|stage| stage == dropped_at)
            && self.fails.is_none_or(|fails| fails != dropped_at.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_typed_line_is_known_by_its_words_whatever_options_stand_between() {
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        for (line, wanted, expected) in [
            ("kubectl -n demo describe pod api-1", "kubectl describe pod", true),
            ("kubectl describe deployment api", "kubectl describe pod", false),
            ("echo kubectl describe pod", "kubectl describe pod", false),
            ("kubectl get pods -o wide", "kubectl get pods -o wide", true),
        ] {
            assert_eq!(says(line, &words(wanted)), expected, "{line}");
        }
    }

    #[test]
    fn fields_are_found_through_lists_by_index_name_or_type() {
        let value = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}, "list": [{"name": "a", "n": 1}]});
        assert_eq!(field(&value, "status.conditions.Ready.status"), Some(&json!("True")));
        assert_eq!(field(&value, "list.0.n"), Some(&json!(1)));
        assert_eq!(field(&value, "list.a.n"), Some(&json!(1)));
        assert_eq!(field(&value, "list.b.n"), None);
    }

    #[test]
    fn what_is_no_predicate_is_refused_with_a_sentence() {
        for (value, part) in [
            (json!({"dance": {}}), "`dance` is no predicate"),
            (json!({"object": {"kind": "Boat"}}), "\"Boat\" is no kind"),
            (json!({"object": {"kind": "Pod", "wher": {}}}), "`wher` is not known here"),
            (json!({"fact": {"what": "sang"}}), "`sang` is no fact"),
            (json!({"all": 1}), "`all` is a list"),
            (json!({"a": 1, "b": 2}), "one key and its value"),
        ] {
            let error = Predicate::read(&value).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn time_is_told_by_what_comes_before_and_what_always_holds() {
        let cluster = Cluster::empty(crate::cluster::settings::Settings::bare(1, Vec::new()));
        let typed = |line: &str| What::Typed { line: line.to_string() };
        let (describe, delete) = (typed("kubectl describe pod a"), typed("kubectl delete pod a"));
        let read = |value: Value| Predicate::read(&value).unwrap();
        let play = |predicate: &mut Predicate, moments: &[&[&What]]| {
            let mut last = false;
            for (ticks, deeds) in moments.iter().enumerate() {
                let instant = Instant { cluster: &cluster, facts: &[], deeds, ticks: ticks as i64 };
                last = predicate.observe(&instant);
            }
            last
        };
        let before = || {
            read(
                json!({"before": {"first": {"typed": "kubectl describe"}, "then": {"typed": "kubectl delete"}}}),
            )
        };
        assert!(play(&mut before(), &[&[&describe], &[&delete]]));
        assert!(!play(&mut before(), &[&[&delete], &[&describe]]));
        let always = || {
            read(
                json!({"always": {"since": {"ticks": {"at_least": 1}}, "holds": {"not": {"typed": "kubectl delete"}}}}),
            )
        };
        assert!(play(&mut always(), &[&[], &[], &[&describe]]));
        assert!(!play(&mut always(), &[&[], &[], &[&delete], &[]]));
    }
}
