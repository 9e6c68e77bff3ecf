//! Waiting for objects, in front of people: what is waited for and why while
//! it lasts, and the chain of causes where it was in vain.

mod display;
mod ending;

use std::time::Duration;

use events::Clock;
use objects::{Cluster, Met, ObjectId, Unmet, Wait, WaitError};
use tokio_util::sync::CancellationToken;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;
use display::Display;

pub(crate) use ending::{record, tell};

/// Ten looks a second at the clock: a line that moves, and nothing that flickers.
const TICK: Duration = Duration::from_millis(100);

/// How a wait ended.
pub(crate) enum Ended {
    /// Everybody has reached the goal.
    Met(Met),
    /// Somebody has not.
    Unmet(Box<Unmet>),
    /// Somebody asked for the end.
    Interrupted {
        /// Who had not reached the goal by then, and why.
        open: Vec<(ObjectId, String)>,
        /// After how long.
        after: Duration,
    },
}

/// Waits, tells people of it, and ends early where that is asked for.
pub(crate) async fn wait(
    cluster: &Cluster,
    wait: &Wait,
    clock: Clock,
    cancel: &CancellationToken,
    ui: &Ui,
) -> Result<Ended, CommandError> {
    let start = clock.elapsed();
    let mut display = Display::new(ui, wait);
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut observe = move |event| drop(tell.send(event));
    let mut work = Box::pin(cluster.wait(wait, clock, &mut observe));
    let mut ticks = tokio::time::interval(TICK);
    // Only reads are dropped where somebody asks for the end.
    let ended = loop {
        let at = clock.elapsed().saturating_sub(start);
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                break Ended::Interrupted { open: display.open(), after: at };
            }
            Some(event) = told.recv() => display.hear(event, at)?,
            ended = &mut work => break of(ended)?,
            _ = ticks.tick() => display.tick(at)?,
        }
    };
    drop(work);
    let at = clock.elapsed().saturating_sub(start);
    while let Ok(event) = told.try_recv() {
        display.hear(event, at)?;
    }
    display.end()?;
    Ok(ended)
}

fn of(ended: Result<Met, WaitError>) -> Result<Ended, CommandError> {
    match ended {
        Ok(met) => Ok(Ended::Met(met)),
        Err(WaitError::Unmet(unmet)) => Ok(Ended::Unmet(unmet)),
        Err(error @ (WaitError::Nobody | WaitError::NoRollout(_))) => {
            Err(CommandError::new(Exit::Usage, &error))
        }
    }
}

impl Ended {
    /// Returns how the process ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Met(_) => Exit::Done,
            Self::Interrupted { .. } => Exit::Interrupted,
            Self::Unmet(unmet) if ending::is_refused(unmet) => Exit::Refused,
            Self::Unmet(_) => Exit::NotProven,
        }
    }
}
