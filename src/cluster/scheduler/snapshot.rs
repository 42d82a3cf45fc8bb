//! What the scheduler knows of the nodes: what each has, and what the Pods placed on it ask for.
//!
//! Kept up to date Pod by Pod, so that no attempt counts all Pods again.
//!
//! Models: `pkg/scheduler/backend/cache` (v1.36). Leaves out: the order of nodes by zone.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::groups::Groups;
use super::hints::Neighbour;
use super::requests::{Amounts, Requests};
use super::spread::{Constraint, HOSTNAME, Places, ZONE};
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, PodSpec};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Resource;

/// The nodes in the order in which they were first seen, with what is placed on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    nodes: OrdMap<u64, Arc<NodeInfo>>,
    orders: OrdMap<Name, u64>,
    placed: OrdMap<ObjectKey, Placed>,
    groups: Groups,
    next_order: u64,
    /// How many of the nodes are there, and not only Pods on them.
    present: usize,
    /// On how many nodes each image is.
    images: OrdMap<String, usize>,
}

/// One node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    /// Its name.
    pub name: Name,
    /// The node as last seen; `None` while only Pods on it are known.
    pub node: Option<Arc<Node>>,
    /// Whether it takes every Pod that finds room: it is not cordoned, and has no taints.
    pub is_open: bool,
    /// Its own name as a label, by which every node is a place of its own.
    hostname: Option<Name>,
    /// Its zone.
    zone: Option<Name>,
    /// The images on it, with their sizes.
    pub images: Arc<BTreeMap<String, i64>>,
    /// What Pods may have of it.
    pub allocatable: Amounts,
    /// The most Pods it takes.
    pub allocatable_pods: i64,
    /// What the Pods on it ask for.
    pub used: Amounts,
    /// The same as the scores count it.
    pub used_assumed: Amounts,
    /// How many Pods are on it.
    pub pods: i64,
    /// The same by priority.
    pub priorities: OrdMap<i32, u32>,
    /// The groups that the Pods on it belong to, with how many of each, by group.
    pub groups: Vec<(u32, u32)>,
    /// The node's ports that are taken, and by which Pod.
    pub ports: OrdSet<(HostPort, ObjectKey)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Placed {
    node: Name,
    spec: Arc<PodSpec>,
    group: u32,
}

impl NodeInfo {
    /// The place that it is in, by a constraint: the value of a label.
    pub fn place(&self, constraint: &Constraint) -> Option<&str> {
        match constraint.places {
            Places::Hostnames => self.hostname.as_deref(),
            Places::Zones => self.zone.as_deref(),
            Places::Others => {
                self.node.as_ref()?.meta.labels.get(&constraint.topology_key).map(String::as_str)
            }
        }
    }

    /// Whether a Pod less important than that is on it.
    pub fn has_priority_below(&self, priority: i32) -> bool {
        self.priorities.get_min().is_some_and(|(lowest, _)| *lowest < priority)
    }
}

