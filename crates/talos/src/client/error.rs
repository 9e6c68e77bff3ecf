//! A call that has no good answer.

use std::net::SocketAddr;

use events::{Arrival, Class, Failure};

use super::Reason;

/// A call that has no good answer: which, to which node, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not {attempt} at {node}")]
pub struct ClientError {
    /// What was tried.
    pub attempt: &'static str,
    /// The node.
    pub node: SocketAddr,
    /// Whether the call may have had its effect.
    pub arrival: Arrival,
    /// Why.
    #[source]
    pub reason: Reason,
}

impl ClientError {
    /// Returns what may be done about it.
    pub fn class(&self) -> Class {
        self.reason.class()
    }

    /// Returns the error as it is recorded.
    pub fn failure(&self) -> Failure {
        Failure::of(self.class(), self)
    }
}
