//! What is always true, looked at after every tick; and what happens sometimes, counted.

use std::collections::BTreeMap;

use kubestep::api::kinds::apps::{Deployment, ReplicaSet};
use kubestep::api::kinds::cluster::Node;
use kubestep::api::kinds::event::Event;
use kubestep::api::kinds::pod::Pod;
use kubestep::api::meta::{ObjectKey, Uid};
use kubestep::api::object::Resource;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::fact::What;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::act::Ground;

/// How long the garbage collector may take to notice that an owner is gone.
const COLLECTING_TICKS: u32 = 6;

/// How long the controllers may take to follow a new number of replicas, in ticks in which both of them work.
const FOLLOWING_TICKS: u32 = 6;

/// How long it may take until the Deployment's controller knows that a Pod is available, and acts on it: the ReplicaSet
/// reports it, the Deployment goes by the report, the ReplicaSet follows; a conflict on the way costs a tick.
const REPORTING_TICKS: u32 = 4;

/// What happened in a session, by how often.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    back_offs: u32,
    refusals: u32,
    unschedulable: u32,
    preemptions: u32,
    evictions: u32,
    conflicts: u32,
    budgets_kept: u32,
    rollouts_held_to_bounds: u32,
}

impl Counters {
    fn named(&self) -> [(&'static str, u32); 8] {
        [
            ("back-off", self.back_offs),
            ("refusal", self.refusals),
            ("no node", self.unschedulable),
            ("preemption", self.preemptions),
            ("eviction", self.evictions),
            ("conflict", self.conflicts),
            ("an eviction that a budget forbids", self.budgets_kept),
            ("a rollout held to its bounds", self.rollouts_held_to_bounds),
        ]
    }

    /// Adds what happened in another session.
    pub fn add(&mut self, other: &Self) {
        self.back_offs += other.back_offs;
        self.refusals += other.refusals;
        self.unschedulable += other.unschedulable;
        self.preemptions += other.preemptions;
        self.evictions += other.evictions;
        self.conflicts += other.conflicts;
        self.budgets_kept += other.budgets_kept;
        self.rollouts_held_to_bounds += other.rollouts_held_to_bounds;
    }

    /// What never happened.
    pub fn never(&self) -> Vec<&'static str> {
        self.named().into_iter().filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
    }
}

/// What was seen so far.
pub struct Watch {
    /// What happened.
    pub counters: Counters,
    revision: u64,
    nodes: BTreeMap<Uid, String>,
    lost: BTreeMap<ObjectKey, u32>,
    rollouts: BTreeMap<Uid, Rollout>,
}

/// One Deployment, as the bounds of its rollouts are judged.
#[derive(Clone, Debug, Default)]
struct Rollout {
    /// Ticks in which both controllers worked: a new Deployment may find sets that are still too large for it.
    followed_ticks: u32,
    generation: i64,
    wanted: i32,
    /// The most replicas that were wanted lately: the controllers take some ticks to follow.
    wanted_lately: Vec<i32>,
    /// Ticks since anything but the controllers changed how many Pods there are to be, or are.
    calm_ticks: u32,
    /// Whether as many as must be were available since then.
    is_up: bool,
    /// The available Pods, each with for how many ticks it has been so.
    available: BTreeMap<Uid, u32>,
}

impl Watch {
    /// Looks from here on.
    pub fn new(ground: &Ground) -> Self {
        Self {
            counters: Counters::default(),
            revision: ground.cluster.store.revision(),
            nodes: BTreeMap::new(),
            lost: BTreeMap::new(),
            rollouts: BTreeMap::new(),
        }
    }

    /// Looks at what happened since the last time, and at what is there now.
    ///
    /// # Errors
    /// The promise that is broken.
    pub fn look(&mut self, ground: &mut Ground) -> Result<(), TestCaseError> {
        self.counters.evictions += std::mem::take(&mut ground.evictions);
        self.counters.budgets_kept += std::mem::take(&mut ground.evictions_refused);
        let deleted_by_controller = self.look_at_facts(ground)?;
        look_at_nodes(ground)?;
        self.look_at_owners(ground)?;
        self.look_at_rollouts(ground, &deleted_by_controller)?;
        ground.facts.clear();
        Ok(())
    }

