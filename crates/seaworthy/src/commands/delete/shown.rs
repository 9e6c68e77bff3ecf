//! What `delete` shows, and how it ends.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

use events::{Clock, Failure};
use objects::{
    ApiError, Deleted, Deletion, Doomed, Impatience, NotRemoved, ObjectId, RemovalEvent, Waiting,
};
use report::terminal::Mishap;
use serde_json::{Value, json};

use super::doomed::Found;
use super::force::ForceError;
use super::stuck;
use crate::advice;
use crate::board::{Board, count, span};
use crate::cli::Output;
use crate::command_error::CommandError;
use crate::envelope;
use crate::exit::Exit;
use crate::ui::Ui;

/// So many of those that are stuck are told of in full.
const EXPLAINED: usize = 3;

/// Shows deletions, and remembers what came of each.
pub(super) struct Shown<'a> {
    ui: &'a Ui,
    board: Board<'a>,
    clock: Clock,
    dry_run: bool,
    all: usize,
    done: usize,
    /// How many are only marked, where nobody waits.
    marked: usize,
    records: Vec<Value>,
    not_forced: BTreeMap<ObjectId, String>,
    /// Who is meant by a name on the board.
    awaited: BTreeMap<String, ObjectId>,
    /// The lives whose end was asked for.
    asked_for: HashSet<String>,
    /// How many looks and requests failed on the way.
    failed_looks: u32,
    /// Troubles that do not pass, each told once.
    troubles: BTreeSet<String>,
    exit: Exit,
}

impl<'a> Shown<'a> {
    pub(super) fn new(ui: &'a Ui, clock: Clock, dry_run: bool) -> Self {
        let board = Board::new(ui, clock);
        let (records, not_forced) = (Vec::new(), BTreeMap::new());
        Self {
            ui,
            board,
            clock,
            dry_run,
            all: 0,
            done: 0,
            marked: 0,
            records,
            not_forced,
            awaited: BTreeMap::new(),
            asked_for: HashSet::new(),
            failed_looks: 0,
            troubles: BTreeSet::new(),
            exit: Exit::Done,
        }
    }

    pub(super) fn tick(&mut self) -> io::Result<()> {
        self.board.tick()
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.exit == Exit::Interrupted
    }

    /// Notes how it ends, unless it was interrupted before.
    fn fail(&mut self, exit: Exit) {
        if !self.is_interrupted() {
            self.exit = exit;
        }
    }

    /// Returns whether the next wave may begin.
    pub(super) fn goes_on(&self) -> bool {
        self.exit == Exit::Done
    }

    pub(super) fn begin(&mut self, found: &Found) -> io::Result<()> {
        self.all = found.objects.len();
        for id in &found.absent {
            self.record(id, "absent", None);
            self.board.say("Absent", &format!("{id} is not there"))?;
        }
        Ok(())
    }

    pub(super) fn event(&mut self, event: &RemovalEvent) -> io::Result<()> {
        match event {
            RemovalEvent::Waiting(waiting) => {
                let missing = waiting.remains.as_ref().map(objects::Remains::says);
                let missing = missing.unwrap_or_else(|| waiting.because().what);
                let (id, name) = (&waiting.doomed.id, waiting.doomed.id.to_string());
                self.board.wait_for(&name, &missing)?;
                self.awaited.insert(name, id.clone());
            }
            RemovalEvent::Gone { id, .. } => self.gone(id)?,
            RemovalEvent::Warned { id, warning } => {
                self.board.say("Warning", &format!("{id}: {warning}"))?;
            }
            RemovalEvent::Trouble { error } => self.trouble(error)?,
        }
        self.board.sum(format!("{} of {} deleted", self.done, self.all));
        Ok(())
    }

    /// One that does not pass comes again with every look.
    fn trouble(&mut self, error: &Failure) -> io::Result<()> {
        self.failed_looks += 1;
        let words = error.to_string();
        if error.class.is_retryable() || self.troubles.insert(words.clone()) {
            self.board.say("Trouble", &words)?;
        }
        Ok(())
    }

