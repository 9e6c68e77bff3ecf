//! What is to be reached, and whether it was.

use std::fmt;

/// A figure and its bound.
pub(crate) struct Goal {
    what: &'static str,
    bound: Bound,
    unit: &'static str,
    found: Option<f64>,
}

/// On which side of a bound a figure must be.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

/// All goals of a run.
#[derive(Default)]
pub(crate) struct Goals(Vec<Goal>);

impl Goals {
    /// Adds a figure; one that was not measured is told, too.
    pub(crate) fn add(
        &mut self,
        what: &'static str,
        found: Option<f64>,
        unit: &'static str,
        bound: Bound,
    ) {
        self.0.push(Goal { what, bound, unit, found });
    }
}

impl Bound {
    fn holds(self, found: f64) -> bool {
        match self {
            Self::AtMost(bound) => found <= bound,
            Self::AtLeast(bound) => found >= bound,
        }
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n| goal | bound | found | |")?;
        writeln!(f, "| --- | --- | --- | --- |")?;
        for Goal { what, bound, unit, found } in &self.0 {
            let (sign, value) = match bound {
                Bound::AtMost(value) => ("≤", value),
                Bound::AtLeast(value) => ("≥", value),
            };
            let (figure, verdict) = match found {
                Some(found) if bound.holds(*found) => (format!("{found:.2} {unit}"), "reached"),
                Some(found) => (format!("{found:.2} {unit}"), "missed"),
                None => ("–".to_owned(), "not measured"),
            };
            writeln!(f, "| {what} | {sign} {value} {unit} | {figure} | {verdict} |")?;
        }
        Ok(())
    }
}
