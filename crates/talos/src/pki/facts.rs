//! What a certificate says, in words.

use std::fmt::Write as _;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::Serialize;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::public_key::PublicKey;
use x509_parser::x509::X509Name;

use super::SpkiHash;

/// What a certificate says, for evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CertificateFacts {
    /// Whom it names, such as `O=talos`; may be empty.
    pub subject: String,
    /// Who signed it, such as `O=talos`; may be empty.
    pub issuer: String,
    /// The common name of the subject.
    pub common_name: Option<String>,
    /// The organisations of the subject: the roles of a client of Talos.
    pub organizations: Vec<String>,
    /// The kind of its key.
    pub key: String,
    /// From when on it holds.
    pub not_before: Timestamp,
    /// Until when it holds.
    pub not_after: Timestamp,
    /// The addresses and names that it is for.
    pub names: Vec<String>,
    /// The fingerprint of its public key.
    pub spki: SpkiHash,
    /// The identifier of its own key, where it says so.
    pub key_id: Option<String>,
    /// The identifier of the key that signed it, where it says so.
    pub authority_key_id: Option<String>,
}

impl CertificateFacts {
    pub(super) fn of(certificate: &X509Certificate<'_>) -> Self {
        let mut facts = Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            common_name: texts(certificate.subject().iter_common_name()).pop(),
            organizations: organizations(certificate.subject()),
            key: key(certificate),
            not_before: timestamp(certificate.validity().not_before),
            not_after: timestamp(certificate.validity().not_after),
            names: Vec::new(),
            spki: SpkiHash::of(certificate.public_key().raw),
            key_id: None,
            authority_key_id: None,
        };
        certificate.extensions().iter().for_each(|it| facts.add(it.parsed_extension()));
        facts
    }

    fn add(&mut self, extension: &ParsedExtension<'_>) {
        match extension {
            ParsedExtension::SubjectAlternativeName(it) => {
                self.names = it.general_names.iter().filter_map(name).collect();
            }
            ParsedExtension::SubjectKeyIdentifier(id) => self.key_id = Some(hex(id.0)),
            ParsedExtension::AuthorityKeyIdentifier(it) => {
                self.authority_key_id = it.key_identifier.as_ref().map(|id| hex(id.0));
            }
            _ => {}
        }
    }
}

fn organizations(name: &X509Name<'_>) -> Vec<String> {
    texts(name.iter_organization())
}

fn texts<'a>(
    attributes: impl Iterator<Item = &'a x509_parser::x509::AttributeTypeAndValue<'a>>,
) -> Vec<String> {
    attributes.filter_map(|it| it.as_str().ok()).map(str::to_owned).collect()
}

fn key(certificate: &X509Certificate<'_>) -> String {
    let parsed = certificate.public_key().parsed();
    match parsed {
        Ok(PublicKey::EC(point)) => format!("EC {}", point.key_size()),
        Ok(PublicKey::RSA(key)) => format!("RSA {}", key.key_size()),
        _ => match certificate.public_key().algorithm.algorithm.to_id_string().as_str() {
            "1.3.101.112" => "Ed25519".to_owned(),
            other => other.to_owned(),
        },
    }
}

fn timestamp(time: x509_parser::time::ASN1Time) -> Timestamp {
    Timestamp::from_second(time.timestamp()).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => address(bytes).map(|address| address.to_string()),
        _ => None,
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

/// As OpenSSL prints key identifiers, without the colons.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}
