//! Performs a plan as a script says, and writes down the events.

use std::collections::BTreeMap;
use std::path::Path;

use events::{
    Call, CallOutcome, Cause, CheckKind, Digest, Event, Evidence, EvidenceLimits, EvidenceStore,
    Failure, Hindrance, Interruption, Plan, PlannedStage, RunId, RunOutcome, RunState, Seq, Unit,
    UnitOutcome, Verdict, What,
};
use jiff::Timestamp;

/// What a unit does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Act {
    pub(crate) takes_ms: u64,
    pub(crate) summary: String,
    pub(crate) retries: Vec<Retry>,
    pub(crate) calls: Vec<(Call, CallOutcome)>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) fails: Option<Cause>,
    pub(crate) stops: bool,
    pub(crate) skips: Option<(bool, String)>,
    pub(crate) skips_checks: Option<String>,
    pub(crate) reuses: Option<RunId>,
    pub(crate) warnings: Vec<String>,
}

/// A try that fails, a part of the unit's time after its start.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    pub(crate) error: Failure,
}

/// What the first check says before it is ready.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) verdict: Verdict,
}

/// The events of a run and the files beside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) events: Vec<Event>,
    pub(crate) files: Vec<Vec<u8>>,
}

impl Sample {
    /// Puts the files where a run's evidence lies.
    pub(crate) fn store(&self, folder: &Path) -> EvidenceStore {
        let evidence = folder.join("evidence");
        std::fs::create_dir_all(&evidence).unwrap();
        for bytes in &self.files {
            std::fs::write(evidence.join(Digest::of(bytes).to_string()), bytes).unwrap();
        }
        EvidenceStore::new(folder, EvidenceLimits::default())
    }

    pub(crate) fn story(&self) -> report::Story {
        report::Story::of(&self.events)
    }

    /// The story up to that time.
    pub(crate) fn story_until(&self, ms: u64) -> report::Story {
        report::Story::of(self.events.iter().filter(|event| event.elapsed_ms <= ms))
    }
}

#[derive(Debug)]
enum Line {
    Say(What),
    Answer(Unit, usize, CallOutcome),
}

struct Stage {
    lines: Vec<(u64, u32, Line)>,
    ends: BTreeMap<Unit, (u64, Option<Unit>)>,
    failed: Option<(u64, Unit, Cause)>,
    stopped: Option<u64>,
    missing: Vec<String>,
    last_ms: u64,
}

pub(crate) const RUN_STARTED: i64 = 1_794_000_000_000;

pub(crate) fn run_id(number: u128) -> RunId {
    RunId::new(Timestamp::from_millisecond(RUN_STARTED).unwrap(), number)
}

/// Performs `plan`: each unit starts when what it waits for is over.
pub(crate) fn perform(mut plan: Plan, mut script: impl FnMut(&Unit) -> Act) -> Sample {
    let mut acts: BTreeMap<Unit, Act> = BTreeMap::new();
    for planned in &mut plan.stages {
        acts.extend(planned.units().into_iter().map(|unit| (unit.clone(), script(&unit))));
        let units = planned.units();
        // What may be left out, the plan has said.
        if units.iter().any(|unit| matches!(acts[unit].skips, Some((false, _)))) {
            planned.checks.iter_mut().for_each(|check| check.required = false);
        }
    }
    let mut stage = Stage {
        lines: Vec::new(),
        ends: BTreeMap::new(),
        failed: None,
        stopped: None,
        missing: Vec::new(),
        last_ms: 0,
    };
    for planned in &plan.stages {
        for (index, unit) in planned.units().into_iter().enumerate() {
            let act = acts.remove(&unit).unwrap();
            stage.play(&plan, planned, &unit, index as u64, act);
        }
    }
    let outcome = stage.outcome();
    let end = stage.last_ms + 3;
    stage.lines.push((end, 1, Line::Say(What::RunEnded { outcome })));
    Sample { events: record(plan, stage.lines), files: Vec::new() }
}

/// Sorts the lines by time and lets the law judge them.
fn record(plan: Plan, mut lines: Vec<(u64, u32, Line)>) -> Vec<Event> {
    lines.sort_by_key(|(at, _, _)| *at);
    let start = What::RunStarted { plan: Box::new(plan), resumes: None };
    let mut state = RunState::default();
    let mut events = Vec::new();
    let mut intents: BTreeMap<(Unit, usize), Seq> = BTreeMap::new();
    let mut made: BTreeMap<Unit, usize> = BTreeMap::new();
    for (at, attempt, line) in [(0, 1, Line::Say(start))].into_iter().chain(lines) {
        let seq = state.last().next();
        let what = match line {
            Line::Answer(unit, number, outcome) => {
                What::Result { intent: intents[&(unit, number)], outcome }
            }
            Line::Say(what) => {
                if let What::Intent { unit, .. } = &what {
                    let number = made.entry(unit.clone()).or_default();
                    intents.insert((unit.clone(), *number), seq);
                    *number += 1;
                }
                what
            }
        };
        let event = event(seq, at, attempt, what);
        state.apply(&event).unwrap_or_else(|error| panic!("{error}: {event:?}"));
        events.push(event);
    }
    events
}

/// The event with which a run of `plan` starts.
pub(crate) fn first_event(plan: Plan) -> Event {
    let what = What::RunStarted { plan: Box::new(plan), resumes: None };
    event(Seq(1), 0, 1, what)
}

