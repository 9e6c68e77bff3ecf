//! In what time a world lives.

use std::time::Duration;

use events::Clock;
use jiff::Timestamp;
use tokio::runtime::{Builder, Runtime};

/// In what time a world lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// On a clock that jumps from one thing that happens to the next. Nothing
    /// outside the runtime may take part, no socket either.
    Discrete,
    /// In real time, with sockets.
    Real,
}

impl Time {
    /// Makes what one process runs on.
    pub(super) fn runtime(self) -> Runtime {
        let mut builder = Builder::new_current_thread();
        match self {
            Self::Discrete => builder.enable_time().start_paused(true),
            Self::Real => builder.enable_all(),
        };
        builder.build().expect("a runtime on one thread starts")
    }

    /// Returns the clock of a process before which there were `runs`: they
    /// follow each other by a minute, so that their ids sort.
    pub(super) fn clock(self, runs: usize) -> Clock {
        match self {
            Self::Discrete => {
                let runs = u32::try_from(runs).unwrap_or(u32::MAX);
                let epoch = Timestamp::from_second(1_800_000_000).expect("a time in 2027");
                Clock::starting_at(epoch + Duration::from_mins(1) * runs)
            }
            Self::Real => Clock::real(),
        }
    }
}
