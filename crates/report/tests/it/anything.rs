//! Any legal run renders to every format.

use events::{
    Because, Call, CallClass, CallOutcome, Cause, Code, Evidence, Failure, Made, Unit, Verdict,
};
use proptest::prelude::*;
use report::document::Report;
use report::terminal::{Live, Palette, Plain, Printer, Screen, frame};
use report::{Story, render_all};

use crate::samples::{Act, Retry, Sample, Wait, perform, plan, run_id};

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,20}",
        "\\PC{0,30}",
        any::<String>(),
        Just("</script>\x1b[2J\u{202e}\u{2028}\r\n".to_owned()),
    ]
}

fn failure() -> impl Strategy<Value = Failure> {
    (words(), any::<bool>()).prop_map(|(message, permanent)| {
        if permanent {
            return Failure::permanent(message);
        }
        Failure::transient(message)
    })
}

fn cause() -> impl Strategy<Value = Cause> {
    (0_u16..10_000, words(), prop::collection::vec(words(), 0..20), words()).prop_map(
        |(code, message, because, so)| {
            Cause::new(Code(code), message).because(because).so(so.clone()).next(so.clone(), so)
        },
    )
}

fn wait() -> impl Strategy<Value = Wait> {
    prop_oneof![
        (words(), words())
            .prop_map(|(what, chain)| Verdict::not_yet(Because::new(what).caused_by(chain))),
        failure().prop_map(Verdict::blind),
        cause().prop_map(Verdict::failed),
        words().prop_map(|summary| Verdict::ready(
            Evidence::new(summary.as_str()).fact(summary.as_str(), summary.as_str())
        )),
    ]
    .prop_map(|verdict| Wait { verdict })
}

fn call() -> impl Strategy<Value = (Call, CallOutcome)> {
    let outcome = prop_oneof![
        words().prop_map(|id| CallOutcome::Done { made: Made::id("server", id) }),
        failure().prop_map(|error| CallOutcome::Refused { error }),
        failure().prop_map(|error| CallOutcome::InDoubt { error }),
    ];
    (words(), outcome).prop_map(|(name, outcome)| {
        let call = Call::new(CallClass::Once, "create", name.as_str(), name.as_bytes());
        (call, outcome)
    })
}

fn act() -> impl Strategy<Value = Act> {
    let several = (
        prop::collection::vec(failure().prop_map(|error| Retry { error }), 0..3),
        prop::collection::vec(call(), 0..3),
        prop::collection::vec(wait(), 0..4),
        prop::collection::vec(words(), 0..2),
    );
    let rare = (
        prop::option::weighted(0.08, cause()),
        prop::bool::weighted(0.05),
        prop::option::weighted(0.1, (any::<bool>(), words())),
        prop::option::weighted(0.1, words()),
        any::<bool>(),
    );
    (0_u64..100_000_000, words(), several, rare).prop_map(
        |(
            takes_ms,
            summary,
            (retries, calls, waits, warnings),
            (fails, stops, skips, skips_checks, reuses),
        )| Act {
            takes_ms,
            summary,
            retries,
            calls,
            waits,
            warnings,
            fails,
            stops,
            skips,
            skips_checks,
            reuses: reuses.then(|| run_id(0)),
            evidence: None,
        },
    )
}

fn run() -> impl Strategy<Value = Sample> {
    (
        prop::collection::vec(act(), 1..40),
        1_usize..4,
        0_usize..3,
        words(),
        prop::option::of(0_u32..1_000),
    )
        .prop_map(|(acts, control_planes, workers, cluster, speed)| {
            let mut plan = plan(control_planes, workers);
            plan.cluster = cluster;
            plan.simulated_speed = speed;
            let mut next = acts.into_iter().cycle();
            perform(plan, move |_: &Unit| next.next().unwrap())
        })
}

/// Prints a run on both kinds of terminal, and looks at it between the events.
fn watch(sample: &Sample) {
    let screen = Screen { columns: 60, rows: 20 };
    let mut printers: [Box<dyn Printer>; 2] =
        [Box::new(Plain::new(Palette::Plain)), Box::new(Live::new(Palette::Colour, screen))];
    let mut story = Story::default();
    let mut out = Vec::new();
    for event in &sample.events {
        story.apply(event);
        for printer in &mut printers {
            printer.event(&story, event, &mut out).unwrap();
            printer.tick(&story, event.elapsed_ms + 20_000, &mut out).unwrap();
        }
        let lines = frame(&story, event.elapsed_ms, screen, |_| None, Palette::Plain);
        assert!(lines.len() <= 10);
        for line in lines {
            assert!(unicode_width::UnicodeWidthStr::width(line.as_str()) <= 60, "{line}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_legal_run_renders_to_every_format(sample in run()) {
        watch(&sample);
        let folder = tempfile::tempdir().unwrap();
        let story = sample.story();
        for (name, text) in render_all(&story, &sample.store(folder.path())) {
            match name {
                "junit.xml" => drop(roxmltree::Document::parse(&text).unwrap()),
                "trace.json" => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap()),
                "report.json" => {
                    let read: Report = serde_json::from_str(&text).unwrap();
                    prop_assert_eq!(read, Report::of(&story));
                }
                "pr-comment.md" => prop_assert!(text.len() <= 60_000, "{}", text.len()),
                _ => prop_assert!(text.len() < report::html::LIMIT_BYTES),
            }
        }
    }
}
