//! A table of verdicts.

use yew::prelude::*;

use crate::app::view_model::{Cell, Table};

/// The table; nothing when it has no rows.
pub fn render_verdicts(table: &Table) -> Html {
    if table.rows.is_empty() {
        return Html::default();
    }
    // The corner heads nothing.
    let head = table.head.iter().map(|title| match title.as_str() {
        "" => html! { <td></td> },
        title => html! { <th scope="col">{ title }</th> },
    });
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let (class, text) = match cell {
                Cell::Plain(text) => ("", text),
                Cell::Passed(text) => ("is-passed", text),
                Cell::Refused(text) => ("is-refused", text),
                Cell::Quiet(text) => ("is-quiet", text),
            };
            if at == 0 {
                html! { <th scope="row" class={class}>{ text.clone() }</th> }
            } else {
                html! { <td class={class}>{ text.clone() }</td> }
            }
        });
        html! { <tr>{ for cells }</tr> }
    });
    html! {
        <div class="verdicts" tabindex="0" role="group" aria-label={table.caption.clone()}>
            <table>
                if !table.caption.is_empty() {
                    <caption>{ table.caption.clone() }</caption>
                }
                <thead><tr>{ for head }</tr></thead>
                <tbody>{ for rows }</tbody>
            </table>
        </div>
    }
}
