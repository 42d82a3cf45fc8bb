//! `kubectl events`: what has happened, oldest first.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/events/events.go`, `event_printer.go` (v1.36).
//! Leaves out: `--chunk-size`.

use super::{Call, Pending, WATCH};
use crate::api::kind::Kind;
use crate::api::kinds::event::Event;
use crate::api::meta::{ObjectKey, Revision};
use crate::api::object::Object;
use crate::kubectl::duration;
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::{self, Format};
use crate::kubectl::print::{table, tabs};
use crate::kubectl::resources::{self, Narrowing, Wanted};

/// The flags of `events`.
pub const FLAGS: &[&[Flag]] = &[
    flags::OUTPUT,
    flags::ALL_NAMESPACES,
    WATCH,
    &[
        Flag::long("for", Takes::Text),
        Flag::long("types", Takes::List),
        Flag::long("no-headers", Takes::Nothing),
        Flag::long("chunk-size", Takes::Number),
    ],
];

/// Shows events, or begins to watch them.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::error(format!("unexpected arguments: {}", call.args.join(" "))));
    }
    let format = Format::of(&call.flags, false)?;
    let types = call.flags.list("types");
    if types.iter().any(|name| !["normal", "warning"].contains(&name.to_lowercase().as_str())) {
        return Err(Failure::error("valid --types are Normal or Warning"));
    }
    let about = match call.text("for") {
        None => None,
        Some(word) => match resources::wanted(&[word], &*call.host)?.into_iter().next() {
            Some(Wanted::Named(kind, name)) => Some((kind, name)),
            _ => return Err(Failure::error("--for must be in resource/name form")),
        },
    };
    let mut listing = Listing {
        narrowing: Narrowing { labels: None, fields: None, ..call.narrowing() },
        about,
        types: types.iter().map(|name| name.to_lowercase()).collect(),
        seen: Vec::new(),
        widths: Vec::new(),
        headers: !call.flags.on("no-headers"),
    };
    let events = listing.current(&*call.host).map_err(|status| Failure::server(&status))?;
    if format != Format::Plain {
        let values = events.iter().map(format::shown).collect();
        let text = format.value(&format::list_of(values))?;
        call.output.stdout.push_str(&text);
        return Ok(None);
    }
    if events.is_empty() && !call.flags.on("watch") {
        let line = match &listing.narrowing.namespace {
            Some(namespace) => format!("No events found in {namespace} namespace."),
            None => "No events found.".to_string(),
        };
        call.warn(line);
        return Ok(None);
    }
    let text = listing.rows(events, &*call.host);
    call.output.stdout.push_str(&text);
    Ok(call.flags.on("watch").then_some(Pending::Events(listing)))
}

/// Which events are shown, and which have been.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    narrowing: Narrowing,
    about: Option<(Kind, String)>,
    types: Vec<String>,
    seen: Vec<(ObjectKey, Revision)>,
    widths: Vec<usize>,
    headers: bool,
}

impl Listing {
    /// The events, oldest first.
    fn current(&self, host: &dyn Host) -> Result<Vec<Object>, crate::cluster::server::status::Status> {
        let mut events = resources::list(host, Kind::Event, &self.narrowing)?;
        events.retain(|object| {
            let Object::Event(event) = object else { return false };
            let involved = &event.involved_object;
            let is_meant =
                |(kind, name): &(Kind, String)| involved.kind == kind.name() && *involved.name == **name;
            self.about.as_ref().is_none_or(is_meant)
                && (self.types.is_empty() || self.types.contains(&event.event_type.to_lowercase()))
        });
        events.sort_by_key(|object| match object {
            Object::Event(event) => (times(event), event.meta.resource_version),
            other => ((None, None), other.meta().resource_version),
        });
        Ok(events)
    }

    fn rows(&mut self, events: Vec<Object>, host: &dyn Host) -> String {
        let mut text = String::new();
        let with_namespace = self.narrowing.namespace.is_none();
        if self.headers && self.widths.is_empty() {
            text.push_str(if with_namespace { "NAMESPACE\t" } else { "" });
            text.push_str("LAST SEEN\tTYPE\tREASON\tOBJECT\tMESSAGE\n");
        }
        for object in &events {
            let Object::Event(event) = object else { continue };
            if with_namespace {
                text.push_str(&format!("{}\t", event.meta.namespace));
            }
            let involved = &event.involved_object;
            text.push_str(&format!(
                "{}\t{}\t{}\t{}/{}\t{}\n",
                interval(event, host),
                event.event_type,
                event.reason,
                involved.kind,
                involved.name,
                event.message.trim()
            ));
        }
        self.seen.extend(events.iter().map(|object| (object.key(), object.meta().resource_version)));
        tabs::align_with(&text, table::MINIMUM, table::PADDING, &mut self.widths)
    }

    /// Shows what has happened since the last look; it never ends by itself.
    pub fn poll(&mut self, host: &dyn Host) -> Poll {
        let mut events = self.current(host).unwrap_or_default();
        events.retain(|object| !self.seen.contains(&(object.key(), object.meta().resource_version)));
        if events.is_empty() {
            return Poll::default();
        }
        Poll { printed: Output::of(self.rows(events, host)), finished: None }
    }
}

/// When an event happened last and first.
fn times(event: &Event) -> (Option<crate::api::time::Timestamp>, Option<crate::api::time::Timestamp>) {
    let first = event.first_timestamp.or(event.meta.creation_timestamp);
    (event.last_timestamp.or(first), first)
}

/// `3s`, or `3s (x4 over 20s)`.
pub fn interval(event: &Event, host: &dyn Host) -> String {
    let (last, first) = times(event);
    let since = |time| duration::age(time, host.now());
    match event.count > 1 {
        true => format!("{} (x{} over {})", since(last), event.count, since(first)),
        false => since(first),
    }
}
