//! What the screen shows: the only Yew and web code.

pub mod editor_chunk;

use yew::prelude::*;

/// Draw the page into the document's body.
pub fn start() {
    yew::Renderer::<Page>::new().render();
}

#[function_component]
fn Page() -> Html {
    html! { <main><h1>{ "Kubestep" }</h1></main> }
}
