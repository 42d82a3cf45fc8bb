//! `kubectl logs`: what containers have written.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/logs/logs.go` (v1.36).
//! Leaves out: `--limit-bytes`, `--pod-running-timeout`, `--insecure-skip-tls-verify-backend`.

use super::{Call, Pending, pod_of};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::cluster::inside::{LogLine, LogRequest};
use crate::cluster::server::authz::Access;
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources;

/// The flags of `logs`.
pub const FLAGS: &[&[Flag]] = &[
    flags::SELECTOR,
    &[
        Flag::long("all-containers", Takes::Nothing),
        Flag::long("all-pods", Takes::Nothing),
        Flag::both("container", 'c', Takes::Text),
        Flag::both("follow", 'f', Takes::Nothing),
        Flag::both("previous", 'p', Takes::Nothing),
        Flag::long("ignore-errors", Takes::Nothing),
        Flag::long("insecure-skip-tls-verify-backend", Takes::Nothing),
        Flag::long("limit-bytes", Takes::Number),
        Flag::long("max-log-requests", Takes::Number),
        Flag::long("pod-running-timeout", Takes::Duration),
        Flag::long("prefix", Takes::Nothing),
        Flag::long("since", Takes::Duration),
        Flag::long("since-time", Takes::Text),
        Flag::long("tail", Takes::Number),
        Flag::long("timestamps", Takes::Nothing),
    ],
];

const USAGE: &str = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command";

/// The lines of each container that a selector shows without `--tail`.
const SELECTED_TAIL: i64 = 10;

/// The most containers that `-f -l` follows at once.
const MAX_FOLLOWED: usize = 5;

/// Prints logs, or begins to follow them.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let selects = call.text("selector").is_some();
    let mut container = call.text("container");
    match call.args.as_slice() {
        [] if selects => {}
        [_] if selects => {
            return Err(Failure::usage(&call.path, "only a selector (-l) or a POD name is allowed"));
        }
        [_] => {}
        [_, name] if !selects => container = Some(name.clone()),
        _ => return Err(Failure::usage(&call.path, USAGE)),
    }
    let all_containers = call.flags.on("all-containers");
    if let Some(name) = container.as_ref().filter(|_| all_containers) {
        return Err(Failure::error(format!(
            "--all-containers=true should not be specified with container name {name}"
        )));
    }
    let tail = call.flags.number("tail");
    if tail.is_some_and(|tail| tail < -1) {
        return Err(Failure::error("--tail must be greater than or equal to -1"));
    }
    let since = since(call)?;
    let pods = chosen(call)?;
    if pods.is_empty() {
        let line = format!("No resources found in {} namespace.", call.namespace());
        call.warn(line);
        return Ok(None);
    }
    let several = pods.len() > 1 || all_containers;
    let mut sources = Vec::new();
    for pod in &pods {
        let names = if all_containers {
            let spec = &pod.spec;
            let all = spec.init_containers.iter().chain(&spec.containers);
            all.map(|container| container.name.clone()).collect()
        } else {
            let (name, line) = pod_of::container(pod, container.as_deref())?;
            if let Some(line) = line {
                call.warn(line);
            }
            vec![name]
        };
        for name in names {
            let request = LogRequest {
                namespace: pod.meta.namespace.to_string(),
                pod: pod.meta.name.to_string(),
                container: Some(name),
                previous: call.flags.on("previous"),
            };
            sources.push(Source { request, shown: Vec::new() });
        }
    }
    let follows = call.flags.on("follow");
    let most = call.flags.number("max-log-requests").map_or(MAX_FOLLOWED, |most| most.max(0) as usize);
    if follows && selects && sources.len() > most {
        return Err(Failure::error(format!(
            "you are attempting to follow {} log streams, but maximum allowed concurrency is {most}, use --max-log-requests to increase the limit",
            sources.len()
        )));
    }
    let tail = tail.or(selects.then_some(SELECTED_TAIL)).filter(|tail| *tail >= 0);
    let mut reading = Reading {
        sources,
        prefix: call.flags.on("prefix"),
        timestamps: call.flags.on("timestamps"),
        several,
    };
    let mut failures = Vec::new();
    for index in 0..reading.sources.len() {
        let asked = &reading.sources[index].request;
        let access = Access {
            subresource: "log",
            ..Access::to("get", Kind::Pod, asked.namespace.as_str(), asked.pod.as_str())
        };
        let answer = resources::may(&*call.host, &access)
            .and_then(|()| call.host.cluster().container_log(&reading.sources[index].request));
        match answer {
            Ok(lines) => {
                let after = lines.iter().position(|line| since.is_none_or(|since| line.at >= since));
                let wanted = &lines[after.unwrap_or(lines.len())..];
                let most = tail.map_or(wanted.len(), |tail| usize::try_from(tail).unwrap_or(0));
                let text = reading.text(index, &wanted[wanted.len().saturating_sub(most)..]);
                call.output.stdout.push_str(&text);
                reading.sources[index].shown = lines;
            }
            Err(status) if call.flags.on("ignore-errors") => {
                call.warn(format!("error: {}", status.message));
            }
            Err(status) => failures.push(Failure::server(&status)),
        }
    }
    if let Some(failure) = Failure::all(failures) {
        return Err(failure);
    }
    let goes_on = follows && !call.flags.on("previous") && reading.is_alive(&*call.host);
    Ok(goes_on.then_some(Pending::Logs(reading)))
}

