//! How long a deletion may take.

use std::time::Duration;

use crate::Kind;

/// How long a deletion may take, and how long nothing may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long it may take. One that still moves when it is over gets up to
    /// three times as much.
    pub deadline: Duration,
    /// How long nothing may happen before it counts as stuck.
    pub quiet: Duration,
}

/// Deadline and quiet in minutes. Controllers that clear up outside of the
/// cluster, and those that take whole namespaces apart, need longer. The API
/// server may miss that a definition is to go, and looks at all of them every
/// five minutes.
const BY_KIND: &[(&str, &str, u64, u64)] = &[
    ("", "Namespace", 20, 5),
    ("apiextensions.k8s.io", "CustomResourceDefinition", 15, 6),
    ("", "PersistentVolume", 10, 3),
    ("", "PersistentVolumeClaim", 10, 3),
    ("apps", "StatefulSet", 8, 2),
    ("batch", "Job", 8, 2),
    ("batch", "CronJob", 8, 2),
];

const OTHERS: (u64, u64) = (5, 2);

/// Whoever has moved within this time still moves.
const MOVING: Duration = Duration::from_secs(30);

impl Patience {
    /// Returns what is usual for a kind.
    pub fn of(kind: &Kind) -> Self {
        let found = BY_KIND.iter().find(|(group, name, ..)| kind.is(group, name));
        let (deadline, quiet) = found.map_or(OTHERS, |(_, _, deadline, quiet)| (*deadline, *quiet));
        Self { deadline: Duration::from_mins(deadline), quiet: Duration::from_mins(quiet) }
    }

    /// Returns when to give up, where the last thing happened at `moved`.
    pub(super) fn ends(&self, moved: Duration) -> (Duration, Impatience) {
        let quiet = moved + self.quiet;
        let extended = self.deadline.max(moved + MOVING.min(self.quiet)).min(self.deadline * 3);
        if quiet <= extended {
            (quiet, Impatience::Quiet)
        } else {
            (extended, Impatience::Deadline)
        }
    }
}

/// Why it is not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impatience {
    /// Nothing has happened for too long.
    Quiet,
    /// It has taken too long.
    Deadline,
    /// Looking or deleting is refused.
    Refused,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_get_twenty_minutes() {
        let of = |api_version, kind: &str| {
            let patience = Patience::of(&Kind::new(api_version, kind).unwrap());
            (patience.deadline.as_secs() / 60, patience.quiet.as_secs() / 60)
        };
        assert_eq!(of("v1", "Namespace"), (20, 5));
        assert_eq!(of("apiextensions.k8s.io/v1", "CustomResourceDefinition"), (15, 6));
        assert_eq!(of("v1", "ConfigMap"), (5, 2));
        assert_eq!(of("example.com/v1", "Namespace"), (5, 2));
    }

    #[test]
    fn what_moves_gets_more_time_but_not_for_ever() {
        let minutes = Duration::from_mins;
        let patience = Patience { deadline: minutes(10), quiet: minutes(3) };
        assert_eq!(patience.ends(minutes(0)), (minutes(3), Impatience::Quiet));
        assert_eq!(patience.ends(minutes(9)), (minutes(10), Impatience::Deadline));
        let late = minutes(12) + Duration::from_secs(30);
        assert_eq!(patience.ends(minutes(12)), (late, Impatience::Deadline));
        assert_eq!(patience.ends(minutes(40)), (minutes(30), Impatience::Deadline));
    }
}
