//! A work queue as controllers have it: keys once, earliest due time first, failures back off.
//!
//! Models: `client-go/util/workqueue` (de-duplication, delaying queue, the default exponential rate limiter of 5 ms to
//! 1,000 s). Leaves out: the overall token bucket of 10 keys per second.

use imbl::{OrdMap, OrdSet};

use super::fact::FactId;
use crate::api::meta::ObjectKey;

/// What a component is to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkKey {
    /// One object.
    Object(ObjectKey),
    /// The component's whole configuration (a proxy's table, the Ingress controller's routes).
    Sync,
    /// The sign of life of a node.
    Heartbeat,
    /// A probe of one Pod whose result is not about to change.
    Probe(ObjectKey),
    /// One object that is looked at again and again, whether anything changed or not.
    Resync(ObjectKey),
}

impl WorkKey {
    /// Whether the work is only a heartbeat, an unchanged probe or a periodic look, which do not count against quiet.
    pub fn is_routine(&self) -> bool {
        matches!(self, Self::Heartbeat | Self::Probe(_) | Self::Resync(_))
    }

    /// Whether what it writes is routine, too.
    pub fn writes_routine(&self) -> bool {
        matches!(self, Self::Heartbeat | Self::Probe(_))
    }

    /// The object, if the key names one.
    pub fn object(&self) -> Option<&ObjectKey> {
        match self {
            Self::Object(key) | Self::Probe(key) | Self::Resync(key) => Some(key),
            Self::Sync | Self::Heartbeat => None,
        }
    }
}

impl std::fmt::Display for WorkKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Object(key) => key.fmt(f),
            Self::Sync => f.write_str("sync"),
            Self::Heartbeat => f.write_str("heartbeat"),
            Self::Probe(key) => write!(f, "probe of {key}"),
            Self::Resync(key) => write!(f, "another look at {key}"),
        }
    }
}

/// One key that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first tick in which it may be handled.
    pub due_tick: u64,
    /// The fact that put it here.
    pub cause: Option<FactId>,
    /// Its place among entries due in the same tick: its rank, and then the order in which they were added.
    order: (u64, u64),
}

/// The queue of one component.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkQueue {
    entries: OrdMap<WorkKey, Entry>,
    by_due: OrdSet<(u64, (u64, u64), WorkKey)>,
    failures: OrdMap<WorkKey, u32>,
    next_order: u64,
}

/// The longest wait after failures, in ticks.
const MAX_BACK_OFF_TICKS: u64 = 1000;

impl WorkQueue {
    /// Adds a key due in that tick. If it waits already, the earlier due time wins, with its cause.
    pub fn add(&mut self, key: WorkKey, due_tick: u64, cause: Option<FactId>) {
        self.add_ranked(key, due_tick, 0, cause);
    }

    /// The same; of the keys due in one tick, those of a lower rank come first.
    pub fn add_ranked(&mut self, key: WorkKey, due_tick: u64, rank: u64, cause: Option<FactId>) {
        if let Some(entry) = self.entries.get(&key) {
            if entry.due_tick <= due_tick {
                return;
            }
            self.by_due.remove(&(entry.due_tick, entry.order, key.clone()));
        }
        let order = (rank, self.next_order);
        self.next_order += 1;
        self.by_due.insert((due_tick, order, key.clone()));
        self.entries.insert(key, Entry { due_tick, cause, order });
    }

    /// Adds a key that failed, behind its back-off. Returns the wait in ticks.
    pub fn add_after_failure(&mut self, key: WorkKey, now_tick: u64, cause: Option<FactId>) -> u64 {
        self.add_failed(key, now_tick, cause, back_off_ticks)
    }

    /// The same for a failure that another try in the same tick meets again: the first eight tries all fall into one second.
    pub fn add_after_refusal(&mut self, key: WorkKey, now_tick: u64, cause: Option<FactId>) -> u64 {
        self.add_failed(key, now_tick, cause, |failures| passed_ticks(failures) - passed_ticks(failures - 1))
    }

    fn add_failed(
        &mut self,
        key: WorkKey,
        now_tick: u64,
        cause: Option<FactId>,
        wait_ticks: fn(u32) -> u64,
    ) -> u64 {
        let failures = self.failures.get(&key).copied().unwrap_or(0) + 1;
        self.failures.insert(key.clone(), failures);
        let wait_ticks = wait_ticks(failures);
        self.add(key, now_tick + wait_ticks, cause);
        wait_ticks
    }

    /// Forgets the failures of a key.
    pub fn forget(&mut self, key: &WorkKey) {
        self.failures.remove(key);
    }

