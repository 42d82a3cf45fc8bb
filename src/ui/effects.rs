//! The only place where the page reaches out: storage, clipboard, files, timers, the address.

use gloo::timers::callback::Timeout;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, HtmlElement, Storage, Url, UrlSearchParams};
use yew::Callback;

use crate::app::effect::Effect;
use crate::app::message::Message;
use crate::app::state::Opening;

const SESSION: &str = "kubestep.session";
const CHOICES: &str = "kubestep.choices";
const LINES: &str = "kubestep.lines";

/// Storage can be missing: in a sandbox, in private windows, when it is full. The page works without.
fn storage() -> Option<Storage> {
    gloo::utils::window().local_storage().ok().flatten()
}

/// What the page finds when it opens.
pub fn opening() -> Opening {
    let window = gloo::utils::window();
    let location = window.location();
    let query = UrlSearchParams::new_with_str(&location.search().unwrap_or_default()).ok();
    let base = location.href().unwrap_or_default();
    Opening {
        query: ["embed", "lesson", "lang", "theme", "view", "hide", "tick", "readonly", "seed"]
            .into_iter()
            .filter_map(|name| Some((name.to_string(), query.as_ref()?.get(name)?)))
            .collect(),
        hash: location.hash().unwrap_or_default(),
        address: base.split(['?', '#']).next().unwrap_or_default().to_string(),
        language: window.navigator().language().unwrap_or_default(),
        choices: storage().and_then(|storage| storage.get_item(CHOICES).ok().flatten()).unwrap_or_default(),
        lines: storage().and_then(|storage| storage.get_item(LINES).ok().flatten()).unwrap_or_default(),
        session: storage().and_then(|storage| storage.get_item(SESSION).ok().flatten()),
    }
}

/// Do one thing.
pub fn carry_out(effect: Effect, dispatch: &Callback<Message>) {
    match effect {
        Effect::Save(text) => {
            if storage().is_some_and(|storage| storage.set_item(SESSION, &text).is_err()) {
                dispatch.emit(Message::SaveFailed);
            }
        }
        Effect::Forget => {
            if let Some(storage) = storage() {
                // What cannot be removed was not there.
                storage.remove_item(SESSION).ok();
            }
        }
        Effect::Remember(choices) => {
            if let Some(storage) = storage() {
                // The choices hold for this visit in any case.
                storage.set_item(CHOICES, &choices).ok();
            }
        }
        Effect::RememberLines(lines) => {
            if let Some(storage) = storage() {
                // The lines are there for this visit in any case.
                storage.set_item(LINES, &lines).ok();
            }
        }
        Effect::Copy(text) => copy(text, dispatch.clone()),
        Effect::Download { name, text } => {
            // Nothing is lost when the browser refuses a download: the session stays.
            download(&name, &text).ok();
        }
        Effect::WakeAfter { milliseconds } => {
            let dispatch = dispatch.clone();
            Timeout::new(milliseconds, move || dispatch.emit(Message::TimerFired)).forget();
        }
        Effect::Dress { language, theme } => {
            if let Some(root) = gloo::utils::document().document_element() {
                // These are plain attributes of the root: setting them cannot fail.
                root.set_attribute("lang", language.tag()).ok();
                if theme.name().is_empty() {
                    root.remove_attribute("data-theme").ok();
                } else {
                    root.set_attribute("data-theme", theme.name()).ok();
                }
            }
        }
        Effect::Focus(id) => {
            let element = gloo::utils::document().get_element_by_id(id);
            if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
                // An element out of sight does not take the keyboard.
                element.focus().ok();
            }
        }
    }
}

fn copy(text: String, dispatch: Callback<Message>) {
    // Outside of secure contexts there is no clipboard; reading the property then gives nothing.
    let navigator = gloo::utils::window().navigator();
    let has_clipboard = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard"))
        .is_ok_and(|found| found.is_object());
    if !has_clipboard {
        dispatch.emit(Message::Copied(false));
        return;
    }
    let promise = navigator.clipboard().write_text(&text);
    spawn_local(async move {
        dispatch.emit(Message::Copied(JsFuture::from(promise).await.is_ok()));
    });
}

fn download(name: &str, text: &str) -> Result<(), JsValue> {
    let properties = BlobPropertyBag::new();
    properties.set_type("application/json");
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &properties)?;
    let address = Url::create_object_url_with_blob(&blob)?;
    let anchor: HtmlAnchorElement = gloo::utils::document().create_element("a")?.unchecked_into();
    anchor.set_href(&address);
    anchor.set_download(name);
    anchor.click();
    Url::revoke_object_url(&address)
}
