//! One file per command: its arguments, whose comments are its help, and what it does.

pub(crate) mod apply;
pub(crate) mod completions;
pub(crate) mod credentials;
pub(crate) mod delete;
pub(crate) mod diff;
pub(crate) mod down;
pub(crate) mod drift;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod plan;
pub(crate) mod rehearse;
pub(crate) mod report;
pub(crate) mod schema;
pub(crate) mod sim;
pub(crate) mod status;
pub(crate) mod talos;
pub(crate) mod up;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod wait;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ::report::terminal::Palette;
use spec::{Cluster, Colour, Reading};

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

pub(crate) use self::report::repair_command;

/// The cluster file that is meant where none is named.
pub(crate) const CLUSTER_FILE: &str = "cluster.yaml";

/// The folder that holds the state of clusters, beside their files.
const STATE_FOLDER: &str = ".seaworthy";

/// Reads the bytes of a cluster file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, CommandError> {
    std::fs::read(path).map_err(|error| {
        let said = CommandError::say(
            Exit::Usage,
            format!("could not read the cluster file {}: {error}", path.display()),
        );
        match error.kind() {
            io::ErrorKind::NotFound => said.hint("`seaworthy init` writes one"),
            io::ErrorKind::IsADirectory => {
                let inside = path.join(CLUSTER_FILE);
                said.hint(format!("name the file in it, such as {}", inside.display()))
            }
            _ => said,
        }
    })
}

/// Reads a cluster file, tells every problem, and goes on only where none is an error.
pub(crate) fn read_cluster(path: &Path, ui: &Ui) -> Result<(Cluster, Vec<u8>), CommandError> {
    let bytes = read_file(path)?;
    let reading = spec::read(&path.display().to_string(), &bytes);
    print_problems(&reading, ui)?;
    let cluster = reading.into_cluster().map_err(|_| CommandError::told(Exit::Usage))?;
    Ok((cluster, bytes))
}

/// Prints all problems, and a line between warnings and what follows them.
fn print_problems(reading: &Reading, ui: &Ui) -> io::Result<()> {
    let problems = reading.render(colour(ui));
    let between = if problems.is_empty() || reading.cluster().is_none() { "" } else { "\n" };
    write!(ui.stderr(), "{problems}{between}")
}

fn colour(ui: &Ui) -> Colour {
    if ui.colour() { Colour::Ansi } else { Colour::Plain }
}

/// Returns the palette for words to people.
pub(crate) fn palette(ui: &Ui) -> Palette {
    if ui.colour() { Palette::Colour } else { Palette::Plain }
}

/// Returns where the state of a cluster file's cluster lies.
pub(crate) fn state_dir(given: Option<&PathBuf>, cluster_file: &Path) -> PathBuf {
    let beside = || cluster_file.parent().unwrap_or(Path::new("")).join(STATE_FOLDER);
    given.cloned().unwrap_or_else(beside)
}
