//! Displacing less important Pods, for a Pod that no node takes.
//!
//! On each node that might help, the Pods of lower priority are taken away in thought; if the Pod fits then, as many of
//! them as possible are put back, the most important first. The node whose victims cost least is chosen.
//!
//! Models: `pkg/scheduler/framework/preemption`, `plugins/defaultpreemption/default_preemption.go` (v1.36). Leaves out:
//! extenders; the random node at which a large cluster's search begins.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::attempt::{Attempt, Placing};
use super::message;
use super::nominated::priority;
use super::snapshot::Snapshot;
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::labels::Selector;
use crate::api::meta::Name;
use crate::api::object::Resource;
use crate::api::time::Timestamp;
use crate::cluster::store::Store;

/// What came of the thought of displacing others.
#[derive(Debug)]
pub enum Preemption {
    /// It is no way out, for this reason. The nomination that the Pod may have ends, unless it waits for one to take effect.
    Vain {
        /// In the scheduler's words.
        message: String,
        /// Whether the Pod keeps its nomination.
        keeps_nomination: bool,
    },
    /// These are displaced.
    Chosen(Plan),
}

/// Who is displaced where.
#[derive(Debug)]
pub struct Plan {
    /// The node.
    pub node: Name,
    /// The Pods that have to go, most important first.
    pub victims: Vec<Arc<Pod>>,
    /// How many of them a disruption budget protects.
    violations: usize,
}

/// The reason of the condition `DisruptionTarget` that victims get.
pub const REASON: &str = "PreemptionByScheduler";

/// Its message.
pub const MESSAGE: &str = "default-scheduler: preempting to accommodate a higher priority pod";

const NOT_HELPFUL: &str = "Preemption is not helpful for scheduling";
const NO_VICTIMS: &str = "No preemption victims found for incoming pod";

/// Nodes that are looked at closely in any case.
const LEAST_CANDIDATES: usize = 100;

/// Looks for Pods whose displacement makes room.
pub fn preempt(placing: &Placing<'_>, attempt: &Attempt, nodes: usize, now: Timestamp) -> Preemption {
    if let Some(message) = not_eligible(placing, attempt) {
        return Preemption::Vain { message, keeps_nomination: true };
    }
    let budgets = Budgets::of(placing.store, placing.pod);
    let enough = (nodes / 10).max(LEAST_CANDIDATES);
    let mut plans: Vec<Plan> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for (node, refusal) in &attempt.refusals {
        if refusal.is_final {
            reasons.push(NOT_HELPFUL.to_string());
            continue;
        }
        if plans.len() >= enough {
            break;
        }
        match plan_for(placing, node, &budgets, now) {
            Ok(plan) => plans.push(plan),
            Err(why) => reasons.extend(why),
        }
    }
    match cheapest(plans, now) {
        Some(plan) => Preemption::Chosen(plan),
        None => Preemption::Vain {
            message: message::no_preemption(nodes, reasons.iter().map(String::as_str)),
            keeps_nomination: false,
        },
    }
}

/// Why the Pod may not displace others at all.
fn not_eligible(placing: &Placing<'_>, attempt: &Attempt) -> Option<String> {
    let pod = placing.pod;
    if pod.spec.rest.get("preemptionPolicy").is_some_and(|policy| policy == "Never") {
        return Some("not eligible due to preemptionPolicy=Never.".to_string());
    }
    let nominated = &pod.status.nominated_node_name;
    if nominated.is_empty() {
        return None;
    }
    let is_hopeless = attempt.refusals.iter().any(|(node, refusal)| node == nominated && refusal.is_final);
    let is_leaving = |victim: &Arc<Pod>| {
        victim.meta.is_terminating()
            && priority(victim) < priority(pod)
            && victim.condition("DisruptionTarget").is_some_and(|c| c.status == "True" && c.reason == REASON)
    };
    let waits = !is_hopeless && placing.store.pods_on(nominated).any(is_leaving);
    waits.then(|| "not eligible due to a terminating pod on the nominated node.".to_string())
}

