//! How many of all points are tried.

/// How many of the points the laws are tried at, and how many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breadth {
    /// How many worlds there are at the same time.
    pub at_once: usize,
    /// Crashes before a call: every n-th call is a point.
    pub intents: u64,
    /// Crashes before an answer: every n-th effect is a point.
    pub effects: u64,
    /// Crashes between records: every n-th record is a point.
    pub records: u64,
    /// Stops: every n-th record is a point.
    pub stops: u64,
    /// Failures: every n-th unit is a point.
    pub units: u64,
}

impl Breadth {
    /// Every point, one after the other.
    pub const WHOLE: Self =
        Self { at_once: 1, intents: 1, effects: 1, records: 1, stops: 1, units: 1 };

    /// Returns every n-th number below `end`, from one. Which of them comes
    /// first follows from `end`, so that a longer journal moves the points.
    pub(super) fn every(n: u64, end: u64) -> impl Iterator<Item = u64> {
        let n = n.max(1);
        (1..end).filter(move |number| number % n == end % n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_journal_moves_the_points() {
        let points = |n, end| Breadth::every(n, end).collect::<Vec<_>>();
        assert_eq!(points(1, 5), [1, 2, 3, 4]);
        assert_eq!(points(3, 9), [3, 6]);
        assert_eq!(points(3, 10), [1, 4, 7]);
    }
}
