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

pub(crate) fn run(args: &ExplainArgs, ui: &Ui) -> Result<(), CommandError> {
    if args.selection.is_empty() {
        return codes::all(ui);
    }
    match args.selection.words() {
        [word] if !word.contains('/') && args.selection.is_by_name() => codes::one(code(word)?, ui),
        _ => chain::explain(args, ui),
    }
}

fn code(word: &str) -> Result<Code, CommandError> {
    word.parse().map_err(|_| {
        let message = format!("`{word}` is neither a code, as SW0307 is, nor KIND/NAME");
        CommandError::say(Exit::Usage, message).hint("`seaworthy explain` lists all codes")
    })
}
