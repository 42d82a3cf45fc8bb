//! The disruption controller: keeps the books of PodDisruptionBudgets, by which evictions are granted or refused.
//!
//! Watches: PodDisruptionBudgets, Pods.
//! Writes: PodDisruptionBudget status, events.
//! Models: `pkg/controller/disruption/disruption.go` (v1.36): `trySync`, `getExpectedPodCount`, `countHealthyPods`,
//! `buildDisruptedPodMap`, `updatePdbStatus`.
//! Leaves out: Pods whose owners are of custom kinds; the condition `DisruptionTarget` that is forgotten on Pods that stay.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::apps::{Deployment, LabelSelector, ReplicaSet, ReplicationController};
use crate::api::kinds::pod::Pod;
use crate::api::kinds::policy::{DisruptionBudgetStatus, PodDisruptionBudget};
use crate::api::kinds::workloads::StatefulSet;
use crate::api::meta::Uid;
use crate::api::object::{Object, Resource};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::{Change, Store};

const NO_PODS: &str = "NoPods";
const UNMANAGED_PODS: &str = "UnmanagedPods";
const CALCULATE_FAILED: &str = "CalculateExpectedPodCountFailed";
const NOT_DELETED: &str = "NotDeleted";

/// How long a Pod may take from its granted eviction to its deletion.
const DELETION_SECONDS: i64 = 120;

/// The keys that a change concerns; its own reports do not concern a budget.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::PodDisruptionBudget => {
            let (old, new) = (change.old_as::<PodDisruptionBudget>(), change.new_as::<PodDisruptionBudget>());
            let is_report =
                old.zip(new).is_some_and(|(old, new)| old.spec == new.spec && old.meta.uid == new.meta.uid);
            if is_report { Vec::new() } else { vec![WorkKey::Object(change.key.clone())] }
        }
        Kind::Pod => {
            let selects = |budget: &&Arc<PodDisruptionBudget>| {
                let pods = [change.old_as::<Pod>(), change.new_as::<Pod>()];
                pods.into_iter().flatten().any(|pod| is_selected(budget, pod))
            };
            let budgets = view.store.list_in::<PodDisruptionBudget>(&change.key.namespace).filter(selects);
            budgets.map(|budget| WorkKey::Object(budget.key())).collect()
        }
        _ => Vec::new(),
    }
}

fn is_selected(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    budget.spec.selector.as_ref().is_some_and(|selector| selector.matches(&pod.meta.labels))
}

/// How many Pods a budget counts, how many must be healthy, and whether some have no owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Expected {
    pods: i32,
    healthy: i32,
    has_unmanaged: bool,
}

