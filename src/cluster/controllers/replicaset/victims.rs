//! Which Pods go first when there are too many.
//!
//! Models: `pkg/controller/controller_utils.go: ActivePodsWithRanks` and
//! `pkg/controller/replicaset/replica_set.go: getPodsToDelete` (v1.36).
//! Leaves out: the exact tie break inside one power of two of age; upstream takes the uid at once, here restarts and
//! creation are compared first, so that the order is total.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, Uid};
use crate::api::time::Timestamp;

/// The annotation by which a person says how dear a Pod is; cheaper ones go first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// What decides, strongest first; the least goes first.
type Rank<'a> = (bool, u8, bool, i32, Reverse<usize>, Age, Reverse<i32>, Reverse<i32>, Age, &'a Uid);

/// An age as far as it counts: unknown before known, then in powers of two, young before old.
type Age = Option<u32>;

/// A Pod that has to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Victim<'a> {
    /// The Pod.
    pub pod: &'a Arc<Pod>,
    /// What sets it apart from the one that is last to go.
    pub criterion: Criterion,
}

/// What sets a victim apart from the Pod that is last to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Nobody stays.
    All,
    /// It is on no node.
    Unassigned,
    /// It has not come as far in its life.
    Phase,
    /// It is not Ready.
    NotReady,
    /// It was marked as cheaper to lose.
    DeletionCost,
    /// More of its kind are on its node.
    DoubledUp,
    /// It has been Ready for a shorter time.
    ReadyTime,
    /// Its containers were restarted more often.
    Restarts,
    /// It is younger.
    Created,
    /// Nothing but its uid.
    Uid,
}

/// The first `count` of `pods` to go. `related` are the Pods whose doubling up on a node counts: those of all
/// ReplicaSets of the same Deployment.
pub fn plan_victims<'a>(
    pods: &[&'a Arc<Pod>],
    related: impl Iterator<Item = &'a Arc<Pod>>,
    count: usize,
    now: Timestamp,
) -> Vec<Victim<'a>> {
    if count >= pods.len() {
        return pods.iter().map(|pod| Victim { pod, criterion: Criterion::All }).collect();
    }
    let mut on_node: BTreeMap<&Name, usize> = BTreeMap::new();
    for pod in related.filter(|pod| pod.is_active()) {
        *on_node.entry(&pod.node_name).or_default() += 1;
    }
    let rank = |pod: &&'a Arc<Pod>| {
        let doubled_up = on_node.get(&pod.node_name).copied().unwrap_or(0);
        (rank_of(pod, doubled_up, now), *pod)
    };
    let mut order: Vec<_> = pods.iter().map(rank).collect();
    order.sort_by_key(|(rank, _)| *rank);
    let safest = order[order.len() - 1].0;
    let victim =
        |(rank, pod): &(Rank<'a>, &'a Arc<Pod>)| Victim { pod, criterion: criterion_between(rank, &safest) };
    order[..count].iter().map(victim).collect()
}

/// The first criterion in which two ranks differ.
fn criterion_between(a: &Rank<'_>, b: &Rank<'_>) -> Criterion {
    match () {
        () if a.0 != b.0 => Criterion::Unassigned,
        () if a.1 != b.1 => Criterion::Phase,
        () if a.2 != b.2 => Criterion::NotReady,
        () if a.3 != b.3 => Criterion::DeletionCost,
        () if a.4 != b.4 => Criterion::DoubledUp,
        () if a.5 != b.5 => Criterion::ReadyTime,
        () if (a.6, a.7) != (b.6, b.7) => Criterion::Restarts,
        () if a.8 != b.8 => Criterion::Created,
        () => Criterion::Uid,
    }
}

fn rank_of(pod: &Arc<Pod>, doubled_up: usize, now: Timestamp) -> Rank<'_> {
    let phase = match pod.status.phase.as_str() {
        "Pending" => 0,
        "Unknown" => 1,
        "Running" => 2,
        _ => 0,
    };
    let ready_age = pod.ready_since().and_then(|since| magnitude(since, now));
    let (restarts, sidecar_restarts) = restarts_of(pod);
    let created_age = pod.meta.creation_timestamp.and_then(|since| magnitude(since, now));
    (
        pod.is_bound(),
        phase,
        pod.is_ready(),
        deletion_cost(pod),
        Reverse(doubled_up),
        ready_age,
        Reverse(restarts),
        Reverse(sidecar_restarts),
        created_age,
        &pod.meta.uid,
    )
}

/// The power of two of an age in nanoseconds, plus one; 0 for an age of nothing.
fn magnitude(since: Timestamp, now: Timestamp) -> Age {
    let nanoseconds = i128::from(now.seconds_since(since)) * 1_000_000_000;
    Some(if nanoseconds > 0 { nanoseconds.ilog2() + 1 } else { 0 })
}

/// 0 when absent or no number.
fn deletion_cost(pod: &Pod) -> i32 {
    let text = pod.meta.annotations.get(DELETION_COST).map_or("", String::as_str);
    let is_plain = text == "0" || text.starts_with(|first: char| matches!(first, '-' | '1'..='9'));
    if is_plain { text.parse().unwrap_or(0) } else { 0 }
}

