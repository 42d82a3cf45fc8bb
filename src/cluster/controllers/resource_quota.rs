//! The ResourceQuota controller: writes down what a namespace uses of each limited resource.
//!
//! Watches: ResourceQuotas, and everything in a namespace that has one.
//! Writes: ResourceQuota status.
//! Models: `pkg/controller/resourcequota/resource_quota_controller.go: syncResourceQuota` (v1.36).
//! Leaves out: the full count every five minutes.

use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::ResourceList;
use crate::api::kinds::policy::ResourceQuota;
use crate::api::object::Resource;
use crate::api::quantity::Quantity;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;
use crate::cluster::usage::{covers, usage_of};

/// The keys that a change concerns.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    if change.key.kind == Kind::ResourceQuota {
        return vec![WorkKey::Object(change.key.clone())];
    }
    if change.key.namespace.is_empty() || matches!(change.key.kind, Kind::Event | Kind::Lease) {
        return Vec::new();
    }
    let quotas = view.store.list_in::<ResourceQuota>(&change.key.namespace);
    quotas.map(|quota| WorkKey::Object(quota.key())).collect()
}

/// Handles one quota.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(quota) = key.object().and_then(|key| view.store.at::<ResourceQuota>(key)) else {
        return Outcome::nothing(Because::new("because.resourcequota.gone"));
    };
    let mut used: ResourceList =
        quota.spec.hard.keys().map(|name| (name.clone(), Quantity::default())).collect();
    let encoded = quota.encode();
    let kinds = Kind::ALL.iter().copied().filter(|kind| kind.is_namespaced() && *kind != Kind::Event);
    for object in kinds.flat_map(|kind| view.store.objects_in(kind, &quota.meta.namespace)) {
        if !covers(&encoded, object) {
            continue;
        }
        let usage = usage_of(object);
        for (name, sum) in &mut used {
            if let Some(amount) = usage.get(name).filter(|amount| !amount.is_zero()) {
                *sum = sum.add(amount);
            }
        }
    }
    let shown = |list: &ResourceList| {
        let parts: Vec<String> = list.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
        parts.join(", ")
    };
    let because = Because::new("because.resourcequota.status")
        .with("name", &quota.meta.name)
        .with("used", shown(&used))
        .with("hard", shown(&quota.spec.hard));
    let mut outcome = Outcome::nothing(because.clone());
    if quota.status.hard != quota.spec.hard || quota.status.used != used {
        let mut reported = (**quota).clone();
        reported.status.hard = quota.spec.hard.clone();
        reported.status.used = used;
        outcome.writes.push(Operation::UpdateStatus(reported.into()).because(because));
    } else {
        outcome.because = Some(Because::new("because.resourcequota.nothing").with("used", shown(&used)));
    }
    outcome
}
