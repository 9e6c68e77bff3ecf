//! `explain`: the page of a cause, or why an object is not ready.

mod chain;
mod codes;

use clap::Args;
use events::Code;

use crate::access::AccessArgs;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::selection::SelectionArgs;
use crate::ui::Ui;

/// Explain a cause by its code, such as SW0307, or an object
///
/// Every failure names a code: the page tells what it means, how it shows, and
/// what to do. Of a Kubernetes object it tells why that is not ready, from the
/// object down to the last lines of a log. Without anything, all codes are listed.
#[derive(Args, Debug)]
#[command(override_usage = "seaworthy explain [OPTIONS] [CODE]\n       \
    seaworthy explain [OPTIONS] KIND/NAME...")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    selection: SelectionArgs,

    /// How long to repeat what fails for a moment
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = spec::Duration::parse)]
    timeout: spec::Duration,

    #[command(flatten)]
    access: AccessArgs,
}

impl ExplainArgs {
    /// Returns whether objects are to be explained, and no code.
    pub(crate) fn is_on_objects(&self) -> bool {
        !self.selection.is_empty() && self.word_of_a_code().is_none()
    }

    fn word_of_a_code(&self) -> Option<&str> {
        match self.selection.words() {
            [word] if !word.contains('/') && self.selection.is_by_name() => Some(word),
            _ => None,
        }
    }
}

pub(crate) fn run(args: &ExplainArgs, ui: &Ui) -> Result<(), CommandError> {
    if args.selection.is_empty() {
        return codes::all(ui);
    }
    match args.word_of_a_code() {
        Some(word) => codes::one(code(word)?, ui),
        None => chain::explain(args, ui),
    }
}

fn code(word: &str) -> Result<Code, CommandError> {
    word.parse().map_err(|_| {
        let message = format!("`{word}` is neither a code, as SW0307 is, nor KIND/NAME");
        CommandError::say(Exit::Usage, message).hint("`seaworthy explain` lists all codes")
    })
}
