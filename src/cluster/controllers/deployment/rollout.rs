//! One run over one Deployment: its ReplicaSets as they are, and as they are to become.
//!
//! Models: `pkg/controller/deployment/sync.go`, `rolling.go`, `recreate.go` (v1.36).
//! Leaves out: several writes of one ReplicaSet in one run (they are made one), writing the Deployment's status more
//! than once in one run.

use std::sync::Arc;

use super::bounds::{Bounds, ROLLING_UPDATE, Share, proportional_sizes, sharing_order};
use super::progress;
use super::revision::{self, DESIRED_REPLICAS, MAX_REPLICAS, REVISION};
use crate::api::kinds::apps::{Deployment, DeploymentStatus, ReplicaSet};
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, OwnerReference};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::ownership;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation, Write};

const SCALING: &str = "ScalingReplicaSet";

/// A ReplicaSet in the run.
#[derive(Debug)]
struct Member {
    /// As it is to become.
    set: ReplicaSet,
    /// Whether it is still to be created.
    is_new_born: bool,
    /// The reason of its first change, if it is changed.
    because: Option<Because>,
    /// Events that follow its change.
    events: Vec<(EventRecord, Because)>,
}

/// One run over one Deployment.
#[derive(Debug)]
pub struct Rollout {
    stored: Arc<Deployment>,
    /// With the annotations and conditions as they are to become.
    deployment: Deployment,
    bounds: Bounds,
    /// By age, oldest first.
    members: Vec<Member>,
    /// The member that has the present template.
    new: Option<usize>,
    /// Members in the order in which they were first changed.
    changed: Vec<usize>,
    deletions: Vec<Write>,
    now: Timestamp,
    /// Why the run ended as it did.
    because: Option<Because>,
    /// Whether the rollout's progress was judged, so that it can time out.
    pub is_judged: bool,
}

/// What the run found outside the Deployment's own ReplicaSets.
#[derive(Debug, Default)]
pub struct Surroundings<'a> {
    /// Orphans among the ReplicaSets that are to be adopted.
    pub orphans: Vec<Name>,
    /// Names of ReplicaSets that are not the Deployment's, by which its new one may not be called.
    pub taken_names: Vec<Name>,
    /// Pods of the Deployment's ReplicaSets, with the ReplicaSet that owns them.
    pub pods: Vec<&'a Arc<Pod>>,
    /// Whether the namespace is on its way out, so that nothing can be created in it.
    pub namespace_is_terminating: bool,
}

impl Rollout {
    /// A run over the Deployment and the ReplicaSets that it claims.
    pub fn new(stored: &Arc<Deployment>, sets: Vec<ReplicaSet>, now: Timestamp) -> Self {
        let mut sets = sets;
        sets.sort_by(|a, b| {
            (a.meta.creation_timestamp, &a.meta.name).cmp(&(b.meta.creation_timestamp, &b.meta.name))
        });
        let member = |set| Member { set, is_new_born: false, because: None, events: Vec::new() };
        let members: Vec<Member> = sets.into_iter().map(member).collect();
        let template = &stored.spec.template;
        let new = members.iter().position(|m| revision::is_same_template(&m.set.spec.template, template));
        Self {
            stored: Arc::clone(stored),
            deployment: (**stored).clone(),
            bounds: Bounds::of(&stored.spec),
            members,
            new,
            changed: Vec::new(),
            deletions: Vec::new(),
            now,
            because: None,
            is_judged: false,
        }
    }

    /// Decides everything.
    pub fn run(&mut self, surroundings: &Surroundings<'_>) {
        for orphan in &surroundings.orphans {
            if let Some(index) = self.members.iter().position(|m| m.set.meta.name == *orphan) {
                ownership::adopt(&self.deployment, &mut self.members[index].set.meta);
                self.change(index, Because::new("because.deployment.adopt").with("set", orphan));
            }
        }
        if self.deployment.meta.is_terminating() {
            self.sync_revision();
            self.deployment.status = self.counted();
            self.because = Some(Because::new("because.deployment.terminating"));
            return;
        }
        progress::mark_paused(&mut self.deployment, self.now);
        self.sync_revision();
        if self.deployment.spec.paused || self.is_scaling_event() {
            self.scale();
            if self.deployment.spec.paused {
                self.clean_up();
                self.because.get_or_insert_with(|| Because::new("because.deployment.paused"));
            }
            self.deployment.status = self.counted();
            return;
        }
        let goes_on = match self.deployment.spec.strategy.strategy_type.as_str() {
            ROLLING_UPDATE => self.roll(surroundings),
            _ => self.recreate(surroundings),
        };
        if goes_on {
            self.is_judged = true;
            self.report_rollout();
        }
    }

