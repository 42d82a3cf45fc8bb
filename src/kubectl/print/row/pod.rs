//! Pods.

use super::{Column, always, or_none, wide};
use crate::api::kinds::pod::{ContainerStatus, Pod};
use crate::api::time::Timestamp;
use crate::kubectl::duration;

pub(super) const COLUMNS: &[Column] = &[
    always("NAME"),
    always("READY"),
    always("STATUS"),
    always("RESTARTS"),
    always("AGE"),
    wide("IP"),
    wide("NODE"),
    wide("NOMINATED NODE"),
    wide("READINESS GATES"),
];

/// What `kubectl get pods` says of a Pod's containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// `Running`, `CrashLoopBackOff`, `Init:0/1`, `Terminating`, …
    pub status: String,
    /// Containers that are ready.
    pub ready: usize,
    /// Containers that count, sidecars among them.
    pub total: usize,
    /// Restarts of the containers that count now.
    pub restarts: i64,
    /// When the last of them ended its run before.
    pub last_restart: Option<Timestamp>,
}

#[derive(Default)]
struct Restarts {
    count: i64,
    last: Option<Timestamp>,
}

impl Restarts {
    fn add(&mut self, status: &ContainerStatus) {
        self.count += i64::from(status.restart_count);
        let ended = status.last_state.terminated.as_ref().and_then(|ended| ended.finished_at);
        self.last = self.last.max(ended);
    }
}

/// Sums up a Pod's containers.
///
/// Models: `printPod`.
pub fn summary(pod: &Pod) -> Summary {
    let is_sidecar = |name: &str| {
        pod.spec
            .init_containers
            .iter()
            .any(|c| c.name == name && c.restart_policy.as_deref() == Some("Always"))
    };
    let sidecars = pod.spec.init_containers.iter().filter(|c| is_sidecar(&c.name)).count();
    let mut status = match pod.status.reason.as_str() {
        "" => pod.status.phase.to_string(),
        reason => reason.to_string(),
    };
    if pod.condition("PodScheduled").is_some_and(|condition| condition.reason == "SchedulingGated") {
        status = "SchedulingGated".to_string();
    }
    let mut ready = 0;
    let (mut restarts, mut sidecar_restarts) = (Restarts::default(), Restarts::default());
    let mut initializing = false;
    for (index, container) in pod.status.init_container_statuses.iter().enumerate() {
        restarts.add(container);
        let sidecar = is_sidecar(&container.name);
        if sidecar {
            sidecar_restarts.add(container);
        }
        let (ended, waiting) = (&container.state.terminated, &container.state.waiting);
        if ended.as_ref().is_some_and(|ended| ended.exit_code == 0) {
            continue;
        }
        if sidecar && container.started == Some(true) {
            ready += usize::from(container.ready);
            continue;
        }
        status = match (ended, waiting) {
            (Some(ended), _) if !ended.reason.is_empty() => format!("Init:{}", ended.reason),
            (Some(ended), _) if ended.signal != 0 => format!("Init:Signal:{}", ended.signal),
            (Some(ended), _) => format!("Init:ExitCode:{}", ended.exit_code),
            (None, Some(waiting)) if !matches!(waiting.reason.as_str(), "" | "PodInitializing") => {
                format!("Init:{}", waiting.reason)
            }
            _ => format!("Init:{index}/{}", pod.spec.init_containers.len()),
        };
        initializing = true;
        break;
    }
    let initialized = pod.condition("Initialized").is_some_and(|condition| condition.status == "True");
    if !initializing || initialized {
        restarts = sidecar_restarts;
        let mut has_running = false;
        let mut failed = false;
        for container in pod.status.container_statuses.iter().rev() {
            restarts.add(container);
            let state = &container.state;
            match (&state.waiting, &state.terminated) {
                (Some(waiting), _) if !waiting.reason.is_empty() => status = waiting.reason.clone(),
                // One that succeeded does not hide that another one behind it failed.
                (_, Some(ended)) if ended.exit_code == 0 && failed => {}
                (_, Some(ended)) if !ended.reason.is_empty() => {
                    failed |= ended.exit_code != 0;
                    status = ended.reason.clone();
                }
                (_, Some(ended)) if ended.signal != 0 => status = format!("Signal:{}", ended.signal),
                (_, Some(ended)) => status = format!("ExitCode:{}", ended.exit_code),
                _ if container.ready && state.running.is_some() => {
                    has_running = true;
                    ready += 1;
                }
                _ => {}
            }
        }
        if status == "Completed" && has_running {
            status = if pod.is_ready() { "Running" } else { "NotReady" }.to_string();
        }
    }
    if pod.meta.is_terminating() {
        if pod.status.reason == "NodeLost" {
            status = "Unknown".to_string();
        } else if !pod.is_finished() {
            status = "Terminating".to_string();
        }
    }
    let total = pod.spec.containers.len() + sidecars;
    Summary { status, ready, total, restarts: restarts.count, last_restart: restarts.last }
}

