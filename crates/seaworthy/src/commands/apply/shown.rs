//! What `apply` shows.

use std::io::{self, Write as _};
use std::time::Duration;

use objects::set::{End, Outcome, Pruned, Report, Step, StepError};
use objects::{Change, ObjectId};
use report::terminal::{Palette, say};

use crate::advice;
use crate::board;
use crate::cli::Output;
use crate::commands::palette;
use crate::ui::Ui;
use crate::waiting::Interrupted;

/// The verb for what an interruption has kept from its turn.
const NO_TURN: &str = "Not applied";

/// The verb for what was left because of others.
const LEFT: &str = "Left";

/// So many of those are named.
const NAMED: usize = 3;

/// Shows objects when their turn is over, and the sum at the end.
pub(super) struct Printer<'a> {
    ui: &'a Ui,
    palette: Palette,
    dry_run: bool,
}

/// What is shown of an object.
pub(super) struct Line {
    verb: &'static str,
    words: String,
    warnings: Vec<String>,
    is_problem: bool,
}

impl Line {
    pub(super) fn of(step: &Step) -> Self {
        let (verb, words, warnings) = match &step.outcome {
            Outcome::There(there) => {
                let verb = match there.change {
                    Change::Created => "Created",
                    Change::Configured => "Configured",
                    Change::Unchanged => "Unchanged",
                };
                let taken =
                    if there.repaired { ", fields of a client-side apply taken over" } else { "" };
                (verb, format!("{}{taken}", step.id), there.warnings.clone())
            }
            Outcome::Failed(error) => ("Failed", told(&step.id, error), Vec::new()),
            Outcome::Left { because } => (LEFT, format!("{}: {because}", step.id), Vec::new()),
            Outcome::NoTurn => (NO_TURN, step.id.to_string(), Vec::new()),
        };
        let is_problem = !matches!(step.outcome, Outcome::There(_));
        let warnings = warnings.iter().map(|warning| format!("{}: {warning}", step.id)).collect();
        Self { verb, words, warnings, is_problem }
    }
}

/// The errors of the API name their object themselves.
pub(crate) fn told(id: &ObjectId, error: &StepError) -> String {
    match error {
        StepError::Api(_) => advice::of_step(error),
        _ => format!("{id}: {}", advice::of_step(error)),
    }
}

impl<'a> Printer<'a> {
    pub(super) fn new(ui: &'a Ui, dry_run: bool) -> Self {
        Self { ui, palette: palette(ui), dry_run }
    }

    pub(super) fn dry_run(&self) -> bool {
        self.dry_run
    }

    /// What was changed is data; the rest is for people.
    pub(super) fn line(&mut self, line: &Line) -> io::Result<()> {
        // What had no turn or was left may be a thousand objects, and hide the one
        // that they were left for: it is told as one at the end.
        if self.ui.output() == Output::Json || [NO_TURN, LEFT].contains(&line.verb) {
            return Ok(());
        }
        if line.is_problem {
            say(self.palette, line.verb, &line.words, &mut self.ui.stderr())?;
        } else if line.verb != "Unchanged" {
            say(self.palette, self.verb(line.verb), &line.words, &mut self.ui.stdout())?;
        }
        for warning in &line.warnings {
            say(self.palette, "Warning", warning, &mut self.ui.stderr())?;
        }
        Ok(())
    }

