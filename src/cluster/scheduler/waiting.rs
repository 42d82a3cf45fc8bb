//! The Pods that no node took, and the order in which Pods are tried.
//!
//! A Pod that was refused waits until a change could cure what it was refused for; then it is tried in the same tick,
//! behind those that were not tried before: the most important first, then who has waited longest. A Pod whose back-off
//! has not ended comes last, but it need not wait for its end: nobody else is there to be tried.
//!
//! Models: `pkg/scheduler/backend/queue` (v1.36): `scheduling_queue.go`, `backoff_queue.go` with
//! `SchedulerPopFromBackoffQ`, `plugins/queuesort`. Leaves out: the time within a tick by which real schedulers order Pods
//! of one priority (here it is the order in which they came); retries of Pods while there are no nodes at all.

use std::sync::Arc;

use imbl::OrdMap;

use super::nominated::priority;
use crate::api::kinds::pod::Pod;
use crate::api::meta::ObjectKey;
use crate::cluster::component::Outcome;
use crate::cluster::queue::WorkKey;

/// One Pod that no node took.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The Pod as last seen.
    pub pod: Arc<Pod>,
    /// How often it was tried.
    pub attempts: u32,
    /// The rules that refused nodes.
    pub refused_by: Vec<&'static str>,
    /// What was said of the last attempt.
    pub message: String,
    /// When it was tried last.
    tried_tick: u64,
    /// Its place among all attempts that failed.
    order: u64,
    /// Whether something has changed that could help.
    pub is_woken: bool,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pool {
    pods: OrdMap<ObjectKey, Waiting>,
    attempts_failed: u64,
}

/// The longest a Pod waits without a cause to try again.
pub const LEFTOVER_TICKS: u64 = 300;

/// The longest wait after failed attempts.
const MAX_BACK_OFF_TICKS: u64 = 10;

impl Waiting {
    /// The first tick in which its back-off is over: 1 tick after the first attempt, doubling to 10.
    fn back_off_ends(&self) -> u64 {
        let doubled = 1_u64 << self.attempts.saturating_sub(1).min(10);
        self.tried_tick + doubled.min(MAX_BACK_OFF_TICKS)
    }
}

impl Pool {
    /// How many Pods wait.
    pub fn len(&self) -> usize {
        self.pods.len()
    }

    /// The Pod of that key, if it waits.
    pub fn get(&self, key: &ObjectKey) -> Option<&Waiting> {
        self.pods.get(key)
    }

    /// Takes in what a waiting Pod looks like now.
    pub fn see(&mut self, key: &ObjectKey, pod: &Arc<Pod>) {
        if let Some(waiting) = self.pods.get_mut(key) {
            waiting.pod = pod.clone();
        }
    }

    /// The Pod does not wait any more.
    pub fn remove(&mut self, key: &ObjectKey) {
        if !self.pods.is_empty() {
            self.pods.remove(key);
        }
    }

    /// No node took the Pod.
    pub fn failed(
        &mut self,
        key: &ObjectKey,
        pod: &Arc<Pod>,
        tick: u64,
        refused_by: Vec<&'static str>,
        message: String,
    ) {
        self.attempts_failed += 1;
        let attempts = self.pods.get(key).map_or(0, |waiting| waiting.attempts) + 1;
        let (pod, order) = (pod.clone(), self.attempts_failed);
        let waiting =
            Waiting { pod, attempts, refused_by, message, tried_tick: tick, order, is_woken: false };
        self.pods.insert(key.clone(), waiting);
    }

    /// Has the Pod tried again when its back-off ends, whatever happens: something went wrong that nobody refused it for.
    pub fn retry(&mut self, key: &ObjectKey, tick: u64, outcome: &mut Outcome) {
        if let Some(waiting) = self.pods.get_mut(key) {
            waiting.is_woken = true;
            outcome.look_again(WorkKey::Object(key.clone()), waiting.back_off_ends().saturating_sub(tick));
        }
    }

