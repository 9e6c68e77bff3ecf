//! The cryptography of Sealed Secrets: a key that is in the cluster before its
//! controller starts, and values that only this key opens.
//!
//! ```text
//!  SealingKey ── tls.crt ──► Certificate ── seal(value, scope) ──► SealedSecret
//!      └─ Secret in the cluster, before the controller ──────────► opens it again
//! ```
//!
//! A sealed value is `length ‖ wrapped key ‖ ciphertext`: two bytes of length,
//! big-endian; a session key, encrypted with RSA-OAEP (SHA-256) under a label
//! that is the [`Scope`]; the value, encrypted with AES-256-GCM under that key.
//! The nonce is all zeros, which is sound because no session key is used twice.
//! Opening is the controller's business and is not here.

mod certificate;
mod key;
mod randomness;
mod scope;
mod sealed_secret;

pub use certificate::{Certificate, CertificateError, SealError};
pub use key::{KeyError, Lifetime, SealingKey, Strength};
pub use scope::Scope;
pub use sealed_secret::SealedSecret;
