//! `lesson.yaml`: what a lesson begins with, asks, wants and hints at. docs/LESSONS.md tells the format with examples.

use std::collections::BTreeMap;

use serde_json::Value;

use super::predicate::Predicate;
use super::script::{self, Line};
use crate::api::manifest;
use crate::cluster::settings::Settings;

/// One lesson, without its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Its folder's name.
    pub id: String,
    /// The points of the teaching plan that it covers.
    pub teaches: Vec<u32>,
    /// Who runs what: `self-managed`, `managed`, `platform`.
    pub profile: String,
    /// The seed that it is told for.
    pub seed: u64,
    /// The files that stand in the editor, by name.
    pub files: BTreeMap<String, String>,
    /// What is played before the learner begins.
    pub start: Vec<Line>,
    /// What the learner may do.
    pub allowed: Vec<Action>,
    /// Its parts, in the order of the text; the text shows the last one reached.
    pub parts: Vec<Part>,
    /// The questions to answer before time moves.
    pub predictions: Vec<Prediction>,
    /// What is to be caused and seen.
    pub goals: Vec<Goal>,
    /// What helps, under a condition.
    pub hints: Vec<Hint>,
    /// A script that meets all goals.
    pub solution: Vec<Line>,
}

/// A part of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name.
    pub id: String,
    /// When it is reached; `None` from the beginning.
    pub when: Option<Predicate>,
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Its name.
    pub id: String,
    /// When it is asked.
    pub when: Predicate,
    /// The answers: name, and what comes true if it is the right one.
    pub choices: Vec<(String, Predicate)>,
}

/// A goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its name.
    pub id: String,
    /// What has to hold at one moment.
    pub when: Predicate,
}

/// A hint.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// Its name.
    pub id: String,
    /// When it helps.
    pub when: Predicate,
    /// A script that leads to where it helps, if the solution does not.
    pub reached_by: Option<Vec<Line>>,
}

/// What a learner may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Apply a file of the editor, or `kubectl apply`.
    Apply,
    /// Edit the files.
    Edit,
    /// Type lines in the terminal.
    Terminal,
    /// Single steps.
    Step,
    /// Whole ticks.
    Tick,
    /// Until quiet.
    UntilQuiet,
    /// Back to an earlier moment.
    Back,
    /// Send requests.
    Trace,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 8] = [
        Self::Apply,
        Self::Edit,
        Self::Terminal,
        Self::Step,
        Self::Tick,
        Self::UntilQuiet,
        Self::Back,
        Self::Trace,
    ];

    /// Its word in `lesson.yaml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Edit => "edit",
            Self::Terminal => "terminal",
            Self::Step => "step",
            Self::Tick => "tick",
            Self::UntilQuiet => "until-quiet",
            Self::Back => "back",
            Self::Trace => "trace",
        }
    }
}

/// The profiles that a lesson can name.
const PROFILES: [&str; 3] = ["self-managed", "managed", "platform"];

const KEYS: [&str; 11] = [
    "teaches",
    "profile",
    "seed",
    "files",
    "start",
    "allow",
    "parts",
    "predictions",
    "goals",
    "hints",
    "solution",
];

impl Lesson {
    /// Reads `lesson.yaml`. `file` gives the texts of the files that it names.
    ///
    /// # Errors
    /// A sentence that names what is wrong.
    pub fn read(id: &str, text: &str, file: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let mut read = manifest::parse(text);
        if let Some(error) = read.error {
            return Err(format!("line {}: {error}", error.at.line));
        }
        let value = match read.documents.len() {
            1 => read.documents.remove(0).value,
            count => return Err(format!("a lesson is one document, not {count}")),
        };
        let map = value.as_object().ok_or("a lesson is a map")?;
        if let Some(key) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("`{key}` is not known; {} are", KEYS.join(", ")));
        }
        let list = |key: &str| -> Result<&[Value], String> {
            match map.get(key) {
                None => Ok(&[]),
                Some(Value::Array(items)) => Ok(items),
                Some(_) => Err(format!("`{key}` is a list")),
            }
        };
        let script = |key: &str| -> Result<Vec<Line>, String> {
            let text = map.get(key).map_or(Some(""), Value::as_str).ok_or(format!("`{key}` is a script"))?;
            script::parse(text).map_err(|error| format!("{key}: {error}"))
        };
        let profile = map.get("profile").and_then(Value::as_str).unwrap_or(PROFILES[0]).to_string();
        if !PROFILES.contains(&profile.as_str()) {
            return Err(format!("`{profile}` is no profile; {} are", PROFILES.join(", ")));
        }
        let mut files = BTreeMap::new();
        for name in list("files")? {
            let name = name.as_str().ok_or("`files` is a list of names")?;
            let text = file(name).ok_or(format!("there is no file {name}"))?;
            files.insert(name.to_string(), text);
        }
        let lesson = Self {
            id: id.to_string(),
            teaches: list("teaches")?.iter().filter_map(|n| n.as_u64()?.try_into().ok()).collect(),
            profile,
            seed: map.get("seed").and_then(Value::as_u64).unwrap_or(Settings::default().seed),
            files,
            start: script("start")?,
            allowed: list("allow")?.iter().map(action).collect::<Result<_, _>>()?,
            parts: list("parts")?.iter().map(part).collect::<Result<_, _>>()?,
            predictions: list("predictions")?.iter().map(prediction).collect::<Result<_, _>>()?,
            goals: list("goals")?.iter().map(goal).collect::<Result<_, _>>()?,
            hints: list("hints")?.iter().map(hint).collect::<Result<_, _>>()?,
            solution: script("solution")?,
        };
        lesson.check_names()?;
        Ok(lesson)
    }

    /// How its cluster is set up.
    pub fn settings(&self, seed: u64) -> Settings {
        Settings::playground(seed)
    }

    /// Whether the learner may do that; a lesson that allows nothing by name allows everything.
    pub fn allows(&self, action: Action) -> bool {
        self.allowed.is_empty() || self.allowed.contains(&action)
    }

    fn check_names(&self) -> Result<(), String> {
        if self.goals.is_empty() {
            return Err("a lesson has goals".to_string());
        }
        if self.solution.is_empty() {
            return Err("a lesson has a solution".to_string());
        }
        let names = [
            self.parts.iter().map(|p| &p.id).collect::<Vec<_>>(),
            self.predictions.iter().map(|p| &p.id).collect(),
            self.goals.iter().map(|g| &g.id).collect(),
            self.hints.iter().map(|h| &h.id).collect(),
        ];
        for ids in names {
            for (index, id) in ids.iter().enumerate() {
                if ids[..index].contains(id) {
                    return Err(format!("the name `{id}` stands twice"));
                }
            }
        }
        let asked = self.goals.iter().flat_map(|goal| goal.when.predictions());
        for id in asked {
            if !self.predictions.iter().any(|prediction| prediction.id == id) {
                return Err(format!("no question is called `{id}`"));
            }
        }
        Ok(())
    }
}

