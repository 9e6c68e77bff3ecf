//! Worlds that stand: how they are reached, and where they are found.

use std::fs;
use std::path::{Path, PathBuf};

use events::private;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// The file in a rehearsal's folder that says how to reach its world.
pub(crate) const WORLD: &str = "world.json";

/// What stands between a cluster's name and the number of its rehearsal.
const REHEARSAL: &str = ".rehearsal-";

/// What it takes to reach a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// The process that it runs in.
    pub(crate) pid: u32,
    /// The cloud's API.
    pub(crate) endpoint: String,
    /// The token of the cloud's project.
    pub(crate) token: String,
    /// The authority of the cloud's certificate, as PEM.
    pub(crate) authority: String,
    /// How many simulated seconds pass in a real one.
    pub(crate) speed: u32,
    /// The socket of its side for faults and counters.
    pub(crate) admin: PathBuf,
}

impl Reach {
    /// Tells others how to reach the world.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CommandError> {
        let text = serde_json::to_vec_pretty(self).expect("texts and numbers are plain data");
        private::write(path, &text).map_err(|error| {
            CommandError::say(Exit::Usage, format!("could not write {}: {error}", path.display()))
        })
    }

    /// Returns the process of the world.
    pub(crate) fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }
}

/// Returns how the world of a file is reached, where it still stands.
pub(crate) fn at(file: &Path) -> Option<Reach> {
    let text = fs::read(file).ok()?;
    let reach: Reach = serde_json::from_slice(&text).ok()?;
    test_kill_process(reach.pid()?).ok()?;
    Some(reach)
}

/// Returns the folder of a cluster's rehearsal that stands, with its world, or
/// of a new one.
pub(crate) fn place(state: &Path, cluster: &str) -> Result<(PathBuf, Option<Reach>), CommandError> {
    let of_cluster = rehearsals(state).into_iter().filter(|(name, _)| name == cluster);
    let last = of_cluster.map(|(_, number)| number).max().unwrap_or(0);
    let folder = |number: u32| state.join(format!("{cluster}{REHEARSAL}{number}"));
    if let Some(reach) = at(&folder(last).join(WORLD)) {
        return Ok((folder(last), Some(reach)));
    }
    let folder = folder(last + 1);
    private::folder(&folder).map_err(|error| {
        CommandError::say(Exit::Usage, format!("could not make {}: {error}", folder.display()))
    })?;
    Ok((folder, None))
}

/// Returns the one rehearsed world that stands.
pub(crate) fn only(state: &Path) -> Result<Reach, CommandError> {
    let folder = |(cluster, number)| state.join(format!("{cluster}{REHEARSAL}{number}"));
    let files = rehearsals(state).into_iter().map(|rehearsal| folder(rehearsal).join(WORLD));
    let mut standing: Vec<_> = files.filter_map(|file| Some((at(&file)?, file))).collect();
    match (standing.pop(), standing.pop()) {
        (Some((reach, _)), None) => Ok(reach),
        (None, _) => Err(CommandError::say(Exit::Usage, "no rehearsed world stands")
            .hint("`seaworthy rehearse --keep` leaves one standing")),
        (Some((_, one)), Some((_, other))) => {
            let error = CommandError::say(Exit::Usage, "more than one rehearsed world stands");
            Err(error
                .hint(format!("`--world {}`", other.display()))
                .hint(format!("`--world {}`", one.display())))
        }
    }
}

/// Returns the rehearsals that a folder of state holds, standing or not: the
/// cluster's name and the number.
fn rehearsals(state: &Path) -> Vec<(String, u32)> {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    let read = |name: &str| {
        let (cluster, number) = name.rsplit_once(REHEARSAL)?;
        Some((cluster.to_owned(), number.parse().ok()?))
    };
    let mut found: Vec<_> = entries.filter_map(|it| read(it.file_name().to_str()?)).collect();
    found.sort();
    found
}
