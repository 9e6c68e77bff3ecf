//! From what went wrong with a connection to why.

use std::io;

use events::io_reason;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

use super::Reason;
use crate::pki::{Certificate, SpkiHash};
use crate::probe::MAINTENANCE_NAME;
use crate::wire::{Ending, Failed, Shown, Step};

impl Reason {
    /// Why there is no connection, given what the node showed meanwhile.
    pub(crate) fn of_failed(failed: &Failed, shown: &Shown, pin: Option<SpkiHash>) -> Self {
        match failed {
            Failed::Late(Step::Tcp) => Self::NoAnswer,
            Failed::Late(Step::Tls | Step::First) => Self::Silent,
            Failed::At(_, error) => match tls(error) {
                Some(TlsError::InvalidCertificate(flaw)) => {
                    Self::of_certificate(flaw, shown.leaf(), pin)
                }
                Some(TlsError::AlertReceived(alert)) => Self::of_alert(*alert),
                Some(_) => Self::NotTls,
                None if is_exhausted(error) => Self::Local(io_reason(error)),
                None => Self::of_io(error.kind()),
            },
        }
    }

    /// Why a connection ended that had been good.
    pub(super) fn of_ending(ending: Ending) -> Self {
        match ending {
            Ending::Closed => Self::Closed,
            Ending::Alert(alert) => Self::of_alert(alert),
            Ending::Lost(kind) => Self::of_io(kind),
        }
    }

    fn of_io(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Self::NoRoute,
            io::ErrorKind::TimedOut => Self::NoAnswer,
            io::ErrorKind::UnexpectedEof => Self::Closed,
            other => Self::Lost(other),
        }
    }

    fn of_alert(alert: AlertDescription) -> Self {
        match alert {
            AlertDescription::CertificateRequired => Self::CertificateRequired,
            // All authorities of Talos have one name. A server that looks for
            // the name first, as rustls does, then finds the signature wrong.
            AlertDescription::UnknownCA | AlertDescription::DecryptError => Self::UnknownCa,
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRevoked
            | AlertDescription::AccessDenied => Self::BadCertificate(format!("{alert:?}")),
            AlertDescription::ProtocolVersion => Self::NotTls,
            other => Self::Alert(format!("{other:?}")),
        }
    }

    fn of_certificate(
        flaw: &CertificateError,
        leaf: Option<Certificate>,
        pin: Option<SpkiHash>,
    ) -> Self {
        let Some(leaf) = leaf else { return Self::NotTls };
        let facts = leaf.facts().clone();
        match (flaw, pin) {
            (CertificateError::ApplicationVerificationFailure, Some(expected)) => {
                Self::OtherFingerprint { expected: Box::new(expected), seen: Box::new(facts.spki) }
            }
            // Before its dates: nobody sets the clock of a node that waits for its
            // config, and the certificate is not to be trusted either way.
            _ if facts.common_name.as_deref() == Some(MAINTENANCE_NAME) => {
                Self::StillInMaintenance { spki: facts.spki }
            }
            (
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
                _,
            ) => Self::NotItsAddress(facts.names),
            (
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
                _,
            ) => Self::NotAtThisTime(Box::new(facts)),
            _ => Self::OtherAuthority(Box::new(facts)),
        }
    }
}

/// `ENOMEM`, `ENFILE` and `EMFILE`: the standard library has a kind for the first only.
fn is_exhausted(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(12 | 23 | 24))
}

fn tls(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

#[cfg(test)]
mod tests {
    use events::Class;

    use super::*;

    /// What nodes of Talos send, and what others may.
    #[test]
    fn every_alert_has_its_reason() {
        use AlertDescription as Alert;
        let refused = |alert: Alert| Reason::BadCertificate(format!("{alert:?}"));
        let rows = [
            (116, Reason::CertificateRequired),
            (48, Reason::UnknownCa),
            (51, Reason::UnknownCa),
            (42, refused(Alert::BadCertificate)),
            (43, refused(Alert::UnsupportedCertificate)),
            (44, refused(Alert::CertificateRevoked)),
            (45, refused(Alert::CertificateExpired)),
            (46, refused(Alert::CertificateUnknown)),
            (49, refused(Alert::AccessDenied)),
            (70, Reason::NotTls),
            (40, Reason::Alert("HandshakeFailure".to_owned())),
            (80, Reason::Alert("InternalError".to_owned())),
            (120, Reason::Alert("NoApplicationProtocol".to_owned())),
        ];
        for (number, reason) in rows {
            assert_eq!(Reason::of_alert(Alert::from(number)), reason, "alert {number}");
            assert_eq!(reason.class(), Class::Permanent, "no wait mends {reason}");
        }
    }

    #[test]
    fn every_broken_connection_passes_by_itself() {
        use io::ErrorKind as Kind;
        let rows = [
            (Kind::ConnectionRefused, Reason::Refused),
            (Kind::HostUnreachable, Reason::NoRoute),
            (Kind::NetworkUnreachable, Reason::NoRoute),
            (Kind::TimedOut, Reason::NoAnswer),
            (Kind::UnexpectedEof, Reason::Closed),
            (Kind::ConnectionReset, Reason::Lost(Kind::ConnectionReset)),
            (Kind::BrokenPipe, Reason::Lost(Kind::BrokenPipe)),
        ];
        for (kind, reason) in rows {
            assert_eq!(Reason::of_io(kind), reason);
            assert_eq!(reason.class(), Class::Transient);
        }
        let full = Failed::At(Step::Tcp, io::Error::from_raw_os_error(24));
        let reason = Reason::of_failed(&full, &Shown::default(), None).to_string();
        let words = "this machine cannot connect: too many open files in this process";
        assert!(reason.starts_with(words), "{reason}");
        let steps = [
            (Step::Tcp, Reason::NoAnswer),
            (Step::Tls, Reason::Silent),
            (Step::First, Reason::Silent),
        ];
        for (step, reason) in steps {
            let late = Failed::Late(step);
            assert_eq!(Reason::of_failed(&late, &Shown::default(), None), reason);
            assert_eq!(reason.class(), Class::Transient);
        }
    }
}
