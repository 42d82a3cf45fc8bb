//! A session leaves the page and comes back: link, file, the browser's own storage.

use std::collections::BTreeMap;

use super::layout::InspectorTab;
use super::session::{File, by_name};
use super::state::State;
use super::view_model::ObjectReference;
use super::view_model::share::ShareView;
use crate::i18n::Text;
use crate::share::link::{LIMIT_BYTES, decode, encode};
use crate::share::{Replay, ShareError, Shared};

/// The session as it is sent: the branch on screen, the files, and what lies open.
pub fn shared_of(state: &State) -> Shared {
    let mut shared = Shared::of(&state.history);
    shared.files = by_name(&state.files);
    let mut layout = BTreeMap::new();
    layout.insert("file".to_string(), state.file().name.clone());
    layout.insert("tab".to_string(), state.inspector_tab.name().to_string());
    layout.insert("url".to_string(), state.requests.url.clone());
    layout.insert("namespace".to_string(), state.shell.session.namespace.clone());
    if let Some(object) = &state.selected {
        let parts = [object.kind.as_str(), &object.namespace, &object.name];
        layout.insert("selected".to_string(), parts.join("/"));
    }
    let (branch, _) = state.moment();
    let sent = state.requests.sent.iter().filter(|sent| sent.branch == branch);
    let lines: Vec<String> =
        sent.map(|sent| [&sent.moment.to_string(), " ", sent.url.as_str()].concat()).collect();
    // The newest requests are the ones that somebody will look for.
    let newest = lines.len().saturating_sub(REQUESTS_KEPT);
    if !lines.is_empty() {
        layout.insert("requests".to_string(), lines[newest..].join("\n"));
    }
    if let Some(lesson) = super::lesson::to_text(state).filter(|lesson| lesson.len() < LESSON_LIMIT_BYTES) {
        layout.insert("lesson".to_string(), lesson);
    }
    shared.layout = layout;
    shared
}

/// The longest text of a lesson that travels with a session: what a layout may hold.
const LESSON_LIMIT_BYTES: usize = 4000;
/// The most requests that travel with a session.
const REQUESTS_KEPT: usize = 40;

/// Takes a session over: the cluster is played again from its commands, the desk is laid as it was.
pub fn take_over(state: &mut State, shared: &Shared) {
    let mut fresh = State::new(shared.settings.clone());
    fresh.history = Replay::new(shared).finish();
    if !shared.files.is_empty() {
        let files = shared.files.iter().map(|(name, text)| File {
            name: name.clone(),
            text: text.clone(),
            applied: String::new(),
        });
        fresh.files = files.collect();
    }
    let laid = |name: &str| shared.layout.get(name).map(String::as_str);
    if let Some(name) = laid("file") {
        fresh.shown_file = fresh.files.iter().position(|file| file.name == name).unwrap_or(0);
    }
    if let Some(tab) = InspectorTab::ALL.into_iter().find(|tab| laid("tab") == Some(tab.name())) {
        fresh.inspector_tab = tab;
    }
    if let Some(url) = laid("url") {
        fresh.requests.url = url.to_string();
    }
    if let Some(namespace) = laid("namespace") {
        fresh.shell.session.namespace = namespace.to_string();
    }
    if let Some([kind, namespace, name]) =
        laid("selected").map(|selected| selected.splitn(3, '/').collect::<Vec<_>>()).as_deref()
    {
        fresh.selected = Some(ObjectReference::new(kind, namespace, name));
    }
    if let Some(text) = laid("lesson") {
        super::lesson::from_text(&mut fresh, text);
    }
    let moments = fresh.history.moments();
    for line in laid("requests").unwrap_or_default().lines() {
        let Some((moment, url)) = line.split_once(' ') else { continue };
        let Some(moment) = moment.parse().ok().filter(|moment| *moment < moments) else { continue };
        // A line that cannot be sent any more is left out.
        fresh.requests.send(&fresh.history, moment, url).ok();
    }
    fresh.announcement = Text::new("announce.back").with("tick", fresh.history.cluster().visible_tick());
    keep_choices(state, &mut fresh);
    *state = fresh;
    super::update::check_file(state);
}

/// Begins anew with the same seed.
pub fn reset(state: &mut State) {
    let mut fresh = State::new((*state.history.cluster().settings).clone());
    keep_choices(state, &mut fresh);
    *state = fresh;
}

/// What concerns the page and not the cluster stays.
pub fn keep_choices(from: &State, to: &mut State) {
    to.language = from.language;
    to.theme = from.theme;
    to.has_keys = from.has_keys;
    to.speed = from.speed;
    to.embed = from.embed.clone();
    to.address = from.address.clone();
    to.is_timed = from.is_timed;
    to.editor_revision = from.editor_revision + 1;
    to.sessions = from.sessions + 1;
    to.screen_tab = from.screen_tab;
    to.shell.session.history.clone_from(&from.shell.session.history);
}

/// Takes over the session of a link.
///
/// # Errors
/// A sentence for the person who followed it.
pub fn follow(state: &mut State, link: &str) -> Result<(), ShareError> {
    let shared = decode(link)?;
    take_over(state, &shared);
    Ok(())
}

/// What the share sheet shows.
pub fn share_view(state: &State) -> ShareView {
    let code = encode(&shared_of(state));
    let link = [state.address.as_str(), &code].concat();
    let is_short = code.len() <= LIMIT_BYTES;
    let embed_address = [state.address.as_str(), "?embed=1", &code].concat();
    ShareView {
        link: if is_short { link.clone() } else { String::new() },
        link_limit_bytes: LIMIT_BYTES,
        refusal: Text::new("share.too_long").render(crate::i18n::catalogue(state.language)),
        embed: [
            "<iframe src=\"",
            &embed_address,
            "\" width=\"600\" height=\"400\" title=\"Kubestep\"></iframe>",
        ]
        .concat(),
        open: link,
        is_copied: state.is_copied,
    }
}
