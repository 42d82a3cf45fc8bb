//! What the editor offers while a manifest is typed: fields and values by the schema, and what a field holds.
//!
//! A text that is being typed can seldom be parsed, so the place of the caret is read off the indentation. Flow style
//! (`{a: b}`) gets no help.

use crate::api::schema::{Field, Presence, Shape, Type, root_of, roots};
use crate::i18n::Catalogue;

/// One offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What is shown and what is looked for.
    pub label: String,
    /// What it is, in a word.
    pub detail: String,
    /// What is put in.
    pub insert: String,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The field with its path.
    pub title: String,
    /// What it is for, where that is known; its type, whether it is required, its default; its choices. A line each.
    pub text: String,
}

/// Where the caret stands: the record, the fields written beside it, and the field whose value is being typed.
struct Place {
    record: &'static Type,
    beside: Vec<String>,
    value_of: Option<&'static Field>,
}

/// What may stand at a line and column, both counted from 1.
pub fn offers_at(text: &str, line: usize, column: usize) -> Vec<Offer> {
    let lines = document_around(text, line);
    let here = lines.here.chars().take(column.saturating_sub(1)).collect::<String>();
    let written = here.trim_start_matches(['-', ' ']);
    let (key, is_value) = match written.split_once(':') {
        Some((key, _)) => (key.trim(), true),
        None => (written, false),
    };
    if indent_of(&lines.here) == 0 && is_value {
        let words: Vec<String> = match key {
            "apiVersion" => roots().iter().map(|root| joined_version(root.group, root.version)).collect(),
            "kind" => roots().iter().map(|root| root.kind.to_string()).collect(),
            _ => Vec::new(),
        };
        if !words.is_empty() {
            return words_as_offers(words);
        }
    }
    let Some(place) = place_of(&lines, key, is_value) else {
        return Vec::new();
    };
    match place.value_of {
        Some(field) => words_as_offers(values_of(field)),
        None if is_value => Vec::new(),
        None => fields_as_offers(&place),
    }
}

/// What the field on a line is for and what it holds.
pub fn explanation_at(text: &str, line: usize, words: &Catalogue) -> Option<Explanation> {
    let lines = document_around(text, line);
    let key = lines.here.trim_start_matches(['-', ' ']).split_once(':')?.0.trim().to_string();
    let record = record_of(&lines)?;
    let field = record.field(&key)?;
    let mut parts = vec![field.shape.explained_name()];
    if field.required {
        parts.push("required".to_string());
    }
    // The schema gives zeros as defaults also to what must be written.
    if let Some(default) = field.default.filter(|default| !matches!(*default, "0" | "\"\"" | "{}")) {
        parts.push(["default ", default].concat());
    }
    let mut lines = vec![parts.join(" · ")];
    if !field.choices.is_empty() {
        lines.push(["enum: ", &field.choices.join(" | ")].concat());
    }
    let about = words.about_field(record.short_name(), &key);
    if !about.is_empty() {
        lines.insert(0, about.to_string());
    }
    Some(Explanation { title: [record.short_name(), ".", &key].concat(), text: lines.join("\n") })
}

/// The lines of the document that holds a line, up to it.
struct Lines {
    above: Vec<String>,
    here: String,
    all: Vec<String>,
}

fn document_around(text: &str, line: usize) -> Lines {
    let lines: Vec<&str> = text.lines().collect();
    let at = line.saturating_sub(1).min(lines.len());
    let is_edge = |line: &&str| line.starts_with("---");
    let from = lines[..at].iter().rposition(is_edge).map_or(0, |edge| edge + 1);
    let to = lines[at..].iter().position(is_edge).map_or(lines.len(), |edge| at + edge);
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_string()).collect::<Vec<_>>();
    Lines {
        above: owned(&lines[from..at]),
        here: lines.get(at).copied().unwrap_or_default().to_string(),
        all: owned(&lines[from..to.max(from)]),
    }
}

/// How far a line's key is indented; a list's dash counts as indentation.
fn indent_of(line: &str) -> usize {
    line.chars().take_while(|letter| matches!(letter, ' ' | '-')).count()
}

fn key_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(['-', ' ']);
    let (key, _) = line.split_once(':')?;
    (!key.starts_with('#') && !key.contains(['{', '"', ' '])).then_some(key)
}

/// The keys that lead to a line, outermost first.
fn path_to(lines: &Lines) -> Vec<String> {
    let mut indent = indent_of(&lines.here);
    // A dash of its own begins an item below a key that may stand at the same column.
    let mut is_item = lines.here.trim_start().starts_with('-');
    let mut dash = lines.here.find('-').unwrap_or(0);
    let mut path = Vec::new();
    for line in lines.above.iter().rev() {
        let Some(key) = key_of(line) else { continue };
        let at = indent_of(line);
        let starts_item = line.trim_start().starts_with('-');
        let is_parent = if is_item { at <= dash && !starts_item || at < dash } else { at < indent };
        if is_parent {
            path.push(key.to_string());
            indent = at;
            is_item = starts_item;
            dash = line.find('-').unwrap_or(0);
        } else if starts_item && at == indent && !is_item {
            // The first line of the item that the caret is in.
            is_item = true;
            dash = line.find('-').unwrap_or(0);
        }
    }
    path.reverse();
    path
}

/// The record whose field a line is.
fn record_of(lines: &Lines) -> Option<&'static Type> {
    let value = |name: &str| {
        let line =
            lines.all.iter().find(|line| line.starts_with(name) && line[name.len()..].starts_with(':'))?;
        Some(line[name.len() + 1..].trim().trim_matches(['"', '\'']).to_string())
    };
    let mut record = root_of(&value("apiVersion")?, &value("kind")?)?;
    for key in path_to(lines) {
        record = record.field(&key)?.shape.record()?;
    }
    Some(record)
}

