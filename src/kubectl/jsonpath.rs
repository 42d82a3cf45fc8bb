//! JSONPath templates as kubectl understands them.
//!
//! A template is text with actions in braces: `{.items[*].metadata.name}`, `{range .items[*]}…{end}`, `{"\n"}`.
//!
//! Models: `k8s.io/client-go/util/jsonpath` (v1.36); missing keys are allowed, as `kubectl get -o jsonpath` does.
//! Leaves out: the random order of maps under `*` and `..` (theirs here is the order of keys).

use serde_json::Value;

/// The deepest nesting of `{range}` and filters.
const MAX_DEPTH: usize = 32;

/// The most values that one step may find.
const MAX_VALUES: usize = 100_000;

/// A template, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Node>),
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Root,
    Field(String),
    Wildcard,
    Recursive,
    Slice { from: Option<i64>, to: Option<i64>, by: Option<i64>, single: bool },
    Union(Vec<Vec<Step>>),
    Filter(Operand, String, Operand),
    Exists(Operand),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// In kubectl's words, to follow `error parsing jsonpath TEMPLATE, `.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { rest: text, depth: 0 };
        let nodes = reader.nodes(false)?;
        Ok(Self { nodes })
    }

    /// A template of one expression, which may lack its braces and first dot: `.spec.replicas`, `metadata.name`.
    ///
    /// # Errors
    /// When braces do not match.
    pub fn parse_relaxed(text: &str) -> Result<Self, String> {
        let inner = match (text.strip_prefix('{'), text.ends_with('}')) {
            (Some(rest), true) => &rest[..rest.len() - 1],
            (None, false) => text,
            _ => "}",
        };
        if inner.contains('{') && !inner.contains("\"{") || inner.starts_with('}') || inner.ends_with('}') {
            return Err("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'".to_string());
        }
        let dot =
            if inner.starts_with('.') || inner.starts_with('[') || inner.starts_with('$') { "" } else { "." };
        Self::parse(&format!("{{{dot}{inner}}}"))
    }

    /// What the template says of a value.
    ///
    /// # Errors
    /// When an index or a filter meets a value it cannot be applied to.
    pub fn render(&self, data: &Value) -> Result<String, String> {
        let mut out = String::new();
        render_nodes(&self.nodes, data, data, &mut out)?;
        Ok(out)
    }

    /// The values that the template's expressions find, in order.
    ///
    /// # Errors
    /// As for [`Template::render`].
    pub fn find(&self, data: &Value) -> Result<Vec<Value>, String> {
        let mut found = Vec::new();
        for node in &self.nodes {
            if let Node::Path(steps) = node {
                found.extend(walk(steps, data, data)?);
            }
        }
        Ok(found)
    }
}

fn render_nodes(nodes: &[Node], root: &Value, current: &Value, out: &mut String) -> Result<(), String> {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Path(steps) => {
                let texts: Vec<String> = walk(steps, root, current)?.iter().map(text_of).collect();
                out.push_str(&texts.join(" "));
            }
            Node::Range(steps, body) => {
                for value in walk(steps, root, current)? {
                    render_nodes(body, root, &value, out)?;
                }
            }
        }
    }
    Ok(())
}

/// A found value as it is printed.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => crate::api::manifest::to_json(other).trim_end().to_string(),
    }
}

