//! Permits, which only a journal can give.

use events::journal::{Durability, Header, Writer};
use events::{
    Call, Clock, ClusterId, EvidenceLimits, EvidenceStore, History, Ledger, Permit, Plan,
    PlannedStage, Recorder, Redactor, RunId, Unit, What,
};
use tempfile::TempDir;

use crate::sample::now;

pub(crate) struct Permits {
    ledger: Ledger,
    _folder: TempDir,
}

impl Permits {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let header = Header::new(RunId::new(now(), 42), ClusterId::new(7));
        let path = folder.path().join("journal.jsonl");
        let writer = Writer::create(&path, &header, Durability::Unsynced).unwrap();
        let evidence = EvidenceStore::new(folder.path(), EvidenceLimits::default());
        let redactor = Redactor::new([7; 32]);
        let recorder = Recorder::new(&header, writer, evidence, redactor, Clock::real(), vec![]);
        for what in [
            What::RunStarted { plan: Box::new(plan()), resumes: None },
            What::StageStarted { unit: Unit::whole("config") },
            What::AttemptStarted { unit: Unit::whole("config"), after: None },
        ] {
            recorder.record(1, what).unwrap();
        }
        Self { ledger: Ledger::new(recorder, History::default()), _folder: folder }
    }

    pub(crate) async fn for_call(&self, call: Call) -> Permit {
        let intent = self.ledger.intend(&Unit::whole("config"), 1, call).await;
        let (permit, _receipt) = intent.unwrap();
        permit
    }
}

fn plan() -> Plan {
    Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(7),
        title: "a test".to_owned(),
        tool: "0.1.0".to_owned(),
        nodes: vec![],
        stages: vec![PlannedStage {
            name: "config".into(),
            after: vec![],
            nodes: None,
            checks: vec![],
        }],
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}
