//! Waiting for objects, in front of people: what is missing and why while it
//! lasts, and the chain of causes where it was in vain. `wait` and
//! `apply --wait` tell it alike.

mod record;
mod shown;
mod words;

use std::time::Duration;

use events::Clock;
use objects::{Cluster, Met, Miss, Missed, ObjectId, Unmet, Wait, WaitError};

use crate::board::FRAME;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;
use shown::Shown;

pub(crate) use record::{more, objects};

/// How a wait ended.
pub(crate) enum Ended {
    /// Everybody has reached the goal.
    Met(Met),
    /// Somebody has not.
    Unmet(Box<Unmet>),
    /// Somebody asked for the end.
    Interrupted(Interrupted),
}

/// A wait that somebody has ended.
pub(crate) struct Interrupted {
    /// Who had not reached the goal, and what was missing.
    open: Vec<Awaited>,
    /// Who had.
    met: Vec<ObjectId>,
    after: Duration,
    /// How many looks failed.
    errors: u32,
    /// How many had, and after how long, such as `after 3.0s, 2 ready`.
    pub(crate) words: String,
}

/// Somebody who is waited for.
struct Awaited {
    /// None where nobody is there yet.
    id: Option<ObjectId>,
    name: String,
    missing: String,
}

/// Waits and tells people of it, until `stop` comes at the latest.
pub(crate) async fn wait(
    cluster: &Cluster,
    wait: &Wait,
    clock: Clock,
    stop: impl Future<Output = ()>,
    ui: &Ui,
) -> Result<Ended, CommandError> {
    let start = clock.elapsed();
    let mut shown = Shown::new(ui, clock, wait);
    shown.begin(wait)?;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut tell = |event| drop(tell.send(event));
    let ended = {
        let mut waiting = std::pin::pin!(cluster.wait(wait, clock, &mut tell));
        let mut stop = std::pin::pin!(stop);
        loop {
            tokio::select! {
                ended = &mut waiting => break Some(ended),
                Some(event) = told.recv() => shown.event(&event)?,
                () = clock.sleep(FRAME) => shown.tick()?,
                () = &mut stop => break None,
            }
        }
    };
    while let Ok(event) = told.try_recv() {
        shown.event(&event)?;
    }
    finish(ended, clock.elapsed().saturating_sub(start), shown)
}

fn finish(
    ended: Option<Result<Met, WaitError>>,
    after: Duration,
    mut shown: Shown<'_>,
) -> Result<Ended, CommandError> {
    match ended {
        Some(Ok(met)) => {
            shown.met(&met)?;
            Ok(Ended::Met(met))
        }
        Some(Err(WaitError::Unmet(unmet))) => {
            shown.unmet(&unmet)?;
            Ok(Ended::Unmet(unmet))
        }
        Some(Err(error)) => Err(CommandError::new(Exit::Usage, &error)),
        None => Ok(Ended::Interrupted(shown.interrupted(after)?)),
    }
}

impl Ended {
    /// Returns how the process ends. Where nobody could look, nothing is known
    /// of the goal.
    pub(crate) fn exit(&self) -> Exit {
        let refused = |missed: &Missed| matches!(missed.why, Some(Miss::Refused(_)));
        match self {
            Self::Met(_) => Exit::Done,
            Self::Interrupted(_) => Exit::Interrupted,
            Self::Unmet(unmet) if unmet.missed.iter().any(refused) => Exit::Refused,
            Self::Unmet(_) => Exit::NotProven,
        }
    }
}
