//! Reads one YAML document into a value with positions.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};

use super::places::{Inside, Place, Places};
use super::scalar::{self, Plain};
use super::{Duplicate, MAX_ALIASED_NODES, MAX_ANCHORED_NODES, MAX_DEPTH, ManifestError, clamp, mistake};

/// What the scanner says of more brackets in brackets than it can count.
const SCANNER_TOO_DEEP: &str = "recursion limit exceeded";

/// What reading a document gives.
pub type Read = (Value, Places, Vec<Duplicate>);

/// Why a document could not be read.
#[derive(Debug)]
pub enum Stop {
    /// It goes beyond what is read of any document; what comes after is unknown.
    Limit(ManifestError),
    /// It is no YAML; what comes after is unknown.
    Syntax(ManifestError),
    /// It is YAML up to its end, but means nothing that JSON could say.
    Meaning(ManifestError),
}

/// Reads the first document of `text`, whose first line is line `first_line` of the whole.
pub fn read(text: &str, first_line: u32) -> Result<Read, Stop> {
    Builder::new(first_line).build(text)
}

/// A node that is complete.
struct Node {
    value: Value,
    places: Places,
    nodes: usize,
    merge: bool,
}

/// A list or map that is still open.
struct Open {
    anchor: usize,
    at: Place,
    nodes: usize,
    content: Content,
}

enum Content {
    List(Vec<Value>, Vec<Places>),
    Map { values: Map<String, Value>, places: Vec<(String, Places)>, key: Option<Key>, is_merged: bool },
}

/// The key that waits for its value.
enum Key {
    Name(String, Place),
    Merge,
}

struct Builder {
    first_line: u32,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Value, usize)>,
    aliased_nodes: usize,
    anchored_nodes: usize,
    duplicates: Vec<Duplicate>,
    done: Option<Node>,
}

impl Builder {
    fn new(first_line: u32) -> Self {
        Self {
            first_line,
            open: Vec::new(),
            anchors: BTreeMap::new(),
            aliased_nodes: 0,
            anchored_nodes: 0,
            duplicates: Vec::new(),
            done: None,
        }
    }

