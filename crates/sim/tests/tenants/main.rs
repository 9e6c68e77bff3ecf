//! What runs in the pods of a simulated cluster, seen from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cluster;
mod datapath;
mod delivery;
mod nodes;
mod project;
mod sealed;
mod storage;
