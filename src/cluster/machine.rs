//! The cluster as a value, and how it moves.
//!
//! A tick is a synchronous round: every component, in the order of [`Actor`], sees the store as it was when the tick
//! began, plus its own writes. What it writes, the others see in the next tick.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use sha2::{Digest, Sha256};

use super::actor::Actor;
use super::because::Because;
use super::component::{self, Component, Memory, View};
use super::fact::{Fact, FactId, What};
use super::metrics::{self, Load, Nodes, Used};
use super::queue::{WorkKey, WorkQueue};
use super::rng::Stream;
use super::runtime::process::Deed;
use super::server::authn;
use super::server::authz::{self, Access};
use super::server::pipeline::{self, Passage};
use super::server::request::{Request, Response, Verb};
use super::server::status::Status;
use super::server::transaction::{Transaction, Written};
use super::server::write::{Operation, Write};
use super::settings::Settings;
use super::store::{Change, Store};
use super::world::World;
use crate::api::kind::Kind;
use crate::api::kinds::event::Event;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;

/// How long events are kept after they were told last: kube-apiserver's `--event-ttl`.
const EVENT_TTL_TICKS: u64 = 3600;

/// How long etcd's leases are used for further events.
const LEASE_TICKS: u64 = 60;

/// The time at visible tick 0: 2026-01-05T09:00:00Z, a Monday.
pub const EPOCH: Timestamp = Timestamp(1_767_603_600);

/// The whole simulated world. Cloning is cheap: everything large is shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// How it was set up.
    pub settings: Arc<Settings>,
    /// What is outside.
    pub world: World,
    /// What etcd holds.
    pub store: Store,
    pub(super) components: OrdMap<Actor, Component>,
    server_stream: Stream,
    pub(super) tick: u64,
    /// The machine's tick that is shown as 0.
    origin_tick: u64,
    pub(super) round: Option<Round>,
    last_fact: u64,
    /// No event expires before this tick.
    events_expire_tick: u64,
}

/// A tick under way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    /// The store when the tick began.
    base: Store,
    /// The component at work.
    actor: Actor,
    /// The base, plus that component's own writes.
    view: Store,
    /// Work items done.
    steps_done: u32,
    /// Work items that were due at the beginning.
    steps_due: u32,
}

/// How far a cluster moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// One work item was done.
    Step {
        /// Whether it was a heartbeat or a look that changed nothing.
        routine: bool,
    },
    /// Nothing was left to do in the tick: it is over.
    TickEnded,
}

/// Whether any component watches the kind: events are told, not watched.
fn is_watched(change: &Change) -> bool {
    change.key.kind != Kind::Event
}

impl Cluster {
    /// A cluster before its first tick: no objects, all components at rest.
    pub fn empty(settings: Settings) -> Self {
        let mut actors = Vec::new();
        if settings.controllers {
            actors.extend([
                Actor::Deployment,
                Actor::ReplicaSet,
                Actor::ReplicationController,
                Actor::StatefulSet,
                Actor::DaemonSet,
                Actor::Job,
                Actor::TtlAfterFinished,
                Actor::CronJob,
                Actor::HorizontalPodAutoscaler,
                Actor::Disruption,
                Actor::ResourceQuota,
                Actor::PersistentVolume,
                Actor::EphemeralVolume,
                Actor::VolumeProtection,
                Actor::ServiceAccount,
                Actor::RootCa,
                Actor::ClusterRoleAggregation,
                Actor::EndpointSlice,
                Actor::Endpoints,
                Actor::EndpointSliceMirroring,
                Actor::Namespace,
                Actor::GarbageCollector,
            ]);
            // A scheduler that is watched without kubelets was recorded without anybody who looks after nodes.
            if settings.kubelets || !settings.scheduler {
                actors.extend([Actor::NodeLifecycle, Actor::TaintEviction, Actor::PodGarbageCollector]);
            }
        }
        if settings.scheduler {
            actors.push(Actor::Scheduler);
        }
        if settings.kubelets {
            actors.extend(settings.nodes.iter().map(|node| Actor::Kubelet(node.name.as_str().into())));
        }
        if settings.system_pods {
            actors.extend(settings.nodes.iter().map(|node| Actor::KubeProxy(node.name.as_str().into())));
            actors.extend([
                Actor::Provisioner,
                Actor::ServiceLoadBalancer,
                Actor::CoreDns,
                Actor::IngressController,
            ]);
        }
        let component = |actor: &Actor| Component {
            queue: WorkQueue::default(),
            stream: Stream::new(settings.seed, &actor.to_string()),
            memory: Memory::of(actor),
        };
        Self {
            components: actors.into_iter().map(|actor| (actor.clone(), component(&actor))).collect(),
            server_stream: Stream::new(settings.seed, "apiserver"),
            settings: Arc::new(settings),
            world: World::default(),
            store: Store::default(),
            tick: 0,
            origin_tick: 0,
            round: None,
            last_fact: 0,
            events_expire_tick: EVENT_TTL_TICKS,
        }
    }

