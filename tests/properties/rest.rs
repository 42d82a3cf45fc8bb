//! What is true in the end: all faults mended, the cluster comes to rest, and at rest nobody finds anything to write.

use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::kinds::apps::{Deployment, ReplicaSet};
use kubestep::cluster::actor::Actor;
use kubestep::cluster::command::Fault;
use kubestep::cluster::component::{concerns, node_actors};
use kubestep::cluster::fact::What;
use kubestep::cluster::server::request::{Request, Verb};
use kubestep::cluster::store::Change;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::{Value, json};

use super::act::{Ground, Image, NAMESPACE, NODES, WORKLOADS, component, node_name};
use super::watch::Watch;

/// The longest that a cluster takes to come to rest: back-offs of the controllers grow to 1,000 s.
const PATIENCE_TICKS: u64 = 4000;

/// Mends everything: components, nodes, quotas, images; and there is room for all. A rollout can be stuck for good where
/// there is not: Pods that cannot start take the room of those that could.
pub fn heal(ground: &mut Ground) {
    for number in 0..NODES + 3 {
        ground.cluster.cause(&Fault::Start(component(number)), &mut ground.facts);
    }
    for node in 0..NODES {
        ground.taint(node, None);
        let name = node_name(node);
        ground.patch(Kind::Node, &name, json!({"spec": {"unschedulable": null}}));
        let body = json!({"status": {"allocatable": {"cpu": "64"}, "capacity": {"cpu": "64"}}});
        let mut request = Request::new(Verb::MergePatch, Kind::Node, "", &name, body);
        request.subresource = "status".to_string();
        ground.ask(&request);
    }
    delete(ground, Kind::ResourceQuota, "quota");
    for (kind, name) in WORKLOADS.into_iter().filter(|(kind, _)| *kind != Kind::Job) {
        ground.set_image(kind, name, Image::Good(0));
        ground.patch(kind, name, json!({"spec": {"template": {"spec": {"affinity": null}}}}));
    }
    // Nobody mends a set that has been orphaned, or is about to be.
    let store = &ground.cluster.store;
    let is_kept = |set: &&Arc<ReplicaSet>| {
        let owner = set.meta.controller().and_then(|owner| store.get::<Deployment>(NAMESPACE, &owner.name));
        owner.is_some_and(|owner| set.meta.is_controlled_by(&owner.meta.uid) && !owner.meta.is_terminating())
    };
    let orphans: Vec<_> =
        store.list::<ReplicaSet>().filter(|set| !is_kept(set)).map(|set| set.meta.name.clone()).collect();
    orphans.iter().for_each(|name| delete(ground, Kind::ReplicaSet, name));
    // Nobody replaces the Pods that no controller manages; a StatefulSet waits for the one that does not become ready.
    for pod in ground.pods() {
        let image = pod.spec.containers.first().map_or("", |container| &container.image);
        let is_bad = matches!(image, "missing:1" | "app:9");
        if is_bad && pod.meta.controller().is_none_or(|owner| owner.kind != "Job") {
            delete(ground, Kind::Pod, &pod.meta.name);
        }
    }
}

/// Pods that keep away from their like stand in the way of a new version on every node: such Deployments begin anew.
///
/// # Errors
/// A promise that is broken on the way.
pub fn untangle(ground: &mut Ground, watch: &mut Watch) -> Result<(), TestCaseError> {
    let store = &ground.cluster.store;
    let keeps_apart = |set: &&Arc<ReplicaSet>| set.spec.template.spec.rest.get("affinity").is_some();
    let tangled: Vec<_> = store
        .list::<ReplicaSet>()
        .filter(keeps_apart)
        .filter_map(|set| store.get::<Deployment>(NAMESPACE, &set.meta.controller()?.name).cloned())
        .collect();
    for deployment in &tangled {
        ground.patch(Kind::Deployment, &deployment.meta.name, json!({"spec": {"replicas": 0}}));
    }
    wait_until_quiet(ground, watch)?;
    for deployment in &tangled {
        let replicas = deployment.spec.replicas;
        ground.patch(Kind::Deployment, &deployment.meta.name, json!({"spec": {"replicas": replicas}}));
    }
    Ok(())
}

