//! The DaemonSet controller: one Pod on every node that wants one.
//!
//! Watches: DaemonSets, Pods, Nodes.
//! Writes: Pods, ControllerRevisions, DaemonSet status, events.
//! Models: `pkg/controller/daemon/daemon_controller.go`, `update.go` (v1.36): `syncDaemonSet`, `manage`,
//! `podsShouldBeOnNode`, `rollingUpdate`, `updateDaemonSetStatus`, `shouldIgnoreNodeUpdate`.
//! Leaves out: the back-off of Pods that fail again and again.

mod nodes;
mod update;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::nodes::{Wish, target_of, tie, tolerations, wish};
use self::update::PodsOnNode;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, Toleration};
use crate::api::kinds::workloads::{ControllerRevision, DaemonSet, DaemonSetStatus};
use crate::api::object::{Object, Resource};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership::{self, Claim};
use crate::cluster::pod_template::pod_of;
use crate::cluster::queue::WorkKey;
use crate::cluster::revisions::{self, History, REVISION_HASH, Style};
use crate::cluster::server::request::Propagation;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{CREATED_NAME, EventRecord, Operation, Write};
use crate::cluster::store::Change;

/// The annotation that counts the templates, and the label with that count.
const GENERATION_ANNOTATION: &str = "deprecated.daemonset.template.generation";
const GENERATION_LABEL: &str = "pod-template-generation";
/// The most Pods created or deleted in one go.
const BURST_REPLICAS: usize = 250;

const SUCCESSFUL_CREATE: &str = "SuccessfulCreate";
const FAILED_CREATE: &str = "FailedCreate";
const SUCCESSFUL_DELETE: &str = "SuccessfulDelete";
const FAILED_DAEMON_POD: &str = "FailedDaemonPod";
const SUCCEEDED_DAEMON_POD: &str = "SucceededDaemonPod";
const SELECTING_ALL: &str = "SelectingAll";

const REVISIONS: Style = Style { hash_label: REVISION_HASH, because: "because.daemonset.revision" };

/// The keys that a change concerns. That a node has gone concerns nobody; its Pods are collected elsewhere.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::DaemonSet => vec![WorkKey::Object(change.key.clone())],
        Kind::Pod => {
            let pods = [change.old_as::<Pod>(), change.new_as::<Pod>()];
            let mut keys: Vec<_> = pods
                .into_iter()
                .flatten()
                .filter_map(|pod| ownership::controller_key(Kind::DaemonSet, &pod.meta))
                .collect();
            keys.dedup();
            if let Some(pod) = change.new_as::<Pod>().filter(|pod| pod.meta.controller().is_none()) {
                let sets = view.store.list_in::<DaemonSet>(&pod.meta.namespace);
                let matching = sets.filter(|set| set.spec.selector.matches(&pod.meta.labels));
                keys.extend(matching.map(|set| WorkKey::Object(set.key())));
            }
            keys
        }
        Kind::Node => {
            let (old, Some(new)) = (change.old_as::<Node>(), change.new_as::<Node>()) else {
                return Vec::new();
            };
            let is_alike =
                |old: &Arc<Node>| old.meta.labels == new.meta.labels && old.spec.taints == new.spec.taints;
            if old.is_some_and(is_alike) {
                return Vec::new();
            }
            let differs = |set: &&Arc<DaemonSet>| {
                let tolerations = tolerations(&set.spec.template.spec);
                let now = wish(set, &tolerations, new);
                match old {
                    Some(old) => now != wish(set, &tolerations, old),
                    None => now.should_run,
                }
            };
            view.store.list::<DaemonSet>().filter(differs).map(|set| WorkKey::Object(set.key())).collect()
        }
        _ => Vec::new(),
    }
}

