//! Lines added and removed.

use yew::prelude::*;

use crate::app::view_model::why::{DiffLine, Sign};

/// The lines with their signs.
pub fn render_diff(lines: &[DiffLine]) -> Html {
    let rows = lines.iter().map(|line| match line.sign {
        Sign::Same => html! { <span class="diff__line">{ "  " }{ line.text.clone() }</span> },
        Sign::Added => html! { <ins class="diff__line is-added">{ "+ " }{ line.text.clone() }</ins> },
        Sign::Removed => html! { <del class="diff__line is-removed">{ "- " }{ line.text.clone() }</del> },
    });
    html! { <pre class="diff" tabindex="0">{ for rows }</pre> }
}
