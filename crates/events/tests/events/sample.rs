//! A small plan, and events of a run of it.

use std::path::Path;

use events::journal::{Durability, Header, Writer};
use events::{
    After, Call, CallClass, CallOutcome, CheckKind, Clock, ClusterId, Event, Evidence,
    EvidenceLimits, EvidenceStore, Made, Observer, Plan, PlannedCheck, PlannedNode, PlannedStage,
    Reach, Recorder, Redactor, Role, RunId, RunOutcome, Seq, Unit, UnitOutcome, Verdict, What,
};
use jiff::Timestamp;

pub(crate) fn start() -> Timestamp {
    "2026-11-15T12:00:00Z".parse().unwrap()
}

pub(crate) fn run() -> RunId {
    RunId::new(start(), 42)
}

pub(crate) fn header() -> Header {
    Header::new(run(), ClusterId::new(7))
}

/// `network`, then `nodes` on a control plane and a worker.
pub(crate) fn plan() -> Plan {
    let node = |name: &str, role| PlannedNode { name: name.into(), role };
    let gate = |name: &str| PlannedCheck {
        name: name.into(),
        kind: CheckKind::Gate,
        deadline_ms: 600_000,
        poll_ms: 2_000,
        stable_ms: 0,
        fresh_ms: 0,
        required: true,
    };
    Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(7),
        title: "1 control plane + 1 worker".to_owned(),
        tool: "0.1.0".to_owned(),
        nodes: vec![node("demo-cp-1", Role::ControlPlane), node("demo-worker-1", Role::Worker)],
        stages: vec![
            PlannedStage {
                name: "network".into(),
                after: vec![],
                nodes: None,
                checks: vec![gate("network")],
            },
            PlannedStage {
                name: "nodes".into(),
                after: vec![After { stage: "network".into(), on: Reach::All }],
                nodes: Some(vec!["demo-cp-1".into(), "demo-worker-1".into()]),
                checks: vec![gate("nodes")],
            },
        ],
        spec: None,
        monthly_cents: Some(1234),
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

pub(crate) fn network() -> Unit {
    Unit::whole("network")
}

pub(crate) fn started() -> What {
    What::RunStarted { plan: Box::new(plan()), resumes: None }
}

pub(crate) fn intent(unit: Unit) -> What {
    What::Intent { unit, call: Call::new(CallClass::Named, "create network", "demo", b"{}") }
}

pub(crate) fn result(intent: u64) -> What {
    let made = Made::id("network", "17").action("99");
    What::Result { intent: Seq(intent), outcome: CallOutcome::Done { made } }
}

pub(crate) fn ready(unit: Unit, gate: &str) -> What {
    let evidence = Evidence::new("as wanted").fact("ip_range", "10.0.0.0/16");
    What::Checked { unit, check: gate.into(), verdict: Verdict::ready(evidence) }
}

pub(crate) fn passed(unit: Unit) -> What {
    What::StageDone { unit, outcome: UnitOutcome::Passed { summary: "as wanted".to_owned() } }
}

/// A whole run that ends proven.
pub(crate) fn proven() -> Vec<What> {
    let mut events = vec![
        started(),
        What::StageStarted { unit: network() },
        What::AttemptStarted { unit: network(), after: None },
        intent(network()),
        result(4),
        ready(network(), "network"),
        passed(network()),
    ];
    for node in ["demo-cp-1", "demo-worker-1"] {
        let unit = Unit::on("nodes", node);
        events.push(What::StageStarted { unit: unit.clone() });
        events.push(What::AttemptStarted { unit: unit.clone(), after: None });
        events.push(ready(unit.clone(), "nodes"));
        events.push(passed(unit));
    }
    events.push(What::RunEnded { outcome: RunOutcome::Proven });
    events
}

/// Gives events their envelopes.
pub(crate) fn numbered(events: Vec<What>) -> Vec<Event> {
    let envelope = |(index, what): (usize, What)| Event {
        run: run(),
        seq: Seq(index as u64 + 1),
        at: start(),
        elapsed_ms: index as u64 * 10,
        attempt: 1,
        what,
    };
    events.into_iter().enumerate().map(envelope).collect()
}

/// Writes a journal of these events, without asking the law.
pub(crate) fn write(path: &Path, events: Vec<What>) {
    let mut writer = Writer::create(path, &header(), Durability::Unsynced).unwrap();
    for event in numbered(events) {
        writer.append(&event).unwrap();
    }
}

/// A recorder into `folder`.
pub(crate) fn recorder(folder: &Path, observers: Vec<Observer>) -> Recorder {
    let writer =
        Writer::create(&folder.join("journal.jsonl"), &header(), Durability::Unsynced).unwrap();
    let evidence = EvidenceStore::new(folder, EvidenceLimits::default());
    let clock = Clock::starting_at(start());
    Recorder::new(&header(), writer, evidence, Redactor::new([7; 32]), clock, observers)
}
