//! `diff`: what an apply would change.

mod shown;

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::access::{AccessArgs, within};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::apply::{SetArgs, refused};
use crate::exit::Exit;
use crate::running::Signals;
use crate::ui::Ui;
use crate::{envelope, kept, reading, runtime};
use shown::Tally;

/// Show what an apply would change, and change nothing
///
/// Takes the flags of `apply` and compares what is there with what the API says
/// the apply would make of it, over the fields that are ours: other spellings of
/// the same value and fields of others are no difference. What surely would not
/// change is not asked about. Values of secrets are hidden behind marks.
/// Exits with 7 where something would change.
#[derive(Args, Debug)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    set: SetArgs,

    /// Whose exit code to use where there are differences: ours is 7, kubectl's is 1
    #[arg(long, value_name = "WHOSE", default_value = "seaworthy")]
    exit_code: Whose,

    /// How long to repeat what fails for a moment
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = spec::Duration::parse)]
    timeout: spec::Duration,

    #[command(flatten)]
    access: AccessArgs,
}

/// Whose exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// 7 for differences
    Seaworthy,
    /// 1 for differences
    Kubectl,
}

pub(crate) fn run(args: &DiffArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(diff(args, ui))
}

async fn diff(args: &DiffArgs, ui: &Ui) -> Result<(), CommandError> {
    let (mut signals, patience) = (Signals::listen()?, Duration::from(args.timeout));
    let objects = args.set.read(patience, &mut signals).await?;
    let cluster = args.access.connect(patience, &mut signals, ui).await?;
    let cluster = within(cluster, patience);
    let means = reading::means(&cluster);
    let set = args.set.set(objects, args.access.namespace(&cluster))?;
    let veil = kept::veil();
    let settings = args.set.settings(patience);
    let work = Box::pin(cluster.diff_set(set, settings, &means, &veil));
    let found = reading::until_signal(work, &cluster, &means, patience, &mut signals, ui).await?;
    let found = found.map_err(|error| refused(&error))?;
    let tally = Tally::of(&found);
    let exit = match (tally.failed, tally.differs(), args.exit_code) {
        (1.., ..) => Exit::Refused,
        (0, false, _) => Exit::Done,
        (0, true, Whose::Seaworthy) => Exit::Different,
        // What is 1 for us, a bug, is "different" for kubectl.
        (0, true, Whose::Kubectl) => Exit::Internal,
    };
    match ui.output() {
        Output::Json => {
            let more = shown::more(&found, &tally);
            envelope::print("diff", exit, shown::records(&found), more, ui)?;
        }
        Output::Text => shown::print(&found, &tally, means.clock.elapsed(), ui)?,
    }
    CommandError::unless_done(exit)
}
