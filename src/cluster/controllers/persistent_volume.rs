//! The PersistentVolume controller: binds claims to volumes, and frees volumes whose claims are gone.
//!
//! Watches: PersistentVolumeClaims, PersistentVolumes, StorageClasses.
//! Writes: PersistentVolumeClaims, PersistentVolumes, their status, events.
//! Models: `pkg/controller/volume/persistentvolume/pv_controller.go`, `index.go` (v1.36): `syncUnboundClaim`,
//! `syncBoundClaim`, `syncVolume`, `findBestMatchForClaim`, `provisionClaimOperationExternal`.
//! Leaves out: plugins that are part of Kubernetes (none provisions any more), recycling, classes assigned to claims later;
//! what is told of a claim that keeps waiting is told once, not every 15 s.

use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::event::Event;
use crate::api::kinds::networking::ObjectReference;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::storage::{
    BOUND_BY_CONTROLLER, PersistentVolume, PersistentVolumeClaim, SELECTED_NODE, StorageClass,
};
use crate::api::meta::{ObjectKey, Revision};
use crate::api::object::{Object, Resource};
use crate::api::quantity::Quantity;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::{EventRecord, Operation};
use crate::cluster::store::Change;

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const PROVISIONERS: [&str; 2] =
    ["volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"];
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// Between two looks at a claim that waits.
const PERIOD_TICKS: u64 = 15;

const FAILED_BINDING: &str = "FailedBinding";
const PROVISIONING_FAILED: &str = "ProvisioningFailed";
const EXTERNAL_PROVISIONING: &str = "ExternalProvisioning";
const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";
const WAIT_FOR_POD_SCHEDULED: &str = "WaitForPodScheduled";
const CLAIM_LOST: &str = "ClaimLost";
const CLAIM_MISBOUND: &str = "ClaimMisbound";

/// The keys that a change concerns.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    let own = || WorkKey::Object(change.key.clone());
    match change.key.kind {
        Kind::PersistentVolumeClaim => {
            let claims = [change.old_as::<PersistentVolumeClaim>(), change.new_as::<PersistentVolumeClaim>()];
            if let [Some(old), Some(new)] = claims
                && old.spec == new.spec
                && old.status == new.status
                && old.meta.annotations == new.meta.annotations
            {
                return Vec::new();
            }
            let volume = claims.into_iter().flatten().map(|claim| claim.spec.volume_name.clone()).next_back();
            let volume = volume.filter(|name| !name.is_empty());
            let volume = volume.map(|name| WorkKey::Object(ObjectKey::new(Kind::PersistentVolume, "", name)));
            std::iter::once(own()).chain(volume).collect()
        }
        Kind::PersistentVolume => {
            let volumes = [change.old_as::<PersistentVolume>(), change.new_as::<PersistentVolume>()];
            let claim =
                volumes.into_iter().flatten().filter_map(|volume| volume.spec.claim_ref.as_ref()).next_back();
            let claim = claim.map(|claim| {
                let (namespace, name) = (claim.namespace.clone(), claim.name.clone());
                WorkKey::Object(ObjectKey::new(Kind::PersistentVolumeClaim, namespace, name))
            });
            std::iter::once(own()).chain(claim).collect()
        }
        _ => Vec::new(),
    }
}

/// Handles one claim or one volume.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(object) = key.object() else { return Outcome::default() };
    let mut sync =
        Sync { view, is_new_look: !matches!(key, WorkKey::Resync(_)), outcome: Outcome::default() };
    if let Some(claim) = view.store.at::<PersistentVolumeClaim>(object) {
        if claim.meta.annotations.contains_key(BIND_COMPLETED) {
            sync.bound_claim(claim);
        } else {
            sync.unbound_claim(claim);
        }
    } else if let Some(volume) = view.store.at::<PersistentVolume>(object) {
        sync.volume(volume);
    }
    sync.outcome.because.get_or_insert_with(|| Because::new("because.persistentvolume.nothing"));
    sync.outcome
}

