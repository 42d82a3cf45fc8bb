//! What the screen shows: the only Yew and web code.
//!
//! [`page`] is the root: it holds the state, hands messages to `app::update`, lets [`effects`] carry out what comes of
//! them, and gives every pane its view model. Panes and parts draw; they decide nothing.

pub mod desk;
pub mod editor_chunk;
pub mod effects;
pub mod measures;
pub mod page;
pub mod panes;
pub mod parts;

/// Draw the page into the document's body.
pub fn start() {
    measures::offer_if_asked();
    yew::Renderer::<page::Page>::new().render();
}
