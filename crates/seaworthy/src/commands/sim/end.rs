//! `sim end`: ends a world.

use report::terminal::say;

use crate::command_error::CommandError;
use crate::commands::palette;
use crate::standing::Reach;
use crate::ui::Ui;

pub(super) fn run(reach: &Reach, ui: &Ui) -> Result<(), CommandError> {
    reach.end(None)?;
    let words = format!("the simulated world at {}", reach.file.display());
    Ok(say(palette(ui), "Ended", &words, &mut ui.stderr())?)
}
