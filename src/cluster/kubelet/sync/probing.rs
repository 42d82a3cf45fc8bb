//! When the probes of a Pod are run, and what follows from their results.

use std::sync::Arc;

use super::super::probes::{self, ProbeKind, ProbeState, Target};
use super::super::worker::{Keeper, Kill};
use super::{Look, all_containers};
use crate::api::kinds::pod::{Container, Probe};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::runtime::node::RunningContainer;

impl Keeper {
    fn probe(&mut self, kind: ProbeKind) -> &mut Option<Box<ProbeState>> {
        match kind {
            ProbeKind::Startup => &mut self.startup,
            ProbeKind::Liveness => &mut self.liveness,
            ProbeKind::Readiness => &mut self.readiness,
        }
    }
}

impl Look<'_> {
    /// Runs the probes that are due. Returns whether a result changed.
    pub(super) fn run_probes(&mut self) -> bool {
        let pod = Arc::clone(&self.pod);
        let now = self.now();
        let mut changed = false;
        self.look_inside_again();
        for (container, init) in all_containers(&pod) {
            let Some(run) =
                self.running.container(&container.name).filter(|run| run.process.is_running()).cloned()
            else {
                continue;
            };
            for kind in [ProbeKind::Startup, ProbeKind::Liveness, ProbeKind::Readiness] {
                let Some(probe) = kind.of(container) else { continue };
                let keeper = self.worker.keeper(&container.name);
                let is_held =
                    kind != ProbeKind::Startup && keeper.startup.as_ref().is_some_and(|s| !s.success);
                let is_due = |state: &ProbeState| state.next_at.is_some_and(|at| at <= now);
                if is_held || !keeper.probe(kind).as_deref().is_some_and(is_due) {
                    continue;
                }
                let result = self.run_probe(kind, probe, container, init, &run);
                changed |= result;
                // A status that says "not ready" makes the kubelet ask once more, and count the periods from then on.
                let is_ready =
                    self.worker.keeper(&container.name).readiness.as_ref().is_none_or(|s| s.success);
                if kind == ProbeKind::Readiness && !is_ready && (result || run.process.started_at == now) {
                    self.ask_anew(container);
                    changed |= self.run_probe(kind, probe, container, init, &run);
                }
            }
        }
        changed
    }

    /// Where a command run beside a process changed something, probes that had no reason to run again have one.
    pub(super) fn look_inside_again(&mut self) {
        let (pod, now) = (Arc::clone(&self.pod), self.now());
        for (container, _) in all_containers(&pod) {
            let Some(keeper) = self.worker.containers.get_mut(&container.name) else { continue };
            if !std::mem::take(&mut keeper.changed_inside) {
                continue;
            }
            for kind in [ProbeKind::Liveness, ProbeKind::Readiness] {
                if let (Some(probe), Some(state)) = (kind.of(container), keeper.probe(kind))
                    && state.success
                {
                    state.next_at = Some(state.on_grid(probe, Timestamp(now.0 + 1)));
                }
            }
        }
    }

    /// Makes the readiness probe due, and counts its periods from now on.
    pub(super) fn ask_anew(&mut self, container: &Container) {
        let now = self.now();
        if let Some(readiness) = &mut self.worker.keeper(&container.name).readiness {
            readiness.restart_periods(now);
            readiness.next_at = Some(now);
        }
    }

    /// From time to time a Pod is looked at although nothing happened: readiness probes that fail are run then, too.
    pub(super) fn resync(&mut self) {
        let now = self.now();
        if self.worker.resync_at.is_some_and(|at| at <= now) {
            self.worker.resync_at = None;
            let pod = Arc::clone(&self.pod);
            for (container, _) in all_containers(&pod) {
                let keeper = self.worker.keeper(&container.name);
                let is_due =
                    |state: &ProbeState| !state.success && state.is_settled() && state.next_at.is_some();
                if keeper.readiness.as_deref().is_some_and(is_due) {
                    self.ask_anew(container);
                }
            }
        }
    }

    pub(super) fn run_probe(
        &mut self,
        kind: ProbeKind,
        probe: &Probe,
        container: &Container,
        init: bool,
        run: &RunningContainer,
    ) -> bool {
        let now = self.now();
        let running = self.running.clone();
        let early = kind != ProbeKind::Readiness;
        let target = Target { pod: &running, running: run, spec: container, early };
        let outcome = probes::run(probe, &target, now);
        let Some(mut state) = self.worker.keeper(&container.name).probe(kind).clone() else { return false };
        let changed = state.take_in(probe, outcome.success);
        let has_failed = kind != ProbeKind::Readiness && state.has_failed(probe);
        let next = state.on_grid(probe, Timestamp(now.0 + 1));
        state.next_at = if has_failed || kind == ProbeKind::Startup && state.success {
            None
        } else if outcome.success && state.success {
            probes::next_change(probe, &target, now).map(|at| state.on_grid(probe, at))
        } else {
            Some(next)
        };
        if !outcome.success {
            let because = Because::new("because.kubelet.probe-failed")
                .with("probe", kind.word())
                .with("container", &container.name)
                .with("threshold", probe.failure_threshold.max(1));
            let message = format!("{} probe failed: {}", kind.word(), outcome.output);
            self.tell("Unhealthy", true, message, Some((container, init)), because);
        }
        let keeper = self.worker.keeper(&container.name);
        if has_failed {
            keeper.kill = Some(if kind == ProbeKind::Liveness { Kill::Liveness } else { Kill::Startup });
        }
        if kind == ProbeKind::Startup && changed && state.success {
            // The probes that were held back begin.
            if let (Some(readiness), Some(probe)) = (&mut keeper.readiness, &container.readiness_probe) {
                let earliest = run.process.started_at.0 + i64::from(probe.initial_delay_seconds);
                readiness.next_at = Some(Timestamp(now.0.max(earliest)));
            }
            if let (Some(liveness), Some(probe)) = (&mut keeper.liveness, &container.liveness_probe) {
                liveness.next_at = Some(liveness.on_grid(probe, Timestamp(now.0 + 1)));
            }
        }
        *keeper.probe(kind) = Some(state.clone());
        if changed {
            if outcome.success && self.outcome.because.is_none() {
                let because = Because::new("because.kubelet.probe-passed");
                self.outcome.because =
                    Some(because.with("probe", kind.word()).with("container", &container.name));
            }
            let event = RuntimeEvent::ProbeChanged {
                probe: kind.word(),
                success: outcome.success,
                output: outcome.output,
            };
            let container = container.name.to_string();
            self.outcome.notes.push(What::Ran { pod: self.key.clone(), container, event });
        }
        changed || has_failed
    }
}
