//! Whether nodes renew their leases. When they did so, their own clocks have written;
//! the one here may be wrong, and a renewal that is seen is right all the same.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use objects::Object;

/// How long a lease holds that does not say: a kubelet renews it every ten seconds.
const USUAL: Duration = Duration::from_secs(40);

/// The lease of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    /// When it was renewed, by the node's clock.
    renewed: Timestamp,
    /// For how long that says that the node lives.
    holds: Duration,
}

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

impl Lease {
    /// Reads it; none where it was never renewed.
    pub(crate) fn of(lease: &Object) -> Option<Self> {
        let renewed = lease.text("/spec/renewTime")?.parse().ok()?;
        let seconds = lease.at("/spec/leaseDurationSeconds").and_then(serde_json::Value::as_u64);
        Some(Self { renewed, holds: seconds.map_or(USUAL, Duration::from_secs) })
    }
}

impl Now {
    pub(crate) fn by(clock: events::Clock) -> Self {
        Self { time: clock.now(), elapsed: clock.elapsed() }
    }
}

impl Leases {
    /// Says what speaks against a node with such a lease.
    pub(crate) fn stale(&mut self, node: &str, lease: Lease, now: Now) -> Option<String> {
        let is_renewed = self.saw_renewal(node, lease, now.elapsed);
        let age = now.time.duration_since(lease.renewed);
        // A little ahead is as good as a little old: either clock may be wrong by that.
        if is_renewed || age.unsigned_abs() <= lease.holds {
            return None;
        }
        let seconds = age.as_secs();
        Some(if age.is_negative() {
            format!("its lease is {} s ahead of this machine's clock", -seconds)
        } else {
            format!("its lease is {seconds} s old by this machine's clock")
        })
    }

    fn saw_renewal(&mut self, node: &str, lease: Lease, now: Duration) -> bool {
        let is_recent = |at: Duration| now.saturating_sub(at) <= lease.holds;
        let changed = match self.seen.get(node) {
            // A change since a look of long ago may be as old as that.
            Some(seen) if seen.renewed != lease.renewed => is_recent(seen.looked).then_some(now),
            Some(seen) => seen.changed,
            None => None,
        };
        let seen = Seen { renewed: lease.renewed, looked: now, changed };
        self.seen.insert(node.to_owned(), seen);
        changed.is_some_and(is_recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Lease {
        Lease { renewed: time(seconds), holds: USUAL }
    }

    fn time(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("it is a time")
    }

    fn now(time: i64, elapsed: u64) -> Now {
        Now { time: self::time(time), elapsed: Duration::from_secs(elapsed) }
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
    fn a_lease_says_itself_how_long_it_holds() {
        let lease = |spec| {
            let lease = serde_json::json!({ "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease", "metadata": { "name": "a" }, "spec": spec });
            Lease::of(&Object::new(lease).expect("it is an object"))
        };
        let renewed = "1970-01-01T00:01:40.000000Z";
        let short = lease(serde_json::json!({ "renewTime": renewed, "leaseDurationSeconds": 10 }));
        let short = short.expect("it was renewed");
        assert!(Leases::default().stale("a", short, now(111, 0)).is_some());
        let usual = lease(serde_json::json!({ "renewTime": renewed })).expect("it was renewed");
        assert_eq!(Leases::default().stale("a", usual, now(140, 0)), None);
        assert!(lease(serde_json::json!({})).is_none());
    }

    #[test]
    fn a_clock_that_is_a_little_behind_speaks_against_nobody() {
        assert_eq!(Leases::default().stale("a", at(130), now(100, 0)), None);
        let why = Leases::default().stale("a", at(200), now(100, 0)).expect("it tells no age");
        assert_eq!(why, "its lease is 100 s ahead of this machine's clock");
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