/// Scales Deployments to nothing and back that Kubernetes leaves as they are: their only set has the wanted size, but its
/// annotation says another one, so that every look is taken for a change of size in which nothing is left to change
/// (kubernetes/kubernetes#138036).
///
/// # Errors
/// A promise that is broken on the way.
pub fn unstick(ground: &mut Ground, watch: &mut Watch) -> Result<(), TestCaseError> {
    const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
    let store = &ground.cluster.store;
    let is_stuck = |deployment: &&Arc<Deployment>| {
        let wanted = deployment.spec.replicas;
        store.list::<ReplicaSet>().any(|set| {
            set.meta.is_controlled_by(&deployment.meta.uid)
                && set.spec.replicas == wanted
                && wanted != Some(0)
                && set.meta.annotations.get(DESIRED).and_then(|text| text.parse().ok()) != wanted
        })
    };
    let stuck: Vec<_> = store.list::<Deployment>().filter(is_stuck).cloned().collect();
    for replicas in [Some(0), None] {
        for deployment in &stuck {
            let replicas = replicas.or(deployment.spec.replicas);
            ground.patch(Kind::Deployment, &deployment.meta.name, json!({"spec": {"replicas": replicas}}));
        }
        wait_until_quiet(ground, watch)?;
    }
    Ok(())
}

fn delete(ground: &mut Ground, kind: Kind, name: &str) {
    ground.ask(&Request::new(Verb::Delete, kind, NAMESPACE, name, Value::Null));
}

/// Lets time pass until nothing but routine is due.
///
/// # Errors
/// A promise that is broken on the way; or it does not come to rest.
pub fn wait_until_quiet(ground: &mut Ground, watch: &mut Watch) -> Result<(), TestCaseError> {
    let end = ground.cluster.tick() + PATIENCE_TICKS;
    while let Some(busy) = ground.cluster.next_busy_tick() {
        prop_assert!(busy < end, "the cluster does not come to rest: {:?}", busy_keys(ground));
        ground.cluster.skip_to_before(busy);
        ground.tick();
        ground.tell();
        watch.look(ground)?;
    }
    Ok(())
}

/// Who is still busy, with what.
fn busy_keys(ground: &Ground) -> Vec<String> {
    let components = ground.cluster.components();
    let keys = components.flat_map(|(actor, component)| {
        component
            .queue
            .iter()
            .filter(|(key, _)| !key.is_routine())
            .map(move |(key, due)| format!("{actor} {key} at {due}"))
    });
    keys.collect()
}

/// At rest every rollout has arrived, and whoever looks again writes nothing.
///
/// # Errors
/// The promise that is broken.
pub fn look(ground: &mut Ground) -> Result<(), TestCaseError> {
    let store = &ground.cluster.store;
    for deployment in store.list::<Deployment>() {
        let (wanted, status) = (deployment.spec.replicas.unwrap_or(1), &deployment.status);
        prop_assert_eq!(
            (status.updated_replicas, status.replicas, status.available_replicas, status.observed_generation),
            (wanted, wanted, wanted, deployment.meta.generation),
            "the rollout of {} has arrived",
            deployment.meta.name
        );
    }
    let cluster = &ground.cluster;
    let view = cluster.present_view();
    let mut keys = Vec::new();
    for object in cluster.store.objects() {
        let seen_first = Change {
            revision: cluster.store.revision(),
            key: object.key(),
            old: None,
            new: Some(object.clone()),
            writer: Actor::Installer,
            fact: kubestep::cluster::fact::FactId(0),
        };
        for (actor, _) in cluster.components().filter(|(actor, _)| actor.node().is_none()) {
            keys.extend(concerns(actor, &view, &seen_first).into_iter().map(|key| (actor.clone(), key)));
        }
        keys.extend(node_actors(&view, &seen_first));
    }
    for (actor, key) in keys {
        ground.cluster.enqueue(&actor, key);
    }
    ground.facts.clear();
    ground.tick();
    for fact in &ground.facts {
        if let What::Wrote { key, .. } = &fact.what {
            // A Pod that no node takes is told so again.
            let told = key.kind == Kind::Event;
            prop_assert!(
                fact.routine || told,
                "{} writes {key} at rest: {:?}",
                fact.actor,
                fact.field_changes()
            );
        }
    }
    Ok(())
}
