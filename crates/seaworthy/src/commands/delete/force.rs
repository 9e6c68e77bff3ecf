//! Removing the finalizers of what is stuck.

use std::time::Duration;

use objects::set::Means;
use objects::{ApiError, Cluster, Doomed, Force, ForceHolders, NotForced};

/// Whoever works on the object at the same time may change it so often.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// Why finalizers are still there.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForceError {
    #[error(transparent)]
    Refused(#[from] NotForced),
    #[error(transparent)]
    Api(#[from] ApiError),
}

/// Removes the finalizers of one life of an object, and returns which. Of one
/// that has gone meanwhile there are none.
pub(super) async fn force(
    cluster: &Cluster,
    means: &Means,
    doomed: &Doomed,
    holders: ForceHolders,
) -> Result<Vec<String>, ForceError> {
    let mut tries = 0;
    loop {
        tries += 1;
        let Some(seen) = cluster.get(&doomed.id).await? else { return Ok(Vec::new()) };
        if seen.uid() != Some(doomed.uid.as_str()) {
            return Ok(Vec::new());
        }
        let force = Force::plan(&seen, holders)?;
        let (permit, receipt) = means.permit(force.call());
        let answer = cluster.force(permit, &force).await;
        means.close(receipt, &answer);
        match answer {
            Ok(_) => return Ok(force.finalizers().to_vec()),
            Err(error) if error.is_absent() => return Ok(Vec::new()),
            Err(error) if error.class().is_retryable() && tries < TRIES => {
                means.clock.sleep(PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
