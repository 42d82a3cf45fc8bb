//! `jq`: a filter over JSON, as far as people use it behind `kubectl -o json`.
//!
//! Models: jq 1.7: paths, pipes, `,`, `//`, comparisons, `and`, `or`, `+ - * /`, literals, `[…]`, `{…}`, `"\(…)"`, `if`, and the functions
//! in [`call`]. Leaves out: variables, `def`, `reduce`, assignments, regular expressions, `..`; keys come sorted.

use serde_json::{Map, Value, json};

use super::plain::{base64_decoded, base64_encoded};

/// How deeply filters may be nested.
const MAX_DEPTH: usize = 64;
/// The most values that a filter may come to.
const MAX_VALUES: usize = 100_000;

/// A filter.
#[derive(Clone, Debug, PartialEq)]
enum Filter {
    This,
    Literal(Value),
    /// A text with filters in it.
    Text(Vec<Filter>),
    /// What the first comes to, at what the second comes to; no error with `?`.
    At(Box<Filter>, Box<Filter>, bool),
    Each(Box<Filter>, bool),
    Slice(Box<Filter>, Option<i64>, Option<i64>),
    Pipe(Box<Filter>, Box<Filter>),
    Both(Box<Filter>, Box<Filter>),
    Operate(&'static str, Box<Filter>, Box<Filter>),
    List(Option<Box<Filter>>),
    Object(Vec<(Filter, Filter)>),
    If(Box<Filter>, Box<Filter>, Box<Filter>),
    Call(String, Vec<Filter>),
}

/// Runs a filter over every document of a text. The lines that are printed, and the message of the failure.
pub(super) fn run(
    script: &str,
    options: &dyn Fn(char) -> bool,
    input: &str,
) -> (String, Option<String>, bool) {
    let mut out = String::new();
    let filter = match parse(script) {
        Ok(filter) => filter,
        Err(problem) => return (out, Some(format!("error: {problem}\njq: 1 compile error")), false),
    };
    let mut documents = Vec::new();
    if options('n') {
        documents.push(Value::Null);
    } else {
        for document in serde_json::Deserializer::from_str(input).into_iter::<Value>() {
            match document {
                Ok(document) => documents.push(document),
                Err(why) => return (out, Some(format!("parse error: {why}")), false),
            }
        }
    }
    if options('s') {
        documents = vec![Value::Array(documents)];
    }
    let mut truth = true;
    for document in &documents {
        match filter.of(document, 0) {
            Ok(values) => {
                for value in values {
                    truth = is_true(&value);
                    match &value {
                        Value::String(text) if options('r') || options('j') => out.push_str(text),
                        _ if options('c') => out.push_str(&value.to_string()),
                        _ => pretty(&value, 0, &mut out),
                    }
                    if !options('j') {
                        out.push('\n');
                    }
                }
            }
            Err(why) => return (out, Some(format!("error (at <stdin>:0): {why}")), truth),
        }
    }
    (out, None, truth)
}

/// A value in lines, with two spaces for each level.
fn pretty(value: &Value, level: usize, out: &mut String) {
    let (open, close, count) = match value {
        Value::Array(items) => ('[', ']', items.len()),
        Value::Object(fields) => ('{', '}', fields.len()),
        other => return out.push_str(&other.to_string()),
    };
    out.push(open);
    let inner = "  ".repeat(level + 1);
    let mut line = |index: usize, key: Option<&String>, value: &Value| {
        out.push_str(if index > 0 { ",\n" } else { "\n" });
        out.push_str(&inner);
        if let Some(key) = key {
            out.push_str(&format!("{}: ", json!(key)));
        }
        pretty(value, level + 1, out);
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| line(index, None, item)),
        Value::Object(fields) => {
            fields.iter().enumerate().for_each(|(index, (key, item))| line(index, Some(key), item));
        }
        _ => {}
    }
    if count > 0 {
        out.push('\n');
        out.push_str(&"  ".repeat(level));
    }
    out.push(close);
}

fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value as a text: a string without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn number(number: f64) -> Value {
    let whole = number as i64;
    if whole as f64 == number { json!(whole) } else { json!(number) }
}

