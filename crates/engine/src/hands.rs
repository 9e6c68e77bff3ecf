//! What a unit acts with: one way to make a mutating call, whatever its class.

use std::future::Future;
use std::sync::Arc;

use events::{
    Alone, Arrival, Attachment, Call, CallClass, CallOutcome, Cause, Clock, EvidenceError, Failure,
    Fate, History, IntentRef, Ledger, Made, Permit, RunId, Secret, Unit, What,
};
use tokio::sync::{Notify, watch};
use tokio::task::JoinError;

use crate::{ActError, Cancel};

/// What a unit acts with.
#[derive(Clone, Debug)]
pub struct Hands {
    pub(crate) eyes: Eyes,
    pub(crate) ledger: Ledger,
    pub(crate) cancel: Cancel,
    pub(crate) attempt: u32,
    pub(crate) under_way: watch::Sender<usize>,
}

/// A call that is under way, counted until it is dropped.
struct UnderWay(watch::Sender<usize>);

/// What a unit looks with. It cannot change anything.
#[derive(Clone, Debug)]
pub struct Eyes {
    pub(crate) unit: Unit,
    pub(crate) ledger: Ledger,
    pub(crate) nudge: Arc<Notify>,
}

/// What a look for the effect of a call has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It is there, and it is ours.
    There(Made),
    /// It is provably not there: no earlier call has arrived, and none is on
    /// its way. For a call that must not be repeated this is a strong claim.
    NotThere,
    /// It cannot be told.
    Unclear {
        /// Why not.
        because: String,
    },
}

/// What came of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// It was so already.
    Found(Made),
    /// A call made it so.
    Sent(Made),
    /// A call that must not be repeated was sent earlier, and its effect is
    /// not to be seen yet. The gate waits for it.
    Pending(IntentRef),
}

/// Why a call has no good answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendError {
    /// What happened.
    pub failure: Failure,
    /// Whether the call may have had its effect all the same.
    pub arrival: Arrival,
    /// Why trying again is hopeless, where the answer has a name.
    pub cause: Option<Box<Cause>>,
    /// What it is called where another try has not helped by the deadline.
    pub in_the_end: Option<Box<Cause>>,
}

// === impl Hands ===

impl Hands {
    /// Makes sure that what `call` wants is so, and sends it at most once here.
    ///
    /// The class of the call decides when to send and when not to: see
    /// [`CallClass`]. `look` is given the intents of which nobody knows what
    /// came, of this run or an earlier one, by which an unnamed thing can be
    /// found; they are settled by what it sees. From the look to the result
    /// nobody else makes the same call.
    pub async fn ensure<L, S>(
        &self,
        call: Call,
        look: impl FnOnce(Vec<IntentRef>) -> L,
        send: impl FnOnce(Permit) -> S + Send + 'static,
    ) -> Result<Ensured, ActError>
    where
        L: Future<Output = Result<Sight, ActError>>,
        S: Future<Output = Result<Made, SendError>> + Send + 'static,
    {
        self.go_on()?;
        let alone = self.ledger.alone(&call).await;
        let sight = look(self.ledger.doubts(&call)).await?;
        match (sight, call.class) {
            (Sight::There(made), _) => {
                self.settle(&call, Some(&made)).await?;
                return Ok(Ensured::Found(made));
            }
            (Sight::Unclear { because }, CallClass::Once) => {
                return match self.maybe_arrived(&call) {
                    Some(intent) => Ok(Ensured::Pending(intent)),
                    None => Err(Failure::transient(because).into()),
                };
            }
            (Sight::Unclear { because }, CallClass::Named | CallClass::Unnamed) => {
                return Err(Failure::transient(because).into());
            }
            (Sight::NotThere, CallClass::Named | CallClass::Unnamed | CallClass::Once) => {
                self.settle(&call, None).await?;
            }
            // It may be sent again, and settles its doubts by that.
            (Sight::Unclear { .. } | Sight::NotThere, CallClass::Idempotent) => {}
        }
        self.go_on()?;
        let made = self.send(call.clone(), alone, send).await?;
        self.settle(&call, Some(&made)).await?;
        Ok(Ensured::Sent(made))
    }

    /// Returns whether a call like this one was sent earlier, by this run or
    /// another, and may have had its effect.
    pub fn may_have_arrived(&self, call: &Call) -> bool {
        self.maybe_arrived(call).is_some()
    }

    /// Keeps a secret out of everything that is written from now on.
    pub fn hide(&self, name: &str, secret: &Secret) -> Result<(), ActError> {
        let hidden = self.ledger.recorder().hide(name, secret);
        hidden.map_err(|error| Failure::permanent(error.to_string()).into())
    }

    /// Returns the choice that was pinned under `key`, by this run or an
    /// earlier one; pins `choice` where there is none.
    pub async fn pin(&self, key: &str, choice: &str) -> Result<String, ActError> {
        Ok(self.ledger.pin(key, choice).await?)
    }

    /// Says something that people should know and that stops nothing.
    pub fn warn(&self, message: impl Into<String>) -> Result<(), ActError> {
        let what = What::Warning { unit: Some(self.eyes.unit.clone()), message: message.into() };
        self.ledger.recorder().record(self.attempt, what)?;
        Ok(())
    }

    /// Returns what the unit looks with.
    pub fn eyes(&self) -> &Eyes {
        &self.eyes
    }

    /// Ends the act between two calls, where the run was asked to stop.
    pub fn go_on(&self) -> Result<(), ActError> {
        if self.cancel.is_asked() { Err(ActError::Stopped) } else { Ok(()) }
    }

