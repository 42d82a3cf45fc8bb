//! The whole history: one lane per actor, the moment on screen, and the branches.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::timeline::{Lane, Timeline};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::actor::render_actor;

/// What the timeline draws.
#[derive(Properties, PartialEq)]
pub struct TimelineProps {
    /// The history.
    pub view: Rc<Timeline>,
    /// Whether it stands as a list.
    pub is_list: bool,
}

/// The timeline: lanes or list, slider, branches.
#[component]
pub fn TimelinePane(props: &TimelineProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    let branches = view.branches.iter().enumerate().map(|(at, branch)| {
        let hint = match branch.fork_tick {
            Some(tick) => desk.say("timeline.forked", &[("tick", &tick.to_string()), ("about", &branch.about)]),
            None => branch.about.clone(),
        };
        html! {
            <button title={hint} aria-pressed={if at == view.branch { "true" } else { "false" }} onclick={desk.on(Message::BranchChosen(at))}>
                if branch.fork_tick.is_some() {
                    <span aria-hidden="true">{ "↳ " }</span>
                }
                { branch.name.clone() }{ " · t=" }{ branch.tick }
            </button>
        }
    });
    html! {
        <section class="pane timeline" data-panel="timeline" aria-label={desk.t("timeline.label")}>
            <div class="timeline__head">
                <h2>{ desk.t("timeline.label") }</h2>
                if view.branches.len() > 1 {
                    <div class="timeline__branches" role="group" aria-label={desk.t("timeline.branches")}>{ for branches }</div>
                }
                if !view.filter.is_empty() {
                    <span class="timeline__filter">
                        { desk.say("timeline.filtered", &[("object", &view.filter)]) }
                        <button class="is-link" onclick={desk.on(Message::ObjectLeft)}>{ desk.t("timeline.unfilter") }</button>
                    </span>
                }
                <span class="timeline__fill"></span>
                if view.now + 1 < view.moments {
                    <button class="is-quiet" title={desk.t("timeline.fork_hint")} onclick={desk.on(Message::ForkAsked)}>{ desk.t("timeline.fork") }</button>
                }
                <button class="is-quiet" aria-pressed={if props.is_list { "true" } else { "false" }} onclick={desk.on(Message::TimelineListToggled)}>{ desk.t("timeline.as_list") }</button>
            </div>
            if props.is_list {
                { render_list(&desk, view) }
            } else {
                <div class="timeline__lanes" aria-hidden="true">
                    { for view.lanes.iter().map(|lane| render_lane(&desk, view, lane)) }
                    { render_traffic(&desk, view) }
                    { render_ruler(view) }
                </div>
            }
            { render_slider(&desk, view) }
        </section>
    }
}

/// Where a moment stands, in percent of the track.
fn place_of(view: &Timeline, moment: usize) -> String {
    let last = view.moments.saturating_sub(1).max(1);
    let tenths = moment.min(last) * 1000 / last;
    format!("{}.{}%", tenths / 10, tenths % 10)
}

fn render_now(view: &Timeline) -> Html {
    let x = place_of(view, view.now);
    html! { <line class="lane__now" x1={x.clone()} x2={x} y1="0" y2="100%" /> }
}

fn render_lane(desk: &Desk, view: &Timeline, lane: &Lane) -> Html {
    let dots = lane.dots.iter().map(|dot| {
        let onclick = desk.on(Message::FactChosen(dot.fact));
        let later = (dot.moment > view.now).then_some("is-later");
        let x = place_of(view, dot.moment);
        if dot.is_failure {
            html! {
                <svg x={x} y="50%" key={dot.fact}><rect class={classes!("lane__dot", "is-failure", later)} x="-4" y="-4" width="8" height="8" transform="rotate(45)" {onclick} /></svg>
            }
        } else {
            html! { <circle class={classes!("lane__dot", later)} key={dot.fact} cx={x} cy="50%" r="5" {onclick} /> }
        }
    });
    html! {
        <div class={classes!("lane", lane.tag.tint.class())} key={lane.tag.name.clone()}>
            <span class="lane__name" title={lane.tag.name.clone()}>{ lane.tag.name.clone() }</span>
            <div class="lane__track">
                <svg><line class="lane__rule" x1="0" x2="100%" y1="50%" y2="50%" />{ for dots }{ render_now(view) }</svg>
            </div>
        </div>
    }
}

fn render_traffic(desk: &Desk, view: &Timeline) -> Html {
    if view.traffic.is_empty() {
        return Html::default();
    }
    let sent = view.traffic.iter().map(|(moment, is_success)| {
        let x = place_of(view, *moment);
        if *is_success {
            html! { <svg x={x} y="50%"><rect class="lane__ok" x="-4" y="-4" width="8" height="8" rx="2" /></svg> }
        } else {
            html! { <svg x={x} y="50%"><path class="lane__bad" d="M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z" /></svg> }
        }
    });
    html! {
        <div class="lane">
            <span class="lane__name">{ desk.t("timeline.traffic") }</span>
            <div class="lane__track"><svg><line class="lane__rule" x1="0" x2="100%" y1="50%" y2="50%" />{ for sent }{ render_now(view) }</svg></div>
        </div>
    }
}

fn render_ruler(view: &Timeline) -> Html {
    let labels = view.ruler.iter().map(|(moment, tick)| {
        html! { <text x={place_of(view, *moment)} y="11">{ "t=" }{ tick }</text> }
    });
    html! { <div class="lane is-ruler"><span></span><div class="lane__track"><svg>{ for labels }</svg></div></div> }
}

fn render_slider(desk: &Desk, view: &Timeline) -> Html {
    let moved = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: InputEvent| {
            let value =
                event.target_dyn_into::<HtmlInputElement>().and_then(|input| input.value().parse().ok());
            if let Some(moment) = value {
                dispatch.emit(Message::MomentChosen(moment));
            }
        })
    };
    html! {
        <div class="scrub">
            <output>{ "t=" }{ view.ticks.0 }{ " … " }{ view.ticks.1 }</output>
            <input
                type="range" min="0" max={view.moments.saturating_sub(1).to_string()} step="1" value={view.now.to_string()}
                aria-label={desk.t("timeline.slider")} aria-valuetext={view.now_text.clone()} oninput={moved}
            />
        </div>
    }
}

fn render_list(desk: &Desk, view: &Timeline) -> Html {
    let rows = view.facts.iter().map(|fact| {
        html! {
            <tr key={fact.fact} class={fact.is_here.then_some("is-here")}>
                <td>{ "t=" }{ fact.tick }</td>
                <td>{ render_actor(&fact.actor) }</td>
                <td><button class="is-link" onclick={desk.on(Message::FactChosen(fact.fact))}>{ fact.text.clone() }</button></td>
            </tr>
        }
    });
    html! {
        <div class="timeline__list" tabindex="0">
            <table>
                <caption class="is-hidden-visually">{ desk.t("timeline.label") }</caption>
                <thead><tr><th scope="col">{ desk.t("timeline.when") }</th><th scope="col">{ desk.t("timeline.who") }</th><th scope="col">{ desk.t("timeline.what") }</th></tr></thead>
                <tbody>{ for rows }</tbody>
            </table>
        </div>
    }
}