fn walk(steps: &[Step], root: &Value, current: &Value) -> Result<Vec<Value>, String> {
    let mut values = vec![current.clone()];
    for step in steps {
        let mut next = Vec::new();
        match step {
            Step::Root => next.push(root.clone()),
            Step::Field(name) => {
                for value in &values {
                    next.extend(value.as_object().and_then(|map| map.get(name)).cloned());
                }
            }
            Step::Wildcard => {
                for value in &values {
                    match value {
                        Value::Array(items) => next.extend(items.iter().cloned()),
                        Value::Object(map) => next.extend(map.values().cloned()),
                        _ => {}
                    }
                }
            }
            Step::Recursive => values.iter().for_each(|value| descend(value, &mut next)),
            Step::Slice { from, to, by, single } => {
                for value in &values {
                    next.extend(slice(value, *from, *to, *by, *single)?);
                }
            }
            Step::Union(paths) => {
                for path in paths {
                    for value in &values {
                        next.extend(walk(path, root, value)?);
                    }
                }
            }
            Step::Filter(left, operator, right) => {
                for item in values.iter().flat_map(items_of) {
                    if compare(&operand(left, root, item)?, operator, &operand(right, root, item)?)? {
                        next.push(item.clone());
                    }
                }
            }
            Step::Exists(left) => {
                for item in values.iter().flat_map(items_of) {
                    if !operand(left, root, item)?.is_empty() {
                        next.push(item.clone());
                    }
                }
            }
        }
        if next.len() > MAX_VALUES {
            return Err(format!("the expression finds more than {MAX_VALUES} values"));
        }
        values = next;
    }
    Ok(values)
}

fn items_of(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn descend(value: &Value, found: &mut Vec<Value>) {
    if found.len() > MAX_VALUES {
        return;
    }
    // A number has nothing below it, and is left out as anything without parts is.
    let has_parts = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    if has_parts {
        found.push(value.clone());
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| descend(item, found)),
        Value::Object(map) => map.values().for_each(|item| descend(item, found)),
        _ => {}
    }
}

fn operand(operand: &Operand, root: &Value, item: &Value) -> Result<Vec<Value>, String> {
    match operand {
        Operand::Literal(value) => Ok(vec![value.clone()]),
        Operand::Path(steps) => walk(steps, root, item),
    }
}

fn compare(left: &[Value], operator: &str, right: &[Value]) -> Result<bool, String> {
    let ([left], [right]) = (left, right) else { return Ok(false) };
    let order = match (left, right) {
        (Value::Number(l), Value::Number(r)) => l.as_f64().partial_cmp(&r.as_f64()),
        (Value::String(l), Value::String(r)) => Some(l.cmp(r)),
        (Value::Bool(l), Value::Bool(r)) => Some(l.cmp(r)),
        (l, r) if l == r => Some(std::cmp::Ordering::Equal),
        _ => None,
    };
    Ok(match (operator, order) {
        ("==", order) => order.is_some_and(|order| order.is_eq()),
        ("!=", order) => !order.is_some_and(|order| order.is_eq()),
        ("<", Some(order)) => order.is_lt(),
        ("<=", Some(order)) => order.is_le(),
        (">", Some(order)) => order.is_gt(),
        (">=", Some(order)) => order.is_ge(),
        ("<" | "<=" | ">" | ">=", None) => return Err("invalid type for comparison".to_string()),
        _ => return Err(format!("unrecognized filter operator {operator}")),
    })
}