    /// Nothing is done by a dry run, and nothing must sound as if it were.
    fn verb(&self, done: &'static str) -> &'static str {
        match done {
            "Created" if self.dry_run => "Would create",
            "Configured" if self.dry_run => "Would change",
            "Pruned" if self.dry_run => "Would prune",
            "Detached" if self.dry_run => "Would detach",
            done => done,
        }
    }

    /// Shows what was pruned, and the sum.
    pub(super) fn end(&mut self, report: &Report, elapsed: Duration) -> io::Result<()> {
        if self.ui.output() == Output::Json {
            return Ok(());
        }
        for pruned in &report.pruned {
            let (verb, words) = end(pruned);
            let problem = pruned.is_failure();
            let out: &mut dyn io::Write =
                if problem { &mut self.ui.stderr() } else { &mut self.ui.stdout() };
            say(self.palette, self.verb(verb), &words, out)?;
        }
        if let Some(why) = report.not_pruned {
            say(self.palette, "Not pruned", why, &mut self.ui.stderr())?;
        }
        for words in left(report) {
            say(self.palette, LEFT, &words, &mut self.ui.stderr())?;
        }
        if let Some(words) = no_turn(report) {
            say(self.palette, NO_TURN, &words, &mut self.ui.stderr())?;
        }
        let verb = match (report.is_whole(), self.dry_run) {
            (true, true) => "Would apply",
            (true, false) => "Applied",
            (false, _) => "Not whole",
        };
        let seconds = elapsed.as_secs_f64();
        let words = format!("{} in {seconds:.1}s", sum(report));
        let mut out = self.ui.stderr();
        say(self.palette, verb, &words, &mut out)?;
        out.flush()
    }

    /// Says what an interrupted wait for what was applied means for it.
    pub(super) fn interrupted(&self, report: &Report, wait: &Interrupted) -> io::Result<()> {
        let count = objects(report.steps.len());
        let words = format!("{}; {count} applied before", wait.words);
        say(self.palette, "Interrupted", &words, &mut self.ui.stderr())
    }
}

/// Names what was left, together where it was for the same reason.
fn left(report: &Report) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<ObjectId>)> = Vec::new();
    for step in &report.steps {
        let Outcome::Left { because } = &step.outcome else { continue };
        match reasons.iter_mut().find(|(reason, _)| reason == because) {
            Some((_, ids)) => ids.push(step.id.clone()),
            None => reasons.push((because, vec![step.id.clone()])),
        }
    }
    let words = |(because, ids): (&str, Vec<ObjectId>)| match &ids[..] {
        [one] => format!("{one}: {because}"),
        many => format!("{}: {because}", names(many)),
    };
    reasons.into_iter().map(words).collect()
}

/// Names what an interruption has kept from its turn.
fn no_turn(report: &Report) -> Option<String> {
    let left = report.steps.iter().filter(|step| matches!(step.outcome, Outcome::NoTurn));
    let left: Vec<ObjectId> = left.map(|step| step.id.clone()).collect();
    (!left.is_empty()).then(|| names(&left))
}

/// Counts objects, and names them as far as there is room.
pub(super) fn names(ids: &[ObjectId]) -> String {
    let more = ids.len().saturating_sub(NAMED);
    let first: Vec<String> = ids.iter().take(NAMED).map(ToString::to_string).collect();
    let first = format!("{}: {}", objects(ids.len()), first.join(", "));
    if more == 0 { first } else { format!("{first} and {more} more") }
}

/// Counts objects.
pub(crate) fn objects(count: usize) -> String {
    board::count(count, "object")
}

fn sum(report: &Report) -> String {
    let count = |wanted: fn(&Outcome) -> bool| {
        report.steps.iter().filter(|step| wanted(&step.outcome)).count()
    };
    let deleted = report.pruned.iter().filter(|one| matches!(one.end, End::Deleted)).count();
    let parts = [
        (report.count(Change::Created), "created"),
        (report.count(Change::Configured), "configured"),
        (report.count(Change::Unchanged), "unchanged"),
        (count(|outcome| matches!(outcome, Outcome::Failed(_))), "failed"),
        (count(|outcome| matches!(outcome, Outcome::Left { .. })), "left"),
        (count(|outcome| matches!(outcome, Outcome::NoTurn)), "not applied"),
        (deleted, "pruned"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    format!("{}: {}", objects(report.steps.len()), parts.join(", "))
}

fn end(pruned: &Pruned) -> (&'static str, String) {
    let id = &pruned.id;
    match &pruned.end {
        End::Deleted => ("Pruned", id.to_string()),
        End::Detached { because } => ("Detached", format!("{id}: {because}")),
        End::Kept { because } => ("Kept", format!("{id}: {because}")),
        End::Stuck { because } => ("Stuck", format!("{id}: {because}")),
        End::Failed(error) => ("Failed", advice::of_api(error)),
    }
}
