//! Writes values as kubectl prints them.
//!
//! Models: `sigs.k8s.io/yaml` over `go.yaml.in/yaml/v2` (`encode.go`, `sorter.go`, `emitterc.go`), and Go's
//! `encoding/json` with the four-space indentation of `kubectl -o json`.
//! Leaves out: nothing.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Value;

use super::scalar::{self, Plain};

/// YAML as `kubectl -o yaml` prints it: keys in natural order, lists not indented under their key; ends with a newline.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    write_node(&mut out, value, 0, Place::Top);
    out
}

/// Where a node is written, which decides how it begins.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Top,
    AfterKey,
    AfterDash,
}

fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}

/// Writes a node whose own lines stand at `column`; the cursor stands behind `key:` or `-`, or at a line's beginning.
fn write_node(out: &mut String, value: &Value, column: usize, place: Place) {
    let space = if place == Place::Top { "" } else { " " };
    match value {
        Value::Object(members) if !members.is_empty() => {
            if place == Place::AfterKey {
                out.push('\n');
            } else {
                out.push_str(space);
            }
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_by(|left, right| natural_order(left, right));
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 || place == Place::AfterKey {
                    indent(out, column);
                }
                let written = scalar_text(key, None, column);
                if key.len() > 128 {
                    let _ = writeln!(out, "? {written}");
                    indent(out, column);
                } else {
                    out.push_str(&written);
                }
                out.push(':');
                // A list stands at its key's own column, everything else two further.
                let inner = if members[key].is_array() { column } else { column + 2 };
                write_node(out, &members[key], inner, Place::AfterKey);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            if place == Place::AfterKey {
                out.push('\n');
            } else {
                out.push_str(space);
            }
            for (index, item) in items.iter().enumerate() {
                if index > 0 || place == Place::AfterKey {
                    indent(out, column);
                }
                out.push('-');
                write_node(out, item, column + 2, Place::AfterDash);
            }
        }
        Value::Object(_) => {
            let _ = writeln!(out, "{space}{{}}");
        }
        Value::Array(_) => {
            let _ = writeln!(out, "{space}[]");
        }
        Value::String(text) => {
            out.push_str(space);
            let line = out.rfind('\n').map_or(0, |at| at + 1);
            let written = scalar_text(text, Some(out[line..].chars().count()), column);
            out.push_str(&written);
            out.push('\n');
        }
        Value::Number(number) => {
            let _ = writeln!(out, "{space}{}", number_text(number));
        }
        other => {
            let _ = writeln!(out, "{space}{other}");
        }
    }
}

/// A number as Go prints it.
fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if !number.is_i64() && !number.is_u64() => {
            let size = float.abs();
            if size != 0.0 && !(1e-6..1e21).contains(&size) {
                let text = format!("{float:e}");
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, digits) =
                    exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
                format!("{mantissa}e{sign}{digits:0>2}")
            } else {
                format!("{float}")
            }
        }
        _ => number.to_string(),
    }
}

/// The order of keys: digits as numbers, letters after everything else.
fn natural_order(left: &str, right: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut digits = false;
    for index in 0..left.len().min(right.len()) {
        let (a, b) = (left[index], right[index]);
        if a == b {
            digits = a.is_ascii_digit();
            continue;
        }
        match (a.is_alphabetic(), b.is_alphabetic()) {
            (true, true) => return a.cmp(&b),
            (true, false) => return if digits { Ordering::Less } else { Ordering::Greater },
            (false, true) => return if digits { Ordering::Greater } else { Ordering::Less },
            (false, false) => {}
        }
        let (mut left_number, mut right_number) = (0u64, 0u64);
        if a == '0' || b == '0' {
            let run = left[..index].iter().rev().take_while(|c| c.is_ascii_digit());
            if run.into_iter().any(|c| *c != '0') {
                (left_number, right_number) = (1, 1);
            }
        }
        let number = |characters: &[char], mut number: u64| {
            let mut end = index;
            while let Some(digit) = characters.get(end).and_then(|c| c.to_digit(10)) {
                number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
                end += 1;
            }
            (number, end)
        };
        let (left_number, left_end) = number(&left, left_number);
        let (right_number, right_end) = number(&right, right_number);
        return left_number.cmp(&right_number).then(left_end.cmp(&right_end)).then(a.cmp(&b));
    }
    left.len().cmp(&right.len())
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FEFE}' | '\u{FF00}'..='\u{FFFD}')
}

/// What a text allows.
struct Analysis {
    plain: bool,
    single_quoted: bool,
    block: bool,
}

