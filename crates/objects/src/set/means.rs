//! What work on a set needs from outside.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use events::{Arrival, Call, CallOutcome, Clock, Errand, Made, Permit, Receipt};
use tokio_util::sync::CancellationToken;

use super::Memory;
use crate::ApiError;

/// By what means a set is worked on: who permits the calls, what time it is,
/// who may end the work, and what is known from before.
#[derive(Clone, Debug)]
pub struct Means {
    /// Permits the calls, and remembers those in doubt.
    pub errand: Arc<Errand>,
    /// The time.
    pub clock: Clock,
    /// Ends the work between two calls. What was sent is always waited for.
    pub cancel: CancellationToken,
    /// Doubts that turned out to be none; without it they are sent each time.
    pub memory: Option<Memory>,
    /// What the work waits for.
    pub holdup: Holdup,
}

/// What keeps the work on a set from going on, for whoever wants to say so.
/// Its copies share it.
#[derive(Clone, Debug, Default)]
pub struct Holdup(Arc<Mutex<Holds>>);

#[derive(Debug, Default)]
struct Holds {
    /// An error, and when the request is sent again, on the clock.
    retrying: Option<(String, Duration)>,
    /// What is missing, by whose it is.
    waiting: BTreeMap<String, String>,
}

/// Why work on a set does not go on at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// A request is sent again after this error.
    Retrying(String),
    /// Something that was asked for is not done.
    Waiting(String),
}

// === impl Means ===

impl Means {
    /// Means without a memory, and with nobody yet who would end the work.
    pub fn new(errand: Arc<Errand>, clock: Clock) -> Self {
        let (cancel, holdup) = (CancellationToken::new(), Holdup::default());
        Self { errand, clock, cancel, memory: None, holdup }
    }

    /// Notes the intent of a call.
    pub fn permit(&self, call: Call) -> (Permit, Receipt) {
        self.errand.intend(call).expect("applies, patches and deletes are idempotent")
    }

    /// Notes what came of a call.
    pub fn close<T>(&self, receipt: Receipt, result: &Result<T, ApiError>) {
        let outcome = match result {
            Ok(_) => CallOutcome::Done { made: Made::default() },
            Err(error) => match error.arrival() {
                Arrival::No => CallOutcome::Refused { error: error.failure() },
                Arrival::Maybe => CallOutcome::InDoubt { error: error.failure() },
            },
        };
        self.errand.close(receipt, &outcome);
    }

    /// Says what the work waits for now, if it waits.
    pub fn held_up_by(&self) -> Option<Hold> {
        let holds = self.holds();
        if let Some((error, until)) = &holds.retrying
            && self.clock.elapsed() < *until
        {
            return Some(Hold::Retrying(error.clone()));
        }
        let (whose, missing) = holds.waiting.first_key_value()?;
        let others = match holds.waiting.len() - 1 {
            0 => String::new(),
            others => format!(", and for {others} more"),
        };
        Some(Hold::Waiting(format!("{whose}: {missing}{others}")))
    }

    /// Notes what of somebody's is waited for.
    pub(super) fn waits_for(&self, whose: &impl ToString, missing: impl Into<String>) {
        self.holds().waiting.insert(whose.to_string(), missing.into());
    }

    /// Returns whether anything of anybody else's is waited for.
    pub(super) fn waits_for_others(&self, whose: &impl ToString) -> bool {
        let own = whose.to_string();
        self.holds().waiting.keys().any(|other| *other != own)
    }

    /// Notes that nothing of somebody's is waited for any more.
    pub(super) fn goes_on(&self, whose: &impl ToString) {
        self.holds().waiting.remove(&whose.to_string());
    }

    /// Waits after an error, and returns whether the work goes on.
    pub(super) async fn pause_after(&self, error: &ApiError, pause: Duration) -> bool {
        let until = self.clock.elapsed() + pause;
        self.holds().retrying = Some((error.to_string(), until));
        self.pause(pause).await
    }

    fn holds(&self) -> MutexGuard<'_, Holds> {
        self.holdup.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, and returns whether the work goes on.
    pub(super) async fn pause(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.clock.sleep(pause) => true,
            () = self.cancel.cancelled() => false,
        }
    }
}
