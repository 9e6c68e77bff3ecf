//! The right to run on a cluster, taken before anything else is done.

use std::sync::Arc;
use std::time::Duration;

use events::{Clock, RunId};

use crate::{Chance, Holder, LockError, RunLock, SessionError, StateError, StateFolder};

/// The right to run on a cluster.
///
/// A command that does something before its run begins, such as starting a
/// simulated world, takes it first and passes it to the
/// [`Session`](crate::Session). Clones share one lock: it ends with the last of
/// them, so that a command can hold it until it has cleaned up after its run.
#[derive(Clone, Debug)]
pub struct Claim {
    pub(crate) folder: StateFolder,
    pub(crate) run: RunId,
    pub(crate) lock: Arc<RunLock>,
}

/// Who takes it.
#[derive(Clone, Debug)]
pub struct Claimant {
    /// The process.
    pub pid: u32,
    /// The machine.
    pub host: String,
    /// The command.
    pub command: String,
}

impl Claim {
    /// Takes the lock of a state folder, or says who holds it.
    pub fn take(
        folder: &StateFolder,
        who: Claimant,
        clock: Clock,
        chance: &Chance,
    ) -> Result<Self, SessionError> {
        let run = next_run(folder, clock, chance)?;
        let Claimant { pid, host, command } = who;
        let holder = Holder { pid, host, command, run, since: clock.now() };
        let lock = RunLock::take(&folder.lock(), &holder)?;
        // A run may have begun and ended since the runs were listed.
        let run = next_run(folder, clock, chance)?.max(run);
        Ok(Self { folder: folder.clone(), run, lock: Arc::new(lock) })
    }

    /// Returns the state folder.
    pub fn folder(&self) -> &StateFolder {
        &self.folder
    }

    /// Fails where the lock file is no longer the one that was locked: another
    /// run may hold the cluster by now.
    pub fn check(&self) -> Result<(), LockError> {
        self.lock.check()
    }
}

/// Runs are folded in the order of their ids: a clock that was set back must
/// not put a run before the one it follows.
fn next_run(folder: &StateFolder, clock: Clock, chance: &Chance) -> Result<RunId, StateError> {
    let after_last = folder.runs()?.last().map(|last| last.started() + Duration::from_millis(1));
    let at = after_last.map_or(clock.now(), |after_last| after_last.max(clock.now()));
    Ok(RunId::new(at, chance.bits()))
}
