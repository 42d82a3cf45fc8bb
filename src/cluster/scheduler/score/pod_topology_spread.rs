//! Prefers places that have fewer of the Pods that count.
//!
//! Models: `pkg/scheduler/framework/plugins/podtopologyspread/scoring.go` (v1.36). Leaves out: nothing.

use std::collections::BTreeMap;

use super::{Feasible, MAX_SCORE};
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;
use crate::cluster::scheduler::spread::{Known, Places, has_all_keys};

/// The rule's name.
pub const NAME: &str = "PodTopologySpread";

/// The emptier the places of a node, the higher.
pub fn score(candidate: &Candidate, feasible: &Feasible<'_>) -> Option<Vec<i64>> {
    let constraints = &candidate.constraints.soft;
    if constraints.is_empty() {
        return None;
    }
    let requires_all = !candidate.constraints.by_default;
    let groups = feasible.snapshot.groups();
    let namespace = &candidate.pod.meta.namespace;
    let is_ignored = |info: &NodeInfo| requires_all && !has_all_keys(info, constraints);
    let taking_part = feasible.nodes.iter().filter(|info| !is_ignored(info)).count();

    let mut counts: Vec<BTreeMap<&str, i64>> = vec![BTreeMap::new(); constraints.len()];
    for info in feasible.nodes.iter().filter(|info| !is_ignored(info)) {
        for (index, constraint) in
            constraints.iter().enumerate().filter(|(_, c)| c.places != Places::Hostnames)
        {
            if let Some(place) = info.place(constraint) {
                counts[index].entry(place).or_insert(0);
            }
        }
    }
    let weight = |(constraint, counts): (_, &BTreeMap<&str, i64>)| {
        let constraint: &crate::cluster::scheduler::spread::Constraint = constraint;
        let places = if constraint.places == Places::Hostnames { taking_part } else { counts.len() };
        natural_logarithm(places as f64 + 2.0)
    };
    let weights: Vec<f64> = constraints.iter().zip(&counts).map(weight).collect();
    let mut known: Vec<Known> = constraints.iter().map(|_| Known::default()).collect();
    let has_places = counts.iter().any(|places| !places.is_empty());
    for info in feasible.snapshot.nodes().filter(|_| has_places) {
        let Some(node) = info.node.as_deref().filter(|_| !is_ignored(info)) else { continue };
        for (index, constraint) in constraints.iter().enumerate() {
            let Some(place) = info.place(constraint) else { continue };
            if let Some(count) = counts[index].get_mut(place)
                && constraint.includes(candidate, node)
            {
                *count += constraint.count_on(groups, info, namespace, &mut known[index]);
            }
        }
    }

    let raw: Vec<Option<i64>> = feasible
        .nodes
        .iter()
        .map(|info| {
            info.node.as_ref().filter(|_| !is_ignored(info))?;
            let mut sum = 0.0;
            for (index, constraint) in constraints.iter().enumerate() {
                let Some(place) = info.place(constraint) else { continue };
                let count = if constraint.places == Places::Hostnames {
                    constraint.count_on(groups, info, namespace, &mut known[index])
                } else {
                    counts[index].get(place).copied().unwrap_or(0)
                };
                sum += count as f64 * weights[index] + (constraint.max_skew - 1) as f64;
            }
            Some((sum + 0.5).floor() as i64)
        })
        .collect();
    let highest = raw.iter().flatten().copied().max().unwrap_or(0);
    let lowest = raw.iter().flatten().copied().min().unwrap_or(0);
    let normalize = |score: &Option<i64>| match score {
        None => 0,
        Some(_) if highest == 0 => MAX_SCORE,
        Some(score) => MAX_SCORE * (highest + lowest - score) / highest,
    };
    Some(raw.iter().map(normalize).collect())
}

/// ln(x) for x ≥ 1, with the basic operations only, so that it is the same on every platform: powers of two are taken out,
/// the rest is a series in (x-1)/(x+1).
fn natural_logarithm(x: f64) -> f64 {
    const LN_2: f64 = std::f64::consts::LN_2;
    let (mut rest, mut twos) = (x, 0.0);
    while rest > 1.5 {
        rest /= 2.0;
        twos += 1.0;
    }
    let ratio = (rest - 1.0) / (rest + 1.0);
    let (mut power, mut sum) = (ratio, 0.0);
    for n in 0..30 {
        sum += power / (2.0 * f64::from(n) + 1.0);
        power *= ratio * ratio;
    }
    2.0 * sum + twos * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_exact_enough() {
        for x in [1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 102.0, 5002.0] {
            assert!((natural_logarithm(x) - f64::ln(x)).abs() < 1e-12, "ln {x}");
        }
    }
}
