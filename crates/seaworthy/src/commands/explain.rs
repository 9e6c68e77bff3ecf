//! `explain`: the page of a cause.

use std::io::Write as _;

use clap::Args;
use events::Code;
use lifecycle::Page;
use serde::Serialize;

use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Explain a cause by its code, such as SW0307
///
/// Every failure names a code: the page tells what it means, how it shows, and
/// what to do. Without a code, all are listed.
#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The code [default: list all]
    #[arg(value_name = "CODE")]
    code: Option<Code>,
}

/// What `-o json` prints of a page.
#[derive(Serialize)]
struct Told {
    code: Code,
    title: &'static str,
    text: &'static str,
}

pub(crate) fn run(args: &ExplainArgs, ui: &Ui) -> Result<(), CommandError> {
    match args.code {
        Some(code) => one(&lifecycle::explain(code).ok_or_else(|| unknown(code))?, ui),
        None => all(ui),
    }
}

fn one(page: &Page, ui: &Ui) -> Result<(), CommandError> {
    match ui.output() {
        Output::Json => ui.json(&told(page))?,
        Output::Text => write!(ui.stdout(), "{page}")?,
    }
    Ok(())
}

fn all(ui: &Ui) -> Result<(), CommandError> {
    if ui.output() == Output::Json {
        return Ok(ui.json(&lifecycle::pages().iter().map(told).collect::<Vec<_>>())?);
    }
    let mut out = ui.stdout();
    for page in lifecycle::pages() {
        writeln!(out, "{}  {}", page.code, page.title)?;
    }
    Ok(())
}

fn told(page: &Page) -> Told {
    Told { code: page.code, title: page.title, text: page.body }
}

fn unknown(code: Code) -> CommandError {
    CommandError::say(Exit::Usage, format!("no cause has the code {code}"))
        .hint("`seaworthy explain` lists all; a newer program may know more")
}
