//! Which unit may start when: pure counting over the announced plan.
//!
//! What a unit waits for is [`Plan::prerequisites`] and nothing else: the law of
//! the journal asks the same function.

use std::collections::HashMap;

use events::{Plan, Unit};

/// Which units wait for what.
pub(crate) struct Schedule {
    units: Vec<Unit>,
    by_unit: HashMap<Unit, usize>,
    /// How many prerequisites of a unit have not passed yet.
    unmet: Vec<usize>,
    /// The units that wait for a unit.
    followers: Vec<Vec<usize>>,
}

impl Schedule {
    /// Counts what every unit of the plan waits for.
    pub(crate) fn new(plan: &Plan) -> Self {
        let units: Vec<Unit> = plan.units().collect();
        let by_unit: HashMap<Unit, usize> =
            units.iter().cloned().enumerate().map(|(index, unit)| (unit, index)).collect();
        let mut unmet = vec![0; units.len()];
        let mut followers = vec![Vec::new(); units.len()];
        for (index, unit) in units.iter().enumerate() {
            for earlier in plan.prerequisites(unit) {
                unmet[index] += 1;
                followers[by_unit[&earlier]].push(index);
            }
        }
        Self { units, by_unit, unmet, followers }
    }

    /// Returns the units that wait for nothing.
    pub(crate) fn first(&self) -> Vec<Unit> {
        let waits = self.units.iter().zip(&self.unmet);
        waits.filter(|(_, unmet)| **unmet == 0).map(|(unit, _)| unit.clone()).collect()
    }

    /// Takes down that a unit has passed or was skipped, and returns the units
    /// that waited for nothing else.
    pub(crate) fn passed(&mut self, unit: &Unit) -> Vec<Unit> {
        let mut ready = Vec::new();
        for &follower in &self.followers[self.by_unit[unit]] {
            self.unmet[follower] -= 1;
            if self.unmet[follower] == 0 {
                ready.push(self.units[follower].clone());
            }
        }
        ready
    }
}
