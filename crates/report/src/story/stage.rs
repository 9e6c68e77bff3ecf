//! A stage: one unit, or one per node, seen as a whole.

use std::ops::Range;

use events::{PlannedStage, StageName};

use super::{State, UnitStory};
use crate::text::line;

/// A stage and its units.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub name: StageName,
    /// Whether it works node by node.
    pub per_node: bool,
    /// Its units: one per node, or one for the cluster.
    pub units: Vec<UnitStory>,
}

impl Stage {
    pub(crate) fn new(planned: &PlannedStage) -> Self {
        Self {
            name: line(planned.name.as_str()).into(),
            per_node: planned.nodes.is_some(),
            units: planned.units().iter().map(|unit| UnitStory::new(planned, unit)).collect(),
        }
    }

    /// Returns where it stands as a whole: the worst that is true of a unit.
    pub fn state(&self) -> State {
        let any = |state| self.units.iter().any(|unit| unit.state() == state);
        let all = |state| self.units.iter().all(|unit| unit.state() == state);
        if any(State::Failed) {
            State::Failed
        } else if any(State::Unknown) {
            State::Unknown
        } else if all(State::Planned) && !self.units.is_empty() {
            State::Planned
        } else if any(State::Running) || any(State::Planned) {
            State::Running
        } else if any(State::Stopped) {
            State::Stopped
        } else if any(State::NotRun) {
            State::NotRun
        } else if all(State::Skipped) && !self.units.is_empty() {
            State::Skipped
        } else {
            State::Passed
        }
    }

    /// Returns whether every unit of it is over.
    pub fn is_over(&self) -> bool {
        self.units.iter().all(|unit| unit.state().is_over())
    }

    /// Returns how many of its units are in that state.
    pub fn count(&self, state: State) -> usize {
        let in_state = |unit: &&UnitStory| unit.state() == state;
        self.units.iter().filter(in_state).count()
    }

    /// Returns `4/5`, where it works node by node.
    pub fn share(&self) -> String {
        if !self.per_node {
            return String::new();
        }
        format!("{}/{}", self.count(State::Passed), self.units.len())
    }

    /// Returns the milliseconds from its first unit's start to its last unit's
    /// end, or to `now_ms` while one runs; none where none started.
    pub fn span(&self, now_ms: u64) -> Option<Range<u64>> {
        let started = |unit: &UnitStory| unit.started.map(|moment| moment.at_ms);
        let from = self.units.iter().filter_map(started).min()?;
        let to = self
            .units
            .iter()
            .filter(|unit| unit.started.is_some())
            .map(|unit| unit.ended.map_or(now_ms, |moment| moment.at_ms))
            .max()?;
        Some(from..to.max(from))
    }

    /// Returns the milliseconds it took so far.
    pub fn took_ms(&self, now_ms: u64) -> Option<u64> {
        self.span(now_ms).map(|span| span.end - span.start)
    }

    /// Returns the line that tells how it ended: that of its failed unit, or
    /// the one that all its units agree on.
    pub fn summary(&self) -> &str {
        let state = self.state();
        let mut told = self.units.iter().filter(|unit| unit.state() == state);
        let Some(first) = told.next() else {
            return "";
        };
        let agreed = matches!(state, State::Failed | State::Unknown)
            || told.all(|unit| unit.summary() == first.summary());
        if agreed { first.summary() } else { "" }
    }
}
