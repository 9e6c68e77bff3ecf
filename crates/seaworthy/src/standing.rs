//! Worlds that stand: how they are reached and ended, and where they are found.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;
use std::{fs, io};

use lifecycle::Invocation;
use serde::{Deserialize, Serialize};
use sim::admin::{Place, Question, ask};

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::world_file;

/// The file in a rehearsal's folder that says how to reach its world.
pub(crate) const WORLD: &str = "world.json";

/// What stands between a cluster's name and the number of its rehearsal.
const REHEARSAL: &str = ".rehearsal-";

/// How often a world that is asked to end is looked at before it is given up.
const LOOKS: usize = 200;

/// What it takes to reach a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// The process that it runs in: for people only, it may be another one's by now.
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
    /// The file that says all this, which the world holds while it runs.
    #[serde(skip)]
    pub(crate) file: PathBuf,
}

/// A folder in which a cluster was or is rehearsed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rehearsal {
    pub(crate) cluster: String,
    pub(crate) number: u32,
    pub(crate) folder: PathBuf,
}

// === impl Reach ===

impl Reach {
    /// Asks the world to end, and returns once it has. Only a child of this
    /// very process is ended by force, where it does not listen: a process id
    /// in a file may be anybody's.
    pub(crate) fn end(&self, child: Option<&mut Child>) -> Result<(), CommandError> {
        let asked = ask(&Place::new(&self.admin), &Question::End);
        let listens = asked.is_ok();
        if listens && self.is_gone_soon() {
            return Ok(());
        }
        if let Some(child) = child {
            child.kill()?;
            child.wait()?;
        }
        if !world_file::is_alive(&self.file) {
            return Ok(());
        }
        let message = format!("the simulated world at {} does not end", self.file.display());
        let error = CommandError::say(Exit::Internal, message);
        let error = match asked {
            Ok(_) => error,
            Err(why) => error.hint(format!("its side for faults and counters: {why}")),
        };
        Err(error.hint(format!(
            "it said that it is process {}; look what that is before you end it",
            self.pid
        )))
    }

    fn is_gone_soon(&self) -> bool {
        (0..LOOKS).any(|_| {
            let gone = !world_file::is_alive(&self.file);
            if !gone {
                pause();
            }
            gone
        })
    }
}

/// Lets another process get on.
#[expect(clippy::disallowed_methods, reason = "another process is waited for")]
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}

// === impl Rehearsal ===

impl Rehearsal {
    /// The rehearsal of a number.
    pub(crate) fn numbered(state: &Path, cluster: &str, number: u32) -> Self {
        let folder = state.join(format!("{cluster}{REHEARSAL}{number}"));
        Self { cluster: cluster.to_owned(), number, folder }
    }

    /// Returns the file of its world.
    pub(crate) fn world(&self) -> PathBuf {
        self.folder.join(WORLD)
    }

    /// Returns how its world is reached, where it runs.
    pub(crate) fn reach(&self) -> Option<Reach> {
        world_file::read(&self.world())
    }
}

/// Returns the rehearsals that a folder of state holds, running or not, by
/// cluster and number; of the cluster `name`, where one is named.
pub(crate) fn rehearsals(state: &Path, name: Option<&str>) -> io::Result<Vec<Rehearsal>> {
    let entries = match fs::read_dir(state) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let file_name = entry.file_name();
        let parts = file_name.to_str().and_then(|it| it.rsplit_once(REHEARSAL));
        let Some((cluster, Ok(number))) = parts.map(|(it, number)| (it, number.parse())) else {
            continue;
        };
        // A link would lead elsewhere.
        if entry.file_type()?.is_dir() && name.is_none_or(|name| name == cluster) {
            found.push(Rehearsal { cluster: cluster.to_owned(), number, folder: entry.path() });
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the folder and the world of the one rehearsal below `state` that
/// stands; of the cluster `name`, where one is named.
pub(crate) fn find(
    state: &Path,
    name: Option<&str>,
    called: &Invocation,
) -> Result<(PathBuf, Reach), CommandError> {
    let all = rehearsals(state, name)?.into_iter();
    let mut found: Vec<_> = all.filter_map(|it| Some((it.reach()?, it.folder))).collect();
    match (found.pop(), found.pop()) {
        (Some((reach, folder)), None) => Ok((folder, reach)),
        (None, _) => Err(none_stands(name, called)),
        (Some((_, one)), Some((_, other))) => {
            let error = CommandError::say(Exit::Usage, "more than one rehearsed world stands");
            Err(error
                .hint(format!("such as {} and {}", other.display(), one.display()))
                .hint("name the cluster file of the one that is meant, or for `sim` its `--world`"))
        }
    }
}

/// Says that there is no world.
pub(crate) fn none_stands(name: Option<&str>, called: &Invocation) -> CommandError {
    let of = name.map(|name| format!(" of {name}")).unwrap_or_default();
    CommandError::say(Exit::Usage, format!("no rehearsed world{of} stands"))
        .hint(format!("`{}` leaves one standing", called.rehearse("--keep")))
}
