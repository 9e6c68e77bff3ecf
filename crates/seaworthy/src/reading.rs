//! Reading objects: what fails for a moment is sent again, a cluster that does
//! not answer is told of, and a signal ends it at once.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use engine::Chance;
use events::{Clock, Errand, RunId};
use objects::set::{Means, Persistence};
use objects::{ApiError, Cluster};

use crate::advice;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::kept::Kept;
use crate::running::Signals;
use crate::silence::Silence;
use crate::ui::Ui;

/// For how long reading is repeated where nobody says.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Reads from a cluster for a command, within the patience that it was given.
pub(crate) struct Reader {
    pub(crate) cluster: Cluster,
    pub(crate) means: Means,
    patience: Duration,
    persistence: Persistence,
}

impl Reader {
    /// The patience begins now.
    pub(crate) fn new(cluster: &Cluster, patience: Duration) -> Self {
        let means = means(cluster);
        let persistence = Persistence::new(&means, patience);
        Self { cluster: cluster.clone(), means, patience, persistence }
    }

    /// Asks the cluster, as often as it takes.
    pub(crate) async fn ask<T>(
        &self,
        request: impl AsyncFnMut() -> Result<T, ApiError>,
    ) -> Result<T, CommandError> {
        self.persistence.repeat(request).await.map_err(|error| refused(&error))
    }

    /// Does work that only reads, until a signal comes.
    pub(crate) fn until_signal<T>(
        &self,
        work: impl Future<Output = Result<T, CommandError>>,
        signals: &mut Signals,
        ui: &Ui,
    ) -> Pin<Box<impl Future<Output = Result<T, CommandError>>>> {
        let done = until_signal(work, &self.cluster, &self.means, self.patience, signals, ui);
        Box::pin(async { done.await? })
    }
}

/// Words for a signal that came before anything was changed.
pub(crate) fn stopped(signal: &str) -> CommandError {
    CommandError::say(Exit::Interrupted, format!("stopped by {signal}; nothing was changed"))
}

/// Words for a second signal, which does not wait for what is under way.
pub(crate) fn not_awaited() -> CommandError {
    let message = "stopped at once: what was under way may have arrived";
    CommandError::say(Exit::Interrupted, message)
        .hint("the same command looks what is there, and goes on")
}

/// Words for an API that said no, or nothing.
pub(crate) fn refused(error: &ApiError) -> CommandError {
    CommandError::say(Exit::Refused, advice::of_api(error))
}

/// Returns the means for what sends nothing that changes anything: it knows what
/// was learnt, and learns nothing.
pub(crate) fn means(cluster: &Cluster) -> Means {
    let clock = Clock::real();
    let run = RunId::new(clock.now(), Chance::real().bits());
    let memory = Some(Kept::of(cluster).memory());
    Means { memory, ..Means::new(Arc::new(Errand::new(run)), clock) }
}

/// Waits for what only reads. A signal ends it at once, and a cluster that does
/// not answer is told of. Boxed, since what a whole command does is large.
pub(crate) fn until_signal<T>(
    work: impl Future<Output = T>,
    cluster: &Cluster,
    means: &Means,
    patience: Duration,
    signals: &mut Signals,
    ui: &Ui,
) -> Pin<Box<impl Future<Output = Result<T, CommandError>>>> {
    Box::pin(async move {
        let mut silence = Silence::new(cluster, means, patience, ui);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                name = signals.next() => {
                    return Err(stopped(name));
                }
                () = silence.broken() => {}
            }
        }
    })
}
