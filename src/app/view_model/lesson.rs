//! A lesson under way.

use super::Mark;

/// The lessons while one is chosen, and the one under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonView {
    /// Every lesson while one is chosen: (id, title).
    pub lessons: Vec<(String, String)>,
    /// The one under way.
    pub open: Option<OpenLesson>,
}

/// A lesson under way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenLesson {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its text as blocks, for the part reached.
    pub blocks: Vec<Block>,
    /// The question to answer before time moves, if one is open.
    pub prediction: Option<Prediction>,
    /// What is to be caused and seen.
    pub goals: Vec<Goal>,
    /// The hints asked for.
    pub hints: Vec<String>,
    /// How many hints there are.
    pub hints_total: usize,
    /// Goals met.
    pub met: usize,
    /// Whether all goals are met.
    pub is_done: bool,
    /// What to say at the end.
    pub closing: String,
}

/// One block of a lesson's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Paragraph(Vec<crate::i18n::Piece>),
    /// A list item.
    Item(Vec<crate::i18n::Piece>),
    /// Lines to type or read as they are.
    Code(String),
}

/// A question before the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// Its id.
    pub id: String,
    /// The question.
    pub question: String,
    /// The choices: (id, text).
    pub choices: Vec<(String, String)>,
    /// What was chosen, by id; empty before.
    pub chosen: String,
    /// What came of it, once time has told.
    pub verdict: String,
    /// Whether the choice is settled.
    pub is_settled: bool,
    /// Whether the choice was right, once time has told.
    pub is_right: Option<bool>,
}

/// One goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// What is to be caused or seen.
    pub text: String,
    /// How far it is.
    pub mark: Mark,
    /// A count such as `2/3`; may be empty.
    pub note: String,
}
