//! The way to a node: TCP, TLS 1.3, and the first bytes of the node.
//!
//! In TLS 1.3 the handshake is over for us before the node has looked at our
//! certificate: a refusal arrives where the first answer should. A connection
//! therefore counts only once the node has spoken. A server of HTTP/2 speaks
//! first, so nothing is sent before that.

mod dial;
mod line;
mod stream;
mod tls;
mod verifier;

pub(crate) use dial::{Dialled, Failed, Step, listen, reach, shake_hands};
pub(crate) use line::Line;
pub(crate) use stream::{Ending, Fate, Stream};
pub(crate) use tls::{Asked, anonymous, authenticated};
pub(crate) use verifier::Shown;