/// The order in which jq sorts: null, false, true, numbers, texts, lists, objects.
fn compare(a: &Value, b: &Value) -> std::cmp::Ordering {
    let rank = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Number(_) => 3,
        Value::String(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    };
    let same = match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().unwrap_or(0.0).total_cmp(&b.as_f64().unwrap_or(0.0))
        }
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let differs = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            differs.unwrap_or(a.len().cmp(&b.len()))
        }
        (Value::Object(_), Value::Object(_)) => a.to_string().cmp(&b.to_string()),
        _ => std::cmp::Ordering::Equal,
    };
    rank(a).cmp(&rank(b)).then(same)
}

impl Filter {
    fn of(&self, input: &Value, depth: usize) -> Result<Vec<Value>, String> {
        if depth > MAX_DEPTH {
            return Err("filters are nested too deeply".to_string());
        }
        let depth = depth + 1;
        let one = |value: Value| Ok(vec![value]);
        let out: Result<Vec<Value>, String> = match self {
            Self::This => one(input.clone()),
            Self::Literal(value) => one(value.clone()),
            Self::Text(parts) => {
                let mut text = String::new();
                for part in parts {
                    part.of(input, depth)?.iter().for_each(|value| text.push_str(&plain(value)));
                }
                one(Value::String(text))
            }
            Self::At(base, index, forgives) => {
                let mut out = Vec::new();
                for value in base.of(input, depth)? {
                    for index in index.of(input, depth)? {
                        match at(&value, &index) {
                            Ok(found) => out.push(found),
                            Err(_) if *forgives => {}
                            Err(why) => return Err(why),
                        }
                    }
                }
                Ok(out)
            }
            Self::Each(base, forgives) => {
                let mut out = Vec::new();
                for value in base.of(input, depth)? {
                    match value {
                        Value::Array(items) => out.extend(items),
                        Value::Object(fields) => out.extend(fields.into_iter().map(|(_, value)| value)),
                        _ if *forgives => {}
                        Value::Null => return Err("Cannot iterate over null (null)".to_string()),
                        other => return Err(format!("Cannot iterate over {} ({other})", kind(&other))),
                    }
                }
                Ok(out)
            }
            Self::Slice(base, from, to) => {
                let cut = |length: usize| {
                    let place =
                        |at: i64| if at < 0 { length as i64 + at } else { at }.clamp(0, length as i64);
                    let from = place(from.unwrap_or(0)) as usize;
                    (from, (place(to.unwrap_or(length as i64)) as usize).max(from))
                };
                base.of(input, depth)?
                    .into_iter()
                    .map(|value| match value {
                        Value::Array(items) => {
                            let (from, to) = cut(items.len());
                            Ok(Value::Array(items[from..to].to_vec()))
                        }
                        Value::String(text) => {
                            let letters: Vec<char> = text.chars().collect();
                            let (from, to) = cut(letters.len());
                            Ok(Value::String(letters[from..to].iter().collect()))
                        }
                        Value::Null => Ok(Value::Null),
                        other => Err(format!("Cannot index {} with object", kind(&other))),
                    })
                    .collect()
            }
            Self::Pipe(first, then) => {
                let mut out = Vec::new();
                for value in first.of(input, depth)? {
                    out.extend(then.of(&value, depth)?);
                    if out.len() > MAX_VALUES {
                        return Err("too many values".to_string());
                    }
                }
                Ok(out)
            }
            Self::Both(first, then) => {
                let mut out = first.of(input, depth)?;
                out.extend(then.of(input, depth)?);
                Ok(out)
            }
            Self::Operate("//", left, right) => {
                let found: Vec<Value> =
                    left.of(input, depth).unwrap_or_default().into_iter().filter(is_true).collect();
                if found.is_empty() { right.of(input, depth) } else { Ok(found) }
            }
            Self::Operate(operator, left, right) => {
                let mut out = Vec::new();
                for right in right.of(input, depth)? {
                    for left in left.of(input, depth)? {
                        out.push(operate(operator, left, &right)?);
                    }
                    if out.len() > MAX_VALUES {
                        return Err("too many values".to_string());
                    }
                }
                Ok(out)
            }
            Self::List(inner) => {
                one(Value::Array(inner.as_ref().map_or(Ok(Vec::new()), |inner| inner.of(input, depth))?))
            }
            Self::Object(fields) => {
                let mut out = vec![Map::new()];
                for (key, value) in fields {
                    let keys = key.of(input, depth)?;
                    let values = value.of(input, depth)?;
                    let pairs: Vec<_> =
                        keys.iter().flat_map(|k| values.iter().map(move |v| (k, v))).collect();
                    let mut next = Vec::new();
                    for object in &out {
                        for (key, value) in &pairs {
                            let mut object = object.clone();
                            let key = key.as_str().ok_or("Object keys must be strings")?;
                            object.insert(key.to_string(), (*value).clone());
                            next.push(object);
                        }
                    }
                    if next.len() > MAX_VALUES {
                        return Err("too many values".to_string());
                    }
                    out = next;
                }
                Ok(out.into_iter().map(Value::Object).collect())
            }
            Self::If(condition, then, otherwise) => {
                let mut out = Vec::new();
                for holds in condition.of(input, depth)? {
                    out.extend(if is_true(&holds) { then } else { otherwise }.of(input, depth)?);
                }
                Ok(out)
            }
            Self::Call(name, args) => call(name, args, input, depth),
        };
        out
    }

