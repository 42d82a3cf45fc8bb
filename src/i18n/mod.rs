//! The words on the screen, in every language.
//!
//! A catalogue is a set of text files, one folder per [`Language`], one file per layer. A line is `key = text`; `#` begins
//! a comment. Lower layers never hold sentences: they hold a key and named arguments (for instance a fact's "because"),
//! and the screen renders them here, so the language can change at any time.
//!
//! In a text:
//! * `{name}` is the argument of that name;
//! * `{count?Pod:Pods}` chooses by whether the argument is `1` and prints only the word;
//! * `{name+은/는}` is the argument followed by the Korean particle that fits its last sound;
//! * `**strong**` and `` `code` `` mark a run, see [`Catalogue::pieces`].
//!
//! A missing key renders as the key itself: visible, harmless, and refused by the tests.

mod catalogue;
mod particle;
mod text;

pub use catalogue::{Catalogue, Piece, Tone, catalogue};
pub use text::{Argument, Text};

/// A language of the interface. Kubernetes terms stay English in all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

impl Language {
    /// Every language, in the order the switch shows them.
    pub const ALL: [Language; 2] = [Language::En, Language::Ko];

    /// The tag used in `lang` attributes, links and folder names.
    pub fn tag(self) -> &'static str {
        match self {
            Language::En => "en",
            Language::Ko => "ko",
        }
    }

    /// The language's own name for itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Language::En => "English",
            Language::Ko => "한국어",
        }
    }

    /// The language a tag such as `ko-KR` asks for, if it is spoken here.
    pub fn of_tag(tag: &str) -> Option<Language> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        Language::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_found_by_the_first_part_of_its_tag() {
        for (tag, expected) in
            [("ko-KR", Some(Language::Ko)), ("EN_us", Some(Language::En)), ("de", None), ("", None)]
        {
            assert_eq!(Language::of_tag(tag), expected, "{tag}");
        }
    }
}
