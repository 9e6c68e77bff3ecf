//! Authorities, and the client certificates that they sign.

use std::time::Duration;

use jiff::Timestamp;
use rand::CryptoRng;
use rcgen::string::PrintableString;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, DnValue,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyUsagePurpose, SerialNumber, date_time_ymd,
};
use rustls::pki_types::CertificateDer;

use super::subject::with_organizations;
use super::{Certificate, CertificateError, KeyError, PrivateKey};

/// From when to when a certificate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// When it begins.
    pub from: Timestamp,
    /// How long it holds.
    pub lasts: Duration,
}

/// A certificate that signs others, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    certificate: Certificate,
    key: PrivateKey,
}

/// Whom a client certificate names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientLeaf<'a> {
    /// One or several.
    pub(crate) organizations: &'a [&'a str],
    pub(crate) common_name: Option<&'a str>,
    pub(crate) lifetime: Lifetime,
}

/// Why there is no authority, or no certificate of it.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The key is no good.
    #[error("its key cannot be used")]
    Key(#[from] KeyError),
    /// The certificate is no good.
    #[error("its certificate cannot be used")]
    Certificate(#[from] CertificateError),
    /// They do not belong together.
    #[error("its certificate and its key do not belong together")]
    Pair,
    /// The certificate may not sign others.
    #[error("its certificate is not that of an authority")]
    NotAnAuthority,
    /// It could not sign.
    #[error("it could not sign")]
    Sign(#[source] rcgen::Error),
}

// === impl Lifetime ===

impl Lifetime {
    /// A year, as Talos gives to clients.
    pub fn year(from: Timestamp) -> Self {
        Self { from, lasts: Duration::from_hours(365 * 24) }
    }

    /// Ten years, as Talos gives to authorities.
    pub fn ten_years(from: Timestamp) -> Self {
        Self { from, lasts: Duration::from_hours(3650 * 24) }
    }

    fn set(self, params: &mut CertificateParams) {
        // What came before 1970 is no time at which certificates are made.
        let since_epoch = u64::try_from(self.from.as_second()).unwrap_or_default();
        params.not_before = date_time_ymd(1970, 1, 1) + Duration::from_secs(since_epoch);
        params.not_after = params.not_before + self.lasts;
    }
}

// === impl Authority ===

impl Authority {
    /// Makes an authority that signs itself, as Talos makes it. Without an
    /// organisation its subject is empty.
    pub fn new(
        organization: Option<&str>,
        key: PrivateKey,
        lifetime: Lifetime,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, AuthorityError> {
        let mut params = params(organization, None, rng)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        lifetime.set(&mut params);
        let signed = params.self_signed(&key.pair()?).map_err(AuthorityError::Sign)?;
        Ok(Self { certificate: Certificate::from_der(signed.der())?, key })
    }

    /// Puts a certificate and its key together.
    pub fn of(certificate: Certificate, key: PrivateKey) -> Result<Self, AuthorityError> {
        if key.spki()? != certificate.spki() {
            return Err(AuthorityError::Pair);
        }
        if !certificate.is_authority() {
            return Err(AuthorityError::NotAnAuthority);
        }
        Ok(Self { certificate, key })
    }

    /// Returns its own certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns its key.
    pub fn key(&self) -> &PrivateKey {
        &self.key
    }

    /// Signs the certificate of a client that holds `key`: good for clients
    /// and for nothing else, which the API of Talos insists on.
    pub(crate) fn sign_client(
        &self,
        leaf: ClientLeaf<'_>,
        key: &PrivateKey,
        rng: &mut impl CryptoRng,
    ) -> Result<Certificate, AuthorityError> {
        let mut params = params(leaf.organizations.first().copied(), leaf.common_name, rng)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.use_authority_key_identifier_extension = true;
        leaf.lifetime.set(&mut params);
        let own = CertificateDer::from(self.certificate.der());
        let issuer =
            Issuer::from_ca_cert_der(&own, self.key.pair()?).map_err(AuthorityError::Sign)?;
        let signed = params.signed_by(&key.pair()?, &issuer).map_err(AuthorityError::Sign)?;
        if leaf.organizations.len() < 2 {
            return Ok(Certificate::from_der(signed.der())?);
        }
        let signed = with_organizations(signed.der(), leaf.organizations, &self.key.pair()?);
        let signed = signed.ok_or(CertificateError::Content)?.map_err(AuthorityError::Sign)?;
        Ok(Certificate::from_der(&signed)?)
    }
}

fn params(
    organization: Option<&str>,
    common_name: Option<&str>,
    rng: &mut impl CryptoRng,
) -> Result<CertificateParams, AuthorityError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    if let Some(name) = organization {
        params.distinguished_name.push(DnType::OrganizationName, printable(name)?);
    }
    if let Some(name) = common_name {
        params.distinguished_name.push(DnType::CommonName, printable(name)?);
    }
    params.serial_number = Some(serial(rng));
    Ok(params)
}

/// Go writes names as printable strings, and compares them byte by byte.
fn printable(name: &str) -> Result<DnValue, AuthorityError> {
    PrintableString::try_from(name).map(DnValue::PrintableString).map_err(AuthorityError::Sign)
}

/// A positive number that nobody can guess, of 16 bytes as Talos makes them.
fn serial(rng: &mut impl CryptoRng) -> SerialNumber {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    bytes[0] = bytes[0] & 0x7f | 0x40;
    SerialNumber::from_slice(&bytes)
}
