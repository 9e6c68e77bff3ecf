//! Events: what happened to an object.

use jiff::Timestamp;

use crate::Object;

/// When it happened; the newer fields replace the older ones.
const TIMES: [&str; 4] =
    ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/metadata/creationTimestamp"];

/// Returns the uids under which events about an object are found. The kubelet
/// writes the name of its node for a uid, which it does not know.
pub(super) fn told_as(object: &Object) -> Vec<String> {
    let name = Some(object.id().name.as_str()).filter(|_| object.kind().is("", "Node"));
    object.uid().into_iter().chain(name).map(str::to_owned).collect()
}

/// Returns the latest warning, in one line.
pub(super) fn latest_warning<'a>(events: impl Iterator<Item = &'a Object>) -> Option<String> {
    let warnings = events.filter(|event| event.text("/type") == Some("Warning"));
    warnings.max_by_key(|event| happened_at(event)).map(line)
}

/// Returns when an event happened, for the last time where it did more than once.
pub fn happened_at(event: &Object) -> Option<Timestamp> {
    TIMES.iter().find_map(|place| event.text(place)?.parse().ok())
}

fn line(event: &Object) -> String {
    let reason = event.text("/reason").unwrap_or("Warning");
    let message = event.text("/message").unwrap_or_default().trim();
    let count = event.at("/series/count").or_else(|| event.at("/count"));
    match count.and_then(serde_json::Value::as_u64) {
        Some(count) if count > 1 => format!("{reason}: {message} ({count} times)"),
        _ => format!("{reason}: {message}"),
    }
}
