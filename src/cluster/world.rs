//! What is outside the cluster and yet decides: external DNS, the entry address, which components somebody has stopped.

use imbl::{OrdMap, OrdSet};

use super::actor::Actor;
use crate::api::meta::Name;

/// The outside world as a value.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// External DNS: host, or `*.` and a suffix, to address.
    pub external_dns: OrdMap<String, String>,
    /// The components that are stopped.
    pub stopped: OrdSet<Actor>,
    /// The nodes whose disk somebody has filled.
    pub full_disks: OrdSet<Name>,
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
            entry_addresses: (10..30).map(|n| format!("203.0.113.{n}")).collect(),
        }
    }
}

impl World {
    /// Whether the component works, as far as nobody has stopped it.
    pub fn works(&self, actor: &Actor) -> bool {
        self.stopped.is_empty() || !self.stopped.contains(actor)
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
