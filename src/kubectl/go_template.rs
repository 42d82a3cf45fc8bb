//! Go templates, as far as `-o go-template` is used: fields, variables, `range`, `if`, `with`, and a few functions.
//!
//! Models: Go's `text/template`, `k8s.io/cli-runtime/pkg/printers/template.go` (v1.36).
//! Leaves out: `define`, `template`, `block`, `break`, `continue`, methods; formats of `printf` other than `%s`, `%v`, `%d` and
//! `%q`.

use serde_json::Value;

use super::print::format::go_text;

/// A template that has been read.
#[derive(Clone, Debug, PartialEq)]
pub struct GoTemplate(Vec<Node>);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Print(Pipe),
    Set(String, Pipe),
    If(Pipe, Vec<Node>, Vec<Node>),
    With(Pipe, Vec<Node>, Vec<Node>),
    /// The names of the key and the item, what is walked, the body, and what stands for nothing.
    Range(Vec<String>, Pipe, Vec<Node>, Vec<Node>),
}

type Pipe = Vec<Vec<Term>>;

#[derive(Clone, Debug, PartialEq)]
enum Term {
    /// A path of fields; from `.`, or from a variable.
    Path(Option<String>, Vec<String>),
    Literal(Value),
    Function(String),
    /// A pipeline in parentheses, and the fields that are taken of it.
    Group(Pipe, Vec<String>),
}

/// The deepest nesting of blocks and parentheses.
const MAX_DEPTH: usize = 40;
/// The longest text that a template may make.
const MAX_BYTES: usize = 4 << 20;

const FUNCTIONS: &[&str] = &[
    "and",
    "or",
    "not",
    "len",
    "index",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "print",
    "println",
    "printf",
    "base64decode",
];

impl GoTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { actions: cut(text)?, at: 0 };
        let (nodes, end) = reader.block(0)?;
        match end {
            None => Ok(Self(nodes)),
            Some(word) => Err(format!("unexpected {{{{{word}}}}}")),
        }
    }

    /// Fills the template in.
    ///
    /// # Errors
    /// When a function is used wrongly or the text grows too long.
    pub fn render(&self, value: &Value) -> Result<String, String> {
        let mut out = String::new();
        let mut variables = vec![(String::new(), value.clone())];
        run(&self.0, value, &mut variables, &mut out)?;
        Ok(out)
    }
}

/// A piece of a template: text, or what stands between braces.
#[derive(Debug)]
enum Piece {
    Text(String),
    Action(Vec<String>),
}

/// Cuts a template at its braces; `{{-` and `-}}` take the blanks around away.
fn cut(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut trims = false;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        let mut before = if trims { before.trim_start() } else { before };
        let mut inner = &after[2..];
        if let Some(trimmed) = inner.strip_prefix("- ") {
            before = before.trim_end();
            inner = trimmed;
        }
        pieces.push(Piece::Text(before.to_string()));
        let end = end_of(inner).ok_or("unclosed action")?;
        let mut action = &inner[..end];
        trims = action.ends_with(" -");
        if trims {
            action = &action[..action.len() - 2];
        }
        if !action.trim_start().starts_with("/*") {
            pieces.push(Piece::Action(tokens(action)?));
        }
        rest = &inner[end + 2..];
    }
    pieces.push(Piece::Text(if trims { rest.trim_start() } else { rest }.to_string()));
    Ok(pieces)
}

/// Where `}}` stands outside of quotes.
fn end_of(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            Some(q) if c == q && !escaped => quote = None,
            Some('"') => escaped = c == '\\' && !escaped,
            Some(_) => {}
            None if matches!(c, '"' | '`') => quote = Some(c),
            None if text[at..].starts_with("}}") => return Some(at),
            None => {}
        }
    }
    None
}

/// The words of an action; strings keep their quotes.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.ok_or("unterminated quoted string")? + 2
            }
            '`' => rest[1..].find('`').ok_or("unterminated raw quoted string")? + 2,
            '(' | ')' | '|' | ',' => 1,
            ':' if rest.starts_with(":=") => 2,
            '=' => 1,
            _ => {
                rest.find(|c: char| c.is_whitespace() || "()|,=\"`:".contains(c)).unwrap_or(rest.len()).max(1)
            }
        };
        tokens.push(rest[..length].to_string());
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct Reader {
    actions: Vec<Piece>,
    at: usize,
}