    /// Everything to be written, in order.
    pub fn writes(self) -> (Vec<Write>, DeploymentStatus, Because) {
        let mut writes = Vec::new();
        let mut members: Vec<Option<Member>> = self.members.into_iter().map(Some).collect();
        for index in self.changed {
            let Some(member) = members[index].take() else { continue };
            let because = member.because.unwrap_or_else(|| Because::new("because.deployment.annotate"));
            let set = Object::from(member.set);
            let operation = if member.is_new_born { Operation::Create(set) } else { Operation::Update(set) };
            writes.push(operation.because(because));
            let events = member.events.into_iter();
            writes.extend(events.map(|(event, because)| Operation::Event(event).because(because)));
        }
        writes.extend(self.deletions);
        let status = self.deployment.status.clone();
        let mut because = self.because.or_else(|| writes.first().map(|write| write.because.clone()));
        if self.deployment != *self.stored {
            let why = status_because(&status);
            because.get_or_insert_with(|| why.clone());
            writes.push(Operation::UpdateStatus(self.deployment.into()).because(why));
        }
        let because = because.unwrap_or_else(|| status_because(&status));
        (writes, status, because)
    }

    fn sets(&self) -> Vec<&ReplicaSet> {
        self.members.iter().map(|member| &member.set).collect()
    }

    fn new_set(&self) -> Option<&ReplicaSet> {
        self.new.map(|index| &self.members[index].set)
    }

