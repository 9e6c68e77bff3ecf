//! `junit.xml`: a suite per stage, a case per check of each unit.
//!
//! The set of cases is that of the plan, whatever happened, so that a history
//! of runs lines up. A unit that failed before its checks looked is an `error`
//! of its first check; tries that failed before one passed are `flakyFailure`s,
//! as Jenkins and Surefire know them.

mod case;
mod xml;

use case::{Case, Verdict};
use xml::Element;

use crate::{Stage, Story};

/// Returns `junit.xml`.
pub fn junit(story: &Story) -> String {
    let suites: Vec<_> = story.stages().iter().map(|stage| Suite::of(story, stage)).collect();
    let cases = || suites.iter().flat_map(|suite| &suite.cases);
    let name = story
        .run()
        .map_or("seaworthy".to_owned(), |run| format!("seaworthy {} {}", run.command, run.cluster));
    let mut root = counted(Element::new("testsuites").with("name", &name), cases())
        .with("time", &seconds(story.elapsed_ms()));
    if let Some(run) = story.run() {
        root = root.with("timestamp", &run.started.to_string());
    }
    for suite in &suites {
        root = root.child(suite.element(story));
    }
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", root.render(0))
}

struct Suite<'a> {
    stage: &'a Stage,
    cases: Vec<Case>,
}

impl<'a> Suite<'a> {
    fn of(story: &Story, stage: &'a Stage) -> Self {
        let cluster = story.run().map_or("", |run| &run.cluster);
        let class = format!("{cluster}.{}", stage.name);
        let units = stage.units.iter();
        let cases = units.flat_map(|unit| Case::of_unit(&class, unit, story.elapsed_ms()));
        Self { stage, cases: cases.collect() }
    }

    fn element(&self, story: &Story) -> Element {
        let took = self.stage.took_ms(story.elapsed_ms()).unwrap_or(0);
        let suite = Element::new("testsuite").with("name", self.stage.name.as_str());
        let mut suite = counted(suite, self.cases.iter()).with("time", &seconds(took));
        if let Some(cost) = story.cost() {
            let property =
                Element::new("property").with("name", "run.cost").with("value", &cost.to_string());
            suite = suite.child(Element::new("properties").child(property));
        }
        for case in &self.cases {
            suite = suite.child(case.element());
        }
        suite
    }
}

fn counted<'a>(element: Element, cases: impl Iterator<Item = &'a Case>) -> Element {
    let mut counts = [0_usize; 4];
    for case in cases {
        counts[0] += 1;
        match case.verdict {
            Verdict::Passed => {}
            Verdict::Failed(_) => counts[1] += 1,
            Verdict::Error(_) => counts[2] += 1,
            Verdict::Skipped(_) => counts[3] += 1,
        }
    }
    let names = ["tests", "failures", "errors", "skipped"];
    names
        .iter()
        .zip(counts)
        .fold(element, |element, (name, count)| element.with(name, &count.to_string()))
}

/// The format counts in seconds.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}
