//! What a kubelet remembers of one Pod between two looks at it.

use std::collections::BTreeMap;

use super::admission::Asked;
use super::back_off::BackOff;
use super::probes::ProbeState;
use crate::api::meta::Uid;
use crate::api::sharing::{Shared, Word};
use crate::api::time::Timestamp;

/// One Pod in the kubelet's care.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worker {
    /// The Pod's uid, so that a new Pod of the same name is told apart.
    pub uid: Uid,
    /// How far the Pod has come.
    pub stage: Stage,
    /// Whether the status shows the Pod's address yet.
    pub shows_address: bool,
    /// What is remembered of each container.
    pub containers: Keepers,
    /// The pull that the Pod waits for.
    pub pulling: Option<Box<Pulling>>,
    /// Waits after failed pulls, by image.
    pub image_back_offs: Shared<BTreeMap<String, BackOff>>,
    /// Waits after crashes, by container and image.
    pub crash_back_offs: Shared<BTreeMap<String, BackOff>>,
    /// When the Pod is looked at again after an error.
    pub retry_at: Option<Timestamp>,
    /// When the Pod is looked at again although nothing happened, as long as a readiness probe fails.
    pub resync_at: Option<Timestamp>,
    /// The wait for a volume that cannot be mounted.
    pub mount: Option<Box<Mount>>,
    /// Since when it is being stopped, and how long it may take.
    pub stopping: Option<Box<Stopping>>,
    /// The generation of the spec that was acted upon.
    pub acted_generation: i64,
    /// Whether it was on the node for longer than its spec allows.
    pub deadline_passed: bool,
    /// Why the node drove it away, in the kubelet's words: it ran out of something.
    pub evicted: Option<Box<str>>,
    /// Whether its processes were told to stop because of that.
    pub cut_short: bool,
    /// What it asked of the node when it was taken on.
    pub asked: Asked,
    /// Whether the kubelet refused it.
    pub is_refused: bool,
    /// When files of its volumes are written again, since what they come from has changed.
    pub refresh_at: Option<Timestamp>,
    /// Whether the sandbox went down with its node, and has to be made again.
    pub sandbox_lost: bool,
    /// When that was done last: what started before ran in another sandbox.
    pub sandboxed_at: Option<Timestamp>,
    /// Whether the sandbox is gone although the final status is not told yet.
    pub sandbox_gone: bool,
}

/// How far a Pod has come on its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Taken on; nothing has been made yet.
    #[default]
    Accepted,
    /// It has a sandbox with an address.
    Sandboxed,
    /// Nothing runs any more and nothing is to start again; the sandbox is still there.
    Finishing,
    /// The sandbox is gone.
    Over,
}

/// What is remembered of each container of a Pod: a handful, found by name. A list takes a tenth of what a tree would.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keepers(Vec<(Word, Keeper)>);

impl Keepers {
    /// What is remembered of that container.
    pub fn get(&self, container: &str) -> Option<&Keeper> {
        self.0.iter().find(|(name, _)| *name == *container).map(|(_, keeper)| keeper)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, container: &str) -> Option<&mut Keeper> {
        self.0.iter_mut().find(|(name, _)| *name == *container).map(|(_, keeper)| keeper)
    }
}

/// What is remembered of one container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keeper {
    /// Why it does not run: the reason and the message, as they will stand in the status.
    pub waiting: Option<Box<(String, String)>>,
    /// The image it was started with last.
    pub image: Word,
    /// Why it is to be killed and started again.
    pub kill: Option<Kill>,
    /// Whether the kubelet killed it itself, to start it again in the same round.
    pub replaced: bool,
    /// Whether it is to stop once those have that it serves.
    pub stops_last: bool,
    /// Whether a command run beside it changed something that its probes may see.
    pub changed_inside: bool,
    /// Its readiness probe.
    pub readiness: Option<Box<ProbeState>>,
    /// Its liveness probe.
    pub liveness: Option<Box<ProbeState>>,
    /// Its startup probe.
    pub startup: Option<Box<ProbeState>>,
}

/// Why a container is to be killed and started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kill {
    /// Its liveness probe failed.
    Liveness,
    /// Its startup probe failed.
    Startup,
    /// Its spec changed.
    Changed,
}

/// A pull under way, or a hook after a start. Containers behind the one it is for have to wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Pulling {
    /// The container it is for.
    pub container: String,
    /// The image; empty for a hook.
    pub image: String,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
    /// The containers that were tried in vain in the same round.
    pub tried: Vec<String>,
    /// Whether anything failed in the same round.
    pub failed: bool,
    /// Whether something changed on the node in the same round.
    pub changed: bool,
}

/// A volume that cannot be mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// When it is tried again.
    pub retry_at: Timestamp,
    /// The wait after the next failure.
    pub wait_seconds: i64,
}

/// A Pod on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopping {
    /// When its processes are killed at the latest.
    pub kill_at: Timestamp,
    /// Whether its last status was written.
    pub reported: bool,
}

impl Keeper {
    /// Makes probes that had no reason to run again do so: what they see may have changed.
    pub fn probe_again(&mut self) {
        self.changed_inside = true;
    }
}

impl Worker {
    /// What is remembered of that container.
    pub fn keeper(&mut self, container: &str) -> &mut Keeper {
        let keepers = &mut self.containers.0;
        let at = keepers.iter().position(|(name, _)| *name == *container).unwrap_or_else(|| {
            keepers.reserve_exact(1);
            keepers.push((container.into(), Keeper::default()));
            keepers.len() - 1
        });
        &mut keepers[at].1
    }
}
