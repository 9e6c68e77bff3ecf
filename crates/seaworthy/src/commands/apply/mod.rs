//! `apply`: brings Kubernetes objects to a cluster.

pub(crate) mod files;
mod judged;
mod record;
mod set_args;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use engine::Chance;
use events::{Clock, Errand, RunId};
use objects::set::{Means, Mode, Report, Set, Settings};
use objects::{Cluster, Goal, Met, Terms, Wait};
use report::terminal::{Palette, say};
use tokio_util::sync::CancellationToken;

use crate::access::{AccessArgs, within};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::kept::Kept;
use crate::reading::not_awaited;
use crate::running::Signals;
use crate::silence::Silence;
use crate::ui::Ui;
use crate::waiting::{self, Ended};
use crate::{envelope, patient, runtime};

pub(crate) use record::{conflicts, ended};
pub(crate) use set_args::{SetArgs, applyset, refused};
pub(crate) use shown::{objects, told};

/// Bring Kubernetes objects to a cluster
///
/// Server-side apply of whole sets: in the order that the objects need, many at
/// a time, a definition and its objects in one go. What is as wished already is
/// left alone. All problems are told, each with its object. Running the same
/// command again goes on where an interrupted one ended.
#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    set: SetArgs,

    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Wait until everything is ready, and explain what is not
    #[arg(long, conflicts_with = "dry_run")]
    wait: bool,

    /// With `--wait`: for how long everything has to stay ready
    #[arg(long, value_name = "DURATION", requires = "wait", value_parser = spec::Duration::parse)]
    stable: Option<spec::Duration>,

    /// How long to repeat what fails for a moment, to wait for what others need
    /// and, with `--wait`, for everything, in all [default: 2m, with `--wait` 10m]
    #[arg(long, value_name = "DURATION", value_parser = spec::Duration::parse)]
    timeout: Option<spec::Duration>,

    #[command(flatten)]
    access: AccessArgs,
}

pub(crate) fn run(args: &ApplyArgs, ui: &Ui) -> Result<(), CommandError> {
    runtime::block_on(apply(args, ui))
}

async fn apply(args: &ApplyArgs, ui: &Ui) -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    let objects = args.set.read(args.timeout(), &mut signals).await?;
    let clock = Clock::real();
    let cluster = args.access.connect(args.timeout(), &mut signals, ui).await?;
    let cluster = within(cluster, args.timeout());
    let set = args.set.set(objects, args.access.namespace(&cluster))?;
    let run = RunId::new(clock.now(), Chance::real().bits());
    let (errand, kept) = (Arc::new(Errand::new(run)), Kept::of(&cluster));
    let means = Means { memory: Some(kept.memory()), ..Means::new(errand, clock) };
    let mut stop = tokio::spawn(stop(signals, means.cancel.clone(), palette(ui)));
    let mut printer = shown::Printer::new(ui, args.dry_run);
    let work = carry_out(args, &cluster, set, &means, &mut printer, ui);
    // A second signal does not wait; what was sent has tasks of its own.
    let done = tokio::select! {
        done = work => done,
        _ = &mut stop => Err(not_awaited()),
    };
    kept.keep();
    done
}

async fn carry_out(
    args: &ApplyArgs,
    cluster: &Cluster,
    set: Set,
    means: &Means,
    printer: &mut shown::Printer<'_>,
    ui: &Ui,
) -> Result<(), CommandError> {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    // In a task of its own: nothing that happens here drops a call under way.
    let work = {
        let (cluster, means, settings) = (cluster.clone(), means.clone(), args.settings());
        tokio::spawn(async move {
            let observe = move |step: &_| drop(tell.send(shown::Line::of(step)));
            cluster.apply_set(set, settings, &means, observe).await
        })
    };
    let mut silence = Silence::new(cluster, means, args.timeout(), ui);
    loop {
        tokio::select! {
            line = told.recv() => match line {
                Some(line) => printer.line(&line)?,
                None => break,
            },
            () = silence.broken() => {}
        }
    }
    let report = work.await.map_err(|error| CommandError::new(Exit::Internal, &error))?;
    let report = report.map_err(|error| refused(&error))?;
    if !args.wait || !report.is_whole() {
        return finish(&report, means, printer, None, ui);
    }
    printer.end(&report, means.clock.elapsed())?;
    let ended = wait(args, cluster, &report, means, ui).await?;
    finish(&report, means, printer, Some(&ended), ui)
}

/// Waits until everything that was applied is ready.
async fn wait(
    args: &ApplyArgs,
    cluster: &Cluster,
    report: &Report,
    means: &Means,
    ui: &Ui,
) -> Result<Ended, CommandError> {
    let timeout = args.timeout().saturating_sub(means.clock.elapsed());
    let stable = args.stable.map(Duration::from).unwrap_or_default();
    let all = report.steps.iter().map(|step| step.id.clone());
    let (judged, others) = judged::part(cluster, all).await;
    if !others.is_empty() {
        let words = format!("{}: its kind has no status that could say so", shown::names(&others));
        say(palette(ui), "Not judged", &words, &mut ui.stderr())?;
    }
    if judged.is_empty() {
        return Ok(Ended::Met(Met {
            objects: judged,
            not_judged: Vec::new(),
            after: Duration::ZERO,
            errors: 0,
        }));
    }
    let mut all = Wait::new(Goal::Ready, Terms { timeout, stable, ..Terms::default() });
    for id in judged {
        let added = all.object(id);
        all = added.map_err(|error| CommandError::new(Exit::Internal, &error))?;
    }
    waiting::wait(cluster, &all, means.clock, means.cancel.cancelled(), ui).await
}

/// The first signal lets the calls under way finish, the second does not wait.
async fn stop(mut signals: Signals, cancel: CancellationToken, palette: Palette) {
    let name = signals.next().await;
    cancel.cancel();
    let words = format!("{name}: what is under way ends first; once more does not wait");
    // Where nobody reads any more, the end comes all the same.
    let _ = say(palette, "Stopping", &words, &mut patient::stderr());
    signals.next().await;
}

fn finish(
    report: &Report,
    means: &Means,
    printer: &mut shown::Printer<'_>,
    ended: Option<&Ended>,
    ui: &Ui,
) -> Result<(), CommandError> {
    let exit = match ended {
        Some(ended) => ended.exit(),
        None if report.is_whole() => Exit::Done,
        None if means.cancel.is_cancelled() => Exit::Interrupted,
        None => Exit::Refused,
    };
    match (ui.output(), ended) {
        (Output::Json, _) => {
            let more = record::more(report, printer.dry_run(), ended);
            envelope::print("apply", exit, record::objects(report), more, ui)?;
        }
        (Output::Text, None) => printer.end(report, means.clock.elapsed())?,
        (Output::Text, Some(Ended::Interrupted(wait))) => printer.interrupted(report, wait)?,
        (Output::Text, Some(_)) => {}
    }
    CommandError::unless_done(exit)
}

// === impl ApplyArgs ===

impl ApplyArgs {
    fn timeout(&self) -> Duration {
        let usual = Duration::from_mins(if self.wait { 10 } else { 2 });
        self.timeout.map_or(usual, Duration::from)
    }

    fn settings(&self) -> Settings {
        let mode = if self.dry_run { Mode::DryRun } else { Mode::ForReal };
        Settings { mode, ..self.set.settings(self.timeout()) }
    }
}
