//! What work on a set needs from outside.

use std::sync::{Arc, Mutex, PoisonError};
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
pub struct Holdup(Arc<Mutex<Option<Held>>>);

#[derive(Clone, Debug)]
struct Held {
    hold: Hold,
    /// How long that holds, on the clock.
    until: Duration,
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
        let held = self.holdup.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        (self.clock.elapsed() < held.until).then_some(held.hold)
    }

    /// Notes what is waited for, until something else is or the work goes on.
    pub(super) fn waits_for(&self, what: String) {
        self.hold(Some(Held { hold: Hold::Waiting(what), until: Duration::MAX }));
    }

    /// Notes that nothing is waited for any more.
    pub(super) fn goes_on(&self) {
        self.hold(None);
    }

    /// Waits after an error, and returns whether the work goes on.
    pub(super) async fn pause_after(&self, error: &ApiError, pause: Duration) -> bool {
        let until = self.clock.elapsed() + pause;
        self.hold(Some(Held { hold: Hold::Retrying(error.to_string()), until }));
        self.pause(pause).await
    }

    fn hold(&self, held: Option<Held>) {
        *self.holdup.0.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }

    /// Waits, and returns whether the work goes on.
    pub(super) async fn pause(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.clock.sleep(pause) => true,
            () = self.cancel.cancelled() => false,
        }
    }
}
