//! The kinds of things that a cluster owns at Hetzner, and what keeps them from going.

use std::fmt;

/// A kind of thing that a cluster owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are Hetzner's own names")]
pub enum Kind {
    Server,
    Volume,
    LoadBalancer,
    Firewall,
    Network,
    PlacementGroup,
    SshKey,
}

impl Kind {
    /// All of them, in an order in which they can be deleted.
    pub const TEARDOWN: [Self; 7] = [
        Self::Server,
        Self::Volume,
        Self::LoadBalancer,
        Self::Firewall,
        Self::Network,
        Self::PlacementGroup,
        Self::SshKey,
    ];

    /// Returns the kinds that have to be gone before one of this kind can go:
    /// what is deleted too early is answered with `resource_in_use`.
    pub fn waits_for(self) -> &'static [Self] {
        match self {
            Self::Server | Self::LoadBalancer => &[],
            Self::Volume | Self::Firewall | Self::PlacementGroup | Self::SshKey => &[Self::Server],
            Self::Network => &[Self::Server, Self::LoadBalancer],
        }
    }

    /// Returns what people call it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Volume => "volume",
            Self::LoadBalancer => "load balancer",
            Self::Firewall => "firewall",
            Self::Network => "network",
            Self::PlacementGroup => "placement group",
            Self::SshKey => "ssh key",
        }
    }

    /// Returns how one of them is called in answers.
    pub(super) const fn singular(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Volume => "volume",
            Self::LoadBalancer => "load_balancer",
            Self::Firewall => "firewall",
            Self::Network => "network",
            Self::PlacementGroup => "placement_group",
            Self::SshKey => "ssh_key",
        }
    }

    /// Returns how it is called in paths, which is also how a list of them is called.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Self::Server => "servers",
            Self::Volume => "volumes",
            Self::LoadBalancer => "load_balancers",
            Self::Firewall => "firewalls",
            Self::Network => "networks",
            Self::PlacementGroup => "placement_groups",
            Self::SshKey => "ssh_keys",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_teardown_waits_for_nothing_that_comes_later() {
        for (place, kind) in Kind::TEARDOWN.iter().enumerate() {
            for needed in kind.waits_for() {
                assert!(Kind::TEARDOWN[..place].contains(needed), "{kind} waits for {needed}");
            }
        }
    }
}
