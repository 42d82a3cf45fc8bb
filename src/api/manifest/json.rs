//! Reads a stream of JSON documents, with the error texts of the decoder that kubectl uses.
//!
//! Models: Go's `encoding/json` scanner and `Decoder`.
//! Leaves out: nothing but nesting beyond [`MAX_DEPTH`].

use serde_json::{Map, Number, Value};

use super::places::{Inside, Place, Places};
use super::{Duplicate, MAX_DEPTH};

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// In the decoder's words.
    pub message: String,
    /// Where.
    pub at: Place,
}

/// Reads JSON values from a text, one after another.
pub struct JsonReader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    position: usize,
    line: u32,
    line_start: usize,
    /// A place in the line whose column is known, so that no line is counted twice.
    counted: (usize, u32),
    /// Keys that stand twice in one map of the value read last.
    pub duplicates: Vec<Duplicate>,
}

type Read<T> = Result<T, JsonError>;

impl<'a> JsonReader<'a> {
    /// A reader at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            text,
            position: 0,
            line: 1,
            line_start: 0,
            counted: (0, 1),
            duplicates: Vec::new(),
        }
    }

    /// The next value of the stream; none at its end.
    pub fn next_value(&mut self) -> Option<Read<(Value, Places)>> {
        self.duplicates.clear();
        self.skip_space();
        if self.position >= self.bytes.len() {
            return None;
        }
        Some(self.value(0, &mut String::new()))
    }

    fn here(&mut self) -> Place {
        if self.counted.0 < self.line_start {
            self.counted = (self.line_start, 1);
        }
        let (from, column) = self.counted;
        let characters = self.text.get(from..self.position).map_or(0, |text| text.chars().count());
        let column = column.saturating_add(u32::try_from(characters).unwrap_or(u32::MAX));
        self.counted = (self.position, column);
        Place { line: self.line, column }
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.position) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.line_start = self.position + 1;
                }
                b' ' | b'\t' | b'\r' => {}
                _ => return,
            }
            self.position += 1;
        }
    }

    fn unexpected(&mut self, context: &str) -> JsonError {
        let Some(&byte) = self.bytes.get(self.position) else {
            return JsonError { message: "unexpected EOF".to_string(), at: self.here() };
        };
        let quoted = match byte {
            b'\'' => "'\\''".to_string(),
            b'"' => "'\"'".to_string(),
            b' '..=b'~' => format!("'{}'", (byte as char).escape_default()),
            b'\n' => "'\\n'".to_string(),
            b'\r' => "'\\r'".to_string(),
            b'\t' => "'\\t'".to_string(),
            0..=31 | 127 => format!("'\\x{byte:02x}'"),
            _ => format!("'{}'", byte as char),
        };
        let message = format!("json: offset {}: invalid character {quoted} {context}", self.position + 1);
        JsonError { message, at: self.here() }
    }

    fn value(&mut self, depth: usize, path: &mut String) -> Read<(Value, Places)> {
        self.skip_space();
        let at = self.here();
        let leaf = Places { at, value_at: at, inside: Inside::Nothing };
        match self.bytes.get(self.position) {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err(JsonError {
                message: format!("json: offset {}: exceeded max depth", self.position + 1),
                at,
            }),
            Some(b'{') => self.map(depth, path, at),
            Some(b'[') => self.list(depth, path, at),
            Some(b'"') => Ok((Value::String(self.string()?), leaf)),
            Some(b'-' | b'0'..=b'9') => Ok((self.number()?, leaf)),
            Some(b't') => self.word("true", Value::Bool(true)).map(|value| (value, leaf)),
            Some(b'f') => self.word("false", Value::Bool(false)).map(|value| (value, leaf)),
            Some(b'n') => self.word("null", Value::Null).map(|value| (value, leaf)),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn map(&mut self, depth: usize, path: &mut String, at: Place) -> Read<(Value, Places)> {
        let (mut values, mut places) = (Map::new(), Vec::new());
        self.position += 1;
        self.skip_space();
        if self.bytes.get(self.position) == Some(&b'}') {
            self.position += 1;
            return Ok((Value::Object(values), Places { at, value_at: at, inside: Inside::Members(places) }));
        }
        loop {
            self.skip_space();
            let key_at = self.here();
            if self.bytes.get(self.position) != Some(&b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let key = self.string()?;
            self.skip_space();
            if self.bytes.get(self.position) != Some(&b':') {
                return Err(self.unexpected("after object key"));
            }
            self.position += 1;
            let length = path.len();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&key);
            let (value, mut inner) = self.value(depth + 1, path)?;
            if values.contains_key(&key) && self.duplicates.len() < 100 {
                self.duplicates.push(Duplicate { path: path.clone(), at: key_at });
            }
            path.truncate(length);
            inner.at = key_at;
            places.push((key.clone(), inner));
            values.insert(key, value);
            self.skip_space();
            match self.bytes.get(self.position) {
                Some(b',') => self.position += 1,
                Some(b'}') => {
                    self.position += 1;
                    return Ok((
                        Value::Object(values),
                        Places { at, value_at: at, inside: Inside::Members(places) },
                    ));
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn list(&mut self, depth: usize, path: &mut String, at: Place) -> Read<(Value, Places)> {
        let (mut values, mut places) = (Vec::new(), Vec::new());
        self.position += 1;
        self.skip_space();
        if self.bytes.get(self.position) == Some(&b']') {
            self.position += 1;
            return Ok((Value::Array(values), Places { at, value_at: at, inside: Inside::Items(places) }));
        }
        loop {
            let length = path.len();
            path.push_str(&format!("[{}]", values.len()));
            let (value, inner) = self.value(depth + 1, path)?;
            path.truncate(length);
            values.push(value);
            places.push(inner);
            self.skip_space();
            match self.bytes.get(self.position) {
                Some(b',') => self.position += 1,
                Some(b']') => {
                    self.position += 1;
                    return Ok((
                        Value::Array(values),
                        Places { at, value_at: at, inside: Inside::Items(places) },
                    ));
                }
                _ => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Read<Value> {
        for expected in word.bytes() {
            if self.bytes.get(self.position) != Some(&expected) {
                return Err(self.unexpected(&format!("in literal {word} (expecting '{}')", expected as char)));
            }
            self.position += 1;
        }
        Ok(value)
    }

    fn digits(&mut self, context: &str) -> Read<()> {
        if !self.bytes.get(self.position).is_some_and(u8::is_ascii_digit) {
            return Err(self.unexpected(context));
        }
        while self.bytes.get(self.position).is_some_and(u8::is_ascii_digit) {
            self.position += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.position;
        if self.bytes[self.position] == b'-' {
            self.position += 1;
        }
        if self.bytes.get(self.position) == Some(&b'0') {
            self.position += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.bytes.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.bytes.get(self.position), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.bytes.get(self.position), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = &self.text[start..self.position];
        Ok(super::number(text).unwrap_or(Value::Null))
    }

    fn string(&mut self) -> Read<String> {
        self.position += 1;
        let mut found = String::new();
        loop {
            let start = self.position;
            while self
                .bytes
                .get(self.position)
                .is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\')
            {
                self.position += 1;
            }
            found.push_str(&self.text[start..self.position]);
            match self.bytes.get(self.position) {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(found);
                }
                Some(b'\\') => {
                    self.position += 1;
                    self.escape(&mut found)?;
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
    }

    fn escape(&mut self, found: &mut String) -> Read<()> {
        let character = match self.bytes.get(self.position) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.position += 1;
                let unit = self.unit()?;
                let is_pair =
                    (0xD800..0xDC00).contains(&unit) && self.bytes[self.position..].starts_with(b"\\u");
                let mut code = unit;
                if is_pair {
                    let back = self.position;
                    self.position += 2;
                    let low = self.unit()?;
                    if (0xDC00..0xE000).contains(&low) {
                        code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    } else {
                        self.position = back;
                    }
                }
                found.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
                return Ok(());
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.position += 1;
        found.push(character);
        Ok(())
    }

    fn unit(&mut self) -> Read<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.bytes.get(self.position).and_then(|&byte| (byte as char).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            unit = unit * 16 + digit;
            self.position += 1;
        }
        Ok(unit)
    }
}

/// A whole number that a float holds exactly, as an integer; other finite floats as they are.
pub fn number_of(float: f64) -> Option<Value> {
    if float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0 {
        #[allow(clippy::cast_possible_truncation)]
        return Some(Value::from(float as i64));
    }
    Number::from_f64(float).map(Value::Number)
}
