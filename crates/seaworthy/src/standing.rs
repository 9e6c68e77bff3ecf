//! Worlds that stand: how they are reached, and where they are found.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use events::private;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, test_kill_process, waitpid};
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
        private::write(path, &text).map_err(|error| CommandError::unwritten(path, &error))
    }

    /// Ends the world, and returns once it is gone.
    pub(crate) fn end(&self) {
        let Some(pid) = self.pid() else { return };
        // One that is gone already needs no end.
        let _ = kill_process(pid, Signal::TERM);
        for _ in 0..40 {
            // Where this process has started it, it has to be seen off as well.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            if test_kill_process(pid).is_err() {
                return;
            }
            pause();
        }
        // A world that does not listen any more holds nothing that is worth keeping.
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }
}

/// Lets another process get on.
#[expect(clippy::disallowed_methods, reason = "another process is waited for")]
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(50));
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

/// Returns the folder and the world of the one rehearsal below `state` that
/// stands; of the cluster `name`, where one is named.
pub(crate) fn find(state: &Path, name: Option<&str>) -> Result<(PathBuf, Reach), CommandError> {
    let all = rehearsals(state).into_iter();
    let meant = all.filter(|(cluster, _)| name.is_none_or(|name| name == cluster));
    let folders =
        meant.map(|(cluster, number)| state.join(format!("{cluster}{REHEARSAL}{number}")));
    let mut found: Vec<_> =
        folders.filter_map(|folder| Some((at(&folder.join(WORLD))?, folder))).collect();
    match (found.pop(), found.pop()) {
        (Some((reach, folder)), None) => Ok((folder, reach)),
        (None, _) => Err(none_stands()),
        (Some((_, one)), Some((_, other))) => {
            let error = CommandError::say(Exit::Usage, "more than one rehearsed world stands");
            Err(error
                .hint(format!("such as {} and {}", other.display(), one.display()))
                .hint("name the cluster file of the one that is meant, or for `sim` its `--world`"))
        }
    }
}

/// Says that there is no world.
pub(crate) fn none_stands() -> CommandError {
    CommandError::say(Exit::Usage, "no rehearsed world stands")
        .hint("`seaworthy rehearse --keep` leaves one standing")
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
