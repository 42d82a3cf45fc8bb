//! Every attempt to place a Pod: every node, every rule.

use super::{ObjectReference, Table};
use crate::i18n::Piece;

/// One attempt, with the way to the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// The attempts at the moment on screen, newest first.
    pub attempts: Vec<AttemptLine>,
    /// The one shown, by place in `attempts`.
    pub shown: usize,
    /// What came of it.
    pub outcome: Vec<Piece>,
    /// Filters: node × plugin.
    pub filters: Table,
    /// Scores of the nodes that passed: node × plugin, with the total.
    pub scores: Table,
}

/// One attempt in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptLine {
    /// The Pod.
    pub pod: ObjectReference,
    /// When.
    pub tick: i64,
    /// The node chosen; empty when none.
    pub node: String,
    /// Its fact.
    pub fact: usize,
}