impl Reader {
    /// Reads up to the `end` or `else` of the block, which is handed back.
    fn block(&mut self, depth: usize) -> Result<(Vec<Node>, Option<String>), String> {
        if depth > MAX_DEPTH {
            return Err("blocks are nested too deeply".to_string());
        }
        let mut nodes = Vec::new();
        while self.at < self.actions.len() {
            self.at += 1;
            let words = match &self.actions[self.at - 1] {
                Piece::Text(text) => {
                    if !text.is_empty() {
                        nodes.push(Node::Text(text.clone()));
                    }
                    continue;
                }
                Piece::Action(words) => words.clone(),
            };
            let first = words.first().map(String::as_str);
            match first {
                None => return Err("missing value for command".to_string()),
                Some("end") => return Ok((nodes, Some("end".to_string()))),
                Some("else") => return Ok((nodes, Some(words.join(" ")))),
                Some("if" | "with" | "range") => {
                    let node = self.branch(&words, depth)?;
                    nodes.push(node);
                }
                Some(name)
                    if name.starts_with('$') && words.get(1).is_some_and(|w| w == ":=" || w == "=") =>
                {
                    nodes.push(Node::Set(name[1..].to_string(), pipe(&words[2..], 0)?));
                }
                Some(_) => nodes.push(Node::Print(pipe(&words, 0)?)),
            }
        }
        Ok((nodes, None))
    }

    fn branch(&mut self, words: &[String], depth: usize) -> Result<Node, String> {
        let mut names = Vec::new();
        let mut rest = &words[1..];
        if let Some(at) = rest.iter().position(|word| word == ":=") {
            names = rest[..at].iter().filter_map(|name| name.strip_prefix('$')).map(str::to_string).collect();
            rest = &rest[at + 1..];
        }
        let condition = pipe(rest, 0)?;
        let (body, end) = self.block(depth + 1)?;
        let otherwise = match end.as_deref() {
            Some("end") => Vec::new(),
            Some("else") => {
                let (otherwise, end) = self.block(depth + 1)?;
                if end.as_deref() != Some("end") {
                    return Err("unexpected EOF".to_string());
                }
                otherwise
            }
            Some(chained) => {
                let words: Vec<String> = chained.split(' ').skip(1).map(str::to_string).collect();
                vec![self.branch(&words, depth + 1)?]
            }
            None => return Err("unexpected EOF".to_string()),
        };
        Ok(match words[0].as_str() {
            "if" => Node::If(condition, body, otherwise),
            "with" => Node::With(condition, body, otherwise),
            _ => Node::Range(names, condition, body, otherwise),
        })
    }
}

/// Commands that hand their results on.
fn pipe(words: &[String], depth: usize) -> Result<Pipe, String> {
    if depth > MAX_DEPTH {
        return Err("parentheses are nested too deeply".to_string());
    }
    let mut commands: Pipe = vec![Vec::new()];
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let term = match word.as_str() {
            "|" => {
                commands.push(Vec::new());
                continue;
            }
            "(" => {
                let mut open = 1;
                let from = at;
                while open > 0 {
                    match words.get(at).map(String::as_str) {
                        None => return Err("unclosed left paren".to_string()),
                        Some("(") => open += 1,
                        Some(")") => open -= 1,
                        Some(_) => {}
                    }
                    at += 1;
                }
                let inner = pipe(&words[from..at - 1], depth + 1)?;
                let fields =
                    words.get(at).filter(|word| word.len() > 1).and_then(|word| word.strip_prefix('.'));
                at += usize::from(fields.is_some());
                let names = fields.into_iter().flat_map(|fields| fields.split('.'));
                Term::Group(inner, names.map(str::to_string).collect())
            }
            word => term(word)?,
        };
        if let Some(command) = commands.last_mut() {
            command.push(term);
        }
    }
    if commands.iter().any(Vec::is_empty) {
        return Err("missing value for command".to_string());
    }
    Ok(commands)
}

fn term(word: &str) -> Result<Term, String> {
    let path = |text: &str| text.split('.').filter(|name| !name.is_empty()).map(str::to_string).collect();
    if let Some(rest) = word.strip_prefix('$') {
        let (name, fields) = rest.split_once('.').unwrap_or((rest, ""));
        return Ok(Term::Path(Some(name.to_string()), path(fields)));
    }
    if let Some(fields) = word.strip_prefix('.') {
        return Ok(Term::Path(None, path(fields)));
    }
    if word.starts_with('"') {
        return serde_json::from_str(word).map(Term::Literal).map_err(|_| format!("bad string {word}"));
    }
    if let Some(raw) = word.strip_prefix('`') {
        return Ok(Term::Literal(Value::String(raw.trim_end_matches('`').to_string())));
    }
    if let Ok(number) = word.parse::<i64>() {
        return Ok(Term::Literal(Value::from(number)));
    }
    match word {
        "true" => Ok(Term::Literal(Value::Bool(true))),
        "false" => Ok(Term::Literal(Value::Bool(false))),
        "nil" => Ok(Term::Literal(Value::Null)),
        name if FUNCTIONS.contains(&name) => Ok(Term::Function(name.to_string())),
        other => Err(format!("function \"{other}\" not defined")),
    }
}

