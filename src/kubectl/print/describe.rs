//! What `kubectl describe` says of each kind.
//!
//! Every describer writes lines whose cells are separated by tabs; they are aligned together at the end.
//!
//! Models: `k8s.io/kubectl/pkg/describe/describe.go` (v1.36).
//! Leaves out: kinds without a describer of their own; those show their fields as they are.

mod batch;
mod cluster;
mod container;
mod events;
mod network;
mod node;
mod pod;
mod policy;
pub mod rights;
mod storage;
pub mod template;
mod workload;

use std::collections::BTreeMap;

use super::tabs;
use crate::api::kind::Kind;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::kubectl::commands::apply::LAST_APPLIED;
use crate::kubectl::host::Host;

/// The description of an object, ending with a newline.
pub fn text(object: &Object, host: &dyn Host, show_events: bool) -> String {
    let mut out = match object {
        Object::Pod(pod) => pod::describe(pod, host),
        Object::Deployment(deployment) => workload::deployment(deployment, host),
        Object::ReplicaSet(set) => workload::replica_set(set, host),
        Object::Service(service) => network::service(service, host),
        Object::EndpointSlice(slice) => network::endpoint_slice(slice),
        Object::Ingress(ingress) => network::ingress(ingress, host),
        Object::IngressClass(class) => network::ingress_class(class),
        Object::Node(node) => node::describe(node, host),
        Object::Endpoints(endpoints) => network::endpoints(endpoints),
        Object::Namespace(namespace) => cluster::namespace(namespace, host),
        Object::ConfigMap(map) => cluster::config_map(map),
        _ => read_off(object, host),
    };
    if show_events && !WITHOUT_EVENTS.contains(&object.kind()) {
        out.push_str(&events::of(object, host));
    }
    tabs::align(&out, 0, 2)
}

/// Kinds whose describers do not ask for events.
const WITHOUT_EVENTS: &[Kind] = &[
    Kind::Namespace,
    Kind::Secret,
    Kind::NetworkPolicy,
    Kind::ResourceQuota,
    Kind::LimitRange,
    Kind::Role,
    Kind::ClusterRole,
    Kind::RoleBinding,
    Kind::ClusterRoleBinding,
];

/// The descriptions that are read off an object's JSON.
fn read_off(object: &Object, host: &dyn Host) -> String {
    let value = &object.to_value();
    match object.kind() {
        Kind::Secret => cluster::secret(object, value),
        Kind::PriorityClass => cluster::priority_class(object, value),
        Kind::ReplicationController => workload::replication_controller(object, value, host),
        Kind::StatefulSet => workload::stateful_set(object, value, host),
        Kind::DaemonSet => workload::daemon_set(object, value, host),
        Kind::Job => batch::job(object, value),
        Kind::CronJob => batch::cron_job(object, value),
        Kind::HorizontalPodAutoscaler => batch::autoscaler(object, value),
        Kind::PersistentVolumeClaim => storage::claim(object, value, host),
        Kind::PersistentVolume => storage::volume(object, value, host),
        Kind::StorageClass => storage::storage_class(object, value),
        Kind::NetworkPolicy => policy::network_policy(object, value),
        Kind::PodDisruptionBudget => policy::disruption_budget(object, value),
        Kind::ResourceQuota => policy::quota(object, value),
        Kind::LimitRange => policy::limit_range(object, value),
        Kind::Role | Kind::ClusterRole => rights::role(object, value),
        Kind::RoleBinding | Kind::ClusterRoleBinding => rights::role_binding(object, value),
        Kind::ServiceAccount => rights::service_account(object, value, host),
        _ => cluster::any(object),
    }
}

/// One line: a title and what it is.
fn put(out: &mut String, title: &str, text: &str) {
    out.push_str(&format!("{title}:\t{text}\n"));
}

/// Name, namespace, labels and annotations, as most descriptions begin.
fn head(object: &Object, with_namespace: bool, with_marks: bool) -> String {
    let meta = object.meta();
    let mut out = format!("Name:\t{}\n", meta.name);
    if with_namespace {
        put(&mut out, "Namespace", &meta.namespace);
    }
    if with_marks {
        out.push_str(&labels_lines("", "Labels", &meta.labels));
        out.push_str(&annotations_lines("", &meta.annotations));
    }
    out
}

/// The controller of an object, if it has one.
fn put_controller(out: &mut String, meta: &ObjectMeta) {
    if let Some(owner) = meta.controller() {
        put(out, "Controlled By", &format!("{}/{}", owner.kind, owner.name));
    }
}

/// `Labels:` and the like: one pair a line.
fn labels_lines(indent: &str, title: &str, labels: &BTreeMap<String, String>) -> String {
    let mut out = format!("{indent}{title}:\t");
    if labels.is_empty() {
        out.push_str("<none>\n");
    }
    for (index, (key, value)) in labels.iter().enumerate() {
        if index > 0 {
            out.push('\t');
        }
        out.push_str(&format!("{key}={value}\n"));
    }
    out
}

const ANNOTATION_WIDTH: usize = 140;

/// `Annotations:`, one a line; long ones below their key. The record of `kubectl apply` is left out.
fn annotations_lines(indent: &str, annotations: &BTreeMap<String, String>) -> String {
    let mut out = format!("{indent}Annotations:\t");
    let shown: Vec<_> = annotations.iter().filter(|(key, _)| key.as_str() != LAST_APPLIED).collect();
    if shown.is_empty() {
        out.push_str("<none>\n");
    }
    for (index, (key, value)) in shown.into_iter().enumerate() {
        if index > 0 {
            out.push_str(indent);
            out.push('\t');
        }
        let value = value.strip_suffix('\n').unwrap_or(value);
        if key.len() + value.len() + 2 > ANNOTATION_WIDTH || value.contains('\n') {
            out.push_str(&format!("{key}:\n"));
            for line in value.split('\n') {
                let short: String = line.chars().take(ANNOTATION_WIDTH - 2).collect();
                let dots = if short.len() < line.len() { "..." } else { "" };
                out.push_str(&format!("{indent}\t  {short}{dots}\n"));
            }
        } else {
            out.push_str(&format!("{key}: {value}\n"));
        }
    }
    out
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "<none>" } else { text }
}

fn or_unset(text: &str) -> &str {
    if text.is_empty() { "<unset>" } else { text }
}
