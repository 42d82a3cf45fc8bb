//! A sentence in runs.

use yew::prelude::*;

use crate::i18n::{Piece, Tone};

/// The runs of a sentence, each as a text node in its tone.
pub fn render_pieces(pieces: &[Piece]) -> Html {
    pieces
        .iter()
        .map(|piece| match piece.tone {
            Tone::Plain => html! { { piece.text.clone() } },
            Tone::Strong => html! { <b>{ piece.text.clone() }</b> },
            Tone::Code => html! { <code>{ piece.text.clone() }</code> },
        })
        .collect()
}
