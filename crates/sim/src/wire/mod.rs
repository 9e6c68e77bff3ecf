//! How simulated services are reached: HTTP on TLS on a loopback address, with
//! certificates of an authority that belongs to the world.
//!
//! ```text
//!  Authority ─► ServerConfig ─┐
//!  TcpListener ───────────────┼─► serve ─► Serving (dropped: all connections cut)
//!  axum::Router ──────────────┘      └─ LostAnswer: this connection cut, no byte sent
//! ```

mod anybody;
mod authority;
mod listen;
mod serve;

pub use anybody::trusting_anybody;
pub use authority::{Authority, AuthorityError};
pub(crate) use listen::listen;
pub use serve::{LostAnswer, Serving, serve};
