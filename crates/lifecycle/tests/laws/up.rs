//! `up` is crashed, stopped and failed at every point, and resumed.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use engine::Backoff;
use engine::laws::{Breadth, Effects, Time, World, keep};
use events::{ClusterId, Plan};
use lifecycle::up::{self, Circumstances, Up};

use crate::likeness::Likeness;
use crate::sea::{BACKOFF, SPEED, Sea, Shape, at_every_point_or, settled, unhurried};

/// A world in which a cluster is brought up.
pub(crate) struct Rising {
    pub(crate) sea: Arc<Sea>,
    /// What the first run has left, which nothing disturbed.
    expected: Arc<OnceLock<Likeness>>,
}

impl Rising {
    pub(crate) fn new(shape: Shape, state: &Path, expected: &Arc<OnceLock<Likeness>>) -> Self {
        Self { sea: Arc::new(Sea::new(shape, state)), expected: Arc::clone(expected) }
    }

    fn look(&self) -> Result<(), String> {
        let inventory = self.sea.world.inventory();
        if let Some(touched) = self.sea.of_others.iter().find(|it| !inventory.holdings.contains(it))
        {
            return Err(format!("{} {} of others was touched", touched.kind, touched.name));
        }
        let likeness = Likeness::of(&inventory, &self.sea.of_others);
        likeness.is_complete(self.sea.shape)?;
        likeness.is_like(self.expected.get_or_init(|| likeness.clone()))
    }
}

impl World for Rising {
    type Work = Up;

    fn plan(&self, cluster: ClusterId) -> Plan {
        let now = Circumstances { simulated_speed: Some(SPEED), ..Circumstances::default() };
        unhurried(up::plan(&self.sea.site().plan, cluster, "laws", &now))
    }

    fn work(&self, effects: Effects) -> Arc<Up> {
        self.sea.tell(effects);
        Arc::new(Up::new(Arc::new(self.sea.site())))
    }

    fn time(&self) -> Time {
        Time::Real
    }

    fn backoff(&self) -> Backoff {
        BACKOFF
    }

    fn mutations(&self) -> u64 {
        self.sea.mutations()
    }

    fn check(&self) -> Result<(), String> {
        settled(|| self.look())
    }
}

fn keep_up(control_planes: usize, workers: usize, part: Breadth) {
    let shape = Shape { control_planes, workers };
    let folder = tempfile::tempdir().unwrap();
    let expected = Arc::default();
    let make = |state: &Path| Rising::new(shape, state, &expected);
    let kept = keep(make, folder.path(), at_every_point_or(part));
    let kept = kept.unwrap_or_else(|breaches| panic!("{breaches}"));
    println!("up {shape}: {kept}");
    // A journal is a little longer or shorter each time, so its last points may be missed.
    let few = 5.max(kept.records / 20);
    assert!(kept.effects > 5 && kept.records > 5 && kept.missed < few, "{kept}");
}

/// Every point of every shape takes half an hour: `cargo xtask laws` does that.
/// These shares of it take minutes: a crash before and after every call where
/// one node does everything, and fewer points where more nodes do the same.
/// Which ones they are changes with the length of the journal, which is a
/// little different each time.
#[test]
fn a_single_node_comes_up_whatever_happens() {
    keep_up(1, 0, Breadth { intents: 2, records: 20, stops: 25, units: 5, ..Breadth::WHOLE });
}

#[test]
fn one_and_two_come_up_whatever_happens() {
    let part = Breadth { intents: 12, effects: 6, records: 40, stops: 80, units: 20, at_once: 1 };
    keep_up(1, 2, part);
}

#[test]
fn three_and_two_come_up_whatever_happens() {
    let part = Breadth { intents: 20, effects: 10, records: 50, stops: 120, units: 30, at_once: 1 };
    keep_up(3, 2, part);
}
