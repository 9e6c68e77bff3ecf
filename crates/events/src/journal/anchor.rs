//! Files that must stay where they are while a run writes.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// An open file and the path that it must keep.
///
/// A journal or lock that was removed or replaced still takes writes, but
/// nobody finds them: the next run would start as if nothing had happened.
#[derive(Debug)]
pub struct Anchor {
    path: PathBuf,
    identity: Identity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Anchor {
    /// Ties an open file to its path.
    pub fn new(path: &Path, file: &File) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), identity: Identity::of(&file.metadata()?) })
    }

    /// Returns whether the path still leads to the file.
    pub fn holds(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|there| Identity::of(&there) == self.identity)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Identity {
    #[cfg(unix)]
    fn of(there: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { device: there.dev(), inode: there.ino() }
    }

    /// Where files have no identity, being there has to do.
    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Self {
        Self { device: 0, inode: 0 }
    }
}
