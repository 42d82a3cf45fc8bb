//! Labels and what selects by them: label selectors, as an object holds them and as `-l` spells them, and field
//! selectors.
//!
//! Models: `k8s.io/apimachinery/pkg/labels/selector.go`, `pkg/apis/meta/v1/helpers.go`, `pkg/fields/selector.go`
//! (v1.36).
//! Leaves out: nothing.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::names;

/// The labels of an object: key to value.
pub type Labels = BTreeMap<String, String>;

/// The labels found at a JSON value; anything that is not a map of texts yields none.
pub fn labels_of(value: &Value) -> Labels {
    let Some(map) = value.as_object() else { return Labels::new() };
    map.iter().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_string()))).collect()
}

/// How one requirement compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// `key in (a,b)`
    In,
    /// `key notin (a,b)`
    NotIn,
    /// `key=value`
    Equals,
    /// `key==value`
    DoubleEquals,
    /// `key!=value`
    NotEquals,
    /// `key`
    Exists,
    /// `!key`
    DoesNotExist,
    /// `key>1`
    GreaterThan,
    /// `key<1`
    LessThan,
}

/// One condition on labels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// The label asked about.
    pub key: String,
    /// The comparison.
    pub operator: Operator,
    /// What it is compared with, sorted.
    pub values: Vec<String>,
}

impl Requirement {
    fn new(key: String, operator: Operator, mut values: Vec<String>) -> Result<Self, String> {
        values.sort();
        values.dedup();
        let mut complaints = Vec::new();
        let go_list = || {
            let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            format!("[{}]", quoted.join(","))
        };
        let key_complaints = names::qualified_name(&key);
        if !key_complaints.is_empty() {
            complaints.push(format!("key: Invalid value: {key:?}: {}", key_complaints.join("; ")));
        }
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => complaints.push(format!(
                "values: Invalid value: {}: for 'in', 'notin' operators, values set can't be empty",
                go_list()
            )),
            Operator::GreaterThan | Operator::LessThan => {
                for (index, value) in values.iter().enumerate() {
                    if value.parse::<i64>().is_err() {
                        complaints.push(format!(
                            "values[{index}]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
                        ));
                    }
                }
            }
            _ => {}
        }
        for (index, value) in values.iter().enumerate() {
            let value_complaints = names::label_value(value);
            if !value_complaints.is_empty() {
                let text = value_complaints.join("; ");
                complaints.push(format!("values[{index}][{key}]: Invalid value: {value:?}: {text}"));
            }
        }
        match complaints.len() {
            0 => Ok(Self { key, operator, values }),
            1 => Err(complaints.swap_remove(0)),
            _ => Err(format!("[{}]", complaints.join(", "))),
        }
    }

    /// Whether `labels` meet the condition.
    pub fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        let listed = |value: &String| self.values.iter().any(|candidate| candidate == value);
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => value.is_some_and(listed),
            Operator::NotIn | Operator::NotEquals => !value.is_some_and(listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan | Operator::LessThan => {
                let number = |text: &String| text.parse::<i64>().ok();
                match (value.and_then(number), self.values.first().and_then(number)) {
                    (Some(value), Some(bound)) if self.operator == Operator::GreaterThan => value > bound,
                    (Some(value), Some(bound)) => value < bound,
                    _ => false,
                }
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

/// All conditions together, sorted by key; no condition at all selects everything, unless the selector is `nothing`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Selector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

impl Selector {
    /// Selects everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Selects nothing: what an absent selector means.
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Selects what has all of these labels.
    pub fn from_labels(labels: &Labels) -> Self {
        let requirements = labels
            .iter()
            .map(|(key, value)| Requirement {
                key: key.clone(),
                operator: Operator::Equals,
                values: vec![value.clone()],
            })
            .collect();
        Self { requirements, nothing: false }
    }

    /// Reads an object's `selector` with `matchLabels` and `matchExpressions`.
    ///
    /// A missing selector (null) selects nothing, an empty one everything; expressions with an unknown operator, which
    /// validation refuses, select nothing.
    pub fn from_label_selector(value: &Value) -> Self {
        let Some(map) = value.as_object() else { return Self::nothing() };
        let mut selector = Self::from_labels(&labels_of(map.get("matchLabels").unwrap_or(&Value::Null)));
        for expression in map.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
            let key = expression["key"].as_str().unwrap_or_default().to_string();
            let operator = match expression["operator"].as_str() {
                Some("In") => Operator::In,
                Some("NotIn") => Operator::NotIn,
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => return Self::nothing(),
            };
            let values = expression["values"].as_array().into_iter().flatten();
            let mut values: Vec<String> =
                values.filter_map(|value| Some(value.as_str()?.to_string())).collect();
            values.sort();
            values.dedup();
            selector.requirements.push(Requirement { key, operator, values });
        }
        selector.requirements.sort_by(|left, right| left.key.cmp(&right.key));
        selector
    }

    /// Reads a selector as `-l` spells it: `app=web,tier in (a,b),!legacy`.
    ///
    /// # Errors
    /// In kubectl's own words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Parser::new(text).requirements()?;
        requirements.sort_by(|left, right| left.key.cmp(&right.key));
        Ok(Self { requirements, nothing: false })
    }

    /// Whether `labels` meet all conditions.
    pub fn matches(&self, labels: &Labels) -> bool {
        !self.nothing && self.requirements.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether it selects everything for want of conditions.
    pub fn is_everything(&self) -> bool {
        !self.nothing && self.requirements.is_empty()
    }

    /// The conditions, sorted by key.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }
}

/// The form `kubectl describe` and `get -o wide` print.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    End,
    Error,
    Comma,
    Open,
    Close,
    Not,
    Word,
    Operator(Operator),
}

