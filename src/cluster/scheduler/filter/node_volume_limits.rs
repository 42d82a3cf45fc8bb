//! A driver can attach only so many volumes to a node.
//!
//! Cured by: Pods with such volumes going away, a higher limit, another node.
//!
//! Models: `pkg/scheduler/framework/plugins/nodevolumelimits/csi.go` (v1.36). Leaves out: volumes of other sorts than the
//! drivers' that are handed over to one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Refusal;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::Pod;
use crate::api::object::Resource;
use crate::cluster::scheduler::candidate::Candidate;
use crate::cluster::scheduler::snapshot::{NodeInfo, Snapshot};
use crate::cluster::scheduler::volumes::driver_volumes;
use crate::cluster::store::Store;

/// The rule's name.
pub const NAME: &str = "NodeVolumeLimits";

const REASON: &str = "node(s) exceed max volume count";

/// Refuses a node to which a driver could not attach all volumes of the Pod.
pub fn refuse(candidate: &Candidate, node: &Node, _info: &NodeInfo) -> Option<Refusal> {
    candidate.full_nodes.contains(&*node.meta.name).then(|| Refusal::for_now(NAME, REASON))
}

/// The nodes whose limits the Pod's volumes would exceed, with those of the Pods that are there.
pub fn full_nodes(pod: &Pod, store: &Store, snapshot: &Snapshot) -> BTreeSet<String> {
    let wanted = driver_volumes(pod, store);
    if wanted.is_empty() {
        return BTreeSet::new();
    }
    let mut full = BTreeSet::new();
    for limited in store.objects_of(Kind::CSINode) {
        let node = &limited.meta().name;
        let limited = limited.to_value();
        let drivers = limited["spec"]["drivers"].as_array();
        let limit = |driver: &Value| {
            let most = driver["allocatable"]["count"].as_u64()?;
            Some((driver["name"].as_str()?.to_string(), usize::try_from(most).unwrap_or(usize::MAX)))
        };
        let limits: BTreeMap<String, usize> = drivers.into_iter().flatten().filter_map(limit).collect();
        if limits.is_empty() {
            continue;
        }
        let there = store.pods_on(node).filter(|other| snapshot.is_placed(&other.key()));
        let mut volumes: BTreeSet<(String, String)> =
            there.flat_map(|other| driver_volumes(other, store)).collect();
        let has_more = |driver: &str| wanted.iter().any(|it| it.0 == driver && !volumes.contains(it));
        let asked: Vec<&String> = limits.keys().filter(|driver| has_more(driver)).collect();
        volumes.extend(wanted.iter().cloned());
        let count = |driver: &str| volumes.iter().filter(|it| it.0 == driver).count();
        if asked.iter().any(|driver| count(driver) > limits[*driver]) {
            full.insert(node.to_string());
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::codec::Codec;
    use crate::api::object::Object;
    use crate::cluster::actor::Actor;
    use crate::cluster::fact::FactId;

    fn pod(name: &str, claim: &str) -> Pod {
        let volumes = json!([{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]);
        let spec = json!({"nodeName": "n", "volumes": volumes});
        Pod::decode(json!({"metadata": {"name": name, "namespace": "demo"}, "spec": spec})).unwrap()
    }

    #[test]
    fn volumes_that_are_attached_already_do_not_count_again() {
        let mut store = Store::default();
        let mut put = |kind, value| {
            let object = Object::decode(kind, value).unwrap();
            store.put(object, &Actor::You, FactId(1));
        };
        let drivers = json!([{"name": "disk", "nodeID": "n", "allocatable": {"count": 1}}]);
        put(Kind::CSINode, json!({"metadata": {"name": "n"}, "spec": {"drivers": drivers}}));
        for (name, driver) in [("one", "disk"), ("two", "disk"), ("other", "tape")] {
            let csi = json!({"driver": driver, "volumeHandle": name});
            put(Kind::PersistentVolume, json!({"metadata": {"name": name}, "spec": {"csi": csi}}));
            let metadata = json!({"name": name, "namespace": "demo"});
            let spec = json!({"volumeName": name});
            put(Kind::PersistentVolumeClaim, json!({"metadata": metadata, "spec": spec}));
        }
        let there = pod("there", "one");
        put(Kind::Pod, there.encode());
        let mut snapshot = Snapshot::default();
        snapshot.place(&there, &"n".into());
        let table = [
            ("a second volume is one too many", "two", true),
            ("the same volume is there already", "one", false),
            ("another driver has no limit", "other", false),
        ];
        for (sentence, claim, expected) in table {
            let full = full_nodes(&pod("new", claim), &store, &snapshot);
            assert_eq!(full.contains("n"), expected, "{sentence}");
        }
    }
}
