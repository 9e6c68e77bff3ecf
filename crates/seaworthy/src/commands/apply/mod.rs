//! `apply`: brings Kubernetes objects to a cluster.

mod files;
mod shown;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use engine::Chance;
use events::{Clock, Errand, RunId};
use objects::set::{
    Adopt, Inventory, InventoryError, Means, Mode, Prune, Report, Set, SetError, Settings, Walk,
};
use objects::{Object, Ownership};
use tokio_util::sync::CancellationToken;

use crate::access::AccessArgs;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::running::Signals;
use crate::ui::Ui;

/// Bring Kubernetes objects to a cluster
///
/// Server-side apply of whole sets: in the order that the objects need, many at
/// a time, a definition and its objects in one go. What is as wished already is
/// left alone. All problems are told, each with its object. Running the same
/// command again goes on where an interrupted one ended.
#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    /// A manifest, a folder of manifests, or `-` for stdin (can be repeated)
    #[arg(short, long = "filename", value_name = "FILE", required = true)]
    filename: Vec<PathBuf>,

    /// Read the folders inside of folders too
    #[arg(short = 'R', long)]
    recursive: bool,

    /// Take fields that other managers own
    #[arg(long)]
    force_conflicts: bool,

    /// Which objects that others have made may become ours
    #[arg(long, value_name = "WHICH", default_value = "unmanaged")]
    adopt: AdoptArg,

    /// Send every object, also where comparing shows that nothing would change
    #[arg(long)]
    recheck: bool,

    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Remember the objects as a set of this name, as kubectl does: NAME,
    /// secret/NAME or configmap/NAME
    #[arg(long, value_name = "NAME")]
    applyset: Option<String>,

    /// Delete members of the set that are no longer in the manifests
    #[arg(long, requires = "applyset")]
    prune: bool,

    /// How long to repeat what fails for a moment, and to wait for what others need
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = spec::Duration::parse)]
    timeout: spec::Duration,

    #[command(flatten)]
    access: AccessArgs,
}

/// Which objects that others have made may become ours.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum AdoptArg {
    /// None
    Never,
    /// Those that no tool and no other set claims
    Unmanaged,
    /// All, also the sets of other tools
    Always,
}

pub(crate) fn run(args: &ApplyArgs, ui: &Ui) -> Result<(), CommandError> {
    let objects = files::read(&args.filename, args.recursive)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let ended = runtime.block_on(apply(args, objects, ui));
    // Whatever still waits for an answer must not hold up the end.
    runtime.shutdown_background();
    ended
}

async fn apply(args: &ApplyArgs, objects: Vec<Object>, ui: &Ui) -> Result<(), CommandError> {
    let signals = Signals::listen()?;
    let clock = Clock::real();
    let cluster = args.access.connect().await?;
    let set = args.set(objects, args.access.namespace(&cluster))?;
    let run = RunId::new(clock.now(), Chance::real().bits());
    let cancel = CancellationToken::new();
    let means = Means { errand: Arc::new(Errand::new(run)), clock, cancel: cancel.clone() };
    let settings = args.settings();
    let mut printer = shown::Printer::new(ui, args.dry_run);
    // In a task of its own: nothing that happens here drops a call under way.
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let work = {
        let means = means.clone();
        tokio::spawn(async move {
            let observe = move |step: &_| drop(tell.send(shown::Line::of(step)));
            cluster.apply_set(set, settings, &means, observe).await
        })
    };
    let mut stop = tokio::spawn(stop(signals, cancel));
    loop {
        tokio::select! {
            line = told.recv() => match line {
                Some(line) => printer.line(&line)?,
                None => break,
            },
            _ = &mut stop => return Err(CommandError::told(Exit::Interrupted)),
        }
    }
    let report = work.await.map_err(|error| CommandError::new(Exit::Internal, &error))?;
    let report = report.map_err(|error| refused(&error))?;
    finish(&report, &means, printer, ui)
}

/// The first signal lets the calls under way finish, the second does not wait.
async fn stop(mut signals: Signals, cancel: CancellationToken) {
    signals.next().await;
    cancel.cancel();
    signals.next().await;
}

fn finish(
    report: &Report,
    means: &Means,
    printer: shown::Printer<'_>,
    ui: &Ui,
) -> Result<(), CommandError> {
    match ui.output() {
        Output::Json => ui.json(&shown::record(report, printer.dry_run()))?,
        Output::Text => printer.end(report, means.clock.elapsed())?,
    }
    if report.is_whole() {
        return Ok(());
    }
    let exit = if means.cancel.is_cancelled() { Exit::Interrupted } else { Exit::Refused };
    Err(CommandError::told(exit))
}

fn refused(error: &SetError) -> CommandError {
    let exit = match error {
        SetError::Order(_)
        | SetError::NothingToPruneBy
        | SetError::Inventory(InventoryError::Name(_) | InventoryError::Labelled(_)) => Exit::Usage,
        SetError::Inventory(_) | SetError::Api(_) => Exit::Refused,
    };
    CommandError::new(exit, error)
}

// === impl ApplyArgs ===

impl ApplyArgs {
    fn set(&self, objects: Vec<Object>, namespace: String) -> Result<Set, CommandError> {
        let inventory = self.applyset.as_deref().map(|name| Inventory::parse(name, &namespace));
        let inventory = inventory.transpose().map_err(|error| refused(&error.into()))?;
        let prune = if self.prune { Prune::Yes } else { Prune::No };
        Ok(Set { objects, namespace, inventory, prune })
    }

    fn settings(&self) -> Settings {
        let ownership = if self.force_conflicts { Ownership::Take } else { Ownership::Respect };
        let adopt = match self.adopt {
            AdoptArg::Never => Adopt::Never,
            AdoptArg::Unmanaged => Adopt::Unmanaged,
            AdoptArg::Always => Adopt::Always,
        };
        let mode = if self.dry_run { Mode::DryRun } else { Mode::ForReal };
        let walk = if self.recheck { Walk::SendAll } else { Walk::Compare };
        let patience = Duration::from(self.timeout);
        Settings { ownership, adopt, walk, mode, patience, ..Settings::default() }
    }
}
