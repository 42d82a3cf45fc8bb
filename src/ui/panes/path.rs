//! The way of the last request, and the line that sends one.

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::app::layout::InspectorTab;
use crate::app::message::Message;
use crate::app::view_model::Mark;
use crate::app::view_model::map::{PathHop, RequestPath};
use crate::ui::desk::{Desk, use_desk};

/// What the path draws.
#[derive(Properties, PartialEq)]
pub struct PathProps {
    /// The way of the last request.
    pub path: Option<RequestPath>,
    /// The address the form offers.
    pub request_url: String,
}

/// The request form, and the hops as an ordered list.
#[component]
pub fn PathPane(props: &PathProps) -> Html {
    let desk = use_desk();
    html! {
        <div class="path">
            <div class="path__row">
                { render_ask(&desk, "path-url", "path__ask", &props.request_url) }
                if let Some(path) = &props.path {
                    <p class={classes!("path__answer", if path.is_success { "is-done" } else { "is-failed" })} title={path.url.clone()}>
                        <b data-answer={path.answer.clone()}>{ path.answer.clone() }</b>
                        <button class="is-link" onclick={desk.on(Message::InspectorTabChosen(InspectorTab::Trace))}>{ desk.t("path.open") }</button>
                    </p>
                }
            </div>
            if let Some(path) = &props.path {
                <ol class="path__hops" aria-label={desk.t("path.label")} tabindex="0">{ for path.hops.iter().map(|hop| render_hop(&desk, hop)) }</ol>
            }
        </div>
    }
}

fn render_hop(desk: &Desk, hop: &PathHop) -> Html {
    html! {
        <li class={classes!("path__hop", hop.mark.class(), hop.is_here.then_some("is-here"))}>
            { hop.name.clone() }
            <span class="is-hidden-visually">{ ": " }{ desk.t(hop_word(hop.mark)) }</span>
            if !hop.note.is_empty() && hop.mark != Mark::Empty {
                <small title={hop.note.clone()}>{ hop.note.clone() }</small>
            }
        </li>
    }
}

/// The catalogue key of what happened at a hop.
pub fn hop_word(mark: Mark) -> &'static str {
    match mark {
        Mark::Done => "hop.passed",
        Mark::Failed => "hop.dropped",
        Mark::UnderWay => "hop.unknown",
        Mark::Empty => "hop.not_reached",
    }
}

/// The line that sends a request.
pub fn render_ask(desk: &Desk, id: &'static str, class: &'static str, url: &str) -> Html {
    let edited = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                dispatch.emit(Message::RequestEdited(input.value()));
            }
        })
    };
    let sent = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            dispatch.emit(Message::RequestSent);
        })
    };
    let mut hint = "curl ".to_string();
    hint.push_str(url);
    html! {
        <form class={class} onsubmit={sent}>
            <label for={id}>{ "GET" }</label>
            <input {id} type="text" inputmode="url" autocomplete="off" autocapitalize="off" spellcheck="false" aria-label={desk.t("path.address")} value={url.to_string()} oninput={edited} />
            <button title={hint}>{ desk.t("path.send") }</button>
        </form>
    }
}
