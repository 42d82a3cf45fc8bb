//! How many Pods a metric asks for.
//!
//! Models: `pkg/controller/podautoscaler/replica_calculator.go: GetResourceReplicas, calcPlainMetricReplicas, groupPods,
//! calculatePodRequests`, `metrics/utilization.go` (v1.36). Shares are kept as whole numbers over whole numbers, where
//! upstream divides.
//! Leaves out: custom, object and external metrics, which nobody serves in this cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::kinds::pod::Pod;
use crate::api::meta::Name;
use crate::api::time::Timestamp;

/// How long after its start a Pod's processor time may be that of its start, in seconds.
pub const CPU_INITIALIZATION_SECONDS: i64 = 300;
/// How long after its start a Pod that was never ready counts as not ready yet, in seconds.
pub const INITIAL_READINESS_SECONDS: i64 = 30;

/// What is measured of each Pod, in thousandths.
pub type Samples = BTreeMap<Name, i64>;

/// What a metric is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// So many percent of what the Pods request.
    Percent(i64),
    /// So many thousandths for each Pod.
    Average(i64),
}

/// How far from the goal a metric may be before anything is done, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// Below it.
    pub down_milli: i64,
    /// Above it.
    pub up_milli: i64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { down_milli: 100, up_milli: 100 }
    }
}

/// What came of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The Pods that it asks for.
    pub replicas: i32,
    /// The share of what is requested, in percent; `None` for an average.
    pub percent: Option<i64>,
    /// The average of the Pods that were measured, in thousandths.
    pub average_milli: i64,
}

/// The Pods, by what their samples are worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// How many count in full.
    pub ready: usize,
    /// Not ready yet, or so young that their processor time is that of their start.
    pub unready: BTreeSet<Name>,
    /// Without a sample.
    pub missing: BTreeSet<Name>,
    /// On their way out, or failed.
    pub ignored: BTreeSet<Name>,
}

/// Sorts Pods by what their samples are worth. `measured_at` is when the samples were taken, over `window_seconds`.
pub fn group<'a>(
    pods: impl IntoIterator<Item = &'a Arc<Pod>>,
    samples: &Samples,
    resource: &str,
    (measured_at, window_seconds): (Timestamp, i64),
    now: Timestamp,
) -> Groups {
    let mut groups = Groups::default();
    for pod in pods {
        let name = pod.meta.name.clone();
        if pod.meta.is_terminating() || pod.status.phase == "Failed" {
            groups.ignored.insert(name);
        } else if pod.status.phase == "Pending" {
            groups.unready.insert(name);
        } else if !samples.contains_key(&name) {
            groups.missing.insert(name);
        } else if resource == "cpu" && is_starting(pod, (measured_at, window_seconds), now) {
            groups.unready.insert(name);
        } else {
            groups.ready += 1;
        }
    }
    groups
}

/// Whether a Pod's processor time says nothing yet.
fn is_starting(pod: &Pod, (measured_at, window_seconds): (Timestamp, i64), now: Timestamp) -> bool {
    let (Some(ready), Some(started)) = (pod.condition("Ready"), pod.status.start_time) else { return true };
    let turned = ready.last_transition_time.unwrap_or_default().0;
    let is_unready = ready.status == "False";
    if started.0 + CPU_INITIALIZATION_SECONDS > now.0 {
        is_unready || measured_at.0 < turned + window_seconds
    } else {
        is_unready && started.0 + INITIAL_READINESS_SECONDS > turned
    }
}

/// A share: so many of so many.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    of: i128,
    all: i128,
}

impl Ratio {
    fn is_above(self) -> bool {
        self.of > self.all
    }

    fn is_below(self) -> bool {
        self.of < self.all
    }

    fn is_within(self, tolerance: Tolerance) -> bool {
        let (down, up) = (i128::from(tolerance.down_milli), i128::from(tolerance.up_milli));
        (1000 - down) * self.all <= self.of * 1000 && self.of * 1000 <= (1000 + up) * self.all
    }

    /// That part of so many, rounded up.
    fn of_count(self, count: usize) -> i32 {
        let product = self.of * i128::try_from(count).unwrap_or(i128::MAX);
        i32::try_from((product + self.all - 1).div_euclid(self.all)).unwrap_or(i32::MAX)
    }
}

