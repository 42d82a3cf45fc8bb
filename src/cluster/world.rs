//! What is outside the cluster and yet decides: external DNS, the entry address, which components somebody has stopped.

use imbl::{OrdMap, OrdSet, Vector};

use super::actor::Actor;
use super::network::traffic::Flow;
use super::runtime::process::Ailment;
use super::server::status::Status;
use super::store::Store;
use crate::api::meta::Name;
use crate::api::time::Timestamp;

/// The outside world as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// External DNS: host, or `*.` and a suffix, to address.
    pub external_dns: OrdMap<String, String>,
    /// The components that are stopped.
    pub stopped: OrdSet<Actor>,
    /// The nodes whose disk somebody has filled.
    pub full_disks: OrdSet<Name>,
    /// The nodes whose memory somebody has filled.
    pub full_memories: OrdSet<Name>,
    /// The nodes without power.
    pub dark: OrdSet<Name>,
    /// The nodes that are cut off the network, each with what was stored when it was: nobody there has heard of more.
    pub cut: OrdMap<Name, Store>,
    /// Whether the image registry does not answer.
    pub is_registry_down: bool,
    /// The members of etcd, of three, that are stopped.
    pub lost_members: OrdSet<u8>,
    /// By how many ticks components see changes later than others do.
    pub lags: OrdMap<Actor, u32>,
    /// What was stored when the latest ticks began, oldest first; empty while nobody lags.
    pub past: Vector<Store>,
    /// What ails applications: by namespace and the name of a Pod, or what its name begins with.
    pub ailments: OrdMap<(Name, Name), Ailment>,
    /// The clients that send requests in every tick, by name.
    pub traffic: OrdMap<String, Flow>,
    /// The backup of etcd, if one was made.
    pub backup: Option<Store>,
    /// When somebody began anew to listen for the nodes' signs of life, if it was interrupted.
    pub listening_since: Option<Timestamp>,
    /// The addresses that the cluster's load balancer hands out, first first.
    pub entry_addresses: Vec<String>,
}

/// The members of etcd.
pub const ETCD_MEMBERS: [u8; 3] = [1, 2, 3];

/// The first entry address; documentation range of RFC 5737.
pub const ENTRY_ADDRESS: &str = "203.0.113.10";

impl Default for World {
    fn default() -> Self {
        Self {
            external_dns: OrdMap::unit("*.example".to_string(), ENTRY_ADDRESS.to_string()),
            stopped: OrdSet::new(),
            full_disks: OrdSet::new(),
            full_memories: OrdSet::new(),
            dark: OrdSet::new(),
            cut: OrdMap::new(),
            is_registry_down: false,
            lost_members: OrdSet::new(),
            lags: OrdMap::new(),
            past: Vector::new(),
            ailments: OrdMap::new(),
            traffic: OrdMap::new(),
            backup: None,
            listening_since: None,
            entry_addresses: (10..30).map(|n| format!("203.0.113.{n}")).collect(),
        }
    }
}

impl World {
    /// Whether the component works: nobody has stopped it, its node has power, and the API server answers, unless it does
    /// its work from what it knows.
    pub fn works(&self, actor: &Actor) -> bool {
        if self.stopped.is_empty() && self.dark.is_empty() && self.lost_members.is_empty() {
            return true;
        }
        let from_memory = matches!(
            actor,
            Actor::Kubelet(_) | Actor::KubeProxy(_) | Actor::CoreDns | Actor::IngressController
        );
        !self.stopped.contains(actor)
            && (from_memory || self.api_answers())
            && actor.node().is_none_or(|node| !self.dark.contains(node))
    }

    /// Whether the API server answers requests about objects: it runs, and so does most of etcd.
    pub fn api_answers(&self) -> bool {
        !self.stopped.contains(&Actor::ApiServer) && self.has_quorum()
    }

    /// Whether more than half of etcd's members run: without them it neither writes nor reads.
    pub fn has_quorum(&self) -> bool {
        2 * self.lost_members.len() < ETCD_MEMBERS.len()
    }

    /// Why a request of `actor` to the API server fails before the server looks at it; `None` if it does not.
    pub fn refusal(&self, actor: &Actor) -> Option<Status> {
        let is_cut = actor.node().is_some_and(|node| self.cut.contains_key(node));
        if is_cut || self.stopped.contains(&Actor::ApiServer) {
            return Some(Status::unreachable());
        }
        (!self.has_quorum()).then(Status::store_lost)
    }

    /// What the component sees instead of what is stored, if it is cut off or lags.
    pub fn known_to(&self, actor: &Actor) -> Option<&Store> {
        if let Some(known) = actor.node().and_then(|node| self.cut.get(node)) {
            return Some(known);
        }
        let lag = *self.lags.get(actor)? as usize;
        self.past.get(self.past.len().saturating_sub(lag + 1))
    }

    /// Whether something sent from `from` (`None`: from another place than a node) arrives at the node.
    pub fn reaches(&self, from: Option<&str>, node: &Name) -> bool {
        let is_split = |name: &str| self.cut.contains_key(name);
        !self.dark.contains(node)
            && (from == Some(&**node) || !(is_split(node) || from.is_some_and(is_split)))
    }

    /// What ails the application in a Pod.
    pub fn ailment_of(&self, namespace: &Name, pod: &str) -> Option<Ailment> {
        if self.ailments.is_empty() {
            return None;
        }
        let mut name = pod;
        loop {
            if let Some(ailment) = self.ailments.get(&(namespace.clone(), name.into())) {
                return Some(*ailment);
            }
            name = name.rsplit_once('-')?.0;
        }
    }

    /// The address that external DNS gives for a host, and the record that gave it.
    pub fn resolve(&self, host: &str) -> Option<(&str, &str)> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        if let Some((record, address)) = self.external_dns.get_key_value(&host) {
            return Some((record, address));
        }
        let mut suffix = host.as_str();
        while let Some((_, rest)) = suffix.split_once('.') {
            if let Some((record, address)) = self.external_dns.get_key_value(&format!("*.{rest}")) {
                return Some((record, address));
            }
            suffix = rest;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_answers_for_every_name_below_it_and_not_for_itself() {
        let world = World::default();
        assert_eq!(world.resolve("shop.example"), Some(("*.example", ENTRY_ADDRESS)));
        assert_eq!(world.resolve("a.b.example"), Some(("*.example", ENTRY_ADDRESS)));
        assert_eq!(world.resolve("example"), None);
        assert_eq!(world.resolve("shop.test"), None);
    }
}
