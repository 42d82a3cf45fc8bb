//! `kubectl get`: one or many objects.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/get/get.go` (v1.36).
//! Leaves out: `--chunk-size`, which changes no output; `--subresource`.

use serde_json::Value;

use super::{Call, Pending, WATCH, files, raw};
use crate::api::discovery;
use crate::api::kind::Kind;
use crate::api::meta::{ObjectKey, Revision};
use crate::api::object::Object;
use crate::cluster::server::managed;
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::jsonpath::Template;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::{self, Format};
use crate::kubectl::print::{table, tabs};
use crate::kubectl::resources::{self, Found, Narrowing, Wanted};

/// The flags of `get`.
pub const FLAGS: &[&[Flag]] = &[
    flags::OUTPUT,
    flags::FILES,
    flags::SELECTOR,
    flags::FIELD_SELECTOR,
    flags::ALL_NAMESPACES,
    WATCH,
    &[
        Flag::long("watch-only", Takes::Nothing),
        Flag::long("output-watch-events", Takes::Nothing),
        Flag::long("no-headers", Takes::Nothing),
        Flag::long("show-labels", Takes::Nothing),
        Flag::long("show-kind", Takes::Nothing),
        Flag::both("label-columns", 'L', Takes::List),
        Flag::long("sort-by", Takes::Text),
        Flag::long("ignore-not-found", Takes::Nothing),
        Flag::long("chunk-size", Takes::Number),
        Flag::long("raw", Takes::Text),
        Flag::long("server-print", Takes::Nothing),
    ],
];

/// Shows objects, or starts to watch them.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if let Some(address) = call.text("raw") {
        return raw::get(call, &address);
    }
    let format = Format::of(&call.flags, true)?;
    if call.args.is_empty() && !call.flags.given("filename") {
        call.warn(
            "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported resources.\n",
        );
        return Err(Failure::usage(
            &call.path,
            "Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed description of that resource (e.g. kubectl explain pods).",
        ));
    }
    if let Some(end) = unsimulated(call) {
        return end;
    }
    let narrowing = call.narrowing();
    let mut failures = Vec::new();
    let wanted = if call.flags.given("filename") {
        let files = files::read(call)?;
        failures = files.failures;
        files.objects.into_iter().map(|object| Wanted::Named(object.kind, object.name)).collect()
    } else {
        resources::wanted(&call.args, &*call.host)?
    };
    let by_name = wanted.iter().any(|wish| matches!(wish, Wanted::Named(..)));
    if by_name && (narrowing.labels.is_some() || narrowing.fields.is_some()) {
        return Err(resources::name_with_selector());
    }
    if by_name && call.flags.on("all-namespaces") {
        return Err(Failure::error("a resource cannot be retrieved by name across all namespaces"));
    }
    let options = table::Options {
        wide: format == Format::Wide,
        no_headers: call.flags.on("no-headers"),
        with_namespace: call.flags.on("all-namespaces"),
        with_kind: call.flags.on("show-kind"),
        show_labels: call.flags.on("show-labels"),
        label_columns: call
            .flags
            .list("label-columns")
            .into_iter()
            .filter(|label| !label.is_empty())
            .collect(),
    };
    if call.flags.on("watch") || call.flags.on("watch-only") {
        return watch(call, &wanted, narrowing, &format, options).map(Some);
    }
    call.pass_on(&resources::warnings(&wanted));
    let (mut found, missing) = resources::find(&*call.host, &wanted, &narrowing);
    if call.flags.on("ignore-not-found") {
        failures.extend(missing.into_iter().filter(|failure| !failure.text.contains("(NotFound)")));
    } else {
        failures.extend(missing);
    }
    if let Some(path) = call.flags.text("sort-by").map(str::to_string) {
        sort(&mut found, &path, format.is_table())?;
    }
    match &format {
        Format::Plain | Format::Wide => print_tables(call, &found, &options, &wanted, failures.is_empty()),
        Format::Name => {
            for object in found.iter().flat_map(|found| &found.objects) {
                call.say(format!("{}/{}", object.kind().printed(), object.meta().name));
            }
        }
        Format::Columns(columns) => {
            let objects: Vec<Object> = found.into_iter().flat_map(|found| found.objects).collect();
            call.output.stdout.push_str(&format::custom_columns(columns, &objects, options.no_headers));
        }
        _ => {
            let single = wanted.len() == 1 && by_name;
            let mut values: Vec<Value> =
                found.iter().flat_map(|found| &found.objects).map(|object| value_of(object, call)).collect();
            let value = match values.len() {
                1 if single => values.remove(0),
                0 if !failures.is_empty() || single => return finish(failures),
                _ => format::list_of(values),
            };
            let text = format.value(&value)?;
            call.output.stdout.push_str(&text);
        }
    }
    finish(failures)
}

