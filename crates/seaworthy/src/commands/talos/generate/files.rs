//! The files that are written: all of them or, where one is in the way, none.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use events::{Secret, private};

use super::choice::{Chosen, unmade};
use crate::command_error::CommandError;
use crate::exit::Exit;

/// The file of the secrets bundle.
pub(super) const BUNDLE: &str = "secrets.yaml";

/// Files to be written to one folder.
pub(super) struct Files<'a> {
    folder: &'a Path,
    force: bool,
    names: Vec<String>,
}

impl<'a> Files<'a> {
    /// Names the files, and looks whether something is in their way.
    pub(super) fn named(
        names: Vec<String>,
        folder: &'a Path,
        force: bool,
    ) -> Result<Self, CommandError> {
        let files = Self { folder, force, names };
        files.check()?;
        Ok(files)
    }

    fn check(&self) -> Result<(), CommandError> {
        if self.names.iter().any(|name| name == BUNDLE) {
            let message = "the node `secrets` would have the file of the secrets bundle";
            return Err(CommandError::say(Exit::Usage, message).hint("`--print secrets` works"));
        }
        let paths = self.names.iter().map(|name| self.folder.join(name));
        let there: Vec<_> = paths.filter(|path| path.symlink_metadata().is_ok()).collect();
        if let Some(folder) = there.iter().find(|path| path.is_dir()) {
            let message = format!("{} is a folder", folder.display());
            return Err(CommandError::say(Exit::Usage, message));
        }
        if self.force || there.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = there.iter().map(|path| path.display().to_string()).collect();
        let message = format!("not overwritten: {}", names.join(", "));
        Err(CommandError::say(Exit::Usage, message)
            .hint("`--force` replaces them, `--out FOLDER` names another folder"))
    }

    /// Writes new secrets first, then all files, and returns what was written.
    pub(super) fn write(
        &self,
        chosen: &Chosen,
        texts: &[Secret],
    ) -> Result<Vec<PathBuf>, CommandError> {
        private::folder(self.folder).map_err(|error| unmade(self.folder, &error))?;
        let mut written: Vec<_> = chosen.save()?.into_iter().collect();
        for (name, text) in self.names.iter().zip(texts) {
            let path = self.folder.join(name);
            self.put(&path, text).map_err(|error| CommandError::unwritten(&path, &error))?;
            written.push(path);
        }
        Ok(written)
    }

    fn put(&self, path: &Path, text: &Secret) -> io::Result<()> {
        let bytes = text.reveal().as_bytes();
        if self.force {
            return private::write(path, bytes);
        }
        // Between the look and the write somebody else may have made it.
        let is_ours = private::write_new(path, bytes)? == bytes;
        if is_ours { Ok(()) } else { Err(ErrorKind::AlreadyExists.into()) }
    }
}
