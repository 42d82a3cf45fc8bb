//! A row of tabs: one stop for the Tab key, arrows to go along.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};
use yew::prelude::*;

use crate::app::message::Message;
use crate::ui::desk::Desk;

/// One tab.
pub struct Tab {
    /// Its id in the page.
    pub id: String,
    /// The id of its panel; empty when the panel is not one.
    pub panel: &'static str,
    /// Its label.
    pub label: String,
    /// Whether it is the one on screen.
    pub is_shown: bool,
    /// What choosing it says.
    pub message: Message,
    /// A flag after the label, with its words.
    pub flag: Option<(&'static str, String)>,
}

/// The row.
pub fn render_tabs(desk: &Desk, label: String, tabs: Vec<Tab>) -> Html {
    let tabs = tabs.into_iter().map(|tab| {
        html! {
            <button
                class="tabs__tab" role="tab" id={tab.id.clone()} key={tab.id.clone()}
                aria-selected={if tab.is_shown { "true" } else { "false" }}
                aria-controls={(!tab.panel.is_empty()).then_some(tab.panel)}
                tabindex={if tab.is_shown { "0" } else { "-1" }}
                onclick={desk.on(tab.message)}
            >
                { tab.label }
                if let Some((class, words)) = tab.flag {
                    <i class={classes!("tabs__flag", class)} role="img" aria-label={words}></i>
                }
            </button>
        }
    });
    html! {
        <div class="tabs__list" role="tablist" aria-label={label} onkeydown={Callback::from(go_along)}>{ for tabs }</div>
    }
}

fn go_along(event: KeyboardEvent) {
    let Some(here) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else {
        return;
    };
    let row = here.parent_element();
    let next = match event.key().as_str() {
        "ArrowRight" => here.next_element_sibling().or_else(|| row.and_then(|row| row.first_element_child())),
        "ArrowLeft" => {
            here.previous_element_sibling().or_else(|| row.and_then(|row| row.last_element_child()))
        }
        "Home" => row.and_then(|row| row.first_element_child()),
        "End" => row.and_then(|row| row.last_element_child()),
        _ => return,
    };
    event.prevent_default();
    if let Some(next) = next.and_then(|next| next.dyn_into::<HtmlElement>().ok()) {
        next.click();
        // A tab that cannot take the keyboard leaves it where it is.
        next.focus().ok();
    }
}
