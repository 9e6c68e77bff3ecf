//! What went wrong, in a form that survives the journal: a class that decides
//! about retries, a message, and the chain of sources.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What may be done about an error.
///
/// The class is decided where the error is understood (a client, a codec), by
/// an exhaustive match, and never by looking at a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "class")]
pub enum Class {
    /// May go away by itself: try again, with growing pauses.
    Transient,
    /// The other side asked for a pause.
    RateLimited {
        /// How long to wait before the next call, where it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_ms: Option<u64>,
    },
    /// Somebody else changed the same thing: look again, then decide again.
    Conflict,
    /// Will not go away by itself: stop and say what to do.
    Permanent,
}

/// An error as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What may be done about it.
    pub class: Class,
    /// The outermost message.
    pub message: String,
    /// The messages of the sources, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

// === impl Class ===

impl Class {
    /// Returns whether another try can help at all.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::Transient | Self::RateLimited { .. } | Self::Conflict => true,
            Self::Permanent => false,
        }
    }

    /// Returns the pause that the other side asked for.
    pub fn pause(self) -> Option<Duration> {
        match self {
            Self::RateLimited { after_ms } => after_ms.map(Duration::from_millis),
            Self::Transient | Self::Conflict | Self::Permanent => None,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Transient => "transient",
            Self::RateLimited { .. } => "rate limited",
            Self::Conflict => "conflict",
            Self::Permanent => "permanent",
        })
    }
}

// === impl Failure ===

impl Failure {
    /// A failure with a message of its own and no source.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), sources: Vec::new() }
    }

    /// A failure that will not go away by itself.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::new(Class::Permanent, message)
    }

    /// A failure that may go away by itself.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(Class::Transient, message)
    }

    /// Takes down `error` with its chain of sources. A source that the message
    /// above it already contains is left out: some libraries print both.
    pub fn of(class: Class, error: &dyn Error) -> Self {
        let mut failure = Self::new(class, error.to_string());
        let mut above = failure.message.clone();
        let mut next = error.source();
        while let Some(source) = next {
            let text = source.to_string();
            if !above.contains(&text) {
                failure.sources.push(text.clone());
            }
            above = text;
            next = source.source();
        }
        failure
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.sources.iter().try_for_each(|source| write!(f, ": {source}"))
    }
}

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("could not reach the API: {0}")]
    struct Repeating(#[source] std::io::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("could not create the server")]
    struct Outer(#[source] Repeating);

    #[test]
    fn a_source_that_its_parent_prints_is_not_said_twice() {
        let error = Outer(Repeating(std::io::Error::other("refused")));
        let failure = Failure::of(Class::Transient, &error);
        assert_eq!(
            failure.to_string(),
            "could not create the server: could not reach the API: refused"
        );
        assert_eq!(failure.sources, ["could not reach the API: refused"]);
    }
}
