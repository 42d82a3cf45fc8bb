//! The controllers inside the machine: what each does in which tick, and that a second look changes nothing.

use kubestep::api::kind::Kind;
use kubestep::api::kinds::apps::{Deployment, ReplicaSet};
use kubestep::api::kinds::cluster::Namespace;
use kubestep::api::kinds::networking::{EndpointSlice, Service};
use kubestep::api::kinds::pod::Pod;
use kubestep::api::object::Resource;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::queue::WorkKey;
use kubestep::cluster::server::request::{Propagation, Request, Verb};
use kubestep::cluster::settings::Settings;
use serde_json::{Value, json};

use super::ground::{NAMESPACE, Stage, controllers_only, deployment, empty_nodes};

fn apply_web(stage: &mut Stage, replicas: i32) {
    stage.create(Kind::Deployment, deployment("web", replicas, "nginx:1.27", json!({}))).unwrap();
}

fn service(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
}

#[test]
fn each_controller_acts_in_its_own_tick() {
    let mut stage = Stage::new(controllers_only(1));
    apply_web(&mut stage, 3);
    let counts = |stage: &Stage| (stage.all::<ReplicaSet>().len(), stage.all::<Pod>().len());
    assert_eq!(counts(&stage), (0, 0), "stored, and nothing more");
    stage.tick();
    assert_eq!(counts(&stage), (1, 0), "the Deployment controller made a ReplicaSet");
    stage.tick();
    assert_eq!(counts(&stage), (1, 3), "the ReplicaSet controller made Pods");
    assert_eq!(stage.events("ScalingReplicaSet").len(), 1);
    let mut told = stage.events("SuccessfulCreate");
    told.sort();
    let named: Vec<String> =
        stage.all::<Pod>().iter().map(|pod| format!("Created pod: {}", pod.meta.name)).collect();
    assert_eq!(told, named);
}

#[test]
fn pods_of_one_replica_set_share_their_spec_as_the_template_has_it() {
    let mut stage = Stage::new(controllers_only(1));
    apply_web(&mut stage, 3);
    stage.settle();
    let pods = stage.all::<Pod>();
    let set = &stage.all::<ReplicaSet>()[0];
    assert!(pods.iter().all(|pod| pod.meta.is_controlled_by(&set.meta.uid)));
    assert!(pods.iter().all(|pod| pod.meta.generate_name == format!("{}-", set.meta.name)));
    assert!(pods.iter().all(|pod| pod.spec.containers == set.spec.template.spec.containers));
}

#[test]
fn when_all_is_quiet_another_look_writes_nothing() {
    let mut stage = Stage::new(empty_nodes(2));
    apply_web(&mut stage, 4);
    let ports = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    stage.create(Kind::Service, service("web", ports)).unwrap();
    stage.settle();
    stage.patch(Kind::Deployment, "web", json!({"spec": {"replicas": 2}})).unwrap();
    stage.settle();
    assert_quiet_looks_change_nothing(&mut stage);
}

/// Puts every object into the queue of every controller and lets a tick pass.
pub fn assert_quiet_looks_change_nothing(stage: &mut Stage) {
    let actors = [
        (Actor::Deployment, Kind::Deployment),
        (Actor::ReplicaSet, Kind::ReplicaSet),
        (Actor::EndpointSlice, Kind::Service),
        (Actor::Namespace, Kind::Namespace),
    ];
    let keys: Vec<_> = stage.cluster.store.objects().map(|object| object.key()).collect();
    for key in &keys {
        for (actor, kind) in &actors {
            if key.kind == *kind {
                stage.cluster.enqueue(actor, WorkKey::Object(key.clone()));
            }
        }
        stage.cluster.enqueue(&Actor::GarbageCollector, WorkKey::Object(key.clone()));
    }
    let since = stage.facts.len();
    stage.tick();
    for actor in actors.map(|(actor, _)| actor).iter().chain([&Actor::GarbageCollector]) {
        assert_eq!(stage.written_by(actor, since), Vec::<String>::new(), "{actor}");
    }
}

#[test]
fn a_deleted_deployment_takes_its_replica_set_and_pods_along() {
    for propagation in [Propagation::Background, Propagation::Foreground] {
        let mut stage = Stage::new(controllers_only(3));
        apply_web(&mut stage, 3);
        stage.settle();
        stage.delete(Kind::Deployment, "web", propagation).unwrap();
        stage.settle();
        let left =
            (stage.all::<Deployment>().len(), stage.all::<ReplicaSet>().len(), stage.all::<Pod>().len());
        assert_eq!(left, (0, 0, 0), "{propagation:?}");
    }
}

