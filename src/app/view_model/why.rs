//! One fact explained: who, what it had seen, what it wrote, and because of what.

use super::{ActorTag, ObjectReference, Table};
use crate::i18n::Piece;

/// The explanation of one fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Who did it.
    pub actor: ActorTag,
    /// The tick.
    pub tick: i64,
    /// The step within the tick, counted from 1; 0 for a command of the learner.
    pub step: usize,
    /// What happened, as a headline.
    pub headline: Vec<Piece>,
    /// The reason in a sentence.
    pub reason: Vec<Piece>,
    /// What the actor had seen.
    pub saw: Vec<Observation>,
    /// What it wrote.
    pub wrote: Vec<Write>,
    /// Verdicts that go with it.
    pub verdicts: Vec<Table>,
    /// The chain back to the learner's own command, first cause first.
    pub chain: Vec<Link>,
    /// The kubectl line that shows it.
    pub command: String,
    /// Facts of the same step, so that none is hidden.
    pub siblings: Vec<Link>,
}

/// One thing seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The object looked at.
    pub object: Option<ObjectReference>,
    /// What was seen.
    pub text: String,
}

/// One write and what it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// What was done, such as `created`.
    pub verb: String,
    /// The object written.
    pub object: ObjectReference,
    /// The fields that changed.
    pub lines: Vec<DiffLine>,
    /// Why it did not go through, if it did not.
    pub refusal: String,
}

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// What happened to the line.
    pub sign: Sign,
    /// The line.
    pub text: String,
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It stands as before.
    Same,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

/// One link of the chain of causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The index of its fact.
    pub fact: usize,
    /// Who.
    pub actor: ActorTag,
    /// When.
    pub tick: i64,
    /// What happened.
    pub text: String,
    /// Whether it is the fact being explained.
    pub is_here: bool,
}
