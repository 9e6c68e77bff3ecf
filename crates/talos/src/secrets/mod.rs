//! The secrets bundle of a cluster: what every machine config and every
//! credential is made from.
//!
//! It is made once, written before any node sees a config, and never made
//! again: a second bundle under the same name is how a cluster becomes one
//! that refuses its own administrators. The file is talosctl's `secrets.yaml`
//! to the letter, and talosctl's own files are read too. Where it is lost, the
//! config of any control plane gives it back.

mod bundle;
mod file;
mod recover;
mod store;
mod token;

pub use bundle::{Bundle, BundleError};
pub use file::FileError;
pub use recover::RecoverError;
pub use store::StoreError;
pub use token::{InvalidToken, Token};
