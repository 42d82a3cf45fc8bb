//! The root: state, messages, and where the panes stand.

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::desk::{Desk, use_desk};
use super::effects;
use super::panes::bar::BarPane;
use super::panes::dialogs::DialogPane;
use super::panes::editor::EditorPane;
use super::panes::embed::EmbedPane;
use super::panes::inspector::InspectorPane;
use super::panes::map::MapPane;
use super::panes::road::RoadPane;
use super::panes::terminal::TerminalPane;
use super::panes::timeline::TimelinePane;
use super::panes::transport::TransportPane;
use crate::app::layout::{InspectorTab, ScreenTab};
use crate::app::message::Message;
use crate::app::screen::Screen;
use crate::app::state::State;
use crate::app::update::update;
use crate::ui::parts::tabs::{Tab, render_tabs};

/// The root component.
pub struct Page {
    state: State,
    screen: Screen,
    dispatch: Callback<Message>,
    is_odd: bool,
    _listeners: Vec<EventListener>,
}

impl Component for Page {
    type Message = Message;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let dispatch = ctx.link().callback(|message| message);
        let (state, effects) = State::open(effects::opening());
        for effect in effects {
            effects::carry_out(effect, &dispatch);
        }
        let screen = Screen::of(&state);
        let listeners = listen(&dispatch);
        Page { state, screen, dispatch, is_odd: false, _listeners: listeners }
    }

    fn update(&mut self, _: &Context<Self>, message: Message) -> bool {
        let was_at = self.state.moment();
        let effects = update(&mut self.state, message);
        self.is_odd ^= self.state.moment() != was_at;
        for effect in effects {
            effects::carry_out(effect, &self.dispatch);
        }
        let screen = self.screen.after(&self.state);
        let is_changed = screen != self.screen;
        self.screen = screen;
        is_changed
    }

    fn view(&self, _: &Context<Self>) -> Html {
        let desk = Desk {
            language: self.state.language,
            dispatch: self.dispatch.clone(),
            changed_class: if self.is_odd { "is-changed-odd" } else { "is-changed-even" },
        };
        html! {
            <ContextProvider<Desk> context={desk}>
                if let Some(embed) = &self.state.embed {
                    <EmbedPane embed={embed.clone()} screen={self.screen.clone()} />
                } else {
                    <FullScreen screen={self.screen.clone()} />
                }
            </ContextProvider<Desk>>
        }
    }
}

/// What both screens draw.
#[derive(Properties, PartialEq)]
struct FullProps {
    screen: Screen,
}

/// The page by itself.
#[component]
fn FullScreen(props: &FullProps) -> Html {
    let desk = use_desk();
    let screen = &props.screen;
    let tabs = ScreenTab::ALL
        .into_iter()
        .map(|tab| Tab {
            id: ["screen-", tab.name()].concat(),
            panel: "",
            label: desk.t(&["screen.", tab.name()].concat()),
            is_shown: tab == screen.screen_tab,
            message: Message::ScreenTabChosen(tab),
            flag: None,
        })
        .collect();
    html! {
        <>
            <div class="screen" data-shown={screen.screen_tab.name()}>
                <BarPane transport={screen.transport.clone()} lesson={screen.lesson.clone()} theme={screen.theme} />
                <RoadPane view={screen.road.clone()} open={screen.open_stage} />
                <main class="desk">
                    <div class="desk__tabs">{ render_tabs(&desk, desk.t("screen.label"), tabs) }</div>
                    <div class="desk__write">
                        <EditorPane view={screen.editor.clone()} />
                        <TerminalPane view={screen.terminal.clone()} />
                    </div>
                    <MapPane view={screen.map.clone()} />
                    { render_inspector(screen) }
                </main>
                <TimelinePane view={screen.timeline.clone()} is_list={screen.is_timeline_list} />
                <section class="thumb" aria-label={desk.t("transport.time")}>
                    <p class="thumb__say" aria-hidden="true">{ screen.announcement.clone() }</p>
                    <TransportPane view={screen.transport.clone()} />
                </section>
                <p class="is-hidden-visually" role="status" aria-live="polite" data-announcement="">{ screen.announcement.clone() }</p>
            </div>
            if let Some(dialog) = screen.dialog {
                <DialogPane {dialog} lesson={screen.lesson.clone()} share={screen.share.clone()} has_keys={screen.has_keys} />
            }
        </>
    }
}

fn render_inspector(screen: &Screen) -> Html {
    html! {
        <InspectorPane
            tab={screen.inspector_tab} why={screen.why.clone()} object={screen.object.clone()} scheduling={screen.scheduling.clone()}
            trace={screen.trace.clone()} lesson={screen.lesson.clone()} faults={screen.faults.clone()}
        />
    }
}

/// Keys of the whole page, and links followed within it.
fn listen(dispatch: &Callback<Message>) -> Vec<EventListener> {
    let keys = dispatch.clone();
    let options = EventListenerOptions::enable_prevent_default();
    let keys = EventListener::new_with_options(&gloo::utils::document(), "keydown", options, move |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else {
            return;
        };
        if event.default_prevented() || event.is_composing() {
            return;
        }
        if event.key() == "Escape" {
            keys.emit(Message::Escaped);
            return;
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || is_typing(event) {
            return;
        }
        let message = match event.key().as_str() {
            "n" | "N" => Message::StepAsked,
            "t" | "T" => Message::TickAsked,
            "q" | "Q" => Message::QuietAsked,
            "b" | "B" => Message::BackAsked,
            "p" | "P" => Message::PlayToggled,
            "/" => {
                let line = gloo::utils::document().get_element_by_id("terminal-line");
                if let Some(line) = line.and_then(|line| line.dyn_into::<HtmlElement>().ok()) {
                    event.prevent_default();
                    // A terminal that is out of sight does not take the keyboard.
                    line.focus().ok();
                }
                return;
            }
            digit => {
                let at = digit.parse::<usize>().unwrap_or(0);
                match at.checked_sub(1).and_then(|at| InspectorTab::ALL.get(at)) {
                    Some(tab) => Message::InspectorTabChosen(*tab),
                    None => return,
                }
            }
        };
        keys.emit(Message::KeyPressed(Box::new(message)));
    });
    let links = dispatch.clone();
    let links = EventListener::new(&gloo::utils::window(), "hashchange", move |_| {
        let hash = gloo::utils::window().location().hash().unwrap_or_default();
        links.emit(Message::LinkFollowed(hash));
    });
    vec![keys, links]
}

/// Whether the key goes into a text.
fn is_typing(event: &KeyboardEvent) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) else {
        return false;
    };
    matches!(target.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT") || target.is_content_editable()
}
