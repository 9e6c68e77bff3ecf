//! Times as the protocol writes them.

use jiff::Timestamp;

/// Returns a time as the protocol writes it.
pub(super) fn on_the_wire(time: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}
