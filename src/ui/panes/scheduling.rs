//! Every attempt to place a Pod: every node, every rule.

use std::rc::Rc;

use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::scheduling::Scheduling;
use crate::ui::desk::use_desk;
use crate::ui::parts::pieces::render_pieces;
use crate::ui::parts::verdicts::render_verdicts;

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct SchedulingProps {
    /// The attempts.
    pub view: Rc<Scheduling>,
}

/// The attempts.
#[component]
pub fn SchedulingPane(props: &SchedulingProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    if view.attempts.is_empty() {
        return html! { <div class="nothing"><p>{ desk.t("scheduling.nothing") }</p></div> };
    }
    let attempts = view.attempts.iter().enumerate().map(|(at, attempt)| {
        let is_shown = at == view.shown;
        html! {
            <li>
                <button aria-current={is_shown.then_some("true")} onclick={desk.on(Message::AttemptChosen(attempt.fact))}>
                    <span>{ "t=" }{ attempt.tick }</span>
                    <code>{ attempt.pod.name.clone() }</code>
                    if attempt.node.is_empty() {
                        <span class="is-failed">{ "✗ " }{ desk.t("scheduling.no_node") }</span>
                    } else {
                        <span>{ "→ " }{ attempt.node.clone() }</span>
                    }
                </button>
            </li>
        }
    });
    html! {
        <article class="scheduling">
            <ul class="attempts" aria-label={desk.t("scheduling.attempts")} tabindex="0">{ for attempts }</ul>
            <p class="scheduling__outcome">{ render_pieces(&view.outcome) }</p>
            { render_verdicts(&view.filters) }
            { render_verdicts(&view.scores) }
        </article>
    }
}