    /// Has the Pods that `helps` chooses tried again in this tick. Returns how many they are.
    pub fn wake(&mut self, outcome: &mut Outcome, helps: impl Fn(&ObjectKey, &Waiting) -> bool) -> usize {
        if self.pods.is_empty() {
            return 0;
        }
        let woken = self.pods.iter().filter(|(key, waiting)| !waiting.is_woken && helps(key, waiting));
        let mut woken: Vec<(u64, ObjectKey)> =
            woken.map(|(key, waiting)| (waiting.order, key.clone())).collect();
        woken.sort();
        for (_, key) in &woken {
            if let Some(waiting) = self.pods.get_mut(key) {
                waiting.is_woken = true;
            }
            outcome.look_now(WorkKey::Object(key.clone()));
        }
        woken.len()
    }

    /// Has the Pods tried again that have waited long without a cause. Returns when the next of them has.
    pub fn wake_leftovers(&mut self, outcome: &mut Outcome, tick: u64) -> Option<u64> {
        self.wake(outcome, |_, waiting| waiting.tried_tick + LEFTOVER_TICKS <= tick);
        let rest = self.pods.values().filter(|waiting| !waiting.is_woken);
        rest.map(|waiting| waiting.tried_tick + LEFTOVER_TICKS).min()
    }

    /// The place of a Pod among those to be tried in a tick: lower first, the same for Pods that are tried in the order in
    /// which they came. Never 0, which is the place of everything that is only taken notice of.
    pub fn rank(&self, key: &ObjectKey, pod: &Pod, tick: u64) -> u64 {
        let back_off = self.pods.get(key).map_or(0, |waiting| waiting.back_off_ends().saturating_sub(tick));
        let importance = i64::from(i32::MAX) - i64::from(priority(pod));
        ((1 + back_off) << 32) | importance.cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kind::Kind;

    fn pod(priority: i32) -> Arc<Pod> {
        let mut pod = Pod::default();
        Arc::make_mut(&mut pod.spec).priority = Some(priority);
        Arc::new(pod)
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new(Kind::Pod, "demo", name)
    }

    #[test]
    fn important_pods_come_first_and_those_in_back_off_last() {
        let mut pool = Pool::default();
        pool.failed(&key("tried"), &pod(5000), 7, vec!["x"], String::new());
        let rank = |name: &str, priority: i32, tick: u64| pool.rank(&key(name), &pod(priority), tick);
        assert!(rank("new", 1000, 7) < rank("new", 10, 7));
        assert!(rank("new", -1, 7) < rank("tried", 5000, 7), "its back-off has not ended");
        assert!(rank("tried", 5000, 8) < rank("new", -1, 8), "its back-off has ended");
        assert!(rank("new", i32::MAX, 7) > 0);
    }

    #[test]
    fn the_back_off_doubles_to_ten_ticks() {
        let mut pool = Pool::default();
        let mut waits = Vec::new();
        for _ in 0..6 {
            pool.failed(&key("a"), &pod(0), 100, Vec::new(), String::new());
            waits.push(pool.get(&key("a")).unwrap().back_off_ends() - 100);
        }
        assert_eq!(waits, [1, 2, 4, 8, 10, 10]);
    }

    #[test]
    fn who_has_waited_longest_is_woken_first() {
        let mut pool = Pool::default();
        for name in ["b", "a", "c"] {
            pool.failed(&key(name), &pod(0), 3, vec!["x"], String::new());
        }
        let mut outcome = Outcome::default();
        assert_eq!(pool.wake(&mut outcome, |key, _| *key.name != *"c"), 2);
        let woken: Vec<_> = outcome.again.into_iter().map(|(key, _)| key).collect();
        assert_eq!(woken, [WorkKey::Object(key("b")), WorkKey::Object(key("a"))]);
    }
}
