//! What came of trying the laws.

use std::fmt;
use std::ops::AddAssign;

/// How many points the laws were tried at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Crashes after a record.
    pub records: u64,
    /// Crashes before a call that was meant.
    pub intents: u64,
    /// Crashes after an effect.
    pub effects: u64,
    /// Stops after a record.
    pub stops: u64,
    /// Units that failed.
    pub failures: u64,
    /// Journals that were read back.
    pub journals: u64,
    /// Points that a run ended before.
    pub missed: u64,
    /// Points that were not tried, for want of time.
    pub left_out: u64,
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

/// All laws that do not hold, with the points where they do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breaches(pub Vec<Broken>);

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, intents, effects, stops, failures, journals, missed, left_out } = self;
        write!(
            f,
            "crossed {records} crashes after a record, {intents} before a call, \
             {effects} after an effect, {stops} stops, {failures} failures; read back {journals} journals; \
             missed {missed} points, left out {left_out}"
        )
    }
}

impl AddAssign for Kept {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        self.intents += other.intents;
        self.effects += other.effects;
        self.stops += other.stops;
        self.failures += other.failures;
        self.journals += other.journals;
        self.missed += other.missed;
        self.left_out += other.left_out;
    }
}

impl fmt::Display for Breaches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} laws are broken", self.0.len())?;
        self.0.iter().try_for_each(|broken| write!(f, "\n{broken}"))
    }
}

impl std::error::Error for Breaches {}

impl From<Broken> for Breaches {
    fn from(broken: Broken) -> Self {
        Self(vec![broken])
    }
}