fn analyse(text: &str) -> Analysis {
    let characters: Vec<char> = text.chars().collect();
    let blank_at = |index: usize| characters.get(index).is_none_or(|&c| c == ' ' || c == '\t' || is_break(c));
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut special, mut breaks) = (false, false);
    let (mut space_break, mut break_space) = (false, false);
    let mut after_blank = true;
    for (index, &c) in characters.iter().enumerate() {
        let before_blank = blank_at(index + 1);
        if index == 0 {
            indicators |= "#,[]{}&*!|>'\"%@`".contains(c) || ("?:-".contains(c) && before_blank);
        } else {
            indicators |= (c == ':' && before_blank) || (c == '#' && after_blank);
        }
        // Readers differ about Unicode's own separators of lines, so they stand between quotes, as escapes.
        special |= !is_printable(c) || matches!(c, '\u{2028}' | '\u{2029}');
        breaks |= is_break(c);
        if index > 0 {
            let previous = characters[index - 1];
            space_break |= is_break(c) && previous == ' ';
            break_space |= c == ' ' && is_break(previous);
        }
        after_blank = c == ' ' || c == '\t' || is_break(c);
    }
    let edge = |c: Option<&char>| c.is_some_and(|&c| c == ' ' || is_break(c));
    let spaced = edge(characters.first()) || edge(characters.last());
    let broken = space_break || special;
    Analysis {
        plain: !(spaced || break_space || broken || breaks || indicators),
        single_quoted: !(break_space || broken),
        block: !(broken || characters.last() == Some(&' ') || characters.is_empty()),
    }
}

/// A text as a scalar, quoted where it must be; it begins at `start`, and its further lines stand at `column`. A key has
/// no `start`: it stays on its line.
fn scalar_text(text: &str, start: Option<usize>, column: usize) -> String {
    let analysis = analyse(text);
    if text.contains('\n') && analysis.block && start.is_some() {
        return literal(text, column);
    }
    let resolves_to_text = matches!(scalar::resolve(text), Plain::Text) && !scalar::is_base_60(text);
    let style = if text.contains('\n') || !resolves_to_text {
        Style::DoubleQuoted
    } else if analysis.plain {
        Style::Plain
    } else if analysis.single_quoted {
        Style::SingleQuoted
    } else {
        Style::DoubleQuoted
    };
    folded(text, style, start, column)
}

/// How a text of one line is written.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
}

/// The column behind which the next single space becomes a new line.
const BEST_WIDTH: usize = 80;

fn folded(text: &str, style: Style, start: Option<usize>, column: usize) -> String {
    let quote = match style {
        Style::Plain => "",
        Style::SingleQuoted => "'",
        Style::DoubleQuoted => "\"",
    };
    let mut out = quote.to_string();
    let mut at = start.map(|start| start + quote.len());
    let mut after_space = false;
    let mut characters = text.char_indices().peekable();
    while let Some((index, c)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        if c == ' ' {
            let may_break = !after_space
                && at.is_some_and(|at| at > BEST_WIDTH)
                && match style {
                    Style::Plain => next != Some(' '),
                    Style::SingleQuoted => index > 0 && next.is_some_and(|next| next != ' '),
                    Style::DoubleQuoted => index > 0 && next.is_some(),
                };
            after_space = true;
            if may_break {
                out.push('\n');
                indent(&mut out, column);
                at = Some(column);
                if next == Some(' ') {
                    out.push('\\');
                    at = Some(column + 1);
                }
                continue;
            }
            out.push(' ');
            at = at.map(|at| at + 1);
            continue;
        }
        after_space = false;
        let before = out.len();
        match style {
            Style::Plain => out.push(c),
            Style::SingleQuoted if c == '\'' => out.push_str("''"),
            Style::SingleQuoted => out.push(c),
            Style::DoubleQuoted => escaped(&mut out, c),
        }
        at = at.map(|at| at + out[before..].chars().count());
    }
    out.push_str(quote);
    out
}

fn literal(text: &str, column: usize) -> String {
    let mut out = "|".to_string();
    if text.starts_with([' ', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        out.push('2');
    }
    let mut from_end = text.chars().rev();
    match (from_end.next().is_some_and(is_break), from_end.next()) {
        (false, _) => out.push('-'),
        (true, before) if before.is_none_or(is_break) => out.push('+'),
        _ => {}
    }
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            indent(&mut out, column);
            out.push_str(line);
        }
    }
    out
}

/// One character between double quotes.
fn escaped(out: &mut String, c: char) {
    if is_printable(c) && !is_break(c) && c != '"' && c != '\\' {
        out.push(c);
        return;
    }
    let _ = {
        match c {
            '\0' => out.write_str("\\0"),
            '\u{7}' => out.write_str("\\a"),
            '\u{8}' => out.write_str("\\b"),
            '\t' => out.write_str("\\t"),
            '\n' => out.write_str("\\n"),
            '\u{b}' => out.write_str("\\v"),
            '\u{c}' => out.write_str("\\f"),
            '\r' => out.write_str("\\r"),
            '\u{1b}' => out.write_str("\\e"),
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\u{85}' => out.write_str("\\N"),
            '\u{2028}' => out.write_str("\\L"),
            '\u{2029}' => out.write_str("\\P"),
            c if u32::from(c) <= 0xFF => write!(out, "\\x{:02X}", u32::from(c)),
            c if u32::from(c) <= 0xFFFF => write!(out, "\\u{:04X}", u32::from(c)),
            c => write!(out, "\\U{:08X}", u32::from(c)),
        }
    };
}

/// JSON as `kubectl -o json` prints it: four spaces a level; ends with a newline.
pub fn to_json_pretty(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value, Some(0));
    out.push('\n');
    out
}

