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
}

impl Role {
    /// Returns the role as certificates carry it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "os:admin",
            Self::Operator => "os:operator",
            Self::Reader => "os:reader",
            Self::EtcdBackup => "os:etcd:backup",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