    fn build(mut self, text: &str) -> Result<Read, Stop> {
        let mut wrong = None;
        // How deep the events are once something is wrong and nothing more is built.
        let mut depth = 0;
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| {
                let line = (self.first_line - 1).saturating_add(clamp(error.marker().line()));
                let at = Place { line, column: clamp(error.marker().col() + 1) };
                if error.info() == SCANNER_TOO_DEEP {
                    return Stop::Limit(self.too_deep(at));
                }
                let message = format!("line {}: {}", error.marker().line(), error.info());
                Stop::Syntax(mistake(&message, line, at.column))
            })?;
            let at = Place {
                line: (self.first_line - 1).saturating_add(clamp(span.start.line())),
                column: clamp(span.start.col() + 1),
            };
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    if depth >= MAX_DEPTH {
                        return Err(Stop::Limit(self.too_deep(at)));
                    }
                    depth += 1;
                }
                Event::SequenceEnd | Event::MappingEnd => depth -= 1,
                Event::DocumentEnd => break,
                _ => {}
            }
            if wrong.is_some() {
                continue;
            }
            let taken = self.take(event, text, &span, at);
            if self.is_excessive() {
                let error = mistake("document contains excessive aliasing", at.line, at.column);
                return Err(Stop::Limit(error));
            }
            wrong = taken.err();
        }
        if let Some(error) = wrong {
            return Err(Stop::Meaning(error));
        }
        let node = self.done.unwrap_or_else(|| leaf(Value::Null, Place::default(), 1, false));
        Ok((node.value, node.places, self.duplicates))
    }

    /// Takes what one event brings.
    fn take(
        &mut self,
        event: Event<'_>,
        text: &str,
        span: &saphyr_parser::Span,
        at: Place,
    ) -> Result<(), ManifestError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let (value, merge) = read_scalar(text, style, tag.as_deref(), at)?;
                self.count(anchor, 1);
                self.anchor(anchor, &value, 1);
                self.add(leaf(value, at, 1, merge), at)
            }
            Event::Alias(anchor) => {
                // What it would add is counted before it is copied.
                let nodes = self.anchors.get(&anchor).map_or(0, |(_, nodes)| *nodes);
                self.aliased_nodes = self.aliased_nodes.saturating_add(nodes);
                self.count(0, nodes);
                if self.is_excessive() {
                    return Ok(());
                }
                let Some((value, nodes)) = self.anchors.get(&anchor).cloned() else {
                    let name = name_at(text, span);
                    let message = format!("anchor '{name}' value contains itself");
                    return Err(mistake(&message, at.line, at.column));
                };
                self.add(leaf(value, at, nodes, false), at)
            }
            Event::SequenceStart(anchor, _) => {
                self.begin(anchor, at, Content::List(Vec::new(), Vec::new()));
                Ok(())
            }
            Event::MappingStart(anchor, _) => {
                let content =
                    Content::Map { values: Map::new(), places: Vec::new(), key: None, is_merged: false };
                self.begin(anchor, at, content);
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::DocumentEnd
            | Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_) => Ok(()),
        }
    }

    fn anchor(&mut self, anchor: usize, value: &Value, nodes: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), nodes));
        }
    }

    /// Counts nodes as often as anchors that they stand in will copy them.
    fn count(&mut self, anchor: usize, nodes: usize) {
        let around = self.open.iter().filter(|open| open.anchor > 0).count() + usize::from(anchor > 0);
        self.anchored_nodes = self.anchored_nodes.saturating_add(nodes.saturating_mul(around));
    }

    /// Whether anchors and aliases ask for more copies than are made.
    fn is_excessive(&self) -> bool {
        self.aliased_nodes > MAX_ALIASED_NODES || self.anchored_nodes > MAX_ANCHORED_NODES
    }

    fn begin(&mut self, anchor: usize, at: Place, content: Content) {
        self.count(anchor, 1);
        self.open.push(Open { anchor, at, nodes: 1, content });
    }

    fn too_deep(&self, at: Place) -> ManifestError {
        let line = at.line - (self.first_line - 1);
        mistake(&format!("line {line}: exceeded max depth of {MAX_DEPTH}"), at.line, at.column)
    }

    fn end(&mut self) -> Result<(), ManifestError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let (value, inside) = match open.content {
            Content::List(values, places) => (Value::Array(values), Inside::Items(places)),
            Content::Map { values, places, .. } => (Value::Object(values), Inside::Members(places)),
        };
        self.anchor(open.anchor, &value, open.nodes);
        let places = Places { at: open.at, value_at: open.at, inside };
        self.add(Node { value, places, nodes: open.nodes, merge: false }, open.at)
    }

    fn path(&self, last: &str) -> String {
        let mut path = String::new();
        for open in &self.open {
            match &open.content {
                Content::List(values, _) => path.push_str(&format!("[{}]", values.len())),
                Content::Map { key: Some(Key::Name(name, _)), .. } => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(name);
                }
                Content::Map { .. } => {}
            }
        }
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(last);
        path
    }

    /// Puts a complete node where it belongs.
    fn add(&mut self, mut node: Node, at: Place) -> Result<(), ManifestError> {
        let Some(open) = self.open.last_mut() else {
            self.done = Some(node);
            return Ok(());
        };
        open.nodes = open.nodes.saturating_add(node.nodes);
        match &mut open.content {
            Content::List(values, places) => {
                values.push(node.value);
                places.push(node.places);
            }
            Content::Map { values, places, key, is_merged } => match key.take() {
                None if node.merge => *key = Some(Key::Merge),
                None => {
                    let name = key_text(&node.value)
                        .map_err(|shown| mistake(&format!("invalid map key: {shown}"), at.line, at.column))?;
                    // What was merged in may be said again; nobody looks through a thousand keys for each.
                    let is_duplicate = values.contains_key(&name)
                        && (!*is_merged
                            || (places.len() < 1000 && places.iter().any(|(key, _)| *key == name)));
                    if is_duplicate && self.duplicates.len() < 100 {
                        let duplicate = Duplicate { path: self.path(&name), at };
                        self.duplicates.push(duplicate);
                    }
                    if let Some(Open { content: Content::Map { key, .. }, .. }) = self.open.last_mut() {
                        *key = Some(Key::Name(name, at));
                    }
                }
                Some(Key::Name(name, key_at)) => {
                    node.places.at = key_at;
                    places.push((name.clone(), node.places));
                    values.insert(name, node.value);
                }
                Some(Key::Merge) => {
                    *is_merged = true;
                    merge(values, node.value).map_err(|message| mistake(message, at.line, at.column))?
                }
            },
        }
        Ok(())
    }
}

