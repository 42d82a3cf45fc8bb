//! A steady client: the same request several times a tick, counted by what came of it.
//!
//! A tally is a pure function of one moment, like a trace; whoever draws a strip of traffic asks for every moment.
//! Leaves out: connections that outlive a tick, load on the processes.

use std::collections::BTreeMap;

use super::trace::{Sees, Stage, TraceInput, TraceRequest, trace};
use crate::api::meta::ObjectKey;

/// Somebody who sends the same request again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyClient {
    /// The request; its number is that of the first one.
    pub request: TraceRequest,
    /// How many it sends in a tick; at most [`MOST_PER_TICK`] are sent.
    pub per_tick: u32,
}

/// The most requests that one client sends in a tick.
pub const MOST_PER_TICK: u32 = 100;

/// What came of one tick's requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many were sent.
    pub sent: u32,
    /// How many got what the client wanted.
    pub succeeded: u32,
    /// The others, by what the client saw and the hop at which they failed (`None`: a process answered so).
    pub failed: BTreeMap<(Sees, Option<Stage>), u32>,
    /// Who answered how many.
    pub by_pod: BTreeMap<ObjectKey, u32>,
}

impl SteadyClient {
    /// Sends the requests of one tick. Requests of different ticks have different numbers, so they spread on.
    pub fn send(&self, input: &TraceInput<'_>, tick: u64) -> Tally {
        let mut tally = Tally::default();
        let per_tick = self.per_tick.min(MOST_PER_TICK);
        let first = self.request.number + tick * u64::from(per_tick);
        for number in first..first + u64::from(per_tick) {
            let outcome = trace(input, &TraceRequest { number, ..self.request.clone() }).outcome;
            tally.sent += 1;
            if outcome.sees.is_success() {
                tally.succeeded += 1;
            } else {
                *tally.failed.entry((outcome.sees, outcome.failed_at)).or_default() += 1;
            }
            if let Some(pod) = outcome.answered_by {
                *tally.by_pod.entry(pod).or_default() += 1;
            }
        }
        tally
    }
}

impl Tally {
    /// How many failed.
    pub fn failures(&self) -> u32 {
        self.sent - self.succeeded
    }
}
