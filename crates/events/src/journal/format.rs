//! The lines of a journal and the version of their format.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{ClusterId, Digest, Event, RunId};

/// The version of the journal's format.
///
/// A reader takes any minor version of its major one: fields and events that it
/// does not know are passed over. A writer appends only to its own version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version {
    /// Grows when an old reader would misunderstand a new journal.
    pub major: u32,
    /// Grows when an old reader would only see less.
    pub minor: u32,
}

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always `seaworthy`.
    pub journal: String,
    /// The version of the format.
    pub version: Version,
    /// The run.
    pub run: RunId,
    /// The cluster.
    pub cluster: ClusterId,
    /// Always zero: nothing stands before it.
    pub prev: Digest,
}

/// Any other line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line<E> {
    pub(crate) prev: Digest,
    pub(crate) event: E,
}

pub(crate) type EventLine = Line<Event>;

/// What stands in [`Header::journal`].
pub(crate) const MAGIC: &str = "seaworthy";

// === impl Version ===

impl Version {
    /// The version that this program writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('.')
            .and_then(|(major, minor)| {
                Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
            })
            .ok_or_else(|| format!("`{text}` is not a format version such as 1.0"))
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

// === impl Header ===

impl Header {
    /// The header of a journal that this program writes.
    pub fn new(run: RunId, cluster: ClusterId) -> Self {
        let version = Version::CURRENT;
        Self { journal: MAGIC.to_owned(), version, run, cluster, prev: Digest::ZERO }
    }
}
