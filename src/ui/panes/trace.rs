//! The journey of a request, hop by hop.

use std::rc::Rc;

use yew::prelude::*;

use super::path::{hop_word, render_ask};
use crate::app::message::Message;
use crate::app::view_model::trace::{Hop, TraceView};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::icon::{self, render_icon};
use crate::ui::parts::line::render_line;
use crate::ui::parts::pieces::render_pieces;
use crate::ui::parts::verdicts::render_verdicts;

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct TraceProps {
    /// The requests and one journey.
    pub view: Rc<TraceView>,
}

/// The journey.
#[component]
pub fn TracePane(props: &TraceProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    let requests = view.requests.iter().enumerate().map(|(at, request)| {
        html! {
            <button
                class={if request.is_success { "is-done" } else { "is-failed" }}
                aria-pressed={if at == view.shown { "true" } else { "false" }} title={request.line.clone()}
                onclick={desk.on(Message::RequestChosen(request.number))}
            >
                { request.number }{ " · t=" }{ request.tick }{ " " }<b>{ request.answer.clone() }</b>
            </button>
        }
    });
    html! {
        <article class="trace">
            { render_ask(&desk, "trace-url", "trace__ask", &view.request_url) }
            if view.requests.is_empty() {
                <p class="hint">{ desk.t("trace.nothing") }</p>
            } else {
                <div class="trace__requests" role="group" aria-label={desk.t("trace.requests")}>{ for requests }</div>
                { render_journey(&desk, view) }
            }
        </article>
    }
}

fn render_journey(desk: &Desk, view: &TraceView) -> Html {
    let Some(request) = view.requests.get(view.shown) else {
        return Html::default();
    };
    let place = desk
        .say("trace.hop_of", &[("hop", &(view.hop + 1).to_string()), ("hops", &view.hops.len().to_string())]);
    html! {
        <>
            <p class={classes!("trace__line", if request.is_success { "is-done" } else { "is-failed" })}>
                <code>{ request.line.clone() }</code><b>{ request.answer.clone() }</b>
            </p>
            <div class="trace__steps">
                <button disabled={view.hop == 0} aria-label={desk.t("trace.hop_back")} title={desk.t("trace.hop_back")} onclick={desk.on(Message::HopChosen(view.hop.saturating_sub(1)))}>{ render_icon(icon::BACK) }</button>
                <button disabled={view.hop + 1 >= view.hops.len()} aria-label={desk.t("trace.hop_on")} title={desk.t("trace.hop_on")} onclick={desk.on(Message::HopChosen(view.hop + 1))}>{ render_icon(icon::TICK) }</button>
                <span>{ place }</span>
                <span class="tabs__fill"></span>
                <button class="is-quiet" onclick={desk.on(Message::TraceCopyAsked)}>{ desk.t("trace.copy") }</button>
            </div>
            <ol class="hops">{ for view.hops.iter().enumerate().map(|(at, hop)| render_hop(desk, at, hop, at == view.hop)) }</ol>
            if !view.not_modelled.is_empty() {
                <p class="hint">{ desk.t("trace.not_modelled") }{ " " }{ view.not_modelled.join("; ") }</p>
            }
        </>
    }
}

fn render_hop(desk: &Desk, at: usize, hop: &Hop, is_here: bool) -> Html {
    let evidence = hop.evidence.iter().map(|(object, field)| {
        html! {
            <span><button class="is-link" onclick={desk.on(Message::ObjectChosen(object.clone()))}><code>{ object.title() }</code></button>{ " " }<code>{ field.clone() }</code></span>
        }
    });
    html! {
        <li class={classes!("hop", hop.mark.class(), is_here.then_some("is-here"))} aria-current={is_here.then_some("step")}>
            <i class="hop__dot" aria-hidden="true"></i>
            <button class="hop__name" onclick={desk.on(Message::HopChosen(at))}>
                { hop.name.clone() }<span class="is-hidden-visually">{ ": " }{ desk.t(hop_word(hop.mark)) }</span>
            </button>
            if is_here && !hop.question.is_empty() {
                <span class="hop__question">{ render_pieces(&hop.question) }</span>
            }
            if !hop.result.is_empty() {
                <span class="hop__result">{ render_pieces(&hop.result) }</span>
            }
            if is_here {
                { for hop.notes.iter().map(|note| html! { <span class="hop__question">{ render_pieces(note) }</span> }) }
                if let Some(table) = &hop.candidates {
                    { render_verdicts(table) }
                }
                if !hop.evidence.is_empty() {
                    <div class="hop__evidence">{ for evidence }</div>
                }
                if !hop.repair.is_empty() {
                    <div class="repair"><p>{ render_pieces(&hop.repair) }</p>{ render_line(desk, &hop.command) }</div>
                } else {
                    { render_line(desk, &hop.command) }
                }
            }
        </li>
    }
}
