//! Identities: runs, clusters, sequence numbers, digests.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The identity of one run: 48 bits of time and 80 random bits, written as 26
/// characters of Crockford's base32, so that run folders sort by age.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RunId(u128);

/// The identity of a cluster, made once in its state folder and put on every
/// label: what does not carry it is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClusterId(uuid::Uuid);

/// The place of an event in its journal. The header line is 0, events start at 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// A SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest([u8; 32]);

/// A text that is not the identity it was read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct InvalidId {
    text: String,
    expected: &'static str,
}

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const RUN_ID_LENGTH: usize = 26;

// === impl RunId ===

impl RunId {
    /// Makes the id of a run that starts `at`; only the low 80 bits of `chance` are used.
    pub fn new(at: Timestamp, chance: u128) -> Self {
        let millis = u128::try_from(at.as_millisecond()).unwrap_or(0) & ((1 << 48) - 1);
        Self(millis << 80 | chance & ((1 << 80) - 1))
    }

    /// Returns the time in the id, to the millisecond.
    pub fn started(self) -> Timestamp {
        let millis = i64::try_from(self.0 >> 80).expect("48 bits fit an i64");
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in (0..RUN_ID_LENGTH).rev() {
            let digit = (self.0 >> (place * 5)) & 31;
            let symbol = CROCKFORD[usize::try_from(digit).expect("five bits fit a usize")];
            fmt::Write::write_char(f, char::from(symbol))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({self})")
    }
}

impl FromStr for RunId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId::new(text, "a run id (26 characters, such as 01JCQ5…)");
        if text.len() != RUN_ID_LENGTH {
            return Err(invalid());
        }
        let mut value: u128 = 0;
        for symbol in text.bytes() {
            let upper = symbol.to_ascii_uppercase();
            let digit = CROCKFORD.iter().position(|known| *known == upper).ok_or_else(invalid)?;
            value = value
                .checked_mul(32)
                .and_then(|shifted| shifted.checked_add(digit as u128))
                .ok_or_else(invalid)?;
        }
        Ok(Self(value))
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for RunId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

// === impl ClusterId ===

impl ClusterId {
    /// The identity of no cluster.
    pub const NIL: Self = Self(uuid::Uuid::nil());

    /// Makes a cluster id from 128 random bits.
    pub fn new(chance: u128) -> Self {
        Self(uuid::Builder::from_random_bytes(chance.to_be_bytes()).into_uuid())
    }

    /// Returns the sixteen bytes of the UUID.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ClusterId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.parse().map(Self).map_err(|_| InvalidId::new(text, "a cluster id (a UUID)"))
    }
}

// === impl Seq ===

impl Seq {
    /// Returns the number after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// === impl Digest ===

impl Digest {
    /// The digest before the first line of a chain.
    pub const ZERO: Self = Self([0; 32]);

    /// Returns the SHA-256 of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the first digits, enough to tell digests apart on a screen.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId::new(text, "a SHA-256 (64 hexadecimal digits)");
        if text.len() != 64 || !text.is_ascii() {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| invalid())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| invalid())?;
        }
        Ok(Self(bytes))
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

// === impl InvalidId ===

impl InvalidId {
    fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.to_owned(), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn run_ids_survive_their_text(chance: u128, millis in 0_i64..(1 << 47)) {
            let at = Timestamp::from_millisecond(millis).unwrap();
            let id = RunId::new(at, chance);
            prop_assert_eq!(id.to_string().parse::<RunId>().unwrap(), id);
            prop_assert_eq!(id.started(), at);
        }

        #[test]
        fn run_ids_sort_by_time(a in 0_i64..(1 << 47), b in 0_i64..(1 << 47), x: u128, y: u128) {
            prop_assume!(a < b);
            let id = |millis, chance| RunId::new(Timestamp::from_millisecond(millis).unwrap(), chance);
            prop_assert!(id(a, x).to_string() < id(b, y).to_string());
        }

        #[test]
        fn digests_survive_their_text(bytes: Vec<u8>) {
            let digest = Digest::of(&bytes);
            prop_assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        }

        #[test]
        fn foreign_text_is_refused_and_never_panics(text: String) {
            let _ = text.parse::<RunId>();
            let _ = text.parse::<Digest>();
            let _ = text.parse::<ClusterId>();
        }
    }

    #[test]
    fn refusals_name_the_text_and_what_was_expected() {
        let error = "0000000000000000000000000U".parse::<RunId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`0000000000000000000000000U` is not a run id (26 characters, such as 01JCQ5…)"
        );
        assert!("ZZZZZZZZZZZZZZZZZZZZZZZZZZ".parse::<RunId>().is_err(), "over 128 bits");
    }
}
