//! What `kubectl describe` says of each kind.
//!
//! Every describer writes lines whose cells are separated by tabs; they are aligned together at the end.
//!
//! Models: `k8s.io/kubectl/pkg/describe/describe.go` (v1.36).
//! Leaves out: describers of kinds that nothing acts on yet; those show their fields as they are.

mod cluster;
mod container;
mod events;
mod network;
mod node;
mod pod;
pub mod template;
mod workload;

use std::collections::BTreeMap;

use super::tabs;
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
        Object::Namespace(namespace) => cluster::namespace(namespace),
        Object::ConfigMap(map) => cluster::config_map(map),
        _ => cluster::any(object),
    };
    if show_events && !matches!(object, Object::Namespace(_)) {
        out.push_str(&events::of(object, host));
    }
    tabs::align(&out, 0, 2)
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
