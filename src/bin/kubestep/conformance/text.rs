//! Whether a text is what a recording expects.
//!
//! Two or more spaces are two spaces, trailing spaces do not count, placeholders stand for values. Lines whose order
//! is chance (rows of a table, lines that name random objects) compare as sets where the area says so. A text can match
//! in several ways: which row is `<pod1>`? All of them (up to a bound) are handed back, so that a later step can decide.

use super::placeholder::{Bindings, Class};

/// What an area tolerates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tolerance {
    /// Rows of tables, and neighbouring lines that name random objects, come in any order.
    pub rows_as_sets: bool,
    /// Counts in `(x3 over 5s)` may differ by two.
    pub counts: bool,
    /// A crashing Pod shows `Error` for `CrashLoopBackOff`, a failing pull `ErrImagePull` for `ImagePullBackOff`.
    pub crash_words: bool,
    /// All lines come in any order.
    pub unordered: bool,
}

/// The most ways of matching that are handed back.
const MAX_SOLUTIONS: usize = 120;

/// The most comparisons of one line with another in one text.
const MAX_COMPARISONS: usize = 40_000;

/// Every way (up to a bound) in which `got` is what `expected` says; empty when it is not.
pub fn matches(expected: &str, got: &str, tolerance: Tolerance, bindings: &Bindings) -> Vec<Bindings> {
    let expected: Vec<Line> = expected.split('\n').map(|line| Line::compile(line, tolerance)).collect();
    let got: Vec<String> = got.split('\n').map(normalized).collect();
    if expected.len() != got.len() {
        return Vec::new();
    }
    let groups =
        if tolerance.unordered { vec![(0, expected.len(), true)] } else { groups_of(&expected, tolerance) };
    let mut search =
        Search { expected: &expected, got: &got, groups: &groups, solutions: Vec::new(), comparisons: 0 };
    search.group(0, bindings.clone());
    search.solutions
}

/// Whether one line is what is expected, and with which bindings.
pub fn matches_line(expected: &str, got: &str, tolerance: Tolerance, bindings: &Bindings) -> Vec<Bindings> {
    let line = Line::compile(expected, tolerance);
    let mut solutions = Vec::new();
    line.matches(&normalized(got), bindings, &mut solutions);
    solutions
}

/// The texts side by side, line by line: `  ` equal, `- ` expected, `+ ` got.
pub fn difference(expected: &str, got: &str, tolerance: Tolerance, bindings: &Bindings) -> String {
    let expected: Vec<&str> = expected.split('\n').collect();
    let got: Vec<&str> = got.split('\n').collect();
    let equal = |e: &str, g: &str| !matches_line(e, g, tolerance, bindings).is_empty();
    // The longest common subsequence, as small texts allow.
    let (rows, columns) = (expected.len(), got.len());
    let mut lengths = vec![vec![0_u32; columns + 1]; rows + 1];
    let bounded = rows * columns <= MAX_COMPARISONS;
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            lengths[row][column] = if bounded && equal(expected[row], got[column]) {
                lengths[row + 1][column + 1] + 1
            } else {
                lengths[row + 1][column].max(lengths[row][column + 1])
            };
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while row < rows || column < columns {
        if row < rows && column < columns && bounded && equal(expected[row], got[column]) {
            lines.push(format!("  {}", got[column]));
            (row, column) = (row + 1, column + 1);
        } else if row < rows && (column == columns || lengths[row + 1][column] >= lengths[row][column + 1]) {
            lines.push(format!("- {}", bindings.fill(expected[row])));
            row += 1;
        } else {
            lines.push(format!("+ {}", got[column]));
            column += 1;
        }
    }
    lines.join("\n")
}

/// Runs of two or more spaces as two, no trailing spaces.
fn normalized(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut spaces = 0;
    for c in line.trim_end_matches([' ', '\r']).chars() {
        spaces = if c == ' ' { spaces + 1 } else { 0 };
        if spaces <= 2 {
            text.push(c);
        }
    }
    text
}

