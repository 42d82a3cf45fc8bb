//! What a fault does to a cluster, and what mends it.
//!
//! A fault changes what stands in [`World`](super::world::World), or what runs on a node; everything else follows from the components' own work.

use std::sync::Arc;

use super::actor::Actor;
use super::command::Fault;
use super::component::Memory;
use super::fact::{Fact, FactId, What};
use super::kubelet;
use super::machine::Cluster;
use super::network::traffic::Flow;
use super::queue::WorkKey;
use super::runtime::process::Ailment;
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};

impl Cluster {
    /// Causes a fault, or mends one.
    pub fn cause(&mut self, fault: &Fault, facts: &mut Vec<Arc<Fact>>) {
        let id = self.record(facts, Actor::You, None, What::Asked { request: fault.summary() });
        match fault {
            Fault::Stop(actor) => {
                self.world.stopped.insert(actor.clone());
            }
            Fault::Start(actor) => {
                let was_stopped = self.world.stopped.remove(actor).is_some();
                if was_stopped {
                    self.wake(actor, WorkKey::Sync, id);
                }
                if was_stopped && matches!(actor, Actor::ApiServer | Actor::NodeLifecycle) {
                    self.world.listening_since = Some(self.now());
                }
                if was_stopped && *actor == Actor::ApiServer {
                    self.report_anew(None, id);
                }
            }
            Fault::StopMember(member) => {
                self.world.lost_members.insert(*member);
            }
            Fault::StartMember(member) => {
                let had_quorum = self.world.has_quorum();
                self.world.lost_members.remove(member);
                if !had_quorum && self.world.has_quorum() {
                    self.world.listening_since = Some(self.now());
                    self.report_anew(None, id);
                }
            }
            Fault::FillDisk(node) => {
                self.world.full_disks.insert(node.clone());
            }
            Fault::FreeDisk(node) => {
                self.world.full_disks.remove(node);
            }
            Fault::FillMemory(node) => {
                self.world.full_memories.insert(node.clone());
            }
            Fault::FreeMemory(node) => {
                self.world.full_memories.remove(node);
            }
            Fault::PowerOff(node) => {
                if self.world.dark.insert(node.clone()).is_none() {
                    let now = self.now();
                    if let Some(memory) = self.kubelet_memory(node) {
                        memory.kill(None, now);
                    }
                }
            }
            Fault::PowerOn(node) => {
                if self.world.dark.remove(node).is_some() {
                    self.wake(&Actor::Kubelet(node.clone()), WorkKey::Sync, id);
                    self.wake(&Actor::KubeProxy(node.clone()), WorkKey::Sync, id);
                }
            }
            Fault::Cut(node) => {
                if !self.world.cut.contains_key(node) {
                    let mut known = self.store.clone();
                    known.take_undelivered();
                    self.world.cut.insert(node.clone(), known);
                }
            }
            Fault::Join(node) => {
                if self.world.cut.remove(node).is_some() {
                    self.report_anew(Some(node), id);
                    self.wake(&Actor::KubeProxy(node.clone()), WorkKey::Sync, id);
                }
            }
            Fault::BreakRegistry => self.world.is_registry_down = true,
            Fault::MendRegistry => self.world.is_registry_down = false,
            Fault::Record(host, Some(address)) => {
                self.world.external_dns.insert(host.clone(), address.clone());
            }
            Fault::Record(host, None) => {
                self.world.external_dns.remove(host);
            }
            Fault::Kill(namespace, pod) => {
                let key = ObjectKey::new(Kind::Pod, namespace.clone(), pod.clone());
                let Some(node) = self.store.at::<Pod>(&key).map(|pod| pod.node_name.clone()) else { return };
                let now = self.now();
                if let Some(memory) = self.kubelet_memory(&node) {
                    memory.kill(Some(&key), now);
                }
                self.wake(&Actor::Kubelet(node), WorkKey::Object(key), id);
            }
            Fault::Ail(namespace, name, ailment) => {
                self.world.ailments.insert((namespace.clone(), name.clone()), *ailment);
                self.ail(namespace, name, Some(*ailment), id);
            }
            Fault::Cure(namespace, name) => {
                if self.world.ailments.remove(&(namespace.clone(), name.clone())).is_some() {
                    self.ail(namespace, name, None, id);
                }
            }
            Fault::Send(demand) => {
                if let Some(flow) = Flow::of(demand) {
                    self.world.traffic.insert(demand.name(), flow);
                }
            }
            Fault::Quit(name) => {
                self.world.traffic.remove(name);
            }
            Fault::Lag(actor, ticks) => {
                match ticks {
                    0 => self.world.lags.remove(actor),
                    ticks => self.world.lags.insert(actor.clone(), (*ticks).min(MOST_LAG_TICKS)),
                };
                if self.world.lags.is_empty() {
                    self.world.past.clear();
                }
            }
            Fault::BackUp => {
                let mut kept = self.store.clone();
                kept.take_undelivered();
                self.world.backup = Some(kept);
            }
            Fault::Restore => self.restore(id),
        }
    }

