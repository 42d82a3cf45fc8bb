//! A node that runs out of memory or disk: its condition, and the Pods that have to go.
//!
//! Every ten seconds the kubelet compares what is left with its thresholds. Below one, it reports the pressure, asks back
//! what it can, and drives one Pod away. The pressure is reported until five minutes after it was seen last.
//!
//! Models: `pkg/kubelet/eviction/{eviction_manager,helpers}.go` (v1.36): hard thresholds `memory.available<100Mi` and
//! `nodefs.available<10%`, ranking, messages. Leaves out: soft thresholds, inodes, pressure by process ids (no process has
//! children here), limits of single volumes.

use std::sync::Arc;

use super::Memory;
use super::admission::{Refusal, is_critical};
use super::worker::Stage;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::runtime::node::RunningPod;
use crate::cluster::server::write::{EventRecord, Operation};

/// A node has to have this much memory left.
const MEMORY_THRESHOLD_BYTES: i64 = 100 << 20;

/// The size of a node's disk, of which a tenth has to be free.
const DISK_BYTES: i64 = 40 << 30;
const DISK_THRESHOLD_BYTES: i64 = DISK_BYTES / 10;

/// What is left of a disk that somebody has filled.
const FILLED_FREE_BYTES: i64 = DISK_BYTES / 20;

/// What a container has on disk beside its image: its log, and what the runtime keeps.
const CONTAINER_DISK_BYTES: i64 = 24 << 10;

/// How long a pressure is still reported after it was seen last.
const TRANSITION_SECONDS: i64 = 300;

/// What a node can run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scarce {
    /// Memory.
    Memory,
    /// Disk.
    Disk,
}

impl Scarce {
    /// The condition of the node.
    pub fn condition(self) -> &'static str {
        match self {
            Self::Memory => "MemoryPressure",
            Self::Disk => "DiskPressure",
        }
    }

    /// The resource, as messages name it.
    fn resource(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "ephemeral-storage",
        }
    }
}

/// What the kubelet knows of the node's resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// The memory that all processes on the node use.
    pub memory_bytes: i64,
    /// When memory was seen to be short last.
    memory_at: Option<Timestamp>,
    /// When the disk was seen to be full last.
    disk_at: Option<Timestamp>,
}

impl Pressure {
    /// Whether the node is to say that it is short of that.
    pub fn is_under(&self, scarce: Scarce) -> bool {
        match scarce {
            Scarce::Memory => self.memory_at.is_some(),
            Scarce::Disk => self.disk_at.is_some(),
        }
    }

    /// Why a new Pod is not taken on now, if it is not.
    pub fn refusal(&self, pod: &Pod) -> Option<Refusal> {
        if (self.memory_at.is_none() && self.disk_at.is_none()) || is_critical(pod) {
            return None;
        }
        let tolerates = || {
            let taint = crate::api::kinds::cluster::Taint {
                key: "node.kubernetes.io/memory-pressure".to_string(),
                effect: "NoSchedule".to_string(),
                ..Default::default()
            };
            pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&taint))
        };
        if self.disk_at.is_none() && (pod.status.qos_class != "BestEffort" || tolerates()) {
            return None;
        }
        let words: Vec<&str> = [Scarce::Memory, Scarce::Disk]
            .into_iter()
            .filter(|scarce| self.is_under(*scarce))
            .map(Scarce::condition)
            .collect();
        Some(("Evicted", format!("The node had condition: [{}]. ", words.join(" "))))
    }
}

