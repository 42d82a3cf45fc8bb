//! The sheets over the page: Share, Help, Lessons.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::app::layout::Dialog;
use crate::app::message::Message;
use crate::app::view_model::lesson::LessonView;
use crate::app::view_model::share::ShareView;
use crate::ui::desk::{Desk, use_desk};

/// What the sheets draw.
#[derive(Properties, PartialEq)]
pub struct DialogProps {
    /// The sheet that is open.
    pub dialog: Dialog,
    /// The lessons.
    pub lesson: Rc<LessonView>,
    /// Link and file.
    pub share: Rc<ShareView>,
    /// Whether single keys work.
    pub has_keys: bool,
}

/// One sheet: takes the keyboard, keeps it, and gives it back.
#[component]
pub fn DialogPane(props: &DialogProps) -> Html {
    let desk = use_desk();
    let sheet = use_node_ref();
    {
        let sheet = sheet.clone();
        use_effect_with(props.dialog, move |_| {
            let before = gloo::utils::document()
                .active_element()
                .and_then(|element| element.dyn_into::<HtmlElement>().ok());
            if let Some(sheet) = sheet.cast::<HtmlElement>() {
                // A sheet that cannot take the keyboard can still be read.
                sheet.focus().ok();
            }
            move || {
                if let Some(before) = before {
                    // What had the keyboard may be gone by now.
                    before.focus().ok();
                }
            }
        });
    }
    let onkeydown = {
        let sheet = sheet.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Tab" {
                keep_inside(&event, &sheet);
            }
        })
    };
    let on_veil = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: MouseEvent| {
            if event.target() == event.current_target() {
                dispatch.emit(Message::Escaped);
            }
        })
    };
    let (title, body) = match props.dialog {
        Dialog::Share => ("share.title", render_share(&desk, &props.share)),
        Dialog::Help => ("help.title", render_help(&desk, props.has_keys)),
        Dialog::Lessons => ("lessons.title", render_lessons(&desk, &props.lesson)),
    };
    html! {
        <div class="dialog" onclick={on_veil} {onkeydown}>
            <div class="dialog__sheet" role="dialog" aria-modal="true" aria-labelledby="dialog-title" tabindex="-1" ref={sheet}>
                <div class="dialog__head">
                    <h2 id="dialog-title">{ desk.t(title) }</h2>
                    <button class="is-quiet" onclick={desk.on(Message::Escaped)}>{ desk.t("dialog.close") }</button>
                </div>
                { body }
            </div>
        </div>
    }
}

fn keep_inside(event: &KeyboardEvent, sheet: &NodeRef) {
    let Some(sheet) = sheet.cast::<HtmlElement>() else {
        return;
    };
    let Ok(stops) = sheet.query_selector_all("button:not(:disabled), input, select, [href]") else {
        return;
    };
    let at = |index: u32| stops.get(index).and_then(|node| node.dyn_into::<HtmlElement>().ok());
    let active = gloo::utils::document().active_element();
    let is_at = |element: &Option<HtmlElement>| active.as_ref() == element.as_ref().map(AsRef::as_ref);
    let (first, last) = (at(0), at(stops.length().saturating_sub(1)));
    let wrap = if event.shift_key() && (is_at(&first) || active.as_ref() == Some(sheet.as_ref())) {
        last
    } else if !event.shift_key() && is_at(&last) {
        first
    } else {
        return;
    };
    event.prevent_default();
    if let Some(wrap) = wrap {
        // It was found among what can take the keyboard.
        wrap.focus().ok();
    }
}

