//! Trustd: how a worker comes to a certificate of its cluster.
//!
//! A worker has the authority's certificate and not its key. It makes a key and
//! a request of its own and sends the request, with the token of its
//! configuration, to a control plane, which has that key and signs it: over
//! gRPC and TLS on a port of its own, where nobody is asked for a certificate.

mod ask;
mod sign;

pub(super) use ask::{Signed, ask};
pub(super) use sign::{Signer, serve};

/// Where control planes sign certificates.
pub const TRUSTD_PORT: u16 = 50_001;

/// The metadata that the token comes in.
const TOKEN: &str = "token";
