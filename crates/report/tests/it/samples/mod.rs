//! Runs that did not happen, but could have: every one is let pass by the law
//! of [`events::RunState`].

mod cluster;
mod runs;
mod script;

pub(crate) use cluster::{plan, plan_of_everything};
pub(crate) use runs::*;
pub(crate) use script::{Act, Retry, Sample, Wait, first_event, perform, run_id};
