//! Events are one kind in two groups, whose fields have different names.

use serde_json::Value;

use super::resource::Key;

/// What the store calls events of both groups.
pub(crate) const EVENTS: Key = Key::core("events");

/// The same fields, in `events.k8s.io` and in the core group.
const FIELDS: &[(&str, &str)] = &[
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reportingController", "reportingComponent"),
];

/// Returns what the store calls a kind.
pub(crate) fn storage_key(key: &Key) -> &Key {
    const STORED: &Key = &EVENTS;
    if key.group == "events.k8s.io" { STORED } else { key }
}

/// Renames the fields of an event of `events.k8s.io` to those of the core group.
pub(crate) fn to_core(event: &mut Value) {
    rename(event, FIELDS.iter().map(|(new, core)| (*new, *core)));
}

/// Renames the fields of an event of the core group to those of `events.k8s.io`.
pub(crate) fn from_core(event: &mut Value) {
    rename(event, FIELDS.iter().map(|(new, core)| (*core, *new)));
}

fn rename<'a>(event: &mut Value, names: impl Iterator<Item = (&'a str, &'a str)>) {
    let Some(fields) = event.as_object_mut() else { return };
    for (from, to) in names {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}