    /// The machine's tick; see [`Self::visible_tick`] for what is shown.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// The tick as shown: 0 when the set-up was done.
    pub fn visible_tick(&self) -> i64 {
        self.shown(self.tick)
    }

    /// A machine's tick as shown; negative during the set-up.
    pub fn shown(&self, tick: u64) -> i64 {
        tick.cast_signed() - self.origin_tick.cast_signed()
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        Timestamp(EPOCH.0 + self.visible_tick())
    }

    /// Makes the present moment the visible tick 0. Times of what happened before lie before [`EPOCH`], so this is
    /// for an empty cluster, with the number of ticks that the set-up will take.
    pub fn set_origin(&mut self, ticks_ahead: u64) {
        self.origin_tick = self.tick + ticks_ahead;
    }

    /// Whether a tick is under way, with some of its steps done.
    pub fn is_inside_tick(&self) -> bool {
        self.round.is_some()
    }

    /// Steps done and steps due in the tick under way; `None` between ticks.
    pub fn steps(&self) -> Option<(u32, u32)> {
        let round = self.round.as_ref()?;
        let left: usize = self
            .working()
            .map(|(_, component)| component)
            .map(|c| c.queue.iter().take_while(|(_, due)| *due <= self.tick).count())
            .sum();
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        Some((round.steps_done, round.steps_due.max(round.steps_done.saturating_add(left))))
    }

    /// The component at work in the tick under way.
    pub fn acting(&self) -> Option<&Actor> {
        self.round.as_ref().map(|round| &round.actor)
    }

    /// All components, in the order of a tick.
    pub fn components(&self) -> impl Iterator<Item = (&Actor, &Component)> {
        self.components.iter()
    }

    /// One component.
    pub fn component(&self, actor: &Actor) -> Option<&Component> {
        self.components.get(actor)
    }

    /// The components that have not been stopped.
    fn working(&self) -> impl Iterator<Item = (&Actor, &Component)> {
        self.components.iter().filter(|(actor, _)| self.world.works(actor))
    }

    /// The tick in which something other than a heartbeat happens next; `None` when the cluster is quiet.
    pub fn next_busy_tick(&self) -> Option<u64> {
        let pending = self.round.is_some() || self.has_news();
        let now = if self.round.is_some() { self.tick } else { self.tick + 1 };
        let queued = self.working().filter_map(|(_, c)| c.queue.earliest_busy_tick()).min();
        match (pending, queued) {
            (true, _) => Some(now),
            (false, queued) => queued.map(|due| due.max(now)),
        }
    }

    /// Whether nothing but heartbeats is left to do.
    pub fn is_quiet(&self) -> bool {
        self.next_busy_tick().is_none()
    }

    /// Whether changes wait that concern some component.
    fn has_news(&self) -> bool {
        let view = self.view(&self.store);
        self.store.undelivered().iter().filter(|change| is_watched(change)).any(|change| {
            let concerned = self.components.keys().filter(|actor| actor.node().is_none());
            concerned
                .into_iter()
                .any(|actor| component::concerns(actor, &view, change).iter().any(|key| !key.is_routine()))
                || component::node_actors(&view, change)
                    .iter()
                    .any(|(actor, key)| !key.is_routine() && self.components.contains_key(actor))
        })
    }

