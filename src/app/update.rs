//! What a message does: state in, state and effects out, nothing else.

use serde_json::Value;

use super::checking::problems_of;
use super::effect::Effect;
use super::layout::{InspectorTab, ScreenTab};
use super::lesson;
use super::message::Message;
use super::requests::trace_of;
use super::session::{FILES_LIMIT, File};
use super::sharing;
use super::shell;
use super::state::{Run, State};
use super::time;
use super::view_model::ObjectReference;
use super::view_model::telling::because_text;
use super::view_model::trace::trace_view;
use crate::cluster::command::Command;
use crate::cluster::fact::FactId;
use crate::i18n::Text;
use crate::lessons::evidence::What;
use crate::share::{ShareError, Shared};

/// Carry out `message` in the state; what concerns the outside comes back as effects.
pub fn update(state: &mut State, message: Message) -> Vec<Effect> {
    let moves_time = matches!(
        message,
        Message::StepAsked
            | Message::TickAsked
            | Message::QuietAsked
            | Message::PlayToggled
            | Message::TimerFired
    );
    if matches!(message, Message::TimerFired) {
        state.is_timed = false;
    }
    if moves_time && lesson::holds_time(state) {
        return Vec::new();
    }
    let is_line =
        matches!(message, Message::LineEntered(_) | Message::CommandChosen(_) | Message::ApplyAsked);
    match message {
        Message::FirstAsked => time::seek(state, 0),
        Message::BackAsked => {
            let (_, at) = state.moment();
            time::seek(state, at.saturating_sub(1));
        }
        Message::MomentChosen(moment) => time::seek(state, moment),
        Message::BranchChosen(branch) => time::switch(state, branch),
        Message::StepAsked => time::step(state),
        Message::TickAsked => time::tick(state),
        Message::ForkAsked => time::perform(state, Command::Step),
        Message::QuietAsked => {
            state.is_playing = false;
            state.run = Some(Run { ticks: 0, has_worked: false });
            time::run_on(state);
        }
        Message::PlayToggled => {
            state.run = None;
            state.is_playing = !state.is_playing;
        }
        Message::SpeedChosen(speed) => state.speed = speed,
        Message::TimerFired => {
            if state.run.is_some() {
                time::run_on(state);
            } else if state.is_playing {
                time::tick(state);
            }
        }

        Message::StageToggled(stage) => {
            state.open_stage = if state.open_stage == Some(stage) { None } else { Some(stage) };
        }
        Message::SubjectChosen(subject) => state.subject = Some(subject),
        Message::ObjectChosen(object) => choose_object(state, object),
        Message::ObjectLeft => state.selected = None,
        Message::FactChosen(fact) => {
            state.fact = Some(FactId(fact as u64));
            state.inspector_tab = InspectorTab::Why;
            state.screen_tab = ScreenTab::Inspect;
        }
        Message::InspectorTabChosen(tab) => {
            state.inspector_tab = tab;
            state.screen_tab = ScreenTab::Inspect;
        }
        Message::ScreenTabChosen(tab) => state.screen_tab = tab,
        Message::TimelineListToggled => state.is_timeline_list = !state.is_timeline_list,
        Message::AttemptChosen(fact) => state.attempt = Some(FactId(fact as u64)),

        Message::FileChosen(at) => show_file(state, at),
        Message::FileAdded => add_file(state),
        Message::FileRenamed(name) => rename_file(state, &name),
        Message::FileClosed(at) => close_file(state, at),
        Message::FileEdited(text) => {
            state.file_mut().text = text;
            state.edits += 1;
            check_file(state);
        }
        Message::ApplyAsked => apply(state),
        Message::DifferenceToggled => state.has_difference = !state.has_difference,

        Message::LineEntered(line) => shell::enter(state, &line),
        Message::CommandChosen(line) => {
            state.open_stage = None;
            state.screen_tab = ScreenTab::Terminal;
            shell::interrupt(state);
            shell::enter(state, &line);
        }
        Message::CompletionAsked(line) => shell::tab(state, &line),
        Message::CompletionLeft => state.screenful.completion = None,
        Message::InterruptAsked => shell::interrupt(state),

        Message::RequestEdited(url) => state.requests.url = url,
        Message::RequestSent => send_request(state),
        Message::RequestChosen(at) => {
            state.requests.shown = Some(at as u64);
            state.requests.hop = None;
        }
        Message::HopChosen(hop) => state.requests.hop = Some(hop),

        Message::TraceCopyAsked => {
            let words = crate::i18n::catalogue(state.language);
            return vec![Effect::Copy(trace_view(words, &state.history, &state.requests).text)];
        }

        Message::LessonChosen(id) => lesson::begin(state, &id),
        Message::LessonLeft => {
            state.lesson = None;
            state.dialog = None;
        }
        Message::PredictionPicked(choice) => {
            if let Some(run) = &mut state.lesson {
                run.picked = choice;
            }
        }
        Message::PredictionMade => lesson::predict(state),
        Message::HintAsked => {
            if let Some(run) = &mut state.lesson {
                run.hints_given += 1;
            }
        }

        Message::LanguageChosen(language) => {
            state.language = language;
            return dressed(state);
        }
        Message::ThemeChosen(theme) => {
            state.theme = theme;
            return dressed(state);
        }
        Message::KeyPressed(message) => {
            let is_heard = state.has_keys && state.dialog.is_none();
            return if is_heard { update(state, *message) } else { Vec::new() };
        }
        Message::KeysToggled => {
            state.has_keys = !state.has_keys;
            return vec![Effect::Remember(state.choices())];
        }
        Message::DialogOpened(dialog) => {
            state.is_copied = false;
            state.dialog = Some(dialog);
        }
        Message::Escaped => {
            if state.dialog.take().is_none() {
                state.open_stage = None;
            }
        }
        Message::CopyAsked(text) => return vec![Effect::Copy(text)],
        Message::Copied(is_copied) => {
            state.is_copied = is_copied;
            state.announcement = Text::new(if is_copied { "announce.copied" } else { "announce.not_copied" });
        }
        Message::ExportAsked => {
            let name = "kubestep.json".to_string();
            return vec![Effect::Download { name, text: sharing::shared_of(state).to_text() }];
        }
        Message::FileImported(text) => match Shared::from_text(&text) {
            Ok(shared) => sharing::take_over(state, &shared),
            Err(refusal) => state.announcement = refused(state, &refusal),
        },
        Message::LinkFollowed(link) if crate::share::link::is_link(&link) => {
            if let Err(refusal) = sharing::follow(state, &link) {
                state.announcement = refused(state, &refusal);
            }
        }
        Message::ResetAsked => {
            sharing::reset(state);
            return vec![Effect::Forget];
        }
        Message::SaveFailed => state.announcement = Text::new("announce.not_saved"),
        _ => {}
    }
    lesson::observe(state);
    let mut effects = timers(state);
    if is_line && state.embed.is_none() {
        let lines = &state.shell.session.history;
        effects.push(Effect::RememberLines(Value::from(lines.as_slice()).to_string()));
    }
    if state.embed.is_none() && state.run.is_none() && state.saved != state.to_save() {
        state.saved = state.to_save();
        effects.push(Effect::Save(sharing::shared_of(state).to_text()));
    }
    effects
}

