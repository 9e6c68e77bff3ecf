//! What a look at a node has seen.

use std::net::SocketAddr;

use events::Evidence;

use super::Mode;
use crate::client::Reason;
use crate::pki::CertificateFacts;

/// What a look at a node has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The node.
    pub node: SocketAddr,
    /// Which mode it is in.
    pub mode: Mode,
    /// The certificate that it showed.
    pub certificate: Option<CertificateFacts>,
    /// Whether it asked for a certificate of ours.
    pub asks_for_certificate: bool,
    /// The authorities whose certificates it would take.
    pub accepted_authorities: Vec<String>,
}

impl Sighting {
    /// Returns what it means, in a sentence for people.
    pub fn means(&self) -> String {
        if self.is_faceless() {
            return Reason::Closed.meaning().means.to_owned();
        }
        self.mode.means()
    }

    /// Returns what to do about it, where something is to be done.
    pub fn advice(&self) -> Option<&'static str> {
        if self.is_faceless() {
            return Some(Reason::Closed.meaning().advice);
        }
        self.mode.advice()
    }

    /// Whether the connection was closed before any certificate was shown. A node does
    /// so while its API restarts, and a load balancer without a target does it for ever.
    pub fn is_faceless(&self) -> bool {
        self.mode == Mode::InTransition && self.certificate.is_none()
    }

    /// Returns what was seen as evidence.
    pub fn evidence(&self) -> Evidence {
        let summary = format!("{} is {}", self.node, self.mode.word());
        let evidence = Evidence::new(summary).fact("mode", self.mode.word());
        let evidence = match &self.mode {
            Mode::Unreachable(reason) => evidence.fact("answer", reason.to_string()),
            _ => evidence,
        };
        // Who showed no certificate had no turn to ask for ours.
        let Some(certificate) = &self.certificate else { return evidence };
        evidence
            .fact("tls.asksForCertificate", self.asks_for_certificate)
            .fact("tls.acceptedAuthorities", self.accepted_authorities.clone())
            .fact("certificate.subject", certificate.subject.clone())
            .fact("certificate.issuer", certificate.issuer.clone())
            .fact("certificate.key", certificate.key.clone())
            .fact("certificate.spki", certificate.spki.to_string())
            .fact("certificate.notBefore", certificate.not_before.to_string())
            .fact("certificate.notAfter", certificate.not_after.to_string())
            .fact("certificate.names", certificate.names.clone())
            .fact("certificate.authorityKeyId", certificate.authority_key_id.clone())
    }
}
