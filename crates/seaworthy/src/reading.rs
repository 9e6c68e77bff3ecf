//! Commands that only read objects, and may end at any moment.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use engine::Chance;
use events::{Clock, Errand, RunId};
use objects::Cluster;
use objects::set::Means;
use report::terminal::say;

use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::kept::Kept;
use crate::running::Signals;
use crate::silence::Silence;
use crate::ui::Ui;

/// Returns the means for what sends nothing that changes anything: it knows what
/// was learnt, and learns nothing.
pub(crate) fn means(cluster: &Cluster) -> Means {
    let clock = Clock::real();
    let run = RunId::new(clock.now(), Chance::real().bits());
    let memory = Some(Kept::of(cluster).memory());
    Means { memory, ..Means::new(Arc::new(Errand::new(run)), clock) }
}

/// Waits for what only reads. A signal ends it at once, and a cluster that does
/// not answer is told of.
pub(crate) async fn until_signal<T>(
    work: impl Future<Output = T>,
    cluster: &Cluster,
    means: &Means,
    patience: Duration,
    ui: &Ui,
) -> Result<T, CommandError> {
    let mut signals = Signals::listen()?;
    let mut silence = Silence::new(cluster, means, patience, ui);
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return Ok(done),
            name = signals.next() => {
                say(palette(ui), "Stopped", &format!("{name}: nothing was changed"), &mut ui.stderr())?;
                return Err(CommandError::told(Exit::Interrupted));
            }
            () = silence.broken() => {}
        }
    }
}