/// What is said of a kind that the server offers but that nothing here makes objects of: there are none.
fn unsimulated(call: &mut Call) -> Option<Result<Option<Pending>, Failure>> {
    let (word, names) = call.args.split_first()?;
    if word.contains([',', '/']) || Kind::from_resource(word).is_some() || resources::absent(word).is_some() {
        return None;
    }
    let resource = discovery::find(word).filter(|resource| resource.verbs.split(',').any(|v| v == "list"))?;
    if resource.kind == "ComponentStatus" {
        return None;
    }
    let full = match resource.group() {
        "" => resource.plural.to_string(),
        group => format!("{}.{group}", resource.plural),
    };
    if !names.is_empty() {
        let lines: Vec<String> = names
            .iter()
            .map(|name| format!("Error from server (NotFound): {full} \"{name}\" not found"))
            .collect();
        return Some(Err(Failure::exactly(lines.join("\n"))));
    }
    let line = match resource.namespaced && !call.flags.on("all-namespaces") {
        true => format!("No resources found in {} namespace.", call.namespace()),
        false => "No resources found".to_string(),
    };
    call.warn(line);
    Some(Ok(None))
}

fn finish(failures: Vec<Failure>) -> Result<Option<Pending>, Failure> {
    Failure::all(failures).map_or(Ok(None), Err)
}

fn value_of(object: &Object, call: &Call) -> Value {
    // Only where whole objects are printed are the managers left out; a template that asks for them gets them.
    let asks = call.flags.text("output").is_some_and(|output| output.contains("managedFields"));
    if asks || call.flags.on("show-managed-fields") {
        managed::with_managers(object)
    } else {
        format::shown(object)
    }
}

/// One table for each kind in a row, with an empty line between them.
fn print_tables(
    call: &mut Call,
    found: &[Found],
    options: &table::Options,
    wanted: &[Wanted],
    all_well: bool,
) {
    let mut kinds: Vec<Kind> = found.iter().map(|found| found.kind).collect();
    kinds.dedup();
    let several = kinds.iter().any(|kind| *kind != kinds[0]);
    let options = table::Options { with_kind: options.with_kind || several, ..options.clone() };
    let mut groups: Vec<(Kind, Vec<Object>)> = Vec::new();
    for part in found.iter().filter(|part| !part.objects.is_empty()) {
        match groups.last_mut() {
            Some((kind, objects)) if *kind == part.kind => objects.extend(part.objects.iter().cloned()),
            _ => groups.push((part.kind, part.objects.clone())),
        }
    }
    let mut text = String::new();
    for (index, (kind, objects)) in groups.iter().enumerate() {
        if index > 0 && !options.no_headers {
            text.push('\n');
        }
        text.push_str(&table::render(*kind, objects, &options, &*call.host));
    }
    if groups.is_empty() && all_well && !call.flags.on("ignore-not-found") {
        let mut kinds = wanted.iter().map(|wish| match wish {
            Wanted::Kind(kind) | Wanted::Named(kind, _) => *kind,
        });
        let all_namespaced = kinds.all(Kind::is_namespaced);
        if all_namespaced && !call.flags.on("all-namespaces") {
            let line = format!("No resources found in {} namespace.", call.namespace());
            call.warn(line);
        } else {
            call.warn("No resources found");
        }
    }
    call.output.stdout.push_str(&text);
}

