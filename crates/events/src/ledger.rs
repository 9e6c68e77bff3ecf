//! Permission to change the world, one call at a time.
//!
//! A client's mutating method takes a [`Permit`] by value, and only writing the
//! intent to the journal mints one: no call can be made that the journal does
//! not know of, and none twice. (An [`Errand`](crate::Errand) mints them too,
//! for calls that may be made twice.)

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{
    Call, CallClass, CallOutcome, Fate, History, IntentRef, Made, PastCall, RecordError, Recorder,
    RunBreach, Unit, What,
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
    turns: Arc<Mutex<Turns>>,
}

/// Whose turn it is, by kind and name of the call.
type Turns = HashMap<(String, String), Arc<tokio::sync::Mutex<()>>>;

/// Nobody else makes the same call meanwhile.
#[derive(Debug)]
#[must_use = "others go on when it is dropped"]
pub struct Alone {
    _turn: tokio::sync::OwnedMutexGuard<()>,
}

/// Why there is no permit.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    /// The journal did not take the intent or the result.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The name of a call, or a choice, holds a secret.
    #[error("the name of a call or a choice holds a secret, which no journal may")]
    SecretInName,
    /// What was to be settled is not in doubt.
    #[error("the journals of all runs refuse an event")]
    Illegal(#[from] RunBreach),
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
    pub(crate) fn new(intent: IntentRef, call: Call) -> Self {
        Self { intent, call }
    }

    /// Returns the call that is permitted.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Returns where the intent stands; calls without a name of their own carry it as a label.
    pub fn intent(&self) -> IntentRef {
        self.intent
    }
}

// === impl Receipt ===

impl Receipt {
    pub(crate) fn new(intent: IntentRef) -> Self {
        Self { intent }
    }

    pub(crate) fn intent(&self) -> IntentRef {
        self.intent
    }
}

// === impl Ledger ===

impl Ledger {
    /// A ledger over the journal of this run and the history of those before.
    pub fn new(recorder: Recorder, history: History) -> Self {
        Self { recorder, history: Arc::new(Mutex::new(history)), turns: Arc::default() }
    }

    /// Returns the recorder of this run.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Looks at all runs so far, this one included.
    pub fn history<T>(&self, look: impl FnOnce(&History) -> T) -> T {
        look(&lock(&self.history))
    }

    /// Keeps others from calls of the same kind to the same name, until the
    /// returned value is dropped: from the look to the result.
    pub async fn alone(&self, call: &Call) -> Alone {
        let key = (call.kind.clone(), call.name.clone());
        let turn = Arc::clone(lock(&self.turns).entry(key).or_default());
        Alone { _turn: turn.lock_owned().await }
    }

    /// Writes the intent of a call, and returns the permit for it once the
    /// intent is on disk.
    pub async fn intend(
        &self,
        unit: &Unit,
        attempt: u32,
        call: Call,
    ) -> Result<(Permit, Receipt), LedgerError> {
        self.forbid_secrets(&[&call.kind, &call.name])?;
        let run = self.recorder.run();
        let seq = {
            // Looked up, written and remembered in one step: of two that want
            // the same call at once, one must see the other.
            let mut history = lock(&self.history);
            forbid_again(&history, &call)?;
            let what = What::Intent { unit: unit.clone(), call: call.clone() };
            let seq = self.recorder.record(attempt, what)?;
            history.intend(IntentRef { run, seq }, &call);
            seq
        };
        self.recorder.durable(seq).await?;
        let intent = IntentRef { run, seq };
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
        lock(&self.history).close(intent, fate);
        Ok(())
    }

    /// Returns the calls like `call` of which nobody knows what came.
    pub fn doubts(&self, call: &Call) -> Vec<IntentRef> {
        let history = lock(&self.history);
        let calls = history.calls(&call.kind, &call.name).iter();
        calls.filter(|past| past.fate == Fate::InDoubt).map(|past| past.intent).collect()
    }

    /// Writes what a look found about an intent in doubt.
    pub async fn settle(&self, intent: IntentRef, found: Option<Made>) -> Result<(), LedgerError> {
        let fate = found.clone().map_or(Fate::NotDone, Fate::Done);
        let seq = {
            let mut history = lock(&self.history);
            history.expect_doubt(intent)?;
            let call = history.call(intent).map(ToString::to_string).unwrap_or_default();
            let seq = self.recorder.record(1, What::Settled { intent, call, found })?;
            history.close(intent, fate);
            seq
        };
        Ok(self.recorder.durable(seq).await?)
    }

    /// Returns the choice that was pinned under `key`, in this run or an
    /// earlier one; pins `choice` where there is none.
    pub async fn pin(&self, key: &str, choice: &str) -> Result<String, LedgerError> {
        self.forbid_secrets(&[key, choice])?;
        let seq = {
            let mut history = lock(&self.history);
            if let Some(pinned) = history.pinned(key) {
                return Ok(pinned.to_owned());
            }
            let what = What::Pinned { key: key.to_owned(), value: choice.to_owned() };
            let seq = self.recorder.record(1, what)?;
            history.pin(key, choice);
            seq
        };
        self.recorder.durable(seq).await?;
        Ok(choice.to_owned())
    }

    /// A name with a secret in it would be a token in the journal, and the next
    /// run would not find it again.
    fn forbid_secrets(&self, texts: &[&str]) -> Result<(), LedgerError> {
        if texts.iter().any(|text| self.recorder.gives_away(text)) {
            return Err(LedgerError::SecretInName);
        }
        Ok(())
    }
}

fn forbid_again(history: &History, call: &Call) -> Result<(), LedgerError> {
    if call.class != CallClass::Once {
        return Ok(());
    }
    let past = history.calls(&call.kind, &call.name).iter();
    match past.rev().find(|past| past.fate != Fate::NotDone) {
        None => Ok(()),
        Some(past) => {
            Err(LedgerError::NotAgain { call: call.clone(), past: Box::new(past.clone()) })
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
