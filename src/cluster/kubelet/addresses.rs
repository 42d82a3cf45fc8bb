//! The addresses of a node's Pods, from the node's range.
//!
//! Models: the `host-local` address plugin: the next free address, round and round. Leaves out: IPv6.

use imbl::OrdSet;

/// Which addresses of the range are taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Addresses {
    range: String,
    taken: OrdSet<u32>,
    last: u32,
}

impl Addresses {
    /// Settles the range, as `10.244.1.0/24`, unless it is settled. A node without one gets a range by its place among
    /// the nodes, as the runtime's own network would.
    pub fn settle(&mut self, range: &str, place: usize) {
        if self.range.is_empty() {
            self.range = match parse(range) {
                Some(_) => range.to_string(),
                None => format!("10.{}.{}.0/24", 88 + place / 256 % 100, place % 256),
            };
        }
    }

    /// Whether the range is settled.
    pub fn is_settled(&self) -> bool {
        !self.range.is_empty()
    }

    /// Takes the next free address; `None` when all are taken. The first two and the last are never given out.
    pub fn take(&mut self) -> Option<String> {
        let (first, count) = parse(&self.range)?;
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
    pub fn give_back(&mut self, address: &str) {
        if let Some((first, _)) = parse(&self.range)
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

    fn of(range: &str) -> Addresses {
        let mut addresses = Addresses::default();
        addresses.settle(range, 3);
        addresses
    }

    #[test]
    fn addresses_go_round_and_are_not_given_out_twice() {
        let mut addresses = of("10.244.1.0/29");
        let taken: Vec<_> = (0..6).map(|_| addresses.take()).collect();
        let some = |address: &str| Some(address.to_string());
        assert_eq!(taken[..2], [some("10.244.1.2"), some("10.244.1.3")]);
        assert_eq!((taken[4].clone(), taken[5].clone()), (some("10.244.1.6"), None));
        addresses.give_back("10.244.1.3");
        assert_eq!(addresses.take(), some("10.244.1.3"));
    }

    #[test]
    fn a_freed_address_is_the_last_to_be_used_again() {
        let mut addresses = of("10.244.1.0/24");
        let first = addresses.take().unwrap();
        addresses.give_back(&first);
        assert_ne!(addresses.take(), Some(first));
    }

    #[test]
    fn a_node_without_a_range_gets_one_by_its_place() {
        assert_eq!(of("").take(), Some("10.88.3.2".to_string()));
    }
}