/// Sorts all objects by what an expression finds in them; those in which it finds nothing come first.
///
/// A field that no object has leaves an empty table; other forms of output refuse it.
fn sort(found: &mut Vec<Found>, path: &str, in_table: bool) -> Result<(), Failure> {
    let template = Template::parse_relaxed(path).map_err(Failure::error)?;
    let kinds: Vec<Kind> = found.iter().map(|found| found.kind).collect();
    let mut keyed: Vec<(Option<Value>, Object)> = Vec::new();
    for object in found.drain(..).flat_map(|found| found.objects) {
        let key = template.find(&object.to_value()).unwrap_or_default().into_iter().next();
        keyed.push((key, object));
    }
    if keyed.iter().all(|(key, _)| key.is_none()) {
        if in_table || keyed.is_empty() {
            found.extend(kinds.into_iter().map(|kind| Found { kind, objects: Vec::new(), listed: true }));
            return Ok(());
        }
        let shown = if path.starts_with('{') {
            path.to_string()
        } else {
            format!("{{.{}}}", path.trim_start_matches('.'))
        };
        return Err(Failure::error(format!(
            "couldn't find any field with path \"{shown}\" in the list of objects"
        )));
    }
    keyed.sort_by(|(left, _), (right, _)| compare(left.as_ref(), right.as_ref()));
    for (_, object) in keyed {
        found.push(Found { kind: object.kind(), objects: vec![object], listed: true });
    }
    Ok(())
}

fn compare(left: Option<&Value>, right: Option<&Value>) -> std::cmp::Ordering {
    use crate::api::quantity::Quantity;
    match (left, right) {
        (Some(Value::Number(l)), Some(Value::Number(r))) => {
            l.as_f64().partial_cmp(&r.as_f64()).unwrap_or(std::cmp::Ordering::Equal)
        }
        (Some(Value::String(l)), Some(Value::String(r))) => match (Quantity::parse(l), Quantity::parse(r)) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            _ => natural(l, r),
        },
        (Some(Value::Bool(l)), Some(Value::Bool(r))) => l.cmp(r),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }
}

/// Texts in natural order: runs of digits compare as numbers.
fn natural(left: &str, right: &str) -> std::cmp::Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(bool, String)> = Vec::new();
        for character in text.chars() {
            match parts.last_mut() {
                Some((digits, part)) if *digits == character.is_ascii_digit() => part.push(character),
                _ => parts.push((character.is_ascii_digit(), character.to_string())),
            }
        }
        parts
    };
    let (left, right) = (parts(left), parts(right));
    for ((left_digits, l), (right_digits, r)) in left.iter().zip(&right) {
        let order = match (left_digits, right_digits) {
            (true, true) => {
                let (l, r) = (l.trim_start_matches('0'), r.trim_start_matches('0'));
                l.len().cmp(&r.len()).then_with(|| l.cmp(r))
            }
            _ => l.cmp(r),
        };
        if order.is_ne() {
            return order;
        }
    }
    left.len().cmp(&right.len())
}

/// A watch: what it watches, and what it has shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Watching {
    kind: Kind,
    name: Option<String>,
    narrowing: Narrowing,
    options: table::Options,
    format: Format,
    seen: Vec<(ObjectKey, Object)>,
    widths: Vec<usize>,
    events: bool,
}

impl PartialEq for Narrowing {
    fn eq(&self, other: &Self) -> bool {
        (&self.namespace, &self.labels, &self.fields) == (&other.namespace, &other.labels, &other.fields)
    }
}

