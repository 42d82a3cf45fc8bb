//! The road from apply to an answer: nine stages, two marks each.

use super::pods::{is_started, is_unschedulable, trouble_of};
use super::workload::{Workload, subjects_of};
use super::{Mark, Marks, ObjectReference, Tint};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{ObjectKey, ObjectMeta};
use crate::cluster::component::Memory;
use crate::cluster::machine::Cluster;
use crate::i18n::Catalogue;

/// The whole road for one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Road {
    /// The workload whose road this is, if there is one yet.
    pub subject: Option<ObjectReference>,
    /// Every workload that could be shown, in name order.
    pub subjects: Vec<ObjectReference>,
    /// The stages, in the order of the road.
    pub stages: Vec<Stage>,
}

/// Where on the road.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StageId {
    /// The wish is stored.
    Stored,
    /// A ReplicaSet carries the revision.
    ReplicaSet,
    /// The Pods exist.
    Pods,
    /// The Pods have nodes.
    Placed,
    /// The containers run.
    Started,
    /// The probes pass.
    Ready,
    /// An EndpointSlice lists them.
    Listed,
    /// Proxies and the Ingress controller route to them.
    Routed,
    /// A client got its answer.
    Answer,
}

impl StageId {
    /// Every stage, in order.
    pub const ALL: [StageId; 9] = [
        StageId::Stored,
        StageId::ReplicaSet,
        StageId::Pods,
        StageId::Placed,
        StageId::Started,
        StageId::Ready,
        StageId::Listed,
        StageId::Routed,
        StageId::Answer,
    ];

    /// The name used in ids and test hooks.
    pub fn name(self) -> &'static str {
        match self {
            StageId::Stored => "stored",
            StageId::ReplicaSet => "replicaset",
            StageId::Pods => "pods",
            StageId::Placed => "placed",
            StageId::Started => "started",
            StageId::Ready => "ready",
            StageId::Listed => "listed",
            StageId::Routed => "routed",
            StageId::Answer => "answer",
        }
    }
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Which one.
    pub id: StageId,
    /// Its title with the count, such as `Placed 2/3`.
    pub title: String,
    /// What there is to say, in a few words.
    pub note: String,
    /// Who does it.
    pub actor: String,
    /// The actor's colour.
    pub tint: Tint,
    /// Exists and achieved.
    pub marks: Marks,
    /// Whether the road has come this far and no farther.
    pub is_here: bool,
    /// Whether the last step changed it.
    pub is_changed: bool,
    /// The objects of the stage.
    pub objects: Vec<StageObject>,
    /// What the stage means, in one sentence.
    pub meaning: String,
    /// The kubectl line that shows it; empty when there is nothing to ask about.
    pub command: String,
}

/// An object as a stage lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageObject {
    /// Which object.
    pub object: ObjectReference,
    /// Its marks for this stage.
    pub marks: Marks,
    /// What there is to say about it.
    pub note: String,
}

/// What the road needs to know beside the store.
#[derive(Clone, Debug, Default)]
pub struct RoadContext<'a> {
    /// The last request up to the moment: what the client saw, whether it was as wished, the address.
    pub last_request: Option<(&'a str, bool, &'a str)>,
    /// The workload that was chosen.
    pub subject: Option<&'a ObjectReference>,
    /// The learner's request that the API server refused last in this tick, such as `create Deployment demo/api`.
    pub refused: Option<&'a str>,
}

/// The road of the chosen workload, or of the first there is, at one moment; `before` is the moment before, to tell
/// what changed.
pub fn road_view(
    words: &Catalogue,
    now: &Cluster,
    before: Option<&Cluster>,
    context: &RoadContext<'_>,
) -> Road {
    let subjects = subjects_of(&now.store);
    let chosen = context.subject.filter(|subject| subjects.contains(subject)).or(subjects.first()).cloned();
    let mut stages = stages_of(words, now, chosen.as_ref(), context);
    if let Some(before) = before {
        let earlier = stages_of(words, before, chosen.as_ref(), context);
        for (stage, earlier) in stages.iter_mut().zip(&earlier) {
            stage.is_changed =
                stage.title != earlier.title || stage.note != earlier.note || stage.marks != earlier.marks;
        }
    }
    let failed =
        stages.iter().position(|stage| stage.marks.tone() == Mark::Failed && stage.id != StageId::Answer);
    // What is stored is left behind as soon as somebody else has to act.
    let is_open = |stage: &Stage| {
        stage.marks.tone() != Mark::Done && (stage.id != StageId::Stored || stage.marks.exists != Mark::Done)
    };
    let here = failed.or_else(|| stages.iter().position(is_open));
    if let Some(stage) = here.and_then(|at| stages.get_mut(at)) {
        stage.is_here = true;
    }
    Road { subject: chosen, subjects, stages }
}

