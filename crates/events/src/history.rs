//! What all runs of a cluster did, folded into one: pinned choices, calls and
//! what came of them, fresh probes, usual durations.
//!
//! What the law of one run cannot see is refused here: a run may speak of
//! earlier ones, and only of what they hold. Of a run whose broken journal was
//! set aside nobody knows what it held, so that others may say anything of it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::journal::{JournalFile, Salvage};
use crate::{
    Call, CallOutcome, CheckName, Digest, Event, Evidence, IllegalRun, IntentRef, Made, Plan,
    RunBreach, RunId, RunOutcome, Seq, StageName, Unit, UnitOutcome, Verdict, What,
};

/// All earlier runs of a cluster, folded in the order in which they started.
#[derive(Clone, Debug, Default)]
pub struct History {
    runs: Vec<PastRun>,
    pins: BTreeMap<String, String>,
    calls: BTreeMap<(String, String), Vec<PastCall>>,
    by_intent: BTreeMap<IntentRef, (String, String)>,
    probes: BTreeMap<(Unit, CheckName), PastProbe>,
    durations: BTreeMap<StageName, Vec<u64>>,
    /// Runs whose journals were set aside: what later runs say of them cannot be checked.
    set_aside: BTreeSet<RunId>,
    /// Whether calls may have been made of which no journal tells.
    is_incomplete: bool,
}

/// A run and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastRun {
    /// The run.
    pub run: RunId,
    /// The command it ran.
    pub command: String,
    /// How it ended; none where its process died.
    pub outcome: Option<RunOutcome>,
}

/// A mutating call and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCall {
    /// Where its intent stands.
    pub intent: IntentRef,
    /// The call.
    pub call: Call,
    /// What came of it.
    pub fate: Fate,
}

/// What came of a call, as far as is known now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was done, or a look found that it had been.
    Done(Made),
    /// It was refused, or a look found that it never arrived.
    NotDone,
    /// This process has sent it, and its answer is not there yet.
    UnderWay,
    /// Nobody knows: the answer was lost, or the process died before it came.
    InDoubt,
}

/// The last result of a probe that was ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastProbe {
    /// The run that has it.
    pub run: RunId,
    /// When it was ready.
    pub at: Timestamp,
    /// The digest of all that it depended on.
    pub inputs: Digest,
    /// What was seen.
    pub evidence: Evidence,
}

// === impl History ===

impl History {
    /// Adds the next run. Runs are added in the order in which they started.
    ///
    /// # Errors
    ///
    /// Where the run speaks of what no earlier run holds: a journal is missing,
    /// or is not the one that it followed.
    pub fn add(&mut self, journal: &JournalFile) -> Result<(), IllegalRun> {
        let run = journal.header.run;
        if let Some(last) = self.runs.last().filter(|last| last.run >= run) {
            let breach = RunBreach::OutOfOrder { last: last.run };
            return Err(IllegalRun { run, seq: Seq::default(), breach });
        }
        let command = journal.state.plan().map(|plan| plan.command.clone()).unwrap_or_default();
        self.runs.push(PastRun { run, command, outcome: journal.state.ended().cloned() });
        let mut fold = RunFold::default();
        for event in &journal.events {
            self.add_event(event, &mut fold).map_err(|breach| IllegalRun {
                run,
                seq: event.seq,
                breach,
            })?;
        }
        // Its process is gone: what it had under way has no answer any more.
        for past in self.calls.values_mut().flatten() {
            if past.fate == Fate::UnderWay {
                past.fate = Fate::InDoubt;
            }
        }
        let ended = journal.state.ended();
        if ended == Some(&RunOutcome::Proven) && self.last_command().is_some_and(Plan::tears_down) {
            self.forget();
        }
        Ok(())
    }

    /// Adds the next run, of which only a broken journal is left. Whatever it may
    /// have called is in doubt, and is settled by looking.
    pub fn add_set_aside(&mut self, run: RunId, salvage: &Salvage) {
        let mut command = String::new();
        for salvaged in &salvage.events {
            match &salvaged.event.what {
                What::RunStarted { plan, .. } => command.clone_from(&plan.command),
                What::Intent { call, .. } => {
                    let intent = IntentRef { run, seq: salvaged.event.seq };
                    self.intend(intent, call);
                    self.close(intent, Fate::InDoubt);
                }
                What::Pinned { key, value } if salvaged.is_vouched_for => self.pin(key, value),
                _ => {}
            }
        }
        self.runs.push(PastRun { run, command, outcome: None });
        self.set_aside.insert(run);
        self.is_incomplete |= salvage.unreadable > 0;
    }

