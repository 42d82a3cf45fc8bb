//! A claim that only one Pod may use must not be used by another one.
//!
//! Cured by: the other Pod going away.
//!
//! Models: `pkg/scheduler/framework/plugins/volumerestrictions` (v1.36), `ReadWriteOncePod`. Leaves out: disks of single
//! providers that only one node may attach.

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::NodeInfo;

/// The rule's name.
pub const NAME: &str = "VolumeRestrictions";

const REASON: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";

/// Refuses every node while another Pod uses the claim.
pub fn refuse(candidate: &Candidate, _node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    candidate.volumes.in_use_elsewhere.then(|| Refusal::for_now(NAME, REASON))
}
