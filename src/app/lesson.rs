//! A lesson under way: what is to be caused and seen, and how far it is.

use super::layout::{Dialog, InspectorTab, ScreenTab};
use super::session::File;
use super::sharing::keep_choices;
use super::state::State;
use super::view_model::Mark;
use super::view_model::lesson::{Block, Goal, LessonView, OpenLesson, Prediction};
use crate::cluster::history::History;
use crate::i18n::{Language, Piece, Text};
use crate::lessons::evidence::What;
use crate::lessons::player::Player;
use crate::lessons::{Deed, Deeds, Evidence, PredictionState, Progress, telling};

/// The lesson under way.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub progress: Progress,
    /// What the learner did beside commands.
    pub deeds: Deeds,
    /// The moment at which it began.
    pub begun: usize,
    /// How many of the hints that help now were asked for.
    pub hints_given: usize,
    /// The answer that is picked, not settled.
    pub picked: String,
}

/// Begins a lesson in a cluster of its own. Nothing happens if there is no such lesson.
pub fn begin(state: &mut State, id: &str) {
    let Some(told) = crate::lessons::lesson(id) else { return };
    let lesson = &told.lesson;
    let mut player = Player::new(History::new(lesson.settings(lesson.seed)), lesson.files.clone());
    for line in &lesson.start {
        player.play(line);
    }
    let mut fresh = State::new(lesson.settings(lesson.seed));
    fresh.history = player.history;
    fresh.shell.session = player.terminal;
    let files = player.files.into_iter();
    fresh.files = files.map(|(name, text)| File { name, text, applied: String::new() }).collect();
    if fresh.files.is_empty() {
        fresh.files.push(File { name: "file.yaml".to_string(), ..File::default() });
    }
    let begun = fresh.history.position().1;
    fresh.lesson = Some(run_of(id, player.deeds, begun));
    fresh.inspector_tab = InspectorTab::Lesson;
    keep_choices(state, &mut fresh);
    fresh.screen_tab = ScreenTab::Inspect;
    *state = fresh;
    super::update::check_file(state);
    observe(state);
}

fn run_of(id: &str, deeds: Deeds, begun: usize) -> Run {
    let progress = crate::lessons::lesson(id).map(|told| Progress::new(&told.lesson));
    Run {
        id: id.to_string(),
        progress: progress.expect("a lesson that is begun exists"),
        deeds,
        begun,
        hints_given: 0,
        picked: String::new(),
    }
}

/// Takes in what happened since: called after every message.
pub fn observe(state: &mut State) {
    let Some(run) = &mut state.lesson else { return };
    let Some(told) = crate::lessons::lesson(&run.id) else { return };
    let evidence = Evidence { history: &state.history, deeds: &run.deeds, begun: run.begun };
    let helped = run.progress.hints();
    run.progress.observe(&told.lesson, &evidence);
    if run.progress.hints() != helped {
        run.hints_given = 0;
    }
}

/// Remembers what the learner did beside commands.
pub fn record(state: &mut State, what: What) {
    if let Some(run) = &mut state.lesson {
        run.deeds.record(&state.history, what);
    }
}

/// Whether time has to wait for an answer; if so, the question is shown.
pub fn holds_time(state: &mut State) -> bool {
    let is_open = state.lesson.as_ref().is_some_and(|run| run.progress.open_prediction().is_some());
    if is_open && state.history.is_at_end() {
        state.is_playing = false;
        state.run = None;
        state.inspector_tab = InspectorTab::Lesson;
        state.screen_tab = ScreenTab::Inspect;
        state.announcement = Text::new("announce.predict_first");
        return true;
    }
    false
}

/// Settles the picked answer, and lets a tick pass.
pub fn predict(state: &mut State) {
    let Some(run) = &mut state.lesson else { return };
    let Some(open) = run.progress.open_prediction() else { return };
    if run.picked.is_empty() {
        return;
    }
    let what = What::Predicted { prediction: open.id.clone(), choice: std::mem::take(&mut run.picked) };
    record(state, what);
    observe(state);
    super::time::tick(state);
}

/// The lesson as text, to travel with a session: id, beginning, deeds of the branch on screen.
pub fn to_text(state: &State) -> Option<String> {
    let run = state.lesson.as_ref()?;
    let on_branch = run.deeds.on_branch(&state.history);
    let deeds: Vec<Deed> = on_branch.map(|deed| Deed { branch: 0, ..deed.clone() }).collect();
    serde_json::to_string(&(&run.id, run.begun, deeds)).ok()
}

/// Takes a lesson up again from its text. Nothing happens if it cannot be read.
pub fn from_text(state: &mut State, text: &str) {
    let Ok((id, begun, deeds)) = serde_json::from_str::<(String, usize, Deeds)>(text) else { return };
    if crate::lessons::lesson(&id).is_some() {
        state.lesson = Some(run_of(&id, deeds, begun));
        observe(state);
    }
}