    /// Returns whether the journal of a run was set aside.
    pub fn is_set_aside(&self, run: RunId) -> bool {
        self.set_aside.contains(&run)
    }

    /// Returns whether calls may have been made of which no journal tells.
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Of a cluster that provably is no more, nothing counts for the next one.
    fn forget(&mut self) {
        self.pins.clear();
        self.calls.clear();
        self.by_intent.clear();
        self.probes.clear();
        self.is_incomplete = false;
    }

    fn last_command(&self) -> Option<&str> {
        self.runs.last().map(|run| run.command.as_str())
    }

    /// Returns the runs, oldest first.
    pub fn runs(&self) -> &[PastRun] {
        &self.runs
    }

    /// Returns the newest run of a command, where it was not finished.
    pub fn unfinished(&self, command: &str) -> Option<RunId> {
        let last = self.runs.iter().rfind(|run| run.command == command)?;
        match last.outcome {
            Some(RunOutcome::Proven | RunOutcome::NotProven { .. }) => None,
            Some(RunOutcome::Failed { .. } | RunOutcome::Interrupted { .. }) | None => {
                Some(last.run)
            }
        }
    }

    /// Returns a pinned choice.
    pub fn pinned(&self, key: &str) -> Option<&str> {
        self.pins.get(key).map(String::as_str)
    }

    /// Returns all choices whose keys begin alike, by what follows.
    pub fn pinned_under(&self, prefix: &str) -> Vec<(String, String)> {
        let under = self.pins.range(prefix.to_owned()..);
        let under = under.map_while(|(key, value)| Some((key.strip_prefix(prefix)?, value)));
        under.map(|(rest, value)| (rest.to_owned(), value.clone())).collect()
    }

