//! The pages of causes.

use std::io::Write as _;

use events::{Code, Heals};
use lifecycle::Page;
use serde::Serialize;

use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// What `-o json` prints of a page.
#[derive(Serialize)]
struct Told {
    code: Code,
    title: &'static str,
    heals: Heals,
    text: &'static str,
}

/// Prints the page of a code.
pub(super) fn one(code: Code, ui: &Ui) -> Result<(), CommandError> {
    let page = lifecycle::explain(code).ok_or_else(|| unknown(code))?;
    match ui.output() {
        Output::Json => ui.json(&told(&page))?,
        Output::Text => write!(ui.stdout(), "{page}")?,
    }
    Ok(())
}

/// Lists all codes.
pub(super) fn all(ui: &Ui) -> Result<(), CommandError> {
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
    Told { code: page.code, title: page.title, heals: page.heals, text: page.body }
}

fn unknown(code: Code) -> CommandError {
    CommandError::say(Exit::Usage, format!("no cause has the code {code}"))
        .hint("`seaworthy explain` lists all; a newer program may know more")
}
