//! Which events become lines that stay, and what the lines say.

use std::collections::{BTreeMap, BTreeSet};

use events::{CallOutcome, Event, Plan, RunId, StageName, Unit, What};

use super::closing;
use super::columns::{self, Columns};
use super::ink::Ink;
use super::line::Line;
use crate::{MicroEuros, Run, Span, Stage, State, Story, UnitStory, text, words};

/// Turns events into the lines that stay on the screen or in the log.
#[derive(Debug, Default)]
pub(crate) struct Telling {
    retries: BTreeMap<StageName, usize>,
    reuses: BTreeSet<(StageName, String)>,
    told: BTreeSet<StageName>,
}

/// A stage that is tried again on hundreds of nodes says so this often.
const RETRIES: usize = 5;

impl Telling {
    /// Returns the lines for `event`, which `story` has already taken.
    pub(crate) fn lines(&mut self, story: &Story, event: &Event) -> Vec<Line> {
        let columns = Columns::of(story);
        match &event.what {
            What::RunStarted { .. } => {
                story.run().map(|run| opening(story, run)).unwrap_or_default()
            }
            What::AttemptStarted { unit, after: Some(after) } => {
                self.retry(columns, story, unit, event.attempt, &after.to_string())
            }
            What::Result { intent, outcome: CallOutcome::InDoubt { error } } => {
                doubt(columns, story, *intent, &error.to_string())
            }
            What::Settled { intent, call, found } => {
                settled(columns, story, *intent, call, found.is_some())
            }
            What::Probe { unit, check, reused: Some(run), .. } => {
                self.reused(columns, story, unit, check.as_str(), *run)
            }
            What::Warning { .. } => warning(columns, story),
            What::Skipped { unit, check: Some(check), required, reason } => {
                // The closing lines list it.
                if only_looks(story) {
                    return Vec::new();
                }
                let (ink, verb) =
                    if *required { (Ink::Caution, "Not seen") } else { (Ink::Faint, "Skipped") };
                let words = place(unit, &format!("{check}: {reason}"));
                vec![columns.note(ink, verb, &text::line(unit.stage.as_str()), &words)]
            }
            What::Skipped { unit, check: None, .. }
            | What::WillNotRun { unit, .. }
            | What::StageDone { unit, .. } => self.over(columns, story, unit),
            What::RunEnded { .. } => closing::lines(story),
            _ => Vec::new(),
        }
    }

    fn retry(
        &mut self,
        columns: Columns,
        story: &Story,
        unit: &Unit,
        attempt: u32,
        after: &str,
    ) -> Vec<Line> {
        let Some(stage) = story.stage_of(unit) else {
            return Vec::new();
        };
        let told = self.retries.entry(stage.name.clone()).or_default();
        *told += 1;
        let words = match *told {
            ..=RETRIES => place(unit, &format!("try {attempt}, after: {after}")),
            count if count == RETRIES + 1 => "more tries, not shown here".to_owned(),
            _ => return Vec::new(),
        };
        vec![columns.note(Ink::Caution, "Retrying", stage.name.as_str(), &words)]
    }

    /// A result that is taken on every node is told once.
    fn reused(
        &mut self,
        columns: Columns,
        story: &Story,
        unit: &Unit,
        check: &str,
        run: RunId,
    ) -> Vec<Line> {
        let Some(stage) = story.stage_of(unit) else {
            return Vec::new();
        };
        let check = text::line(check);
        if !self.reuses.insert((stage.name.clone(), check.clone())) {
            return Vec::new();
        }
        let words = format!("{check}, as run {run} found it");
        vec![columns.note(Ink::Faint, "Reused", stage.name.as_str(), &words)]
    }

    /// A unit is over: its own failure is told at once, its stage when all are over.
    fn over(&mut self, columns: Columns, story: &Story, unit: &Unit) -> Vec<Line> {
        let (Some(stage), Some(unit)) = (story.stage_of(unit), story.unit(unit)) else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if stage.per_node && matches!(unit.state(), State::Failed | State::Unknown) {
            lines.push(failed_on_node(columns, stage, unit));
        }
        let left_out = stage.state() == State::Skipped && !only_looks(story);
        let ran = stage.span(0).is_some() || left_out;
        if stage.is_over() && ran && self.told.insert(stage.name.clone()) {
            lines.push(stage_over(columns, story, stage));
        }
        lines
    }
}

/// Whether the run only looks at a cluster: what it leaves out is not its task.
fn only_looks(story: &Story) -> bool {
    story.run().is_some_and(|run| words::hears_all(&run.command))
}

fn opening(story: &Story, run: &Run) -> Vec<Line> {
    let rehearsal = words::rehearsal(run).zip(run.simulated_speed);
    let rehearsal = rehearsal.map(|(words, speed)| format!(" ({words}, speed {speed}×)"));
    let title = format!(": {}{}", run.title, rehearsal.unwrap_or_default());
    let mut lines = vec![
        Line::verb(Ink::Busy, gerund(&run.command))
            .and(Ink::Strong, run.cluster.clone())
            .and(Ink::Text, title),
    ];
    if let Some(earlier) = run.resumes {
        lines.push(Line::verb(Ink::Busy, "Resuming").and(Ink::Text, format!("run {earlier}")));
    }
    lines.push(Line::verb(Ink::Busy, "Planned").and(Ink::Text, planned(story, run)));
    lines
}

