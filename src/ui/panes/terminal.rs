//! The terminal: what was typed, what was answered, one line to type in.

use std::rc::Rc;

use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::app::message::Message;
use crate::app::view_model::terminal::{LineSort, TerminalLine, TerminalView};
use crate::ui::desk::use_desk;

/// What the terminal draws.
#[derive(Properties, PartialEq)]
pub struct TerminalProps {
    /// The terminal.
    pub view: Rc<TerminalView>,
}

/// What is being typed, and where the up and down keys have come to.
#[derive(Default)]
struct Typing {
    /// How many entries back in the history; 0 is the line being typed.
    back: usize,
    /// The line that was being typed before going back.
    draft: String,
    /// What stood behind the caret when Tab was pressed.
    behind_caret: String,
    /// The choice that the last Tab has come to.
    picked: Option<usize>,
    /// Escape was pressed, so that the next Tab leaves.
    may_leave: bool,
    /// Ctrl-R was pressed: what is typed is looked for in earlier lines, that many matches back.
    search: Option<usize>,
}

impl Typing {
    /// The earlier line that a search has come to.
    fn found<'a>(&self, history: &'a [String], sought: &str) -> Option<&'a String> {
        history.iter().rev().filter(|line| line.contains(sought)).nth(self.search?)
    }
}

/// The terminal.
#[component]
pub fn TerminalPane(props: &TerminalProps) -> Html {
    let desk = use_desk();
    let view = props.view.clone();
    let scroll = use_node_ref();
    let input = use_node_ref();
    let typing = use_mut_ref(Typing::default);
    let redraw = use_force_update();

    // The newest line stays in sight, within the terminal only: the page itself never scrolls.
    {
        let scroll = scroll.clone();
        use_effect_with((view.lines.len(), view.is_busy), move |_| {
            if let Some(element) = scroll.cast::<HtmlElement>() {
                element.set_scroll_top(element.scroll_height());
            }
        });
    }
    // A completed line takes the place of what was typed.
    {
        let (input, typing) = (input.clone(), typing.clone());
        let completion = view.completion.clone();
        use_effect_with(completion, move |completion| {
            if let (Some(completion), Some(input)) = (completion, input.cast::<HtmlInputElement>()) {
                let mut typing = typing.borrow_mut();
                typing.picked = None;
                set_line(&input, &completion.line, &typing.behind_caret);
            }
        });
    }

    let onkeydown = {
        let (desk, view, earlier, redraw) = (desk.clone(), view.clone(), typing.clone(), redraw.clone());
        Callback::from(move |event: KeyboardEvent| {
            let Some(input) = event.target_dyn_into::<HtmlInputElement>() else {
                return;
            };
            let mut typing = earlier.borrow_mut();
            let control = event.ctrl_key() && !event.alt_key() && !event.meta_key();
            if typing.search.is_some() {
                let is_over = search(&event, control, &input, &mut typing, &view.history);
                drop(typing);
                redraw.force_update();
                if !is_over || event.key() != "Enter" {
                    return;
                }
            } else {
                drop(typing);
            }
            let mut typing = earlier.borrow_mut();
            match event.key().as_str() {
                "Enter" if !event.is_composing() => {
                    let line = input.value();
                    input.set_value("");
                    *typing = Typing::default();
                    desk.tell(Message::LineEntered(line));
                }
                "ArrowUp" | "ArrowDown" => {
                    event.prevent_default();
                    if typing.back == 0 {
                        typing.draft = input.value();
                    }
                    let back = if event.key() == "ArrowUp" {
                        (typing.back + 1).min(view.history.len())
                    } else {
                        typing.back.saturating_sub(1)
                    };
                    typing.back = back;
                    let line = if back == 0 {
                        typing.draft.clone()
                    } else {
                        view.history[view.history.len() - back].clone()
                    };
                    set_line(&input, &line, "");
                }
                "Tab" if !event.shift_key() && !typing.may_leave && !input.value().is_empty() => {
                    event.prevent_default();
                    match &view.completion {
                        Some(completion)
                            if completion.choices.len() > 1 && is_of(completion, &input, typing.picked) =>
                        {
                            let next = typing.picked.map_or(0, |at| (at + 1) % completion.choices.len());
                            typing.picked = Some(next);
                            let mut line = completion.stem.clone();
                            line.push_str(&completion.choices[next]);
                            set_line(&input, &line, &typing.behind_caret);
                            drop(typing);
                            redraw.force_update();
                        }
                        _ => {
                            let line = input.value();
                            let caret =
                                input.selection_start().ok().flatten().map_or(usize::MAX, |at| at as usize);
                            let split =
                                line.char_indices().map(|(at, _)| at).nth(caret).unwrap_or(line.len());
                            typing.behind_caret = line[split..].to_string();
                            let before = line[..split].to_string();
                            drop(typing);
                            desk.tell(Message::CompletionAsked(before));
                        }
                    }
                }
                "Escape" => {
                    typing.may_leave = true;
                    if view.completion.is_some() {
                        event.stop_propagation();
                        desk.tell(Message::CompletionLeft);
                    }
                }
                "c" if control && input.selection_start().ok() == input.selection_end().ok() => {
                    event.prevent_default();
                    input.set_value("");
                    *typing = Typing::default();
                    desk.tell(Message::InterruptAsked);
                }
                "r" if control => {
                    event.prevent_default();
                    typing.draft = input.value();
                    typing.search = Some(0);
                    input.set_value("");
                    drop(typing);
                    redraw.force_update();
                }
                "l" if control => {
                    event.prevent_default();
                    desk.tell(Message::LineEntered("clear".to_string()));
                }
                "Shift" | "Control" | "Alt" | "Meta" | "Tab" => {}
                _ => {
                    typing.may_leave = false;
                    if view.completion.is_some() {
                        desk.tell(Message::CompletionLeft);
                    }
                }
            }
        })
    };
    // What is sought has changed: the newest match first.
    let oninput = {
        let (typing, redraw) = (typing.clone(), redraw.clone());
        Callback::from(move |_: InputEvent| {
            let mut typing = typing.borrow_mut();
            if typing.search.is_some() {
                typing.search = Some(0);
                drop(typing);
                redraw.force_update();
            }
        })
    };
    // A click into the empty part means the line, unless something is being marked for copying.
    let onclick = {
        let input = input.clone();
        Callback::from(move |_| {
            let marks_nothing = gloo::utils::window()
                .get_selection()
                .ok()
                .flatten()
                .is_none_or(|selection| selection.is_collapsed());
            if let (true, Some(input)) = (marks_nothing, input.cast::<HtmlElement>()) {
                // An input that cannot take the keyboard leaves it where it is.
                input.focus().ok();
            }
        })
    };
    let picked = typing.borrow().picked;
    let is_searching = typing.borrow().search.is_some();
    let found = input.cast::<HtmlInputElement>().filter(|_| is_searching).map(|input| {
        typing
            .borrow()
            .found(&view.history, &input.value())
            .cloned()
            .unwrap_or_else(|| desk.t("terminal.search_none"))
    });
    let choices = view.completion.iter().flat_map(|completion| {
        completion.choices.iter().enumerate().map(move |(at, choice)| (at, choice, &completion.stem))
    });
    html! {
        <section class="pane terminal" data-panel="terminal" aria-label={desk.t("terminal.label")}>
            <div class="terminal__scroll" ref={scroll} tabindex="0" {onclick} role="group" aria-label={desk.t("terminal.log")}>
                <div class="terminal__log" role="log" aria-live="polite">{ for view.lines.iter().map(|line| render_text(&view.prompt, line)) }</div>
            </div>
            if view.completion.as_ref().is_some_and(|completion| completion.choices.len() > 1) {
                <div class="terminal__choices" role="listbox" aria-label={desk.t("terminal.choices")}>
                    { for choices.map(|(at, choice, stem)| {
                        let input = input.clone();
                        let line = [stem.as_str(), choice.as_str()].concat();
                        let onclick = Callback::from(move |_| {
                            if let Some(input) = input.cast::<HtmlInputElement>() {
                                set_line(&input, &line, "");
                                // An input that cannot take the keyboard leaves it where it is.
                                input.focus().ok();
                            }
                        });
                        html! { <button role="option" tabindex="-1" aria-selected={if picked == Some(at) { "true" } else { "false" }} {onclick}>{ choice.clone() }</button> }
                    }) }
                </div>
            }
            if let Some(found) = found {
                <output class="terminal__found" aria-live="polite">{ found }</output>
            }
            <div class="terminal__entry">
                <label for="terminal-line" aria-hidden="true">{ if is_searching { "(reverse-i-search)" } else { &view.prompt } }</label>
                <input
                    id="terminal-line" ref={input} type="text" {onkeydown} {oninput} autocomplete="off" autocapitalize="off" autocorrect="off" spellcheck="false" enterkeyhint="send"
                    aria-label={desk.t(if is_searching { "terminal.search" } else { "terminal.line" })} placeholder={if view.is_busy { desk.t("terminal.busy") } else { String::new() }}
                />
            </div>
        </section>
    }
}

