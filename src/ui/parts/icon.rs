//! The few icons there are, drawn with the current colour.

use yew::prelude::*;

/// The shapes of the transport, on a field of 16.
pub const FIRST: &str = "M2 2h2v12H2zM14 2v12L5 8z";
/// One step back.
pub const BACK: &str = "M13 2v12L3 8z";
/// One step on.
pub const STEP: &str = "M2 2v12l7-6zM11 2h2v12h-2z";
/// One tick on.
pub const TICK: &str = "M3 2v12l10-6z";
/// On until quiet.
pub const QUIET: &str = "M2 2v12l6-6zM8 2v12l6-6z";
/// Halt.
pub const PAUSE: &str = "M3 2h4v12H3zM9 2h4v12H9z";

/// An icon of the transport.
pub fn render_icon(path: &'static str) -> Html {
    html! {
        <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false"><path d={path} fill="currentColor" /></svg>
    }
}

/// The sign of the house: steps, and a light at the top.
pub fn render_sign() -> Html {
    html! {
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
            <path d="M3 20h6v-6h6V8h6V3" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round" />
            <circle cx="21" cy="3" r="2" fill="currentColor" />
        </svg>
    }
}