    /// The first value.
    fn first(&self, input: &Value, depth: usize) -> Result<Value, String> {
        Ok(self.of(input, depth)?.into_iter().next().unwrap_or(Value::Null))
    }
}

fn at(value: &Value, index: &Value) -> Result<Value, String> {
    match (value, index) {
        (Value::Object(fields), Value::String(key)) => Ok(fields.get(key).cloned().unwrap_or_default()),
        (Value::Array(items), Value::Number(at)) => {
            let at = at.as_f64().unwrap_or(0.0).floor() as i64;
            let at = if at < 0 { items.len() as i64 + at } else { at };
            Ok(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned().unwrap_or_default())
        }
        (Value::Null, Value::String(_) | Value::Number(_) | Value::Null) => Ok(Value::Null),
        (value, Value::String(key)) => Err(format!("Cannot index {} with \"{key}\"", kind(value))),
        (value, index) => Err(format!("Cannot index {} with {}", kind(value), kind(index))),
    }
}

fn operate(operator: &str, left: Value, right: &Value) -> Result<Value, String> {
    let order = compare(&left, right);
    let refused = |left: &Value, what: &str| {
        Err(format!("{} ({left}) and {} ({right}) cannot be {what}", kind(left), kind(right)))
    };
    Ok(match operator {
        "==" => Value::Bool(order.is_eq()),
        "!=" => Value::Bool(order.is_ne()),
        "<" => Value::Bool(order.is_lt()),
        "<=" => Value::Bool(order.is_le()),
        ">" => Value::Bool(order.is_gt()),
        ">=" => Value::Bool(order.is_ge()),
        "and" => Value::Bool(is_true(&left) && is_true(right)),
        "or" => Value::Bool(is_true(&left) || is_true(right)),
        "+" => match (left, right) {
            (Value::Null, _) => right.clone(),
            (left, Value::Null) => left,
            (Value::String(left), Value::String(right)) => Value::String(left + right),
            (Value::Array(left), Value::Array(right)) => Value::Array([left, right.clone()].concat()),
            (Value::Object(mut left), Value::Object(right)) => {
                left.extend(right.clone());
                Value::Object(left)
            }
            (Value::Number(left), Value::Number(right)) => {
                number(left.as_f64().unwrap_or(0.0) + right.as_f64().unwrap_or(0.0))
            }
            (left, _) => return refused(&left, "added"),
        },
        _ => match (&left, right) {
            (Value::Array(left), Value::Array(right)) if operator == "-" => {
                Value::Array(left.iter().filter(|item| !right.contains(item)).cloned().collect())
            }
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
                match operator {
                    "-" => number(a - b),
                    "*" => number(a * b),
                    _ if b == 0.0 => return refused(&left, "divided because the divisor is zero"),
                    "%" => number((a as i64).wrapping_rem((b as i64).max(1)) as f64),
                    _ => number(a / b),
                }
            }
            (Value::String(text), Value::String(by)) if operator == "/" => {
                text.split(by.as_str()).map(Value::from).collect()
            }
            _ => return refused(&left, "computed"),
        },
    })
}

