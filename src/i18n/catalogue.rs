//! The texts of one language and how a text becomes a sentence.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::Language;
use super::particle::with_particle;

/// What the first picture of the page says.
fn first_files(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &[include_str!("en/screen.txt"), include_str!("en/share.txt")],
        Language::Ko => &[include_str!("ko/screen.txt"), include_str!("ko/share.txt")],
    }
}

/// What is said of what happened and of what somebody asks about: the page's first part does without it
/// (`scripts/page/later.txt`).
#[inline(never)]
fn later_files(language: Language) -> &'static [&'static str] {
    match language {
        Language::En => &[
            include_str!("en/because.txt"),
            include_str!("en/trace.txt"),
            include_str!("en/faults.txt"),
            include_str!("en/lessons.txt"),
            include_str!("en/fields.txt"),
        ],
        Language::Ko => &[
            include_str!("ko/because.txt"),
            include_str!("ko/trace.txt"),
            include_str!("ko/faults.txt"),
            include_str!("ko/lessons.txt"),
            include_str!("ko/fields.txt"),
        ],
    }
}

static EN: OnceLock<Catalogue> = OnceLock::new();
static KO: OnceLock<Catalogue> = OnceLock::new();

/// The catalogue of a language, read on first use.
pub fn catalogue(language: Language) -> &'static Catalogue {
    let cell = match language {
        Language::En => &EN,
        Language::Ko => &KO,
    };
    cell.get_or_init(|| Catalogue::read(language))
}

/// Every text of one language.
#[derive(Debug)]
pub struct Catalogue {
    language: Language,
    texts: BTreeMap<&'static str, &'static str>,
    later: OnceLock<BTreeMap<&'static str, &'static str>>,
}

/// A run of a sentence in one tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How the run is set.
    pub tone: Tone,
    /// The run itself, never empty.
    pub text: String,
}

/// How a run of text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As the text around it.
    Plain,
    /// The word that matters.
    Strong,
    /// A name, field or command as typed.
    Code,
}

impl Catalogue {
    fn read(language: Language) -> Catalogue {
        Catalogue { language, texts: texts_of(first_files(language)), later: OnceLock::new() }
    }

    fn text(&self, key: &str) -> Option<&'static str> {
        let later = || self.later.get_or_init(|| texts_of(later_files(self.language)));
        self.texts.get(key).or_else(|| later().get(key)).copied()
    }

    /// The language of these texts.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Whether there is a text for `key`.
    pub fn has(&self, key: &str) -> bool {
        self.text(key).is_some()
    }

    /// What a field of a record is for; empty for the many that nothing is said of.
    pub fn about_field(&self, record: &str, field: &str) -> &'static str {
        let of = |record: &str| self.text(&["field.", record, ".", field].concat());
        of(record).or_else(|| of("any")).unwrap_or_default()
    }

    /// The sentence for `key`, without marks.
    pub fn say(&self, key: &str, args: &[(&str, &str)]) -> String {
        self.pieces(key, args).into_iter().map(|piece| piece.text).collect()
    }

    /// The sentence for `key` as runs, so that a name can be set in code type without any markup in the arguments:
    /// only the catalogue's own marks count, an argument is always plain characters.
    pub fn pieces(&self, key: &str, args: &[(&str, &str)]) -> Vec<Piece> {
        let template = self.text(key).unwrap_or(key);
        let mut pieces = Vec::new();
        let mut tone = Tone::Plain;
        let mut run = String::new();
        let mut rest = template;
        while let Some(next) = rest.chars().next() {
            let (turned, length) = match next {
                '`' => (Some(Tone::Code), 1),
                '*' if rest.starts_with("**") => (Some(Tone::Strong), 2),
                _ => (None, next.len_utf8()),
            };
            if let Some(turned) = turned {
                if !run.is_empty() {
                    pieces.push(Piece { tone, text: std::mem::take(&mut run) });
                }
                tone = if tone == turned { Tone::Plain } else { turned };
                rest = &rest[length..];
                continue;
            }
            if next == '{'
                && let Some(end) = rest.find('}')
            {
                run.push_str(&filled(&rest[1..end], args));
                rest = &rest[end + 1..];
                continue;
            }
            run.push(next);
            rest = &rest[length..];
        }
        if !run.is_empty() {
            pieces.push(Piece { tone, text: run });
        }
        pieces
    }
}

/// What stands for the inside of one pair of braces.
fn filled(hole: &str, args: &[(&str, &str)]) -> String {
    let name_end = hole.find(['?', '+']).unwrap_or(hole.len());
    let (name, form) = hole.split_at(name_end);
    let Some((_, value)) = args.iter().find(|(known, _)| *known == name) else {
        return format!("{{{hole}}}");
    };
    match form.as_bytes().first() {
        Some(b'?') => {
            let (one, many) = form[1..].split_once(':').unwrap_or((&form[1..], &form[1..]));
            if *value == "1" { one.to_string() } else { many.to_string() }
        }
        Some(b'+') => with_particle(value, &form[1..]),
        _ => value.to_string(),
    }
}

