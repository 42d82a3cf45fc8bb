//! What is outside the cluster and yet decides: external DNS, the entry address, which components somebody has stopped.

use imbl::{OrdMap, OrdSet};

use super::actor::Actor;
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
    /// The nodes without power.
    pub dark: OrdSet<Name>,
    /// When somebody began anew to listen for the nodes' signs of life, if it was interrupted.
    pub listening_since: Option<Timestamp>,
    /// The addresses that the cluster's load balancer hands out, first first.
    pub entry_addresses: Vec<String>,
}

/// The first entry address; documentation range of RFC 5737.
pub const ENTRY_ADDRESS: &str = "203.0.113.10";

impl Default for World {
    fn default() -> Self {
        Self {
            external_dns: OrdMap::unit("*.example".to_string(), ENTRY_ADDRESS.to_string()),
            stopped: OrdSet::new(),
            full_disks: OrdSet::new(),
            dark: OrdSet::new(),
            listening_since: None,
            entry_addresses: (10..30).map(|n| format!("203.0.113.{n}")).collect(),
        }
    }
}

impl World {
    /// Whether the component works: nobody has stopped it, its node has power, and the API server answers, unless it does
    /// its work from what it knows.
    pub fn works(&self, actor: &Actor) -> bool {
        if self.stopped.is_empty() && self.dark.is_empty() {
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

    /// Whether the API server answers.
    pub fn api_answers(&self) -> bool {
        !self.stopped.contains(&Actor::ApiServer)
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
