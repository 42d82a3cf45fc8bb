//! The CronJob controller: makes a Job whenever the schedule says so.
//!
//! Watches: CronJobs, Jobs.
//! Writes: Jobs, CronJob status, events.
//! Models: `pkg/controller/cronjob/cronjob_controllerv2.go`, `utils.go` (v1.36): `syncCronJob`, `cleanupFinishedJobs`,
//! `mostRecentScheduleTime`, `getJobFromTemplate2`.
//! Leaves out: the spread of start times by 100 ms.

use std::sync::Arc;

use crate::api::cron::{Schedule, zone_seconds};
use crate::api::kind::Kind;
use crate::api::kinds::batch::{CronJob, Job};
use crate::api::kinds::networking::ObjectReference;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership;
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::status::Status;
use crate::cluster::server::write::{EventRecord, Operation, Write};
use crate::cluster::store::Change;

/// The annotation with the time for which a Job was made.
const SCHEDULED_TIMESTAMP: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/// From so many missed times on, something is wrong.
const TOO_MANY_MISSED: i64 = 100;

const SUCCESSFUL_CREATE: &str = "SuccessfulCreate";
const FAILED_CREATE: &str = "FailedCreate";
const SUCCESSFUL_DELETE: &str = "SuccessfulDelete";
const UNEXPECTED_JOB: &str = "UnexpectedJob";
const SAW_COMPLETED_JOB: &str = "SawCompletedJob";
const MISSING_JOB: &str = "MissingJob";
const MISS_SCHEDULE: &str = "MissSchedule";
const TOO_MANY_MISSED_TIMES: &str = "TooManyMissedTimes";
const JOB_ALREADY_ACTIVE: &str = "JobAlreadyActive";
const UNPARSEABLE_SCHEDULE: &str = "UnparseableSchedule";

/// The keys that a change concerns; its own reports do not concern a CronJob.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::CronJob => {
            let (old, new) = (change.old_as::<CronJob>(), change.new_as::<CronJob>());
            let is_report =
                old.zip(new).is_some_and(|(old, new)| old.spec == new.spec && old.meta.uid == new.meta.uid);
            if is_report { Vec::new() } else { vec![WorkKey::Object(change.key.clone())] }
        }
        Kind::Job => {
            let object = change.new.as_ref().or(change.old.as_ref());
            let owner = object.and_then(|job| job.meta().controller());
            let owner = owner.filter(|owner| owner.kind == Kind::CronJob.name());
            let key = owner
                .map(|owner| ObjectKey::new(Kind::CronJob, change.key.namespace.clone(), owner.name.clone()));
            key.map(WorkKey::Object).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Handles one CronJob.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(cron) = key.object().and_then(|key| view.store.at::<CronJob>(key)) else {
        return Outcome::nothing(Because::new("because.cronjob.gone"));
    };
    let mut sync = Sync { view, cron, key, reported: (**cron).clone(), outcome: Outcome::default() };
    let owned = view.store.owned_by(&cron.meta.uid).filter_map(Object::get::<Job>);
    let jobs: Vec<Arc<Job>> =
        owned.filter(|job| job.meta.is_controlled_by(&cron.meta.uid)).cloned().collect();
    sync.clean_up(&jobs);
    sync.watch(&jobs);
    if !cron.meta.is_terminating() {
        sync.act(&jobs);
    }
    if sync.reported.status != cron.status {
        let because =
            Because::new("because.cronjob.status").with("active", sync.reported.status.active.len());
        sync.outcome
            .writes
            .push(Operation::UpdateStatus(sync.reported.clone().into()).because(because.clone()));
        sync.say(because);
    }
    sync.say(Because::new("because.cronjob.nothing"));
    sync.outcome
}

/// What is still to be written after a Job was refused: the event about it.
pub fn after_refusal(view: &View<'_>, key: &WorkKey, write: &Write, status: &Status) -> Vec<Write> {
    let Some(cron) = key.object().and_then(|key| view.store.at::<CronJob>(key)) else { return Vec::new() };
    if !matches!(&write.operation, Operation::Create(Object::Job(_))) {
        return Vec::new();
    }
    let because = Because::new("because.cronjob.refused").with("message", &status.message);
    let text = format!("Error creating job: {}", status.message);
    let event = EventRecord::warning(&Object::CronJob(Arc::clone(cron)), FAILED_CREATE, text);
    vec![Operation::Event(event).because(because)]
}

/// One look at a CronJob.
struct Sync<'a> {
    view: &'a View<'a>,
    cron: &'a Arc<CronJob>,
    key: &'a WorkKey,
    /// The CronJob with the report to be.
    reported: CronJob,
    outcome: Outcome,
}

