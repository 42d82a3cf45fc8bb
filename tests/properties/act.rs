//! What can be done to a cluster, and a cluster to do it to.

use std::sync::{Arc, OnceLock};

use kubestep::api::kind::Kind;
use kubestep::api::kinds::pod::Pod;
use kubestep::api::meta::Name;
use kubestep::cluster::actor::Actor;
use kubestep::cluster::command::Fault;
use kubestep::cluster::diff::FieldChange;
use kubestep::cluster::fact::{Fact, What};
use kubestep::cluster::machine::Cluster;
use kubestep::cluster::server::request::{Propagation, Request, Verb};
use kubestep::cluster::settings::{NodeSetup, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The namespace that everything happens in.
pub const NAMESPACE: &str = "default";

/// How many nodes there are.
pub const NODES: usize = 3;

/// Something that is done.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Creates a Deployment, or applies it again; surge and unavailable belong to the name.
    Deploy { name: usize, replicas: i32, template: Template },
    /// Creates a StatefulSet, or applies it again.
    StatefulSet { replicas: i32, template: Template },
    /// Creates a DaemonSet, or applies it again.
    DaemonSet { template: Template },
    /// Creates a Job that runs so many Pods; they fail if they are to.
    Job { name: usize, completions: i32, fails: bool },
    /// Creates a Pod of nobody's.
    Pod { name: usize, template: Template },
    /// Creates a budget over the Pods of a Deployment.
    Budget { name: usize, min_available: i32 },
    /// Creates a quota, or changes it.
    Quota { pods: i32 },
    /// Scales.
    Scale { workload: usize, replicas: i32 },
    /// Sets the image.
    SetImage { workload: usize, image: Image },
    /// Deletes something by its owner.
    Delete { workload: usize, propagation: Propagation },
    /// Deletes one Pod.
    DeletePod { number: usize, grace_seconds: Option<i64> },
    /// Asks for one Pod's eviction.
    Evict { number: usize },
    /// Cordons a node, or ends that.
    Cordon { node: usize, on: bool },
    /// Cordons a node and asks for the eviction of all its Pods.
    Drain { node: usize },
    /// Taints a node, or ends that.
    Taint { node: usize, effect: Option<&'static str> },
    /// A component stops, or starts again.
    Works { component: usize, on: bool },
    /// Time passes.
    Wait { ticks: u32 },
}

/// What a Pod is to be like.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// Processor time that it asks for.
    pub cpu_millicores: i64,
    /// Whether it may displace others.
    pub important: bool,
    /// Whether it keeps away from its like.
    pub apart: bool,
    /// What it runs.
    pub image: Image,
}

/// What a container runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Image {
    /// Something that works, in that version.
    Good(usize),
    /// Something that cannot be pulled.
    Missing,
    /// Something that ends after a while, with an error.
    Crashing,
}

/// Deployments, then the StatefulSet, the DaemonSet, Jobs.
pub const WORKLOADS: [(Kind, &str); 7] = [
    (Kind::Deployment, "web-0"),
    (Kind::Deployment, "web-1"),
    (Kind::Deployment, "web-2"),
    (Kind::StatefulSet, "db"),
    (Kind::DaemonSet, "agent"),
    (Kind::Job, "job-0"),
    (Kind::Job, "job-1"),
];

/// `maxSurge` and `maxUnavailable` of each Deployment.
const BOUNDS: [(i64, i64); 3] = [(1, 0), (0, 1), (2, 1)];

/// What can be stopped.
pub fn component(number: usize) -> Actor {
    match number % (NODES + 3) {
        0 => Actor::Deployment,
        1 => Actor::ReplicaSet,
        2 => Actor::Scheduler,
        node => Actor::Kubelet(node_name(node - 3)),
    }
}

/// The name of a node, from 0.
pub fn node_name(number: usize) -> Name {
    format!("node-{}", number % NODES + 1).as_str().into()
}

