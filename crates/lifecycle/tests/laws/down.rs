//! `down` is crashed, stopped and failed at every point, and resumed; and it
//! takes away what any crash of `up` has left.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use engine::Backoff;
use engine::laws::{Breadth, Effects, Time, Weather, World, keep, sail};
use events::{ClusterId, Plan, RunOutcome};
use lifecycle::down::{self, Down};

use crate::sea::{AT_ONCE, BACKOFF, SPEED, Sea, Shape, at_every_point_or, unhurried};
use crate::up::Rising;

/// A world in which a cluster is taken down.
struct Sinking {
    sea: Arc<Sea>,
}

impl Sinking {
    /// A cluster that was brought up without a disturbance.
    fn whole(shape: Shape, state: &Path) -> Self {
        let rising = Rising::new(shape, state, &Arc::default());
        let risen = sail(&rising, state, Weather::FAIR);
        assert_eq!(risen.outcome, Some(RunOutcome::Proven));
        Self { sea: rising.sea }
    }

    /// There is what others have, and nothing else.
    fn look(&self) -> Result<(), String> {
        let left = self.sea.world.hetzner().holdings();
        let surplus: Vec<_> =
            left.iter().filter(|it| !self.sea.of_others.contains(it)).map(|it| &it.name).collect();
        match self.sea.of_others.iter().find(|it| !left.contains(it)) {
            Some(touched) => {
                Err(format!("{} {} of others was touched", touched.kind, touched.name))
            }
            None if surplus.is_empty() => Ok(()),
            None => Err(format!("left, or changed: {surplus:?}")),
        }
    }
}

impl World for Sinking {
    type Work = Down;

    fn plan(&self, cluster: ClusterId) -> Plan {
        unhurried(down::plan("demo", cluster, "laws", Some(SPEED)))
    }

    fn work(&self, effects: Effects) -> Arc<Down> {
        self.sea.tell(effects);
        Arc::new(Down::new(self.sea.cloud(), Some(SPEED)))
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

    /// `down` has proven that nothing is left: it must be so at once.
    fn check(&self) -> Result<(), String> {
        self.look()
    }
}

#[test]
fn a_cluster_goes_down_whatever_happens() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape { control_planes: 1, workers: 0 };
    let make = |state: &Path| Sinking::whole(shape, state);
    let part = Breadth { records: 3, stops: 9, ..Breadth::WHOLE };
    let kept = keep(make, folder.path(), at_every_point_or(part));
    let kept = kept.unwrap_or_else(|breaches| panic!("{breaches}"));
    println!("down of {shape}: {kept}");
    assert!(kept.effects > 5 && kept.records > 5, "{kept}");
}

#[test]
fn what_any_crash_of_up_has_left_goes_down_without_a_resume() {
    let folder = tempfile::tempdir().unwrap();
    let shape = Shape { control_planes: 1, workers: 0 };
    let (next, crossed) = (AtomicU64::new(1), AtomicU64::new(0));
    let wreck = |effect: u64| {
        let state = folder.path().join(effect.to_string());
        let rising = Rising::new(shape, &state, &Arc::default());
        let up = sail(&rising, &state, Weather::crash_after_effect(effect));
        if up.outcome.is_some() {
            return false;
        }
        let sinking = Sinking { sea: rising.sea };
        let down = sail(&sinking, &state, Weather::FAIR);
        assert_eq!(down.outcome, Some(RunOutcome::Proven), "after effect {effect}");
        assert_eq!(sinking.check(), Ok(()), "after effect {effect}");
        crossed.fetch_add(1, Ordering::Relaxed);
        true
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| while wreck(next.fetch_add(1, Ordering::Relaxed)) {});
        }
    });
    let crossed = crossed.into_inner();
    println!("down after a crash of up {shape}: crossed {crossed} crashes after an effect");
    assert!(crossed > 50, "{crossed}");
}
