//! A journal that gives out permits.

use clouds::hetzner::Wish;
use events::journal::{Durability, Header, Writer};
use events::{
    Call, Clock, EvidenceLimits, EvidenceStore, History, Ledger, Permit, Plan, PlannedStage,
    Recorder, Redactor, RunId, Unit, What,
};
use jiff::Timestamp;

pub(crate) struct Permits {
    ledger: Ledger,
    _folder: tempfile::TempDir,
}

impl Permits {
    /// A run whose only unit is in its first try.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let start: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let header = Header::new(RunId::new(start, 42), crate::api::cluster());
        let path = folder.path().join("journal.jsonl");
        let writer = Writer::create(&path, &header, Durability::Unsynced).unwrap();
        let evidence = EvidenceStore::new(folder.path(), EvidenceLimits::default());
        let (redactor, clock) = (Redactor::new([7; 32]), Clock::starting_at(start));
        let recorder = Recorder::new(&header, writer, evidence, redactor, clock, Vec::new());
        recorder.record(1, What::RunStarted { plan: Box::new(plan()), resumes: None }).unwrap();
        recorder.record(1, What::StageStarted { unit: unit() }).unwrap();
        recorder.record(1, What::AttemptStarted { unit: unit(), after: None }).unwrap();
        Self { ledger: Ledger::new(recorder, History::default()), _folder: folder }
    }

    /// The permit for a call.
    pub(crate) async fn call(&self, call: Call) -> Permit {
        // Nobody reads this journal: what came of the call stays in doubt.
        let (permit, _receipt) = self.ledger.intend(&unit(), 1, call).await.unwrap();
        permit
    }

    /// The permit for a wish.
    pub(crate) async fn wish(&self, wish: &impl Wish) -> Permit {
        self.call(wish.call()).await
    }
}

fn unit() -> Unit {
    Unit::whole("network")
}

fn plan() -> Plan {
    let stage = PlannedStage { name: "network".into(), after: vec![], nodes: None, checks: vec![] };
    Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: crate::api::cluster(),
        title: "a network".to_owned(),
        tool: "0.1.0".to_owned(),
        nodes: vec![],
        stages: vec![stage],
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}
