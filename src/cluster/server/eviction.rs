//! The sub-resource `eviction`: deletes a Pod, unless a disruption budget forbids it.
//!
//! Models: `registry/core/pod/storage/eviction.go` (v1.36).
//! Leaves out: the longest list of Pods whose eviction a budget has granted.

use std::sync::Arc;

use super::request::Request;
use super::status::{Cause, Details, Status};
use super::transaction::{Transaction, Written};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::policy::{PodDisruptionBudget, SYNC_FAILED};
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::cluster::store::Store;

/// After so many seconds a budget has surely been looked at.
const RETRY_SECONDS: i64 = 10;

const REASON: &str = "EvictionByEvictionAPI";
const MESSAGE: &str = "Eviction API: evicting";

/// Deletes the Pod if its budget allows it.
///
/// # Errors
/// 404 without the Pod, 429 when a budget would be violated, 500 when two budgets speak of it.
pub fn evict(transaction: &mut Transaction<'_>, request: &Request) -> Result<Written, Status> {
    let Some(pod) = transaction.store.get::<Pod>(&request.namespace, &request.name).cloned() else {
        return Err(Status::not_found(Kind::Pod, &request.name));
    };
    let named = request.body["metadata"]["name"].as_str().unwrap_or(&request.name);
    if *named != *request.name {
        return Err(Status::bad_request("name in URL does not match name in Eviction object"));
    }
    if !is_beyond_budgets(&pod)
        && let Some(budget) = may_disrupt(&pod, transaction.store, transaction.now)?
    {
        transaction.store.put(budget.into(), transaction.writer, transaction.fact);
    }
    let grace_seconds =
        request.body["deleteOptions"]["gracePeriodSeconds"].as_i64().or(request.options.grace_seconds);
    let uid = pod.meta.uid.clone();
    let mut told = Pod::clone(&pod);
    told.status.set_condition("DisruptionTarget", "True", REASON, MESSAGE, transaction.now);
    transaction.store.put(told.into(), transaction.writer, transaction.fact);
    let mut written =
        transaction.delete(&request.key(), Some(&uid), grace_seconds, request.options.propagation)?;
    written.old = Some(Object::Pod(pod));
    Ok(written)
}

/// A Pod whose end disturbs nobody.
fn is_beyond_budgets(pod: &Pod) -> bool {
    pod.meta.is_terminating() || matches!(pod.status.phase.as_str(), "Succeeded" | "Failed" | "Pending")
}

/// Whether the Pod's budget lets it go; the budget with that disruption in its books, if one of its own is used up.
fn may_disrupt(pod: &Pod, store: &Store, now: Timestamp) -> Result<Option<PodDisruptionBudget>, Status> {
    let namespace = &*pod.meta.namespace;
    let speaks_of = |budget: &&Arc<PodDisruptionBudget>| {
        budget.spec.selector.as_ref().is_some_and(|selector| selector.matches(&pod.meta.labels))
    };
    let mut budgets = store.list_in::<PodDisruptionBudget>(namespace).filter(speaks_of);
    let Some(budget) = budgets.next() else { return Ok(None) };
    if budgets.next().is_some() {
        let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        return Err(Status { message: text.to_string(), ..Status::internal("") });
    }
    let (name, status) = (&budget.meta.name, &budget.status);
    let refused = |message: String| Status {
        code: 429,
        reason: "TooManyRequests",
        message: "Cannot evict pod as it would violate the pod's disruption budget.".to_string(),
        details: Details {
            causes: vec![Cause { reason: "DisruptionBudget", message, field: String::new() }],
            ..Details::default()
        },
    };
    let (healthy, desired) = (status.current_healthy, status.desired_healthy);
    let always = budget.spec.unhealthy_policy.as_deref() == Some("AlwaysAllow");
    if !pod.is_ready() && (always || (desired > 0 && healthy >= desired)) {
        return Ok(None);
    }
    if status.observed_generation < budget.meta.generation {
        let mut refusal =
            refused(format!("The disruption budget {name} is still being processed by the server."));
        refusal.details.retry_after_seconds = RETRY_SECONDS;
        return Err(refusal);
    }
    if status.disruptions_allowed <= 0 {
        let failed = status.conditions.iter().find(|it| it.reason == SYNC_FAILED && it.status == "False");
        return Err(refused(match failed {
            Some(failed) => format!(
                "The disruption budget {name} does not allow evicting pods currently because it failed sync: {}",
                failed.message
            ),
            None => {
                format!(
                    "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
                )
            }
        }));
    }
    let mut budget = PodDisruptionBudget::clone(budget);
    budget.status.disrupted_pods.insert(pod.meta.name.to_string(), now);
    budget.status.allow(budget.status.disruptions_allowed - 1, budget.meta.generation, None, now);
    Ok(Some(budget))
}
