//! What work on a set needs from outside.

use std::sync::Arc;
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
}

impl Means {
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

    /// Waits, and returns whether the work goes on.
    pub(super) async fn pause(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.clock.sleep(pause) => true,
            () = self.cancel.cancelled() => false,
        }
    }
}
