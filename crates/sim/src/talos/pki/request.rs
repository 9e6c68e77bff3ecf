//! Certificates that somebody else signs than who has their key.

use std::{net::IpAddr, sync::Arc};

use jiff::Timestamp;
use rcgen::{
    CertificateParams, CertificateSigningRequestParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ED25519,
};
use rustls::{
    crypto::ring::sign::any_supported_type, pki_types::PrivateKeyDer, sign::CertifiedKey,
};

use super::{API_VALIDITY, PkiError, alternatives, certificates, named, valid_for};

/// A key with the request to sign its certificate.
#[derive(Debug)]
pub(in crate::talos) struct Unsigned {
    key: KeyPair,
    /// The request, as PEM.
    pub(in crate::talos) request: String,
}

/// A request that somebody has sent.
#[derive(Debug)]
pub(in crate::talos) struct Request(CertificateSigningRequestParams);

impl Unsigned {
    /// Asks for a certificate of a node's API.
    pub(in crate::talos) fn new(
        hostname: &str,
        names: &[String],
        addresses: &[IpAddr],
    ) -> Result<Self, PkiError> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named(DnType::CommonName, hostname);
        params.subject_alt_names = alternatives(names, addresses)?;
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let request = params.serialize_request(&key)?.pem()?;
        Ok(Self { key, request })
    }

    /// Puts the key and its certificate together.
    pub(in crate::talos) fn certified(
        &self,
        certificate: &str,
    ) -> Result<Arc<CertifiedKey>, PkiError> {
        let key = PrivateKeyDer::Pkcs8(self.key.serialize_der().into());
        let certified = CertifiedKey::new(certificates(certificate)?, any_supported_type(&key)?);
        certified.keys_match()?;
        Ok(Arc::new(certified))
    }
}

impl Request {
    /// Reads a request and checks that its sender has the key.
    pub(in crate::talos) fn read(pem: &str) -> Result<Self, PkiError> {
        Ok(Self(CertificateSigningRequestParams::from_pem(pem)?))
    }

    /// Signs it for a server and for nothing more: a certificate with a role
    /// would let a worker call the others.
    pub(in crate::talos) fn sign(
        mut self,
        issuer: &Issuer<'_, KeyPair>,
        now: Timestamp,
    ) -> Result<String, PkiError> {
        let params = &mut self.0.params;
        params.distinguished_name.remove(DnType::OrganizationName);
        params.is_ca = IsCa::NoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        valid_for(params, now, API_VALIDITY);
        Ok(self.0.signed_by(issuer)?.pem())
    }
}
