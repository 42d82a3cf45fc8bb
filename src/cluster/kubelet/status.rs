//! The status of a Pod, from what runs and what the kubelet remembers.
//!
//! Models: `pkg/kubelet/kubelet_pods.go` (`generateAPIPodStatus`, `convertToAPIContainerStatuses`, `getPhase`),
//! `pkg/kubelet/status/generate.go` (v1.36). Leaves out: resizing, users and volumes in container
//! statuses.

use serde_json::{Value, json};

use super::restarts::{ephemeral_containers, is_restarted, is_sidecar};
use super::worker::{Stage, Worker};
use crate::api::codec::Codec;
use crate::api::kinds::pod::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
    ContainerStatus, HostIp, Pod, PodCondition, PodIp, PodSpec, PodStatus,
};
use crate::api::sharing::{Recent, Word};
use crate::api::time::Timestamp;
use crate::cluster::runtime::node::{RunningContainer, RunningPod};
use crate::cluster::runtime::process::{Ended, Process};
use crate::cluster::runtime::registry;

/// Everything that a status is made from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The Pod, with the status that is stored.
    pub pod: &'a Pod,
    /// What the kubelet remembers.
    pub worker: &'a Worker,
    /// What runs.
    pub running: &'a RunningPod,
    /// The node's address.
    pub host_ip: &'a str,
    /// Whether the runtime is the recorder's.
    pub recorded: bool,
    /// The time.
    pub now: Timestamp,
}

/// The longest message of a container.
const MESSAGE_BYTES: usize = 4096;

/// How many lines, and how many bytes, of a log stand in for such a message.
const FALLBACK_LINES: usize = 80;
const FALLBACK_BYTES: usize = 2048;

/// The conditions that the kubelet looks after, in its order.
const OWN_CONDITIONS: [&str; 5] =
    ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/// The status as it is to be stored.
pub fn status_of(report: &Report<'_>) -> PodStatus {
    let Report { pod, worker, running, .. } = report;
    let mut status = pod.status.clone();
    let spec = &pod.spec;
    status.host_ip = report.host_ip.into();
    status.host_ips = vec![HostIp { ip: status.host_ip.clone(), ..HostIp::default() }].into();
    thread_local!(static NODES: Recent<Vec<HostIp>> = Recent::default());
    NODES.with(|recent| status.host_ips.share(recent));
    if worker.shows_address && !running.ip.is_empty() {
        status.pod_ip.clone_from(&running.ip);
        status.pod_ips = vec![PodIp { ip: running.ip.clone(), ..PodIp::default() }];
    }
    status.start_time = status.start_time.or(Some(report.now));
    status.observed_generation = pod.meta.generation;
    status.init_container_statuses =
        spec.init_containers.iter().map(|container| container_status(report, container, true)).collect();
    status.container_statuses =
        spec.containers.iter().map(|container| container_status(report, container, false)).collect();
    let added: Vec<Value> = ephemeral_containers(pod)
        .iter()
        .map(|container| {
            let mut status = container_status(report, container, false);
            // Nobody asks whether such a container is well.
            (status.ready, status.started) = (false, None);
            status.encode()
        })
        .collect();
    if !added.is_empty() {
        status.rest.set("ephemeralContainerStatuses", Some(Value::Array(added)));
    }
    let over = worker.stage == Stage::Over;
    let all: Vec<&ContainerStatus> =
        status.init_container_statuses.iter().chain(&status.container_statuses).collect();
    let is_terminal = over || worker.stage == Stage::Finishing;
    let finished_phase = match phase_of(spec, &all, is_terminal) {
        _ if worker.deadline_passed || worker.evicted.is_some() => "Failed",
        // What never ran, or is not known to have ended, has failed when the Pod ends.
        phase if is_terminal && phase != "Succeeded" => "Failed",
        phase => phase,
    };
    if worker.deadline_passed && over {
        status.reason = "DeadlineExceeded".into();
        status.message = "Pod was active on the node longer than the specified deadline".into();
    }
    if let Some(message) = worker.evicted.as_ref().filter(|_| over) {
        status.reason = "Evicted".into();
        status.message = (&**message).into();
    }
    // The final phase is told only when nothing is left of the Pod on the node.
    status.phase = match finished_phase {
        "Succeeded" | "Failed" if !over => {
            if pod.status.phase == "Pending" && !has_run(&status) {
                "Pending"
            } else {
                "Running"
            }
        }
        phase => phase,
    }
    .into();
    let containers_ready = containers_ready(spec, Some(&all), finished_phase);
    let readiness = Readiness {
        initialized: initialized(spec, Some(&all), finished_phase),
        ready: ready(spec, &status.conditions, containers_ready.clone()),
        containers_ready,
    };
    set_conditions(report, &mut status, &readiness);
    if let Some(message) = &worker.evicted {
        status.set_condition("DisruptionTarget", "True", "TerminationByKubelet", message, report.now);
    }
    if status.rest.get("resources").is_none() {
        status.rest.set("resources", Some(json!({})));
    }
    status
}

