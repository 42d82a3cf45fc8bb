//! What every pane has at hand: the words of the language on screen, and the way to say what happened.

use yew::prelude::*;

use crate::app::message::Message;
use crate::i18n::{Language, catalogue};

/// The words and the way out, given to all panes through Yew's context.
#[derive(Clone, PartialEq)]
pub struct Desk {
    /// The language on screen.
    pub language: Language,
    /// Takes what happened.
    pub dispatch: Callback<Message>,
    /// Even and odd, by turns: the class that lights up what the step on screen changed.
    pub changed_class: &'static str,
}

impl Desk {
    /// The words for `key`.
    pub fn t(&self, key: &str) -> String {
        catalogue(self.language).say(key, &[])
    }

    /// The words for `key` with arguments.
    pub fn say(&self, key: &str, args: &[(&str, &str)]) -> String {
        catalogue(self.language).say(key, args)
    }

    /// A handler that says `message`, whatever the event.
    pub fn on<E>(&self, message: Message) -> Callback<E> {
        let dispatch = self.dispatch.clone();
        Callback::from(move |_| dispatch.emit(message.clone()))
    }

    /// Say `message` now.
    pub fn tell(&self, message: Message) {
        self.dispatch.emit(message);
    }
}

/// The desk of the page this component stands in.
#[hook]
pub fn use_desk() -> Desk {
    use_context::<Desk>().expect("panes stand inside the page, which provides the desk")
}