fn stages_of(
    words: &Catalogue,
    now: &Cluster,
    subject: Option<&ObjectReference>,
    context: &RoadContext<'_>,
) -> Vec<Stage> {
    let workload = subject.and_then(|subject| Workload::of(&now.store, subject));
    let mut stages: Vec<Stage> = StageId::ALL.into_iter().map(|id| blank(words, id)).collect();
    if let Some(workload) = &workload {
        let draw = Drawing { words, now, workload, wanted: workload.wanted() };
        for stage in &mut stages {
            match stage.id {
                StageId::Stored => draw.stored(stage),
                StageId::ReplicaSet => draw.replica_set(stage),
                StageId::Pods => draw.pods(stage),
                StageId::Placed => draw.placed(stage),
                StageId::Started => draw.started(stage),
                StageId::Ready => draw.ready(stage),
                StageId::Listed => draw.listed(stage),
                StageId::Routed => draw.routed(stage),
                StageId::Answer => {}
            }
        }
    }
    if let (None, Some(request), Some(stage)) = (&workload, context.refused, stages.first_mut()) {
        stage.note = words.say("road.stored_refused", &[("request", request)]);
        stage.marks = Marks::new(Mark::Failed, Mark::Empty);
    }
    if let (Some(stage), Some((answer, is_success, url))) = (stages.last_mut(), context.last_request) {
        stage.title = answer.to_string();
        stage.note = url.trim_start_matches("http://").to_string();
        stage.marks = Marks::new(Mark::Done, if is_success { Mark::Done } else { Mark::Failed });
        stage.command = ["curl ", url].concat();
    }
    stages
}

/// A stage that nothing has come to yet.
fn blank(words: &Catalogue, id: StageId) -> Stage {
    let say = |what: &str| words.say(&["road.", id.name(), what].concat(), &[]);
    let tint = match id {
        StageId::Stored => Tint::ApiServer,
        StageId::ReplicaSet => Tint::Deployment,
        StageId::Pods => Tint::ReplicaSet,
        StageId::Placed => Tint::Scheduler,
        StageId::Started | StageId::Ready => Tint::Kubelet,
        StageId::Listed => Tint::Endpoints,
        StageId::Routed => Tint::Route,
        StageId::Answer => Tint::You,
    };
    Stage {
        id,
        title: say("_title"),
        note: say("_blank"),
        actor: say("_actor"),
        tint,
        marks: Marks::NONE,
        is_here: false,
        is_changed: false,
        objects: Vec::new(),
        meaning: say("_meaning"),
        command: String::new(),
    }
}

/// What it takes to draw the stages of one workload.
struct Drawing<'a> {
    words: &'a Catalogue,
    now: &'a Cluster,
    workload: &'a Workload,
    wanted: usize,
}