    /// The old members that have Pods or want some, oldest first.
    fn active_old(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|&index| Some(index) != self.new && self.size(index) > 0).collect()
    }

    fn size(&self, index: usize) -> i32 {
        self.members[index].set.spec.replicas.unwrap_or(1)
    }

    fn total(&self) -> i32 {
        (0..self.members.len()).map(|index| self.size(index)).sum()
    }

    fn change(&mut self, index: usize, because: Because) {
        if !self.changed.contains(&index) {
            self.changed.push(index);
        }
        self.members[index].because.get_or_insert(because);
    }

    fn counted(&self) -> DeploymentStatus {
        progress::counted_status(&self.deployment, &self.sets(), self.new_set(), self.now)
    }

    fn report_rollout(&mut self) {
        let status = progress::rollout_status(&self.deployment, &self.sets(), self.new_set(), self.now);
        self.deployment.status = status;
    }

    /// One more than the highest revision of the old members.
    fn next_revision(&self) -> i64 {
        let old = (0..self.members.len()).filter(|&index| Some(index) != self.new);
        old.map(|index| revision::revision_of(&self.members[index].set.meta)).max().unwrap_or(0) + 1
    }

    /// Gives the present ReplicaSet its revision and annotations, and the Deployment the revision.
    fn sync_revision(&mut self) {
        let Some(index) = self.new else { return };
        let next = self.next_revision();
        let (deployment, set) = (&self.deployment, &mut self.members[index].set);
        let mut is_changed = revision::annotate(deployment, &mut set.meta, next);
        if set.spec.min_ready_seconds != deployment.spec.min_ready_seconds {
            set.spec.min_ready_seconds = deployment.spec.min_ready_seconds;
            is_changed = true;
        }
        let (name, number) = (set.meta.name.clone(), set.meta.annotations.get(REVISION).cloned());
        if is_changed {
            let because = Because::new("because.deployment.annotate")
                .with("set", &name)
                .with("revision", number.as_deref().unwrap_or_default());
            self.change(index, because);
        }
        self.deployment.meta.annotations.extend(number.map(|number| (REVISION.to_string(), number)));
        let is_watched = progress::deadline_seconds(&self.deployment).is_some();
        let status = &mut self.deployment.status;
        if is_watched && progress::condition(status, progress::PROGRESSING).is_none() {
            let message = format!("Found new replica set \"{name}\"");
            progress::set_condition(
                &mut status.conditions,
                (progress::PROGRESSING, "True"),
                ("FoundNewReplicaSet", &message),
                self.now,
            );
        }
    }

    /// Makes the ReplicaSet of the present template if there is none. Returns whether the run goes on.
    fn create_new_set(&mut self, surroundings: &Surroundings<'_>) -> bool {
        if self.new.is_some() {
            return true;
        }
        let mut set = revision::new_replica_set(&self.deployment);
        if surroundings.taken_names.contains(&set.meta.name) {
            let count = self.deployment.status.collision_count.get_or_insert(0);
            *count += 1;
            let because = Because::new("because.deployment.collision").with("set", &set.meta.name);
            self.because = Some(because.with("count", *count));
            return false;
        }
        if surroundings.namespace_is_terminating {
            let because = Because::new("because.deployment.namespace");
            self.because = Some(because.with("namespace", &set.meta.namespace));
            return false;
        }
        let next = self.next_revision();
        let total = self.total();
        let is_rolling = self.deployment.spec.strategy.strategy_type == ROLLING_UPDATE;
        let size = self.bounds.new_set_size(0, total, is_rolling);
        set.spec.replicas = Some(size);
        revision::annotate(&self.deployment, &mut set.meta, next);
        revision::annotate_size(&mut set.meta, self.bounds.wanted, self.bounds.at_most());
        let name = set.meta.name.clone();
        let because = Because::new("because.deployment.create_set")
            .with("set", &name)
            .with("revision", next)
            .with("total", total)
            .with("most", self.bounds.at_most())
            .with("count", size);
        let mut events = Vec::new();
        if size > 0 {
            events.push((self.scaling_event("up", &name, 0, size), because.clone()));
        }
        self.members.push(Member { set, is_new_born: true, because: None, events });
        let index = self.members.len() - 1;
        self.new = Some(index);
        self.change(index, because);
        self.deployment.meta.annotations.insert(REVISION.to_string(), next.to_string());
        if progress::deadline_seconds(&self.deployment).is_some() {
            let message = format!("Created new replica set \"{name}\"");
            progress::set_condition(
                &mut self.deployment.status.conditions,
                (progress::PROGRESSING, "True"),
                ("NewReplicaSetCreated", &message),
                self.now,
            );
        }
        true
    }

    fn scaling_event(&self, direction: &str, set: &str, from: i32, to: i32) -> EventRecord {
        let object = Object::Deployment(Arc::clone(&self.stored));
        let message = format!("Scaled {direction} replica set {set} from {from} to {to}");
        EventRecord::normal(&object, SCALING, message)
    }

    /// Resizes a member. Returns whether its size changed.
    fn resize(&mut self, index: usize, to: i32, because: Because) -> bool {
        let from = self.size(index);
        if from == to {
            return false;
        }
        let set = &mut self.members[index].set;
        set.spec.replicas = Some(to);
        revision::annotate_size(&mut set.meta, self.bounds.wanted, self.bounds.at_most());
        let because = because.with("set", &set.meta.name).with("from", from).with("to", to);
        let name = set.meta.name.clone();
        let event = self.scaling_event(if to > from { "up" } else { "down" }, &name, from, to);
        self.members[index].events.push((event, because.clone()));
        self.change(index, because);
        true
    }

    /// Whether the Deployment's size changed since its ReplicaSets were sized.
    fn is_scaling_event(&self) -> bool {
        self.members.iter().any(|member| {
            member.set.spec.replicas.unwrap_or(1) > 0
                && revision::number_in(&member.set.meta, DESIRED_REPLICAS)
                    .is_some_and(|desired| desired != self.bounds.wanted)
        })
    }

    /// Brings the ReplicaSets to the Deployment's size without moving the rollout on.
    fn scale(&mut self) {
        let old = self.active_old();
        let active_new = self.new.filter(|&index| self.size(index) > 0);
        let wanted = self.bounds.wanted;
        let only = match (old.as_slice(), active_new) {
            ([], Some(new)) => Some(new),
            ([old], None) => Some(*old),
            // Without Pods anywhere, the newest one is it.
            ([], None) => self.new.or(self.members.len().checked_sub(1)),
            _ => None,
        };
        if let Some(only) = only {
            let because = Because::new("because.deployment.scale").with("wanted", wanted);
            if !self.resize(only, wanted, because) && !self.deployment.spec.paused {
                let meta = &self.members[only].set.meta;
                // Kubernetes leaves the annotation as it is (kubernetes/kubernetes#138036), and so the rollout does not move.
                let because = Because::new("because.deployment.stale_size")
                    .with("set", &meta.name)
                    .with("wanted", wanted)
                    .with("desired", revision::number_in(meta, DESIRED_REPLICAS).unwrap_or(0));
                self.because = Some(because);
            }
            return;
        }
        if self.new.is_some_and(|new| self.is_saturated(new)) {
            for index in old {
                self.resize(index, 0, Because::new("because.deployment.saturated").with("wanted", wanted));
            }
            return;
        }
        if self.deployment.spec.strategy.strategy_type == ROLLING_UPDATE {
            self.scale_in_proportion(old.into_iter().chain(active_new).collect());
        }
    }

    fn scale_in_proportion(&mut self, mut active: Vec<usize>) {
        active.sort_unstable();
        let allowed = if self.bounds.wanted > 0 { self.bounds.at_most() } else { 0 };
        let total: i32 = active.iter().map(|&index| self.size(index)).sum();
        let mut order: Vec<(usize, i32)> = active.iter().map(|&index| (index, self.size(index))).collect();
        if allowed != total {
            sharing_order(&mut order, allowed > total);
        }
        let share = |&(index, size): &(usize, i32)| Share {
            size,
            max_replicas: revision::number_in(&self.members[index].set.meta, MAX_REPLICAS),
        };
        let shares: Vec<Share> = order.iter().map(share).collect();
        let sizes = proportional_sizes(self.bounds, self.deployment.status.replicas, &shares);
        for ((index, _), size) in order.into_iter().zip(sizes) {
            let because = Because::new("because.deployment.scale_in_proportion")
                .with("wanted", self.bounds.wanted)
                .with("most", self.bounds.at_most());
            if self.resize(index, size, because) {
                continue;
            }
            let meta = &mut self.members[index].set.meta;
            if revision::annotate_size(meta, self.bounds.wanted, self.bounds.at_most()) {
                let because = Because::new("because.deployment.annotate_size").with("set", &meta.name);
                self.change(index, because.with("wanted", self.bounds.wanted));
            }
        }
    }

    /// Whether a member has reached the Deployment's size with available Pods.
    fn is_saturated(&self, index: usize) -> bool {
        let set = &self.members[index].set;
        let wanted = self.bounds.wanted;
        let desired = revision::number_in(&set.meta, DESIRED_REPLICAS);
        self.size(index) == wanted && desired == Some(wanted) && set.status.available_replicas == wanted
    }

    /// One move of a rolling update. Returns whether it is to be reported.
    fn roll(&mut self, surroundings: &Surroundings<'_>) -> bool {
        if !self.create_new_set(surroundings) {
            return self.deployment.status.collision_count == self.stored.status.collision_count;
        }
        let Some(new) = self.new else { return true };
        if self.grow_new(new) || self.shrink_old(new) {
            return true;
        }
        self.finish();
        true
    }

    /// What is left when nothing is to be resized: old ReplicaSets to forget, or a reason to wait.
    fn finish(&mut self) {
        if progress::is_complete(&self.deployment, &self.stored.status) {
            self.clean_up();
            let because = Because::new("because.deployment.complete").with("wanted", self.bounds.wanted);
            self.because.get_or_insert(because);
        } else if self.changed.is_empty() {
            let available: i32 = self.members.iter().map(|member| member.set.status.available_replicas).sum();
            let because = Because::new("because.deployment.wait")
                .with("total", self.total())
                .with("most", self.bounds.at_most())
                .with("available", available)
                .with("least", self.bounds.at_least());
            self.because.get_or_insert(because);
        }
    }

    fn grow_new(&mut self, new: usize) -> bool {
        let (size, total, wanted) = (self.size(new), self.total(), self.bounds.wanted);
        if size == wanted {
            return false;
        }
        if size > wanted {
            let because = Because::new("because.deployment.shrink_new").with("wanted", wanted);
            return self.resize(new, wanted, because);
        }
        let to = self.bounds.new_set_size(size, total, true);
        let because = Because::new("because.deployment.grow_new")
            .with("wanted", wanted)
            .with("surge", self.bounds.surge)
            .with("total", total)
            .with("most", self.bounds.at_most());
        self.resize(new, to, because)
    }

    fn shrink_old(&mut self, new: usize) -> bool {
        let old = self.active_old();
        if old.is_empty() {
            return false;
        }
        let least = self.bounds.at_least();
        let new_unavailable = self.size(new) - self.members[new].set.status.available_replicas;
        let budget = self.total() - least - new_unavailable;
        if budget <= 0 {
            return false;
        }
        // Pods that do not work go first: they serve nobody, and they would hold the rollout up.
        let mut removed = 0;
        for &index in &old {
            let (size, available) = (self.size(index), self.members[index].set.status.available_replicas);
            if removed >= budget || size == available || size == 0 {
                continue;
            }
            if available > size {
                // Its report is older than its size: nothing can be decided by it.
                let name = self.members[index].set.meta.name.clone();
                self.because = Some(Because::new("because.deployment.stale_report").with("set", name));
                return removed > 0;
            }
            let count = (budget - removed).min(size - available);
            let because = Because::new("because.deployment.clean_up_unhealthy")
                .with("unhealthy", size - available)
                .with("budget", budget);
            self.resize(index, size - count, because);
            removed += count;
        }
        // Those that were sized to 0 may still report Pods that are on their way out: they do not count.
        let counted = old.iter().chain([&new]);
        let available: i32 = counted.map(|&index| self.members[index].set.status.available_replicas).sum();
        let mut spare = available - least;
        for &index in &old {
            let size = self.size(index);
            if spare <= 0 || size == 0 {
                continue;
            }
            let count = size.min(spare);
            let because = Because::new("because.deployment.shrink_old")
                .with("available", available)
                .with("least", least);
            self.resize(index, size - count, because);
            spare -= count;
            removed += count;
        }
        removed > 0
    }

    /// One move of the strategy `Recreate`. Returns whether it is to be reported.
    fn recreate(&mut self, surroundings: &Surroundings<'_>) -> bool {
        let old = self.active_old();
        let mut is_resized = false;
        for index in old {
            is_resized |= self.resize(index, 0, Because::new("because.deployment.recreate"));
        }
        if is_resized {
            return true;
        }
        let left = self.old_pods_left(surroundings);
        if left > 0 {
            self.because = Some(Because::new("because.deployment.recreate_wait").with("left", left));
            return true;
        }
        if !self.create_new_set(surroundings) {
            return self.deployment.status.collision_count == self.stored.status.collision_count;
        }
        if let Some(new) = self.new {
            let wanted = self.bounds.wanted;
            self.resize(new, wanted, Because::new("because.deployment.scale").with("wanted", wanted));
        }
        self.finish();
        true
    }

    /// How many Pods of old ReplicaSets are not over yet.
    fn old_pods_left(&self, surroundings: &Surroundings<'_>) -> usize {
        let old = (0..self.members.len()).filter(|&index| Some(index) != self.new);
        let counted: i32 = old.map(|index| self.members[index].set.status.replicas).sum();
        let new_uid = self.new_set().map(|set| &set.meta.uid);
        let is_old = |owner: &OwnerReference| Some(&owner.uid) != new_uid;
        let pods = surroundings.pods.iter();
        let left = pods.filter(|pod| !pod.is_finished() && pod.meta.controller().is_some_and(is_old)).count();
        left.max(usize::try_from(counted).unwrap_or(0))
    }

    /// Deletes old ReplicaSets beyond the limit of the history, lowest revision first.
    fn clean_up(&mut self) {
        let Some(limit) = self.deployment.spec.revision_history_limit.filter(|&limit| limit != i32::MAX)
        else {
            return;
        };
        let mut old: Vec<&ReplicaSet> = (0..self.members.len())
            .filter(|&index| Some(index) != self.new)
            .map(|index| &self.members[index].set)
            .filter(|set| !set.meta.is_terminating())
            .collect();
        let kept = old.len();
        let excess = kept.saturating_sub(usize::try_from(limit).unwrap_or(0));
        old.sort_by_key(|set| revision::revision_of(&set.meta));
        let mut deletions = Vec::new();
        for set in old.into_iter().take(excess) {
            let has_pods = set.status.replicas != 0 || set.spec.replicas.unwrap_or(1) != 0;
            if has_pods || set.meta.generation > set.status.observed_generation {
                continue;
            }
            let because = Because::new("because.deployment.clean_up")
                .with("set", &set.meta.name)
                .with("revision", revision::revision_of(&set.meta))
                .with("kept", kept)
                .with("limit", limit);
            let delete = Operation::Delete {
                key: set.key(),
                uid: Some(set.meta.uid.clone()),
                grace_seconds: None,
                propagation: Propagation::Background,
            };
            deletions.push(delete.because(because));
        }
        self.deletions = deletions;
    }
}

fn status_because(status: &DeploymentStatus) -> Because {
    Because::new("because.deployment.status")
        .with("replicas", status.replicas)
        .with("updated", status.updated_replicas)
        .with("available", status.available_replicas)
}
