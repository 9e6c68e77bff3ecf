//! The files of a run, as whoever opens them sees them.

use report::document::Report;
use report::{Story, annotations, json, junit, markdown, timeline, trace};
use serde_json::Value;

use crate::samples::{self, Sample};

fn told() -> [(&'static str, Sample); 6] {
    [
        ("proven", samples::proven()),
        ("failed", samples::failed()),
        ("interrupted", samples::interrupted()),
        ("died", samples::died()),
        ("not_proven", samples::not_proven()),
        ("late", samples::late()),
    ]
}

#[test]
fn markdown_says_the_verdict_and_the_cause_first() {
    for (name, sample) in told() {
        let story = sample.story();
        insta::assert_snapshot!(format!("report_{name}"), markdown::report(&story));
    }
    let comment = markdown::pr_comment(&samples::failed().story());
    insta::assert_snapshot!("pr_comment", comment);
}

#[test]
fn junit_counts_each_check_once() {
    for (name, sample) in told() {
        insta::assert_snapshot!(format!("junit_{name}"), junit(&sample.story()));
    }
    let text = junit(&samples::failed().story());
    let document = roxmltree::Document::parse(&text).unwrap();
    let count = |tag: &str| document.descendants().filter(|node| node.has_tag_name(tag)).count();
    let root = document.root_element();
    assert_eq!(root.attribute("tests"), Some(count("testcase").to_string().as_str()));
    assert_eq!((count("failure"), count("error")), (1, 0));
    let late = junit(&samples::late().story());
    assert_eq!(late.matches("<flakyFailure").count(), 2, "two tries failed before one passed");
}

#[test]
fn timelines() {
    for (name, sample) in [("failed", samples::failed()), ("late", samples::late())] {
        insta::assert_snapshot!(format!("timeline_{name}"), timeline(&sample.story()));
    }
}

#[test]
fn annotations_say_the_most_causal_first_and_no_more_than_are_shown() {
    for (name, sample) in told() {
        insta::assert_snapshot!(format!("annotations_{name}"), annotations(&sample.story()));
    }
    let many = samples::perform(samples::plan(1, 20), |unit| samples::Act {
        takes_ms: 100,
        fails: (unit.stage.as_str() == "nodes").then(samples::lb_cause),
        ..samples::Act::default()
    });
    let text = annotations(&many.story());
    assert_eq!(text.matches("::error ").count(), 10);
    assert!(text.contains("::error title=more::12 more, in the report\n"), "{text}");
}

#[test]
fn the_document_has_a_schema_and_survives_its_text() {
    for (_, sample) in told() {
        let story = sample.story();
        let text = json(&story);
        let read: Report = serde_json::from_str(&text).unwrap();
        assert_eq!(read, Report::of(&story));
        assert_eq!(read.schema, "seaworthy.dev/report/v1");
    }
    insta::assert_snapshot!("document_failed", json(&samples::failed().story()));
}

#[test]
fn slices_of_the_trace_nest_on_their_tracks() {
    let text = trace(&samples::late().story());
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut slices: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] == "X")
        .map(|event| {
            let number = |field: &str| event[field].as_u64().unwrap();
            let from = number("ts");
            ((number("pid"), number("tid")), from, from + number("dur"))
        })
        .collect();
    assert!(slices.len() > 40, "{}", slices.len());
    slices.sort_by_key(|(track, from, to)| (*track, *from, u64::MAX - to));
    for pair in slices.windows(2) {
        let ((one, _, outer), (other, from, inner)) = (pair[0], pair[1]);
        assert!(one != other || from >= outer || inner <= outer, "{pair:?}");
    }
    let begun = events.iter().filter(|event| event["ph"] == "b").count();
    let ended = events.iter().filter(|event| event["ph"] == "e").count();
    assert_eq!(begun, ended);
}

#[test]
fn hostile_words_do_no_harm_in_any_text() {
    let story = samples::hostile().story();
    let xml = junit(&story);
    roxmltree::Document::parse(&xml).unwrap();
    let pages =
        [markdown::report(&story), markdown::step_summary(&story), markdown::pr_comment(&story)];
    for page in &pages {
        let outside = without_fences(page);
        assert!(!outside.contains("<script") && !outside.contains("<img"), "markup got through");
        assert!(!outside.contains("@everyone"), "somebody would be called");
    }
    for command in annotations(&story).lines() {
        assert!(
            command.starts_with("::error ")
                || command.starts_with("::warning ")
                || command.starts_with("::notice "),
            "{command}"
        );
    }
    for text in [&pages[0], &xml, &timeline(&story), &annotations(&story), &trace(&story)] {
        let harmful = |symbol: char| {
            (symbol.is_control() && symbol != '\n')
                || matches!(symbol, '\u{2028}' | '\u{202e}' | '\u{fffe}')
        };
        assert_eq!(text.chars().find(|symbol| harmful(*symbol)), None);
    }
    serde_json::from_str::<Value>(&trace(&story)).unwrap();
}

fn without_fences(page: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut outside = String::new();
    for line in page.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line.trim_end_matches("text")),
            None => outside.extend([line, "\n"]),
        }
    }
    outside
}

#[test]
fn pages_keep_to_the_limits_of_github() {
    let plan = samples::plan_of_everything(500);
    let sample = samples::perform(plan, |unit| samples::Act {
        takes_ms: 100,
        warnings: vec![samples::HOSTILE.repeat(20)],
        fails: (unit.stage.as_str() == "etcd").then(samples::lb_cause),
        ..samples::Act::default()
    });
    let story = sample.story();
    let comment = markdown::pr_comment(&story);
    assert!(comment.len() <= 60_000, "{}", comment.len());
    assert!(comment.contains("Left out for size: "), "it says what is missing");
    assert!(markdown::step_summary(&story).len() <= 1 << 20);
    assert!(markdown::report(&story).len() <= 512 * 1024);
    let folder = tempfile::tempdir().unwrap();
    let html = report::html::html(&story, &sample.store(folder.path()));
    assert!(html.len() < report::html::LIMIT_BYTES, "{}", html.len());
}

#[test]
fn a_cluster_of_any_size_stays_under_the_budget() {
    let start = samples::first_event(samples::plan_of_everything(5_000));
    let story = Story::of([&start]);
    let folder = tempfile::tempdir().unwrap();
    let nothing = Sample::default().store(folder.path());
    let html = report::html::html(&story, &nothing);
    assert!(html.len() < report::html::LIMIT_BYTES, "{}", html.len());
    assert!(html.contains("all but 200 units of a stage"), "it says what is missing");
}

#[test]
fn a_journal_without_events_is_told_too() {
    let story = Story::default();
    assert!(markdown::report(&story).contains("Nothing was recorded"));
    roxmltree::Document::parse(&junit(&story)).unwrap();
    assert_eq!(annotations(&story), "");
}