/// A list's items with what the filter makes of each, in that order.
fn keyed(items: &[Value], by: Option<&Filter>, depth: usize) -> Result<Vec<(Value, Value)>, String> {
    let key = |item: &Value| by.map_or(Ok(item.clone()), |by| by.first(item, depth));
    let mut pairs = Vec::new();
    for item in items {
        pairs.push((key(item)?, item.clone()));
    }
    pairs.sort_by(|(a, _), (b, _)| compare(a, b));
    Ok(pairs)
}

fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|part| whole.iter().any(|item| contains(item, part)))
        }
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|item| contains(item, part)))
        }
        _ => whole == part,
    }
}

/// The functions.
fn call(name: &str, args: &[Filter], input: &Value, depth: usize) -> Result<Vec<Value>, String> {
    let text = || input.as_str().ok_or_else(|| format!("{} ({input}) is not a string", kind(input)));
    let items = || {
        let items = input.as_array().map(Vec::as_slice);
        items.ok_or_else(|| format!("Cannot iterate over {} ({input})", kind(input)))
    };
    let first = |at: usize| args[at].first(input, depth);
    let given = |at: usize| first(at).map(|value| plain(&value));
    let entry = |key: Value, value: &Value| json!({"key": key, "value": value});
    let one = match (name, args.len()) {
        ("empty", 0) => return Ok(Vec::new()),
        ("error", 1) => return Err(given(0)?),
        ("select", 1) => {
            let holds = args[0].of(input, depth)?;
            return Ok(holds.iter().filter(|holds| is_true(holds)).map(|_| input.clone()).collect());
        }
        ("range", 1) => {
            let to = first(0)?.as_i64().unwrap_or(0).clamp(0, MAX_VALUES as i64);
            return Ok((0..to).map(Value::from).collect());
        }
        ("recurse", 0) => {
            let mut out = vec![input.clone()];
            let mut next = 0;
            while let Some(value) = out.get(next).cloned() {
                out.extend(Filter::Each(Box::new(Filter::This), true).of(&value, depth)?);
                next += 1;
            }
            return Ok(out);
        }
        ("map", 1) => {
            let mut out = Vec::new();
            for item in Filter::Each(Box::new(Filter::This), false).of(input, depth)? {
                out.extend(args[0].of(&item, depth)?);
            }
            Value::Array(out)
        }
        ("length", 0) => match input {
            Value::Null => json!(0),
            Value::String(text) => json!(text.chars().count()),
            Value::Array(items) => json!(items.len()),
            Value::Object(fields) => json!(fields.len()),
            Value::Number(_) => input.clone(),
            Value::Bool(_) => return Err(format!("boolean ({input}) has no length")),
        },
        ("keys" | "keys_unsorted", 0) => match input {
            Value::Object(fields) => fields.keys().map(|key| Value::from(key.as_str())).collect(),
            Value::Array(items) => (0..items.len()).collect(),
            other => return Err(format!("{} ({other}) has no keys", kind(other))),
        },
        ("has", 1) => {
            let key = first(0)?;
            Value::Bool(match input {
                Value::Object(fields) => key.as_str().is_some_and(|key| fields.contains_key(key)),
                _ => key.as_u64().is_some_and(|at| (at as usize) < items().map_or(0, <[Value]>::len)),
            })
        }
        ("type", 0) => Value::from(kind(input)),
        ("not", 0) => Value::Bool(!is_true(input)),
        ("tostring", 0) => Value::String(plain(input)),
        ("tojson", 0) => Value::String(input.to_string()),
        ("fromjson", 0) => serde_json::from_str(text()?).map_err(|why| why.to_string())?,
        ("tonumber", 0) => match input {
            Value::Number(_) => input.clone(),
            _ => number(text()?.parse().map_err(|_| format!("Cannot parse '{input}' as JSON"))?),
        },
        ("ascii_downcase", 0) => Value::String(text()?.to_ascii_lowercase()),
        ("ascii_upcase", 0) => Value::String(text()?.to_ascii_uppercase()),
        ("trim", 0) => Value::from(text()?.trim()),
        ("startswith", 1) => Value::Bool(text()?.starts_with(&given(0)?)),
        ("endswith", 1) => Value::Bool(text()?.ends_with(&given(0)?)),
        ("ltrimstr", 1) => Value::from(text()?.strip_prefix(given(0)?.as_str()).unwrap_or(text()?)),
        ("rtrimstr", 1) => Value::from(text()?.strip_suffix(given(0)?.as_str()).unwrap_or(text()?)),
        ("test", 1) => {
            let pattern = super::pattern::Pattern::new(&given(0)?, true, false);
            Value::Bool(pattern.find(text()?).is_some())
        }
        ("contains", 1) => Value::Bool(contains(input, &first(0)?)),
        ("split", 1) => text()?.split(given(0)?.as_str()).map(Value::from).collect(),
        ("join", 1) => Value::String(items()?.iter().map(plain).collect::<Vec<_>>().join(&given(0)?)),
        ("add", 0) => {
            let mut sum = Value::Null;
            for item in Filter::Each(Box::new(Filter::This), false).of(input, depth)? {
                sum = operate("+", sum, &item)?;
            }
            sum
        }
        ("any", 0) => Value::Bool(items()?.iter().any(is_true)),
        ("all", 0) => Value::Bool(items()?.iter().all(is_true)),
        ("any" | "all", 1) => {
            let mut holds = Vec::new();
            for item in items()? {
                holds.push(is_true(&args[0].first(item, depth)?));
            }
            Value::Bool(if name == "any" { holds.contains(&true) } else { !holds.contains(&false) })
        }
        ("first", 0) => items()?.first().cloned().unwrap_or_default(),
        ("last", 0) => items()?.last().cloned().unwrap_or_default(),
        ("first", 1) => return Ok(args[0].of(input, depth)?.into_iter().take(1).collect()),
        ("reverse", 0) => items()?.iter().rev().cloned().collect(),
        ("flatten", 0) => {
            items()?.iter().flat_map(|item| item.as_array().cloned().unwrap_or(vec![item.clone()])).collect()
        }
        ("sort", 0) | ("sort_by", 1) => {
            keyed(items()?, args.first(), depth)?.into_iter().map(|(_, item)| item).collect()
        }
        ("unique", 0) | ("unique_by", 1) => {
            let mut pairs = keyed(items()?, args.first(), depth)?;
            pairs.dedup_by(|(a, _), (b, _)| a == b);
            pairs.into_iter().map(|(_, item)| item).collect()
        }
        ("group_by", 1) => {
            let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
            for (key, item) in keyed(items()?, args.first(), depth)? {
                match groups.last_mut() {
                    Some((last, items)) if *last == key => items.push(item),
                    _ => groups.push((key, vec![item])),
                }
            }
            groups.into_iter().map(|(_, items)| Value::Array(items)).collect()
        }
        ("min" | "min_by", _) if args.len() <= 1 => {
            keyed(items()?, args.first(), depth)?.into_iter().next().map_or(Value::Null, |(_, item)| item)
        }
        ("max" | "max_by", _) if args.len() <= 1 => {
            keyed(items()?, args.first(), depth)?.pop().map_or(Value::Null, |(_, item)| item)
        }
        ("to_entries", 0) => match input {
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| entry(Value::from(key.as_str()), value)).collect()
            }
            other => return Err(format!("{} ({other}) has no keys", kind(other))),
        },
        ("from_entries", 0) => {
            let pair = |entry: &Value| {
                let key = ["key", "k", "name"].iter().find_map(|name| entry.get(*name)).map(plain)?;
                Some((key, entry.get("value").cloned().unwrap_or_default()))
            };
            Value::Object(items()?.iter().filter_map(pair).collect())
        }
        ("with_entries", 1) => {
            let entries = call("to_entries", &[], input, depth)?;
            let changed = call("map", args, &entries[0], depth)?;
            return call("from_entries", &[], &changed[0], depth);
        }
        ("@base64", 0) => Value::String(base64_encoded(plain(input).as_bytes())),
        ("@base64d", 0) => Value::String(base64_decoded(text()?).unwrap_or_default()),
        ("@tsv", 0) => Value::String(items()?.iter().map(cell).collect::<Vec<_>>().join("\t")),
        ("@csv", 0) => {
            let quoted =
                |item: &Value| item.as_str().map_or_else(|| cell(item), |text| format!("\"{text}\""));
            Value::String(items()?.iter().map(quoted).collect::<Vec<_>>().join(","))
        }
        ("@text", 0) => Value::String(plain(input)),
        _ => return Err(format!("{name}/{} is not defined", args.len())),
    };
    Ok(vec![one])
}

