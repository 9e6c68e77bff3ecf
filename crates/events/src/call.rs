//! Mutating calls: what was about to be done, and what came of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, Failure, RunId, Seq};

/// What makes a mutating call safe to resume after its answer was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallClass {
    /// Its target has a unique name: look the name up, then send.
    Named,
    /// Sending it twice is the same as once: send.
    Idempotent,
    /// Must never be sent again while it may have arrived: look, and wait. Its
    /// name says which life of its target is meant, such as a server's id:
    /// otherwise a target that was made anew could never be served.
    Once,
    /// Its target has no name of its own: it carries our label, look for that.
    Unnamed,
}

/// A mutating call that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What makes it safe to resume.
    pub class: CallClass,
    /// What it does, such as `create server`.
    pub kind: String,
    /// To what, such as `demo-cp-1`.
    pub name: String,
    /// The digest of the request, so that a changed wish is told from a repeated one.
    pub request: Digest,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "was")]
pub enum CallOutcome {
    /// It was done.
    Done {
        /// What it made.
        made: Made,
    },
    /// It was answered with a no: nothing was changed.
    Refused {
        /// The answer.
        error: Failure,
    },
    /// Nobody knows: it may have arrived.
    InDoubt {
        /// What happened instead of an answer.
        error: Failure,
    },
}

/// What a call made or found: ids, the provider's action ids, what was read back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The ids of what was made, by what they are, such as `server` → `42`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ids: BTreeMap<String, String>,
    /// The ids of the provider's actions or tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// What was read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back: Option<Value>,
}

/// Where an intent stands, in this run or an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IntentRef {
    /// The run that wrote it.
    pub run: RunId,
    /// Its place in that run's journal.
    pub seq: Seq,
}

// === impl Call ===

impl Call {
    /// A call whose request is `request`.
    pub fn new(
        class: CallClass,
        kind: impl Into<String>,
        name: impl Into<String>,
        request: &[u8],
    ) -> Self {
        Self { class, kind: kind.into(), name: name.into(), request: Digest::of(request) }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

// === impl Made ===

impl Made {
    /// Something with one id.
    pub fn id(what: impl Into<String>, id: impl Into<String>) -> Self {
        Self { ids: BTreeMap::from([(what.into(), id.into())]), ..Self::default() }
    }

    /// Adds the provider's action that made it.
    #[must_use]
    pub fn action(mut self, id: impl Into<String>) -> Self {
        self.actions.push(id.into());
        self
    }

    /// Adds what was read back.
    #[must_use]
    pub fn read_back(mut self, value: impl Into<Value>) -> Self {
        // Nothing and null are the same once they stand in a journal.
        self.read_back = Some(value.into()).filter(|value| !value.is_null());
        self
    }
}

// === impl IntentRef ===

impl fmt::Display for IntentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.run, self.seq)
    }
}