/// Handles one DaemonSet.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(set) = key.object().and_then(|key| view.store.at::<DaemonSet>(key)) else {
        return Outcome::nothing(Because::new("because.daemonset.gone"));
    };
    if set.spec.selector.is_empty() {
        let because = Because::new("because.daemonset.selects_all");
        let mut outcome = Outcome::nothing(because.clone());
        let text = "This daemon set is selecting all pods. A non-empty selector is required.";
        let event = EventRecord::warning(&Object::DaemonSet(Arc::clone(set)), SELECTING_ALL, text);
        outcome.writes.push(Operation::Event(event).because(because));
        return outcome;
    }
    let collisions = set.status.collision_count.unwrap_or(0);
    let history = revisions::history(view.store, &**set, &set.spec.template, collisions, &REVISIONS);
    let mut sync = Sync::of(view, set, &history);
    if set.meta.is_terminating() {
        sync.say(Because::new("because.daemonset.terminating"));
    } else {
        let adopted = sync.outcome.writes.len();
        sync.outcome.writes.splice(0..0, history.writes.clone());
        let before = history.writes.len() + adopted;
        sync.manage();
        // New Pods are looked at before old ones are replaced.
        if sync.outcome.writes.len() == before && set.spec.update_strategy.strategy_type != "OnDelete" {
            sync.update();
        }
        sync.clean_up(&history);
    }
    sync.report(&history);
    sync.look_again(key);
    sync.outcome
}

/// What is still to be written after a refusal: the event about it.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(set) = key.object().and_then(|key| view.store.at::<DaemonSet>(key)) else { return Vec::new() };
    if !matches!(&write.operation, Operation::Create(Object::Pod(_))) {
        return Vec::new();
    }
    let because = Because::new("because.daemonset.refused").with("message", &status.message);
    let text = format!("Error creating: {}", status.message);
    let event = EventRecord::warning(&Object::DaemonSet(Arc::clone(set)), FAILED_CREATE, text);
    vec![Operation::Event(event).because(because)]
}

/// One look at a DaemonSet.
struct Sync<'a> {
    view: &'a View<'a>,
    set: &'a Arc<DaemonSet>,
    /// The hash of the present template.
    hash: String,
    /// Its Pods by the node they are on or tied to, oldest first.
    pods: BTreeMap<String, Vec<Arc<Pod>>>,
    tolerations: Vec<Toleration>,
    /// What it wants of each node.
    wishes: BTreeMap<&'a str, Wish>,
    outcome: Outcome,
}

impl<'a> Sync<'a> {
    fn of(view: &'a View<'a>, set: &'a Arc<DaemonSet>, history: &History) -> Self {
        let mut outcome = Outcome::default();
        let mut pods: BTreeMap<String, Vec<Arc<Pod>>> = BTreeMap::new();
        let owned = view.store.owned_by(&set.meta.uid).filter_map(Object::get::<Pod>);
        let owned = owned.filter(|pod| pod.meta.is_controlled_by(&set.meta.uid));
        for pod in owned.chain(view.store.orphan_pods_in(&set.meta.namespace)) {
            let matches = set.spec.selector.matches(&pod.meta.labels);
            match ownership::claim(&set.meta, &pod.meta, matches) {
                Claim::Owned => {}
                Claim::Adopt => {
                    let mut adopted = (**pod).clone();
                    ownership::adopt(&**set, &mut adopted.meta);
                    let because = Because::new("because.daemonset.adopt").with("pod", &pod.meta.name);
                    outcome.writes.push(Operation::Update(adopted.into()).because(because));
                }
                Claim::Release => {
                    let mut freed = (**pod).clone();
                    ownership::release(&set.meta, &mut freed.meta);
                    let because = Because::new("because.daemonset.release").with("pod", &pod.meta.name);
                    outcome.writes.push(Operation::Update(freed.into()).because(because));
                    continue;
                }
                Claim::Foreign => continue,
            }
            // One that has ended and is on its way out is as good as gone.
            if pod.is_finished() && pod.meta.is_terminating() {
                continue;
            }
            if let Some(node) = target_of(pod) {
                pods.entry(node).or_default().push(Arc::clone(pod));
            }
        }
        for pods in pods.values_mut() {
            pods.sort_by_key(|pod| (!pod.is_bound(), pod.meta.creation_timestamp, pod.meta.name.clone()));
        }
        let tolerations = tolerations(&set.spec.template.spec);
        let wishes: BTreeMap<&str, Wish> =
            view.store.list::<Node>().map(|node| (&*node.meta.name, wish(set, &tolerations, node))).collect();
        let wanted = wishes.values().filter(|wish| wish.should_run).count();
        let saw = Because::new("because.daemonset.saw").with("name", &set.meta.name).with("wanted", wanted);
        let count = pods.values().map(Vec::len).sum::<usize>();
        outcome.saw.push(saw.with("nodes", wishes.len()).with("pods", count));
        let hash = history.update.meta.labels.get(REVISION_HASH).cloned().unwrap_or_default();
        Self { view, set, hash, pods, tolerations, wishes, outcome }
    }

