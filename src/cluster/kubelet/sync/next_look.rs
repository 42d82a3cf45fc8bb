//! When a Pod has to be looked at again.

use super::super::probes::{self, ProbeKind, Target};
use super::super::worker::Stage;
use super::{Look, RECORDED_RESYNC_SECONDS, RESYNC_SECONDS, all_containers};
use crate::api::time::Timestamp;
use crate::cluster::queue::WorkKey;
use crate::cluster::runtime::node::RunningContainer;

impl Look<'_> {
    /// That many seconds from now, or up to half as many more.
    pub(super) fn jittered(&mut self, seconds: i64) -> Timestamp {
        let most = u32::try_from(seconds / 2 + 1).unwrap_or(1);
        Timestamp(self.now().0 + seconds + i64::from(self.stream.below(most)))
    }

    /// Asks to be called again when the next thing is due.
    pub(super) fn plan_next_look(&mut self) {
        let now = self.now();
        let ticks = |at: Timestamp| u64::try_from(at.seconds_since(now)).unwrap_or(0).max(1);
        let mut due: Vec<Timestamp> = Vec::new();
        due.extend(self.running.containers.iter().filter_map(|run| run.process.ends_at()));
        if self.worker.stage < Stage::Finishing && !self.worker.deadline_passed && !self.worker.cut_short {
            due.extend(self.deadline());
        }
        if self.worker.stage < Stage::Finishing {
            due.extend(self.worker.pulling.iter().map(|pulling| pulling.ends_at));
            due.extend(self.worker.retry_at);
            due.extend(self.worker.mount.iter().map(|mount| mount.retry_at));
            due.extend(self.worker.refresh_at);
        }
        let mut unchanged: Option<Timestamp> = None;
        for (container, _) in all_containers(&self.pod) {
            let Some(run) = self.running.container(&container.name).filter(|run| run.process.is_running())
            else {
                continue;
            };
            let Some(keeper) = self.worker.containers.get(&container.name) else { continue };
            let is_held = keeper.startup.as_ref().is_some_and(|state| !state.success);
            for (kind, state) in [
                (ProbeKind::Startup, &keeper.startup),
                (ProbeKind::Liveness, &keeper.liveness),
                (ProbeKind::Readiness, &keeper.readiness),
            ] {
                let (Some(state), Some(probe)) = (state, kind.of(container)) else { continue };
                let Some(next_at) = state.next_at else { continue };
                if is_held && kind != ProbeKind::Startup {
                    continue;
                }
                // A readiness probe that goes on failing tells an event each time, and changes nothing.
                let repeats = kind == ProbeKind::Readiness
                    && state.is_settled()
                    && !state.success
                    && state.has_failed(probe);
                if repeats {
                    let target = Target { pod: &self.running, running: run, spec: container, early: false };
                    due.extend(probes::next_change(probe, &target, now).map(|at| state.on_grid(probe, at)));
                    unchanged = Some(unchanged.map_or(next_at, |at| at.min(next_at)));
                } else {
                    due.push(next_at);
                }
            }
        }
        let next = due.into_iter().min();
        if unchanged.is_none() {
            self.worker.resync_at = None;
        } else {
            let wait = if self.recorded() { RECORDED_RESYNC_SECONDS } else { RESYNC_SECONDS };
            let at = match self.worker.resync_at {
                Some(at) => at,
                None => self.jittered(wait),
            };
            self.worker.resync_at = Some(at);
            unchanged = unchanged.map(|unchanged| unchanged.min(at));
        }
        if let Some(at) = next {
            self.outcome.look_again(WorkKey::Object(self.key.clone()), ticks(at));
        }
        let asks = |run: &RunningContainer| run.process.is_running() && !run.process.program.asks.is_empty();
        if self.running.containers.iter().any(asks) {
            unchanged = Some(Timestamp(now.0 + 1));
        }
        if let Some(at) = unchanged.filter(|at| next != Some(*at)) {
            self.outcome.look_again(WorkKey::Probe(self.key.clone()), ticks(at));
        }
    }
}
