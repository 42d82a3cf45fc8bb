//! Waits that double with every failure: 10 s to 5 min.
//!
//! Models: `client-go/util/flowcontrol/backoff.go` with the kubelet's settings (v1.36). Leaves out: jitter.

use crate::api::time::Timestamp;

/// The first wait.
const FIRST_SECONDS: i64 = 10;

/// The longest wait.
const MAX_SECONDS: i64 = 300;

/// One growing wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackOff {
    /// The wait, in seconds.
    pub seconds: i64,
    /// When it was set.
    set_at: Timestamp,
}

impl BackOff {
    /// The wait after one more failure at `now`; one that was not needed for ten minutes begins anew.
    pub fn after(previous: Option<&Self>, event_at: Timestamp, now: Timestamp) -> Self {
        let seconds = match previous {
            Some(previous) if !previous.has_expired(event_at) => (previous.seconds * 2).min(MAX_SECONDS),
            _ => FIRST_SECONDS,
        };
        Self { seconds, set_at: now }
    }

    /// Whether something that happened at `event_at` still has to be waited out.
    pub fn holds(&self, event_at: Timestamp, now: Timestamp) -> bool {
        !self.has_expired(event_at) && now.seconds_since(event_at) < self.seconds
    }

    /// Whether the wait itself still lasts, counted from when it was set.
    pub fn lasts(&self, now: Timestamp) -> bool {
        now.seconds_since(self.set_at) < self.seconds
    }

    /// Whether it was set so long before that it does not count any more.
    fn has_expired(&self, event_at: Timestamp) -> bool {
        event_at.seconds_since(self.set_at) > 2 * MAX_SECONDS
    }
}

/// A duration as Go prints it: `10s`, `1m20s`, `5m0s`.
pub fn printed(seconds: i64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_to_five_minutes_and_begins_anew_after_a_long_calm() {
        let mut waits = Vec::new();
        let mut back_off = None;
        let mut now = Timestamp(0);
        for _ in 0..7 {
            let next = BackOff::after(back_off.as_ref(), now, now);
            waits.push(next.seconds);
            now = Timestamp(now.0 + next.seconds);
            back_off = Some(next);
        }
        assert_eq!(waits, [10, 20, 40, 80, 160, 300, 300]);
        let later = Timestamp(now.0 + 601);
        assert_eq!(BackOff::after(back_off.as_ref(), later, later).seconds, 10);
    }

    #[test]
    fn durations_print_as_go_prints_them() {
        assert_eq!([10, 80, 160, 300].map(printed), ["10s", "1m20s", "2m40s", "5m0s"]);
    }
}
