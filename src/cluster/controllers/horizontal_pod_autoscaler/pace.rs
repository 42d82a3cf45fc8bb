//! How fast the size follows what the metrics ask for: windows in which earlier recommendations still count, and the
//! most that may be added or taken away in a while.
//!
//! Models: `pkg/controller/podautoscaler/horizontal.go: normalizeDesiredReplicas, normalizeDesiredReplicasWithBehaviors,
//! stabilizeRecommendationWithBehaviors, convertDesiredReplicasWithBehaviorRate, calculateScaleUpLimitWithScalingRules`
//! (v1.36).
//! Leaves out: nothing.

use serde_json::Value;

use super::replicas::Tolerance;
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;

/// How long an earlier recommendation keeps the size up when nothing else is said, in seconds.
pub const DOWNSCALE_SECONDS: i64 = 300;

/// What the controller remembers of one autoscaler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// What the metrics asked for, and when.
    pub recommended: Vec<(i32, Timestamp)>,
    /// How many Pods were added, and when.
    pub added: Vec<(i32, Timestamp)>,
    /// How many Pods were taken away, and when.
    pub removed: Vec<(i32, Timestamp)>,
}

impl Track {
    /// Notes a change of the size.
    pub fn note_change(&mut self, from: i32, to: i32, now: Timestamp) {
        let events = if to > from { &mut self.added } else { &mut self.removed };
        // No policy looks back further than half an hour.
        events.retain(|(_, at)| now.seconds_since(*at) <= 1800);
        events.push(((to - from).abs(), now));
    }
}

/// A condition's status, reason and message.
pub type Mark = (bool, &'static str, &'static str);

/// The size to be, and what is said of the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// The size.
    pub replicas: i32,
    /// For the condition `AbleToScale`.
    pub able: Mark,
    /// For the condition `ScalingLimited`.
    pub limited: Mark,
}

/// What an autoscaler allows.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// `spec.behavior`; null for none.
    pub behavior: &'a Value,
    /// The fewest Pods.
    pub least: i32,
    /// The most Pods.
    pub most: i32,
}

/// How far from its goal a metric may be.
pub fn tolerance_of(behavior: &Value) -> Tolerance {
    let default = Tolerance::default();
    let of = |direction: &str, default: i64| {
        let text = match &behavior[direction]["tolerance"] {
            Value::String(text) => text.clone(),
            Value::Null => return default,
            other => other.to_string(),
        };
        Quantity::parse(&text).map_or(default, |quantity| quantity.milli())
    };
    Tolerance { down_milli: of("scaleDown", default.down_milli), up_milli: of("scaleUp", default.up_milli) }
}

