//! The figures, as ratios.

use std::collections::BTreeMap;
use std::fmt;

use crate::DRIFT;
use crate::measure::Cost;

/// The order in which work is shown.
const WORK: [&str; 5] = ["create", "no-op", "diff", "delete", "drift"];

/// The order in which contestants are shown.
const WHO: [&str; 5] = ["limit", "seaworthy", "kubectl", "helm", "kapp"];

/// What each piece of work cost each contestant, at its best.
pub(crate) struct Table {
    count: usize,
    costs: BTreeMap<(&'static str, &'static str), Vec<Cost>>,
}

impl Table {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, costs: BTreeMap::new() }
    }

    /// How much longer one took than another one, at their best.
    pub(crate) fn ratio(
        &self,
        work: &'static str,
        one: &'static str,
        other: &'static str,
    ) -> Option<f64> {
        Some(self.time(work, one)? / self.time(work, other)?)
    }

    /// How much more one held than another one, at their worst.
    pub(crate) fn weight_ratio(
        &self,
        work: &'static str,
        one: &'static str,
        other: &'static str,
    ) -> Option<f64> {
        Some(self.peak(work, one)? / self.peak(work, other)?)
    }

    pub(crate) fn add(&mut self, work: &'static str, who: &'static str, cost: Cost) {
        println!("  {work:<8} {who:<10} {:>8.2} s {:>6.0} MiB", cost.time.as_secs_f64(), cost.peak);
        self.costs.entry((work, who)).or_default().push(cost);
    }

    /// The shortest time: whatever else the machine did only made it longer.
    fn time(&self, work: &'static str, who: &'static str) -> Option<f64> {
        let costs = self.costs.get(&(work, who))?;
        costs.iter().map(|cost| cost.time.as_secs_f64()).reduce(f64::min)
    }

    /// The largest weight.
    pub(crate) fn peak(&self, work: &'static str, who: &'static str) -> Option<f64> {
        let costs = self.costs.get(&(work, who))?;
        costs.iter().map(|cost| cost.peak).reduce(f64::max)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n{} ConfigMaps (drift: {DRIFT}); the best time and the largest memory of all rounds",
            self.count
        )?;
        writeln!(f, "| work | who | time | of the limit | of kubectl | memory |")?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- |")?;
        for work in WORK {
            for who in WHO {
                let (Some(time), Some(peak)) = (self.time(work, who), self.peak(work, who)) else {
                    continue;
                };
                let of = |other: &'static str| match self.ratio(work, who, other) {
                    Some(ratio) => format!("{ratio:.2} ×"),
                    None => "–".to_owned(),
                };
                let (limit, kubectl) = (of("limit"), of("kubectl"));
                writeln!(
                    f,
                    "| {work} | {who} | {time:.2} s | {limit} | {kubectl} | {peak:.0} MiB |"
                )?;
            }
        }
        Ok(())
    }
}