fn gerund(command: &str) -> &'static str {
    match command {
        "up" => "Bringing up",
        command if Plan::tears_down(command) => "Taking down",
        "rehearse" => "Rehearsing",
        "verify" => "Verifying",
        "upgrade" => "Upgrading",
        "apply" => "Applying",
        "delete" => "Deleting",
        _ => "Running",
    }
}

fn planned(story: &Story, run: &Run) -> String {
    let checks: usize = story.units().map(|unit| unit.checks.len()).sum();
    let mut parts = vec![text::count(story.stages().len(), "stage")];
    if !run.nodes.is_empty() {
        parts.push(text::count(run.nodes.len(), "node"));
    }
    parts.push(text::count(checks, "check"));
    if let Some(cents) = run.monthly_cents {
        let verb = if run.simulated_speed.is_some() { "would cost" } else { "costs" };
        parts.push(format!("{verb} {} a month", MicroEuros::cents(cents)));
    }
    parts.join(", ")
}

fn stage_over(columns: Columns, story: &Story, stage: &Stage) -> Line {
    let (ink, verb) = columns::verb(stage.state());
    let took = stage.took_ms(story.elapsed_ms());
    let words = match stage.state() {
        State::Failed | State::Unknown => failed_words(story, stage, took),
        _ => stage.summary().to_owned(),
    };
    columns.stage(ink, verb, stage, &columns::took(took), &words)
}

/// The cause has a block of its own at the end; the line only says how long it
/// was, unless there are many causes and one block.
fn failed_words(story: &Story, stage: &Stage, took: Option<u64>) -> String {
    let simulated = story.run().and_then(|run| run.simulated_ms(took?));
    let words = if stage.per_node {
        let (failed, unknown) = (stage.count(State::Failed), stage.count(State::Unknown));
        match (failed, unknown) {
            (0, unknown) => format!("{} unknown", text::count(unknown, "node")),
            (failed, 0) => format!("{} failed", text::count(failed, "node")),
            (failed, unknown) => {
                format!("{} failed, {unknown} unknown", text::count(failed, "node"))
            }
        }
    } else if only_looks(story) {
        stage.summary().to_owned()
    } else {
        String::new()
    };
    let simulated = simulated.map(|ms| format!("{} simulated", Span(ms)));
    let aside: Vec<_> = simulated.into_iter().chain(spared(story, stage)).collect();
    match (words.is_empty(), aside.is_empty()) {
        (_, true) => words,
        (true, false) => format!("({})", aside.join("; ")),
        (false, false) => format!("{words} ({})", aside.join("; ")),
    }
}

/// `not waiting for the 10m deadline: this does not heal by itself`
fn spared(story: &Story, stage: &Stage) -> Option<String> {
    let run = story.run().filter(|run| !words::hears_all(&run.command))?;
    let deadline = stage.units.iter().find_map(UnitStory::spared_ms)?;
    let deadline = Span(run.simulated_ms(deadline).unwrap_or(deadline)).roughly();
    let deadline = deadline.strip_suffix("m0s").map_or(deadline.clone(), |it| format!("{it}m"));
    Some(format!("not waiting for the {deadline} deadline: this does not heal by itself"))
}

fn failed_on_node(columns: Columns, stage: &Stage, unit: &UnitStory) -> Line {
    let words = place(&unit.unit, unit.summary());
    let took = unit.ended.and_then(|ended| unit.took_ms(ended.at_ms));
    let (ink, verb) = columns::verb(unit.state());
    columns.stage(ink, verb, stage, &columns::took(took), &words)
}

fn doubt(columns: Columns, story: &Story, intent: events::Seq, error: &str) -> Vec<Line> {
    let Some((unit, call)) = story.call(intent) else {
        return Vec::new();
    };
    let words = place(&unit.unit, &format!("{}: {}", call.call, text::line(error)));
    vec![columns.note(Ink::Caution, "In doubt", unit.unit.stage.as_str(), &words)]
}

fn settled(
    columns: Columns,
    story: &Story,
    intent: events::IntentRef,
    call: &str,
    is_there: bool,
) -> Vec<Line> {
    let own = story.run().is_some_and(|run| run.id == intent.run);
    if let Some((unit, call)) = story.call(intent.seq).filter(|_| own) {
        let found = call.settled.as_deref().unwrap_or_default();
        let words = place(&unit.unit, &format!("{}: {found}", call.call));
        return vec![columns.note(Ink::Good, "Settled", unit.unit.stage.as_str(), &words)];
    }
    let call = if call.is_empty() { format!("call {intent}") } else { text::line(call) };
    let found = if is_there { "it arrived" } else { "it never arrived" };
    let words = format!("{call}, left in doubt by an earlier run: {found}");
    vec![Line::verb(Ink::Good, "Settled").and(Ink::Text, words)]
}

fn warning(columns: Columns, story: &Story) -> Vec<Line> {
    let Some(warning) = story.warnings().last() else {
        return Vec::new();
    };
    vec![match &warning.unit {
        Some(unit) => columns.note(
            Ink::Caution,
            "Warning",
            unit.stage.as_str(),
            &place(unit, &warning.message),
        ),
        None => Line::verb(Ink::Caution, "Warning").and(Ink::Text, warning.message.clone()),
    }]
}

/// `demo-worker-2: words`
pub(crate) fn place(unit: &Unit, words: &str) -> String {
    let words = text::line(words);
    match &unit.node {
        Some(node) => format!("{}: {words}", text::line(node.as_str())),
        None => words,
    }
}
