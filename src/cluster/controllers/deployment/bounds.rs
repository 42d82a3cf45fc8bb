//! How many Pods a rollout may have, at most and at least, and how a change of size is shared among ReplicaSets.
//!
//! Models: `pkg/controller/deployment/util/deployment_util.go` (v1.36): `ResolveFenceposts`, `MaxSurge`,
//! `MaxUnavailable`, `NewRSNewReplicas`, `GetReplicaSetProportion`; `sync.go: scale`.
//! Leaves out: nothing.

use crate::api::int_or_string::IntOrString;
use crate::api::kinds::apps::DeploymentSpec;

/// The strategy that replaces Pods step by step.
pub const ROLLING_UPDATE: &str = "RollingUpdate";

/// The bounds of a Deployment at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Pods wanted.
    pub wanted: i32,
    /// Pods that may be extra.
    pub surge: i32,
    /// Pods that may be missing.
    pub unavailable: i32,
}

impl Bounds {
    /// The bounds that the spec sets. Without a rolling update nothing may be extra or missing.
    pub fn of(spec: &DeploymentSpec) -> Self {
        let wanted = spec.replicas.unwrap_or(1);
        if spec.strategy.strategy_type != ROLLING_UPDATE {
            return Self { wanted, surge: 0, unavailable: 0 };
        }
        let rolling = spec.strategy.rolling_update.as_ref();
        let surge = rolling.and_then(|rolling| rolling.max_surge.as_ref());
        let unavailable = rolling.and_then(|rolling| rolling.max_unavailable.as_ref());
        let (surge, unavailable) = fenceposts(surge, unavailable, wanted).unwrap_or((0, 0));
        Self { wanted, surge, unavailable: if wanted == 0 { 0 } else { unavailable.min(wanted) } }
    }

    /// The most Pods that may exist.
    pub fn at_most(&self) -> i32 {
        self.wanted + self.surge
    }

    /// The fewest Pods that must be available.
    pub fn at_least(&self) -> i32 {
        self.wanted - self.unavailable
    }

    /// The size of the new ReplicaSet, when all of them together have `total` Pods.
    pub fn new_set_size(&self, new_set: i32, total: i32, is_rolling: bool) -> i32 {
        if !is_rolling {
            return self.wanted;
        }
        if total >= self.at_most() {
            return new_set;
        }
        new_set + (self.at_most() - total).min(self.wanted - new_set)
    }
}

/// Surge, rounded up, and unavailable, rounded down; if both came out as 0, nothing could ever move, so one may be
/// missing. `None` when one is neither a number nor a percentage.
pub fn fenceposts(
    surge: Option<&IntOrString>,
    unavailable: Option<&IntOrString>,
    wanted: i32,
) -> Option<(i32, i32)> {
    let surge = surge.map_or(Some(0), |surge| surge.scaled(wanted, true))?;
    let unavailable = unavailable.map_or(Some(0), |unavailable| unavailable.scaled(wanted, false))?;
    Some(if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) })
}

/// A ReplicaSet among those that share a change of size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its size.
    pub size: i32,
    /// The most Pods that the Deployment might have when it was sized, if it says so.
    pub max_replicas: Option<i32>,
}

/// The new sizes of the active ReplicaSets when the Deployment's size changes in the middle of a rollout. `shares`
/// stand in the order in which they take or give: largest first. `reported` is the Deployment's last count of Pods.
pub fn proportional_sizes(bounds: Bounds, reported: i32, shares: &[Share]) -> Vec<i32> {
    let allowed = if bounds.wanted > 0 { bounds.at_most() } else { 0 };
    let to_add = allowed - shares.iter().map(|share| share.size).sum::<i32>();
    let mut added = 0;
    let mut sizes = Vec::with_capacity(shares.len());
    for share in shares {
        let part = proportion(bounds, reported, *share, to_add, added);
        sizes.push(share.size + part);
        added += part;
    }
    if to_add != 0
        && let Some(first) = sizes.first_mut()
    {
        *first = (*first + to_add - added).max(0);
    }
    sizes
}

