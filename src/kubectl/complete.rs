//! What Tab offers.
//!
//! The line before the cursor is read as far as it goes; what may stand at the cursor is offered: commands, kinds,
//! names, flags, values of flags, namespaces, files.

use super::commands::{self, Command, Run};
use super::host::Host;
use super::parse::{self, Takes};
use super::resources;
use super::session::Session;
use super::shell::TOOLS;
use crate::api::kind::Kind;
use crate::api::object::Object;

/// One offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// What replaces the word at the cursor.
    pub text: String,
    /// What it is, in a few words; may be empty.
    pub about: String,
}

/// What may stand at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the word begins that a candidate replaces, in bytes of the line.
    pub from: usize,
    /// Where it ends: the cursor.
    pub to: usize,
    /// The candidates, in order, each once.
    pub candidates: Vec<Candidate>,
}

/// The most candidates that are offered.
const MAX_CANDIDATES: usize = 200;

impl Completion {
    /// The longest text that all candidates begin with: what a first Tab fills in.
    pub fn common(&self) -> &str {
        let Some(first) = self.candidates.first() else { return "" };
        let mut end = first.text.len();
        for candidate in &self.candidates {
            let equal = first.text.bytes().zip(candidate.text.bytes()).take_while(|(a, b)| a == b).count();
            end = end.min(equal);
        }
        while !first.text.is_char_boundary(end) {
            end -= 1;
        }
        &first.text[..end]
    }
}

/// Completes a line at the cursor (a byte of the line).
pub fn complete(line: &str, cursor: usize, session: &Session, host: &dyn Host) -> Completion {
    let mut to = cursor.min(line.len());
    while !line.is_char_boundary(to) {
        to -= 1;
    }
    let before = &line[..to];
    let start = before.rfind([';', '|', '&', '\n']).map_or(0, |at| at + 1);
    let statement = &before[start..];
    let from = before.rfind(|c: char| c.is_whitespace() || ";|&".contains(c)).map_or(0, |at| at + 1);
    let typed = &before[from..];
    let words: Vec<String> = statement[..statement.len() - typed.len().min(statement.len())]
        .split_whitespace()
        .map(str::to_string)
        .collect();
    let mut offers = match words.split_first() {
        None => shell_words(),
        Some((first, rest)) if matches!(first.as_str(), "kubectl" | "k") => {
            kubectl_words(rest, typed, session, host)
        }
        Some(_) => files(host),
    };
    offers.retain(|candidate| candidate.text.starts_with(typed));
    offers.truncate(MAX_CANDIDATES);
    let mut from = from;
    if let Some((head, _)) = typed.split_once('=').filter(|_| typed.starts_with('-')) {
        // Only the part after the sign is replaced.
        from += head.len() + 1;
        for candidate in &mut offers {
            candidate.text = candidate.text[head.len() + 1..].to_string();
        }
    }
    Completion { from, to, candidates: offers }
}

fn offer(text: impl Into<String>, about: impl Into<String>) -> Candidate {
    Candidate { text: text.into(), about: about.into() }
}

fn shell_words() -> Vec<Candidate> {
    let tools = TOOLS.iter().map(|(name, about)| offer(*name, *about));
    std::iter::once(offer("kubectl", "controls the cluster")).chain(tools).collect()
}

fn files(host: &dyn Host) -> Vec<Candidate> {
    host.files().into_iter().map(|name| offer(name, "file")).collect()
}

fn is_here(command: &Command) -> bool {
    match &command.run {
        Run::Group(commands) => commands.iter().any(is_here),
        Run::Does(_) | Run::Either(..) => true,
        Run::Later => false,
    }
}

fn commands_of(commands: &'static [Command]) -> Vec<Candidate> {
    commands
        .iter()
        .filter(|command| is_here(command))
        .map(|command| offer(command.name, command.about))
        .collect()
}

/// What may follow `kubectl` and these words.
fn kubectl_words(words: &[String], typed: &str, session: &Session, host: &dyn Host) -> Vec<Candidate> {
    let mut command: Option<&'static Command> = None;
    let mut below = commands::ALL;
    let mut args: Vec<&str> = Vec::new();
    let mut waiting: Option<&'static parse::Flag> = None;
    let mut namespace = session.namespace.clone();
    for word in words {
        if let Some(flag) = waiting.take() {
            if flag.long == "namespace" {
                namespace.clone_from(word);
            }
            continue;
        }
        if let Some(name) = word.strip_prefix("--") {
            match name.split_once('=') {
                Some(("namespace", value)) => namespace = value.to_string(),
                Some(_) => {}
                None => waiting = flag_with_value(command, |flag| flag.long == name),
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let last = letters.chars().last();
            match letters.strip_prefix('n').filter(|rest| !rest.is_empty()) {
                Some(rest) => namespace = rest.trim_start_matches('=').to_string(),
                None => waiting = flag_with_value(command, |flag| flag.short.is_some() && flag.short == last),
            }
        } else if let Some(next) = below.iter().find(|next| args.is_empty() && next.is_called(word)) {
            command = Some(next);
            below = match &next.run {
                Run::Group(commands) | Run::Either(_, commands) => commands,
                Run::Does(_) | Run::Later => &[],
            };
        } else {
            args.push(word);
        }
    }
    if let Some(flag) = waiting {
        return values_of(flag, session, host);
    }
    if let Some((name, _)) = typed.strip_prefix("--").and_then(|text| text.split_once('=')) {
        let Some(flag) = flag_with_value(command, |flag| flag.long == name) else { return Vec::new() };
        let values = values_of(flag, session, host).into_iter();
        return values.map(|value| offer(format!("--{name}={}", value.text), value.about)).collect();
    }
    if typed.starts_with('-') {
        let mut flags: Vec<Candidate> = parse::flags_of(command)
            .map(|flag| {
                let sign = if flag.takes == Takes::Nothing { "" } else { "=" };
                offer(
                    format!("--{}{sign}", flag.long),
                    flag.short.map(|short| format!("-{short}")).unwrap_or_default(),
                )
            })
            .collect();
        flags.sort_by(|left, right| left.text.cmp(&right.text));
        return flags;
    }
    let Some(command) = command else { return commands_of(commands::ALL) };
    if !below.is_empty() && args.is_empty() && !matches!(command.run, Run::Either(..)) {
        return commands_of(below);
    }
    arguments(command, &args, typed, &namespace, host)
}

fn flag_with_value(
    command: Option<&'static Command>,
    is_it: impl Fn(&parse::Flag) -> bool,
) -> Option<&'static parse::Flag> {
    parse::flags_of(command).find(|flag| is_it(flag)).filter(|flag| flag.takes != Takes::Nothing)
}

