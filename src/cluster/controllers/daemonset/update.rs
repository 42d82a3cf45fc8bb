//! Which old Pods of a DaemonSet go, and where new ones are made beside them.
//!
//! Models: `pkg/controller/daemon/update.go: rollingUpdate, findUpdatedPodsOnNode` (v1.36).
//! Leaves out: the order of nodes, which is chance there and by name here.

use std::sync::Arc;

use crate::api::kinds::pod::Pod;

/// The Pods of one node, less those on their way out.
#[derive(Clone, Debug, Default)]
pub struct PodsOnNode {
    /// The Pod of the present template, and whether it is available.
    pub new: Option<(Arc<Pod>, bool)>,
    /// The Pod of an older template, and whether it is available.
    pub old: Option<(Arc<Pod>, bool)>,
    /// Whether there is more than one of either.
    pub is_crowded: bool,
    /// Whether the node is to have a Pod.
    pub should_run: bool,
}

/// What an update does next.
#[derive(Debug, Default)]
pub struct Plan {
    /// Old Pods that go.
    pub delete: Vec<Arc<Pod>>,
    /// Nodes that get a new Pod beside the old one.
    pub create: Vec<String>,
}

impl PodsOnNode {
    /// Sorts the Pods of one node.
    pub fn of(
        pods: &[Arc<Pod>],
        is_updated: impl Fn(&Pod) -> bool,
        is_available: impl Fn(&Pod) -> bool,
    ) -> Self {
        let mut state = Self::default();
        for pod in pods.iter().filter(|pod| !pod.meta.is_terminating()) {
            let slot = if is_updated(pod) { &mut state.new } else { &mut state.old };
            state.is_crowded |= slot.is_some();
            slot.get_or_insert((Arc::clone(pod), is_available(pod)));
        }
        state
    }
}

/// Old Pods that go first, so that new ones can be made in their place: all that do not work anyway, and as many of the
/// others as may be missing.
pub fn plan_in_place(nodes: &[(String, PodsOnNode)], most_missing: usize) -> Plan {
    let mut plan = Plan::default();
    let mut missing = 0;
    let mut candidates = Vec::new();
    for (_, state) in nodes {
        match (&state.new, &state.old) {
            _ if state.is_crowded => missing += 1,
            (None, None) | (Some(_), Some(_)) => missing += 1,
            (Some((_, available)), None) => missing += usize::from(!available),
            (None, Some((old, false))) => plan.delete.push(Arc::clone(old)),
            (None, Some((old, true))) => candidates.push(Arc::clone(old)),
        }
    }
    plan.delete.extend(candidates.into_iter().take(most_missing.saturating_sub(missing)));
    plan
}

/// New Pods beside old ones, as many as may be extra; an old Pod goes once the new one beside it is available.
pub fn plan_with_surge(nodes: &[(String, PodsOnNode)], most_surge: usize) -> Plan {
    let mut plan = Plan::default();
    let mut surge = 0;
    let mut candidates = Vec::new();
    for (node, state) in nodes {
        match (&state.new, &state.old) {
            _ if state.is_crowded => surge += 1,
            (None, None) => {}
            (None, Some(_)) if !state.should_run => {}
            (None, Some((_, false))) => plan.create.push(node.clone()),
            (None, Some((_, true))) => candidates.push(node.clone()),
            (Some((_, false)), _) => surge += 1,
            (Some((_, true)), Some((old, _))) => plan.delete.push(Arc::clone(old)),
            (Some((_, true)), None) => {}
        }
    }
    plan.create.extend(candidates.into_iter().take(most_surge.saturating_sub(surge)));
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, new: Option<bool>, old: Option<bool>) -> (String, PodsOnNode) {
        let pod = |kind: &str, available: bool| {
            let mut pod = Pod::default();
            pod.meta.name = format!("{kind}-{name}").into();
            (Arc::new(pod), available)
        };
        let state = PodsOnNode {
            new: new.map(|available| pod("new", available)),
            old: old.map(|available| pod("old", available)),
            is_crowded: false,
            should_run: true,
        };
        (name.to_string(), state)
    }

    fn names(plan: &Plan) -> Vec<String> {
        plan.delete.iter().map(|pod| pod.meta.name.to_string()).collect()
    }

    #[test]
    fn old_pods_go_one_after_the_other() {
        let table = [
            (
                "nothing is missing",
                vec![node("a", None, Some(true)), node("b", None, Some(true))],
                vec!["old-a"],
            ),
            (
                "a new Pod is not ready",
                vec![node("a", Some(false), None), node("b", None, Some(true))],
                vec![],
            ),
            (
                "an old Pod that does not work goes at once",
                vec![node("a", Some(false), None), node("b", None, Some(false))],
                vec!["old-b"],
            ),
            ("all are new", vec![node("a", Some(true), None)], vec![]),
        ];
        for (sentence, nodes, expected) in table {
            assert_eq!(names(&plan_in_place(&nodes, 1)), expected, "{sentence}");
        }
    }

    #[test]
    fn new_pods_are_made_beside_old_ones() {
        let nodes = [node("a", None, Some(true)), node("b", None, Some(true))];
        assert_eq!(plan_with_surge(&nodes, 1).create, ["a"]);
        let nodes = [node("a", Some(false), Some(true)), node("b", None, Some(true))];
        assert!(plan_with_surge(&nodes, 1).create.is_empty(), "the new Pod is waited for");
        let nodes = [node("a", Some(true), Some(true)), node("b", None, Some(true))];
        let plan = plan_with_surge(&nodes, 1);
        assert_eq!((names(&plan), plan.create), (vec!["old-a".to_string()], vec!["b".to_string()]));
    }
}
