//! Why TLS failed, as far as the certificates tell.

use std::fmt;

use jiff::Timestamp;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{CertificateError, Error, InvalidMessage};

/// What is wrong with a TLS connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsProblem {
    /// The server's certificate is of an authority that the kubeconfig does not
    /// trust.
    Authority,
    /// The server's certificate is over.
    Expired {
        /// Since when, where that is told.
        since: Option<Timestamp>,
    },
    /// The server's certificate is not valid yet.
    NotYet {
        /// From when on, where that is told.
        from: Option<Timestamp>,
    },
    /// The server's certificate is for other names.
    Name {
        /// The name that was asked for, where it is told.
        expected: Option<String>,
        /// The names that it is for.
        presented: Vec<String>,
    },
    /// What answers does not speak TLS.
    NotSpoken,
    /// Something else, also about our own certificate.
    Other(String),
}

impl TlsProblem {
    pub(super) fn of(error: &Error) -> Self {
        let problem = match error {
            Error::InvalidCertificate(problem) => problem,
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => return Self::NotSpoken,
            other => return Self::Other(other.to_string()),
        };
        match problem {
            // An authority of the same name with another key signs otherwise.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::Authority,
            CertificateError::Expired => Self::Expired { since: None },
            CertificateError::ExpiredContext { not_after, .. } => {
                Self::Expired { since: timestamp(*not_after) }
            }
            CertificateError::NotValidYet => Self::NotYet { from: None },
            CertificateError::NotValidYetContext { not_before, .. } => {
                Self::NotYet { from: timestamp(*not_before) }
            }
            CertificateError::NotValidForName => {
                Self::Name { expected: None, presented: Vec::new() }
            }
            CertificateError::NotValidForNameContext { expected, presented } => {
                let presented = presented.iter().map(|name| plain(name).to_owned()).collect();
                Self::Name { expected: Some(name(expected)), presented }
            }
            other => Self::Other(Error::InvalidCertificate(other.clone()).to_string()),
        }
    }

    pub(super) fn next(&self) -> &'static str {
        match self {
            Self::Authority => {
                "take `certificate-authority-data` of the kubeconfig from this cluster, or look \
                 whether something in between answers for it"
            }
            Self::Expired { .. } => {
                "renew the certificate of the API server, and check the clock here"
            }
            Self::NotYet { .. } => "check the clocks here and on the API server",
            Self::Name { .. } => {
                "use one of these names as `server`, or say one as `tls-server-name` in the kubeconfig"
            }
            Self::NotSpoken => "check the port and the scheme of `server` in the kubeconfig",
            Self::Other(_) => "check the authority and the client certificate",
        }
    }
}

fn timestamp(time: UnixTime) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(time.as_secs()).ok()?).ok()
}

/// Returns the name in `DnsName("kubernetes")`.
fn plain(presented: &str) -> &str {
    let inside = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inside.unwrap_or(presented).trim_matches('"')
}

fn name(name: &ServerName<'_>) -> String {
    name.to_str().into_owned()
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authority => f.write_str(
                "the server's certificate is of an authority that the kubeconfig does not trust",
            ),
            Self::Expired { since: None } => f.write_str("the server's certificate is over"),
            Self::Expired { since: Some(since) } => {
                write!(f, "the server's certificate is over since {since}")
            }
            Self::NotYet { from: None } => f.write_str("the server's certificate is not valid yet"),
            Self::NotYet { from: Some(from) } => {
                write!(f, "the server's certificate is not valid before {from}")
            }
            Self::Name { expected, presented } => {
                f.write_str("the server's certificate is for other names")?;
                if let Some(expected) = expected {
                    write!(f, " than {expected}")?;
                }
                if presented.is_empty() { Ok(()) } else { write!(f, ": {}", presented.join(", ")) }
            }
            Self::NotSpoken => f.write_str("what answers there does not speak TLS"),
            Self::Other(problem) => f.write_str(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_wrong_with_a_certificate_is_told_with_what_to_do() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let expected = ServerName::try_from("api.example.test").unwrap();
        let presented = vec!["DnsName(\"kubernetes\")".to_owned()];
        let table = [
            (
                CertificateError::UnknownIssuer,
                "the server's certificate is of an authority that the kubeconfig does not trust",
                "certificate-authority-data",
            ),
            (
                CertificateError::ExpiredContext { time: at(90), not_after: at(60) },
                "the server's certificate is over since 1970-01-01T00:01:00Z",
                "renew",
            ),
            (
                CertificateError::NotValidForNameContext { expected, presented },
                "the server's certificate is for other names than api.example.test: \
                 kubernetes",
                "tls-server-name",
            ),
        ];
        for (error, told, next) in table {
            let problem = TlsProblem::of(&Error::InvalidCertificate(error));
            assert_eq!(problem.to_string(), told);
            assert!(problem.next().contains(next), "{}", problem.next());
        }
    }
}
