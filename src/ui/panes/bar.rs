//! The top bar: the name, the lesson, time, and what concerns the whole page.

use std::rc::Rc;

use yew::prelude::*;

use super::transport::TransportPane;
use crate::app::layout::{Dialog, Theme};
use crate::app::message::Message;
use crate::app::view_model::lesson::LessonView;
use crate::app::view_model::transport::Transport;
use crate::i18n::Language;
use crate::ui::desk::use_desk;
use crate::ui::parts::icon::render_sign;

/// What the bar draws.
#[derive(Properties, PartialEq)]
pub struct BarProps {
    /// Where we are in time.
    pub transport: Rc<Transport>,
    /// The lessons.
    pub lesson: Rc<LessonView>,
    /// Dark or light.
    pub theme: Theme,
}

/// The bar.
#[component]
pub fn BarPane(props: &BarProps) -> Html {
    let desk = use_desk();
    let other = match desk.language {
        Language::En => Language::Ko,
        Language::Ko => Language::En,
    };
    let seed = props.transport.seed.to_string();
    let theme_key = match props.theme {
        Theme::System => "bar.theme_system",
        Theme::Light => "bar.theme_light",
        Theme::Dark => "bar.theme_dark",
    };
    let theme = desk.say("bar.theme", &[("theme", &desk.t(theme_key))]);
    html! {
        <header class="bar">
            <div class="bar__start">
                <h1 class="bar__name">{ render_sign() }{ "Kubestep" }</h1>
                <button class="bar__lesson" aria-haspopup="dialog" onclick={desk.on(Message::DialogOpened(Dialog::Lessons))}>
                    if let Some(open) = &props.lesson.open {
                        { open.title.clone() }
                        <span class="bar__count">
                            { " · " }{ desk.say("bar.goals_met", &[("met", &open.met.to_string()), ("all", &open.goals.len().to_string())]) }
                        </span>
                    } else {
                        { desk.t("bar.lessons") }
                    }
                    <span aria-hidden="true">{ " ▾" }</span>
                </button>
                <span class="bar__seed" title={desk.t("bar.seed_hint")}>{ desk.say("bar.seed", &[("seed", &seed)]) }</span>
            </div>
            <TransportPane view={props.transport.clone()} />
            <div class="bar__end">
                <button aria-haspopup="dialog" onclick={desk.on(Message::DialogOpened(Dialog::Share))}>{ desk.t("bar.share") }</button>
                <button class="bar__language" lang={other.tag()} onclick={desk.on(Message::LanguageChosen(other))}>{ other.own_name() }</button>
                <button title={theme.clone()} aria-label={theme} onclick={desk.on(Message::ThemeChosen(props.theme.next()))}>
                    <span aria-hidden="true">{ match props.theme { Theme::System => "◐", Theme::Light => "○", Theme::Dark => "●" } }</span>
                </button>
                <button aria-haspopup="dialog" title={desk.t("bar.help")} aria-label={desk.t("bar.help")} onclick={desk.on(Message::DialogOpened(Dialog::Help))}>{ "?" }</button>
            </div>
        </header>
    }
}
