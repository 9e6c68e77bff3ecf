//! What `apply` shows.

use std::io::{self, Write as _};
use std::time::Duration;

use objects::set::{End, Outcome, Pruned, Report, Step, StepError};
use objects::{Change, ObjectId, Trouble};
use report::terminal::{Palette, say};
use serde_json::{Value, json};

use crate::cli::Output;
use crate::commands::palette;
use crate::ui::Ui;

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
            Outcome::Left { because } => ("Left", format!("{}: {because}", step.id), Vec::new()),
        };
        let is_problem = !matches!(step.outcome, Outcome::There(_));
        let warnings = warnings.iter().map(|warning| format!("{}: {warning}", step.id)).collect();
        Self { verb, words, warnings, is_problem }
    }
}

/// The errors of the API name their object themselves.
fn told(id: &ObjectId, error: &StepError) -> String {
    match error {
        StepError::Api(error) => error.to_string(),
        other => format!("{id}: {other}"),
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
        if self.ui.output() == Output::Json {
            return Ok(());
        }
        if line.is_problem {
            say(self.palette, line.verb, &line.words, &mut self.ui.stderr())?;
        } else if line.verb != "Unchanged" {
            say(self.palette, line.verb, &line.words, &mut self.ui.stdout())?;
        }
        for warning in &line.warnings {
            say(self.palette, "Warning", warning, &mut self.ui.stderr())?;
        }
        Ok(())
    }

    /// Shows what was pruned, and the sum.
    pub(super) fn end(self, report: &Report, elapsed: Duration) -> io::Result<()> {
        for pruned in &report.pruned {
            let (verb, words) = end(pruned);
            let problem = pruned.is_failure();
            let out: &mut dyn io::Write =
                if problem { &mut self.ui.stderr() } else { &mut self.ui.stdout() };
            say(self.palette, verb, &words, out)?;
        }
        if let Some(why) = report.not_pruned {
            say(self.palette, "Not pruned", why, &mut self.ui.stderr())?;
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
        (deleted, "pruned"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{count} {word}")).collect();
    let count = report.steps.len();
    let objects = if count == 1 { "object" } else { "objects" };
    format!("{count} {objects}: {}", parts.join(", "))
}

fn end(pruned: &Pruned) -> (&'static str, String) {
    let id = &pruned.id;
    match &pruned.end {
        End::Deleted => ("Pruned", id.to_string()),
        End::Detached { because } => ("Detached", format!("{id}: {because}")),
        End::Kept { because } => ("Kept", format!("{id}: {because}")),
        End::Failed(error) => ("Failed", error.to_string()),
    }
}

/// The report for machines.
pub(super) fn record(report: &Report, dry_run: bool) -> Value {
    let objects: Vec<Value> = report.steps.iter().map(object).collect();
    let pruned: Vec<Value> = report.pruned.iter().map(ended).collect();
    json!({ "dryRun": dry_run, "whole": report.is_whole(), "objects": objects, "pruned": pruned,
        "notPruned": report.not_pruned })
}

fn identity(id: &ObjectId) -> Value {
    json!({ "apiVersion": id.kind.api_version(), "kind": id.kind.kind,
        "namespace": id.namespace, "name": id.name })
}

fn object(step: &Step) -> Value {
    let mut record = identity(&step.id);
    match &step.outcome {
        Outcome::There(there) => {
            record["result"] = there.change.word().into();
            record["uid"] = there.version.as_ref().map(|version| version.uid.clone()).into();
            let version = there.version.as_ref().map(|version| version.resource_version.clone());
            record["resourceVersion"] = version.into();
            record["warnings"] = there.warnings.clone().into();
        }
        Outcome::Failed(error) => {
            record["result"] = "failed".into();
            record["because"] = error.to_string().into();
            record["conflicts"] = conflicts(error);
        }
        Outcome::Left { because } => {
            record["result"] = "left".into();
            record["because"] = because.clone().into();
        }
    }
    record
}

fn conflicts(error: &StepError) -> Value {
    let StepError::Api(error) = error else { return json!([]) };
    let Trouble::Ownership(fields) = error.trouble() else { return json!([]) };
    let fields = fields.iter();
    fields.map(|field| json!({ "manager": field.manager, "path": field.path })).collect()
}

fn ended(pruned: &Pruned) -> Value {
    let mut record = identity(&pruned.id);
    let (result, because) = match &pruned.end {
        End::Deleted => ("pruned", None),
        End::Detached { because } => ("detached", Some(because.clone())),
        End::Kept { because } => ("kept", Some(because.clone())),
        End::Failed(error) => ("failed", Some(error.to_string())),
    };
    record["result"] = result.into();
    record["because"] = because.into();
    record
}
