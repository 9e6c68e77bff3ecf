//! Requests that got no answer: which part of the way failed.

use std::error::Error;
use std::fmt;
use std::io;

use events::{Arrival, io_reason};
use hyper_util::client::legacy;
use peers::DialError;
use tower::timeout::error::Elapsed;

use super::{ApiError, TlsProblem, Trouble};

/// How the API could not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// There is no connection, or the proxy does not lead there.
    NoConnection(DialError),
    /// The other side hung up before it had said anything, while the
    /// connection was made. A load balancer without healthy targets does that.
    HungUp,
    /// TLS failed: another authority, another name, no client certificate.
    Tls(TlsProblem),
    /// Another error while the connection was made.
    Network(String),
    /// The other side takes connections, and does not speak TLS in time.
    HandshakeTimedOut,
    /// The request was sent, and no answer came in time.
    AnswerTimedOut,
    /// The request was sent, and the connection broke.
    Cut,
    /// The request was sent, and what came is not HTTP.
    NotHttp(String),
}

impl Unreachable {
    /// Returns whether the request may have had its effect all the same.
    pub fn arrival(&self) -> Arrival {
        match self {
            Self::AnswerTimedOut | Self::Cut | Self::NotHttp(_) => Arrival::Maybe,
            // With TLS 1.3 a server may refuse the client's certificate only
            // after it was sent the request; it has not read it then.
            Self::NoConnection(_)
            | Self::HungUp
            | Self::Tls(_)
            | Self::Network(_)
            | Self::HandshakeTimedOut => Arrival::No,
        }
    }

    pub(super) fn next(&self) -> Option<&'static str> {
        match self {
            Self::NoConnection(DialError::Name { .. }) => {
                Some("check the server's name in the kubeconfig")
            }
            Self::NoConnection(DialError::Proxy { .. }) => Some(
                "check `proxy-url` of the kubeconfig, or HTTPS_PROXY; NO_PROXY lists what is \
                 reached directly",
            ),
            Self::HungUp => Some("if this is a load balancer, look at the health of its targets"),
            Self::Tls(problem) => Some(problem.next()),
            Self::NotHttp(_) => Some("check the port of `server` in the kubeconfig"),
            Self::NoConnection(_)
            | Self::Network(_)
            | Self::HandshakeTimedOut
            | Self::AnswerTimedOut
            | Self::Cut => None,
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoConnection(error) => write!(f, "{error}"),
            Self::HungUp => f.write_str("the other side hung up at once (EOF)"),
            Self::Tls(problem) => write!(f, "TLS failed: {problem}"),
            Self::Network(problem) => write!(f, "the connection failed: {problem}"),
            Self::HandshakeTimedOut => f.write_str("no TLS handshake in time"),
            Self::AnswerTimedOut => f.write_str("no answer in time"),
            Self::Cut => f.write_str("the connection broke before the answer was whole"),
            Self::NotHttp(problem) => write!(f, "the answer is not HTTP: {problem}"),
        }
    }
}

impl ApiError {
    pub(crate) fn lost(tried: impl Into<String>, error: &(dyn Error + 'static)) -> Self {
        Self::new(tried, Trouble::Unreachable(how(error)))
    }

    pub(crate) fn late(tried: impl Into<String>) -> Self {
        Self::new(tried, Trouble::Unreachable(Unreachable::AnswerTimedOut))
    }
}

fn how(error: &(dyn Error + 'static)) -> Unreachable {
    if let Some(error) = find::<DialError>(error) {
        return Unreachable::NoConnection(error.clone());
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        return Unreachable::Tls(TlsProblem::of(tls));
    }
    let connecting = find::<legacy::Error>(error).is_some_and(legacy::Error::is_connect);
    if !connecting {
        return find::<hyper::Error>(error).and_then(not_http).unwrap_or(Unreachable::Cut);
    }
    if find::<Elapsed>(error).is_some() {
        return Unreachable::HandshakeTimedOut;
    }
    let mut failures = chain(error).filter_map(|error| error.downcast_ref::<io::Error>());
    match failures.find(|error| error.kind() != io::ErrorKind::Other) {
        Some(error) => match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Unreachable::HungUp,
            _ => Unreachable::Network(io_reason(error)),
        },
        None => Unreachable::Network(innermost(error)),
    }
}

/// What cannot be parsed, or has no end where it must have one.
fn not_http(error: &hyper::Error) -> Option<Unreachable> {
    if error.is_parse_too_large() {
        let problem = format!("its head has more than {} KiB", peers::bounds::HEAD >> 10);
        return Some(Unreachable::NotHttp(problem));
    }
    error.is_parse().then(|| Unreachable::NotHttp(innermost(error)))
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
