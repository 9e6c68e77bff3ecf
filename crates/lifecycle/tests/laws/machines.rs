//! Machines of somebody's own are brought up and released whatever happens,
//! and wait for a config afterwards as they did before.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use engine::Backoff;
use engine::laws::{Breadth, Effects, Time, Weather, World, keep, sail};
use events::{ClusterId, Plan, RunOutcome};
use lifecycle::down::{self, Release};
use lifecycle::up::{self, Circumstances, Up};
use sim::world::Inventory;

use crate::likeness::Likeness;
use crate::sea::{BACKOFF, SPEED, Shape, at_every_point_or, settled, tell, unhurried};
use crate::yard::Yard;

/// A control plane does all that is done once, and a worker is closed until it
/// has come up.
const SHAPE: Shape = Shape { control_planes: 1, workers: 1 };

/// How many calls and effects are all tried: the configs and the bootstrap. What
/// comes later makes no difference to whoever wipes the machines.
const FIRST: u64 = 3;

/// A world in which a cluster is brought up on machines.
struct Rising {
    yard: Arc<Yard>,
    /// What the first run has left, which nothing disturbed.
    expected: Arc<OnceLock<Likeness>>,
}

/// A world in which machines are released.
struct Sinking {
    yard: Arc<Yard>,
}

impl Rising {
    fn new(state: &Path, expected: &Arc<OnceLock<Likeness>>) -> Self {
        Self { yard: Arc::new(Yard::new(SHAPE, state)), expected: Arc::clone(expected) }
    }

    fn look(&self) -> Result<(), String> {
        let clusters = self.yard.world.clusters();
        if clusters.len() != 1 {
            return Err(format!("{} clusters", clusters.len()));
        }
        let likeness = Likeness::of(&Inventory { holdings: Vec::new(), clusters }, &[]);
        likeness.is_one_cluster(SHAPE)?;
        likeness.is_like(self.expected.get_or_init(|| likeness.clone()))
    }
}

impl World for Rising {
    type Work = Up;

    fn plan(&self, cluster: ClusterId) -> Plan {
        let now = Circumstances { simulated_speed: Some(SPEED), ..Circumstances::default() };
        unhurried(up::plan(&self.yard.site().plan, cluster, "laws", &now))
    }

    fn work(&self, effects: Effects) -> Arc<Up> {
        tell(self.yard.world.effects(), effects);
        Arc::new(Up::new(Arc::new(self.yard.site())))
    }

    fn time(&self) -> Time {
        Time::Real
    }

    fn backoff(&self) -> Backoff {
        BACKOFF
    }

    fn mutations(&self) -> u64 {
        self.yard.mutations()
    }

    fn check(&self) -> Result<(), String> {
        settled(|| self.look())
    }
}

impl Sinking {
    /// A cluster that was brought up without a disturbance.
    fn whole(state: &Path) -> Self {
        let rising = Rising::new(state, &Arc::default());
        let risen = sail(&rising, state, Weather::FAIR);
        assert_eq!(risen.outcome, Some(RunOutcome::Proven));
        Self { yard: rising.yard }
    }
}

impl World for Sinking {
    type Work = Release;

    fn plan(&self, cluster: ClusterId) -> Plan {
        unhurried(down::plan_of_machines("demo", cluster, "laws", Some(SPEED)))
    }

    fn work(&self, effects: Effects) -> Arc<Release> {
        tell(self.yard.world.effects(), effects);
        Arc::new(Release::new(Arc::new(self.yard.site())))
    }

    fn time(&self) -> Time {
        Time::Real
    }

    fn backoff(&self) -> Backoff {
        BACKOFF
    }

    fn mutations(&self) -> u64 {
        self.yard.mutations()
    }

    /// `down` has proven that every machine waits: it must be so at once.
    fn check(&self) -> Result<(), String> {
        self.yard.waits()
    }
}

#[test]
fn machines_come_up_whatever_happens() {
    let folder = tempfile::tempdir().unwrap();
    let expected = Arc::default();
    let part = Breadth { intents: 4, effects: 2, records: 15, stops: 50, units: 12, at_once: 1 };
    let make = |state: &Path| Rising::new(state, &expected);
    let kept = keep(make, folder.path(), at_every_point_or(part));
    let kept = kept.unwrap_or_else(|breaches| panic!("{breaches}"));
    println!("up of machines {SHAPE}: {kept}");
    // A journal is a little longer or shorter each time, so its last points may be missed.
    let few = 3 + kept.records / 2;
    assert!(kept.effects > 5 && kept.records > 5 && kept.missed < few, "{kept}");
}

