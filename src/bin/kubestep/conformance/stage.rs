//! The cluster that a case is played on.

use std::sync::Arc;

use kubestep::api::kind::Kind;
use kubestep::api::manifest;
use kubestep::cluster::fact::{Fact, What};
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::server::request::{Request, Response, Verb};
use kubestep::cluster::server::status::Status;
use kubestep::cluster::settings::{NodeSetup, Settings};
use kubestep::kubectl::host::Host;
use kubestep::kubectl::{Execution, Output, Session, run_with_input};
use serde_json::{Value, json};

/// The namespace of a recorded session.
pub const NAMESPACE: &str = "demo";

/// A pause of the cluster that counts as quiet, in ticks.
pub const QUIET_TICKS: u64 = 3;

/// How long nothing may change in a namespace that has settled: more than one second.
const UNCHANGED_TICKS: u64 = 2;

/// The most ticks that a cluster may take to come to rest.
const SETTLE_TICKS: u64 = 120;

/// A cluster and what happened on it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The cluster.
    pub cluster: Cluster,
    /// What happened, oldest first.
    pub facts: Vec<Arc<Fact>>,
    /// Whether every Pod is bound to the first node as soon as it is there, as some recordings had it.
    pub binds_at_once: bool,
    /// What the terminal remembers.
    terminal: Session,
    /// Whether a command has written something since the runner last asked.
    wrote: bool,
}

/// How long a command that writes takes.
///
/// A recorded command line took some tenths of a second from key press to prompt, in which each component of the real
/// cluster acted several times. Here one link of the chain takes one tick and a command takes none, so that time is
/// let pass after every command of a session with nodes that asked the server to write; a watch during which such a
/// command ran goes on for as long.
pub const COMMAND_TAKES_TICKS: u64 = 4;

/// The most ticks that a command may wait.
const COMMAND_TICKS: u64 = 600;

/// A node as the recordings had them.
pub fn recorded_node(name: &str) -> NodeSetup {
    NodeSetup { cpu_millicores: 1000, memory_bytes: 3840 << 20, ..NodeSetup::new(name) }
}

impl Stage {
    /// A cluster of those settings with the session's namespace.
    pub fn new(settings: Settings) -> Self {
        let mut stage = Self {
            cluster: Cluster::boot(settings),
            facts: Vec::new(),
            binds_at_once: false,
            terminal: Session {
                cluster_name: "c".to_string(),
                recorded_config: true,
                ..Session::in_namespace(NAMESPACE)
            },
            wrote: false,
        };
        let namespace = json!({"metadata": {"name": NAMESPACE}});
        // A refusal shows in the first step.
        let _ = stage.ask(Request::new(Verb::Create, Kind::Namespace, "", NAMESPACE, namespace));
        stage.settle(1);
        stage
    }

    /// Whether a command has written something since this was last asked.
    pub fn take_wrote(&mut self) -> bool {
        std::mem::take(&mut self.wrote)
    }

    /// Lets one tick pass.
    pub fn tick(&mut self) {
        self.cluster.finish_tick(&mut self.facts);
        if self.binds_at_once {
            self.bind_all();
        }
    }

    /// Lets that many ticks pass.
    pub fn advance(&mut self, ticks: u64) {
        for _ in 0..ticks {
            self.tick();
        }
    }

    /// Lets time pass until nothing but heartbeats is due within the next `gap_ticks`.
    pub fn settle(&mut self, gap_ticks: u64) {
        for _ in 0..SETTLE_TICKS {
            self.tick();
            if self.is_quiet(gap_ticks) {
                return;
            }
        }
    }

    /// Lets time pass until nothing in the session's namespace has changed for a while: a probe that finds what it found
    /// before is no change, and an event tells of one.
    pub fn settle_namespace(&mut self) {
        let mut unchanged_ticks = 0;
        for _ in 0..SETTLE_TICKS {
            let before = self.facts.len();
            self.tick();
            let wrote = |fact: &Arc<Fact>| match &fact.what {
                What::Wrote { key, .. } => key.kind != Kind::Event && *key.namespace == *NAMESPACE,
                _ => false,
            };
            unchanged_ticks = if self.facts[before..].iter().any(wrote) { 0 } else { unchanged_ticks + 1 };
            if self.is_quiet(QUIET_TICKS) || unchanged_ticks >= UNCHANGED_TICKS {
                return;
            }
        }
    }

    fn is_quiet(&self, gap_ticks: u64) -> bool {
        let soon = self.cluster.tick() + gap_ticks;
        self.cluster.next_busy_tick().is_none_or(|busy| busy > soon)
    }

    /// Carries out a command line and lets time pass until it has ended.
    pub fn run(&mut self, line: &str, input: Option<&str>) -> Output {
        self.carry_out(line, input, COMMAND_TICKS, None).0
    }

    /// Carries out a command line for that long; meanwhile, another one. Returns what both printed.
    pub fn watch(
        &mut self,
        line: &str,
        ticks: u64,
        meanwhile: Option<(u64, String)>,
    ) -> (Output, Option<Output>) {
        self.carry_out(line, None, ticks, meanwhile)
    }

