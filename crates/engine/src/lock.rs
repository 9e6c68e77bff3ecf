//! Keeping a second run out of a cluster's state folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use events::journal::Anchor;
use events::{RunId, private};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The right to run. It ends with the value, or with the process.
///
/// The operating system holds the lock, so that a dead holder's is free at
/// once; the text in the file only tells people who holds it.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    path: PathBuf,
    /// Who held it last and did not give it back: its process died.
    pub left_by: Option<Holder>,
    /// Whether the file system knows no locks, so that nobody is kept out.
    pub is_unsupported: bool,
}

/// Who holds the lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// The machine.
    pub host: String,
    /// The command.
    pub command: String,
    /// The run.
    pub run: RunId,
    /// Since when.
    pub since: Timestamp,
}

/// Why there is no right to run.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("another run holds {}: {}", path.display(), who(holder.as_deref()))]
    Held {
        /// The lock file.
        path: PathBuf,
        /// Who, where the file tells.
        holder: Option<Box<Holder>>,
    },
    /// The file is not the one that was locked.
    #[error("the lock {} was removed or replaced", path.display())]
    Lost {
        /// The lock file.
        path: PathBuf,
    },
    /// The file cannot be used.
    #[error("could not lock {}", path.display())]
    Unusable {
        /// The lock file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

// === impl RunLock ===

impl RunLock {
    /// Takes the lock for `holder`, or says who has it.
    pub fn take(path: &Path, holder: &Holder) -> Result<Self, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_owned(), source };
        let mut options = private::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(unusable)?;
        let is_unsupported = match file.try_lock() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock) => {
                let holder = read_holder(&mut file).map(Box::new);
                return Err(LockError::Held { path: path.to_owned(), holder });
            }
            // Some network file systems know no locks. Whoever works there
            // alone is not to be kept from working.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => true,
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        };
        let left_by = read_holder(&mut file);
        // There the text is all that tells, and it may be of a run under way.
        if let (true, Some(holder)) = (is_unsupported, &left_by) {
            let holder = Some(Box::new(holder.clone()));
            return Err(LockError::Held { path: path.to_owned(), holder });
        }
        // Between its opening and its locking somebody may have removed the file.
        let mut lock = Self { file, path: path.to_owned(), left_by, is_unsupported };
        lock.check()?;
        lock.write(&serde_json::to_vec(holder).expect("a holder is plain JSON"))
            .map_err(unusable)?;
        Ok(lock)
    }

    /// Ties the lock to its path, for whoever must not go on without it.
    pub fn anchor(&self) -> Result<Anchor, LockError> {
        let unusable = |source| LockError::Unusable { path: self.path.clone(), source };
        Anchor::new(&self.path, &self.file).map_err(unusable)
    }

    /// Fails where the file at the path is not the one that was locked.
    pub fn check(&self) -> Result<(), LockError> {
        if self.anchor()?.holds() {
            return Ok(());
        }
        Err(LockError::Lost { path: self.path.clone() })
    }

    /// Not synced: after a crash of the machine nobody holds a lock.
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text)
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // An empty file says that the lock was given back. Where even that
        // fails, the next run says that this one died, and goes on.
        let _ = self.write(b"");
        // Closing the file would do, were it not for a child that was forked
        // just now and holds a copy of it until it starts its own program.
        let _ = self.file.unlock();
    }
}

// === impl Holder ===

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pid, host, command, run, since } = self;
        write!(f, "`{command}`, process {pid} on {host}, run {run}, since {since:.0}")
    }
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut text)).ok()?;
    serde_json::from_slice(&text).ok()
}

fn who(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "it does not say who".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(command: &str) -> Holder {
        let since = "2026-11-15T12:00:00Z".parse().unwrap();
        let run = RunId::new(since, 7);
        Holder { pid: 4711, host: "harbour".to_owned(), command: command.to_owned(), run, since }
    }

    #[test]
    fn a_second_run_is_kept_out_and_told_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = RunLock::take(&path, &holder("up")).unwrap();
        assert_eq!(first.left_by, None);
        let message = RunLock::take(&path, &holder("down")).unwrap_err().to_string();
        assert!(message.contains("`up`, process 4711 on harbour, run 01"), "{message}");
        assert!(message.ends_with("since 2026-11-15T12:00:00Z"), "{message}");
        drop(first);
        assert_eq!(RunLock::take(&path, &holder("down")).unwrap().left_by, None);
    }

    #[test]
    fn a_dead_holders_lock_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, serde_json::to_vec(&holder("up")).unwrap()).unwrap();
        let lock = RunLock::take(&path, &holder("down")).unwrap();
        assert_eq!(lock.left_by, Some(holder("up")));
    }
}
