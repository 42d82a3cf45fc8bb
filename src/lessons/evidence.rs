//! What a lesson is judged by: the history, and what the learner did beside it.

use serde::{Deserialize, Serialize};

use crate::cluster::history::History;
use crate::cluster::network::trace::Trace;

/// Something the learner did that left no trace in the cluster, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// On which branch.
    pub branch: usize,
    /// At which of its moments.
    pub moment: usize,
    /// What.
    pub what: What,
}

/// What a learner can do beside commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// Typed a line in the terminal.
    Typed {
        /// The line.
        line: String,
    },
    /// Sent a request.
    Traced {
        /// Where to.
        url: String,
        /// What the client saw: `200`, `503`, `NXDOMAIN`, …
        sees: String,
        /// The hop that dropped it (`dns`, `rule`, `service` …); empty when it was answered.
        dropped_at: String,
    },
    /// Answered a question.
    Predicted {
        /// The question.
        prediction: String,
        /// The answer.
        choice: String,
    },
}

impl What {
    /// A request that was sent.
    pub fn traced(trace: &Trace) -> Self {
        Self::Traced {
            url: trace.request.url.to_string(),
            sees: trace.outcome.sees.word().to_string(),
            dropped_at: trace.failed_hop().map(|hop| hop.stage.word().to_string()).unwrap_or_default(),
        }
    }
}

/// Everything the learner did, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deeds(Vec<Deed>);

/// The most deeds that are remembered.
pub const DEEDS_LIMIT: usize = 5000;

impl Deeds {
    /// Remembers a deed at the moment one stands at. Beyond the limit the oldest are forgotten.
    pub fn record(&mut self, history: &History, what: What) {
        let (branch, moment) = history.position();
        if self.0.len() == DEEDS_LIMIT {
            self.0.remove(0);
        }
        self.0.push(Deed { branch, moment, what });
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Deed> {
        self.0.iter()
    }

    /// Those that belong to the branch one stands on: done on it, or on what it was forked from before the fork.
    pub fn on_branch<'a>(&'a self, history: &'a History) -> impl Iterator<Item = &'a Deed> {
        let mut line = vec![(history.position().0, usize::MAX)];
        while let Some((branch, moment)) =
            line.last().and_then(|(branch, _)| history.branches().get(*branch)?.parent)
        {
            line.push((branch, moment));
        }
        self.0.iter().filter(move |deed| {
            line.iter().any(|(branch, until)| deed.branch == *branch && deed.moment <= *until)
        })
    }
}

/// A session as a lesson sees it.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The cluster's history.
    pub history: &'a History,
    /// What the learner did beside it.
    pub deeds: &'a Deeds,
    /// The moment of the branch at which the lesson began; what happened before does not count.
    pub begun: usize,
}
