//! `down`: takes away what is provably the cluster's, and proves that nothing
//! is left.
//!
//! What the cloud controller and the storage driver have made is known as ours
//! only while our servers and networks are there. It is pinned before they go,
//! so that a teardown that is interrupted still finds it.

mod release;
mod table;
mod work;
mod zero;

pub use release::{MACHINES_TABLE, MachineSeen, Release, machines, plan_of_machines};
pub use table::{TABLE, plan};
pub use work::Down;
