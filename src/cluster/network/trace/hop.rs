//! What a hop of a trace says.

use serde_json::{Value, json};

use super::Url;
use crate::api::meta::ObjectKey;
use crate::cluster::because::Because;

/// The hops that a request can pass, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The Pod that sends, for requests from inside.
    Client,
    /// The host's name becomes an address.
    Dns,
    /// From outside to the first Service.
    Entry,
    /// The Ingress controller's configuration.
    Controller,
    /// The rule that takes the request.
    Rule,
    /// The Service's endpoints.
    Service,
    /// The Pod behind the chosen endpoint.
    Pod,
    /// The process that listens there.
    Process,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 8] = [
        Self::Client,
        Self::Dns,
        Self::Entry,
        Self::Controller,
        Self::Rule,
        Self::Service,
        Self::Pod,
        Self::Process,
    ];

    /// A stable word for JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Dns => "dns",
            Self::Entry => "entry",
            Self::Controller => "controller",
            Self::Rule => "rule",
            Self::Service => "service",
            Self::Pod => "pod",
            Self::Process => "process",
        }
    }

    /// Its name for the screen.
    pub fn name(self) -> Because {
        match self {
            Self::Client => Because::new("trace.stage.client"),
            Self::Dns => Because::new("trace.stage.dns"),
            Self::Entry => Because::new("trace.stage.entry"),
            Self::Controller => Because::new("trace.stage.controller"),
            Self::Rule => Because::new("trace.stage.rule"),
            Self::Service => Because::new("trace.stage.service"),
            Self::Pod => Because::new("trace.stage.pod"),
            Self::Process => Because::new("trace.stage.process"),
        }
    }
}

/// One hop.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// Which hop it is.
    pub stage: Stage,
    /// What it is about, as `api:80`; empty when the stage's name says it all.
    pub subject: String,
    /// The question it answers.
    pub question: Because,
    /// What came of it.
    pub finding: Because,
    /// What else is worth knowing, as a table that is behind.
    pub notes: Vec<Because>,
    /// The headings of the candidates' cells.
    pub columns: Vec<Because>,
    /// What it considered.
    pub candidates: Vec<Candidate>,
    /// What the verdict rests on.
    pub evidence: Vec<Evidence>,
    /// The verdict.
    pub result: HopResult,
    /// What it has not looked at.
    pub leaves_out: Vec<Because>,
}

/// The verdict of a hop.
#[derive(Clone, Debug, PartialEq)]
pub enum HopResult {
    /// The request goes on, or was answered here.
    Pass,
    /// The request ends here.
    Drop(Box<Dropped>),
    /// What lies behind is not simulated.
    NotVerifiable,
    /// The request did not come this far.
    NotReached,
}

/// Why and how a request ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// What the client sees.
    pub sees: Sees,
    /// In how many ticks the step that is missing is taken, if nobody does anything; `None` if it never is.
    pub ticks_away: Option<u32>,
    /// The smallest repair, or what will happen by itself.
    pub repair: Because,
    /// The kubectl line that shows it.
    pub command: String,
}

/// One thing that a hop considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// The object, if it is one.
    pub object: Option<ObjectKey>,
    /// Its cells, one for each of the hop's columns.
    pub cells: Vec<Cell>,
    /// Whether it was taken.
    pub verdict: Verdict,
    /// Why.
    pub reason: Because,
}

/// Whether a candidate was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request went there.
    Used,
    /// It would do as well; another request may go there.
    Spare,
    /// It lost against another one.
    Lost,
    /// It cannot be taken.
    LeftOut,
}

impl Verdict {
    /// A stable word for JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Spare => "spare",
            Self::Lost => "lost",
            Self::LeftOut => "left out",
        }
    }
}

/// One property of a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Whether it is as it should be; `None` when it does not matter or is not known.
    pub good: Option<bool>,
    /// What it is.
    pub text: Because,
}

impl Cell {
    /// A property that is as it should be.
    pub fn good(text: Because) -> Self {
        Self { good: Some(true), text }
    }

    /// A property that is not.
    pub fn bad(text: Because) -> Self {
        Self { good: Some(false), text }
    }

    /// A property without a verdict.
    pub fn plain(text: Because) -> Self {
        Self { good: None, text }
    }
}

/// What a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The object.
    pub object: ObjectKey,
    /// The field in it.
    pub field: String,
}

impl Evidence {
    /// A field of an object.
    pub fn new(object: &ObjectKey, field: impl Into<String>) -> Self {
        Self { object: object.clone(), field: field.into() }
    }
}

/// What a client sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sees {
    /// An HTTP status code.
    Status(u16),
    /// The name does not exist.
    NoSuchName,
    /// No name server answered.
    NoNameServer,
    /// The connection was refused.
    Refused,
    /// Nothing came back.
    TimedOut,
    /// The connection was opened and closed without an answer.
    EmptyReply,
    /// Nobody was there to send.
    NothingSent,
    /// What lies behind is not simulated.
    NotVerifiable,
}

impl Sees {
    /// `200`, `NXDOMAIN`, `refused`, `timeout`, …
    pub fn word(self) -> String {
        match self {
            Self::Status(code) => code.to_string(),
            Self::NoSuchName => "NXDOMAIN".to_string(),
            Self::NoNameServer => "SERVFAIL".to_string(),
            Self::Refused => "refused".to_string(),
            Self::TimedOut => "timeout".to_string(),
            Self::EmptyReply => "empty reply".to_string(),
            Self::NothingSent => "not sent".to_string(),
            Self::NotVerifiable => "unknown".to_string(),
        }
    }

