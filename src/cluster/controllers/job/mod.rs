//! The Job controller: Pods until enough of them have succeeded, or too many have failed.
//!
//! Watches: Jobs, Pods.
//! Writes: Pods (create, delete, the tracking finalizer), Job status, events.
//! Models: `pkg/controller/job/job_controller.go`, `tracking_utils.go` (v1.36): `syncJob`, `manageJob`,
//! `trackJobStatusAndRemoveFinalizers`, `enactJobFinished`, `syncOrphanPod`.
//! Leaves out: the limit of 500 uncounted Pods at a time.

mod indexes;
mod policy;

use std::sync::Arc;

use serde_json::{Value, json};

use self::indexes::{COMPLETION_INDEX, INDEX_FAILURES, INDEX_IGNORED_FAILURES, Indexes, index_of};
use self::policy::Verdict;
use crate::api::kind::Kind;
use crate::api::kinds::Condition;
use crate::api::kinds::batch::{Job, JobStatus, UncountedPods};
use crate::api::kinds::pod::{EnvVar, Pod, PodSpec};
use crate::api::meta::{ObjectKey, ObjectMeta, Revision};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership::{self, Claim};
use crate::cluster::pod_template::pod_of;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{CREATED_NAME, EventRecord, Operation, Write};
use crate::cluster::store::Change;

/// The finalizer by which the controller counts a Pod's end exactly once.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";
/// The most Pods created or deleted in one go.
const MAX_PODS: usize = 500;

const SUCCESSFUL_CREATE: &str = "SuccessfulCreate";
const FAILED_CREATE: &str = "FailedCreate";
const SUCCESSFUL_DELETE: &str = "SuccessfulDelete";

const COMPLETE: &str = "Complete";
const FAILED: &str = "Failed";
const FAILURE_TARGET: &str = "FailureTarget";
const SUCCESS_CRITERIA_MET: &str = "SuccessCriteriaMet";
const SUSPENDED: &str = "Suspended";

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Job => {
            let mut keys = vec![WorkKey::Object(change.key.clone())];
            if let (Some(old), None) = (&change.old, &change.new) {
                // Its Pods may still carry the finalizer.
                let pods = view.store.owned_by(&old.meta().uid).filter(|object| is_tracked(object.meta()));
                keys.extend(pods.map(|pod| WorkKey::Object(pod.key())));
            }
            keys
        }
        Kind::Pod => {
            let metas = [change.old.as_ref(), change.new.as_ref()];
            let mut keys: Vec<_> = metas
                .into_iter()
                .flatten()
                .filter_map(|object| ownership::controller_key(Kind::Job, object.meta()))
                .collect();
            keys.dedup();
            let is_orphan = |object: &Object| {
                is_tracked(object.meta())
                    && ownership::controller_key(Kind::Job, object.meta())
                        .is_none_or(|key| key.object().is_none_or(|key| view.store.object(key).is_none()))
            };
            if change.new.as_ref().is_some_and(is_orphan) {
                keys.push(WorkKey::Object(change.key.clone()));
            }
            // One that nobody manages may be some Job's.
            if let Some(pod) = change.new_as::<Pod>().filter(|pod| pod.meta.controller().is_none())
                && !pod.meta.labels.is_empty()
            {
                let selects = |job: &&Arc<Job>| {
                    job.spec.selector.as_ref().is_some_and(|selector| selector.matches(&pod.meta.labels))
                };
                let jobs = view.store.list_in::<Job>(&change.key.namespace).filter(selects);
                keys.extend(jobs.map(|job| WorkKey::Object(job.key())));
            }
            keys
        }
        _ => Vec::new(),
    }
}

fn is_tracked(meta: &ObjectMeta) -> bool {
    meta.finalizers.iter().any(|finalizer| finalizer == TRACKING)
}

/// Handles one Job, or one Pod whose Job is gone.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(object) = key.object() else { return Outcome::default() };
    if object.kind == Kind::Pod {
        return let_go(view, object);
    }
    let Some(job) = view.store.at::<Job>(object) else {
        return Outcome::nothing(Because::new("because.job.gone"));
    };
    if job.spec.managed_by.as_deref().is_some_and(|manager| manager != "kubernetes.io/job-controller") {
        return Outcome::nothing(Because::new("because.job.managed_by_other"));
    }
    Sync::of(view, job, key).run()
}

