//! From a text to words and operators, and from a word to what stands in its place.

use super::Shell;

/// A word as written, less its quotes, or an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word; variables and substitutions are filled in later.
    Word(String),
    /// An operator.
    Operator(&'static str),
}

const OPERATORS: [&str; 13] = ["&&", "&>", "||", ";;", ";", "\n", ">>", ">", "|", "&", "(", ")", "<"];

/// Stands for a `$` that is to stay as it is.
const PROTECTED: char = '\u{1}';

/// The length of what stands between a parenthesis and the one that closes it; `text` begins behind the opening one.
fn enclosed(text: &str) -> usize {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Words and operators; quotes are taken off, variables are filled in later only for `$` outside single quotes.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    let end = |word: &mut Option<String>, tokens: &mut Vec<Token>| {
        if let Some(word) = word.take() {
            tokens.push(Token::Word(word));
        }
    };
    while let Some(letter) = rest.chars().next() {
        if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            let mut shown = *operator;
            // A digit before `>` names the stream: `2>&1`.
            if operator.starts_with('>')
                && let Some(stream) =
                    word.take_if(|w| w.len() == 1 && w.starts_with(|c: char| c.is_ascii_digit()))
                && stream == "2"
            {
                shown = "2>";
            }
            end(&mut word, &mut tokens);
            rest = &rest[operator.len()..];
            if operator.starts_with('>') && rest.starts_with('&') {
                rest = rest[1..].trim_start_matches(|c: char| c.is_ascii_digit());
                continue;
            }
            tokens.push(Token::Operator(shown));
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            ' ' | '\t' | '\r' => end(&mut word, &mut tokens),
            '#' if word.is_none() => rest = rest.find('\n').map_or("", |at| &rest[at..]),
            '\'' => {
                let close = rest.find('\'').unwrap_or(rest.len());
                let text = rest[..close].replace('$', &PROTECTED.to_string());
                word.get_or_insert_default().push_str(&text);
                rest = rest.get(close + 1..).unwrap_or("");
            }
            '"' => rest = in_double_quotes(rest, word.get_or_insert_default()),
            '\\' => {
                let escaped = rest.chars().next();
                rest = escaped.map_or("", |c| &rest[c.len_utf8()..]);
                match escaped {
                    Some('\n') | None => {}
                    Some('$') => word.get_or_insert_default().push(PROTECTED),
                    Some(c) => word.get_or_insert_default().push(c),
                }
            }
            '`' => {
                let close = rest.find('`').unwrap_or(rest.len());
                word.get_or_insert_default().push_str(&format!("$({})", &rest[..close]));
                rest = rest.get(close + 1..).unwrap_or("");
            }
            '$' if rest.starts_with('(') => {
                let close = enclosed(&rest[1..]) + 1;
                let word = word.get_or_insert_default();
                word.push('$');
                word.push_str(rest.get(..=close).unwrap_or(rest));
                rest = rest.get(close + 1..).unwrap_or("");
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    end(&mut word, &mut tokens);
    tokens
}

/// Adds what stands up to the closing double quote to the word. Returns what is behind it.
fn in_double_quotes<'t>(text: &'t str, word: &mut String) -> &'t str {
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '"' => return rest,
            '\\' => {
                let escaped = rest.chars().next();
                rest = escaped.map_or("", |c| &rest[c.len_utf8()..]);
                match escaped {
                    Some(c @ ('"' | '\\' | '`')) => word.push(c),
                    Some('$') => word.push(PROTECTED),
                    Some(c) => word.extend(['\\', c]),
                    None => {}
                }
            }
            '$' if rest.starts_with('(') => {
                let close = enclosed(&rest[1..]) + 1;
                word.push('$');
                word.push_str(rest.get(..=close).unwrap_or(rest));
                rest = rest.get(close + 1..).unwrap_or("");
            }
            letter => word.push(letter),
        }
    }
    rest
}

