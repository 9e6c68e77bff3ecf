//! Why there is no connection, in words for people.

use std::io;
use std::time::Duration;

use events::io_reason;

/// Why there is no connection. Nothing was sent to the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// The host's name is not known.
    #[error("the name {host} cannot be resolved: {reason}")]
    Name {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// Nothing listens there.
    #[error("connection refused by {at}")]
    Refused {
        /// Host and port.
        at: String,
    },
    /// No connection in time.
    #[error("no connection to {at} within {} s", after.as_secs_f32())]
    TimedOut {
        /// Host and port.
        at: String,
        /// How long it was tried.
        after: Duration,
    },
    /// Another error of the network or of this machine.
    #[error("no connection to {at}: {reason}")]
    Failed {
        /// Host and port.
        at: String,
        /// What the system said.
        reason: String,
    },
    /// The proxy does not lead there.
    #[error("the proxy {proxy} {problem}")]
    Proxy {
        /// The proxy's host and port, never its password.
        proxy: String,
        /// What is wrong with it.
        problem: ProxyProblem,
    },
}

/// Why a proxy does not lead to a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyProblem {
    /// It cannot be reached itself.
    #[error("cannot be reached: {0}")]
    Unreachable(Box<DialError>),
    /// It wants credentials, or others.
    #[error(
        "asks for credentials (407): write them into its URL as http://USER:PASSWORD@HOST:PORT"
    )]
    Credentials,
    /// It does not connect to the server.
    #[error("refuses to connect to {target}: {reason}")]
    Refused {
        /// The server's host and port.
        target: String,
        /// Its answer, such as `403 Forbidden`.
        reason: String,
    },
    /// It does not answer as a proxy does.
    #[error("does not answer as a proxy: {0}")]
    Garbled(&'static str),
    /// The connection to it broke.
    #[error("closed the connection: {0}")]
    Lost(String),
}

impl DialError {
    /// Returns whether waiting does not help: a proxy that wants other
    /// credentials, or does not let us through.
    pub fn is_permanent(&self) -> bool {
        let Self::Proxy { problem, .. } = self else { return false };
        match problem {
            ProxyProblem::Credentials | ProxyProblem::Garbled(_) => true,
            ProxyProblem::Refused { reason, .. } => reason.starts_with('4'),
            ProxyProblem::Unreachable(_) | ProxyProblem::Lost(_) => false,
        }
    }

    /// Reads what the system says about a connection to `at`.
    pub(crate) fn of(at: &str, error: &io::Error) -> Self {
        let at = at.to_owned();
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused { at },
            _ => Self::Failed { at, reason: io_reason(error) },
        }
    }
}
