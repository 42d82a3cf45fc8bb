//! Steady clients: the same request several times a tick, counted by what came of it and by who answered.
//!
//! A tally is a pure function of one moment, like a trace. Requests in a row meet the same choices again after a while
//! (three endpoints: after three), so only that many are traced and the others are counted with them.
//! A [`Flow`] is a client that the cluster carries with it: it sends at the end of every tick and keeps the latest tallies.
//!
//! A client in a Pod that keeps its connection alive stays with the endpoint it was given, also when that endpoint has left
//! the tables, until the process behind it stops: the request under way is lost then, and the next one connects anew.
//! Outside clients keep their connection to the Ingress controller, which chooses for every request.
//! Leaves out: load on the processes, more than one connection of a client.

use std::collections::BTreeMap;

use imbl::Vector;
use serde::{Deserialize, Serialize};

use super::trace::{
    Client, Outcome, Sees, Stage, Trace, TraceInput, TraceRequest, Url, common_period, trace, trace_of_many,
};
use crate::api::meta::{Name, ObjectKey};

/// Somebody who sends the same request again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyClient {
    /// The request; its number is that of the first one.
    pub request: TraceRequest,
    /// How many it sends in a tick; at most [`MOST_PER_TICK`] are sent.
    pub per_tick: u32,
}

/// The most requests that one client sends in a tick.
pub const MOST_PER_TICK: u32 = 1000;

/// The most tallies that a client keeps: two minutes.
const MOST_KEPT: usize = 120;

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
        let per_tick = self.per_tick.min(MOST_PER_TICK);
        let first = self.request.number + tick * u64::from(per_tick);
        let mut tally = Tally::default();
        spread(input, &self.request, first, per_tick, &mut tally);
        tally
    }
}

/// Sends `count` requests from the number `first` on. Returns the first one's journey.
fn spread(
    input: &TraceInput<'_>,
    request: &TraceRequest,
    first: u64,
    count: u32,
    tally: &mut Tally,
) -> Option<Trace> {
    let (mut period, mut traced) = (1, 0);
    let (mut outcomes, mut first_trace): (Vec<Outcome>, Option<Trace>) = (Vec::new(), None);
    while traced < u64::from(count).min(period) {
        let (trace, own) = trace_of_many(input, &TraceRequest { number: first + traced, ..request.clone() });
        period = common_period(period, own);
        outcomes.push(trace.outcome.clone());
        first_trace.get_or_insert(trace);
        traced += 1;
    }
    for (outcome, turn) in outcomes.iter().zip(0_u64..) {
        let same = (u64::from(count) - turn).div_ceil(traced.max(1));
        tally.count(outcome, u32::try_from(same).unwrap_or(u32::MAX));
    }
    first_trace
}

/// What a client is to send, as a command of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// Where to.
    pub url: String,
    /// The Pod that sends; `None` for somebody outside.
    pub from: Option<(Name, Name)>,
    /// A `Host` header other than the URL's host.
    pub host: Option<String>,
    /// How many requests in a tick.
    pub per_tick: u32,
    /// Whether it keeps its connection.
    pub keep_alive: bool,
}

impl Demand {
    /// The client's name: where it sends to, and from where.
    pub fn name(&self) -> String {
        match &self.from {
            None => self.url.clone(),
            Some((namespace, pod)) => format!("{} from {namespace}/{pod}", self.url),
        }
    }

    /// The request it sends.
    pub fn request(&self) -> Option<TraceRequest> {
        let request = TraceRequest { host: self.host.clone(), ..TraceRequest::get(&self.url, 0).ok()? };
        Some(match &self.from {
            None => request,
            Some((namespace, pod)) => request.from_pod(namespace, pod),
        })
    }
}

/// A client at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The request.
    pub request: TraceRequest,
    /// How many it sends in a tick.
    pub per_tick: u32,
    /// Whether it keeps its connection.
    pub keep_alive: bool,
    /// The socket that its connection leads to, `10.244.1.2:80`, while it has one.
    pub connected_to: Option<String>,
    /// What came of everything it sent.
    pub total: Tally,
    /// The latest ticks with what came of them, oldest first.
    pub strip: Vector<(u64, Tally)>,
}

