//! Digests, written as names and statuses carry them.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of a text in hexadecimal digits.
pub(super) fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut digits, byte| {
        // A text takes whatever is written to it.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