/// Handles one budget.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(budget) = key.object().and_then(|key| view.store.at::<PodDisruptionBudget>(key)) else {
        return Outcome::nothing(Because::new("because.disruption.gone"));
    };
    let pods: Vec<&Arc<Pod>> =
        view.store.list_in::<Pod>(&budget.meta.namespace).filter(|pod| is_selected(budget, pod)).collect();
    let mut outcome = Outcome::default();
    let object = Object::PodDisruptionBudget(Arc::clone(budget));
    let mut tell = |warning: bool, reason: &'static str, text: String, because: Because| {
        let event = EventRecord { warning, ..EventRecord::normal(&object, reason, text) };
        outcome.writes.push(Operation::Event(event).because(because));
    };
    if pods.is_empty() {
        let because = Because::new("because.disruption.no_pods");
        tell(false, NO_PODS, "No matching pods found".to_string(), because);
    }
    let (expected, failure) = match expect(view.store, budget, &pods) {
        Ok(expected) => (expected, None),
        Err(error) => {
            let because = Because::new("because.disruption.failed").with("message", &error);
            let text = format!("Failed to calculate the number of expected pods: {error}");
            tell(true, CALCULATE_FAILED, text, because);
            (Expected::default(), Some(error))
        }
    };
    if expected.has_unmanaged {
        let selector = budget.spec.selector.as_ref().map(LabelSelector::as_go_prints).unwrap_or_default();
        let text = format!(
            "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value."
        );
        tell(true, UNMANAGED_PODS, text, Because::new("because.disruption.unmanaged"));
    }
    let (leaving, stayed) = disrupted(budget, &pods, view.now);
    let is_healthy = |pod: &&&Arc<Pod>| {
        pod.is_ready() && !pod.meta.is_terminating() && !leaving.contains_key(&*pod.meta.name)
    };
    let healthy = i32::try_from(pods.iter().filter(is_healthy).count()).unwrap_or(i32::MAX);
    let allowed = match expected.pods {
        0 => 0,
        _ => (healthy - expected.healthy).max(0),
    };
    for pod in stayed {
        let (namespace, name) = (&budget.meta.namespace, &budget.meta.name);
        let text = format!("Pod was expected by PDB {namespace}/{name} to be deleted but it wasn't");
        let event = EventRecord::warning(&Object::Pod(pod), NOT_DELETED, text);
        let because = Because::new("because.disruption.not_deleted").with("seconds", DELETION_SECONDS);
        outcome.writes.push(Operation::Event(event).because(because));
    }
    if let Some(granted) = leaving.values().min() {
        let left = (granted.0 + DELETION_SECONDS + 1 - view.now.0).max(1);
        outcome.look_again(WorkKey::Object(budget.key()), left.cast_unsigned());
    }
    let saw = Because::new("because.disruption.saw")
        .with("name", &budget.meta.name)
        .with("pods", pods.len())
        .with("healthy", healthy);
    outcome.saw.push(saw);
    let mut status = budget.status.clone();
    if failure.is_none() {
        status = DisruptionBudgetStatus {
            current_healthy: healthy,
            desired_healthy: expected.healthy,
            expected_pods: expected.pods,
            observed_generation: budget.meta.generation,
            disrupted_pods: leaving,
            ..status
        };
    }
    let granted = if failure.is_some() { 0 } else { allowed };
    status.allow(granted, budget.meta.generation, failure.as_deref(), view.now);
    let because = Because::new("because.disruption.status")
        .with("healthy", healthy)
        .with("least", expected.healthy)
        .with("allowed", allowed);
    if status != budget.status {
        let mut reported = (**budget).clone();
        reported.status = status;
        outcome.writes.push(Operation::UpdateStatus(reported.into()).because(because.clone()));
    }
    outcome.because = Some(because);
    outcome
}

/// The Pods whose eviction was granted and that are still to be deleted, with when that was; and those for which one has
/// waited long enough.
fn disrupted(
    budget: &PodDisruptionBudget,
    pods: &[&Arc<Pod>],
    now: Timestamp,
) -> (BTreeMap<String, Timestamp>, Vec<Arc<Pod>>) {
    let (mut leaving, mut stayed) = (BTreeMap::new(), Vec::new());
    for pod in pods.iter().filter(|pod| !pod.meta.is_terminating()) {
        match budget.status.disrupted_pods.get(&*pod.meta.name) {
            Some(granted) if granted.0 + DELETION_SECONDS < now.0 => stayed.push(Arc::clone(pod)),
            Some(granted) => drop(leaving.insert(pod.meta.name.to_string(), *granted)),
            None => {}
        }
    }
    (leaving, stayed)
}

/// How many Pods there should be, and how many of them healthy.
fn expect(store: &Store, budget: &PodDisruptionBudget, pods: &[&Arc<Pod>]) -> Result<Expected, String> {
    let spec = &budget.spec;
    if let Some(most) = &spec.max_unavailable {
        let (pods, has_unmanaged) = expected_scale(store, pods)?;
        let most = most.scaled(pods, true).unwrap_or(0);
        return Ok(Expected { pods, healthy: (pods - most).max(0), has_unmanaged });
    }
    match &spec.min_available {
        Some(least @ crate::api::int_or_string::IntOrString::Text(_)) => {
            let (pods, has_unmanaged) = expected_scale(store, pods)?;
            Ok(Expected { pods, healthy: least.scaled(pods, true).unwrap_or(0), has_unmanaged })
        }
        least => {
            let healthy = least.as_ref().and_then(|least| least.scaled(0, true)).unwrap_or(0);
            let pods = i32::try_from(pods.len()).unwrap_or(i32::MAX);
            Ok(Expected { pods, healthy, has_unmanaged: false })
        }
    }
}

