//! Trying the laws, at every point.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use events::{ClusterId, Plan, RunOutcome};

use super::point::Point;
use super::{Breaches, Breadth, Broken, Kept, Sabotaged, Voyage, Weather, World, sail};
use crate::{Chance, StateFolder};

/// Tries all laws at all points in worlds that `make` makes; every voyage has a
/// state folder of its own below `folder`.
pub fn keep_all<W: World>(make: impl Fn() -> W + Sync, folder: &Path) -> Result<Kept, Breaches> {
    keep(|_| make(), folder, Breadth::WHOLE)
}

/// Tries all laws at the points that `breadth` names. `make` is given the state
/// folder that the world's voyages will have.
pub fn keep<W: World>(
    make: impl Fn(&Path) -> W + Sync,
    folder: &Path,
    breadth: Breadth,
) -> Result<Kept, Breaches> {
    let laws = Laws { make, folder: folder.to_owned() };
    let (first, plan, mut kept) = laws.twice()?;
    let (points, left_out) = Point::all(&first, &plan, breadth);
    kept.left_out = left_out;
    let tried = laws.try_all(&points, breadth.at_once.max(1));
    let mut breaches = Vec::new();
    for result in tried {
        match result {
            Ok(more) => kept += more,
            Err(broken) => breaches.push(broken),
        }
    }
    if breaches.is_empty() { Ok(kept) } else { Err(Breaches(breaches)) }
}

struct Laws<F> {
    make: F,
    folder: PathBuf,
}

// === impl Laws ===

impl<W: World, F: Fn(&Path) -> W + Sync> Laws<F> {
    fn state(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn twice(&self) -> Result<(Voyage, Plan, Kept), Broken> {
        let state = self.state("twice");
        let world = (self.make)(&state);
        let (law, at) = ("a run ends proven", "the first run");
        let first = sail(&world, &state, Weather::FAIR);
        expect_proven(law, at, &first)?;
        check(law, at, &world, &state)?;
        let before = world.mutations();
        let second = sail(&world, &state, Weather::FAIR);
        let (law, at) = ("a second run changes nothing", "the second run");
        expect_proven(law, at, &second)?;
        let changed = world.mutations() - before;
        if changed > 0 {
            return Err(broken(law, at, format!("{changed} mutating calls")));
        }
        let kept = check(law, at, &world, &state)?;
        Ok((first, world.plan(ClusterId::new(0)), kept))
    }

    /// Tries every point, in several worlds at once.
    fn try_all(&self, points: &[Point], at_once: usize) -> Vec<Result<Kept, Broken>> {
        let next = AtomicUsize::new(0);
        let one_after_the_other = || {
            let mut tried = Vec::new();
            while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let Some(point) = points.get(number)
            {
                tried.push(self.try_at(point, &self.state(&(number + 1).to_string())));
            }
            tried
        };
        thread::scope(|scope| {
            let crews: Vec<_> = (0..at_once).map(|_| scope.spawn(one_after_the_other)).collect();
            let all = crews.into_iter().flat_map(|crew| {
                crew.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            all.collect()
        })
    }

    fn try_at(&self, point: &Point, state: &Path) -> Result<Kept, Broken> {
        let world = (self.make)(state);
        let (law, at) = (point.law(), point.to_string());
        let met = match point {
            Point::Failure(unit) => {
                sail(&Sabotaged::new(&world, unit.clone()), state, Weather::FAIR)
            }
            _ => sail(&world, state, point.weather()),
        };
        let mut kept = match (point, met.outcome) {
            (Point::Record(_) | Point::Intent(_) | Point::Effect(_), None)
            | (Point::Stop(_), Some(RunOutcome::Interrupted { .. } | RunOutcome::Proven)) => {
                point.crossed()
            }
            (Point::Failure(unit), Some(RunOutcome::Failed { unit: named, .. }))
                if named == *unit =>
            {
                point.crossed()
            }
            (Point::Record(_) | Point::Intent(_) | Point::Effect(_), Some(RunOutcome::Proven)) => {
                Kept { missed: 1, ..Kept::default() }
            }
            (_, outcome) => return Err(broken(law, &at, format!("{outcome:?}"))),
        };
        expect_proven(law, &at, &sail(&world, state, Weather::FAIR))?;
        kept += check(law, &at, &world, state)?;
        Ok(kept)
    }
}

/// Exactly one of everything, and every journal whole and ended.
fn check<W: World>(law: &'static str, at: &str, world: &W, state: &Path) -> Result<Kept, Broken> {
    world.check().map_err(|what| broken(law, at, what))?;
    let unsound = |error: &dyn std::error::Error| broken(law, at, error.to_string());
    let folder = StateFolder::open(state, &Chance::seeded(0)).map_err(|e| unsound(&e))?;
    let mut kept = Kept::default();
    for run in folder.runs().map_err(|e| unsound(&e))? {
        let journal = match events::journal::read(&folder.journal(run)) {
            Ok(journal) => journal,
            Err(error) => return Err(unsound(&error)),
        };
        if journal.state.plan().is_some() && journal.state.ended().is_none() {
            return Err(broken(law, at, format!("the journal of {run} has no end")));
        }
        kept.journals += 1;
    }
    Ok(kept)
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
