//! Permission for commands whose recovery is to be run again.
//!
//! A run of the engine writes its intents to the disk, because it must know
//! after a crash which call may have arrived. A command that applies or deletes
//! Kubernetes objects need not: each of its calls is idempotent and says which
//! life of an object it means, so sending it again settles every doubt, and
//! what could be forgotten (which objects belong to a set) stands in the
//! cluster before the first call. Waiting for a disk twice per object would
//! cost more than the call itself. So the intents of an errand live in memory,
//! for as long as somebody can be told which calls are in doubt.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Call, CallClass, CallOutcome, IntentRef, Permit, Receipt, RunId, Seq};

/// Mints permits for idempotent calls, and remembers those in doubt.
#[derive(Debug)]
pub struct Errand {
    run: RunId,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    last: Seq,
    /// Calls without a result, and those whose result nobody knows.
    open: BTreeMap<Seq, Call>,
}

/// A call that must not be made without a journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot be sent twice, so it needs a journal")]
pub struct NotIdempotent(pub Call);

impl Errand {
    /// An errand under an id of its own.
    pub fn new(run: RunId) -> Self {
        Self { run, calls: Mutex::default() }
    }

    /// Notes the intent of a call, and returns the permit for it.
    pub fn intend(&self, call: Call) -> Result<(Permit, Receipt), NotIdempotent> {
        if call.class != CallClass::Idempotent {
            return Err(NotIdempotent(call));
        }
        let mut calls = self.lock();
        let seq = calls.last.next();
        calls.last = seq;
        calls.open.insert(seq, call.clone());
        let intent = IntentRef { run: self.run, seq };
        Ok((Permit::new(intent, call), Receipt::new(intent)))
    }

    /// Notes what came of a call. One that was done settles earlier ones of
    /// its kind and name: what they wanted is there.
    #[expect(clippy::needless_pass_by_value, reason = "a receipt is used up")]
    pub fn close(&self, receipt: Receipt, outcome: &CallOutcome) {
        let mut calls = self.lock();
        let seq = receipt.intent().seq;
        match outcome {
            CallOutcome::InDoubt { .. } => {}
            CallOutcome::Refused { .. } => drop(calls.open.remove(&seq)),
            CallOutcome::Done { .. } => {
                let Some(done) = calls.open.remove(&seq) else { return };
                let same = |call: &Call| (&call.kind, &call.name) == (&done.kind, &done.name);
                calls.open.retain(|earlier, call| *earlier > seq || !same(call));
            }
        }
    }

    /// Returns the calls of which nobody knows what came.
    pub fn doubts(&self) -> Vec<Call> {
        self.lock().open.values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, Made};

    fn call(class: CallClass, name: &str) -> Call {
        Call::new(class, "apply", name, b"")
    }

    #[test]
    fn calls_without_a_known_end_are_in_doubt() {
        let errand = Errand::new(RunId::new(jiff::Timestamp::UNIX_EPOCH, 1));
        let intend = |name| errand.intend(call(CallClass::Idempotent, name)).unwrap();
        let ((done, first), (lost, second), (_open, _receipt)) =
            (intend("a"), intend("b"), intend("c"));
        assert_ne!(done.intent(), lost.intent());
        errand.close(first, &CallOutcome::Done { made: Made::default() });
        errand.close(second, &CallOutcome::InDoubt { error: Failure::transient("cut") });
        let doubts: Vec<String> = errand.doubts().into_iter().map(|call| call.name).collect();
        assert_eq!(doubts, ["b", "c"]);
        let (_again, receipt) = intend("b");
        errand.close(receipt, &CallOutcome::Done { made: Made::default() });
        let doubts: Vec<String> = errand.doubts().into_iter().map(|call| call.name).collect();
        assert_eq!(doubts, ["c"], "sent again, it is known");
    }

    #[test]
    fn what_must_not_be_repeated_needs_a_journal() {
        let errand = Errand::new(RunId::new(jiff::Timestamp::UNIX_EPOCH, 1));
        for class in [CallClass::Once, CallClass::Named, CallClass::Unnamed] {
            let error = errand.intend(call(class, "a")).unwrap_err();
            assert_eq!(error.to_string(), "`apply a` cannot be sent twice, so it needs a journal");
        }
        assert_eq!(errand.doubts(), []);
    }
}