fn place_of(lines: &Lines, key: &str, is_value: bool) -> Option<Place> {
    let record = record_of(lines)?;
    let indent = indent_of(&lines.here);
    // Fields written at the same depth right around the caret.
    let near = |lines: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        lines
            .take_while(|line| line.trim().is_empty() || indent_of(line) >= indent)
            .filter(|line| indent_of(line) == indent)
            .filter_map(|line| key_of(line).map(str::to_string))
            .collect()
    };
    let mut beside = near(&mut lines.above.iter().rev());
    beside.extend(near(&mut lines.all.iter().skip(lines.above.len() + 1)));
    let value_of = if is_value { record.field(key) } else { None };
    Some(Place { record, beside, value_of })
}

fn fields_as_offers(place: &Place) -> Vec<Offer> {
    let fields =
        place.record.fields.iter().filter(|field| !place.beside.iter().any(|name| name == field.name));
    fields
        .map(|field| Offer {
            label: field.name.to_string(),
            detail: match field.required {
                true => [&field.shape.explained_name(), " · required"].concat(),
                false => field.shape.explained_name(),
            },
            insert: match &field.shape {
                Shape::Record(_) | Shape::List(_) | Shape::Map(_) => [field.name, ":"].concat(),
                _ => [field.name, ": "].concat(),
            },
        })
        .collect()
}

fn values_of(field: &Field) -> Vec<String> {
    if !field.choices.is_empty() {
        return field.choices.iter().map(|choice| (*choice).to_string()).collect();
    }
    match field.shape {
        Shape::Boolean if field.presence != Presence::AlwaysNull => {
            vec!["true".to_string(), "false".to_string()]
        }
        _ => field.default.map(|default| default.trim_matches('"').to_string()).into_iter().collect(),
    }
}

fn joined_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_string() } else { [group, "/", version].concat() }
}

fn words_as_offers(mut words: Vec<String>) -> Vec<Offer> {
    words.sort();
    words.dedup();
    words.into_iter().map(|word| Offer { insert: word.clone(), label: word, detail: String::new() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::types;
    use crate::app::session::FIRST_MANIFEST;
    use crate::i18n::{Language, catalogue};

    /// The labels offered where `|` stands.
    fn labels(text: &str) -> Vec<String> {
        let at = text.find('|').expect("a caret");
        let line = text[..at].matches('\n').count() + 1;
        let column = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
        offers_at(&text.replace('|', ""), line, column).into_iter().map(|offer| offer.label).collect()
    }

    #[test]
    fn fields_are_offered_by_the_schema_and_those_that_stand_already_are_not() {
        let head = "apiVersion: apps/v1\nkind: Deployment\nspec:\n";
        for (below, has, lacks) in [
            ("  replicas: 3\n  |\n", "selector", "replicas"),
            ("  template:\n    spec:\n      containers:\n      - name: a\n        |\n", "image", "name"),
            ("  template:\n    spec:\n      containers:\n      - |\n", "image", "replicas"),
            (
                "  template:\n    spec:\n      containers:\n      - name: a\n      re|\n",
                "restartPolicy",
                "image",
            ),
            (
                "  template:\n    spec:\n      containers:\n        - name: a\n          ports:\n          - |\n",
                "containerPort",
                "image",
            ),
        ] {
            let offered = labels(&[head, below].concat());
            assert!(offered.iter().any(|label| label == has), "{below}: {offered:?}");
            assert!(!offered.iter().any(|label| label == lacks), "{below}: {offered:?}");
        }
    }

    #[test]
    fn kinds_and_words_are_offered_as_values() {
        assert!(labels("apiVersion: v1\nkind: Po|\n").contains(&"Pod".to_string()));
        let offered = labels("apiVersion: apps/v1\nkind: Deployment\nspec:\n  paused: |\n");
        assert_eq!(offered, ["false", "true"]);
        assert_eq!(labels("nothing: known\nhere|"), Vec::<String>::new());
    }

    #[test]
    fn a_field_is_explained_where_it_stands() {
        let line =
            FIRST_MANIFEST.lines().position(|line| line.contains("containerPort")).expect("it is there") + 1;
        for (language, about) in [(Language::En, "The port's number"), (Language::Ko, "포트 번호")] {
            let explained = explanation_at(FIRST_MANIFEST, line, catalogue(language)).expect("a known field");
            assert_eq!(explained.title, "ContainerPort.containerPort");
            assert_eq!(explained.text, [about, "\ninteger · required"].concat());
        }
        let text = "apiVersion: v1\nkind: Pod\nspec:\n  restartPolicy: Always\n";
        let explained = explanation_at(text, 4, catalogue(Language::En)).expect("a known field");
        assert!(explained.text.ends_with("enum: Always | Never | OnFailure"), "{}", explained.text);
    }

    #[test]
    fn every_field_that_something_is_said_of_exists() {
        let words = include_str!("../i18n/en/fields.txt");
        let keys = words.lines().filter_map(|line| line.strip_prefix("field.")?.split_once(" = "));
        let lost: Vec<&str> = keys
            .map(|(key, _)| key)
            .filter(|key| {
                let (record, field) = key.split_once('.').expect("record and field");
                let has = |kind: &Type| {
                    (record == "any" || kind.short_name() == record) && kind.field(field).is_some()
                };
                !types().any(has)
            })
            .collect();
        assert_eq!(lost, Vec::<&str>::new());
    }
}
