//! `sim fault`: what goes wrong in a world that stands.

use std::io::Write as _;

use clap::Args;
use report::terminal::say;
use sim::admin::{Answer, FaultNow, Question};
use sim::world::fault::{Begins, FAULTS, Fault};

use super::{WorldArgs, ask};
use crate::cli::{Output, Shared};
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::standing::Reach;
use crate::ui::Ui;

/// Let something go wrong in a world that stands, or mend it
///
/// Without a name it lists all faults, and says which of them are there. What a
/// fault has broken for good stays broken when it is mended: a server that
/// vanished does not come back by itself.
#[derive(Args, Debug)]
pub(super) struct FaultArgs {
    /// The fault
    #[arg(value_name = "NAME", value_parser = named)]
    strike: Option<&'static Fault>,

    /// Put an end to a fault
    #[arg(long, value_name = "NAME", value_parser = named, conflicts_with = "strike")]
    mend: Option<&'static Fault>,

    #[command(flatten)]
    world: WorldArgs,
}

/// Returns the fault of a name, or the nearest name there is.
pub(crate) fn named(name: &str) -> Result<&'static Fault, String> {
    Fault::named(name).ok_or_else(|| match spec::nearest(name, FAULTS.iter().map(|it| it.name)) {
        Some(near) => format!("there is no such fault; did you mean `{near}`?"),
        None => "there is no such fault; `seaworthy rehearse --list-faults` lists all".to_owned(),
    })
}

pub(super) fn run(args: &FaultArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let reach = args.world.reach(shared)?;
    let before = faults(&reach, &Question::Faults)?;
    let there = |fault: &Fault| before.iter().any(|it| it.name == fault.name && it.struck);
    let (fault, verb, after) = match (args.strike, args.mend) {
        (Some(fault), _) => {
            let question = Question::Strike { fault: fault.name.to_owned() };
            let verb = match fault.begins() {
                _ if there(fault) => "Known",
                Begins::AtOnce => "Struck",
                Begins::WithAServer | Begins::WithANode => "Armed",
            };
            (fault, verb, faults(&reach, &question)?)
        }
        (_, Some(fault)) => {
            let question = Question::Mend { fault: fault.name.to_owned() };
            (fault, if there(fault) { "Mended" } else { "Unharmed" }, faults(&reach, &question)?)
        }
        (None, None) => return list(&before, ui),
    };
    if ui.output() == Output::Json {
        return Ok(ui.json(&after)?);
    }
    let waits = fault.begins().waits_for().filter(|_| verb == "Armed");
    let words = match waits {
        Some(waits) => format!("{}: {}; {waits}", fault.name, fault.does),
        None => format!("{}: {}", fault.name, fault.does),
    };
    Ok(say(palette(ui), verb, &words, &mut ui.stderr())?)
}

fn faults(reach: &Reach, question: &Question) -> Result<Vec<FaultNow>, CommandError> {
    match ask(reach, question)? {
        Answer::Faults { faults } => Ok(faults),
        other => Err(CommandError::say(Exit::Internal, format!("the world answered {other:?}"))),
    }
}

/// Returns the faults that are there now.
pub(crate) fn struck(reach: &Reach) -> Result<Vec<String>, CommandError> {
    let struck = faults(reach, &Question::Faults)?.into_iter().filter(|fault| fault.struck);
    Ok(struck.map(|fault| fault.name).collect())
}

fn list(faults: &[FaultNow], ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        return Ok(ui.json(&faults)?);
    }
    let mut out = ui.stdout();
    for fault in faults {
        let mark = if fault.struck { "struck" } else { "" };
        writeln!(out, "{mark:<7} {:<30} {}", fault.name, fault.does)?;
    }
    Ok(())
}