/// Takes the finalizer off a Pod whose Job is gone.
fn let_go(view: &View<'_>, key: &ObjectKey) -> Outcome {
    let Some(pod) = view.store.at::<Pod>(key).filter(|pod| is_tracked(&pod.meta)) else {
        return Outcome::nothing(Because::new("because.job.gone"));
    };
    let owner = ownership::controller_key(Kind::Job, &pod.meta);
    let job = owner.as_ref().and_then(WorkKey::object).and_then(|key| view.store.at::<Job>(key));
    if job.is_some_and(|job| pod.meta.is_controlled_by(&job.meta.uid)) {
        return Outcome::nothing(Because::new("because.job.pod_has_job").with("pod", &pod.meta.name));
    }
    let because = Because::new("because.job.let_go").with("pod", &pod.meta.name);
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.push(untracked(pod).because(because));
    outcome
}

/// The Pod without the finalizer.
fn untracked(pod: &Pod) -> Operation {
    let mut freed = pod.clone();
    freed.meta.finalizers.retain(|finalizer| finalizer != TRACKING);
    // Whatever else happened to the Pod meanwhile stays: only the finalizer goes.
    Operation::Update(freed.into())
}

/// What is still to be written after a refusal: the event about it.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(job) = key.object().and_then(|key| view.store.at::<Job>(key)) else { return Vec::new() };
    if !matches!(&write.operation, Operation::Create(Object::Pod(_))) {
        return Vec::new();
    }
    let because = Because::new("because.job.refused").with("message", &status.message);
    let text = format!("Error creating: {}", status.message);
    let event = EventRecord::warning(&Object::Job(Arc::clone(job)), FAILED_CREATE, text);
    vec![Operation::Event(event).because(because)]
}

/// One look at a Job.
struct Sync<'a> {
    view: &'a View<'a>,
    job: &'a Arc<Job>,
    key: &'a WorkKey,
    /// All its Pods, by name.
    pods: Vec<Arc<Pod>>,
    /// Those neither finished nor terminating.
    active: Vec<Arc<Pod>>,
    succeeded: i32,
    failed: i32,
    succeeded_indexes: Indexes,
    failed_indexes: Indexes,
    status: JobStatus,
    /// Uids of ends that are counted once their Pods have lost the finalizer.
    uncounted: UncountedPods,
    /// Pods that this look deletes.
    deleted: Vec<Arc<Pod>>,
    /// How many Pods will be active when it is done.
    will_be_active: i32,
    /// The end that it has found: the interim condition.
    end: Option<Condition>,
    outcome: Outcome,
}

fn count<T>(items: &[T]) -> i32 {
    i32::try_from(items.len()).unwrap_or(i32::MAX)
}

impl<'a> Sync<'a> {
    fn of(view: &'a View<'a>, job: &'a Arc<Job>, key: &'a WorkKey) -> Self {
        let owned = view.store.owned_by(&job.meta.uid).filter_map(Object::get::<Pod>);
        let owned = owned.filter(|pod| pod.meta.is_controlled_by(&job.meta.uid));
        let (mut pods, mut outcome): (Vec<Arc<Pod>>, Outcome) = Default::default();
        for pod in owned.chain(view.store.orphan_pods_in(&job.meta.namespace)) {
            let matches =
                job.spec.selector.as_ref().is_some_and(|selector| selector.matches(&pod.meta.labels));
            let mut changed = (**pod).clone();
            let key = match ownership::claim(&job.meta, &pod.meta, matches) {
                Claim::Owned => {
                    pods.push(Arc::clone(pod));
                    continue;
                }
                Claim::Foreign => continue,
                Claim::Adopt => {
                    ownership::adopt(&**job, &mut changed.meta);
                    if !is_tracked(&pod.meta) {
                        changed.meta.finalizers.push(TRACKING.to_string());
                    }
                    "because.job.adopt"
                }
                Claim::Release => {
                    ownership::release(&job.meta, &mut changed.meta);
                    changed.meta.finalizers.retain(|finalizer| finalizer != TRACKING);
                    "because.job.release"
                }
            };
            let because = Because::new(key).with("pod", &pod.meta.name).with("job", &job.meta.name);
            outcome.because.get_or_insert(because.clone());
            if key == "because.job.adopt" {
                pods.push(Arc::new(changed.clone()));
            }
            outcome.writes.push(Operation::Update(changed.into()).because(because));
        }
        pods.sort_by(|one, other| one.meta.name.cmp(&other.meta.name));
        let active: Vec<Arc<Pod>> = pods.iter().filter(|pod| pod.is_active()).cloned().collect();
        Self {
            view,
            job,
            key,
            will_be_active: count(&active),
            pods,
            active,
            succeeded: 0,
            failed: 0,
            succeeded_indexes: Indexes::new(),
            failed_indexes: Indexes::new(),
            status: job.status.clone(),
            uncounted: UncountedPods::default(),
            deleted: Vec::new(),
            end: None,
            outcome,
        }
    }

