//! `delete`: deletes Kubernetes objects, and sees them gone.

mod cluster_gone;
mod doomed;
mod force;
mod removing;
mod shown;
mod stuck;
mod waves;

use std::sync::Arc;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum};
use engine::Chance;
use events::{Clock, Errand, RunId};
use objects::set::Means;
use objects::{Cluster, ForceHolders, Patience, Propagation, RemovalTerms};

use crate::access::{AccessArgs, within};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reading::{PATIENCE, Reader};
use crate::running::Signals;
use crate::runtime;
use crate::selection::SelectionArgs;
use crate::ui::Ui;
use removing::Work;
use shown::Shown;

/// Delete Kubernetes objects and see them gone
///
/// Each deletion is for one life of an object. What keeps one is shown all the
/// while: finalizers and who set them, what it owns, what is left in a
/// namespace. What gets less gets more time, and what does not is stuck. An
/// error is never taken for "gone".
#[derive(Args, Debug)]
pub(crate) struct DeleteArgs {
    /// What happens to the objects that a deleted one owns
    #[arg(long, value_name = "HOW", default_value = "background")]
    propagation: PropagationArg,

    /// How long each deletion may take; what still moves gets up to three times
    /// as much [default: by kind, 5m to 20m]
    #[arg(long, value_name = "DURATION", value_parser = spec::Duration::parse)]
    timeout: Option<spec::Duration>,

    /// Ask for the deletion, and do not wait for its end
    #[arg(long, conflicts_with_all = ["timeout", "force_finalizers"])]
    no_wait: bool,

    /// Remove the finalizers of what is stuck, so that whatever they guard
    /// stays behind; for namespaces and definitions only if given twice
    #[arg(long, action = ArgAction::Count)]
    force_finalizers: u8,

    /// Named objects that are not there are no mistake; those of files never are
    #[arg(long)]
    ignore_not_found: bool,

    /// What it means that the cluster does not answer, or does not know us
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    if_cluster_gone: ClusterGone,

    /// Let the API say what it would delete, and delete nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    access: AccessArgs,
}

/// What happens to the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PropagationArg {
    /// They go after it
    Background,
    /// They go before it
    Foreground,
    /// They stay
    Orphan,
}

/// What it means that the cluster is not to be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClusterGone {
    /// That nobody knows what is there: a failure
    Fail,
    /// That its objects are gone with it: success
    Forget,
}

/// Nothing is waited for longer without progress, however long it may take.
const LONGEST_QUIET: Duration = Duration::from_mins(5);

pub(crate) fn run(args: &DeleteArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(delete(args, ui))
}

async fn delete(args: &DeleteArgs, ui: &Ui) -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    let patience = args.timeout.map_or(PATIENCE, Duration::from);
    let selection = args.selection.read(patience, &mut signals).await?;
    let cluster = args.access.connect(patience, &mut signals, ui).await?;
    // Forcing begins where the time is over, and has its own.
    let cluster = match args.timeout {
        Some(time) if args.force_finalizers == 0 => within(cluster, time.into()),
        _ => cluster,
    };
    let reader = Reader::new(&cluster, patience);
    let clock = reader.means.clock;
    let mut shown = Shown::new(ui, clock, args.dry_run);
    if args.if_cluster_gone == ClusterGone::Forget {
        let looking = async { Ok(cluster_gone::is_gone(&cluster, clock).await) };
        if let Some(error) = reader.until_signal(looking, &mut signals, ui).await? {
            return shown.forgotten(&error);
        }
    }
    let namespace = args.access.namespace(&cluster);
    let finding = async {
        let selected = selection.resolve(&reader, &namespace).await?;
        doomed::within(&selected, args.access.named_namespace())?;
        doomed::find(selected, &reader, args.ignore_not_found).await
    };
    let found = match reader.until_signal(finding, &mut signals, ui).await {
        Err(error) if error.exit() == Exit::Refused => {
            let looking = async { Ok(cluster_gone::perhaps(error, &cluster).await) };
            return Err(reader.until_signal(looking, &mut signals, ui).await?);
        }
        found => found?,
    };
    shown.begin(&found)?;
    let waves = waves::of(&found.objects);
    if args.dry_run {
        let previewing = doomed::preview(&reader, &waves, args.propagation.into(), shown);
        return reader.until_signal(previewing, &mut signals, ui).await;
    }
    args.work(cluster, clock).delete(waves, signals, shown).await
}

// === impl DeleteArgs ===

impl DeleteArgs {
    fn work(&self, cluster: Cluster, clock: Clock) -> Work {
        let run = RunId::new(clock.now(), Chance::real().bits());
        let errand = Arc::new(Errand::new(run));
        Work {
            cluster,
            means: Means::new(errand, clock),
            propagation: self.propagation.into(),
            terms: RemovalTerms { patience: self.patience(), ..RemovalTerms::default() },
            waits: !self.no_wait,
            force: match self.force_finalizers {
                0 => None,
                1 => Some(ForceHolders::Refuse),
                _ => Some(ForceHolders::LoseTheirContent),
            },
        }
    }

    /// Returns what was asked for; none for what is usual for each kind. That
    /// also holds where finalizers are removed by force: a volume or a load
    /// balancer takes its time, and whoever forces too early leaves it behind.
    fn patience(&self) -> Option<Patience> {
        let deadline = Duration::from(self.timeout?);
        Some(Patience { deadline, quiet: deadline.min(LONGEST_QUIET) })
    }
}

impl From<PropagationArg> for Propagation {
    fn from(arg: PropagationArg) -> Self {
        match arg {
            PropagationArg::Background => Self::Background,
            PropagationArg::Foreground => Self::Foreground,
            PropagationArg::Orphan => Self::Orphan,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        delete: DeleteArgs,
    }

    fn patience(flags: &[&str]) -> Option<Patience> {
        let line = ["delete", "cm/a"].iter().chain(flags);
        Line::parse_from(line).delete.patience()
    }

    #[test]
    fn force_waits_for_as_long_as_is_usual_unless_told_otherwise() {
        assert_eq!(patience(&["--force-finalizers"]), None);
        let asked = Duration::from_secs(3);
        let told = Some(Patience { deadline: asked, quiet: asked });
        assert_eq!(patience(&["--force-finalizers", "--timeout", "3s"]), told);
    }
}