pub(crate) fn event(seq: Seq, at_ms: u64, attempt: u32, what: What) -> Event {
    let at = RUN_STARTED + i64::try_from(at_ms).unwrap();
    Event {
        run: run_id(1),
        seq,
        at: Timestamp::from_millisecond(at).unwrap(),
        elapsed_ms: at_ms,
        attempt,
        what,
    }
}

impl Stage {
    fn play(&mut self, plan: &Plan, planned: &PlannedStage, unit: &Unit, index: u64, act: Act) {
        let before = plan.prerequisites(unit);
        let ends: Vec<_> = before.iter().map(|unit| self.ends[unit].clone()).collect();
        let ready = ends.iter().map(|(at, _)| *at).max().unwrap_or(0);
        let hindered = ends.into_iter().find_map(|(_, hindered)| hindered);
        let interrupted = self.stopped.is_some_and(|at| at <= ready);
        let unit = unit.clone();
        if let Some(by) = hindered {
            let because = Hindrance::Failed { unit: by.clone() };
            self.finish(&unit, ready, Some(by));
            return self.say(ready, 1, What::WillNotRun { unit, because });
        }
        if interrupted {
            let because = Hindrance::Interrupted;
            self.finish(&unit, ready, None);
            return self.say(ready, 1, What::WillNotRun { unit, because });
        }
        if let Some((_, reason)) = act.skips {
            let required = planned.is_required(None);
            self.finish(&unit, ready, None);
            if required {
                self.missing.push(format!("{unit}: {reason}"));
            }
            let check = None;
            return self.say(ready, 1, What::Skipped { unit, check, required, reason });
        }
        let end = self.run(planned, &unit, ready + 1 + index % 7, act);
        self.last_ms = self.last_ms.max(end);
    }

    fn run(&mut self, planned: &PlannedStage, unit: &Unit, start: u64, act: Act) -> u64 {
        let end = start + act.takes_ms;
        self.say(start, 1, What::StageStarted { unit: unit.clone() });
        let steps = (act.retries.len() + act.calls.len() + act.waits.len() + 3) as u64;
        let mut at = start;
        let step = |at: &mut u64| {
            *at = (*at + act.takes_ms / steps).min(end);
            *at
        };
        let mut attempt = 1;
        let unit_ = || unit.clone();
        self.say(start, 1, What::AttemptStarted { unit: unit_(), after: None });
        for message in act.warnings {
            self.say(start, attempt, What::Warning { unit: Some(unit_()), message });
        }
        for Retry { error } in act.retries {
            attempt += 1;
            self.say(
                step(&mut at),
                attempt,
                What::AttemptStarted { unit: unit_(), after: Some(error) },
            );
        }
        for (number, (call, outcome)) in act.calls.into_iter().enumerate() {
            self.say(at, attempt, What::Intent { unit: unit_(), call });
            let answered = step(&mut at);
            self.lines.push((answered, attempt, Line::Answer(unit_(), number, outcome)));
        }
        for (index, check) in planned.checks.iter().enumerate() {
            let name = || check.name.clone();
            if let Some(reason) = act.skips_checks.clone() {
                let required = check.required;
                if required {
                    self.missing.push(format!("{unit}, {}: {reason}", check.name));
                }
                let check = Some(name());
                self.say(at, attempt, What::Skipped { unit: unit_(), check, required, reason });
                continue;
            }
            if check.kind == CheckKind::Probe {
                let (inputs, reused) = (Digest::of(b"inputs"), act.reuses);
                self.say(at, attempt, What::Probe { unit: unit_(), check: name(), inputs, reused });
            }
            if index == 0 {
                for wait in &act.waits {
                    let verdict = wait.verdict.clone();
                    self.say(
                        step(&mut at),
                        attempt,
                        What::Checked { unit: unit_(), check: name(), verdict },
                    );
                }
            }
            if act.fails.is_none() && !act.stops {
                let evidence =
                    act.evidence.clone().unwrap_or_else(|| Evidence::new(&act.summary).simulated());
                let verdict = Verdict::ready(evidence);
                self.say(
                    step(&mut at),
                    attempt,
                    What::Checked { unit: unit_(), check: name(), verdict },
                );
            }
        }
        let outcome = match (&act.fails, act.stops) {
            (Some(cause), _) => UnitOutcome::Failed { cause: cause.clone() },
            (None, true) => UnitOutcome::Stopped,
            (None, false) => UnitOutcome::Passed { summary: act.summary },
        };
        self.say(end, attempt, What::StageDone { unit: unit_(), outcome });
        if act.stops {
            self.stopped = Some(self.stopped.map_or(end, |at| at.min(end)));
        }
        self.finish(unit, end, act.fails.is_some().then(unit_));
        if let Some(cause) = act.fails
            && self.failed.as_ref().is_none_or(|(at, _, _)| end < *at)
        {
            self.failed = Some((end, unit_(), cause));
        }
        end
    }

    fn finish(&mut self, unit: &Unit, at: u64, hindered: Option<Unit>) {
        self.ends.insert(unit.clone(), (at, hindered));
        self.last_ms = self.last_ms.max(at);
    }

    fn say(&mut self, at: u64, attempt: u32, what: What) {
        self.lines.push((at, attempt, Line::Say(what)));
    }

    fn outcome(&self) -> RunOutcome {
        if let Some((_, unit, cause)) = &self.failed {
            let (unit, cause) = (unit.clone(), cause.clone());
            return RunOutcome::Failed { unit, cause };
        }
        if self.stopped.is_some() {
            let how = Interruption::Asked;
            return RunOutcome::Interrupted { how };
        }
        if self.missing.is_empty() {
            return RunOutcome::Proven;
        }
        RunOutcome::NotProven { missing: self.missing.clone() }
    }
}
