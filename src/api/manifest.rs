//! Manifests: YAML or JSON text in, values with positions out, and back.
//!
//! A text is read as kubectl reads it: when it begins with `{` it is a stream of JSON values, otherwise it is cut into
//! documents at lines that begin with `---` and each is read as YAML 1.1. Documents before a mistake are handed out
//! together with the error, since kubectl applies them before it meets the mistake.
//!
//! Two readers work together: libyaml's port tells what is wrong in the words kubectl's library uses, the event-level
//! one tells where everything stands. No other module may use either.
//!
//! Models: `k8s.io/apimachinery/pkg/util/yaml/decoder.go`, `sigs.k8s.io/yaml`, `go.yaml.in/yaml/v2` (v1.36).
//! Leaves out: nesting beyond [`MAX_DEPTH`], texts beyond [`MAX_BYTES`].

mod json;
mod places;
mod scalar;
mod write;
mod yaml;

pub use places::{Inside, Place, Places};
pub use write::{to_json, to_json_pretty, to_yaml};

use serde::Deserialize;
use serde_json::{Number, Value};

/// The longest text that is read, in bytes: somewhat more than what the API server takes in one request.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The deepest nesting that is read.
pub const MAX_DEPTH: usize = 128;
/// The most nodes that aliases may add to a document.
pub const MAX_ALIASED_NODES: usize = 100_000;
/// The most nodes that may have an anchor of their own or stand inside ones that have, each counted as often.
const MAX_ANCHORED_NODES: usize = 100_000;

/// A key that stands twice in one map; the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The path of the field: `spec.replicas`.
    pub path: String,
    /// Where the later key stands, in the whole text.
    pub at: Place,
}

/// One document of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its number among the documents that hold something, from zero.
    pub index: usize,
    /// The line of the text its part begins on, from one.
    pub first_line: u32,
    /// What it says.
    pub value: Value,
    /// Where each node stands, in the whole text.
    pub places: Places,
    /// Keys that stand twice.
    pub duplicates: Vec<Duplicate>,
}

/// Why a text, or a document in it, could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestError {
    /// In kubectl's words, to follow `error: error parsing STDIN: `; lines in it count from the document's beginning.
    pub message: String,
    /// Where, in the whole text.
    pub at: Place,
}

impl std::fmt::Display for ManifestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ManifestError {}

/// What reading a text gave: the documents up to the first mistake, and the mistake.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Manifest {
    /// The documents, in order; empty ones are left out.
    pub documents: Vec<Document>,
    /// The mistake that ended the reading.
    pub error: Option<ManifestError>,
}

/// Reads a text of YAML or JSON documents.
pub fn parse(text: &str) -> Manifest {
    if text.len() > MAX_BYTES {
        let message = format!("the text is larger than {} MiB", MAX_BYTES / 1024 / 1024);
        return Manifest { documents: Vec::new(), error: Some(ManifestError { message, at: START }) };
    }
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.trim_start().starts_with('{') { parse_json(text) } else { parse_yaml(text, read_document) }
}

/// Reads a YAML text that comes with the program. It is known to be well-formed, so kubectl's library is not asked what
/// it would say; a mistake ends the reading all the same.
pub fn parse_known(text: &str) -> Manifest {
    parse_yaml(text, read_known_document)
}

/// Reads bytes that should be UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Manifest {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.iter().filter(|&&byte| byte == b'\n').count();
            let at = Place { line: u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1), column: 1 };
            let message = "error converting YAML to JSON: yaml: invalid leading UTF-8 octet".to_string();
            Manifest { documents: Vec::new(), error: Some(ManifestError { message, at }) }
        }
    }
}

