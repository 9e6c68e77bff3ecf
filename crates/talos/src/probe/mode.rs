//! The modes of a node, and how they are told apart.

use crate::client::Reason;

/// Which mode a node is in, as far as one look can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing was to be seen.
    Unreachable(Reason),
    /// It waits for its config.
    Maintenance,
    /// It has its config.
    Configured(Owner),
    /// It is between the two: its API restarts.
    InTransition,
    /// Something else listens there.
    NotTalos(String),
}

/// Whose a configured node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Our authority has signed its certificate.
    Us,
    /// Another authority has.
    Somebody,
    /// We had no authority to compare with.
    Unknown,
}

/// What a look has seen, once TLS was agreed upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) certificate: Shows,
    pub(super) asks: bool,
    pub(super) then: Then,
}

/// What certificate a node shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// That of maintenance mode.
    Maintenance,
    /// One that an authority of Talos has signed.
    Signed(Owner),
    /// One that no Talos shows.
    Foreign,
}

/// What a node does after the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It speaks HTTP/2.
    Speaks,
    /// It breaks off, because it got no certificate.
    CertificateRequired,
    /// It closes the connection or breaks it.
    Ends,
    /// It says nothing.
    Silent,
    /// It speaks something else, or breaks off for another reason.
    Other,
}

impl Mode {
    pub(super) fn of(seen: Seen) -> Self {
        match (seen.certificate, seen.asks, seen.then) {
            (Shows::Foreign, ..) => {
                Self::NotTalos("its certificate is not one of Talos".to_owned())
            }
            (_, _, Then::Other) => Self::NotTalos("it does not speak HTTP/2".to_owned()),
            (Shows::Maintenance, false, Then::Speaks) => Self::Maintenance,
            (Shows::Signed(owner), _, Then::CertificateRequired) => Self::Configured(owner),
            (_, _, Then::Silent) => Self::Unreachable(Reason::Silent),
            // The old server with the new certificate, or the other way round,
            // or one that stops: all of them while a config is taken.
            (Shows::Signed(_) | Shows::Maintenance, _, _) => Self::InTransition,
        }
    }

    /// Returns the mode in a word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unreachable(_) => "unreachable",
            Self::Maintenance => "maintenance",
            Self::Configured(_) => "configured",
            Self::InTransition => "in transition",
            Self::NotTalos(_) => "not Talos",
        }
    }

    /// Returns what it means, in a sentence for people.
    pub fn means(&self) -> String {
        match self {
            Self::Unreachable(reason) => reason.meaning().means.to_owned(),
            Self::Maintenance => {
                "The node waits for its config and takes one from anybody.".to_owned()
            }
            Self::Configured(Owner::Us) => {
                "The node has its config from our secrets bundle. Without a client certificate it answers `tls: certificate required`, which is as it should be.".to_owned()
            }
            Self::Configured(Owner::Somebody) => {
                "The node has its config from another secrets bundle than ours: our certificates cannot open it.".to_owned()
            }
            Self::Configured(Owner::Unknown) => {
                "The node has its config, and wants the certificate of a client.".to_owned()
            }
            Self::InTransition => {
                "The node is taking its config and restarts its API; what it answers now does not count.".to_owned()
            }
            Self::NotTalos(why) => format!("Something else than Talos listens there: {why}."),
        }
    }

    /// Returns what to do about it, where something is to be done.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable(reason) => Some(reason.meaning().advice),
            Self::Configured(Owner::Somebody) => Some(
                "Find the bundle that the node was configured with, or reset the node if it is yours to reset.",
            ),
            Self::InTransition => Some("Look again in a second."),
            Self::NotTalos(_) => Some("Check the address and the port."),
            Self::Maintenance | Self::Configured(Owner::Us | Owner::Unknown) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_modes() {
        use Shows::{Foreign, Maintenance, Signed};
        let rows = [
            (Maintenance, false, Then::Speaks, Mode::Maintenance),
            (Maintenance, true, Then::CertificateRequired, Mode::InTransition),
            (Maintenance, false, Then::Ends, Mode::InTransition),
            (Signed(Owner::Us), true, Then::CertificateRequired, Mode::Configured(Owner::Us)),
            (
                Signed(Owner::Somebody),
                true,
                Then::CertificateRequired,
                Mode::Configured(Owner::Somebody),
            ),
            (Signed(Owner::Us), false, Then::Speaks, Mode::InTransition),
            (Signed(Owner::Us), true, Then::Ends, Mode::InTransition),
            (Signed(Owner::Us), true, Then::Silent, Mode::Unreachable(Reason::Silent)),
        ];
        for (certificate, asks, then, mode) in rows {
            assert_eq!(
                Mode::of(Seen { certificate, asks, then }),
                mode,
                "{certificate:?} {then:?}"
            );
        }
        for (certificate, then) in [(Foreign, Then::Speaks), (Maintenance, Then::Other)] {
            let mode = Mode::of(Seen { certificate, asks: false, then });
            assert!(matches!(mode, Mode::NotTalos(_)), "{mode:?}");
        }
    }
}
