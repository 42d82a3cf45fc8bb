//! The addresses of a node's Pods, from the node's range.
//!
//! Models: the `host-local` address plugin: the next free address, round and round. Leaves out: IPv6.

use imbl::OrdSet;

use crate::api::kinds::cluster::Node;

/// Which addresses of the range are taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Addresses {
    taken: OrdSet<u32>,
    last: u32,
}

/// Used when the node has no range of its own and no number in its name.
const DEFAULT_RANGE: &str = "10.244.255.0/24";

/// The range of a node's Pods: its own, or one by the number that ends its name, so that no two nodes share one.
pub fn range_of(node: &Node) -> String {
    if !node.spec.pod_cidr.is_empty() {
        return node.spec.pod_cidr.clone();
    }
    let name = &*node.meta.name;
    let digits =
        name.trim_start_matches(|c: char| !c.is_ascii_digit()).rsplit(|c: char| !c.is_ascii_digit()).next();
    match digits.and_then(|digits| digits.parse::<u16>().ok()) {
        Some(number) => format!("10.{}.{}.0/24", 245 + number / 256 % 10, number % 256),
        None => DEFAULT_RANGE.to_string(),
    }
}

impl Addresses {
    /// Takes the next free address of `range`, as `10.244.1.0/24`; `None` when all are taken. The first two and the last
    /// are never given out.
    pub fn take(&mut self, range: &str) -> Option<String> {
        let (first, count) = parse(range).or_else(|| parse(DEFAULT_RANGE))?;
        let usable = count.saturating_sub(3);
        for step in 1..=usable {
            let offset = (self.last + step - 1) % usable;
            if self.taken.insert(offset).is_none() {
                self.last = offset + 1;
                return Some(printed(first + 2 + offset));
            }
        }
        None
    }

    /// Gives an address back.
    pub fn give_back(&mut self, range: &str, address: &str) {
        if let Some((first, _)) = parse(range).or_else(|| parse(DEFAULT_RANGE))
            && let Some(offset) = number(address).and_then(|address| address.checked_sub(first + 2))
        {
            self.taken.remove(&offset);
        }
    }
}

/// The first address of a range and how many it has.
fn parse(range: &str) -> Option<(u32, u32)> {
    let (address, bits) = range.split_once('/')?;
    let bits: u32 = bits.parse().ok().filter(|bits| (8..=30).contains(bits))?;
    Some((number(address)?, 1 << (32 - bits)))
}

fn number(address: &str) -> Option<u32> {
    let mut parts = address.split('.');
    let number =
        (0..4).try_fold(0_u32, |sum, _| Some((sum << 8) | u32::from(parts.next()?.parse::<u8>().ok()?)))?;
    parts.next().is_none().then_some(number)
}

fn printed(address: u32) -> String {
    let [a, b, c, d] = address.to_be_bytes();
    format!("{a}.{b}.{c}.{d}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_round_and_are_not_given_out_twice() {
        let mut addresses = Addresses::default();
        let range = "10.244.1.0/29";
        let taken: Vec<_> = (0..6).map(|_| addresses.take(range)).collect();
        let some = |address: &str| Some(address.to_string());
        assert_eq!(taken[..2], [some("10.244.1.2"), some("10.244.1.3")]);
        assert_eq!((taken[4].clone(), taken[5].clone()), (some("10.244.1.6"), None));
        addresses.give_back(range, "10.244.1.3");
        assert_eq!(addresses.take(range), some("10.244.1.3"));
    }

    #[test]
    fn a_freed_address_is_the_last_to_be_used_again() {
        let mut addresses = Addresses::default();
        let first = addresses.take("10.244.1.0/24").unwrap();
        addresses.give_back("10.244.1.0/24", &first);
        assert_ne!(addresses.take("10.244.1.0/24"), Some(first));
    }
}