fn slice(
    value: &Value,
    from: Option<i64>,
    to: Option<i64>,
    by: Option<i64>,
    single: bool,
) -> Result<Vec<Value>, String> {
    let items = match value {
        Value::Array(items) => items,
        Value::Null => return Ok(Vec::new()),
        _ => return Err(format!("{} is not array or slice", type_of(value))),
    };
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let absolute = |index: i64| if index < 0 { index + length } else { index };
    let at = |index: i64| usize::try_from(index).ok().and_then(|index| items.get(index)).cloned();
    let start = absolute(from.unwrap_or(0));
    if single {
        return match at(start) {
            Some(item) => Ok(vec![item]),
            None => Err(format!("array index out of bounds: index {}, length {length}", from.unwrap_or(0))),
        };
    }
    let end = to.map_or(length, absolute).min(length);
    let step = by.unwrap_or(1);
    if step < 1 {
        return Err("step must be > 0".to_string());
    }
    let mut found = Vec::new();
    let mut index = start.max(0);
    while index < end {
        found.extend(at(index));
        index += step;
    }
    Ok(found)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn nodes(&mut self, in_range: bool) -> Result<Vec<Node>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the template is nested too deep".to_string());
        }
        let mut nodes = Vec::new();
        loop {
            let Some(brace) = self.rest.find('{') else {
                if in_range {
                    return Err("unexpected end of range".to_string());
                }
                if !self.rest.is_empty() {
                    nodes.push(Node::Text(std::mem::take(&mut self.rest).to_string()));
                }
                self.depth -= 1;
                return Ok(nodes);
            };
            if brace > 0 {
                nodes.push(Node::Text(self.rest[..brace].to_string()));
            }
            self.rest = self.rest[brace + 1..].trim_start();
            if let Some(after) = keyword(self.rest, "end") {
                self.rest = after;
                if !in_range {
                    return Err("not in range, nothing to end".to_string());
                }
                self.close()?;
                self.depth -= 1;
                return Ok(nodes);
            }
            if let Some(after) = keyword(self.rest, "range") {
                self.rest = after.trim_start();
                let path = self.path()?;
                self.close()?;
                let body = self.nodes(true)?;
                nodes.push(Node::Range(path, body));
                continue;
            }
            loop {
                self.rest = self.rest.trim_start();
                match self.rest.chars().next() {
                    None => return Err("unclosed action".to_string()),
                    Some('}') => break,
                    Some('"' | '\'') => {
                        let text = self.quoted()?;
                        nodes.push(Node::Text(text));
                    }
                    Some('.' | '[' | '$' | '@') => {
                        let path = self.path()?;
                        nodes.push(Node::Path(path));
                    }
                    Some(character) if character.is_ascii_digit() || character == '-' => {
                        let end = self.rest[1..]
                            .find(|c: char| !c.is_ascii_digit() && c != '.')
                            .map_or(self.rest.len(), |end| end + 1);
                        nodes.push(Node::Text(self.rest[..end].to_string()));
                        self.rest = &self.rest[end..];
                    }
                    Some(character) if character.is_alphabetic() => {
                        let end = self.rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.rest.len());
                        return Err(format!("unrecognized identifier {}", &self.rest[..end]));
                    }
                    Some(character) => {
                        return Err(format!(
                            "unrecognized character in action: U+{:04X} '{character}'",
                            u32::from(character)
                        ));
                    }
                }
            }
            self.close()?;
        }
    }

    fn close(&mut self) -> Result<(), String> {
        match self.rest.trim_start().strip_prefix('}') {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err("unclosed action".to_string()),
        }
    }

    fn quoted(&mut self) -> Result<String, String> {
        let quote = self.rest.chars().next().unwrap_or('"');
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                _ if character == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                _ => text.push(character),
            }
        }
        Err("unterminated quoted string".to_string())
    }

    fn path(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        loop {
            if let Some(rest) = self.rest.strip_prefix("..") {
                self.rest = rest;
                steps.push(Step::Recursive);
                if self.starts_name() {
                    let name = self.name();
                    steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name) });
                }
            } else if let Some(rest) = self.rest.strip_prefix('.') {
                self.rest = rest;
                if self.starts_name() {
                    let name = self.name();
                    steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name) });
                }
            } else if let Some(rest) = self.rest.strip_prefix('$') {
                self.rest = rest;
                steps.push(Step::Root);
            } else if let Some(rest) = self.rest.strip_prefix('@') {
                self.rest = rest;
            } else if self.rest.starts_with('[') {
                let step = self.brackets()?;
                steps.push(step);
            } else {
                return Ok(steps);
            }
        }
    }

    fn starts_name(&self) -> bool {
        self.rest.chars().next().is_some_and(|c| !"}]) .[|&=<>!,\n\t\r\"'".contains(c))
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        let mut escaped = false;
        let mut end = self.rest.len();
        for (at, character) in self.rest.char_indices() {
            if escaped {
                name.push(character);
                escaped = false;
            } else if character == '\\' {
                escaped = true;
            } else if "}]) .[|&=<>!,@\n\t\r".contains(character) {
                end = at;
                break;
            } else {
                name.push(character);
            }
        }
        self.rest = &self.rest[end..];
        name
    }

    /// What stands between brackets: an index, a slice, a list of them, a name, a wildcard or a filter.
    fn brackets(&mut self) -> Result<Step, String> {
        let inside = match self.rest.strip_prefix("[?(") {
            Some(_) => return self.filter(),
            None => {
                let mut quote = None;
                let end = self.rest.char_indices().find(|&(_, c)| {
                    match quote {
                        Some(open) if c == open => quote = None,
                        None if c == '\'' || c == '"' => quote = Some(c),
                        None if c == ']' => return true,
                        _ => {}
                    }
                    false
                });
                let (end, _) = end.ok_or("unterminated array")?;
                let inside = self.rest[1..end].trim().to_string();
                self.rest = &self.rest[end + 1..];
                inside
            }
        };
        if inside == "*" {
            return Ok(Step::Wildcard);
        }
        let mut parts = Vec::new();
        for part in split_outside_quotes(&inside, ',') {
            let part = part.trim();
            let quoted = |quote: char| part.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            if let Some(name) = quoted('\'').or_else(|| quoted('"')) {
                let mut reader = Reader { rest: name, depth: self.depth };
                let first = reader.name();
                let mut steps = vec![Step::Field(first)];
                steps.extend(reader.path()?);
                parts.push(steps);
            } else {
                parts.push(vec![index(part)?]);
            }
        }
        Ok(match parts.as_slice() {
            [one] if one.len() == 1 => one[0].clone(),
            _ => Step::Union(parts),
        })
    }

    fn filter(&mut self) -> Result<Step, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the template is nested too deep".to_string());
        }
        self.rest = &self.rest[3..];
        let left = self.operand()?;
        self.rest = self.rest.trim_start();
        let step = if self.rest.starts_with(')') {
            Step::Exists(left)
        } else {
            let end = self.rest.find(|c: char| !"=<>!".contains(c)).ok_or("unterminated filter")?;
            let operator = self.rest[..end].to_string();
            if !["==", "!=", "<", "<=", ">", ">="].contains(&operator.as_str()) {
                return Err(format!("unrecognized filter operator {operator}"));
            }
            self.rest = self.rest[end..].trim_start();
            let right = self.operand()?;
            Step::Filter(left, operator, right)
        };
        match self.rest.trim_start().strip_prefix(')').and_then(|rest| rest.trim_start().strip_prefix(']')) {
            Some(rest) => {
                self.rest = rest;
                self.depth -= 1;
                Ok(step)
            }
            None => Err("unclosed array expect ]".to_string()),
        }
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('"' | '\'') => Ok(Operand::Literal(Value::String(self.quoted()?))),
            Some('@' | '.' | '$' | '[') => Ok(Operand::Path(self.path()?)),
            _ => {
                let end = self.rest.find(|c: char| ") =<>!".contains(c)).ok_or("unterminated filter")?;
                let word = &self.rest[..end];
                self.rest = &self.rest[end..];
                match word {
                    "true" => Ok(Operand::Literal(Value::Bool(true))),
                    "false" => Ok(Operand::Literal(Value::Bool(false))),
                    _ => serde_json::from_str(word)
                        .map(Operand::Literal)
                        .map_err(|_| format!("unrecognized identifier {word}")),
                }
            }
        }
    }
}