/// One random act.
pub fn act() -> impl Strategy<Value = Act> {
    let propagation = prop_oneof![3 => Just(Propagation::Background), 2 => Just(Propagation::Foreground), 1 => Just(Propagation::Orphan)];
    let effect = prop_oneof![Just(None), Just(Some("NoSchedule")), Just(Some("NoExecute"))];
    prop_oneof![
        5 => (0..3_usize, 0..6, template())
            .prop_map(|(name, replicas, template)| Act::Deploy { name, replicas, template }),
        2 => (0..4, template()).prop_map(|(replicas, template)| Act::StatefulSet { replicas, template }),
        1 => template().prop_map(|template| Act::DaemonSet { template }),
        2 => (0..2_usize, 1..4, any::<bool>())
            .prop_map(|(name, completions, fails)| Act::Job { name, completions, fails }),
        2 => (0..4_usize, template()).prop_map(|(name, template)| Act::Pod { name, template }),
        2 => (0..3_usize, 0..5).prop_map(|(name, min_available)| Act::Budget { name, min_available }),
        1 => (0..12).prop_map(|pods| Act::Quota { pods }),
        4 => (0..4_usize, 0..7).prop_map(|(workload, replicas)| Act::Scale { workload, replicas }),
        4 => (0..5_usize, image()).prop_map(|(workload, image)| Act::SetImage { workload, image }),
        2 => (0..WORKLOADS.len(), propagation)
            .prop_map(|(workload, propagation)| Act::Delete { workload, propagation }),
        2 => (0..16_usize, prop_oneof![Just(None), Just(Some(0)), Just(Some(5))])
            .prop_map(|(number, grace_seconds)| Act::DeletePod { number, grace_seconds }),
        2 => (0..16_usize).prop_map(|number| Act::Evict { number }),
        2 => (0..NODES, any::<bool>()).prop_map(|(node, on)| Act::Cordon { node, on }),
        1 => (0..NODES).prop_map(|node| Act::Drain { node }),
        1 => (0..NODES, effect).prop_map(|(node, effect)| Act::Taint { node, effect }),
        2 => (0..NODES + 3, any::<bool>()).prop_map(|(component, on)| Act::Works { component, on }),
        8 => (1..20_u32).prop_map(|ticks| Act::Wait { ticks }),
        1 => (40..120_u32).prop_map(|ticks| Act::Wait { ticks }),
    ]
}

fn image() -> impl Strategy<Value = Image> {
    prop_oneof![6 => (0..3_usize).prop_map(Image::Good), 1 => Just(Image::Missing), 1 => Just(Image::Crashing)]
}

fn template() -> impl Strategy<Value = Template> {
    let cpu = prop_oneof![Just(100), Just(400), Just(700), Just(1500)];
    (cpu, prop::bool::weighted(0.35), prop::bool::weighted(0.2), image()).prop_map(
        |(cpu_millicores, important, apart, image)| Template { cpu_millicores, important, apart, image },
    )
}

/// A container's image and command.
fn container(image: Image) -> Value {
    match image {
        Image::Good(version) => json!({"name": "c", "image": format!("app:{version}"), "command": null}),
        Image::Missing => json!({"name": "c", "image": "missing:1", "command": null}),
        Image::Crashing => json!({"name": "c", "image": "app:9", "command": ["sim-exit", "1", "3s"]}),
    }
}

impl Template {
    fn pod_spec(&self, app: &str) -> Value {
        let mut container = container(self.image);
        let requests = json!({"cpu": format!("{}m", self.cpu_millicores), "memory": "64Mi"});
        container["resources"] = json!({"requests": requests});
        let affinity = json!([{
            "labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname",
        }]);
        json!({
            "containers": [container],
            "terminationGracePeriodSeconds": 5,
            "priorityClassName": if self.important { "important" } else { "" },
            "affinity": if self.apart {
                json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": affinity}})
            } else {
                Value::Null
            },
        })
    }

    fn pod_template(&self, app: &str) -> Value {
        json!({"metadata": {"labels": {"app": app}}, "spec": self.pod_spec(app)})
    }
}

/// The cluster that a session is played on.
pub struct Ground {
    /// The cluster.
    pub cluster: Cluster,
    /// What happened since somebody last looked.
    pub facts: Vec<Arc<Fact>>,
    /// Evictions that were granted since somebody last looked.
    pub evictions: u32,
    /// Evictions that a budget forbade.
    pub evictions_refused: u32,
}

impl Default for Ground {
    fn default() -> Self {
        static BOOTED: OnceLock<Cluster> = OnceLock::new();
        let booted = BOOTED.get_or_init(|| {
            let nodes = (0..NODES).map(|number| NodeSetup::new(&*node_name(number))).collect();
            let mut cluster = Cluster::boot(Settings::bare(7, nodes));
            let class = json!({"metadata": {"name": "important"}, "value": 1000});
            let request = Request::new(Verb::Create, Kind::PriorityClass, "", "important", class);
            cluster.ask(&request, &mut Vec::new()).unwrap();
            cluster
        });
        Self { cluster: booted.clone(), facts: Vec::new(), evictions: 0, evictions_refused: 0 }
    }
}

