//! How long gates may wait.

use std::collections::BTreeMap;

use serde::Serialize;
use thiserror::Error;

use super::stage::Stage;
use crate::cluster::Cluster;
use crate::scalar::Duration;

/// How long each gate may wait: the defaults, and what the file says over them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Timeouts {
    by_stage: BTreeMap<Stage, Duration>,
}

/// A proof that would have to end before everything has stayed healthy for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("`proof` may take {timeout}, and everything has to stay healthy for {window}")]
pub struct ProofTooShort {
    timeout: Duration,
    window: Duration,
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

    /// Checks that the proof may take longer than the stability window.
    pub fn check(&self, window: Duration) -> Result<(), ProofTooShort> {
        let timeout = self.get(Stage::Proof);
        if timeout > window { Ok(()) } else { Err(ProofTooShort { timeout, window }) }
    }

    /// How long a gate may wait.
    pub fn get(&self, stage: Stage) -> Duration {
        self.by_stage.get(&stage).copied().unwrap_or_else(|| stage.default_timeout())
    }
}
