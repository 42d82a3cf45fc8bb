//! The journeys of requests, hop by hop.

use super::{Mark, ObjectReference, Table};
use crate::i18n::Piece;

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
    /// What it considered.
    pub candidates: Option<Table>,
    /// The object the verdict rests on, with the field.
    pub evidence: Vec<(ObjectReference, String)>,
    /// The smallest repair, for a drop.
    pub repair: Vec<Piece>,
    /// The kubectl line that shows it.
    pub command: String,
}
