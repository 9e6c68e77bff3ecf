//! Driving a run: from an order to the last line on the terminal and the exit
//! code.
//!
//! ```text
//!  Order ─► Session ─► Engine ── events ─► Display (a thread of its own)
//!                        ▲                    │
//!  Ctrl-C ─► Signals ─ Cancel                 ▼
//!                                  Story ─► reports, head, exit code
//! ```
//!
//! A command brings its stages and what they do; nothing here knows what a run
//! is about. The first signal lets the calls under way finish, the second ends
//! the process at once: the next run finds the journal open, closes it and looks
//! before it calls.

mod display;
mod ending;
mod signals;

use std::process::ExitCode;
use std::sync::Arc;

use engine::{
    Backoff, Cancel, Chance, Claim, Claimant, Engine, EngineError, Finished, LockError, Session,
    SessionError, StateFolder, Until, Work,
};
use events::journal::Durability;
use events::{Clock, Plan, RunId, Secret};
use report::Story;
use tokio::task::JoinHandle;

use self::display::Display;
pub(crate) use self::signals::Signals;
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::commands::repair_command;
use crate::exit::Exit;
use crate::runtime;
use crate::ui::Ui;

/// What a command wants to be run.
#[derive(Debug)]
pub struct Order<W> {
    /// The cluster's state.
    pub folder: StateFolder,
    /// The stages.
    pub plan: Plan,
    /// How far to go.
    pub until: Until,
    /// What the stages do.
    pub work: Arc<W>,
    /// What must never reach a disk or a terminal, by the name it is known by.
    pub secrets: Vec<(String, Secret)>,
    /// The right to run, where it was taken already.
    pub claim: Option<Claim>,
}

/// What a run leaves on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traces {
    /// Its journal and its reports.
    All,
    /// Nothing: its folder goes away with the process.
    None,
}

/// A run that is over, as it was told.
pub(crate) struct Told {
    pub(crate) run: RunId,
    pub(crate) finished: Finished,
    pub(crate) story: Story,
}

/// Runs an order with the process's own terminal, and returns how the process
/// ends: what commands do with theirs, for whoever has stages to try.
pub fn drive<W: Work>(order: Order<W>) -> ExitCode {
    let ui = Ui::new(Output::Text);
    let exit = match run(order, &ui) {
        Ok(_) => Exit::Done,
        Err(error) => {
            // Where even stderr is gone there is nobody left to tell.
            let _ = error.print(&mut ui.stderr());
            error.exit()
        }
    };
    ExitCode::from(exit.code())
}

/// Runs an order, tells it live, writes its reports, and returns it where it
/// ended as it was asked to.
pub(crate) fn run<W: Work>(order: Order<W>, ui: &Ui) -> Result<Told, CommandError> {
    run_leaving(order, Traces::All, ui)
}

/// The same, where the caller says what is left of it on the disk.
pub(crate) fn run_leaving<W: Work>(
    order: Order<W>,
    traces: Traces,
    ui: &Ui,
) -> Result<Told, CommandError> {
    runtime::block_on(conduct(order, traces, ui))
}

async fn conduct<W: Work>(order: Order<W>, traces: Traces, ui: &Ui) -> Result<Told, CommandError> {
    let mut signals = Signals::listen()?;
    let (clock, chance, cancel) = (Clock::real(), Chance::real(), Cancel::new());
    let display = Display::start(ui, clock)?;
    let Order { folder, plan, until, work, secrets, claim } = order;
    let claim = claim.map_or_else(|| self::claim(&folder, &rerun(&plan)), Ok)?;
    let session = Session::begin(claim, Durability::Synced, vec![display.observer()], clock)
        .map_err(|error| unopened(&error, &folder))?;
    for (name, secret) in &secrets {
        let hidden = session.ledger.recorder().hide(name.as_str(), secret);
        hidden.map_err(|error| CommandError::new(Exit::Usage, &error))?;
    }
    display.usual(session.ledger.history(|history| {
        let usual = |name| Some((name, history.usual_ms(name)?));
        let stages = plan.stages.iter().filter_map(|stage| usual(&stage.name));
        stages.map(|(name, ms)| (name.clone(), ms)).collect()
    }));
    for note in &session.notes {
        display.say("Note", note);
    }
    let run = session.run;
    let backoff = Backoff::default().at_speed(plan.simulated_speed);
    let engine = Engine { session, chance, cancel: cancel.clone(), backoff };
    // In a task of its own: nothing that happens here drops a call under way.
    let mut running = tokio::spawn(async move { engine.run(plan, &until, work).await });
    let finished = until_over(&mut running, &mut signals, &cancel, &display).await?;
    let told = Told { run, finished, story: display.finish() };
    if traces == Traces::All {
        ending::keep(&told, &folder, ui)?;
    }
    ending::tell(&told, ui)?;
    Ok(told)
}

/// Takes the right to run on a cluster, or says who has it.
pub(crate) fn claim(folder: &StateFolder, command: &str) -> Result<Claim, CommandError> {
    let who = Claimant { pid: std::process::id(), host: host(), command: command.to_owned() };
    Claim::take(folder, who, Clock::real(), &Chance::real())
        .map_err(|error| unopened(&error, folder))
}

/// Returns the command as people would give it.
fn rerun(plan: &Plan) -> String {
    plan.rerun.clone().unwrap_or_else(|| format!("seaworthy {}", plan.command))
}

/// Says why no run can be opened, and what to do about it.
pub(crate) fn unopened(error: &SessionError, folder: &StateFolder) -> CommandError {
    match error {
        SessionError::Lock(LockError::Held { .. }) => CommandError::new(Exit::Usage, error)
            .hint("wait until it is over, or end it; a run that died holds nothing"),
        error if error.is_broken_journal() => {
            let refusal = CommandError::new(Exit::Internal, error)
                .hint("nothing was done: without this journal nobody knows which calls were made");
            match error.run().map(|run| repair_command(&folder.run(run))) {
                Some(repair) => refusal.hint(format!(
                    "put it back as it was, or `{repair}` sets it aside: then the next run looks"
                )),
                None => refusal,
            }
        }
        _ => CommandError::new(Exit::Internal, error),
    }
}

/// Waits for the end of the run; the first signal asks it to stop, the second
/// does not wait.
async fn until_over(
    running: &mut JoinHandle<Result<Finished, EngineError>>,
    signals: &mut Signals,
    cancel: &Cancel,
    display: &Display,
) -> Result<Finished, CommandError> {
    loop {
        tokio::select! {
            finished = &mut *running => {
                let finished = finished.map_err(|error| CommandError::new(Exit::Internal, &error))?;
                return finished.map_err(|error| refusal(&error));
            }
            signal = signals.next() => {
                if cancel.is_asked() {
                    display.abandon("Cut off", "at once; a call under way may or may not have arrived");
                    return Err(CommandError::told(Exit::Interrupted));
                }
                cancel.ask();
                let words = format!("on {signal}: calls under way are finished first; again to stop at once");
                display.say("Stopping", &words);
            }
        }
    }
}

fn refusal(error: &EngineError) -> CommandError {
    let exit = match error {
        EngineError::UnknownStage { .. } => Exit::Usage,
        EngineError::Record(_) => Exit::Internal,
    };
    CommandError::new(exit, error)
}

/// Returns the machine's name, for whoever finds the lock.
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
