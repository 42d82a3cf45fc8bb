//! The road from apply to an answer: nine stages, two marks each.

use super::{Marks, ObjectReference, Tint};

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
