//! The certificate authority of a simulated world.

use std::net::IpAddr;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use thiserror::Error;

/// An authority that vouches for the addresses of one world.
///
/// The key never leaves it; clients are given [`pem`](Self::pem).
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pem: String,
}

/// Why there is no certificate.
#[derive(Debug, Error)]
pub enum AuthorityError {
    /// A key or a certificate could not be made.
    #[error("could not make a certificate")]
    Sign(#[from] rcgen::Error),
    /// The TLS library would not have it.
    #[error("could not serve with the certificate")]
    Use(#[from] rustls::Error),
}

impl Authority {
    /// Makes an authority with a key of its own.
    pub fn new(name: &str) -> Result<Self, AuthorityError> {
        let key = KeyPair::generate()?;
        let mut params = named(name, Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        })
    }

    /// Returns the authority's certificate, for clients to trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns what a server on these addresses needs for TLS without client
    /// certificates, for HTTP/2 and HTTP/1.1.
    pub fn server(&self, addresses: &[IpAddr]) -> Result<Arc<ServerConfig>, AuthorityError> {
        let names = addresses.iter().map(IpAddr::to_string).collect();
        let mut params = named("server", names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let chain = vec![certificate.der().clone(), self.certificate.clone()];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key.into())?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn named(name: &str, subject_names: Vec<String>) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(subject_names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    // No client of a simulated world checks how old it is, and a fixed span
    // needs no clock.
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 12, 31);
    Ok(params)
}