/// From when on lines are wanted.
fn since(call: &Call) -> Result<Option<Timestamp>, Failure> {
    match (call.flags.seconds("since").filter(|seconds| *seconds != 0), call.text("since-time")) {
        (Some(_), Some(_)) => {
            Err(Failure::error("at most one of `sinceTime` or `sinceSeconds` may be specified"))
        }
        (Some(seconds), None) if seconds < 0 => {
            Err(Failure::error("--since must be greater than 0"))
        }
        (Some(seconds), None) => Ok(Some(Timestamp(call.host.now().0 - seconds))),
        (None, Some(text)) => Timestamp::parse(&text).map(Some).ok_or_else(|| {
            Failure::error(format!("parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{text}\" as \"2006\""))
        }),
        (None, None) => Ok(None),
    }
}

/// The Pods whose logs are wanted.
fn chosen(call: &mut Call) -> Result<Vec<Pod>, Failure> {
    let Some(word) = call.args.first().cloned() else {
        let found = resources::list(&*call.host, Kind::Pod, &call.narrowing());
        let pods = found.map_err(|status| Failure::server(&status))?;
        let pods = pods.iter().filter_map(|object| object.get::<Pod>());
        return Ok(pods.map(|pod| (**pod).clone()).collect());
    };
    let object = match pod_of::object(call, &word)? {
        Ok(object) => object,
        Err(status) if status.reason == "NotFound" => {
            return Err(Failure::error(format!(
                "error from server (NotFound): {} in namespace \"{}\"",
                status.message,
                call.namespace()
            )));
        }
        Err(status) => return Err(Failure::server(&status)),
    };
    let mut pods = pod_of::pods(&*call.host, &object, "get the logs from")?;
    if !matches!(object, Object::Pod(_)) && !call.flags.on("all-pods") {
        if pods.is_empty() {
            return Err(Failure::error("timed out waiting for the condition"));
        }
        if pods.len() > 1 {
            call.warn(format!("Found {} pods, using pod/{}", pods.len(), pods[0].meta.name));
        }
        pods.truncate(1);
    }
    Ok(pods)
}

/// Logs that are followed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    sources: Vec<Source>,
    prefix: bool,
    timestamps: bool,
    several: bool,
}

/// One container's log, and what has been shown of it.
#[derive(Clone, Debug, PartialEq)]
struct Source {
    request: LogRequest,
    shown: Vec<LogLine>,
}

impl Reading {
    fn text(&self, index: usize, lines: &[LogLine]) -> String {
        let request = &self.sources[index].request;
        let container = request.container.as_deref().unwrap_or_default();
        let mut out = String::new();
        for line in lines {
            if self.prefix {
                out.push_str(&format!("[pod/{}/{container}] ", request.pod));
            }
            if self.timestamps {
                out.push_str(&line.at.to_string().replace('Z', ".000000000Z "));
            }
            out.push_str(&line.text);
            out.push('\n');
        }
        out
    }

    /// Whether any of the containers still runs.
    fn is_alive(&self, host: &dyn Host) -> bool {
        self.sources.iter().any(|source| {
            let pod = host.store().get::<Pod>(&source.request.namespace, &source.request.pod);
            let name = source.request.container.as_deref().unwrap_or_default();
            pod.is_some_and(|pod| {
                let mut all = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
                all.any(|status| status.name == name && status.state.running.is_some())
            })
        })
    }

    /// Prints the lines that are new, and ends when the containers have ended.
    pub fn poll(&mut self, host: &dyn Host) -> Poll {
        let mut printed = Output::default();
        for index in 0..self.sources.len() {
            let Ok(lines) = host.cluster().container_log(&self.sources[index].request) else { continue };
            let shown = &self.sources[index].shown;
            // The oldest lines may have been dropped since.
            let known = (0..=shown.len())
                .find(|&from| lines.starts_with(&shown[from..]))
                .map_or(0, |from| shown.len() - from);
            printed.stdout.push_str(&self.text(index, &lines[known..]));
            self.sources[index].shown = lines;
        }
        let finished = if self.is_alive(host) { None } else { Some(0) };
        Poll { printed, finished }
    }
}
