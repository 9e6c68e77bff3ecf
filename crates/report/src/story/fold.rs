//! The fold: events in, the story out.

use std::collections::BTreeMap;

use events::{
    CallOutcome, Event, Hindrance, IntentRef, Interruption, Made, RunOutcome, Seq, Unit, What,
};

use super::{
    Also, CallMade, Ending, FirstCause, Moment, Outcome, Run, Stage, Standing, State, Tally,
    UnitStory, retelling,
};
use crate::MicroEuros;
use crate::text::line;

/// A run as its events so far tell it. Every renderer is a function of this.
///
/// It takes events that the law of [`events::RunState`] has let pass; what it
/// cannot place it passes over, and it never fails.
#[derive(Clone, Debug, Default)]
pub struct Story {
    run: Option<Run>,
    stages: Vec<Stage>,
    warnings: Vec<Warning>,
    pins: Vec<Pin>,
    hidden: BTreeMap<String, u64>,
    ending: Option<Ending>,
    elapsed_ms: u64,
    last: Seq,
    places: BTreeMap<Unit, Place>,
    intents: BTreeMap<Seq, (Place, usize)>,
}

/// Something that people should know and that stopped nothing.
#[derive(Clone, Debug)]
pub struct Warning {
    /// When.
    pub moment: Moment,
    /// The unit it is about.
    pub unit: Option<Unit>,
    /// What they should know.
    pub message: String,
}

/// A choice that later runs keep.
#[derive(Clone, Debug)]
pub struct Pin {
    /// When.
    pub moment: Moment,
    /// What was chosen.
    pub key: String,
    /// The choice.
    pub value: String,
}

/// Where a unit stands in `stages`.
#[derive(Clone, Copy, Debug)]
struct Place {
    stage: usize,
    unit: usize,
}

// === impl Story ===