    fn say(&mut self, because: Because) {
        self.outcome.because.get_or_insert(because);
    }

    fn is_indexed(&self) -> bool {
        self.job.spec.completion_mode == "Indexed"
    }

    fn is_suspended(&self) -> bool {
        self.job.spec.suspend == Some(true)
    }

    /// Whether only Pods that have really failed are replaced, not those on their way out.
    fn waits_for_failed(&self) -> bool {
        self.job.spec.pod_replacement_policy == "Failed"
    }

    fn has_failed(&self, pod: &Pod) -> bool {
        let is_lost =
            pod.meta.is_terminating() && pod.status.phase != "Succeeded" && !self.waits_for_failed();
        pod.status.phase == "Failed" || is_lost
    }

    fn run(mut self) -> Outcome {
        if let Some(end) = self.job.finished() {
            self.say(Because::new("because.job.finished").with("end", &end.condition_type));
            self.free_all();
            return self.outcome;
        }
        self.count_ends();
        let (wanted, limit) = (self.job.spec.completions, self.job.spec.backoff_limit.unwrap_or(6));
        let saw = Because::new("because.job.saw")
            .with("name", &self.job.meta.name)
            .with("wanted", wanted.map_or("–".to_string(), |wanted| wanted.to_string()))
            .with("active", self.active.len())
            .with("succeeded", self.succeeded)
            .with("failed", self.failed)
            .with("limit", limit);
        self.outcome.saw.push(saw);
        if self.status.start_time.is_none() && !self.is_suspended() {
            self.status.start_time = Some(self.view.now);
        }
        self.find_end();
        let terminating =
            self.pods.iter().filter(|pod| pod.meta.is_terminating() && !pod.is_finished()).count();
        if self.end.is_some() {
            let active = self.active.clone();
            self.delete(&active, "because.job.delete_rest");
        } else if !self.job.meta.is_terminating() {
            self.manage(i32::try_from(terminating).unwrap_or(i32::MAX));
            self.find_success();
        }
        self.report(terminating);
        self.outcome
    }

    /// A Job that has ended lets go of all its Pods.
    fn free_all(&mut self) {
        let tracked: Vec<_> = self.pods.iter().filter(|pod| is_tracked(&pod.meta)).cloned().collect();
        for pod in tracked {
            let because = Because::new("because.job.let_go_finished").with("pod", &pod.meta.name);
            self.outcome.writes.push(untracked(&pod).because(because));
        }
    }

    /// Counts the ends of Pods: those of Pods that have lost the finalizer are in the numbers, the others are noted down
    /// first, so that none is counted twice or never.
    fn count_ends(&mut self) {
        let noted = self.status.uncounted.take().unwrap_or_default();
        let is_held =
            |uid: &String| self.pods.iter().any(|pod| *pod.meta.uid == **uid && is_tracked(&pod.meta));
        let (succeeded, counted): (Vec<String>, Vec<String>) = noted.succeeded.into_iter().partition(is_held);
        self.status.succeeded += count(&counted);
        let (failed, counted): (Vec<String>, Vec<String>) = noted.failed.into_iter().partition(is_held);
        self.status.failed += count(&counted);
        self.uncounted = UncountedPods { succeeded, failed, ..UncountedPods::default() };
        let is_noted = |uncounted: &UncountedPods, pod: &Pod| {
            let mut noted = uncounted.succeeded.iter().chain(&uncounted.failed);
            noted.any(|uid| **uid == *pod.meta.uid)
        };
        for pod in self.pods.iter().filter(|pod| is_tracked(&pod.meta)) {
            if is_noted(&self.uncounted, pod) {
                continue;
            }
            if pod.status.phase == "Succeeded" && !self.is_indexed() {
                self.uncounted.succeeded.push(pod.meta.uid.to_string());
            } else if self.has_failed(pod) && policy::judge(self.job, pod) != Verdict::Ignore {
                self.uncounted.failed.push(pod.meta.uid.to_string());
            }
        }
        self.succeeded = self.status.succeeded + count(&self.uncounted.succeeded);
        self.failed = self.status.failed + count(&self.uncounted.failed);
        if !self.is_indexed() {
            return;
        }
        let completions = self.job.spec.completions.unwrap_or(0);
        let is_below = |index: &i32| *index < completions;
        self.succeeded_indexes = indexes::parse(&self.status.completed_indexes, completions);
        let newly = self.pods.iter().filter(|pod| is_tracked(&pod.meta) && pod.status.phase == "Succeeded");
        let newly: Vec<i32> = newly.filter_map(|pod| index_of(pod)).filter(is_below).collect();
        self.succeeded_indexes.extend(newly);
        self.succeeded = i32::try_from(self.succeeded_indexes.len()).unwrap_or(i32::MAX);
        if let Some(limit) = self.job.spec.backoff_limit_per_index {
            let known = self.status.failed_indexes.as_deref().unwrap_or_default();
            self.failed_indexes = indexes::parse(known, completions);
            let newly: Vec<i32> = self
                .pods
                .iter()
                .filter(|pod| is_tracked(&pod.meta) && self.has_failed(pod))
                .filter(|pod| match policy::judge(self.job, pod) {
                    Verdict::FailIndex => true,
                    Verdict::Ignore => false,
                    _ => indexes::failures_before(pod, INDEX_FAILURES) >= limit,
                })
                .filter_map(|pod| index_of(pod))
                .filter(is_below)
                .collect();
            self.failed_indexes.extend(newly);
        }
    }