/// The sum of what the owners of the Pods want, and whether some Pod has none.
fn expected_scale(store: &Store, pods: &[&Arc<Pod>]) -> Result<(i32, bool), String> {
    let mut scales: BTreeMap<Uid, i32> = BTreeMap::new();
    let mut has_unmanaged = false;
    for pod in pods {
        let Some(owner) = pod.meta.controller() else {
            has_unmanaged = true;
            continue;
        };
        let (namespace, name) = (&*pod.meta.namespace, &*owner.name);
        let found = match owner.kind.as_str() {
            "ReplicaSet" => store.get::<ReplicaSet>(namespace, name).map(|set| {
                let deployment = set
                    .meta
                    .controller()
                    .filter(|owner| owner.kind == Kind::Deployment.name())
                    .and_then(|owner| store.get::<Deployment>(namespace, &owner.name));
                match deployment {
                    Some(deployment) => (deployment.meta.uid.clone(), deployment.spec.replicas),
                    None => (set.meta.uid.clone(), set.spec.replicas),
                }
            }),
            "ReplicationController" => store
                .get::<ReplicationController>(namespace, name)
                .map(|found| (found.meta.uid.clone(), found.spec.replicas)),
            "StatefulSet" => {
                store.get::<StatefulSet>(namespace, name).map(|set| (set.meta.uid.clone(), set.spec.replicas))
            }
            kind => {
                let resource = Kind::from_manifest(&owner.api_version, kind).map(Kind::group_resource);
                let resource = resource.unwrap_or_else(|| kind.to_ascii_lowercase());
                return Err(format!("{resource} does not implement the scale subresource"));
            }
        };
        let Some((uid, replicas)) = found else {
            return Err(format!("found no controllers for pod {:?}", &*pod.meta.name));
        };
        scales.insert(uid, replicas.unwrap_or(1));
    }
    Ok((scales.values().sum(), has_unmanaged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::int_or_string::IntOrString;
    use crate::cluster::actor::Actor;
    use crate::cluster::fact::FactId;

    #[test]
    fn percentages_are_of_what_the_owners_want_and_numbers_of_what_is_there() {
        let mut store = Store::default();
        let mut set = ReplicaSet::default();
        set.meta.name = "web".into();
        set.meta.namespace = "demo".into();
        set.meta.uid = "set".into();
        set.spec.replicas = Some(3);
        let mut pod = Pod::default();
        pod.meta.name = "web-1".into();
        pod.meta.namespace = "demo".into();
        pod.meta.owner_references = vec![crate::cluster::ownership::controller_reference(&set)].into();
        store.put(set.into(), &Actor::You, FactId(1));
        let (owned, bare) = (Arc::new(pod), Arc::new(Pod::default()));
        let percent = |text: &str| Some(IntOrString::Text(text.into()));
        let number = |number| Some(IntOrString::Int(number));
        let table = [
            ("half of three, rounded up", percent("50%"), None, &owned, (3, 2, false)),
            ("thirty in a hundred of three may be missing: one", None, percent("30%"), &owned, (3, 2, false)),
            ("a number counts the Pods that are there", number(2), None, &owned, (1, 2, false)),
            ("a Pod without an owner has no scale", None, number(1), &bare, (0, 0, true)),
            ("but counts for a number", number(1), None, &bare, (1, 1, false)),
        ];
        for (sentence, min_available, max_unavailable, pod, expected) in table {
            let mut budget = PodDisruptionBudget::default();
            budget.spec.min_available = min_available;
            budget.spec.max_unavailable = max_unavailable;
            let got = expect(&store, &budget, &[pod]).unwrap();
            assert_eq!((got.pods, got.healthy, got.has_unmanaged), expected, "{sentence}");
        }
    }
}