impl Sync<'_> {
    fn say(&mut self, because: Because) {
        self.outcome.because.get_or_insert(because);
    }

    fn tell(&mut self, warning: bool, reason: &'static str, text: String, because: Because) {
        let object = Object::CronJob(Arc::clone(self.cron));
        let event = EventRecord { warning, ..EventRecord::normal(&object, reason, text) };
        self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        self.say(because);
    }

    fn delete(&mut self, job: &Job, because: Because) {
        let delete = Operation::Delete {
            key: job.key(),
            uid: Some(job.meta.uid.clone()),
            grace_seconds: None,
            propagation: Propagation::Background,
        };
        self.outcome.writes.push(delete.because(because.clone()));
        self.tell(false, SUCCESSFUL_DELETE, format!("Deleted job {}", job.meta.name), because);
        self.reported.status.active.retain(|active| active.uid != job.meta.uid);
    }

    /// Deletes the oldest ended Jobs beyond the limits.
    fn clean_up(&mut self, jobs: &[Arc<Job>]) {
        let spec = &self.cron.spec;
        let limits =
            [("Complete", spec.successful_jobs_history_limit), ("Failed", spec.failed_jobs_history_limit)];
        for (end, limit) in limits {
            let Some(limit) = limit.and_then(|limit| usize::try_from(limit).ok()) else { continue };
            let ended = |job: &&Arc<Job>| {
                job.finished().is_some_and(|condition| condition.condition_type == end)
                    && !job.meta.is_terminating()
            };
            let mut ended: Vec<Arc<Job>> = jobs.iter().filter(ended).cloned().collect();
            ended.sort_by_key(|job| (job.status.start_time, job.meta.name.clone()));
            let surplus = ended.len().saturating_sub(limit);
            for job in ended.iter().take(surplus) {
                let because = Because::new("because.cronjob.forget")
                    .with("job", &job.meta.name)
                    .with("count", ended.len())
                    .with("limit", limit);
                self.delete(job, because);
            }
        }
    }

    /// Whether the Job is the one that was made last: it is noted down once it is seen.
    fn is_own(&self, job: &Job) -> bool {
        let last = self.cron.status.last_schedule_time;
        last.is_some_and(|last| *job.meta.name == *job_name(&self.cron.meta.name, last))
    }

    /// Looks which Jobs run, and which have ended since.
    fn watch(&mut self, jobs: &[Arc<Job>]) {
        for job in jobs {
            let name = &job.meta.name;
            let is_active = self.reported.status.active.iter().any(|active| active.uid == job.meta.uid);
            match (is_active, job.finished()) {
                (false, None) if self.is_own(job) => self.reported.status.active.push(ObjectReference {
                    kind: Kind::Job.name().to_string(),
                    namespace: job.meta.namespace.clone(),
                    name: name.clone(),
                    uid: job.meta.uid.clone(),
                    api_version: Kind::Job.api_version(),
                    resource_version: job.meta.resource_version.0.to_string(),
                    ..ObjectReference::default()
                }),
                (false, None) => {
                    let because = Because::new("because.cronjob.unexpected").with("job", name);
                    let text = format!("Saw a job that the controller did not create or forgot: {name}");
                    self.tell(true, UNEXPECTED_JOB, text, because);
                }
                (true, Some(end)) => {
                    let end = end.condition_type.clone();
                    self.reported.status.active.retain(|active| active.uid != job.meta.uid);
                    let because =
                        Because::new("because.cronjob.completed").with("job", name).with("end", &end);
                    let text = format!("Saw completed job: {name}, condition: {end}");
                    self.tell(false, SAW_COMPLETED_JOB, text, because);
                }
                _ => {}
            }
            let completed = job.status.completion_time.filter(|_| job.has_condition("Complete"));
            if completed > self.reported.status.last_successful_time {
                self.reported.status.last_successful_time = completed;
            }
        }
        let gone: Vec<ObjectReference> = self
            .reported
            .status
            .active
            .iter()
            .filter(|active| jobs.iter().all(|job| job.meta.uid != active.uid))
            .cloned()
            .collect();
        for active in gone {
            self.reported.status.active.retain(|known| known.uid != active.uid);
            let because = Because::new("because.cronjob.missing").with("job", &active.name);
            self.tell(false, MISSING_JOB, format!("Active job went missing: {}", active.name), because);
        }
    }

    /// Makes a Job if one is due.
    fn act(&mut self, jobs: &[Arc<Job>]) {
        let (spec, now) = (&self.cron.spec, self.view.now);
        if spec.suspend == Some(true) {
            self.say(Because::new("because.cronjob.suspended"));
            return;
        }
        let schedule = match Schedule::parse(&spec.schedule) {
            Ok(schedule) => schedule,
            Err(error) => {
                let because = Because::new("because.cronjob.unparseable").with("message", &error);
                let text = format!("unparseable schedule: {:?} : {error}", spec.schedule);
                self.tell(true, UNPARSEABLE_SCHEDULE, text, because);
                return;
            }
        };
        let zone = zone_seconds(spec.time_zone.as_deref().unwrap_or_default());
        if let Some(next) = schedule.next(now, zone) {
            self.outcome.look_again(self.key.clone(), u64::try_from(next.0 - now.0).unwrap_or(1));
            let saw = Because::new("because.cronjob.saw").with("name", &self.cron.meta.name);
            let saw = saw.with("schedule", &spec.schedule).with("next", next);
            self.outcome.saw.push(saw.with("active", self.reported.status.active.len()));
        }
        let Some((due, missed)) = self.most_recent(&schedule, zone) else {
            self.say(Because::new("because.cronjob.wait"));
            return;
        };
        if missed > TOO_MANY_MISSED {
            let text = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
            let because = Because::new("because.cronjob.missed").with("count", missed);
            self.tell(true, TOO_MANY_MISSED_TIMES, text.to_string(), because);
        }
        if spec.starting_deadline_seconds.is_some_and(|seconds| due.0 + seconds < now.0) {
            let text = format!("Missed scheduled time to start a job: {}", rfc1123(due));
            self.tell(
                true,
                MISS_SCHEDULE,
                text,
                Because::new("because.cronjob.too_late")
                    .with("time", due)
                    .with("seconds", spec.starting_deadline_seconds.unwrap_or(0)),
            );
            return;
        }
        let name = job_name(&self.cron.meta.name, due);
        let is_made = self.reported.status.active.iter().any(|active| *active.name == *name)
            || self.cron.status.last_schedule_time == Some(due);
        if is_made {
            return;
        }
        let active = self.reported.status.active.len();
        if spec.concurrency_policy == "Forbid" && active > 0 {
            let text = "Not starting job because prior execution is running and concurrency policy is Forbid";
            let because = Because::new("because.cronjob.forbid").with("active", active);
            self.tell(false, JOB_ALREADY_ACTIVE, text.to_string(), because);
            return;
        }
        if spec.concurrency_policy == "Replace" {
            let running = self.reported.status.active.clone();
            for job in jobs.iter().filter(|job| running.iter().any(|active| active.uid == job.meta.uid)) {
                self.delete(job, Because::new("because.cronjob.replace").with("job", &job.meta.name));
            }
        }
        self.create(&name, due);
    }

    /// The last time up to now for which no Job was made, and how many there were.
    fn most_recent(&self, schedule: &Schedule, zone: i64) -> Option<(Timestamp, i64)> {
        let (cron, now) = (self.cron, self.view.now);
        let mut earliest = cron.status.last_schedule_time.or(cron.meta.creation_timestamp)?;
        if let Some(seconds) = cron.spec.starting_deadline_seconds {
            earliest = earliest.max(Timestamp(now.0 - seconds));
        }
        let mut found = None;
        let mut missed = 0;
        let mut next = schedule.next(earliest, zone);
        while let Some(time) = next.filter(|time| *time <= now) {
            found = Some(time);
            missed += 1;
            // Beyond this the exact number says nothing more.
            if missed > 100_000 {
                break;
            }
            next = schedule.next(time, zone);
        }
        found.map(|time| (time, missed))
    }

    fn create(&mut self, name: &str, due: Timestamp) {
        let template = &self.cron.spec.job_template;
        let mut job = Job { spec: template.spec.clone(), ..Job::default() };
        job.meta.name = Name::from(name);
        job.meta.namespace = self.cron.meta.namespace.clone();
        job.meta.labels = template.meta.labels.clone();
        job.meta.annotations = template.meta.annotations.clone();
        job.meta.annotations.insert(SCHEDULED_TIMESTAMP.to_string(), due.to_string());
        job.meta.owner_references = vec![ownership::controller_reference(&**self.cron)].into();
        let because = Because::new("because.cronjob.create")
            .with("job", name)
            .with("time", due)
            .with("active", self.reported.status.active.len())
            .with("policy", &self.cron.spec.concurrency_policy);
        let create = Operation::Create(job.into());
        self.outcome.writes.push(create.because(because.clone()));
        self.tell(false, SUCCESSFUL_CREATE, format!("Created job {name}"), because);
        self.reported.status.last_schedule_time = Some(due);
    }
}

/// The name of the Job for that time: its minutes since 1970.
fn job_name(cron: &str, due: Timestamp) -> String {
    format!("{cron}-{}", due.0.div_euclid(60))
}

/// `Mon, 05 Jan 2026 09:00:00 UTC`.
fn rfc1123(time: Timestamp) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let text = time.to_string();
    let number = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse::<usize>().ok());
    let month = number(5, 7).and_then(|month| MONTHS.get(month.checked_sub(1)?)).copied().unwrap_or_default();
    let weekday = usize::try_from(time.0.div_euclid(86_400).rem_euclid(7)).unwrap_or(0);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    format!("{}, {} {month} {} {} UTC", DAYS[weekday], part(8, 10), part(0, 4), part(11, 19))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_in_a_letters_head() {
        assert_eq!(rfc1123(Timestamp(1_767_603_600)), "Mon, 05 Jan 2026 09:00:00 UTC");
    }
}