    /// Looks for a reason to end that does not depend on what is done next.
    fn find_end(&mut self) {
        let spec = &self.job.spec;
        let standing = |condition_type: &str| {
            self.status.conditions.iter().find(|c| c.condition_type == condition_type && c.status == "True")
        };
        if let Some(condition) = standing(SUCCESS_CRITERIA_MET).or_else(|| standing(FAILURE_TARGET)) {
            self.end = Some(condition.clone());
            return;
        }
        let failed = self.pods.iter().filter(|pod| is_tracked(&pod.meta) && self.has_failed(pod));
        let by_policy = failed.into_iter().find_map(|pod| match policy::judge(self.job, pod) {
            Verdict::FailJob(message) => Some(message),
            _ => None,
        });
        let deadline = spec.active_deadline_seconds.zip(self.status.start_time);
        let left_seconds = deadline
            .filter(|_| !self.is_suspended())
            .map(|(seconds, start)| start.0 + seconds - self.view.now.0);
        let limit = spec.backoff_limit.unwrap_or(6);
        let found = if let Some(message) = by_policy {
            Some((FAILURE_TARGET, "PodFailurePolicy", message))
        } else if self.failed > limit || policy::is_past_restart_limit(self.job, &self.pods) {
            Some((
                FAILURE_TARGET,
                "BackoffLimitExceeded",
                "Job has reached the specified backoff limit".to_string(),
            ))
        } else if left_seconds.is_some_and(|left| left <= 0) {
            Some((
                FAILURE_TARGET,
                "DeadlineExceeded",
                "Job was active longer than specified deadline".to_string(),
            ))
        } else {
            self.end_of_indexes()
        };
        if let Some((condition_type, reason, message)) = found {
            self.end = Some(condition(condition_type, "True", reason, &message, self.view.now));
        } else if let Some(left) = left_seconds.and_then(|left| u64::try_from(left).ok()) {
            self.outcome.look_again(self.key.clone(), left);
        }
    }

    /// Looks for a reason to end among the indexes.
    fn end_of_indexes(&self) -> Option<(&'static str, &'static str, String)> {
        if !self.is_indexed() {
            return None;
        }
        let spec = &self.job.spec;
        let (succeeded, failed) = (self.succeeded_indexes.len(), self.failed_indexes.len());
        let completions = usize::try_from(spec.completions.unwrap_or(0)).unwrap_or(0);
        let most = spec.max_failed_indexes.and_then(|most| usize::try_from(most).ok());
        if most.is_some_and(|most| failed > most) {
            let message = "Job has exceeded the specified maximal number of failed indexes";
            return Some((FAILURE_TARGET, "MaxFailedIndexesExceeded", message.to_string()));
        }
        if failed > 0 && failed + succeeded >= completions {
            return Some((FAILURE_TARGET, "FailedIndexes", "Job has failed indexes".to_string()));
        }
        let message = policy::success_by_policy(self.job, &self.succeeded_indexes)?;
        Some((SUCCESS_CRITERIA_MET, "SuccessPolicy", message))
    }

