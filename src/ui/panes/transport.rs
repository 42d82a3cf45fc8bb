//! Time: back, now, forward.

use std::rc::Rc;

use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::transport::Transport;
use crate::ui::desk::use_desk;
use crate::ui::parts::icon::{self, render_icon};

/// What the transport draws.
#[derive(Properties, PartialEq)]
pub struct TransportProps {
    /// Where we are in time.
    pub view: Rc<Transport>,
}

/// The buttons of time.
#[component]
pub fn TransportPane(props: &TransportProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    let step = view.step.to_string();
    let steps = view.steps.to_string();
    let button = |class: &'static str,
                  path: &'static str,
                  word: &'static str,
                  hint: &'static str,
                  message: Message,
                  enabled: bool,
                  shows: bool| {
        html! {
            <button
                class={class} title={desk.t(hint)} aria-label={(!shows).then(|| desk.t(word))}
                disabled={!enabled} onclick={desk.on(message)}
            >
                { render_icon(path) }
                if shows {
                    <span class="transport__word">{ desk.t(word) }</span>
                }
            </button>
        }
    };
    html! {
        <div class="transport" role="group" aria-label={desk.t("transport.time")}>
            { button("transport__first", icon::FIRST, "transport.first", "transport.first_hint", Message::FirstAsked, view.can_go_back, false) }
            { button("transport__back", icon::BACK, "transport.back", "transport.back_hint", Message::BackAsked, view.can_go_back, false) }
            <output class={classes!("transport__now", view.is_past.then_some("is-past"))} data-tick={view.tick.to_string()}>
                <b>{ "t\u{2009}=\u{2009}" }{ view.tick }</b>
                <small>
                    if view.is_past {
                        { desk.t("transport.past") }
                    } else if view.is_quiet {
                        { desk.t("transport.quiet") }
                    } else if view.steps == 0 {
                        { desk.t("transport.rest") }
                    } else {
                        { desk.say("transport.step_of", &[("step", &step), ("steps", &steps)]) }
                    }
                </small>
            </output>
            { button("transport__step", icon::STEP, "transport.step", "transport.step_hint", Message::StepAsked, true, true) }
            { button("transport__tick is-primary", icon::TICK, "transport.tick", "transport.tick_hint", Message::TickAsked, true, true) }
            { button("transport__quiet", icon::QUIET, "transport.until_quiet", "transport.until_quiet_hint", Message::QuietAsked, true, true) }
            if view.is_playing {
                { button("transport__play", icon::PAUSE, "transport.pause", "transport.pause_hint", Message::PlayToggled, true, true) }
            } else {
                <button class="transport__play" title={desk.t("transport.play_hint")} onclick={desk.on(Message::PlayToggled)}>
                    { desk.t("transport.play") }
                </button>
            }
            <button
                class="transport__speed" title={desk.t("transport.speed_hint")}
                aria-label={desk.say("transport.speed", &[("speed", view.speed)])}
                onclick={desk.on(Message::SpeedChosen(speed_after(view.speed)))}
            >
                { view.speed }
            </button>
        </div>
    }
}

fn speed_after(label: &str) -> crate::app::layout::PlaySpeed {
    use crate::app::layout::PlaySpeed;
    PlaySpeed::ALL.into_iter().find(|speed| speed.label() == label).unwrap_or_default().next()
}
