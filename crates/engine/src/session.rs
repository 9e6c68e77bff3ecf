//! Opening a run: lock, the history of earlier runs, the journals that dead
//! runs left open, and a journal of its own.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use events::journal::{self, Durability, Header, JournalFile, ReadError, Torn, WriteError, Writer};
use events::{
    Clock, Event, EvidenceLimits, EvidenceStore, History, IllegalRun, Interruption, Ledger,
    Observer, Recorder, Redactor, RunId, RunOutcome, Seq, What,
};

use crate::{Chance, Claim, Claimant, LockError, RunLock, StateError, StateFolder};

/// A run that may start: it alone has the cluster.
#[derive(Debug)]
pub struct Session {
    /// The journal, and what earlier runs left in theirs.
    pub ledger: Ledger,
    /// The run.
    pub run: RunId,
    /// What people should know before the run starts.
    pub notes: Vec<String>,
    _lock: Arc<RunLock>,
}

/// Who opens a run, and how.
pub struct Opening {
    /// The process.
    pub pid: u32,
    /// The machine.
    pub host: String,
    /// The command.
    pub command: String,
    /// Whether journal lines wait for the disk.
    pub durability: Durability,
    /// Who watches the run live.
    pub observers: Vec<Observer>,
}

/// Why a run cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Another run has the cluster.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The state folder cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// An earlier journal cannot be trusted. Without it, calls in doubt are unknown.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A journal belongs to another run or another cluster.
    #[error("the journal {} is of another run or another cluster: it was copied here", path.display())]
    Foreign {
        /// The journal.
        path: PathBuf,
    },
    /// A journal speaks of runs that are not there, or not as it says.
    #[error("the journals of this cluster do not belong together")]
    History(#[from] IllegalRun),
    /// A journal cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

// === impl Session ===

impl Session {
    /// Takes the lock, reads what earlier runs did, closes the journals of
    /// those that died, and begins a new one.
    pub fn open(
        folder: &StateFolder,
        opening: Opening,
        clock: Clock,
        chance: &Chance,
    ) -> Result<Self, SessionError> {
        let Opening { pid, host, command, durability, observers } = opening;
        let claim = Claim::take(folder, Claimant { pid, host, command }, clock, chance)?;
        Self::begin(claim, durability, observers, clock)
    }

    /// The same, for whoever has the lock already.
    pub fn begin(
        claim: Claim,
        durability: Durability,
        observers: Vec<Observer>,
        clock: Clock,
    ) -> Result<Self, SessionError> {
        let Claim { folder, run, lock } = claim;
        lock.check()?;
        let mut notes = Vec::new();
        if let Some(holder) = &lock.left_by {
            notes.push(format!("the last run died, its lock was taken over: {holder}"));
        }
        if lock.is_unsupported {
            let folder = folder.lock();
            notes
                .push(format!("{} cannot be locked: run nothing else meanwhile", folder.display()));
        }
        let history = read_history(&folder, clock, durability, &mut notes)?;
        let run_folder = folder.make_run(run)?;
        let header = Header::new(run, folder.cluster());
        let mut writer = Writer::create(&folder.journal(run), &header, durability)?;
        writer.tie_to(lock.anchor()?);
        let evidence = EvidenceStore::new(&run_folder, EvidenceLimits::default());
        let redactor = Redactor::new(folder.redaction_key());
        let recorder = Recorder::new(&header, writer, evidence, redactor, clock, observers);
        Ok(Self { ledger: Ledger::new(recorder, history), run, notes, _lock: lock })
    }
}

/// Reads the journals of all runs, oldest first.
///
/// # Errors
///
/// A journal that is broken is an error and not passed over: it may hold the
/// only trace of a call that must not be repeated.
fn read_history(
    folder: &StateFolder,
    clock: Clock,
    durability: Durability,
    notes: &mut Vec<String>,
) -> Result<History, SessionError> {
    let mut history = History::default();
    for run in folder.runs()? {
        let Some(journal) = add_run(&mut history, folder, run)? else {
            if history.is_set_aside(run) {
                notes.push(format!(
                    "the journal of run {run} was set aside: what it did is found out by looking"
                ));
            }
            continue;
        };
        if journal.state.plan().is_some() && journal.state.ended().is_none() {
            close_dead(folder, run, clock, durability, notes)?;
        }
    }
    Ok(history)
}

/// Reads what earlier runs of a cluster did, and changes nothing: for whoever
/// wants to show what a run would do.
pub fn past(folder: &StateFolder) -> Result<History, SessionError> {
    let mut history = History::default();
    for run in folder.runs()? {
        add_run(&mut history, folder, run)?;
    }
    Ok(history)
}

/// Adds a run to the history, and returns its journal; none where there is none,
/// or where it was set aside.
pub(crate) fn add_run(
    history: &mut History,
    folder: &StateFolder,
    run: RunId,
) -> Result<Option<JournalFile>, SessionError> {
    let broken = folder.broken_journal(run);
    if broken.exists() {
        history.add_set_aside(run, &journal::salvage(&broken, run)?);
        return Ok(None);
    }
    let path = folder.journal(run);
    let journal = match journal::read(&path) {
        Ok(journal) => journal,
        // The process died before its first line was whole, so before any call.
        Err(ReadError::Empty { .. }) => return Ok(None),
        Err(ReadError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if (journal.header.run, journal.header.cluster) != (run, folder.cluster()) {
        return Err(SessionError::Foreign { path });
    }
    history.add(&journal)?;
    Ok(Some(journal))
}

/// Ends the journal of a run that died, so that its reports are whole.
fn close_dead(
    folder: &StateFolder,
    run: RunId,
    clock: Clock,
    durability: Durability,
    notes: &mut Vec<String>,
) -> Result<(), SessionError> {
    let (mut writer, journal, torn) = match Writer::reopen(&folder.journal(run), durability) {
        Ok(opened) => opened,
        // It can be read, and what it holds counts; it is only not ours to end.
        Err(error @ WriteError::NotOurVersion { .. }) => {
            notes.push(format!("run {run} was left open: {error}"));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let outcome = RunOutcome::Interrupted { how: Interruption::Died };
    let mut closing = vec![What::RunEnded { outcome }];
    if let Some(Torn { bytes }) = torn {
        let message = format!("cut off a torn last line of {bytes} bytes");
        notes.push(format!("run {run}: {message}"));
        closing.insert(0, What::Warning { unit: None, message });
    }
    let mut seq: Seq = journal.state.last();
    for what in closing {
        seq = seq.next();
        let elapsed_ms = journal.state.elapsed_ms();
        writer.append(&Event { run, seq, at: clock.now(), elapsed_ms, attempt: 1, what })?;
    }
    Ok(())
}