    fn say(&mut self, because: Because) {
        self.outcome.because.get_or_insert(because);
    }

    fn object(&self) -> Object {
        Object::DaemonSet(Arc::clone(self.set))
    }

    fn generation(&self) -> Option<&String> {
        self.set.meta.annotations.get(GENERATION_ANNOTATION)
    }

    /// Whether the Pod is of the present template.
    fn is_updated(&self, pod: &Pod) -> bool {
        let label = |key: &str| pod.meta.labels.get(key);
        let same_generation = self.generation().is_some_and(|wanted| label(GENERATION_LABEL) == Some(wanted));
        same_generation || (!self.hash.is_empty() && label(REVISION_HASH) == Some(&self.hash))
    }

    fn is_available(&self, pod: &Pod) -> bool {
        pod.is_available(self.set.spec.min_ready_seconds, self.view.now)
    }

    /// How many nodes may have two Pods, and how many may be without a working one.
    fn bounds(&self) -> (usize, usize) {
        let wanted = self.wishes.values().filter(|wish| wish.should_run).count();
        let wanted = i32::try_from(wanted).unwrap_or(i32::MAX);
        let rolling = self.set.spec.update_strategy.rolling_update.clone().unwrap_or_default();
        let scaled = |bound: Option<crate::api::int_or_string::IntOrString>| {
            let count = bound.and_then(|bound| bound.scaled(wanted, true)).unwrap_or(0);
            usize::try_from(count).unwrap_or(0)
        };
        match (scaled(rolling.max_surge), scaled(rolling.max_unavailable)) {
            (0, 0) => (0, 1),
            bounds => bounds,
        }
    }

    /// Makes Pods where they are missing, deletes those that have no business where they are.
    fn manage(&mut self) {
        let has_surge = self.bounds().0 > 0;
        let wishes: Vec<(&str, Wish)> = self.wishes.iter().map(|(node, wish)| (*node, *wish)).collect();
        let mut create = Vec::new();
        let wanted = self.wishes.values().filter(|wish| wish.should_run).count();
        for (node, wish) in wishes {
            let pods = self.pods.get(node).cloned().unwrap_or_default();
            if wish.should_run && pods.is_empty() {
                create.push(node.to_string());
            } else if wish.may_stay {
                self.prune(node, &pods, has_surge);
            } else {
                for pod in pods.iter().filter(|pod| !pod.meta.is_terminating()) {
                    let because = Because::new("because.daemonset.delete_unwanted").with("node", node);
                    self.delete(pod, because.with("wanted", wanted));
                }
            }
        }
        // A Pod that waits for a node that is gone would wait for ever.
        let lost: Vec<Arc<Pod>> = self
            .pods
            .iter()
            .filter(|(node, _)| !self.wishes.contains_key(node.as_str()))
            .flat_map(|(_, pods)| pods)
            .filter(|pod| !pod.is_bound() && !pod.meta.is_terminating())
            .cloned()
            .collect();
        for pod in lost {
            self.delete(&pod, Because::new("because.daemonset.delete_lost"));
        }
        self.create(&create, "because.daemonset.create");
    }

