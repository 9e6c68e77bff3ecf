//! Appending to a journal.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::anchor::Anchor;
use super::format::{Header, Line, Version};
use super::reader::{self, JournalFile, ReadError, Torn};
use crate::{Digest, Event, private};

/// Whether an append waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It does: what was appended survives a crash of the machine.
    Synced,
    /// It does not: what was appended survives a crash of the process only. For tests.
    Unsynced,
}

/// A journal that is open for appending.
///
/// It does not know the law: the [`Recorder`](crate::Recorder) asks that first.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    head: Digest,
    durability: Durability,
    buffer: Vec<u8>,
    /// What must stay where it is: the journal itself, and the lock of its run.
    anchors: Vec<Anchor>,
}

/// Why nothing was appended.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file cannot be made.
    #[error("could not make the journal {}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file cannot be written to.
    #[error("could not append to the journal {}", path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file, or the lock of its run, is not where it was.
    #[error(
        "{} was removed or replaced during the run: nothing more was called",
        path.display()
    )]
    Lost {
        /// What is not there any more.
        path: PathBuf,
    },
    /// What stands in it cannot be trusted.
    #[error("could not go on with the journal {}", path.display())]
    Unsound {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<ReadError>,
    },
    /// A newer program wrote it.
    #[error(
        "the journal {} has format {found}, and this program writes {}: use a newer seaworthy",
        path.display(),
        Version::CURRENT
    )]
    NotOurVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: Version,
    },
    /// An event cannot be written as JSON.
    #[error("could not write an event as JSON")]
    Encode(#[source] serde_json::Error),
}

// === impl Writer ===

impl Writer {
    /// Makes the journal of a new run. The file must not exist.
    pub fn create(
        path: &Path,
        header: &Header,
        durability: Durability,
    ) -> Result<Self, WriteError> {
        let failed = |source| WriteError::Create { path: path.to_owned(), source };
        let file = private::options().append(true).create_new(true).open(path).map_err(failed)?;
        let mut writer = Self::at(path, file, Digest::ZERO, durability).map_err(failed)?;
        let line = serde_json::to_vec(header).map_err(WriteError::Encode)?;
        writer.put_line(&line);
        writer.commit()?;
        if durability == Durability::Synced {
            private::sync_folder_of(path).map_err(failed)?;
        }
        Ok(writer)
    }

    /// Opens a journal that another process left, cuts off a torn last line,
    /// and returns what stands in it.
    pub fn reopen(
        path: &Path,
        durability: Durability,
    ) -> Result<(Self, JournalFile, Option<Torn>), WriteError> {
        let unsound =
            |source| WriteError::Unsound { path: path.to_owned(), source: Box::new(source) };
        let journal = reader::read(path).map_err(unsound)?;
        let found = journal.header.version;
        if found != Version::CURRENT {
            return Err(WriteError::NotOurVersion { path: path.to_owned(), found });
        }
        let failed = |source| WriteError::Append { path: path.to_owned(), source };
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        let torn = journal.chain.torn;
        if torn.is_some() {
            file.set_len(journal.chain.bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        let writer = Self::at(path, file, journal.chain.head, durability).map_err(failed)?;
        Ok((writer, journal, torn))
    }

    fn at(path: &Path, file: File, head: Digest, durability: Durability) -> io::Result<Self> {
        let anchors = vec![Anchor::new(path, &file)?];
        let path = path.to_owned();
        Ok(Self { path, file, head, durability, buffer: Vec::new(), anchors })
    }

    /// Writes nothing more once this file is not where it was, either.
    pub fn tie_to(&mut self, anchor: Anchor) {
        self.anchors.push(anchor);
    }

    /// Returns the digest of the last line.
    pub fn head(&self) -> Digest {
        self.head
    }

    /// Puts an event, already as JSON, behind the last one. Nothing is on disk
    /// before [`commit`](Self::commit).
    pub(crate) fn put(&mut self, event: &serde_json::value::RawValue) -> Result<(), WriteError> {
        let line = Line { prev: self.head, event };
        let line = serde_json::to_vec(&line).map_err(WriteError::Encode)?;
        self.put_line(&line);
        Ok(())
    }

    /// Appends an event that holds no secret, such as the end of a run that died.
    pub fn append(&mut self, event: &Event) -> Result<(), WriteError> {
        let json = serde_json::value::to_raw_value(event).map_err(WriteError::Encode)?;
        self.put(&json)?;
        self.commit()
    }

    /// Brings all that was put to the disk, in one write and at most one sync.
    pub(crate) fn commit(&mut self) -> Result<(), WriteError> {
        if let Some(lost) = self.anchors.iter().find(|anchor| !anchor.holds()) {
            return Err(WriteError::Lost { path: lost.path().to_owned() });
        }
        let written = self.file.write_all(&self.buffer);
        self.buffer.clear();
        written
            .and_then(|()| match self.durability {
                Durability::Synced => self.file.sync_data(),
                Durability::Unsynced => Ok(()),
            })
            .map_err(|source| WriteError::Append { path: self.path.clone(), source })
    }

    fn put_line(&mut self, line: &[u8]) {
        self.head = Digest::of(line);
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
    }
}

#[cfg(all(test, target_os = "linux"))]
impl Writer {
    /// The same journal on a disk that has no room left.
    pub(crate) fn on_a_full_disk(mut self) -> Self {
        self.file = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        self
    }
}
