//! `validate`: is the cluster file right?

use std::path::PathBuf;

use super::{CLUSTER_FILE, print_problems, read_file};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::referenced_files::ReferencedFiles;
use crate::ui::Ui;
use clap::Args;

/// Check a cluster file
///
/// Reports all problems at once, each with its place and what would be right.
/// Reads every file and folder that it names, too: patches, manifests, keys,
/// certificates. Asks nobody: no network, no token.
#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// The cluster file
    #[arg(value_name = "FILE", default_value = CLUSTER_FILE)]
    file: PathBuf,
}

pub(crate) fn run(args: &ValidateArgs, ui: &Ui) -> Result<(), CommandError> {
    let bytes = read_file(&args.file)?;
    let reading = spec::read(&args.file.display().to_string(), &bytes);
    let files = reading
        .cluster()
        .map(|cluster| ReferencedFiles::read(cluster, &args.file, &bytes).map(drop));
    match ui.output() {
        Output::Json => ui.json(&reading.record())?,
        Output::Text => {
            print_problems(&reading, ui)?;
            if matches!(files, Some(Ok(()))) {
                let palette = super::palette(ui);
                let words = format!("{}", args.file.display());
                report::terminal::say(palette, "Valid", &words, &mut ui.stderr())?;
            }
        }
    }
    match files {
        Some(files) => files,
        None => Err(CommandError::told(Exit::Usage)),
    }
}