impl Ground {
    /// One whole tick.
    pub fn tick(&mut self) {
        self.cluster.finish_tick(&mut self.facts);
    }

    /// Prints what was written since somebody last looked, if `KUBESTEP_PROPERTY_TRACE` is set.
    pub fn tell(&self) {
        if std::env::var_os("KUBESTEP_PROPERTY_TRACE").is_none() {
            return;
        }
        let matters = |change: &FieldChange| {
            ["spec.replicas", "spec.nodeName", "metadata.deletionTimestamp"].contains(&change.path.as_str())
                || change.path.starts_with("status.") && change.path.ends_with("eplicas")
        };
        for fact in self.facts.iter().filter(|fact| !fact.routine) {
            let told = match &fact.what {
                What::Wrote { key, .. } if !matches!(key.kind, Kind::Event | Kind::EndpointSlice) => {
                    let changes = fact.field_changes().into_iter().filter(matters);
                    let changes: Vec<String> =
                        changes.map(|it| format!("{}: {}", it.path, it.new.unwrap_or_default())).collect();
                    format!("{key} {}", changes.join(", "))
                }
                What::Refused { key, status, .. } => format!("{key} refused: {}", status.message),
                _ => continue,
            };
            let why = fact.because.as_ref().map(|it| format!("{} {:?}", it.key, it.args));
            println!("t={} {} {told} {}", self.cluster.tick(), fact.actor, why.unwrap_or_default());
        }
    }

    /// Asks for something; a refusal is as good an answer as any.
    pub fn ask(&mut self, request: &Request) {
        let _ = self.cluster.ask(request, &mut self.facts);
    }

    /// The Pods, by name.
    pub fn pods(&self) -> Vec<Arc<Pod>> {
        self.cluster.store.list::<Pod>().cloned().collect()
    }

    /// Creates an object, or brings the one that is there up to date.
    fn apply(&mut self, kind: Kind, name: &str, mut body: Value) {
        body["metadata"]["name"] = name.into();
        let key = kubestep::api::meta::ObjectKey::new(kind, NAMESPACE, name);
        let verb = match self.cluster.store.object(&key) {
            Some(_) => Verb::MergePatch,
            None => Verb::Create,
        };
        self.ask(&Request::new(verb, kind, NAMESPACE, name, body));
    }

    /// Changes an object of the namespace.
    pub fn patch(&mut self, kind: Kind, name: &str, body: Value) {
        let namespace = if kind.is_namespaced() { NAMESPACE } else { "" };
        self.ask(&Request::new(Verb::MergePatch, kind, namespace, name, body));
    }

    /// Sets the image of a workload.
    pub fn set_image(&mut self, kind: Kind, name: &str, image: Image) {
        let body = json!({"spec": {"template": {"spec": {"containers": [container(image)]}}}});
        self.ask(&Request::new(Verb::StrategicPatch, kind, NAMESPACE, name, body));
    }

    fn pod(&self, number: usize) -> Option<Name> {
        let pods = self.pods();
        (!pods.is_empty()).then(|| pods[number % pods.len()].meta.name.clone())
    }

    /// Asks for a Pod's eviction.
    fn evict(&mut self, pod: &str) {
        let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": NAMESPACE}});
        let mut request = Request::new(Verb::Create, Kind::Pod, NAMESPACE, pod, body);
        request.subresource = "eviction".to_string();
        match self.cluster.ask(&request, &mut self.facts) {
            Ok(_) => self.evictions += 1,
            Err(_) => self.evictions_refused += 1,
        }
    }