/// One look at a claim or volume.
struct Sync<'a> {
    view: &'a View<'a>,
    /// Whether something has changed since the last look.
    is_new_look: bool,
    outcome: Outcome,
}

/// How much a claim asks for.
fn wanted(claim: &PersistentVolumeClaim) -> Quantity {
    claim.spec.resources.requests.get("storage").copied().unwrap_or_default()
}

/// How much a volume has.
fn size_of(volume: &PersistentVolume) -> Quantity {
    volume.spec.capacity.get("storage").copied().unwrap_or_default()
}

fn mode_of(mode: &Option<String>) -> &str {
    mode.as_deref().unwrap_or("Filesystem")
}

/// Whether the volume names that claim.
fn names(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    volume.spec.claim_ref.as_ref().is_some_and(|reference| {
        reference.name == claim.meta.name
            && reference.namespace == claim.meta.namespace
            && (reference.uid.is_empty() || reference.uid == claim.meta.uid)
    })
}

/// Whether the volume is what the claim asks for, whoever has it.
fn suits(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let class = claim.spec.storage_class_name.as_deref().unwrap_or_default();
    let has_modes = claim.spec.access_modes.iter().all(|mode| volume.spec.access_modes.contains(mode));
    has_modes
        && volume.spec.storage_class_name == class
        && mode_of(&volume.spec.volume_mode) == mode_of(&claim.spec.volume_mode)
        && size_of(volume) >= wanted(claim)
        && claim.spec.selector.as_ref().is_none_or(|selector| selector.matches(&volume.meta.labels))
        && !volume.meta.is_terminating()
}

