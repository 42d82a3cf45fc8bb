//! What becomes of the claims of a StatefulSet's Pods: who owns them decides whether they go with it.
//!
//! Models: `pkg/controller/statefulset/stateful_set_utils.go: updateClaimOwnerRefForSetAndPod` (v1.36).
//! Leaves out: claims that another controller owns.

use std::sync::Arc;

use super::pods::claim_names;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::storage::PersistentVolumeClaim;
use crate::api::kinds::workloads::StatefulSet;
use crate::api::meta::OwnerReference;
use crate::cluster::because::Because;
use crate::cluster::ownership::controller_reference;
use crate::cluster::server::write::{Operation, Write};
use crate::cluster::store::Store;

/// What is to be written so that the claims of the Pod of that number have the owners that the policy asks for;
/// `condemned` is the Pod if its number is not wanted any more.
pub fn plan(store: &Store, set: &Arc<StatefulSet>, ordinal: i32, condemned: Option<&Arc<Pod>>) -> Vec<Write> {
    let policy = set.spec.retention.clone().unwrap_or_default();
    let goes_with_set = policy.when_deleted == "Delete";
    let goes_with_pod = policy.when_scaled == "Delete" && condemned.is_some();
    let owner = match condemned {
        Some(pod) if goes_with_pod => Some(controller_reference(&**pod)),
        _ if goes_with_set => Some(controller_reference(&**set)),
        _ => None,
    };
    let pod_name = format!("{}-{ordinal}", set.meta.name);
    let is_ours = |reference: &OwnerReference| {
        reference.uid == set.meta.uid || (reference.kind == "Pod" && *reference.name == *pod_name)
    };
    let mut writes = Vec::new();
    for (_, name) in claim_names(set, ordinal) {
        let Some(claim) = store.get::<PersistentVolumeClaim>(&set.meta.namespace, &name) else { continue };
        let references = &claim.meta.owner_references;
        let ours: Vec<&OwnerReference> = references.iter().filter(|reference| is_ours(reference)).collect();
        if ours.iter().map(|reference| &reference.uid).eq(owner.iter().map(|owner| &owner.uid)) {
            continue;
        }
        let mut changed = (**claim).clone();
        changed.meta.owner_references.retain(|reference| !is_ours(reference));
        changed.meta.owner_references.extend(owner.clone());
        let key = match &owner {
            Some(_) => "because.statefulset.claim_goes",
            None => "because.statefulset.claim_stays",
        };
        let with = owner.as_ref().map(|owner| format!("{} {}", owner.kind, owner.name)).unwrap_or_default();
        let because = Because::new(key).with("claim", &name).with("with", with);
        writes.push(Operation::Update(changed.into()).because(because));
    }
    writes
}
