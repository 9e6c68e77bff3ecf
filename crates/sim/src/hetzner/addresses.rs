//! The loopback addresses that servers and load balancers get.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

/// Hands out addresses of a range, and takes them back.
///
/// The first ten stay free for what else a world puts there, such as this API.
#[derive(Debug)]
pub(crate) struct Addresses {
    range: Ipv4Net,
    used: BTreeSet<Ipv4Addr>,
}

const RESERVED: usize = 9;

impl Addresses {
    pub(crate) fn of(range: Ipv4Net) -> Self {
        Self { range, used: BTreeSet::new() }
    }

    /// Takes the lowest free address, if there is one.
    pub(crate) fn take(&mut self) -> Option<Ipv4Addr> {
        let free = self.range.hosts().skip(RESERVED).find(|host| !self.used.contains(host))?;
        self.used.insert(free);
        Some(free)
    }

    pub(crate) fn give_back(&mut self, address: Ipv4Addr) {
        self.used.remove(&address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_reused_and_run_out() {
        let mut addresses = Addresses::of("127.77.3.0/28".parse().unwrap());
        let first = addresses.take().unwrap();
        assert_eq!(first, Ipv4Addr::new(127, 77, 3, 10));
        assert_eq!(std::iter::from_fn(|| addresses.take()).count(), 4);
        addresses.give_back(first);
        assert_eq!(addresses.take(), Some(first));
        assert_eq!(addresses.take(), None);
    }
}
