//! The Pods that a Service could send a request to: which it does, which are left out, and why.

use super::hop::{Candidate, Cell, Verdict};
use super::{Timestamp, TraceInput};
use crate::api::kinds::apps::{Deployment, PodTemplateSpec, ReplicaSet};
use crate::api::kinds::networking::{Service, ServicePort};
use crate::api::kinds::pod::Pod;
use crate::api::meta::ObjectKey;
use crate::api::object::Resource;
use crate::cluster::because::Because;
use crate::cluster::network::endpoints::{Backend, Snapshot, target_port};

/// The most Pods that a table shows.
const MOST_PODS: usize = 50;

/// What is wrong with the Pods of a Service, the first thing first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// The Service selects nothing.
    NoSelector,
    /// There is no Pod in the namespace.
    NoPods,
    /// No Pod has the labels.
    NoMatch,
    /// A Deployment or ReplicaSet with the labels wants so many Pods, but none is there.
    NotMade(ObjectKey, i32),
    /// Pods match, but none is ready: the first of them, and why.
    NoneReady(String, Because),
    /// Pods are ready, but none declares the named target port.
    NoNamedPort(String),
    /// A Pod is ready that no EndpointSlice lists yet.
    NotListed,
    /// An EndpointSlice lists a ready Pod that has not been loaded yet.
    NotLoaded,
}

/// A look at the Pods behind a Service port.
pub(super) struct Look {
    pub columns: Vec<Because>,
    pub candidates: Vec<Candidate>,
    /// What is missing when no candidate can be used.
    pub lack: Lack,
}

/// How one Pod stands.
struct Standing {
    matches: bool,
    ready: Result<Timestamp, Because>,
    port: Option<i32>,
    /// Whether an EndpointSlice has it, and whether as ready.
    listed: Option<bool>,
    loaded: bool,
}

impl Standing {
    fn is_listed_ready(&self) -> bool {
        self.listed == Some(true)
    }
}

/// Looks at every Pod that the Service's selector matches; when it matches none, at the others of the namespace.
/// `loaded` is what the proxy or the Ingress controller works from; `chosen` is the endpoint that was taken.
pub(super) fn look(
    input: &TraceInput<'_>,
    service: &Service,
    port: Option<&ServicePort>,
    loaded: Option<&Snapshot>,
    chosen: Option<&Backend>,
) -> Look {
    let key = service.key();
    let stored = Snapshot::take(input.store, &key);
    let backends = |snapshot: Option<&Snapshot>| -> Vec<Backend> {
        snapshot.zip(port).map(|(snapshot, port)| snapshot.backends(port)).unwrap_or_default()
    };
    let (listed, mut used) = (backends(stored.as_ref()), backends(loaded));
    used.retain(|backend| backend.ready);
    let of = |backends: &[Backend], pod: &ObjectKey| {
        backends.iter().find(|b| b.pod.as_ref() == Some(pod)).map(|b| b.ready)
    };
    let selector = &service.spec.selector;
    let matches =
        |pod: &Pod| !selector.is_empty() && selector.iter().all(|(k, v)| pod.meta.labels.get(k) == Some(v));
    let all: Vec<&Pod> = input.store.list_in::<Pod>(&key.namespace).map(|pod| &**pod).collect();
    let matching: Vec<&Pod> = all.iter().copied().filter(|pod| matches(pod)).collect();
    let shown = if matching.is_empty() { &all } else { &matching };

    let mut candidates = Vec::new();
    let mut standings = Vec::new();
    for pod in shown.iter().take(MOST_PODS) {
        let key = pod.key();
        let standing = Standing {
            matches: matches(pod),
            ready: readiness(pod),
            port: port.and_then(|port| target_port(pod, port)),
            listed: of(&listed, &key),
            loaded: of(&used, &key).is_some(),
        };
        let taken = chosen.is_some_and(|chosen| chosen.pod.as_ref() == Some(&key));
        candidates.push(candidate(pod, &standing, port, taken, selector));
        standings.push((pod.meta.name.to_string(), standing));
    }
    for gone in used.iter().filter(|b| b.pod.as_ref().is_some_and(|pod| input.pod(pod).is_none())) {
        let taken = chosen == Some(gone);
        candidates.push(Candidate {
            name: gone.pod.as_ref().map(|pod| pod.name.to_string()).unwrap_or_default(),
            object: None,
            cells: vec![Cell::plain(Because::new("trace.cell.nothing")); 4],
            verdict: if taken { Verdict::Used } else { Verdict::Spare },
            reason: Because::new("trace.left.gone"),
        });
    }
    let columns = vec![
        Because::new("trace.column.labels"),
        Because::new("trace.column.ready"),
        Because::new("trace.column.port"),
        Because::new("trace.column.listed"),
    ];
    Look { columns, candidates, lack: lack_of(input, service, all.is_empty(), &standings, port) }
}

