//! What the engine costs: `cargo xtask bench engine`.
//!
//! Prints the wall time of a run of 16 stages over 500 nodes as a ratio of its
//! critical path (the time the units themselves take), and how many events a
//! second reach the journal, with and without waiting for the disk.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::sync::Arc;
use std::time::Duration;

use engine::{
    ActError, Backoff, Cancel, Chance, Check, Engine, Eyes, Hands, Opening, Pace, Scope, Session,
    Sight, Stage, StateFolder, Until, Work, planned,
};
use events::journal::Durability;
use events::{
    Call, CallClass, CheckName, Clock, ClusterId, Digest, Evidence, Failure, Made, Plan,
    PlannedNode, Reach, Role, RunOutcome, Unit, Verdict,
};
use tokio::time::Instant;

const NODES: usize = 500;

/// The shape of a real `up`: what a node does alone is a chain without
/// barriers, what the cluster does waits for the control planes or for all.
const TABLE: &[Stage] = &[
    whole("preflight", &[]),
    whole("secrets", &[("preflight", Reach::All)]),
    whole("image", &[("secrets", Reach::All)]),
    whole("network", &[("image", Reach::All)]),
    each("nodes", &[("network", Reach::All)]),
    each("identity", &[("nodes", Reach::Chain)]),
    each("config", &[("identity", Reach::Chain)]),
    whole("etcd", &[("config", Reach::ControlPlanes)]),
    whole("api", &[("etcd", Reach::All)]),
    each("cni", &[("api", Reach::All), ("config", Reach::Chain)]),
    each("cloud", &[("cni", Reach::Chain)]),
    each("ready", &[("cloud", Reach::Chain)]),
    each("storage", &[("ready", Reach::Chain)]),
    whole("seal", &[("storage", Reach::All)]),
    whole("gitops", &[("seal", Reach::All)]),
    whole("proof", &[("gitops", Reach::All)]),
];

const GATE: &[Check] = &[Check::gate("gate", Duration::from_mins(10))];

const fn whole(name: &'static str, after: &'static [(&'static str, Reach)]) -> Stage {
    Stage { name, after, scope: Scope::Cluster, checks: GATE }
}

const fn each(name: &'static str, after: &'static [(&'static str, Reach)]) -> Stage {
    Stage { name, after, scope: Scope::EachNode, checks: GATE }
}

/// Every unit makes one call that takes `takes`, and its gate is ready at once.
struct Steady {
    takes: Duration,
}

impl Work for Steady {
    async fn act(&self, unit: &Unit, hands: &Hands) -> Result<(), ActError> {
        let (clock, takes) = (hands.eyes().clock(), self.takes);
        let call = Call::new(CallClass::Named, "make", unit.to_string(), b"{}");
        let send = move |_| async move {
            clock.sleep(takes).await;
            Ok(Made::id("thing", "1"))
        };
        hands.ensure(call, async |_| Ok(Sight::NotThere), send).await?;
        Ok(())
    }

    async fn look(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Verdict {
        Verdict::ready(Evidence::new("fine").fact("members", 3))
    }

    async fn probe(&self, _: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Ok(Verdict::ready(Evidence::new("fine")))
    }

    async fn inputs(&self, _: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Ok(Digest::ZERO)
    }
}

fn plan() -> Plan {
    let role = |n| if n < 3 { Role::ControlPlane } else { Role::Worker };
    let node = |n| PlannedNode { name: format!("bench-{n}").into(), role: role(n) };
    let nodes: Vec<_> = (0..NODES).map(node).collect();
    Plan {
        command: "up".to_owned(),
        cluster: "bench".to_owned(),
        cluster_id: ClusterId::new(0),
        title: format!("{NODES} nodes"),
        tool: "bench".to_owned(),
        stages: planned(TABLE, &nodes, &Pace::default()).unwrap(),
        nodes,
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

/// Runs once, and returns the wall time and the number of events.
async fn run(takes: Duration, durability: Durability) -> (Duration, u64) {
    let folder = tempfile::tempdir().unwrap();
    let chance = Chance::seeded(1);
    let state = StateFolder::open(folder.path(), &chance).unwrap();
    let opening = Opening {
        pid: std::process::id(),
        host: "bench".to_owned(),
        command: "up".to_owned(),
        durability,
        observers: vec![],
    };
    let session = Session::open(&state, opening, Clock::real(), &chance).unwrap();
    let recorder = session.ledger.recorder().clone();
    let engine = Engine { session, chance, cancel: Cancel::new(), backoff: Backoff::default() };
    let plan = plan();
    let start = Instant::now();
    let finished = engine.run(plan, &Until::TheEnd, Arc::new(Steady { takes })).await;
    let wall = start.elapsed();
    assert_eq!(finished.unwrap().outcome, RunOutcome::Proven);
    (wall, recorder.state(|state| state.last().0))
}

#[tokio::main]
async fn main() {
    let path = u32::try_from(TABLE.len()).unwrap();
    println!("{} stages, {NODES} nodes", TABLE.len());
    for takes in [Duration::from_millis(250), Duration::from_secs(1)] {
        let (wall, events) = run(takes, Durability::Synced).await;
        let critical = takes * path;
        let ratio = wall.as_secs_f64() / critical.as_secs_f64();
        println!(
            "units of {takes:?}: critical path {critical:?}, wall {wall:.3?}, {events} events, \
             ratio {ratio:.4} (goal 1.02)"
        );
    }
    for durability in [Durability::Synced, Durability::Unsynced] {
        let (wall, events) = run(Duration::ZERO, durability).await;
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
        let rate = events as f64 / wall.as_secs_f64();
        println!("{durability:?}: {events} events in {wall:.3?}, {rate:.0} a second");
    }
}
