//! The border that no secret crosses: what goes to the disk is searched for
//! every known secret, in every form in which it usually travels.
//!
//! A hit is replaced by a token such as `«secret:3f9a2b0c»`. The token is made
//! with a key of the cluster, so that equal secrets can be told to be equal,
//! and nobody without the key can try guesses against a journal.

mod forms;
mod redactor;

pub use redactor::{Redactor, SecretsLedger, ShortSecret};
