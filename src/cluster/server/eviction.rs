//! The sub-resource `eviction`: deletes a Pod, unless a disruption budget forbids it.
//!
//! Models: `registry/core/pod/storage/eviction.go` (v1.36).
//! Leaves out: the list of disrupted Pods in a budget's status; the healthy Pods are counted when they are asked about,
//! so that two evictions in one tick do not both use the last allowed disruption.

use std::sync::Arc;

use serde_json::Value;

use super::request::Request;
use super::status::{Cause, Details, Status};
use super::transaction::{Transaction, Written};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::policy::PodDisruptionBudget;
use crate::api::labels::Selector;
use crate::api::object::Object;
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
        && let Some(budget) = may_disrupt(&pod, transaction.store)?
    {
        let mut budget = PodDisruptionBudget::clone(&budget);
        budget.status.disruptions_allowed -= 1;
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

/// Whether the Pod's budget lets it go; the budget, if one of its disruptions is used up by that.
fn may_disrupt(pod: &Pod, store: &Store) -> Result<Option<Arc<PodDisruptionBudget>>, Status> {
    let namespace = &*pod.meta.namespace;
    let budgets: Vec<Value> = store
        .objects_in(Kind::PodDisruptionBudget, namespace)
        .map(Object::to_value)
        .filter(|budget| Selector::from_label_selector(&budget["spec"]["selector"]).matches(&pod.meta.labels))
        .collect();
    let budget = match budgets.as_slice() {
        [] => return Ok(None),
        [budget] => budget,
        _ => {
            let text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Status { message: text.to_string(), ..Status::internal("") });
        }
    };
    let refused = |message: String| Status {
        code: 429,
        reason: "TooManyRequests",
        message: "Cannot evict pod as it would violate the pod's disruption budget.".to_string(),
        details: Details {
            causes: vec![Cause { reason: "DisruptionBudget", message, field: String::new() }],
            ..Details::default()
        },
    };
    let name = budget["metadata"]["name"].as_str().unwrap_or_default();
    let status = &budget["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let selector = Selector::from_label_selector(&budget["spec"]["selector"]);
    let matched = store.list_in::<Pod>(namespace).filter(|pod| selector.matches(&pod.meta.labels));
    let healthy = matched.filter(|pod| pod.is_ready() && !pod.meta.is_terminating()).count();
    let healthy = i64::try_from(healthy).unwrap_or(i64::MAX);
    let desired = number("desiredHealthy");
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    if !pod.is_ready() && (always || (desired > 0 && healthy >= desired)) {
        return Ok(None);
    }
    if healthy > desired && number("disruptionsAllowed") > 0 {
        return Ok(store.get::<PodDisruptionBudget>(namespace, name).cloned());
    }
    let generation = budget["metadata"]["generation"].as_i64().unwrap_or(0);
    if number("observedGeneration") < generation {
        let mut refusal =
            refused(format!("The disruption budget {name} is still being processed by the server."));
        refusal.details.retry_after_seconds = RETRY_SECONDS;
        return Err(refusal);
    }
    Err(refused(format!(
        "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
    )))
}
