//! The cluster's volume provisioner: makes a volume for every claim that its class sends it, and takes it away again.
//!
//! Watches: PersistentVolumeClaims, PersistentVolumes.
//! Writes: PersistentVolumes, events.
//! Models: `sigs.k8s.io/sig-storage-lib-external-provisioner` (`controller.go: shouldProvision,
//! provisionClaimOperation, shouldDelete`).
//! Leaves out: time that making a volume takes; failures; parameters.

use std::sync::Arc;

use serde_json::json;

use crate::api::kind::Kind;
use crate::api::kinds::networking::ObjectReference;
use crate::api::kinds::storage::{PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, StorageClass};
use crate::api::meta::Name;
use crate::api::object::{Object, Resource};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::request::Propagation;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::Change;

/// What classes call it.
pub const PROVISIONER: &str = "rancher.io/local-path";

const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const ASKED: &str = "volume.kubernetes.io/storage-provisioner";

const PROVISIONING: &str = "Provisioning";
const PROVISIONING_SUCCEEDED: &str = "ProvisioningSucceeded";

/// The keys that a change concerns.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_asked = |claim: &Arc<PersistentVolumeClaim>| {
        claim.spec.volume_name.is_empty()
            && claim.meta.annotations.get(ASKED).is_some_and(|name| name == PROVISIONER)
    };
    let is_free = |volume: &Arc<PersistentVolume>| is_to_go(volume);
    let concerned = change.new_as().is_some_and(is_asked) || change.new_as().is_some_and(is_free);
    if concerned { vec![WorkKey::Object(change.key.clone())] } else { Vec::new() }
}

/// Whether a volume that it made has lost its claim and is not to be kept.
fn is_to_go(volume: &PersistentVolume) -> bool {
    volume.status.phase == "Released"
        && volume.spec.reclaim_policy == "Delete"
        && !volume.meta.is_terminating()
        && volume.meta.annotations.get(PROVISIONED_BY).is_some_and(|name| name == PROVISIONER)
}

/// Handles one claim or one volume.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let nothing = || Outcome::nothing(Because::new("because.provisioner.nothing"));
    let Some(object) = key.object() else { return nothing() };
    if let Some(volume) = view.store.at::<PersistentVolume>(object).filter(|volume| is_to_go(volume)) {
        let because = Because::new("because.provisioner.delete").with("volume", &volume.meta.name);
        let mut outcome = Outcome::nothing(because.clone());
        let delete = Operation::Delete {
            key: volume.key(),
            uid: Some(volume.meta.uid.clone()),
            grace_seconds: None,
            propagation: Propagation::Background,
        };
        outcome.writes.push(delete.because(because));
        return outcome;
    }
    let Some(claim) = view.store.at::<PersistentVolumeClaim>(object) else { return nothing() };
    let class_name = claim.spec.storage_class_name.clone().unwrap_or_default();
    let Some(class) = view.store.get::<StorageClass>("", &class_name) else { return nothing() };
    let name = format!("pvc-{}", claim.meta.uid);
    let exists = view.store.get::<PersistentVolume>("", &name).is_some();
    if exists || !claim.spec.volume_name.is_empty() || claim.meta.is_terminating() {
        return nothing();
    }
    let because = Because::new("because.provisioner.create")
        .with("claim", &claim.meta.name)
        .with("class", &class_name)
        .with("volume", &name);
    let whole = Object::PersistentVolumeClaim(Arc::clone(claim));
    let tell = |reason, text: String| Operation::Event(EventRecord::normal(&whole, reason, text));
    let title = format!("{}/{}", claim.meta.namespace, claim.meta.name);
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes = [
        tell(PROVISIONING, format!("External provisioner is provisioning volume for claim {title:?}")),
        Operation::Create(volume_for(claim, class, &name).into()),
        tell(PROVISIONING_SUCCEEDED, format!("Successfully provisioned volume {name}")),
    ]
    .map(|operation| operation.because(because.clone()))
    .into();
    outcome
}

/// A volume for the claim, on the node that was chosen for it.
fn volume_for(claim: &PersistentVolumeClaim, class: &StorageClass, name: &str) -> PersistentVolume {
    let mut volume = PersistentVolume::default();
    volume.meta.name = Name::from(name);
    volume.meta.annotations.insert(PROVISIONED_BY.to_string(), PROVISIONER.to_string());
    volume.meta.finalizers.push("kubernetes.io/pv-protection".to_string());
    volume.status.phase = "Pending".to_string();
    let spec = &mut volume.spec;
    spec.access_modes = claim.spec.access_modes.clone();
    spec.volume_mode = claim.spec.volume_mode.clone();
    spec.reclaim_policy = class.reclaim_policy.clone().unwrap_or_else(|| "Delete".to_string());
    spec.storage_class_name = class.meta.name.to_string();
    let size = claim.spec.resources.requests.get("storage").copied().unwrap_or_default();
    spec.capacity.insert("storage".to_string(), size);
    spec.claim_ref = Some(ObjectReference {
        kind: Kind::PersistentVolumeClaim.name().to_string(),
        namespace: claim.meta.namespace.clone(),
        name: claim.meta.name.clone(),
        uid: claim.meta.uid.clone(),
        api_version: Kind::PersistentVolumeClaim.api_version(),
        resource_version: claim.meta.resource_version.0.to_string(),
        ..ObjectReference::default()
    });
    let path = format!("/opt/local-path-provisioner/{name}_{}_{}", claim.meta.namespace, claim.meta.name);
    spec.rest.set("hostPath", Some(json!({"path": path, "type": "DirectoryOrCreate"})));
    if let Some(node) = claim.meta.annotations.get(SELECTED_NODE) {
        spec.node_affinity = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]},
        ]}]}});
    }
    volume
}
