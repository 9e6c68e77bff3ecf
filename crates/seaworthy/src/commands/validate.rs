//! `validate`: is the cluster file right?

use std::path::PathBuf;

use clap::Args;

use super::{CLUSTER_FILE, print_problems, read_file};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::machine_patches;
use crate::ui::Ui;

/// Check a cluster file
///
/// Reports all problems at once, each with its place and what would be right.
/// Reads the patches that the file names, too.
/// Asks nobody: no network, no token.
#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// The cluster file
    #[arg(value_name = "FILE", default_value = CLUSTER_FILE)]
    file: PathBuf,
}

pub(crate) fn run(args: &ValidateArgs, ui: &Ui) -> Result<(), CommandError> {
    let bytes = read_file(&args.file)?;
    let reading = spec::read(&args.file.display().to_string(), &bytes);
    let patches = reading.cluster().map(|it| machine_patches::read(it, &args.file, &bytes));
    match ui.output() {
        Output::Json => ui.json(&reading.record())?,
        Output::Text => {
            print_problems(&reading, ui)?;
            if matches!(patches, Some(Ok(_))) {
                let palette = super::palette(ui);
                let words = format!("{}", args.file.display());
                report::terminal::say(palette, "Valid", &words, &mut ui.stderr())?;
            }
        }
    }
    match patches {
        Some(patches) => patches.map(drop),
        None => Err(CommandError::told(Exit::Usage)),
    }
}