    /// Returns the calls of that kind to that name, oldest first.
    pub fn calls(&self, kind: &str, name: &str) -> &[PastCall] {
        self.calls.get(&(kind.to_owned(), name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Returns the call of an intent.
    pub fn call(&self, intent: IntentRef) -> Option<&Call> {
        let calls = self.by_intent.get(&intent).and_then(|key| self.calls.get(key));
        let mut past = calls.into_iter().flatten();
        past.find(|past| past.intent == intent).map(|past| &past.call)
    }

    /// Returns what calls of that kind may have reached, by name, each with the
    /// last of them.
    pub fn reached(&self, kind: &str) -> Vec<(String, IntentRef)> {
        let of_kind = self.calls.range((kind.to_owned(), String::new())..);
        let of_kind = of_kind.take_while(|((it, _), _)| it == kind);
        let reached = of_kind.filter_map(|((_, name), calls)| {
            let last = calls.iter().rfind(|past| past.fate != Fate::NotDone)?;
            Some((name.clone(), last.intent))
        });
        reached.collect()
    }

    /// Returns the last ready result of a probe.
    pub fn probe(&self, unit: &Unit, check: &CheckName) -> Option<&PastProbe> {
        self.probes.get(&(unit.clone(), check.clone()))
    }

    /// Returns how long a stage usually takes: the median of the units that had
    /// something to do and passed.
    pub fn usual_ms(&self, stage: &StageName) -> Option<u64> {
        let mut durations = self.durations.get(stage)?.clone();
        durations.sort_unstable();
        durations.get(durations.len() / 2).copied()
    }

    pub(crate) fn pin(&mut self, key: &str, value: &str) {
        self.pins.insert(key.to_owned(), value.to_owned());
    }

    pub(crate) fn intend(&mut self, intent: IntentRef, call: &Call) {
        let key = (call.kind.clone(), call.name.clone());
        let past = PastCall { intent, call: call.clone(), fate: Fate::UnderWay };
        self.by_intent.insert(intent, key.clone());
        self.calls.entry(key).or_default().push(past);
    }

    pub(crate) fn close(&mut self, intent: IntentRef, fate: Fate) {
        let calls = self.by_intent.get(&intent).and_then(|key| self.calls.get_mut(key));
        let past = calls.into_iter().flatten().find(|past| past.intent == intent);
        if let Some(past) = past {
            past.fate = fate;
        }
    }

    /// Refuses to settle a call that is not in doubt.
    pub(crate) fn expect_doubt(&self, intent: IntentRef) -> Result<(), RunBreach> {
        let calls = self.by_intent.get(&intent).and_then(|key| self.calls.get(key));
        let past = calls.into_iter().flatten().find(|past| past.intent == intent);
        match past.map(|past| &past.fate) {
            None if self.set_aside.contains(&intent.run) => Ok(()),
            None => Err(RunBreach::UnknownIntent(intent)),
            Some(Fate::InDoubt) => Ok(()),
            Some(_) => Err(RunBreach::NotInDoubt(intent)),
        }
    }

    fn expect_resumable(&self, resumes: Option<RunId>) -> Result<(), RunBreach> {
        match resumes {
            Some(run) if !self.runs.iter().any(|past| past.run == run) => {
                Err(RunBreach::UnknownRun(run))
            }
            _ => Ok(()),
        }
    }

    fn expect_pin(&self, key: &str, value: &str) -> Result<(), RunBreach> {
        match self.pinned(key) {
            Some(pinned) if pinned != value => Err(RunBreach::PinnedOtherwise(key.to_owned())),
            _ => Ok(()),
        }
    }

    fn expect_probe(&self, unit: &Unit, check: &CheckName, run: RunId) -> Result<(), RunBreach> {
        match self.probe(unit, check) {
            Some(past) if past.run == run => Ok(()),
            _ if self.set_aside.contains(&run) => Ok(()),
            _ => Err(RunBreach::UnknownProbe { unit: unit.clone(), check: check.clone(), run }),
        }
    }

    fn add_event(&mut self, event: &Event, fold: &mut RunFold) -> Result<(), RunBreach> {
        let here = |seq: Seq| IntentRef { run: event.run, seq };
        match &event.what {
            What::RunStarted { resumes, .. } => self.expect_resumable(*resumes)?,
            What::Pinned { key, value } => {
                self.expect_pin(key, value)?;
                self.pin(key, value);
            }
            What::Intent { unit, call } => {
                fold.busy.insert(unit.clone());
                self.intend(here(event.seq), call);
            }
            What::Result { intent, outcome } => self.close(here(*intent), Fate::of(outcome)),
            What::Settled { intent, found, .. } => {
                self.expect_doubt(*intent)?;
                let fate = found.clone().map_or(Fate::NotDone, Fate::Done);
                self.close(*intent, fate);
            }
            What::Probe { unit, check, reused: Some(run), .. } => {
                self.expect_probe(unit, check, *run)?;
            }
            What::StageStarted { unit } => {
                fold.started.insert(unit.clone(), event.elapsed_ms);
            }
            What::StageDone { unit, outcome: UnitOutcome::Passed { .. } } => {
                // Where nothing had to be done, nothing is learned about how long it takes.
                let busy = fold.busy.contains(unit);
                if let Some(started) = fold.started.get(unit).filter(|_| busy) {
                    let took = event.elapsed_ms.saturating_sub(*started);
                    self.durations.entry(unit.stage.clone()).or_default().push(took);
                }
            }
            // A result that was itself taken from elsewhere does not become fresh by that.
            What::Probe { unit, check, inputs, reused: None } => {
                fold.probing.insert((unit.clone(), check.clone()), *inputs);
            }
            What::Checked { unit, check, verdict: Verdict::Ready { evidence } } => {
                let key = (unit.clone(), check.clone());
                if let Some(inputs) = fold.probing.remove(&key) {
                    let (run, at, evidence) = (event.run, event.at, evidence.clone());
                    self.probes.insert(key, PastProbe { run, at, inputs, evidence });
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// What has to be remembered within one run only.
#[derive(Default)]
struct RunFold {
    started: BTreeMap<Unit, u64>,
    busy: BTreeSet<Unit>,
    probing: BTreeMap<(Unit, CheckName), Digest>,
}

// === impl Fate ===

impl Fate {
    pub(crate) fn of(outcome: &CallOutcome) -> Self {
        match outcome {
            CallOutcome::Done { made } => Self::Done(made.clone()),
            CallOutcome::Refused { .. } => Self::NotDone,
            CallOutcome::InDoubt { .. } => Self::InDoubt,
        }
    }
}
