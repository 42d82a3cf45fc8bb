//! What is to be done outside: data, carried out in one file, `ui/effects.rs`.

use super::layout::Theme;
use crate::i18n::Language;

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Keep the session in the browser's storage.
    Save(String),
    /// Forget the kept session.
    Forget,
    /// Keep the choices about the page: language, theme, keys.
    Remember(String),
    /// Keep the lines typed in the terminal, a JSON list of texts, for the up key and Ctrl-R of later visits.
    RememberLines(String),
    /// Put a text on the clipboard and report back.
    Copy(String),
    /// Hand a file to the learner.
    Download {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
    },
    /// Send [`super::message::Message::TimerFired`] after a pause.
    WakeAfter {
        /// The pause.
        milliseconds: u32,
    },
    /// Set the page's language and theme.
    Dress {
        /// The language.
        language: Language,
        /// The theme.
        theme: Theme,
    },
    /// Put the keyboard where it belongs, by element id.
    Focus(&'static str),
}