type Variables = Vec<(String, Value)>;

fn run(nodes: &[Node], dot: &Value, variables: &mut Variables, out: &mut String) -> Result<(), String> {
    let scope = variables.len();
    for node in nodes {
        if out.len() > MAX_BYTES {
            return Err("the text is too long".to_string());
        }
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Print(pipe) => out.push_str(&shown(&evaluate(pipe, dot, variables)?)),
            Node::Set(name, pipe) => {
                let value = evaluate(pipe, dot, variables)?;
                variables.push((name.clone(), value));
            }
            Node::If(pipe, body, otherwise) => {
                let holds = is_true(&evaluate(pipe, dot, variables)?);
                run(if holds { body } else { otherwise }, dot, variables, out)?;
            }
            Node::With(pipe, body, otherwise) => {
                let value = evaluate(pipe, dot, variables)?;
                match is_true(&value) {
                    true => run(body, &value, variables, out)?,
                    false => run(otherwise, dot, variables, out)?,
                }
            }
            Node::Range(names, pipe, body, otherwise) => {
                let value = evaluate(pipe, dot, variables)?;
                let items: Vec<(Value, Value)> = match value {
                    Value::Array(items) => items
                        .into_iter()
                        .enumerate()
                        .map(|(index, item)| (Value::from(index), item))
                        .collect(),
                    Value::Object(map) => {
                        map.into_iter().map(|(key, item)| (Value::String(key), item)).collect()
                    }
                    Value::Null => Vec::new(),
                    other => return Err(format!("range can't iterate over {}", shown(&other))),
                };
                if items.is_empty() {
                    run(otherwise, dot, variables, out)?;
                }
                for (key, item) in items {
                    let before = variables.len();
                    match names.as_slice() {
                        [] => {}
                        [name] => variables.push((name.clone(), item.clone())),
                        [first, second, ..] => {
                            variables.push((first.clone(), key));
                            variables.push((second.clone(), item.clone()));
                        }
                    }
                    run(body, &item, variables, out)?;
                    variables.truncate(before);
                }
            }
        }
    }
    variables.truncate(scope.max(1));
    Ok(())
}

fn shown(value: &Value) -> String {
    if value.is_null() { "<no value>".to_string() } else { go_text(value) }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is) => *is,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

fn evaluate(pipe: &Pipe, dot: &Value, variables: &Variables) -> Result<Value, String> {
    let mut last: Option<Value> = None;
    for command in pipe {
        let mut values = Vec::new();
        for term in command.iter().skip(usize::from(matches!(command[0], Term::Function(_)))) {
            values.push(match term {
                Term::Path(root, fields) => {
                    let from = match root {
                        None => dot,
                        Some(name) => variables
                            .iter()
                            .rev()
                            .find(|(known, _)| known == name)
                            .map(|(_, value)| value)
                            .ok_or_else(|| format!("undefined variable \"${name}\""))?,
                    };
                    fields
                        .iter()
                        .try_fold(from, |value, name| value.get(name))
                        .cloned()
                        .unwrap_or(Value::Null)
                }
                Term::Literal(value) => value.clone(),
                Term::Group(pipe, fields) => {
                    let value = evaluate(pipe, dot, variables)?;
                    fields
                        .iter()
                        .try_fold(&value, |value, name| value.get(name))
                        .cloned()
                        .unwrap_or(Value::Null)
                }
                Term::Function(name) => call(name, &[])?,
            });
        }
        values.extend(last.take());
        last = Some(match &command[0] {
            Term::Function(name) => call(name, &values)?,
            _ => values.into_iter().next().unwrap_or(Value::Null),
        });
    }
    Ok(last.unwrap_or(Value::Null))
}

