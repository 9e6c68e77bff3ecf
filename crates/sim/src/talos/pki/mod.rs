//! Certificates of a node, made as Talos makes them.

mod keys;
mod request;

use std::{net::IpAddr, sync::Arc, time::Duration};

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, SanType, date_time_ymd,
};
use rustls::{
    crypto::ring::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use thiserror::Error;

pub(super) use request::{Request, Unsigned};

use keys::{ed25519_pem, key_pair, p256_pem};

use super::machine_config::PemPair;
use crate::clock::since_epoch;

/// How long the certificates of a node's own API are valid.
const API_VALIDITY: Duration = Duration::from_hours(24);

/// How long an administrator's kubeconfig is valid unless the configuration
/// says otherwise.
const ADMIN_VALIDITY: Duration = Duration::from_hours(365 * 24);

/// Why a certificate could not be made.
#[derive(Debug, Error)]
pub enum PkiError {
    /// The key of an authority is not there.
    #[error("the authority has no key")]
    NoKey,
    /// A key is not readable as PEM.
    #[error("could not read the key of the authority")]
    ReadKey,
    /// A certificate could not be signed.
    #[error("could not sign a certificate")]
    Sign(#[from] rcgen::Error),
    /// A certificate could not be served.
    #[error("could not use a certificate for TLS")]
    Serve(#[from] rustls::Error),
}

/// Makes the certificate of a node that has no configuration yet.
///
/// Its issuer is an authority without a name that nobody knows.
pub(super) fn maintenance(
    hostname: &str,
    addresses: &[IpAddr],
    now: Timestamp,
) -> Result<Arc<CertifiedKey>, PkiError> {
    let mut authority = CertificateParams::default();
    authority.distinguished_name = DistinguishedName::new();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = Issuer::new(authority, KeyPair::generate_for(&PKCS_ED25519)?);
    let names = [hostname.to_owned()];
    let params = server("maintenance-service.talos.dev", &names, addresses, now)?;
    certified(&params, &issuer)
}

/// Makes the certificate of a configured node's API.
pub(super) fn api(
    authority: &PemPair,
    hostname: &str,
    names: &[String],
    addresses: &[IpAddr],
    now: Timestamp,
) -> Result<Arc<CertifiedKey>, PkiError> {
    certified(&server(hostname, names, addresses, now)?, &issuer(authority)?)
}

/// Makes an authority that is not the cluster's but looks just like it.
pub(super) fn foreign_authority(now: Timestamp) -> Result<PemPair, PkiError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(DnType::OrganizationName, "talos");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
    valid_for(&mut params, now, ADMIN_VALIDITY * 10);
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let certificate = params.self_signed(&key)?.pem();
    Ok(PemPair { certificate, key: Some(key.serialize_pem()) })
}

/// Makes the certificate of a client of the Talos API, with a key in the form
/// that Talos has for it.
pub(super) fn talos_client(
    authority: &PemPair,
    roles: &[String],
    length: Duration,
    now: Timestamp,
) -> Result<PemPair, PkiError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for role in roles {
        params.distinguished_name.push(DnType::OrganizationName, role.as_str());
    }
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    valid_for(&mut params, now, length);
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let certificate = params.signed_by(&key, &issuer(authority)?)?.pem();
    Ok(PemPair { certificate, key: Some(ed25519_pem(&key)) })
}

/// Makes the client certificate of a Kubernetes administrator.
pub(super) fn kubernetes_admin(authority: &PemPair, now: Timestamp) -> Result<PemPair, PkiError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(DnType::OrganizationName, "system:masters");
    params.distinguished_name.push(DnType::CommonName, "admin");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    valid_for(&mut params, now, ADMIN_VALIDITY);
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let certificate = params.signed_by(&key, &issuer(authority)?)?.pem();
    Ok(PemPair { certificate, key: Some(p256_pem(&key)) })
}

/// Makes the certificate of a Kubernetes API server.
pub(super) fn kubernetes_server(
    authority: &PemPair,
    names: &[String],
    addresses: &[IpAddr],
    now: Timestamp,
) -> Result<PemPair, PkiError> {
    let key = KeyPair::generate()?;
    let params = server("kube-apiserver", names, addresses, now)?;
    let certificate = params.signed_by(&key, &issuer(authority)?)?.pem();
    Ok(PemPair { certificate, key: Some(key.serialize_pem()) })
}

/// Reads the certificates of an authority.
pub(super) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, PkiError> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|_| PkiError::Sign(rcgen::Error::CouldNotParseCertificate))
}

/// Checks that a certificate and its key, where it has one, can be used.
pub(super) fn check(pair: &PemPair) -> Result<(), PkiError> {
    certificates(&pair.certificate)?;
    match pair.key {
        Some(_) => issuer(pair).map(drop),
        None => Ok(()),
    }
}

fn server(
    name: &str,
    names: &[String],
    addresses: &[IpAddr],
    now: Timestamp,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    valid_for(&mut params, now, API_VALIDITY);
    params.subject_alt_names = alternatives(names, addresses)?;
    Ok(params)
}

fn alternatives(names: &[String], addresses: &[IpAddr]) -> Result<Vec<SanType>, rcgen::Error> {
    let by_name = names.iter().map(|name| match name.parse() {
        Ok(address) => Ok(SanType::IpAddress(address)),
        Err(_) => Ok(SanType::DnsName(name.as_str().try_into()?)),
    });
    by_name.chain(addresses.iter().map(|address| Ok(SanType::IpAddress(*address)))).collect()
}

fn named(kind: DnType, name: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(kind, name);
    subject
}

/// Makes a certificate valid from a time on, for so long.
fn valid_for(params: &mut CertificateParams, from: Timestamp, length: Duration) {
    params.not_before = date_time_ymd(1970, 1, 1) + since_epoch(from);
    params.not_after = params.not_before + length;
}

/// Reads the certificate and the key of an authority, to sign with.
pub(super) fn issuer(authority: &PemPair) -> Result<Issuer<'static, KeyPair>, PkiError> {
    let key = authority.key.as_deref().ok_or(PkiError::NoKey)?;
    Ok(Issuer::from_ca_cert_pem(&authority.certificate, key_pair(key)?)?)
}

fn certified(
    params: &CertificateParams,
    issuer: &Issuer<'_, KeyPair>,
) -> Result<Arc<CertifiedKey>, PkiError> {
    let key = KeyPair::generate_for(&PKCS_ED25519)?;
    let certificate = params.signed_by(&key, issuer)?;
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let chain = vec![certificate.der().clone()];
    Ok(Arc::new(CertifiedKey::new(chain, any_supported_type(&key)?)))
}
