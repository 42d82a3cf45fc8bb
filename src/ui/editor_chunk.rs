//! The editor chunk: CodeMirror behind a handful of calls, fetched when an editor is first shown.
//!
//! The calls are documented where they are made, in `editor/editor.js`. Lines and columns count from 1, and columns
//! count characters. Handlers are handed over as [`Closure`]s; whoever mounts an editor keeps them until after
//! [`EditorHandle::destroy`].
//!
//! ```ignore
//! let module = editor_chunk::load().await?;
//! let options = EditorOptions { text: "kind: Pod", label: "manifest", ..Default::default() };
//! let editor = module.mount(&element, &options.to_js(&on_change, &on_apply))?;
//! editor.set_diagnostics(&diagnostics_to_js(&[Diagnostic { line: 3, message: "…", ..Default::default() }]));
//! ```

use js_sys::{Array, Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Element;

#[wasm_bindgen(inline_js = "export const import_module = (address) => import(address);")]
extern "C" {
    /// The dynamic import of JavaScript: it is syntax there, so Rust cannot spell it.
    fn import_module(address: &str) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// The loaded chunk.
    pub type EditorModule;

    /// Mount an editor as the only child of an element; the options are those of [`EditorOptions::to_js`].
    ///
    /// # Errors
    ///
    /// Whatever the chunk throws: the page then keeps its plain text area.
    #[wasm_bindgen(method, catch)]
    pub fn mount(this: &EditorModule, element: &Element, options: &Object) -> Result<EditorHandle, JsValue>;

    /// One mounted editor.
    #[derive(Clone, PartialEq)]
    pub type EditorHandle;

    /// Replace the text; undo takes it back, and the change handler is not called.
    #[wasm_bindgen(method, js_name = setText)]
    pub fn set_text(this: &EditorHandle, text: &str);

    /// The text as it stands.
    #[wasm_bindgen(method, js_name = getText)]
    pub fn text(this: &EditorHandle) -> String;

    /// Show what is wrong under the lines concerned, in place of what was shown before.
    #[wasm_bindgen(method, js_name = setDiagnostics)]
    pub fn set_diagnostics(this: &EditorHandle, list: &Array);

    /// Ask for completions: the function gets `{text, line, column, explicit}` and answers
    /// `[{label, detail, info, insert}]`; `None` turns completion off.
    #[wasm_bindgen(method, js_name = setCompletions)]
    pub fn set_completions(this: &EditorHandle, ask: Option<&Function>);

    /// Ask for the words to show over a place: the function gets `{text, line, column}` and answers `{title, text}` or
    /// null; `None` turns hovering off.
    #[wasm_bindgen(method, js_name = setHover)]
    pub fn set_hover(this: &EditorHandle, ask: Option<&Function>);

    /// Allow or forbid editing.
    #[wasm_bindgen(method, js_name = setReadOnly)]
    pub fn set_read_only(this: &EditorHandle, read_only: bool);

    /// "dark" or "light": only what CodeMirror itself draws, since all colours are CSS variables.
    #[wasm_bindgen(method, js_name = setTheme)]
    pub fn set_theme(this: &EditorHandle, name: &str);

    /// Put the caret at a place and bring it into view.
    #[wasm_bindgen(method)]
    pub fn reveal(this: &EditorHandle, line: u32, column: u32);

    /// Put the keyboard into the editor.
    #[wasm_bindgen(method)]
    pub fn focus(this: &EditorHandle);

    /// Take the editor off the page.
    #[wasm_bindgen(method)]
    pub fn destroy(this: &EditorHandle);
}

/// Fetch the chunk; later calls get it from the browser's module map.
///
/// # Errors
///
/// When the page does not name a chunk, or it cannot be fetched (offline, say).
pub async fn load() -> Result<EditorModule, JsValue> {
    let document = gloo::utils::document();
    let address = document
        .query_selector("meta[name=kubestep-editor]")?
        .and_then(|meta| meta.get_attribute("content"))
        .ok_or_else(|| JsValue::from_str("the page names no editor chunk"))?;
    // The importing script lies in a folder of its own: the address counts from the page.
    let base = document.base_uri()?.unwrap_or_default();
    let address = web_sys::Url::new_with_base(&address, &base)?.href();
    JsFuture::from(import_module(&address)).await.map(JsCast::unchecked_into)
}

/// How an editor is mounted.
#[derive(Debug, Clone, Copy)]
pub struct EditorOptions<'a> {
    /// The first text.
    pub text: &'a str,
    /// The name of the editor for those who cannot see it.
    pub label: &'a str,
    /// Whether the text can be edited.
    pub read_only: bool,
    /// Whether the text is YAML; plain text otherwise.
    pub yaml: bool,
}

impl Default for EditorOptions<'_> {
    fn default() -> Self {
        Self { text: "", label: "", read_only: false, yaml: true }
    }
}

impl EditorOptions<'_> {
    /// The options as the chunk reads them: `on_change` gets the text after an edit by the user, `on_apply` is called on
    /// Ctrl-Enter or Cmd-Enter.
    #[must_use]
    pub fn to_js(&self, on_change: &Closure<dyn Fn(String)>, on_apply: &Closure<dyn Fn()>) -> Object {
        object(&[
            ("text", self.text.into()),
            ("ariaLabel", self.label.into()),
            ("readOnly", self.read_only.into()),
            ("language", if self.yaml { "yaml" } else { "text" }.into()),
            ("onChange", on_change.as_ref().clone()),
            ("onApply", on_apply.as_ref().clone()),
        ])
    }
}

/// One thing that is wrong with the text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostic {
    /// The line, from 1.
    pub line: u32,
    /// The first character concerned, from 1; 0 marks the words of the line.
    pub column: u32,
    /// The character after the last one concerned; 0 marks to the end of the line.
    pub end_column: u32,
    /// What is wrong, as the API server says it.
    pub message: String,
    /// Whether it is a warning only.
    pub warning: bool,
}

/// Diagnostics as [`EditorHandle::set_diagnostics`] takes them.
#[must_use]
pub fn diagnostics_to_js(list: &[Diagnostic]) -> Array {
    list.iter()
        .map(|diagnostic| {
            object(&[
                ("line", diagnostic.line.into()),
                ("column", diagnostic.column.into()),
                ("endColumn", diagnostic.end_column.into()),
                ("message", diagnostic.message.as_str().into()),
                ("severity", if diagnostic.warning { "warning" } else { "error" }.into()),
            ])
        })
        .collect()
}

/// A plain JavaScript object with these fields.
fn object(fields: &[(&str, JsValue)]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh plain object cannot fail.
        Reflect::set(&object, &JsValue::from_str(name), value).ok();
    }
    object
}
