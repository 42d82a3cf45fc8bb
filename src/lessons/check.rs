//! The proof that a lesson can be played: its start does not meet its goals, its solution does, at several seeds; its
//! questions have one right answer; every hint can be reached; every language says everything.

use super::catalog::Told;
use super::evidence::Evidence;
use super::format::{Action, Lesson};
use super::player::Player;
use super::progress::Progress;
use super::script::{Instruction, Line};
use crate::cluster::history::History;

/// How many seeds a lesson is played at, its own first.
pub const SEEDS: u64 = 3;

/// Everything that is wrong with a lesson, a sentence each.
pub fn check(told: &Told) -> Vec<String> {
    let lesson = &told.lesson;
    let mut problems = Vec::new();
    for (language, telling) in &told.tellings {
        let of_language = telling.problems(lesson).into_iter();
        problems.extend(of_language.map(|problem| format!("{}.md: {problem}", language.tag())));
    }
    for line in &lesson.solution {
        if let Some(action) = action_of(line)
            && !lesson.allows(action)
        {
            problems.push(format!(
                "solution: line {} is `{}`, which is not allowed",
                line.number,
                action.word()
            ));
        }
    }
    for seed in lesson.seed..lesson.seed + SEEDS {
        problems.extend(play(lesson, seed).into_iter().map(|problem| format!("seed {seed}: {problem}")));
    }
    problems
}

/// A lesson being played.
struct Rehearsal<'a> {
    lesson: &'a Lesson,
    player: Player,
    progress: Progress,
    begun: usize,
    /// The hints that helped at some moment.
    helped: Vec<bool>,
}

impl<'a> Rehearsal<'a> {
    fn begin(lesson: &'a Lesson, seed: u64) -> Result<Self, String> {
        let mut player = Player::new(History::new(lesson.settings(seed)), lesson.files.clone());
        for line in &lesson.start {
            if let Some(failure) = player.play(line).failure {
                return Err(format!("start: line {}: {failure}", line.number));
            }
        }
        let begun = player.history.position().1;
        let mut rehearsal = Self {
            lesson,
            player,
            progress: Progress::new(lesson),
            begun,
            helped: vec![false; lesson.hints.len()],
        };
        rehearsal.observe();
        Ok(rehearsal)
    }

    fn observe(&mut self) {
        let evidence =
            Evidence { history: &self.player.history, deeds: &self.player.deeds, begun: self.begun };
        self.progress.observe(self.lesson, &evidence);
        for hint in self.progress.hints() {
            self.helped[hint] = true;
        }
    }

    fn unmet(&self) -> Vec<String> {
        let goals = self.progress.goals(self.lesson);
        goals.into_iter().filter(|goal| goal.met_at.is_none()).map(|goal| goal.id).collect()
    }

    fn run(&mut self, lines: &[Line], what: &str) -> Vec<String> {
        let mut problems = Vec::new();
        for line in lines {
            let waits = self.progress.open_prediction().map(|prediction| prediction.id.clone());
            if let Some(question) = waits.filter(|_| moves_time(&line.instruction)) {
                problems
                    .push(format!("{what}: line {} moves time before `{question}` is answered", line.number));
            }
            let played = self.player.play(line);
            if let Some(failure) = played.failure {
                problems.push(format!("{what}: line {}: {failure}", line.number));
                break;
            }
            self.observe();
        }
        problems
    }
}

fn play(lesson: &Lesson, seed: u64) -> Vec<String> {
    let begun = match Rehearsal::begin(lesson, seed) {
        Ok(begun) => begun,
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    for goal in begun.progress.goals(lesson) {
        if goal.met_at.is_some() {
            problems.push(format!("the goal `{}` is met before anything was done", goal.id));
        }
    }
    let mut rehearsal = begun;
    problems.extend(rehearsal.run(&lesson.solution, "solution"));
    for goal in rehearsal.unmet() {
        problems.push(format!("the solution does not meet the goal `{goal}`"));
    }
    for prediction in rehearsal.progress.predictions() {
        let id = &prediction.id;
        if !prediction.asked {
            problems.push(format!("the question `{id}` is never asked"));
        } else if prediction.chosen.is_none() {
            problems.push(format!("the solution does not answer `{id}`"));
        } else if prediction.is_right() != Some(true) {
            let came_true = prediction.came_true.as_deref().unwrap_or("nothing");
            problems.push(format!("the solution's answer to `{id}` is not what comes true: {came_true}"));
        }
    }
    for part in lesson.parts.iter().rev().take(1) {
        let last = rehearsal.progress.part().and_then(|index| lesson.parts.get(index));
        if last != Some(part) {
            problems.push(format!("the solution does not reach the part `{}`", part.id));
        }
    }
    for (index, hint) in lesson.hints.iter().enumerate() {
        let mut helped = rehearsal.helped[index];
        if let (false, Some(script)) = (helped, &hint.reached_by)
            && let Ok(mut other) = Rehearsal::begin(lesson, seed)
        {
            problems.extend(other.run(script, &format!("hint {}", hint.id)));
            helped = other.helped[index];
        }
        if !helped {
            problems.push(format!("the hint `{}` is never reached", hint.id));
        }
    }
    problems
}

fn moves_time(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Tick(_) | Instruction::Step(_) | Instruction::UntilQuiet)
}

/// What a learner does who carries out that line.
fn action_of(line: &Line) -> Option<Action> {
    Some(match &line.instruction {
        Instruction::Shell(text) if text.contains("kubectl apply") => Action::Apply,
        Instruction::Shell(_) => Action::Terminal,
        Instruction::Tick(_) => Action::Tick,
        Instruction::Step(_) => Action::Step,
        Instruction::UntilQuiet => Action::UntilQuiet,
        Instruction::Back(_) => Action::Back,
        Instruction::Trace { .. } => Action::Trace,
        Instruction::Edit { .. } => Action::Edit,
        Instruction::Why { .. } | Instruction::Predict { .. } | Instruction::Expect(_) => return None,
    })
}
