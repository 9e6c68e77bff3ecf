//! Where a run is crashed or stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// What happens to a run from outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// The process dies when this many records are on disk.
    pub crash_after_record: Option<u64>,
    /// The process dies when it has taken down that it means to send this many
    /// calls, before it sends the last of them.
    pub crash_after_intent: Option<u64>,
    /// The process dies after this many effects, before the last one's answer.
    pub crash_after_effect: Option<u64>,
    /// Somebody asks the run to stop when this many records are on disk.
    pub stop_after_record: Option<u64>,
}

/// Counts the effects in the world, and ends the process at the right one.
#[derive(Clone, Debug)]
pub struct Effects {
    count: Arc<AtomicU64>,
    crash_at: Option<u64>,
    crash: watch::Sender<bool>,
}

impl Weather {
    /// Nothing happens.
    pub const FAIR: Self = Self {
        crash_after_record: None,
        crash_after_intent: None,
        crash_after_effect: None,
        stop_after_record: None,
    };

    /// The process dies after that record.
    pub fn crash_after_record(record: u64) -> Self {
        Self { crash_after_record: Some(record), ..Self::FAIR }
    }

    /// The process dies before it sends that call.
    pub fn crash_after_intent(intent: u64) -> Self {
        Self { crash_after_intent: Some(intent), ..Self::FAIR }
    }

    /// The process dies after that effect.
    pub fn crash_after_effect(effect: u64) -> Self {
        Self { crash_after_effect: Some(effect), ..Self::FAIR }
    }

    /// Somebody asks for a stop after that record.
    pub fn stop_after_record(record: u64) -> Self {
        Self { stop_after_record: Some(record), ..Self::FAIR }
    }
}

impl Effects {
    pub(super) fn new(crash_at: Option<u64>, crash: watch::Sender<bool>) -> Self {
        Self { count: Arc::default(), crash_at, crash }
    }

    /// Takes down that an effect has happened. Where the process dies at this
    /// one, the answer never comes.
    pub async fn happened(&self) {
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        if self.crash_at == Some(count) {
            self.crash.send_replace(true);
            std::future::pending::<()>().await;
        }
    }

    /// Returns the number of the effect whose answer never comes.
    pub fn fatal(&self) -> Option<u64> {
        self.crash_at
    }

    /// Returns how many effects have happened.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
}
