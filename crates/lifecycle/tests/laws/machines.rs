//! Machines of somebody's own are brought up and released whatever happens,
//! and wait for a config afterwards as they did before.

use std::path::Path;
use std::sync::{Arc, OnceLock};

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
