//! The whole history as lanes, one per actor.

use super::ActorTag;

/// The history of the branch on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Moments of the branch; the slider runs from 0 to `moments - 1`.
    pub moments: usize,
    /// The moment on screen.
    pub now: usize,
    /// One lane per actor that did anything.
    pub lanes: Vec<Lane>,
    /// Where ticks begin, for the ruler: (moment, tick), thinned to what fits.
    pub ruler: Vec<(usize, i64)>,
    /// The requests sent: (moment, answered as wished).
    pub traffic: Vec<(usize, bool)>,
    /// The branches, the first is the trunk.
    pub branches: Vec<Branch>,
    /// The one on screen.
    pub branch: usize,
    /// The object the lanes are filtered by; empty when unfiltered.
    pub filter: String,
    /// The tick at the first and the last moment.
    pub ticks: (i64, i64),
    /// The moment in words, for the slider.
    pub now_text: String,
    /// The facts as a list, newest last, for who reads instead of looking.
    pub facts: Vec<FactLine>,
}

/// What one actor did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Who.
    pub tag: ActorTag,
    /// Its facts in order.
    pub dots: Vec<Dot>,
}

/// One fact on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot {
    /// The moment it happened.
    pub moment: usize,
    /// Its index.
    pub fact: usize,
    /// Whether it tells of a failure.
    pub is_failure: bool,
}

/// One branch of history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// The tick it forked at; `None` for the trunk.
    pub fork_tick: Option<i64>,
    /// The tick it has come to.
    pub tick: i64,
    /// A word about what it is about: its first own command.
    pub about: String,
}

/// One fact in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactLine {
    /// Its index.
    pub fact: usize,
    /// When.
    pub tick: i64,
    /// Who.
    pub actor: ActorTag,
    /// What happened.
    pub text: String,
    /// Whether it is the one explained.
    pub is_here: bool,
}
