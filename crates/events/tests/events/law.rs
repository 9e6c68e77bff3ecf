//! Which event may follow which.

use events::{
    CallOutcome, Cause, Code, Failure, Hindrance, IllegalEvent, Interruption, RunOutcome, RunState,
    Seq, Unit, UnitOutcome, UnitState, Verdict, What,
};
use proptest::prelude::*;

use crate::sample::{intent, network, numbered, passed, plan, proven, ready, result, run, started};

fn fold(events: Vec<What>) -> Result<RunState, (usize, IllegalEvent)> {
    let mut state = RunState::default();
    for (index, event) in numbered(events).iter().enumerate() {
        state.apply(event).map_err(|error| (index, error))?;
    }
    Ok(state)
}

/// The message with which the last of these events is refused; all before it are legal.
fn refusal(events: Vec<What>) -> String {
    let last = events.len() - 1;
    let (index, error) = fold(events).unwrap_err();
    assert_eq!(index, last, "an earlier event was refused: {error}");
    match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn proven_until(count: usize, and: What) -> Vec<What> {
    let mut events = proven();
    events.truncate(count);
    events.push(and);
    events
}

fn on(node: &str) -> Unit {
    Unit::on("nodes", node)
}

#[test]
fn a_proven_run_is_legal() {
    let state = fold(proven()).unwrap();
    assert_eq!(state.ended(), Some(&RunOutcome::Proven));
    assert_eq!(state.unit(&network()), Some(UnitState::Passed));
    assert_eq!(state.doubts().count(), 0);
}

#[test]
fn nothing_stands_before_the_start_or_after_the_end() {
    assert_eq!(refusal(vec![passed(network())]), "the run has not started");
    assert_eq!(refusal(proven_until(3, started())), "the run starts a second time");
    assert_eq!(
        refusal(proven_until(usize::MAX, What::Pinned { key: "a".into(), value: "b".into() })),
        "the run is over, nothing may follow"
    );
}

#[test]
fn the_sequence_has_no_holes_and_time_does_not_run_backwards() {
    let mut events = numbered(proven());
    events.remove(1);
    let mut state = RunState::default();
    state.apply(&events[0]).unwrap();
    assert_eq!(
        state.apply(&events[1]).unwrap_err(),
        IllegalEvent::OutOfSequence { found: Seq(3), expected: Seq(2) }
    );
    let mut events = numbered(proven());
    events[0].elapsed_ms = 50;
    let mut state = RunState::default();
    state.apply(&events[0]).unwrap();
    assert_eq!(
        state.apply(&events[1]).unwrap_err().to_string(),
        "elapsed time ran backwards, from 50 ms to 10 ms"
    );
}

#[test]
fn a_unit_starts_once_and_after_its_prerequisites() {
    let start = |unit| What::StageStarted { unit };
    assert_eq!(
        refusal(proven_until(1, start(on("demo-cp-1")))),
        "nodes on demo-cp-1 starts before network has passed"
    );
    assert_eq!(refusal(proven_until(2, start(network()))), "network is Running { attempt: 0 }");
    assert_eq!(refusal(proven_until(7, start(network()))), "network is Passed");
    assert_eq!(
        refusal(proven_until(7, start(on("ghost")))),
        "nodes on ghost is not part of the plan"
    );
}

#[test]
fn tries_are_counted() {
    let mut events = numbered(proven());
    events[2].attempt = 2;
    let mut state = RunState::default();
    state.apply(&events[0]).unwrap();
    state.apply(&events[1]).unwrap();
    assert_eq!(state.apply(&events[2]).unwrap_err().to_string(), "network is in try 1, not 2");
    assert_eq!(refusal(proven_until(2, intent(network()))), "network is in try 0, not 1");
}

#[test]
fn intents_are_closed_once_and_before_their_unit() {
    assert_eq!(
        refusal(proven_until(4, passed(network()))),
        "network ends while its intent 4 is open"
    );
    assert_eq!(refusal(proven_until(4, result(3))), "no intent is open at 3");
    assert_eq!(refusal(proven_until(5, result(4))), "no intent is open at 4");
    let lost = CallOutcome::InDoubt { error: Failure::transient("lost") };
    let mut events = proven();
    events.truncate(4);
    events.push(What::Result { intent: Seq(4), outcome: lost });
    let state = fold(events.clone()).unwrap();
    assert_eq!(state.doubts().map(|(seq, _)| seq).collect::<Vec<_>>(), [Seq(4)]);
    let settled = |seq| What::Settled {
        intent: events::IntentRef { run: run(), seq: Seq(seq) },
        call: String::new(),
        found: None,
    };
    events.push(settled(4));
    assert_eq!(fold(events.clone()).unwrap().doubts().count(), 0);
    events.push(settled(4));
    assert_eq!(refusal(events), "no intent is open at 4");
}

#[test]
fn a_unit_passes_only_with_its_proof() {
    let mut events = proven_until(5, passed(network()));
    assert_eq!(refusal(events.clone()), "network passes although its check `network` is not ready");
    let lapsed = Verdict::not_yet("gone again");
    let lapsed = What::Checked { unit: network(), check: "network".into(), verdict: lapsed };
    events.insert(5, ready(network(), "network"));
    assert!(fold(events.clone()).is_ok());
    events.insert(6, lapsed);
    assert_eq!(refusal(events), "network passes although its check `network` is not ready");
}

#[test]
fn only_announced_checks_speak() {
    assert_eq!(
        refusal(proven_until(3, ready(network(), "weather"))),
        "network has no check named `weather`"
    );
}

#[test]
fn the_outcome_follows_from_what_happened() {
    let end = |outcome| What::RunEnded { outcome };
    let cause = || Cause::new(Code(1), "no");
    let failed = |unit| RunOutcome::Failed { unit, cause: cause() };
    let done = |unit, outcome| What::StageDone { unit, outcome };
    let hindered = |node| What::WillNotRun { unit: on(node), because: Hindrance::Interrupted };

    assert_eq!(
        refusal(proven_until(7, end(RunOutcome::Proven))),
        "the run ends while nodes on demo-cp-1 is not over"
    );
    let mut all = proven();
    all.pop();
    let ending = |outcome| [all.clone(), vec![end(outcome)]].concat();
    let wrong = "the outcome does not follow from what happened: ";
    assert_eq!(
        refusal(ending(failed(network()))),
        format!("{wrong}another unit failed first, or none did")
    );
    assert_eq!(
        refusal(ending(RunOutcome::NotProven { missing: vec![] })),
        format!("{wrong}nothing required was left out")
    );
    let mut fails = proven();
    fails.truncate(3);
    fails.push(done(network(), UnitOutcome::Failed { cause: cause() }));
    fails.extend(["demo-cp-1", "demo-worker-1"].map(hindered));
    let failing = |outcome| [fails.clone(), vec![end(outcome)]].concat();
    assert_eq!(refusal(failing(RunOutcome::Proven)), format!("{wrong}a unit failed"));
    assert!(fold(failing(failed(network()))).is_ok());
    let mut stops = proven();
    stops.truncate(3);
    stops.push(done(network(), UnitOutcome::Stopped));
    stops.extend(["demo-cp-1", "demo-worker-1"].map(hindered));
    let stopping = |outcome| [stops.clone(), vec![end(outcome)]].concat();
    assert_eq!(refusal(stopping(RunOutcome::Proven)), format!("{wrong}a unit was stopped"));
    assert!(fold(stopping(RunOutcome::Interrupted { how: Interruption::Asked })).is_ok());
}

#[test]
fn a_required_check_that_is_left_out_forbids_proven() {
    let mut events = proven();
    let skipped = What::Skipped {
        unit: network(),
        check: Some("network".into()),
        required: true,
        reason: "no token".to_owned(),
    };
    events[5] = skipped;
    assert_eq!(
        refusal(events.clone()),
        "the outcome does not follow from what happened: something required was left out"
    );
    let missing = vec!["network, network: no token".to_owned()];
    *events.last_mut().unwrap() =
        What::RunEnded { outcome: RunOutcome::NotProven { missing: missing.clone() } };
    assert_eq!(fold(events).unwrap().missing(), missing);
}

#[test]
fn a_dead_run_may_end_anywhere() {
    let died = What::RunEnded { outcome: RunOutcome::Interrupted { how: Interruption::Died } };
    for count in 1..proven().len() {
        let state = fold(proven_until(count, died.clone())).unwrap();
        assert!(state.ended().is_some());
    }
}

#[test]
fn a_plan_that_cannot_be_run_is_refused() {
    let starting = |change: fn(&mut events::Plan)| {
        let mut plan = plan();
        change(&mut plan);
        refusal(vec![What::RunStarted { plan: Box::new(plan), resumes: None }])
    };
    let bad = "the plan cannot be run: ";
    assert_eq!(
        starting(|plan| plan.stages.reverse()),
        format!("{bad}stage `nodes` comes after `network`, which is not planned before it")
    );
    assert_eq!(
        starting(|plan| plan.stages[1].name = "network".into()),
        format!("{bad}stage `network` is planned twice")
    );
    assert_eq!(
        starting(|plan| plan.nodes.truncate(1)),
        format!(
            "{bad}stage `nodes` names node `demo-worker-1`, which is not planned, or names it twice"
        )
    );
    assert_eq!(
        starting(|plan| plan.nodes[1].name = "demo-cp-1".into()),
        format!("{bad}node `demo-cp-1` is planned twice")
    );
    assert_eq!(
        starting(|plan| {
            let twice = plan.stages[0].checks[0].clone();
            plan.stages[0].checks.push(twice);
        }),
        format!("{bad}stage `network` has two checks named `network`")
    );
}

fn any_what() -> impl Strategy<Value = What> {
    let unit = prop_oneof![
        Just(network()),
        Just(on("demo-cp-1")),
        Just(on("demo-worker-1")),
        Just(on("ghost"))
    ];
    let outcome = prop_oneof![
        Just(RunOutcome::Proven),
        Just(RunOutcome::NotProven { missing: vec![] }),
        Just(RunOutcome::Interrupted { how: Interruption::Asked }),
        Just(RunOutcome::Interrupted { how: Interruption::Died }),
    ];
    (unit, outcome, 0..30_u64, 0..12_u8).prop_map(|(unit, outcome, seq, kind)| match kind {
        0 => started(),
        1 => What::StageStarted { unit },
        2 => What::AttemptStarted { unit, after: None },
        3 => intent(unit),
        4 => result(seq),
        5 => ready(unit, "network"),
        6 => ready(unit, "nodes"),
        7 => passed(unit),
        8 => What::WillNotRun { unit, because: Hindrance::NotAsked },
        9 => What::Warning { unit: Some(unit), message: String::new() },
        10 => What::Unknown,
        _ => What::RunEnded { outcome },
    })
}

proptest! {
    /// A refused event leaves no trace, so that what was accepted replays to
    /// the same state; and the function is total: it never panics.
    #[test]
    fn refusals_leave_no_trace(random in prop::collection::vec(any_what(), 0..120)) {
        let mut state = RunState::default();
        let mut accepted = Vec::new();
        for what in std::iter::once(started()).chain(random) {
            let mut event = numbered(vec![what.clone()]).remove(0);
            event.seq = state.last().next();
            event.elapsed_ms = event.seq.0;
            let before = format!("{state:?}");
            if state.apply(&event).is_ok() {
                accepted.push(event);
            } else {
                prop_assert_eq!(before, format!("{:?}", state));
            }
        }
        let mut replayed = RunState::default();
        for event in &accepted {
            prop_assert_eq!(replayed.apply(event), Ok(()));
        }
        prop_assert_eq!(format!("{:?}", state), format!("{:?}", replayed));
    }
}
