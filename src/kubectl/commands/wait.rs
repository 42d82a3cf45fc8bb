//! `kubectl wait`: until objects are as wanted.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/wait/wait.go` (v1.36).
//! Leaves out: `--local`.

use serde_json::Value;

use super::{Call, Pending};
use crate::api::kind::Kind;
use crate::api::meta::ObjectKey;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::jsonpath::{self, Template};
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources::{self, Wanted};

/// The flags of `wait`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::FIELD_SELECTOR,
    flags::ALL_NAMESPACES,
    flags::ALL,
    flags::TIMEOUT,
    &[
        Flag::both("output", 'o', Takes::Text),
        Flag::long("for", Takes::Text),
        Flag::long("local", Takes::Nothing),
    ],
];

const DEFAULT_SECONDS: i64 = 30;

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Gone,
    There,
    Status(String, String),
    Field(Template, Option<String>),
}

/// Waits for objects.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let condition = condition_of(call.flags.text("for").unwrap_or_default())?;
    let seconds = call.flags.seconds("timeout").unwrap_or(DEFAULT_SECONDS);
    let seconds = if seconds < 0 { 7 * 24 * 3600 } else { seconds };
    if call.args.is_empty() && !call.flags.given("filename") {
        return Err(resources::nothing_given());
    }
    let narrowing = call.narrowing();
    let mut keys: Vec<ObjectKey> = Vec::new();
    let mut listed = false;
    let namespace = call.namespace().to_string();
    let key = |kind: Kind, name: &str| {
        ObjectKey::new(kind, if kind.is_namespaced() { namespace.as_str() } else { "" }, name)
    };
    if call.flags.given("filename") {
        let (objects, failures) = resources::targets(call)?;
        if let Some(failure) = Failure::all(failures) {
            return Err(failure);
        }
        keys.extend(objects.iter().map(Object::key));
    } else {
        for wish in resources::wanted(&call.args, &*call.host)? {
            match wish {
                Wanted::Named(kind, name) => {
                    let there = resources::read(&*call.host, kind, &namespace, &name);
                    match (there, &condition) {
                        (Ok(_), _) | (Err(_), Condition::There) => keys.push(key(kind, &name)),
                        (Err(_), Condition::Gone) => {}
                        (Err(status), _) => return Err(Failure::server(&status)),
                    }
                }
                Wanted::Kind(kind) => {
                    listed = true;
                    if narrowing.labels.is_none() && narrowing.fields.is_none() && !call.flags.on("all") {
                        return Err(resources::no_name_given());
                    }
                    let objects = resources::list(&*call.host, kind, &narrowing);
                    keys.extend(objects.map_err(|status| Failure::server(&status))?.iter().map(Object::key));
                }
            }
        }
    }
    if keys.is_empty() {
        return match condition {
            Condition::Gone => Ok(None),
            _ if listed => Err(Failure::error("no matching resources found")),
            _ => Ok(None),
        };
    }
    let mut waiting =
        Waiting { condition, keys, until: Timestamp(call.host.now().0 + seconds), at_once: seconds == 0 };
    let poll = waiting.poll(&*call.host);
    call.output.append(&poll.printed);
    match poll.finished {
        None => Ok(Some(Pending::Wait(waiting))),
        Some(0) => Ok(None),
        Some(_) => Err(Failure::silent()),
    }
}

fn condition_of(text: &str) -> Result<Condition, Failure> {
    let lower = text.to_lowercase();
    if lower == "delete" {
        return Ok(Condition::Gone);
    }
    if lower == "create" {
        return Ok(Condition::There);
    }
    if let Some(rest) = text.strip_prefix("condition=") {
        let (name, status) = rest.split_once('=').unwrap_or((rest, "true"));
        return Ok(Condition::Status(name.to_lowercase(), status.to_lowercase()));
    }
    if let Some(rest) = text.strip_prefix("jsonpath=") {
        let (path, value) = match rest.rfind("}=") {
            Some(at) => (&rest[..=at], Some(rest[at + 2..].to_string())),
            None if rest.ends_with('}') => (rest, None),
            None => {
                rest.split_once('=').map_or((rest, None), |(path, value)| (path, Some(value.to_string())))
            }
        };
        return Template::parse_relaxed(path)
            .map(|template| Condition::Field(template, value))
            .map_err(Failure::error);
    }
    Err(Failure::error(match text {
        "" => "unrecognized condition: []".to_string(),
        other => format!("unrecognized condition: \"{other}\""),
    }))
}

/// Objects that are waited for, the next one first.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    condition: Condition,
    keys: Vec<ObjectKey>,
    until: Timestamp,
    /// Whether there is only one look.
    at_once: bool,
}

impl Waiting {
    /// Names what is as wanted, and says whether it is over.
    pub fn poll(&mut self, host: &dyn Host) -> Poll {
        let mut printed = Output::default();
        while let Some(key) = self.keys.first() {
            if !self.condition.is_met(host.store().object(key)) {
                break;
            }
            printed.stdout.push_str(&format!("{}/{} condition met\n", key.kind.printed(), key.name));
            self.keys.remove(0);
        }
        if self.keys.is_empty() {
            return Poll { printed, finished: Some(0) };
        }
        if host.now() < self.until {
            return Poll { printed, finished: None };
        }
        for key in &self.keys {
            if self.at_once && !matches!(self.condition, Condition::There) {
                let line = format!("error: condition not met for {}/{}\n", key.kind.plural(), key.name);
                printed.stderr.push_str(&line);
                continue;
            }
            let of = match self.condition {
                Condition::There => String::new(),
                _ => format!(" on {}/{}", key.kind.plural(), key.name),
            };
            printed.stderr.push_str(&format!("error: timed out waiting for the condition{of}\n"));
        }
        Poll { printed, finished: Some(1) }
    }
}

impl Condition {
    fn is_met(&self, object: Option<&Object>) -> bool {
        let object = match (self, object) {
            (Self::Gone, object) => return object.is_none(),
            (Self::There, object) => return object.is_some(),
            (_, None) => return false,
            (_, Some(object)) => object,
        };
        let value = object.to_value();
        match self {
            Self::Status(name, status) => {
                let text = |condition: &Value, field: &str| {
                    condition[field].as_str().unwrap_or_default().to_lowercase()
                };
                let seen = |condition: &Value| {
                    let observed = condition["observedGeneration"].as_i64().unwrap_or(i64::MAX);
                    observed >= object.meta().generation
                };
                value["status"]["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|c| text(c, "type") == *name && text(c, "status") == *status && seen(c))
            }
            Self::Field(template, wanted) => {
                let found = template.find(&value).unwrap_or_default();
                match (found.as_slice(), wanted) {
                    ([], _) => false,
                    (_, None) => true,
                    ([one], Some(wanted)) => jsonpath::text_of(one).eq_ignore_ascii_case(wanted),
                    _ => false,
                }
            }
            Self::Gone | Self::There => false,
        }
    }
}
