//! The protection controllers: a claim stays while a Pod uses it, a volume while a claim has it.
//!
//! Watches: PersistentVolumeClaims, PersistentVolumes, Pods.
//! Writes: the finalizers of claims and volumes that are being deleted.
//! Models: `pkg/controller/volume/pvcprotection/pvc_protection_controller.go`, `pvprotection/pv_protection_controller.go`
//! (v1.36).
//! Leaves out: adding the finalizers: admission has done it.

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::storage::{PersistentVolume, PersistentVolumeClaim};
use crate::api::meta::{ObjectKey, ObjectMeta};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";

/// The keys that a change concerns.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let is_going = || change.new.as_ref().is_some_and(|object| object.meta().is_terminating());
    match change.key.kind {
        Kind::PersistentVolumeClaim | Kind::PersistentVolume if is_going() => {
            vec![WorkKey::Object(change.key.clone())]
        }
        Kind::Pod if change.new_as::<Pod>().is_none_or(|pod| pod.is_finished()) => {
            let claims = change.old_as::<Pod>().map(|pod| claims_of(pod)).unwrap_or_default();
            let key = |name: String| {
                ObjectKey::new(Kind::PersistentVolumeClaim, change.key.namespace.clone(), name)
            };
            claims.into_iter().map(|name| WorkKey::Object(key(name))).collect()
        }
        _ => Vec::new(),
    }
}

/// The names of the claims that a Pod's volumes use.
fn claims_of(pod: &Pod) -> Vec<String> {
    let volumes = pod.spec.rest.get("volumes").and_then(Value::as_array);
    let name = |volume: &Value| match volume["persistentVolumeClaim"]["claimName"].as_str() {
        Some(name) => Some(name.to_string()),
        None => {
            let own = volume["name"].as_str()?;
            volume["ephemeral"].is_object().then(|| format!("{}-{own}", pod.meta.name))
        }
    };
    volumes.into_iter().flatten().filter_map(name).collect()
}

fn is_held(meta: &ObjectMeta, finalizer: &str) -> bool {
    meta.is_terminating() && meta.finalizers.iter().any(|known| known == finalizer)
}

/// Handles one claim or one volume.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let nothing = || Outcome::nothing(Because::new("because.volumeprotection.nothing"));
    let Some(object) = key.object() else { return nothing() };
    let (because, freed) = if let Some(claim) = view.store.at::<PersistentVolumeClaim>(object) {
        if !is_held(&claim.meta, CLAIM_FINALIZER) {
            return nothing();
        }
        // Pods without a node do not count: no kubelet has seen them.
        let mut pods = view.store.list_in::<Pod>(&object.namespace).filter(|pod| pod.is_bound());
        if let Some(pod) = pods.find(|pod| claims_of(pod).iter().any(|name| **name == *object.name)) {
            let because = Because::new("because.volumeprotection.in_use");
            return Outcome::nothing(because.with("claim", &object.name).with("pod", &pod.meta.name));
        }
        let mut freed = (**claim).clone();
        freed.meta.finalizers.retain(|finalizer| finalizer != CLAIM_FINALIZER);
        (
            Because::new("because.volumeprotection.free_claim").with("claim", &object.name),
            Operation::Update(freed.into()),
        )
    } else if let Some(volume) = view.store.at::<PersistentVolume>(object) {
        if !is_held(&volume.meta, VOLUME_FINALIZER) {
            return nothing();
        }
        if volume.status.phase == "Bound" {
            let because = Because::new("because.volumeprotection.bound").with("volume", &object.name);
            return Outcome::nothing(because);
        }
        let mut freed = (**volume).clone();
        freed.meta.finalizers.retain(|finalizer| finalizer != VOLUME_FINALIZER);
        (
            Because::new("because.volumeprotection.free_volume").with("volume", &object.name),
            Operation::Update(freed.into()),
        )
    } else {
        return nothing();
    };
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.push(freed.because(because));
    outcome
}
