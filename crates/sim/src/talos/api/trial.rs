//! Trying a configuration: it goes again by itself.

use std::{sync::Arc, time::Duration};

use talos_proto::machine::ApplyConfigurationRequest;
use tonic::Status;

use super::Api;
use crate::talos::MachineConfig;

/// How long a configuration is tried where the caller does not say.
const TRIED_FOR: Duration = Duration::from_mins(1);

impl Api {
    /// What is on the disk stays as it was: it is what a restart goes back to.
    pub(super) fn try_out(&self, config: Arc<MachineConfig>, patience: Duration) {
        let tried = Arc::clone(&config);
        let before = self.machine.change(|state| {
            let before = state.config.replace(config);
            if state.staged.is_none() {
                state.staged.clone_from(&before);
            }
            (before, state.staged.clone())
        });
        let machine = Arc::clone(&self.machine);
        tokio::spawn(async move {
            machine.pass(patience).await;
            machine.change(|state| {
                // Whatever came meanwhile, even the same once more, has ended the trial.
                let (config, staged) = before;
                let goes_on = is(state.config.as_ref(), Some(&tried))
                    && is(state.staged.as_ref(), staged.as_ref());
                if goes_on {
                    state.config = config;
                    state.staged = None;
                }
            });
        });
    }
}

/// Returns how long the caller wants to try a configuration.
pub(super) fn patience(request: &ApplyConfigurationRequest) -> Result<Duration, Status> {
    let Some(wanted) = request.try_mode_timeout else { return Ok(TRIED_FOR) };
    Duration::try_from(wanted).map_err(|error| Status::invalid_argument(error.to_string()))
}

fn is(one: Option<&Arc<MachineConfig>>, other: Option<&Arc<MachineConfig>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// Returns what a caller is told of it, besides that it is in force.
pub(super) fn told(patience: Duration) -> String {
    let patience = in_go(patience);
    format!(
        "\nThe config is applied in 'try' mode and will be automatically reverted back in {patience}"
    )
}

/// Writes whole seconds as Go does: `1m0s`.
fn in_go(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        let rows = [(0, "0s"), (59, "59s"), (60, "1m0s"), (90, "1m30s"), (3600, "1h0m0s")];
        for (seconds, words) in rows {
            assert_eq!(in_go(Duration::from_secs(seconds)), words);
        }
    }
}
