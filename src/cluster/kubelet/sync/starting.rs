//! The start of a container: what it waits for, its checks, its process and the hook after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::back_off::{BackOff, printed};
use super::super::environment::{environment, kept_variables};
use super::super::hooks::{self, Hook, hook};
use super::super::probes::{ProbeKind, ProbeState};
use super::super::volumes::{files_of, shared_mounts};
use super::super::worker::Pulling;
use super::playing::Told;
use super::{Look, Started, all_containers};
use crate::api::kinds::pod::Container;
use crate::api::sharing::Shared;
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::runtime::applications;
use crate::cluster::runtime::node::{Files, RunningContainer};
use crate::cluster::runtime::process::{Ended, Process, Program};
use crate::cluster::runtime::registry;

/// As long as this is a hook waited for that has no end.
const HOOK_SECONDS: i64 = 86_400;

impl Look<'_> {
    /// Starts a container that is not running.
    pub(super) fn start(&mut self, container: &Container, init: bool, tried: &mut Vec<String>) -> Started {
        if tried.contains(&container.name) {
            return Started::No;
        }
        let subject = Some((container, init));
        if self.waits_after_crash(container, init) {
            tried.push(container.name.clone());
            return Started::No;
        }
        let image = container.image.clone();
        if let Some(error) = registry::misnamed(&image) {
            let because = Because::new("because.kubelet.image-misnamed").with("image", &image);
            self.tell("InspectFailed", true, error.clone(), subject, because.clone());
            self.tell("Failed", true, "Error: InvalidImageName".to_string(), subject, because);
            return self.not_started(container, "InvalidImageName", error, tried);
        }
        let is_present = self.memory.runtime.images.contains(&image);
        let policy = match container.image_pull_policy.as_str() {
            "" if registry::full_name(&image).ends_with(":latest") => "Always",
            "" => "IfNotPresent",
            policy => policy,
        };
        match (policy, is_present) {
            ("Never", false) => {
                let because = Because::new("because.kubelet.never-pull").with("image", &image);
                let message = format!("Container image \"{image}\" is not present with pull policy of Never");
                self.tell("ErrImageNeverPull", true, message.clone(), subject, because.clone());
                self.tell("Failed", true, "Error: ErrImageNeverPull".to_string(), subject, because);
                self.not_started(container, "ErrImageNeverPull", message, tried)
            }
            ("Always", _) | (_, false) => self.begin_pull(container, init, tried),
            _ => {
                let because = Because::new("because.kubelet.image-present").with("image", &image);
                let message = format!(
                    "Container image \"{image}\" already present on machine and can be accessed by the pod"
                );
                self.tell("Pulled", false, message, subject, because);
                self.create_and_run(container, init, tried)
            }
        }
    }

    /// Remembers why a container does not run.
    pub(super) fn not_started(
        &mut self,
        container: &Container,
        reason: &str,
        message: String,
        tried: &mut Vec<String>,
    ) -> Started {
        self.failed = true;
        self.worker.keeper(&container.name).waiting = Some(Box::new((reason.to_string(), message)));
        tried.push(container.name.clone());
        Started::No
    }

    /// Whether the container crashed so lately that it has to wait. The first restart never waits. In the round in which
    /// the kubelet killed it, the run before counts: that is the one whose end the kubelet has seen.
    pub(super) fn waits_after_crash(&mut self, container: &Container, init: bool) -> bool {
        let Some(run) = self.running.container(&container.name) else { return false };
        let replaced = self.worker.containers.get(&container.name).is_some_and(|keeper| keeper.replaced);
        let process = if replaced { run.previous.as_deref() } else { Some(&run.process) };
        let ended = process.and_then(|process| process.ended.clone());
        self.worker.keeper(&container.name).replaced = false;
        let Some(ended) = ended else { return false };
        let now = self.now();
        let id = format!("{} {}", container.name, container.image);
        let back_off = self.worker.crash_back_offs.get(&id).cloned();
        match back_off {
            Some(back_off) if back_off.holds(ended.at, now) => {
                let (name, pod) = (&container.name, &self.pod.meta);
                let because = Because::new("because.kubelet.restart-waits")
                    .with("container", name)
                    .with("exit_code", ended.exit_code)
                    .with("seconds", back_off.seconds);
                let whose = format!("pod {}_{}({})", pod.name, pod.namespace, pod.uid);
                let message = format!("Back-off restarting failed container {name} in {whose}");
                let waiting = format!(
                    "back-off {} restarting failed container={name} pod={}_{}({})",
                    printed(back_off.seconds),
                    pod.name,
                    pod.namespace,
                    pod.uid
                );
                self.tell("BackOff", true, message, Some((container, init)), because);
                self.failed = true;
                let left = back_off.seconds - now.seconds_since(ended.at);
                self.restart_wait = Some(self.restart_wait.map_or(left, |wait| wait.min(left)));
                self.worker.keeper(&container.name).waiting =
                    Some(Box::new(("CrashLoopBackOff".to_string(), waiting)));
                true
            }
            previous => {
                let next = BackOff::after(previous.as_ref(), ended.at, now);
                self.worker.crash_back_offs.insert(id, next);
                false
            }
        }
    }

    /// The runtime of the recordings could not mount a part of a volume.
    pub(super) fn check_mounts(&self, container: &Container) -> Result<(), String> {
        let mounts = container.rest.get("volumeMounts").and_then(serde_json::Value::as_array);
        let in_part = mounts.into_iter().flatten().any(|mount| !mount["subPath"].is_null());
        if self.view.settings.recorded_runtime && in_part {
            return Err("not implemented".to_string());
        }
        Ok(())
    }

    /// The image is there: the container is made and started.
    pub(super) fn create_and_run(
        &mut self,
        container: &Container,
        init: bool,
        tried: &mut Vec<String>,
    ) -> Started {
        let subject = Some((container, init));
        let found = environment(self.view.store, &self.pod, container, &self.running.ip, None);
        let checked =
            |found| self.check_user(container).and_then(|()| self.check_mounts(container)).map(|()| found);
        let environment = match found.and_then(checked) {
            Ok(environment) => environment,
            Err(error) => {
                let because = Because::new("because.kubelet.config-missing")
                    .with("container", &container.name)
                    .with("what", &error);
                self.tell("Failed", true, format!("Error: {error}"), subject, because);
                return self.not_started(container, "CreateContainerConfigError", error, tried);
            }
        };
        let previous = self.running.container(&container.name).map(|run| &run.process);
        let because = match previous.and_then(|process| process.ended.as_ref()) {
            Some(ended) => Because::new("because.kubelet.restarted")
                .with("container", &container.name)
                .with("exit_code", ended.exit_code),
            None => Because::new("because.kubelet.started").with("container", &container.name),
        };
        self.tell("Created", false, "Container created".to_string(), subject, because.clone());
        let given = files_of(self.view.store, &self.pod, container, &self.running.ip, None).map(Arc::new);
        let (program, answers) = self.play(container, &environment, given.as_deref(), Vec::new(), self.now());
        let variables = kept_variables(container, &environment);
        if let Some(error) = program.start_error.clone() {
            let because = Because::new("because.kubelet.not-startable").with("container", &container.name);
            self.tell("Failed", true, format!("Error: {error}"), subject, because);
            self.run_process(container, init, program, answers, given, variables);
            return self.not_started(container, "RunContainerError", error, tried);
        }
        self.tell("Started", false, "Container started".to_string(), subject, because);
        self.run_process(container, init, program, answers, given, variables);
        self.run_hook(container, init, tried)
    }

    /// What a hook of the container comes to; `None` where it has none.
    pub(super) fn hook(&self, container: &Container, name: &str) -> Option<Hook> {
        container.rest.get("lifecycle")?;
        let run = self.running.container(&container.name).map(|run| &run.process);
        let environment =
            environment(self.view.store, &self.pod, container, &self.running.ip, run).unwrap_or_default();
        let around = hooks::Around {
            pod: &self.pod,
            running: &self.running,
            environment: &environment,
            recorded: self.recorded(),
            now: self.now(),
        };
        hook(container, name, &around)
    }

    /// What a hook does to the files of its container.
    pub(super) fn carry_out(&mut self, container: &Container, hook: &Hook) {
        let now = self.now();
        if let Some(run) = self.running.containers.iter_mut().find(|run| run.name == container.name) {
            let deeds = hook.deeds.iter().map(|(after, deed)| (Timestamp(now.0 + after), deed.clone()));
            run.process.beside.extend(deeds);
        }
    }

    /// The hook that runs after the start: it takes its time, or fails and takes the container with it.
    pub(super) fn run_hook(&mut self, container: &Container, init: bool, tried: &mut Vec<String>) -> Started {
        let Some(hook) = self.hook(container, "postStart") else { return Started::Yes };
        self.carry_out(container, &hook);
        let now = self.now();
        let Some(message) = hook.failure else {
            // A hook without an end keeps the kubelet waiting as long as the container runs.
            let seconds = hook.seconds.unwrap_or(HOOK_SECONDS);
            if seconds == 0 {
                return Started::Yes;
            }
            self.worker.pulling = Some(Box::new(Pulling {
                container: container.name.clone(),
                image: String::new(),
                began_at: now,
                ends_at: Timestamp(now.0 + seconds),
                tried: tried.clone(),
                failed: self.failed,
                changed: true,
            }));
            return Started::Busy;
        };
        let subject = Some((container, init));
        let because = Because::new("because.kubelet.hook-failed").with("container", &container.name);
        self.tell("FailedPostStartHook", true, "PostStartHook failed".to_string(), subject, because.clone());
        self.tell("Killing", false, "FailedPostStartHook".to_string(), subject, because);
        self.failed_hooks += 1;
        let grace = self.grace_seconds();
        self.stop_container(container, grace);
        self.not_started(container, "PostStartHookError", message, tried)
    }

    /// Whether the image's user may run it.
    pub(super) fn check_user(&self, container: &Container) -> Result<(), String> {
        let context =
            |rest: Option<&serde_json::Value>, field: &str| rest.and_then(|c| c.get(field)).cloned();
        let of_container = container.rest.get("securityContext");
        let of_pod = self.pod.spec.rest.get("securityContext");
        let either = |field: &str| context(of_container, field).or_else(|| context(of_pod, field));
        let is_asked = either("runAsNonRoot").is_some_and(|value| value == true);
        let user = either("runAsUser").and_then(|value| value.as_i64());
        if !is_asked || user.is_some_and(|user| user != 0) {
            return Ok(());
        }
        let runs_as_root = self.recorded() || user == Some(0) || applications::runs_as_root(&container.image);
        if !runs_as_root {
            return Ok(());
        }
        let (meta, name) = (&self.pod.meta, &container.name);
        let whose = format!("(pod: \"{}_{}({})\", container: {name})", meta.name, meta.namespace, meta.uid);
        Err(match user {
            Some(_) => format!("container's runAsUser breaks non-root policy {whose}"),
            None => format!("container has runAsNonRoot and image will run as root {whose}"),
        })
    }

    pub(super) fn run_process(
        &mut self,
        container: &Container,
        init: bool,
        program: Program,
        answers: Told,
        files: Option<Arc<Files>>,
        variables: Option<Arc<BTreeMap<String, String>>>,
    ) {
        let now = self.now();
        let is_startable = program.start_error.is_none();
        let not_started = Ended { at: now, exit_code: 128, reason: "StartError".to_string() };
        let id: String = (0..4).map(|_| format!("{:016x}", self.stream.next_u64())).collect();
        let process = Process {
            container_id: format!("containerd://{id}").into(),
            program: program.shared(),
            started_at: if is_startable { now } else { Timestamp(0) },
            beside: Shared::default(),
            answers: answers.into(),
            variables,
            ended: (!is_startable).then(|| Box::new(not_started)),
        };
        let event =
            if is_startable { RuntimeEvent::Started } else { RuntimeEvent::Exited { exit_code: 128 } };
        self.outcome.notes.push(What::Ran {
            pod: self.key.clone(),
            container: container.name.clone(),
            event,
        });
        match self.running.containers.iter_mut().find(|run| run.name == container.name) {
            Some(run) => {
                run.restart_count += 1;
                run.image = container.image.as_str().into();
                run.previous = Some(Box::new(std::mem::replace(&mut run.process, process)));
                run.files = files;
            }
            None => {
                let run = RunningContainer {
                    name: container.name.as_str().into(),
                    image: container.image.as_str().into(),
                    init,
                    process,
                    previous: None,
                    restart_count: 0,
                    files,
                    mounts: Some(shared_mounts(&self.pod, container)).filter(|mounts| !mounts.is_empty()),
                };
                self.running.containers.reserve_exact(1);
                self.running.containers.push(run);
                let order = |name: &str| all_containers(&self.pod).position(|(c, _)| c.name == name);
                self.running.containers.sort_by_key(|run| order(&run.name).unwrap_or(usize::MAX));
            }
        }
        // A real process needs a moment before it can answer; the recorder's answers at once.
        let first_seconds = i64::from(!self.recorded());
        let keeper = self.worker.keeper(&container.name);
        keeper.waiting = None;
        keeper.kill = None;
        keeper.image = container.image.as_str().into();
        let begin = |kind: ProbeKind, before: Option<&ProbeState>| {
            let anchor = before.map_or(now, ProbeState::anchor);
            let probe = kind.of(container)?;
            Some(Box::new(ProbeState::started(kind, probe, anchor, now, first_seconds)))
        };
        keeper.startup = begin(ProbeKind::Startup, keeper.startup.as_deref());
        keeper.liveness = begin(ProbeKind::Liveness, keeper.liveness.as_deref());
        keeper.readiness = begin(ProbeKind::Readiness, keeper.readiness.as_deref());
        self.changed = true;
        if is_startable {
            self.run_probes();
        }
    }
}
