//! What objects use of the resources that quotas limit.
//!
//! Models: `pkg/quota/v1/evaluator/core` (v1.36).
//! Leaves out: extended resources, sidecars and init containers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::object::Object;
use crate::api::quantity::Quantity;

/// How much of each resource something uses.
pub type Usage = BTreeMap<String, Quantity>;

/// Whether a quota counts an object: one with scopes counts only the Pods that lie in all of them.
pub fn covers(quota: &Value, object: &Object) -> bool {
    let spec = &quota["spec"];
    let listed = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let (scopes, expressions) = (listed(&spec["scopes"]), listed(&spec["scopeSelector"]["matchExpressions"]));
    if scopes.is_empty() && expressions.is_empty() {
        return true;
    }
    let Object::Pod(pod) = object else { return false };
    let by_name = scopes.iter().all(|scope| lies_in(pod, scope.as_str().unwrap_or_default(), &Value::Null));
    by_name && expressions.iter().all(|one| lies_in(pod, one["scopeName"].as_str().unwrap_or_default(), one))
}

/// Whether a Pod lies in a scope; `expression` says which values are meant, where there are values.
fn lies_in(pod: &Pod, scope: &str, expression: &Value) -> bool {
    let spec = pod.spec.encode();
    let ends = spec["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds >= 0);
    let is_best_effort = pod.status.qos_class == "BestEffort";
    match scope {
        "Terminating" => ends,
        "NotTerminating" => !ends,
        "BestEffort" => is_best_effort,
        "NotBestEffort" => !is_best_effort,
        "CrossNamespacePodAffinity" => ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
            let terms = ["required", "preferred"].into_iter().flat_map(|list| {
                let list = &spec["affinity"][*kind][format!("{list}DuringSchedulingIgnoredDuringExecution")];
                list.as_array().cloned().unwrap_or_default()
            });
            terms.into_iter().any(|term| {
                let term = if term["podAffinityTerm"].is_null() { &term } else { &term["podAffinityTerm"] };
                let names = term["namespaces"].as_array().is_some_and(|names| !names.is_empty());
                names || !term["namespaceSelector"].is_null()
            })
        }),
        "PriorityClass" => {
            let class = spec["priorityClassName"].as_str().unwrap_or_default();
            let values = expression["values"].as_array().map(Vec::as_slice).unwrap_or_default();
            let is_among = values.iter().any(|value| value == class);
            match expression["operator"].as_str() {
                Some("In") => is_among,
                Some("NotIn") => !is_among,
                Some("DoesNotExist") => class.is_empty(),
                _ => !class.is_empty(),
            }
        }
        _ => false,
    }
}

/// What one object uses.
pub fn usage_of(object: &Object) -> Usage {
    let kind = object.kind();
    let mut usage = Usage::new();
    let one = || Quantity::from_value(1);
    usage.insert(format!("count/{}", kind.group_resource()), one());
    let counted = matches!(
        kind,
        Kind::ConfigMap | Kind::Secret | Kind::PersistentVolumeClaim | Kind::ResourceQuota | Kind::Service
    );
    if counted {
        usage.insert(kind.plural().to_string(), one());
    }
    match object {
        Object::Pod(pod) => of_pod(&mut usage, pod),
        Object::Service(service) => {
            let kind = service.spec.service_type.as_str();
            if matches!(kind, "NodePort" | "LoadBalancer") {
                let ports = i64::try_from(service.spec.ports.len()).unwrap_or(i64::MAX);
                usage.insert("services.nodeports".to_string(), Quantity::from_value(ports));
            }
            if kind == "LoadBalancer" {
                usage.insert("services.loadbalancers".to_string(), one());
            }
        }
        Object::PersistentVolumeClaim(claim) => {
            let size = claim.spec.resources.requests.get("storage").copied();
            usage.insert("requests.storage".to_string(), size.unwrap_or_default());
        }
        _ => {}
    }
    usage
}

fn of_pod(usage: &mut Usage, pod: &Pod) {
    if pod.is_finished() {
        usage.clear();
        return;
    }
    usage.insert("pods".to_string(), Quantity::from_value(1));
    let sum =
        |containers: &[Container], of: fn(&Container) -> &crate::api::kinds::ResourceList, name: &str| {
            containers
                .iter()
                .filter_map(|container| of(container).get(name))
                .fold(Quantity::default(), |sum, amount| sum.add(amount))
        };
    for name in ["cpu", "memory", "ephemeral-storage"] {
        let requests = sum(&pod.spec.containers, |c| &c.resources.requests, name);
        let limits = sum(&pod.spec.containers, |c| &c.resources.limits, name);
        usage.insert(name.to_string(), requests);
        usage.insert(format!("requests.{name}"), requests);
        usage.insert(format!("limits.{name}"), limits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_quota_with_scopes_counts_only_what_lies_in_them() {
        let pod = |spec: Value, class: &str| {
            let value = json!({"metadata": {"name": "a"}, "spec": spec, "status": {"qosClass": class}});
            Object::decode(Kind::Pod, value).unwrap()
        };
        let plain = || pod(json!({"containers": []}), "BestEffort");
        let urgent = || pod(json!({"containers": [], "priorityClassName": "high"}), "Burstable");
        let of_class = |operator: &str| {
            json!({"scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": operator, "values": ["high"]},
            ]}})
        };
        let table = [
            ("no scopes", json!({}), plain(), true),
            ("a Pod that asks for nothing", json!({"scopes": ["BestEffort"]}), plain(), true),
            ("a Pod that asks for something", json!({"scopes": ["BestEffort"]}), urgent(), false),
            ("both scopes", json!({"scopes": ["BestEffort", "Terminating"]}), plain(), false),
            ("a Pod of the class", of_class("In"), urgent(), true),
            ("a Pod of no class", of_class("In"), plain(), false),
            ("a Pod of another class than these", of_class("NotIn"), plain(), true),
        ];
        for (sentence, spec, object, expected) in table {
            assert_eq!(covers(&json!({"spec": spec}), &object), expected, "{sentence}");
        }
    }
}
