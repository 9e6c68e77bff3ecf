//! The file that says how a simulated world is reached.
//!
//! The world holds a lock on it for as long as it runs. The lock is the proof of
//! life: the operating system drops it with the process, also after a reboot,
//! for a zombie, and across process namespaces, where a process id would name
//! somebody else.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use events::journal::Anchor;
use events::private;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::standing::Reach;

/// The file of a world, held by it. It is removed with the value, unless
/// something else has taken its place.
#[derive(Debug)]
pub(crate) struct WorldFile {
    path: PathBuf,
    file: File,
    anchor: Anchor,
}

/// The longest file that can be a world's.
const LONGEST: u64 = 1 << 20;

impl WorldFile {
    /// Takes the file for a new world. Anything that is there and was not
    /// written by a world is left alone.
    pub(crate) fn claim(path: &Path) -> Result<Self, CommandError> {
        if let Some(there) = fs::symlink_metadata(path).ok().filter(|it| !it.is_file()) {
            return Err(foreign(path, kind(&there)));
        }
        let mut options = private::options();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(|error| CommandError::unwritten(path, &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(taken(path)),
            Err(TryLockError::Error(error)) => {
                return Err(CommandError::unwritten(path, &error)
                    .hint("the file of a world lies where files can be locked"));
            }
        }
        let anchor = Anchor::new(path, &file)?;
        if !anchor.holds() || fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) {
            return Err(taken(path));
        }
        if !is_of_a_world(&mut file)? {
            return Err(foreign(path, "a file that no world has written"));
        }
        // Made by others it may be open to all, and it is to hold a token.
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(Self { path: path.to_owned(), file, anchor })
    }

    /// Says how the world is reached.
    pub(crate) fn write(&mut self, reach: &Reach) -> Result<(), CommandError> {
        let text = serde_json::to_vec_pretty(reach).expect("texts and numbers are plain data");
        let written = self.put(&text);
        written.map_err(|error| {
            // Half a file would be nobody's.
            let _ = self.file.set_len(0);
            CommandError::unwritten(&self.path, &error)
        })
    }

    fn put(&mut self, text: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(text)
    }
}

impl Drop for WorldFile {
    fn drop(&mut self) {
        if self.anchor.holds() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads how the world of a file is reached, where it runs.
pub(crate) fn read(path: &Path) -> Option<Reach> {
    // A pipe would never end.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    if !is_held(&file) {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let reach: Reach = serde_json::from_slice(&text).ok()?;
    Some(Reach { file: path.to_owned(), ..reach })
}

/// Returns whether the world of a file still runs, whatever is written there.
pub(crate) fn is_alive(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|it| it.is_file());
    is_file && File::open(path).is_ok_and(|file| is_held(&file))
}

/// A shared lock: two that look at once do not take each other for a world.
fn is_held(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Nothing is lost with an empty file, or with what an earlier world has left.
fn is_of_a_world(file: &mut File) -> io::Result<bool> {
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text.is_empty() || serde_json::from_slice::<Reach>(&text).is_ok())
}

fn kind(there: &fs::Metadata) -> &'static str {
    let kind = there.file_type();
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a directory",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () if kind.is_fifo() => "a pipe",
        () => "not a file",
    }
}

fn foreign(path: &Path, what: &str) -> CommandError {
    let message = format!("{} is {what}: it was left alone", path.display());
    CommandError::say(Exit::Usage, message).hint("`--world FILE` names another one")
}

fn taken(path: &Path) -> CommandError {
    let message = format!("another world runs at {}", path.display());
    CommandError::say(Exit::Usage, message).hint("`--world FILE` names another one")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn reach() -> Reach {
        Reach {
            pid: 1,
            endpoint: "https://127.0.0.1:1".to_owned(),
            token: "token".to_owned(),
            authority: String::new(),
            speed: 1,
            admin: PathBuf::from("world.sock"),
            file: PathBuf::new(),
        }
    }

    #[test]
    fn world_file_is_alive_while_it_is_held_whatever_its_pid_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world.json");
        // Process 1 always runs: its id proves nothing.
        fs::write(&path, serde_json::to_vec(&reach()).unwrap()).unwrap();
        assert!(read(&path).is_none() && !is_alive(&path));
        let mut held = WorldFile::claim(&path).unwrap();
        held.write(&reach()).unwrap();
        assert_eq!(read(&path).unwrap().file, path);
        let error = WorldFile::claim(&path).unwrap_err();
        assert!(error.message().contains("another world runs at"), "{}", error.message());
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn world_file_replaces_nothing_that_no_world_has_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("notes"), "mine").unwrap();
        fs::create_dir(at("dir")).unwrap();
        symlink(at("nowhere"), at("link")).unwrap();
        symlink(at("notes"), at("other-link")).unwrap();
        let device = Path::new("/dev/null").to_owned();
        for path in [at("notes"), at("dir"), at("link"), at("other-link"), device] {
            let error = WorldFile::claim(&path).unwrap_err();
            assert!(error.message().ends_with("it was left alone"), "{}", error.message());
            assert!(fs::symlink_metadata(&path).is_ok());
        }
        assert_eq!(fs::read_to_string(at("notes")).unwrap(), "mine");
        assert!(!at("nowhere").exists());
    }

    #[test]
    fn world_file_leaves_what_has_taken_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world.json");
        let held = WorldFile::claim(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "mine").unwrap();
        drop(held);
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