const READY: Mark = (true, "ReadyForNewScale", "recommended size matches current size");
const LOWERED: Mark = (
    true,
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const HELD: Mark = (
    true,
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const IN_RANGE: (&str, &str) = ("DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_MANY: (&str, &str) =
    ("TooManyReplicas", "the desired replica count is more than the maximum replica count");
const TOO_FEW: (&str, &str) =
    ("TooFewReplicas", "the desired replica count is less than the minimum replica count");
const UP_LIMIT: (&str, &str) =
    ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate");
const DOWN_LIMIT: (&str, &str) =
    ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate");

/// The size that follows when the metrics ask for `asked` Pods and there are `current`.
pub fn plan_size(track: &mut Track, limits: Limits<'_>, current: i32, asked: i32, now: Timestamp) -> Paced {
    let has_behavior = !limits.behavior.is_null();
    let window = |direction: &str, default: i64| {
        limits.behavior[direction]["stabilizationWindowSeconds"].as_i64().unwrap_or(default)
    };
    let (up_window, down_window) = (window("scaleUp", 0), window("scaleDown", DOWNSCALE_SECONDS));
    let (mut lowest, mut highest) = (asked, asked);
    for (recommended, at) in &track.recommended {
        let age = now.seconds_since(*at);
        if has_behavior && age < up_window {
            lowest = lowest.min(*recommended);
        }
        if age < down_window {
            highest = highest.max(*recommended);
        }
    }
    let kept_seconds = up_window.max(down_window);
    track.recommended.retain(|(_, at)| now.seconds_since(*at) < kept_seconds);
    track.recommended.push((asked, now));
    let stabilized = if has_behavior { current.max(lowest).min(highest) } else { highest };
    let able = match () {
        () if stabilized == asked => READY,
        () if has_behavior && asked >= current => LOWERED,
        () => HELD,
    };
    let (replicas, (reason, message)) = limit(track, limits, current, stabilized, now);
    Paced { replicas, able, limited: (replicas != stabilized, reason, message) }
}

/// The size within what the autoscaler allows at a time.
fn limit(
    track: &Track,
    limits: Limits<'_>,
    current: i32,
    wanted: i32,
    now: Timestamp,
) -> (i32, (&'static str, &'static str)) {
    let Limits { behavior, least, most } = limits;
    if behavior.is_null() {
        let at_once = current.saturating_mul(2).max(4);
        let (ceiling, why) = if most > at_once { (at_once, UP_LIMIT) } else { (most, TOO_MANY) };
        return match () {
            () if wanted < least => (least, TOO_FEW),
            () if wanted > ceiling => (ceiling, why),
            () => (wanted, IN_RANGE),
        };
    }
    if wanted > current {
        let rate = rate_limit(track, &behavior["scaleUp"], current, true, now).max(current);
        let (ceiling, why) = if most > rate { (rate, UP_LIMIT) } else { (most, TOO_MANY) };
        if wanted > ceiling {
            return (ceiling, why);
        }
    } else if wanted < current {
        let rate = rate_limit(track, &behavior["scaleDown"], current, false, now).min(current);
        let (floor, why) = if least < rate { (rate, DOWN_LIMIT) } else { (least, TOO_FEW) };
        if wanted < floor {
            return (floor, why);
        }
    }
    (wanted, IN_RANGE)
}

/// The size that the policies of one direction allow at present.
fn rate_limit(track: &Track, rules: &Value, current: i32, up: bool, now: Timestamp) -> i32 {
    let select = rules["selectPolicy"].as_str().unwrap_or("Max");
    if select == "Disabled" {
        return current;
    }
    let proposal = |policy: &Value| {
        let period = policy["periodSeconds"].as_i64().unwrap_or(15);
        let within = |events: &[(i32, Timestamp)]| -> i32 {
            events.iter().filter(|(_, at)| now.seconds_since(*at) < period).map(|(count, _)| count).sum()
        };
        let start = i64::from(current - within(&track.added) + within(&track.removed));
        let value = policy["value"].as_i64().unwrap_or(0);
        let size = match (policy["type"].as_str().unwrap_or_default(), up) {
            ("Pods", true) => start + value,
            ("Pods", false) => start - value,
            (_, true) => (start * (100 + value) + 99).div_euclid(100),
            (_, false) => (start * (100 - value)).div_euclid(100),
        };
        i32::try_from(size).unwrap_or(if up { i32::MAX } else { 0 })
    };
    let proposals = rules["policies"].as_array().into_iter().flatten().map(proposal);
    // Going down, the smallest change is the largest size.
    let largest = (select == "Max") == up;
    let chosen = if largest { proposals.max() } else { proposals.min() };
    chosen.unwrap_or(current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policies(up: Value, down: Value) -> Value {
        json!({
            "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": up},
            "scaleDown": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": down},
        })
    }

    #[test]
    fn the_size_follows_no_faster_than_it_may() {
        let rule = |kind: &str, value: i64| json!({"type": kind, "value": value, "periodSeconds": 60});
        let down = policies(json!([]), json!([rule("Pods", 4), rule("Percent", 10)]));
        let up = policies(json!([rule("Pods", 2)]), json!([]));
        let table = [
            ("without a behaviour it doubles", Value::Null, 3, 50, 6, "ScaleUpLimit"),
            ("without a behaviour 4 are reached at once", Value::Null, 1, 50, 4, "ScaleUpLimit"),
            ("the larger change of two", down.clone(), 80, 10, 72, "ScaleDownLimit"),
            ("the other one below 40", down, 30, 10, 26, "ScaleDownLimit"),
            ("so many Pods at a time", up, 3, 50, 5, "ScaleUpLimit"),
            ("not above the most", Value::Null, 60, 200, 100, "TooManyReplicas"),
            ("not below the least", Value::Null, 3, 0, 1, "TooFewReplicas"),
            ("in between", Value::Null, 3, 5, 5, "DesiredWithinRange"),
        ];
        for (sentence, behavior, current, asked, expected, reason) in table {
            let limits = Limits { behavior: &behavior, least: 1, most: 100 };
            let paced = plan_size(&mut Track::default(), limits, current, asked, Timestamp(0));
            assert_eq!((paced.replicas, paced.limited.1), (expected, reason), "{sentence}");
        }
    }

    #[test]
    fn an_earlier_recommendation_keeps_the_size_up_for_five_minutes() {
        let limits = Limits { behavior: &Value::Null, least: 1, most: 10 };
        let mut track = Track::default();
        assert_eq!(plan_size(&mut track, limits, 4, 6, Timestamp(0)).replicas, 6);
        let held = plan_size(&mut track, limits, 6, 2, Timestamp(200));
        assert_eq!((held.replicas, held.able.1), (6, "ScaleDownStabilized"));
        let free = plan_size(&mut track, limits, 6, 2, Timestamp(301));
        assert_eq!((free.replicas, free.able.1), (2, "ReadyForNewScale"));
    }

    #[test]
    fn what_was_added_of_late_counts_against_a_policy() {
        let rule = json!([{"type": "Pods", "value": 2, "periodSeconds": 60}]);
        let behavior = policies(rule, json!([]));
        let limits = Limits { behavior: &behavior, least: 1, most: 10 };
        let mut track = Track::default();
        track.note_change(3, 5, Timestamp(0));
        assert_eq!(plan_size(&mut track, limits, 5, 9, Timestamp(30)).replicas, 5);
        assert_eq!(plan_size(&mut track, limits, 5, 9, Timestamp(60)).replicas, 7);
    }
}
