//! The fingerprint of a public key.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a certificate's public key with its algorithm (SPKI), in
/// base64: what a Talos node prints on its console, and what `talosctl
/// --cert-fingerprint` takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct SpkiHash([u8; 32]);

/// A text that is no fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fingerprint: 32 bytes in base64, such as a node prints on its console")]
pub struct InvalidSpkiHash(String);

impl SpkiHash {
    /// Returns the fingerprint of a public key in DER, its algorithm included.
    pub fn of(spki: &[u8]) -> Self {
        Self(Sha256::digest(spki).into())
    }
}

impl fmt::Display for SpkiHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for SpkiHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpkiHash({self})")
    }
}

impl From<SpkiHash> for String {
    fn from(hash: SpkiHash) -> Self {
        hash.to_string()
    }
}

impl FromStr for SpkiHash {
    type Err = InvalidSpkiHash;

    fn from_str(text: &str) -> Result<Self, InvalidSpkiHash> {
        let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| InvalidSpkiHash(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_survives_its_text_and_refuses_others() {
        let hash = SpkiHash::of(b"a key");
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for wrong in ["", "AAAA", "not base64", &hash.to_string()[1..]] {
            let error = wrong.parse::<SpkiHash>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{wrong}` is not a fingerprint")));
        }
    }
}
