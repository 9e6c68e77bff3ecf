//! Which mode a node is in, without any secret.
//!
//! One connection without a certificate tells: a node in maintenance mode
//! shows a certificate that nobody has signed and speaks; a node that has its
//! config shows one of its cluster's authority and breaks off, because it got
//! none from us. A node that does one thing of each is between the two.
//!
//! | shows | asks for ours | speaks | mode |
//! | --- | --- | --- | --- |
//! | `maintenance-service.talos.dev` | no | yes | maintenance |
//! | a certificate of an authority | yes | alert 116 | configured |
//! | a certificate of an authority | no | yes | in transition |
//! | – | – | closes | in transition |

mod look;
mod mode;
mod sighting;

pub use look::probe;
pub use mode::{Mode, Owner};
pub use sighting::Sighting;

/// The name in the certificate of a node in maintenance mode.
pub const MAINTENANCE_NAME: &str = "maintenance-service.talos.dev";
