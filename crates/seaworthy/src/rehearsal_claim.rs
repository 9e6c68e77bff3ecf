//! Which rehearsal a command works on, taken for it alone before anything is
//! started, changed or ended.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use engine::{Chance, Claim, StateFolder};
use events::private;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running;
use crate::standing::{Reach, Rehearsal, pause, rehearsals};
use crate::world_file;

/// A rehearsal that this process alone works on.
pub(crate) struct ClaimedRehearsal {
    pub(crate) folder: PathBuf,
    pub(crate) claim: Claim,
    /// Its world, where one runs.
    pub(crate) reach: Option<Reach>,
}

/// What `--clean` found.
#[derive(Default)]
pub(crate) struct Cleaned {
    pub(crate) removed: Vec<PathBuf>,
    /// What was left, and why.
    pub(crate) left: Vec<(PathBuf, String)>,
}

/// How often a world that has just been started is looked at before it is given up.
const LOOKS: usize = 200;

/// Takes the rehearsal of a cluster whose world runs.
pub(crate) fn standing(
    state: &Path,
    cluster: &str,
    command: &str,
) -> Result<Option<ClaimedRehearsal>, CommandError> {
    if !state.is_dir() {
        return Ok(None);
    }
    let _choosing = choose(state)?;
    running_one(state, cluster, command)
}

/// Takes the rehearsal of a cluster whose world runs, or a new one. Of several
/// that want one at the same time, one gets it; the others hear who has it.
pub(crate) fn standing_or_new(
    state: &Path,
    cluster: &str,
    command: &str,
) -> Result<ClaimedRehearsal, CommandError> {
    private::folder(state).map_err(|error| unusable(state, &error))?;
    let _choosing = choose(state)?;
    if let Some(claimed) = running_one(state, cluster, command)? {
        return Ok(claimed);
    }
    let last = rehearsals(state, Some(cluster))?.pop().map_or(0, |it| it.number);
    let folder = Rehearsal::numbered(state, cluster, last + 1).folder;
    let claim = claim(&folder, command)?;
    Ok(ClaimedRehearsal { folder, claim, reach: None })
}

/// Removes the folders of rehearsals whose world is gone; of the cluster
/// `name`, where one is named.
pub(crate) fn clean(
    state: &Path,
    name: Option<&str>,
    command: &str,
) -> Result<Cleaned, CommandError> {
    let mut cleaned = Cleaned::default();
    if !state.is_dir() {
        return Ok(cleaned);
    }
    let _choosing = choose(state)?;
    for rehearsal in rehearsals(state, name)? {
        let Rehearsal { folder, .. } = &rehearsal;
        if world_file::is_alive(&rehearsal.world()) {
            cleaned.left.push((folder.clone(), "its world runs".to_owned()));
            continue;
        }
        // Whoever has just begun one holds it before there is a world.
        match claim(folder, command) {
            Ok(_held) => {
                fs::remove_dir_all(folder).map_err(|error| unusable(folder, &error))?;
                cleaned.removed.push(folder.clone());
            }
            Err(error) => cleaned.left.push((folder.clone(), error.message())),
        }
    }
    Ok(cleaned)
}

/// Returns how many rehearsals are over, beside the one in `folder`; of the
/// cluster `name`, where one is named.
pub(crate) fn ended(state: &Path, name: Option<&str>, folder: &Path) -> usize {
    let all = rehearsals(state, name).unwrap_or_default().into_iter();
    all.filter(|it| it.folder != folder && !world_file::is_alive(&it.world())).count()
}

/// Keeps others from choosing at the same time. It takes a moment only: nothing
/// is waited for meanwhile but a world that has just been started.
fn choose(state: &Path) -> Result<File, CommandError> {
    let folder = File::open(state).map_err(|error| unusable(state, &error))?;
    folder.lock().map_err(|error| unusable(state, &error))?;
    Ok(folder)
}

/// Takes the newest rehearsal whose world runs. The newest of all may have been
/// begun just now, so that its world is yet to come: its lock tells.
fn running_one(
    state: &Path,
    cluster: &str,
    command: &str,
) -> Result<Option<ClaimedRehearsal>, CommandError> {
    let all = rehearsals(state, Some(cluster))?;
    let alive = all.iter().rev().find(|it| world_file::is_alive(&it.world()));
    if let Some(rehearsal) = alive {
        let claim = claim(&rehearsal.folder, command)?;
        let reach = started(rehearsal)?;
        let folder = rehearsal.folder.clone();
        return Ok(reach.map(|reach| ClaimedRehearsal { folder, claim, reach: Some(reach) }));
    }
    match all.last() {
        Some(newest) if StateFolder::peek(&newest.folder).is_ok_and(|id| id.is_some()) => {
            claim(&newest.folder, command).map(|_released| None)
        }
        _ => Ok(None),
    }
}

/// Waits for a world whose starter died before the world had said how it is reached.
fn started(rehearsal: &Rehearsal) -> Result<Option<Reach>, CommandError> {
    for _ in 0..LOOKS {
        if let Some(reach) = rehearsal.reach() {
            return Ok(Some(reach));
        }
        if !world_file::is_alive(&rehearsal.world()) {
            return Ok(None);
        }
        pause();
    }
    let message = format!("the world at {} does not start", rehearsal.world().display());
    Err(CommandError::say(Exit::Internal, message))
}

fn claim(folder: &Path, command: &str) -> Result<Claim, CommandError> {
    let folder = StateFolder::open(folder, &Chance::real())
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    running::claim(&folder, command)
}

fn unusable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::say(Exit::Usage, format!("could not use {}: {error}", path.display()))
}
