//! What was seen: a line for people, facts, and files beside the journal.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{Digest, Secret};

/// What a gate saw when it said Ready: the observation, not an "ok".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The line that people see, such as `3 members, leader demo-cp-2`.
    pub summary: String,
    /// The facts behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// Files beside the journal, by digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Attachment>,
    /// Whether a simulator answered instead of the real thing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// One observation: what was looked at, and what it said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What was looked at, such as `etcd.leader`.
    pub name: String,
    /// What it said.
    pub value: Observed,
}

/// The value of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A plain value.
    Plain(Value),
    /// A value that must not reach the disk: the journal holds a token instead.
    Secret(Secret),
}

/// A file of evidence, stored by its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is called in reports, such as `kubelet.log`.
    pub name: String,
    /// The SHA-256 of the stored bytes, which is also the file's name.
    pub digest: Digest,
    /// The size of the stored bytes.
    pub size: u64,
    /// The size before it was cut to the limit, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
}

// === impl Evidence ===

impl Evidence {
    /// Evidence with a line for people and no facts yet.
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), ..Self::default() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl Into<Observed>) -> Self {
        self.facts.push(Fact { name: name.into(), value: value.into() });
        self
    }

    /// Adds a file that was stored beside the journal.
    #[must_use]
    pub fn file(mut self, file: Attachment) -> Self {
        self.files.push(file);
        self
    }

    /// Says that a simulator answered.
    #[must_use]
    pub fn simulated(mut self) -> Self {
        self.simulated = true;
        self
    }
}

// === impl Observed ===

impl<T: Into<Value>> From<T> for Observed {
    fn from(value: T) -> Self {
        Self::Plain(value.into())
    }
}

impl From<Secret> for Observed {
    fn from(secret: Secret) -> Self {
        Self::Secret(secret)
    }
}

impl Serialize for Observed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            // The recorder has replaced it before this; whoever else serialises
            // an event must not leak it either.
            Self::Secret(_) => serializer.serialize_str(Secret::MASK),
        }
    }
}

impl<'de> Deserialize<'de> for Observed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::Plain)
    }
}