    /// How often the key failed in a row.
    pub fn failures(&self, key: &WorkKey) -> u32 {
        self.failures.get(key).copied().unwrap_or(0)
    }

    /// Takes a key out, due or not.
    pub fn remove(&mut self, key: &WorkKey) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.by_due.remove(&(entry.due_tick, entry.order, key.clone()));
        Some(entry)
    }

    /// The key that is handled next, if it is due.
    pub fn next_due(&self, now_tick: u64) -> Option<&WorkKey> {
        self.by_due.get_min().filter(|(due_tick, _, _)| *due_tick <= now_tick).map(|(_, _, key)| key)
    }

    /// Takes the key that is handled next, if it is due.
    pub fn pop_due(&mut self, now_tick: u64) -> Option<(WorkKey, Entry)> {
        let key = self.next_due(now_tick)?.clone();
        let entry = self.remove(&key)?;
        Some((key, entry))
    }

    /// The earliest due tick of any key.
    pub fn earliest_due_tick(&self) -> Option<u64> {
        self.by_due.get_min().map(|(due_tick, _, _)| *due_tick)
    }

    /// The earliest due tick of a key that is not routine.
    pub fn earliest_busy_tick(&self) -> Option<u64> {
        self.by_due.iter().find(|(_, _, key)| !key.is_routine()).map(|(due_tick, _, _)| *due_tick)
    }

    /// The waiting keys, next first.
    pub fn iter(&self) -> impl Iterator<Item = (&WorkKey, u64)> {
        self.by_due.iter().map(|(due_tick, _, key)| (key, *due_tick))
    }

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// 5 ms doubled with every failure, in whole ticks, at least 1.
fn back_off_ticks(failures: u32) -> u64 {
    let milliseconds = 5_u64.saturating_mul(1_u64 << failures.saturating_sub(1).min(30));
    milliseconds.div_ceil(1000).min(MAX_BACK_OFF_TICKS)
}

/// The ticks between a first try and the one after that many failures: the sum of the waits, in whole seconds.
fn passed_ticks(failures: u32) -> u64 {
    // Doubled eighteen times, 5 ms are more than the longest wait.
    let (doubled, longest) = (failures.min(18), failures.saturating_sub(18));
    5 * ((1 << doubled) - 1) / 1000 + u64::from(longest) * MAX_BACK_OFF_TICKS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kind::Kind;

    #[test]
    fn refused_tries_fall_into_ticks_as_their_waits_add_up() {
        let mut queue = WorkQueue::default();
        let mut tick = 0;
        let tries = (0..11).map(|_| {
            tick += queue.add_after_refusal(key("a"), tick, None);
            tick
        });
        assert_eq!(tries.collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 0, 1, 2, 5, 10]);
    }

    fn key(name: &str) -> WorkKey {
        WorkKey::Object(ObjectKey::new(Kind::Pod, "demo", name))
    }

    #[test]
    fn a_key_waits_only_once_and_the_earlier_due_time_wins() {
        let mut queue = WorkQueue::default();
        queue.add(key("a"), 5, Some(FactId(1)));
        queue.add(key("a"), 3, Some(FactId(2)));
        queue.add(key("a"), 9, Some(FactId(3)));
        assert_eq!(queue.len(), 1);
        assert_eq!(queue.pop_due(2), None);
        let (_, entry) = queue.pop_due(3).unwrap();
        assert_eq!((entry.due_tick, entry.cause), (3, Some(FactId(2))));
        assert!(queue.is_empty());
    }

    #[test]
    fn keys_of_one_tick_come_in_the_order_they_were_added() {
        let mut queue = WorkQueue::default();
        for name in ["c", "a", "b"] {
            queue.add(key(name), 1, None);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop_due(1)).map(|(key, _)| key).collect();
        assert_eq!(order, [key("c"), key("a"), key("b")]);
    }

    #[test]
    fn failures_back_off_exponentially_and_are_forgotten() {
        assert_eq!([1, 8, 9, 10, 11, 12, 40].map(back_off_ticks), [1, 1, 2, 3, 6, 11, 1000]);
        let mut queue = WorkQueue::default();
        assert_eq!(queue.add_after_failure(key("a"), 10, None), 1);
        queue.forget(&key("a"));
        assert_eq!(queue.failures(&key("a")), 0);
    }

    #[test]
    fn a_heartbeat_does_not_count_as_busy() {
        let mut queue = WorkQueue::default();
        queue.add(WorkKey::Heartbeat, 10, None);
        assert_eq!((queue.earliest_due_tick(), queue.earliest_busy_tick()), (Some(10), None));
    }
}
