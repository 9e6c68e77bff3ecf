//! What is said where a cluster lets people wait.

use std::time::Duration;

use events::Clock;
use objects::Cluster;
use report::terminal::{Palette, say};

use crate::commands::palette;
use crate::ui::Ui;

/// Nobody wonders before.
const FIRST: Duration = Duration::from_secs(2);

/// Between two lines.
const NEXT: Duration = Duration::from_secs(10);

/// Work on a set repeats what fails for a moment. Where that moment gets long,
/// this says why.
pub(crate) struct Silence {
    cluster: Cluster,
    clock: Clock,
    patience: Duration,
    palette: Palette,
    pause: Duration,
}

impl Silence {
    pub(crate) fn new(cluster: &Cluster, clock: Clock, patience: Duration, ui: &Ui) -> Self {
        Self { cluster: cluster.clone(), clock, patience, palette: palette(ui), pause: FIRST }
    }

    /// Waits for a while, and says so where the cluster does not answer. May be
    /// dropped at any moment.
    pub(crate) async fn broken(&mut self) {
        self.clock.sleep(self.pause).await;
        self.pause = NEXT;
        let Err(error) = self.cluster.version().await else { return };
        let left = self.patience.saturating_sub(self.clock.elapsed()).as_secs();
        let words = format!("for {left}s more: {error}");
        // Where nobody reads any more, the work goes on all the same.
        let _ = say(self.palette, "Retrying", &words, &mut std::io::stderr().lock());
    }
}
