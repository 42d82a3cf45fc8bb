//! One fact explained: who, what it had seen, what it wrote, because of what.

use std::rc::Rc;

use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::why::{Link, Observation, Why, Write};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::actor::render_actor;
use crate::ui::parts::diff::render_diff;
use crate::ui::parts::line::render_line;
use crate::ui::parts::pieces::render_pieces;
use crate::ui::parts::verdicts::render_verdicts;

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct WhyProps {
    /// The explanation; `None` before anything happened.
    pub view: Option<Rc<Why>>,
}

/// The explanation.
#[component]
pub fn WhyPane(props: &WhyProps) -> Html {
    let desk = use_desk();
    let Some(view) = &props.view else {
        return html! { <div class="nothing"><p>{ desk.t("why.nothing") }</p></div> };
    };
    let tick = view.tick.to_string();
    let step = view.step.to_string();
    html! {
        <article class="why">
            <p class="why__who">
                { render_actor(&view.actor) }
                { " · " }
                if view.step == 0 {
                    { desk.say("why.tick", &[("tick", &tick)]) }
                } else {
                    { desk.say("why.moment", &[("tick", &tick), ("step", &step)]) }
                }
            </p>
            <h2>{ render_pieces(&view.headline) }</h2>
            if !view.reason.is_empty() {
                <p class="why__reason">{ render_pieces(&view.reason) }</p>
            }
            { for view.verdicts.iter().map(render_verdicts) }
            if !view.saw.is_empty() {
                <h3>{ desk.t("why.saw") }</h3>
                <ul class="why__saw">{ for view.saw.iter().map(|saw| render_observation(&desk, saw)) }</ul>
            }
            if !view.wrote.is_empty() {
                <h3>{ desk.t("why.wrote") }</h3>
                { for view.wrote.iter().map(|write| render_write(&desk, write)) }
            }
            if !view.chain.is_empty() {
                <h3>{ desk.t("why.because") }</h3>
                { render_chain(&desk, &view.chain) }
            }
            if view.siblings.len() > 1 {
                <h3>{ desk.t("why.same_step") }</h3>
                { render_chain(&desk, &view.siblings) }
            }
            if !view.command.is_empty() {
                <p class="hint">{ desk.t("why.see_yourself") }</p>
                { render_line(&desk, &view.command) }
            }
        </article>
    }
}

fn render_observation(desk: &Desk, saw: &Observation) -> Html {
    html! {
        <li>
            if let Some(object) = &saw.object {
                <button class="is-link" onclick={desk.on(Message::ObjectChosen(object.clone()))}><code>{ object.title() }</code></button>
            }
            { saw.text.clone() }
        </li>
    }
}

fn render_write(desk: &Desk, write: &Write) -> Html {
    html! {
        <div class="why__write">
            <p>
                { write.verb.clone() }{ " " }
                <button class="is-link" onclick={desk.on(Message::ObjectChosen(write.object.clone()))}><code>{ write.object.title() }</code></button>
            </p>
            if !write.refusal.is_empty() {
                <p class="why__refusal">{ write.refusal.clone() }</p>
            }
            if !write.lines.is_empty() {
                { render_diff(&write.lines) }
            }
        </div>
    }
}

/// Facts one after the other, each a button that explains it.
pub fn render_chain(desk: &Desk, chain: &[Link]) -> Html {
    let links = chain.iter().map(|link| {
        html! {
            <li>
                <button
                    class={classes!("chain__link", link.actor.tint.class(), link.is_here.then_some("is-here"))}
                    aria-current={link.is_here.then_some("true")}
                    onclick={desk.on(Message::FactChosen(link.fact))}
                >
                    <span>{ link.actor.name.clone() }{ ": " }{ link.text.clone() }</span>
                    <small>{ "t=" }{ link.tick }</small>
                </button>
            </li>
        }
    });
    html! { <ol class="chain">{ for links }</ol> }
}
