//! TLS as the API of Talos wants it: 1.3 only, HTTP/2, no tickets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::{ResolvesClientCert, Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer as _, X509Name};

use super::verifier::{Shown, Trust, Verifier};
use crate::credentials::Identity;
use crate::pki::SpkiHash;

/// Whether a node asked for our certificate, and signed by whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked(Arc<Question>);

#[derive(Debug, Default)]
struct Question {
    asked: AtomicBool,
    authorities: Mutex<Vec<String>>,
}

/// Returns TLS without a certificate of ours, and without trust in the node's.
pub(crate) fn anonymous(shown: Shown, pin: Option<SpkiHash>, asked: Asked) -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier { shown, trust: Trust::Anybody { pin }, provider: provider.clone() };
    let builder = builder(provider).dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(verifier));
    finish(builder.with_client_cert_resolver(Arc::new(asked)))
}

/// Returns TLS with the certificate of `identity` and trust in its authority only.
pub(crate) fn authenticated(
    shown: Shown,
    identity: &Identity,
) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(der(identity.authority().der()))?;
    let trusting = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone())
        .build()
        .map_err(|error| rustls::Error::General(error.to_string()))?;
    let verifier =
        Verifier { shown, trust: Trust::Authority(trusting), provider: provider.clone() };
    let key =
        identity.key().for_tls().map_err(|error| rustls::Error::General(error.to_string()))?;
    let builder = builder(provider).dangerous();
    let builder = builder.with_custom_certificate_verifier(Arc::new(verifier));
    builder.with_client_auth_cert(vec![der(identity.certificate().der())], key).map(finish)
}

fn builder(
    provider: Arc<CryptoProvider>,
) -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("ring speaks TLS 1.3")
}

fn finish(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.resumption = Resumption::disabled();
    config
}

fn der(bytes: &[u8]) -> CertificateDer<'static> {
    CertificateDer::from(bytes.to_vec())
}

// === impl Asked ===

impl Asked {
    /// Returns whether the node asked.
    pub(crate) fn was_asked(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Returns the names of the authorities that it would accept.
    pub(crate) fn authorities(&self) -> Vec<String> {
        self.0.authorities.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesClientCert for Asked {
    fn resolve(&self, hints: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.asked.store(true, Ordering::Relaxed);
        let names = hints.iter().filter_map(|hint| X509Name::from_der(hint).ok());
        let names = names.map(|(_, name)| name.to_string()).collect();
        *self.0.authorities.lock().unwrap_or_else(PoisonError::into_inner) = names;
        None
    }

    /// Without this the node's question would not reach `resolve`.
    fn has_certs(&self) -> bool {
        true
    }
}