impl Flow {
    /// A client that has sent nothing yet; `None` when the URL cannot be read.
    pub fn of(demand: &Demand) -> Option<Self> {
        Some(Self {
            request: demand.request()?,
            per_tick: demand.per_tick.min(MOST_PER_TICK),
            keep_alive: demand.keep_alive,
            connected_to: None,
            total: Tally::default(),
            strip: Vector::new(),
        })
    }

    /// Sends the requests of that tick.
    pub fn send(&mut self, input: &TraceInput<'_>, tick: u64) {
        let mut tally = Tally::default();
        let mut left = self.per_tick;
        if let Some(outcome) = self.connected_to.clone().and_then(|socket| self.through(input, &socket)) {
            if outcome.failed_at.is_none() {
                tally.count(&outcome, left);
                left = 0;
            } else {
                tally.count(&Outcome { sees: Sees::EmptyReply, ..outcome }, 1);
                left = left.saturating_sub(1);
                self.connected_to = None;
            }
        }
        let keeps = self.keep_alive && matches!(self.request.from, Client::Pod(_));
        let first = self.request.number;
        if keeps && left > 0 {
            let opened = spread(input, &self.request, first, 1, &mut tally);
            self.connected_to = opened.and_then(|trace| socket_of(&trace));
            left -= 1;
            if let Some(outcome) = self.connected_to.clone().and_then(|socket| self.through(input, &socket)) {
                tally.count(&outcome, left);
                left = 0;
            }
        }
        if left > 0 {
            spread(input, &self.request, first, left, &mut tally);
        }
        self.request.number += u64::from(self.per_tick);
        self.total.add(&tally);
        self.strip.push_back((tick, tally));
        if self.strip.len() > MOST_KEPT {
            self.strip.pop_front();
        }
    }

    /// What a request meets on an open connection.
    fn through(&self, input: &TraceInput<'_>, socket: &str) -> Option<Outcome> {
        let url = Url::parse(&format!("http://{socket}{}", self.request.url.path)).ok()?;
        let host = Some(self.request.host_header().to_string());
        Some(trace(input, &TraceRequest { url, host, ..self.request.clone() }).outcome)
    }
}

/// The socket at which a request was answered.
fn socket_of(trace: &Trace) -> Option<String> {
    trace.outcome.answered_by.as_ref()?;
    let hop = trace.hops.iter().find(|hop| hop.stage == Stage::Pod)?;
    hop.finding.args.iter().find(|(name, _)| *name == "socket").map(|(_, socket)| socket.clone())
}

impl Tally {
    /// How many failed.
    pub fn failures(&self) -> u32 {
        self.sent - self.succeeded
    }

    /// Counts so many requests that ended so.
    fn count(&mut self, outcome: &Outcome, count: u32) {
        if count == 0 {
            return;
        }
        self.sent += count;
        if outcome.sees.is_success() {
            self.succeeded += count;
        } else {
            *self.failed.entry((outcome.sees, outcome.failed_at)).or_default() += count;
        }
        if let Some(pod) = &outcome.answered_by {
            *self.by_pod.entry(pod.clone()).or_default() += count;
        }
    }

    fn add(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
        for (end, count) in &other.failed {
            *self.failed.entry(*end).or_default() += count;
        }
        for (pod, count) in &other.by_pod {
            *self.by_pod.entry(pod.clone()).or_default() += count;
        }
    }

    /// `18 ok, 2 timeout`.
    pub fn summary(&self) -> String {
        let mut by_word: BTreeMap<String, u32> = BTreeMap::new();
        for ((sees, _), count) in &self.failed {
            *by_word.entry(sees.word()).or_default() += count;
        }
        let failed = by_word.into_iter().map(|(word, count)| format!("{count} {word}"));
        let ok = (self.succeeded > 0).then(|| format!("{} ok", self.succeeded));
        ok.into_iter().chain(failed).collect::<Vec<_>>().join(", ")
    }
}