fn has_run(status: &PodStatus) -> bool {
    status.container_statuses.iter().any(|c| c.state.waiting.is_none() || c.last_state.terminated.is_some())
}

fn container_status(report: &Report<'_>, container: &Container, init: bool) -> ContainerStatus {
    let spec = &report.pod.spec;
    let keeper = report.worker.containers.get(&container.name);
    let waiting = keeper.and_then(|keeper| keeper.waiting.clone());
    let mut status = ContainerStatus {
        name: container.name.as_str().into(),
        image: container.image.as_str().into(),
        started: Some(false),
        ..ContainerStatus::default()
    };
    status.rest.set("resources", Some(container.resources.encode()));
    if !container.resources.requests.is_empty() {
        status.rest.set("allocatedResources", Some(container.resources.requests.encode()));
    }
    let Some(run) = report.running.container(&container.name) else {
        let default = if spec.init_containers.is_empty() { "ContainerCreating" } else { "PodInitializing" };
        let (reason, message) = waiting.map_or_else(|| (default.to_string(), String::new()), |told| *told);
        status.state.waiting =
            Some(Box::new(ContainerStateWaiting { reason, message, ..ContainerStateWaiting::default() }));
        return status;
    };
    status.image = shown_image(report, run);
    status.image_id = registry::image_id(&run.image, report.recorded).into();
    status.container_id.clone_from(&run.process.container_id);
    status.restart_count = run.restart_count;
    match &run.process.ended {
        None => {
            status.state.running = Some(ContainerStateRunning {
                started_at: Some(run.process.started_at),
                ..ContainerStateRunning::default()
            });
            status.last_state = ended_state(report, container, run, run.previous.as_deref());
            let passed = |state: Option<&super::probes::ProbeState>| state.is_none_or(|state| state.success);
            let started = passed(keeper.and_then(|keeper| keeper.startup.as_deref()));
            let is_server = !init || is_sidecar(container);
            status.started = Some(started);
            status.ready =
                is_server && started && passed(keeper.and_then(|keeper| keeper.readiness.as_deref()));
        }
        Some(ended) => {
            let comes_back = report.worker.stopping.is_none()
                && !report.worker.deadline_passed
                && report.worker.evicted.is_none()
                && report.worker.stage < Stage::Finishing
                && is_restarted(spec, container, init, ended.exit_code);
            match waiting.filter(|_| comes_back) {
                Some(told) => {
                    let (reason, message) = *told;
                    status.last_state = ended_state(report, container, run, Some(&run.process));
                    status.state.waiting = Some(Box::new(ContainerStateWaiting {
                        reason,
                        message,
                        ..ContainerStateWaiting::default()
                    }));
                }
                None => {
                    status.state = ended_state(report, container, run, Some(&run.process));
                    status.last_state = ended_state(report, container, run, run.previous.as_deref());
                }
            }
            status.ready = init && !is_sidecar(container) && ended.exit_code == 0;
        }
    }
    status
}

/// The image as the runtime names it.
fn shown_image(report: &Report<'_>, run: &RunningContainer) -> Word {
    if report.recorded { run.image.clone() } else { registry::full_name(&run.image).into() }
}

