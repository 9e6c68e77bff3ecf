//! Who a caller is, and what they may do.

use std::time::Duration;

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::kube::api::Place;
use crate::kube::refusal::Refusal;

/// A caller whom the cluster's authority vouches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user: the common name of the certificate.
    pub user: String,
    /// The groups: its organizations.
    pub groups: Vec<String>,
}

impl Identity {
    /// Reads an identity from the certificates that a client has shown.
    pub(super) fn of(
        shown: &[CertificateDer<'_>],
        verifier: &dyn ClientCertVerifier,
        now: Timestamp,
    ) -> Option<Self> {
        let (own, chain) = shown.split_first()?;
        let now = Duration::from_secs(now.as_second().try_into().ok()?);
        verifier.verify_client_cert(own, chain, UnixTime::since_unix_epoch(now)).ok()?;
        let (_, certificate) = X509Certificate::from_der(own).ok()?;
        let subject = certificate.subject();
        let user = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
        let groups = subject.iter_organization().filter_map(|name| name.as_str().ok());
        Some(Self { user, groups: groups.map(str::to_owned).collect() })
    }

    /// Administrators and nodes may do everything with objects, and nobody
    /// else anything: the simulated API knows no roles. Discovery and health
    /// are for everybody who is known.
    pub(super) fn check(&self, verb: &str, place: &Place) -> Result<(), Refusal> {
        let is = |group: &str| self.groups.iter().any(|one| one == group);
        let node = is("system:nodes") && self.user.starts_with("system:node:");
        if is("system:masters") || node {
            return Ok(());
        }
        let group = &place.resource.key.group;
        let scope = match place.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let why = format!(
            "User \"{}\" cannot {verb} resource \"{}\" in API group \"{group}\" {scope}",
            self.user, place.resource.key.plural
        );
        Err(Refusal::forbidden(&place.resource.key, &place.name, &why))
    }
}
