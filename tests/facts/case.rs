//! Reads a file of facts, judges every row, and holds the outcome against the list of what does not hold.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{env, fs};

use serde_json::Value;

/// One row.
#[derive(Debug)]
pub struct Case {
    /// Its name within the file.
    pub id: String,
    /// The state before.
    pub given: Value,
    /// The step.
    pub when: String,
    /// The outcome.
    pub expect: Value,
}

/// What became of a row.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// The code does what the row says.
    Holds,
    /// The code does something else.
    Contradicted(String),
    /// The row speaks of something that is not simulated, or that no test can see.
    NotSimulated(String),
    /// Nothing tries the row yet.
    NotTried,
}

/// The row speaks of something that is not simulated, or that no test can see.
pub fn not_simulated(reason: &str) -> Verdict {
    Verdict::NotSimulated(reason.to_string())
}

impl Case {
    /// A text of `given`; numbers and booleans as they are written.
    pub fn given_text(&self, key: &str) -> String {
        text(&self.given[key])
    }

    /// The list of texts at a key of `given`.
    pub fn given_texts(&self, key: &str) -> Vec<String> {
        self.given[key].as_array().into_iter().flatten().map(|item| repeated(&text(item))).collect()
    }

    /// A text of `expect`.
    pub fn expected_text(&self, key: &str) -> String {
        text(&self.expect[key])
    }
}

/// A scalar as a text.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// `63 x a` is the letter 63 times; `254 x a/abc` likewise with what follows.
fn repeated(text: &str) -> String {
    let Some((count, rest)) = text.split_once(" x ") else { return text.to_string() };
    let Ok(count) = count.parse::<usize>() else { return text.to_string() };
    let letter = &rest[..1];
    format!("{}{}", letter.repeat(count), &rest[1..])
}

/// The verdict on a comparison.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, actual: T, expected: T) -> Verdict {
    if actual == expected {
        Verdict::Holds
    } else {
        Verdict::Contradicted(format!("{what}: {actual:?}, not {expected:?}"))
    }
}

/// The verdict on a condition.
pub fn holds(what: &str, condition: bool) -> Verdict {
    if condition { Verdict::Holds } else { Verdict::Contradicted(what.to_string()) }
}

/// Holds only if all do; else the first that does not.
pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().find(|verdict| *verdict != Verdict::Holds).unwrap_or(Verdict::Holds)
}

/// The verdict on every field that is expected of a record.
pub fn has_fields(actual: &Value, expected: &Value) -> Verdict {
    let expected = expected.as_object().expect("the fields of a record");
    all(expected.iter().map(|(key, value)| same(key, actual[key].clone(), value.clone())))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance")
}

/// The text with plain scalars such as `1e3` in quotes: the files mean them as texts.
fn exponents_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for piece in text.split_inclusive([' ', ',', '}', ']', '\n']) {
        let word = piece.trim_end_matches([' ', ',', '}', ']', '\n']);
        let begins = word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if begins && word.contains(['e', 'E']) && word.parse::<f64>().is_ok() {
            quoted.push_str(&format!("'{word}'{}", &piece[word.len()..]));
        } else {
            quoted.push_str(piece);
        }
    }
    quoted
}

/// The rows of a file.
fn read(file: &str) -> Vec<Case> {
    let path = folder().join("facts").join(format!("{file}.yaml"));
    // Not by our own reader: to it, as to Kubernetes, a plain `y` is a boolean.
    let value: Value = serde_yaml::from_str(&exponents_quoted(&fs::read_to_string(path).unwrap())).unwrap();
    let rows = value["cases"].as_array().unwrap().clone();
    let row = |row: Value| Case {
        id: text(&row["id"]),
        given: row["given"].clone(),
        when: text(&row["when"]),
        expect: row["expect"].clone(),
    };
    rows.into_iter().map(row).collect()
}

/// The rows of a file's section that do not hold: id to (word, reason).
type Listed = BTreeMap<String, (String, String)>;

const CONTRADICTED: &str = "contradicted";
const NOT_SIMULATED: &str = "not simulated";
const NOT_TRIED: &str = "not tried";