    /// Versions only grow, and a Pod that is bound stays where it is. Returns the Pods that the ReplicaSet controller chose
    /// to delete.
    fn look_at_facts(&mut self, ground: &Ground) -> Result<BTreeMap<Uid, ()>, TestCaseError> {
        let mut deleted = BTreeMap::new();
        for fact in &ground.facts {
            match &fact.what {
                What::Wrote { key, old, new } => {
                    if let Some(new) = new {
                        let revision = new.meta().resource_version.0;
                        prop_assert!(
                            revision > self.revision,
                            "{key} got version {revision} after {}",
                            self.revision
                        );
                        self.revision = revision;
                    }
                    let pod = new.as_ref().and_then(Pod::from_object);
                    if let Some(pod) = pod.filter(|pod| pod.is_bound()) {
                        let node = self
                            .nodes
                            .entry(pod.meta.uid.clone())
                            .or_insert_with(|| pod.node_name.to_string());
                        prop_assert_eq!(node.as_str(), &*pod.node_name, "{} stays on its node", key);
                    }
                    let was = old.as_ref().and_then(Pod::from_object);
                    if fact.actor == Actor::ReplicaSet
                        && let Some(was) = was
                        && pod.is_none_or(|pod| pod.meta.is_terminating())
                    {
                        deleted.insert(was.meta.uid.clone(), ());
                    }
                    let event = new.as_ref().and_then(Event::from_object);
                    match event.map(|event| event.reason.as_str()) {
                        Some("BackOff") => self.counters.back_offs += 1,
                        Some("Preempted") => self.counters.preemptions += 1,
                        Some("TaintManagerEviction") => self.counters.evictions += 1,
                        _ => {}
                    }
                }
                What::Refused { status, .. } => {
                    self.counters.refusals += 1;
                    self.counters.conflicts += u32::from(status.reason == "Conflict");
                }
                What::Compared { verdicts, .. } => {
                    self.counters.unschedulable += u32::from(verdicts.chosen.is_none());
                }
                _ => {}
            }
        }
        Ok(deleted)
    }

    /// Who has lost an owner goes soon.
    fn look_at_owners(&mut self, ground: &Ground) -> Result<(), TestCaseError> {
        let store = &ground.cluster.store;
        let uids: std::collections::BTreeSet<&str> =
            store.objects().map(|object| &*object.meta().uid).collect();
        let is_lost = |object: &&kubestep::api::object::Object| {
            let owners = &object.meta().owner_references;
            !object.meta().is_terminating()
                && !owners.is_empty()
                && owners.iter().all(|owner| !uids.contains(&*owner.uid))
        };
        let lost: Vec<ObjectKey> = store.objects().filter(is_lost).map(|object| object.key()).collect();
        self.lost.retain(|key, _| lost.contains(key));
        for key in lost {
            let ticks = self.lost.entry(key.clone()).or_insert(0);
            *ticks += 1;
            prop_assert!(*ticks <= COLLECTING_TICKS, "{key} has lost its owner and stays");
        }
        Ok(())
    }