    fn carry_out(
        &mut self,
        line: &str,
        input: Option<&str>,
        ticks: u64,
        meanwhile: Option<(u64, String)>,
    ) -> (Output, Option<Output>) {
        let mut terminal = std::mem::take(&mut self.terminal);
        let mut answer = None;
        let output = match run_with_input(line, input, &mut terminal, self) {
            Execution::Finished(output) => output,
            Execution::Waiting(mut output, mut waiting) => {
                let mut ticks = ticks;
                let mut tick = 0;
                while tick < ticks {
                    tick += 1;
                    self.tick();
                    let poll = waiting.poll(&mut terminal, self);
                    output.append(&poll.printed);
                    if let Some(exit) = poll.finished {
                        output.exit = exit;
                        break;
                    }
                    if answer.is_some()
                        && tick == ticks
                        && tick < COMMAND_TICKS
                        && !self.is_quiet(QUIET_TICKS)
                    {
                        ticks += 1;
                    }
                    if let Some((at, line)) = meanwhile.as_ref().filter(|(at, _)| *at == tick) {
                        let _ = at;
                        self.terminal = terminal.clone();
                        answer = Some(self.run(line, None));
                    }
                }
                output
            }
        };
        self.terminal = terminal;
        (output, answer)
    }

    fn bind_all(&mut self) {
        let unbound: Vec<_> = self
            .cluster
            .store
            .list_in::<kubestep::api::kinds::pod::Pod>(NAMESPACE)
            .filter(|pod| !pod.is_bound() && !pod.meta.is_terminating())
            .map(|pod| pod.meta.name.to_string())
            .collect();
        for pod in unbound {
            let _ = self.bind(&pod, "node-1");
        }
    }

    /// Binds a Pod to a node, as a scheduler does.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn bind(&mut self, pod: &str, node: &str) -> Result<Response, Status> {
        let body = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod, "namespace": NAMESPACE},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        });
        let mut request = Request::new(Verb::Create, Kind::Pod, NAMESPACE, pod, body);
        request.subresource = "binding".to_string();
        self.ask(request)
    }

    /// Creates every object of a manifest, or patches it if it is there.
    ///
    /// # Errors
    /// The first refusal, or why the text cannot be read.
    pub fn apply(&mut self, text: &str) -> Result<(), Status> {
        let read = manifest::parse(text);
        if let Some(error) = read.error {
            return Err(Status::bad_request(error.message));
        }
        read.documents.into_iter().try_for_each(|document| self.apply_value(document.value))
    }

    /// Creates the object, or patches it if it is there.
    ///
    /// # Errors
    /// The refusal.
    pub fn apply_value(&mut self, value: Value) -> Result<(), Status> {
        let text =
            |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string();
        let (api_version, kind) = (text("/apiVersion"), text("/kind"));
        let Some(kind) = Kind::from_manifest(&api_version, &kind) else {
            let message = format!("no matches for kind \"{kind}\" in version \"{api_version}\"");
            return Err(Status::bad_request(message));
        };
        let namespace = match (kind.is_namespaced(), text("/metadata/namespace")) {
            (false, _) => String::new(),
            (true, given) if given.is_empty() => NAMESPACE.to_string(),
            (true, given) => given,
        };
        let name = text("/metadata/name");
        let exists = self.cluster.store.object(&kubestep::api::meta::ObjectKey::new(
            kind,
            namespace.as_str(),
            name.as_str(),
        ));
        let verb = if exists.is_some() { Verb::StrategicPatch } else { Verb::Create };
        self.ask(Request::new(verb, kind, &namespace, &name, value)).map(|_| ())
    }

    /// The objects that were created, marked for deletion and removed since `fact`, by kind and name.
    pub fn changes_since(&self, fact: usize, kind: Kind) -> Changes {
        self.changes_in(NAMESPACE, fact, kind)
    }

    /// The same in another namespace, or in all of them if it is empty.
    pub fn changes_in(&self, namespace: &str, fact: usize, kind: Kind) -> Changes {
        let mut changes = Changes::default();
        for fact in &self.facts[fact..] {
            let What::Wrote { key, old, new } = &fact.what else { continue };
            if key.kind != kind || !namespace.is_empty() && *key.namespace != *namespace {
                continue;
            }
            let marked = |object: &Option<kubestep::api::object::Object>| {
                object.as_ref().is_some_and(|object| object.meta().is_terminating())
            };
            let object = new.as_ref().or(old.as_ref()).map_or(Value::Null, |object| object.to_value());
            if old.is_none() {
                changes.created.push(object.clone());
            }
            if (new.is_none() || marked(new)) && !marked(old) {
                changes.marked.push(object.clone());
            }
            if new.is_none() {
                changes.gone.push(object);
            }
        }
        changes
    }
}

/// Objects that came, were to go, and went.
#[derive(Debug, Default)]
pub struct Changes {
    /// Created, in order.
    pub created: Vec<Value>,
    /// Marked for deletion, in order.
    pub marked: Vec<Value>,
    /// Removed, in order.
    pub gone: Vec<Value>,
}

impl Host for Stage {
    fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn ask(&mut self, request: Request) -> Result<Response, Status> {
        self.wrote |= !request.options.dry_run;
        self.cluster.ask(&request, &mut self.facts)
    }

    fn file(&self, _name: &str) -> Option<String> {
        None
    }
}