/// A part of an expected line.
#[derive(Clone, Debug)]
enum Token {
    Literal(String),
    /// A placeholder, with its name if it is bound throughout the case.
    Hole(Class, Option<String>),
    /// A number that may differ by two.
    About(u32),
    /// One of several words.
    OneOf(&'static [&'static str]),
    /// The addresses of a Service's endpoints, in any order: a slice is filled in the order of a hash map. Which ones are
    /// shown when there are `more` is chance, too.
    Addresses {
        /// The placeholders' names, each with what stands behind it (`:80`).
        items: Vec<(String, String)>,
        more: bool,
    },
    /// An age that may carry a count: `5s` or `5s (x2 over 9s)`.
    AgeWithCount(u32),
}

/// An expected line.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    tokens: Vec<Token>,
}

const CRASH_WORDS: &[&[&str]] = &[&["CrashLoopBackOff", "Error"], &["ImagePullBackOff", "ErrImagePull"]];

impl Line {
    fn compile(line: &str, tolerance: Tolerance) -> Self {
        let text = normalized(line);
        let mut tokens = Vec::new();
        let mut literal = String::new();
        let mut rest = text.as_str();
        while let Some(next) = rest.chars().next() {
            let (token, length) = next_token(rest, &literal, tolerance);
            match token {
                Some(token) => {
                    if !literal.is_empty() {
                        tokens.push(Token::Literal(std::mem::take(&mut literal)));
                    }
                    tokens.push(token);
                    rest = &rest[length..];
                }
                None => {
                    literal.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
        }
        if !literal.is_empty() {
            tokens.push(Token::Literal(literal));
        }
        Self { text, tokens }
    }

    fn matches(&self, got: &str, bindings: &Bindings, solutions: &mut Vec<Bindings>) {
        match_tokens(&self.tokens, got, bindings, solutions);
    }

    /// Whether it names an object whose name is partly chance.
    fn names_random(&self) -> bool {
        self.tokens.iter().any(|token| matches!(token, Token::Hole(Class::Hash | Class::Suffix, Some(_))))
    }

    /// Whether it tells of an eviction: `kubectl drain` evicts all Pods of a node at once.
    fn is_of_eviction(&self) -> bool {
        self.text.starts_with("evicting pod ")
            || self.text.starts_with("pod/") && self.text.ends_with(" evicted")
    }

    fn is_table_header(&self) -> bool {
        let text = self.text.trim_start();
        let words = |text: &str| text.split("  ").filter(|cell| !cell.trim().is_empty()).count();
        let shouted = |c: char| {
            c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '/')
        };
        (words(text) >= 2 && text.chars().all(shouted) && text.chars().any(|c| c.is_ascii_uppercase()))
            || (text.len() > 3 && text.chars().all(|c| c == '-' || c == ' ') && words(text) >= 2)
    }

    fn is_indented(&self) -> bool {
        self.text.starts_with(' ')
    }
}

/// The token at the beginning of `rest`, if one begins there; `before` is the literal in front of it.
fn next_token(rest: &str, before: &str, tolerance: Tolerance) -> (Option<Token>, usize) {
    if tolerance.rows_as_sets
        && !before.ends_with(',')
        && let Some(addresses) = addresses(rest)
    {
        return addresses;
    }
    if rest.starts_with('<')
        && let Some((class, name, length)) = Class::parse(rest)
    {
        if class == Class::Age && tolerance.counts && !before.ends_with("over ") && !before.ends_with('(') {
            // `<age> (x3 over <age>)` and a bare `<age>` are the same thing seen a moment apart.
            let counted = rest[length..].strip_prefix(" (x").and_then(|tail| {
                let digits = tail.find(|c: char| !c.is_ascii_digit())?;
                let count: u32 = tail[..digits].parse().ok()?;
                let end = tail.strip_prefix(&tail[..digits])?.strip_prefix(" over <age>)")?;
                Some((count, rest.len() - end.len()))
            });
            return match counted {
                Some((count, length)) => (Some(Token::AgeWithCount(count)), length),
                None => (Some(Token::AgeWithCount(1)), length),
            };
        }
        return (Some(Token::Hole(class, name.map(str::to_string))), length);
    }
    if tolerance.counts && before.ends_with("(x") {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if let Ok(count) = rest[..digits].parse() {
            return (Some(Token::About(count)), digits);
        }
    }
    if before.ends_with("scheme \"") && rest.contains(".go:") {
        let length = rest.find('"').unwrap_or(rest.len());
        return (Some(Token::Hole(Class::Source, None)), length);
    }
    if tolerance.crash_words {
        for words in CRASH_WORDS {
            let is_start = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
            let found = words.iter().find(|word| {
                rest.strip_prefix(**word)
                    .is_some_and(|tail| !tail.starts_with(|c: char| c.is_ascii_alphanumeric() || c == ':'))
            });
            if let (true, Some(word)) = (is_start, found) {
                return (Some(Token::OneOf(words)), word.len());
            }
        }
    }
    (None, 0)
}

/// A list of two or more addresses at the beginning of `rest`.
fn addresses(rest: &str) -> Option<(Option<Token>, usize)> {
    let end = rest.find([' ', ')']).unwrap_or(rest.len());
    let items: Option<Vec<(String, String)>> = rest[..end]
        .split(',')
        .map(|item| match Class::parse(item)? {
            (Class::Address, Some(name), length) => Some((name.to_string(), item[length..].to_string())),
            _ => None,
        })
        .collect();
    let items = items.filter(|items| items.len() > 1)?;
    Some((Some(Token::Addresses { items, more: rest[end..].starts_with(" + ") }), end))
}

/// Lets the addresses that are `left` stand for the placeholders, in every order.
fn match_addresses(
    items: &[(String, String)],
    left: &[&str],
    bindings: &Bindings,
    then: &mut dyn FnMut(&Bindings),
) {
    let Some(((name, suffix), others)) = items.split_first() else { return then(bindings) };
    for (index, item) in left.iter().enumerate() {
        let Some(address) = item.strip_suffix(suffix.as_str()) else { continue };
        let mut bindings = bindings.clone();
        if Class::Address.lengths(address).contains(&address.len()) && bindings.bind(name, address) {
            let mut left = left.to_vec();
            left.remove(index);
            match_addresses(others, &left, &bindings, then);
        }
    }
}

fn match_tokens(tokens: &[Token], got: &str, bindings: &Bindings, solutions: &mut Vec<Bindings>) {
    if solutions.len() >= MAX_SOLUTIONS {
        return;
    }
    let Some((token, rest)) = tokens.split_first() else {
        if got.is_empty() && !solutions.contains(bindings) {
            solutions.push(bindings.clone());
        }
        return;
    };
    let number = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    match token {
        Token::Literal(literal) => {
            if let Some(tail) = got.strip_prefix(literal.as_str()) {
                match_tokens(rest, tail, bindings, solutions);
            }
        }
        Token::Hole(class, name) => {
            for length in class.lengths(got) {
                let mut bindings = bindings.clone();
                if name.as_ref().is_none_or(|name| bindings.bind(name, &got[..length])) {
                    match_tokens(rest, &got[length..], &bindings, solutions);
                }
            }
        }
        Token::About(count) => {
            let digits = number(got);
            if got[..digits].parse::<u32>().is_ok_and(|found| found.abs_diff(*count) <= 2) {
                match_tokens(rest, &got[digits..], bindings, solutions);
            }
        }
        Token::OneOf(words) => {
            for word in *words {
                if let Some(tail) = got.strip_prefix(word) {
                    match_tokens(rest, tail, bindings, solutions);
                }
            }
        }
        Token::Addresses { items, more } => {
            let end = got.find([' ', ')']).unwrap_or(got.len());
            let shown: Vec<&str> = got[..end].split(',').collect();
            if shown.len() != items.len() {
                return;
            }
            if *more {
                let is_address = |item: &&str| !Class::Address.lengths(item).is_empty();
                let same_ports = items.iter().zip(&shown).all(|((_, suffix), item)| item.ends_with(suffix));
                if shown.iter().all(is_address) && same_ports {
                    match_tokens(rest, &got[end..], bindings, solutions);
                }
                return;
            }
            match_addresses(items, &shown, bindings, &mut |bindings| {
                match_tokens(rest, &got[end..], bindings, solutions);
            });
        }
        Token::AgeWithCount(count) => {
            for length in Class::Age.lengths(got) {
                let tail = &got[length..];
                let counted = tail.strip_prefix(" (x").and_then(|tail| {
                    let digits = number(tail);
                    let found: u32 = tail[..digits].parse().ok()?;
                    let over = tail[digits..].strip_prefix(" over ")?;
                    let end = Class::Age.lengths(over).first().copied()?;
                    Some((found, over[end..].strip_prefix(')')?))
                });
                match counted {
                    Some((found, tail)) if found.abs_diff(*count) <= 2 => {
                        match_tokens(rest, tail, bindings, solutions);
                    }
                    None if *count <= 3 => match_tokens(rest, tail, bindings, solutions),
                    _ => {}
                }
            }
        }
    }
}

/// The lines in groups `(from, to, as a set)`.
fn groups_of(lines: &[Line], tolerance: Tolerance) -> Vec<(usize, usize, bool)> {
    let mut groups = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        if tolerance.rows_as_sets && line.is_table_header() {
            groups.push((at, at + 1, false));
            let indented = line.is_indented();
            let is_row =
                |row: &Line| !row.text.is_empty() && row.is_indented() == indented && !row.is_table_header();
            let end = (at + 1..lines.len()).find(|&row| !is_row(&lines[row])).unwrap_or(lines.len());
            if end > at + 1 {
                groups.push((at + 1, end, true));
            }
            at = end;
        } else if tolerance.rows_as_sets && line.is_of_eviction() {
            let end = (at..lines.len()).find(|&row| !lines[row].is_of_eviction()).unwrap_or(lines.len());
            groups.push((at, end, true));
            at = end;
        } else if tolerance.rows_as_sets && line.names_random() {
            let end = (at..lines.len()).find(|&row| !lines[row].names_random()).unwrap_or(lines.len());
            groups.push((at, end, true));
            at = end;
        } else {
            groups.push((at, at + 1, false));
            at += 1;
        }
    }
    groups
}

