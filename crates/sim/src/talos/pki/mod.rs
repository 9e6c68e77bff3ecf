//! Certificates of a node, made as Talos makes them.

mod request;

use std::{net::IpAddr, sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ED25519, SanType, date_time_ymd,
};
use rustls::{
    crypto::ring::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use thiserror::Error;

pub(super) use request::{Request, Unsigned};

use super::machine_config::PemPair;
use crate::clock::since_epoch;

/// How long the certificates of a node's own API are valid.
const API_VALIDITY: Duration = Duration::from_hours(24);

/// How long an administrator's kubeconfig is valid unless the configuration
/// says otherwise.
const ADMIN_VALIDITY: Duration = Duration::from_hours(365 * 24);

const P256_PKCS8_HEADER_LENGTH: u8 = 24;

/// What precedes a P-256 key in its PKCS #8 envelope, in DER: version 0 and the
/// algorithm `id-ecPublicKey` on the curve `prime256v1`.
const P256_PKCS8_HEADER: [u8; P256_PKCS8_HEADER_LENGTH as usize] = [
    0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07,
];

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

/// What stands before the 32 bytes of an Ed25519 key in PKCS #8.
const ED25519_PKCS8_HEADER: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

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

/// Writes an Ed25519 key without its public half, which Go does not read, and
/// under Talos's label.
fn ed25519_pem(key: &KeyPair) -> String {
    let der = key.serialize_der();
    let secret = &der[ED25519_PKCS8_HEADER.len()..][..32];
    let body = BASE64_STANDARD.encode([&ED25519_PKCS8_HEADER, secret].concat());
    format!("-----BEGIN ED25519 PRIVATE KEY-----\n{body}\n-----END ED25519 PRIVATE KEY-----\n")
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
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer(authority)?)?.pem();
    Ok(PemPair { certificate, key: Some(key.serialize_pem()) })
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

/// Reads a key under any of the labels that Talos writes.
///
/// `ED25519 PRIVATE KEY` is PKCS #8 under a name of Talos's own, and
/// `EC PRIVATE KEY` is SEC 1, which the cryptography library does not read
/// without the PKCS #8 envelope.
fn key_pair(pem: &str) -> Result<KeyPair, PkiError> {
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = BASE64_STANDARD.decode(body).map_err(|_| PkiError::ReadKey)?;
    let pkcs8 = if pem.contains("BEGIN EC PRIVATE KEY") { envelope(&der)? } else { der };
    Ok(KeyPair::try_from(pkcs8)?)
}

/// Puts a P-256 key into its PKCS #8 envelope.
fn envelope(sec1: &[u8]) -> Result<Vec<u8>, PkiError> {
    let inner = u8::try_from(sec1.len()).ok().filter(|length| *length < 0x80);
    let inner = inner.ok_or(PkiError::ReadKey)?;
    let outer = inner + 2 + P256_PKCS8_HEADER_LENGTH;
    let mut der = vec![0x30, 0x81, outer];
    der.extend(P256_PKCS8_HEADER);
    der.extend([0x04, inner]);
    der.extend(sec1);
    Ok(der)
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
