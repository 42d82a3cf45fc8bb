//! One look at one Pod: the life of a key. What a look does to each side of a Pod stands in the files beside.

mod ending;
mod images;
mod next_look;
mod playing;
mod probing;
mod starting;

use std::sync::Arc;

use super::Memory;
use super::admission::{self, Asked};
use super::restarts::{ephemeral_containers, is_restarted, is_sidecar};
use super::status::{Report, in_words, status_of};
use super::volumes::unmountable;
use super::worker::{Mount, Pulling, Stage, Worker};
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Container, Pod, PodStatus};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::fact::{RuntimeEvent, What};
use crate::cluster::queue::WorkKey;
use crate::cluster::rng::Stream;
use crate::cluster::runtime::node::{RunningContainer, RunningPod};
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation};

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
        outcome.notes.push(What::Ran { pod: key.clone(), container: container.name.to_string(), event });
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
            self.status.phase = "Failed".into();
            self.status.reason = reason.into();
            self.status.message = format!("Pod was rejected: {message}").into();
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
    fn rounds(&mut self, pulled: Option<Box<Pulling>>) {
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

    /// Makes the next moves. Returns whether something has to be waited for.
    fn act(&mut self, tried: &mut Vec<String>) -> bool {
        if self.worker.sandbox_lost && self.worker.stage == Stage::Sandboxed {
            self.replace_sandbox();
        }
        if self.worker.stage == Stage::Accepted && !self.make_sandbox() {
            return true;
        }
        if self.kill_what_is_to_be_replaced() {
            return true;
        }
        let pod = Arc::clone(&self.pod);
        // Those added to look into the Pod start whatever the others do.
        for container in &ephemeral_containers(&pod) {
            let is_due = self.running.container(&container.name).is_none();
            if is_due && self.start(container, false, tried) == Started::Busy {
                return true;
            }
        }
        let main_ran = pod
            .spec
            .containers
            .iter()
            .any(|c| self.running.container(&c.name).is_some_and(|run| self.is_of_this_sandbox(run)));
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
        let run = self.running.container(&container.name).filter(|run| self.is_of_this_sandbox(run));
        let state = run.map(|run| run.process.ended.clone());
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

    /// Whether a container was started since the sandbox was made, for all that is known.
    fn is_of_this_sandbox(&self, run: &RunningContainer) -> bool {
        self.worker.sandboxed_at.is_none_or(|at| run.process.started_at >= at)
    }

    /// The sandbox went down with the node: a Pod that may start again gets another one, with another address, and begins
    /// with its init containers.
    ///
    /// Models: `podSandboxChanged`, `shouldCreateSandbox`.
    fn replace_sandbox(&mut self) {
        self.worker.sandbox_lost = false;
        if self.pod.spec.restart_policy == "Never" && !self.running.containers.is_empty() {
            return;
        }
        let because = Because::new("because.kubelet.sandbox-changed").with("node", self.node);
        let message = "Pod sandbox changed, it will be killed and re-created.".to_string();
        self.tell("SandboxChanged", false, message, None, because);
        give_back_address(self.memory, self.view, self.node, &self.running);
        self.worker.stage = Stage::Accepted;
        self.worker.sandboxed_at = Some(self.now());
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
            self.worker.mount = Some(Box::new(Mount {
                retry_at: Timestamp(now.0 + wait),
                wait_seconds: (wait * 2).min(MAX_MOUNT_WAIT_SECONDS),
            }));
            return false;
        }
        self.worker.mount = None;
        self.running.ip = if self.pod.spec.host_network {
            self.host_ip().into()
        } else {
            if !self.memory.addresses.is_settled() {
                let nodes = self.view.store.list::<Node>();
                let place = nodes.take_while(|node| node.meta.name != *self.node).count();
                let node = self.view.store.get::<Node>("", self.node);
                let range = node.map_or("", |node| node.spec.pod_cidr.as_str());
                self.memory.addresses.settle(range, place);
            }
            self.memory.addresses.take().unwrap_or_default().into()
        };
        self.worker.stage = Stage::Sandboxed;
        self.changed = true;
        self.status_because = Some(Because::new("because.kubelet.sandboxed").with("ip", &self.running.ip));
        self.take_status();
        true
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
            let part = part_of(&self.pod, container, init);
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

/// The list of the spec in which a container stands.
fn part_of(pod: &Pod, container: &Container, init: bool) -> &'static str {
    let is_main = || pod.spec.containers.iter().any(|main| main.name == container.name);
    match init {
        true => "initContainers",
        false if is_main() => "containers",
        false => "ephemeralContainers",
    }
}

/// Init containers, then containers, each with whether it is an init container.
fn all_containers(pod: &Pod) -> impl Iterator<Item = (&Container, bool)> {
    let init = pod.spec.init_containers.iter().map(|container| (container, true));
    init.chain(pod.spec.containers.iter().map(|container| (container, false)))
}
