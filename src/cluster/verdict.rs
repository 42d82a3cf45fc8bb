//! What the scheduler thought of every node in one attempt: kept, so that the screen can answer "why there?".

use std::sync::Arc;

use super::scheduler::score::SCORES;
use crate::api::meta::Name;

/// One attempt to place one Pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdicts {
    /// Every node, by name.
    pub nodes: Vec<NodeVerdict>,
    /// The node that was chosen.
    pub chosen: Option<Name>,
    /// What the Pod's condition and event say when there is none.
    pub message: String,
}

/// One node in one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVerdict {
    /// The node.
    pub node: Name,
    /// Each filter that was asked, in order; those behind a refusal were not asked. Nodes that passed them all share one
    /// list.
    pub filters: Arc<[FilterVerdict]>,
    /// Each score, after normalising and weighting; empty when the node was refused or was the only one.
    pub scores: Scores,
}

/// What the rules give one node: numbers beside it rather than a list of its own, since there are many nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// By the place of the rule among all; 0 for one that was not asked.
    scores: [i32; SCORES.len()],
    /// The rules that were asked, a bit each.
    asked: u8,
}

impl Scores {
    /// Sets what the rule at that place among all gives.
    pub fn set(&mut self, rule: usize, score: i64) {
        self.scores[rule] = i32::try_from(score).unwrap_or(i32::MAX);
        self.asked |= 1 << rule;
    }

    /// Each rule that was asked with what it gives, in the order of the rules.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, i64)> + '_ {
        let rules = SCORES.iter().zip(self.scores).enumerate();
        rules
            .filter(|(place, _)| self.asked & (1 << place) != 0)
            .map(|(_, (rule, score))| (rule.plugin, i64::from(score)))
    }

    /// What one rule gives; 0 when it gives nothing.
    pub fn of(&self, rule: &str) -> i64 {
        self.iter().find(|(name, _)| *name == rule).map_or(0, |(_, score)| score)
    }

    /// Whether no rule was asked.
    pub fn is_empty(&self) -> bool {
        self.asked == 0
    }
}

/// One filter's answer for one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterVerdict {
    /// The plugin (`NodeResourcesFit`).
    pub plugin: &'static str,
    /// Why the node was refused, in the scheduler's words; empty when it passed.
    pub reasons: Vec<String>,
    /// Whether the Pod's own terms left the node out before any node was asked.
    pub before_asking: bool,
}

impl NodeVerdict {
    /// Whether every filter let the node through.
    pub fn is_feasible(&self) -> bool {
        // The first refusal ends the asking.
        self.filters.last().is_none_or(|filter| filter.reasons.is_empty())
    }

    /// The sum of the scores.
    pub fn total(&self) -> i64 {
        self.scores.scores.iter().map(|score| i64::from(*score)).sum()
    }
}