/// Why a link or a file was not taken, in the language on screen.
pub fn refused(state: &State, refusal: &ShareError) -> Text {
    Text::new("announce.text").with("text", refusal.sentence(state.language))
}

/// The timer that Play or a long run needs next.
fn timers(state: &mut State) -> Vec<Effect> {
    let milliseconds = match (state.run.is_some(), state.is_playing) {
        (true, _) => 0,
        (false, true) => state.speed.pause_milliseconds(),
        (false, false) => return Vec::new(),
    };
    if state.is_timed {
        return Vec::new();
    }
    state.is_timed = true;
    vec![Effect::WakeAfter { milliseconds }]
}

fn dressed(state: &State) -> Vec<Effect> {
    let (language, theme) = (state.language, state.theme);
    vec![Effect::Dress { language, theme }, Effect::Remember(state.choices())]
}

fn choose_object(state: &mut State, object: ObjectReference) {
    state.selected = Some(object);
    state.open_stage = None;
    state.inspector_tab = InspectorTab::Object;
    state.screen_tab = ScreenTab::Inspect;
}

fn show_file(state: &mut State, at: usize) {
    state.shown_file = at.min(state.files.len() - 1);
    check_file(state);
    state.has_difference = false;
    state.editor_revision += 1;
}

/// Apply is a line in the terminal like any other.
fn apply(state: &mut State) {
    if state.embed.as_ref().is_some_and(|embed| embed.is_read_only) {
        return;
    }
    let line = ["kubectl apply -f ", &state.file().name].concat();
    let file = state.file_mut();
    file.applied = file.text.clone();
    state.has_difference = false;
    shell::interrupt(state);
    shell::enter(state, &line);
}

/// Looks through the file on screen.
pub fn check_file(state: &mut State) {
    let words = crate::i18n::catalogue(state.language);
    state.problems = problems_of(words, state.history.cluster(), &state.file().text);
}

/// Opens a text as a file of that name, in the place of one that is called so.
pub(super) fn open_file(state: &mut State, name: &str, text: &str) {
    let at = match state.files.iter().position(|file| file.name == name) {
        Some(at) => at,
        None if state.files.len() >= FILES_LIMIT => return,
        None => {
            state.files.push(File { name: name.to_string(), ..File::default() });
            state.files.len() - 1
        }
    };
    state.files[at].text = text.to_string();
    show_file(state, at);
}

fn add_file(state: &mut State) {
    if state.files.len() >= FILES_LIMIT {
        return;
    }
    let names: Vec<&str> = state.files.iter().map(|file| file.name.as_str()).collect();
    let name = (1..).map(|number| format!("file-{number}.yaml")).find(|name| !names.contains(&name.as_str()));
    state.files.push(File { name: name.unwrap_or_default(), ..File::default() });
    show_file(state, state.files.len() - 1);
}

fn rename_file(state: &mut State, name: &str) {
    let name = name.trim().replace(['/', ' '], "-");
    let is_free = !state.files.iter().any(|file| file.name == name);
    if !name.is_empty() && is_free {
        state.file_mut().name = name;
    }
}

fn close_file(state: &mut State, at: usize) {
    if state.files.len() > 1 && at < state.files.len() {
        state.files.remove(at);
        let shown =
            if state.shown_file >= at { state.shown_file.saturating_sub(1) } else { state.shown_file };
        show_file(state, shown);
    }
}

fn send_request(state: &mut State) {
    let (_, moment) = state.moment();
    let url = state.requests.url.clone();
    state.announcement = match state.requests.send(&state.history, moment, &url) {
        Ok(sent) => {
            let announcement =
                Text::new("announce.request").with("url", &sent.url).with("answer", &sent.answer);
            if let Some(trace) = trace_of(&state.history, sent) {
                lesson::record(state, What::traced(&trace));
            }
            announcement
        }
        Err(because) => {
            let words = crate::i18n::catalogue(state.language);
            Text::new("announce.text").with("text", because_text(words, &because))
        }
    };
}
