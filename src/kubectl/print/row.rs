//! The columns of each kind, and an object's cells in them.
//!
//! Models: `kubernetes/pkg/printers/internalversion/printers.go` (v1.36).
mod added;
mod cluster;
mod event;
mod extension;
mod network;
pub mod pod;
mod stored;
mod workload;

pub(super) use cluster::roles;
pub(super) use network::entry_points;
pub(super) use workload::selector_text;

use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::kubectl::duration;
use crate::kubectl::host::Host;

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its header.
    pub name: &'static str,
    /// Whether only `-o wide` shows it.
    pub wide: bool,
}

const fn always(name: &'static str) -> Column {
    Column { name, wide: false }
}

const fn wide(name: &'static str) -> Column {
    Column { name, wide: true }
}

/// The headers of a kind's columns, in order, and whether only `-o wide` shows them.
pub fn headers(kind: Kind, host: &dyn Host) -> Vec<(String, bool)> {
    match kind {
        Kind::Custom(_) => added::columns(kind, host),
        _ => columns(kind).iter().map(|column| (column.name.to_string(), column.wide)).collect(),
    }
}

/// The columns of a kind, in order; those of a kind that somebody added stand in [`headers`].
pub fn columns(kind: Kind) -> &'static [Column] {
    match kind {
        Kind::Pod => pod::COLUMNS,
        Kind::Deployment => workload::DEPLOYMENT,
        Kind::ReplicaSet => workload::REPLICA_SET,
        Kind::Service => network::SERVICE,
        Kind::Ingress => network::INGRESS,
        Kind::IngressClass => network::INGRESS_CLASS,
        Kind::EndpointSlice => network::ENDPOINT_SLICE,
        Kind::Endpoints => network::ENDPOINTS,
        Kind::Node => cluster::NODE,
        Kind::Namespace => cluster::NAMESPACE,
        Kind::ConfigMap => cluster::CONFIG_MAP,
        Kind::Lease => cluster::LEASE,
        Kind::Event => event::COLUMNS,
        _ => stored::columns(kind),
    }
}

/// An object's cells, one for each of its kind's columns.
pub fn cells(object: &Object, host: &dyn Host) -> Vec<String> {
    let age = duration::age(object.meta().creation_timestamp, host.now());
    match object {
        Object::Pod(pod) => pod::cells(pod, age, host.now()),
        Object::Deployment(deployment) => workload::deployment(deployment, age),
        Object::ReplicaSet(set) => workload::replica_set(set, age),
        Object::Service(service) => network::service(service, age),
        Object::Ingress(ingress) => network::ingress(ingress, age),
        Object::IngressClass(class) => network::ingress_class(class, age),
        Object::EndpointSlice(slice) => network::endpoint_slice(slice, age),
        Object::Endpoints(endpoints) => network::endpoints(endpoints, age),
        Object::Node(node) => cluster::node(node, age),
        Object::Namespace(namespace) => cluster::namespace(namespace, age),
        Object::ConfigMap(map) => cluster::config_map(map, age),
        Object::Lease(lease) => cluster::lease(lease, age),
        Object::Event(event) => event::cells(event, host.now()),
        Object::Plain(plain) if matches!(plain.kind, Kind::Custom(_)) => added::cells(object, age, host),
        _ => stored::cells(object, age, host.now()),
    }
}

/// The text, or `<none>`.
pub fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".to_string() } else { text.to_string() }
}

/// The first three items, and how many more there are.
pub fn three_and_more(items: &[String]) -> String {
    if items.len() > 3 {
        return format!("{} + {} more...", items[..3].join(","), items.len() - 3);
    }
    items.join(",")
}
