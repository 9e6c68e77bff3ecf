//! Where the socket is: in a folder, under a name, however long the way there.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket in the file system.
///
/// The system takes at most 107 bytes for the path of a socket, and folders of
/// state can be deeper. So the folder is opened first, and the socket is
/// reached through the open folder, whose path is short wherever it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(PathBuf);

impl Place {
    /// A socket at a path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Listens there, for the owner alone. What a world that died has left
    /// behind is taken away; a world that listens is not.
    pub fn listen(&self) -> io::Result<UnixListener> {
        match self.connect() {
            Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
            // What is no socket refuses connections, too, and is not ours to remove.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                if !fs::symlink_metadata(&self.0)?.file_type().is_socket() {
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is no socket"));
                }
                fs::remove_file(&self.0)?;
            }
            Err(_) => {}
        }
        let (_open, short) = self.short()?;
        let listener = UnixListener::bind(short)?;
        fs::set_permissions(&self.0, Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Connects to whoever listens there.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let (_open, short) = self.short()?;
        UnixStream::connect(short)
    }

    /// Returns who owns the socket.
    pub(super) fn owner(&self) -> io::Result<u32> {
        Ok(fs::metadata(&self.0)?.uid())
    }

    /// Returns what tells the socket apart from another at the same path.
    pub(super) fn inode(&self) -> io::Result<u64> {
        Ok(fs::symlink_metadata(&self.0)?.ino())
    }

    /// The short way there, for as long as the folder is open.
    fn short(&self) -> io::Result<(File, PathBuf)> {
        let name = self.0.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.0.parent().filter(|folder| !folder.as_os_str().is_empty());
        let open = File::open(folder.unwrap_or(Path::new(".")))?;
        let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(name);
        Ok((open, short))
    }
}