fn ended_state(
    report: &Report<'_>,
    container: &Container,
    run: &RunningContainer,
    process: Option<&Process>,
) -> ContainerState {
    let Some((process, ended)) = process.and_then(|process| Some((process, process.ended.as_ref()?))) else {
        return ContainerState::default();
    };
    let Ended { at, exit_code, reason } = &**ended;
    ContainerState {
        terminated: Some(Box::new(ContainerStateTerminated {
            exit_code: *exit_code,
            reason: reason.clone(),
            message: last_words(report, container, run, process),
            started_at: Some(process.started_at),
            finished_at: Some(*at),
            container_id: process.container_id.to_string(),
            ..ContainerStateTerminated::default()
        })),
        ..ContainerState::default()
    }
}

/// What a container that ended left in its message file; if nothing, and its spec wants that, the end of its log.
fn last_words(
    report: &Report<'_>,
    container: &Container,
    run: &RunningContainer,
    process: &Process,
) -> String {
    if let Some(error) = &process.program.start_error {
        return error.clone();
    }
    if process.program.moments.is_empty() && process.program.cycle.is_none() && process.beside.is_empty() {
        return String::new();
    }
    let text = |key: &str| container.rest.get(key).and_then(Value::as_str);
    let path = text("terminationMessagePath").unwrap_or("/dev/termination-log");
    let ended = process.ended.as_ref();
    let now = ended.map_or(report.now, |ended| ended.at);
    let written = process.file(path, now).unwrap_or_default();
    let is_failed = ended.is_some_and(|ended| ended.exit_code != 0);
    if !written.is_empty() || !is_failed || text("terminationMessagePolicy") != Some("FallbackToLogsOnError")
    {
        return end_of(&written, MESSAGE_BYTES);
    }
    let lines = report.running.log(run, process, now);
    let last = &lines[lines.len().saturating_sub(FALLBACK_LINES)..];
    end_of(&last.iter().map(|(_, line)| format!("{line}\n")).collect::<String>(), FALLBACK_BYTES)
}

/// At most that many bytes of the end of a text.
fn end_of(text: &str, bytes: usize) -> String {
    let from = (text.len().saturating_sub(bytes)..=text.len()).find(|at| text.is_char_boundary(*at));
    text[from.unwrap_or(text.len())..].to_string()
}

/// The phase that the containers amount to. Of a container without a status nothing is known; `is_terminal` says that the
/// kubelet runs nothing of the Pod any more.
///
/// Models: `pkg/kubelet/kubelet_pods.go` (`getPhase`).
pub fn phase_of(spec: &PodSpec, statuses: &[&ContainerStatus], is_terminal: bool) -> &'static str {
    let status_of = |container: &Container| statuses.iter().find(|status| status.name == container.name);
    let ended = |state: &ContainerState| state.terminated.as_ref().map(|ended| ended.exit_code);
    let has_begun = any_container_started(spec, statuses);
    let (mut initializing, mut init_failed) = (false, false);
    let (mut unknown, mut running, mut waiting, mut stopped, mut succeeded) = (0, 0, 0, 0, 0);
    for container in &spec.init_containers {
        let Some(status) = status_of(container) else {
            if is_sidecar(container) {
                unknown += 1;
            } else {
                initializing = true;
            }
            continue;
        };
        let (is_running, is_waiting) = (status.state.running.is_some(), status.state.waiting.is_some());
        let code = ended(&status.state).or(ended(&status.last_state).filter(|_| is_waiting));
        if is_sidecar(container) {
            running += i32::from(is_running);
            let is_pending = is_running && status.started != Some(true) || is_waiting && code.is_none();
            waiting += i32::from(is_waiting && code.is_none());
            initializing |= is_pending && !has_begun;
        } else {
            match code {
                Some(0) => {}
                Some(code) if is_restarted(spec, container, true, code) => initializing = true,
                Some(_) => init_failed = true,
                None => initializing = true,
            }
        }
    }
    let mut is_to_restart = false;
    for container in &spec.containers {
        let Some(status) = status_of(container) else {
            unknown += 1;
            continue;
        };
        let is_waiting = status.state.waiting.is_some();
        let code = ended(&status.state);
        if status.state.running.is_some() {
            running += 1;
        } else if code.is_some() || is_waiting && status.last_state.terminated.is_some() {
            stopped += 1;
            succeeded += i32::from(code == Some(0));
            let code = code.or(ended(&status.last_state));
            is_to_restart |= code.is_some_and(|code| is_restarted(spec, container, false, code));
        } else if is_waiting {
            waiting += 1;
        } else {
            unknown += 1;
        }
    }
    let ended_as = if stopped == succeeded { "Succeeded" } else { "Failed" };
    match () {
        () if init_failed => "Failed",
        () if initializing || waiting > 0 => "Pending",
        () if running > 0 && unknown == 0 => "Running",
        () if running == 0 && stopped > 0 && unknown == 0 => match is_to_restart {
            false => ended_as,
            true if is_terminal => ended_as,
            true => "Running",
        },
        () => "Pending",
    }
}

