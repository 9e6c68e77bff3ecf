//! What a client may do.

use std::fmt;

/// What a client of the Talos API may do. A certificate carries it as the
/// organisation of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Admin,
    /// Reading, restarting, and looking after etcd.
    Operator,
    /// Reading what is no secret.
    Reader,
    /// Taking snapshots of etcd.
    EtcdBackup,
    /// Verifying images.
    ImageVerifier,
    /// Writing the machine's META values.
    MetaWriter,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 6] = [
        Self::Admin,
        Self::Operator,
        Self::Reader,
        Self::EtcdBackup,
        Self::ImageVerifier,
        Self::MetaWriter,
    ];

    /// Finds a role by the word that certificates carry.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }

    /// Returns the role as certificates carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "os:admin",
            Self::Operator => "os:operator",
            Self::Reader => "os:reader",
            Self::EtcdBackup => "os:etcd:backup",
            Self::ImageVerifier => "os:image:verifier",
            Self::MetaWriter => "os:meta:writer",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
