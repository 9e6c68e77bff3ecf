//! Certificates of a control plane: one authority for everything, and one
//! that only vouches for the [proxy](crate::proxy).

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};

/// A certificate and its key.
#[derive(Debug)]
pub struct Pair {
    /// The certificate, in PEM.
    pub certificate: String,
    /// The key, in PEM.
    pub key: String,
}

/// An authority that signs certificates.
#[derive(Debug)]
pub struct Authority {
    pair: Pair,
    params: CertificateParams,
}

/// Whom a client certificate names.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// The user.
    pub user: &'a str,
    /// The group, if any.
    pub group: Option<&'a str>,
}

impl Pair {
    fn new(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}

impl Authority {
    /// Makes an authority.
    pub fn new(name: &str) -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let pair = Pair::new(&params.self_signed(&key)?, &key);
        Ok(Self { pair, params })
    }

    /// Returns the authority's own certificate and key.
    pub fn pair(&self) -> &Pair {
        &self.pair
    }

    /// Signs a certificate for a client.
    pub fn client(&self, identity: Identity<'_>) -> Result<Pair, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, identity.user);
        if let Some(group) = identity.group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    /// Signs a certificate for a server, under its names and addresses.
    pub fn server(&self, name: &str, hosts: &[String]) -> Result<Pair, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.subject_alt_names = hosts
            .iter()
            .map(|host| match host.parse() {
                Ok(address) => Ok(SanType::IpAddress(address)),
                Err(_) => Ok(SanType::DnsName(host.as_str().try_into()?)),
            })
            .collect::<Result<_, rcgen::Error>>()?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Pair, rcgen::Error> {
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let authority = KeyPair::from_pem(&self.pair.key)?;
        let issuer = Issuer::from_params(&self.params, authority);
        let key = KeyPair::generate()?;
        Ok(Pair::new(&params.signed_by(&key, &issuer)?, &key))
    }
}