    /// The call has a task of its own: whoever drops this future, the call is
    /// finished and journaled. Its unit waits for it.
    async fn send<S>(
        &self,
        call: Call,
        alone: Alone,
        send: impl FnOnce(Permit) -> S + Send + 'static,
    ) -> Result<Made, ActError>
    where
        S: Future<Output = Result<Made, SendError>> + Send + 'static,
    {
        let (ledger, unit, attempt) = (self.ledger.clone(), self.eyes.unit.clone(), self.attempt);
        let under_way = UnderWay::begin(&self.under_way);
        let task = tokio::spawn(async move {
            let _until_the_end = (under_way, alone);
            let (permit, receipt) = ledger.intend(&unit, attempt, call).await?;
            let answer =
                tokio::spawn(send(permit)).await.unwrap_or_else(|stopped| Err(bug(stopped)));
            ledger.close(receipt, attempt, outcome(&answer)).await?;
            answer.map_err(SendError::into_end)
        });
        task.await.unwrap_or_else(|stopped| std::panic::resume_unwind(stopped.into_panic()))
    }

    /// Waits until no call of the unit is under way.
    pub(crate) async fn calls_are_over(&self) {
        let mut under_way = self.under_way.subscribe();
        under_way.wait_for(|count| *count == 0).await.expect("the sender is in `self`");
    }

    async fn settle(&self, call: &Call, found: Option<&Made>) -> Result<(), ActError> {
        for intent in self.ledger.doubts(call) {
            self.ledger.settle(intent, found.cloned()).await?;
        }
        Ok(())
    }

    fn maybe_arrived(&self, call: &Call) -> Option<IntentRef> {
        self.ledger.history(|history| {
            let mut past = history.calls(&call.kind, &call.name).iter().rev();
            past.find(|past| past.fate != Fate::NotDone).map(|past| past.intent)
        })
    }
}

fn outcome(answer: &Result<Made, SendError>) -> CallOutcome {
    match answer {
        Ok(made) => CallOutcome::Done { made: made.clone() },
        Err(SendError { failure, arrival: Arrival::No, .. }) => {
            CallOutcome::Refused { error: failure.clone() }
        }
        Err(SendError { failure, arrival: Arrival::Maybe, .. }) => {
            CallOutcome::InDoubt { error: failure.clone() }
        }
    }
}

/// A bug in a client says nothing about whether its call has arrived.
fn bug(stopped: JoinError) -> SendError {
    let failure = Failure::permanent(format!("a bug in seaworthy: {}", panic_text(stopped)));
    SendError::lost(failure)
}

/// Returns what a task that panicked said.
pub(crate) fn panic_text(stopped: JoinError) -> String {
    let payload = stopped.into_panic();
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

// === impl SendError ===

impl SendError {
    /// Says what happened, and whether the call may have had its effect.
    pub fn new(failure: Failure, arrival: Arrival) -> Self {
        Self { failure, arrival, cause: None, in_the_end: None }
    }

    /// The other side said no, or the call never left.
    pub fn refused(failure: Failure) -> Self {
        Self::new(failure, Arrival::No)
    }

    /// The answer was lost.
    pub fn lost(failure: Failure) -> Self {
        Self::new(failure, Arrival::Maybe)
    }

    /// Says why trying again is hopeless, where there is a name for it.
    #[must_use]
    pub fn named(self, cause: Option<Cause>) -> Self {
        Self { cause: cause.map(Box::new), ..self }
    }

    /// Says what it is called if it is still so when the deadline passes.
    #[must_use]
    pub fn in_the_end(self, cause: Option<Cause>) -> Self {
        Self { in_the_end: cause.map(Box::new), ..self }
    }

    fn into_end(self) -> ActError {
        match (self.cause, self.in_the_end) {
            (Some(cause), _) => ActError::Hopeless(cause),
            (None, Some(in_the_end)) => ActError::NotYet { failure: self.failure, in_the_end },
            (None, None) => ActError::Failed(self.failure),
        }
    }
}

// === impl UnderWay ===

impl UnderWay {
    fn begin(count: &watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

// === impl Eyes ===

impl Eyes {
    /// Returns the clock of the run.
    pub fn clock(&self) -> Clock {
        self.ledger.recorder().clock()
    }

    /// Returns the run, by which probes mark what they make.
    pub fn run(&self) -> RunId {
        self.ledger.recorder().run()
    }

    /// Returns a choice that this run or an earlier one has pinned.
    pub fn pinned(&self, key: &str) -> Option<String> {
        self.ledger.history(|history| history.pinned(key).map(str::to_owned))
    }

    /// Returns all choices whose keys begin alike, by what follows.
    pub fn pinned_under(&self, prefix: &str) -> Vec<(String, String)> {
        self.ledger.history(|history| history.pinned_under(prefix))
    }

    /// Returns what calls of a kind may have reached, by this run or an earlier one:
    /// their names, each with the last of them.
    pub fn reached(&self, kind: &str) -> Vec<(String, IntentRef)> {
        self.ledger.history(|history| history.reached(kind))
    }

    /// Looks at all runs so far, this one included.
    pub fn history<T>(&self, look: impl FnOnce(&History) -> T) -> T {
        self.ledger.history(look)
    }

    /// Returns what wakes the wait for the unit's gate: a watch that saw a
    /// change calls `notify_one`, and the gate looks at once.
    pub fn nudge(&self) -> Arc<Notify> {
        Arc::clone(&self.nudge)
    }

    /// Stores a file of evidence beside the journal.
    pub async fn attach(&self, name: &str, bytes: Vec<u8>) -> Result<Attachment, EvidenceError> {
        self.ledger.recorder().attach(name, bytes).await
    }
}
