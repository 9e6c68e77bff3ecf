//! What comes of deletions, and what is told meanwhile.

use std::fmt;
use std::time::Duration;

use events::Failure;

use super::{Doomed, Gone, Patience, Waiting};
use crate::ObjectId;

/// How many deletions are sent at once, and how long each may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovalTerms {
    /// How many requests are under way at most.
    pub in_flight: usize,
    /// How long a deletion may take; none for what is usual for its kind.
    pub patience: Option<Patience>,
}

/// What happens while objects are being deleted; only changes are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalEvent {
    /// Something keeps an object, or keeps it in another way than before.
    Waiting(Box<Waiting>),
    /// An object is gone.
    Gone {
        /// Which one.
        id: ObjectId,
        /// How one knows.
        how: Gone,
        /// After how long.
        after: Duration,
    },
    /// The API said something besides.
    Warned {
        /// About which object.
        id: ObjectId,
        /// What.
        warning: String,
    },
    /// A look or a request failed; it is tried again.
    Trouble {
        /// What was tried, and what came of it.
        error: Failure,
    },
}

/// Every object is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Which ones, and how one knows.
    pub gone: Vec<(Doomed, Gone)>,
    /// After how long.
    pub after: Duration,
    /// How many looks and requests failed on the way.
    pub errors: u32,
}

/// Some objects are not gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotRemoved {
    /// Which ones, and what is known of them.
    pub stuck: Vec<Waiting>,
    /// Those that are gone.
    pub gone: Vec<(Doomed, Gone)>,
    /// After how long.
    pub after: Duration,
}

impl Default for RemovalTerms {
    fn default() -> Self {
        Self { in_flight: 32, patience: None }
    }
}

impl fmt::Display for NotRemoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.stuck.len() + self.gone.len();
        write!(
            f,
            "{} of {all} are not gone after {:.1} s",
            self.stuck.len(),
            self.after.as_secs_f64()
        )?;
        match self.stuck.first() {
            Some(first) => write!(f, ": {}", first.because().what),
            None => Ok(()),
        }
    }
}