/// The victims on one node, or why there are none that help.
fn plan_for(
    placing: &Placing<'_>,
    node: &Name,
    budgets: &Budgets,
    now: Timestamp,
) -> Result<Plan, Vec<String>> {
    let no_victims = || Err(vec![NO_VICTIMS.to_string()]);
    let own = priority(placing.pod);
    if placing.snapshot.node(node).is_none_or(|info| !info.has_priority_below(own)) {
        return no_victims();
    }
    let mut snapshot = placing.snapshot.clone();
    let mut potential: Vec<Arc<Pod>> = placing
        .store
        .pods_on(node)
        .filter(|pod| priority(pod) < own && snapshot.is_placed(&pod.key()))
        .cloned()
        .collect();
    if potential.is_empty() {
        return no_victims();
    }
    for pod in &potential {
        snapshot.remove(&pod.key());
    }
    if let Some(refusal) = refusal_in(placing, &snapshot, node) {
        return Err(refusal);
    }
    potential.sort_by_key(|pod| importance(pod, now));
    let (violating, harmless) = budgets.split(&potential);
    let mut victims: Vec<Arc<Pod>> = Vec::new();
    let mut violations = 0;
    for (pod, violates) in violating.iter().map(|p| (p, true)).chain(harmless.iter().map(|p| (p, false))) {
        snapshot.place(pod, node);
        if refusal_in(placing, &snapshot, node).is_some() {
            snapshot.remove(&pod.key());
            victims.push(pod.clone());
            violations += usize::from(violates);
        }
    }
    victims.sort_by_key(|pod| importance(pod, now));
    Ok(Plan { node: node.clone(), victims, violations })
}

/// Why the node would refuse the Pod if things stood so.
fn refusal_in(placing: &Placing<'_>, snapshot: &Snapshot, node: &Name) -> Option<Vec<String>> {
    let refusal = placing.in_thought(snapshot, node)?;
    Some(refusal.reasons.iter().map(ToString::to_string).collect())
}

/// Sorts more important Pods first: by priority, then by how long they have run.
fn importance(pod: &Pod, now: Timestamp) -> (Reverse<i32>, Timestamp) {
    (Reverse(priority(pod)), pod.status.start_time.unwrap_or(now))
}

/// The plan that costs least: fewest budgets broken, the least important most important victim, the lowest sum of
/// priorities, the fewest victims, the latest start of the most important victim; then the first.
fn cheapest(mut plans: Vec<Plan>, now: Timestamp) -> Option<Plan> {
    let highest = |plan: &Plan| plan.victims.iter().map(|pod| priority(pod)).max().unwrap_or(i32::MIN);
    // Each priority is moved above zero, so that more victims always cost more.
    let sum = |plan: &Plan| -> i64 {
        plan.victims.iter().map(|pod| i64::from(priority(pod)) + i64::from(i32::MAX) + 1).sum()
    };
    let start = |plan: &Plan| {
        let highest = highest(plan);
        let most = plan.victims.iter().filter(|pod| priority(pod) == highest);
        most.map(|pod| pod.status.start_time.unwrap_or(now)).min().unwrap_or(now)
    };
    let cost =
        |plan: &Plan| (plan.violations, highest(plan), sum(plan), plan.victims.len(), Reverse(start(plan)));
    let best = (0..plans.len()).min_by_key(|&index| (cost(&plans[index]), index))?;
    Some(plans.swap_remove(best))
}

/// The disruption budgets of the namespaces, with the disruptions that each still allows.
struct Budgets(Vec<(Name, Selector, i64, Vec<String>)>);

impl Budgets {
    fn of(store: &Store, _pod: &Pod) -> Self {
        let read = |object: &crate::api::object::Object| {
            let value = object.to_value();
            let disrupted = value["status"]["disruptedPods"].as_object();
            let disrupted = disrupted.into_iter().flatten().map(|(name, _)| name.clone()).collect();
            let selector = Selector::from_label_selector(&value["spec"]["selector"]);
            let allowed = value["status"]["disruptionsAllowed"].as_i64().unwrap_or(0);
            (object.meta().namespace.clone(), selector, allowed, disrupted)
        };
        Self(store.objects_of(Kind::PodDisruptionBudget).map(read).collect())
    }

    /// The Pods whose displacement would break a budget, and the others, in their order.
    fn split(&self, pods: &[Arc<Pod>]) -> (Vec<Arc<Pod>>, Vec<Arc<Pod>>) {
        let mut left: BTreeMap<usize, i64> = BTreeMap::new();
        pods.iter().cloned().partition(|pod| {
            let mut violates = false;
            for (index, (namespace, selector, allowed, disrupted)) in self.0.iter().enumerate() {
                let applies = *namespace == pod.meta.namespace
                    && !pod.meta.labels.is_empty()
                    && !selector.is_everything()
                    && selector.matches(&pod.meta.labels)
                    && !disrupted.iter().any(|name| **name == *pod.meta.name);
                if applies {
                    let left = left.entry(index).or_insert(*allowed);
                    *left -= 1;
                    violates |= *left < 0;
                }
            }
            violates
        })
    }
}
