//! The API on the wire: TLS, identities, paths, and the documents by which
//! clients find their way.

mod body;
mod discovery;
mod health;
mod identity;
mod openapi;
mod request;
mod route;
mod serve;
mod table;
mod tls;
mod verbs;

pub use identity::Identity;
pub(crate) use request::pairs;
pub use serve::Server;
pub use tls::{TlsError, server_config};
