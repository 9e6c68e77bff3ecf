//! What else is known to be wrong, beside the first cause.

use events::{Cause, Unit};

use super::{Check, CheckState, State, Story, UnitStory};
use crate::text;

/// What is normal while something starts is no cause to name: one that may heal
/// must have been named for this long, in the time of the world.
const LASTING_MS: u64 = 20_000;

/// A cause that stands beside the first one.
#[derive(Clone, Copy, Debug)]
pub struct Also<'a> {
    /// The first unit that names it.
    pub unit: &'a Unit,
    /// The cause.
    pub cause: &'a Cause,
    /// Whether the unit was still waiting when the run ended.
    pub waiting: bool,
    /// How many more nodes name it at the same stage.
    pub more_nodes: usize,
    /// Whether the first cause is the same, on another node.
    repeats_first: bool,
}

impl<'a> Also<'a> {
    /// Returns every other cause once: those of units that failed, then those that
    /// units were waiting on when the run ended.
    pub(crate) fn of(story: &'a Story) -> Vec<Self> {
        let failures = story.failures();
        let Some((first, others)) = failures.split_first() else { return Vec::new() };
        let failed = others.iter().filter_map(|unit| Some((&unit.unit, unit.cause()?, false)));
        let waiting =
            story.units().filter_map(|unit| Some((&unit.unit, unfinished(story, unit)?, true)));
        let mut list: Vec<Self> = Vec::new();
        for (unit, cause, waiting) in failed.chain(waiting) {
            let same = |it: &&mut Self| it.unit.stage == unit.stage && it.cause.code == cause.code;
            if let Some(known) = list.iter_mut().find(same) {
                known.more_nodes += 1;
                continue;
            }
            let repeats_first = first.unit.stage == unit.stage
                && first.cause().is_some_and(|first| first.code == cause.code);
            list.push(Self { unit, cause, waiting, more_nodes: 0, repeats_first });
        }
        list
    }

    /// Returns it as a line.
    pub fn line(&self) -> String {
        let Self { unit, cause, .. } = self;
        if self.repeats_first {
            let nodes = text::count(self.more_nodes + 1, "more node");
            return format!("{}: {} on {nodes}", unit.stage, cause.code);
        }
        let more = match self.more_nodes {
            0 => String::new(),
            more => format!(" and {}", text::count(more, "more node")),
        };
        let waiting = if self.waiting { "still waiting: " } else { "" };
        format!("{unit}{more}: {waiting}{cause}")
    }
}

/// Returns the cause that a stopped unit was waiting on, where it is no passing one.
fn unfinished<'a>(story: &Story, unit: &'a UnitStory) -> Option<&'a Cause> {
    if unit.state() != State::Stopped {
        return None;
    }
    let waits = |check: &&Check| check.state() == CheckState::Waiting;
    let check = unit.checks.iter().find(waits)?;
    let cause = check.last()?.cause()?;
    let names_it =
        |verdict: &events::Verdict| verdict.cause().is_some_and(|other| other.code == cause.code);
    let since = check.findings.iter().rev().take_while(|it| names_it(&it.verdict)).last()?;
    let lasted = since.moment.until(unit.ended?.at_ms);
    let lasted = story.run().and_then(|run| run.simulated_ms(lasted)).unwrap_or(lasted);
    (!cause.heals_by_waiting() || lasted >= LASTING_MS).then_some(cause)
}
