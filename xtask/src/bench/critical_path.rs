//! The longest way through the units of a run: no schedule can be faster.

use std::collections::HashMap;

use serde_json::Value;

/// Returns how long the critical path of a run is, in milliseconds, from its
/// plan (the journal's first event) and its report.
///
/// Every unit takes as long as it took; what is left out is the time in which a
/// unit could have run and did not.
pub(super) fn critical_path(plan: &Value, report: &Value) -> Option<u64> {
    let control_planes: Vec<&str> = list(plan, "nodes")
        .iter()
        .filter(|node| node["role"] == "control-plane")
        .filter_map(|node| node["name"].as_str())
        .collect();
    // When the units of each stage could have ended, by node.
    let mut ends: HashMap<&str, HashMap<&str, u64>> = HashMap::new();
    for stage in list(plan, "stages") {
        let name = stage["name"].as_str()?;
        let reported = list(report, "stages").iter().find(|it| it["name"] == name)?;
        let mut ends_here = HashMap::new();
        for unit in list(reported, "units") {
            let node = unit["node"].as_str().unwrap_or_default();
            let mut starts = 0;
            for after in list(stage, "after") {
                let counts = |other: &str| match after["on"].as_str() {
                    Some("chain") => node.is_empty() || other.is_empty() || node == other,
                    Some("control-planes") => other.is_empty() || control_planes.contains(&other),
                    _ => true,
                };
                let earlier = ends.get(after["stage"].as_str()?)?;
                let last = earlier.iter().filter(|(other, _)| counts(other)).map(|(_, end)| *end);
                starts = starts.max(last.max().unwrap_or(0));
            }
            let took = unit["to_ms"].as_u64()?.saturating_sub(unit["from_ms"].as_u64()?);
            ends_here.insert(node, starts + took);
        }
        ends.insert(name, ends_here);
    }
    ends.values().flat_map(HashMap::values).copied().max()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_follows_chains_and_waits_at_barriers() {
        let plan = json!({
            "nodes": [
                { "name": "cp", "role": "control-plane" },
                { "name": "w", "role": "worker" },
            ],
            "stages": [
                { "name": "nodes" },
                { "name": "config", "after": [{ "stage": "nodes", "on": "chain" }] },
                { "name": "etcd", "after": [{ "stage": "config", "on": "control-planes" }] },
                { "name": "ready", "after": [
                    { "stage": "etcd", "on": "all" },
                    { "stage": "config", "on": "chain" },
                ] },
            ],
        });
        let unit =
            |node: &str, from: u64, to: u64| json!({ "node": node, "from_ms": from, "to_ms": to });
        let report = json!({ "stages": [
            { "name": "nodes", "units": [unit("cp", 0, 10), unit("w", 0, 50)] },
            // Both begin late: that is idle time, not work.
            { "name": "config", "units": [unit("cp", 60, 70), unit("w", 60, 65)] },
            { "name": "etcd", "units": [{ "from_ms": 70, "to_ms": 75 }] },
            { "name": "ready", "units": [unit("cp", 75, 76), unit("w", 75, 80)] },
        ] });
        // The worker: 50 + 5 + 5; etcd was there at 25.
        assert_eq!(critical_path(&plan, &report), Some(60));
    }
}
