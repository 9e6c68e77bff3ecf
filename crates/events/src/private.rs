//! Files and folders that only their owner can read: state, journals,
//! evidence, reports.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Makes a folder, with those above it, that only its owner can enter, and
/// that is still there after a crash of the machine. One that exists stays as
/// it is.
pub fn folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => sync_folder_of(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns options under which a new file can be read by its owner only.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a file that appears whole or not at all, in place of one that may be
/// there. A device, a pipe or a socket is never replaced.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_replaceable = |there: fs::Metadata| there.is_file() || there.is_symlink();
    if fs::symlink_metadata(path).is_ok_and(|there| !is_replaceable(there)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let partial = write_partial(path, bytes)?;
    if let Err(error) = fs::rename(&partial, path) {
        // What it holds may be secret, and nobody would look for it.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    sync_folder_of(path)
}

/// Writes a file that appears whole or not at all, and returns what stands
/// there now: where somebody else was faster, theirs.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<Vec<u8>> {
    // What is read back from a pipe never ends.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
    }
    let partial = write_partial(path, bytes)?;
    // A link, other than a rename, never replaces what is there.
    match fs::hard_link(&partial, path) {
        Ok(()) => {
            fs::remove_file(&partial)?;
            sync_folder_of(path)?;
            Ok(bytes.to_vec())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(&partial)?;
            fs::read(path)
        }
        // Some file systems know no links.
        Err(_) => put_first(&partial, path),
    }
}

/// Puts a file in its place by a rename, where nothing stands there. A rename replaces
/// what is there, so whoever does it holds the folder: the second finds the first one's.
fn put_first(partial: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let place = || {
        let folder = File::open(folder_of(path))?;
        folder.lock()?;
        if path.try_exists()? {
            return fs::remove_file(partial);
        }
        fs::rename(partial, path)?;
        sync_folder_of(path)
    };
    let placed = place();
    if let Err(error) = placed {
        // What it holds may be secret, and nobody would look for it.
        let _ = fs::remove_file(partial);
        return Err(error);
    }
    fs::read(path)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes sure that a new name in the folder of `path` survives a crash of the machine.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(_) if cfg!(unix) => File::open(folder_of(path))?.sync_all(),
        _ => Ok(()),
    }
}

/// Writes the bytes beside `path`, under a name that no other process takes.
fn write_partial(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    // Random, because in containers that share a volume every process may be number 1.
    let random = RandomState::new().build_hasher().finish();
    name.push(format!(".{random:016x}.partial"));
    let partial = PathBuf::from(name);
    let mut file = options().write(true).create(true).truncate(true).open(&partial)?;
    if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
        // What it holds may be secret, and nobody would look for it.
        let _ = fs::remove_file(&partial);
        return Err(error);
    }
    Ok(partial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_first_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cluster.json");
        assert_eq!(write_new(&path, b"first").unwrap(), b"first");
        assert_eq!(write_new(&path, b"second").unwrap(), b"first");
        assert!(write_new(Path::new("/dev/null"), b"secret").is_err());
        write(&path, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing partial is left");
    }

    #[test]
    fn without_links_whoever_is_first_stays_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secrets.yaml");
        for said in ["first", "second"] {
            let partial = write_partial(&path, said.as_bytes()).unwrap();
            assert_eq!(put_first(&partial, &path).unwrap(), b"first");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing partial is left");
    }

    #[test]
    fn without_links_two_at_once_get_the_same() {
        for _ in 0..50 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("secrets.yaml");
            let start = std::sync::Barrier::new(2);
            let put = |said: &str| {
                let partial = write_partial(&path, said.as_bytes()).unwrap();
                start.wait();
                put_first(&partial, &path).unwrap()
            };
            let (one, other) = std::thread::scope(|scope| {
                let other = scope.spawn(|| put("other"));
                (put("one"), other.join().unwrap())
            });
            assert_eq!(one, other);
        }
    }

    #[test]
    fn what_cannot_be_put_in_its_place_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        write(&taken, b"secret").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing partial is left");
    }

    #[cfg(unix)]
    #[test]
    fn write_replaces_regular_files_only() {
        use std::os::unix::fs::FileTypeExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let error = write(&path, b"secret").unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
        assert!(fs::symlink_metadata(&path).unwrap().file_type().is_socket());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing partial is left");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_them() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        folder(&inner).unwrap();
        let path = inner.join("file");
        write(&path, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode(&inner), mode(&path)], [0o700, 0o600]);
    }
}
