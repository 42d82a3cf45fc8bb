//! The status of a Pod, from what runs and what the kubelet remembers.
//!
//! Models: `pkg/kubelet/kubelet_pods.go` (`generateAPIPodStatus`, `convertToAPIContainerStatuses`, `getPhase`),
//! `pkg/kubelet/status/generate.go` (v1.36). Leaves out: ephemeral containers, resizing, users and volumes in container
//! statuses.

use serde_json::{Value, json};

use super::restarts::{is_restarted, is_sidecar};
use super::worker::{Stage, Worker};
use crate::api::codec::Codec;
use crate::api::kinds::pod::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
    ContainerStatus, HostIp, Pod, PodCondition, PodIp, PodSpec, PodStatus,
};
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
    status.host_ip = report.host_ip.to_string();
    status.host_ips = vec![HostIp { ip: report.host_ip.to_string(), ..HostIp::default() }];
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
    let over = worker.stage == Stage::Over;
    let finished_phase = match phase_of(spec, &status, over || worker.stage == Stage::Finishing) {
        _ if worker.deadline_passed || worker.evicted.is_some() => "Failed",
        phase => phase,
    };
    if worker.deadline_passed && over {
        status.reason = "DeadlineExceeded".to_string();
        status.message = "Pod was active on the node longer than the specified deadline".to_string();
    }
    if let Some(message) = worker.evicted.as_ref().filter(|_| over) {
        status.reason = "Evicted".to_string();
        status.message.clone_from(message);
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
    .to_string();
    let readiness = Readiness::of(spec, &status, finished_phase);
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
        name: container.name.clone(),
        image: container.image.clone(),
        started: Some(false),
        ..ContainerStatus::default()
    };
    status.rest.set("resources", Some(container.resources.encode()));
    if !container.resources.requests.is_empty() {
        status.rest.set("allocatedResources", Some(container.resources.requests.encode()));
    }
    let Some(run) = report.running.container(&container.name) else {
        let default = if spec.init_containers.is_empty() { "ContainerCreating" } else { "PodInitializing" };
        let (reason, message) = waiting.unwrap_or_else(|| (default.to_string(), String::new()));
        status.state.waiting =
            Some(ContainerStateWaiting { reason, message, ..ContainerStateWaiting::default() });
        return status;
    };
    status.image = shown_image(report, run);
    status.image_id = registry::image_id(&run.image, report.recorded);
    status.container_id.clone_from(&run.process.container_id);
    status.restart_count = run.restart_count;
    match &run.process.ended {
        None => {
            status.state.running = Some(ContainerStateRunning {
                started_at: Some(run.process.started_at),
                ..ContainerStateRunning::default()
            });
            status.last_state = ended_state(report, container, run, run.previous.as_ref());
            let passed = |state: Option<&super::probes::ProbeState>| state.is_none_or(|state| state.success);
            let started = passed(keeper.and_then(|keeper| keeper.startup.as_ref()));
            let is_server = !init || is_sidecar(container);
            status.started = Some(started);
            status.ready =
                is_server && started && passed(keeper.and_then(|keeper| keeper.readiness.as_ref()));
        }
        Some(ended) => {
            let comes_back = report.worker.stopping.is_none()
                && !report.worker.deadline_passed
                && report.worker.evicted.is_none()
                && report.worker.stage < Stage::Finishing
                && is_restarted(spec, container, init, ended.exit_code);
            match waiting.filter(|_| comes_back) {
                Some((reason, message)) => {
                    status.last_state = ended_state(report, container, run, Some(&run.process));
                    status.state.waiting =
                        Some(ContainerStateWaiting { reason, message, ..ContainerStateWaiting::default() });
                }
                None => {
                    status.state = ended_state(report, container, run, Some(&run.process));
                    status.last_state = ended_state(report, container, run, run.previous.as_ref());
                }
            }
            status.ready = init && !is_sidecar(container) && ended.exit_code == 0;
        }
    }
    status
}