fn values_of(flag: &parse::Flag, session: &Session, host: &dyn Host) -> Vec<Candidate> {
    let words = |words: &[&str]| words.iter().map(|word| offer(*word, "")).collect();
    match flag.long {
        "namespace" => names(Kind::Namespace, "", host),
        "filename" => {
            let mut files = files(host);
            files.push(offer("-", "standard input"));
            files
        }
        "output" => words(&["wide", "yaml", "json", "name", "jsonpath=", "custom-columns="]),
        "cascade" => words(&["background", "foreground", "orphan"]),
        "dry-run" => words(&["none", "client", "server"]),
        "selector" => labels(session, host),
        "sort-by" => words(&[".metadata.name", ".metadata.creationTimestamp"]),
        _ => Vec::new(),
    }
}

fn labels(session: &Session, host: &dyn Host) -> Vec<Candidate> {
    let mut pairs: Vec<String> = Vec::new();
    for kind in [Kind::Pod, Kind::Deployment, Kind::Service, Kind::EndpointSlice] {
        for object in host.store().objects_in(kind, &session.namespace) {
            pairs.extend(object.meta().labels.iter().map(|(key, value)| format!("{key}={value}")));
        }
    }
    pairs.sort();
    pairs.dedup();
    pairs.into_iter().map(|pair| offer(pair, "label")).collect()
}

/// Which kinds a command works on.
fn kinds_for(command: &Command, host: &dyn Host) -> Vec<Kind> {
    let kinds = host.kinds().iter().copied();
    match command.name {
        "scale" => kinds.filter(|kind| matches!(kind, Kind::Deployment | Kind::ReplicaSet)).collect(),
        "image" => {
            kinds.filter(|kind| matches!(kind, Kind::Deployment | Kind::ReplicaSet | Kind::Pod)).collect()
        }
        "status" | "history" | "undo" | "pause" | "resume" | "restart" => {
            kinds.filter(|kind| *kind == Kind::Deployment).collect()
        }
        _ => kinds.collect(),
    }
}

fn arguments(
    command: &Command,
    args: &[&str],
    typed: &str,
    namespace: &str,
    host: &dyn Host,
) -> Vec<Candidate> {
    if matches!(command.name, "apply" | "create" | "config" | "version" | "api-resources") {
        return Vec::new();
    }
    if command.name == "help" {
        return commands_of(commands::ALL);
    }
    let kinds = kinds_for(command, host);
    if let Some((word, _)) = typed.split_once('/') {
        let Ok(kind) = resources::kind_of(word, host) else { return Vec::new() };
        let names = names(kind, namespace, host).into_iter();
        return names.map(|name| offer(format!("{word}/{}", name.text), name.about)).collect();
    }
    let Some(first) = args.first() else {
        let mut offers: Vec<Candidate> = Vec::new();
        for kind in kinds {
            offers.push(offer(kind.plural(), kind.info().short_names.join(", ")));
        }
        if command.name == "get" || command.name == "delete" {
            offers.push(offer("all", "the usual kinds"));
        }
        offers.sort_by(|left, right| left.text.cmp(&right.text));
        return offers;
    };
    if command.name == "image" && first.contains('/') {
        return containers(first, namespace, host);
    }
    if first.contains('/') {
        return kinds.into_iter().map(|kind| offer(format!("{}/", kind.info().singular), "")).collect();
    }
    let mut offers = Vec::new();
    for word in first.split(',') {
        if let Ok(kind) = resources::kind_of(word, host) {
            offers.extend(names(kind, namespace, host));
        }
    }
    offers.retain(|candidate| !args.contains(&candidate.text.as_str()));
    offers
}

fn names(kind: Kind, namespace: &str, host: &dyn Host) -> Vec<Candidate> {
    let namespace = if kind.is_namespaced() { namespace } else { "" };
    host.store().objects_in(kind, namespace).map(|object| offer(&*object.meta().name, kind.name())).collect()
}

fn containers(target: &str, namespace: &str, host: &dyn Host) -> Vec<Candidate> {
    let Some((word, name)) = target.split_once('/') else { return Vec::new() };
    let Ok(kind) = resources::kind_of(word, host) else { return Vec::new() };
    let Ok(object) = resources::read(host, kind, namespace, name) else { return Vec::new() };
    let spec = match object {
        Object::Pod(pod) => &pod.spec,
        Object::Deployment(deployment) => &deployment.spec.template.spec,
        Object::ReplicaSet(set) => &set.spec.template.spec,
        _ => return Vec::new(),
    };
    spec.containers.iter().map(|container| offer(format!("{}=", container.name), &*container.image)).collect()
}
