//! What happened: the event vocabulary, verdicts and evidence, the journal and
//! its laws, permits for mutating calls, and the redaction of secrets.
//!
//! ```text
//!  stage ── intend ──► Ledger ──┐                       ┌─► observers (live reports)
//!  gate ─── verdict ──► …     ──┼─► Recorder ─► journal ─┤
//!  engine ─ lifecycle ──► …   ──┘   law, secrets, disk   └─► replay (reports, resume)
//! ```
//!
//! It does not run anything (that is `engine`), and it does not know how
//! anything looks (that is `report`).
//!
//! Invariants:
//! - [`RunState::apply`] alone decides which event may follow which. The
//!   recorder asks it before it writes, the reader when it replays.
//! - A [`Permit`] exists only after its intent is on disk, and is used up by
//!   the one call it permits. An [`Errand`] keeps intents in memory, and only
//!   those of calls that may be made twice.
//! - Observers see an event after it is on disk, and see just what a later
//!   reader will see. A report cannot know more than the journal.
//! - No known secret passes the recorder, in any of the forms of [`Redactor`].

mod arrival;
mod call;
mod cause;
mod clock;
mod errand;
mod event;
mod evidence;
mod evidence_store;
mod failure;
mod heals;
mod history;
mod ids;
mod illegal_event;
mod io_reason;
pub mod journal;
mod ledger;
mod name;
mod plan;
pub mod private;
mod recorder;
mod redaction;
mod run_state;
mod secret;
pub mod text;
mod verdict;

pub use arrival::Arrival;
pub use call::{Call, CallClass, CallOutcome, IntentRef, Made};
pub use cause::{Cause, Code, InvalidCode, NextStep, ShownBy};
pub use clock::Clock;
pub use errand::{Errand, NotIdempotent};
pub use event::{Event, Hindrance, Interruption, RunOutcome, UnitOutcome, What};
pub use evidence::{Attachment, Evidence, Fact, Observed};
pub use evidence_store::{EvidenceError, EvidenceLimits, EvidenceStore};
pub use failure::{Class, Failure};
pub use heals::Heals;
pub use history::{Fate, History, PastCall, PastProbe, PastRun};
pub use ids::{ClusterId, Digest, InvalidId, RunId, Seq};

pub use illegal_event::{IllegalEvent, IllegalRun, RunBreach};
pub use io_reason::io_reason;
pub use ledger::{Alone, Ledger, LedgerError, Permit, Receipt};
pub use name::{CheckName, NodeName, StageName, Unit};
pub use plan::{
    After, CheckKind, Claim, InvalidPlan, Plan, PlannedCheck, PlannedNode, PlannedStage, Reach,
    Role,
};
pub use recorder::{Observer, RecordError, Recorder};
pub use redaction::{Redactor, SecretsLedger, ShortSecret};
pub use run_state::{RunState, UnitState};
pub use secret::Secret;
pub use verdict::{Because, Verdict};