/// JSON on one line, as the API server and the last-applied annotation hold it.
pub fn to_json(value: &Value) -> String {
    let mut out = String::new();
    write_json(&mut out, value, None);
    out
}

fn write_json(out: &mut String, value: &Value, level: Option<usize>) {
    let inner = level.map(|level| level + 1);
    let new_line = |out: &mut String, level: Option<usize>| {
        if let Some(level) = level {
            out.push('\n');
            indent(out, level * 4);
        }
    };
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                new_line(out, inner);
                write_json_text(out, key);
                out.push_str(if level.is_some() { ": " } else { ":" });
                write_json(out, member, inner);
            }
            new_line(out, level);
            out.push('}');
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                new_line(out, inner);
                write_json(out, item, inner);
            }
            new_line(out, level);
            out.push(']');
        }
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        Value::String(text) => write_json_text(out, text),
        Value::Number(number) => out.push_str(&number_text(number)),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn write_json_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\u{8}' => out.write_str("\\b"),
            '\u{c}' => out.write_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                write!(out, "\\u{:04x}", u32::from(c))
            }
            c => out.write_char(c),
        };
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let table = [
            ("a plain text", "nginx:1.27", "nginx:1.27"),
            ("a word of YAML 1.1", "yes", "\"yes\""),
            ("a number", "1", "\"1\""),
            ("a moment", "2026-01-05T09:00:00Z", "\"2026-01-05T09:00:00Z\""),
            ("a time of day", "12:30", "\"12:30\""),
            ("nothing", "", "\"\""),
            ("an asterisk", "*/5 * * * *", "'*/5 * * * *'"),
            ("a colon and a space", "a: b", "'a: b'"),
            ("a hash after a space", "a #b", "'a #b'"),
            ("a hash elsewhere", "a#b", "a#b"),
            ("a quote inside", "it's", "it's"),
            ("a quote at the beginning", "'a'", "'''a'''"),
            ("a space at the end", "a ", "'a '"),
            ("a tab", "a\tb", "\"a\\tb\""),
            ("letters beyond ASCII", "한국어", "한국어"),
            ("beyond the basic plane", "😀", "\"\\U0001F600\""),
            ("a dash alone", "-", "'-'"),
            ("a flag", "--verbose", "--verbose"),
            ("a percent sign", "25%", "25%"),
            ("a brace inside", "a{b}", "a{b}"),
            ("a quantity", "100m", "100m"),
            ("an octal mode", "0644", "\"0644\""),
            ("a null word", "null", "\"null\""),
            ("a backslash", "a\\b", "a\\b"),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(to_yaml(&json!(text)), format!("{expected}\n"), "{sentence}");
        }
    }

    #[test]
    fn long_texts_go_on_in_the_next_line() {
        let words = |count: usize| vec!["word"; count].join(" ");
        let table = [
            ("as long as may be", words(15), format!("key: {}\n", words(15))),
            ("longer", words(20), format!("key: {}\n  {}\n", words(16), words(4))),
            ("quoted", format!("a: {}", words(18)), format!("key: 'a: {}\n  {}'\n", words(15), words(3))),
            ("without a space", "x".repeat(200), format!("key: {}\n", "x".repeat(200))),
            (
                "with two spaces there",
                format!("{}  {}", words(16), words(2)),
                format!("key: {}  word\n  word\n", words(16)),
            ),
        ];
        for (sentence, text, expected) in table {
            assert_eq!(to_yaml(&json!({"key": text})), expected, "{sentence}");
        }
    }

    #[test]
    fn structures_are_laid_out_as_kubectl_does() {
        let value = json!({
            "b": [{"x": 1, "y": [1, [2, 3]]}, "s", {}, []],
            "a": {"c": null, "d": {}, "e": []},
            "a10": true, "a2": false,
            "script": "set -e\n\n  echo\n", "kept": "a\n\n", "cut": "a\nb", "yes": 1,
            "args": ["one\ntwo\n"],
        });
        let expected = "\
a:
  c: null
  d: {}
  e: []
a2: false
a10: true
args:
- |
  one
  two
b:
- x: 1
  \"y\":
  - 1
  - - 2
    - 3
- s
- {}
- []
cut: |-
  a
  b
kept: |+
  a

script: |
  set -e

    echo
\"yes\": 1
";
        assert_eq!(to_yaml(&value), expected);
    }

    #[test]
    fn json_is_written_as_go_writes_it() {
        let value = json!({"b": [1, {}], "a": "<x>\u{1}"});
        assert_eq!(to_json(&value), "{\"a\":\"\\u003cx\\u003e\\u0001\",\"b\":[1,{}]}");
        assert_eq!(
            to_json_pretty(&value),
            "{\n    \"a\": \"\\u003cx\\u003e\\u0001\",\n    \"b\": [\n        1,\n        {}\n    ]\n}\n"
        );
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let value = json!({"a": ["yes", "1", "x: y", "a\n b", " lead", "tab\there", "multi\n\nline\n", "😀"], "0x1": "~"});
        assert_eq!(super::super::parse(&to_yaml(&value)).documents[0].value, value);
    }
}