    /// Creates or deletes Pods.
    fn manage(&mut self, terminating: i32) {
        if self.is_suspended() {
            let active = self.active.clone();
            self.delete(&active, "because.job.delete_suspended");
            return;
        }
        let spec = &self.job.spec;
        let active = count(&self.active);
        let parallelism = spec.parallelism.unwrap_or(1);
        let wanted = match spec.completions {
            None if self.succeeded > 0 => active,
            None => parallelism,
            Some(completions) => (completions - self.succeeded).clamp(0, parallelism),
        };
        let surplus = self.surplus(usize::try_from(active - wanted).unwrap_or(0));
        if !surplus.is_empty() {
            self.delete(&surplus, "because.job.delete");
            return;
        }
        let gone = if self.waits_for_failed() { terminating } else { 0 };
        let missing = wanted - gone - active;
        if missing <= 0 {
            return;
        }
        let wait = self.back_off_seconds();
        if wait > 0 && spec.backoff_limit_per_index.is_none() {
            self.say(Because::new("because.job.back_off").with("failed", self.failed).with("seconds", wait));
            self.outcome.look_again(self.key.clone(), u64::try_from(wait).unwrap_or(1));
            return;
        }
        self.create(usize::try_from(missing).unwrap_or(0).min(MAX_PODS), wanted);
    }

    fn back_off_seconds(&self) -> i64 {
        let ended = |pod: &Arc<Pod>| {
            let failed = self.has_failed(pod);
            let counts = failed || pod.status.phase == "Succeeded";
            Some((policy::finished_at(pod).filter(|_| counts)?, failed))
        };
        let ended: Vec<_> = self.pods.iter().filter_map(ended).collect();
        policy::back_off_seconds(&ended, self.view.now)
    }

    /// The active Pods that are too many: those of indexes that are done or doubled, then the least advanced ones.
    fn surplus(&self, count: usize) -> Vec<Arc<Pod>> {
        let mut seen = Indexes::new();
        let completions = self.job.spec.completions.unwrap_or(i32::MAX);
        let is_misplaced = |pod: &Arc<Pod>, seen: &mut Indexes| match index_of(pod) {
            Some(index) => {
                index >= completions || self.succeeded_indexes.contains(&index) || !seen.insert(index)
            }
            None => true,
        };
        let mut gone: Vec<Arc<Pod>> = Vec::new();
        let mut left = Vec::new();
        for pod in &self.active {
            let misplaced = self.is_indexed() && is_misplaced(pod, &mut seen);
            if misplaced { gone.push(Arc::clone(pod)) } else { left.push(Arc::clone(pod)) }
        }
        left.sort_by_key(|pod| {
            let phase = match pod.status.phase.as_str() {
                "Pending" => 0,
                "Unknown" => 1,
                _ => 2,
            };
            (pod.is_bound(), phase, pod.is_ready(), std::cmp::Reverse(pod.meta.creation_timestamp))
        });
        let more = count.saturating_sub(gone.len());
        gone.extend(left.into_iter().take(more));
        gone.truncate(MAX_PODS);
        gone
    }

    /// Deletes Pods. They lose the finalizer first, so that their ends do not count by themselves.
    fn delete(&mut self, pods: &[Arc<Pod>], key: &'static str) {
        let object = Object::Job(Arc::clone(self.job));
        for pod in pods {
            let because = Because::new(key)
                .with("pod", &pod.meta.name)
                .with("count", pods.len())
                .with("active", self.active.len())
                .with("succeeded", self.succeeded);
            if is_tracked(&pod.meta) {
                self.outcome.writes.push(untracked(pod).because(because.clone()));
            }
            let delete = Operation::Delete {
                key: pod.key(),
                uid: Some(pod.meta.uid.clone()),
                grace_seconds: None,
                propagation: Propagation::Background,
            };
            let text = format!("Deleted pod: {}", pod.meta.name);
            let event = EventRecord::normal(&object, SUCCESSFUL_DELETE, text);
            self.outcome.writes.push(delete.because(because.clone()));
            self.outcome.writes.push(Operation::Event(event).because(because.clone()));
            self.deleted.push(Arc::clone(pod));
            self.will_be_active -= 1;
            self.say(because);
        }
    }