impl Snapshot {
    /// The nodes, first seen first.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<NodeInfo>> {
        self.nodes.values().filter(|info| info.node.is_some())
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        self.present
    }

    /// The nodes with their numbers, beginning at that number and going around.
    pub fn nodes_from(&self, number: u64) -> impl Iterator<Item = (u64, &Arc<NodeInfo>)> {
        let around = self.nodes.range(number..).chain(self.nodes.range(..number));
        around.filter(|(_, info)| info.node.is_some()).map(|(number, info)| (*number, info))
    }

    /// On how many nodes the image is.
    pub fn nodes_with(&self, image: &str) -> usize {
        self.images.get(image).copied().unwrap_or(0)
    }

    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.nodes.get(self.orders.get(name)?)
    }

    /// Takes in what a node looks like now, or that it is gone.
    pub fn see_node(&mut self, name: &Name, node: Option<&Arc<Node>>) {
        if node.is_none() && !self.orders.contains_key(name) {
            return;
        }
        let (images, had) =
            (Arc::new(node.map(|node| images_on(node)).unwrap_or_default()), self.node(name).cloned());
        if let Some(had) = &had {
            for image in had.images.keys() {
                if let Some(count) = self.images.get_mut(image) {
                    *count -= 1;
                    if *count == 0 {
                        self.images.remove(image);
                    }
                }
            }
        }
        for image in images.keys() {
            *self.images.entry(image.clone()).or_default() += 1;
        }
        self.present -= usize::from(had.is_some_and(|had| had.node.is_some()));
        self.present += usize::from(node.is_some());
        self.change(name, |info| {
            info.node = node.cloned();
            info.images = images;
            info.is_open = node.is_some_and(|node| !node.spec.unschedulable && node.spec.taints.is_empty());
            let label = |key: &str| node?.meta.labels.get(key).map(|value| Name::from(value.as_str()));
            info.hostname = label(HOSTNAME);
            info.zone = label(ZONE);
            let allocatable = node.map(|node| &node.status.allocatable);
            info.allocatable = allocatable.map(Amounts::of).unwrap_or_default();
            info.allocatable_pods = allocatable.and_then(|list| list.get("pods")).map_or(0, |q| q.value());
        });
        self.drop_if_empty(name);
    }

    /// The groups of the Pods that are placed.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Counts the Pod on that node from now on.
    pub fn place(&mut self, pod: &Pod, node: &Name) {
        let (key, spec) = (&pod.key(), &pod.spec);
        let is_same = |placed: &Placed| {
            placed.node == *node
                && Arc::ptr_eq(&placed.spec, spec)
                && self.groups.is_member(placed.group, pod)
        };
        if self.placed.get(key).is_some_and(is_same) {
            return;
        }
        self.remove(key);
        let requests = Requests::of(spec);
        let group = self.groups.join(pod);
        self.change(node, |info| {
            info.used.add(&requests.asked);
            info.used_assumed.add(&requests.assumed);
            info.pods += 1;
            *info.priorities.entry(spec.priority.unwrap_or(0)).or_insert(0) += 1;
            match info.groups.binary_search_by_key(&group, |(number, _)| *number) {
                Ok(at) => info.groups[at].1 += 1,
                Err(at) => info.groups.insert(at, (group, 1)),
            }
            for port in host_ports(spec) {
                info.ports.insert((port, key.clone()));
            }
        });
        self.placed.insert(key.clone(), Placed { node: node.clone(), spec: spec.clone(), group });
    }

    /// A Pod that is counted, as far as it matters to others.
    pub fn neighbour(&self, key: &ObjectKey) -> Option<Neighbour> {
        let placed = self.placed.get(key)?;
        let group = self.groups.get(placed.group)?;
        Some(Neighbour { group: group.clone(), spec: placed.spec.clone() })
    }

    /// Whether the Pod is counted.
    pub fn is_placed(&self, key: &ObjectKey) -> bool {
        self.placed.contains_key(key)
    }

    /// Does not count the Pod any more. Returns the node it was counted on.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Name> {
        let placed = self.placed.remove(key)?;
        let requests = Requests::of(&placed.spec);
        self.change(&placed.node, |info| {
            info.used.sub(&requests.asked);
            info.used_assumed.sub(&requests.assumed);
            info.pods -= 1;
            let priority = placed.spec.priority.unwrap_or(0);
            if let Some(count) = info.priorities.get_mut(&priority) {
                *count -= 1;
                if *count == 0 {
                    info.priorities.remove(&priority);
                }
            }
            if let Ok(at) = info.groups.binary_search_by_key(&placed.group, |(number, _)| *number) {
                info.groups[at].1 -= 1;
                if info.groups[at].1 == 0 {
                    info.groups.remove(at);
                }
            }
            for port in host_ports(&placed.spec) {
                info.ports.remove(&(port, key.clone()));
            }
        });
        self.groups.leave(placed.group);
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
        let info = Arc::make_mut(self.nodes.entry(order).or_default());
        if info.name.is_empty() {
            info.name = name.clone();
        }
        change(info);
    }

    fn drop_if_empty(&mut self, name: &Name) {
        let is_empty = |info: &Arc<NodeInfo>| info.node.is_none() && info.pods == 0;
        if let Some(order) = self.orders.get(name).copied()
            && self.nodes.get(&order).is_some_and(is_empty)
        {
            self.nodes.remove(&order);
            self.orders.remove(name);
        }
    }
}

/// The images that a node says it has, with their sizes.
fn images_on(node: &Node) -> BTreeMap<String, i64> {
    let images = node.status.rest.get("images").and_then(|images| images.as_array());
    let named = images.into_iter().flatten().flat_map(|image| {
        let size = image.get("sizeBytes").and_then(serde_json::Value::as_i64).unwrap_or(0);
        let names = image.get("names").and_then(|names| names.as_array());
        names.into_iter().flatten().filter_map(move |name| Some((name.as_str()?.to_string(), size)))
    });
    named.collect()
}

/// A port of a node: address (`0.0.0.0` for all), protocol, port.
pub type HostPort = (String, String, i32);

/// The node's ports that a Pod of that spec takes.
pub fn host_ports(spec: &PodSpec) -> Vec<HostPort> {
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
    use serde_json::json;

    fn pod() -> Pod {
        let spec = json!({"containers": [{"resources": {"requests": {"cpu": "500m"}}, "ports": [{"containerPort": 80, "hostPort": 80}]}]});
        Pod::decode(json!({"metadata": {"name": "a", "namespace": "demo"}, "spec": spec})).unwrap()
    }

    #[test]
    fn what_is_placed_counts_until_it_is_removed() {
        let mut snapshot = Snapshot::default();
        let node = Node::decode(
            json!({"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "pods": "110"}}}),
        );
        let name: Name = "n".into();
        snapshot.see_node(&name, Some(&Arc::new(node.unwrap())));
        let pod = pod();
        let empty = snapshot.node("n").cloned();
        snapshot.place(&pod, &name);
        snapshot.place(&pod, &name);
        let info = snapshot.node("n").unwrap();
        assert_eq!(
            (info.used.cpu_millicores, info.pods, info.ports.len(), info.groups.len()),
            (500, 1, 1, 1)
        );
        assert_eq!(snapshot.remove(&pod.key()), Some(name));
        assert_eq!(snapshot.node("n").cloned(), empty);
    }

    #[test]
    fn a_node_that_is_gone_is_forgotten_with_its_last_pod() {
        let mut snapshot = Snapshot::default();
        let pod = pod();
        snapshot.place(&pod, &"n".into());
        assert_eq!(snapshot.nodes().count(), 0);
        snapshot.remove(&pod.key());
        assert!(snapshot.node("n").is_none());
    }
}