    fn gone(&mut self, id: &ObjectId) -> io::Result<()> {
        self.done += 1;
        self.board.done(&id.to_string());
        self.record(id, "deleted", None);
        self.data("Deleted", &id.to_string())
    }

    /// Where data is for machines, lines are not.
    fn data(&mut self, verb: &str, words: &str) -> io::Result<()> {
        match self.ui.output() {
            Output::Text => self.board.data(verb, words),
            Output::Json => Ok(()),
        }
    }

    /// Shows what came of a request whose end nobody waits for.
    pub(super) fn asked(
        &mut self,
        id: &ObjectId,
        answer: &Result<Deleted, Failure>,
    ) -> io::Result<()> {
        match answer {
            Ok(deleted) if matches!(deleted.deletion, Deletion::Gone(_)) => self.gone(id),
            Ok(_) => {
                (self.done, self.marked) = (self.done + 1, self.marked + 1);
                self.record(id, "under-way", None);
                self.data("Marked", &format!("{id}, which something still keeps"))
            }
            Err(error) => self.refused(id, &error.to_string()),
        }
    }

    fn refused(&mut self, id: &ObjectId, error: &str) -> io::Result<()> {
        self.fail(Exit::Refused);
        self.record(id, "refused", Some(error));
        self.board.mishap(&Mishap { message: error.to_owned(), ..Mishap::default() })
    }

    pub(super) fn would_delete(&mut self, id: &ObjectId, warnings: &[String]) -> io::Result<()> {
        self.done += 1;
        self.record(id, "would-delete", None);
        self.data("Would delete", &id.to_string())?;
        warnings.iter().try_for_each(|one| self.board.say("Warning", &format!("{id}: {one}")))
    }

    pub(super) fn would_fail(&mut self, id: &ObjectId, error: &str) -> io::Result<()> {
        self.refused(id, error)
    }

    pub(super) fn forced(&mut self, id: &ObjectId, finalizers: &[String]) -> io::Result<()> {
        if finalizers.is_empty() {
            return Ok(());
        }
        let removed = match finalizers {
            [one] => format!("finalizer {one} removed, and what it guards stays behind"),
            many => format!(
                "finalizers {} removed, and what they guard stays behind",
                many.join(" and ")
            ),
        };
        let words = format!("{id}: {removed}");
        self.board.say("Forced", &words)
    }

    pub(super) fn not_forced(&mut self, id: &ObjectId, error: &ForceError) {
        let words = match error {
            ForceError::Refused(error) => advice::of_not_forced(error),
            ForceError::Api(error) => advice::of_api(error),
        };
        self.not_forced.insert(id.clone(), words);
    }

    /// Tells what is stuck, and why.
    pub(super) fn stuck(&mut self, not_removed: &NotRemoved) -> io::Result<()> {
        let refused = |one: &Waiting| one.ended == Some(Impatience::Refused);
        let all_refused = not_removed.stuck.iter().all(refused);
        self.fail(if all_refused { Exit::Refused } else { Exit::Leftovers });
        for (index, waiting) in not_removed.stuck.iter().enumerate() {
            let id = &waiting.doomed.id;
            let (result, because) =
                (if refused(waiting) { "refused" } else { "stuck" }, stuck::reasons(waiting));
            self.record(id, result, because.first().map(String::as_str));
            if let Some(record) = self.records.last_mut() {
                record["chain"] = because[1..].to_vec().into();
            }
            self.board.done(&id.to_string());
            if index < EXPLAINED {
                let mishap = stuck::mishap(waiting, because, self.not_forced.get(id));
                self.board.mishap(&mishap)?;
            } else {
                self.board.say("Stuck", &format!("{id}: {}", because[0]))?;
            }
        }
        Ok(())
    }

    /// Says what was not begun.
    pub(super) fn left(&mut self, rest: impl Iterator<Item = Doomed>) -> io::Result<()> {
        let rest: Vec<Doomed> = rest.collect();
        for doomed in &rest {
            self.record(&doomed.id, "left", None);
        }
        if rest.is_empty() {
            return Ok(());
        }
        let why =
            if self.is_interrupted() { "not asked for" } else { "until what goes first is gone" };
        self.board.say("Left", &format!("{}, {why}", count(rest.len(), "object")))
    }