fn call(name: &str, args: &[Value]) -> Result<Value, String> {
    let wants = |least: usize| {
        if args.len() < least {
            Err(format!("wrong number of args for {name}: want {least}"))
        } else {
            Ok(())
        }
    };
    let order = || match (&args[0], &args[1]) {
        (Value::Number(l), Value::Number(r)) => l.as_f64().partial_cmp(&r.as_f64()),
        (Value::String(l), Value::String(r)) => Some(l.cmp(r)),
        _ => None,
    };
    Ok(match name {
        "and" => args.iter().find(|arg| !is_true(arg)).or(args.last()).cloned().unwrap_or(Value::Null),
        "or" => args.iter().find(|arg| is_true(arg)).or(args.last()).cloned().unwrap_or(Value::Null),
        "not" => {
            wants(1)?;
            Value::Bool(!is_true(&args[0]))
        }
        "len" => {
            wants(1)?;
            Value::from(match &args[0] {
                Value::String(text) => text.len(),
                Value::Array(items) => items.len(),
                Value::Object(map) => map.len(),
                other => return Err(format!("len of type {}", shown(other))),
            })
        }
        "index" => {
            wants(1)?;
            args[1..].iter().fold(args[0].clone(), |value, key| {
                match key {
                    Value::String(key) => value.get(key),
                    key => {
                        key.as_u64().and_then(|index| value.get(usize::try_from(index).unwrap_or(usize::MAX)))
                    }
                }
                .cloned()
                .unwrap_or(Value::Null)
            })
        }
        "eq" => {
            wants(2)?;
            Value::Bool(args[1..].contains(&args[0]))
        }
        "ne" => {
            wants(2)?;
            Value::Bool(args[0] != args[1])
        }
        "lt" | "le" | "gt" | "ge" => {
            wants(2)?;
            let order = order().ok_or("incompatible types for comparison")?;
            Value::Bool(match name {
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            })
        }
        "printf" => {
            wants(1)?;
            let mut rest = args[1..].iter();
            let mut out = String::new();
            let format = args[0].as_str().unwrap_or_default();
            let mut letters = format.chars();
            while let Some(letter) = letters.next() {
                match (letter, if letter == '%' { letters.next() } else { None }) {
                    ('%', Some('%')) => out.push('%'),
                    ('%', Some('q')) => {
                        out.push_str(&format!("{:?}", rest.next().map_or(String::new(), shown)))
                    }
                    ('%', Some(_)) => out.push_str(&rest.next().map_or("%!v(MISSING)".to_string(), shown)),
                    (letter, _) => out.push(letter),
                }
            }
            Value::String(out)
        }
        "base64decode" => {
            use base64::Engine;
            wants(1)?;
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(args[0].as_str().unwrap_or_default());
            Value::String(String::from_utf8_lossy(&bytes.map_err(|error| error.to_string())?).into_owned())
        }
        "println" => Value::String(args.iter().map(shown).collect::<Vec<_>>().join(" ") + "\n"),
        _ => Value::String(args.iter().map(shown).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn templates_are_filled_in() {
        let pods = json!({"items": [
            {"metadata": {"name": "a", "labels": {"app": "web"}}, "n": 1},
            {"metadata": {"name": "b"}, "n": 2},
        ]});
        for (template, expected) in [
            ("{{range .items}}{{.metadata.name}}{{\"\\n\"}}{{end}}", "a\nb\n"),
            ("{{range $i, $p := .items}}{{$i}}={{$p.metadata.name}} {{end}}", "0=a 1=b "),
            (
                "{{range .items}}{{if .metadata.labels}}{{.metadata.labels.app}}{{else}}none{{end}};{{end}}",
                "web;none;",
            ),
            ("{{(index .items 1).metadata.name}}", "b"),
            ("{{len .items}} {{- \" x\" }}", "2 x"),
            ("{{with .nothing}}a{{else}}b{{end}}", "b"),
            ("{{.nothing}}", "<no value>"),
            ("{{range .items}}{{if eq .n 2}}{{printf \"%s-%d\" .metadata.name .n}}{{end}}{{end}}", "b-2"),
        ] {
            let rendered = GoTemplate::parse(template).and_then(|template| template.render(&pods));
            assert_eq!(rendered.as_deref(), Ok(expected), "{template}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (template, problem) in [
            ("{{.a", "unclosed action"),
            ("{{range .a}}", "unexpected EOF"),
            ("{{nope .a}}", "function \"nope\" not defined"),
            ("{{end}}", "unexpected {{end}}"),
        ] {
            assert_eq!(GoTemplate::parse(template), Err(problem.to_string()), "{template}");
        }
    }
}
