//! The whole history as lanes, one per actor.

use std::collections::BTreeMap;

use super::telling::{fact_text, is_failure, is_telling, lane_tag, tint_of};
use super::{ActorTag, ObjectReference, Tint};
use crate::cluster::actor::Actor;
use crate::cluster::command::Command;
use crate::cluster::fact::FactId;
use crate::cluster::history::{self, History, Moment};
use crate::i18n::Catalogue;

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

/// How many places along the slider are told apart; dots of one lane at the same place are drawn once.
const PLACES: usize = 500;
/// The most labels on the ruler.
const RULER_LABELS: usize = 14;
/// The most lines of the list.
const LIST_LIMIT: usize = 200;

/// What the timeline needs to know beside the history.
#[derive(Clone, Copy, Debug)]
pub struct TimelineContext<'a> {
    /// The fact being explained.
    pub fact: Option<FactId>,
    /// The object to filter by.
    pub filter: Option<&'a ObjectReference>,
    /// The requests of the branch: the moment each was sent at, and whether it was answered as wished.
    pub traffic: &'a [(usize, bool)],
    /// Whether the list is on screen.
    pub is_list: bool,
}

/// The history of the branch on screen.
pub fn timeline_view(words: &Catalogue, history: &History, context: &TimelineContext<'_>) -> Timeline {
    let branch = history.current();
    let (branch_at, now) = history.position();
    let moments = history.moments();
    let key = context.filter.and_then(ObjectReference::key);
    let tick_at = |at: usize| branch.moments.get(at).map_or(0, |moment| moment.cluster.visible_tick());
    let mut lanes: BTreeMap<usize, Lane> = BTreeMap::new();
    let mut facts = Vec::new();
    let mut moment = 0;
    for (index, fact) in branch.facts.iter().enumerate() {
        while moment + 1 < moments && branch.moments[moment].facts <= index {
            moment += 1;
        }
        if !is_telling(fact) || key.as_ref().is_some_and(|key| fact.object() != Some(key)) {
            continue;
        }
        let (order, tag) = lane_of(words, &fact.actor);
        let lane = lanes.entry(order).or_insert_with(|| Lane { tag, dots: Vec::new() });
        let place = |moment: usize| moment * PLACES / moments.max(1);
        let is_failure = is_failure(fact);
        let is_taken = lane
            .dots
            .last()
            .is_some_and(|last| place(last.moment) == place(moment) && (last.is_failure || !is_failure));
        if !is_taken {
            lane.dots.push(Dot { moment, fact: fact.id.0 as usize, is_failure });
        }
        if context.is_list {
            facts.push(fact);
        }
    }
    let surplus = facts.len().saturating_sub(LIST_LIMIT);
    let facts = facts
        .split_off(surplus)
        .into_iter()
        .map(|fact| FactLine {
            fact: fact.id.0 as usize,
            tick: history.cluster().shown(fact.tick),
            actor: lane_tag(words, &fact.actor),
            text: fact_text(words, fact),
            is_here: context.fact == Some(fact.id),
        })
        .collect();
    let place = (now + 1).to_string();
    Timeline {
        moments,
        now,
        lanes: lanes.into_values().collect(),
        ruler: ruler_of(history),
        traffic: context.traffic.to_vec(),
        branches: branches_of(words, history),
        branch: branch_at,
        filter: context.filter.map(ObjectReference::title).unwrap_or_default(),
        ticks: (tick_at(0), tick_at(moments - 1)),
        now_text: words.say(
            "timeline.moment",
            &[("tick", &tick_at(now).to_string()), ("moment", &place), ("moments", &moments.to_string())],
        ),
        facts,
    }
}

/// Where an actor's lane stands, and its name: those that route share one, and so do those that only tidy up.
fn lane_of(words: &Catalogue, actor: &Actor) -> (usize, ActorTag) {
    let shared = |key: &str| ActorTag::new(tint_of(actor), words.say(key, &[]));
    match tint_of(actor) {
        Tint::You => (0, lane_tag(words, actor)),
        Tint::ApiServer => (1, lane_tag(words, actor)),
        Tint::Deployment => (2, lane_tag(words, actor)),
        Tint::ReplicaSet => (3, lane_tag(words, actor)),
        Tint::Scheduler => (4, lane_tag(words, actor)),
        Tint::Kubelet => (5, lane_tag(words, actor)),
        Tint::Endpoints => (6, lane_tag(words, actor)),
        Tint::Route => (7, shared("lane.routes")),
        Tint::Other => (8, shared("lane.others")),
    }
}

/// The moments at which a tick begins to show, thinned to what fits.
fn ruler_of(history: &History) -> Vec<(usize, i64)> {
    let moments = &history.current().moments;
    let last = moments.len().saturating_sub(1).max(1);
    let gap = last / RULER_LABELS;
    let mut labels: Vec<(usize, i64)> = Vec::new();
    for (at, moment) in moments.iter().enumerate() {
        let tick = moment.cluster.visible_tick();
        let is_new = labels.last().is_none_or(|(_, shown)| *shown != tick);
        let is_room =
            labels.last().is_none_or(|(shown, _)| at - shown > gap) && (at == 0 || last - at > gap / 2);
        if is_new && is_room {
            labels.push((at, tick));
        }
    }
    labels
}

fn branches_of(words: &Catalogue, history: &History) -> Vec<Branch> {
    let branches = history.branches();
    let newest =
        |moments: &imbl::Vector<Moment>| moments.last().map_or(0, |moment| moment.cluster.visible_tick());
    branches
        .iter()
        .enumerate()
        .map(|(at, branch)| {
            let fork = branch.parent.map(|(_, moment)| moment);
            Branch {
                name: if at == 0 {
                    words.say("timeline.trunk", &[])
                } else {
                    words.say("timeline.branch", &[("number", &at.to_string())])
                },
                fork_tick: fork
                    .and_then(|fork| branch.moments.get(fork))
                    .map(|moment| moment.cluster.visible_tick()),
                tick: newest(&branch.moments),
                about: about_of(branch, fork.unwrap_or(0)),
            }
        })
        .collect()
}

/// The first request that is a branch's own.
fn about_of(branch: &history::Branch, fork: usize) -> String {
    let shared = branch.moments.get(fork).map_or(0, |moment| moment.commands);
    let own = branch.log.iter().skip(shared).find_map(|command| match command {
        Command::Ask(request) => Some(request.summary()),
        Command::Fault(fault) => Some(fault.summary()),
        _ => None,
    });
    own.unwrap_or_default()
}