fn id_of(value: &Value) -> Result<String, String> {
    let id = value.get("id").and_then(Value::as_str).ok_or(format!("an `id` is missing in {value}"))?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || !id.chars().all(is_plain) {
        return Err(format!("the name `{id}` is not made of small letters, digits and `-`"));
    }
    Ok(id.to_string())
}

fn keys(value: &Value, known: &[&str]) -> Result<(), String> {
    let map = value.as_object().ok_or(format!("a map, not {value}"))?;
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("`{key}` is not known here; {} are", known.join(", "))),
        None => Ok(()),
    }
}

fn when(value: &Value, id: &str) -> Result<Predicate, String> {
    let when = value.get("when").ok_or(format!("`{id}` has no `when`"))?;
    Predicate::read(when).map_err(|error| format!("{id}: {error}"))
}

fn action(value: &Value) -> Result<Action, String> {
    let known = Action::ALL.into_iter().find(|action| value.as_str() == Some(action.word()));
    known.ok_or_else(|| format!("{value} is no action; {} are", Action::ALL.map(Action::word).join(", ")))
}

fn part(value: &Value) -> Result<Part, String> {
    keys(value, &["id", "when"])?;
    let id = id_of(value)?;
    let when = if value.get("when").is_some() { Some(when(value, &id)?) } else { None };
    Ok(Part { id, when })
}

fn prediction(value: &Value) -> Result<Prediction, String> {
    keys(value, &["id", "when", "choices"])?;
    let id = id_of(value)?;
    let list = value.get("choices").and_then(Value::as_array).filter(|list| list.len() >= 2);
    let choices = list.ok_or(format!("`{id}` has two `choices` or more"))?;
    let choices = choices
        .iter()
        .map(|choice| {
            keys(choice, &["id", "when"])?;
            let id = id_of(choice)?;
            let when = when(choice, &id)?;
            Ok((id, when))
        })
        .collect::<Result<_, String>>()?;
    Ok(Prediction { when: when(value, &id)?, id, choices })
}

fn goal(value: &Value) -> Result<Goal, String> {
    keys(value, &["id", "when"])?;
    let id = id_of(value)?;
    Ok(Goal { when: when(value, &id)?, id })
}

fn hint(value: &Value) -> Result<Hint, String> {
    keys(value, &["id", "when", "reached_by"])?;
    let id = id_of(value)?;
    let reached_by = match value.get("reached_by") {
        None => None,
        Some(text) => {
            let text = text.as_str().ok_or(format!("{id}: `reached_by` is a script"))?;
            Some(script::parse(text).map_err(|error| format!("{id}: {error}"))?)
        }
    };
    Ok(Hint { when: when(value, &id)?, id, reached_by })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "goals: [{id: one, when: {ticks: {at_least: 1}}}]\nsolution: tick\n";

    #[test]
    fn a_lesson_is_read_with_its_files() {
        let text = format!("{SMALL}files: [a.yaml]\nallow: [tick]\n");
        let lesson = Lesson::read("x", &text, |name| Some(format!("text of {name}"))).unwrap();
        assert_eq!(lesson.files["a.yaml"], "text of a.yaml");
        assert!(lesson.allows(Action::Tick) && !lesson.allows(Action::Back));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("goals: []\nsolution: tick\n", "a lesson has goals"),
            ("goals: [{id: one, when: {ticks: 1}}]\n", "a lesson has a solution"),
            ("goal: []\n", "`goal` is not known"),
            ("goals: [{id: One, when: {ticks: 1}}]\nsolution: tick\n", "the name `One`"),
            (
                "goals: [{id: a, when: {ticks: 1}}, {id: a, when: {ticks: 1}}]\nsolution: tick\n",
                "stands twice",
            ),
            ("goals: [{id: a, when: {predicted: b}}]\nsolution: tick\n", "no question is called `b`"),
            ("goals: [{id: a, when: {tick: 1}}]\nsolution: tick\n", "a: `tick` is no predicate"),
            ("files: [a.yaml]\n", "there is no file a.yaml"),
            ("allow: [fly]\n", "\"fly\" is no action"),
            ("a: b: c\n", "line 1"),
        ] {
            let error = Lesson::read("x", text, |_| None).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