fn leaf(value: Value, at: Place, nodes: usize, merge: bool) -> Node {
    Node { value, places: Places { at, value_at: at, inside: Inside::Nothing }, nodes, merge }
}

/// The anchor's name at an alias.
fn name_at(text: &str, span: &saphyr_parser::Span) -> String {
    text.chars()
        .skip(span.start.index())
        .skip_while(|c| *c == '*')
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-')
        .collect()
}

/// What `<<` takes over.
fn merge(values: &mut Map<String, Value>, from: Value) -> Result<(), &'static str> {
    const REFUSAL: &str = "map merge requires map or sequence of maps as the value";
    match from {
        Value::Object(map) => values.extend(map),
        Value::Array(maps) => {
            // Earlier maps take precedence, so they come last.
            for map in maps.into_iter().rev() {
                let Value::Object(map) = map else { return Err(REFUSAL) };
                values.extend(map);
            }
        }
        _ => return Err(REFUSAL),
    }
    Ok(())
}

/// A key as a text; a list or map is no key, and is shown as Go shows it.
fn key_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Array(_) | Value::Object(_) => Err(shown(value)),
        other => Ok(other.to_string()),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key:?}:{}", shown(value))).collect();
            format!("map[interface {{}}]interface {{}}{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

/// A scalar's value, and whether it is the merge key.
fn read_scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: Place,
) -> Result<(Value, bool), ManifestError> {
    let tag = match tag {
        Some(tag) if tag.is_yaml_core_schema() => tag.suffix.as_str(),
        Some(_) => "str",
        None if style == ScalarStyle::Plain => "",
        None => "str",
    };
    let wrong =
        |kind: &str| mistake(&format!("cannot decode !!str `{text}` as a !!{kind}"), at.line, at.column);
    Ok(match tag {
        "str" => (Value::String(text.into_owned()), false),
        "binary" => {
            use base64::Engine as _;
            let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let bytes = base64::engine::general_purpose::STANDARD.decode(packed);
            let bytes = bytes
                .map_err(|_| mistake("!!binary value contains invalid base64 data", at.line, at.column))?;
            (Value::String(String::from_utf8_lossy(&bytes).into_owned()), false)
        }
        _ => match (scalar::resolve(&text), tag) {
            (Plain::Null, "" | "null") => (Value::Null, false),
            (Plain::Boolean(value), "" | "bool") => (Value::Bool(value), false),
            (Plain::Number(value), "" | "int" | "float") => (value, false),
            (Plain::Unwritable(name), "" | "float") => {
                let message = format!("json: unsupported value: {name}");
                return Err(ManifestError {
                    message: format!("error converting YAML to JSON: {message}"),
                    at,
                });
            }
            (Plain::Merge, "") => (Value::String("<<".to_string()), true),
            (Plain::Merge | Plain::Timestamp | Plain::Text, "" | "timestamp") => {
                (Value::String(text.into_owned()), false)
            }
            (_, "null" | "bool" | "int" | "float") => return Err(wrong(tag)),
            _ => (Value::String(text.into_owned()), false),
        },
    })
}
