//! What can be asked of a cluster from outside: the only things that change it.

use serde::{Deserialize, Serialize};

use super::actor::Actor;
use super::network::traffic::Demand;
use super::runtime::process::Ailment;
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
    /// A member of etcd, of three, stops. With two of them nothing is written or read any more.
    StopMember(u8),
    /// A member of etcd starts again.
    StartMember(u8),
    /// The memory of a node is filled by something that is not a Pod.
    FillMemory(Name),
    /// The memory of a node is free again.
    FreeMemory(Name),
    /// A node is cut off the network: what runs there goes on, and hears of nothing.
    Cut(Name),
    /// A node is on the network again.
    Join(Name),
    /// The image registry does not answer any more.
    BreakRegistry,
    /// The image registry answers again.
    MendRegistry,
    /// External DNS says another address for a host, or none.
    Record(String, Option<String>),
    /// The application ails in the Pods of that namespace with that name, or whose name begins with it.
    Ail(Name, Name, Ailment),
    /// It does not any more.
    Cure(Name, Name),
    /// A component sees every change so many ticks later; 0 mends it.
    Lag(Actor, u32),
    /// What etcd holds is copied.
    BackUp,
    /// The copy becomes what etcd holds: what came after it is lost.
    Restore,
    /// A client begins to send requests, in every tick from the next one on.
    Send(Demand),
    /// The client of that name sends no more.
    Quit(String),
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
            Self::StopMember(member) => format!("stop etcd {member}"),
            Self::StartMember(member) => format!("start etcd {member}"),
            Self::FillMemory(node) => format!("fill-memory {node}"),
            Self::FreeMemory(node) => format!("free-memory {node}"),
            Self::Cut(node) => format!("cut {node}"),
            Self::Join(node) => format!("join {node}"),
            Self::BreakRegistry => "stop registry".to_string(),
            Self::MendRegistry => "start registry".to_string(),
            Self::Record(host, address) => format!("dns {host} {}", address.as_deref().unwrap_or("none")),
            Self::Ail(namespace, name, ailment) => format!("app {} {namespace}/{name}", ailment.word()),
            Self::Cure(namespace, name) => format!("app heal {namespace}/{name}"),
            Self::Lag(actor, ticks) => format!("lag {actor} {ticks}"),
            Self::BackUp => "backup".to_string(),
            Self::Restore => "restore".to_string(),
            Self::Send(demand) => format!("traffic start {}", demand.name()),
            Self::Quit(name) => format!("traffic stop {name}"),
            Self::Kill(namespace, pod) => format!("kill {namespace}/{pod}"),
        }
    }
}
