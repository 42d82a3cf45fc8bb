//! What a process comes to by what it is answered, and what has become of it meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::environment::environment;
use super::super::reach::answer_to;
use super::super::volumes::{files_of, shared_mounts, usual_file};
use super::{Look, RECORDED_RESYNC_SECONDS, RESYNC_SECONDS, all_containers};
use crate::api::kinds::pod::Container;
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::runtime::applications::{self, Start};
use crate::cluster::runtime::node::{Files, RunningContainer};
use crate::cluster::runtime::process::{Ended, Process, Program};
use crate::cluster::runtime::script::{Answered, Question};

/// The most answers of the network that are remembered of one process.
const MAX_ANSWERS: usize = 200;

/// What the network has answered a process: by question, from which second of its life on which answer.
pub(super) type Told = Vec<(Question, Vec<(i64, Answered)>)>;

impl Look<'_> {
    /// Files of ConfigMaps and Secrets are written again some time after those have changed; parts of volumes that are
    /// mounted by `subPath` are not.
    pub(super) fn refresh_files(&mut self) {
        let now = self.now();
        if self.running.containers.iter().all(|run| run.files.is_none()) {
            return;
        }
        let is_due = self.worker.refresh_at.is_some_and(|at| at <= now);
        if is_due {
            self.worker.refresh_at = None;
        }
        let pod = Arc::clone(&self.pod);
        let mut is_stale = false;
        for (container, _) in all_containers(&pod) {
            let Some(run) = self.running.containers.iter_mut().find(|run| run.name == container.name) else {
                continue;
            };
            let Some(before) = run.files.as_deref() else { continue };
            let after = files_of(self.view.store, &pod, container, &self.running.ip, Some(before))
                .unwrap_or_default();
            if after == *before {
                continue;
            }
            if is_due {
                run.files = Some(Arc::new(after));
                self.worker.keeper(&container.name).probe_again();
                let because =
                    Because::new("because.kubelet.files-refreshed").with("container", &container.name);
                self.outcome.because.get_or_insert(because);
            } else {
                is_stale = true;
            }
        }
        if is_stale && self.worker.refresh_at.is_none() {
            // The next time that the Pod is synchronised, wherever in its period it is now.
            let period = if self.recorded() { RECORDED_RESYNC_SECONDS } else { RESYNC_SECONDS };
            let wait = i64::from(self.stream.below(u32::try_from(period + period / 2).unwrap_or(1)));
            self.worker.refresh_at = Some(Timestamp(now.0 + 1 + wait));
        }
    }

    /// Marks what ended by itself. Returns whether anything did.
    pub(super) fn note_exits(&mut self) -> bool {
        let now = self.now();
        let mut any = false;
        for container in &mut self.running.containers {
            let due = container.process.ends_at().filter(|at| *at <= now);
            if let (Some(at), Some(end)) = (due, container.process.program.end.clone()) {
                container.process.ended =
                    Some(Box::new(Ended { at, exit_code: end.exit_code, reason: end.reason }));
                let event = RuntimeEvent::Exited { exit_code: end.exit_code };
                let container = container.name.to_string();
                self.outcome.notes.push(What::Ran { pod: self.key.clone(), container, event });
                any = true;
            }
        }
        any
    }

    /// What the container does, by what the network answers it. What it asks may depend on earlier answers.
    pub(super) fn play(
        &self,
        container: &Container,
        environment: &BTreeMap<String, String>,
        given: Option<&Files>,
        mut answers: Told,
        started_at: Timestamp,
    ) -> (Program, Told) {
        let age = self.now().seconds_since(started_at);
        let (pod, running, now) = (&self.pod, &self.running, self.now());
        // The container as it is before its process begins: it has its volumes, and what others have written there.
        let empty = RunningContainer {
            files: given.map(|files| Arc::new(files.clone())),
            mounts: Some(shared_mounts(pod, container)).filter(|mounts| !mounts.is_empty()),
            ..RunningContainer::default()
        };
        let read =
            |file: &str| running.file(&empty, file, now).or_else(|| usual_file(pod, &running.ip, file));
        loop {
            let start = Start {
                container,
                environment,
                recorded: self.recorded(),
                address: &running.ip,
                read: &read,
                list: &|| running.files(&empty, now),
                answers: &answers,
            };
            let mut program = applications::program_of(&start);
            let is_own = pod.spec.containers.iter().any(|own| own.name == container.name);
            let ailment = self.view.world.ailment_of(&pod.meta.namespace, &pod.meta.name);
            if let Some(ailment) = ailment.filter(|_| is_own) {
                program.ail(ailment, 0, container.memory_limit());
            }
            let mut changed = false;
            for question in &program.asks {
                let answer = answer_to(self.view, &self.pod.meta.namespace, question);
                match answers.iter_mut().find(|(known, _)| known == question) {
                    Some((_, told)) if told.last().is_some_and(|(_, last)| *last == answer) => {}
                    Some((_, told)) => {
                        told.push((age, answer));
                        changed = true;
                    }
                    None => {
                        changed |= answer.is_some();
                        answers.push((question.clone(), vec![(age, answer)]));
                    }
                }
            }
            if !changed || answers.iter().map(|(_, told)| told.len()).sum::<usize>() > MAX_ANSWERS {
                return (program, answers);
            }
        }
    }

    /// Asks the network again on behalf of processes whose fate depends on it.
    pub(super) fn ask_network_again(&mut self) {
        let (pod, now) = (Arc::clone(&self.pod), self.now());
        for (container, _) in all_containers(&pod) {
            let run = self.running.container(&container.name).filter(|run| run.process.is_running());
            let asks = |process: &&Process| !process.program.asks.is_empty();
            let Some(process) = run.map(|run| &run.process).filter(asks) else { continue };
            let (answers, started_at) = (process.answers.clone(), process.started_at);
            let is_stale = process.program.asks.iter().any(|question| {
                let known = answers.iter().find(|(known, _)| known == question);
                let last = known.and_then(|(_, told)| told.last()).and_then(|(_, answer)| answer.clone());
                last != answer_to(self.view, &pod.meta.namespace, question)
            });
            if !is_stale || self.worker.stopping.is_some() {
                continue;
            }
            let environment = environment(self.view.store, &pod, container, &self.running.ip, Some(process))
                .unwrap_or_default();
            let given = self.running.container(&container.name).and_then(|run| run.files.clone());
            let (mut program, answers) =
                self.play(container, &environment, given.as_deref(), answers.into_inner(), started_at);
            if let Some(end) = &mut program.end {
                // What comes to its end in the light of the new answer does so now at the earliest.
                end.after_seconds = end.after_seconds.max(now.seconds_since(started_at));
            }
            if let Some(run) = self.running.containers.iter_mut().find(|run| run.name == container.name) {
                run.process.program = Arc::new(program);
                run.process.answers = answers.into();
            }
        }
    }
}