/// The image as the runtime names it.
fn shown_image(report: &Report<'_>, run: &RunningContainer) -> String {
    if report.recorded { run.image.clone() } else { registry::full_name(&run.image) }
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
    let Ended { at, exit_code, reason } = ended;
    ContainerState {
        terminated: Some(ContainerStateTerminated {
            exit_code: *exit_code,
            reason: reason.clone(),
            message: last_words(report, container, run, process),
            started_at: Some(process.started_at),
            finished_at: Some(*at),
            container_id: process.container_id.clone(),
            ..ContainerStateTerminated::default()
        }),
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

/// The phase that the containers amount to.
fn phase_of(spec: &PodSpec, status: &PodStatus, final_: bool) -> &'static str {
    let is_done = |status: &ContainerStatus| {
        status
            .state
            .terminated
            .as_ref()
            .or(status.last_state.terminated.as_ref().filter(|_| status.state.waiting.is_some()))
            .map(|t| t.exit_code)
    };
    let mut initializing = false;
    let mut init_failed = false;
    for (container, status) in spec.init_containers.iter().zip(&status.init_container_statuses) {
        if is_sidecar(container) {
            initializing |= status.state.waiting.is_some() && status.last_state.terminated.is_none();
            continue;
        }
        match is_done(status) {
            Some(0) if status.state.terminated.is_some() => {}
            Some(code) if code != 0 && !is_restarted(spec, container, true, code) => init_failed = true,
            _ => initializing = true,
        }
    }
    let (mut waiting, mut running, mut stopped, mut succeeded, mut returning) = (0, 0, 0, 0, 0);
    for (container, status) in spec.containers.iter().zip(&status.container_statuses) {
        match (&status.state, is_done(status)) {
            (state, _) if state.running.is_some() => running += 1,
            (_, Some(code)) => {
                stopped += 1;
                succeeded += i32::from(code == 0);
                returning += i32::from(is_restarted(spec, container, false, code));
            }
            _ => waiting += 1,
        }
    }
    let ever_ran = running + stopped > 0;
    match () {
        () if init_failed => "Failed",
        () if final_ && running == 0 && stopped + waiting > 0 && initializing => "Failed",
        () if initializing && !ever_ran => "Pending",
        () if final_ && running == 0 && stopped == succeeded && waiting == 0 => "Succeeded",
        () if final_ && running == 0 => "Failed",
        () if waiting > 0 => "Pending",
        () if running > 0 => "Running",
        () if stopped > 0 && returning > 0 => "Running",
        () if stopped > 0 && stopped == succeeded => "Succeeded",
        () if stopped > 0 => "Failed",
        () => "Pending",
    }
}

/// The three conditions that follow from the containers: status, reason and message each.
struct Readiness {
    initialized: (bool, &'static str, String),
    containers_ready: (bool, &'static str, String),
    ready: (bool, &'static str, String),
}

impl Readiness {
    fn of(spec: &PodSpec, status: &PodStatus, phase: &str) -> Self {
        let names = |names: Vec<&str>| format!("[{}]", names.join(" "));
        let yes = |reason: &'static str| (true, reason, String::new());
        let incomplete: Vec<&str> = spec
            .init_containers
            .iter()
            .zip(&status.init_container_statuses)
            .filter(|(container, status)| match is_sidecar(container) {
                true => {
                    status.started != Some(true)
                        && status.last_state.terminated.is_none()
                        && status.state.terminated.is_none()
                }
                false => !status.ready,
            })
            .map(|(_, status)| status.name.as_str())
            .collect();
        let main_ran = status
            .container_statuses
            .iter()
            .any(|c| c.state.waiting.is_none() || c.last_state.terminated.is_some());
        let initialized = match phase {
            "Succeeded" => yes("PodCompleted"),
            _ if !incomplete.is_empty() && !main_ran => (
                false,
                "ContainersNotInitialized",
                format!("containers with incomplete status: {}", names(incomplete)),
            ),
            _ => yes(""),
        };
        let sidecars =
            spec.init_containers.iter().zip(&status.init_container_statuses).filter(|(c, _)| is_sidecar(c));
        let unready: Vec<&str> = sidecars
            .map(|(_, status)| status)
            .chain(&status.container_statuses)
            .filter(|status| !status.ready)
            .map(|status| status.name.as_str())
            .collect();
        let containers_ready = match phase {
            "Succeeded" => (false, "PodCompleted", String::new()),
            "Failed" => (false, "PodFailed", String::new()),
            _ if unready.is_empty() => yes(""),
            _ => (false, "ContainersNotReady", format!("containers with unready status: {}", names(unready))),
        };
        let closed: Vec<String> = spec
            .readiness_gates
            .iter()
            .filter_map(|gate| {
                let of_type = |c: &&PodCondition| c.condition_type == gate.condition_type;
                match status.conditions.iter().find(of_type) {
                    None => Some(format!(
                        "corresponding condition of pod readiness gate \"{}\" does not exist.",
                        gate.condition_type
                    )),
                    Some(condition) if condition.status != "True" => Some(format!(
                        "the status of pod readiness gate \"{}\" is not \"True\", but {}",
                        gate.condition_type, condition.status
                    )),
                    Some(_) => None,
                }
            })
            .collect();
        let ready = if containers_ready.0 && !closed.is_empty() {
            (false, "ReadinessGatesNotReady", closed.join(", "))
        } else {
            containers_ready.clone()
        };
        Self { initialized, containers_ready, ready }
    }
}

fn set_conditions(report: &Report<'_>, status: &mut PodStatus, readiness: &Readiness) {
    let stage = report.worker.stage;
    let sandbox = (Stage::Sandboxed..=Stage::Finishing).contains(&stage) && !report.worker.sandbox_gone;
    let plain = |status: bool| (status, "", String::new());
    let old = std::mem::take(&mut status.conditions);
    let is_own = |condition: &PodCondition| OWN_CONDITIONS.contains(&condition.condition_type.as_str());
    status.conditions = old.iter().filter(|condition| !is_own(condition)).cloned().collect();
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
        status.conditions.push(PodCondition {
            condition_type: condition_type.to_string(),
            status: value.to_string(),
            last_transition_time: unchanged.map_or(Some(report.now), |before| before.last_transition_time),
            reason: reason.to_string(),
            message,
            observed_generation: report.pod.meta.generation,
            rest,
        });
    }
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