/// A recursive-descent reader over the tokens of a textual selector.
struct Parser {
    tokens: Vec<(Token, String)>,
    position: usize,
}

fn is_special(byte: u8) -> bool {
    b"=!(),><".contains(&byte)
}

fn symbol(text: &str) -> Option<Token> {
    Some(match text {
        ")" => Token::Close,
        "," => Token::Comma,
        "!" => Token::Not,
        "==" => Token::Operator(Operator::DoubleEquals),
        "=" => Token::Operator(Operator::Equals),
        ">" => Token::Operator(Operator::GreaterThan),
        "<" => Token::Operator(Operator::LessThan),
        "!=" => Token::Operator(Operator::NotEquals),
        "(" => Token::Open,
        _ => return None,
    })
}

fn tokens(text: &str) -> Vec<(Token, String)> {
    let bytes = text.as_bytes();
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if is_space(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        if is_special(bytes[at]) {
            // The longest known symbol wins.
            let mut end = at + 1;
            while end < bytes.len() && is_special(bytes[end]) && symbol(&text[start..=end]).is_some() {
                end += 1;
            }
            at = end;
            found.push((symbol(&text[start..end]).unwrap_or(Token::Error), text[start..end].to_string()));
            continue;
        }
        while at < bytes.len() && !is_special(bytes[at]) && !is_space(bytes[at]) {
            at += 1;
        }
        let word = &text[start..at];
        let token = match word {
            "in" => Token::Operator(Operator::In),
            "notin" => Token::Operator(Operator::NotIn),
            _ => Token::Word,
        };
        found.push((token, word.to_string()));
    }
    found
}

impl Parser {
    fn new(text: &str) -> Self {
        Self { tokens: tokens(text), position: 0 }
    }

    /// The next token where values stand: there `in` and `notin` are plain words.
    fn peek(&self) -> (Token, String) {
        match self.tokens.get(self.position) {
            None => (Token::End, String::new()),
            Some((Token::Operator(Operator::In | Operator::NotIn), text)) => (Token::Word, text.clone()),
            Some(found) => found.clone(),
        }
    }

    fn next(&mut self) -> (Token, String) {
        let found = self.peek();
        self.position += 1;
        found
    }

    fn requirements(&mut self) -> Result<Vec<Requirement>, String> {
        let mut found = Vec::new();
        loop {
            let (token, text) = self.peek();
            match token {
                Token::Word | Token::Not => {
                    let requirement = self
                        .requirement()
                        .map_err(|error| format!("unable to parse requirement: {error}"))?;
                    found.push(requirement);
                    match self.next() {
                        (Token::End, _) => return Ok(found),
                        (Token::Comma, _) => {
                            let (token, text) = self.peek();
                            if token != Token::Word && token != Token::Not {
                                return Err(format!("found '{text}', expected: identifier after ','"));
                            }
                        }
                        (_, text) => return Err(format!("found '{text}', expected: ',' or 'end of string'")),
                    }
                }
                Token::End => return Ok(found),
                _ => return Err(format!("found '{text}', expected: !, identifier, or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let (mut token, mut key) = self.next();
        let negated = token == Token::Not;
        if negated {
            (token, key) = self.next();
        }
        if token != Token::Word {
            return Err(format!("found '{key}', expected: identifier"));
        }
        let complaints = names::qualified_name(&key);
        if !complaints.is_empty() {
            return Err(format!("<nil>: Invalid value: {key:?}: {}", complaints.join("; ")));
        }
        if negated {
            return Requirement::new(key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Requirement::new(key, Operator::Exists, Vec::new());
        }
        let found = self.tokens.get(self.position).cloned();
        self.position += 1;
        let operator = match found {
            Some((Token::Operator(operator), _)) => operator,
            found => {
                let text = found.map(|(_, text)| text).unwrap_or_default();
                return Err(format!("found '{text}', expected: in, notin, =, ==, !=, gt, lt"));
            }
        };
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.exact_value()?],
        };
        Requirement::new(key, operator, values)
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let (token, text) = self.next();
        if token != Token::Open {
            return Err(format!("found '{text}' expected: '('"));
        }
        let (token, text) = self.peek();
        match token {
            Token::Word | Token::Comma => {
                let values = self.word_list()?;
                if self.next().0 != Token::Close {
                    return Err(format!("found '{text}', expected: ')'"));
                }
                Ok(values)
            }
            Token::Close => {
                self.position += 1;
                Ok(Vec::new())
            }
            _ => Err(format!("found '{text}', expected: ',', ')' or identifier")),
        }
    }

    fn word_list(&mut self) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        loop {
            let (token, text) = self.next();
            match token {
                Token::Word => {
                    values.push(text);
                    match self.peek() {
                        (Token::Comma, _) => {}
                        (Token::Close, _) => return Ok(values),
                        (_, text) => return Err(format!("found '{text}', expected: ',' or ')'")),
                    }
                }
                Token::Comma => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek().0 {
                        Token::Close => {
                            values.push(String::new());
                            return Ok(values);
                        }
                        Token::Comma => {
                            self.position += 1;
                            values.push(String::new());
                        }
                        _ => {}
                    }
                }
                _ => return Err(format!("found '{text}', expected: ',', or identifier")),
            }
        }
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek().0, Token::End | Token::Comma) {
            return Ok(String::new());
        }
        match self.next() {
            (Token::Word, text) => Ok(text),
            (_, text) => Err(format!("found '{text}', expected: identifier")),
        }
    }
}

