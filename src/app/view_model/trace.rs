//! The journeys of requests, hop by hop.

use super::map::{PathHop, RequestPath};
use super::pods::short_name;
use super::telling::{because_pieces, because_text};
use super::{Cell, Mark, ObjectReference, Table};
use crate::app::requests::{Requests, trace_of};
use crate::cluster::history::History;
use crate::cluster::network::trace::{self as cluster, HopResult, Verdict};
use crate::i18n::{Catalogue, Piece};
use crate::kubectl::trace_text::render_trace;

/// The requests sent so far and the journey of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceView {
    /// Every request, newest first.
    pub requests: Vec<RequestLine>,
    /// The one shown, by place in `requests`.
    pub shown: usize,
    /// The hop the trace stands at.
    pub hop: usize,
    /// Its hops in order.
    pub hops: Vec<Hop>,
    /// The journey as plain text, for copying.
    pub text: String,
    /// What no hop has looked at.
    pub not_modelled: Vec<String>,
    /// The address the request form offers.
    pub request_url: String,
}

/// One request in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// Its number, counted from 1.
    pub number: usize,
    /// Method and address.
    pub line: String,
    /// What the client saw.
    pub answer: String,
    /// Whether it was what the client wanted.
    pub is_success: bool,
    /// When it was sent.
    pub tick: i64,
}

/// One hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Its name.
    pub name: String,
    /// Passed, dropped, not reached.
    pub mark: Mark,
    /// The question it answers.
    pub question: Vec<Piece>,
    /// What came of it.
    pub result: Vec<Piece>,
    /// What else is worth knowing.
    pub notes: Vec<Vec<Piece>>,
    /// What it considered.
    pub candidates: Option<Table>,
    /// The object the verdict rests on, with the field.
    pub evidence: Vec<(ObjectReference, String)>,
    /// The smallest repair, for a drop.
    pub repair: Vec<Piece>,
    /// The kubectl line that shows it.
    pub command: String,
}

/// The requests up to the moment on screen, and the journey of one.
pub fn trace_view(words: &Catalogue, history: &History, requests: &Requests) -> TraceView {
    let mut view = TraceView { request_url: requests.url.clone(), ..TraceView::default() };
    let shown = requests.on_screen(history);
    let listed = requests.until_now(history).rev();
    for (at, sent) in listed.enumerate() {
        if shown.is_some_and(|shown| shown.number == sent.number) {
            view.shown = at;
        }
        view.requests.push(RequestLine {
            number: sent.number as usize,
            line: ["GET ", &sent.url].concat(),
            answer: sent.answer.clone(),
            is_success: sent.is_success,
            tick: sent.tick,
        });
    }
    if let Some(trace) = shown.and_then(|sent| trace_of(history, sent)) {
        view.hops = trace.hops.iter().map(|hop| hop_of(words, hop)).collect();
        view.hop =
            requests.hop.unwrap_or_else(|| deciding_hop(&view.hops)).min(view.hops.len().saturating_sub(1));
        view.text = render_trace(&trace, words);
        view.not_modelled = trace.not_modelled.iter().map(|text| because_text(words, text)).collect();
    }
    view
}

/// The hop that decided: the one that dropped the request, or the last one it passed.
fn deciding_hop(hops: &[Hop]) -> usize {
    let dropped = hops.iter().position(|hop| hop.mark == Mark::Failed);
    dropped.or_else(|| hops.iter().rposition(|hop| hop.mark == Mark::Done)).unwrap_or(0)
}

fn mark_of(result: &HopResult) -> Mark {
    match result {
        HopResult::Pass => Mark::Done,
        HopResult::Drop(_) => Mark::Failed,
        HopResult::NotVerifiable => Mark::UnderWay,
        HopResult::NotReached => Mark::Empty,
    }
}

fn name_of(words: &Catalogue, hop: &cluster::Hop) -> String {
    let stage = because_text(words, &hop.stage.name());
    let is_named_enough = hop.stage == cluster::Stage::Controller || hop.subject.is_empty();
    if is_named_enough { stage } else { [&stage, " ", short_name(&hop.subject).as_str()].concat() }
}

fn hop_of(words: &Catalogue, hop: &cluster::Hop) -> Hop {
    let is_reached = !matches!(hop.result, HopResult::NotReached);
    let dropped = match &hop.result {
        HopResult::Drop(dropped) => Some(dropped),
        _ => None,
    };
    Hop {
        name: name_of(words, hop),
        mark: mark_of(&hop.result),
        question: if is_reached { because_pieces(words, &hop.question) } else { Vec::new() },
        result: because_pieces(words, &hop.finding),
        notes: hop.notes.iter().map(|note| because_pieces(words, note)).collect(),
        candidates: candidates_of(words, hop),
        evidence: hop
            .evidence
            .iter()
            .map(|evidence| (ObjectReference::from(&evidence.object), evidence.field.clone()))
            .collect(),
        repair: dropped.map(|dropped| because_pieces(words, &dropped.repair)).unwrap_or_default(),
        command: dropped.map(|dropped| dropped.command.clone()).unwrap_or_default(),
    }
}

fn candidates_of(words: &Catalogue, hop: &cluster::Hop) -> Option<Table> {
    if hop.candidates.is_empty() {
        return None;
    }
    let mut head = vec![String::new()];
    head.extend(hop.columns.iter().map(|column| because_text(words, column)));
    head.push(words.say("trace.verdict", &[]));
    let rows = hop
        .candidates
        .iter()
        .map(|candidate| {
            let mut row = vec![Cell::Plain(short_name(&candidate.name))];
            row.extend((0..hop.columns.len()).map(|at| match candidate.cells.get(at) {
                None => Cell::Quiet("–".to_string()),
                Some(cell) => {
                    let text = because_text(words, &cell.text);
                    match cell.good {
                        Some(true) => Cell::Passed(text),
                        Some(false) => Cell::Refused(text),
                        None => Cell::Plain(text),
                    }
                }
            }));
            let reason = because_text(words, &candidate.reason);
            row.push(match candidate.verdict {
                Verdict::Used => Cell::Passed(reason),
                Verdict::Spare | Verdict::Lost => Cell::Quiet(reason),
                Verdict::LeftOut => Cell::Refused(reason),
            });
            row
        })
        .collect();
    Some(Table { caption: words.say("trace.candidates", &[]), head, rows })
}

/// The way of the request on screen, for the map.
pub fn path_view(words: &Catalogue, history: &History, requests: &Requests) -> Option<RequestPath> {
    let sent = requests.on_screen(history)?;
    let trace = trace_of(history, sent)?;
    let hops: Vec<Hop> = trace.hops.iter().map(|hop| hop_of(words, hop)).collect();
    let here = requests.hop.unwrap_or_else(|| deciding_hop(&hops));
    let client = PathHop {
        name: words.say("trace.client_name", &[]),
        note: String::new(),
        mark: Mark::Done,
        is_here: false,
    };
    let starts_outside = trace.hops.first().is_none_or(|hop| hop.stage != cluster::Stage::Client);
    let path = hops.into_iter().enumerate().map(|(at, hop)| PathHop {
        note: hop.result.into_iter().map(|piece| piece.text).collect(),
        name: hop.name,
        mark: hop.mark,
        is_here: at == here,
    });
    Some(RequestPath {
        url: sent.url.clone(),
        answer: sent.answer.clone(),
        is_success: sent.is_success,
        tick: sent.tick,
        hops: starts_outside.then_some(client).into_iter().chain(path).collect(),
    })
}
