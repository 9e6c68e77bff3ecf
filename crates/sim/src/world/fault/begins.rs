//! When a fault begins to act. Most act at once; some only where something
//! begins that a cluster which stands has behind it.

use super::Fault;

/// When a fault begins to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// At once, on what is there.
    AtOnce,
    /// When a server is ordered.
    WithAServer,
    /// When a node starts and gets its config.
    WithANode,
}

/// What acts when a server is ordered.
const WITH_A_SERVER: &[&str] = &[
    "image-missing",
    "lost-answer",
    "name-taken",
    "server-limit",
    "server-type-ended",
    "server-type-not-offered",
    "server-type-sold-out",
];

/// What acts when a node starts and gets its config.
const WITH_A_NODE: &[&str] = &[
    "apiserver-down-on-one",
    "bootstrapped-twice",
    "ccm-wrong-provider-id",
    "clock-unset-at-first",
    "config-refused",
    "etcd-foreign-data",
    "etcd-member-missing",
    "etcd-split",
    "kubelet-volume-mount",
    "node-never-boots",
    "registry-unreachable",
    "worker-never-joins",
    "wrong-tls-mode",
];

impl Fault {
    /// Returns when it begins to act.
    pub fn begins(&self) -> Begins {
        match self.name {
            name if WITH_A_SERVER.contains(&name) => Begins::WithAServer,
            name if WITH_A_NODE.contains(&name) => Begins::WithANode,
            _ => Begins::AtOnce,
        }
    }
}

impl Begins {
    /// Says what it waits for; none where it acts at once.
    pub fn waits_for(self) -> Option<&'static str> {
        match self {
            Self::AtOnce => None,
            Self::WithAServer => Some("it acts on servers that are ordered from now on"),
            Self::WithANode => Some("it acts on nodes that get their config from now on"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_names_faults_that_there_are() {
        let named = WITH_A_SERVER.iter().chain(WITH_A_NODE);
        for name in named.copied() {
            assert!(Fault::named(name).is_some(), "{name}");
        }
    }
}
