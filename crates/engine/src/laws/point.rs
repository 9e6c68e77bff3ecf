//! The points at which the laws are tried.

use std::fmt;

use events::{Plan, Unit};

use super::{Breadth, Kept, Voyage, Weather};

/// A point at which something happens to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Point {
    /// The process dies when this many records are on disk.
    Record(u64),
    /// The process dies before it sends this many calls that it meant.
    Intent(u64),
    /// The process dies after this many effects, before the answer.
    Effect(u64),
    /// Somebody asks for a stop when this many records are on disk.
    Stop(u64),
    /// A unit fails for good.
    Failure(Unit),
}

impl Point {
    /// Returns the points of a run like the first, and how many are left out.
    pub(super) fn all(first: &Voyage, plan: &Plan, breadth: Breadth) -> (Vec<Self>, u64) {
        let units: Vec<_> = plan.units().collect();
        let whole = Self::of(first, &units, Breadth::WHOLE).count();
        let points: Vec<_> = Self::of(first, &units, breadth).collect();
        let left_out = whole - points.len();
        (points, left_out as u64)
    }

    /// After its last record a run is over.
    fn of<'a>(
        first: &Voyage,
        units: &'a [Unit],
        breadth: Breadth,
    ) -> impl Iterator<Item = Self> + use<'a> {
        let unit = |number: u64| units[usize::try_from(number).expect("units are few") - 1].clone();
        let failures = Breadth::every(breadth.units, units.len() as u64 + 1);
        Breadth::every(breadth.effects, first.effects + 1)
            .map(Self::Effect)
            .chain(Breadth::every(breadth.intents, first.intents + 1).map(Self::Intent))
            .chain(Breadth::every(breadth.records, first.records).map(Self::Record))
            .chain(Breadth::every(breadth.stops, first.records).map(Self::Stop))
            .chain(failures.map(move |number| Self::Failure(unit(number))))
    }

    /// Returns the law that is tried here.
    pub(super) fn law(&self) -> &'static str {
        match self {
            Self::Record(_) => "resume after a crash between records",
            Self::Intent(_) => "resume before a call that was meant",
            Self::Effect(_) => "resume after a lost answer",
            Self::Stop(_) => "resume after a stop",
            Self::Failure(_) => "resume after a failure",
        }
    }

    pub(super) fn weather(&self) -> Weather {
        match self {
            Self::Record(record) => Weather::crash_after_record(*record),
            Self::Intent(intent) => Weather::crash_after_intent(*intent),
            Self::Effect(effect) => Weather::crash_after_effect(*effect),
            Self::Stop(record) => Weather::stop_after_record(*record),
            Self::Failure(_) => Weather::FAIR,
        }
    }

    /// Returns what is kept where the law holds here.
    pub(super) fn crossed(&self) -> Kept {
        match self {
            Self::Record(_) => Kept { records: 1, ..Kept::default() },
            Self::Intent(_) => Kept { intents: 1, ..Kept::default() },
            Self::Effect(_) => Kept { effects: 1, ..Kept::default() },
            Self::Stop(_) => Kept { stops: 1, ..Kept::default() },
            Self::Failure(_) => Kept { failures: 1, ..Kept::default() },
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(number) | Self::Stop(number) => write!(f, "record {number}"),
            Self::Intent(number) => write!(f, "call {number}"),
            Self::Effect(number) => write!(f, "effect {number}"),
            Self::Failure(unit) => unit.fmt(f),
        }
    }
}
