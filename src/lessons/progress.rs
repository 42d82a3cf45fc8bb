//! How far a learner is: a lesson's predicates folded over a session's branch, moment by moment.

use super::evidence::{Evidence, What};
use super::format::Lesson;
use super::predicate::{Instant, Predicate};

/// How far one goal is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalState {
    /// The goal.
    pub id: String,
    /// The moment of the branch at which it was met.
    pub met_at: Option<usize>,
    /// How many there are and how many are wanted, for a goal that counts and is not met.
    pub count: Option<(usize, i64)>,
}

/// How far one question is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PredictionState {
    /// The question.
    pub id: String,
    /// Whether it has been asked.
    pub asked: bool,
    /// The answer.
    pub chosen: Option<String>,
    /// The answer that came true since.
    pub came_true: Option<String>,
}

impl PredictionState {
    /// Whether time has to wait for an answer.
    pub fn is_open(&self) -> bool {
        self.asked && self.chosen.is_none()
    }

    /// Whether the answer was right, once time has told.
    pub fn is_right(&self) -> Option<bool> {
        Some(self.came_true.as_ref()? == self.chosen.as_ref()?)
    }
}

/// A lesson under way. Show it the evidence after every change; it goes on from where it was, or begins again when the
/// branch is another one.
#[derive(Clone, Debug)]
pub struct Progress {
    branch: usize,
    /// Moments seen.
    moments: usize,
    /// Deeds seen.
    deeds: usize,
    goals: Vec<(Predicate, Option<usize>)>,
    parts: Vec<(Option<Predicate>, bool)>,
    hints: Vec<(Predicate, bool)>,
    predictions: Vec<Question>,
    counts: Vec<Option<(usize, i64)>>,
}

#[derive(Clone, Debug)]
struct Question {
    when: Predicate,
    choices: Vec<(String, Predicate)>,
    state: PredictionState,
}

impl Progress {
    /// Before the first moment.
    pub fn new(lesson: &Lesson) -> Self {
        Self {
            branch: usize::MAX,
            moments: 0,
            deeds: 0,
            goals: lesson.goals.iter().map(|goal| (goal.when.clone(), None)).collect(),
            parts: lesson.parts.iter().map(|part| (part.when.clone(), part.when.is_none())).collect(),
            hints: lesson.hints.iter().map(|hint| (hint.when.clone(), false)).collect(),
            predictions: lesson
                .predictions
                .iter()
                .map(|prediction| Question {
                    when: prediction.when.clone(),
                    choices: prediction.choices.clone(),
                    state: PredictionState { id: prediction.id.clone(), ..PredictionState::default() },
                })
                .collect(),
            counts: vec![None; lesson.goals.len()],
        }
    }

    /// Takes in what is new.
    pub fn observe(&mut self, lesson: &Lesson, evidence: &Evidence<'_>) {
        let history = evidence.history;
        let (branch, _) = history.position();
        if branch != self.branch || history.moments() < self.moments {
            *self = Self { branch, ..Self::new(lesson) };
        }
        let deeds: Vec<_> = evidence.deeds.on_branch(history).collect();
        // A deed at a moment that was seen already (one more request, a line that only reads) is shown once more.
        let from = if deeds.len() > self.deeds { self.moments.saturating_sub(1) } else { self.moments };
        let from = from.max(evidence.begun.min(history.moments().saturating_sub(1)));
        let late: Vec<&What> = deeds[self.deeds.min(deeds.len())..]
            .iter()
            .filter(|d| d.moment < from)
            .map(|d| &d.what)
            .collect();
        let new: Vec<_> = deeds[self.deeds.min(deeds.len())..].iter().filter(|d| d.moment >= from).collect();
        let moments = &history.current().moments;
        let origin = moments.get(evidence.begun).map_or(0, |moment| moment.cluster.visible_tick());
        let facts = &history.current().facts;
        for index in from..moments.len() {
            let moment = &moments[index];
            let before = match index {
                _ if index < self.moments => moment.facts,
                0 => 0,
                _ => moments[index - 1].facts,
            };
            let before = if index <= evidence.begun { moment.facts } else { before };
            let fresh: Vec<_> = facts.iter().skip(before).take(moment.facts - before).cloned().collect();
            let mut done: Vec<&What> = new.iter().filter(|d| d.moment == index).map(|d| &d.what).collect();
            if index == from {
                done.extend(&late);
            }
            let ticks = moment.cluster.visible_tick() - origin;
            self.instant(index, &Instant { cluster: &moment.cluster, facts: &fresh, deeds: &done, ticks });
        }
        if let Some(moment) = moments.last() {
            self.counts = self
                .goals
                .iter()
                .map(|(when, met)| if met.is_none() { when.count(&moment.cluster) } else { None })
                .collect();
        }
        self.moments = moments.len();
        self.deeds = deeds.len();
    }

    fn instant(&mut self, index: usize, instant: &Instant<'_>) {
        for question in &mut self.predictions {
            if question.state.came_true.is_none() && question.state.chosen.is_some() {
                let told =
                    question.choices.iter_mut().filter_map(|(id, when)| when.observe(instant).then_some(id));
                question.state.came_true = told.min().cloned();
            }
            let asks = question.when.observe(instant);
            question.state.asked = question.state.asked || asks;
            for deed in instant.deeds {
                if let What::Predicted { prediction, choice } = deed
                    && *prediction == question.state.id
                    && question.state.asked
                    && question.state.chosen.is_none()
                {
                    question.state.chosen = Some(choice.clone());
                }
            }
        }
        for (when, met_at) in &mut self.goals {
            if when.observe(instant) && met_at.is_none() {
                *met_at = Some(index);
            }
        }
        for (when, reached) in &mut self.parts {
            *reached = when.as_mut().is_none_or(|when| when.observe(instant)) || *reached;
        }
        for (when, helps) in &mut self.hints {
            *helps = when.observe(instant);
        }
    }

    /// How far each goal is, in the lesson's order.
    pub fn goals(&self, lesson: &Lesson) -> Vec<GoalState> {
        let states = lesson.goals.iter().zip(&self.goals).zip(&self.counts);
        states
            .map(|((goal, (_, met_at)), count)| GoalState {
                id: goal.id.clone(),
                met_at: *met_at,
                count: *count,
            })
            .collect()
    }

    /// Whether every goal is met.
    pub fn is_done(&self) -> bool {
        self.goals.iter().all(|(_, met_at)| met_at.is_some())
    }

    /// How far each question is, in the lesson's order.
    pub fn predictions(&self) -> Vec<&PredictionState> {
        self.predictions.iter().map(|question| &question.state).collect()
    }

    /// The question that time waits for.
    pub fn open_prediction(&self) -> Option<&PredictionState> {
        self.predictions.iter().map(|question| &question.state).find(|state| state.is_open())
    }

    /// The last part that is reached, by its place in the lesson.
    pub fn part(&self) -> Option<usize> {
        self.parts.iter().rposition(|(_, reached)| *reached)
    }

    /// The hints that help now, by their place in the lesson.
    pub fn hints(&self) -> Vec<usize> {
        let all = self.hints.iter().enumerate();
        all.filter(|(_, (_, helps))| *helps).map(|(index, _)| index).collect()
    }
}

/// How far each goal of a lesson is, from scratch. [`Progress`] says the same and goes on from where it was.
pub fn evaluate(lesson: &Lesson, evidence: &Evidence<'_>) -> Vec<GoalState> {
    let mut progress = Progress::new(lesson);
    progress.observe(lesson, evidence);
    progress.goals(lesson)
}
