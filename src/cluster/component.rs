//! What a component is to the machine: a queue, a random stream, a memory; a view in, writes out.

use std::sync::Arc;

use super::actor::Actor;
use super::because::Because;
use super::fact::What;
use super::metrics::Nodes;
use super::queue::{WorkKey, WorkQueue};
use super::rng::Stream;
use super::server::write::Write;
use super::settings::Settings;
use super::store::{Change, Store};
use super::world::World;
use super::{controllers, kubelet, network, scheduler};
use crate::api::time::Timestamp;

/// One component inside a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// The keys it is to look at.
    pub queue: WorkQueue,
    /// Its random numbers.
    pub stream: Stream,
    /// What it keeps to itself, beyond the store.
    pub memory: Memory,
}

impl Component {
    /// What stands in for a component while it acts.
    pub(super) fn absent() -> Self {
        Self { queue: WorkQueue::default(), stream: Stream::new(0, ""), memory: Memory::None }
    }
}

/// What a component keeps to itself. Controllers keep almost nothing: what they know is in the store.
#[derive(Clone, Debug, PartialEq)]
pub enum Memory {
    /// Nothing.
    None,
    /// The taint eviction controller's: since when Pods are waiting to be evicted.
    TaintEviction(Arc<controllers::taint_eviction::Memory>),
    /// The autoscaler's: what it has recommended and done of late.
    Autoscaler(Arc<controllers::horizontal_pod_autoscaler::Memory>),
    /// The scheduler's.
    Scheduler(Arc<scheduler::Memory>),
    /// A kubelet's: what runs on its node.
    Kubelet(Arc<kubelet::Memory>),
    /// A kube-proxy's: the node's table.
    KubeProxy(Arc<network::proxy::Memory>),
    /// CoreDNS's: the zone it answers from.
    CoreDns(Arc<network::dns::Memory>),
    /// The Ingress controller's: the routes it has loaded.
    IngressController(Arc<network::ingress::Memory>),
}

impl Memory {
    /// What that actor starts with.
    pub fn of(actor: &Actor) -> Self {
        match actor {
            Actor::TaintEviction => Self::TaintEviction(Arc::default()),
            Actor::HorizontalPodAutoscaler => Self::Autoscaler(Arc::default()),
            Actor::Scheduler => Self::Scheduler(Arc::default()),
            Actor::Kubelet(_) => Self::Kubelet(Arc::default()),
            Actor::KubeProxy(_) => Self::KubeProxy(Arc::default()),
            Actor::CoreDns => Self::CoreDns(Arc::default()),
            Actor::IngressController => Self::IngressController(Arc::default()),
            _ => Self::None,
        }
    }
}

/// What a component sees while it handles one key.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The store as it was when the tick began, plus the component's own writes.
    pub store: &'a Store,
    /// The time.
    pub now: Timestamp,
    /// The tick, for due times.
    pub tick: u64,
    /// How the cluster was set up.
    pub settings: &'a Settings,
    /// What is outside the cluster: registry, external DNS.
    pub world: &'a World,
    /// What runs on the nodes, for whoever measures.
    pub nodes: Nodes<'a>,
}

#[cfg(test)]
impl<'a> View<'a> {
    /// A store as a component under test sees it, with nothing running on any node.
    pub fn of(store: &'a Store, settings: &'a Settings, world: &'a World, tick: u64) -> Self {
        View { store, now: Timestamp(0), tick, settings, world, nodes: Nodes::default() }
    }
}

/// What a component makes of one key.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What it saw.
    pub saw: Vec<Because>,
    /// Why it does what it does, or why it does nothing.
    pub because: Option<Because>,
    /// What it asks the API server to write, in order; the first refusal ends the list, but for the rest of its batch.
    pub writes: Vec<Write>,
    /// What it did or found out beside the store.
    pub notes: Vec<What>,
    /// Keys to look at (again), after that many ticks; 0 is still in this tick.
    pub again: Vec<(WorkKey, u64)>,
    /// Whether it failed, so that the key is tried again behind its back-off.
    pub failed: bool,
}

