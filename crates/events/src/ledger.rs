//! Permission to change the world, one call at a time.
//!
//! A client's mutating method takes a [`Permit`] by value, and only writing the
//! intent to the journal mints one: no call can be made that the journal does
//! not know of, and none twice.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{
    Call, CallClass, CallOutcome, Fate, History, IntentRef, Made, PastCall, RecordError, Recorder,
    Unit, What,
};

/// Permission for one mutating call. It cannot be made, copied or kept.
#[derive(Debug)]
#[must_use = "a permit that is not used leaves an intent without a call"]
pub struct Permit {
    intent: IntentRef,
    call: Call,
}

/// The duty to say what came of a permitted call.
#[derive(Debug)]
#[must_use = "an intent without a result is in doubt"]
pub struct Receipt {
    intent: IntentRef,
}

/// Writes intents and results, and remembers those of all runs.
#[derive(Clone, Debug)]
pub struct Ledger {
    recorder: Recorder,
    history: Arc<Mutex<History>>,
}

/// Why there is no permit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    /// The journal did not take the intent or the result.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The call must not be sent twice, and may have arrived already.
    #[error("`{call}` must not be sent twice, and was sent as {}", past.intent)]
    NotAgain {
        /// The call that was to be made.
        call: Call,
        /// The one that may have arrived.
        past: Box<PastCall>,
    },
}

// === impl Permit ===

impl Permit {
    /// Returns the call that is permitted.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Returns where the intent stands; calls without a name of their own carry it as a label.
    pub fn intent(&self) -> IntentRef {
        self.intent
    }
}

// === impl Ledger ===

impl Ledger {
    /// A ledger over the journal of this run and the history of those before.
    pub fn new(recorder: Recorder, history: History) -> Self {
        Self { recorder, history: Arc::new(Mutex::new(history)) }
    }

    /// Returns the recorder of this run.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Looks at all runs so far, this one included.
    pub fn history<T>(&self, look: impl FnOnce(&History) -> T) -> T {
        look(&self.lock())
    }

    /// Writes the intent of a call, and returns the permit for it once the
    /// intent is on disk.
    pub async fn intend(
        &self,
        unit: &Unit,
        attempt: u32,
        call: Call,
    ) -> Result<(Permit, Receipt), LedgerError> {
        self.forbid_again(&call)?;
        let what = What::Intent { unit: unit.clone(), call: call.clone() };
        let seq = self.recorder.record_durably(attempt, what).await?;
        let intent = IntentRef { run: self.recorder.run(), seq };
        self.lock().intend(intent, &call);
        Ok((Permit { intent, call }, Receipt { intent }))
    }

    /// Writes what came of a call, and waits until it is on disk.
    pub async fn close(
        &self,
        receipt: Receipt,
        attempt: u32,
        outcome: CallOutcome,
    ) -> Result<(), LedgerError> {
        let intent = receipt.intent;
        let fate = Fate::of(&outcome);
        let what = What::Result { intent: intent.seq, outcome };
        self.recorder.record_durably(attempt, what).await?;
        self.lock().close(intent, fate);
        Ok(())
    }

    /// Returns the calls like `call` of which nobody knows what came.
    pub fn doubts(&self, call: &Call) -> Vec<IntentRef> {
        let history = self.lock();
        let calls = history.calls(&call.kind, &call.name).iter();
        calls.filter(|past| past.fate == Fate::InDoubt).map(|past| past.intent).collect()
    }

    /// Writes what a look found about an intent in doubt.
    pub async fn settle(&self, intent: IntentRef, found: Option<Made>) -> Result<(), LedgerError> {
        let fate = found.clone().map_or(Fate::NotDone, Fate::Done);
        self.recorder.record_durably(1, What::Settled { intent, found }).await?;
        self.lock().close(intent, fate);
        Ok(())
    }

    /// Returns the choice that was pinned under `key`, in this run or an
    /// earlier one; pins `choice` where there is none.
    pub async fn pin(&self, key: &str, choice: &str) -> Result<String, LedgerError> {
        if let Some(pinned) = self.lock().pinned(key) {
            return Ok(pinned.to_owned());
        }
        let (key, value) = (key.to_owned(), choice.to_owned());
        self.lock().pin(&key, &value);
        self.recorder.record_durably(1, What::Pinned { key, value }).await?;
        Ok(choice.to_owned())
    }

    fn forbid_again(&self, call: &Call) -> Result<(), LedgerError> {
        if call.class != CallClass::Once {
            return Ok(());
        }
        let history = self.lock();
        let past = history.calls(&call.kind, &call.name).iter();
        match past.rev().find(|past| past.fate != Fate::NotDone) {
            None => Ok(()),
            Some(past) => {
                Err(LedgerError::NotAgain { call: call.clone(), past: Box::new(past.clone()) })
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
