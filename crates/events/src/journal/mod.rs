//! The journal of a run on disk: JSON lines, each with the digest of the line
//! before it, the format's version in the first.
//!
//! ```text
//! {"journal":"seaworthy","version":"1.0","run":"01JC…","cluster":"…","prev":"000…"}
//! {"prev":"<sha256 of line 1>","event":{"run":"01JC…","seq":1,…,"what":{"event":"run-started",…}}}
//! {"prev":"<sha256 of line 2>","event":{…}}
//! ```
//!
//! Invariants: a line is written once and never changed; an event that the law
//! of [`RunState`](crate::RunState) refuses reaches neither the disk nor a
//! reader; only the last line can be torn, and it is cut off, and said, before
//! anything is appended; nothing is written once the file, or the lock of its
//! run, is not where it was.

mod anchor;
mod format;
mod reader;
mod salvage;
mod writer;

pub use anchor::Anchor;
pub use format::{Header, Version};
pub use reader::{Chain, JournalFile, ReadError, Torn, read, verify};
pub use salvage::{Salvage, Salvaged, salvage};
pub use writer::{Durability, WriteError, Writer};
