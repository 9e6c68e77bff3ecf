//! Whether an object is what it should be, by what it says of itself.
//!
//! Pure: one object in, one status out. The rules are those of kstatus, made
//! harder where that would call something ready too early (a running Job, a
//! load balancer without an address, a controller that has said nothing yet)
//! or wait for ever (a paused rollout, an update on deletion).
//!
//! `Failed` says that the object's controller has given up or that it does
//! not help itself; an [`Ailment`] says why. Whether others may still heal it,
//! and for how long to hope, is for the caller to say: see the module `wait`.

mod ailment;
mod cluster_kinds;
mod defined;
mod facts;
mod network;
mod pods;
mod rules;
mod storage;
mod workloads;

pub use ailment::{Ailment, AilmentKind};
pub(crate) use facts::{Condition, Facts};
pub(crate) use pods::unwell;

use std::fmt;

use crate::Object;

/// Whether an object is what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is.
    Ready,
    /// It is on its way.
    InProgress {
        /// What is missing.
        because: String,
    },
    /// It will not get there by itself.
    Failed {
        /// Why.
        because: String,
    },
    /// It is being deleted.
    Terminating {
        /// What keeps it.
        because: String,
    },
    /// It says nothing by which to tell.
    Unknown {
        /// What would have told.
        because: String,
    },
}

/// What a claim for a volume has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claims {
    /// Every claim has to be bound.
    #[default]
    Bound,
    /// A claim that no pod has asked for yet may be unbound, where its class waits
    /// for the first pod: it never would be.
    BoundWhenUsed,
}

impl Status {
    /// Reads an object's status.
    pub fn of(object: &Object) -> Self {
        Self::with(object, Claims::Bound)
    }

    /// Reads an object's status, and says what a claim has to be.
    pub fn with(object: &Object, claims: Claims) -> Self {
        let facts = Facts(object);
        let status = generic(facts).unwrap_or_else(|| rules::by_kind(facts));
        match claims {
            Claims::BoundWhenUsed if storage::is_unused_claim(facts) => Self::Ready,
            _ => status,
        }
    }

    /// Returns whether the object is what it should be.
    pub fn is_ready(&self) -> bool {
        *self == Self::Ready
    }

    /// Returns why it is not ready.
    pub fn because(&self) -> Option<&str> {
        match self {
            Self::Ready => None,
            Self::InProgress { because }
            | Self::Failed { because }
            | Self::Terminating { because }
            | Self::Unknown { because } => Some(because),
        }
    }

    fn in_progress(because: impl Into<String>) -> Self {
        Self::InProgress { because: because.into() }
    }

    fn failed(because: impl Into<String>) -> Self {
        Self::Failed { because: because.into() }
    }

    fn unknown(because: impl Into<String>) -> Self {
        Self::Unknown { because: because.into() }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Ready => return f.write_str("ready"),
            Self::InProgress { .. } => "in progress",
            Self::Failed { .. } => "failed",
            Self::Terminating { .. } => "terminating",
            Self::Unknown { .. } => "unknown",
        };
        write!(f, "{word}: {}", self.because().unwrap_or_default())
    }
}

/// What holds for every kind; none where the kind's own rule decides.
fn generic(facts: Facts<'_>) -> Option<Status> {
    if facts.text("/metadata/deletionTimestamp").is_some() {
        let finalizers = facts.0.finalizers();
        let because = if finalizers.is_empty() {
            "it is being deleted".to_owned()
        } else {
            format!("it is being deleted, and kept by {}", finalizers.join(", "))
        };
        return Some(Status::Terminating { because });
    }
    if let Some(suspended) = rules::suspended(facts) {
        return Some(suspended);
    }
    if let Some((observed, generation)) = facts.lag() {
        let because = format!("its controller has seen generation {observed} of {generation}");
        return Some(Status::in_progress(because));
    }
    if let Some(stalled) = facts.condition("Stalled").filter(|stalled| stalled.is("True")) {
        return Some(Status::failed(stalled.says()));
    }
    let reconciling = facts.condition("Reconciling").filter(|condition| condition.is("True"))?;
    Some(Status::in_progress(reconciling.says()))
}

#[cfg(test)]
mod tests;