    /// Deletes Pods that have ended, and surplus ones, on a node that may keep one.
    fn prune(&mut self, node: &str, pods: &[Arc<Pod>], has_surge: bool) {
        let mut running = Vec::new();
        for pod in pods.iter().filter(|pod| !pod.meta.is_terminating()) {
            let name = format!("{}/{}", pod.meta.namespace, pod.meta.name);
            let object = self.object();
            let event = match pod.status.phase.as_str() {
                "Failed" => {
                    let text = format!("Found failed daemon pod {name} on node {node}, will try to kill it");
                    EventRecord::warning(&object, FAILED_DAEMON_POD, text)
                }
                "Succeeded" => {
                    let text =
                        format!("Found succeeded daemon pod {name} on node {node}, will try to delete it");
                    EventRecord::normal(&object, SUCCEEDED_DAEMON_POD, text)
                }
                _ => {
                    running.push(Arc::clone(pod));
                    continue;
                }
            };
            let because = Because::new("because.daemonset.delete_finished")
                .with("node", node)
                .with("phase", &pod.status.phase);
            self.outcome.writes.push(Operation::Event(event).because(because.clone()));
            self.delete(pod, because);
        }
        let mut surplus = running.split_off(running.len().min(1));
        if has_surge && !surplus.is_empty() {
            // The oldest Pod of either revision stays: an old one that is ready while the new one is not.
            running.append(&mut surplus);
            let (new, old): (Vec<_>, Vec<_>) = running.into_iter().partition(|pod| self.is_updated(pod));
            let first_new_ready = new.first().is_some_and(|pod| self.is_available(pod));
            let first_old_ready = old.first().is_some_and(|pod| self.is_available(pod));
            let keep_old =
                usize::from(!old.is_empty() && (new.is_empty() || (!first_new_ready && first_old_ready)));
            let keep_new = usize::from(!new.is_empty());
            // An old Pod beside an available new one is left to the update, which says why it goes.
            let keep_old = keep_old.max(usize::from(first_new_ready && !old.is_empty()));
            surplus = new.into_iter().skip(keep_new).chain(old.into_iter().skip(keep_old)).collect();
        }
        for pod in surplus {
            let because = Because::new("because.daemonset.delete_surplus").with("node", node);
            self.delete(&pod, because.with("found", pods.len()));
        }
    }

    fn create(&mut self, nodes: &[String], key: &'static str) {
        let object = self.object();
        let count = nodes.len().min(BURST_REPLICAS);
        let mut template =
            pod_of(&self.set.spec.template, &self.set.meta, ownership::controller_reference(&**self.set));
        Arc::make_mut(&mut template.spec).tolerations = self.tolerations.clone();
        if let Some(generation) = self.generation() {
            template.meta.labels.insert(GENERATION_LABEL.to_string(), generation.clone());
        }
        template.meta.labels.insert(REVISION_HASH.to_string(), self.hash.clone());
        for (index, node) in nodes.iter().take(count).enumerate() {
            let mut pod = template.clone();
            tie(&mut pod, node);
            let because = Because::new(key).with("node", node).with("count", count);
            let event =
                EventRecord::normal(&object, SUCCESSFUL_CREATE, format!("Created pod: {CREATED_NAME}"));
            let create = Operation::Create(pod.into()).because(because.clone());
            let tell = Operation::Event(event).because(because.clone());
            self.outcome.writes.extend([create, tell].map(|write| write.slow_start(index)));
            self.say(because);
        }
    }

    fn delete(&mut self, pod: &Arc<Pod>, because: Because) {
        let because = because.with("pod", &pod.meta.name);
        let delete = Operation::Delete {
            key: pod.key(),
            uid: Some(pod.meta.uid.clone()),
            grace_seconds: None,
            propagation: Propagation::Background,
        };
        let text = format!("Deleted pod: {}", pod.meta.name);
        let event = EventRecord::normal(&self.object(), SUCCESSFUL_DELETE, text);
        self.outcome.writes.push(delete.because(because.clone()));
        self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        self.say(because);
    }

