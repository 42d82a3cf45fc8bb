//! What can be broken and what is, and what steady clients meet meanwhile.

use std::rc::Rc;

use yew::prelude::*;

use crate::app::view_model::faults::{FaultCard, FaultsView, FlowView};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::line::render_line;
use crate::ui::parts::pieces::render_pieces;

/// What the pane draws.
#[derive(Properties, PartialEq)]
pub struct FaultsProps {
    /// The faults and the clients.
    pub view: Rc<FaultsView>,
}

/// Traffic, signals, and a card for every fault.
#[component]
pub fn FaultsPane(props: &FaultsProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    html! {
        <article class="faults">
            <h2>{ desk.t("faults.traffic") }</h2>
            { for view.flows.iter().map(|flow| render_flow(&desk, flow)) }
            if view.flows.is_empty() {
                <p class="hint">{ desk.t("faults.no_traffic") }</p>
                { render_line(&desk, &view.start_line) }
            }
            <h2>{ desk.t("faults.showing") }</h2>
            if view.showing.is_empty() {
                <p class="hint">{ desk.t("faults.nothing_shows") }</p>
            } else {
                <ul class="faults__signals">{ for view.showing.iter().map(|signal| render_signal(&desk, signal, true)) }</ul>
            }
            <h2>{ desk.t("faults.cards") }{ " " }{ for view.targets.iter().map(|target| html! { <code>{ target.clone() }{ " " }</code> }) }</h2>
            <p class="hint">{ desk.t("faults.undo") }</p>
            { for view.cards.iter().map(|card| render_card(&desk, card)) }
        </article>
    }
}

fn render_signal(desk: &Desk, signal: &str, shows: bool) -> Html {
    html! {
        <li class={if shows { "is-failed" } else { "is-empty" }}>
            <i aria-hidden="true">{ if shows { "✕" } else { "○" } }</i>{ signal.to_string() }
            <span class="is-hidden-visually">{ ": " }{ desk.t(if shows { "faults.shows" } else { "faults.does_not_show" }) }</span>
        </li>
    }
}

fn render_card(desk: &Desk, card: &FaultCard) -> Html {
    html! {
        <details class={classes!("fault", card.is_caused.then_some("is-failed"))} key={card.word}>
            <summary>
                <code>{ card.word }</code><span>{ render_pieces(&card.does) }</span>
                if card.is_caused {
                    <b>{ "✕ " }{ desk.t("faults.caused") }</b>
                }
            </summary>
            <div class="fault__inside">
                <p><b>{ desk.t("faults.stands_for") }</b>{ " " }{ render_pieces(&card.stands_for) }</p>
                <p><b>{ desk.t("fault.repaired_by") }</b>{ " " }{ card.repaired_by.clone() }</p>
                if !card.signals.is_empty() {
                    <p><b>{ desk.t("fault.signals") }</b></p>
                    <ul class="faults__signals">{ for card.signals.iter().map(|(signal, shows)| render_signal(desk, signal, *shows)) }</ul>
                }
                { for card.lines.iter().map(|line| render_line(desk, line)) }
            </div>
        </details>
    }
}

/// The height of the strip and the width of a tick in it.
const STRIP: (u32, u32) = (28, 6);

fn render_flow(desk: &Desk, flow: &FlowView) -> Html {
    let (high, wide) = STRIP;
    let bars = flow.ticks.iter().enumerate().map(|(at, (tick, sent, failed))| {
        let x = (at as u32 * wide).to_string();
        let part = (failed * high).div_ceil((*sent).max(1));
        html! {
            <g>
                <title>{ ["t=", &tick.to_string(), ": ", &(sent - failed).to_string(), " / ", &sent.to_string()].concat() }</title>
                <rect class="strip__ok" {x} y={part.to_string()} width={(wide - 1).to_string()} height={(high - part).to_string()} />
                // A failure is a hollow box with a bar through it, so that it is told without its colour.
                if *failed > 0 {
                    <rect class="strip__failed" x={(at as u32 * wide + 1).to_string()} y="1" width={(wide - 3).to_string()} height={part.saturating_sub(1).max(1).to_string()} />
                }
            </g>
        }
    });
    let size = (flow.ticks.len() as u32 * wide).max(1);
    let per_tick = flow.per_tick.to_string();
    let words =
        desk.say("faults.flow", &[("name", &flow.name), ("count", &per_tick), ("total", &flow.total)]);
    html! {
        <div class="flow">
            <p><code>{ flow.name.clone() }</code>{ " " }{ desk.say("faults.rate", &[("count", &per_tick)]) }{ " " }<b data-traffic={flow.total.clone()}>{ flow.total.clone() }</b></p>
            <svg class="strip" role="img" aria-label={words} viewBox={["0 0 ", &size.to_string(), " ", &high.to_string()].concat()} width={size.to_string()} height={high.to_string()}>{ for bars }</svg>
            <details>
                <summary>{ desk.t("faults.as_table") }</summary>
                <dl class="flow__rows">{ for flow.rows.iter().map(|(when, what)| html! { <><dt>{ when.clone() }</dt><dd>{ what.clone() }</dd></> }) }</dl>
            </details>
            { render_line(desk, &flow.stop_line) }
        </div>
    }
}