fn texts_of(files: &'static [&'static str]) -> BTreeMap<&'static str, &'static str> {
    files.iter().flat_map(|file| lines_of(file)).collect()
}

/// The `key = text` lines of a file, in order.
fn lines_of(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(key, text)| (key.trim(), text.trim()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;

    fn catalogue_of(text: &'static str) -> Catalogue {
        Catalogue { language: Language::En, texts: lines_of(text).collect(), later: OnceLock::new() }
    }

    /// The argument names a text asks for.
    fn names_in(template: &str) -> BTreeSet<&str> {
        template
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(hole, _)| hole.split(['?', '+']).next().unwrap_or_default())
            .collect()
    }

    #[test]
    fn a_text_is_filled_with_its_arguments() {
        let words = catalogue_of("a = {name} has {count} {count?Pod:Pods}\nb = {name+은/는} 준비됐다");
        for (key, args, expected) in [
            ("a", vec![("name", "api"), ("count", "1")], "api has 1 Pod"),
            ("a", vec![("name", "api"), ("count", "3")], "api has 3 Pods"),
            ("b", vec![("name", "node-1")], "node-1은 준비됐다"),
            ("a", vec![("name", "{count}"), ("count", "2")], "{count} has 2 Pods"),
            ("a", vec![("count", "2")], "{name} has 2 Pods"),
            ("nowhere", vec![], "nowhere"),
        ] {
            assert_eq!(words.say(key, &args), expected);
        }
    }

    #[test]
    fn marks_of_the_text_make_runs_and_marks_of_an_argument_do_not() {
        let words = catalogue_of("a = needs **{amount}** of `{what}` now");
        let runs = words.pieces("a", &[("amount", "`1`"), ("what", "**cpu**")]);
        let shown: Vec<(Tone, &str)> = runs.iter().map(|run| (run.tone, run.text.as_str())).collect();
        assert_eq!(
            shown,
            [
                (Tone::Plain, "needs "),
                (Tone::Strong, "`1`"),
                (Tone::Plain, " of "),
                (Tone::Code, "**cpu**"),
                (Tone::Plain, " now"),
            ]
        );
    }

    fn everything(language: Language) -> BTreeMap<&'static str, &'static str> {
        let mut texts = texts_of(first_files(language));
        texts.extend(texts_of(later_files(language)));
        texts
    }

    #[test]
    fn every_language_has_the_same_keys_and_the_same_arguments() {
        let en = everything(Language::En);
        let ko = everything(Language::Ko);
        let of =
            |texts: &BTreeMap<&'static str, &'static str>| texts.keys().copied().collect::<BTreeSet<_>>();
        let missing: Vec<_> = of(&en).symmetric_difference(&of(&ko)).copied().collect();
        assert_eq!(missing, Vec::<&str>::new(), "keys that stand in one language only");
        for (key, template) in &en {
            assert!(catalogue(Language::En).has(key), "{key} is found");
            assert_eq!(names_in(template), names_in(ko[key]), "arguments of {key}");
        }
    }

    #[test]
    fn no_key_stands_twice_and_no_text_is_empty() {
        for language in Language::ALL {
            let mut seen = BTreeSet::new();
            for (key, text) in
                first_files(language).iter().chain(later_files(language)).flat_map(|file| lines_of(file))
            {
                assert!(seen.insert(key), "{} has {key} twice", language.tag());
                assert!(!text.is_empty(), "{} has no text for {key}", language.tag());
            }
        }
    }

    fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .expect("the source folder can be listed")
            .map(|entry| entry.expect("an entry can be read").path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                rust_files(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                into.push(path);
            }
        }
    }

    /// Keys written in the source: every string literal that begins with one of the catalogue's first words followed by
    /// a dot, given to something that says it.
    #[test]
    fn every_key_used_in_the_source_has_a_text() {
        const SAYERS: [&str; 8] = [
            "because!(\"",
            "Because::new(\"",
            "Because::of(\"",
            "Text::new(\"",
            "say(\"",
            "desk.t(\"",
            "key: \"because.",
            "key: \"trace.",
        ];
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        let words = catalogue(Language::En);
        let mut missing = BTreeSet::new();
        for file in files {
            if file.starts_with(source.join("i18n")) {
                continue;
            }
            // Wrapped calls put the literal on the next line.
            let text: String = std::fs::read_to_string(&file).expect("a source file can be read");
            let text =
                text.replace("(\n", "(").split("( ").map(str::trim_start).collect::<Vec<_>>().join("(");
            for sayer in SAYERS {
                let keeps = sayer.rfind('"').map_or(0, |quote| sayer.len() - quote - 1);
                for (at, _) in text.match_indices(sayer) {
                    let start = at + sayer.len() - keeps;
                    let key: String = text[start..].chars().take_while(|letter| *letter != '"').collect();
                    if key.contains('.') && !key.ends_with('.') && !key.contains('{') && !words.has(&key) {
                        missing.insert(format!("{key} ({})", file.display()));
                    }
                }
            }
        }
        assert_eq!(missing, BTreeSet::new(), "keys without a text");
    }
}
