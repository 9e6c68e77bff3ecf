//! Asking a run to stop.

use tokio::sync::watch;

/// A wish to stop. Clones share it; once it is there, it stays.
///
/// A run that is asked to stop finishes the calls under way, journals them,
/// and starts nothing new.
#[derive(Clone, Debug)]
pub struct Cancel {
    asked: watch::Sender<bool>,
}

impl Cancel {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self { asked: watch::Sender::new(false) }
    }

    /// Asks the run to stop.
    pub fn ask(&self) {
        self.asked.send_replace(true);
    }

    /// Returns whether somebody asked.
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Waits until somebody asks.
    pub async fn asked(&self) {
        let mut asked = self.asked.subscribe();
        asked.wait_for(|asked| *asked).await.expect("the sender is in `self`");
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}