#[test]
fn foreground_deletion_goes_from_the_leaves_to_the_root() {
    let mut stage = Stage::new(controllers_only(3));
    apply_web(&mut stage, 1);
    stage.settle();
    let since = stage.facts.len();
    stage.delete(Kind::Deployment, "web", Propagation::Foreground).unwrap();
    stage.settle();
    let removed: Vec<String> = stage
        .written_by(&Actor::GarbageCollector, since)
        .into_iter()
        .filter(|line| line.starts_with("removed"))
        .map(|line| line.split(' ').nth(1).unwrap().to_string())
        .collect();
    assert_eq!(removed, ["Pod", "ReplicaSet", "Deployment"]);
}

#[test]
fn orphaned_pods_stay_and_are_adopted_again() {
    let mut stage = Stage::new(controllers_only(4));
    apply_web(&mut stage, 2);
    stage.settle();
    let uids = |stage: &Stage| stage.all::<Pod>().iter().map(|pod| pod.meta.uid.clone()).collect::<Vec<_>>();
    let before = uids(&stage);
    stage.delete(Kind::Deployment, "web", Propagation::Orphan).unwrap();
    stage.settle();
    assert_eq!((stage.all::<Deployment>().len(), stage.all::<ReplicaSet>().len()), (0, 1));
    assert!(stage.all::<ReplicaSet>()[0].meta.owner_references.is_empty());
    apply_web(&mut stage, 2);
    stage.settle();
    let sets = stage.all::<ReplicaSet>();
    assert_eq!((sets.len(), uids(&stage)), (1, before), "the new Deployment takes the old ReplicaSet over");
    assert!(sets[0].meta.controller().is_some());
}

#[test]
fn a_namespace_is_emptied_and_goes_after_its_content() {
    let mut stage = Stage::new(empty_nodes(5));
    apply_web(&mut stage, 2);
    let ports = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    stage.create(Kind::Service, service("web", ports)).unwrap();
    stage.settle();
    let delete = Request::new(Verb::Delete, Kind::Namespace, "", NAMESPACE, Value::Null);
    stage.ask(delete).unwrap();
    for _ in 0..120 {
        stage.tick();
    }
    assert!(stage.cluster.store.get::<Namespace>("", NAMESPACE).is_none(), "it is gone");
    let left: Vec<_> =
        stage.cluster.store.objects().filter(|object| &*object.meta().namespace == NAMESPACE).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_slice_follows_readiness() {
    let mut stage = Stage::new(empty_nodes(6));
    apply_web(&mut stage, 3);
    let ports = json!({"selector": {"app": "web"}, "ports": [{"port": 80}]});
    stage.create(Kind::Service, service("web", ports)).unwrap();
    stage.settle();
    let slices = stage.all::<EndpointSlice>();
    assert_eq!(slices.len(), 1);
    assert_eq!(slices[0].endpoints.iter().filter(|endpoint| endpoint.is_ready()).count(), 3);
    let pod = stage.all::<Pod>()[0].meta.name.to_string();
    stage.delete(Kind::Pod, &pod, Propagation::Background).unwrap();
    stage.tick();
    let slice = &stage.all::<EndpointSlice>()[0];
    let gone =
        slice.endpoints.iter().find(|e| &*e.target_ref.as_ref().unwrap().name == pod.as_str()).unwrap();
    assert_eq!((gone.conditions.ready, gone.conditions.terminating), (Some(false), Some(true)));
}

#[test]
fn a_load_balancer_service_gets_an_entry_address() {
    let mut stage = Stage::new(Settings::default());
    let taken: Vec<String> = stage
        .cluster
        .store
        .list::<Service>()
        .flat_map(|service| service.status.load_balancer.ingress.iter().map(|ingress| ingress.ip.clone()))
        .collect();
    let spec = json!({"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80}]});
    stage.create(Kind::Service, service("lb", spec)).unwrap();
    stage.settle();
    let service = stage.get::<Service>("lb").unwrap();
    let address = &service.status.load_balancer.ingress[0].ip;
    assert!(address.starts_with("203.0.113.") && !taken.contains(address), "{address} not in {taken:?}");
    assert_eq!(service.key().kind, Kind::Service);
}

#[test]
fn a_thousand_pods_are_made_and_listed() {
    let mut stage = Stage::new(controllers_only(7));
    apply_web(&mut stage, 1000);
    stage.settle();
    assert_eq!(stage.all::<Pod>().len(), 1000);
    let deployment = stage.get::<Deployment>("web").unwrap();
    assert_eq!((deployment.status.replicas, deployment.status.unavailable_replicas), (1000, 1000));
    assert!(stage.events("SuccessfulCreate").len() <= 10, "similar events are told in one");
}
