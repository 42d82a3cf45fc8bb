//! The cluster: who works in it, what runs where, and the way of the last request.

use super::{ActorTag, Mark, Marks, ObjectReference};

/// The whole map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterMap {
    /// The components of the control plane.
    pub actors: Vec<ActorCard>,
    /// The nodes.
    pub nodes: Vec<NodeCard>,
    /// Pods without a node.
    pub unplaced: Vec<PodCard>,
    /// Whether there are too many Pods for cards, so that a grid of marks is drawn.
    pub is_dense: bool,
    /// The way of the last request.
    pub path: Option<RequestPath>,
    /// The address the request form offers.
    pub request_url: String,
}

/// One component of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorCard {
    /// Who.
    pub tag: ActorTag,
    /// What it has to do or did last, in a few words.
    pub note: String,
    /// The keys in its queue, in order of their due time.
    pub queue: Vec<String>,
    /// Whether it did the step on screen.
    pub is_acting: bool,
    /// The fact it wrote last, by index.
    pub fact: Option<usize>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCard {
    /// Which node.
    pub object: ObjectReference,
    /// `Ready`, `NotReady`, `cordoned` …
    pub state: String,
    /// Whether it takes no new Pods.
    pub is_off: bool,
    /// CPU asked for by its Pods, in thousandths.
    pub cpu_used_millicores: i64,
    /// CPU it can give, in thousandths.
    pub cpu_total_millicores: i64,
    /// The same in words, such as `cpu 1.25 / 2`.
    pub cpu_label: String,
    /// The learner's Pods first, then the system's.
    pub pods: Vec<PodCard>,
}

/// One Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodCard {
    /// Which Pod.
    pub object: ObjectReference,
    /// Its name, shortened in the middle.
    pub short_name: String,
    /// What there is to say about it.
    pub note: String,
    /// Exists and achieves its purpose.
    pub marks: Marks,
    /// Whether it belongs to the system and stays quiet.
    pub is_system: bool,
    /// Whether the last step changed it.
    pub is_changed: bool,
    /// Whether it is the selected object.
    pub is_selected: bool,
    /// A short word for its version, such as the image tag; empty when there is only one.
    pub version: String,
}

/// The way of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    /// The address asked for.
    pub url: String,
    /// What the client saw, such as `503`.
    pub answer: String,
    /// Whether it was what the client wanted.
    pub is_success: bool,
    /// The tick at which it was sent.
    pub tick: i64,
    /// Hops in order.
    pub hops: Vec<PathHop>,
}

/// One hop of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathHop {
    /// Its name.
    pub name: String,
    /// What happened, in a few words.
    pub note: String,
    /// Passed, dropped or not reached.
    pub mark: Mark,
    /// Whether the trace stands here.
    pub is_here: bool,
}
