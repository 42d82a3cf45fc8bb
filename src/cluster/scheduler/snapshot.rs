//! What the scheduler knows of the nodes: what each has, and what the Pods placed on it ask for.
//!
//! Kept up to date Pod by Pod, so that no attempt counts all Pods again.
//!
//! Models: `pkg/scheduler/backend/cache` (v1.36). Leaves out: the order of nodes by zone.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::requests::{Amounts, Requests};
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, PodSpec};
use crate::api::meta::{Name, ObjectKey};

/// The nodes in the order in which they were first seen, with what is placed on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    nodes: OrdMap<u64, Arc<NodeInfo>>,
    orders: OrdMap<Name, u64>,
    placed: OrdMap<ObjectKey, Placed>,
    next_order: u64,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    /// The node as last seen; `None` while only Pods on it are known.
    pub node: Option<Arc<Node>>,
    /// What Pods may have of it.
    pub allocatable: Amounts,
    /// The most Pods it takes.
    pub allocatable_pods: i64,
    /// What the Pods on it ask for.
    pub used: Amounts,
    /// The same as the scores count it.
    pub used_assumed: Amounts,
    /// The Pods on it.
    pub pods: OrdSet<ObjectKey>,
    /// The node's ports that are taken: address, protocol, port, and by which Pod.
    pub ports: OrdSet<(String, String, i32, ObjectKey)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Placed {
    node: Name,
    spec: Arc<PodSpec>,
}

impl NodeInfo {
    /// The node's name.
    pub fn name(&self) -> Name {
        self.node.as_ref().map(|node| node.meta.name.clone()).unwrap_or_default()
    }
}

impl Snapshot {
    /// The nodes, first seen first.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<NodeInfo>> {
        self.nodes.values().filter(|info| info.node.is_some())
    }

    /// The node of that name.
    #[cfg(test)]
    pub fn node(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.nodes.get(self.orders.get(name)?)
    }

    /// Takes in what a node looks like now, or that it is gone.
    pub fn see_node(&mut self, name: &Name, node: Option<&Arc<Node>>) {
        if node.is_none() && !self.orders.contains_key(name) {
            return;
        }
        self.change(name, |info| {
            info.node = node.cloned();
            let allocatable = node.map(|node| &node.status.allocatable);
            info.allocatable = allocatable.map(Amounts::of).unwrap_or_default();
            info.allocatable_pods = allocatable.and_then(|list| list.get("pods")).map_or(0, |q| q.value());
        });
        self.drop_if_empty(name);
    }

    /// Counts the Pod on its node from now on.
    pub fn place(&mut self, key: &ObjectKey, node: &Name, spec: &Arc<PodSpec>) {
        if self.placed.get(key).is_some_and(|placed| placed.node == *node && Arc::ptr_eq(&placed.spec, spec))
        {
            return;
        }
        self.remove(key);
        let requests = Requests::of(spec);
        self.change(node, |info| {
            info.used.add(&requests.asked);
            info.used_assumed.add(&requests.assumed);
            info.pods.insert(key.clone());
            for (ip, protocol, port) in host_ports(spec) {
                info.ports.insert((ip, protocol, port, key.clone()));
            }
        });
        self.placed.insert(key.clone(), Placed { node: node.clone(), spec: spec.clone() });
    }

    /// Does not count the Pod any more. Returns the node it was counted on.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Name> {
        let placed = self.placed.remove(key)?;
        let requests = Requests::of(&placed.spec);
        self.change(&placed.node, |info| {
            info.used.sub(&requests.asked);
            info.used_assumed.sub(&requests.assumed);
            info.pods.remove(key);
            for (ip, protocol, port) in host_ports(&placed.spec) {
                info.ports.remove(&(ip, protocol, port, key.clone()));
            }
        });
        self.drop_if_empty(&placed.node);
        Some(placed.node)
    }

    fn change(&mut self, name: &Name, change: impl FnOnce(&mut NodeInfo)) {
        let order = match self.orders.get(name) {
            Some(order) => *order,
            None => {
                self.next_order += 1;
                self.orders.insert(name.clone(), self.next_order);
                self.next_order
            }
        };
        change(Arc::make_mut(self.nodes.entry(order).or_default()));
    }

    fn drop_if_empty(&mut self, name: &Name) {
        let is_empty = |info: &Arc<NodeInfo>| info.node.is_none() && info.pods.is_empty();
        if let Some(order) = self.orders.get(name).copied()
            && self.nodes.get(&order).is_some_and(is_empty)
        {
            self.nodes.remove(&order);
            self.orders.remove(name);
        }
    }
}

/// The node's ports that a Pod of that spec takes: address (`0.0.0.0` for all), protocol, port.
pub fn host_ports(spec: &PodSpec) -> Vec<(String, String, i32)> {
    let sidecars = spec.init_containers.iter().filter(|c| c.restart_policy.as_deref() == Some("Always"));
    let ports = spec.containers.iter().chain(sidecars).flat_map(|container| &container.ports);
    let taken = ports.filter(|port| port.host_port > 0).map(|port| {
        let ip = if port.host_ip.is_empty() { "0.0.0.0" } else { &port.host_ip };
        let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
        (ip.to_string(), protocol.to_string(), port.host_port)
    });
    taken.collect()
}

/// Whether a Pod takes room on its node: it is bound and has not finished.
pub fn takes_room(pod: &Pod) -> bool {
    pod.is_bound() && !pod.is_finished()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use crate::api::kind::Kind;
    use serde_json::json;

    #[test]
    fn what_is_placed_counts_until_it_is_removed() {
        let mut snapshot = Snapshot::default();
        let node = Node::decode(
            json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "pods": "110"}}}),
        );
        let name: Name = "n".into();
        snapshot.see_node(&name, Some(&Arc::new(node.unwrap())));
        let key = ObjectKey::new(Kind::Pod, "demo", "a");
        let spec = json!({"containers": [{"resources": {"requests": {"cpu": "500m"}}, "ports": [{"containerPort": 80, "hostPort": 80}]}]});
        let spec = Arc::new(PodSpec::decode(spec).unwrap());
        let empty = snapshot.clone();
        snapshot.place(&key, &name, &spec);
        snapshot.place(&key, &name, &spec);
        let info = snapshot.node("n").unwrap();
        assert_eq!((info.used.cpu_millicores, info.pods.len(), info.ports.len()), (500, 1, 1));
        assert_eq!(snapshot.remove(&key), Some(name));
        assert_eq!(snapshot, empty);
    }

    #[test]
    fn a_node_that_is_gone_is_forgotten_with_its_last_pod() {
        let mut snapshot = Snapshot::default();
        let name: Name = "n".into();
        let key = ObjectKey::new(Kind::Pod, "demo", "a");
        snapshot.place(&key, &name, &Arc::default());
        assert_eq!(snapshot.nodes().count(), 0);
        snapshot.remove(&key);
        assert!(snapshot.node("n").is_none());
    }
}
