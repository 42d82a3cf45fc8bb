//! Manifests: tabs, the text, what is wrong with it, Diff and Apply.

use std::rc::Rc;

use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::editor::{Difference, EditorView};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::parts::diff::render_diff;
use crate::ui::parts::line::render_line;
use crate::ui::parts::manifest::Manifest;
use crate::ui::parts::tabs::{Tab, render_tabs};

/// What the editor draws.
#[derive(Properties, PartialEq)]
pub struct EditorProps {
    /// The editor.
    pub view: Rc<EditorView>,
}

/// The editor.
#[component]
pub fn EditorPane(props: &EditorProps) -> Html {
    let desk = use_desk();
    let view = &props.view;
    let has_tools = use_state(|| false);
    let tabs = view
        .files
        .iter()
        .enumerate()
        .map(|(at, file)| Tab {
            id: ["file-", &at.to_string()].concat(),
            panel: "editor-panel",
            label: file.name.clone(),
            is_shown: at == view.shown,
            message: Message::FileChosen(at),
            flag: if file.has_problems {
                Some(("is-failed", desk.t("editor.has_problems")))
            } else if file.is_changed {
                Some(("is-changed", desk.t("editor.is_changed")))
            } else {
                None
            },
        })
        .collect();
    let toggled = {
        let has_tools = has_tools.clone();
        Callback::from(move |_| has_tools.set(!*has_tools))
    };
    let label = ["file-", &view.shown.to_string()].concat();
    html! {
        <section class="pane editor" data-panel="editor" aria-label={desk.t("editor.label")}>
            <div class="tabs">
                { render_tabs(&desk, desk.t("editor.files"), tabs) }
                if !view.is_read_only {
                    <button title={desk.t("editor.add")} aria-label={desk.t("editor.add")} onclick={desk.on(Message::FileAdded)}>{ "+" }</button>
                    <button class="is-quiet" title={desk.t("editor.file_tools")} aria-label={desk.t("editor.file_tools")} aria-expanded={if *has_tools { "true" } else { "false" }} onclick={toggled}>{ "⋯" }</button>
                }
                <span class="tabs__fill"></span>
                <button class="is-quiet" aria-pressed={if view.difference.is_some() { "true" } else { "false" }} title={["kubectl diff -f ", &file_name(view)].concat()} onclick={desk.on(Message::DifferenceToggled)}>{ desk.t("editor.diff") }</button>
                <button class="is-primary editor__apply" title={view.command.clone()} disabled={view.is_read_only} aria-keyshortcuts="Control+Enter Meta+Enter" onclick={desk.on(Message::ApplyAsked)}>
                    { desk.t("editor.apply") }<kbd aria-hidden="true">{ "Ctrl ⏎" }</kbd>
                </button>
            </div>
            if view.forks {
                <p class="editor__note">{ desk.t("editor.forks") }</p>
            }
            <div class="editor__text" role="tabpanel" id="editor-panel" aria-labelledby={label}>
                if let Some(difference) = &view.difference {
                    { render_difference(&desk, difference) }
                } else {
                    <Manifest text={view.text.clone()} file={view.shown} revision={view.revision} problems={view.problems.clone()} is_read_only={view.is_read_only} />
                }
            </div>
            if *has_tools {
                { render_file_tools(&desk, view) }
            }
        </section>
    }
}

fn file_name(view: &EditorView) -> String {
    view.files.get(view.shown).map(|file| file.name.clone()).unwrap_or_default()
}

fn render_difference(desk: &Desk, difference: &Difference) -> Html {
    html! {
        <div class="editor__difference" tabindex="0">
            { render_line(desk, &difference.command) }
            if difference.lines.is_empty() {
                <p class="hint">{ desk.t("editor.no_difference") }</p>
            } else {
                { render_diff(&difference.lines) }
            }
        </div>
    }
}

/// The name of the file on screen, and the way to close it while it is not the only one.
fn render_file_tools(desk: &Desk, view: &EditorView) -> Html {
    let renamed = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: Event| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                dispatch.emit(Message::FileRenamed(input.value()));
            }
        })
    };
    html! {
        <div class="editor__name">
            <input type="text" aria-label={desk.t("editor.rename")} value={file_name(view)} onchange={renamed} autocomplete="off" spellcheck="false" />
            <button class="is-quiet" disabled={view.files.len() < 2} onclick={desk.on(Message::FileClosed(view.shown))}>{ desk.t("editor.close") }</button>
        </div>
    }
}
