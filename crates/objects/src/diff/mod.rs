//! What an apply would change, and what others have changed.
//!
//! Both compare the live object with the answer to a dry run, over the fields
//! that are ours: the API has given both sides their defaults and spellings, so
//! `1` and `1000m` are no difference, and what others own is none either.
//!
//! ```text
//!  live ──┐                       ┌─► Diff    live → would be, and who gains or loses fields
//!         ├─ leaves of our fields ┤
//!  dry run┘          │            └─► Drift   ours → theirs, with who and when
//!                    ▼
//!                  Veil: a Secret's values become marks before anybody sees them
//! ```

mod changes;
mod drift;
mod lines;
mod order;
mod render;
mod veil;

pub use changes::{Diff, Difference};
pub use drift::{Drift, Drifted, Touch};
pub use veil::{Shown, Veil};

#[cfg(test)]
mod tests;
