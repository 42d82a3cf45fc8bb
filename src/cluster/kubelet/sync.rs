//! One look at one Pod: the life of a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Memory;
use super::admission::{self, Asked};
use super::back_off::{BackOff, printed};
use super::environment::{environment, kept_variables, secret_data};
use super::hooks::{self, Hook, hook};
use super::probes::{self, ProbeKind, ProbeState, Target};
use super::reach::answer_to;
use super::restarts::{is_restarted, is_sidecar};
use super::status::{Report, in_words, status_of};
use super::volumes::{files_of, shared_mounts, unmountable, usual_file};
use super::worker::{Keeper, Kill, Mount, Pulling, Stage, Stopping, Worker};
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Container, Pod, PodStatus, Probe};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::queue::WorkKey;
use crate::cluster::rng::Stream;
use crate::cluster::runtime::applications::{self, Start};
use crate::cluster::runtime::node::{Files, RunningContainer, RunningPod};
use crate::cluster::runtime::process::{End, Ended, Process, Program, Stop};
use crate::cluster::runtime::registry;
use crate::cluster::runtime::script::{Answered, Question};
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::Store;

/// Rounds of one look: each begins when the one before changed something on the node.
const MAX_ROUNDS: u32 = 8;

/// After an error a Pod is looked at again after 10 to 15 seconds, or half as long again as a restart has to wait, if that
/// is sooner.
const RETRY_SECONDS: i64 = 10;

/// Without an error, a Pod is looked at again after 60 to 90 seconds.
const RESYNC_SECONDS: i64 = 60;

/// The same for the recorder's kubelets.
const RECORDED_RESYNC_SECONDS: i64 = 10;

/// The longest wait for a volume.
const MAX_MOUNT_WAIT_SECONDS: i64 = 122;

/// As long as this is a hook waited for that has no end.
const HOOK_SECONDS: i64 = 86_400;

/// The most answers of the network that are remembered of one process.
const MAX_ANSWERS: usize = 200;

/// The shortest time that a process has to stop, whatever its Pod grants.
const LEAST_GRACE_SECONDS: i64 = 2;

/// What the network has answered a process: by question, from which second of its life on which answer.
type Told = Vec<(Question, Vec<(i64, Answered)>)>;

/// What an attempt to start a container came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Started {
    /// It runs.
    Yes,
    /// It does not, for a reason that is remembered.
    No,
    /// Something has to be waited for first; containers behind it wait, too.
    Busy,
}

struct Look<'a> {
    node: &'a Name,
    memory: &'a mut Memory,
    stream: &'a mut Stream,
    view: &'a View<'a>,
    key: &'a ObjectKey,
    pod: Arc<Pod>,
    object: Object,
    worker: Worker,
    running: RunningPod,
    status: PodStatus,
    /// Why the status is written, where that is more than a report of what runs.
    status_because: Option<Because>,
    outcome: Outcome,
    /// Whether something changed on the node in this round.
    changed: bool,
    /// Whether something failed in this round.
    failed: bool,
    /// How long the first restart of this round still has to wait.
    restart_wait: Option<i64>,
    /// How many hooks failed in this look.
    failed_hooks: u32,
}

/// The registries that the Pod has credentials for, and the pull secrets that are not there.
fn registry_secrets(store: &Store, pod: &Pod) -> (Vec<String>, Vec<String>) {
    let (mut hosts, mut missing) = (Vec::new(), Vec::new());
    let named = pod.spec.rest.get("imagePullSecrets").and_then(serde_json::Value::as_array);
    for name in named.into_iter().flatten().filter_map(|secret| secret["name"].as_str()) {
        let Some(data) = secret_data(store, &pod.meta.namespace, name) else {
            missing.push(name.to_string());
            continue;
        };
        let config = data.get(".dockerconfigjson").or_else(|| data.get(".dockercfg"));
        let config = config.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        let auths =
            config.as_ref().map(|config| if config["auths"].is_object() { &config["auths"] } else { config });
        let auths = auths.and_then(serde_json::Value::as_object);
        hosts.extend(auths.into_iter().flat_map(|auths| auths.keys().cloned()));
    }
    (hosts, missing)
}

