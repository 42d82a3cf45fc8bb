//! The text of a manifest: a plain text area at once, CodeMirror as soon as its chunk is there.

use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlTextAreaElement};
use yew::prelude::*;

use crate::app::assist::{explanation_at, offers_at};
use crate::app::message::Message;
use crate::app::view_model::editor::Problem;
use crate::i18n::{Language, catalogue};
use crate::ui::desk::{Desk, use_desk};
use crate::ui::editor_chunk::{
    Diagnostic, EditorHandle, EditorModule, EditorOptions, diagnostics_to_js, load,
};

/// What the text draws.
#[derive(Properties, PartialEq)]
pub struct ManifestProps {
    /// The text, as the state knows it.
    pub text: String,
    /// The file it belongs to.
    pub file: usize,
    /// Counts up when the text was replaced from outside.
    pub revision: usize,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// Whether it cannot be changed.
    pub is_read_only: bool,
}

/// A mounted editor with the handlers that it calls.
struct Mounted {
    editor: EditorHandle,
    _on_change: Closure<dyn Fn(String)>,
    _on_apply: Closure<dyn Fn()>,
    _on_complete: Closure<dyn Fn(JsValue) -> JsValue>,
    _on_hover: Closure<dyn Fn(JsValue) -> JsValue>,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.editor.destroy();
    }
}

/// The text, line and column of a place in the editor.
fn place_of(place: &JsValue) -> Option<(String, usize, usize)> {
    let field = |name: &str| js_sys::Reflect::get(place, &JsValue::from_str(name)).ok();
    let number = |name: &str| field(name)?.as_f64().map(|number| number as usize);
    Some((field("text")?.as_string()?, number("line")?, number("column")?))
}

/// A JavaScript object of texts.
fn object_of(fields: &[(&str, &str)]) -> JsValue {
    let object = js_sys::Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh plain object cannot fail.
        js_sys::Reflect::set(&object, &JsValue::from_str(name), &JsValue::from_str(value)).ok();
    }
    object.into()
}

fn offers(place: &JsValue) -> JsValue {
    let Some((text, line, column)) = place_of(place) else { return JsValue::NULL };
    let offers = offers_at(&text, line, column);
    let list = offers.iter().map(|offer| {
        object_of(&[("label", &offer.label), ("detail", &offer.detail), ("insert", &offer.insert)])
    });
    list.collect::<js_sys::Array>().into()
}

fn explanation(place: &JsValue, language: Language) -> JsValue {
    let found = place_of(place).and_then(|(text, line, _)| explanation_at(&text, line, catalogue(language)));
    found.map_or(JsValue::NULL, |found| object_of(&[("title", &found.title), ("text", &found.text)]))
}