    /// Replaces Pods of older templates, within the bounds.
    fn update(&mut self) {
        let (most_surge, most_missing) = self.bounds();
        let states: Vec<(String, PodsOnNode)> = self
            .pods
            .iter()
            .map(|(node, pods)| {
                let state = PodsOnNode::of(pods, |pod| self.is_updated(pod), |pod| self.is_available(pod));
                let should_run = self.wishes.get(node.as_str()).is_some_and(|wish| wish.should_run);
                (node.clone(), PodsOnNode { should_run, ..state })
            })
            .collect();
        let plan = match most_surge {
            0 => update::plan_in_place(&states, most_missing),
            _ => update::plan_with_surge(&states, most_surge),
        };
        let old = states.iter().filter(|(_, state)| state.old.is_some()).count();
        for pod in &plan.delete {
            let because = Because::new("because.daemonset.delete_old").with("old", old);
            self.delete(pod, because.with("most", most_missing));
        }
        self.create(&plan.create, "because.daemonset.create_beside");
        if old > 0 && plan.delete.is_empty() && plan.create.is_empty() {
            let because = Because::new("because.daemonset.wait_update").with("old", old);
            self.say(because.with("most", most_missing.max(most_surge)));
        }
    }

    /// Forgets the oldest revisions beyond the limit.
    fn clean_up(&mut self, history: &History) {
        let limit = usize::try_from(self.set.spec.revision_history_limit.unwrap_or(10)).unwrap_or(0);
        let used = |revision: &ControllerRevision| {
            let hash = revision.meta.labels.get(REVISION_HASH);
            let mut pods = self.pods.values().flatten();
            revision.meta.name == history.update.meta.name
                || pods.any(|pod| hash.is_some() && pod.meta.labels.get(REVISION_HASH) == hash)
        };
        let writes = history.plan_cleanup(limit, "because.daemonset.forget", used);
        self.outcome.writes.extend(writes);
    }

    /// Reports how many nodes have what they should have.
    fn report(&mut self, history: &History) {
        let mut status = DaemonSetStatus {
            observed_generation: self.set.meta.generation,
            collision_count: (history.collision_count > 0).then_some(history.collision_count),
            conditions: self.set.status.conditions.clone(),
            rest: self.set.status.rest.clone(),
            ..DaemonSetStatus::default()
        };
        for (node, wish) in &self.wishes {
            let first = self.pods.get(*node).and_then(|pods| pods.first());
            // Where a Pod may stay, it counts as wanted, though no new one would be made.
            let is_wanted = wish.should_run || (wish.may_stay && first.is_some());
            if !is_wanted {
                status.number_misscheduled += i32::from(first.is_some());
                continue;
            }
            status.desired_number_scheduled += 1;
            let Some(pod) = first else { continue };
            status.current_number_scheduled += 1;
            status.number_ready += i32::from(pod.is_ready());
            status.number_available += i32::from(self.is_available(pod));
            status.updated_number_scheduled += i32::from(self.is_updated(pod));
        }
        status.number_unavailable = status.desired_number_scheduled - status.number_available;
        let (wanted, ready) = (status.desired_number_scheduled, status.number_ready);
        if status != self.set.status {
            let because = Because::new("because.daemonset.status")
                .with("wanted", wanted)
                .with("current", status.current_number_scheduled)
                .with("ready", ready)
                .with("updated", status.updated_number_scheduled);
            let mut set = Arc::clone(self.set);
            Arc::make_mut(&mut set).status = status;
            let write = Operation::UpdateStatus(Object::DaemonSet(set)).because(because.clone());
            self.outcome.writes.push(write);
            self.say(because);
        }
        self.say(Because::new("because.daemonset.satisfied").with("wanted", wanted).with("ready", ready));
    }

    /// Looks again when the next ready Pod counts as available.
    fn look_again(&mut self, key: &WorkKey) {
        let (seconds, now) = (i64::from(self.set.spec.min_ready_seconds), self.view.now);
        let wait = self.pods.values().flatten().filter_map(|pod| {
            let ticks = pod.ready_since()?.0 + seconds - now.0;
            u64::try_from(ticks).ok().filter(|&ticks| ticks > 0)
        });
        if let Some(ticks) = wait.min() {
            self.outcome.look_again(key.clone(), ticks);
        }
    }
}