impl Story {
    /// Returns the story of these events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut story = Self::default();
        for event in events {
            story.apply(event);
        }
        story
    }

    /// Takes the next event.
    pub fn apply(&mut self, event: &Event) {
        self.elapsed_ms = event.elapsed_ms;
        self.last = event.seq;
        let moment = Moment::of(event);
        match &event.what {
            What::RunStarted { plan, resumes } => {
                self.run = Some(Run::new(event, plan, *resumes));
                self.stages = plan.stages.iter().map(Stage::new).collect();
                self.places = places(plan.stages.iter().map(events::PlannedStage::units));
            }
            What::Warning { unit, message } => self.warnings.push(Warning {
                moment,
                unit: unit.as_ref().map(|unit| self.told(unit)),
                message: line(message),
            }),
            What::Pinned { key, value } => {
                self.pins.push(Pin { moment, key: line(key), value: line(value) });
            }
            What::Result { intent, outcome } => self.answer(*intent, moment, outcome),
            What::Settled { intent, found, .. } => self.settle(*intent, found.as_ref()),
            What::Redacted { removed } => self.hidden = retelling::hidden(removed),
            What::RunEnded { outcome } => self.end(moment, outcome),
            What::Unknown => {}
            about_a_unit => self.apply_to_unit(event, about_a_unit),
        }
    }

    /// Returns what was announced; none before the first event.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Returns the stages in the order of the table.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns the stage that the unit belongs to.
    pub fn stage_of(&self, unit: &Unit) -> Option<&Stage> {
        self.places.get(unit).map(|place| &self.stages[place.stage])
    }

    /// Returns what is told of a unit.
    pub fn unit(&self, unit: &Unit) -> Option<&UnitStory> {
        let place = self.places.get(unit)?;
        Some(&self.stages[place.stage].units[place.unit])
    }

    /// Returns every unit, in the order of the table.
    pub fn units(&self) -> impl Iterator<Item = &UnitStory> {
        self.stages.iter().flat_map(|stage| &stage.units)
    }

    /// Returns the units that failed, in the order in which they did, and then those that
    /// could not be judged.
    pub fn failures(&self) -> Vec<&UnitStory> {
        let mut failed: Vec<_> = self.units().filter(|unit| unit.cause().is_some()).collect();
        failed.sort_by_key(|unit| (unit.state() == State::Unknown, unit.ended));
        failed
    }

    /// Returns what the run did not look at although it could have, and why.
    pub fn not_checked(&self) -> Vec<(String, &str)> {
        let mut left_out = Vec::new();
        for unit in self.units() {
            if let Standing::Skipped { reason, .. } = &unit.standing {
                left_out.push((unit.unit.to_string(), reason.as_str()));
            }
            for check in &unit.checks {
                let reason = check.skipped.as_deref();
                left_out.extend(reason.map(|reason| (check.name.to_string(), reason)));
            }
        }
        left_out
    }

    /// Returns the call behind an intent of this run, and the unit that made it.
    pub fn call(&self, intent: Seq) -> Option<(&UnitStory, &CallMade)> {
        let (place, call) = self.intents.get(&intent)?;
        let unit = &self.stages[place.stage].units[place.unit];
        Some((unit, &unit.calls[*call]))
    }

    /// Returns the warnings, oldest first.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns the choices that later runs keep, oldest first.
    pub fn pins(&self) -> &[Pin] {
        &self.pins
    }

    /// Returns how often each secret was kept from the disk.
    pub fn hidden(&self) -> &BTreeMap<String, u64> {
        &self.hidden
    }

    /// Returns how the run ended; none while it goes on.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Returns how the run stands, in a word.
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self)
    }

    /// Returns the elapsed time of the last event.
    pub fn elapsed_ms(&self) -> u64 {
        self.elapsed_ms
    }

    /// Returns the place of the last event.
    pub fn last(&self) -> Seq {
        self.last
    }

    /// Returns the first cause of a failure.
    pub fn first_cause(&self) -> Option<FirstCause<'_>> {
        FirstCause::of(self)
    }

    /// Returns what else is known to be wrong.
    pub fn also(&self) -> Vec<Also<'_>> {
        Also::of(self)
    }

    /// Returns what was required and not seen, so that the run is not proven.
    pub fn missing(&self) -> &[String] {
        match self.ending.as_ref().map(|ending| &ending.outcome) {
            Some(RunOutcome::NotProven { missing }) => missing,
            _ => &[],
        }
    }

    /// Returns how many of each there are.
    pub fn tally(&self) -> Tally {
        Tally::of(self)
    }

    /// Returns what the planned cluster costs in the time the run took.
    pub fn cost(&self) -> Option<MicroEuros> {
        self.run.as_ref()?.cost(self.elapsed_ms)
    }

    /// Returns the time that passed in the simulated world.
    pub fn simulated_ms(&self) -> Option<u64> {
        self.run.as_ref()?.simulated_ms(self.elapsed_ms)
    }

    fn apply_to_unit(&mut self, event: &Event, what: &What) {
        let Some(place) = what.unit().and_then(|unit| self.places.get(unit)).copied() else {
            return;
        };
        let because = match what {
            What::WillNotRun { because, .. } => self.hindrance(because),
            _ => String::new(),
        };
        let unit = &mut self.stages[place.stage].units[place.unit];
        if let What::Intent { .. } = what {
            self.intents.insert(event.seq, (place, unit.calls.len()));
        }
        unit.apply(event, what, because);
    }

    fn answer(&mut self, intent: Seq, moment: Moment, outcome: &CallOutcome) {
        if let Some(call) = self.call_mut(intent) {
            call.answer(moment, outcome);
        }
    }

    /// An intent of an earlier run stands in that run's story, not in this one.
    fn settle(&mut self, intent: IntentRef, found: Option<&Made>) {
        if self.run.as_ref().map(|run| run.id) != Some(intent.run) {
            return;
        }
        if let Some(call) = self.call_mut(intent.seq) {
            call.settle(found);
        }
    }

    fn call_mut(&mut self, intent: Seq) -> Option<&mut CallMade> {
        let (place, call) = *self.intents.get(&intent)?;
        self.stages[place.stage].units[place.unit].calls.get_mut(call)
    }

    fn end(&mut self, moment: Moment, outcome: &RunOutcome) {
        if let RunOutcome::Interrupted { how: Interruption::Died } = outcome {
            let units = self.stages.iter_mut().flat_map(|stage| &mut stage.units);
            units.for_each(|unit| unit.cut_off(moment));
        }
        let outcome = match outcome {
            RunOutcome::Failed { unit, cause } => {
                RunOutcome::Failed { unit: self.told(unit), cause: retelling::cause(cause) }
            }
            RunOutcome::NotProven { missing } => {
                RunOutcome::NotProven { missing: missing.iter().map(|what| line(what)).collect() }
            }
            other => other.clone(),
        };
        self.ending = Some(Ending { moment, outcome });
    }

    fn hindrance(&self, because: &Hindrance) -> String {
        match because {
            Hindrance::Failed { unit } => format!("{} failed", self.told(unit)),
            Hindrance::Interrupted => "the run was asked to stop".to_owned(),
            Hindrance::NotAsked => "not asked for".to_owned(),
        }
    }

    fn told(&self, unit: &Unit) -> Unit {
        self.unit(unit).map_or_else(|| Unit::whole("?"), |known| known.unit.clone())
    }
}

fn places(stages: impl Iterator<Item = Vec<Unit>>) -> BTreeMap<Unit, Place> {
    let numbered = |(stage, units): (usize, Vec<Unit>)| {
        units.into_iter().enumerate().map(move |(unit, key)| (key, Place { stage, unit }))
    };
    stages.enumerate().flat_map(numbered).collect()
}