/// A key while earlier lines are searched, as a shell takes it. Says whether the search is over: the line found then
/// stands in the input, or the line typed before when the search was given up.
fn search(
    event: &KeyboardEvent,
    control: bool,
    input: &HtmlInputElement,
    typing: &mut Typing,
    history: &[String],
) -> bool {
    let found = typing.found(history, &input.value()).cloned();
    let line = match event.key().as_str() {
        "Enter" => found,
        "Escape" | "Tab" | "ArrowRight" | "ArrowLeft" | "Home" | "End" => {
            event.prevent_default();
            event.stop_propagation();
            found
        }
        "c" | "g" if control => {
            event.prevent_default();
            Some(std::mem::take(&mut typing.draft))
        }
        "r" if control => {
            event.prevent_default();
            let back = typing.search;
            typing.search = back.map(|back| back + 1);
            if typing.found(history, &input.value()).is_none() {
                typing.search = back;
            }
            return false;
        }
        _ => return false,
    };
    typing.search = None;
    set_line(input, &line.unwrap_or_else(|| input.value()), "");
    true
}

fn render_text(prompt: &str, line: &TerminalLine) -> Html {
    match line.sort {
        LineSort::Input => {
            html! { <span class="terminal__line is-input" data-prompt={prompt.to_string()}>{ line.text.clone() }</span> }
        }
        LineSort::Output => html! { <span class="terminal__line">{ line.text.clone() }</span> },
        LineSort::Error => html! { <span class="terminal__line is-error">{ line.text.clone() }</span> },
    }
}

/// Whether the line in the input is still the one that the choices complete.
fn is_of(
    completion: &crate::app::view_model::terminal::Completion,
    input: &HtmlInputElement,
    picked: Option<usize>,
) -> bool {
    let value = input.value();
    match picked.and_then(|at| completion.choices.get(at)) {
        Some(choice) => {
            value.starts_with(&completion.stem) && value[completion.stem.len()..].starts_with(choice.as_str())
        }
        None => value.starts_with(&completion.line),
    }
}

fn set_line(input: &HtmlInputElement, line: &str, behind: &str) {
    input.set_value(&[line, behind].concat());
    let caret = line.encode_utf16().count() as u32;
    // The caret of a text input can always be set.
    input.set_selection_range(caret, caret).ok();
}