fn candidate(
    pod: &Pod,
    standing: &Standing,
    port: Option<&ServicePort>,
    taken: bool,
    selector: &std::collections::BTreeMap<String, String>,
) -> Candidate {
    let nothing = || Because::new("trace.cell.nothing");
    let labels = if standing.matches {
        Cell::good(Because::new("trace.cell.match"))
    } else {
        Cell::bad(Because::new("trace.cell.labels").with("labels", labels_text(pod, selector)))
    };
    let ready = match &standing.ready {
        Ok(_) => Cell::good(Because::new("trace.cell.ready")),
        Err(reason) => Cell::bad(reason.clone()),
    };
    let port_cell = match (port, standing.port) {
        (_, Some(number)) => Cell::good(Because::new("trace.cell.port").with("port", number)),
        (Some(port), None) => Cell::bad(Because::new("trace.cell.no_port").with("port", &port.target_port)),
        (None, None) => Cell::plain(nothing()),
    };
    let listed = match standing.listed {
        Some(true) => Cell::good(Because::new("trace.cell.listed")),
        Some(false) => Cell::bad(Because::new("trace.cell.listed_not_ready")),
        None if standing.matches => Cell::bad(Because::new("trace.cell.not_listed")),
        None => Cell::plain(nothing()),
    };
    let (verdict, reason) = if taken {
        (Verdict::Used, Because::new("trace.left.used"))
    } else if !standing.matches {
        (Verdict::LeftOut, Because::new("trace.left.labels"))
    } else if standing.loaded && standing.is_listed_ready() {
        (Verdict::Spare, Because::new("trace.left.spare"))
    } else if standing.loaded {
        (Verdict::Spare, Because::new("trace.left.stale"))
    } else if let Err(reason) = &standing.ready {
        (Verdict::LeftOut, reason.clone())
    } else if standing.port.is_none() {
        (Verdict::LeftOut, Because::new("trace.left.port"))
    } else if !standing.is_listed_ready() {
        (Verdict::LeftOut, Because::new("trace.left.not_listed"))
    } else {
        (Verdict::LeftOut, Because::new("trace.left.not_loaded"))
    };
    Candidate {
        name: pod.meta.name.to_string(),
        object: Some(pod.key()),
        cells: vec![labels, ready, port_cell, listed],
        verdict,
        reason,
    }
}

/// The Pod's labels that the selector asks for, or all of them.
fn labels_text(pod: &Pod, selector: &std::collections::BTreeMap<String, String>) -> String {
    let asked: Vec<String> =
        selector.keys().filter_map(|k| pod.meta.labels.get(k).map(|v| format!("{k}={v}"))).collect();
    let all = || pod.meta.labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
    let shown = if asked.is_empty() { all() } else { asked };
    if shown.is_empty() { "<none>".to_string() } else { shown.join(",") }
}

/// Since when the Pod takes traffic, or why it does not.
fn readiness(pod: &Pod) -> Result<Timestamp, Because> {
    if pod.meta.is_terminating() {
        return Err(Because::new("trace.unready.terminating"));
    }
    if pod.is_finished() {
        return Err(Because::new("trace.unready.finished").with("phase", &pod.status.phase));
    }
    if !pod.is_bound() {
        let is_refused = pod.condition("PodScheduled").is_some_and(|condition| condition.status == "False");
        return Err(match is_refused {
            true => Because::new("trace.unready.no_node"),
            false => Because::new("trace.unready.not_placed"),
        });
    }
    if pod.is_ready() {
        return Ok(pod.ready_since().unwrap_or_default());
    }
    let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
    let waiting = statuses.clone().find_map(|status| status.state.waiting.as_ref());
    if let Some(waiting) = waiting.filter(|waiting| !waiting.reason.is_empty()) {
        return Err(Because::new("trace.unready.waiting").with("reason", &waiting.reason));
    }
    let ended = pod.status.container_statuses.iter().find_map(|status| status.state.terminated.as_ref());
    if let Some(ended) = ended {
        return Err(Because::new("trace.unready.ended").with("code", ended.exit_code));
    }
    if pod.status.pod_ip.is_empty() {
        return Err(Because::new("trace.unready.starting"));
    }
    let has_probe = pod.spec.containers.iter().any(|container| container.readiness_probe.is_some());
    Err(if has_probe { Because::new("trace.unready.probe") } else { Because::new("trace.unready.starting") })
}

fn lack_of(
    input: &TraceInput<'_>,
    service: &Service,
    no_pods: bool,
    standings: &[(String, Standing)],
    port: Option<&ServicePort>,
) -> Lack {
    let mut matching = standings.iter().filter(|(_, standing)| standing.matches).peekable();
    if service.spec.selector.is_empty() {
        return Lack::NoSelector;
    }
    let Some((first, standing)) = matching.peek() else {
        return match maker_of(input, service) {
            Some((maker, wanted)) => Lack::NotMade(maker, wanted),
            None if no_pods => Lack::NoPods,
            None => Lack::NoMatch,
        };
    };
    let first_unready =
        standing.ready.as_ref().err().map(|reason| Lack::NoneReady(first.clone(), reason.clone()));
    let ready: Vec<&Standing> = matching.map(|(_, standing)| standing).filter(|s| s.ready.is_ok()).collect();
    if ready.is_empty() {
        return first_unready.unwrap_or(Lack::NotListed);
    }
    if ready.iter().any(|standing| standing.is_listed_ready()) {
        return Lack::NotLoaded;
    }
    match port {
        Some(port) if ready.iter().all(|standing| standing.port.is_none()) => {
            Lack::NoNamedPort(port.target_port.to_string())
        }
        _ => Lack::NotListed,
    }
}

/// The Deployment, or else the ReplicaSet, whose Pods the Service would select, and how many it wants.
fn maker_of(input: &TraceInput<'_>, service: &Service) -> Option<(ObjectKey, i32)> {
    let namespace = &service.meta.namespace;
    let would_match = |template: &PodTemplateSpec| {
        service.spec.selector.iter().all(|(k, v)| template.meta.labels.get(k) == Some(v))
    };
    let deployment = input.store.list_in::<Deployment>(namespace).find(|d| would_match(&d.spec.template));
    if let Some(deployment) = deployment {
        return Some((deployment.key(), deployment.spec.replicas.unwrap_or(1)));
    }
    let set = input.store.list_in::<ReplicaSet>(namespace).find(|set| would_match(&set.spec.template))?;
    Some((set.key(), set.spec.replicas.unwrap_or(1)))
}
