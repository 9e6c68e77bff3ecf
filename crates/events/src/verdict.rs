//! What a gate says, and never guesses.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Cause, Evidence, Failure};

/// What a gate or a probe found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Verdict {
    /// It is so, and here is what was seen.
    Ready {
        /// What was seen.
        evidence: Evidence,
    },
    /// It is not so yet.
    NotYet {
        /// What is still missing.
        because: Because,
    },
    /// Could not look. Never taken for healthy.
    Blind {
        /// Why the look failed.
        error: Failure,
    },
    /// It will not become so by waiting.
    Failed {
        /// Why.
        cause: Cause,
    },
}

/// What a wait waits for, and what lies behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Because {
    /// What is missing, in one line.
    pub what: String,
    /// What lies behind it, each line caused by the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<String>,
    /// What it is called if it is still so when the deadline passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_the_end: Option<Box<Cause>>,
    /// How long such a cause may show without being so, where it does not heal by
    /// itself and needs longer than usual to be sure of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sure_after_ms: Option<u64>,
}

// === impl Verdict ===

impl Verdict {
    /// Ready, with what was seen.
    pub fn ready(evidence: Evidence) -> Self {
        Self::Ready { evidence }
    }

    /// Not yet, for a reason.
    pub fn not_yet(because: impl Into<Because>) -> Self {
        Self::NotYet { because: because.into() }
    }

    /// Could not look.
    pub fn blind(error: Failure) -> Self {
        Self::Blind { error }
    }

    /// Failed for good.
    pub fn failed(cause: Cause) -> Self {
        Self::Failed { cause }
    }

    /// Returns what was seen, also where it speaks against being ready.
    pub fn evidence(&self) -> Option<&Evidence> {
        match self {
            Self::Ready { evidence } => Some(evidence),
            other => other.cause()?.evidence.as_deref(),
        }
    }

    /// Returns the same, to be changed.
    pub fn evidence_mut(&mut self) -> Option<&mut Evidence> {
        match self {
            Self::Ready { evidence } => Some(evidence),
            other => other.cause_mut()?.evidence.as_deref_mut(),
        }
    }

    /// Returns the cause that it names, also where that is not final yet.
    pub fn cause(&self) -> Option<&Cause> {
        match self {
            Self::NotYet { because } => because.in_the_end.as_deref(),
            Self::Failed { cause } => Some(cause),
            Self::Ready { .. } | Self::Blind { .. } => None,
        }
    }

    /// Returns the same, to be changed.
    pub fn cause_mut(&mut self) -> Option<&mut Cause> {
        match self {
            Self::NotYet { because } => because.in_the_end.as_deref_mut(),
            Self::Failed { cause } => Some(cause),
            Self::Ready { .. } | Self::Blind { .. } => None,
        }
    }

    /// Returns whether waiting is over, for better or worse.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Ready { .. } | Self::Failed { .. } => true,
            Self::NotYet { .. } => false,
            // A look that is refused for good will not see more by looking again.
            Self::Blind { error } => !error.class.is_retryable(),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { evidence } => f.write_str(&evidence.summary),
            Self::NotYet { because } => f.write_str(&because.what),
            Self::Blind { error } => write!(f, "could not look: {error}"),
            Self::Failed { cause } => f.write_str(&cause.message),
        }
    }
}

// === impl Because ===

impl Because {
    /// A reason with nothing behind it.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), chain: Vec::new(), in_the_end: None, sure_after_ms: None }
    }

    /// Adds what lies behind it.
    #[must_use]
    pub fn caused_by(mut self, deeper: impl Into<String>) -> Self {
        self.chain.push(deeper.into());
        self
    }

    /// Says what it is called if it is still so when the deadline passes.
    #[must_use]
    pub fn in_the_end(mut self, cause: Cause) -> Self {
        self.in_the_end = Some(Box::new(cause));
        self
    }

    /// Says how long a cause that does not heal by itself must show before it ends
    /// the wait: some look so for a while at the beginning.
    #[must_use]
    pub fn sure_after(mut self, time: Duration) -> Self {
        self.sure_after_ms = Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }
}

impl<T: Into<String>> From<T> for Because {
    fn from(what: T) -> Self {
        Self::new(what)
    }
}
