//! Requests that got no answer: which part of the way failed.

use std::error::Error;
use std::fmt;
use std::io;

use events::Arrival;
use hyper_util::client::legacy;

use super::{ApiError, TlsProblem, Trouble};

/// How the API could not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// The host's name is not known.
    Name,
    /// Nothing listens there.
    Refused,
    /// The other side hung up before it had said anything, while the
    /// connection was made. A load balancer without healthy targets does that.
    HungUp,
    /// TLS failed: another authority, another name, no client certificate.
    Tls(TlsProblem),
    /// There is no way to the host, or another error of the network.
    Network(String),
    /// No connection in time.
    ConnectTimedOut,
    /// The request was sent, and no answer came in time.
    AnswerTimedOut,
    /// The request was sent, and the connection broke.
    Cut,
}

impl Unreachable {
    /// Returns whether the request may have had its effect all the same.
    pub fn arrival(&self) -> Arrival {
        match self {
            Self::AnswerTimedOut | Self::Cut => Arrival::Maybe,
            // With TLS 1.3 a server may refuse the client's certificate only
            // after it was sent the request; it has not read it then.
            Self::Name
            | Self::Refused
            | Self::HungUp
            | Self::Tls(_)
            | Self::Network(_)
            | Self::ConnectTimedOut => Arrival::No,
        }
    }

    pub(super) fn next(&self) -> Option<&'static str> {
        match self {
            Self::Name => Some("check the server's name in the kubeconfig"),
            Self::HungUp => Some("if this is a load balancer, look at the health of its targets"),
            Self::Tls(problem) => Some(problem.next()),
            Self::Refused
            | Self::Network(_)
            | Self::ConnectTimedOut
            | Self::AnswerTimedOut
            | Self::Cut => None,
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("the host's name is not known"),
            Self::Refused => f.write_str("the connection was refused"),
            Self::HungUp => f.write_str("the other side hung up at once (EOF)"),
            Self::Tls(problem) => write!(f, "TLS failed: {problem}"),
            Self::Network(problem) => write!(f, "the network failed: {problem}"),
            Self::ConnectTimedOut => f.write_str("no connection in time"),
            Self::AnswerTimedOut => f.write_str("no answer in time"),
            Self::Cut => f.write_str("the connection broke before the answer was whole"),
        }
    }
}

impl ApiError {
    pub(crate) fn lost(tried: impl Into<String>, error: kube::Error) -> Self {
        let trouble = Trouble::Unreachable(how(&error));
        Self { source: Some(Box::new(error)), ..Self::new(tried, trouble) }
    }

    pub(crate) fn late(tried: impl Into<String>) -> Self {
        Self::new(tried, Trouble::Unreachable(Unreachable::AnswerTimedOut))
    }
}

fn how(error: &(dyn Error + 'static)) -> Unreachable {
    if let Some(tls) = find::<rustls::Error>(error) {
        return Unreachable::Tls(TlsProblem::of(tls));
    }
    let connecting = find::<legacy::Error>(error).is_some_and(legacy::Error::is_connect);
    if !connecting {
        return Unreachable::Cut;
    }
    let mut kinds =
        chain(error).filter_map(|error| Some(error.downcast_ref::<io::Error>()?.kind()));
    match kinds.find(|kind| *kind != io::ErrorKind::Other) {
        Some(io::ErrorKind::ConnectionRefused) => Unreachable::Refused,
        Some(io::ErrorKind::TimedOut) => Unreachable::ConnectTimedOut,
        Some(
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe,
        ) => Unreachable::HungUp,
        // The resolver's error has no type of its own.
        _ if chain(error).any(|error| error.to_string() == "dns error") => Unreachable::Name,
        _ => Unreachable::Network(innermost(error)),
    }
}

pub(super) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|error| error.downcast_ref::<T>())
}

/// The error and what lies behind it. An error of input and output hides the
/// one that it wraps, and names only that one's source as its own.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match wrapped {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        };
        Some(error)
    })
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_default()
}
