//! The one door to the journal.

use std::fs;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::journal::{self, Header, Writer};
use events::{
    Call, CallClass, CallOutcome, Evidence, Failure, History, Ledger, LedgerError, Made,
    RecordError, Secret, Seq, Verdict, What,
};

use crate::sample::{header, network, passed, proven, recorder, started};

#[tokio::test]
async fn observers_see_what_a_reader_will_see() {
    let folder = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer = {
        let seen = Arc::clone(&seen);
        Box::new(move |event: &events::Event| seen.lock().unwrap().push(event.clone()))
    };
    let recorder = recorder(folder.path(), vec![observer]);
    recorder.hide("token", &Secret::new("hunter22hunter22")).unwrap();
    let mut events = proven();
    events.insert(1, What::Warning { unit: None, message: "hunter22hunter22".to_owned() });
    events[5] = crate::sample::result(5);
    for what in events {
        recorder.record(1, what).unwrap();
    }
    let head = recorder.flushed().await.unwrap();
    let journal = journal::read(&folder.path().join("journal.jsonl")).unwrap();
    assert_eq!(journal.events, *seen.lock().unwrap());
    assert_eq!(Some(journal.chain.head), head);
}

#[tokio::test]
async fn an_illegal_event_reaches_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = recorder(folder.path(), vec![]);
    recorder.record(1, started()).unwrap();
    let error = recorder.record(1, passed(network())).unwrap_err();
    assert!(matches!(error, RecordError::Illegal(_)), "{error}");
    recorder.record(1, What::Pinned { key: "a".into(), value: "b".into() }).unwrap();
    recorder.flushed().await.unwrap();
    let journal = journal::read(&folder.path().join("journal.jsonl")).unwrap();
    assert_eq!(journal.events.len(), 2);
}

#[test]
fn a_journal_that_cannot_be_made_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no such folder/journal.jsonl");
    let error = Writer::create(&path, &header(), journal::Durability::Synced).unwrap_err();
    assert!(error.to_string().ends_with("no such folder/journal.jsonl"), "{error}");
    assert!(std::error::Error::source(&error).unwrap().to_string().starts_with("No such file"));
}

#[tokio::test]
async fn the_canary_reaches_neither_journal_nor_evidence_in_any_form() {
    let canary = "ca\"nary/42+\u{e4}\nsecond line of the canary";
    let folder = tempfile::tempdir().unwrap();
    let recorder = recorder(folder.path(), vec![]);
    recorder.hide("canary", &Secret::new(canary)).unwrap();
    let json = serde_json::to_string(&[canary]).unwrap();
    let file = recorder
        .attach("answer.json", format!("{json} {}", STANDARD.encode(&json)).into_bytes())
        .await
        .unwrap();
    let evidence = Evidence::new(format!("token {canary} works"))
        .fact("typed", Secret::new("short"))
        .fact("base64", STANDARD.encode(format!("x:{canary}")))
        .fact("json", json)
        .fact("nested", serde_json::json!({"list": [canary]}))
        .file(file.clone());
    recorder.record(1, started()).unwrap();
    recorder.record(1, What::StageStarted { unit: network() }).unwrap();
    let verdict = Verdict::ready(evidence);
    recorder
        .record(1, What::Checked { unit: network(), check: "network".into(), verdict })
        .unwrap();
    recorder.flushed().await.unwrap();

    let path = folder.path().join("journal.jsonl");
    let stored = fs::read_to_string(&path).unwrap()
        + &fs::read_to_string(folder.path().join("evidence").join(file.digest.to_string()))
            .unwrap();
    for part in ["nary/42", "second line of the canary", "short\"", "bmFyeS80", "c2Vjb25kIGxpbmU"] {
        assert!(!stored.contains(part), "{part} in {stored}");
    }
    assert_eq!(stored.matches("«secret:").count(), 7, "{stored}");
    assert!(journal::read(&path).is_ok());
    let hidden = recorder.hidden();
    assert_eq!((hidden.0["canary"], hidden.0["typed"]), (6, 1));
}

#[tokio::test]
async fn a_call_that_must_not_be_repeated_is_permitted_once() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger_with(folder.path(), History::default());
    let bootstrap = Call::new(CallClass::Once, "bootstrap", "demo-cp-1", b"");
    let try_again = async || ledger.intend(&network(), 1, bootstrap.clone()).await;

    let (permit, receipt) = try_again().await.unwrap();
    assert_eq!(permit.call(), &bootstrap);
    let refused = CallOutcome::Refused { error: Failure::transient("time is not in sync") };
    ledger.close(receipt, 1, refused).await.unwrap();

    let (_permit, receipt) = try_again().await.expect("a refusal may be tried again");
    let lost = CallOutcome::InDoubt { error: Failure::transient("no answer") };
    ledger.close(receipt, 1, lost).await.unwrap();
    let error = try_again().await.unwrap_err();
    assert!(matches!(error, LedgerError::NotAgain { .. }));
    assert!(
        error.to_string().starts_with("`bootstrap demo-cp-1` must not be sent twice"),
        "{error}"
    );

    let intent = ledger.doubts(&bootstrap)[0];
    ledger.settle(intent, Some(Made::id("member", "1"))).await.unwrap();
    assert!(try_again().await.is_err(), "it was done");

    // The next run knows it from the journal alone.
    let journal = journal::read(&folder.path().join("journal.jsonl")).unwrap();
    let mut history = History::default();
    history.add(&journal).unwrap();
    let next = tempfile::tempdir().unwrap();
    let ledger = ledger_with(next.path(), history);
    assert!(ledger.intend(&network(), 1, bootstrap).await.is_err());
}

#[tokio::test]
async fn a_pinned_choice_is_kept_by_later_runs() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger_with(folder.path(), History::default());
    assert_eq!(ledger.pin("bootstrap target", "demo-cp-1").await.unwrap(), "demo-cp-1");
    assert_eq!(ledger.pin("bootstrap target", "demo-cp-2").await.unwrap(), "demo-cp-1");
    let mut history = History::default();
    history.add(&journal::read(&folder.path().join("journal.jsonl")).unwrap()).unwrap();
    let next = tempfile::tempdir().unwrap();
    let ledger = ledger_with(next.path(), history);
    assert_eq!(ledger.pin("bootstrap target", "demo-cp-3").await.unwrap(), "demo-cp-1");
}

#[tokio::test]
async fn an_intent_without_a_result_is_in_doubt_for_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger_with(folder.path(), History::default());
    let create = Call::new(CallClass::Named, "create server", "demo-cp-1", b"");
    let (permit, receipt) = ledger.intend(&network(), 1, create.clone()).await.unwrap();
    let intent = permit.intent();
    drop((permit, receipt));
    let mut history = History::default();
    history.add(&journal::read(&folder.path().join("journal.jsonl")).unwrap()).unwrap();
    let next = tempfile::tempdir().unwrap();
    assert_eq!(ledger_with(next.path(), history).doubts(&create), [intent]);
    assert_eq!(intent.seq, Seq(4));
}

/// A ledger in a run whose first unit is in its first try.
fn ledger_with(folder: &std::path::Path, history: History) -> Ledger {
    let recorder = recorder(folder, vec![]);
    for what in proven().into_iter().take(3) {
        recorder.record(1, what).unwrap();
    }
    Ledger::new(recorder, history)
}

/// The header is public, so that other tools can tell a journal by its first line.
#[test]
fn the_header_says_what_it_is() {
    let line = serde_json::to_string::<Header>(&header()).unwrap();
    assert!(line.starts_with(r#"{"journal":"seaworthy","version":"1.0","run":"01"#), "{line}");
}
