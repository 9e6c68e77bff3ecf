//! The bundle as a file: talosctl's `secrets.yaml`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use events::Secret;
use serde::Serialize;

use super::{Bundle, InvalidToken, Token};
use crate::pki::{Authority, AuthorityError, Certificate, CertificateError, KeyError, PrivateKey};
use crate::yaml::{Document, YamlError, base64, write};

/// Why a text is no bundle. No secret is in its message.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is no YAML, or something is missing.
    #[error("it is not a secrets bundle as talosctl writes it")]
    Yaml(#[from] YamlError),
    /// A token is none.
    #[error("`{field}` is no good")]
    Token {
        /// Where it stands.
        field: &'static str,
        /// Why.
        source: InvalidToken,
    },
    /// Something is not 32 bytes in base64.
    #[error("`{0}` is not 32 bytes in base64")]
    Random(&'static str),
    /// A certificate is none.
    #[error("`certs.{name}.crt` is no good")]
    Certificate {
        /// The authority's name.
        name: &'static str,
        /// Why.
        source: CertificateError,
    },
    /// A key is none.
    #[error("`certs.{name}.key` is no good")]
    Key {
        /// The authority's name.
        name: &'static str,
        /// Why.
        source: KeyError,
    },
    /// A certificate and a key do not make an authority.
    #[error("`certs.{name}` is no good")]
    Authority {
        /// The authority's name.
        name: &'static str,
        /// Why.
        source: AuthorityError,
    },
}

#[derive(Serialize)]
struct BundleFile<'a> {
    cluster: ClusterPart<'a>,
    secrets: SecretsPart<'a>,
    trustdinfo: TrustdPart<'a>,
    certs: CertsPart,
}

#[derive(Serialize)]
struct ClusterPart<'a> {
    id: &'a str,
    secret: &'a str,
}

#[derive(Serialize)]
struct SecretsPart<'a> {
    bootstraptoken: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    aescbcencryptionsecret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secretboxencryptionsecret: Option<&'a str>,
}

#[derive(Serialize)]
struct TrustdPart<'a> {
    token: &'a str,
}

#[derive(Serialize)]
struct CertsPart {
    etcd: PairPart,
    k8s: PairPart,
    k8saggregator: PairPart,
    k8sserviceaccount: KeyPart,
    os: PairPart,
}

#[derive(Serialize)]
struct PairPart {
    crt: String,
    key: String,
}

#[derive(Serialize)]
struct KeyPart {
    key: String,
}

impl Bundle {
    /// Writes the bundle as talosctl does. The text holds every secret of the cluster.
    pub fn to_yaml(&self) -> Secret {
        Secret::new(write(&BundleFile {
            cluster: ClusterPart { id: &self.cluster_id, secret: self.cluster_secret.reveal() },
            secrets: SecretsPart {
                bootstraptoken: self.bootstrap_token.secret().reveal(),
                aescbcencryptionsecret: self.aescbc.as_ref().map(Secret::reveal),
                secretboxencryptionsecret: self.secretbox.as_ref().map(Secret::reveal),
            },
            trustdinfo: TrustdPart { token: self.trustd_token.secret().reveal() },
            certs: CertsPart {
                etcd: PairPart::of(&self.etcd),
                k8s: PairPart::of(&self.kubernetes),
                k8saggregator: PairPart::of(&self.aggregator),
                k8sserviceaccount: KeyPart { key: base64(self.service_account.pem().reveal()) },
                os: PairPart::of(&self.os),
            },
        }))
    }

    /// Reads a bundle that this crate or talosctl has written.
    pub fn from_yaml(text: &str) -> Result<Self, FileError> {
        Self::from_document(&Document::read(text)?)
    }

    /// Takes a bundle from a document that has the form of its file.
    pub(super) fn from_document(file: &Document) -> Result<Self, FileError> {
        let secretbox = encryption(file, "secrets.secretboxencryptionsecret")?;
        let aescbc = encryption(file, "secrets.aescbcencryptionsecret")?;
        if secretbox.is_none() && aescbc.is_none() {
            return Err(YamlError::Missing("secrets.secretboxencryptionsecret".to_owned()).into());
        }
        Ok(Self {
            cluster_id: random(file, "cluster.id")?,
            cluster_secret: random(file, "cluster.secret").map(Secret::new)?,
            bootstrap_token: token(file, "secrets.bootstraptoken")?,
            trustd_token: token(file, "trustdinfo.token")?,
            secretbox,
            aescbc,
            etcd: authority(file, "etcd")?,
            kubernetes: authority(file, "k8s")?,
            aggregator: authority(file, "k8saggregator")?,
            service_account: key(file, "k8sserviceaccount")?,
            os: authority(file, "os")?,
        })
    }
}

impl PairPart {
    fn of(authority: &Authority) -> Self {
        Self {
            crt: base64(authority.certificate().pem()),
            key: base64(authority.key().pem().reveal()),
        }
    }
}

fn text<'a>(file: &'a Document, field: &str) -> Result<&'a str, YamlError> {
    file.text(&field.split('.').collect::<Vec<_>>())
}

/// The id of a cluster was in the alphabet of URLs before Talos 1.14.
fn random(file: &Document, field: &'static str) -> Result<String, FileError> {
    let text = text(file, field)?;
    let bytes = STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text));
    match bytes {
        Ok(bytes) if bytes.len() == 32 => Ok(text.to_owned()),
        Ok(_) | Err(_) => Err(FileError::Random(field)),
    }
}

/// One of the two that encrypt what etcd holds: a cluster has the older one,
/// the newer one, or both where it went from one to the other.
fn encryption(file: &Document, field: &'static str) -> Result<Option<Secret>, FileError> {
    match text(file, field) {
        Err(YamlError::Missing(_)) | Ok("") => Ok(None),
        _ => random(file, field).map(|text| Some(Secret::new(text))),
    }
}

fn token(file: &Document, field: &'static str) -> Result<Token, FileError> {
    Token::parse(text(file, field)?).map_err(|source| FileError::Token { field, source })
}

fn key(file: &Document, name: &'static str) -> Result<PrivateKey, FileError> {
    let pem = file.base64(&["certs", name, "key"])?;
    PrivateKey::from_pem(&pem).map_err(|source| FileError::Key { name, source })
}

fn authority(file: &Document, name: &'static str) -> Result<Authority, FileError> {
    let pem = file.base64(&["certs", name, "crt"])?;
    let certificate =
        Certificate::from_pem(&pem).map_err(|source| FileError::Certificate { name, source })?;
    let key = key(file, name)?;
    Authority::of(certificate, key).map_err(|source| FileError::Authority { name, source })
}