/// Whether a container that is no init container runs or has run.
fn any_container_started(spec: &PodSpec, statuses: &[&ContainerStatus]) -> bool {
    let is_main =
        |status: &ContainerStatus| spec.containers.iter().any(|container| container.name == status.name);
    let has_run = |status: &ContainerStatus| {
        let (state, last) = (&status.state, &status.last_state);
        state.running.is_some() || state.terminated.is_some() || last.terminated.is_some()
    };
    statuses.iter().any(|status| is_main(status) && has_run(status))
}

/// What a condition says: whether it holds, the reason in one word, the message.
pub type Told = (bool, &'static str, String);

fn plain(holds: bool) -> Told {
    (holds, "", String::new())
}

/// Names as Go prints a list of them.
fn listed(what: &str, names: &[&str]) -> Option<String> {
    (!names.is_empty()).then(|| format!("containers with {what} status: [{}]", names.join(" ")))
}

/// The condition `Initialized`.
///
/// Models: `pkg/kubelet/status/generate.go` (`GeneratePodInitializedCondition`).
pub fn initialized(spec: &PodSpec, statuses: Option<&[&ContainerStatus]>, phase: &str) -> Told {
    let statuses = match statuses {
        None if !spec.init_containers.is_empty() => {
            return (false, "UnknownContainerStatuses", String::new());
        }
        statuses => statuses.unwrap_or_default(),
    };
    let (mut unknown, mut incomplete) = (Vec::new(), Vec::new());
    for container in &spec.init_containers {
        let name = container.name.as_str();
        match statuses.iter().find(|status| status.name == name) {
            None => unknown.push(name),
            Some(status) if is_sidecar(container) && status.started == Some(true) => {}
            Some(status) if !is_sidecar(container) && status.ready => {}
            Some(_) => incomplete.push(name),
        }
    }
    if phase == "Succeeded" && unknown.is_empty() {
        return (true, "PodCompleted", String::new());
    }
    if (unknown.is_empty() && incomplete.is_empty()) || any_container_started(spec, statuses) {
        return plain(true);
    }
    let parts: Vec<String> =
        listed("unknown", &unknown).into_iter().chain(listed("incomplete", &incomplete)).collect();
    (false, "ContainersNotInitialized", parts.join(", "))
}

/// The condition `ContainersReady`.
///
/// Models: `pkg/kubelet/status/generate.go` (`GenerateContainersReadyCondition`).
pub fn containers_ready(spec: &PodSpec, statuses: Option<&[&ContainerStatus]>, phase: &str) -> Told {
    let Some(statuses) = statuses else { return (false, "UnknownContainerStatuses", String::new()) };
    let sidecars = spec.init_containers.iter().filter(|container| is_sidecar(container));
    let (mut unknown, mut unready) = (Vec::new(), Vec::new());
    for container in sidecars.chain(&spec.containers) {
        let name = container.name.as_str();
        match statuses.iter().find(|status| status.name == name) {
            None => unknown.push(name),
            Some(status) if !status.ready => unready.push(name),
            Some(_) => {}
        }
    }
    match phase {
        "Succeeded" if unknown.is_empty() => return (false, "PodCompleted", String::new()),
        "Failed" if unknown.is_empty() => return (false, "PodFailed", String::new()),
        _ => {}
    }
    let parts: Vec<String> =
        listed("unknown", &unknown).into_iter().chain(listed("unready", &unready)).collect();
    if parts.is_empty() { plain(true) } else { (false, "ContainersNotReady", parts.join(", ")) }
}

/// The condition `Ready`: that of the containers, and whatever else the Pod's gates ask for.
///
/// Models: `pkg/kubelet/status/generate.go` (`GeneratePodReadyCondition`).
pub fn ready(spec: &PodSpec, conditions: &[PodCondition], containers_ready: Told) -> Told {
    if !containers_ready.0 {
        return containers_ready;
    }
    let closed = spec.readiness_gates.iter().filter_map(|gate| {
        let gate = gate.condition_type.as_str();
        match conditions.iter().find(|condition| condition.condition_type == gate) {
            None => Some(format!("corresponding condition of pod readiness gate \"{gate}\" does not exist.")),
            Some(condition) if condition.status != "True" => Some(format!(
                "the status of pod readiness gate \"{gate}\" is not \"True\", but {}",
                condition.status
            )),
            Some(_) => None,
        }
    });
    let closed: Vec<String> = closed.collect();
    if closed.is_empty() { plain(true) } else { (false, "ReadinessGatesNotReady", closed.join(", ")) }
}

/// The three conditions that follow from the containers.
struct Readiness {
    initialized: Told,
    containers_ready: Told,
    ready: Told,
}

fn set_conditions(report: &Report<'_>, status: &mut PodStatus, readiness: &Readiness) {
    let stage = report.worker.stage;
    let sandbox = (Stage::Sandboxed..=Stage::Finishing).contains(&stage) && !report.worker.sandbox_gone;
    let old = std::mem::take(&mut status.conditions);
    let is_own = |condition: &PodCondition| OWN_CONDITIONS.contains(&condition.condition_type.as_str());
    let mut conditions: Vec<_> = old.iter().filter(|condition| !is_own(condition)).cloned().collect();
    for condition_type in OWN_CONDITIONS {
        let before = old.iter().find(|condition| condition.condition_type == condition_type);
        let (holds, reason, message) = match condition_type {
            "PodReadyToStartContainers" => plain(sandbox),
            "Initialized" => readiness.initialized.clone(),
            "Ready" => readiness.ready.clone(),
            "ContainersReady" => readiness.containers_ready.clone(),
            _ => plain(true),
        };
        let value = if holds { "True" } else { "False" };
        let unchanged = before.filter(|before| before.status == value);
        let mut rest = before.map(|before| before.rest.clone()).unwrap_or_default();
        if rest.get("lastProbeTime").is_none() {
            rest.set("lastProbeTime", Some(Value::Null));
        }
        conditions.push(PodCondition {
            condition_type: condition_type.into(),
            status: value.into(),
            last_transition_time: unchanged.map_or(Some(report.now), |before| before.last_transition_time),
            reason: reason.into(),
            message: message.into(),
            observed_generation: report.pod.meta.generation,
            rest,
        });
    }
    conditions.shrink_to_fit();
    status.conditions = conditions.into();
    thread_local!(static RECENT: Recent<Vec<PodCondition>> = Recent::default());
    RECENT.with(|recent| status.conditions.share(recent));
}

/// What the containers do, in a few words: `api: running, ready; web: waiting (ImagePullBackOff)`.
pub fn in_words(status: &PodStatus) -> String {
    let word = |c: &ContainerStatus| {
        let state = match &c.state {
            ContainerState { running: Some(_), .. } if c.ready => "running, ready".to_string(),
            ContainerState { running: Some(_), .. } => "running, not ready".to_string(),
            ContainerState { terminated: Some(t), .. } => {
                format!("terminated ({}, {})", t.reason, t.exit_code)
            }
            ContainerState { waiting: Some(w), .. } => format!("waiting ({})", w.reason),
            _ => "unknown".to_string(),
        };
        format!("{}: {state}", c.name)
    };
    let statuses = status.init_container_statuses.iter().chain(&status.container_statuses);
    statuses.map(word).collect::<Vec<_>>().join("; ")
}