    /// Does it. Returns how many ticks are to pass.
    pub fn perform(&mut self, act: &Act) -> u32 {
        match *act {
            Act::Deploy { name, replicas, template } => {
                let (surge, unavailable) = BOUNDS[name];
                let app = format!("web-{name}");
                let bounds = json!({"maxSurge": surge, "maxUnavailable": unavailable});
                let spec = json!({
                    "replicas": replicas, "selector": {"matchLabels": {"app": app}},
                    "strategy": {"type": "RollingUpdate", "rollingUpdate": bounds},
                    "template": template.pod_template(&app),
                });
                self.apply(Kind::Deployment, &app, json!({"spec": spec}));
            }
            Act::StatefulSet { replicas, template } => {
                let spec = json!({
                    "replicas": replicas, "selector": {"matchLabels": {"app": "db"}}, "serviceName": "db",
                    "template": template.pod_template("db"),
                });
                self.apply(Kind::StatefulSet, "db", json!({"spec": spec}));
            }
            Act::DaemonSet { template } => {
                let template = Template { cpu_millicores: template.cpu_millicores.min(400), ..template };
                let spec = json!({
                    "selector": {"matchLabels": {"app": "agent"}}, "template": template.pod_template("agent"),
                });
                self.apply(Kind::DaemonSet, "agent", json!({"spec": spec}));
            }
            Act::Job { name, completions, fails } => {
                let exit = if fails { "1" } else { "0" };
                let container = json!({"name": "c", "image": "app:1", "command": ["sim-exit", exit, "4s"]});
                let spec = json!({
                    "completions": completions, "parallelism": 2, "backoffLimit": 2,
                    "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
                });
                self.apply(Kind::Job, &format!("job-{name}"), json!({"spec": spec}));
            }
            Act::Pod { name, template } => {
                let name = format!("pod-{name}");
                let labels = json!({"app": "pod"});
                let spec = template.pod_spec("pod");
                let body = json!({"metadata": {"name": name, "labels": labels}, "spec": spec});
                self.ask(&Request::new(Verb::Create, Kind::Pod, NAMESPACE, &name, body));
            }
            Act::Budget { name, min_available } => {
                let selector = json!({"matchLabels": {"app": format!("web-{name}")}});
                let body = json!({"spec": {"minAvailable": min_available, "selector": selector}});
                self.apply(Kind::PodDisruptionBudget, &format!("budget-{name}"), body);
            }
            Act::Quota { pods } => {
                let hard = json!({"pods": pods.to_string()});
                self.apply(Kind::ResourceQuota, "quota", json!({"spec": {"hard": hard}}));
            }
            Act::Scale { workload, replicas } => {
                let (kind, name) = WORKLOADS[workload];
                self.patch(kind, name, json!({"spec": {"replicas": replicas}}));
            }
            Act::SetImage { workload, image } => {
                let (kind, name) = WORKLOADS[workload];
                self.set_image(kind, name, image);
            }
            Act::Delete { workload, propagation } => {
                let (kind, name) = WORKLOADS[workload];
                let mut request = Request::new(Verb::Delete, kind, NAMESPACE, name, Value::Null);
                request.options.propagation = Some(propagation);
                self.ask(&request);
            }
            Act::DeletePod { number, grace_seconds } => {
                if let Some(pod) = self.pod(number) {
                    let mut request = Request::new(Verb::Delete, Kind::Pod, NAMESPACE, &pod, Value::Null);
                    request.options.grace_seconds = grace_seconds;
                    self.ask(&request);
                }
            }
            Act::Evict { number } => {
                if let Some(pod) = self.pod(number) {
                    self.evict(&pod);
                }
            }
            Act::Cordon { node, on } => {
                let unschedulable = if on { json!(true) } else { Value::Null };
                self.patch(Kind::Node, &node_name(node), json!({"spec": {"unschedulable": unschedulable}}));
            }
            Act::Drain { node } => {
                self.patch(Kind::Node, &node_name(node), json!({"spec": {"unschedulable": true}}));
                for pod in self.pods().iter().filter(|pod| pod.node_name == node_name(node)) {
                    self.evict(&pod.meta.name);
                }
            }
            Act::Taint { node, effect } => self.taint(node, effect),
            Act::Works { component: number, on } => {
                let actor = component(number);
                let fault = if on { Fault::Start(actor) } else { Fault::Stop(actor) };
                self.cluster.cause(&fault, &mut self.facts);
            }
            Act::Wait { ticks } => return ticks,
        }
        0
    }

    /// Replaces the taint that a person gave the node; those of the controllers stay.
    pub fn taint(&mut self, node: usize, effect: Option<&'static str>) {
        let name = node_name(node);
        let Some(stored) = self.cluster.store.get::<kubestep::api::kinds::cluster::Node>("", &name) else {
            return;
        };
        use kubestep::api::codec::Codec;
        let others = stored.spec.taints.iter().filter(|taint| taint.key != "mine");
        let mut taints: Vec<Value> = others.map(Codec::encode).collect();
        taints.extend(effect.map(|effect| json!({"key": "mine", "effect": effect})));
        self.patch(Kind::Node, &name, json!({"spec": {"taints": taints}}));
    }
}
