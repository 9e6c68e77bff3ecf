//! `completions`: for shells.

use std::io::Write as _;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::command_error::CommandError;
use crate::ui::Ui;

/// Print completions for a shell
///
///   source <(seaworthy completions bash)
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "seaworthy", &mut script);
    Ui::file_on_stdout().write_all(&script)?;
    Ok(())
}
