//! What can be asked of a cluster from outside: the only things that change it.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::server::request::Request;
use crate::api::meta::Name;

/// One command. A session is its settings and its commands; playing them again gives the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// A request to the API server.
    Ask(Request),
    /// The next work item of the tick; begins the next tick when none is under way.
    Step,
    /// To the end of the tick; begins the next one when none is under way.
    Tick,
    /// A fault is caused or mended.
    Fault(Fault),
}

/// What can go wrong, and be put right again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A component stops: it sees and does nothing any more. What a kubelet has started goes on without it.
    Stop(Actor),
    /// A component that was stopped starts again, and finds what has happened meanwhile.
    Start(Actor),
    /// The disk of a node is filled, above what its kubelet puts up with.
    FillDisk(Name),
    /// The disk of a node is free again.
    FreeDisk(Name),
    /// A node loses its power: nothing runs on it any more, and nobody answers there.
    PowerOff(Name),
    /// A node has power again: its kubelet starts, and starts again what was running.
    PowerOn(Name),
    /// The processes of a Pod are killed on their node, without anybody asking the API server.
    Kill(Name, Name),
}

impl Fault {
    /// `stop kubelet/node-1`.
    pub fn summary(&self) -> String {
        match self {
            Self::Stop(actor) => format!("stop {actor}"),
            Self::Start(actor) => format!("start {actor}"),
            Self::FillDisk(node) => format!("fill-disk {node}"),
            Self::FreeDisk(node) => format!("free-disk {node}"),
            Self::PowerOff(node) => format!("power off {node}"),
            Self::PowerOn(node) => format!("power on {node}"),
            Self::Kill(namespace, pod) => format!("kill {namespace}/{pod}"),
        }
    }
}
