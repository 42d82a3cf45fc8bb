//! What happened, in the past tense, with who, when, on what grounds and from which cause.

use std::sync::Arc;

use serde_json::{Value, json};

use super::actor::Actor;
use super::because::Because;
use super::diff::{FieldChange, diff};
use super::queue::WorkKey;
use super::server::status::Status;
use super::verdict::Verdicts;
use crate::api::meta::ObjectKey;
use crate::api::object::Object;

/// Numbers facts in the order they happened, from 1. 0 stands for "before everything".
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct FactId(pub u64);

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its number.
    pub id: FactId,
    /// The tick in which it happened (of the machine; see `Cluster::visible_tick`).
    pub tick: u64,
    /// The step of the tick, from 1; 0 for what a person did between two steps.
    pub step: u32,
    /// Who did it.
    pub actor: Actor,
    /// The fact that led to it.
    pub cause: Option<FactId>,
    /// What happened.
    pub what: What,
    /// What the actor had seen.
    pub saw: Vec<Because>,
    /// Why it did so.
    pub because: Option<Because>,
    /// Whether it is a heartbeat or a look that changed nothing.
    pub routine: bool,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A person asked the API server for something.
    Asked {
        /// The request in a few words: `create Deployment demo/api`.
        request: String,
    },
    /// A request passed or failed one stage of the API server.
    Staged {
        /// The stage.
        stage: Stage,
        /// The refusal, if it failed.
        refusal: Option<Arc<Status>>,
        /// What the stage changed or found, as `spec.replicas: 1`.
        notes: Vec<String>,
    },
    /// A component handled one key of its queue.
    Reconciled {
        /// The key.
        key: WorkKey,
        /// How many writes it made.
        writes: u32,
    },
    /// An object was created, changed or removed.
    Wrote {
        /// The object.
        key: ObjectKey,
        /// The object before.
        old: Option<Object>,
        /// The object after.
        new: Option<Object>,
    },
    /// The API server refused a component's write.
    Refused {
        /// The object.
        key: ObjectKey,
        /// The answer.
        status: Arc<Status>,
        /// After how many ticks the component tries again; `None` when it gives up.
        retry_ticks: Option<u64>,
    },
    /// The scheduler compared nodes for a Pod.
    Compared {
        /// The Pod.
        pod: ObjectKey,
        /// What it thought of each node.
        verdicts: Arc<Verdicts>,
    },
    /// Something happened on a node that is not in the store: an image arrived, a container started, a probe failed.
    Ran {
        /// The Pod.
        pod: ObjectKey,
        /// The container; empty for the whole Pod.
        container: String,
        /// What happened.
        event: RuntimeEvent,
    },
    /// A data path was programmed: a proxy's table, a DNS zone, an Ingress controller's configuration.
    Programmed {
        /// The store's revision that it now reflects.
        revision: u64,
        /// What changed in it, a line each.
        changes: Vec<String>,
    },
}

/// The stages of a request to the API server, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Who is asking?
    Authenticate,
    /// May they?
    Authorize,
    /// Can it be read, strictly?
    Decode,
    /// What was left out?
    Default,
    /// Is every value allowed?
    Validate,
    /// Do the cluster's policies let it in?
    Admit,
    /// Is it stored?
    Store,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 7] = [
        Self::Authenticate,
        Self::Authorize,
        Self::Decode,
        Self::Default,
        Self::Validate,
        Self::Admit,
        Self::Store,
    ];

    /// A stable word for catalogues and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Authenticate => "authenticate",
            Self::Authorize => "authorize",
            Self::Decode => "decode",
            Self::Default => "default",
            Self::Validate => "validate",
            Self::Admit => "admit",
            Self::Store => "store",
        }
    }
}

