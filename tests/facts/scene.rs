//! The cluster that a row is tried on: ask the server, run a line, let time pass, look.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::manifest;
use kubestep::api::meta::ObjectKey;
use kubestep::cluster::component::View;
use kubestep::cluster::fact::Fact;
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::server::request::{Request, Response, Verb};
use kubestep::cluster::server::status::Status;
use kubestep::cluster::settings::{NodeSetup, Settings};
use kubestep::kubectl::host::Host;
use kubestep::kubectl::{Execution, Output, Session, run_with_input};
use serde_json::{Value, json};

/// The namespace that everything happens in.
pub const NAMESPACE: &str = "ns";

/// The most ticks that a command may wait.
const COMMAND_TICKS: u64 = 1200;

/// A cluster and a terminal.
#[derive(Clone)]
pub struct Scene {
    /// The cluster.
    pub cluster: Cluster,
    /// What happened.
    pub facts: Vec<Arc<Fact>>,
    /// Files that commands can read.
    pub files: BTreeMap<String, String>,
    terminal: Session,
}

impl Scene {
    fn new(settings: Settings) -> Self {
        let mut scene = Self {
            cluster: Cluster::boot(settings),
            facts: Vec::new(),
            files: BTreeMap::new(),
            terminal: Session::in_namespace(NAMESPACE),
        };
        scene
            .create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}))
            .unwrap();
        scene.ticks(2);
        scene
    }

    /// The API server, and nobody who acts.
    pub fn server() -> Self {
        Self::new(Settings {
            controllers: false,
            scheduler: false,
            kubelets: false,
            ..Settings::bare(1, Vec::new())
        })
    }

    /// The API server and the controllers; no nodes.
    pub fn controllers() -> Self {
        Self::new(Settings { scheduler: false, kubelets: false, ..Settings::bare(1, Vec::new()) })
    }

    /// The API server and the scheduler; no nodes.
    pub fn scheduler() -> Self {
        Self::new(Settings { controllers: false, kubelets: false, ..Settings::bare(1, Vec::new()) })
    }

    /// A whole cluster of so many nodes, over the runtime that the recordings had.
    pub fn nodes(count: usize) -> Self {
        let nodes = (1..=count).map(|n| NodeSetup::new(format!("node-{n}"))).collect();
        Self::new(Settings::bare(1, nodes))
    }

    /// The playground: three nodes and the system Pods.
    pub fn playground() -> Self {
        Self::new(Settings::default())
    }

    /// What a controller sees.
    pub fn view(&self) -> View<'_> {
        self.cluster.present_view()
    }

    /// Lets time pass.
    pub fn ticks(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.cluster.finish_tick(&mut self.facts);
        }
    }

    /// Lets time pass until nothing but heartbeats is due soon.
    pub fn settle(&mut self) {
        for _ in 0..200 {
            self.ticks(1);
            let soon = self.cluster.tick() + 6;
            if self.cluster.next_busy_tick().is_none_or(|busy| busy > soon) {
                return;
            }
        }
    }

    /// A request about an object of the namespace; the object after it.
    ///
    /// # Errors
    /// The refusal.
    pub fn request(&mut self, verb: Verb, kind: Kind, name: &str, body: Value) -> Result<Value, Status> {
        let namespace = if kind.is_namespaced() { NAMESPACE } else { "" };
        self.ask(Request::new(verb, kind, namespace, name, body)).map(|response| response.object)
    }

    /// The same to a sub-resource.
    ///
    /// # Errors
    /// The refusal.
    pub fn request_to(
        &mut self,
        subresource: &str,
        verb: Verb,
        kind: Kind,
        name: &str,
        body: Value,
    ) -> Result<Value, Status> {
        let namespace = if kind.is_namespaced() { NAMESPACE } else { "" };
        let mut request = Request::new(verb, kind, namespace, name, body);
        request.subresource = subresource.to_string();
        self.ask(request).map(|response| response.object)
    }

    /// Creates what a document describes.
    ///
    /// # Errors
    /// The refusal.
    pub fn create(&mut self, document: Value) -> Result<Value, Status> {
        let text =
            |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string();
        let kind = Kind::from_manifest(&text("/apiVersion"), &text("/kind")).expect("a known kind");
        let namespace = match (kind.is_namespaced(), text("/metadata/namespace")) {
            (false, _) => String::new(),
            (true, given) if given.is_empty() => NAMESPACE.to_string(),
            (true, given) => given,
        };
        let name = text("/metadata/name");
        self.ask(Request::new(Verb::Create, kind, &namespace, &name, document))
            .map(|response| response.object)
    }

    /// Creates every object of a YAML text; each must be accepted.
    pub fn create_all(&mut self, text: &str) {
        let read = manifest::parse(text);
        assert_eq!(read.error, None, "{text}");
        for document in read.documents {
            self.create(document.value).unwrap();
        }
    }

    /// Deletes with those options; the object after it.
    ///
    /// # Errors
    /// The refusal.
    pub fn delete(
        &mut self,
        kind: Kind,
        name: &str,
        set: impl FnOnce(&mut kubestep::cluster::server::request::Options),
    ) -> Result<Value, Status> {
        let namespace = if kind.is_namespaced() { NAMESPACE } else { "" };
        let mut request = Request::new(Verb::Delete, kind, namespace, name, Value::Null);
        set(&mut request.options);
        self.ask(request).map(|response| response.object)
    }

    /// The stored object, if it is there.
    pub fn get(&self, kind: Kind, name: &str) -> Option<Value> {
        let namespace = if kind.is_namespaced() { NAMESPACE } else { "" };
        self.cluster.store.object(&ObjectKey::new(kind, namespace, name)).map(|object| object.to_value())
    }

    /// Everything of a kind in the namespace (or the cluster).
    pub fn list(&self, kind: Kind) -> Vec<Value> {
        let of_kind = self.cluster.store.objects_of(kind);
        of_kind
            .filter(|object| !kind.is_namespaced() || *object.meta().namespace == *NAMESPACE)
            .map(|object| object.to_value())
            .collect()
    }

    /// The events of the namespace: `Reason: message`, sorted as they are stored.
    pub fn events(&self) -> Vec<String> {
        let line = |event: &Value| {
            format!(
                "{}: {}",
                event["reason"].as_str().unwrap_or_default(),
                event["message"].as_str().unwrap_or_default()
            )
        };
        self.list(Kind::Event).iter().map(line).collect()
    }

    /// Runs a line; what it printed.
    pub fn run(&mut self, line: &str) -> Output {
        self.run_with(line, None)
    }

    /// Runs a line that reads that text.
    pub fn run_with(&mut self, line: &str, input: Option<&str>) -> Output {
        let mut terminal = std::mem::take(&mut self.terminal);
        let output = match run_with_input(line, input, &mut terminal, self) {
            Execution::Finished(output) => output,
            Execution::Waiting(mut output, mut waiting) => {
                for _ in 0..COMMAND_TICKS {
                    self.ticks(1);
                    let poll = waiting.poll(&mut terminal, self);
                    output.append(&poll.printed);
                    if let Some(exit) = poll.finished {
                        output.exit = exit;
                        break;
                    }
                }
                output
            }
        };
        self.terminal = terminal;
        output
    }

    /// What `kubectl apply -f x.yaml` prints of a text, both streams.
    pub fn apply(&mut self, text: &str) -> String {
        self.with_file("kubectl apply -f x.yaml", text)
    }

    /// What a line prints, both streams, when the file `x.yaml` holds that text.
    pub fn with_file(&mut self, line: &str, text: &str) -> String {
        self.files.insert("x.yaml".to_string(), text.to_string());
        let output = self.run(line);
        output.stdout + &output.stderr
    }
}

impl Host for Scene {
    fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn ask(&mut self, request: Request) -> Result<Response, Status> {
        self.cluster.ask(&request, &mut self.facts)
    }

    fn file(&self, name: &str) -> Option<String> {
        self.files.get(name).cloned()
    }
}

/// A Pod of one container, as short as can be.
pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    })
}

/// A Deployment whose Pods are labelled `app: web`.
pub fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.29"}]},
            },
        },
    })
}

/// The same value with a change.
pub fn with(mut value: Value, change: impl FnOnce(&mut Value)) -> Value {
    change(&mut value);
    value
}
