//! Secrets of ours that come back in an answer: an API, or a proxy before it, may
//! repeat what it was shown.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use bytes::Bytes;
use events::{Redactor, Secret};

/// Finds what was shown to a server in what it answers.
pub struct Echoes(Redactor);

impl Echoes {
    /// Secrets that are too short to be told from other words are not looked for.
    pub fn of(secrets: &[Secret]) -> Self {
        let mut redactor = Redactor::new(key());
        for secret in secrets {
            let _ = redactor.add("credential", secret);
        }
        Self(redactor)
    }

    /// Takes them out of the body of an answer.
    pub fn hide(&mut self, body: Bytes) -> Bytes {
        if self.0.finds(&body) { self.0.hide_bytes(&body).into() } else { body }
    }
}

/// A key for this moment: nobody has to compare two of its tokens.
fn key() -> [u8; 32] {
    let mut key = [0; 32];
    for part in key.chunks_mut(8) {
        part.copy_from_slice(&RandomState::new().build_hasher().finish().to_ne_bytes());
    }
    key
}
