//! Moving through time: forward by commands, back by looking.

use super::state::State;
use super::view_model::telling::is_telling;
use crate::cluster::command::Command;
use crate::cluster::fact::Fact;
use crate::i18n::Text;

/// The most ticks that "until quiet" does before it says that there is no end.
pub const QUIET_TICKS_LIMIT: u64 = 600;
/// When nothing is due for longer than this, "until quiet" rests, and says when something is.
const REST_TICKS: u64 = 40;
/// Ticks of one slice, so that the page stays awake.
const SLICE_TICKS: u64 = 8;

/// Goes to a moment of the branch on screen.
pub fn seek(state: &mut State, moment: usize) {
    halt(state);
    state.history.seek(moment);
    looked(state);
}

/// Goes to the newest moment of another branch.
pub fn switch(state: &mut State, branch: usize) {
    halt(state);
    state.history.switch(branch, usize::MAX);
    looked(state);
}

/// The next work item; in the past, the next moment that is already there.
pub fn step(state: &mut State) {
    if !look_ahead(state, |_, _| true) {
        perform(state, Command::Step);
    }
}

/// The rest of the tick; in the past, the next end of a tick that is already there.
pub fn tick(state: &mut State) {
    let from = state.history.cluster().tick();
    let is_end = |state: &State, at: usize| {
        let cluster = &state.history.current().moments[at].cluster;
        !cluster.is_inside_tick() && cluster.tick() > from || at + 1 == state.history.moments()
    };
    if !look_ahead(state, is_end) {
        perform(state, Command::Tick);
    }
}

/// One slice of a run until quiet.
pub fn run_on(state: &mut State) {
    for _ in 0..SLICE_TICKS {
        let Some(run) = &mut state.run else { return };
        run.ticks += 1;
        let ticks = run.ticks;
        if state.history.is_at_end() {
            perform(state, Command::Tick);
        } else {
            let end = state.history.moments() - 1;
            state.history.seek(end);
        }
        let is_busy = state.history.latest_facts().any(|fact| !fact.routine);
        if let Some(run) = &mut state.run {
            run.has_worked |= is_busy;
        }
        let has_worked = state.run.is_some_and(|run| run.has_worked);
        let cluster = state.history.cluster();
        let next = cluster.next_busy_tick().filter(|_| has_worked).unwrap_or(0);
        if next > cluster.tick() + REST_TICKS {
            state.announcement = Text::new("announce.rest")
                .with("tick", cluster.visible_tick())
                .with("next", cluster.shown(next));
            state.run = None;
        } else if cluster.is_quiet() {
            state.announcement = Text::new("announce.quiet").with("tick", cluster.visible_tick());
            state.run = None;
        } else if ticks >= QUIET_TICKS_LIMIT {
            state.announcement =
                Text::new("announce.bound").with("tick", cluster.visible_tick()).with("ticks", ticks);
            state.run = None;
        }
    }
}

/// Carries out a command at the moment on screen and tells what came of it.
pub fn perform(state: &mut State, command: Command) {
    let from = Standing::of(state);
    state.history.perform(command);
    moved(state, from);
    super::shell::poll(state);
}

/// Where one stood before something happened.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    branch: usize,
    moment: usize,
    facts: usize,
}

impl Standing {
    /// Where one stands now.
    pub fn of(state: &State) -> Standing {
        let (branch, moment) = state.moment();
        Standing { branch, moment, facts: state.history.here().facts }
    }

    /// What happened since, oldest first.
    pub fn fresh_facts(self, state: &State) -> impl Iterator<Item = &Fact> {
        state.history.facts().skip(self.facts).map(AsRef::as_ref)
    }
}

/// What a new moment means for the desk.
pub fn moved(state: &mut State, from: Standing) {
    state.fact = None;
    state.attempt = None;
    state.is_copied = false;
    state.came_from = from.moment;
    tell(state, from);
    if state.moment().0 != from.branch {
        state.announcement =
            Text::new("announce.forked").with("tick", state.history.cluster().visible_tick());
    }
}

fn halt(state: &mut State) {
    state.is_playing = false;
    state.run = None;
}

fn looked(state: &mut State) {
    state.came_from = state.moment().1;
    state.fact = None;
    state.attempt = None;
    state.requests.shown = None;
    state.requests.hop = None;
    state.announcement = Text::new("announce.back").with("tick", state.history.cluster().visible_tick());
}

/// In the past: goes to the first later moment for which `is_end` holds. Says whether there was one.
fn look_ahead(state: &mut State, is_end: impl Fn(&State, usize) -> bool) -> bool {
    let (_, at) = state.moment();
    let found = (at + 1..state.history.moments()).find(|at| is_end(state, *at));
    if let Some(found) = found {
        let from = Standing::of(state);
        state.history.seek(found);
        looked(state);
        state.came_from = from.moment;
        tell(state, from);
    }
    found.is_some()
}

/// Puts what happened since into the announcement.
fn tell(state: &mut State, from: Standing) {
    let cluster = state.history.cluster();
    let tick = cluster.visible_tick();
    let telling: Vec<&Fact> = from.fresh_facts(state).filter(|fact| is_telling(fact)).collect();
    let words = crate::i18n::catalogue(state.language);
    let mut text: Vec<String> = telling
        .iter()
        .take(3)
        .map(|fact| {
            let actor = super::view_model::telling::lane_tag(words, &fact.actor).name;
            [&actor, ": ", super::view_model::telling::fact_text(words, fact).as_str()].concat()
        })
        .collect();
    if telling.len() > 3 {
        text.push(words.say("why.more", &[("count", &(telling.len() - 3).to_string())]));
    }
    let text = if text.is_empty() { words.say("announce.nothing", &[]) } else { text.join("; ") };
    state.announcement = Text::new("announce.moment").with("tick", tick).with("text", text);
}

/// Goes on to a tick, or back to its end, for an address that names one.
pub fn run_to(state: &mut State, tick: i64) {
    let is_past = |at: usize| state.history.current().moments[at].cluster.visible_tick() > tick;
    if let Some(later) = (0..state.history.moments()).find(|at| is_past(*at)) {
        state.history.seek(later.saturating_sub(1));
        return;
    }
    state.history.seek(usize::MAX);
    for _ in 0..QUIET_TICKS_LIMIT {
        if state.history.cluster().visible_tick() >= tick {
            return;
        }
        state.history.perform(Command::Tick);
    }
}
