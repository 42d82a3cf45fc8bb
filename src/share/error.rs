//! Why a link or a file is refused, as a sentence to be.

use std::fmt;

use crate::i18n::{Language, catalogue};

/// A refusal: a key into the catalogues and arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareError {
    /// The catalogue key, `share.refused.…`.
    pub key: &'static str,
    /// The arguments, by name.
    pub args: Vec<(&'static str, String)>,
}

impl ShareError {
    /// A refusal without arguments.
    pub fn new(key: &'static str) -> Self {
        Self { key, args: Vec::new() }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.args.push((name, value.to_string()));
        self
    }

    /// The sentence in a language.
    pub fn sentence(&self, language: Language) -> String {
        let args: Vec<(&str, &str)> = self.args.iter().map(|(name, value)| (*name, value.as_str())).collect();
        catalogue(language).say(self.key, &args)
    }
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(Language::En))
    }
}

impl std::error::Error for ShareError {}
