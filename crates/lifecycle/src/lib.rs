//! The stages of bringing a cluster up, bound to what they work with.
//!
//! The only place that knows both the engine and the crates that change the
//! world. So far it holds the table of [`up`] and the plan of a run over it;
//! what the stages do comes with the clients.

pub mod up;
