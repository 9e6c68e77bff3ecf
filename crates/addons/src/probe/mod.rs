//! What probes put into the cluster, and how it is found again.
//!
//! Every probe has a namespace of its own for a run, so that deleting the
//! namespace deletes all of it. Names carry the run's id, labels too.

mod datapath;
mod mark;
mod storage;

pub use datapath::{DATAPATH_PORT, Datapath};
pub use mark::{Mark, ProbeKind};
pub use storage::Storage;