/// The share of the goal that was measured, the percentage and the average.
fn measure(samples: &Samples, requests: &Samples, goal: Goal) -> Result<(Ratio, Option<i64>, i64), String> {
    match goal {
        Goal::Percent(wanted) => {
            let known = samples.iter().filter_map(|(name, used)| Some((*used, *requests.get(name)?)));
            let (mut used, mut requested, mut count) = (0, 0, 0);
            for (sample, request) in known {
                used += sample;
                requested += request;
                count += 1;
            }
            if requested == 0 {
                return Err("no metrics returned matched known pods".to_string());
            }
            let percent = used * 100 / requested;
            let ratio = Ratio { of: percent.into(), all: wanted.max(1).into() };
            Ok((ratio, Some(percent), used / count))
        }
        Goal::Average(wanted) => {
            let count = i64::try_from(samples.len()).unwrap_or(i64::MAX).max(1);
            let average = samples.values().sum::<i64>() / count;
            Ok((Ratio { of: average.into(), all: wanted.max(1).into() }, None, average))
        }
    }
}

/// The Pods that a metric asks for when there are `current` now. `requests` are what the Pods request of the resource.
///
/// # Errors
/// In the controller's words, when no sample is worth anything.
pub fn plan_replicas(
    current: i32,
    goal: Goal,
    mut samples: Samples,
    groups: &Groups,
    requests: &Samples,
    tolerance: Tolerance,
) -> Result<Proposal, String> {
    samples.retain(|name, _| !groups.ignored.contains(name) && !groups.unready.contains(name));
    if samples.is_empty() {
        return Err("did not receive metrics for targeted pods (pods might be unready)".to_string());
    }
    let (ratio, percent, average_milli) = measure(&samples, requests, goal)?;
    let propose = |replicas| Ok(Proposal { replicas, percent, average_milli });
    let counts_unready = !groups.unready.is_empty() && ratio.is_above();
    if !counts_unready && groups.missing.is_empty() {
        let is_near = ratio.is_within(tolerance);
        return propose(if is_near { current } else { ratio.of_count(groups.ready) });
    }
    // What is not known is taken to be what speaks against the change.
    for name in &groups.missing {
        if ratio.is_below() {
            let assumed = match goal {
                Goal::Percent(wanted) => requests.get(name).copied().unwrap_or(0) * wanted.max(100) / 100,
                Goal::Average(wanted) => wanted,
            };
            samples.insert(name.clone(), assumed);
        } else if ratio.is_above() {
            samples.insert(name.clone(), 0);
        }
    }
    if counts_unready {
        samples.extend(groups.unready.iter().map(|name| (name.clone(), 0)));
    }
    let (again, _, _) = measure(&samples, requests, goal)?;
    let turns = (ratio.is_below() && again.is_above()) || (ratio.is_above() && again.is_below());
    if again.is_within(tolerance) || turns {
        return propose(current);
    }
    let replicas = again.of_count(samples.len());
    let goes_astray = (again.is_below() && replicas > current) || (again.is_above() && replicas < current);
    propose(if goes_astray { current } else { replicas })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[i64]) -> Samples {
        values
            .iter()
            .enumerate()
            .map(|(index, value)| (format!("p{index}").as_str().into(), *value))
            .collect()
    }

    #[test]
    fn a_metric_asks_for_as_many_pods_as_bring_it_to_its_goal() {
        let table = [
            ("above", vec![300, 500, 700], Goal::Percent(30), 5),
            ("near enough", vec![1010, 1030, 1020], Goal::Percent(100), 3),
            ("below", vec![100, 100, 100], Goal::Percent(50), 1),
            ("an average", vec![20_000, 10_000, 30_000], Goal::Average(15_000), 4),
        ];
        for (sentence, values, goal, expected) in table {
            let groups = Groups { ready: values.len(), ..Groups::default() };
            let requests = samples(&vec![1000; values.len()]);
            let found = plan_replicas(3, goal, samples(&values), &groups, &requests, Tolerance::default());
            assert_eq!(found.unwrap().replicas, expected, "{sentence}");
        }
    }
}