/// Judges every row; fails where one is contradicted that is not known to be.
pub fn judge_file(file: &str, judge: fn(&Case) -> Verdict) {
    let cases = read(file);
    let mut found = Listed::new();
    for case in &cases {
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(case))).unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Verdict::Contradicted(words.unwrap_or_default())
        });
        let (word, reason) = match verdict {
            Verdict::Holds => continue,
            Verdict::Contradicted(reason) => (CONTRADICTED, reason),
            Verdict::NotSimulated(reason) => (NOT_SIMULATED, reason),
            Verdict::NotTried => (NOT_TRIED, "no test yet".to_string()),
        };
        let reason = reason.lines().next().unwrap_or_default().replace('|', "¦");
        let reason: String = reason.chars().take(300).collect();
        found.insert(case.id.clone(), (word.to_string(), reason));
    }
    let list = folder().join("FACTS.md");
    if env::var_os("FACTS").is_some_and(|word| word == "write") {
        // Tests of other files write to the same list.
        static WRITING: Mutex<()> = Mutex::new(());
        let guard = WRITING.lock();
        let mut sections = sections(&fs::read_to_string(&list).unwrap_or_default());
        sections.insert(file.to_string(), (cases.len(), found));
        fs::write(&list, render(&sections)).unwrap();
        drop(guard);
        return;
    }
    let known = sections(&fs::read_to_string(&list).unwrap()).remove(file).unwrap_or_default().1;
    let worse: Vec<String> = found
        .iter()
        .filter(|(id, (word, _))| known.get(*id).is_none_or(|(known, _)| known != word))
        .map(|(id, (word, reason))| format!("{id} is {word}: {reason}"))
        .collect();
    assert!(worse.is_empty(), "{file}: not listed so in FACTS.md:\n{}", worse.join("\n"));
    for id in known.keys().filter(|id| !found.contains_key(*id)) {
        println!("{id} holds now: `make facts` takes it off the list");
    }
}

/// The list, read back: file to (rows, what does not hold).
fn sections(list: &str) -> BTreeMap<String, (usize, Listed)> {
    let mut sections: BTreeMap<String, (usize, Listed)> = BTreeMap::new();
    let mut file = None;
    for line in list.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            file = Some(name.to_string());
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match (&file, &cells[..]) {
            (None, [name, rows, ..]) => {
                if let Ok(rows) = rows.parse() {
                    sections.entry(name.to_string()).or_default().0 = rows;
                }
            }
            (Some(file), [id, word, reason]) if [CONTRADICTED, NOT_SIMULATED, NOT_TRIED].contains(word) => {
                let listed = &mut sections.entry(file.clone()).or_default().1;
                listed.insert(id.to_string(), (word.to_string(), reason.to_string()));
            }
            _ => {}
        }
    }
    sections
}

fn render(sections: &BTreeMap<String, (usize, Listed)>) -> String {
    let mut text = String::from(
        "# What became of the facts\n\n\
         Each row of `facts/` is tried by `cargo test --test facts`. A row holds, or is listed here with the reason: it\n\
         speaks of something that is not simulated or that no test can see, the code contradicts it, or nothing tries it\n\
         yet. `make facts` writes this file.\n\n\
         | file | rows | hold | not simulated | contradicted | not tried |\n|---|---|---|---|---|---|\n",
    );
    for (file, (rows, listed)) in sections {
        let count = |word: &str| listed.values().filter(|(listed, _)| listed == word).count();
        let _ = writeln!(
            text,
            "| {file} | {rows} | {} | {} | {} | {} |",
            rows - listed.len(),
            count(NOT_SIMULATED),
            count(CONTRADICTED),
            count(NOT_TRIED)
        );
    }
    for (file, (_, listed)) in sections {
        if listed.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n## {file}\n\n| row | is | because |\n|---|---|---|");
        for (id, (word, reason)) in listed {
            let _ = writeln!(text, "| {id} | {word} | {reason} |");
        }
    }
    text
}
