//! What a recording leaves open, and what has been found to stand there.

use std::collections::BTreeMap;

use regex_lite::Regex;
use std::sync::OnceLock;

/// What may stand in the place of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A pod-template-hash or controller-revision-hash.
    Hash,
    /// A random suffix of five characters.
    Suffix,
    /// A uid.
    Uid,
    /// An IPv4 address.
    Address,
    /// A resource version, a port, a count: any number.
    Number,
    /// A name: of a node, a container, a server.
    Word,
    /// A date and time.
    Time,
    /// A human duration such as `2m3s`.
    Age,
    /// A Go duration such as `1.5s`.
    Duration,
    /// The suffix of an event's name.
    Hexadecimal,
    /// A path of the API server's source tree and a line.
    Source,
}

/// The words of placeholders. Those that carry a number stand for the same value throughout a case.
const WORDS: &[(&str, Class, bool)] = &[
    ("hash", Class::Hash, true),
    ("pod", Class::Suffix, true),
    ("uid", Class::Uid, true),
    ("ip", Class::Address, true),
    ("port", Class::Number, true),
    ("node", Class::Word, true),
    ("container", Class::Word, true),
    ("rv", Class::Number, false),
    ("time", Class::Time, false),
    ("age", Class::Age, false),
    ("dur", Class::Duration, false),
    ("port", Class::Number, false),
    ("server", Class::Word, false),
    ("event", Class::Hexadecimal, false),
    ("rand", Class::Suffix, false),
    ("minutes", Class::Number, false),
    ("n", Class::Number, false),
];

/// The alphabet of Kubernetes' random names and hashes.
const ALPHABET: &str = "bcdfghjklmnpqrstvwxz2456789";

impl Class {
    /// The placeholder at the beginning of `text`, with its binding name (if it has a number) and its length.
    pub fn parse(text: &str) -> Option<(Self, Option<&str>, usize)> {
        let inner = text.strip_prefix('<')?;
        let inner = &inner[..inner.find('>')?];
        let word = inner.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = word.len() < inner.len();
        let (_, class, _) =
            WORDS.iter().find(|(known, _, has_number)| *known == word && *has_number == numbered)?;
        Some((*class, numbered.then_some(inner), inner.len() + 2))
    }

    /// The lengths, longest first, of what may stand for the placeholder at the beginning of `text`.
    pub fn lengths(self, text: &str) -> Vec<usize> {
        let run = |accept: fn(char) -> bool| text.find(|c| !accept(c)).unwrap_or(text.len());
        let in_alphabet = |c: char| ALPHABET.contains(c);
        match self {
            Self::Hash => (6..=run(in_alphabet).min(10)).rev().collect(),
            Self::Suffix => {
                if run(in_alphabet) >= 5 {
                    vec![5]
                } else {
                    Vec::new()
                }
            }
            Self::Number => (1..=run(|c| c.is_ascii_digit())).rev().collect(),
            Self::Word => {
                let longest = run(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '/' | '_'));
                (1..=longest).rev().collect()
            }
            Self::Hexadecimal => (1..=run(|c| c.is_ascii_hexdigit())).rev().collect(),
            Self::Uid | Self::Address | Self::Time | Self::Age | Self::Duration | Self::Source => {
                self.pattern().find(text).map(|found| found.end()).into_iter().collect()
            }
        }
    }

    fn pattern(self) -> &'static Regex {
        static PATTERNS: OnceLock<BTreeMap<Class, Regex>> = OnceLock::new();
        let patterns = PATTERNS.get_or_init(|| {
            let of = |class, text: &str| (class, Regex::new(text).expect("the pattern is well-formed"));
            BTreeMap::from([
                of(Self::Uid, "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
                of(Self::Address, r"^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"),
                of(
                    Self::Time,
                    r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( [A-Z]+)?|(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d [+-]\d{4})",
                ),
                of(Self::Age, r"^(\d+[ydhms]){1,3}"),
                of(Self::Duration, r"^(\d+(\.\d+)?(h|ms|m|s|µs|ns))+"),
                of(Self::Source, r"^[a-z0-9./_-]+\.go:\d+"),
            ])
        });
        patterns.get(&self).expect("a class with a pattern")
    }
}

/// What has been found to stand for each numbered placeholder.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bindings {
    values: BTreeMap<String, String>,
}

impl Bindings {
    /// The value of a numbered placeholder such as `hash1`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Binds the placeholder, unless it has another value or another number of the same word has this value.
    #[must_use]
    pub fn bind(&mut self, name: &str, value: &str) -> bool {
        if let Some(bound) = self.values.get(name) {
            return bound == value;
        }
        let word = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_string();
        let wanted = word(name);
        if self.values.iter().any(|(other, bound)| bound == value && word(other) == wanted) {
            return false;
        }
        self.values.insert(name.to_string(), value.to_string());
        true
    }

    /// The text with every bound placeholder replaced.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('<') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            match Class::parse(rest) {
                Some((_, Some(name), length)) if self.get(name).is_some() => {
                    filled.push_str(self.get(name).unwrap_or_default());
                    rest = &rest[length..];
                }
                _ => {
                    filled.push('<');
                    rest = &rest[1..];
                }
            }
        }
        filled.push_str(rest);
        filled
    }

    /// The first numbered placeholder in the text that has no value.
    pub fn unbound<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.match_indices('<').find_map(|(at, _)| match Class::parse(&text[at..]) {
            Some((_, Some(name), _)) if self.get(name).is_none() => Some(name),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_are_placeholders() {
        for (text, expected) in [
            ("<hash12> x", Some((Class::Hash, Some("hash12"), 8))),
            ("<age>", Some((Class::Age, None, 5))),
            ("<port>", Some((Class::Number, None, 6))),
            ("<none>", None),
            ("<hash>", None),
            ("<age1>", None),
            ("<unset", None),
        ] {
            assert_eq!(Class::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_stands_for_one_number_only() {
        let mut bindings = Bindings::default();
        assert!(bindings.bind("pod1", "abcde") && bindings.bind("pod1", "abcde"));
        assert!(!bindings.bind("pod2", "abcde") && !bindings.bind("pod1", "vwxyz"));
        assert!(bindings.bind("hash1", "abcde"));
        assert_eq!(bindings.fill("web-<hash1>-<pod1> <pod2> <none>"), "web-abcde-abcde <pod2> <none>");
        assert_eq!(bindings.unbound("a <none> <pod1> <pod2>"), Some("pod2"));
    }
}