pub(super) fn cells(pod: &Pod, age: String, now: Timestamp) -> Vec<String> {
    let summary = summary(pod);
    let restarts = match (summary.restarts, summary.last_restart) {
        (count, Some(last)) if count != 0 => {
            format!("{count} ({} ago)", duration::human(now.seconds_since(last)))
        }
        (count, _) => count.to_string(),
    };
    let nominated = &*pod.status.nominated_node_name;
    let gates = &pod.spec.readiness_gates;
    let passed = |gate: &&crate::api::kinds::pod::PodReadinessGate| {
        pod.condition(&gate.condition_type).is_some_and(|condition| condition.status == "True")
    };
    let gates = if gates.is_empty() {
        "<none>".to_string()
    } else {
        format!("{}/{}", gates.iter().filter(passed).count(), gates.len())
    };
    vec![
        pod.meta.name.to_string(),
        format!("{}/{}", summary.ready, summary.total),
        summary.status,
        restarts,
        age,
        or_none(&pod.status.pod_ip),
        or_none(&pod.node_name),
        or_none(nominated),
        gates,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::{Value, json};

    const NOW: &str = "2026-01-05T09:00:00Z";

    fn row(pod: Value) -> String {
        let pod = Pod::decode(pod).unwrap();
        cells(&pod, String::new(), Timestamp::parse(NOW).unwrap())[1..4].join(" ")
    }

    fn spec(inits: usize, containers: usize) -> Value {
        let list = |prefix: &str, count| {
            (0..count).map(|n| json!({"name": format!("{prefix}{n}")})).collect::<Vec<_>>()
        };
        json!({"initContainers": list("i", inits), "containers": list("c", containers)})
    }

    #[test]
    fn rows_are_those_of_kubernetes_own_tests() {
        let running =
            |restarts: i32| json!({"state": {"running": {}}, "ready": true, "restartCount": restarts});
        let ended_10_s_ago = json!({"terminated": {"exitCode": 1, "finishedAt": "2026-01-05T08:59:50Z"}});
        for (about, pod, expected) in [
            (
                "one of two containers is ready",
                json!({"spec": spec(0, 2), "status": {"phase": "podPhase", "containerStatuses": [running(3), {"restartCount": 3}]}}),
                "1/2 podPhase 6",
            ),
            (
                "a waiting reason stands for the Pod",
                json!({"spec": spec(0, 2), "status": {"phase": "podPhase", "containerStatuses": [running(3), {"state": {"waiting": {"reason": "Waiting"}}, "restartCount": 3}]}}),
                "1/2 Waiting 6",
            ),
            (
                "the first container's reason wins",
                json!({"spec": spec(0, 2), "status": {"phase": "podPhase", "containerStatuses": [{"state": {"waiting": {"reason": "W"}}}, {"state": {"terminated": {"reason": "T"}}}]}}),
                "0/2 W 0",
            ),
            (
                "completed beside running, not Ready",
                json!({"spec": spec(0, 2), "status": {"phase": "Running", "containerStatuses": [{"state": {"terminated": {"reason": "Completed", "exitCode": 0}}}, running(0)]}}),
                "1/2 NotReady 0",
            ),
            (
                "an init container restarts",
                json!({"spec": spec(1, 1), "status": {"phase": "Pending", "initContainerStatuses": [{"restartCount": 3, "lastState": ended_10_s_ago}], "containerStatuses": [{}]}}),
                "0/1 Init:0/1 3 (10s ago)",
            ),
            (
                "one init container is done",
                json!({"spec": spec(2, 1), "status": {"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 0}}}, {"state": {"waiting": {}}}]}}),
                "0/1 Init:1/2 0",
            ),
            (
                "restarts of finished init containers do not count",
                json!({"spec": spec(1, 1), "status": {"phase": "Running", "initContainerStatuses": [{"restartCount": 3, "state": {"terminated": {"exitCode": 0}}}], "containerStatuses": [running(4)]}}),
                "1/1 Running 4",
            ),
            (
                "scheduling is gated",
                json!({"spec": spec(0, 2), "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}}),
                "0/2 SchedulingGated 0",
            ),
            (
                "a finished Pod that is deleted stays Completed",
                json!({"metadata": {"deletionTimestamp": NOW}, "spec": spec(0, 1), "status": {"phase": "Succeeded", "containerStatuses": [{"state": {"terminated": {"reason": "Completed", "exitCode": 0}}}]}}),
                "0/1 Completed 0",
            ),
            (
                "deleted while running",
                json!({"metadata": {"deletionTimestamp": NOW}, "spec": spec(0, 1), "status": {"phase": "Running", "containerStatuses": [running(0)]}}),
                "1/1 Terminating 0",
            ),
            (
                "nothing known yet",
                json!({"spec": spec(0, 1), "status": {"phase": "Pending"}}),
                "0/1 Pending 0",
            ),
        ] {
            let mut pod = pod;
            for list in ["initContainerStatuses", "containerStatuses"] {
                for (index, status) in pod["status"][list].as_array_mut().into_iter().flatten().enumerate() {
                    status["name"] = json!(format!("{}{index}", &list[..1]));
                }
            }
            assert_eq!(row(pod), expected, "{about}");
        }
    }
}