    /// The newest state, as somebody who is not a component sees it.
    pub fn present_view(&self) -> View<'_> {
        self.view(&self.store)
    }

    fn view<'a>(&'a self, store: &'a Store) -> View<'a> {
        View {
            store,
            now: self.now(),
            tick: self.tick,
            settings: &self.settings,
            world: &self.world,
            nodes: Nodes::of(&self.components),
        }
    }

    /// The requests that Pods send to Services.
    pub fn load(&self) -> Load {
        Load::of(&self.view(&self.store))
    }

    /// What each running container of a Pod uses, by name, in the order of the spec; nothing for a Pod that does not run.
    pub fn used_by(&self, pod: &Pod, load: &Load) -> Vec<(String, Used)> {
        let view = self.view(&self.store);
        metrics::of_pod(view.nodes, pod, load.requests_to(&view, pod))
    }

    /// Asks the API server on a person's behalf. Facts are appended to `facts`.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn ask(&mut self, request: &Request, facts: &mut Vec<Arc<Fact>>) -> Result<Response, Status> {
        self.ask_as(&Actor::You, request, facts)
    }

    /// Asks the API server on behalf of `actor`.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn ask_as(
        &mut self,
        actor: &Actor,
        request: &Request,
        facts: &mut Vec<Arc<Fact>>,
    ) -> Result<Response, Status> {
        let asked = self.record(facts, actor.clone(), None, What::Asked { request: request.summary() });
        if let Some(refusal) = self.world.refusal(actor) {
            return Err(refusal);
        }
        if request.kind == Kind::Pod && request.subresource == "exec" {
            let identity = authn::identify(&self.store, &self.settings, &request.credentials)?;
            authz::authorize(&self.store, &identity, &Access::of(request))?;
            return self.exec(request);
        }
        if request.verb == Verb::DeleteCollection {
            return self.delete_collection(actor, request, asked, facts);
        }
        self.pass_through(actor, request, asked, pipeline::run, facts)
    }

    /// Carries out one request with one of the server's ways through its stages, and records what was said.
    fn pass_through(
        &mut self,
        actor: &Actor,
        request: &Request,
        asked: FactId,
        way: fn(&mut Transaction<'_>, &Request, &mut Passage) -> Result<(Response, Written), Status>,
        facts: &mut Vec<Arc<Fact>>,
    ) -> Result<Response, Status> {
        let mut passage = Passage::of(actor);
        let result = way(&mut self.transaction(actor), request, &mut passage);
        // The write's fact comes first, since the change that watchers get names it; the stages follow.
        let stored = match &result {
            Ok((_, written)) if !request.options.dry_run && !written.is_nothing() => {
                Some(self.record_written(facts, actor.clone(), Some(asked), written, None, false))
            }
            _ => None,
        };
        for (stage, refusal, notes) in passage.stages {
            let cause = Some(stored.unwrap_or(asked));
            self.record(facts, Actor::ApiServer, cause, What::Staged { stage, refusal, notes });
        }
        result.map(|(response, _)| response)
    }

    /// Deletes what a deletion of many selects, one after the other; the answer is the list of what was deleted.
    fn delete_collection(
        &mut self,
        actor: &Actor,
        request: &Request,
        asked: FactId,
        facts: &mut Vec<Arc<Fact>>,
    ) -> Result<Response, Status> {
        let mut passage = Passage::of(actor);
        let parts = pipeline::collection(&self.transaction(actor), request, &mut passage);
        for (stage, refusal, notes) in passage.stages {
            self.record(facts, Actor::ApiServer, Some(asked), What::Staged { stage, refusal, notes });
        }
        let mut items = Vec::new();
        for part in parts? {
            if part.options.dry_run {
                items.extend(self.store.object(&part.key()).map(Object::to_value));
                continue;
            }
            match self.pass_through(actor, &part, asked, pipeline::delete_one, facts) {
                Ok(response) => items.push(response.object),
                Err(status) if status.code == 404 => {}
                Err(status) => return Err(status),
            }
        }
        let changed = !items.is_empty() && !request.options.dry_run;
        let object = serde_json::json!({
            "apiVersion": request.kind.api_version(), "kind": format!("{}List", request.kind.name()), "items": items,
            "metadata": {"resourceVersion": self.store.revision().to_string()},
        });
        Ok(Response { object, changed, warnings: Vec::new() })
    }

    /// A transaction for the write that the next fact will record.
    fn transaction<'a>(&'a mut self, writer: &'a Actor) -> Transaction<'a> {
        let (fact, now) = (FactId(self.last_fact + 1), self.now());
        Transaction {
            store: &mut self.store,
            stream: &mut self.server_stream,
            now,
            settings: &self.settings,
            writer,
            fact,
        }
    }

    /// Does the next work item, beginning a tick if none is under way.
    pub fn step(&mut self, facts: &mut Vec<Arc<Fact>>) -> Moved {
        if self.round.is_none() {
            self.begin_tick(facts);
        }
        match self.next_actor() {
            Some(actor) => Moved::Step { routine: self.handle_next(&actor, facts) },
            None => {
                self.round = None;
                self.send_traffic();
                Moved::TickEnded
            }
        }
    }

    /// Finishes the tick under way, or begins one and finishes it.
    pub fn finish_tick(&mut self, facts: &mut Vec<Arc<Fact>>) {
        while self.step(facts) != Moved::TickEnded {}
    }

    /// Skips to the tick before `tick` if nothing at all is due until then. Returns whether it moved.
    pub fn skip_to_before(&mut self, tick: u64) -> bool {
        let earliest = self.working().filter_map(|(_, c)| c.queue.earliest_due_tick()).min();
        let earliest = earliest.map_or(tick, |due| due.min(tick)).min(self.events_expire_tick);
        let target = earliest.saturating_sub(1);
        if self.round.is_some() || !self.store.undelivered().is_empty() || target <= self.tick {
            return false;
        }
        self.tick = target;
        true
    }

    /// A hash of everything that the cluster's future depends on: equal clusters have equal digests, on every
    /// platform.
    pub fn digest(&self) -> String {
        struct Sink(Sha256);
        impl std::fmt::Write for Sink {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                self.0.update(text.as_bytes());
                Ok(())
            }
        }
        let mut sink = Sink(Sha256::new());
        std::fmt::Write::write_fmt(&mut sink, format_args!("{self:?}")).expect("a hash takes every text");
        sink.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Changes something inside a running container: files, or its process gets the signal to stop.
    pub(super) fn change_inside(
        &mut self,
        pod: &ObjectKey,
        node: &Name,
        container: &str,
        deeds: Vec<Deed>,
        signalled: bool,
    ) {
        let (now, due_tick) = (self.now(), self.tick + 1);
        let Some(component) = self.components.get_mut(&Actor::Kubelet(node.clone())) else { return };
        if let Memory::Kubelet(memory) = &mut component.memory {
            Arc::make_mut(memory).change_inside(pod, container, deeds, signalled, now);
            component.queue.add(WorkKey::Object(pod.clone()), due_tick, None);
        }
    }

    /// Puts a key into a component's queue: for the set-up and for tests.
    pub fn enqueue(&mut self, actor: &Actor, key: WorkKey) {
        let due_tick = self.tick + 1;
        if let Some(component) = self.components.get_mut(actor) {
            component.queue.add(key, due_tick, None);
        }
    }

    fn begin_tick(&mut self, facts: &mut Vec<Arc<Fact>>) {
        self.tick += 1;
        if self.tick >= self.events_expire_tick && self.world.api_answers() {
            self.expire_events(facts);
        }
        let changes = self.store.take_undelivered();
        let base = self.store.clone();
        if let Some(most) = self.world.lags.values().max() {
            self.world.past.push_back(base.clone());
            while self.world.past.len() > *most as usize + 1 {
                self.world.past.pop_front();
            }
        }
        self.deliver(&base, &changes);
        let tick = self.tick;
        let due = |c: &Component| c.queue.iter().take_while(|(_, due)| *due <= tick).count();
        let steps_due = self.working().map(|(_, component)| due(component)).sum::<usize>();
        self.round = Some(Round {
            view: base.clone(),
            base,
            actor: Actor::You,
            steps_done: 0,
            steps_due: u32::try_from(steps_due).unwrap_or(u32::MAX),
        });
    }

    /// Removes the events that nobody has told for an hour. etcd lets leases that end within one minute end together, so
    /// this happens at most once in a minute.
    ///
    /// Models: `--event-ttl` of kube-apiserver, `storage/etcd3/lease_manager.go` (v1.36).
    fn expire_events(&mut self, facts: &mut Vec<Arc<Fact>>) {
        let now = self.now();
        let ttl = EVENT_TTL_TICKS.cast_signed();
        let told_at =
            |event: &Event| event.last_timestamp.max(event.meta.creation_timestamp).unwrap_or(now).min(now);
        let is_due = |event: &&Arc<Event>| now.seconds_since(told_at(event)) >= ttl;
        let due: Vec<ObjectKey> =
            self.store.list::<Event>().filter(is_due).map(|event| event.key()).collect();
        for key in due {
            let old = self.store.remove(&key, &Actor::ApiServer, FactId(self.last_fact + 1));
            let because = Because::new("because.apiserver.event-expired");
            let written = Written { key, old, new: None };
            self.record_written(facts, Actor::ApiServer, None, &written, Some(because), true);
        }
        let oldest = self.store.list::<Event>().map(|event| told_at(event)).min().unwrap_or(now);
        let left = u64::try_from(ttl - now.seconds_since(oldest)).unwrap_or_default();
        self.events_expire_tick = self.tick + left.max(LEASE_TICKS);
    }

    /// Offers changes to every component: the keys they concern go into its queue.
    fn deliver(&mut self, base: &Store, changes: &Vector<Change>) {
        let (settings, world) = (Arc::clone(&self.settings), self.world.clone());
        let (now, tick) = (self.now(), self.tick);
        let view =
            View { store: base, now, tick, settings: &settings, world: &world, nodes: Nodes::default() };
        let singles: Vec<Actor> =
            self.components.keys().filter(|actor| actor.node().is_none()).cloned().collect();
        for change in changes.iter().filter(|change| is_watched(change)) {
            for actor in &singles {
                let keys = component::concerns(actor, &view, change);
                if let (false, Some(component)) = (keys.is_empty(), self.components.get_mut(actor)) {
                    let due_tick = tick + u64::from(world.lags.get(actor).copied().unwrap_or(0));
                    for key in keys {
                        let rank = component::rank(component, base, tick, &key);
                        component.queue.add_ranked(key, due_tick, rank, Some(change.fact));
                    }
                }
            }
            for (actor, key) in component::node_actors(&view, change) {
                let is_cut = actor.node().is_some_and(|node| world.cut.contains_key(node));
                if let Some(component) = self.components.get_mut(&actor).filter(|_| !is_cut) {
                    let due_tick = tick + u64::from(world.lags.get(&actor).copied().unwrap_or(0));
                    component.queue.add(key, due_tick, Some(change.fact));
                }
            }
        }
    }

    fn next_actor(&self) -> Option<Actor> {
        let round = self.round.as_ref()?;
        let mut waiting = self.components.range(round.actor.clone()..);
        waiting
            .find(|(actor, component)| {
                component.queue.next_due(self.tick).is_some() && self.world.works(actor)
            })
            .map(|(actor, _)| actor.clone())
    }

    /// Does one work item of `actor`. Returns whether it was routine.
    fn handle_next(&mut self, actor: &Actor, facts: &mut Vec<Arc<Fact>>) -> bool {
        let tick = self.tick;
        let (Some(mut round), Some(slot)) = (self.round.take(), self.components.get_mut(actor)) else {
            return true;
        };
        // Taken out, so that what it remembers is changed in place unless a moment of history shares it.
        let mut component = std::mem::replace(slot, Component::absent());
        if round.actor != *actor {
            round.actor = actor.clone();
            round.view = self.world.known_to(actor).unwrap_or(&round.base).clone();
        }
        round.steps_done += 1;
        let step = round.steps_done;
        let Some((key, entry)) = component.queue.pop_due(tick) else {
            self.put_back(actor, component);
            self.round = Some(round);
            return true;
        };
        let outcome = component::reconcile(actor, &mut component, &self.view(&round.view), &key);
        self.round = Some(round);
        let idle = outcome.writes.is_empty() && outcome.notes.is_empty();
        let routine = key.writes_routine() || idle;

        let head = self.next_fact_id();
        let head_index = facts.len();
        facts.push(Arc::new(Fact {
            id: head,
            tick,
            step,
            actor: actor.clone(),
            cause: entry.cause,
            what: What::Reconciled { key: key.clone(), writes: 0 },
            saw: outcome.saw,
            because: outcome.because,
            routine,
        }));
        for what in outcome.notes {
            self.record(facts, actor.clone(), Some(head), what);
        }
        let mut writes_done = 0;
        let mut refused: Vec<(Write, Status)> = Vec::new();
        let mut created = Name::default();
        let mut is_created = true;
        let mut writes = outcome.writes;
        if writes.iter().any(|write| matches!(write.operation, Operation::DeleteCollection { .. })) {
            writes = writes.into_iter().flat_map(|write| write.parts(&self.store)).collect();
        }
        for mut write in writes {
            if let Some((first, _)) = refused.first() {
                if first.batch == 0 || write.batch != first.batch {
                    break;
                }
                // Nobody tells of what was not created.
                if !is_created && matches!(write.operation, Operation::Event(_)) {
                    continue;
                }
            }
            write.operation.name_created(&created);
            match self.execute(actor, head, &write, key.writes_routine(), facts) {
                Ok(None) => {}
                Ok(Some(written)) => {
                    writes_done += 1;
                    if matches!(write.operation, Operation::Create(_)) {
                        created = written.name;
                        is_created = true;
                    }
                }
                Err(status) => {
                    is_created = false;
                    refused.push((write, status));
                }
            }
        }
        if !refused.is_empty() {
            // What was stale is looked at again when the news has come; anything else is tried again as it is.
            let is_stale = refused.iter().any(|(_, status)| matches!(status.code, 404 | 409));
            let wait = match component::tries_within_a_tick(actor) && !is_stale {
                true => component.queue.add_after_refusal(key.clone(), tick, Some(head)),
                false => component.queue.add_after_failure(key.clone(), tick, Some(head)),
            };
            for (write, status) in &refused {
                let what = What::Refused {
                    key: write.operation.key(),
                    status: Arc::new(status.clone()),
                    retry_ticks: Some(wait),
                };
                self.record(facts, actor.clone(), Some(head), what);
                let view_store = self.round.as_ref().map(|round| round.view.clone()).unwrap_or_default();
                let more = component::after_refusal(actor, &self.view(&view_store), &key, write, status);
                for write in more {
                    let done = self.execute(actor, head, &write, false, facts);
                    writes_done += u32::from(matches!(done, Ok(Some(_))));
                }
            }
        } else if outcome.failed {
            component.queue.add_after_failure(key.clone(), tick, Some(head));
        } else {
            component.queue.forget(&key);
        }
        for (key, after_ticks) in outcome.again {
            let ranked = |round: &Round| component::rank(&component, &round.view, tick, &key);
            let rank = self.round.as_ref().map_or(0, ranked);
            component.queue.add_ranked(key, tick + after_ticks, rank, Some(head));
        }
        self.put_back(actor, component);
        if let Some(fact) = facts.get_mut(head_index) {
            Arc::make_mut(fact).what = What::Reconciled { key, writes: writes_done };
        }
        routine
    }

    fn put_back(&mut self, actor: &Actor, component: Component) {
        if let Some(slot) = self.components.get_mut(actor) {
            *slot = component;
        }
    }

    /// Carries out one write of a component. Returns what was written; `None` when nothing was changed.
    fn execute(
        &mut self,
        actor: &Actor,
        cause: FactId,
        write: &Write,
        routine: bool,
        facts: &mut Vec<Arc<Fact>>,
    ) -> Result<Option<ObjectKey>, Status> {
        if let Some(refusal) = self.world.refusal(actor) {
            return Err(refusal);
        }
        let before = self.store.undelivered().len();
        let written = self.transaction(actor).execute(write.operation.clone())?;
        if written.is_nothing() {
            return Ok(None);
        }
        if let Some(round) = &mut self.round {
            let changes = self.store.undelivered();
            (before..changes.len())
                .filter_map(|index| changes.get(index))
                .for_each(|change| round.view.follow(change));
        }
        let routine = routine && matches!(write.operation, Operation::Update(_) | Operation::UpdateStatus(_));
        self.record_written(
            facts,
            actor.clone(),
            Some(cause),
            &written,
            Some(write.because.clone()),
            routine,
        );
        Ok(Some(written.key))
    }

    fn record_written(
        &mut self,
        facts: &mut Vec<Arc<Fact>>,
        actor: Actor,
        cause: Option<FactId>,
        written: &Written,
        because: Option<Because>,
        routine: bool,
    ) -> FactId {
        let what =
            What::Wrote { key: written.key.clone(), old: written.old.clone(), new: written.new.clone() };
        let id = self.record(facts, actor, cause, what);
        if let Some(fact) = facts.last_mut() {
            let fact = Arc::make_mut(fact);
            fact.because = because;
            fact.routine = routine;
        }
        id
    }

    pub(super) fn record(
        &mut self,
        facts: &mut Vec<Arc<Fact>>,
        actor: Actor,
        cause: Option<FactId>,
        what: What,
    ) -> FactId {
        let id = self.next_fact_id();
        let step = self.round.as_ref().map_or(0, |round| round.steps_done);
        let step = if matches!(actor, Actor::You | Actor::ApiServer) { 0 } else { step };
        let fact = Fact {
            id,
            tick: self.tick,
            step,
            actor,
            cause,
            what,
            saw: Vec::new(),
            because: None,
            routine: false,
        };
        facts.push(Arc::new(fact));
        id
    }

    fn next_fact_id(&mut self) -> FactId {
        self.last_fact += 1;
        FactId(self.last_fact)
    }
}
