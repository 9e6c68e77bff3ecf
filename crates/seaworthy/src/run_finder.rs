//! Which run is meant: a path, an id, the beginning of an id, or the newest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use events::RunId;

use crate::command_error::CommandError;
use crate::exit::Exit;

/// A run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFolder(PathBuf);

impl RunFolder {
    /// Finds the run that is meant by `wanted` among all clusters below `state`.
    pub(crate) fn find(state: &Path, wanted: Option<&Path>) -> Result<Self, CommandError> {
        if let Some(folder) = wanted.and_then(as_path) {
            return Ok(Self(folder));
        }
        let mut runs = runs(state).map_err(|error| no_runs(state, &error))?;
        runs.sort_unstable();
        let Some(wanted) = wanted else {
            let newest = runs.into_iter().rev().map(|(_, folder)| Self(folder));
            let mut whole = newest.filter(|it| it.broken_journal().is_none());
            return whole.next().ok_or_else(|| nothing_ran(state));
        };
        let wanted = wanted.to_string_lossy();
        let upper = wanted.to_ascii_uppercase();
        runs.retain(|(run, _)| run.to_string().starts_with(&upper));
        match runs.as_slice() {
            [(_, folder)] => Ok(Self(folder.clone())),
            [] => Err(CommandError::say(
                Exit::Usage,
                format!("no run below {} begins with `{wanted}`", state.display()),
            )
            .hint("`seaworthy report` without a run takes the newest")),
            many => Err(CommandError::say(
                Exit::Usage,
                format!("`{wanted}` is the beginning of {} runs", many.len()),
            )
            .hint(format!("give more of it, such as {}", many[0].0))),
        }
    }

    /// Returns the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the run that the folder's name stands for.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.0.file_name()?.to_str()?.parse().ok()
    }

    /// Returns the journal that was set aside because it is broken, where one was.
    pub(crate) fn broken_journal(&self) -> Option<PathBuf> {
        Some(self.0.join("journal.broken.jsonl")).filter(|path| path.is_file())
    }

    /// Returns the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.0.join("journal.jsonl")
    }
}

/// A journal, or the folder of one, that lies anywhere: an artifact of a
/// pipeline, say.
fn as_path(path: &Path) -> Option<PathBuf> {
    if path.join("journal.jsonl").is_file() {
        return Some(path.to_owned());
    }
    let is_journal = path.file_name().is_some_and(|name| name == "journal.jsonl");
    (is_journal && path.is_file()).then(|| path.parent().unwrap_or(Path::new(".")).to_owned())
}

fn runs(state: &Path) -> io::Result<Vec<(RunId, PathBuf)>> {
    let mut found = Vec::new();
    for cluster in fs::read_dir(state)? {
        let Ok(runs) = fs::read_dir(cluster?.path().join("runs")) else { continue };
        for run in runs {
            let folder = run?.path();
            let name = folder.file_name().and_then(|name| name.to_str());
            if let Some(run) = name.and_then(|name| name.parse().ok()) {
                found.push((run, folder));
            }
        }
    }
    Ok(found)
}

fn no_runs(state: &Path, error: &io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::NotFound => nothing_ran(state),
        _ => CommandError::say(
            Exit::Internal,
            format!("could not read {}: {error}", state.display()),
        ),
    }
}

fn nothing_ran(state: &Path) -> CommandError {
    CommandError::say(Exit::Usage, format!("there is no run below {}", state.display()))
        .hint("`--state-dir FOLDER` says where the state of clusters lies")
}
