//! `trace.json`: the run for Perfetto, in Chrome's trace event format.
//!
//! A process stands for a node (the first one for the cluster), a thread for a
//! stage on it. Units and their tries are slices; waits and calls may overlap
//! and are asynchronous slices; verdicts and warnings are instants.

use std::collections::BTreeMap;

use events::{NodeName, Verdict};
use serde_json::{Value, json};

use crate::{Check, Stage, Story, UnitStory, words};

/// Returns `trace.json`.
pub fn trace(story: &Story) -> String {
    let mut tracks = Tracks::of(story);
    for (number, stage) in story.stages().iter().enumerate() {
        for unit in &stage.units {
            tracks.unit(number, stage, unit, story.elapsed_ms());
        }
    }
    for warning in story.warnings() {
        let node = warning.unit.as_ref().and_then(|unit| unit.node.as_ref());
        let pid = tracks.pid(node);
        tracks.events.push(json!({
            "ph": "i", "s": "g", "name": format!("warning: {}", warning.message),
            "ts": micros(warning.moment.at_ms), "pid": pid, "tid": 0,
        }));
    }
    let trace = json!({
        "displayTimeUnit": "ms",
        "otherData": {
            "run": story.run().map(|run| run.id),
            "outcome": story.outcome().word(),
            "took": words::duration(story),
            "cost": words::cost(story),
        },
        "traceEvents": tracks.events,
    });
    trace.to_string() + "\n"
}

struct Tracks {
    pids: BTreeMap<NodeName, usize>,
    events: Vec<Value>,
    spans: usize,
}

/// The process that stands for the cluster as a whole.
const CLUSTER: usize = 1;

impl Tracks {
    fn of(story: &Story) -> Self {
        let nodes = story.run().map_or(&[][..], |run| &run.nodes);
        let numbered = nodes.iter().zip(CLUSTER + 1..);
        let mut tracks = Self {
            pids: numbered.map(|(node, pid)| (node.name.clone(), pid)).collect(),
            events: Vec::new(),
            spans: 0,
        };
        let cluster = story.run().map_or("cluster", |run| &run.cluster);
        tracks.name(CLUSTER, cluster);
        for (node, pid) in tracks.pids.clone() {
            tracks.name(pid, node.as_str());
        }
        tracks
    }

    fn pid(&self, node: Option<&NodeName>) -> usize {
        node.and_then(|node| self.pids.get(node)).copied().unwrap_or(CLUSTER)
    }

    fn name(&mut self, pid: usize, name: &str) {
        self.events.push(json!({
            "ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": { "name": name },
        }));
        self.events.push(json!({
            "ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": { "sort_index": pid },
        }));
    }

    fn unit(&mut self, number: usize, stage: &Stage, unit: &UnitStory, now_ms: u64) {
        let (Some(started), Some(took)) = (unit.started, unit.took_ms(now_ms)) else {
            return;
        };
        let (pid, tid) = (self.pid(unit.unit.node.as_ref()), number + 1);
        self.events.push(json!({
            "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": { "name": stage.name },
        }));
        self.events.push(json!({
            "ph": "X", "cat": "unit", "name": stage.name, "pid": pid, "tid": tid,
            "ts": micros(started.at_ms), "dur": micros(took),
            "args": { "state": unit.state().word(), "summary": unit.summary() },
        }));
        self.attempts(pid, tid, unit, started.at_ms + took);
        for check in &unit.checks {
            self.check(pid, tid, check);
        }
        for call in &unit.calls {
            let end = call.result.as_ref().map_or(now_ms, |(moment, _)| moment.at_ms);
            self.span(pid, tid, "call", &call.call.to_string(), call.moment.at_ms, end);
        }
    }

    fn attempts(&mut self, pid: usize, tid: usize, unit: &UnitStory, end_ms: u64) {
        if unit.attempts.len() < 2 {
            return;
        }
        let starts = unit.attempts.iter().map(|attempt| attempt.moment.at_ms);
        let ends = starts.clone().skip(1).chain([end_ms]);
        for ((attempt, from), to) in unit.attempts.iter().zip(starts).zip(ends) {
            self.events.push(json!({
                "ph": "X", "cat": "attempt", "name": format!("try {}", attempt.number),
                "pid": pid, "tid": tid, "ts": micros(from), "dur": micros(to.saturating_sub(from)),
                "args": { "after": attempt.after.as_ref().map(ToString::to_string) },
            }));
        }
    }

    fn check(&mut self, pid: usize, tid: usize, check: &Check) {
        let (Some(first), Some(last)) = (check.findings.first(), check.findings.last()) else {
            return;
        };
        self.span(pid, tid, "check", check.name.as_str(), first.moment.at_ms, last.moment.at_ms);
        for finding in &check.findings {
            self.events.push(json!({
                "ph": "i", "s": "t", "cat": "verdict", "pid": pid, "tid": tid,
                "ts": micros(finding.moment.at_ms),
                "name": format!("{}: {}", check.name, word(&finding.verdict)),
                "args": { "says": finding.verdict.to_string() },
            }));
        }
    }

    fn span(&mut self, pid: usize, tid: usize, cat: &str, name: &str, from_ms: u64, to_ms: u64) {
        self.spans += 1;
        for (phase, at) in [("b", from_ms), ("e", to_ms)] {
            self.events.push(json!({
                "ph": phase, "cat": cat, "name": name, "id": self.spans,
                "pid": pid, "tid": tid, "ts": micros(at),
            }));
        }
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Ready { .. } => "ready",
        Verdict::NotYet { .. } => "not yet",
        Verdict::Blind { .. } => "blind",
        Verdict::Failed { .. } => "failed",
    }
}

fn micros(ms: u64) -> u64 {
    ms.saturating_mul(1_000)
}