    /// Whether it is what the client wanted: an HTTP status below 400.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Status(code) if code < 400)
    }
}

/// The end of a journey, as the client sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the client sees.
    pub sees: Sees,
    /// The hop at which it failed; `None` when a process answered.
    pub failed_at: Option<Stage>,
    /// The Pod whose process answered.
    pub answered_by: Option<ObjectKey>,
    /// The body of the answer; for a failed connection what curl writes to its error output.
    pub body: String,
}

impl Outcome {
    /// A journey that ended early.
    pub fn failed(sees: Sees, stage: Stage, url: &Url) -> Self {
        let body = match sees {
            Sees::Status(code) => nginx_page(code),
            Sees::NoSuchName | Sees::NoNameServer => {
                format!("curl: (6) Could not resolve host: {}", url.host)
            }
            Sees::Refused => format!(
                "curl: (7) Failed to connect to {} port {} after 0 ms: Could not connect to server",
                url.host, url.port
            ),
            Sees::TimedOut => {
                format!(
                    "curl: (28) Failed to connect to {} port {}: Connection timed out",
                    url.host, url.port
                )
            }
            Sees::EmptyReply => "curl: (52) Empty reply from server".to_string(),
            Sees::NothingSent | Sees::NotVerifiable => String::new(),
        };
        Self { sees, failed_at: Some(stage), answered_by: None, body }
    }
}

/// The page that nginx answers with itself.
fn nginx_page(code: u16) -> String {
    let title = match code {
        308 => "308 Permanent Redirect",
        404 => "404 Not Found",
        502 => "502 Bad Gateway",
        503 => "503 Service Temporarily Unavailable",
        504 => "504 Gateway Time-out",
        _ => "500 Internal Server Error",
    };
    format!(
        "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n<center><h1>{title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
    )
}

impl Hop {
    /// A hop that passes, so far.
    pub fn new(stage: Stage, question: Because) -> Self {
        Self {
            stage,
            subject: String::new(),
            finding: question.clone(),
            question,
            notes: Vec::new(),
            columns: Vec::new(),
            candidates: Vec::new(),
            evidence: Vec::new(),
            result: HopResult::Pass,
            leaves_out: Vec::new(),
        }
    }

    /// A hop that the request did not come to.
    pub fn not_reached(stage: Stage) -> Self {
        let mut hop = Self::new(stage, Because::new("trace.not_reached"));
        hop.result = HopResult::NotReached;
        hop
    }

    /// As JSON: keys and arguments, for a reader of any language.
    pub fn to_value(&self) -> Value {
        let texts = |texts: &[Because]| texts.iter().map(Because::to_value).collect::<Vec<_>>();
        let candidate = |c: &Candidate| {
            let cell = |cell: &Cell| json!({"good": cell.good, "text": cell.text.to_value()});
            json!({
                "name": c.name, "object": c.object.as_ref().map(ToString::to_string), "verdict": c.verdict.word(),
                "reason": c.reason.to_value(), "cells": c.cells.iter().map(cell).collect::<Vec<_>>(),
            })
        };
        let (result, dropped) = match &self.result {
            HopResult::Pass => ("pass", None),
            HopResult::Drop(dropped) => ("drop", Some(dropped)),
            HopResult::NotVerifiable => ("not verifiable", None),
            HopResult::NotReached => ("not reached", None),
        };
        json!({
            "stage": self.stage.word(), "subject": self.subject, "question": self.question.to_value(),
            "finding": self.finding.to_value(), "columns": texts(&self.columns), "result": result,
            "candidates": self.candidates.iter().map(candidate).collect::<Vec<_>>(),
            "evidence": self.evidence.iter().map(|e| json!({"object": e.object.to_string(), "field": e.field})).collect::<Vec<_>>(),
            "sees": dropped.map(|d| d.sees.word()), "ticksAway": dropped.and_then(|d| d.ticks_away),
            "repair": dropped.map(|d| d.repair.to_value()), "command": dropped.map(|d| d.command.clone()),
            "notes": texts(&self.notes), "leavesOut": texts(&self.leaves_out),
        })
    }
}

impl Dropped {
    /// A request that will fail until somebody does something.
    pub fn new(sees: Sees, repair: Because, command: impl Into<String>) -> Self {
        Self { sees, ticks_away: None, repair, command: command.into() }
    }

    /// A request that will pass this hop in so many ticks.
    pub fn soon(sees: Sees, ticks: u32, repair: Because, command: impl Into<String>) -> Self {
        Self { sees, ticks_away: Some(ticks), repair, command: command.into() }
    }
}

impl super::Trace {
    /// As JSON, one line of `kubestep run --json`.
    pub fn to_value(&self) -> Value {
        json!({
            "request": self.request.to_string(), "at": self.at.to_string(), "sees": self.outcome.sees.word(),
            "failedAt": self.outcome.failed_at.map(Stage::word), "body": self.outcome.body,
            "answeredBy": self.outcome.answered_by.as_ref().map(ToString::to_string),
            "hops": self.hops.iter().map(Hop::to_value).collect::<Vec<_>>(),
            "notModelled": self.not_modelled.iter().map(Because::to_value).collect::<Vec<_>>(),
        })
    }
}
