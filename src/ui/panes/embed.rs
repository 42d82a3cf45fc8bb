//! The page inside another page: no frame, 600 by 400.

use yew::prelude::*;

use super::editor::EditorPane;
use super::map::MapPane;
use super::road::RoadPane;
use super::terminal::TerminalPane;
use super::trace::TracePane;
use crate::app::layout::{Embed, EmbedView};
use crate::app::message::Message;
use crate::app::screen::Screen;
use crate::ui::desk::use_desk;
use crate::ui::parts::icon::{self, render_icon};

/// What an embed draws.
#[derive(Properties, PartialEq)]
pub struct EmbedProps {
    /// How the page stands in the other page.
    pub embed: Embed,
    /// Everything on screen.
    pub screen: Screen,
}

/// The page inside another page.
#[component]
pub fn EmbedPane(props: &EmbedProps) -> Html {
    let desk = use_desk();
    let screen = &props.screen;
    let shows = |part: &str| !props.embed.hidden.iter().any(|hidden| hidden == part);
    let title = match &screen.lesson.open {
        Some(open) => open.title.clone(),
        None => {
            screen.road.subject.as_ref().map_or_else(|| "Kubestep".to_string(), |subject| subject.title())
        }
    };
    let view = match props.embed.view {
        EmbedView::Map => html! { <MapPane view={screen.map.clone()} /> },
        EmbedView::Editor => html! { <EditorPane view={screen.editor.clone()} /> },
        EmbedView::Terminal => html! { <TerminalPane view={screen.terminal.clone()} /> },
        EmbedView::Trace => {
            html! { <section class="pane" aria-label={desk.t("inspector.trace")}><div class="pane__body" tabindex="0"><TracePane view={screen.trace.clone()} /></div></section> }
        }
        EmbedView::Split => {
            html! { <><EditorPane view={screen.editor.clone()} /><MapPane view={screen.map.clone()} /></> }
        }
    };
    html! {
        <div class="embed">
            <header class="embed__bar">
                <h1 class="embed__title">{ title }</h1>
                <output class="embed__now" data-tick={screen.transport.tick.to_string()}>{ "t\u{2009}=\u{2009}" }{ screen.transport.tick }</output>
                if shows("transport") {
                    <button aria-label={desk.t("transport.back")} title={desk.t("transport.back")} disabled={!screen.transport.can_go_back} onclick={desk.on(Message::BackAsked)}>{ render_icon(icon::BACK) }</button>
                    if !props.embed.is_read_only {
                        <button title={desk.t("transport.step_hint")} onclick={desk.on(Message::StepAsked)}>{ desk.t("transport.step") }</button>
                        <button class="is-primary" title={desk.t("transport.tick_hint")} onclick={desk.on(Message::TickAsked)}>{ desk.t("transport.tick") }</button>
                    }
                }
                <a class="embed__open" href={screen.share.open.clone()} target="_blank" rel="noopener" title={desk.t("embed.open_hint")}>{ desk.t("embed.open") }</a>
            </header>
            if shows("road") {
                <RoadPane view={screen.road.clone()} open={None} />
            }
            <main class={classes!("embed__view", (props.embed.view == EmbedView::Split).then_some("is-split"))}>{ view }</main>
            if shows("say") {
                <p class="embed__say" role="status" aria-live="polite">{ screen.announcement.clone() }</p>
            }
        </div>
    }
}