/// The order in which ReplicaSets share a change: the larger first; of equal ones the newer first when growing, the
/// older first when shrinking. `age_rank` counts from the oldest.
pub fn sharing_order(sizes: &mut [(usize, i32)], grows: bool) {
    sizes.sort_by(|(a_rank, a), (b_rank, b)| {
        let by_age = if grows { b_rank.cmp(a_rank) } else { a_rank.cmp(b_rank) };
        b.cmp(a).then(by_age)
    });
}

fn proportion(bounds: Bounds, reported: i32, share: Share, to_add: i32, added: i32) -> i32 {
    if share.size == 0 || to_add == 0 || to_add == added {
        return 0;
    }
    let part = fraction(bounds, reported, share);
    let left = to_add - added;
    if to_add > 0 { part.min(left) } else { part.max(left) }
}

/// What the share grows by if it keeps its part of the whole.
pub fn fraction(bounds: Bounds, reported: i32, share: Share) -> i32 {
    if bounds.wanted == 0 {
        return -share.size;
    }
    let before = share.max_replicas.filter(|&max| max != 0).unwrap_or(reported);
    if before <= 0 {
        return 0;
    }
    let (numerator, denominator) = (i64::from(share.size) * i64::from(bounds.at_most()), i64::from(before));
    // Rounded half up, as `integer.RoundToInt32` does.
    let rounded = (2 * numerator + denominator).div_euclid(2 * denominator);
    i32::try_from(rounded).unwrap_or(i32::MAX) - share.size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kinds::apps::RollingUpdateDeployment;

    fn amount(text: &str) -> Option<IntOrString> {
        match text.parse() {
            Ok(number) => Some(IntOrString::Int(number)),
            Err(_) if text.is_empty() => None,
            Err(_) => Some(IntOrString::Text(text.to_string())),
        }
    }

    fn bounds(wanted: i32, surge: &str, unavailable: &str) -> Bounds {
        let mut spec = DeploymentSpec { replicas: Some(wanted), ..DeploymentSpec::default() };
        spec.strategy.strategy_type = ROLLING_UPDATE.to_string();
        spec.strategy.rolling_update = Some(RollingUpdateDeployment {
            max_surge: amount(surge),
            max_unavailable: amount(unavailable),
            ..RollingUpdateDeployment::default()
        });
        Bounds::of(&spec)
    }

    #[test]
    fn surge_rounds_up_and_unavailable_rounds_down() {
        let table = [
            ("25% of 3", 3, "25%", "25%", (1, 0)),
            ("39% of 10", 10, "39%", "39%", (4, 3)),
            ("both zero: one may be missing", 10, "0", "0%", (0, 1)),
            ("1% of 2 is no Pod: one may be missing", 2, "0", "1%", (0, 1)),
            ("nothing said: one may be missing", 10, "", "", (0, 1)),
            ("a word is no bound: nothing may be extra or missing", 10, "oops", "39%", (0, 0)),
            ("no surge said", 10, "", "39%", (0, 3)),
            ("more missing than wanted is all of them", 5, "1", "10", (1, 5)),
            ("nothing wanted, nothing missing", 0, "1", "10", (1, 0)),
        ];
        for (sentence, wanted, surge, unavailable, expected) in table {
            let bounds = bounds(wanted, surge, unavailable);
            assert_eq!((bounds.surge, bounds.unavailable), expected, "{sentence}");
        }
    }

    #[test]
    fn without_a_rolling_update_nothing_may_be_extra_or_missing() {
        let mut spec = DeploymentSpec { replicas: Some(4), ..DeploymentSpec::default() };
        spec.strategy.strategy_type = "Recreate".to_string();
        let bounds = Bounds::of(&spec);
        assert_eq!((bounds.at_most(), bounds.at_least()), (4, 4));
        assert_eq!(bounds.new_set_size(1, 9, false), 4);
    }

    #[test]
    fn the_new_set_grows_into_the_room_there_is() {
        let table = [
            ("no room", bounds(1, "1", "0"), 5, 5, 5),
            ("room for all that is missing", bounds(6, "10", "0"), 2, 5, 6),
            ("no surge, all old", bounds(10, "0", "1"), 0, 10, 0),
            ("two extra", bounds(10, "2", "0"), 0, 10, 2),
            ("old ones went", bounds(10, "2", "0"), 0, 5, 7),
            ("the extra ones are there", bounds(10, "2", "0"), 2, 12, 2),
        ];
        for (sentence, bounds, new_set, total, expected) in table {
            assert_eq!(bounds.new_set_size(new_set, total, true), expected, "{sentence}");
        }
    }

    #[test]
    fn a_change_of_size_is_shared_in_proportion() {
        // Sizes oldest first; the result in the same order.
        let table: &[(&str, i32, i32, &str, &[i32], &[i32])] = &[
            ("10 become 12", 12, 10, "0", &[10], &[12]),
            ("5 become 10", 10, 5, "0", &[3, 2], &[6, 4]),
            ("5 become 3", 3, 5, "0", &[3, 2], &[2, 1]),
            ("9 become 4", 4, 9, "0", &[1, 8], &[0, 4]),
            ("7 become 10", 10, 7, "0", &[2, 3, 2], &[3, 4, 3]),
            ("13 become 8", 8, 13, "0", &[3, 8, 2], &[2, 5, 1]),
            ("what is left over goes to the newest of equals", 4, 3, "0", &[1, 1, 1], &[1, 1, 2]),
            ("the oldest of equals gives first", 2, 3, "0", &[1, 1, 1], &[0, 1, 1]),
            ("to nothing", 0, 6, "0", &[1, 2, 3], &[0, 0, 0]),
            ("with extra Pods", 20, 12, "2", &[6, 6], &[11, 11]),
            ("in the middle of a stuck rollout", 15, 13, "3", &[8, 5], &[11, 7]),
        ];
        for (sentence, wanted, max_before, surge, sizes, expected) in table {
            let bounds = bounds(*wanted, surge, "1");
            let allowed = if *wanted > 0 { bounds.at_most() } else { 0 };
            let mut order: Vec<(usize, i32)> = sizes.iter().copied().enumerate().collect();
            sharing_order(&mut order, allowed > sizes.iter().sum());
            let share = |&(_, size): &(usize, i32)| Share { size, max_replicas: Some(*max_before) };
            let shares: Vec<Share> = order.iter().map(share).collect();
            let mut result = vec![0; sizes.len()];
            for ((rank, _), size) in order.iter().zip(proportional_sizes(bounds, 0, &shares)) {
                result[*rank] = size;
            }
            assert_eq!(result, *expected, "{sentence}");
        }
    }

    #[test]
    fn a_share_keeps_its_part_of_the_whole() {
        let table = [
            ("to nothing goes all", (0, 0, 10, None), -10),
            ("nothing known of before", (10, 0, 5, None), 0),
            ("the last report stands in for the annotation", (120, 100, 50, None), 10),
            ("an annotation of 0 counts as none", (120, 100, 50, Some(0)), 10),
            ("the annotation", (120, 0, 50, Some(100)), 10),
            ("shrinking rounds half up", (10, 0, 6, Some(12)), -1),
        ];
        for (sentence, (wanted, reported, size, max_replicas), expected) in table {
            let bounds = Bounds { wanted, surge: 0, unavailable: 0 };
            assert_eq!(fraction(bounds, reported, Share { size, max_replicas }), expected, "{sentence}");
        }
        let surging = Bounds { wanted: 120, surge: 10, unavailable: 0 };
        assert_eq!(fraction(surging, 0, Share { size: 50, max_replicas: Some(110) }), 9);
        let shrinking = Bounds { wanted: 100, surge: 10, unavailable: 0 };
        assert_eq!(fraction(shrinking, 0, Share { size: 50, max_replicas: Some(130) }), -8);
    }
}