fn render_share(desk: &Desk, view: &ShareView) -> Html {
    let imported = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: Event| {
            let file = event
                .target_dyn_into::<HtmlInputElement>()
                .and_then(|input| input.files())
                .and_then(|files| files.get(0));
            if let Some(file) = file {
                let dispatch = dispatch.clone();
                wasm_bindgen_futures::spawn_local(async move {
                    let text = wasm_bindgen_futures::JsFuture::from(file.text()).await;
                    if let Some(text) = text.ok().and_then(|text| text.as_string()) {
                        dispatch.emit(Message::FileImported(text));
                    }
                });
            }
        })
    };
    html! {
        <>
            <h3>{ desk.t("share.link") }</h3>
            <p>{ desk.t("share.link_what") }</p>
            if view.link.is_empty() {
                <p class="dialog__note">{ view.refusal.clone() }</p>
            } else {
                <div class="dialog__row">
                    <input type="text" readonly=true id="share-link" value={view.link.clone()} aria-label={desk.t("share.link")} />
                    <button class="is-primary" onclick={desk.on(Message::CopyAsked(view.link.clone()))}>{ desk.t(if view.is_copied { "share.copied" } else { "share.copy" }) }</button>
                </div>
                <div class="dialog__row dialog__note">
                    <meter min="0" max={view.link_limit_bytes.to_string()} high={(view.link_limit_bytes * 3 / 4).to_string()} value={view.link.len().to_string()} aria-label={desk.t("share.size")}></meter>
                    <span>{ desk.say("share.size_of", &[("bytes", &view.link.len().to_string()), ("limit", &view.link_limit_bytes.to_string())]) }</span>
                </div>
            }
            <h3>{ desk.t("share.embed") }</h3>
            <p>{ desk.t("share.embed_what") }</p>
            <div class="dialog__row">
                <input type="text" readonly=true value={view.embed.clone()} aria-label={desk.t("share.embed")} />
                <button onclick={desk.on(Message::CopyAsked(view.embed.clone()))}>{ desk.t("share.copy") }</button>
            </div>
            <h3>{ desk.t("share.file") }</h3>
            <div class="dialog__row">
                <button onclick={desk.on(Message::ExportAsked)}>{ desk.t("share.export") }</button>
                <label class="dialog__file">{ desk.t("share.import") }<input class="is-hidden-visually" type="file" accept=".json,application/json" onchange={imported} /></label>
            </div>
            <div class="dialog__row">
                <button onclick={desk.on(Message::ResetAsked)}>{ desk.t("share.reset") }</button>
                <span class="dialog__note">{ desk.t("share.reset_what") }</span>
            </div>
        </>
    }
}

/// The keys of the page: (keys, catalogue key of what they do).
const KEYS: [(&str, &str); 12] = [
    ("N", "help.step"),
    ("T", "help.tick"),
    ("Q", "help.quiet"),
    ("B", "help.back"),
    ("P", "help.play"),
    ("Ctrl Enter", "help.apply"),
    ("Tab", "help.complete"),
    ("Ctrl R", "help.search"),
    ("Ctrl C", "help.interrupt"),
    ("1 – 6", "help.inspector"),
    ("/", "help.terminal"),
    ("Esc", "help.escape"),
];

fn render_help(desk: &Desk, has_keys: bool) -> Html {
    let keys =
        KEYS.iter().map(|(keys, what)| html! { <><dt><kbd>{ *keys }</kbd></dt><dd>{ desk.t(what) }</dd></> });
    html! {
        <>
            <p>{ desk.t("help.marks") }</p>
            <p>{ desk.t("help.time") }</p>
            <p>{ desk.t("help.past") }</p>
            <h3>{ desk.t("help.keys") }</h3>
            <label class="dialog__row"><input type="checkbox" checked={has_keys} onchange={desk.on(Message::KeysToggled)} />{ desk.t("help.single_keys") }</label>
            <dl class="keys">{ for keys }</dl>
            <p class="dialog__note">{ desk.t("help.not_simulated") }</p>
        </>
    }
}

fn render_lessons(desk: &Desk, view: &LessonView) -> Html {
    let lessons = view.lessons.iter().map(|(id, title)| {
        let is_open = view.open.as_ref().is_some_and(|open| open.id == *id);
        html! {
            <li><button aria-current={is_open.then_some("true")} onclick={desk.on(Message::LessonChosen(id.clone()))}>{ title.clone() }</button></li>
        }
    });
    html! {
        <>
            <p>{ desk.t("lessons.what") }</p>
            <ul class="lessons">{ for lessons }</ul>
            if view.open.is_some() {
                <div class="dialog__row"><button onclick={desk.on(Message::LessonLeft)}>{ desk.t("lesson.leave") }</button></div>
            }
        </>
    }
}
