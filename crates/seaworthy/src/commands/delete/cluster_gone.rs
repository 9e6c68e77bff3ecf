//! Whether a cluster is gone, as far as anybody can tell.

use std::time::Duration;

use events::Clock;
use objects::{ApiError, Cluster, Trouble};

/// A moment without an answer is not the end of a cluster.
const LOOKS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// Returns what the last look said, where none was answered or none knew us.
pub(super) async fn is_gone(cluster: &Cluster, clock: Clock) -> Option<ApiError> {
    let mut last = None;
    for look in 0..LOOKS {
        if look > 0 {
            clock.sleep(PAUSE).await;
        }
        match cluster.version().await {
            Err(error) if means_gone(error.trouble()) => last = Some(error),
            // Any other answer comes from a cluster that is there.
            _ => return None,
        }
    }
    last
}

fn means_gone(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Unreachable(_) | Trouble::Unauthenticated)
}