/// What follows a keyword, if the text begins with it.
fn keyword<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
}

fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut quote) = (Vec::new(), 0, None);
    for (at, character) in text.char_indices() {
        match (character, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(character),
            (c, None) if c == separator => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn index(text: &str) -> Result<Step, String> {
    let number = |text: &str| -> Result<Option<i64>, String> {
        match text.trim() {
            "" => Ok(None),
            digits => digits.parse().map(Some).map_err(|_| format!("invalid array index {text}")),
        }
    };
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [one] => match number(one)? {
            Some(index) => Ok(Step::Slice { from: Some(index), to: None, by: None, single: true }),
            None => Err(format!("invalid array index {text}")),
        },
        [from, to] => Ok(Step::Slice { from: number(from)?, to: number(to)?, by: None, single: false }),
        [from, to, by] => {
            Ok(Step::Slice { from: number(from)?, to: number(to)?, by: number(by)?, single: false })
        }
        _ => Err(format!("invalid array index {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nodes() -> Value {
        json!({"kind": "List", "items": [
            {"kind": "None", "metadata": {"name": "127.0.0.1", "labels": {"kubernetes.io/hostname": "127.0.0.1"}},
             "status": {"capacity": {"cpu": "4"}, "ready": true}},
            {"kind": "None", "metadata": {"name": "127.0.0.2"}, "status": {"capacity": {"cpu": "8"}, "ready": false}},
        ], "users": [{"name": "myself", "user": {}}, {"name": "e2e", "user": {"password": "secret"}}]})
    }

    #[test]
    fn templates_say_what_kubectl_says() {
        for (data, template, output) in [
            (json!({}), "hello jsonpath", "hello jsonpath"),
            (json!([2, 6, 3, 7]), "{[?(@<5)]}", "2 3"),
            (json!({}), "{\"{\"}", "{"),
            (json!([0, 1, 2, 3, 4]), "{[1,3,4]}", "1 3 4"),
            (json!(["Monday", "Tuesday"]), "{[0:2]}", "Monday Tuesday"),
            (json!({"integers": [1, 2, 3, 4]}), "{ .integers[:4:2] }", "1 3"),
            (json!({"s": ["one", "two"]}), "{ .s }", "[\"one\",\"two\"]"),
            (json!({"s": ["one", "two", "three", "four"]}), "{ .s[-2] }", "three"),
            (json!([{"id": "i1"}, {"id": "i2", "z": 1}, {"id": "i5", "z": 1}]), "{[?(@.z)].id}", "i2 i5"),
            (json!([{"id": "i1"}]), "{[0]['id']}", "i1"),
            (nodes(), "{range .items[*]}{.metadata.name}, {end}{.kind}", "127.0.0.1, 127.0.0.2, List"),
            (nodes(), "{range .items[*]}{.metadata.name}{\"\\t\"}{end}", "127.0.0.1\t127.0.0.2\t"),
            (nodes(), "{.items[*].metadata.name}", "127.0.0.1 127.0.0.2"),
            (
                nodes(),
                "{.items[*]['metadata.name', 'status.capacity']}",
                "127.0.0.1 127.0.0.2 {\"cpu\":\"4\"} {\"cpu\":\"8\"}",
            ),
            (nodes(), "{.users[?(@.name==\"e2e\")].user.password}", "secret"),
            (nodes(), "{.items[0].metadata.labels.kubernetes\\.io/hostname}", "127.0.0.1"),
            (nodes(), "{.items[?(@..ready==true)].metadata.name}", "127.0.0.1"),
            (json!({"items": []}), "{range .items[*]}{.metadata.name}{end}", ""),
            (json!({}), "before-{.hello}after", "before-after"),
            (nodes(), "{.items[-1:].metadata.name}", "127.0.0.2"),
        ] {
            assert_eq!(Template::parse(template).unwrap().render(&data).as_deref(), Ok(output), "{template}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (template, message) in [
            ("{.items[", "unterminated array"),
            ("{.metadata.name", "unclosed action"),
            ("{hello}", "unrecognized identifier hello"),
            ("{.Book[?(@.Price<>10)]}", "unrecognized filter operator <>"),
            ("{range .Labels.*}{@}{end}{end}", "not in range, nothing to end"),
        ] {
            assert_eq!(Template::parse(template), Err(message.to_string()), "{template}");
        }
    }

    #[test]
    fn hostile_templates_end() {
        assert!(Template::parse(&format!("{{{}", "[?(@".repeat(100_000))).is_err());
        assert!(Template::parse(&"{range .a}".repeat(100_000)).is_err());
        let nested = (0..60).fold(json!(1), |inner, _| json!([inner, inner.is_number()]));
        let many = Template::parse(&format!("{{{}}}", "..".repeat(50))).unwrap();
        assert!(many.render(&nested).is_err());
    }
}
