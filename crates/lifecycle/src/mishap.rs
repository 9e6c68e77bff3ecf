//! What goes wrong on our side of the wire: in the state folder of a cluster.
//!
//! The faults of a simulated world are the world's. These are the others, so
//! that every gate has something that makes it fail; a test lets each happen.

use events::Code;

use crate::codes;

/// Something that goes wrong in a state folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mishap {
    /// Its name.
    pub name: &'static str,
    /// What happens, in one line.
    pub does: &'static str,
    /// The gate or probe that must show it.
    pub check: &'static str,
    /// The cause that it must name.
    pub code: Code,
}

/// All mishaps, by name.
pub const MISHAPS: &[Mishap] = &[
    Mishap {
        name: "bundle-lost",
        does: "the secrets bundle is gone, and the cluster exists",
        check: "preflight",
        code: codes::BUNDLE_LOST,
    },
    Mishap {
        name: "bundle-replaced",
        does: "another secrets bundle takes the place of the one that was loaded",
        check: "secrets",
        code: codes::BUNDLE_LOST,
    },
];
