//! What objects use of the resources that quotas limit.
//!
//! Models: `pkg/quota/v1/evaluator/core` (v1.36).
//! Leaves out: scopes, extended resources, sidecars and init containers.

use std::collections::BTreeMap;

use crate::api::kind::Kind;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::object::Object;
use crate::api::quantity::Quantity;

/// How much of each resource something uses.
pub type Usage = BTreeMap<String, Quantity>;

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
