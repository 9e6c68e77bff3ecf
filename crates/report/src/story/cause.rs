//! The first cause: what a failed run says before anything else.

use events::{Cause, Unit};

use super::{Check, Story};
use crate::words;

/// The unit that failed first, why, and how it was found out.
#[derive(Clone, Copy, Debug)]
pub struct FirstCause<'a> {
    /// The unit.
    pub unit: &'a Unit,
    /// Why it failed.
    pub cause: &'a Cause,
    /// The check that it failed at; none where it failed while it acted.
    pub check: Option<&'a Check>,
    /// How long the unit ran.
    pub took_ms: u64,
    /// How long that was in the simulated world.
    pub simulated_ms: Option<u64>,
    /// How often it was tried.
    pub attempts: usize,
}

impl<'a> FirstCause<'a> {
    pub(crate) fn of(story: &'a Story) -> Option<Self> {
        let failed = *story.failures().first()?;
        // The outcome of the run may say more than the unit knew.
        let told = story.ending().and_then(|ending| ending.failure());
        let took_ms = failed.took_ms(story.elapsed_ms()).unwrap_or(0);
        Some(Self {
            unit: &failed.unit,
            cause: told.map(|(_, cause)| cause).or(failed.cause())?,
            check: failed.failed_check(),
            took_ms,
            simulated_ms: story.run().and_then(|run| run.simulated_ms(took_ms)),
            attempts: failed.attempts.len(),
        })
    }

    /// Returns where it was found out: the gate, the wait, and the last answer.
    pub fn place(&self) -> String {
        let mut place = self.unit.to_string();
        if let Some(check) = self.check
            && check.name.as_str() != self.unit.stage.as_str()
        {
            place = format!("{place}, {}", check.name);
        }
        let took = words::took(self.took_ms, self.simulated_ms);
        let looks = self.cause.shown_by.as_ref().map_or(0, |shown| shown.looks);
        place = match (looks, self.attempts) {
            (2.., _) => format!("{place}, after {looks} looks in {took}"),
            (_, 0 | 1) => format!("{place}, after {took}"),
            (_, tries) => format!("{place}, after {tries} attempts in {took}"),
        };
        match self.last_answer() {
            Some(answer) => format!("{place}; last answer: {answer}"),
            None => place,
        }
    }

    /// Returns the last thing that the check said, where the cause does not say it already.
    fn last_answer(&self) -> Option<String> {
        let answer = self.check?.last_answer()?;
        // The answer may count what else is missing, and name the node first.
        let core = answer.split(" (and ").next().unwrap_or(&answer);
        let core = match core.split_once(": ") {
            Some((name, rest)) if !name.contains(' ') => rest,
            _ => core,
        };
        let said = |text: &String| text.contains(core) || core.contains(text.as_str());
        let repeated = said(&self.cause.message) || self.cause.because.iter().any(said);
        (!repeated).then_some(answer)
    }

    /// Returns whether the first line names what it was found at: a gate, a
    /// probe, or the stage's own work.
    pub fn place_word(&self) -> &'static str {
        match self.check.map(|check| check.kind) {
            Some(events::CheckKind::Gate) => "gate",
            Some(events::CheckKind::Probe) => "probe",
            None => "stage",
        }
    }
}