/// Looks at one Pod.
pub fn look_at(
    node: &Name,
    memory: &mut Memory,
    stream: &mut Stream,
    view: &View<'_>,
    key: &ObjectKey,
) -> Outcome {
    let stored = view.store.at::<Pod>(key).filter(|pod| pod.node_name == *node).cloned();
    let known = memory.workers.get(key).cloned();
    match (stored, known) {
        (None, None) => Outcome::nothing(Because::new("because.kubelet.pod-gone")),
        (None, Some(worker)) => vanished(node, memory, view, key, &worker),
        (Some(pod), Some(worker)) if worker.uid != pod.meta.uid => {
            let mut outcome = vanished(node, memory, view, key, &worker);
            outcome.look_again(WorkKey::Object(key.clone()), 1);
            outcome
        }
        (Some(pod), None) if pod.is_finished() || pod.meta.is_terminating() => {
            never_taken_on(view, key, &pod)
        }
        (Some(pod), known) => {
            let is_new = known.is_none();
            let worker = known.map_or_else(
                || Worker { uid: pod.meta.uid.clone(), acted_generation: -1, ..Worker::default() },
                |worker| Worker::clone(&worker),
            );
            let running = memory.runtime.pod(key).cloned().unwrap_or_else(|| RunningPod {
                uid: pod.meta.uid.clone(),
                name: pod.meta.name.clone(),
                ..RunningPod::default()
            });
            let mut look = Look {
                node,
                memory,
                stream,
                view,
                key,
                object: Object::Pod(pod.clone()),
                status: pod.status.clone(),
                pod,
                worker,
                running,
                status_because: None,
                outcome: Outcome::default(),
                changed: false,
                failed: false,
                restart_wait: None,
                failed_hooks: 0,
            };
            if is_new {
                look.take_on();
            } else {
                look.go_on();
            }
            look.finish()
        }
    }
}

/// A Pod that ended, or is to end, before this kubelet ran anything of it.
fn never_taken_on(_view: &View<'_>, key: &ObjectKey, pod: &Pod) -> Outcome {
    let because = Because::new("because.kubelet.nothing-left").with("pod", &key.name);
    let mut outcome = Outcome::nothing(because.clone());
    if pod.meta.is_terminating() && pod.meta.deletion_grace_period_seconds != Some(0) {
        outcome.writes.push(delete(key, pod).because(because));
    }
    outcome
}

fn delete(key: &ObjectKey, pod: &Pod) -> Operation {
    Operation::Delete {
        key: key.clone(),
        uid: Some(pod.meta.uid.clone()),
        grace_seconds: Some(0),
        propagation: Propagation::Background,
    }
}

/// The Pod is gone from the store: whatever still runs is stopped at once.
fn vanished(node: &Name, memory: &mut Memory, view: &View<'_>, key: &ObjectKey, worker: &Worker) -> Outcome {
    memory.workers.remove(key);
    memory.asked = memory.asked.without(worker.asked);
    let because = Because::new("because.kubelet.vanished").with("pod", &key.name);
    let mut outcome = Outcome::nothing(because.clone());
    let Some(running) = memory.runtime.pods.remove(key) else { return outcome };
    memory.pressure.memory_bytes -= running.memory_bytes();
    give_back_address(memory, view, node, &running);
    if worker.stopping.is_some() {
        return outcome;
    }
    for container in running.containers.iter().filter(|container| container.process.is_running()) {
        let part = if container.init { "initContainers" } else { "containers" };
        let record = EventRecord {
            object: key.clone(),
            uid: worker.uid.clone(),
            field_path: format!("spec.{part}{{{}}}", container.name),
            warning: false,
            reason: "Killing",
            message: format!("Stopping container {}", container.name),
        };
        outcome.writes.push(Operation::Event(record).because(because.clone()));
        let event = RuntimeEvent::Exited { exit_code: 137 };
        outcome.notes.push(What::Ran { pod: key.clone(), container: container.name.clone(), event });
    }
    outcome
}

/// Gives the Pod's address back, unless it is the node's own.
fn give_back_address(memory: &mut Memory, view: &View<'_>, node: &Name, running: &RunningPod) {
    if let Some(node) = view.store.get::<Node>("", node)
        && node.address("InternalIP") != Some(running.ip.as_str())
    {
        memory.addresses.give_back(&running.ip);
    }
}

