//! Certificates.

use x509_parser::certificate::X509Certificate;
use x509_parser::parse_x509_certificate;

use super::pem::{Block, PemError, encode};
use super::{CertificateFacts, SpkiHash};

const LABEL: &str = "CERTIFICATE";

/// An X.509 certificate. It keeps the text that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    pem: String,
    der: Vec<u8>,
    facts: CertificateFacts,
}

/// Why a text is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// It is no PEM.
    #[error("it is not a certificate in PEM")]
    Pem(#[from] PemError),
    /// It is something else in PEM.
    #[error("it is labelled `{0}` instead of `CERTIFICATE`")]
    Label(String),
    /// Its bytes are no certificate.
    #[error("its bytes are not a certificate")]
    Content,
}

impl Certificate {
    /// Reads a certificate in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, CertificateError> {
        let block = Block::decode(pem)?;
        if block.label != LABEL {
            return Err(CertificateError::Label(block.label));
        }
        let facts = CertificateFacts::of(&parsed(&block.der)?);
        Ok(Self { pem: pem.to_owned(), der: block.der, facts })
    }

    /// Reads a certificate in DER, as it came over the wire.
    pub fn from_der(der: &[u8]) -> Result<Self, CertificateError> {
        let facts = CertificateFacts::of(&parsed(der)?);
        Ok(Self { pem: encode(LABEL, der), der: der.to_vec(), facts })
    }

    /// Returns it in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns it in DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns what it says.
    pub fn facts(&self) -> &CertificateFacts {
        &self.facts
    }

    /// Returns the fingerprint of its public key.
    pub fn spki(&self) -> SpkiHash {
        self.facts.spki
    }

    /// Returns whether it may sign others.
    pub fn is_authority(&self) -> bool {
        parsed(&self.der).is_ok_and(|certificate| certificate.is_ca())
    }

    /// Returns whether the key of `authority` signed it. Names and times are
    /// not looked at: this tells whose node it is, not whether to trust it.
    pub fn is_signed_by(&self, authority: &Self) -> bool {
        let (Ok(ours), Ok(theirs)) = (parsed(&self.der), parsed(&authority.der)) else {
            return false;
        };
        ours.verify_signature(Some(theirs.public_key())).is_ok()
    }
}

fn parsed(der: &[u8]) -> Result<X509Certificate<'_>, CertificateError> {
    match parse_x509_certificate(der) {
        Ok(([], certificate)) => Ok(certificate),
        Ok(_) | Err(_) => Err(CertificateError::Content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_certificate_is_refused() {
        let error = |pem: &str| Certificate::from_pem(pem).unwrap_err().to_string();
        assert_eq!(error(""), "it is not a certificate in PEM");
        assert_eq!(error(&encode("X", &[])), "it is labelled `X` instead of `CERTIFICATE`");
        assert_eq!(error(&encode(LABEL, &[0x30, 0])), "its bytes are not a certificate");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(der: Vec<u8>) {
            prop_assert!(Certificate::from_der(&der).is_err());
        }
    }
}
