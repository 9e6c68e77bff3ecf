//! The sections of the pages, in the order of their worth.

use events::CallOutcome;

use super::escape::{fenced, inline};
use super::page::Page;
use crate::terminal::explain;
use crate::text::clip;
use crate::{CallMade, Check, Run, Span, Stage, Story, UnitStory, words};

const CHECKS: &str = "| unit | check | state | last word |\n| --- | --- | --- | --- |\n";
const CALLS: &str = "| at | unit | call | answer |\n| --: | --- | --- | --- |\n";
const STAGES: &str = "| stage | state | nodes | took | |\n| --- | --- | --: | --: | --- |\n";

/// Verdict, first cause, stages, and what people should know.
pub(super) fn overview(page: &mut Page, story: &Story) {
    let Some(run) = story.run() else {
        return page.line("# Nothing was recorded");
    };
    let word = capital(story.outcome().word());
    let rehearsal = words::rehearsal(run).map(|words| format!(" ({words})"));
    let (cluster, rehearsal) = (clip(&run.cluster, 100), rehearsal.unwrap_or_default());
    page.line(&format!("# {word}: {}{rehearsal}\n", inline(&cluster)));
    if let Some(limits) = words::rehearsal_limits(run) {
        page.line(&format!("> {}\n", inline(&clip(&limits, 500))));
    }
    cause(page, story, run);
    page.line(&summary(story, run));
    page.section("Missing for the proof", "", &bullets(story.missing().iter().cloned()));
    let stages: Vec<_> = story.stages().iter().map(|stage| stage_row(story, stage)).collect();
    page.section("Stages", STAGES, &stages);
    page.section("Also", "", &bullets(also(story)));
    page.section("Failed attempts", "", &bullets(retries(story)));
    page.section("Warnings", "", &bullets(warnings(story)));
}

/// What every check saw.
pub(super) fn checks(page: &mut Page, story: &Story) {
    let rows: Vec<_> = story
        .units()
        .flat_map(|unit| unit.checks.iter().map(move |check| check_row(unit, check)))
        .collect();
    page.section("Checks", CHECKS, &rows);
}

/// Every mutating call.
pub(super) fn calls(page: &mut Page, story: &Story) {
    let rows: Vec<_> = story
        .units()
        .flat_map(|unit| unit.calls.iter().map(move |call| (unit, call)))
        .map(|(unit, call)| {
            let at = Span(call.moment.at_ms);
            format!(
                "| {at} | {} | {} | {} |",
                told(&unit.unit),
                told(&call.call),
                inline(&answer(call))
            )
        })
        .collect();
    page.section("Calls", CALLS, &rows);
}

fn answer(call: &CallMade) -> String {
    match call.result.as_ref().map(|(_, outcome)| outcome) {
        None => "no answer".to_owned(),
        Some(CallOutcome::Done { .. }) => "done".to_owned(),
        Some(CallOutcome::Refused { error }) => format!("refused: {error}"),
        Some(CallOutcome::InDoubt { error }) => format!("in doubt: {error}"),
    }
}

fn cause(page: &mut Page, story: &Story, run: &Run) {
    let Some(first) = story.first_cause() else {
        return;
    };
    page.line(&format!("**{}**\n", inline(&clip(&first.cause.to_string(), 500))));
    page.line(&fenced(&explain(story)));
    page.line(&format!("\n{}.\n", capital(&clip(&words::remains(run), 500))));
}

fn summary(story: &Story, run: &Run) -> String {
    let mut parts = vec![
        format!(
            "`seaworthy` {} of {}",
            inline(&clip(&run.command, 50)),
            inline(&clip(&run.title, 300))
        ),
        format!("took {}", words::duration(story)),
    ];
    parts.extend(words::cost(story));
    parts.push(format!("run `{}`", run.id));
    parts.push(format!("started {}", run.started.strftime("%Y-%m-%d %H:%M:%S UTC")));
    format!("{}.", parts.join(", "))
}

fn stage_row(story: &Story, stage: &Stage) -> String {
    let took = stage.took_ms(story.elapsed_ms());
    format!(
        "| {} | {} | {} | {} | {} |",
        told(&stage.name),
        stage.state().word(),
        stage.share(),
        took.map(|ms| Span(ms).to_string()).unwrap_or_default(),
        inline(stage.summary()),
    )
}

fn check_row(unit: &UnitStory, check: &Check) -> String {
    let word = match (&check.skipped, check.last()) {
        (Some(reason), _) => reason.clone(),
        (None, last) => last.map(ToString::to_string).unwrap_or_default(),
    };
    let simulated = check.evidence().is_some_and(|evidence| evidence.simulated);
    let note = if simulated { " (simulated)" } else { "" };
    let state = check.state().word();
    format!("| {} | {} | {state} | {}{note} |", told(&unit.unit), told(&check.name), inline(&word))
}

fn also(story: &Story) -> impl Iterator<Item = String> {
    story.also().into_iter().map(|also| also.line())
}

fn retries(story: &Story) -> impl Iterator<Item = String> {
    story.units().flat_map(|unit| {
        let line = |(number, failure)| format!("{}, try {number}: {failure}", unit.unit);
        unit.failed_attempts().map(line)
    })
}

fn warnings(story: &Story) -> impl Iterator<Item = String> {
    story.warnings().iter().map(|warning| match &warning.unit {
        Some(unit) => format!("{unit}: {}", warning.message),
        None => warning.message.clone(),
    })
}

fn bullets(lines: impl Iterator<Item = String>) -> Vec<String> {
    lines.map(|line| format!("- {}", inline(&line))).collect()
}

fn told(name: &impl ToString) -> String {
    inline(&name.to_string())
}

fn capital(words: &str) -> String {
    let mut symbols = words.chars();
    let first = symbols.next().map(|symbol| symbol.to_uppercase().to_string());
    first.unwrap_or_default() + symbols.as_str()
}