    /// Takes in whose end was asked for.
    pub(super) fn asked_for(&mut self, lives: HashSet<String>) {
        self.asked_for.extend(lives);
    }

    /// Says what is known of those of an interrupted wave that were not told of yet.
    pub(super) fn unfinished(&mut self, wave: Vec<Doomed>) -> io::Result<()> {
        let told: HashSet<Value> = self.records.iter().map(of_whom).collect();
        let untold = wave.into_iter().filter(|one| !told.contains(&envelope::identity(&one.id)));
        let (asked, rest): (Vec<_>, Vec<_>) =
            untold.partition(|one| self.asked_for.contains(&one.uid));
        for doomed in asked {
            self.record(&doomed.id, "awaited", Some("nobody has looked since it was asked for"));
        }
        self.left(rest.into_iter())
    }

    pub(super) fn stopping(&mut self, signal: &str) -> io::Result<()> {
        let words = "what is under way is answered first; once more does not wait";
        self.board.say("Stopping", &format!("{signal}: {words}"))
    }

    pub(super) fn interrupted(&mut self) -> io::Result<()> {
        self.exit = Exit::Interrupted;
        let open: Vec<(String, String)> =
            self.board.waiting().map(|(name, why)| (name.to_owned(), why.to_owned())).collect();
        for (name, missing) in open {
            self.board.done(&name);
            if let Some(id) = self.awaited.get(&name).cloned() {
                self.record(&id, "awaited", Some(&missing));
            }
            self.board.say("Awaited", &format!("{name}: {missing}"))?;
        }
        self.board.say(
            "Interrupted",
            "what was asked for goes on in the cluster; the same command waits on",
        )
    }

    /// The cluster is gone, and so is everything in it.
    pub(super) fn forgotten(mut self, error: &ApiError) -> Result<(), CommandError> {
        self.board.say("Forgotten", &format!("the cluster counts as gone: {error}"))?;
        self.finish("forgotten")
    }

    /// Says the sum, and returns how it ends.
    pub(super) fn end(mut self) -> Result<(), CommandError> {
        self.board.clear()?;
        let verb = match (self.exit, self.dry_run) {
            (Exit::Done, true) => "Would delete",
            (Exit::Done, false) => "Deleted",
            _ => "Not whole",
        };
        let took = span(self.clock.elapsed());
        let words = match self.all {
            0 => "nothing, since nothing was there".to_owned(),
            all if self.marked > 0 => {
                format!(
                    "{} in {took}, of which {} are only marked",
                    count(all, "object"),
                    self.marked
                )
            }
            all if self.done == all => format!("{} in {took}", count(all, "object")),
            all => format!("{} of {} deleted in {took}", self.done, count(all, "object")),
        };
        let failed = match self.failed_looks {
            0 => String::new(),
            1 => "; 1 look failed on the way".to_owned(),
            many => format!("; {many} looks failed on the way"),
        };
        self.board.say(verb, &format!("{words}{failed}"))?;
        let mode = if self.dry_run { "dry-run" } else { "for-real" };
        self.finish(mode)
    }

    fn finish(self, mode: &str) -> Result<(), CommandError> {
        if self.ui.output() == Output::Json {
            let facts = json!({ "mode": mode, "whole": self.exit == Exit::Done,
                "failedLooks": self.failed_looks });
            envelope::print("delete", self.exit, self.records, facts, self.ui)?;
        }
        CommandError::unless_done(self.exit)
    }

    fn record(&mut self, id: &ObjectId, result: &str, because: Option<&str>) {
        let mut record = envelope::object(id, result);
        record["because"] = because.into();
        self.records.push(record);
    }
}

/// Returns whom a record is about.
fn of_whom(record: &Value) -> Value {
    let keys = ["apiVersion", "kind", "namespace", "name"];
    keys.into_iter().map(|key| (key.to_owned(), record[key].clone())).collect()
}
