//! Whether nodes renew their leases. When they did so, their own clocks have written;
//! the one here may be wrong, and a renewal that is seen is right all the same.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A kubelet renews its lease every ten seconds; an older one is of a node that is gone.
const FRESH: Duration = Duration::from_secs(40);

/// By how much clocks differ that are kept in time.
const SKEW: SignedDuration = SignedDuration::from_secs(2);

/// The leases of nodes, as a run has seen them.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    seen: BTreeMap<String, Seen>,
}

/// A lease as it was seen last.
#[derive(Debug)]
struct Seen {
    renewed: Timestamp,
    /// When it was looked at last.
    looked: Duration,
    /// When it was found to be newer than before; none where it never was.
    changed: Option<Duration>,
}

/// What time it is: for people, and since the run began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) time: Timestamp,
    pub(crate) elapsed: Duration,
}

impl Leases {
    /// Says what speaks against a node that has renewed its lease at some time.
    pub(crate) fn stale(&mut self, node: &str, renewed: Timestamp, now: Now) -> Option<String> {
        let is_renewed = self.saw_renewal(node, renewed, now.elapsed);
        let age = now.time.duration_since(renewed);
        if is_renewed || is_fresh(age) {
            return None;
        }
        let seconds = age.as_secs();
        Some(if age.is_negative() {
            format!("its lease is {} s ahead of this machine's clock", -seconds)
        } else {
            format!("its lease is {seconds} s old by this machine's clock")
        })
    }

    fn saw_renewal(&mut self, node: &str, renewed: Timestamp, now: Duration) -> bool {
        let is_recent = |at: Duration| now.saturating_sub(at) <= FRESH;
        let changed = match self.seen.get(node) {
            // A change since a look of long ago may be as old as that.
            Some(seen) if seen.renewed != renewed => is_recent(seen.looked).then_some(now),
            Some(seen) => seen.changed,
            None => None,
        };
        self.seen.insert(node.to_owned(), Seen { renewed, looked: now, changed });
        changed.is_some_and(is_recent)
    }
}

/// A lease of the future tells nothing of its age: one of the two clocks is wrong.
fn is_fresh(age: SignedDuration) -> bool {
    age >= -SKEW && age.unsigned_abs() <= FRESH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    fn now(time: i64, elapsed: u64) -> Now {
        Now { time: at(time), elapsed: Duration::from_secs(elapsed) }
    }

    #[test]
    fn a_lease_is_fresh_for_a_while() {
        let mut leases = Leases::default();
        assert_eq!(leases.stale("a", at(100), now(100, 0)), None);
        assert_eq!(leases.stale("a", at(100), now(140, 40)), None);
        let why = leases.stale("a", at(100), now(141, 41)).expect("it is old");
        assert_eq!(why, "its lease is 41 s old by this machine's clock");
    }

    #[test]
    fn a_renewal_counts_whatever_the_clock_here_says() {
        for off in [-600, 600] {
            let mut leases = Leases::default();
            assert!(leases.stale("a", at(1000), now(1000 + off, 0)).is_some());
            assert_eq!(leases.stale("a", at(1010), now(1010 + off, 10)), None);
            assert_eq!(leases.stale("a", at(1010), now(1050 + off, 50)), None);
            assert!(leases.stale("a", at(1010), now(1051 + off, 51)).is_some(), "it has stopped");
        }
    }

    #[test]
    fn a_renewal_since_a_look_of_long_ago_is_no_sign_of_life() {
        let mut leases = Leases::default();
        assert_eq!(leases.stale("a", at(0), now(0, 0)), None);
        let why = leases.stale("a", at(50), now(300, 300)).expect("it died at 50 s");
        assert_eq!(why, "its lease is 250 s old by this machine's clock");
        assert_eq!(leases.stale("a", at(310), now(310, 310)), None);
    }

    #[test]
    fn the_renewal_of_one_node_says_nothing_of_another() {
        let mut leases = Leases::default();
        for (renewed, elapsed) in [(0, 0), (10, 10)] {
            leases.stale("a", at(renewed), now(renewed, elapsed));
        }
        assert!(leases.stale("b", at(10), now(100, 10)).is_some());
    }
}