/// Compares what is left with what has to be left; drives a Pod away if need be.
pub fn synchronize(node: &Name, memory: &mut Memory, view: &View<'_>, outcome: &mut Outcome) {
    let is_filled = view.world.full_disks.contains(node);
    let is_memory_filled = view.world.full_memories.contains(node);
    let before = memory.pressure.clone();
    if !is_filled
        && !is_memory_filled
        && before.memory_bytes == 0
        && before.memory_at.is_none()
        && before.disk_at.is_none()
    {
        return;
    }
    let Some(object) = view.store.get::<Node>("", node) else { return };
    let capacity = object.status.capacity.get("memory").map_or(i64::MAX, Quantity::value);
    let memory_left = if is_memory_filled {
        MEMORY_THRESHOLD_BYTES / 2
    } else {
        capacity.saturating_sub(before.memory_bytes)
    };
    let disk_left = if is_filled { FILLED_FREE_BYTES } else { DISK_BYTES };
    let now = view.now;
    let seen = |at: Option<Timestamp>, is_short: bool| match at {
        _ if is_short => Some(now),
        at => at.filter(|at| now.seconds_since(*at) < TRANSITION_SECONDS),
    };
    let is_short_of_memory = memory_left < MEMORY_THRESHOLD_BYTES;
    memory.pressure.memory_at = seen(before.memory_at, is_short_of_memory);
    memory.pressure.disk_at = seen(before.disk_at, is_filled);
    let (scarce, threshold, left) = match (is_short_of_memory, is_filled) {
        (true, _) => (Scarce::Memory, MEMORY_THRESHOLD_BYTES, memory_left),
        (false, true) => (Scarce::Disk, DISK_THRESHOLD_BYTES, disk_left),
        (false, false) => return,
    };
    let because =
        Because::new("because.kubelet.pressure").with("node", node).with("resource", scarce.resource());
    let told = EventRecord::warning(
        &Object::Node(object.clone()),
        "EvictionThresholdMet",
        format!("Attempting to reclaim {}", scarce.resource()),
    );
    outcome.writes.push(Operation::Event(told).because(because.clone()));
    outcome.because = Some(because.clone());
    let Some((key, pod)) = first_to_go(memory, view, scarce) else { return };
    let running = memory.runtime.pod(&key).cloned().unwrap_or_default();
    let message = message(scarce, threshold, left, &pod, &running);
    let told = EventRecord::warning(&Object::Pod(pod.clone()), "Evicted", message.clone());
    outcome.writes.push(Operation::Event(told).because(because));
    if let Some(worker) = memory.workers.get_mut(&key) {
        Arc::make_mut(worker).evicted = Some(message.into());
        outcome.look_again(WorkKey::Object(key), 1);
    }
}

/// The Pod that goes first: one that uses more than it asked for, of the lowest priority, that uses most beyond its request.
fn first_to_go(memory: &Memory, view: &View<'_>, scarce: Scarce) -> Option<(ObjectKey, Arc<Pod>)> {
    let of_node = memory.runtime.pods.iter().filter_map(|(key, running)| {
        let worker = memory.workers.get(key)?;
        let pod = view.store.at::<Pod>(key).filter(|pod| pod.meta.uid == worker.uid)?;
        let goes = !is_critical(pod)
            && worker.evicted.is_none()
            && worker.stage < Stage::Finishing
            && worker.stopping.is_none();
        goes.then_some((key, pod, running))
    });
    let rank = |pod: &Pod, running: &RunningPod| {
        let beyond = uses(running, scarce, None) - asks(pod, scarce, None);
        (beyond > 0, -i64::from(pod.spec.priority.unwrap_or(0)), beyond)
    };
    let mut first: Option<((bool, i64, i64), &ObjectKey, &Arc<Pod>)> = None;
    for (key, pod, running) in of_node {
        let rank = rank(pod, running);
        if first.as_ref().is_none_or(|(highest, ..)| rank > *highest) {
            first = Some((rank, key, pod));
        }
    }
    first.map(|(_, key, pod)| (key.clone(), pod.clone()))
}

/// What a Pod, or one of its containers, uses.
fn uses(running: &RunningPod, scarce: Scarce, container: Option<&str>) -> i64 {
    let counted = running.containers.iter().filter(|run| container.is_none_or(|name| run.name == name));
    match scarce {
        Scarce::Memory => {
            counted.filter(|run| run.process.is_running()).map(|run| run.process.program.memory_bytes).sum()
        }
        Scarce::Disk => counted.map(|_| CONTAINER_DISK_BYTES).sum(),
    }
}

/// What a Pod, or one of its containers, asked for.
fn asks(pod: &Pod, scarce: Scarce, container: Option<&str>) -> i64 {
    let counted = pod.spec.containers.iter().filter(|spec| container.is_none_or(|name| spec.name == name));
    counted.map(|spec| spec.resources.requests.get(scarce.resource()).map_or(0, Quantity::value)).sum()
}

/// Why the Pod goes, in the kubelet's words.
fn message(scarce: Scarce, threshold: i64, left: i64, pod: &Pod, running: &RunningPod) -> String {
    let resource = scarce.resource();
    let mut message = format!(
        "The node was low on resource: {resource}. Threshold quantity: {}, available: {}. ",
        Quantity::from_bytes(threshold),
        Quantity::from_bytes(left.max(0) >> 10 << 10)
    );
    for container in &pod.spec.containers {
        let name = container.name.as_str();
        let (used, asked) = (uses(running, scarce, Some(name)), container.resources.requests.get(resource));
        if used > asked.map_or(0, Quantity::value) {
            let asked = asked.map_or_else(|| "0".to_string(), ToString::to_string);
            message.push_str(&format!(
                "Container {name} was using {}, request is {asked}, has larger consumption of {resource}. ",
                Quantity::from_bytes(used)
            ));
        }
    }
    message
}
