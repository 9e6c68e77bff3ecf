//! `sim servers`: the machines of a world.

use std::io::Write as _;

use sim::admin::{Answer, Question};

use super::ask;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::standing::Reach;
use crate::ui::Ui;

pub(super) fn run(reach: &Reach, ui: &Ui) -> Result<(), CommandError> {
    let Answer::Machines { machines } = ask(reach, &Question::Machines)? else {
        return Err(CommandError::say(Exit::Internal, "the world did not tell its servers"));
    };
    if ui.output() == Output::Json {
        return Ok(ui.json(&machines)?);
    }
    let mut out = ui.stdout();
    for machine in &machines {
        let failure = machine.failure.as_deref().unwrap_or_default();
        let (name, stage) = (&machine.name, &machine.stage);
        writeln!(
            out,
            "{name:<24} {:<16} server {:<8} {stage:<12} {failure}",
            machine.address.to_string(),
            machine.instance
        )?;
    }
    Ok(())
}
