//! How often what was asked.

use std::collections::BTreeMap;

use super::class::Class;

/// Requests by class, and how many of them met a fault.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counts {
    asked: BTreeMap<Class, u64>,
    faults: u64,
}

impl Counts {
    /// Returns how often a class was asked for, such as `list`, `pods`.
    pub fn of(&self, verb: &str, resource: &str) -> u64 {
        let class = Class { verb: verb.to_owned(), resource: resource.to_owned() };
        self.asked.get(&class).copied().unwrap_or(0)
    }

    /// Returns how many requests came in all.
    pub fn total(&self) -> u64 {
        self.asked.values().sum()
    }

    /// Returns how many requests met a fault.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Returns all classes with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&Class, u64)> {
        self.asked.iter().map(|(class, count)| (class, *count))
    }

    pub(super) fn add(&mut self, class: &Class, faulty: bool) {
        *self.asked.entry(class.clone()).or_default() += 1;
        self.faults += u64::from(faulty);
    }
}