#[test]
fn machines_are_released_whatever_happens() {
    let folder = tempfile::tempdir().unwrap();
    let part = Breadth { records: 5, stops: 9, units: 2, ..Breadth::WHOLE };
    let kept = keep(Sinking::whole, folder.path(), at_every_point_or(part));
    let kept = kept.unwrap_or_else(|breaches| panic!("{breaches}"));
    println!("down of machines {SHAPE}: {kept}");
    assert!(kept.effects > 0 && kept.records > 2, "{kept}");
}

#[test]
fn what_any_crash_of_up_has_left_is_released_without_a_resume_or_named() {
    let part = Breadth { effects: 10, intents: 10, records: 10, ..Breadth::WHOLE };
    let part = at_every_point_or(part);
    crash_at("effect", Weather::crash_after_effect, part.effects, part.at_once);
    crash_at("call", Weather::crash_after_intent, part.intents, part.at_once);
    crash_at("record", Weather::crash_after_record, part.records, part.at_once);
}

/// Crashes `up` at the first few points of a kind, and then at every n-th of them.
fn crash_at(what: &str, weather: fn(u64) -> Weather, nth: u64, at_once: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (next, crossed) = (AtomicU64::new(1), AtomicU64::new(0));
    let point = || loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number <= FIRST || number.is_multiple_of(nth) {
            return number;
        }
    };
    let wreck = |number: u64| {
        let state = folder.path().join(number.to_string());
        let rising = Rising::new(&state, &Arc::default());
        if sail(&rising, &state, weather(number)).outcome.is_some() {
            return false;
        }
        released_or_named(rising, &state, &format!("after {what} {number}"));
        crossed.fetch_add(1, Ordering::Relaxed);
        true
    };
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| while wreck(point()) {});
        }
    });
    let crossed = crossed.into_inner();
    println!("down after a crash of up of machines {SHAPE}: crossed {crossed} of {what}s");
    assert!(crossed >= FIRST, "{crossed} of {what}s");
}

/// What is proven is so. What is not is a worker that no control plane has signed:
/// a resume brings one there.
fn released_or_named(rising: Rising, state: &Path, when: &str) {
    let sinking = Sinking { yard: rising.yard };
    let down = sail(&sinking, state, Weather::FAIR);
    let has_config = |name: &str| sinking.yard.world.node(name).unwrap().config().is_some();
    if down.outcome == Some(RunOutcome::Proven) {
        assert!(!has_config("w-1") && !has_config("cp-1"), "{when}");
        // A machine that was given nothing may still be starting.
        assert_eq!(settled(|| sinking.check()), Ok(()), "{when}");
        return;
    }
    assert!(has_config("w-1") && !has_config("cp-1"), "{when}: {:?}", down.outcome);
    let rising = Rising { yard: sinking.yard, expected: Arc::default() };
    assert_eq!(sail(&rising, state, Weather::FAIR).outcome, Some(RunOutcome::Proven), "{when}");
    let sinking = Sinking { yard: rising.yard };
    assert_eq!(sail(&sinking, state, Weather::FAIR).outcome, Some(RunOutcome::Proven), "{when}");
    assert_eq!(sinking.check(), Ok(()), "{when}");
}

/// A machine that was released is as good as new: the same file brings the
/// cluster up on it again, with an etcd of its own.
#[test]
fn machines_that_were_released_come_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let mut sinking = Sinking::whole(state);
    for _ in 0..2 {
        let down = sail(&sinking, state, Weather::FAIR);
        assert_eq!(down.outcome, Some(RunOutcome::Proven));
        assert_eq!(sinking.check(), Ok(()));
        let rising = Rising { yard: sinking.yard, expected: Arc::default() };
        let up = sail(&rising, state, Weather::FAIR);
        assert_eq!(up.outcome, Some(RunOutcome::Proven));
        sinking = Sinking { yard: rising.yard };
    }
}
