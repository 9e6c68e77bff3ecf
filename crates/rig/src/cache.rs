//! The cache of built binaries and fetched folders: whole or absent, and one builder at a time.
//!
//! ```text
//! <cache>/kube-apiserver/v1.36.3-0a1b2c3d4e5f/kube-apiserver
//! <cache>/kube-apiserver/lock         held while building, names the holder
//! <cache>/kube-apiserver/partial-…    left by an interrupt, removed by the next builder
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use crate::component::Component;
use crate::recipe::Recipe;
use crate::say::say;
use crate::settings::Settings;

/// Where a component's binary, or folder of files, is kept.
#[derive(Debug, Clone)]
pub struct Entry {
    name: String,
    folder: PathBuf,
    version: String,
}

/// The right to build one component; others wait for it.
#[derive(Debug)]
pub struct BuildLock {
    _file: File,
    partial: PathBuf,
}

impl Entry {
    /// Returns the entry of a component, whether it is filled or not.
    pub fn of(component: &Component, recipe: &Recipe<'_>, settings: &Settings) -> io::Result<Self> {
        let version = format!("{}-{}", component.version, recipe.digest()?);
        Ok(Self::named(&component.name, version, settings))
    }

    /// Returns the entry of what is made of components.
    pub fn named(name: &str, version: String, settings: &Settings) -> Self {
        Self { name: name.to_owned(), folder: settings.cache.join(name), version }
    }

    /// Returns the binary or the folder, if the entry is filled.
    pub fn binary(&self) -> Option<PathBuf> {
        let binary = self.folder.join(&self.version).join(&self.name);
        binary.exists().then_some(binary)
    }

    /// Waits for the right to build, saying who holds it.
    pub fn lock(&self) -> io::Result<BuildLock> {
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join("lock");
        let mut file =
            File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
        self.wait_for(&file, &path)?;
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "process {}", std::process::id())?;
        self.remove_partials()?;
        let partial = self.folder.join(format!("partial-{}", std::process::id()));
        fs::create_dir_all(&partial)?;
        Ok(BuildLock { _file: file, partial })
    }

    /// Moves a finished binary from the builder's folder into the entry. The
    /// rename is what makes it visible, so nobody ever sees half a binary.
    pub fn fill(&self, lock: &BuildLock) -> io::Result<PathBuf> {
        let staged = lock.partial.join("entry");
        fs::create_dir_all(&staged)?;
        let built = lock.target().join(&self.name);
        File::open(&built)?.sync_all()?;
        fs::rename(&built, staged.join(&self.name))?;
        fs::rename(&staged, self.folder.join(&self.version))?;
        self.binary().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn wait_for(&self, file: &File, path: &Path) -> io::Result<()> {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = fs::read_to_string(path).unwrap_or_default();
        let holder = if holder.is_empty() { "another process" } else { &holder };
        say("Waiting", format!("for {}: {holder} is building it", self.name));
        file.lock()
    }

    fn remove_partials(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("partial-") {
                fs::remove_dir_all(&path)?;
            }
        }
        Ok(())
    }
}

impl BuildLock {
    /// Returns the folder that the binary is built into.
    pub fn target(&self) -> PathBuf {
        self.partial.join("bin")
    }

    /// Returns the folder for a copy of the source.
    pub fn source(&self) -> PathBuf {
        self.partial.join("source")
    }
}

impl Drop for BuildLock {
    fn drop(&mut self) {
        // The next builder removes what stays behind.
        let _ = fs::remove_dir_all(&self.partial);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn entry(cache: &Path) -> Entry {
        Entry { name: "demo".into(), folder: cache.join("demo"), version: "v1-abc".into() }
    }

    fn put(lock: &BuildLock, text: &str) {
        fs::create_dir_all(lock.target()).unwrap();
        fs::write(lock.target().join("demo"), text).unwrap();
    }

    #[test]
    fn an_entry_is_empty_until_it_is_filled() {
        let cache = tempfile::tempdir().unwrap();
        let entry = entry(cache.path());
        assert_eq!(entry.binary(), None);
        let lock = entry.lock().unwrap();
        put(&lock, "whole");
        assert_eq!(entry.binary(), None);
        let binary = entry.fill(&lock).unwrap();
        drop(lock);
        assert_eq!(fs::read_to_string(binary).unwrap(), "whole");
    }

    #[test]
    fn what_an_interrupted_builder_left_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let entry = entry(cache.path());
        let left = cache.path().join("demo/partial-1/bin");
        fs::create_dir_all(&left).unwrap();
        fs::write(left.join("demo"), "ha").unwrap();
        let _lock = entry.lock().unwrap();
        assert!(!left.exists());
        assert_eq!(entry.binary(), None);
    }

    #[test]
    fn a_second_builder_waits_and_finds_the_binary() {
        let cache = tempfile::tempdir().unwrap();
        let first = entry(cache.path());
        let second = first.clone();
        let lock = first.lock().unwrap();
        let (started, waiting) = mpsc::channel();
        let builder = thread::spawn(move || {
            started.send(()).unwrap();
            let _lock = second.lock().unwrap();
            second.binary()
        });
        waiting.recv().unwrap();
        put(&lock, "once");
        first.fill(&lock).unwrap();
        drop(lock);
        assert_eq!(builder.join().unwrap(), first.binary());
        assert!(first.binary().is_some());
    }
}
