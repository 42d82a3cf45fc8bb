//! The two marks beside an object, with their words for who does not see them.

use yew::prelude::*;

use crate::app::view_model::{Mark, Marks};
use crate::ui::desk::Desk;

/// Both marks.
pub fn render_marks(desk: &Desk, marks: Marks) -> Html {
    html! {
        <span class="marks" role="img" aria-label={words_of(desk, marks)} title={words_of(desk, marks)}>
            { render_mark(marks.exists) }{ render_mark(marks.achieved) }
        </span>
    }
}

/// One mark, silent.
pub fn render_mark(mark: Mark) -> Html {
    html! { <i class={classes!("marks__mark", mark.class())} aria-hidden="true"></i> }
}

/// Both marks in words: "exists: done; purpose: under way".
pub fn words_of(desk: &Desk, marks: Marks) -> String {
    desk.say(
        "marks.words",
        &[("exists", &desk.t(marks.exists.key())), ("achieved", &desk.t(marks.achieved.key()))],
    )
}