/// The text.
#[component]
pub fn Manifest(props: &ManifestProps) -> Html {
    let desk = use_desk();
    let place = use_node_ref();
    let module = use_state(|| None::<Rc<EditorModule>>);
    let mounted = use_mut_ref(|| None::<Mounted>);

    {
        let module = module.clone();
        use_effect_with((), move |()| {
            wasm_bindgen_futures::spawn_local(async move {
                // Without the chunk (offline, say) the text area stays.
                if let Ok(loaded) = load().await {
                    module.set(Some(Rc::new(loaded)));
                }
            });
        });
    }
    // One editor per file: undo does not cross files.
    {
        let (mounted, place, desk) = (mounted.clone(), place.clone(), desk.clone());
        let (text, is_read_only, module) = (props.text.clone(), props.is_read_only, module.clone());
        use_effect_with((props.file, is_read_only, module.is_some(), desk.language), move |_| {
            let kept = mounted.clone();
            if let (Some(module), Some(element)) = (module.as_ref(), place.cast::<Element>()) {
                element.set_text_content(None);
                let dispatch = desk.dispatch.clone();
                let on_change =
                    Closure::<dyn Fn(String)>::new(move |text| dispatch.emit(Message::FileEdited(text)));
                let dispatch = desk.dispatch.clone();
                let on_apply = Closure::<dyn Fn()>::new(move || dispatch.emit(Message::ApplyAsked));
                let label = desk.t("editor.text");
                let options = EditorOptions {
                    text: &text,
                    label: &label,
                    read_only: is_read_only,
                    ..Default::default()
                };
                if let Ok(editor) = module.mount(&element, &options.to_js(&on_change, &on_apply)) {
                    let on_complete = Closure::<dyn Fn(JsValue) -> JsValue>::new(|place| offers(&place));
                    let language = desk.language;
                    let on_hover = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |place| {
                        explanation(&place, language)
                    });
                    editor.set_completions(Some(on_complete.as_ref().unchecked_ref()));
                    editor.set_hover(Some(on_hover.as_ref().unchecked_ref()));
                    *mounted.borrow_mut() = Some(Mounted {
                        editor,
                        _on_change: on_change,
                        _on_apply: on_apply,
                        _on_complete: on_complete,
                        _on_hover: on_hover,
                    });
                }
            }
            move || {
                kept.borrow_mut().take();
            }
        });
    }
    // A text replaced from outside goes into the editor; what was typed there comes back by itself.
    {
        let (mounted, text) = (mounted.clone(), props.text.clone());
        use_effect_with(props.revision, move |_| {
            if let Some(mounted) = mounted.borrow().as_ref() {
                mounted.editor.set_text(&text);
            }
        });
    }
    {
        let mounted = mounted.clone();
        let problems = props.problems.clone();
        use_effect_with((problems, props.file, module.is_some()), move |(problems, _, _)| {
            if let Some(mounted) = mounted.borrow().as_ref() {
                let list: Vec<Diagnostic> = problems
                    .iter()
                    .filter(|problem| problem.line > 0)
                    .map(|problem| Diagnostic {
                        line: problem.line as u32,
                        message: match problem.hint.as_str() {
                            "" => problem.message.clone(),
                            hint => [&problem.message, ". ", hint].concat(),
                        },
                        warning: problem.is_notice,
                        ..Default::default()
                    })
                    .collect();
                mounted.editor.set_diagnostics(&diagnostics_to_js(&list));
            }
        });
    }

    // CodeMirror shows what is wrong at its line; the list then is for who reads instead of looking.
    let problems = html! {
        if !props.problems.is_empty() {
            <ul class="editor__problems" aria-label={desk.t("editor.problems")}>
                { for props.problems.iter().map(|problem| render_problem(&desk, problem, module.is_some())) }
            </ul>
        }
    };
    if module.is_some() {
        return html! { <><div class="editor__rich" key="rich" ref={place}></div>{ problems }</> };
    }
    let oninput = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: InputEvent| {
            if let Some(area) = event.target_dyn_into::<HtmlTextAreaElement>() {
                dispatch.emit(Message::FileEdited(area.value()));
            }
        })
    };
    let onkeydown = {
        let dispatch = desk.dispatch.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
                event.prevent_default();
                dispatch.emit(Message::ApplyAsked);
            }
        })
    };
    html! {
        <>
        <textarea
            class="editor__plain" key="plain" value={props.text.clone()} readonly={props.is_read_only} {oninput} {onkeydown}
            aria-label={desk.t("editor.text")} aria-invalid={(!props.problems.is_empty()).then_some("true")}
            spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off"
        />
        { problems }
        </>
    }
}

fn render_problem(desk: &Desk, problem: &Problem, is_shown_at_line: bool) -> Html {
    let line = problem.line.to_string();
    let is_silent = is_shown_at_line && problem.line > 0;
    html! {
        <li class={classes!("problem", is_silent.then_some("is-hidden-visually"))} data-line={line.clone()}>
            <b>{ if problem.line > 0 { desk.say("editor.at_line", &[("line", &line)]) } else { desk.t("editor.at_file") } }</b>
            <span>{ problem.message.clone() }</span>
            if !problem.hint.is_empty() {
                <small>{ problem.hint.clone() }</small>
            }
        </li>
    }
}
