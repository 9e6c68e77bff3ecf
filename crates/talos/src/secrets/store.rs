//! The bundle on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use events::private;

use super::{Bundle, FileError};

/// Why the bundle is not on disk, or cannot be had from there.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It could not be written.
    #[error("could not write the secrets bundle {}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another bundle is there already: it may be that of a living cluster.
    #[error("another secrets bundle is already at {}, and is never replaced", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// It could not be read.
    #[error("could not read the secrets bundle {}", path.display())]
    Read {
        /// Where from.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What is there is no bundle.
    #[error("{} is no good as a secrets bundle", path.display())]
    Content {
        /// Where it was read.
        path: PathBuf,
        /// Why.
        source: FileError,
    },
}

impl Bundle {
    /// Writes the bundle to a new file that only its owner can read, and
    /// returns once it would survive a crash of the machine. A bundle that is
    /// there already is never replaced.
    pub fn save_new(&self, path: &Path) -> Result<(), StoreError> {
        let text = self.to_yaml();
        let there = private::write_new(path, text.reveal().as_bytes())
            .map_err(|source| StoreError::Write { path: path.to_owned(), source })?;
        if there == text.reveal().as_bytes() {
            Ok(())
        } else {
            Err(StoreError::Exists { path: path.to_owned() })
        }
    }

    /// Reads the bundle from a file.
    pub fn load(path: &Path) -> Result<Self, StoreError> {
        let text = fs::read_to_string(path)
            .map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
        Self::from_yaml(&text)
            .map_err(|source| StoreError::Content { path: path.to_owned(), source })
    }
}