/// A field selector: `metadata.name=web,status.phase!=Running`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSelector {
    /// Field, whether it must be equal (or must differ), and the value.
    pub terms: Vec<(String, bool, String)>,
}

impl FieldSelector {
    /// Reads a field selector as `--field-selector` spells it.
    ///
    /// # Errors
    /// In kubectl's own words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for part in split_terms(text) {
            if part.is_empty() {
                continue;
            }
            let invalid = || format!("invalid selector: '{text}'; can't understand '{part}'");
            let (at, operator) = part
                .char_indices()
                .find_map(|(at, _)| {
                    ["!=", "==", "="]
                        .into_iter()
                        .find(|operator| part[at..].starts_with(operator))
                        .map(|op| (at, op))
                })
                .ok_or_else(invalid)?;
            let value = unescape(&part[at + operator.len()..])?;
            terms.push((part[..at].to_string(), operator != "!=", value));
        }
        Ok(Self { terms })
    }

    /// Whether an object matches whose fields `field` looks up (an unknown field is empty).
    pub fn matches(&self, field: impl Fn(&str) -> String) -> bool {
        self.terms.iter().all(|(name, equal, value)| (field(name) == *value) == *equal)
    }
}

/// Splits at commas that no backslash escapes.
fn split_terms(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unescape(text: &str) -> Result<String, String> {
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(next @ ('\\' | ',' | '=')) => value.push(next),
                Some(next) => {
                    return Err(format!("invalid field selector: invalid escape sequence: \\{next}"));
                }
                None => return Err("invalid field selector: invalid escape sequence: \\".to_string()),
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {character}"));
            }
            _ => value.push(character),
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
    }

    #[test]
    fn textual_selectors_select() {
        let web = labels(&[("app", "web"), ("tier", "front"), ("size", "3")]);
        let table = [
            ("the empty selector selects everything", "", true),
            ("equality", "app=web", true),
            ("double equality", "app==web", true),
            ("inequality holds where the label is missing", "zone!=a", true),
            ("one of a set", "tier in (front, back)", true),
            ("none of a set", "tier notin (front,back)", false),
            ("existence", "app", true),
            ("absence", "!legacy,app", true),
            ("greater than", "size>2", true),
            ("less than", "size<3", false),
            ("all must hold", "app=web,tier=back", false),
            ("an empty value is a value", "app=", false),
            ("spaces do not matter", " app = web , tier ", true),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(Selector::parse(text).unwrap().matches(&web), expected, "{sentence}");
        }
    }

    #[test]
    fn bad_selectors_are_refused_in_kubectls_words() {
        let table = [
            ("a dangling comma", "a,", "found '', expected: identifier after ','"),
            ("a stray parenthesis", "(a)", "found '(', expected: !, identifier, or 'end of string'"),
            (
                "two words",
                "a b",
                "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
            ),
            ("a set without parentheses", "a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("two values", "a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a doubled sign", "a===b", "unable to parse requirement: found '=', expected: identifier"),
            (
                "an empty set",
                "a in ()",
                "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
            ),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(Selector::parse(text).unwrap_err(), expected, "{sentence}");
        }
    }

    #[test]
    fn object_selectors_select() {
        let selector = Selector::from_label_selector(&json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["db", "cache"]}],
        }));
        assert!(selector.matches(&labels(&[("app", "web")])));
        assert!(!selector.matches(&labels(&[("app", "web"), ("tier", "db")])));
        assert_eq!(selector.to_string(), "app=web,tier notin (cache,db)");
        assert!(!Selector::from_label_selector(&Value::Null).matches(&Labels::new()));
        assert!(Selector::from_label_selector(&json!({})).matches(&Labels::new()));
    }

    #[test]
    fn field_selectors_select() {
        let selector = FieldSelector::parse("metadata.name=web,status.phase!=Running").unwrap();
        let pod = |field: &str| if field == "metadata.name" { "web" } else { "Pending" }.to_string();
        assert!(selector.matches(pod));
        assert_eq!(
            FieldSelector::parse("status").unwrap_err(),
            "invalid selector: 'status'; can't understand 'status'"
        );
    }
}
