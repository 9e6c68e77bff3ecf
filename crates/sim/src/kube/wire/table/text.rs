//! Times, lists and labels as people read them in tables.

use jiff::Timestamp;
use serde_json::Value;

use crate::kube::object::{items, pairs};

/// Writes how long ago something was, as kubectl does: `5s`, `3m2s`, `4h`, `2d`.
pub(super) fn age(time: &Value, now: Timestamp) -> String {
    let Some(time) = time.as_str().and_then(|text| text.parse::<Timestamp>().ok()) else {
        return "<unknown>".to_owned();
    };
    span(now.as_second() - time.as_second())
}

/// Writes a number of seconds with at most two units.
pub(super) fn span(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    let with = |big: i64, unit: &str, small: i64, rest: &str| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{rest}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => with(minutes, "m", seconds % 60, "s"),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => with(hours, "h", minutes % 60, "m"),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => with(days, "d", hours % 24, "h"),
        691_200..63_072_000 => format!("{days}d"),
        _ => with(days / 365, "y", days % 365, "d"),
    }
}

/// Joins a field of all items; `<none>` where there are none.
pub(super) fn joined(list: &Value, field: &str) -> String {
    let texts: Vec<&str> = items(list).iter().filter_map(|one| one[field].as_str()).collect();
    or_none(&texts.join(","))
}

/// Writes a map as a selector.
pub(super) fn labels(map: &Value) -> String {
    let texts: Vec<String> = pairs(map).map(|(key, value)| format!("{key}={value}")).collect();
    or_none(&texts.join(","))
}

/// Writes a label selector of a workload.
pub(super) fn selector(selector: &Value) -> String {
    labels(&selector["matchLabels"])
}

/// Writes `<none>` for nothing.
pub(super) fn or_none(text: &str) -> String {
    if text.is_empty() { "<none>".to_owned() } else { text.to_owned() }
}

/// Returns a text, empty where it is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns a number, zero where it is none.
pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_while_they_are_short() {
        let cases = [
            (5, "5s"),
            (119, "119s"),
            (120, "2m"),
            (185, "3m5s"),
            (3600, "60m"),
            (14_400, "4h"),
            (15_000, "4h10m"),
            (90_000, "25h"),
            (180_000, "2d2h"),
            (864_000, "10d"),
        ];
        for (seconds, text) in cases {
            assert_eq!(span(seconds), text);
        }
    }
}
