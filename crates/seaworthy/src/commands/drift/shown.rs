//! What `drift` shows.

use std::io;
use std::time::Duration;

use objects::ObjectId;
use objects::diff::Drift;
use objects::set::{Compared, Finding, StepError};
use report::terminal::say;
use serde_json::{Value, json};

use crate::advice;
use crate::commands::apply::{conflicts, objects, told};
use crate::commands::palette;
use crate::envelope::object;
use crate::paint::paint;
use crate::ui::Ui;

/// What was found of all objects.
#[derive(Debug, Default)]
pub(super) struct Found {
    all: usize,
    drifts: Vec<Drift>,
    /// Objects that differ because the manifests are newer, and how many of
    /// their fields do.
    pending: Vec<(ObjectId, usize)>,
    gone: Vec<ObjectId>,
    pub(super) failed: Vec<(ObjectId, StepError)>,
}

impl Found {
    pub(super) fn of_set(compared: Vec<Compared<Drift>>) -> Self {
        let mut found = Self { all: compared.len(), ..Self::default() };
        for Compared { id, finding, .. } in compared {
            match finding {
                Finding::Same => {}
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
        Self { all, drifts, ..Self::default() }
    }

    /// Returns whether others have changed anything.
    pub(super) fn has_drifted(&self) -> bool {
        !(self.drifts.is_empty() && self.gone.is_empty())
    }

    /// Shows drift as data, and the rest to people.
    pub(super) fn print(&self, elapsed: Duration, ui: &Ui) -> io::Result<()> {
        for drift in &self.drifts {
            paint(&drift.to_string(), &mut ui.stdout())?;
        }
        for id in &self.gone {
            paint(&format!("- {id}\n      not there\n"), &mut ui.stdout())?;
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
        let verb = match (self.failed.len(), self.has_drifted()) {
            (1.., _) => "Not whole",
            (0, true) => "Drifted",
            (0, false) => "No drift",
        };
        let words = format!("{} in {:.1}s", self.words(), elapsed.as_secs_f64());
        say(palette(ui), verb, &words, &mut ui.stderr())
    }

    fn words(&self) -> String {
        let parts = [
            (self.drifts.len(), "changed by others"),
            (self.gone.len(), "not there"),
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
        let gone = self.gone.iter().map(|id| object(id, "gone"));
        let has_drifted = |id: &ObjectId| self.drifts.iter().any(|drift| drift.id == *id);
        let pending = self.pending.iter().filter(|(id, _)| !has_drifted(id));
        let pending = pending.map(|(id, _)| object(id, "not applied"));
        let failed = self.failed.iter().map(|(id, error)| {
            let mut record = object(id, "failed");
            record["because"] = advice::of_step(error).into();
            record["conflicts"] = conflicts(error);
            record
        });
        drifts.chain(gone).chain(pending).chain(failed).collect()
    }

    /// What machines are told besides.
    pub(super) fn more(&self) -> Value {
        json!({ "drifted": self.has_drifted(), "lookedAt": self.all, "failed": self.failed.len() })
    }
}