fn cell(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain(value) }
}

/// Reads a filter.
fn parse(script: &str) -> Result<Filter, String> {
    let letters: Vec<char> = script.chars().collect();
    let mut reader = Reader { letters: &letters, at: 0, depth: 0 };
    reader.blank();
    if reader.at == letters.len() {
        return Ok(Filter::This);
    }
    let filter = reader.pipe()?;
    match reader.peek() {
        None => Ok(filter),
        Some(letter) => Err(format!("syntax error, unexpected '{letter}'")),
    }
}

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
    depth: usize,
}

/// The operators, the loosest first; those in one row bind alike.
const OPERATORS: &[&[&str]] =
    &[&["//"], &["or"], &["and"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn blank(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn starts(&self, word: &str) -> bool {
        let word: Vec<char> = word.chars().collect();
        let is_name = word[0].is_alphabetic();
        let ends = |letter: &char| !(letter.is_alphanumeric() || *letter == '_');
        self.letters[self.at..].starts_with(&word)
            && (!is_name || self.letters.get(self.at + word.len()).is_none_or(ends))
    }

    fn takes(&mut self, word: &str) -> bool {
        self.blank();
        let found = self.starts(word);
        if found {
            self.at += word.chars().count();
            self.blank();
        }
        found
    }

    fn needs(&mut self, word: &str) -> Result<(), String> {
        if self.takes(word) { Ok(()) } else { Err(format!("syntax error, expected '{word}'")) }
    }

    fn pipe(&mut self) -> Result<Filter, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("filters are nested too deeply".to_string());
        }
        let mut filter = self.comma()?;
        if self.takes("|") {
            filter = Filter::Pipe(Box::new(filter), Box::new(self.pipe()?));
        }
        self.depth -= 1;
        Ok(filter)
    }

    fn comma(&mut self) -> Result<Filter, String> {
        let mut filter = self.operation(0)?;
        while self.takes(",") {
            filter = Filter::Both(Box::new(filter), Box::new(self.operation(0)?));
        }
        Ok(filter)
    }

    fn operation(&mut self, level: usize) -> Result<Filter, String> {
        let Some(operators) = OPERATORS.get(level) else { return self.postfix() };
        let mut filter = self.operation(level + 1)?;
        loop {
            self.blank();
            let found = operators
                .iter()
                .find(|operator| self.starts(operator) && (**operator != "/" || !self.starts("//")));
            let Some(operator) = found else { return Ok(filter) };
            self.takes(operator);
            filter = Filter::Operate(operator, Box::new(filter), Box::new(self.operation(level + 1)?));
        }
    }

    fn name(&mut self) -> String {
        let from = self.at;
        while self.peek().is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            self.at += 1;
        }
        self.letters[from..self.at].iter().collect()
    }

    fn postfix(&mut self) -> Result<Filter, String> {
        let mut filter = self.term()?;
        loop {
            let next = self.letters.get(self.at + 1);
            let is_field = |letter: &char| letter.is_alphabetic() || matches!(letter, '_' | '"');
            if self.peek() == Some('[') {
                filter = self.bracket(filter)?;
            } else if self.peek() == Some('.') && next == Some(&'[') {
                self.at += 1;
                filter = self.bracket(filter)?;
            } else if self.peek() == Some('.') && next.is_some_and(is_field) {
                self.at += 1;
                filter = self.field(filter)?;
            } else {
                self.blank();
                return Ok(filter);
            }
        }
    }

    fn forgives(&mut self) -> bool {
        let forgives = self.peek() == Some('?');
        self.at += usize::from(forgives);
        forgives
    }

    fn field(&mut self, base: Filter) -> Result<Filter, String> {
        let key = match self.peek() {
            Some('"') => self.text()?,
            _ => Filter::Literal(Value::String(self.name())),
        };
        Ok(Filter::At(Box::new(base), Box::new(key), self.forgives()))
    }

    fn bracket(&mut self, base: Filter) -> Result<Filter, String> {
        self.needs("[")?;
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(Filter::Each(Box::new(base), self.forgives()));
        }
        let from = self.whole();
        self.blank();
        if self.peek() == Some(':') {
            self.at += 1;
            self.blank();
            let to = self.whole();
            self.blank();
            if self.peek() != Some(']') {
                return Err("syntax error, expected ']'".to_string());
            }
            self.at += 1;
            return Ok(Filter::Slice(Box::new(base), from, to));
        }
        let index = match from {
            Some(from) => Filter::Literal(json!(from)),
            None => self.pipe()?,
        };
        if self.peek() != Some(']') {
            return Err("syntax error, expected ']'".to_string());
        }
        self.at += 1;
        Ok(Filter::At(Box::new(base), Box::new(index), self.forgives()))
    }

    fn whole(&mut self) -> Option<i64> {
        let from = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        while self.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            self.at += 1;
        }
        let number = self.letters[from..self.at].iter().collect::<String>().parse().ok();
        if number.is_none() {
            self.at = from;
        }
        number
    }

    fn text(&mut self) -> Result<Filter, String> {
        self.at += 1;
        let (mut parts, mut text) = (Vec::new(), String::new());
        loop {
            let letter = self.peek().ok_or("syntax error, a string is not ended")?;
            self.at += 1;
            match letter {
                '"' => break,
                '\\' => {
                    let escaped = self.peek().ok_or("syntax error, a string is not ended")?;
                    self.at += 1;
                    match escaped {
                        '(' => {
                            parts.push(Filter::Literal(Value::String(std::mem::take(&mut text))));
                            parts.push(self.pipe()?);
                            if self.peek() != Some(')') {
                                return Err("syntax error, expected ')'".to_string());
                            }
                            self.at += 1;
                        }
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        other => text.push(other),
                    }
                }
                letter => text.push(letter),
            }
        }
        if parts.is_empty() {
            return Ok(Filter::Literal(Value::String(text)));
        }
        parts.push(Filter::Literal(Value::String(text)));
        Ok(Filter::Text(parts))
    }

    fn term(&mut self) -> Result<Filter, String> {
        self.blank();
        if self.depth > MAX_DEPTH {
            return Err("filters are nested too deeply".to_string());
        }
        let letter = self.peek().ok_or("syntax error, unexpected end")?;
        match letter {
            '.' => {
                self.at += 1;
                match self.peek() {
                    Some(letter) if letter.is_alphabetic() || matches!(letter, '_' | '"') => {
                        self.field(Filter::This)
                    }
                    Some('.') => {
                        self.at += 1;
                        Ok(Filter::Call("recurse".to_string(), Vec::new()))
                    }
                    _ => Ok(Filter::This),
                }
            }
            '"' => self.text(),
            '(' => {
                self.needs("(")?;
                let inner = self.pipe()?;
                if self.peek() != Some(')') {
                    return Err("syntax error, expected ')'".to_string());
                }
                self.at += 1;
                Ok(inner)
            }
            '[' => {
                self.needs("[")?;
                let inner = if self.peek() == Some(']') { None } else { Some(Box::new(self.pipe()?)) };
                if self.peek() != Some(']') {
                    return Err("syntax error, expected ']'".to_string());
                }
                self.at += 1;
                Ok(Filter::List(inner))
            }
            '{' => self.object(),
            '-' if !self.letters.get(self.at + 1).is_some_and(char::is_ascii_digit) => {
                self.at += 1;
                self.depth += 1;
                let value = self.postfix()?;
                self.depth -= 1;
                let zero = Filter::Literal(json!(0));
                Ok(Filter::Operate("-", Box::new(zero), Box::new(value)))
            }
            '-' | '0'..='9' => {
                let from = self.at;
                self.at += 1;
                while self.peek().is_some_and(|letter| letter.is_ascii_digit() || letter == '.') {
                    self.at += 1;
                }
                let digits: String = self.letters[from..self.at].iter().collect();
                let value: f64 =
                    digits.parse().map_err(|_| format!("syntax error, unexpected '{digits}'"))?;
                Ok(Filter::Literal(number(value)))
            }
            letter if letter.is_alphabetic() || matches!(letter, '_' | '@') => self.named(),
            letter => Err(format!("syntax error, unexpected '{letter}'")),
        }
    }

    fn named(&mut self) -> Result<Filter, String> {
        let at = if self.peek() == Some('@') { "@" } else { "" };
        self.at += at.len();
        let name = format!("{at}{}", self.name());
        match name.as_str() {
            "true" => return Ok(Filter::Literal(Value::Bool(true))),
            "false" => return Ok(Filter::Literal(Value::Bool(false))),
            "null" => return Ok(Filter::Literal(Value::Null)),
            "if" => return self.choice(),
            _ => {}
        }
        let mut args = Vec::new();
        if self.peek() == Some('(') {
            self.needs("(")?;
            args.push(self.pipe()?);
            while self.takes(";") {
                args.push(self.pipe()?);
            }
            if self.peek() != Some(')') {
                return Err("syntax error, expected ')'".to_string());
            }
            self.at += 1;
        }
        Ok(Filter::Call(name, args))
    }

    fn choice(&mut self) -> Result<Filter, String> {
        let condition = Box::new(self.pipe()?);
        self.needs("then")?;
        let then = Box::new(self.pipe()?);
        let otherwise = if self.takes("elif") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err("filters are nested too deeply".to_string());
            }
            self.choice()?
        } else if self.takes("else") {
            let otherwise = self.pipe()?;
            self.needs("end")?;
            otherwise
        } else {
            self.needs("end")?;
            Filter::This
        };
        Ok(Filter::If(condition, then, Box::new(otherwise)))
    }

    fn object(&mut self) -> Result<Filter, String> {
        self.needs("{")?;
        let mut fields = Vec::new();
        while self.peek() != Some('}') {
            let key = match self.peek() {
                Some('"') => self.text()?,
                Some('(') => self.term()?,
                _ => Filter::Literal(Value::String(self.name())),
            };
            if key == Filter::Literal(Value::String(String::new())) {
                return Err("syntax error in an object".to_string());
            }
            let value = if self.takes(":") {
                self.operation(0)?
            } else {
                Filter::At(Box::new(Filter::This), Box::new(key.clone()), false)
            };
            fields.push((key, value));
            if !self.takes(",") && self.peek() != Some('}') {
                return Err("syntax error, expected '}'".to_string());
            }
        }
        self.at += 1;
        Ok(Filter::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_come_to_what_jq_says() {
        let input = r#"{"items":[{"metadata":{"name":"a","labels":{"app":"x"}},"n":2},{"metadata":{"name":"b"},"n":5}]}"#;
        for (options, script, expected) in [
            ("r", ".items[].metadata.name", "a\nb\n"),
            ("", ".items[0].metadata.name", "\"a\"\n"),
            ("c", ".items | map(.n)", "[2,5]\n"),
            ("r", ".items[] | select(.n > 3) | .metadata.name", "b\n"),
            ("", ".items | length", "2\n"),
            ("c", "keys", "[\"items\"]\n"),
            (
                "c",
                "[.items[] | {name: .metadata.name, n}]",
                "[{\"n\":2,\"name\":\"a\"},{\"n\":5,\"name\":\"b\"}]\n",
            ),
            ("r", ".items[] | \"\\(.metadata.name)=\\(.n + 1)\"", "a=3\nb=6\n"),
            ("r", ".items[].metadata.labels.app // \"none\"", "x\n"),
            ("r", ".items[] | .metadata.labels.app // \"none\"", "x\nnone\n"),
            ("c", ".items | sort_by(-.n) | .[-1:] | map(.n)", "[2]\n"),
            ("c", ".items | sort_by(.n) | reverse | .[0].n, (map(.n) | add)", "5\n7\n"),
            ("r", ".items[] | [.metadata.name, .n] | @tsv", "a\t2\nb\t5\n"),
            ("r", ".items[1] | if .n == 5 then \"five\" else \"other\" end", "five\n"),
            ("c", ".items[0].metadata.labels | to_entries", "[{\"key\":\"app\",\"value\":\"x\"}]\n"),
            (
                "",
                ".items[0].metadata",
                "{\n  \"labels\": {\n    \"app\": \"x\"\n  },\n  \"name\": \"a\"\n}\n",
            ),
            ("", ".items.name", "jq: error (at <stdin>:0): Cannot index array with \"name\""),
        ] {
            let (out, problem, _) = run(script, &|letter| options.contains(letter), input);
            let told = problem.map_or(out, |problem| format!("jq: {}", problem.lines().next().unwrap_or("")));
            assert_eq!(told, expected, "{script}");
        }
    }
}
