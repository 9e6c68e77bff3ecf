//! How long gates may wait.

use std::collections::BTreeMap;

use serde::Serialize;

use super::stage::Stage;
use crate::cluster::Cluster;
use crate::scalar::Duration;

/// How long each gate may wait: the defaults, and what the file says over them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Timeouts {
    by_stage: BTreeMap<Stage, Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            by_stage: Stage::all().iter().map(|stage| (*stage, stage.default_timeout())).collect(),
        }
    }
}

impl Timeouts {
    /// The default stability window: twice the time after which a silent node counts as lost.
    pub const STABILITY_WINDOW: Duration = Duration::from_mins(2);

    /// The deadlines of a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        cluster.timeouts.iter().fold(Self::default(), |timeouts, (stage, timeout)| {
            timeouts.with(stage.value, timeout.value)
        })
    }

    /// The same deadlines with one changed, as `--timeout GATE=DURATION` does.
    #[must_use]
    pub fn with(mut self, stage: Stage, timeout: Duration) -> Self {
        self.by_stage.insert(stage, timeout);
        self
    }

    /// How long a gate may wait.
    pub fn get(&self, stage: Stage) -> Duration {
        self.by_stage.get(&stage).copied().unwrap_or_else(|| stage.default_timeout())
    }
}
