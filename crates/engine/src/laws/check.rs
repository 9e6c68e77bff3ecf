//! The laws themselves.

use std::fmt;
use std::path::{Path, PathBuf};

use events::{RunOutcome, Unit};

use super::{Voyage, Weather, World, sail};
use crate::{Chance, StateFolder};

/// How many points the laws were tried at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Crashes after a record.
    pub records: u64,
    /// Crashes after an effect.
    pub effects: u64,
    /// Stops after a record.
    pub stops: u64,
    /// Units that failed.
    pub failures: u64,
    /// Journals that were read back.
    pub journals: u64,
}

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{law}, at {at}: {what}")]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// The point at which it was tried.
    pub at: String,
    /// What was seen instead.
    pub what: String,
}

/// Tries all laws in worlds that `make` makes; every voyage has a state folder
/// of its own below `folder`.
pub fn keep_all<W: World>(make: impl Fn() -> W, folder: &Path) -> Result<Kept, Broken> {
    let mut laws = Laws { make, folder: folder.to_owned(), tried: 0, kept: Kept::default() };
    let first = laws.twice()?;
    for record in 1..first.records {
        laws.crash("resume after a crash between records", Weather::crash_after_record(record))?;
        laws.kept.records += 1;
    }
    for effect in 1..=first.effects {
        laws.crash("resume after a lost answer", Weather::crash_after_effect(effect))?;
        laws.kept.effects += 1;
    }
    for record in 1..first.records {
        laws.stop(record)?;
        laws.kept.stops += 1;
    }
    laws.fail_everywhere()?;
    Ok(laws.kept)
}

struct Laws<F> {
    make: F,
    folder: PathBuf,
    tried: u64,
    kept: Kept,
}

// === impl Laws ===

impl<W: World, F: Fn() -> W> Laws<F> {
    fn twice(&mut self) -> Result<Voyage, Broken> {
        let (world, state) = self.fresh();
        let (law, at) = ("a run ends proven", "the first run");
        let first = sail(&world, &state, Weather::FAIR);
        expect_proven(law, at, &first)?;
        self.check(law, at, &world, &state)?;
        let before = world.mutations();
        let second = sail(&world, &state, Weather::FAIR);
        let (law, at) = ("a second run changes nothing", "the second run");
        expect_proven(law, at, &second)?;
        let changed = world.mutations() - before;
        if changed > 0 {
            return Err(broken(law, at, format!("{changed} mutating calls")));
        }
        self.check(law, at, &world, &state)?;
        Ok(first)
    }

    fn crash(&mut self, law: &'static str, weather: Weather) -> Result<(), Broken> {
        let (world, state) = self.fresh();
        let at = format!("{weather:?}");
        let crashed = sail(&world, &state, weather);
        if let Some(outcome) = crashed.outcome {
            return Err(broken(law, &at, format!("no crash, but {outcome:?}")));
        }
        self.resume(law, &at, &world, &state)
    }

    fn stop(&mut self, record: u64) -> Result<(), Broken> {
        let (world, state) = self.fresh();
        let law = "resume after a stop";
        let at = format!("record {record}");
        let stopped = sail(&world, &state, Weather::stop_after_record(record));
        match stopped.outcome {
            Some(RunOutcome::Interrupted { .. } | RunOutcome::Proven) => {}
            outcome => return Err(broken(law, &at, format!("{outcome:?}"))),
        }
        self.resume(law, &at, &world, &state)
    }

    fn fail_everywhere(&mut self) -> Result<(), Broken> {
        let plan = (self.make)().plan(events::ClusterId::new(0));
        for unit in plan.units() {
            self.fail(&unit)?;
            self.kept.failures += 1;
        }
        Ok(())
    }

    fn fail(&mut self, unit: &Unit) -> Result<(), Broken> {
        let (world, state) = self.fresh();
        let law = "resume after a failure";
        let at = unit.to_string();
        world.break_unit(Some(unit));
        match sail(&world, &state, Weather::FAIR).outcome {
            Some(RunOutcome::Failed { unit: named, .. }) if named == *unit => {}
            outcome => return Err(broken(law, &at, format!("{outcome:?}"))),
        }
        world.break_unit(None);
        self.resume(law, &at, &world, &state)
    }

    fn resume(
        &mut self,
        law: &'static str,
        at: &str,
        world: &W,
        state: &Path,
    ) -> Result<(), Broken> {
        expect_proven(law, at, &sail(world, state, Weather::FAIR))?;
        self.check(law, at, world, state)
    }

    /// Exactly one of everything, and every journal whole and ended.
    fn check(
        &mut self,
        law: &'static str,
        at: &str,
        world: &W,
        state: &Path,
    ) -> Result<(), Broken> {
        world.check().map_err(|what| broken(law, at, what))?;
        let unsound = |error: &dyn std::error::Error| broken(law, at, error.to_string());
        let folder = StateFolder::open(state, &Chance::seeded(0)).map_err(|e| unsound(&e))?;
        for run in folder.runs().map_err(|e| unsound(&e))? {
            let journal = match events::journal::read(&folder.journal(run)) {
                Ok(journal) => journal,
                Err(error) => return Err(unsound(&error)),
            };
            if journal.state.plan().is_some() && journal.state.ended().is_none() {
                return Err(broken(law, at, format!("the journal of {run} has no end")));
            }
            self.kept.journals += 1;
        }
        Ok(())
    }

    fn fresh(&mut self) -> (W, PathBuf) {
        self.tried += 1;
        ((self.make)(), self.folder.join(self.tried.to_string()))
    }
}

// === impl Kept ===

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, effects, stops, failures, journals } = self;
        write!(
            f,
            "crossed {records} crashes after a record, {effects} after an effect, \
             {stops} stops, {failures} failures; read back {journals} journals"
        )
    }
}

fn expect_proven(law: &'static str, at: &str, voyage: &Voyage) -> Result<(), Broken> {
    match &voyage.outcome {
        Some(RunOutcome::Proven) => Ok(()),
        outcome => Err(broken(law, at, format!("{outcome:?}"))),
    }
}

fn broken(law: &'static str, at: &str, what: String) -> Broken {
    Broken { law, at: at.to_owned(), what }
}