impl Look<'_> {
    fn now(&self) -> Timestamp {
        self.view.now
    }

    fn recorded(&self) -> bool {
        self.view.settings.recorded_runtime
    }

    /// The first look: the Pod is taken on, and its status says so; or it is refused.
    fn take_on(&mut self) {
        if let Some((reason, message)) = self.refusal() {
            let because =
                Because::new("because.kubelet.refused").with("pod", &self.key.name).with("why", &message);
            self.tell(reason, true, message.clone(), None, because.clone());
            self.status.phase = "Failed".to_string();
            self.status.reason = reason.to_string();
            self.status.message = format!("Pod was rejected: {message}");
            self.status.start_time = self.status.start_time.or(Some(self.now()));
            self.status.observed_generation = self.pod.meta.generation;
            self.status.conditions.retain(|condition| condition.condition_type != "PodScheduled");
            self.status_because = Some(because);
            self.worker.stage = Stage::Over;
            self.worker.is_refused = true;
            return;
        }
        self.worker.asked = Asked::by(&self.pod);
        self.memory.asked = self.memory.asked.and(self.worker.asked);
        let because =
            Because::new("because.kubelet.bound").with("pod", &self.key.name).with("node", self.node);
        self.status_because = Some(because.clone());
        self.outcome.because = Some(because);
        self.take_status();
        self.outcome.look_again(WorkKey::Object(self.key.clone()), 1);
    }

    /// Why the node does not take the Pod on, if it does not.
    fn refusal(&self) -> Option<admission::Refusal> {
        let node = self.view.store.get::<Node>("", self.node)?;
        if let Some(refusal) = self.memory.pressure.refusal(&self.pod) {
            return Some(refusal);
        }
        // Mostly there is room for all that were ever taken on, and nobody need be asked.
        let together = self.memory.asked.and(Asked::by(&self.pod));
        if together.surely_fits(node) && !admission::claims_ports(&self.pod) {
            return admission::refusal(&self.pod, node, &[]);
        }
        let is_taken_on = |pod: &&Arc<Pod>| {
            let worker = self.memory.workers.get(&pod.key()).filter(|worker| worker.uid == pod.meta.uid);
            !pod.is_finished() && worker.is_some_and(|worker| worker.stage < Stage::Over)
        };
        let others: Vec<&Pod> =
            self.view.store.pods_on(self.node).filter(is_taken_on).map(AsRef::as_ref).collect();
        admission::refusal(&self.pod, node, &others)
    }

    /// Every further look.
    fn go_on(&mut self) {
        self.ask_network_again();
        let ended = self.note_exits();
        if self.pod.meta.is_terminating() {
            return self.stop();
        }
        match self.worker.stage {
            Stage::Over => return,
            Stage::Finishing => return self.end(),
            Stage::Accepted | Stage::Sandboxed => {}
        }
        if self.worker.evicted.is_some() {
            return self.end_for_eviction();
        }
        if self.is_past_deadline() {
            return self.end_for_deadline();
        }
        self.refresh_files();
        self.resync();
        let probed = self.run_probes();
        let now = self.now();
        let pulled = self.worker.pulling.take_if(|pulling| pulling.ends_at <= now);
        if self.worker.pulling.is_some() {
            return;
        }
        let retry = self.worker.retry_at.is_some_and(|at| at <= now);
        let mount = self.worker.mount.as_ref().is_none_or(|mount| mount.retry_at <= now);
        let first = self.worker.stage == Stage::Accepted && mount;
        let respecified = self.worker.acted_generation != self.pod.meta.generation;
        if pulled.is_some() || ended || probed || retry || first || respecified {
            self.rounds(pulled);
        } else {
            self.take_status();
        }
        self.leave_when_done();
    }

    /// When the Pod has to be done.
    fn deadline(&self) -> Option<Timestamp> {
        let seconds = self.pod.spec.rest.get("activeDeadlineSeconds")?.as_i64()?;
        Some(Timestamp(self.pod.status.start_time?.0 + seconds))
    }

    fn is_past_deadline(&self) -> bool {
        self.worker.deadline_passed || self.deadline().is_some_and(|deadline| deadline <= self.now())
    }

    /// The Pod was on the node for longer than its spec allows: what runs is stopped, then it has failed.
    fn end_for_deadline(&mut self) {
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
    fn end_for_eviction(&mut self) {
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

    /// Files of ConfigMaps and Secrets are written again some time after those have changed; parts of volumes that are
    /// mounted by `subPath` are not.
    fn refresh_files(&mut self) {
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

    /// Tells every process that runs to stop; sidecars only when the others have stopped.
    fn stop_everything(&mut self, grace_seconds: i64, because: &Because) {
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
        self.stop_next_sidecars(grace_seconds);
    }

    /// Sidecars stop one after the other, the last one first, once the containers that they serve have stopped.
    fn stop_next_sidecars(&mut self, grace_seconds: i64) {
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

    /// Writes the status if it differs, asks to be called again, and remembers everything.
    fn finish(mut self) -> Outcome {
        if self.status != self.pod.status {
            let mut pod = Pod::clone(&self.pod);
            pod.status = self.status.clone();
            let because = self.status_because.take().unwrap_or_else(|| {
                Because::new("because.kubelet.reported").with("containers", in_words(&self.status))
            });
            self.outcome.saw.push(Because::new("because.kubelet.saw-pod").with("pod", &self.key.name).with(
                "phase",
                if self.pod.status.phase.is_empty() { "Pending" } else { &self.pod.status.phase },
            ));
            self.outcome.because.get_or_insert_with(|| because.clone());
            self.outcome.writes.push(Operation::UpdateStatus(pod.into()).because(because));
        }
        if self.outcome.because.is_none() {
            self.outcome.because =
                Some(Because::new("because.kubelet.as-wished").with("pod", &self.key.name));
        }
        self.plan_next_look();
        let key = self.key.clone();
        if self.worker.stage > Stage::Accepted {
            let memory_bytes = self.running.memory_bytes();
            let before = self.memory.runtime.pods.insert(key.clone(), Arc::new(self.running));
            self.memory.pressure.memory_bytes +=
                memory_bytes - before.map_or(0, |before| before.memory_bytes());
        }
        self.memory.workers.insert(key, Arc::new(self.worker));
        self.outcome
    }

    /// Marks what ended by itself. Returns whether anything did.
    fn note_exits(&mut self) -> bool {
        let now = self.now();
        let mut any = false;
        for container in &mut self.running.containers {
            let due = container.process.ends_at().filter(|at| *at <= now);
            if let (Some(at), Some(end)) = (due, container.process.program.end.clone()) {
                container.process.ended = Some(Ended { at, exit_code: end.exit_code, reason: end.reason });
                let event = RuntimeEvent::Exited { exit_code: end.exit_code };
                let container = container.name.clone();
                self.outcome.notes.push(What::Ran { pod: self.key.clone(), container, event });
                any = true;
            }
        }
        any
    }

    fn take_status(&mut self) {
        if self.worker.is_refused {
            return;
        }
        let host_ip = self.host_ip();
        let report = Report {
            pod: &self.pod,
            worker: &self.worker,
            running: &self.running,
            host_ip: &host_ip,
            recorded: self.recorded(),
            now: self.now(),
        };
        self.status = status_of(&report);
    }

    fn host_ip(&self) -> String {
        let node = self.view.store.get::<Node>("", self.node);
        node.and_then(|node| node.address("InternalIP")).unwrap_or_default().to_string()
    }

    /// Round after round, as long as each changes something on the node. `pulled` is the pull that ends now, in whose
    /// round this look goes on.
    fn rounds(&mut self, pulled: Option<Pulling>) {
        let mut pulled = pulled;
        self.worker.acted_generation = self.pod.meta.generation;
        for _ in 0..MAX_ROUNDS {
            self.changed = false;
            self.failed = false;
            self.restart_wait = None;
            self.check_pull_secrets();
            let mut tried = Vec::new();
            match pulled.take() {
                Some(pulling) => {
                    self.failed = pulling.failed;
                    self.changed = pulling.changed;
                    tried.clone_from(&pulling.tried);
                    tried.push(pulling.container.clone());
                    self.finish_pull(&pulling);
                }
                None => {
                    self.worker.shows_address = self.worker.stage >= Stage::Sandboxed;
                    self.status_because = None;
                    self.take_status();
                }
            }
            let busy = self.worker.pulling.is_some() || self.act(&mut tried);
            if busy || !self.changed {
                break;
            }
        }
        self.worker.retry_at = None;
        if self.failed_hooks > 1 {
            // The end of the second one wakes the kubelet once more.
            self.worker.retry_at = Some(Timestamp(self.now().0 + 1));
        } else if self.failed && self.worker.pulling.is_none() {
            let wait = RETRY_SECONDS.min(self.restart_wait.unwrap_or(RETRY_SECONDS)).max(1);
            self.worker.retry_at = Some(self.jittered(wait));
        }
    }

    /// Pull secrets that are not there are told, and done without.
    fn check_pull_secrets(&mut self) {
        let missing = registry_secrets(self.view.store, &self.pod).1;
        if !missing.is_empty() {
            let names = missing.join(", ");
            let because = Because::new("because.kubelet.pull-secret-missing").with("secret", &names);
            let message = format!(
                "Unable to retrieve some image pull secrets ({names}); attempting to pull the image may not succeed."
            );
            self.tell("FailedToRetrieveImagePullSecret", true, message, None, because);
        }
    }

    /// What the registry answers to the Pod.
    fn pull(&self, image: &str) -> registry::Pull {
        let hosts = registry_secrets(self.view.store, &self.pod).0;
        registry::pull(image, self.recorded(), &hosts)
    }

    /// That many seconds from now, or up to half as many more.
    fn jittered(&mut self, seconds: i64) -> Timestamp {
        let most = u32::try_from(seconds / 2 + 1).unwrap_or(1);
        Timestamp(self.now().0 + seconds + i64::from(self.stream.below(most)))
    }

    /// Makes the next moves. Returns whether something has to be waited for.
    fn act(&mut self, tried: &mut Vec<String>) -> bool {
        if self.worker.stage == Stage::Accepted && !self.make_sandbox() {
            return true;
        }
        if self.kill_what_is_to_be_replaced() {
            return true;
        }
        let pod = Arc::clone(&self.pod);
        let main_ran = pod.spec.containers.iter().any(|c| self.running.container(&c.name).is_some());
        for container in &pod.spec.init_containers {
            match self.act_on_init(container, main_ran, tried) {
                Init::Passed => {}
                Init::Waits => return false,
                Init::Busy => return true,
            }
        }
        for container in &pod.spec.containers {
            let is_due = match self.running.container(&container.name).map(|run| &run.process.ended) {
                None => true,
                Some(None) => false,
                Some(Some(ended)) => is_restarted(&pod.spec, container, false, ended.exit_code),
            };
            if is_due && self.start(container, false, tried) == Started::Busy {
                return true;
            }
        }
        false
    }

    fn act_on_init(&mut self, container: &Container, main_ran: bool, tried: &mut Vec<String>) -> Init {
        let sidecar = is_sidecar(container);
        let state = self.running.container(&container.name).map(|run| run.process.ended.clone());
        match state {
            Some(None) if sidecar => {
                let keeper = self.worker.containers.get(&container.name);
                let started = keeper.and_then(|k| k.startup.as_ref()).is_none_or(|state| state.success);
                if started || main_ran { Init::Passed } else { Init::Waits }
            }
            Some(None) => Init::Waits,
            Some(Some(ended)) if !sidecar && ended.exit_code == 0 => Init::Passed,
            _ if main_ran && !sidecar => Init::Passed,
            Some(Some(ended)) if !is_restarted(&self.pod.spec, container, true, ended.exit_code) => {
                Init::Waits
            }
            _ => match self.start(container, true, tried) {
                Started::Busy => Init::Busy,
                _ if main_ran => Init::Passed,
                _ => Init::Waits,
            },
        }
    }

    /// Mounts the volumes and makes the sandbox. Returns whether it is there.
    fn make_sandbox(&mut self) -> bool {
        if let Some((volume, why)) = unmountable(self.view.store, &self.pod) {
            let because =
                Because::new("because.kubelet.mount-failed").with("volume", &volume).with("why", &why);
            let message = format!("MountVolume.SetUp failed for volume \"{volume}\" : {why}");
            self.tell("FailedMount", true, message, None, because);
            let now = self.now();
            let wait = self.worker.mount.as_ref().map_or(1, |mount| mount.wait_seconds);
            self.worker.mount = Some(Mount {
                retry_at: Timestamp(now.0 + wait),
                wait_seconds: (wait * 2).min(MAX_MOUNT_WAIT_SECONDS),
            });
            return false;
        }
        self.worker.mount = None;
        self.running.ip = if self.pod.spec.host_network {
            self.host_ip()
        } else {
            if !self.memory.addresses.is_settled() {
                let nodes = self.view.store.list::<Node>();
                let place = nodes.take_while(|node| node.meta.name != *self.node).count();
                let node = self.view.store.get::<Node>("", self.node);
                let range = node.map_or("", |node| node.spec.pod_cidr.as_str());
                self.memory.addresses.settle(range, place);
            }
            self.memory.addresses.take().unwrap_or_default()
        };
        self.worker.stage = Stage::Sandboxed;
        self.changed = true;
        self.status_because = Some(Because::new("because.kubelet.sandboxed").with("ip", &self.running.ip));
        self.take_status();
        true
    }

    /// Kills containers whose probe failed or whose spec changed. Returns whether one takes its time.
    fn kill_what_is_to_be_replaced(&mut self) -> bool {
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

    fn grace_seconds(&self) -> i64 {
        self.pod.spec.termination_grace_period_seconds.unwrap_or(30)
    }

    /// Tells a process to stop. Returns whether it is gone at once.
    fn stop_container(&mut self, container: &Container, grace_seconds: i64) -> bool {
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
            run.process.ended = Some(Ended { at: now, exit_code, reason });
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

    /// Starts a container that is not running.
    fn start(&mut self, container: &Container, init: bool, tried: &mut Vec<String>) -> Started {
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
    fn not_started(
        &mut self,
        container: &Container,
        reason: &str,
        message: String,
        tried: &mut Vec<String>,
    ) -> Started {
        self.failed = true;
        self.worker.keeper(&container.name).waiting = Some((reason.to_string(), message));
        tried.push(container.name.clone());
        Started::No
    }

    /// Whether the container crashed so lately that it has to wait. The first restart never waits. In the round in which
    /// the kubelet killed it, the run before counts: that is the one whose end the kubelet has seen.
    fn waits_after_crash(&mut self, container: &Container, init: bool) -> bool {
        let Some(run) = self.running.container(&container.name) else { return false };
        let replaced = self.worker.containers.get(&container.name).is_some_and(|keeper| keeper.replaced);
        let process = if replaced { run.previous.as_ref() } else { Some(&run.process) };
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
                self.worker.keeper(&container.name).waiting = Some(("CrashLoopBackOff".to_string(), waiting));
                true
            }
            previous => {
                let next = BackOff::after(previous.as_ref(), ended.at, now);
                self.worker.crash_back_offs.insert(id, next);
                false
            }
        }
    }

    /// Begins to pull the image, unless an earlier failure has to be waited out.
    fn begin_pull(&mut self, container: &Container, init: bool, tried: &mut Vec<String>) -> Started {
        let image = container.image.clone();
        let now = self.now();
        let subject = Some((container, init));
        if let Some(back_off) = self.worker.image_back_offs.get(&image).filter(|back_off| back_off.lasts(now))
        {
            let because = Because::new("because.kubelet.pull-waits")
                .with("image", &image)
                .with("seconds", back_off.seconds);
            let message = format!("Back-off pulling image \"{image}\"");
            self.tell("BackOff", false, message.clone(), subject, because.clone());
            self.tell("Failed", true, "Error: ImagePullBackOff".to_string(), subject, because);
            let error = self.pull(&image).result.err().unwrap_or_default();
            let waiting = format!("{message}: ErrImagePull: {error}");
            return self.not_started(container, "ImagePullBackOff", waiting, tried);
        }
        let is_present = self.memory.runtime.images.contains(&image);
        let key = if is_present { "because.kubelet.pull-always" } else { "because.kubelet.pull-absent" };
        let because = Because::new(key).with("image", &image).with("node", self.node);
        self.tell("Pulling", false, format!("Pulling image \"{image}\""), subject, because);
        let pull = self.pull(&image);
        let ticks = if is_present { pull.ticks.min(1) } else { pull.ticks };
        let event = RuntimeEvent::PullBegan { image: image.clone() };
        self.outcome.notes.push(What::Ran {
            pod: self.key.clone(),
            container: container.name.clone(),
            event,
        });
        let pulling = Pulling {
            container: container.name.clone(),
            image,
            began_at: now,
            ends_at: Timestamp(now.0 + i64::try_from(ticks).unwrap_or(1)),
            tried: tried.clone(),
            failed: self.failed,
            changed: self.changed,
        };
        if ticks > 0 {
            self.worker.pulling = Some(pulling);
            return Started::Busy;
        }
        tried.push(container.name.clone());
        self.finish_pull(&pulling)
    }

    /// The pull has ended: the container starts, or waits with an error.
    fn finish_pull(&mut self, pulling: &Pulling) -> Started {
        let pod = Arc::clone(&self.pod);
        let Some((container, init)) = all_containers(&pod).find(|(c, _)| c.name == pulling.container) else {
            return Started::No;
        };
        let subject = Some((container, init));
        let image = &pulling.image;
        if image.is_empty() {
            return Started::Yes;
        }
        let ran = |event| What::Ran { pod: self.key.clone(), container: container.name.clone(), event };
        match self.pull(image).result {
            Ok(size_bytes) => {
                self.outcome.notes.push(ran(RuntimeEvent::Pulled { image: image.clone() }));
                let seconds = self.now().seconds_since(pulling.began_at);
                let because =
                    Because::new("because.kubelet.pulled").with("image", image).with("seconds", seconds);
                let took = printed(seconds);
                let message = format!(
                    "Successfully pulled image \"{image}\" in {took} ({took} including waiting). Image size: {size_bytes} bytes."
                );
                self.tell("Pulled", false, message, subject, because);
                self.memory.runtime.images.insert(image.clone());
                self.worker.image_back_offs.remove(image);
                let mut tried = pulling.tried.clone();
                self.create_and_run(container, init, &mut tried)
            }
            Err(error) => {
                let event = RuntimeEvent::PullFailed { image: image.clone(), error: error.clone() };
                self.outcome.notes.push(ran(event));
                let because =
                    Because::new("because.kubelet.pull-failed").with("image", image).with("error", &error);
                let message = format!("Failed to pull image \"{image}\": {error}");
                self.tell("Failed", true, message, subject, because.clone());
                self.tell("Failed", true, "Error: ErrImagePull".to_string(), subject, because);
                let now = self.now();
                let next = BackOff::after(self.worker.image_back_offs.get(image), now, now);
                self.worker.image_back_offs.insert(image.clone(), next);
                self.failed = true;
                self.worker.keeper(&container.name).waiting = Some(("ErrImagePull".to_string(), error));
                Started::No
            }
        }
    }

    /// The runtime of the recordings could not mount a part of a volume.
    fn check_mounts(&self, container: &Container) -> Result<(), String> {
        let mounts = container.rest.get("volumeMounts").and_then(serde_json::Value::as_array);
        let in_part = mounts.into_iter().flatten().any(|mount| !mount["subPath"].is_null());
        if self.view.settings.recorded_runtime && in_part {
            return Err("not implemented".to_string());
        }
        Ok(())
    }

    /// The image is there: the container is made and started.
    fn create_and_run(&mut self, container: &Container, init: bool, tried: &mut Vec<String>) -> Started {
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
    fn hook(&self, container: &Container, name: &str) -> Option<Hook> {
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
    fn carry_out(&mut self, container: &Container, hook: &Hook) {
        let now = self.now();
        if let Some(run) = self.running.containers.iter_mut().find(|run| run.name == container.name) {
            let deeds = hook.deeds.iter().map(|(after, deed)| (Timestamp(now.0 + after), deed.clone()));
            run.process.beside.extend(deeds);
        }
    }

    /// The hook that runs after the start: it takes its time, or fails and takes the container with it.
    fn run_hook(&mut self, container: &Container, init: bool, tried: &mut Vec<String>) -> Started {
        let Some(hook) = self.hook(container, "postStart") else { return Started::Yes };
        self.carry_out(container, &hook);
        let now = self.now();
        let Some(message) = hook.failure else {
            // A hook without an end keeps the kubelet waiting as long as the container runs.
            let seconds = hook.seconds.unwrap_or(HOOK_SECONDS);
            if seconds == 0 {
                return Started::Yes;
            }
            self.worker.pulling = Some(Pulling {
                container: container.name.clone(),
                image: String::new(),
                began_at: now,
                ends_at: Timestamp(now.0 + seconds),
                tried: tried.clone(),
                failed: self.failed,
                changed: true,
            });
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
    fn check_user(&self, container: &Container) -> Result<(), String> {
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

    fn run_process(
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
            container_id: format!("containerd://{id}"),
            program: Arc::new(program),
            started_at: if is_startable { now } else { Timestamp(0) },
            beside: Vec::new(),
            answers,
            variables,
            ended: (!is_startable).then_some(not_started),
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
                run.image.clone_from(&container.image);
                run.previous = Some(std::mem::replace(&mut run.process, process));
                run.files = files;
            }
            None => {
                let run = RunningContainer {
                    name: container.name.clone(),
                    image: container.image.clone(),
                    init,
                    process,
                    previous: None,
                    restart_count: 0,
                    files,
                    mounts: Some(shared_mounts(&self.pod, container)).filter(|mounts| !mounts.is_empty()),
                };
                self.running.containers.push(run);
                let order = |name: &str| all_containers(&self.pod).position(|(c, _)| c.name == name);
                self.running.containers.sort_by_key(|run| order(&run.name));
            }
        }
        // A real process needs a moment before it can answer; the recorder's answers at once.
        let first_seconds = i64::from(!self.recorded());
        let keeper = self.worker.keeper(&container.name);
        keeper.waiting = None;
        keeper.kill = None;
        keeper.image.clone_from(&container.image);
        let begin = |kind: ProbeKind, before: &Option<ProbeState>| {
            let anchor = before.as_ref().map_or(now, ProbeState::anchor);
            kind.of(container).map(|probe| ProbeState::started(kind, probe, anchor, now, first_seconds))
        };
        keeper.startup = begin(ProbeKind::Startup, &keeper.startup);
        keeper.liveness = begin(ProbeKind::Liveness, &keeper.liveness);
        keeper.readiness = begin(ProbeKind::Readiness, &keeper.readiness);
        self.changed = true;
        if is_startable {
            self.run_probes();
        }
    }

    /// What the container does, by what the network answers it. What it asks may depend on earlier answers.
    fn play(
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
            let program = applications::program_of(&start);
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
    fn ask_network_again(&mut self) {
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
                self.play(container, &environment, given.as_deref(), answers, started_at);
            if let Some(end) = &mut program.end {
                // What comes to its end in the light of the new answer does so now at the earliest.
                end.after_seconds = end.after_seconds.max(now.seconds_since(started_at));
            }
            if let Some(run) = self.running.containers.iter_mut().find(|run| run.name == container.name) {
                run.process.program = Arc::new(program);
                run.process.answers = answers;
            }
        }
    }

    /// Runs the probes that are due. Returns whether a result changed.
    fn run_probes(&mut self) -> bool {
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
                if is_held || !keeper.probe(kind).as_ref().is_some_and(is_due) {
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
    fn look_inside_again(&mut self) {
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
    fn ask_anew(&mut self, container: &Container) {
        let now = self.now();
        if let Some(readiness) = &mut self.worker.keeper(&container.name).readiness {
            readiness.restart_periods(now);
            readiness.next_at = Some(now);
        }
    }

    /// From time to time a Pod is looked at although nothing happened: readiness probes that fail are run then, too.
    fn resync(&mut self) {
        let now = self.now();
        if self.worker.resync_at.is_some_and(|at| at <= now) {
            self.worker.resync_at = None;
            let pod = Arc::clone(&self.pod);
            for (container, _) in all_containers(&pod) {
                let keeper = self.worker.keeper(&container.name);
                let is_due =
                    |state: &ProbeState| !state.success && state.is_settled() && state.next_at.is_some();
                if keeper.readiness.as_ref().is_some_and(is_due) {
                    self.ask_anew(container);
                }
            }
        }
    }

    fn run_probe(
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
            let container = container.name.clone();
            self.outcome.notes.push(What::Ran { pod: self.key.clone(), container, event });
        }
        changed || has_failed
    }

    /// When nothing runs and nothing is to start again, the Pod is at its end.
    fn leave_when_done(&mut self) {
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
        if !self.running.is_running() {
            self.worker.stage = Stage::Finishing;
            let because = Because::new("because.kubelet.finishing").with("pod", &self.key.name);
            self.outcome.because.get_or_insert(because);
            self.outcome.look_again(WorkKey::Object(self.key.clone()), 1);
        }
        self.take_status();
    }

    /// The sandbox goes, and its address is free again.
    fn take_sandbox_down(&mut self) {
        self.worker.stage = Stage::Over;
        give_back_address(self.memory, self.view, self.node, &self.running);
        self.running.ip.clear();
    }

    /// The sandbox goes, and the final phase is told.
    fn end(&mut self) {
        self.take_sandbox_down();
        let because = Because::new("because.kubelet.ended").with("pod", &self.key.name);
        self.outcome.because = Some(because);
        self.take_status();
    }

    /// The Pod is to be gone: its processes are told to stop; when none is left, that is reported, then the Pod is deleted.
    fn stop(&mut self) {
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
            self.worker.stopping = Some(Stopping { kill_at, reported: false });
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

    /// Asks to be called again when the next thing is due.
    fn plan_next_look(&mut self) {
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

    /// Tells an event about the Pod or one of its containers.
    fn tell(
        &mut self,
        reason: &'static str,
        warning: bool,
        message: String,
        subject: Option<(&Container, bool)>,
        because: Because,
    ) {
        let mut record = EventRecord::normal(&self.object, reason, message);
        record.warning = warning;
        if let Some((container, init)) = subject {
            let part = if init { "initContainers" } else { "containers" };
            record = record.of_field(format!("spec.{part}{{{}}}", container.name));
        }
        self.outcome.because.get_or_insert_with(|| because.clone());
        self.outcome.writes.push(Operation::Event(record).because(because));
    }
}

/// What the init phase says about going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Init {
    /// The next container may be looked at.
    Passed,
    /// The containers behind have to wait.
    Waits,
    /// Something is under way.
    Busy,
}

impl Keeper {
    fn probe(&mut self, kind: ProbeKind) -> &mut Option<ProbeState> {
        match kind {
            ProbeKind::Startup => &mut self.startup,
            ProbeKind::Liveness => &mut self.liveness,
            ProbeKind::Readiness => &mut self.readiness,
        }
    }
}

/// Init containers, then containers, each with whether it is an init container.
fn all_containers(pod: &Pod) -> impl Iterator<Item = (&Container, bool)> {
    let init = pod.spec.init_containers.iter().map(|container| (container, true));
    init.chain(pod.spec.containers.iter().map(|container| (container, false)))
}