    /// The bounds of rolling updates.
    ///
    /// At most `replicas + maxSurge` Pods are active, where `replicas` is the largest that was wanted in the last ticks in
    /// which both controllers worked. Once the controllers know of `replicas - maxUnavailable` available Pods, so many stay
    /// available until somebody else than the ReplicaSet controller takes one away: a person, an eviction, a preemption, a
    /// lost node, a container that ends. A Pod that has only just become available is not promised to stay: a set that was
    /// reported to have unhealthy Pods is made smaller, and then all its Pods may be healthy. Going back to a template
    /// whose set is being shrunk begins anew: the controller goes by reports that do not tell yet of the Pods that are
    /// about to go. Both are as in Kubernetes, whose Deployment controller goes by the reports of the ReplicaSets.
    fn look_at_rollouts(
        &mut self,
        ground: &Ground,
        deleted: &BTreeMap<Uid, ()>,
    ) -> Result<(), TestCaseError> {
        let store = &ground.cluster.store;
        let world = &ground.cluster.world;
        let works = world.works(&Actor::Deployment) && world.works(&Actor::ReplicaSet);
        let deployments: Vec<_> = store.list::<Deployment>().collect();
        self.rollouts.retain(|uid, _| deployments.iter().any(|it| it.meta.uid == *uid));
        for deployment in deployments {
            let sets: Vec<Uid> = store
                .list::<ReplicaSet>()
                .filter(|set| set.meta.is_controlled_by(&deployment.meta.uid))
                .map(|set| set.meta.uid.clone())
                .collect();
            let pods: Vec<_> = store
                .list::<Pod>()
                .filter(|pod| pod.is_active() && sets.iter().any(|set| pod.meta.is_controlled_by(set)))
                .collect();
            let wanted = deployment.spec.replicas.unwrap_or(1);
            let bounds = kubestep::cluster::controllers::deployment::bounds::Bounds::of(&deployment.spec);
            let rollout = self.rollouts.entry(deployment.meta.uid.clone()).or_default();
            let template = &deployment.spec.template.spec;
            let goes_back = rollout.generation != deployment.meta.generation
                && store
                    .list::<ReplicaSet>()
                    .filter(|set| sets.contains(&set.meta.uid))
                    .any(|set| set.spec.template.spec == *template && set.spec.replicas != Some(0));
            rollout.generation = deployment.meta.generation;
            if rollout.wanted != wanted || !works || goes_back {
                rollout.wanted = wanted;
                rollout.calm_ticks = 0;
                rollout.is_up = false;
            }
            if works {
                rollout.followed_ticks += 1;
                rollout.wanted_lately.push(wanted);
                let old = rollout.wanted_lately.len().saturating_sub(FOLLOWING_TICKS as usize);
                rollout.wanted_lately.drain(..old);
            } else {
                // What stood in the way of following is over some ticks after it works again.
                let most = rollout.wanted_lately.iter().copied().max().unwrap_or(wanted).max(wanted);
                rollout.wanted_lately.fill(most);
                if rollout.wanted_lately.is_empty() {
                    rollout.wanted_lately.push(most);
                }
            }
            let most = rollout.wanted_lately.iter().copied().max().unwrap_or(wanted) + bounds.surge;
            let active = i32::try_from(pods.len()).unwrap();
            if !deployment.meta.is_terminating() && rollout.followed_ticks > FOLLOWING_TICKS {
                prop_assert!(
                    active <= most,
                    "{} has {active} Pods, at most {most} are allowed",
                    deployment.meta.name
                );
            }

            let since = |uid: &Uid| rollout.available.get(uid).copied().unwrap_or(0) + 1;
            let ready = pods.iter().filter(|pod| pod.is_ready());
            let available: BTreeMap<Uid, u32> =
                ready.map(|pod| (pod.meta.uid.clone(), since(&pod.meta.uid))).collect();
            let taken = rollout
                .available
                .keys()
                .any(|uid| !available.contains_key(uid) && !deleted.contains_key(uid));
            if taken {
                rollout.calm_ticks = 0;
                rollout.is_up = false;
            }
            rollout.calm_ticks += 1;
            let least = wanted - bounds.unavailable;
            let count = i32::try_from(available.len()).unwrap();
            let known = available.values().filter(|ticks| **ticks > REPORTING_TICKS).count();
            rollout.available = available;
            if rollout.is_up {
                self.counters.rollouts_held_to_bounds += 1;
                prop_assert!(
                    count >= least,
                    "{} has {count} available Pods, at least {least} are promised",
                    deployment.meta.name
                );
            } else {
                rollout.is_up =
                    i32::try_from(known).unwrap() >= least && rollout.calm_ticks > FOLLOWING_TICKS;
            }
        }
        Ok(())
    }
}

/// What the Pods on a node ask for fits it.
fn look_at_nodes(ground: &Ground) -> Result<(), TestCaseError> {
    let store = &ground.cluster.store;
    for node in store.list::<Node>() {
        let on_it: Vec<_> = store.pods_on(&node.meta.name).filter(|pod| !pod.is_finished()).collect();
        for resource in ["cpu", "memory"] {
            let asked: i64 = on_it
                .iter()
                .flat_map(|pod| &pod.spec.containers)
                .filter_map(|container| container.resources.requests.get(resource))
                .map(|quantity| quantity.milli())
                .sum();
            let has = node.status.allocatable.get(resource).map_or(0, |quantity| quantity.milli());
            prop_assert!(
                asked <= has,
                "the Pods on {} ask for {asked} thousandths of {resource}, it has {has}",
                node.meta.name
            );
        }
    }
    Ok(())
}
