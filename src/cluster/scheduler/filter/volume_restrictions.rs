//! A claim that only one Pod may use must not be used by another one, and some disks not by two Pods of a node.
//!
//! Cured by: the other Pod going away.
//!
//! Models: `pkg/scheduler/framework/plugins/volumerestrictions` (v1.36). Leaves out: nothing.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Refusal;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, PodSpec};
use crate::api::object::Resource;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::{NodeInfo, Snapshot};
use crate::cluster::store::Store;

/// The rule's name.
pub const NAME: &str = "VolumeRestrictions";

const REASON: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod";
const REASON_DISK: &str = "node(s) had no available disk";

/// The disks that two Pods of a node may not share: their kind, what they are known by, and whether they may after all if both
/// only read.
const DISKS: [(&str, &[&str], bool); 4] = [
    ("gcePersistentDisk", &["pdName"], true),
    ("awsElasticBlockStore", &["volumeID"], false),
    ("iscsi", &["iqn"], true),
    ("rbd", &["pool", "image"], true),
];

/// Refuses a node on which a disk of the Pod is in use, and every node while another Pod uses its claim.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    if candidate.busy_nodes.contains(&*node.meta.name) {
        return Some(Refusal::for_now(NAME, REASON_DISK));
    }
    candidate.volumes.in_use_elsewhere.then(|| Refusal::for_now(NAME, REASON))
}

/// The nodes on which other Pods use the Pod's disks.
pub fn busy_nodes(pod: &Pod, store: &Store, snapshot: &Snapshot) -> BTreeSet<String> {
    if disks(&pod.spec).next().is_none() {
        return BTreeSet::new();
    }
    let others = store.list::<Pod>().filter(|other| {
        other.meta.uid != pod.meta.uid
            && snapshot.is_placed(&other.key())
            && share_disk(&pod.spec, &other.spec)
    });
    others.map(|other| other.node_name.to_string()).collect()
}

/// Whether both use a disk that they may not share.
pub fn share_disk(a: &PodSpec, b: &PodSpec) -> bool {
    disks(a).any(|((kind, names, may_share), one)| {
        disks(b).filter(|((other_kind, ..), _)| *other_kind == kind).any(|(_, other)| {
            let monitors = one["monitors"].as_array().zip(other["monitors"].as_array());
            names.iter().all(|name| one[*name] == other[*name])
                && monitors.is_none_or(|(one, other)| one.iter().any(|monitor| other.contains(monitor)))
                && !(may_share && one["readOnly"] == true && other["readOnly"] == true)
        })
    })
}

fn disks(spec: &PodSpec) -> impl Iterator<Item = ((&'static str, &'static [&'static str], bool), &Value)> {
    let volumes = spec.rest.get("volumes").and_then(Value::as_array);
    volumes
        .into_iter()
        .flatten()
        .flat_map(|volume| DISKS.into_iter().filter_map(move |disk| Some((disk, volume.get(disk.0)?))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::codec::Codec;

    #[test]
    fn a_disk_is_shared_only_by_pods_that_read() {
        let spec = |volume: Value| PodSpec::decode(json!({"volumes": [volume]})).unwrap();
        let gce =
            |name: &str, reads: bool| spec(json!({"gcePersistentDisk": {"pdName": name, "readOnly": reads}}));
        let rbd = |monitor: &str| spec(json!({"rbd": {"monitors": [monitor], "pool": "p", "image": "i"}}));
        let table = [
            ("the same disk", gce("a", false), gce("a", false), true),
            ("one of them writes", gce("a", true), gce("a", false), true),
            ("both read", gce("a", true), gce("a", true), false),
            ("another disk", gce("a", false), gce("b", false), false),
            ("the same image of one cluster", rbd("m1"), rbd("m1"), true),
            ("the same name in another cluster", rbd("m1"), rbd("m2"), false),
            ("disks of two kinds", gce("a", false), rbd("m1"), false),
        ];
        for (sentence, a, b, expected) in table {
            assert_eq!(share_disk(&a, &b), expected, "{sentence}");
        }
    }
}