/// The numbers of `{1..3}`.
pub(super) fn counted(word: &str) -> Option<Vec<String>> {
    let (from, to) = word.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?;
    let (from, to): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
    Some((from..=to).take(1000).map(|number| number.to_string()).collect())
}

impl Shell<'_> {
    /// The word with `$NAME`, `${NAME}`, `${NAME:-default}`, `$(command)` and `$((1 + 2))` filled in.
    pub(super) fn filled(&mut self, word: &str) -> String {
        let mut filled = String::new();
        let mut rest = word;
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(inside) = rest.strip_prefix('{') {
                let close = inside.find('}').unwrap_or(inside.len());
                let (name, default) = inside[..close].split_once(":-").unwrap_or((&inside[..close], ""));
                let value = self.environment.get(name).filter(|value| !value.is_empty());
                filled.push_str(value.map_or(default, String::as_str));
                rest = inside.get(close + 1..).unwrap_or("");
            } else if let Some(inside) = rest.strip_prefix('(') {
                let close = enclosed(inside);
                let command = inside[..close].replace(PROTECTED, "$");
                rest = inside.get(close + 1..).unwrap_or("");
                match command.strip_prefix('(').and_then(|command| command.strip_suffix(')')) {
                    Some(sum) => {
                        let sum = self.filled(sum);
                        filled.push_str(&self.computed(&sum).to_string());
                    }
                    None => filled.push_str(&self.substituted(&command)),
                }
            } else {
                let special = rest.chars().next().filter(|c| "?$#@*0123456789".contains(*c));
                if let Some(special) = special {
                    match special {
                        '?' => filled.push_str(&self.last_code.to_string()),
                        '$' => filled.push('1'),
                        '#' => filled.push('0'),
                        _ => {}
                    }
                    rest = &rest[1..];
                    continue;
                }
                let length =
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                if length == 0 {
                    filled.push('$');
                }
                filled.push_str(self.environment.get(&rest[..length]).map_or("", String::as_str));
                rest = &rest[length..];
            }
        }
        filled.push_str(rest);
        filled.replace(PROTECTED, "$")
    }

    /// A sum of whole numbers and variables, with the usual order of operations.
    pub(super) fn computed(&self, text: &str) -> i64 {
        let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        Sum { letters: &letters, at: 0, shell: self }.sum()
    }
}

struct Sum<'s> {
    letters: &'s [char],
    at: usize,
    shell: &'s Shell<'s>,
}

impl Sum<'_> {
    fn next_of(&mut self, operators: &str) -> Option<char> {
        let letter = *self.letters.get(self.at).filter(|letter| operators.contains(**letter))?;
        self.at += 1;
        Some(letter)
    }

    fn sum(&mut self) -> i64 {
        let mut value = self.product();
        while let Some(operator) = self.next_of("+-") {
            let right = self.product();
            value = if operator == '+' { value.wrapping_add(right) } else { value.wrapping_sub(right) };
        }
        value
    }

    fn product(&mut self) -> i64 {
        let mut value = self.factor();
        while let Some(operator) = self.next_of("*/%") {
            let right = self.factor();
            value = match operator {
                '*' => value.wrapping_mul(right),
                '/' => value.checked_div(right).unwrap_or(0),
                _ => value.checked_rem(right).unwrap_or(0),
            };
        }
        value
    }

    fn factor(&mut self) -> i64 {
        if self.next_of("-").is_some() {
            return self.factor().wrapping_neg();
        }
        if self.next_of("(").is_some() {
            let value = self.sum();
            self.next_of(")");
            return value;
        }
        let start = self.at;
        while self.letters.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let word: String = self.letters[start..self.at].iter().collect();
        if word.is_empty() {
            // Something that is no sum: it ends here.
            self.at = self.letters.len();
        }
        word.parse().unwrap_or_else(|_| {
            self.shell.environment.get(&word).and_then(|value| value.parse().ok()).unwrap_or(0)
        })
    }
}