/// What happened to a container or its image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuntimeEvent {
    /// A pull began.
    PullBegan {
        /// The image.
        image: String,
    },
    /// The image is on the node.
    Pulled {
        /// The image.
        image: String,
    },
    /// The pull failed.
    PullFailed {
        /// The image.
        image: String,
        /// In the runtime's words.
        error: String,
    },
    /// The container started.
    Started,
    /// The container was told to stop.
    StopAsked {
        /// Seconds until it is killed.
        grace_seconds: i64,
    },
    /// The container ended.
    Exited {
        /// Its exit code.
        exit_code: i32,
    },
    /// A probe's result changed.
    ProbeChanged {
        /// `Readiness`, `Liveness` or `Startup`.
        probe: &'static str,
        /// Whether it succeeds now.
        success: bool,
        /// The probe's output.
        output: String,
    },
}

impl Fact {
    /// The object it speaks of, if it speaks of one.
    pub fn object(&self) -> Option<&ObjectKey> {
        match &self.what {
            What::Wrote { key, .. } | What::Refused { key, .. } => Some(key),
            What::Compared { pod, .. } | What::Ran { pod, .. } => Some(pod),
            What::Reconciled { key, .. } => key.object(),
            What::Asked { .. } | What::Staged { .. } | What::Programmed { .. } => None,
        }
    }

    /// The fields that a write changed, by path; empty for other facts.
    pub fn field_changes(&self) -> Vec<FieldChange> {
        match &self.what {
            What::Wrote { old, new, .. } => {
                let value = |object: &Option<Object>| object.as_ref().map_or(Value::Null, Object::to_value);
                diff(&value(old), &value(new))
            }
            _ => Vec::new(),
        }
    }

    /// As JSON, one line of `kubestep run --json`.
    pub fn to_value(&self) -> Value {
        let mut value = json!({
            "fact": self.id.0, "tick": self.tick, "step": self.step, "actor": self.actor.to_string(),
            "cause": self.cause.map(|cause| cause.0), "routine": self.routine,
            "because": self.because.as_ref().map(Because::to_value),
            "saw": self.saw.iter().map(Because::to_value).collect::<Vec<_>>(),
        });
        let what = match &self.what {
            What::Asked { request } => json!({"what": "asked", "request": request}),
            What::Staged { stage, refusal, notes } => json!({
                "what": "staged", "stage": stage.word(), "notes": notes,
                "refusal": refusal.as_ref().map(|status| status.message.clone()),
            }),
            What::Reconciled { key, writes } => {
                json!({"what": "reconciled", "key": key.to_string(), "writes": writes})
            }
            What::Wrote { key, old, new } => json!({
                "what": match (old, new) { (None, _) => "created", (_, None) => "removed", _ => "changed" },
                "object": key.to_string(),
                "fields": self.field_changes().iter().map(|c| json!({"path": c.path, "old": c.old, "new": c.new})).collect::<Vec<_>>(),
            }),
            What::Refused { key, status, retry_ticks } => {
                json!({"what": "refused", "object": key.to_string(), "message": status.message, "retryTicks": retry_ticks})
            }
            What::Compared { pod, verdicts } => json!({
                "what": "compared", "object": pod.to_string(), "chosen": verdicts.chosen.as_deref(), "message": verdicts.message,
                "nodes": verdicts.nodes.iter().map(|node| json!({
                    "node": &*node.node, "total": node.total(),
                    "refusals": node.filters.iter().filter(|f| !f.reasons.is_empty()).map(|f| json!({"plugin": f.plugin, "reasons": f.reasons})).collect::<Vec<_>>(),
                    "scores": node.scores.iter().map(|(plugin, score)| json!({"plugin": plugin, "score": score})).collect::<Vec<_>>(),
                })).collect::<Vec<_>>(),
            }),
            What::Ran { pod, container, event } => {
                json!({"what": "ran", "object": pod.to_string(), "container": container, "event": format!("{event:?}")})
            }
            What::Programmed { revision, changes } => {
                json!({"what": "programmed", "revision": revision, "changes": changes})
            }
        };
        if let (Value::Object(map), Value::Object(what)) = (&mut value, what) {
            map.extend(what);
        }
        value
    }
}
