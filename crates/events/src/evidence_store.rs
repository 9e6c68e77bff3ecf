//! Evidence files beside the journal, named by the digest of their bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Attachment, Digest, RunId, private};

/// The folder of a run's evidence files.
#[derive(Clone, Debug)]
pub struct EvidenceStore {
    folder: PathBuf,
    limits: EvidenceLimits,
}

/// How large evidence may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvidenceLimits {
    /// The largest file; more is cut off, its head and its tail are kept.
    pub file: usize,
    /// The sum of all files of a run; what would go beyond is not stored.
    pub run: u64,
}

/// Why a file of evidence was not stored.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The folder or file cannot be written.
    #[error("could not store the evidence {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The run has stored enough.
    #[error("the run's evidence would grow beyond {limit} bytes, `{name}` was not stored")]
    Full {
        /// What was not stored.
        name: String,
        /// The limit.
        limit: u64,
    },
}

// === impl EvidenceLimits ===

impl Default for EvidenceLimits {
    /// A file holds a long log's head and tail; a run of hundreds of nodes has
    /// room for one such file each.
    fn default() -> Self {
        Self { file: 256 * 1024, run: 64 * 1024 * 1024 }
    }
}

// === impl EvidenceStore ===

impl EvidenceStore {
    /// The evidence of the run whose journal lies in `run_folder`.
    pub fn new(run_folder: &Path, limits: EvidenceLimits) -> Self {
        Self { folder: run_folder.join("evidence"), limits }
    }

    /// Returns where a file of that digest lies.
    pub fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(digest.to_string())
    }

    /// Reads a file back and checks that it is what its name says.
    pub fn get(&self, digest: &Digest) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.path(digest))?;
        if Digest::of(&bytes) == *digest {
            return Ok(bytes);
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("{digest} was changed on disk")))
    }

    /// Brings a file of an earlier run of the same cluster here.
    pub(crate) fn adopt(&self, run: RunId, file: &Attachment) -> Result<(), EvidenceError> {
        let path = self.path(&file.digest);
        let runs = self.folder.parent().and_then(Path::parent);
        let theirs = Self::new(&runs.unwrap_or(Path::new("")).join(run.to_string()), self.limits);
        let copied = theirs.get(&file.digest).and_then(|bytes| {
            private::folder(&self.folder)?;
            private::write(&path, &bytes)
        });
        copied.map_err(|source| EvidenceError::Write { path, source })
    }

    /// Stores bytes from which the secrets have been removed.
    pub(crate) fn put(
        &self,
        name: &str,
        bytes: &[u8],
        stored_so_far: u64,
    ) -> Result<Attachment, EvidenceError> {
        let (kept, cut_from) = cut(bytes, self.limits.file);
        let size = kept.len() as u64;
        let name = name.to_owned();
        if stored_so_far + size > self.limits.run {
            return Err(EvidenceError::Full { name, limit: self.limits.run });
        }
        let digest = Digest::of(&kept);
        let path = self.path(&digest);
        if !path.exists() {
            // A name is a promise about the bytes: the file appears whole.
            private::folder(&self.folder)
                .and_then(|()| private::write(&path, &kept))
                .map_err(|source| EvidenceError::Write { path, source })?;
        }
        Ok(Attachment { name, digest, size, cut_from })
    }
}

/// Keeps the head and the tail of what is too long: logs say at the start what
/// was wanted, and at the end what went wrong.
fn cut(bytes: &[u8], limit: usize) -> (Vec<u8>, Option<u64>) {
    if bytes.len() <= limit {
        return (bytes.to_vec(), None);
    }
    let note = format!("\n… {} bytes left out …\n", bytes.len() - limit);
    let room = limit.saturating_sub(note.len());
    let head = room / 4;
    let tail = bytes.len() - (room - head);
    let kept = [&bytes[..head], note.as_bytes(), &bytes[tail..]].concat();
    (kept, Some(bytes.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_stored_once_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::new(folder.path(), EvidenceLimits::default());
        let one = store.put("a.log", b"same", 0).unwrap();
        let two = store.put("b.log", b"same", 4).unwrap();
        assert_eq!(one.digest, two.digest);
        assert_eq!(store.get(&one.digest).unwrap(), b"same");
        assert_eq!(fs::read_dir(folder.path().join("evidence")).unwrap().count(), 1);
    }

    #[test]
    fn a_changed_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = EvidenceStore::new(folder.path(), EvidenceLimits::default());
        let file = store.put("a.log", b"same", 0).unwrap();
        fs::write(store.path(&file.digest), b"other").unwrap();
        assert!(store.get(&file.digest).unwrap_err().to_string().contains("was changed on disk"));
    }

    #[test]
    fn what_is_too_long_keeps_its_head_and_tail() {
        let folder = tempfile::tempdir().unwrap();
        let limits = EvidenceLimits { file: 100, run: 150 };
        let store = EvidenceStore::new(folder.path(), limits);
        let long = [b"first".as_slice(), &[b'.'; 1000], b"last"].concat();
        let file = store.put("a.log", &long, 0).unwrap();
        assert_eq!((file.cut_from, file.size), (Some(1009), 100));
        let kept = store.get(&file.digest).unwrap();
        assert!(kept.starts_with(b"first") && kept.ends_with(b"last"));
        let error = store.put("b.log", &long, 100).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the run's evidence would grow beyond 150 bytes, `b.log` was not stored"
        );
    }
}
