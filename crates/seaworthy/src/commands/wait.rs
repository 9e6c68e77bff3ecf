//! `wait`: waits until Kubernetes objects are what they should be.

use std::time::Duration;

use clap::Args;
use objects::{Goal, Terms, Wait};
use report::terminal::say;

use crate::access::{AccessArgs, within};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::reading::Reader;
use crate::running::Signals;
use crate::selection::{Selected, SelectionArgs};
use crate::ui::Ui;
use crate::waiting::{self, Ended};
use crate::{envelope, runtime};

/// Wait until Kubernetes objects are what they should be
///
/// Says all the while what is missing and why. Ends early where something does
/// not heal by itself, and then tells the chain of causes, down to the last
/// lines of a container's log.
#[derive(Args, Debug)]
pub(crate) struct WaitArgs {
    /// ready, rollout, create, delete, condition=TYPE[=STATUS],
    /// jsonpath={.PATH}[TEST] or field=PATH[TEST]; a TEST is =v, !=v, >n, >=n,
    /// <n, <=n or ~PATTERN
    #[arg(long = "for", value_name = "GOAL", default_value = "ready", value_parser = goal)]
    goal: Goal,

    /// For how long the goal has to hold without a break
    #[arg(long, value_name = "DURATION", value_parser = spec::Duration::parse)]
    stable: Option<spec::Duration>,

    /// How long to wait in all
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = spec::Duration::parse)]
    timeout: spec::Duration,

    /// How long an object may be missing
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = spec::Duration::parse)]
    existence_timeout: spec::Duration,

    /// How long to put up with a cause that does not heal by itself
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = spec::Duration::parse)]
    grace: spec::Duration,

    /// Wait for the whole timeout, whatever the cause
    #[arg(long, conflicts_with = "grace")]
    keep_waiting: bool,

    #[command(flatten)]
    selection: SelectionArgs,

    #[command(flatten)]
    access: AccessArgs,
}

fn goal(text: &str) -> Result<Goal, objects::GoalError> {
    text.parse()
}

pub(crate) fn run(args: &WaitArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(async {
        let mut signals = Signals::listen()?;
        let selection = args.selection.read(args.timeout.into(), &mut signals).await?;
        let cluster = args.access.connect(args.timeout.into(), &mut signals, ui).await?;
        let cluster = within(cluster, args.timeout.into());
        let reader = Reader::new(&cluster, args.timeout.into());
        let namespace = args.access.namespace(&cluster);
        let resolving = selection.resolve(&reader, &namespace);
        let selected = reader.until_signal(resolving, &mut signals, ui).await?;
        let what = args.wait(selected, reader.means.clock.elapsed())?;
        wait(&what, &reader, signals, ui).await
    })
}

async fn wait(
    wait: &Wait,
    reader: &Reader,
    mut signals: Signals,
    ui: &Ui,
) -> Result<(), CommandError> {
    let stop = async {
        signals.next().await;
    };
    let ended = waiting::wait(&reader.cluster, wait, reader.means.clock, stop, ui).await?;
    if let Ended::Interrupted(interrupted) = &ended {
        let words = format!("{}; nothing was changed", interrupted.words);
        say(palette(ui), "Interrupted", &words, &mut ui.stderr())?;
    }
    if ui.output() == Output::Json {
        let (objects, more) = (waiting::objects(&ended), waiting::more(wait.goal(), &ended));
        envelope::print("wait", ended.exit(), objects, more, ui)?;
    }
    CommandError::unless_done(ended.exit())
}

// === impl WaitArgs ===

impl WaitArgs {
    /// `spent` is what finding out who is meant has taken of the time.
    fn wait(&self, selected: Vec<Selected>, spent: Duration) -> Result<Wait, CommandError> {
        let mut wait = Wait::new(self.goal.clone(), self.terms(spent));
        for one in selected {
            let added = wait.subject(one.subject);
            wait = added.map_err(|error| CommandError::new(Exit::Usage, &error))?;
        }
        Ok(wait)
    }

    fn terms(&self, spent: Duration) -> Terms {
        Terms {
            // Fractions would only make an odd number of what was asked for.
            timeout: Duration::from(self.timeout)
                .saturating_sub(Duration::from_secs(spent.as_secs())),
            existence: self.existence_timeout.into(),
            stable: self.stable.map_or(Duration::ZERO, Duration::from),
            grace: (!self.keep_waiting).then(|| self.grace.into()),
            ..Terms::default()
        }
    }
}