fn watch(
    call: &mut Call,
    wanted: &[Wanted],
    narrowing: Narrowing,
    format: &Format,
    options: table::Options,
) -> Result<Pending, Failure> {
    let (kind, name) = match wanted {
        [Wanted::Kind(kind)] => (*kind, None),
        [Wanted::Named(kind, name)] => (*kind, Some(name.clone())),
        _ => return Err(Failure::error("you may only specify a single resource type")),
    };
    if call.flags.given("sort-by") {
        call.warn("warning: --watch requested, --sort-by will be ignored for watch events received");
    }
    if let Some(name) = &name {
        let namespace = narrowing.namespace.as_deref().unwrap_or_default();
        resources::read(&*call.host, kind, namespace, name).map_err(|status| Failure::server(&status))?;
    }
    let mut watching = Watching {
        kind,
        name,
        narrowing,
        options,
        format: format.clone(),
        seen: Vec::new(),
        widths: Vec::new(),
        events: call.flags.on("output-watch-events"),
    };
    let now = watching.current(&*call.host).map_err(|status| Failure::server(&status))?;
    if call.flags.on("watch-only") {
        watching.seen = now.into_iter().map(|object| (object.key(), object)).collect();
    } else {
        let text = watching.changes(now, &*call.host);
        call.output.stdout.push_str(&text);
    }
    Ok(Pending::Watch(watching))
}

impl Watching {
    fn current(&self, host: &dyn Host) -> Result<Vec<Object>, crate::cluster::server::status::Status> {
        let mut objects = resources::list(host, self.kind, &self.narrowing)?;
        if let Some(name) = &self.name {
            objects.retain(|object| *object.meta().name == **name);
        }
        Ok(objects)
    }

    /// One line for each object that came, changed or went, in the order of the writes.
    fn changes(&mut self, now: Vec<Object>, host: &dyn Host) -> String {
        let mut events: Vec<(Revision, &'static str, Object)> = Vec::new();
        for object in &now {
            let key = object.key();
            match self.seen.iter().find(|(seen, _)| *seen == key) {
                None => events.push((object.meta().resource_version, "ADDED", object.clone())),
                Some((_, old)) if old.meta().resource_version != object.meta().resource_version => {
                    events.push((object.meta().resource_version, "MODIFIED", object.clone()));
                }
                Some(_) => {}
            }
        }
        let first = self.seen.is_empty() && self.widths.is_empty();
        for (key, object) in &self.seen {
            if !now.iter().any(|object| object.key() == *key) {
                events.push((Revision(u64::MAX), "DELETED", object.clone()));
            }
        }
        if !first {
            events.sort_by_key(|(revision, ..)| *revision);
        }
        self.seen = now.into_iter().map(|object| (object.key(), object)).collect();
        let mut lines = String::new();
        for (_, event, object) in &events {
            match &self.format {
                Format::Plain | Format::Wide => {
                    let mut options = self.options.clone();
                    options.no_headers |= !lines.is_empty() || !self.widths.is_empty();
                    let text = table::lines(self.kind, std::slice::from_ref(object), &options, host);
                    let prefix = |(index, line): (usize, &str)| match (self.events, index, options.no_headers)
                    {
                        (false, ..) => format!("{line}\n"),
                        (true, 0, false) => format!("EVENT\t{line}\n"),
                        (true, ..) => format!("{event}\t{line}\n"),
                    };
                    lines.extend(text.lines().enumerate().map(prefix));
                }
                Format::Name => {
                    lines.push_str(&format!("{}/{}\n", object.kind().printed(), object.meta().name))
                }
                format => lines
                    .push_str(&format.value(&format::shown(object)).unwrap_or_else(|failure| failure.text)),
            }
        }
        if self.format.is_table() && !lines.is_empty() {
            return tabs::align_with(&lines, table::MINIMUM, table::PADDING, &mut self.widths);
        }
        lines
    }

    /// Shows what changed since the last look; it never ends by itself.
    pub fn poll(&mut self, host: &dyn Host) -> Poll {
        let now = self.current(host).unwrap_or_default();
        Poll { printed: Output::of(self.changes(now, host)), finished: None }
    }
}
