//! The ephemeral volume controller: makes the claims for the volumes that Pods bring along.
//!
//! Watches: Pods, PersistentVolumeClaims.
//! Writes: PersistentVolumeClaims.
//! Models: `pkg/controller/volume/ephemeral/controller.go` (v1.36).
//! Leaves out: nothing.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::storage::PersistentVolumeClaim;
use crate::api::meta::Name;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::ownership::{controller_key, controller_reference};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

/// The keys that a change concerns: Pods with such volumes, new or without one of their claims.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Pod => {
            let is_new = |pod: &&Arc<Pod>| change.old.is_none() && templates(pod).next().is_some();
            let pod = change.new_as::<Pod>().filter(is_new);
            pod.map(|_| WorkKey::Object(change.key.clone())).into_iter().collect()
        }
        Kind::PersistentVolumeClaim if change.new.is_none() => {
            let claim = change.old_as::<PersistentVolumeClaim>();
            claim.and_then(|claim| controller_key(Kind::Pod, &claim.meta)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The volumes that the Pod brings along, each with the template of its claim.
fn templates(pod: &Pod) -> impl Iterator<Item = (&str, &Value)> {
    let volumes = pod.spec.rest.get("volumes").and_then(Value::as_array);
    volumes.into_iter().flatten().filter_map(|volume| {
        let template = volume["ephemeral"].get("volumeClaimTemplate")?;
        Some((volume["name"].as_str()?, template))
    })
}

/// Handles one Pod.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let pod = key.object().and_then(|key| view.store.at::<Pod>(key));
    let Some(pod) = pod.filter(|pod| !pod.meta.is_terminating()) else {
        return Outcome::nothing(Because::new("because.ephemeralvolume.gone"));
    };
    let mut outcome = Outcome::nothing(Because::new("because.ephemeralvolume.nothing"));
    for (volume, template) in templates(pod) {
        let name = Name::from(format!("{}-{volume}", pod.meta.name));
        if let Some(claim) = view.store.get::<PersistentVolumeClaim>(&pod.meta.namespace, &name) {
            // Somebody else's claim stands in the way.
            outcome.failed |= !claim.meta.is_controlled_by(&pod.meta.uid);
            continue;
        }
        let metadata = template.get("metadata").cloned().unwrap_or_default();
        let shown = json!({
            "metadata": {"labels": metadata["labels"], "annotations": metadata["annotations"]},
            "spec": template["spec"],
        });
        let Ok(mut claim) = PersistentVolumeClaim::decode(shown) else { continue };
        claim.meta.name = name;
        claim.meta.namespace = pod.meta.namespace.clone();
        claim.meta.owner_references = vec![controller_reference(&**pod)].into();
        let because = Because::new("because.ephemeralvolume.create")
            .with("pod", &pod.meta.name)
            .with("volume", volume)
            .with("claim", &claim.meta.name);
        outcome.because = Some(because.clone());
        outcome.writes.push(Operation::Create(claim.into()).because(because));
    }
    outcome
}
