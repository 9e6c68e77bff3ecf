//! The key that opens sealed secrets, made before its controller is there.

use std::time::Duration;

use events::Secret;
use jiff::Timestamp;
use rand::CryptoRng;
use rcgen::{
    CertificateParams, DistinguishedName, KeyPair, KeyUsagePurpose, PKCS_RSA_SHA256, SerialNumber,
    date_time_ymd,
};
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, LineEnding};
use rsa::{RsaPrivateKey, RsaPublicKey};
use serde_json::json;

use super::randomness::Randomness;
use super::{Certificate, CertificateError};
use crate::SecretObject;

/// A private key with the certificate that others seal for.
#[derive(Clone, Debug)]
pub struct SealingKey {
    private: Secret,
    certificate: Certificate,
}

/// The length of an RSA key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strength {
    /// 2048 bits: the least, and quick to make.
    Bits2048,
    /// 4096 bits: what the controller makes itself.
    #[default]
    Bits4096,
}

/// How long a certificate is valid. The controller opens secrets after its end
/// too; clients refuse to seal for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// When it starts.
    pub from: Timestamp,
    /// For how long.
    pub lasts: Duration,
}

/// Why there is no usable key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// No key could be made.
    #[error("no RSA key could be made")]
    Make(#[source] rsa::Error),
    /// The key could not be written down.
    #[error("the key cannot be written as PKCS#8")]
    Write(#[source] rsa::pkcs8::Error),
    /// The certificate could not be signed.
    #[error("the certificate could not be signed")]
    Sign(#[source] rcgen::Error),
    /// The text is no private key.
    #[error("it is not an RSA key in PEM, neither PKCS#8 nor PKCS#1")]
    Read,
    /// The certificate is of no use.
    #[error("the certificate is of no use")]
    Certificate(#[from] CertificateError),
    /// Certificate and key are strangers.
    #[error("the certificate belongs to another key")]
    Pair,
}

/// The label by which the controller finds its keys.
const KEY_LABEL: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";

impl SealingKey {
    /// Makes a key and a certificate that it signs itself.
    ///
    /// Computes for seconds: call it where nobody waits for the thread.
    pub fn make(
        strength: Strength,
        lifetime: Lifetime,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, KeyError> {
        let key =
            RsaPrivateKey::new(&mut Randomness(rng), strength.bits()).map_err(KeyError::Make)?;
        let private = key.to_pkcs8_pem(LineEnding::LF).map_err(KeyError::Write)?;
        let certificate = lifetime.params(rng).self_signed(&signer(&key)?);
        let certificate = certificate.map_err(KeyError::Sign)?.pem();
        Self::from_pem(&certificate, &Secret::new(private.as_str()))
    }

    /// Puts a certificate and a key together that exist already.
    pub fn from_pem(certificate: &str, private: &Secret) -> Result<Self, KeyError> {
        let certificate = Certificate::from_pem(certificate)?;
        let key = RsaPrivateKey::from_pkcs8_pem(private.reveal())
            .ok()
            .or_else(|| RsaPrivateKey::from_pkcs1_pem(private.reveal()).ok())
            .ok_or(KeyError::Read)?;
        if RsaPublicKey::from(&key) != *certificate.key() {
            return Err(KeyError::Pair);
        }
        Ok(Self { private: private.clone(), certificate })
    }

    /// Returns the certificate that values are sealed for.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the private key in PEM.
    pub fn private(&self) -> &Secret {
        &self.private
    }

    /// Returns the Secret by which the controller finds the key when it starts.
    /// It looks only then: a key that comes later needs a restart.
    pub fn secret(&self, namespace: &str) -> SecretObject {
        // A name of the key's own, so that another key does not overwrite it.
        let name = format!("sealed-secrets-key-{}", &self.certificate.spki().short());
        SecretObject::new(
            json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "kubernetes.io/tls",
                "metadata": {
                    "name": name,
                    "namespace": namespace,
                    "labels": { KEY_LABEL: "active" },
                },
            }),
            [("tls.crt", self.certificate.pem()), ("tls.key", self.private.reveal())],
        )
    }
}

impl Strength {
    fn bits(self) -> usize {
        match self {
            Self::Bits2048 => 2048,
            Self::Bits4096 => 4096,
        }
    }
}

impl Lifetime {
    /// Ten years, as the controller gives itself.
    pub fn ten_years(from: Timestamp) -> Self {
        Self { from, lasts: Duration::from_hours(3650 * 24) }
    }

    fn params(self, rng: &mut impl CryptoRng) -> CertificateParams {
        let mut serial = [0; 16];
        rng.fill_bytes(&mut serial);
        // Nobody makes certificates of the time before 1970.
        let since_epoch = u64::try_from(self.from.as_second()).unwrap_or_default();
        let not_before = date_time_ymd(1970, 1, 1) + Duration::from_secs(since_epoch);
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.not_before = not_before;
        params.not_after = not_before + self.lasts;
        params.key_usages = vec![KeyUsagePurpose::KeyEncipherment];
        params
    }
}

/// Returns the key in the form that signs certificates.
fn signer(key: &RsaPrivateKey) -> Result<KeyPair, KeyError> {
    let der = key.to_pkcs8_der().map_err(KeyError::Write)?;
    KeyPair::from_pkcs8_der_and_sign_algo(&der.as_bytes().into(), &PKCS_RSA_SHA256)
        .map_err(KeyError::Sign)
}