    fn create(&mut self, missing: usize, wanted: i32) {
        let indexes = if self.is_indexed() { self.free_indexes(missing) } else { vec![0; missing] };
        let is_indexed = self.is_indexed();
        let object = Object::Job(Arc::clone(self.job));
        let because = Because::new("because.job.create")
            .with("count", indexes.len())
            .with("wanted", wanted)
            .with("active", self.active.len())
            .with("succeeded", self.succeeded);
        let reference = ownership::controller_reference(&**self.job);
        let mut template = pod_of(&self.job.spec.template, &self.job.meta, reference);
        template.meta.finalizers.push(TRACKING.to_string());
        for (place, index) in indexes.into_iter().enumerate() {
            let mut pod = template.clone();
            if is_indexed {
                self.give_index(&mut pod, index);
            }
            let event =
                EventRecord::normal(&object, SUCCESSFUL_CREATE, format!("Created pod: {CREATED_NAME}"));
            let create = Operation::Create(pod.into()).because(because.clone());
            let tell = Operation::Event(event).because(because.clone());
            self.outcome.writes.extend([create, tell].map(|write| write.slow_start(place)));
            self.will_be_active += 1;
        }
        self.say(because);
    }

    /// The lowest indexes that need a Pod.
    fn free_indexes(&mut self, count: usize) -> Vec<i32> {
        let completions = self.job.spec.completions.unwrap_or(0);
        let mut taken: Indexes = self.active.iter().filter_map(|pod| index_of(pod)).collect();
        if self.waits_for_failed() {
            let going = self.pods.iter().filter(|pod| pod.meta.is_terminating() && !pod.is_finished());
            taken.extend(going.filter_map(|pod| index_of(pod)));
        }
        taken.extend(&self.succeeded_indexes);
        taken.extend(&self.failed_indexes);
        if self.job.spec.backoff_limit_per_index.is_some() {
            // Each index backs off by itself.
            let mut next = None;
            for index in indexes::first_pending(&taken, usize::MAX, completions) {
                let wait = self.last_failure(index).map_or(0, |(pod, failures)| {
                    let at = policy::finished_at(&pod).unwrap_or(self.view.now);
                    let times = vec![(at, true); usize::try_from(failures).unwrap_or(1).max(1)];
                    policy::back_off_seconds(&times, self.view.now)
                });
                if wait > 0 {
                    taken.insert(index);
                    next = Some(next.map_or(wait, |least: i64| least.min(wait)));
                }
            }
            if let Some(seconds) = next {
                self.outcome.look_again(self.key.clone(), u64::try_from(seconds).unwrap_or(1));
            }
        }
        indexes::first_pending(&taken, count, completions)
    }

    /// The failed Pod of an index that has seen most failures, and how many the index has had with it.
    fn last_failure(&self, index: i32) -> Option<(Arc<Pod>, i32)> {
        let failed = self.pods.iter().filter(|pod| index_of(pod) == Some(index) && self.has_failed(pod));
        let before = |pod: &Pod| indexes::failures_before(pod, INDEX_FAILURES);
        let last = failed.max_by_key(|pod| {
            (before(pod) + indexes::failures_before(pod, INDEX_IGNORED_FAILURES), policy::finished_at(pod))
        })?;
        let counts = i32::from(policy::judge(self.job, last) != Verdict::Ignore);
        Some((Arc::clone(last), before(last) + counts))
    }

    /// Tells a Pod which index it has.
    fn give_index(&self, pod: &mut Pod, index: i32) {
        pod.meta.generate_name = format!("{}-{index}-", self.job.meta.name).into();
        pod.meta.annotations.insert(COMPLETION_INDEX.to_string(), index.to_string());
        pod.meta.labels.insert(COMPLETION_INDEX.to_string(), index.to_string());
        if self.job.spec.backoff_limit_per_index.is_some() {
            let failures = self.last_failure(index).map_or(0, |(_, failures)| failures);
            pod.meta.annotations.insert(INDEX_FAILURES.to_string(), failures.to_string());
        }
        let spec = Arc::make_mut(&mut pod.spec);
        spec.rest.set("hostname", Some(json!(format!("{}-{index}", self.job.meta.name))));
        tell_index(spec);
    }

    /// Looks whether enough Pods have succeeded now.
    fn find_success(&mut self) {
        let is_complete = match self.job.spec.completions {
            None => self.succeeded > 0 && self.will_be_active == 0,
            Some(completions) => self.succeeded >= completions && self.will_be_active == 0,
        };
        let now = self.view.now;
        if is_complete {
            let message = "Reached expected number of succeeded pods";
            self.end = Some(condition(SUCCESS_CRITERIA_MET, "True", "CompletionsReached", message, now));
            return;
        }
        let object = Object::Job(Arc::clone(self.job));
        let (status, reason, message, event) = match self.is_suspended() {
            true => ("True", "JobSuspended", "Job suspended", "Suspended"),
            false => ("False", "JobResumed", "Job resumed", "Resumed"),
        };
        let because = Because::new("because.job.suspend")
            .with("suspend", self.is_suspended())
            .with("active", self.active.len());
        if set_condition(&mut self.status, condition(SUSPENDED, status, reason, message, now)) {
            let event = EventRecord::normal(&object, event, message);
            self.outcome.writes.push(Operation::Event(event).because(because));
            self.status.start_time = (!self.is_suspended()).then_some(now);
        }
    }

