//! Runs of the engine in a small simulated world, over the stages of `up`.

use std::path::Path;

use engine::laws::{Harbour, Sabotaged, Weather, World, sail};
use engine::{Chance, StateFolder};
use events::{After, ClusterId, Plan, Reach, RunId, Unit};
use lifecycle::up::{self, Circumstances};

/// The plan of `up` for a new cluster file with its defaults: 3 + 2.
pub(crate) fn plan() -> Plan {
    let answers = spec::init::Answers::new(spec::CloudKind::Hetzner);
    let text = spec::init::cluster_file(&answers).unwrap();
    let cluster = spec::read("cluster.yaml", text.as_bytes()).into_cluster().unwrap();
    let id = ClusterId::new(1);
    let now = Circumstances { monthly_cents: Some(3847), ..Circumstances::default() };
    up::plan(&spec::Plan::of(&cluster, id), id, "0.1.0", &now)
}

/// The same plan with one stage after the other, so that the order of what is
/// told does not depend on threads.
pub(crate) fn plan_in_a_row() -> Plan {
    let mut plan = plan();
    for index in 1..plan.stages.len() {
        let stage = plan.stages[index - 1].name.clone();
        plan.stages[index].after = vec![After { stage, on: Reach::All }];
    }
    plan
}

/// Runs once in the state folder of a cluster named `demo`, and returns the run.
pub(crate) fn run<W: World>(state: &Path, harbour: &W, weather: Weather) -> RunId {
    let root = state.join("demo");
    sail(harbour, &root, weather);
    let folder = StateFolder::open(&root, &Chance::seeded(0)).unwrap();
    folder.runs().unwrap().pop().unwrap()
}

/// A run that ends proven.
pub(crate) fn proven(state: &Path) -> RunId {
    run(state, &Harbour::calm(plan_in_a_row()), Weather::FAIR)
}

/// A run that fails at `etcd`.
pub(crate) fn failed(state: &Path) -> RunId {
    let harbour = Harbour::calm(plan_in_a_row());
    run(state, &Sabotaged::new(&harbour, Unit::whole("etcd")), Weather::FAIR)
}