impl Drawing<'_> {
    fn say(&self, key: &str, args: &[(&str, &str)]) -> String {
        self.words.say(key, args)
    }

    /// `Placed 2/3`.
    fn count(&self, stage: &mut Stage, done: usize, of: usize) {
        let counts = [" ", &done.to_string(), "/", &of.to_string()].concat();
        stage.title.push_str(&counts);
    }

    /// Done when all are, under way when there is something to do it for.
    fn mark(done: usize, of: usize, is_failed: bool) -> Mark {
        match (done, of) {
            _ if is_failed => Mark::Failed,
            (done, of) if done >= of => Mark::Done,
            _ => Mark::UnderWay,
        }
    }

    fn namespace_flag(&self) -> String {
        match &*self.workload.deployment.meta.namespace {
            "default" => String::new(),
            namespace => ["-n ", namespace, " "].concat(),
        }
    }

    fn get(&self, what: &str, more: &str) -> String {
        ["kubectl ", &self.namespace_flag(), "get ", what, more].concat()
    }

    fn selector(&self) -> String {
        let labels = &self.workload.deployment.spec.selector.match_labels;
        let pairs: Vec<String> =
            labels.iter().map(|(key, value)| [key.as_str(), "=", value].concat()).collect();
        if pairs.is_empty() { String::new() } else { [" -l ", &pairs.join(",")].concat() }
    }

    fn pod_objects(&self, of: impl Fn(&Pod) -> (Mark, String)) -> Vec<StageObject> {
        let pods = self.workload.pods.iter();
        pods.map(|pod| {
            let (achieved, note) = of(pod);
            StageObject {
                object: reference_of(&pod.meta, "Pod"),
                marks: Marks::new(Mark::Done, achieved),
                note,
            }
        })
        .collect()
    }

    fn exists(&self, is_there: bool) -> Mark {
        if is_there { Mark::Done } else { Mark::Empty }
    }

    fn stored(&self, stage: &mut Stage) {
        let deployment = &self.workload.deployment;
        let is_seen = deployment.status.observed_generation >= deployment.meta.generation;
        let (achieved, key) = if self.workload.is_rolled_out() {
            (Mark::Done, "road.stored_rolled_out")
        } else if self.workload.is_stalled() {
            (Mark::Failed, "road.stored_stalled")
        } else if deployment.spec.paused {
            (Mark::UnderWay, "road.stored_paused")
        } else if is_seen {
            (Mark::UnderWay, "road.stored_rolling")
        } else {
            (Mark::Empty, "road.stored_unseen")
        };
        stage.marks = Marks::new(Mark::Done, achieved);
        let object = reference_of(&deployment.meta, "Deployment");
        stage.note = object.title();
        let note = self.say(key, &[]);
        stage.objects = vec![StageObject { object, marks: stage.marks, note }];
        stage.command = self.get("deployment ", &deployment.meta.name);
    }

    fn replica_set(&self, stage: &mut Stage) {
        let Some(newest) = &self.workload.newest else { return };
        let size = usize::try_from(newest.spec.replicas.unwrap_or(1)).unwrap_or(0);
        let is_whole = size == self.wanted && self.workload.older.is_empty();
        stage.marks = Marks::new(Mark::Done, if is_whole { Mark::Done } else { Mark::UnderWay });
        let revision = self.workload.revision();
        let sets = std::iter::once(newest).chain(&self.workload.older);
        stage.objects = sets
            .map(|set| {
                let is_newest = set.meta.uid == newest.meta.uid;
                let wants = set.spec.replicas.unwrap_or(1).to_string();
                let has = set.status.replicas.to_string();
                StageObject {
                    object: reference_of(&set.meta, "ReplicaSet"),
                    marks: Marks::new(
                        Mark::Done,
                        if is_newest { stage.marks.achieved } else { Mark::UnderWay },
                    ),
                    note: self.say("road.replicaset_line", &[("wants", &wants), ("has", &has)]),
                }
            })
            .collect();
        stage.note = match self.workload.older.len() {
            0 => self.say("road.replicaset_note", &[("revision", &revision)]),
            older => self
                .say("road.replicaset_note_older", &[("revision", &revision), ("older", &older.to_string())]),
        };
        stage.command = self.get("replicaset", &self.selector());
    }

    fn pods(&self, stage: &mut Stage) {
        if self.workload.newest.is_none() {
            return;
        }
        let exist = self.workload.pods.len();
        self.count(stage, exist, self.wanted);
        stage.marks = Marks::new(
            self.exists(exist > 0 || self.wanted == 0),
            if exist == 0 && self.wanted > 0 { Mark::Empty } else { Self::mark(exist, self.wanted, false) },
        );
        let counts = (exist.to_string(), self.wanted.to_string(), self.workload.leaving.len());
        stage.note = match counts.2 {
            0 => self.say("road.pods_note", &[("exist", &counts.0), ("wanted", &counts.1)]),
            old => self.say("road.pods_note_old", &[("exist", &counts.0), ("old", &old.to_string())]),
        };
        stage.objects = self
            .pod_objects(|pod| (super::pods::marks_of(pod).achieved, super::pods::note_of(self.words, pod)));
        stage.command = self.get("pods", &self.selector());
    }

    fn placed(&self, stage: &mut Stage) {
        let exist = self.workload.pods.len();
        if exist == 0 {
            return;
        }
        let placed = self.workload.placed();
        let refused =
            self.workload.pods.iter().filter(|pod| !pod.is_bound() && is_unschedulable(pod)).count();
        self.count(stage, placed, exist);
        stage.marks = Marks::new(Mark::Done, Self::mark(placed, exist, refused > 0));
        stage.note = match (refused, exist - placed) {
            (0, 0) => self.nodes_note(),
            (0, waiting) => self.say("road.placed_waiting", &[("count", &waiting.to_string())]),
            (refused, _) => self.say("road.placed_refused", &[("count", &refused.to_string())]),
        };
        stage.objects = self.pod_objects(|pod| match (pod.is_bound(), is_unschedulable(pod)) {
            (true, _) => (Mark::Done, pod.node_name.to_string()),
            (false, true) => (Mark::Failed, super::pods::note_of(self.words, pod)),
            (false, false) => (Mark::UnderWay, super::pods::note_of(self.words, pod)),
        });
        stage.command = self.get("pods -o wide", &self.selector());
    }

    fn nodes_note(&self) -> String {
        let mut nodes: Vec<&str> = self.workload.pods.iter().map(|pod| &*pod.node_name).collect();
        nodes.sort_unstable();
        nodes.dedup();
        self.say("road.placed_all", &[("count", &nodes.len().to_string())])
    }

    fn started(&self, stage: &mut Stage) {
        let placed = self.workload.placed();
        if placed == 0 {
            return;
        }
        let started = self.workload.started();
        let trouble = self.workload.pods.iter().find_map(|pod| trouble_of(pod));
        self.count(stage, started, self.workload.pods.len());
        stage.marks =
            Marks::new(Mark::Done, Self::mark(started, self.workload.pods.len(), trouble.is_some()));
        stage.note = match (&trouble, placed.saturating_sub(started)) {
            (Some(trouble), _) => trouble.clone(),
            (None, 0) => self.say("road.started_all", &[]),
            (None, starting) => self.say("road.started_some", &[("count", &starting.to_string())]),
        };
        stage.objects = self.pod_objects(|pod| {
            let mark = match (is_started(pod), trouble_of(pod).is_some(), pod.is_bound()) {
                (true, ..) => Mark::Done,
                (_, true, _) => Mark::Failed,
                (_, _, true) => Mark::UnderWay,
                _ => Mark::Empty,
            };
            (mark, super::pods::note_of(self.words, pod))
        });
        let telling = self.workload.pods.iter().find(|pod| !is_started(pod)).or(self.workload.pods.first());
        if let Some(pod) = telling {
            stage.command = ["kubectl ", &self.namespace_flag(), "describe pod ", &pod.meta.name].concat();
        }
    }

    fn ready(&self, stage: &mut Stage) {
        let started = self.workload.started();
        let ready = self.workload.ready();
        if started == 0 && ready == 0 {
            return;
        }
        self.count(stage, ready, self.workload.pods.len());
        stage.marks = Marks::new(Mark::Done, Self::mark(ready, self.workload.pods.len(), false));
        stage.note = match started.saturating_sub(ready) {
            0 => self.say("road.ready_all", &[]),
            waiting => self.say("road.ready_some", &[("count", &waiting.to_string())]),
        };
        stage.objects = self.pod_objects(|pod| {
            (if pod.is_ready() { Mark::Done } else { Mark::UnderWay }, super::pods::note_of(self.words, pod))
        });
        stage.command = self.get("pods", &self.selector());
    }

    fn listed(&self, stage: &mut Stage) {
        let workload = self.workload;
        let Some(service) = workload.services.first() else {
            if workload.newest.is_some() {
                stage.note = self.say("road.listed_no_service", &[]);
            }
            return;
        };
        let listed = workload.pods.iter().filter(|pod| workload.is_listed(pod)).count();
        let in_all = workload.listed_in_all();
        self.count(stage, listed, self.wanted);
        let achieved = match (listed, in_all) {
            (0, 0) if self.wanted > 0 => Mark::Empty,
            _ => Self::mark(listed, self.wanted, false),
        };
        stage.marks = Marks::new(self.exists(!workload.slices.is_empty()), achieved);
        stage.note = match (workload.slices.is_empty(), in_all.saturating_sub(listed)) {
            (true, _) => self.say("road.listed_no_slice", &[]),
            (false, 0) => self.say("road.listed_note", &[("service", &service.meta.name)]),
            (false, old) => self.say("road.listed_old", &[("count", &old.to_string())]),
        };
        stage.objects = workload
            .slices
            .iter()
            .map(|slice| {
                let ready = slice.endpoints.iter().filter(|endpoint| endpoint.is_ready()).count();
                let all = slice.endpoints.len();
                StageObject {
                    object: reference_of(&slice.meta, "EndpointSlice"),
                    marks: Marks::new(
                        Mark::Done,
                        if ready == 0 { Mark::Empty } else { Self::mark(ready, all, false) },
                    ),
                    note: self
                        .say("road.listed_line", &[("ready", &ready.to_string()), ("all", &all.to_string())]),
                }
            })
            .collect();
        stage.command = self.get("endpointslice -l kubernetes.io/service-name=", &service.meta.name);
    }

    /// Routed counts the endpoints that every kube-proxy has programmed, and, where an Ingress names the Service, the
    /// Ingress controller too.
    fn routed(&self, stage: &mut Stage) {
        let workload = self.workload;
        let Some(service) = workload.service_keys().into_iter().next() else { return };
        let wanted: Vec<&str> = workload
            .pods
            .iter()
            .filter(|pod| workload.is_listed(pod))
            .map(|pod| pod.status.pod_ip.as_str())
            .collect();
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        for (actor, component) in self.now.components() {
            match &component.memory {
                Memory::KubeProxy(memory) => {
                    let programmed =
                        memory.endpoints_of(&service).map(|(addresses, _)| addresses).unwrap_or_default();
                    tables.push((super::telling::actor_tag(self.words, actor).name, programmed));
                }
                Memory::IngressController(memory) => {
                    for ingress in &workload.ingresses {
                        let key = ObjectKey::new(
                            Kind::Ingress,
                            ingress.meta.namespace.clone(),
                            ingress.meta.name.clone(),
                        );
                        let loaded =
                            memory.backends_of(&key).map(|(backends, _)| backends).unwrap_or_default();
                        let loaded = loaded
                            .into_iter()
                            .filter(|(of, _)| *of == service)
                            .flat_map(|(_, addresses)| addresses);
                        tables.push((["Ingress/", &ingress.meta.name].concat(), loaded.collect()));
                    }
                }
                _ => {}
            }
        }
        let has = |table: &[String], address: &str| {
            table.iter().any(|entry| {
                entry == address || entry.strip_prefix(address).is_some_and(|rest| rest.starts_with(':'))
            })
        };
        let routed =
            wanted.iter().filter(|address| tables.iter().all(|(_, table)| has(table, address))).count();
        let is_any = tables.iter().any(|(_, table)| !table.is_empty());
        self.count(stage, routed, self.wanted);
        let achieved =
            if !is_any && self.wanted > 0 { Mark::Empty } else { Self::mark(routed, self.wanted, false) };
        stage.marks = Marks::new(self.exists(is_any), achieved);
        let lagging =
            tables.iter().filter(|(_, table)| wanted.iter().any(|address| !has(table, address))).count();
        stage.note = match (wanted.is_empty(), lagging) {
            (true, _) => self.say("road.routed_nothing", &[]),
            (false, 0) => self.say("road.routed_all", &[("count", &tables.len().to_string())]),
            (false, lagging) => self.say("road.routed_lagging", &[("count", &lagging.to_string())]),
        };
        stage.objects = workload
            .services
            .iter()
            .map(|service| (reference_of(&service.meta, "Service"), service.spec.cluster_ip.clone()))
            .chain(workload.ingresses.iter().map(|ingress| {
                let hosts: Vec<&str> = ingress.spec.rules.iter().map(|rule| rule.host.as_str()).collect();
                (reference_of(&ingress.meta, "Ingress"), hosts.join(", "))
            }))
            .map(|(object, note)| StageObject { object, marks: stage.marks, note })
            .collect();
        stage.command = self.get(if workload.ingresses.is_empty() { "service " } else { "ingress " }, {
            match workload.ingresses.first() {
                Some(ingress) => &ingress.meta.name,
                None => &service.name,
            }
        });
    }
}

fn reference_of(meta: &ObjectMeta, kind: &str) -> ObjectReference {
    ObjectReference::new(kind, &meta.namespace, &meta.name)
}