    /// Lets go of the Pods whose ends count now, and reports.
    fn report(&mut self, terminating: usize) {
        let fails = self.end.as_ref().is_some_and(|end| end.condition_type == FAILURE_TARGET);
        let mut freed = Vec::new();
        for pod in self.pods.iter().filter(|pod| is_tracked(&pod.meta)) {
            let is_deleted = self.deleted.iter().any(|gone| gone.meta.uid == pod.meta.uid);
            let has_ended = self.has_failed(pod) || pod.status.phase == "Succeeded";
            let uid = pod.meta.uid.to_string();
            if fails && !has_ended && !self.uncounted.failed.contains(&uid) {
                // In a Job that has failed, whatever has not ended has failed, too.
                self.uncounted.failed.push(uid);
            }
            if !is_deleted && (has_ended || self.end.is_some() || self.job.meta.is_terminating()) {
                let key = match (has_ended, pod.status.phase.as_str()) {
                    (true, "Succeeded") => "because.job.count_success",
                    (true, _) => "because.job.count_failure",
                    (false, _) => "because.job.let_go_finished",
                };
                let because = Because::new(key)
                    .with("pod", &pod.meta.name)
                    .with("succeeded", self.succeeded)
                    .with(
                        "wanted",
                        self.job.spec.completions.map_or("–".to_string(), |wanted| wanted.to_string()),
                    )
                    .with("failed", self.failed)
                    .with("limit", self.job.spec.backoff_limit.unwrap_or(6));
                freed.push(untracked(pod).because(because));
            }
        }
        let deleted_ready = self.deleted.iter().filter(|pod| pod.is_ready()).count();
        let ready = self.active.iter().filter(|pod| pod.is_ready()).count().saturating_sub(deleted_ready);
        let terminating = terminating + self.deleted.len();
        let status = &mut self.status;
        status.active = self.will_be_active;
        status.ready = Some(i32::try_from(ready).unwrap_or(i32::MAX));
        status.terminating = Some(i32::try_from(terminating).unwrap_or(i32::MAX));
        if self.job.spec.completion_mode == "Indexed" {
            status.completed_indexes = indexes::write(&self.succeeded_indexes);
            status.succeeded = self.succeeded;
            if self.job.spec.backoff_limit_per_index.is_some() {
                status.failed_indexes = Some(indexes::write(&self.failed_indexes));
            }
        }
        if let Some(end) = self.end.clone() {
            set_condition(status, end);
        }
        let noted = self.uncounted.succeeded.len() + self.uncounted.failed.len();
        if noted > 0 || !freed.is_empty() {
            self.status.uncounted = Some(self.uncounted.clone());
            let because = Because::new("because.job.note").with("count", noted);
            self.write_status(because);
        }
        self.outcome.writes.extend(freed);
        if !self.is_indexed() {
            self.status.succeeded = self.succeeded;
        }
        self.status.failed += count(&self.uncounted.failed);
        self.status.uncounted = Some(UncountedPods::default());
        // The end is final once nothing is left that could still change it.
        let end = self.end.clone().filter(|_| terminating == 0 && self.will_be_active == 0);
        if let Some(end) = end {
            self.finish(&end);
        }
        let because = Because::new("because.job.status")
            .with("active", self.status.active)
            .with("ready", self.status.ready.unwrap_or(0))
            .with("succeeded", self.status.succeeded)
            .with("failed", self.status.failed);
        if noted > 0 || self.status != self.job.status {
            self.write_status(because.clone());
            self.say(because);
        }
        let (active, succeeded) = (self.status.active, self.status.succeeded);
        self.say(Because::new("because.job.nothing").with("active", active).with("succeeded", succeeded));
    }

    /// Writes the report as it stands; a second one in the same look builds on the first.
    fn write_status(&mut self, because: Because) {
        let mut job = (**self.job).clone();
        let is_first =
            !self.outcome.writes.iter().any(|write| matches!(write.operation, Operation::UpdateStatus(_)));
        if !is_first {
            job.meta.resource_version = Revision(0);
        }
        job.status = self.status.clone();
        self.outcome.writes.push(Operation::UpdateStatus(job.into()).because(because));
    }

