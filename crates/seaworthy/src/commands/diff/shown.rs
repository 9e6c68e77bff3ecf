//! What `diff` shows.

use std::io;
use std::time::Duration;

use objects::diff::Diff;
use objects::set::{Compared, End, Finding, SetDiff};
use report::terminal::say;
use serde_json::{Value, json};

use crate::advice;
use crate::commands::apply::{conflicts, ended, objects, told};
use crate::commands::palette;
use crate::envelope::identity;
use crate::paint::paint;
use crate::ui::Ui;

/// How many objects differ, and how.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) all: usize,
    pub(super) create: usize,
    pub(super) change: usize,
    pub(super) prune: usize,
    /// Those of which only the list of who owns what would change.
    pub(super) hands: usize,
    pub(super) failed: usize,
}

impl Tally {
    pub(super) fn of(found: &SetDiff) -> Self {
        let mut tally = Self { all: found.objects.len(), ..Self::default() };
        for one in &found.objects {
            match &one.finding {
                Finding::Same => {}
                Finding::Told { answer, .. } if answer.is_new => tally.create += 1,
                Finding::Told { answer, .. } if !answer.is_empty() => tally.change += 1,
                Finding::Told { answer, .. } => {
                    tally.hands += usize::from(!answer.handover.is_empty());
                }
                Finding::Absent | Finding::Unchecked { .. } => tally.create += 1,
                Finding::Failed(_) => tally.failed += 1,
            }
        }
        let deleted = found.pruned.iter().filter(|one| matches!(one.end, End::Deleted));
        tally.prune = deleted.count();
        tally.failed += found.pruned.iter().filter(|one| one.is_failure()).count();
        tally
    }

    /// Returns whether an apply would change anything.
    pub(super) fn differs(&self) -> bool {
        self.create + self.change + self.prune > 0
    }

    fn words(&self) -> String {
        let parts = [
            (self.create, "to create"),
            (self.change, "to change"),
            (self.prune, "to prune"),
            (self.hands, "with fields that only change hands"),
            (self.failed, "failed"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        parts.join(", ")
    }
}

/// Shows differences as data, and the rest to people.
pub(super) fn print(found: &SetDiff, tally: &Tally, elapsed: Duration, ui: &Ui) -> io::Result<()> {
    for one in &found.objects {
        print_one(one, ui)?;
    }
    print_pruned(found, ui)?;
    let seconds = elapsed.as_secs_f64();
    let (verb, words) = match (tally.failed, tally.words()) {
        (0, words) if words.is_empty() => ("Same", objects(tally.all)),
        (0, words) if tally.differs() => ("Different", format!("{}: {words}", objects(tally.all))),
        (0, words) => ("Same", format!("{}: {words}", objects(tally.all))),
        (_, words) => ("Not whole", format!("{}: {words}", objects(tally.all))),
    };
    say(palette(ui), verb, &format!("{words} in {seconds:.1}s"), &mut ui.stderr())
}

fn print_one(one: &Compared<Diff>, ui: &Ui) -> io::Result<()> {
    match &one.finding {
        Finding::Same => Ok(()),
        Finding::Told { answer, warnings } => {
            paint(&answer.to_string(), &mut ui.stdout())?;
            warnings.iter().try_for_each(|warning| {
                say(palette(ui), "Warning", &format!("{}: {warning}", one.id), &mut ui.stderr())
            })
        }
        Finding::Absent => paint(&format!("+ {}\n", one.id), &mut ui.stdout()),
        Finding::Unchecked { because } => {
            paint(&format!("+ {}\n      not checked: {because}\n", one.id), &mut ui.stdout())
        }
        Finding::Failed(error) => {
            say(palette(ui), "Failed", &told(&one.id, error), &mut ui.stderr())
        }
    }
}

fn print_pruned(found: &SetDiff, ui: &Ui) -> io::Result<()> {
    for pruned in &found.pruned {
        let (id, palette) = (&pruned.id, palette(ui));
        match &pruned.end {
            End::Deleted => {
                let text = format!("- {id}\n      no longer in the manifests\n");
                paint(&text, &mut ui.stdout())?;
            }
            End::Detached { because } => {
                say(palette, "Detached", &format!("{id}: {because}"), &mut ui.stderr())?;
            }
            End::Stuck { because } | End::Kept { because } => {
                say(palette, "Kept", &format!("{id}: {because}"), &mut ui.stderr())?;
            }
            End::Failed(error) => {
                say(palette, "Failed", &advice::of_api(error), &mut ui.stderr())?;
            }
        }
    }
    match found.not_pruned {
        Some(why) => say(palette(ui), "Not pruned", why, &mut ui.stderr()),
        None => Ok(()),
    }
}

/// The differences for machines.
pub(super) fn records(found: &SetDiff) -> Vec<Value> {
    found.objects.iter().map(object).collect()
}

/// What machines are told besides.
pub(super) fn more(found: &SetDiff, tally: &Tally) -> Value {
    let pruned: Vec<Value> = found.pruned.iter().map(ended).collect();
    json!({ "different": tally.differs(), "failed": tally.failed, "pruned": pruned,
        "notPruned": found.not_pruned })
}

fn object(one: &Compared<Diff>) -> Value {
    let mut record = identity(&one.id);
    match &one.finding {
        Finding::Same => record["result"] = "same".into(),
        Finding::Told { answer, warnings } => {
            record["result"] = match answer {
                diff if diff.is_new => "new",
                diff if diff.is_empty() => "same",
                _ => "changed",
            }
            .into();
            record["differences"] = json!(answer.differences);
            record["handover"] = json!(answer.handover);
            record["warnings"] = json!(warnings);
        }
        Finding::Absent => record["result"] = "new".into(),
        Finding::Unchecked { because } => {
            record["result"] = "new".into();
            record["notChecked"] = json!(because);
        }
        Finding::Failed(error) => {
            record["result"] = "failed".into();
            record["because"] = advice::of_step(error).into();
            record["conflicts"] = conflicts(error);
        }
    }
    record
}
