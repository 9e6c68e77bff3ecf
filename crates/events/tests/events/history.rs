//! The law over all runs of a cluster: a run may speak of earlier ones, and
//! only of what they hold.

use events::journal::{self, Durability, Header, JournalFile, Writer};
use events::{
    CallOutcome, ClusterId, Digest, Event, Failure, Fate, History, IntentRef, Made, Plan,
    RunBreach, RunId, Seq, What,
};

use crate::sample::{intent, network, numbered, plan, proven, run, start, started};

/// The n-th run of the cluster, with these events.
fn nth(n: u128, events: Vec<What>) -> JournalFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let header = Header::new(id(n), ClusterId::new(7));
    let mut writer = Writer::create(&path, &header, Durability::Unsynced).unwrap();
    for event in numbered(events) {
        writer.append(&Event { run: id(n), ..event }).unwrap();
    }
    journal::read(&path).unwrap()
}

fn id(n: u128) -> RunId {
    RunId::new(start(), n)
}

/// A run that dies with its first call in doubt, at event 4.
fn doubtful() -> Vec<What> {
    let mut events: Vec<_> = proven().into_iter().take(3).collect();
    let error = Failure::transient("no answer");
    events.push(intent(network()));
    events.push(What::Result { intent: Seq(4), outcome: CallOutcome::InDoubt { error } });
    events
}

fn settles(run: RunId, seq: u64) -> Vec<What> {
    let intent = IntentRef { run, seq: Seq(seq) };
    vec![
        started(),
        What::Settled { intent, call: String::new(), found: Some(Made::id("network", "17")) },
    ]
}

fn pins(value: &str) -> Vec<What> {
    vec![started(), What::Pinned { key: "target".to_owned(), value: value.to_owned() }]
}

/// Adds all runs; only the last is refused, if any.
fn breach(runs: &[JournalFile]) -> Option<(Seq, RunBreach)> {
    let mut history = History::default();
    let (last, before) = runs.split_last().unwrap();
    for run in before {
        history.add(run).unwrap();
    }
    let illegal = history.add(last).err()?;
    assert_eq!(illegal.run, last.header.run);
    Some((illegal.seq, illegal.breach))
}

#[test]
fn a_doubt_of_an_earlier_run_is_settled_once() {
    let settled = || nth(2, settles(id(1), 4));
    assert_eq!(breach(&[nth(1, doubtful()), settled()]), None);

    let intent = IntentRef { run: id(1), seq: Seq(4) };
    let twice = [nth(1, doubtful()), settled(), nth(3, settles(id(1), 4))];
    assert_eq!(breach(&twice), Some((Seq(2), RunBreach::NotInDoubt(intent))));

    let mut history = History::default();
    history.add(&nth(1, doubtful())).unwrap();
    history.add(&settled()).unwrap();
    let call = &history.calls("create network", "demo")[0];
    assert_eq!(call.fate, Fate::Done(Made::id("network", "17")));
}

#[test]
fn what_a_call_may_have_reached_is_remembered_until_a_look_denies_it() {
    let mut history = History::default();
    history.add(&nth(1, doubtful())).unwrap();
    let intent = IntentRef { run: id(1), seq: Seq(4) };
    assert_eq!(history.reached("create network"), [("demo".to_owned(), intent)]);
    assert!(history.reached("create").is_empty(), "a kind is not a beginning of others");
    history
        .add(&nth(2, vec![started(), What::Settled { intent, call: String::new(), found: None }]))
        .unwrap();
    assert!(history.reached("create network").is_empty());
}

#[test]
fn what_no_journal_holds_cannot_be_settled() {
    let missing = IntentRef { run: id(1), seq: Seq(4) };
    let alone = [nth(2, settles(id(1), 4))];
    assert_eq!(breach(&alone), Some((Seq(2), RunBreach::UnknownIntent(missing))));

    let not_a_call = IntentRef { run: id(1), seq: Seq(3) };
    let wrong = [nth(1, doubtful()), nth(2, settles(id(1), 3))];
    assert_eq!(breach(&wrong), Some((Seq(2), RunBreach::UnknownIntent(not_a_call))));
}

