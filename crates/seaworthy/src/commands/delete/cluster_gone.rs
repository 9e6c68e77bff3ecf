//! Whether a cluster is gone, as far as anybody can tell.

use std::time::Duration;

use events::Clock;
use objects::{ApiError, Cluster, Trouble};

use crate::command_error::CommandError;

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

/// Says how to go on, where what was refused may be gone with its cluster.
pub(super) async fn perhaps(error: CommandError, cluster: &Cluster) -> CommandError {
    match cluster.version().await {
        Err(last) if means_gone(last.trouble()) => error.hint(
            "nothing was deleted; is the cluster gone for good, `--if-cluster-gone forget` takes \
             its objects for gone with it",
        ),
        _ => error,
    }
}

fn means_gone(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Unreachable(_) | Trouble::Unauthenticated)
}
