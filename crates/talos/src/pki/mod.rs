//! Keys and certificates in the forms that Talos writes and expects.
//!
//! Talos labels its Ed25519 keys `ED25519 PRIVATE KEY` although they are plain
//! PKCS#8, which other readers refuse; P-256 keys are SEC1, RSA keys PKCS#1.
//! Texts that were read are kept as they are, so that a file can be written
//! again byte by byte.

mod authority;
mod certificate;
mod der;
mod facts;
mod key;
mod pem;
mod spki;
mod subject;

pub use authority::{Authority, AuthorityError, Lifetime};
pub use certificate::{Certificate, CertificateError};
pub use facts::CertificateFacts;
pub use key::{KeyError, KeyKind, PrivateKey};
pub use pem::PemError;
pub use spki::{InvalidSpkiHash, SpkiHash};

pub(crate) use authority::ClientLeaf;
