//! The certificate that values are sealed for.

use events::Digest;
use jiff::Timestamp;
use rand::CryptoRng;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use rsa::pkcs8::DecodePublicKey as _;
use rsa::sha2::Sha256;
use rsa::traits::PublicKeyParts as _;
use rsa::{Oaep, RsaPublicKey};
use x509_parser::pem::Pem;

use super::Scope;
use super::randomness::Randomness;

/// What values are sealed for: an RSA key, known by the hash of its SPKI.
#[derive(Clone, Debug)]
pub struct Certificate {
    pem: String,
    key: RsaPublicKey,
    spki: Digest,
    ends: Timestamp,
}

/// Why a text is no certificate to seal for.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// It is not PEM.
    #[error("it is not PEM")]
    Pem(#[source] x509_parser::error::PEMError),
    /// It is PEM, and something else than a certificate.
    #[error("it is a PEM block `{0}`, not a certificate")]
    Label(String),
    /// The certificate cannot be read.
    #[error("the certificate cannot be read")]
    Parse(#[source] x509_parser::asn1_rs::Err<x509_parser::error::X509Error>),
    /// The controller takes RSA keys only.
    #[error("its key is not RSA")]
    NotRsa(#[source] rsa::pkcs8::spki::Error),
    /// The key is too short to be trusted.
    #[error("its key has {0} bits, and 2048 is the least")]
    Short(usize),
    /// It ends at no time.
    #[error("its end is not a time")]
    End(#[source] jiff::Error),
}

/// Why a value could not be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The session key could not be encrypted.
    #[error("the session key could not be encrypted")]
    Wrap(#[source] rsa::Error),
    /// The value could not be encrypted.
    #[error("the value could not be encrypted")]
    Encrypt,
}

/// The shortest key that Go's TLS and we accept.
const LEAST_BITS: usize = 2048;

impl Certificate {
    /// Reads the first certificate of a PEM text.
    pub fn from_pem(text: &str) -> Result<Self, CertificateError> {
        let (pem, _) =
            Pem::read(std::io::Cursor::new(text.as_bytes())).map_err(CertificateError::Pem)?;
        if pem.label != "CERTIFICATE" {
            return Err(CertificateError::Label(pem.label));
        }
        let parsed = pem.parse_x509().map_err(CertificateError::Parse)?;
        let spki = parsed.public_key().raw;
        let key = RsaPublicKey::from_public_key_der(spki).map_err(CertificateError::NotRsa)?;
        if key.n().bits() < LEAST_BITS {
            return Err(CertificateError::Short(key.n().bits()));
        }
        let ends = Timestamp::from_second(parsed.validity().not_after.timestamp());
        Ok(Self {
            pem: text.to_owned(),
            spki: Digest::of(spki),
            key,
            ends: ends.map_err(CertificateError::End)?,
        })
    }

    /// Returns the text that it was read from.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the SHA-256 of its public key, by which keys are compared.
    pub fn spki(&self) -> Digest {
        self.spki
    }

    /// Returns when it stops being valid.
    pub fn ends(&self) -> Timestamp {
        self.ends
    }

    pub(super) fn key(&self) -> &RsaPublicKey {
        &self.key
    }

    /// Seals a value so that only the holder of the key opens it, and only in `scope`.
    pub fn seal(
        &self,
        value: &[u8],
        scope: &Scope,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, SealError> {
        let mut session = [0; 32];
        rng.fill_bytes(&mut session);
        let padding = Oaep::new_with_label::<Sha256, _>(scope.label());
        let wrapped = self.key.encrypt(&mut Randomness(rng), padding, &session);
        let wrapped = wrapped.map_err(SealError::Wrap)?;
        let length = u16::try_from(wrapped.len()).map_err(|_| SealError::Encrypt)?;
        let mut sealed = length.to_be_bytes().to_vec();
        sealed.extend(wrapped);
        sealed.extend(encrypt(&session, value)?);
        Ok(sealed)
    }
}

/// Encrypts under a key that is used once, and so under the zero nonce.
fn encrypt(session: &[u8; 32], value: &[u8]) -> Result<Vec<u8>, SealError> {
    let key = UnboundKey::new(&AES_256_GCM, session).map_err(|_| SealError::Encrypt)?;
    let mut buffer = value.to_vec();
    LessSafeKey::new(key)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key([0; 12]), Aad::empty(), &mut buffer)
        .map_err(|_| SealError::Encrypt)?;
    Ok(buffer)
}