#[test]
fn a_pinned_choice_stays_until_the_cluster_is_no_more() {
    assert_eq!(breach(&[nth(1, pins("a")), nth(2, pins("a"))]), None);
    let otherwise = RunBreach::PinnedOtherwise("target".to_owned());
    assert_eq!(breach(&[nth(1, pins("a")), nth(2, pins("b"))]), Some((Seq(2), otherwise)));

    for command in [Plan::TEARDOWN, Plan::REHEARSED_TEARDOWN] {
        let mut down = proven();
        let teardown = Plan { command: command.to_owned(), ..plan() };
        down[0] = What::RunStarted { plan: Box::new(teardown), resumes: None };
        assert_eq!(breach(&[nth(1, pins("a")), nth(2, down), nth(3, pins("b"))]), None);
    }
}

#[test]
fn runs_follow_each_other_and_resume_what_is_there() {
    let order = RunBreach::OutOfOrder { last: id(2) };
    assert_eq!(breach(&[nth(2, proven()), nth(1, proven())]), Some((Seq(0), order)));

    let resumes = |run| vec![What::RunStarted { plan: Box::new(plan()), resumes: Some(run) }];
    assert_eq!(breach(&[nth(1, doubtful()), nth(2, resumes(id(1)))]), None);
    let unknown = RunBreach::UnknownRun(run());
    assert_eq!(breach(&[nth(1, doubtful()), nth(2, resumes(run()))]), Some((Seq(1), unknown)));
}

#[test]
fn only_a_result_that_is_there_is_reused() {
    let mut events: Vec<_> = proven().into_iter().take(3).collect();
    let (unit, check, inputs) = (network(), "network".into(), Digest::of(b"inputs"));
    events.push(What::Probe { unit, check, inputs, reused: Some(id(1)) });
    let found = breach(&[nth(1, proven()), nth(2, events)]).unwrap();
    assert!(matches!(found, (Seq(4), RunBreach::UnknownProbe { .. })), "{found:?}");
}

/// The same run, of which one line cannot be read any more.
fn set_aside(history: &mut History, n: u128, events: Vec<What>, garbled: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.broken.jsonl");
    let header = Header::new(id(n), ClusterId::new(7));
    let mut writer = Writer::create(&path, &header, Durability::Unsynced).unwrap();
    for event in numbered(events) {
        writer.append(&Event { run: id(n), ..event }).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().enumerate().collect();
    let lines = lines.iter().map(|(at, line)| if *at == garbled { "{" } else { line });
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    history.add_set_aside(id(n), &journal::salvage(&path, id(n)).unwrap());
}

#[test]
fn history_takes_every_call_of_a_run_that_was_set_aside_for_one_in_doubt() {
    let mut history = History::default();
    let mut events = proven();
    events.insert(2, What::Pinned { key: "k".to_owned(), value: "v".to_owned() });
    let intent = events.iter().position(|what| matches!(what, What::Intent { .. })).unwrap();
    // The line of its result is gone.
    set_aside(&mut history, 1, events, intent + 2);
    let call = &history.calls("create network", "demo")[0];
    assert_eq!(call.fate, Fate::InDoubt);
    assert_eq!(history.pinned("k"), Some("v"));
    assert!(history.is_incomplete());
    // Later runs have settled it, or reused what it proved: nobody can check that.
    history.add(&nth(2, settles(id(1), call.intent.seq.0))).unwrap();
    history.add(&nth(3, settles(id(1), 99))).unwrap();
    assert_eq!(
        history.calls("create network", "demo")[0].fate,
        Fate::Done(Made::id("network", "17"))
    );
}

#[test]
fn history_believes_no_pin_that_the_next_line_does_not_vouch_for() {
    let mut history = History::default();
    set_aside(&mut history, 1, pins("one"), 9);
    assert_eq!(history.pinned("target"), None, "it is the last line");
    let mut events = pins("one");
    events.push(What::Warning { unit: None, message: "after it".to_owned() });
    set_aside(&mut history, 2, events, 9);
    assert_eq!(history.pinned("target"), Some("one"));
    assert!(!history.is_incomplete());
}
