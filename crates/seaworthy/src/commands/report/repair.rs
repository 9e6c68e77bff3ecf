//! `report repair`: sets a broken journal aside, so that the cluster can be
//! worked on again.

use std::path::{Path, PathBuf};

use clap::Args;
use engine::{Chance, RepairError, SetAside, StateFolder};
use events::What;
use report::terminal::say;
use serde_json::json;

use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::run_finder::RunFolder;
use crate::running;
use crate::ui::Ui;

/// Set a broken journal aside, so that the next run can start
///
/// `up` and `down` refuse to start while the journal of an earlier run is
/// broken: it may hold the only trace of a call. This command renames the
/// journal to journal.broken.jsonl, unchanged, as evidence. The next run treats
/// every call in it as in doubt, and looks at the cluster before it calls. If
/// you have a copy of the journal as it was, put that back instead.
#[derive(Args, Debug)]
pub(super) struct RepairArgs {
    /// The run: its id, the beginning of it, or a path to its folder or journal
    run: PathBuf,
}

pub(super) fn run(args: &RepairArgs, state: &Path, ui: &Ui) -> Result<(), CommandError> {
    let found = RunFolder::find(state, Some(&args.run))?;
    // The folder of a run lies in `runs`, in the state folder of its cluster.
    let root = found.path().parent().and_then(Path::parent);
    let root = root.filter(|root| matches!(StateFolder::peek(root), Ok(Some(_))));
    let (Some(root), Some(run)) = (root, found.run()) else {
        let message = format!("{} does not lie in the state of a cluster", found.path().display());
        return Err(CommandError::say(Exit::Usage, message)
            .hint("only a journal that keeps runs from starting has to be repaired"));
    };
    let folder = StateFolder::open(root, &Chance::real())
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    let claim = running::claim(&folder, &format!("seaworthy report repair {run}"))?;
    let done = engine::set_aside(&claim, run).map_err(|error| refused(&error, &folder))?;
    tell(&done, ui)
}

fn refused(error: &RepairError, folder: &StateFolder) -> CommandError {
    match error {
        RepairError::Earlier(run) => {
            CommandError::new(Exit::Usage, error).hint(format!("`{}`", command(&folder.run(*run))))
        }
        RepairError::Sound(_) | RepairError::Again { .. } | RepairError::Unusable(_) => {
            CommandError::new(Exit::Usage, error)
        }
        RepairError::State(_) | RepairError::Unmoved { .. } => {
            CommandError::new(Exit::Internal, error)
        }
    }
}

/// Returns the command that repairs a run, whatever the state directory.
pub(crate) fn command(run: &Path) -> String {
    format!("seaworthy report repair {}", lifecycle::quoted(&run.display().to_string()))
}

fn tell(done: &SetAside, ui: &Ui) -> Result<(), CommandError> {
    let SetAside { because, kept, digest, salvage } = done;
    let is_call = |what: &What| matches!(what, What::Intent { .. });
    let calls = salvage.events.iter().filter(|it| is_call(&it.event.what)).count();
    let because = CommandError::new(Exit::Usage, because).message();
    if ui.output() == Output::Json {
        return Ok(ui.json(&json!({
            "because": because, "kept": kept, "sha256": digest, "calls": calls,
            "unreadableLines": salvage.unreadable,
        }))?);
    }
    let mut err = ui.stderr();
    let (calls, lines) = (counted(calls, "call"), counted(salvage.unreadable, "line"));
    say(palette(ui), "Broken", &because, &mut err)?;
    say(palette(ui), "Set aside", &format!("{}, sha256:{digest}", kept.display()), &mut err)?;
    let words =
        format!("{calls} in it will be looked up by the next run; {lines} in it cannot be read");
    Ok(say(palette(ui), "Salvaged", &words, &mut err)?)
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