/// A search through the ways in which lines can stand for one another.
struct Search<'a> {
    expected: &'a [Line],
    got: &'a [String],
    groups: &'a [(usize, usize, bool)],
    solutions: Vec<Bindings>,
    comparisons: usize,
}

impl Search<'_> {
    fn group(&mut self, index: usize, bindings: Bindings) {
        if self.solutions.len() >= MAX_SOLUTIONS {
            return;
        }
        let Some(&(from, to, _)) = self.groups.get(index) else {
            if !self.solutions.contains(&bindings) {
                self.solutions.push(bindings);
            }
            return;
        };
        self.row(index, from, (from..to).collect(), bindings);
    }

    /// Matches the expected line `row` of a group with one of the lines that are `left`.
    fn row(&mut self, index: usize, row: usize, left: Vec<usize>, bindings: Bindings) {
        let (_, to, as_set) = self.groups[index];
        if row == to {
            return self.group(index + 1, bindings);
        }
        let candidates: &[usize] = if as_set { &left } else { &left[..1] };
        for (position, &line) in candidates.iter().enumerate() {
            self.comparisons += 1;
            if self.comparisons > MAX_COMPARISONS || self.solutions.len() >= MAX_SOLUTIONS {
                return;
            }
            // Equal lines are interchangeable: the first of them is enough.
            if as_set && candidates[..position].iter().any(|&earlier| self.got[earlier] == self.got[line]) {
                continue;
            }
            let mut ways = Vec::new();
            self.expected[row].matches(&self.got[line], &bindings, &mut ways);
            for way in ways {
                let mut remaining = left.clone();
                remaining.remove(position);
                self.row(index, row + 1, remaining, way);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Tolerance =
        Tolerance { rows_as_sets: false, counts: false, crash_words: false, unordered: false };
    const LEARNER: Tolerance =
        Tolerance { rows_as_sets: true, counts: true, crash_words: true, unordered: false };

    fn holds(expected: &str, got: &str, tolerance: Tolerance) -> bool {
        !matches(expected, got, tolerance, &Bindings::default()).is_empty()
    }

    #[test]
    fn spaces_count_up_to_two_and_not_at_the_end() {
        for (expected, got, equal) in [
            ("NAME   READY\n", "NAME        READY   \n", true),
            ("a b", "a  b", false),
            ("a", "a\n", false),
            ("<none>", "<none>", true),
        ] {
            assert_eq!(holds(expected, got, STRICT), equal, "{expected:?} {got:?}");
        }
    }

    #[test]
    fn endpoints_come_in_any_order_and_the_same_everywhere() {
        for (expected, got, equal) in [
            ("E: <ip1>:80,<ip2>:80\nI: <ip1>", "E: 10.0.0.2:80,10.0.0.1:80\nI: 10.0.0.1", true),
            ("E: <ip1>:80,<ip2>:80\nI: <ip1>", "E: 10.0.0.2:80,10.0.0.1:80\nI: 10.0.0.3", false),
            ("E: <ip1>:80,<ip2>:81", "E: 10.0.0.2:80,10.0.0.1:80", false),
            ("E: <ip1>,<ip2> + 2 more...", "E: 10.0.0.9,10.0.0.1 + 2 more...", true),
            ("E: <ip1>,<ip2> + 2 more...", "E: 10.0.0.9,10.0.0.1 + 3 more...", false),
        ] {
            assert_eq!(holds(expected, got, LEARNER), equal, "{expected:?} {got:?}");
        }
    }

    #[test]
    fn placeholders_stand_for_well_formed_values() {
        for (expected, got, equal) in [
            ("web-<hash1>-<pod1>", "web-7d4b8c9f6-x2kqz", true),
            ("web-<hash1>-<pod1>", "web-7d4b8c9f6-aeiou", false),
            ("<ip1> <ip2>", "10.0.0.1 10.0.0.1", false),
            ("<ip1> <ip1>", "10.0.0.1 10.0.0.1", true),
            ("at <time>.", "at 2026-01-05T09:00:00Z.", true),
            ("at <time>", "at Mon, 05 Jan 2026 09:00:00 +0000", true),
            ("<age>", "5m3s", true),
            ("<age>", "soon", false),
            ("in <dur> (<dur> including waiting)", "in 1.5s (1.502s including waiting)", true),
            ("uid: <uid1>", "uid: 00000000-0000-4000-8000-000000000001", true),
            ("80:<port1>/TCP", "80:31234/TCP", true),
            ("scheme \"pkg/api/legacyscheme/scheme.go:30\"", "scheme \"k8s.io/x/scheme.go:31\"", true),
        ] {
            assert_eq!(holds(expected, got, STRICT), equal, "{expected:?} {got:?}");
        }
    }

    #[test]
    fn rows_of_tables_compare_as_sets_where_the_area_says_so() {
        let expected = "NAME   STATUS\nweb-<hash1>-<pod1>   Running\nweb-<hash1>-<pod2>   Pending\n";
        let got = "NAME              STATUS\nweb-bcdfghj-bbbbb   Pending\nweb-bcdfghj-ccccc   Running\n";
        assert!(!holds(expected, got, STRICT));
        let ways = matches(expected, got, LEARNER, &Bindings::default());
        assert_eq!(ways.len(), 1);
        assert_eq!(ways[0].get("pod2"), Some("bbbbb"));
    }

    #[test]
    fn every_way_to_match_is_handed_back() {
        let expected = "pod \"<pod1>\" deleted\npod \"<pod2>\" deleted\n";
        let got = "pod \"bbbbb\" deleted\npod \"ccccc\" deleted\n";
        assert_eq!(matches(expected, got, LEARNER, &Bindings::default()).len(), 2);
    }

    #[test]
    fn counts_and_crash_words_are_tolerated_where_the_area_says_so() {
        for (expected, got, strict, learner) in [
            ("<age> (x3 over <age>)", "5s (x5 over 9s)", false, true),
            ("<age> (x3 over <age>)", "5s (x6 over 9s)", false, false),
            ("<age> (x3 over <age>)", "5s", false, true),
            ("<age>  Warning", "5s (x2 over 9s)  Warning", false, true),
            ("0/1  Error  0", "0/1  CrashLoopBackOff  0", false, true),
            ("Error: nothing", "CrashLoopBackOff: nothing", false, false),
        ] {
            assert_eq!(holds(expected, got, STRICT), strict, "{expected:?} {got:?}");
            assert_eq!(holds(expected, got, LEARNER), learner, "{expected:?} {got:?}");
        }
    }

    #[test]
    fn a_difference_shows_what_was_expected_and_what_came() {
        let shown = difference("a\nb\n", "a\nc\n", STRICT, &Bindings::default());
        assert_eq!(shown, "  a\n- b\n+ c\n  ");
    }
}
