//! What `drift` shows.

use std::io;
use std::time::Duration;

use objects::ObjectId;
use objects::diff::Drift;
use objects::set::{Compared, Finding, StepError};
use report::terminal::say;
use serde_json::{Value, json};

use crate::advice;
use crate::board;
use crate::commands::apply::{conflicts, objects, told};
use crate::commands::palette;
use crate::envelope::object;
use crate::exit::Exit;
use crate::paint::paint;
use crate::ui::Ui;

/// What was found of all objects.
#[derive(Debug, Default)]
pub(super) struct Found {
    all: usize,
    drifts: Vec<Drift>,
    /// Members with fields that others have set since. Without the manifests
    /// nobody can tell whether those were ever ours: a controller that fills in
    /// what nobody wished for writes just like somebody who takes a field away.
    touched: Vec<Drift>,
    /// Objects that differ because the manifests are newer, and how many of
    /// their fields do.
    pending: Vec<(ObjectId, usize)>,
    /// Objects that others have made, and how many of their fields are not as
    /// wished: we never applied them, or somebody has made them anew since.
    not_ours: Vec<(ObjectId, usize)>,
    /// Objects that are not there: nobody can tell whether they ever were.
    gone: Vec<ObjectId>,
    pub(super) failed: Vec<(ObjectId, StepError)>,
}

impl Found {
    pub(super) fn of_set(compared: Vec<Compared<Drift>>) -> Self {
        let mut found = Self { all: compared.len(), ..Self::default() };
        for Compared { id, finding, .. } in compared {
            match finding {
                Finding::Same => {}
                Finding::Told { answer, .. } if !answer.applied => {
                    found.not_ours.push((id, answer.drifted.len() + answer.pending.len()));
                }
                Finding::Told { answer, .. } => {
                    if !answer.pending.is_empty() {
                        found.pending.push((id, answer.pending.len()));
                    }
                    found.drifts.extend(Some(answer).filter(|drift| !drift.is_empty()));
                }
                Finding::Absent | Finding::Unchecked { .. } => found.gone.push(id),
                Finding::Failed(error) => found.failed.push((id, error)),
            }
        }
        found
    }

    pub(super) fn of_members(all: usize, drifts: Vec<Drift>) -> Self {
        Self { all, touched: drifts, ..Self::default() }
    }

    /// Returns whether others have changed anything of ours.
    fn has_drifted(&self) -> bool {
        !(self.drifts.is_empty() && self.gone.is_empty())
    }

    /// Returns how it ends. That something is not ours is no drift, but nobody
    /// may take it for what was applied.
    pub(super) fn exit(&self) -> Exit {
        match (self.failed.len(), self.has_drifted() || !self.not_ours.is_empty()) {
            (1.., _) => Exit::Refused,
            (0, true) => Exit::Different,
            (0, false) => Exit::Done,
        }
    }

    /// Shows drift as data, and the rest to people.
    pub(super) fn print(&self, elapsed: Duration, ui: &Ui) -> io::Result<()> {
        for drift in self.drifts.iter().chain(&self.touched) {
            paint(&drift.to_string(), &mut ui.stdout())?;
        }
        for id in &self.gone {
            let why = "not there: never applied, or deleted since";
            paint(&format!("- {id}\n      {why}\n"), &mut ui.stdout())?;
        }
        for (id, fields) in &self.not_ours {
            let fields = match fields {
                0 => String::new(),
                fields => format!("; {} not as in the manifests", board::count(*fields, "field")),
            };
            let why =
                "none of its fields is ours: others have made it, or changed all that we applied";
            paint(&format!("? {id}\n      {why}{fields}\n"), &mut ui.stdout())?;
        }
        for (id, error) in &self.failed {
            say(palette(ui), "Failed", &told(id, error), &mut ui.stderr())?;
        }
        if !self.pending.is_empty() {
            let fields: usize = self.pending.iter().map(|(_, fields)| fields).sum();
            let (differ, them) =
                if fields == 1 { ("field differs", "it") } else { ("fields differ", "them") };
            let words = format!(
                "{}: {fields} {differ} because the manifests changed; `seaworthy diff` shows {them}",
                objects(self.pending.len())
            );
            say(palette(ui), "Not applied", &words, &mut ui.stderr())?;
        }
        if !self.touched.is_empty() {
            let words = "whether what others have set since was ours; `-f` tells it";
            say(palette(ui), "Not known", words, &mut ui.stderr())?;
        }
        let verb = match self.exit() {
            Exit::Refused => "Not whole",
            Exit::Different if self.has_drifted() => "Drifted",
            Exit::Different => "Not ours",
            _ if self.touched.is_empty() => "No drift",
            _ => "No verdict",
        };
        if !self.not_ours.is_empty() {
            let next =
                "`seaworthy apply` makes them ours, `seaworthy diff` shows what that changes";
            say(
                palette(ui),
                "Not applied",
                &format!("{}: {next}", objects(self.not_ours.len())),
                &mut ui.stderr(),
            )?;
        }
        let words = format!("{} in {:.1}s", self.words(), elapsed.as_secs_f64());
        say(palette(ui), verb, &words, &mut ui.stderr())
    }

    fn words(&self) -> String {
        let parts = [
            (self.drifts.len(), "changed by others"),
            (self.touched.len(), "set by others"),
            (self.gone.len(), "not there"),
            (self.not_ours.len(), "without a field of ours"),
            (self.failed.len(), "failed"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", objects(self.all), parts.join(", "))
    }

    /// The drift for machines. Objects of which there is nothing to tell are
    /// only counted.
    pub(super) fn records(&self) -> Vec<Value> {
        let drifts = self.drifts.iter().map(|drift| {
            let mut record = object(&drift.id, "drifted");
            record["drifted"] = json!(drift.drifted);
            record["pending"] = json!(drift.pending);
            record
        });
        let touched = self.touched.iter().map(|drift| {
            let mut record = object(&drift.id, "set by others");
            record["setByOthers"] = json!(drift.drifted);
            record
        });
        let gone = self.gone.iter().map(|id| object(id, "gone"));
        let not_ours = self.not_ours.iter().map(|(id, fields)| {
            let mut record = object(id, "not ours");
            record["fields"] = (*fields).into();
            record
        });
        let has_drifted = |id: &ObjectId| self.drifts.iter().any(|drift| drift.id == *id);
        let pending = self.pending.iter().filter(|(id, _)| !has_drifted(id));
        let pending = pending.map(|(id, _)| object(id, "not applied"));
        let failed = self.failed.iter().map(|(id, error)| {
            let mut record = object(id, "failed");
            record["because"] = advice::of_step(error).into();
            record["conflicts"] = conflicts(error);
            record
        });
        drifts.chain(touched).chain(gone).chain(not_ours).chain(pending).chain(failed).collect()
    }

    /// What machines are told besides.
    pub(super) fn more(&self) -> Value {
        json!({ "drifted": self.has_drifted(), "lookedAt": self.all, "failed": self.failed.len() })
    }
}