/// The lessons while one is chosen, and the one under way.
pub fn lesson_view(state: &State) -> LessonView {
    let language = state.language;
    let is_choosing = state.dialog == Some(Dialog::Lessons);
    let offered = is_choosing.then(crate::lessons::all).unwrap_or_default().iter();
    LessonView {
        lessons: offered.map(|told| (told.lesson.id.clone(), told.telling(language).title.clone())).collect(),
        open: state.lesson.as_ref().and_then(|run| open_view(run, language)),
    }
}

fn open_view(run: &Run, language: Language) -> Option<OpenLesson> {
    let told = crate::lessons::lesson(&run.id)?;
    let (lesson, words) = (&told.lesson, told.telling(language));
    let part =
        run.progress.part().and_then(|at| lesson.parts.get(at)).and_then(|part| words.parts.get(&part.id));
    let goals: Vec<Goal> = run
        .progress
        .goals(lesson)
        .into_iter()
        .map(|goal| Goal {
            text: words.goals.get(&goal.id).map(|blocks| plain(blocks)).unwrap_or_default(),
            mark: match (goal.met_at, goal.count) {
                (Some(_), _) => Mark::Done,
                (None, Some((count, _))) if count > 0 => Mark::UnderWay,
                _ => Mark::Empty,
            },
            note: match goal.count {
                Some((count, wanted)) if goal.met_at.is_none() && wanted > 1 => {
                    [&count.to_string(), "/", wanted.to_string().as_str()].concat()
                }
                _ => String::new(),
            },
        })
        .collect();
    let helping: Vec<String> = run
        .progress
        .hints()
        .into_iter()
        .filter_map(|at| words.hints.get(&lesson.hints.get(at)?.id))
        .map(|blocks| plain(blocks))
        .collect();
    let asked = run.progress.predictions().into_iter().rfind(|prediction| prediction.asked);
    Some(OpenLesson {
        id: run.id.clone(),
        title: words.title.clone(),
        blocks: part.unwrap_or(&words.about).iter().map(block_of).collect(),
        prediction: asked.and_then(|asked| prediction_view(asked, run, words)),
        met: goals.iter().filter(|goal| goal.mark == Mark::Done).count(),
        goals,
        hints_total: helping.len(),
        hints: helping.into_iter().take(run.hints_given).collect(),
        is_done: run.progress.is_done(),
        closing: plain(&words.end),
    })
}

fn prediction_view(asked: &PredictionState, run: &Run, words: &telling::Telling) -> Option<Prediction> {
    let question = words.questions.get(&asked.id)?;
    let choices = question.choices.iter().map(|(id, pieces)| (id.clone(), text_of(pieces)));
    Some(Prediction {
        id: asked.id.clone(),
        question: plain(&question.text),
        choices: choices.collect(),
        chosen: asked.chosen.clone().unwrap_or_else(|| run.picked.clone()),
        verdict: plain(&question.told),
        is_right: asked.is_right(),
        is_settled: asked.chosen.is_some(),
    })
}

fn block_of(block: &telling::Block) -> Block {
    match block {
        telling::Block::Paragraph(pieces) => Block::Paragraph(pieces.clone()),
        telling::Block::Item(pieces) => Block::Item(pieces.clone()),
        telling::Block::Code(text) => Block::Code(text.clone()),
    }
}

fn text_of(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

fn plain(blocks: &[telling::Block]) -> String {
    let texts: Vec<String> = blocks
        .iter()
        .map(|block| match block {
            telling::Block::Paragraph(pieces) | telling::Block::Item(pieces) => text_of(pieces),
            telling::Block::Code(text) => text.clone(),
        })
        .collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::message::Message;
    use crate::app::update::update;
    use crate::cluster::settings::Settings;

    #[test]
    fn the_lesson_waits_for_an_answer_and_notices_what_was_done() {
        let mut state = State::new(Settings::default());
        update(&mut state, Message::LessonChosen("from-apply-to-ready".to_string()));
        let met = |state: &State| lesson_view(state).open.map_or(0, |open| open.met);
        assert_eq!(met(&state), 0, "the start meets nothing");
        update(&mut state, Message::ApplyAsked);
        assert_eq!(met(&state), 1, "stored");
        let before = state.moment();
        update(&mut state, Message::TickAsked);
        assert_eq!(state.moment(), before, "time waits for the answer");
        update(&mut state, Message::RequestSent);
        assert_eq!(met(&state), 2, "the request failed");
        update(&mut state, Message::PredictionPicked("deployment".to_string()));
        update(&mut state, Message::PredictionMade);
        assert!(state.moment() > before, "and moves with it");
        assert_eq!(met(&state), 4, "predicted, and the ReplicaSet is there");
        let text = to_text(&state).expect("a lesson is under way");
        let mut other = State::new(Settings::default());
        other.history = state.history.clone();
        from_text(&mut other, &text);
        assert_eq!(met(&other), 4, "it travels with the session");
    }
}