    /// Declares the Job complete or failed.
    fn finish(&mut self, end: &Condition) {
        let (now, object) = (self.view.now, Object::Job(Arc::clone(self.job)));
        let succeeds = end.condition_type == SUCCESS_CRITERIA_MET;
        let last = if succeeds { COMPLETE } else { FAILED };
        set_condition(&mut self.status, condition(last, "True", &end.reason, &end.message, now));
        let because = Because::new(if succeeds { "because.job.complete" } else { "because.job.failed" })
            .with("succeeded", self.succeeded)
            .with("failed", self.failed)
            .with("message", &end.message);
        let event = if succeeds {
            self.status.completion_time = Some(now);
            EventRecord::normal(&object, "Completed", "Job completed")
        } else {
            EventRecord::warning(&object, failure_reason(&end.reason), end.message.clone())
        };
        self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        self.outcome.because = Some(because);
    }
}

/// The reason of an event about a failed Job.
fn failure_reason(reason: &str) -> &'static str {
    const REASONS: [&str; 5] = [
        "PodFailurePolicy",
        "BackoffLimitExceeded",
        "DeadlineExceeded",
        "MaxFailedIndexesExceeded",
        "FailedIndexes",
    ];
    REASONS.into_iter().find(|known| *known == reason).unwrap_or(FAILED)
}

fn condition(condition_type: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> Condition {
    Condition {
        condition_type: condition_type.to_string(),
        status: status.to_string(),
        last_probe_time: Some(now),
        last_transition_time: Some(now),
        reason: reason.to_string(),
        message: message.to_string(),
        ..Condition::default()
    }
}

/// Sets a condition. One that is false is not added. Returns whether anything changed.
fn set_condition(status: &mut JobStatus, new: Condition) -> bool {
    match status.conditions.iter_mut().find(|known| known.condition_type == new.condition_type) {
        None if new.status == "False" => false,
        None => {
            status.conditions.push(new);
            true
        }
        Some(old) if (&old.status, &old.reason, &old.message) == (&new.status, &new.reason, &new.message) => {
            false
        }
        Some(old) => {
            *old = new;
            true
        }
    }
}

/// Puts the index into every container's environment.
fn tell_index(spec: &mut PodSpec) {
    const NAME: &str = "JOB_COMPLETION_INDEX";
    let value_from: Value = json!({"fieldRef": {"apiVersion": "v1", "fieldPath": format!("metadata.labels['{COMPLETION_INDEX}']")}});
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        if !container.env.iter().any(|known| known.name == NAME) {
            let variable =
                EnvVar { name: NAME.to_string(), value_from: value_from.clone(), ..EnvVar::default() };
            container.env.push(variable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::machine::Cluster;
    use crate::cluster::server::request::{Request, Verb};
    use crate::cluster::settings::{NodeSetup, Settings};

    #[test]
    fn a_pod_that_nobody_manages_is_taken_and_one_that_matches_no_longer_is_let_go() {
        let mut cluster = Cluster::boot(Settings::bare(1, vec![NodeSetup::new("node-1")]));
        let mut ask = |verb, kind, name: &str, body, ticks| {
            cluster.ask(&Request::new(verb, kind, "default", name, body), &mut Vec::new()).unwrap();
            (0..ticks).for_each(|_| cluster.finish_tick(&mut Vec::new()));
            let pods = cluster.store.list_in::<Pod>("default");
            let words = |pod: &Arc<Pod>| {
                let owner = pod.meta.controller().map_or("", |owner| &owner.name);
                format!("{} {owner} {}", &pod.meta.name[..3], is_tracked(&pod.meta))
            };
            let mut words: Vec<String> = pods.map(words).collect();
            words.sort();
            words
        };
        let spec = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]});
        let labels = json!({"app": "sum"});
        let orphan = json!({"metadata": {"name": "old", "labels": labels}, "spec": spec});
        assert_eq!(ask(Verb::Create, Kind::Pod, "old", orphan, 5), ["old  false"]);
        let template = json!({"metadata": {"labels": labels}, "spec": spec});
        let job = json!({"metadata": {"name": "sum"}, "spec": {"manualSelector": true, "selector": {"matchLabels": labels}, "template": template}});
        assert_eq!(ask(Verb::Create, Kind::Job, "sum", job, 5), ["old sum true"]);
        let relabel = json!({"metadata": {"labels": {"app": null}}});
        let after = ask(Verb::MergePatch, Kind::Pod, "old", relabel, 5);
        assert_eq!(after, ["old  false", "sum sum true"]);
    }
}
