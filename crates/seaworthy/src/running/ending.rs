//! The end of a run: its reports, the head of its journal, and the exit code.

use std::io::Write as _;

use engine::{Finished, StateFolder, codes};
use events::{Code, EvidenceLimits, EvidenceStore, Plan, RunOutcome};
use report::terminal::say;

use super::Told;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::ui::Ui;

/// Writes every report, and says where they are.
pub(super) fn keep(told: &Told, folder: &StateFolder, ui: &Ui) -> Result<(), CommandError> {
    let run_folder = folder.run(told.run);
    let evidence = EvidenceStore::new(&run_folder, EvidenceLimits::default());
    let written = report::write_all(&told.story, &evidence, &run_folder)
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    let mut err = ui.stderr();
    writeln!(err)?;
    if let Some(page) = written.first() {
        say(palette(ui), "Report", &page.display().to_string(), &mut err)?;
    }
    if let Some(head) = told.finished.head {
        say(palette(ui), "Head", &head.to_string(), &mut err)?;
    }
    Ok(())
}

/// Prints the story as data where that is wanted, and turns the outcome into an end.
pub(super) fn tell(told: &Told, ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        write!(ui.stdout(), "{}", report::json(&told.story))?;
    }
    let tears_down = told.story.run().is_some_and(|run| Plan::tears_down(&run.command));
    match exit(&told.finished, tears_down) {
        Exit::Done => Ok(()),
        // The story has said it all.
        exit => Err(CommandError::told(exit)),
    }
}

fn is_refusal(code: Code) -> bool {
    code == codes::REFUSED || lifecycle::codes::REFUSALS.contains(&code)
}

fn exit(finished: &Finished, tears_down: bool) -> Exit {
    match &finished.outcome {
        _ if finished.is_done => Exit::Done,
        RunOutcome::Failed { cause, .. } if is_refusal(cause.code) => Exit::Refused,
        RunOutcome::Failed { cause, .. } if cause.code == codes::BUG => Exit::Internal,
        RunOutcome::Failed { .. } | RunOutcome::NotProven { .. } if tears_down => Exit::Leftovers,
        RunOutcome::Proven | RunOutcome::Failed { .. } | RunOutcome::NotProven { .. } => {
            Exit::NotProven
        }
        RunOutcome::Interrupted { .. } => Exit::Interrupted,
    }
}
