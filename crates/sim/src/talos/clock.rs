//! The time of day on the nodes.

use std::time::Duration;

use jiff::Timestamp;

/// Returns the time of day: certificates and timestamps of the simulated world
/// are real, whatever its tempo.
#[expect(clippy::disallowed_methods, reason = "timestamps of the simulated world are real")]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

/// Returns how long ago the epoch was.
pub(super) fn since_epoch() -> Duration {
    Duration::try_from(now().as_duration()).unwrap_or_default()
}

/// Returns a time as the protocol writes it.
pub(super) fn on_the_wire(time: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}