impl Outcome {
    /// Nothing to do, because.
    pub fn nothing(because: Because) -> Self {
        Self { because: Some(because), ..Self::default() }
    }

    /// Looks at the key again after that many ticks.
    pub fn look_again(&mut self, key: WorkKey, after_ticks: u64) {
        self.again.push((key, after_ticks.max(1)));
    }

    /// Looks at the key in this tick, behind those that are due already. It must end some time: what is looked at so must
    /// not have its own key looked at so again.
    pub fn look_now(&mut self, key: WorkKey) {
        self.again.push((key, 0));
    }
}

/// Whether what the server refuses is tried again within a tick, as the waits of the work queue, which begin with 5 ms, have it.
pub fn tries_within_a_tick(actor: &Actor) -> bool {
    matches!(actor, Actor::ReplicaSet | Actor::ReplicationController | Actor::StatefulSet | Actor::DaemonSet)
}

/// The keys of `actor` that a change concerns. Called for actors that exist once; see [`node_actors`] for the others.
pub fn concerns(actor: &Actor, view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match (controllers::controller(actor), actor) {
        (Some(controller), _) => (controller.concerns)(view, change),
        (None, Actor::TaintEviction) => controllers::taint_eviction::concerns(view, change),
        (None, Actor::Scheduler) => scheduler::concerns(view, change),
        (None, Actor::CoreDns) => network::dns::concerns(view, change),
        (None, Actor::IngressController) => network::ingress::concerns(view, change),
        (None, _) => Vec::new(),
    }
}

/// The place of a key among those that an actor handles in one tick, lower first: the scheduler tries Pods by importance.
pub fn rank(component: &Component, store: &Store, tick: u64, key: &WorkKey) -> u64 {
    match (&component.memory, key) {
        (Memory::Scheduler(memory), WorkKey::Object(key)) => scheduler::rank(memory, store, tick, key),
        _ => 0,
    }
}

/// The actors of nodes that a change concerns, with their keys.
pub fn node_actors(view: &View<'_>, change: &Change) -> Vec<(Actor, WorkKey)> {
    let mut concerned = kubelet::concerns(view, change);
    concerned.extend(network::proxy::concerns(view, change));
    concerned
}

/// Handles one key. Reads the view, changes the component's memory, returns what it wants written.
pub fn reconcile(actor: &Actor, component: &mut Component, view: &View<'_>, key: &WorkKey) -> Outcome {
    if let Memory::Autoscaler(memory) = &mut component.memory {
        return controllers::horizontal_pod_autoscaler::reconcile(Arc::make_mut(memory), view, key);
    }
    if let Some(controller) = controllers::controller(actor) {
        return (controller.reconcile)(view, key);
    }
    let stream = &mut component.stream;
    match (actor, &mut component.memory) {
        (Actor::TaintEviction, Memory::TaintEviction(memory)) => {
            controllers::taint_eviction::reconcile(Arc::make_mut(memory), view, key)
        }
        (Actor::Scheduler, Memory::Scheduler(memory)) => {
            scheduler::reconcile(Arc::make_mut(memory), stream, view, key)
        }
        (Actor::Kubelet(node), Memory::Kubelet(memory)) => {
            kubelet::reconcile(node, Arc::make_mut(memory), stream, view, key)
        }
        (Actor::KubeProxy(node), Memory::KubeProxy(memory)) => {
            network::proxy::reconcile(node, Arc::make_mut(memory), view, key)
        }
        (Actor::CoreDns, Memory::CoreDns(memory)) => {
            network::dns::reconcile(Arc::make_mut(memory), view, key)
        }
        (Actor::IngressController, Memory::IngressController(memory)) => {
            network::ingress::reconcile(Arc::make_mut(memory), view, key)
        }
        _ => Outcome::default(),
    }
}

/// What a component still wants to write after one of its writes was refused: an event, a condition.
/// `key` is what it was handling.
pub fn after_refusal(
    actor: &Actor,
    view: &View<'_>,
    key: &WorkKey,
    write: &Write,
    status: &super::server::status::Status,
) -> Vec<Write> {
    controllers::controller(actor)
        .map_or_else(Vec::new, |controller| (controller.after_refusal)(view, key, write, status))
}
