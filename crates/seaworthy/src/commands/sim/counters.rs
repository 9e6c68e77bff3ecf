//! `sim counters`: how often what happened in a world.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sim::Counters;
use sim::admin::{Answer, Question};

use super::ask;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::standing::Reach;
use crate::ui::Ui;

pub(super) fn run(reach: &Reach, ui: &Ui) -> Result<(), CommandError> {
    let Answer::Counters { counters } = ask(reach, &Question::Counters)? else {
        return Err(CommandError::say(Exit::Internal, "the world did not tell its counters"));
    };
    if ui.output() == Output::Json {
        return Ok(ui.json(&counters)?);
    }
    Ok(print(&counters, &mut ui.stdout())?)
}

fn print(counters: &Counters, out: &mut impl Write) -> io::Result<()> {
    section("requests", &counters.requests, out)?;
    section("changes", &counters.effects, out)?;
    writeln!(out, "{:>8}  answers lost", counters.answers_lost)?;
    writeln!(out, "{:>8}  calls refused as too many", counters.rate_limited)
}

fn section(
    what: &str,
    parts: &BTreeMap<String, BTreeMap<String, u64>>,
    out: &mut impl Write,
) -> io::Result<()> {
    for (part, calls) in parts {
        writeln!(out, "{:>8}  {what} of {part}", calls.values().sum::<u64>())?;
        for (call, count) in calls {
            writeln!(out, "{count:>12}  {call}")?;
        }
    }
    Ok(())
}