/// A file's bytes as kubectl takes them: UTF-16 when they begin with its mark, else UTF-8; what is neither becomes
/// U+FFFD.
pub fn text_of(bytes: &[u8]) -> String {
    let wide = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let pairs = bytes.chunks(2).map(|pair| match pair {
            [first, second] => of([*first, *second]),
            _ => 0xFFFD,
        });
        char::decode_utf16(pairs).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Whether a text is one JSON object; if not, what Go's decoder would say.
///
/// # Errors
/// With the complaint, which names no position.
pub fn check_json_object(text: &str) -> Result<(), String> {
    let mut reader = json::JsonReader::new(text);
    let told = |message: &str| {
        let told =
            message.split_once(": invalid").map_or(message.to_string(), |(_, rest)| format!("invalid{rest}"));
        if told == "unexpected EOF" { "unexpected end of JSON input".to_string() } else { told }
    };
    match reader.next_value() {
        None => Err("unexpected end of JSON input".to_string()),
        Some(Err(error)) => Err(told(&error.message)),
        Some(Ok((Value::Object(_) | Value::Null, _))) => match reader.next_value() {
            None => Ok(()),
            Some(_) => Err("invalid character after top-level value".to_string()),
        },
        Some(Ok(_)) => {
            Err("json: cannot unmarshal into Go value of type map[string]interface {}".to_string())
        }
    }
}

const START: Place = Place { line: 1, column: 1 };

fn parse_json(text: &str) -> Manifest {
    let mut reader = json::JsonReader::new(text);
    let mut manifest = Manifest::default();
    while let Some(read) = reader.next_value() {
        match read {
            Ok((Value::Null, _)) => {}
            Ok((value, places)) => manifest.documents.push(Document {
                index: manifest.documents.len(),
                first_line: places.at.line,
                value,
                places,
                duplicates: std::mem::take(&mut reader.duplicates),
            }),
            Err(error) => {
                manifest.error = Some(ManifestError { message: error.message, at: error.at });
                break;
            }
        }
    }
    manifest
}

type Reader = fn(&str, u32) -> Result<yaml::Read, ManifestError>;

fn parse_yaml(text: &str, read: Reader) -> Manifest {
    let mut manifest = Manifest::default();
    let mut line = 1;
    let mut first_line = 1;
    let mut part_start = 0;
    let mut position = 0;
    // A part ends at a line that begins with the separator, or with the text.
    while position <= text.len() {
        let rest = &text[position..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let is_end = rest.is_empty();
        let separator = rest[..length].strip_prefix("---");
        if is_end || separator.is_some() {
            if !read_part(&text[part_start..position], first_line, read, &mut manifest) {
                return manifest;
            }
            if let Some(after) =
                separator.map(str::trim).filter(|after| !after.is_empty() && !after.starts_with('#'))
            {
                let message = format!("invalid Yaml document separator: {after}");
                manifest.error = Some(ManifestError { message, at: Place { line, column: 4 } });
                return manifest;
            }
            part_start = position + length;
            first_line = line + 1;
        }
        if is_end {
            break;
        }
        position += length;
        line += 1;
    }
    manifest
}

/// Reads one part; false when there is a mistake in it.
fn read_part(part: &str, first_line: u32, read: Reader, manifest: &mut Manifest) -> bool {
    if part.trim().is_empty() {
        return true;
    }
    match read(part, first_line) {
        Ok((Value::Null, _, _)) => true,
        Ok((value, places, duplicates)) => {
            let index = manifest.documents.len();
            manifest.documents.push(Document { index, first_line, value, places, duplicates });
            true
        }
        Err(error) => {
            manifest.error = Some(error);
            false
        }
    }
}

fn read_known_document(part: &str, first_line: u32) -> Result<yaml::Read, ManifestError> {
    yaml::read(part, first_line).map_err(|stop| match stop {
        yaml::Stop::Limit(error) | yaml::Stop::Meaning(error) | yaml::Stop::Syntax(error) => error,
    })
}

/// A broken document with more brackets than this is not read to its end: the port takes time for each open one.
const MAX_BRACKETS: usize = 1000;
/// Instead, so many lines after the one with the mistake are looked at for what kubectl's library would say.
const LINES_AFTER_A_MISTAKE: usize = 20;

/// Reads one document. What is wrong is told in the words of kubectl's library where its port finds it too.
///
/// The event-level reader goes first and keeps the limits; the port would take its time over a text that breaks them.
fn read_document(part: &str, first_line: u32) -> Result<yaml::Read, ManifestError> {
    if part.strip_prefix("%YAML ").is_some_and(|rest| rest.split_whitespace().next() != Some("1.1")) {
        return Err(mistake("found incompatible YAML document", first_line, 1));
    }
    match yaml::read(part, first_line) {
        Ok(read) if is_plain(part) => Ok(read),
        Ok(read) => check(part, first_line).map(|()| read),
        Err(yaml::Stop::Limit(error)) => Err(error),
        Err(yaml::Stop::Meaning(error)) => check(part, first_line).and(Err(error)),
        Err(yaml::Stop::Syntax(error)) => {
            let lines = (error.at.line - first_line + 1) as usize + LINES_AFTER_A_MISTAKE;
            let brackets = part.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
            let end = match part.match_indices('\n').nth(lines) {
                Some((end, _)) if brackets > MAX_BRACKETS => end + 1,
                _ => part.len(),
            };
            match check(&part[..end], first_line) {
                // A complaint about where the text was cut is none about the text.
                Err(told) if end == part.len() || told.at.line + 1 < first_line + clamp(lines) => Err(told),
                _ => Err(error),
            }
        }
    }
}

/// Whether a document is so plain that what one reader takes, the other takes too: ASCII, no anchors, tags, directives,
/// escapes or complex keys, brackets closed on their line, no empty keys.
///
/// That the readers agree on these was tried on millions of random texts.
fn is_plain(text: &str) -> bool {
    let is_plain_byte = |byte: u8| {
        (byte == b'\n' || (b' '..=b'~').contains(&byte))
            && !matches!(byte, b'%' | b'@' | b'`' | b'&' | b'*' | b'!' | b'?' | b'\\')
    };
    let is_plain_line = |line: &str| {
        let (mut open, mut before) = (0, b' ');
        for byte in line.bytes() {
            match byte {
                b':' if matches!(before, b' ' | b'[' | b'{' | b',') => return false,
                b']' | b'}' | b',' if before == b':' => return false,
                b'[' | b'{' => open += 1,
                b']' | b'}' => open -= 1,
                _ => {}
            }
            before = byte;
        }
        open == 0 && !line.starts_with("...")
    };
    text.bytes().all(is_plain_byte) && text.lines().all(is_plain_line)
}

/// A mistake in a YAML document, in the words of kubectl's library.
fn mistake(message: &str, line: u32, column: u32) -> ManifestError {
    ManifestError {
        message: format!("error converting YAML to JSON: yaml: {message}"),
        at: Place { line, column },
    }
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What libyaml's parser (not its scanner) complains about; there the line is counted from zero.
const PARSER_PROBLEMS: [&str; 8] = [
    "did not find expected <",
    "did not find expected node content",
    "did not find expected '-' indicator",
    "did not find expected key",
    "did not find expected ',' or",
    "found undefined tag handle",
    "found incompatible YAML document",
    "found duplicate %",
];

/// Asks libyaml's port whether the document is well-formed, and phrases its complaint as kubectl's library does.
fn check(text: &str, first_line: u32) -> Result<(), ManifestError> {
    let Some(document) = serde_yaml::Deserializer::from_str(text).next() else { return Ok(()) };
    let Err(error) = serde::de::IgnoredAny::deserialize(document) else { return Ok(()) };
    let told = error.to_string();
    if told.starts_with("EOF while parsing") {
        return Ok(());
    }
    let problem_end = told.find(" at line ").or_else(|| told.find(" at position ")).unwrap_or(told.len());
    let problem = &told[..problem_end];
    let (index, line, column) = error.location().map_or((0, 1, 1), |at| (at.index(), at.line(), at.column()));
    let last_line = text.lines().count().max(1);
    let (shown_line, shown_column) = if line > last_line { (last_line, 1) } else { (line, column) };
    let at = |message: &str| {
        mistake(message, (first_line - 1).saturating_add(clamp(shown_line)), clamp(shown_column))
    };
    if problem == "unknown anchor" {
        let name: String = text
            .chars()
            .skip(index)
            .skip_while(|c| *c == '*')
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-')
            .collect();
        return Err(at(&format!("unknown anchor '{name}' referenced")));
    }
    let is_parser = PARSER_PROBLEMS.iter().any(|known| problem.starts_with(known));
    let told_line = if is_parser || line == 1 { line - 1 } else { line };
    Err(match told_line {
        0 => at(problem),
        told_line => at(&format!("line {told_line}: {problem}")),
    })
}

/// A JSON number's text as a value: a whole number where it fits 64 bits, a float otherwise.
fn number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(Value::from(whole));
    }
    let float: f64 = text.parse().ok()?;
    json::number_of(float).or_else(|| Number::from_f64(float).map(Value::Number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn only(text: &str) -> Value {
        let manifest = parse(text);
        assert_eq!(manifest.error, None, "{text}");
        assert_eq!(manifest.documents.len(), 1, "{text}");
        manifest.documents[0].value.clone()
    }

    fn error_of(text: &str) -> (String, u32) {
        let error = parse(text).error.unwrap();
        (error.message, error.at.line)
    }

    #[test]
    fn documents_are_read() {
        let table = [
            (
                "words of YAML 1.1",
                "a: yes\nb: 'yes'\nc: off\nd: ~",
                json!({"a": true, "b": "yes", "c": false, "d": null}),
            ),
            ("a date stays a text", "a: 2026-01-05", json!({"a": "2026-01-05"})),
            ("keys become texts", "1: a\nyes: b\n1.5: c", json!({"1": "a", "true": "b", "1.5": "c"})),
            ("the last of two equal keys counts", "a: 1\na: 2", json!({"a": 2})),
            ("aliases repeat", "a: &x {b: 1}\nc: *x", json!({"a": {"b": 1}, "c": {"b": 1}})),
            (
                "merge keys merge",
                "a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3",
                json!({"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
            ),
            ("tags decide", "a: !!str 1\nb: !!int '2'", json!({"a": "1", "b": 2})),
            ("block texts", "a: |\n  x\n  y\nb: >-\n  x\n  y", json!({"a": "x\ny\n", "b": "x y"})),
            ("a byte order mark is skipped", "\u{FEFF}a: 1", json!({"a": 1})),
            (
                "JSON is JSON",
                "{\"a\": [1, 2.0, 1.5, null, \"\\u00e9\\ud83d\\ude00\"]}",
                json!({"a": [1, 2, 1.5, null, "é😀"]}),
            ),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(only(text), expected, "{sentence}");
        }
    }

    #[test]
    fn empty_documents_are_left_out() {
        for text in ["", "---\n", "---\n---\n# nothing\n---\n", "null", "\n\n"] {
            assert_eq!(parse(text), Manifest::default(), "{text:?}");
        }
        let lines: Vec<u32> =
            parse("a: 1\n---\n\n---\n# x\nb: 2").documents.iter().map(|d| d.first_line).collect();
        assert_eq!(lines, [1, 5]);
    }

    #[test]
    fn mistakes_are_told_in_kubectls_words() {
        let yaml = |text: &str| format!("error converting YAML to JSON: yaml: {text}");
        let table = [
            ("an at sign", "a: 1\nb: @c", yaml("line 2: found character that cannot start any token"), 2),
            (
                "on the first line no line is named",
                "b: @c",
                yaml("found character that cannot start any token"),
                1,
            ),
            (
                "a colon in a plain text",
                "a: 1\nb: c: d",
                yaml("line 2: mapping values are not allowed in this context"),
                2,
            ),
            ("a missing colon", "a: 1\nb\nc: d\n", yaml("line 3: could not find expected ':'"), 3),
            ("an open list", "a: 1\nb: [{c: d\n", yaml("line 2: did not find expected ',' or '}'"), 2),
            ("an open quote", "a: 1\nb: \"c\n", yaml("line 3: found unexpected end of stream"), 2),
            ("an unknown anchor", "a: 1\nb: *c", yaml("unknown anchor 'c' referenced"), 2),
            (
                "a wrong indentation, counted one line short as kubectl does",
                "a:\n  b: 1\n c: 2",
                yaml("line 2: did not find expected key"),
                3,
            ),
            (
                "a template",
                "a: {{ .x }}",
                yaml("invalid map key: map[interface {}]interface {}{\".x\":interface {}(nil)}"),
                1,
            ),
            ("a tab", "a:\n\tb: 1", yaml("line 2: found character that cannot start any token"), 2),
            ("a null byte", "a: \0", yaml("control characters are not allowed"), 1),
            ("an anchor inside itself", "a: &x [*x]", yaml("anchor 'x' value contains itself"), 1),
            ("JSON that ends too early", "{\"a\": 1", "unexpected EOF".to_string(), 1),
            (
                "JSON with a comma too many",
                "{\"a\": 1,}",
                "json: offset 9: invalid character '}' looking for beginning of object key string"
                    .to_string(),
                1,
            ),
            ("a strange separator", "a: 1\n--- b\n", "invalid Yaml document separator: b".to_string(), 2),
        ];
        for (sentence, text, message, line) in table {
            let message: String = message;
            assert_eq!(error_of(text), (message, line), "{sentence}");
        }
    }

    #[test]
    fn documents_before_a_mistake_are_kept() {
        let manifest = parse("a: 1\n---\nb: \"x\n");
        assert_eq!(manifest.documents.len(), 1);
        assert_eq!(
            manifest.error.unwrap().message,
            "error converting YAML to JSON: yaml: line 2: found unexpected end of stream"
        );
    }

    #[test]
    fn places_are_known() {
        let manifest = parse(
            "a: 1\n---\nspec:\n  containers:\n  - name: web\n    image: x\n  - name: log\ndata:\n  a.txt: |\n    x\n",
        );
        let places = &manifest.documents[1].places;
        let place = |path: &str| (places.of(path).line, places.of(path).column);
        assert_eq!(place("spec.containers[0].image"), (6, 5));
        assert_eq!(place("spec.containers[1]"), (7, 5));
        assert_eq!(place("spec.containers[1].image"), (7, 5), "a missing field is marked at its parent");
        assert_eq!(place("data[a.txt]"), (9, 3));
        assert_eq!(places.path_at(Place { line: 6, column: 12 }), "spec.containers[0].image");
        assert_eq!(places.path_at(Place { line: 10, column: 1 }), "data[a.txt]");
        let json = parse("{\n \"a\": [1,\n  {\"b\": 2}]}");
        assert_eq!(json.documents[0].places.of("a[1].b"), Place { line: 3, column: 4 });
    }

    #[test]
    fn duplicates_are_marked() {
        let manifest = parse("x: 0\n---\na:\n  b: 1\n  b: 2\n");
        let expected = Duplicate { path: "a.b".to_string(), at: Place { line: 5, column: 3 } };
        assert_eq!(manifest.documents[1].duplicates, [expected]);
    }

    #[test]
    fn hostile_texts_end_in_an_error() {
        let deep_flow = "[".repeat(10_000);
        let deep_block: String = (0..2000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_string();
        for level in 1..12 {
            let items = vec![format!("*a{}", level - 1); 9].join(",");
            bomb.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        let json_deep = format!("{{\"a\":{}", "[".repeat(10_000));
        for text in [deep_flow, deep_block, bomb, json_deep, "a".repeat(MAX_BYTES + 1)] {
            assert!(parse(&text).error.is_some(), "{}", &text[..40]);
        }
        assert!(parse_bytes(b"a: \xff").error.is_some());
        assert_eq!(text_of(b"a: \xff"), "a: \u{FFFD}");
        assert_eq!(text_of(b"\xff\xfea\0:\0 \0\xac\x20"), "a: \u{20AC}");
        assert_eq!(text_of(b"\xfe\xff\0a\0"), "a\u{FFFD}");
    }

    #[test]
    fn a_long_line_is_counted_once() {
        let numbers = vec!["1"; 200_000].join(",");
        let manifest = parse(&format!("{{\"a\":[{numbers}],\"b\":2}}"));
        assert_eq!(manifest.documents[0].places.of("a[1]").column, 9);
        assert_eq!(manifest.documents[0].places.of("b").column, 400_008);
        let manifest = parse(&format!("a: [{numbers}]\nb: 2"));
        assert_eq!(manifest.documents[0].places.of("b").line, 2);
    }
}
