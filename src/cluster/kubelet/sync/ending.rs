//! How what a Pod runs is stopped: a container to be replaced, a Pod at its end, and one that is to be gone.

use std::sync::Arc;

use super::super::restarts::{ephemeral_containers, is_restarted, is_sidecar};
use super::super::worker::{Kill, Stage, Stopping};
use super::{Look, all_containers, delete, give_back_address};
use crate::api::kinds::pod::Container;
use crate::api::sharing::Word;
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::queue::WorkKey;
use crate::cluster::runtime::process::{End, Ended, Stop};

/// The shortest time that a process has to stop, whatever its Pod grants.
const LEAST_GRACE_SECONDS: i64 = 2;

impl Look<'_> {
    /// When the Pod has to be done.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let seconds = self.pod.spec.rest.get("activeDeadlineSeconds")?.as_i64()?;
        Some(Timestamp(self.pod.status.start_time?.0 + seconds))
    }

    pub(super) fn is_past_deadline(&self) -> bool {
        self.worker.deadline_passed || self.deadline().is_some_and(|deadline| deadline <= self.now())
    }

    /// The Pod was on the node for longer than its spec allows: what runs is stopped, then it has failed.
    pub(super) fn end_for_deadline(&mut self) {
        if !self.worker.deadline_passed {
            self.worker.deadline_passed = true;
            let because = Because::new("because.kubelet.deadline").with("pod", &self.key.name);
            let message = "Pod was active on the node longer than the specified deadline".to_string();
            self.tell("DeadlineExceeded", false, message, None, because.clone());
            self.stop_everything(self.grace_seconds(), &because);
            if self.changed {
                // The look that finds the processes gone says it again.
                let message = "Pod was active on the node longer than the specified deadline".to_string();
                self.tell("DeadlineExceeded", false, message, None, because);
            }
        }
        if self.running.is_running() {
            self.take_status();
        } else {
            self.end();
        }
    }

    /// The node ran out of something: what runs is stopped, then the Pod has failed.
    pub(super) fn end_for_eviction(&mut self) {
        let because = Because::new("because.kubelet.evicted").with("pod", &self.key.name);
        if !self.worker.cut_short {
            self.worker.cut_short = true;
            self.stop_everything(1, &because);
        }
        if self.running.is_running() {
            self.status_because = Some(because);
            self.take_status();
        } else {
            self.end();
        }
    }

    /// Tells every process that runs to stop; sidecars only when the others have stopped.
    pub(super) fn stop_everything(&mut self, grace_seconds: i64, because: &Because) {
        self.worker.pulling = None;
        self.worker.retry_at = None;
        self.worker.mount = None;
        let pod = Arc::clone(&self.pod);
        for (container, init) in all_containers(&pod) {
            if self.running.container(&container.name).is_some_and(|run| run.process.is_running()) {
                let message = format!("Stopping container {}", container.name);
                let because = because.clone().with("container", &container.name);
                self.tell("Killing", false, message, Some((container, init)), because);
                if init && is_sidecar(container) {
                    self.worker.keeper(&container.name).stops_last = true;
                } else {
                    self.stop_container(container, grace_seconds);
                }
            }
        }
        self.stop_added(grace_seconds, because);
        self.stop_next_sidecars(grace_seconds);
    }

    /// Tells the containers that were added to look into the Pod to stop. Returns whether any ran.
    fn stop_added(&mut self, grace_seconds: i64, because: &Because) -> bool {
        let mut any = false;
        for container in &ephemeral_containers(&Arc::clone(&self.pod)) {
            if self.running.container(&container.name).is_some_and(|run| run.process.is_running()) {
                any = true;
                let message = format!("Stopping container {}", container.name);
                let because = because.clone().with("container", &container.name);
                self.tell("Killing", false, message, Some((container, false)), because);
                self.stop_container(container, grace_seconds);
            }
        }
        any
    }

    /// Sidecars stop one after the other, the last one first, once the containers that they serve have stopped.
    pub(super) fn stop_next_sidecars(&mut self, grace_seconds: i64) {
        let pod = Arc::clone(&self.pod);
        let runs = |look: &Self, container: &Container| {
            look.running.container(&container.name).is_some_and(|run| run.process.is_running())
        };
        if pod.spec.containers.iter().any(|container| runs(self, container)) {
            return;
        }
        for container in pod.spec.init_containers.iter().rev() {
            if !runs(self, container) {
                continue;
            }
            let keeper = self.worker.keeper(&container.name);
            if std::mem::take(&mut keeper.stops_last) && !self.stop_container(container, grace_seconds) {
                return;
            }
            if runs(self, container) {
                return;
            }
        }
    }

    /// Kills containers whose probe failed or whose spec changed. Returns whether one takes its time.
    pub(super) fn kill_what_is_to_be_replaced(&mut self) -> bool {
        let pod = Arc::clone(&self.pod);
        let mut busy = false;
        for (container, init) in all_containers(&pod) {
            let Some(run) = self.running.container(&container.name).filter(|run| run.process.is_running())
            else {
                continue;
            };
            let is_changed = run.image != container.image && (!init || is_sidecar(container));
            let keeper = self.worker.keeper(&container.name);
            let Some(kill) = keeper.kill.take().or(is_changed.then_some(Kill::Changed)) else { continue };
            if self.worker.stopping.is_some() {
                continue;
            }
            let comes_back = is_restarted(&pod.spec, container, init, 143) || kill == Kill::Changed;
            let name = &container.name;
            let (message, key) = match kill {
                _ if !comes_back => (format!("Stopping container {name}"), "because.kubelet.probe-ends"),
                Kill::Liveness => (
                    format!("Container {name} failed liveness probe, will be restarted"),
                    "because.kubelet.liveness-restarts",
                ),
                Kill::Startup => (
                    format!("Container {name} failed startup probe, will be restarted"),
                    "because.kubelet.startup-restarts",
                ),
                Kill::Changed => (
                    format!("Container {name} definition changed, will be restarted"),
                    "because.kubelet.spec-restarts",
                ),
            };
            let because = Because::new(key).with("container", name);
            self.tell("Killing", false, message, Some((container, init)), because);
            let grace = self.grace_seconds();
            self.worker.keeper(name).replaced = true;
            busy |= !self.stop_container(container, grace);
            self.worker.sandbox_gone |= !comes_back && !self.running.is_running();
        }
        busy
    }

    pub(super) fn grace_seconds(&self) -> i64 {
        self.pod.spec.termination_grace_period_seconds.unwrap_or(30)
    }

    /// Tells a process to stop. Returns whether it is gone at once.
    pub(super) fn stop_container(&mut self, container: &Container, grace_seconds: i64) -> bool {
        let now = self.now();
        let mut hook_seconds = 0;
        if grace_seconds > 0
            && let Some(hook) = self.hook(container, "preStop")
        {
            hook_seconds = hook.seconds.unwrap_or(grace_seconds).min(grace_seconds);
            self.carry_out(container, &hook);
            if hook.failure.is_some() {
                let init = self.pod.spec.init_containers.iter().any(|other| other.name == container.name);
                let because = Because::new("because.kubelet.hook-failed").with("container", &container.name);
                let message = "PreStopHook failed".to_string();
                self.tell("FailedPreStopHook", true, message, Some((container, init)), because);
            }
        }
        let Some(run) = self.running.containers.iter_mut().find(|run| run.name == container.name) else {
            return true;
        };
        let grace_seconds = grace_seconds.max(hook_seconds + LEAST_GRACE_SECONDS);
        let (after, exit_code) = match run.process.program.stop {
            Stop::AtOnce => (hook_seconds, 143),
            Stop::After { seconds, exit_code } if hook_seconds + seconds <= grace_seconds => {
                (hook_seconds + seconds, exit_code)
            }
            Stop::After { .. } | Stop::Never => (grace_seconds, 137),
        };
        // What ends earlier by itself does so.
        let by_itself = run.process.ends_at().is_some_and(|at| at.0 < now.0 + after);
        let reason = End::reason_of(exit_code);
        let asked = RuntimeEvent::StopAsked { grace_seconds };
        let name = container.name.clone();
        self.outcome.notes.push(What::Ran { pod: self.key.clone(), container: name.clone(), event: asked });
        if after == 0 {
            run.process.ended = Some(Box::new(Ended { at: now, exit_code, reason }));
            let event = RuntimeEvent::Exited { exit_code };
            self.outcome.notes.push(What::Ran { pod: self.key.clone(), container: name, event });
            self.changed = true;
            return true;
        }
        if !by_itself {
            let program = Arc::make_mut(&mut run.process.program);
            let after_seconds = now.seconds_since(run.process.started_at) + after;
            program.end = Some(End { after_seconds, exit_code, reason });
        }
        false
    }

    /// When nothing runs and nothing is to start again, the Pod is at its end.
    pub(super) fn leave_when_done(&mut self) {
        if self.worker.stage != Stage::Sandboxed || self.worker.pulling.is_some() {
            return;
        }
        let pod = Arc::clone(&self.pod);
        let stays_down = |container: &Container, init: bool| {
            let run = self.running.container(&container.name)?;
            let ended = run.process.ended.as_ref()?;
            (!is_restarted(&pod.spec, container, init, ended.exit_code)).then_some(ended.exit_code)
        };
        let init_failed = pod
            .spec
            .init_containers
            .iter()
            .filter(|container| !is_sidecar(container))
            .any(|container| stays_down(container, true).is_some_and(|code| code != 0));
        let all_down = pod.spec.containers.iter().all(|container| stays_down(container, false).is_some());
        if !init_failed && !all_down {
            return;
        }
        for container in pod.spec.init_containers.iter().filter(|container| is_sidecar(container)) {
            if self.running.container(&container.name).is_some_and(|run| run.process.is_running()) {
                let because =
                    Because::new("because.kubelet.sidecar-stops").with("container", &container.name);
                let message = format!("Stopping container {}", container.name);
                self.tell("Killing", false, message, Some((container, true)), because);
                let grace = self.grace_seconds();
                self.stop_container(container, grace);
                self.worker.sandbox_gone = true;
            }
        }
        if self.running.is_running() && !self.worker.sandbox_gone {
            let because = Because::new("because.kubelet.sidecar-stops");
            self.worker.sandbox_gone |= self.stop_added(self.grace_seconds(), &because);
        }
        if !self.running.is_running() {
            self.worker.stage = Stage::Finishing;
            let because = Because::new("because.kubelet.finishing").with("pod", &self.key.name);
            self.outcome.because.get_or_insert(because);
            self.outcome.look_again(WorkKey::Object(self.key.clone()), 1);
        }
        self.take_status();
    }

    /// The sandbox goes, and its address is free again.
    pub(super) fn take_sandbox_down(&mut self) {
        self.worker.stage = Stage::Over;
        give_back_address(self.memory, self.view, self.node, &self.running);
        self.running.ip = Word::default();
    }

    /// The sandbox goes, and the final phase is told.
    pub(super) fn end(&mut self) {
        self.take_sandbox_down();
        let because = Because::new("because.kubelet.ended").with("pod", &self.key.name);
        self.outcome.because = Some(because);
        self.take_status();
    }

    /// The Pod is to be gone: its processes are told to stop; when none is left, that is reported, then the Pod is deleted.
    pub(super) fn stop(&mut self) {
        let grace_seconds = self.pod.meta.deletion_grace_period_seconds.unwrap_or(30);
        let now = self.now();
        let pod = Arc::clone(&self.pod);
        let kill_at = Timestamp(now.0 + grace_seconds);
        let first = self.worker.stopping.is_none();
        let sooner = self
            .worker
            .stopping
            .as_ref()
            .is_some_and(|stopping| kill_at < stopping.kill_at && grace_seconds < 30);
        if first || sooner {
            self.worker.stopping = Some(Box::new(Stopping { kill_at, reported: false }));
            if first {
                let because = Because::new("because.kubelet.stop-asked").with("seconds", grace_seconds);
                self.stop_everything(grace_seconds, &because);
            } else {
                for (container, _) in all_containers(&pod) {
                    if self.running.container(&container.name).is_some_and(|run| run.process.is_running()) {
                        self.worker.keeper(&container.name).stops_last = false;
                        self.stop_container(container, grace_seconds);
                    }
                }
            }
        }
        let left = self.worker.stopping.as_ref().map_or(0, |stopping| stopping.kill_at.seconds_since(now));
        self.stop_next_sidecars(left.max(LEAST_GRACE_SECONDS));
        if self.running.is_running() {
            let stage = self.worker.stage;
            self.run_probes();
            self.worker.stage = stage;
            self.take_status();
            return;
        }
        let was_reported = self.worker.stopping.as_ref().is_some_and(|stopping| stopping.reported);
        if was_reported {
            if self.pod.meta.deletion_grace_period_seconds != Some(0) {
                let because = Because::new("because.kubelet.nothing-left").with("pod", &self.key.name);
                self.outcome.writes.push(delete(self.key, &self.pod).because(because.clone()));
                self.outcome.because = Some(because);
            }
            return;
        }
        self.take_sandbox_down();
        if let Some(stopping) = &mut self.worker.stopping {
            stopping.reported = true;
        }
        self.take_status();
        self.outcome.look_again(WorkKey::Object(self.key.clone()), 1);
    }
}
