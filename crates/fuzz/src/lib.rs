//! Fuzz targets: every parser of bytes that others have written.
//!
//! **What it is for.** Manifests, answers of an API, kubeconfigs, secrets
//! bundles, certificates and journals come from elsewhere. Whatever they hold,
//! reading them must end, with a value or with an error that can be shown.
//!
//! ```text
//!  seeds ─┬─ changed at random ─► target     `cargo test`, some hundred times each
//!         └─ led by coverage ───► target     `cargo xtask fuzz`, for as long as wished
//! ```
//!
//! **Invariants.**
//! - A target panics where a parser does, or where it breaks its own promise:
//!   what was written is read back as the same.
//! - A target leaves nothing behind, and asks nobody.

mod objects;
mod own_files;
mod peers;
mod talos;

/// A parser with inputs that lead into it.
pub struct Target {
    /// What it is called on the command line.
    pub name: &'static str,
    /// Inputs that it accepts, or nearly.
    pub seeds: &'static [&'static str],
    /// Reads an input.
    pub feed: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[&[Target]] =
    &[objects::TARGETS, peers::TARGETS, talos::TARGETS, own_files::TARGETS];

/// Returns all targets, one after another.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    TARGETS.iter().copied().flatten()
}

/// Feeds a function that takes a text.
fn text(bytes: &[u8], read: impl FnOnce(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        read(text);
    }
}
