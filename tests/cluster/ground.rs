//! A cluster to play on: requests in, ticks, objects out.

use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::object::Resource;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::fact::{Fact, What};
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::server::request::{Propagation, Request, Response, Verb};
use kubestep::cluster::server::status::Status;
use kubestep::cluster::settings::{NodeSetup, Settings};
use serde_json::{Value, json};

/// The namespace that everything is played in.
pub const NAMESPACE: &str = "demo";

/// A cluster and everything that happened on it.
pub struct Stage {
    /// The cluster.
    pub cluster: Cluster,
    /// What happened, oldest first.
    pub facts: Vec<Arc<Fact>>,
}

/// Three nodes with scheduler, controllers and kubelets, and nothing running.
pub fn empty_nodes(seed: u64) -> Settings {
    let nodes = (1..=3).map(|n| NodeSetup::new(format!("node-{n}"))).collect();
    Settings::bare(seed, nodes)
}

/// Only the API server and the controllers.
pub fn controllers_only(seed: u64) -> Settings {
    Settings { scheduler: false, kubelets: false, ..empty_nodes(seed) }
}

/// A Deployment `name` with Pods labelled `app: name`; `spec` is merged into its spec.
pub fn deployment(name: &str, replicas: i32, image: &str, spec: Value) -> Value {
    let mut value = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{
                    "name": "c", "image": image,
                    "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
                }]},
            },
        },
    });
    if let (Some(all), Value::Object(extra)) = (value["spec"].as_object_mut(), spec) {
        all.extend(extra);
    }
    value
}

impl Stage {
    /// A booted cluster with the namespace `demo`.
    pub fn new(settings: Settings) -> Self {
        let mut stage = Self { cluster: Cluster::boot(settings), facts: Vec::new() };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        stage.ask(Request::new(Verb::Create, Kind::Namespace, "", NAMESPACE, namespace)).unwrap();
        stage.settle();
        stage
    }

    /// Sends one request.
    pub fn ask(&mut self, request: Request) -> Result<Response, Status> {
        self.cluster.ask(&request, &mut self.facts)
    }

    /// Creates an object in the namespace.
    pub fn create(&mut self, kind: Kind, value: Value) -> Result<Response, Status> {
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_string();
        self.ask(Request::new(Verb::Create, kind, NAMESPACE, &name, value))
    }

    /// Changes an object by a merge patch.
    pub fn patch(&mut self, kind: Kind, name: &str, patch: Value) -> Result<Response, Status> {
        self.ask(Request::new(Verb::MergePatch, kind, NAMESPACE, name, patch))
    }

    /// Deletes an object.
    pub fn delete(&mut self, kind: Kind, name: &str, propagation: Propagation) -> Result<Response, Status> {
        let mut request = Request::new(Verb::Delete, kind, NAMESPACE, name, Value::Null);
        request.options.propagation = Some(propagation);
        self.ask(request)
    }

    /// Lets one tick pass.
    pub fn tick(&mut self) {
        self.cluster.finish_tick(&mut self.facts);
    }

    /// Lets ticks pass until nothing is due within the next ten; at most 300.
    pub fn settle(&mut self) {
        for _ in 0..300 {
            self.tick();
            let soon = self.cluster.tick() + 10;
            if self.cluster.next_busy_tick().is_none_or(|busy| busy > soon) {
                return;
            }
        }
    }

    /// All objects of a kind in the namespace, by name.
    pub fn all<R: Resource>(&self) -> Vec<Arc<R>> {
        self.cluster.store.list_in::<R>(NAMESPACE).cloned().collect()
    }

    /// One object of the namespace.
    pub fn get<R: Resource>(&self, name: &str) -> Option<Arc<R>> {
        self.cluster.store.get::<R>(NAMESPACE, name).cloned()
    }

    /// The messages of all events with that reason, in the order of their objects' names.
    pub fn events(&self, reason: &str) -> Vec<String> {
        let events = self.all::<kubestep::api::kinds::event::Event>();
        events.iter().filter(|event| event.reason == reason).map(|event| event.message.clone()).collect()
    }

    /// What an actor wrote since the fact of that index, as `created Pod demo/a`.
    pub fn written_by(&self, actor: &Actor, since: usize) -> Vec<String> {
        let line = |fact: &Arc<Fact>| match &fact.what {
            What::Wrote { key, old, new } if fact.actor == *actor => {
                let verb = match (old, new) {
                    (None, _) => "created",
                    (_, None) => "removed",
                    _ => "changed",
                };
                Some(format!("{verb} {key}"))
            }
            _ => None,
        };
        self.facts[since..].iter().filter_map(line).collect()
    }
}