impl Sync<'_> {
    fn say(&mut self, because: Because) {
        self.outcome.because.get_or_insert(because);
    }

    /// Tells an event, unless this is only another look and it has been told before.
    fn tell(&mut self, claim: &Arc<PersistentVolumeClaim>, warning: bool, reason: &'static str, text: &str) {
        let because = Because::new("because.persistentvolume.tell").with("message", text);
        let is_told = || {
            let mut events = self.view.store.list_in::<Event>(&claim.meta.namespace);
            events.any(|event| {
                event.involved_object.uid == claim.meta.uid && event.reason == reason && event.message == text
            })
        };
        if self.is_new_look || !is_told() {
            let object = Object::PersistentVolumeClaim(Arc::clone(claim));
            let event = EventRecord { warning, ..EventRecord::normal(&object, reason, text) };
            self.outcome.writes.push(Operation::Event(event).because(because.clone()));
        }
        self.say(because);
    }

    fn look_again(&mut self, claim: &PersistentVolumeClaim) {
        self.outcome.look_again(WorkKey::Resync(claim.key()), PERIOD_TICKS);
    }

    /// Looks for a volume for a claim that has none.
    fn unbound_claim(&mut self, claim: &Arc<PersistentVolumeClaim>) {
        let saw = Because::new("because.persistentvolume.saw_claim").with("claim", &claim.meta.name);
        self.outcome.saw.push(saw.with("size", wanted(claim)));
        if !claim.spec.volume_name.is_empty() {
            self.claim_by_name(claim);
            return;
        }
        let class_name = claim.spec.storage_class_name.clone().unwrap_or_default();
        let class = self.view.store.get::<StorageClass>("", &class_name);
        let is_lazy =
            class.is_some_and(|class| class.volume_binding_mode.as_deref() == Some(WAIT_FOR_FIRST_CONSUMER));
        let waits = is_lazy && !claim.meta.annotations.contains_key(SELECTED_NODE);
        if let Some(volume) = self.best_match(claim, waits) {
            self.bind(claim, &volume);
            return;
        }
        self.look_again(claim);
        if waits {
            let pod = self.waiting_pod(claim);
            match pod {
                Some(pod) => {
                    let text = format!("waiting for pod {pod} to be scheduled");
                    self.tell(claim, false, WAIT_FOR_POD_SCHEDULED, &text);
                }
                None => {
                    let text = "waiting for first consumer to be created before binding";
                    self.tell(claim, false, WAIT_FOR_FIRST_CONSUMER, text);
                }
            }
        } else if class_name.is_empty() {
            let text = "no persistent volumes available for this claim and no storage class is set";
            self.tell(claim, false, FAILED_BINDING, text);
        } else {
            self.provision(claim, &class_name);
        }
    }

    /// A Pod that uses the claim and has no node yet.
    fn waiting_pod(&self, claim: &PersistentVolumeClaim) -> Option<String> {
        let uses = |pod: &&Arc<Pod>| {
            let volumes = pod.spec.rest.get("volumes").and_then(serde_json::Value::as_array);
            let mut volumes = volumes.into_iter().flatten();
            let is_it =
                |volume: &serde_json::Value| match volume["persistentVolumeClaim"]["claimName"].as_str() {
                    Some(named) => *named == *claim.meta.name,
                    None => volume["ephemeral"].is_object() && claim.meta.is_controlled_by(&pod.meta.uid),
                };
            !pod.is_bound() && pod.is_active() && volumes.any(is_it)
        };
        let mut pods = self.view.store.list_in::<Pod>(&claim.meta.namespace);
        pods.find(uses).map(|pod| pod.meta.name.to_string())
    }

    /// A claim that names its volume.
    fn claim_by_name(&mut self, claim: &Arc<PersistentVolumeClaim>) {
        let name = claim.spec.volume_name.clone();
        let Some(volume) = self.view.store.get::<PersistentVolume>("", &name).cloned() else {
            self.say(Because::new("because.persistentvolume.wait_volume").with("volume", &name));
            self.look_again(claim);
            return;
        };
        match &volume.spec.claim_ref {
            None if !suits(&volume, claim) => {
                let text = format!("Cannot bind to requested volume {:?}: it does not fit the claim", &*name);
                self.tell(claim, true, "VolumeMismatch", &text);
                self.look_again(claim);
            }
            Some(_) if !names(&volume, claim) => {
                let text = format!("volume {:?} already bound to a different claim.", &*name);
                self.tell(claim, true, FAILED_BINDING, &text);
                self.look_again(claim);
            }
            _ => self.bind(claim, &volume),
        }
    }

    /// The smallest volume that will do; one that names the claim comes first.
    fn best_match(&self, claim: &PersistentVolumeClaim, only_named: bool) -> Option<Arc<PersistentVolume>> {
        let volumes = || self.view.store.list::<PersistentVolume>().filter(|volume| suits(volume, claim));
        let named = volumes().filter(|volume| names(volume, claim)).min_by_key(|volume| size_of(volume));
        if named.is_some() || only_named {
            return named.cloned();
        }
        let is_free = |volume: &&Arc<PersistentVolume>| {
            volume.spec.claim_ref.is_none() && volume.status.phase == "Available"
        };
        volumes().filter(is_free).min_by_key(|volume| size_of(volume)).cloned()
    }

    /// Binds claim and volume to each other.
    fn bind(&mut self, claim: &Arc<PersistentVolumeClaim>, volume: &Arc<PersistentVolume>) {
        let because = Because::new("because.persistentvolume.bind")
            .with("claim", &claim.meta.name)
            .with("volume", &volume.meta.name)
            .with("wanted", wanted(claim))
            .with("size", size_of(volume));
        let mut bound = (**volume).clone();
        if volume.spec.claim_ref.as_ref().is_none_or(|reference| reference.uid.is_empty()) {
            if volume.spec.claim_ref.is_none() {
                bound.meta.annotations.insert(BOUND_BY_CONTROLLER.to_string(), "yes".to_string());
            }
            bound.spec.claim_ref = Some(ObjectReference {
                kind: Kind::PersistentVolumeClaim.name().to_string(),
                namespace: claim.meta.namespace.clone(),
                name: claim.meta.name.clone(),
                uid: claim.meta.uid.clone(),
                api_version: Kind::PersistentVolumeClaim.api_version(),
                resource_version: claim.meta.resource_version.0.to_string(),
                ..ObjectReference::default()
            });
            self.outcome.writes.push(Operation::Update(bound.clone().into()).because(because.clone()));
        }
        self.set_phase(bound, "Bound", because.clone());
        let mut taken = (**claim).clone();
        if taken.spec.volume_name.is_empty() {
            taken.spec.volume_name = volume.meta.name.clone();
            taken.meta.annotations.insert(BOUND_BY_CONTROLLER.to_string(), "yes".to_string());
        }
        taken.meta.annotations.insert(BIND_COMPLETED.to_string(), "yes".to_string());
        self.outcome.writes.push(Operation::Update(taken.clone().into()).because(because.clone()));
        // The report builds on what was just written.
        taken.meta.resource_version = Revision(0);
        taken.status.phase = "Bound".to_string();
        taken.status.access_modes = volume.spec.access_modes.clone();
        taken.status.capacity = volume.spec.capacity.clone();
        self.outcome.writes.push(Operation::UpdateStatus(taken.into()).because(because.clone()));
        self.say(because);
    }

    fn set_phase(&mut self, mut volume: PersistentVolume, phase: &str, because: Because) {
        if volume.status.phase != phase {
            volume.meta.resource_version = Revision(0);
            volume.status.phase = phase.to_string();
            volume.status.last_phase_transition_time = Some(self.view.now);
            self.outcome.writes.push(Operation::UpdateStatus(volume.into()).because(because.clone()));
        }
        self.say(because);
    }

    /// Asks the provisioner of the class for a volume.
    fn provision(&mut self, claim: &Arc<PersistentVolumeClaim>, class_name: &str) {
        let Some(class) = self.view.store.get::<StorageClass>("", class_name).cloned() else {
            let text = format!("storageclass.storage.k8s.io {class_name:?} not found");
            self.tell(claim, true, PROVISIONING_FAILED, &text);
            return;
        };
        let provisioner = class.provisioner.clone();
        if provisioner == NO_PROVISIONER {
            let text = format!("no volume plugin matched name: {provisioner}");
            self.tell(claim, true, PROVISIONING_FAILED, &text);
            return;
        }
        let is_asked = PROVISIONERS.iter().all(|key| claim.meta.annotations.get(*key) == Some(&provisioner));
        if is_asked {
            self.say(
                Because::new("because.persistentvolume.wait_provisioner").with("provisioner", provisioner),
            );
            return;
        }
        let mut asking = (**claim).clone();
        for key in PROVISIONERS {
            asking.meta.annotations.insert(key.to_string(), provisioner.clone());
        }
        let because = Because::new("because.persistentvolume.provision")
            .with("claim", &claim.meta.name)
            .with("class", class_name)
            .with("provisioner", &provisioner);
        self.outcome.writes.push(Operation::Update(asking.into()).because(because.clone()));
        self.say(because);
        let text = format!(
            "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."
        );
        self.tell(claim, false, EXTERNAL_PROVISIONING, &text);
    }

    /// Looks whether a bound claim still has its volume.
    fn bound_claim(&mut self, claim: &Arc<PersistentVolumeClaim>) {
        let name = &claim.spec.volume_name;
        let volume = self.view.store.get::<PersistentVolume>("", name).cloned();
        match volume {
            None => {
                let text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
                self.lose(claim, CLAIM_LOST, text);
            }
            Some(volume) if volume.spec.claim_ref.is_none() || names(&volume, claim) => {
                if claim.status.phase != "Bound" || volume.status.phase != "Bound" {
                    self.bind(claim, &volume);
                }
            }
            Some(_) => {
                let text = "Two claims are bound to the same volume, this one is bound incorrectly";
                self.lose(claim, CLAIM_MISBOUND, text);
            }
        }
    }

    fn lose(&mut self, claim: &Arc<PersistentVolumeClaim>, reason: &'static str, text: &str) {
        if claim.status.phase == "Lost" {
            return;
        }
        let mut lost = (**claim).clone();
        lost.status.phase = "Lost".to_string();
        let because = Because::new("because.persistentvolume.tell").with("message", text);
        self.outcome.writes.push(Operation::UpdateStatus(lost.into()).because(because));
        self.tell(claim, true, reason, text);
    }

    /// Looks who has a volume.
    fn volume(&mut self, volume: &Arc<PersistentVolume>) {
        let name = &volume.meta.name;
        let Some(reference) = volume.spec.claim_ref.as_ref().filter(|reference| !reference.uid.is_empty())
        else {
            let because = Because::new("because.persistentvolume.available").with("volume", name);
            self.set_phase((**volume).clone(), "Available", because);
            return;
        };
        let claim = self.view.store.get::<PersistentVolumeClaim>(&reference.namespace, &reference.name);
        match claim.filter(|claim| claim.meta.uid == reference.uid) {
            None if volume.status.phase == "Failed" => {}
            None => {
                let because = Because::new("because.persistentvolume.release")
                    .with("volume", name)
                    .with("claim", format!("{}/{}", reference.namespace, reference.name))
                    .with("policy", &volume.spec.reclaim_policy);
                self.set_phase((**volume).clone(), "Released", because);
            }
            Some(claim) if claim.spec.volume_name == *name && claim.status.phase == "Bound" => {
                let because = Because::new("because.persistentvolume.bound").with("volume", name);
                self.set_phase((**volume).clone(), "Bound", because);
            }
            Some(claim) if claim.spec.volume_name.is_empty() || claim.spec.volume_name == *name => {
                let claim = Arc::clone(claim);
                if volume.spec.claim_ref.is_some() {
                    self.bind(&claim, volume);
                }
            }
            Some(_) => {
                // The claim has another volume: this one is free again, unless it was made for the claim.
                let was_chosen = volume.meta.annotations.contains_key(BOUND_BY_CONTROLLER);
                let because = Because::new("because.persistentvolume.unbind").with("volume", name);
                let mut free = (**volume).clone();
                free.meta.annotations.remove(BOUND_BY_CONTROLLER);
                match &mut free.spec.claim_ref {
                    Some(reference) if !was_chosen => reference.uid = Default::default(),
                    claim_ref => *claim_ref = None,
                }
                self.outcome.writes.push(Operation::Update(free.clone().into()).because(because.clone()));
                self.set_phase(free, "Available", because);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_suits_a_claim_that_asks_for_no_more() {
        let volume = |size: i64, mode: &str, class: &str| {
            let mut volume = PersistentVolume::default();
            volume.spec.capacity.insert("storage".into(), Quantity::from_bytes(size << 30));
            volume.spec.access_modes = vec![mode.to_string()];
            volume.spec.storage_class_name = class.to_string();
            volume
        };
        let mut claim = PersistentVolumeClaim::default();
        claim.spec.access_modes = vec!["ReadWriteOnce".to_string()];
        claim.spec.storage_class_name = Some("manual".to_string());
        claim.spec.resources.requests.insert("storage".into(), Quantity::from_bytes(3 << 30));
        let table = [
            ("larger is fine", volume(5, "ReadWriteOnce", "manual"), true),
            ("smaller is not", volume(1, "ReadWriteOnce", "manual"), false),
            ("another mode of access", volume(5, "ReadOnlyMany", "manual"), false),
            ("another class", volume(5, "ReadWriteOnce", ""), false),
        ];
        for (sentence, volume, expected) in table {
            assert_eq!(suits(&volume, &claim), expected, "{sentence}");
        }
    }
}