    /// Puts a key into a component's queue, to be looked at as soon as it can.
    fn wake(&mut self, actor: &Actor, key: WorkKey, id: FactId) {
        let due_tick = self.tick + u64::from(self.round.is_none());
        if let Some(component) = self.components.get_mut(actor) {
            component.queue.add(key, due_tick, Some(id));
        }
    }

    /// The API server can be reached again: the kubelets, or that of one node, tell what they could not tell meanwhile.
    fn report_anew(&mut self, only: Option<&Name>, id: FactId) {
        let nodes: Vec<Name> = self
            .components
            .keys()
            .filter(|a| matches!(a, Actor::Kubelet(_)))
            .filter_map(|a| a.node().cloned())
            .collect();
        for node in nodes.iter().filter(|node| only.is_none_or(|only| only == *node)) {
            let mut keys: Vec<ObjectKey> = self
                .kubelet_memory(node)
                .map(|memory| memory.runtime.pods.keys().cloned().collect())
                .unwrap_or_default();
            keys.extend(self.store.pods_on(node).map(|pod| pod.key()));
            let kubelet = Actor::Kubelet(node.clone());
            self.wake(&kubelet, WorkKey::Heartbeat, id);
            keys.into_iter().for_each(|pod| self.wake(&kubelet, WorkKey::Object(pod), id));
        }
    }

    /// Makes the applications of the Pods of that name ail, or not any more.
    fn ail(&mut self, namespace: &Name, name: &Name, ailment: Option<Ailment>, id: FactId) {
        let begins = format!("{name}-");
        let is_meant = |pod: &&Arc<Pod>| pod.meta.name == *name || pod.meta.name.starts_with(&begins);
        let pods: Vec<Arc<Pod>> = self.store.list_in::<Pod>(namespace).filter(is_meant).cloned().collect();
        let now = self.now();
        for pod in pods {
            if let Some(memory) = self.kubelet_memory(&pod.node_name) {
                memory.ail(&pod, ailment, now);
            }
            self.wake(&Actor::Kubelet(pod.node_name.clone()), WorkKey::Object(pod.key()), id);
        }
    }

    /// The clients send what they send in a tick.
    pub(super) fn send_traffic(&mut self) {
        if self.world.traffic.is_empty() {
            return;
        }
        let (input, tick) = (self.trace_input(), self.tick());
        let sent = |(name, flow): (&String, &Flow)| {
            let mut flow = flow.clone();
            flow.send(&input, tick);
            (name.clone(), flow)
        };
        let flows = self.world.traffic.iter().map(sent).collect();
        self.world.traffic = flows;
    }

    /// What was backed up is stored again, and nothing else: whoever watches sees what came after go, and what went since
    /// come back.
    fn restore(&mut self, id: FactId) {
        let Some(backup) = self.world.backup.clone() else { return };
        let writer = Actor::ApiServer;
        let is_gone = |object: &&Object| backup.object(&object.key()).is_none();
        let gone: Vec<ObjectKey> = self.store.objects().filter(is_gone).map(Object::key).collect();
        for key in gone {
            self.store.remove(&key, &writer, id);
        }
        let differs = |object: &&Object| self.store.object(&object.key()) != Some(*object);
        let back: Vec<Object> = backup.objects().filter(differs).cloned().collect();
        for object in back {
            self.store.put(object, &writer, id);
        }
        self.world.listening_since = Some(self.now());
        self.report_anew(None, id);
    }

    fn kubelet_memory(&mut self, node: &Name) -> Option<&mut kubelet::Memory> {
        match &mut self.components.get_mut(&Actor::Kubelet(node.clone()))?.memory {
            Memory::Kubelet(memory) => Some(Arc::make_mut(memory)),
            _ => None,
        }
    }
}

/// The most ticks that a component can lag.
const MOST_LAG_TICKS: u32 = 300;
