//! What we think of a node's certificate, and what it showed.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use crate::pki::{Certificate, SpkiHash};

/// The certificates that a node showed in a handshake, whatever came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown(Arc<Mutex<Vec<Certificate>>>);

/// Takes down what a node shows, and judges it.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) shown: Shown,
    pub(super) trust: Trust,
    pub(super) provider: Arc<CryptoProvider>,
}

/// Which nodes are trusted.
#[derive(Debug)]
pub(super) enum Trust {
    /// Every one: in maintenance mode a node has nothing to be known by, but
    /// for the fingerprint that it prints on its console.
    Anybody {
        /// That fingerprint, where somebody has read it.
        pin: Option<SpkiHash>,
    },
    /// Those that an authority vouches for.
    Authority(Arc<WebPkiServerVerifier>),
}

impl Shown {
    /// Returns the node's own certificate.
    pub(crate) fn leaf(&self) -> Option<Certificate> {
        self.all().into_iter().next()
    }

    /// Returns all certificates, the node's own first.
    pub(crate) fn all(&self) -> Vec<Certificate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take_down(&self, leaf: &CertificateDer<'_>, others: &[CertificateDer<'_>]) {
        let all = std::iter::once(leaf).chain(others);
        let read = all.filter_map(|der| Certificate::from_der(der).ok()).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = read;
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.shown.take_down(leaf, others);
        match &self.trust {
            Trust::Authority(verifier) => {
                verifier.verify_server_cert(leaf, others, name, ocsp, now)
            }
            Trust::Anybody { pin: None } => Ok(ServerCertVerified::assertion()),
            Trust::Anybody { pin: Some(pin) } => {
                let seen = Certificate::from_der(leaf).map(|leaf| leaf.spki());
                match seen {
                    Ok(seen) if seen == *pin => Ok(ServerCertVerified::assertion()),
                    Ok(_) => Err(CertificateError::ApplicationVerificationFailure.into()),
                    Err(_) => Err(CertificateError::BadEncoding.into()),
                }
            }
        }
    }

    /// Whoever is trusted, the node must hold the key of what it shows.
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, leaf, signed, algorithms)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, leaf, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