/// The most restarts of a container, and of a sidecar.
fn restarts_of(pod: &Pod) -> (i32, i32) {
    let containers = pod.status.container_statuses.iter().map(|status| status.restart_count).max();
    let is_sidecar = |name: &str| {
        pod.spec
            .init_containers
            .iter()
            .any(|container| container.name == name && container.restart_policy.as_deref() == Some("Always"))
    };
    let sidecars = pod
        .status
        .init_container_statuses
        .iter()
        .filter(|status| is_sidecar(&status.name))
        .map(|status| status.restart_count)
        .max();
    (containers.unwrap_or(0), sidecars.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::pod::{ContainerStatus, PodCondition};

    const NOW: Timestamp = Timestamp(10_000_000);

    /// A Pod in a few words: `node=n phase=Running ready=AGE created=AGE restarts=N cost=N`; ages in seconds.
    fn pod(uid: &str, words: &str) -> Arc<Pod> {
        let mut pod = Pod::default();
        pod.meta.uid = uid.into();
        pod.status.phase = "Running".into();
        pod.node_name = "node".into();
        for word in words.split_whitespace() {
            let (key, value) = word.split_once('=').expect("key=value");
            match key {
                "node" => pod.node_name = value.into(),
                "phase" => pod.status.phase = value.into(),
                "ready" => pod.status.conditions.push(PodCondition {
                    condition_type: "Ready".into(),
                    status: "True".into(),
                    last_transition_time: value.parse().ok().map(|age: i64| Timestamp(NOW.0 - age)),
                    ..PodCondition::default()
                }),
                "created" => {
                    pod.meta.creation_timestamp =
                        Some(Timestamp(NOW.0 - value.parse::<i64>().expect("an age")));
                }
                "restarts" => pod.status.container_statuses.push(ContainerStatus {
                    restart_count: value.parse().expect("a count"),
                    ..ContainerStatus::default()
                }),
                "cost" => {
                    pod.meta.annotations.insert(DELETION_COST.to_string(), value.to_string());
                }
                _ => panic!("{key}"),
            }
        }
        Arc::new(pod)
    }

    fn uids<'a>(victims: &[Victim<'a>]) -> Vec<&'a str> {
        victims.iter().map(|victim| &*victim.pod.meta.uid).collect()
    }

    #[test]
    fn of_two_pods_the_one_that_matters_less_goes_first() {
        let table = [
            ("unassigned before assigned", "node= phase=Pending", "phase=Pending"),
            ("pending before unknown", "phase=Pending", "phase=Unknown"),
            ("unknown before running", "phase=Unknown", "created=1"),
            ("not ready before ready", "created=9999", "ready=1 created=1"),
            ("ready since nobody knows when before ready", "ready=never", "ready=1"),
            ("shortly ready before long ready", "ready=7200", "ready=18000"),
            ("a lower deletion cost first", "ready=99999 cost=10", "ready=1 cost=100"),
            ("no deletion cost counts as 0", "ready=1", "ready=1 cost=1"),
            ("a negative cost goes before none", "ready=999999 cost=-1", "ready=1"),
            ("a cost that is no number counts as 0", "ready=1 cost=ten", "ready=1 cost=1"),
            ("more restarts first", "ready=60 restarts=3", "ready=60 restarts=2"),
            ("younger before older", "ready=60 restarts=2 created=60", "ready=60 restarts=2 created=86400"),
        ];
        for (sentence, first, second) in table {
            // The uid must not decide.
            for (a, b) in [("1", "2"), ("2", "1")] {
                let (first, second) = (pod(a, first), pod(b, second));
                let victims = plan_victims(&[&second, &first], std::iter::empty(), 1, NOW);
                assert_eq!(uids(&victims), [a], "{sentence}");
            }
        }
    }

    #[test]
    fn ages_in_one_power_of_two_are_equal() {
        let (a, b) = (pod("1", "ready=18000"), pod("2", "ready=28800"));
        let victims = plan_victims(&[&b, &a], std::iter::empty(), 1, NOW);
        assert_eq!((uids(&victims), victims[0].criterion), (vec!["1"], Criterion::Uid));
    }

    #[test]
    fn a_pod_that_doubles_up_goes_before_one_that_is_alone() {
        let pods = [
            pod("1", "node=a ready=9"),
            pod("2", "node=b ready=9"),
            pod("3", "node=b ready=9"),
            pod("4", "node=b phase=Failed"),
        ];
        let own: Vec<_> = pods[..3].iter().collect();
        let victims = plan_victims(&own, pods.iter(), 1, NOW);
        assert_eq!((uids(&victims), victims[0].criterion), (vec!["2"], Criterion::DoubledUp));
        let victims = plan_victims(&own, std::iter::empty(), 1, NOW);
        assert_eq!(uids(&victims), ["1"], "without relatives the uid decides");
    }

    #[test]
    fn when_all_go_nothing_is_ranked() {
        let pods = [pod("2", ""), pod("1", "")];
        let own: Vec<_> = pods.iter().collect();
        let victims = plan_victims(&own, std::iter::empty(), 2, NOW);
        assert_eq!((uids(&victims), victims[0].criterion), (vec!["2", "1"], Criterion::All));
    }
}
