//! Every attempt to place a Pod: every node, every rule.

use super::telling::fact_pieces;
use super::why::verdict_tables;
use super::{ObjectReference, Table};
use crate::cluster::fact::{FactId, What};
use crate::cluster::history::History;
use crate::i18n::{Catalogue, Piece, Tone};

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

/// The most attempts in the list.
const ATTEMPTS_LIMIT: usize = 60;

/// The attempts up to the moment on screen; `shown` is the fact of the one to show, the newest otherwise.
pub fn scheduling_view(
    words: &Catalogue,
    history: &History,
    shown: Option<FactId>,
    pod: Option<&ObjectReference>,
) -> Scheduling {
    let compared: Vec<_> = history
        .facts()
        .rev()
        .filter_map(|fact| match &fact.what {
            What::Compared { pod, verdicts } => Some((fact, ObjectReference::from(pod), verdicts)),
            _ => None,
        })
        .take(ATTEMPTS_LIMIT)
        .collect();
    let at_fact = shown.and_then(|id| compared.iter().position(|(fact, ..)| fact.id == id));
    let at_pod = pod.and_then(|pod| compared.iter().position(|(_, of, _)| of == pod));
    let at = at_fact.or(at_pod).unwrap_or(0);
    let attempts = compared
        .iter()
        .map(|(fact, pod, verdicts)| AttemptLine {
            pod: pod.clone(),
            tick: history.cluster().shown(fact.tick),
            node: verdicts.chosen.as_deref().unwrap_or_default().to_string(),
            fact: fact.id.0 as usize,
        })
        .collect();
    let Some((fact, _, verdicts)) = compared.get(at) else {
        return Scheduling::default();
    };
    let mut tables = verdict_tables(words, verdicts).into_iter();
    let mut outcome = fact_pieces(words, fact);
    if !verdicts.message.is_empty() {
        outcome.push(Piece { tone: Tone::Plain, text: [": ", &verdicts.message].concat() });
    }
    Scheduling {
        attempts,
        shown: at,
        outcome,
        filters: tables.next().unwrap_or_default(),
        scores: tables.next().unwrap_or_default(),
    }
}
