//! `validate`: is the cluster file right?

use std::path::{Path, PathBuf};

use clap::Args;
use events::ClusterId;
use spec::{Cluster, Plan};

use super::{CLUSTER_FILE, print_problems, read_file};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::inline_manifests;
use crate::machine_patches;
use crate::manifest_files;
use crate::registry_access;
use crate::ui::Ui;

/// Check a cluster file
///
/// Reports all problems at once, each with its place and what would be right.
/// Reads the patches and all manifests that the file names, too.
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
    let files = reading.cluster().map(|cluster| files_of(cluster, &args.file, &bytes));
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

/// Reads what the file names besides, and says what is wrong with it.
fn files_of(cluster: &Cluster, file: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    machine_patches::read(cluster, file, bytes)?;
    let (plan, beside) = (Plan::of(cluster, ClusterId::NIL), file.parent());
    let beside = beside.unwrap_or(Path::new(""));
    inline_manifests::read(&plan, beside)?;
    registry_access::read(&plan, beside)?;
    manifest_files::read(&plan, beside)?;
    Ok(())
}
