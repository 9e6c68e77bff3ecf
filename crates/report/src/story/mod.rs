//! The one fold behind every report.
//!
//! A [`Story`] takes the events of a run one by one and holds all that a
//! renderer may say: the run, its stages, their units, and what each unit
//! tried, called and found. Live and replayed runs go through the same
//! [`Story::apply`], which is why they look the same.

mod also;
mod cause;
mod check;
mod ending;
mod fold;
mod moment;
mod retelling;
mod run;
mod stage;

mod unit;
mod unit_fold;

pub use also::Also;
pub use cause::FirstCause;
pub use check::{Check, CheckState, Finding, Probing};
pub use ending::{Ending, Outcome, Tally};
pub use fold::{Pin, Story, Warning};
pub use moment::Moment;
pub use run::Run;
pub use stage::Stage;
pub use unit::{Attempt, CallMade, Standing, State, UnitStory};
