//! When a cause that does not heal by itself ends a wait before its deadline.

use std::time::Duration;

use events::{Cause, Code};
use tokio::time::Instant;

/// A cause is confirmed by so many looks in a row.
const LOOKS: u32 = 3;

/// It must be named for this long: services restart, and answer as if something
/// was wrong while they do.
const USUAL: Duration = Duration::from_secs(20);

/// However fast a simulated world runs, the requests of a look are real.
const SHORTEST: Duration = Duration::from_secs(1);

/// Counts for how long looks have named the same cause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Confirmation {
    speed: u32,
    named: Option<Named>,
}

#[derive(Clone, Copy, Debug)]
struct Named {
    code: Code,
    since: Instant,
    looks: u32,
}

impl Confirmation {
    /// Nothing was named yet. A simulated world runs so many times as fast.
    pub(crate) fn new(speed: Option<u32>) -> Self {
        Self { speed: speed.unwrap_or(1).max(1), named: None }
    }

    /// Takes what a look has named, and returns whether waiting is in vain: looks in
    /// a row have named a cause that does not heal by itself, for long enough.
    pub(crate) fn take(&mut self, cause: Option<&Cause>, sure_after: Option<Duration>) -> bool {
        let Some(cause) = cause.filter(|cause| !cause.heals_by_waiting()) else {
            self.named = None;
            return false;
        };
        let now = Instant::now();
        let mut named = match self.named {
            Some(named) if named.code == cause.code => named,
            _ => Named { code: cause.code, since: now, looks: 0 },
        };
        named.looks += 1;
        self.named = Some(named);
        let long = sure_after.unwrap_or(USUAL) / self.speed;
        named.looks >= LOOKS && now.duration_since(named.since) >= long.max(SHORTEST)
    }
}
