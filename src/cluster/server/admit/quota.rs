//! The plugin ResourceQuota: the sum of a namespace.
//!
//! What is used is counted from the store each time, so that no record of it can grow stale.
//!
//! Models: `plugin/pkg/admission/resourcequota/controller.go` (v1.36).
//! Leaves out: updates; the quota's own status is written by its controller.

use serde_json::Value;

use crate::api::kinds::pod::{Container, Pod};
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::cluster::usage::{Usage, usage_of};

/// The names of what a Pod's containers must ask for when a quota counts it.
const COMPUTE: [&str; 6] =
    ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/// What a quota refuses about a new object, given what the others of the namespace use; none if nothing.
pub fn refusal(quota: &Value, object: &Object, others: &[&Usage]) -> Option<String> {
    let name = quota["metadata"]["name"].as_str().unwrap_or_default();
    let hard: Usage = quota["spec"]["hard"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, text)| Some((name.clone(), Quantity::parse(text.as_str()?).ok()?)))
        .collect();
    if let Object::Pod(pod) = object {
        let missing = unspecified(&hard, pod);
        if !missing.is_empty() {
            return Some(format!("failed quota: {name}: must specify {}", missing.join("; ")));
        }
    }
    let wanted = usage_of(object);
    let (mut requested, mut used, mut limited) = (Vec::new(), Vec::new(), Vec::new());
    for (resource, most) in &hard {
        let Some(amount) = wanted.get(resource).filter(|amount| !amount.is_zero()) else { continue };
        let sum = others
            .iter()
            .filter_map(|usage| usage.get(resource))
            .fold(Quantity::default(), |sum, amount| sum.add(amount));
        if sum.add(amount) > *most {
            requested.push(format!("{resource}={amount}"));
            used.push(format!("{resource}={sum}"));
            limited.push(format!("{resource}={most}"));
        }
    }
    (!requested.is_empty()).then(|| {
        let (requested, used, limited) = (requested.join(","), used.join(","), limited.join(","));
        format!("exceeded quota: {name}, requested: {requested}, used: {used}, limited: {limited}")
    })
}

/// What a quota counts and containers do not say: `requests.cpu for: web`.
fn unspecified(hard: &Usage, pod: &Pod) -> Vec<String> {
    let containers = || pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let mut missing = Vec::new();
    for resource in hard.keys().filter(|name| COMPUTE.contains(&name.as_str())) {
        let says = |container: &Container| match resource.split_once('.') {
            Some(("limits", name)) => container.resources.limits.contains_key(name),
            Some((_, name)) => container.resources.requests.contains_key(name),
            None => container.resources.requests.contains_key(resource),
        };
        let silent: Vec<&str> = containers().filter(|c| !says(c)).map(|c| c.name.as_str()).collect();
        if !silent.is_empty() {
            missing.push(format!("{resource} for: {}", silent.join(",")));
        }
    }
    missing
}
