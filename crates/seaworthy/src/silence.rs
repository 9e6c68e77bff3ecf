//! What is said where a cluster lets people wait.

use std::time::Duration;

use objects::Cluster;
use objects::set::{Hold, Means};
use report::terminal::{Palette, say};

use crate::commands::palette;
use crate::patient;
use crate::ui::Ui;

/// Nobody wonders before.
const FIRST: Duration = Duration::from_secs(2);

/// Between two lines.
const NEXT: Duration = Duration::from_secs(10);

/// Work on a set repeats what fails for a moment. Where that moment gets long,
/// this says why.
pub(crate) struct Silence {
    cluster: Cluster,
    means: Means,
    patience: Duration,
    palette: Palette,
    pause: Duration,
}

impl Silence {
    pub(crate) fn new(cluster: &Cluster, means: &Means, patience: Duration, ui: &Ui) -> Self {
        let (cluster, means) = (cluster.clone(), means.clone());
        Self { cluster, means, patience, palette: palette(ui), pause: FIRST }
    }

    /// Waits for a while, and says so where requests are sent again, or where
    /// the cluster does not answer at all. May be dropped at any moment.
    pub(crate) async fn broken(&mut self) {
        self.means.clock.sleep(self.pause).await;
        self.pause = NEXT;
        let (word, because) = match self.hold().await {
            Some(Hold::Retrying(because)) => ("Retrying", because),
            Some(Hold::Waiting(because)) => ("Waiting", because),
            None => return,
        };
        let left = self.patience.saturating_sub(self.means.clock.elapsed()).as_secs();
        let words = format!("for {left}s more: {because}");
        // Where nobody reads any more, the work goes on all the same.
        let _ = say(self.palette, word, &words, &mut patient::stderr());
    }

    async fn hold(&self) -> Option<Hold> {
        let held_up = self.means.held_up_by();
        if held_up.is_some() {
            return held_up;
        }
        let error = self.cluster.version().await.err()?;
        Some(Hold::Retrying(error.to_string()))
    }
}
