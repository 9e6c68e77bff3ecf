//! One of each reason, for whoever tells of all of them.

use std::io::ErrorKind;

use jiff::Timestamp;
use tonic::Code;

use super::Reason;
use crate::pki::{CertificateFacts, SpkiHash};

/// Stands for what differs from case to case.
const SOMETHING: &str = "…";

impl Reason {
    /// Returns one of each, in the order in which a call can meet them.
    pub fn every() -> Vec<Self> {
        let something = || SOMETHING.to_owned();
        let (spki, facts) = (SpkiHash::of(b""), Box::new(facts()));
        vec![
            Self::Refused,
            Self::NoRoute,
            Self::NoAnswer,
            Self::Silent,
            Self::Closed,
            Self::Lost(ErrorKind::ConnectionReset),
            Self::NotTls,
            Self::CertificateRequired,
            Self::UnknownCa,
            Self::BadCertificate(something()),
            Self::Alert(something()),
            Self::StillInMaintenance { spki },
            Self::OtherAuthority(facts.clone()),
            Self::NotItsAddress(vec![something()]),
            Self::NotAtThisTime(facts),
            Self::OtherFingerprint { expected: Box::new(spki), seen: Box::new(spki) },
            Self::Credentials(something()),
            Self::Deadline,
            Self::Cancelled,
            Self::NotYetAvailable(something()),
            Self::TimeNotInSync,
            Self::ApplyInProgress,
            Self::Rebooting,
            Self::AlreadyBootstrapped,
            Self::BootstrapWedged,
            Self::PullFailed(something()),
            Self::InstallerFailed { code: 1, last: something() },
            Self::InvalidConfig(something()),
            Self::InvalidArgument(something()),
            Self::PermissionDenied(something()),
            Self::NoForwarding,
            Self::Unimplemented(something()),
            Self::NotFound(something()),
            Self::Unavailable(something()),
            Self::Status { code: Code::Unknown, message: something() },
            Self::Nonsense(something()),
            Self::WrongPermit { attempt: something(), permitted: something() },
            Self::Local(something()),
        ]
    }

    /// Returns what is said, with `…` for what differs from case to case. It is
    /// meant for those of [`Reason::every`].
    pub fn pattern(&self) -> String {
        let spki = SpkiHash::of(b"").to_string();
        let time = Timestamp::UNIX_EPOCH.to_string();
        self.to_string().replace(&spki, SOMETHING).replace(&time, SOMETHING)
    }
}

fn facts() -> CertificateFacts {
    CertificateFacts {
        subject: SOMETHING.to_owned(),
        issuer: SOMETHING.to_owned(),
        common_name: None,
        organizations: Vec::new(),
        key: SOMETHING.to_owned(),
        not_before: Timestamp::UNIX_EPOCH,
        not_after: Timestamp::UNIX_EPOCH,
        names: Vec::new(),
        spki: SpkiHash::of(b""),
        key_id: None,
        authority_key_id: None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The number of a reason. A new one has to be numbered here, and then to
    /// be in the list.
    #[rustfmt::skip]
    fn number(reason: &Reason) -> usize {
        match reason {
            Reason::Refused => 0, Reason::NoRoute => 1, Reason::NoAnswer => 2,
            Reason::Silent => 3, Reason::Closed => 4, Reason::Lost(_) => 5,
            Reason::NotTls => 6, Reason::CertificateRequired => 7, Reason::UnknownCa => 8,
            Reason::BadCertificate(_) => 9, Reason::Alert(_) => 10,
            Reason::StillInMaintenance { .. } => 11, Reason::OtherAuthority(_) => 12,
            Reason::NotItsAddress(_) => 13, Reason::NotAtThisTime(_) => 14,
            Reason::OtherFingerprint { .. } => 15, Reason::Credentials(_) => 16,
            Reason::Deadline => 17, Reason::Cancelled => 18, Reason::NotYetAvailable(_) => 19,
            Reason::TimeNotInSync => 20, Reason::ApplyInProgress => 21, Reason::Rebooting => 22,
            Reason::AlreadyBootstrapped => 23, Reason::BootstrapWedged => 24,
            Reason::PullFailed(_) => 25, Reason::InstallerFailed { .. } => 26,
            Reason::InvalidConfig(_) => 27, Reason::InvalidArgument(_) => 28,
            Reason::PermissionDenied(_) => 29, Reason::NoForwarding => 30,
            Reason::Unimplemented(_) => 31, Reason::NotFound(_) => 32,
            Reason::Unavailable(_) => 33, Reason::Status { .. } => 34,
            Reason::Nonsense(_) => 35, Reason::WrongPermit { .. } => 36,
            Reason::Local(_) => 37,
        }
    }

    #[test]
    fn every_reason_is_listed_once_and_says_something_of_its_own() {
        let every = Reason::every();
        let numbers: Vec<_> = every.iter().map(number).collect();
        assert_eq!(numbers, (0..=37).collect::<Vec<_>>());
        let said: BTreeSet<_> = every.iter().map(Reason::pattern).collect();
        let meant: BTreeSet<_> = every.iter().map(|it| it.meaning().means).collect();
        assert_eq!((said.len(), meant.len()), (every.len(), every.len()));
    }
}
