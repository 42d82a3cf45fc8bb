//! A sentence that has not been said in a language yet.

use super::{Catalogue, Piece};

/// A key into the catalogue and its named arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The catalogue key, such as `transport.tick`.
    pub key: String,
    /// Arguments by name; a name that the text does not use is ignored.
    pub args: Vec<(String, Argument)>,
}

/// What stands in for a `{name}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// Printed as it is, in every language.
    Plain(String),
    /// Rendered in the language of the sentence around it.
    Text(Text),
}

impl Text {
    /// A sentence without arguments.
    pub fn new(key: impl Into<String>) -> Text {
        Text { key: key.into(), args: Vec::new() }
    }

    /// The same sentence with one more plain argument.
    pub fn with(mut self, name: &str, value: impl ToString) -> Text {
        self.args.push((name.to_string(), Argument::Plain(value.to_string())));
        self
    }

    /// The same sentence with one more argument that is itself a text.
    pub fn with_text(mut self, name: &str, value: Text) -> Text {
        self.args.push((name.to_string(), Argument::Text(value)));
        self
    }

    /// The sentence in the language of `catalogue`, without marks.
    pub fn render(&self, catalogue: &Catalogue) -> String {
        self.pieces(catalogue).into_iter().map(|piece| piece.text).collect()
    }

    /// The sentence as marked runs.
    pub fn pieces(&self, catalogue: &Catalogue) -> Vec<Piece> {
        let said: Vec<(&str, String)> = self
            .args
            .iter()
            .map(|(name, value)| {
                let value = match value {
                    Argument::Plain(value) => value.clone(),
                    Argument::Text(text) => text.render(catalogue),
                };
                (name.as_str(), value)
            })
            .collect();
        let borrowed: Vec<(&str, &str)> = said.iter().map(|(name, value)| (*name, value.as_str())).collect();
        catalogue.pieces(&self.key, &borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::i18n::{Language, catalogue};

    #[test]
    fn an_argument_can_be_a_text_of_its_own() {
        let text = Text::new("test.nested").with_text("what", Text::new("test.plain"));
        let words = catalogue(Language::En);
        assert_eq!(
            text.render(words),
            "outer [test.plain]".replace("[test.plain]", &words.say("test.plain", &[]))
        );
    }
}
