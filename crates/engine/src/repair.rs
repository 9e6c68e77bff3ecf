//! A way out where the journal of an earlier run is broken.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use events::journal::{self, ReadError, Salvage};
use events::{Digest, History, RunId, private};

use crate::session::add_run;
use crate::{Claim, SessionError, StateError};

/// A journal that was set aside.
#[derive(Debug)]
pub struct SetAside {
    /// Why it could not be used.
    pub because: SessionError,
    /// Where it lies now, byte for byte as it was found.
    pub kept: PathBuf,
    /// The digest of its bytes.
    pub digest: Digest,
    /// What it still tells.
    pub salvage: Salvage,
}

/// Why no journal was set aside.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// Nothing is wrong with it.
    #[error("the journal of run {0} is sound: nothing was changed")]
    Sound(RunId),
    /// It was set aside already.
    #[error("the journal of run {run} was set aside already, as {}", kept.display())]
    Again {
        /// The run.
        run: RunId,
        /// Where it lies.
        kept: PathBuf,
    },
    /// It cannot be judged: an earlier one is broken, too.
    #[error("the journal of run {0}, which is older, has to be repaired first")]
    Earlier(RunId),
    /// It is not broken, but this program cannot use it.
    #[error(transparent)]
    Unusable(Box<SessionError>),
    /// The state folder cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// It cannot be moved.
    #[error("could not set {} aside", path.display())]
    Unmoved {
        /// The journal.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl SessionError {
    /// Returns the run whose journal the error is about.
    pub fn run(&self) -> Option<RunId> {
        let of = |path: &Path| path.parent()?.file_name()?.to_str()?.parse().ok();
        match self {
            Self::Read(error) => of(error.path()),
            Self::Foreign { path } => of(path),
            Self::History(error) => Some(error.run),
            Self::Lock(_) | Self::State(_) | Self::Write(_) => None,
        }
    }

    /// Returns whether setting the journal aside that the error is about is a way on. A
    /// journal that a newer program can read, or that only another user can, is not broken.
    pub fn is_broken_journal(&self) -> bool {
        match self {
            Self::Read(ReadError::TooNew { .. } | ReadError::Unreadable { .. })
            | Self::Lock(_)
            | Self::State(_)
            | Self::Write(_) => false,
            Self::Read(_) | Self::Foreign { .. } | Self::History(_) => true,
        }
    }
}

/// Sets the journal of a run aside, if it is broken or does not fit the runs
/// before it. The next run takes all calls in it for calls in doubt, and looks.
pub fn set_aside(claim: &Claim, run: RunId) -> Result<SetAside, RepairError> {
    let folder = &claim.folder;
    let kept = folder.broken_journal(run);
    if kept.exists() {
        return Err(RepairError::Again { run, kept });
    }
    let mut history = History::default();
    for earlier in folder.runs()?.into_iter().filter(|it| *it < run) {
        match add_run(&mut history, folder, earlier) {
            Err(error) if error.is_broken_journal() => return Err(RepairError::Earlier(earlier)),
            Err(error) => return Err(RepairError::Unusable(Box::new(error))),
            Ok(_) => {}
        }
    }
    let because = match add_run(&mut history, folder, run) {
        Ok(_) => return Err(RepairError::Sound(run)),
        Err(error) if error.is_broken_journal() => error,
        Err(error) => return Err(RepairError::Unusable(Box::new(error))),
    };
    let path = folder.journal(run);
    let unmoved = |source| RepairError::Unmoved { path: path.clone(), source };
    let digest = Digest::of(&fs::read(&path).map_err(unmoved)?);
    let salvage = journal::salvage(&path, run)
        .map_err(|error| RepairError::Unusable(Box::new(error.into())))?;
    fs::rename(&path, &kept).and_then(|()| private::sync_folder_of(&kept)).map_err(unmoved)?;
    Ok(SetAside { because, kept, digest, salvage })
}
