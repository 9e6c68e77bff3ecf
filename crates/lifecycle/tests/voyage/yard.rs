//! Simulated machines of somebody's own, with one cluster's state folder beside
//! them. There is no cloud.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use engine::{Chance, StateFolder, Until, Work};
use events::Clock;
use lifecycle::down::{self, Release};
use lifecycle::up::{self, Circumstances, Up};
use lifecycle::{Ground, Site};
use sim::talos::{Node, NodeFacts};
use sim::{Tempo, tenants, world};
use spec::plan::{Endpoint, Stage, Timeouts};

use crate::harbour::{Ran, new_bundle, read, run};

/// How fast the world runs.
const SPEED: u32 = 100;

/// How long a run waits for what will never be ready, in simulated time.
const PATIENCE: spec::Duration = spec::Duration::from_secs(125);

/// The place of the first machine in its network.
pub(crate) const FIRST: u8 = 11;

/// What the machines are called: a control plane and a worker.
pub(crate) const NAMES: [&str; 2] = ["cp-1", "w-1"];

/// The networks that tests have taken: two tests in one would find each other's
/// machines.
static NETWORKS: Mutex<BTreeSet<u8>> = Mutex::new(BTreeSet::new());

/// Machines, and the state of a cluster on them.
pub(crate) struct Yard {
    pub(crate) world: world::Yard,
    /// The cluster file.
    pub(crate) file: String,
    /// The stage for which a run has less patience than usual.
    pub(crate) hopeless: Option<Stage>,
    state: tempfile::TempDir,
}

impl Yard {
    /// Switches the machines on, in a network of their own.
    pub(crate) fn new(number: u8) -> Self {
        Self::with(number, |facts| facts)
    }

    /// Switches machines on that differ from what is usual.
    pub(crate) fn with(number: u8, change: impl Fn(NodeFacts) -> NodeFacts) -> Self {
        Self::of(number, &NAMES, change)
    }

    /// Switches machines of these names on. The file has the first two.
    pub(crate) fn of(number: u8, names: &[&str], change: impl Fn(NodeFacts) -> NodeFacts) -> Self {
        let is_free = NETWORKS.lock().unwrap().insert(number);
        assert!(is_free, "another test has the network {number}");
        let clock = sim::Clock::real();
        let world = world::Yard::new(Tempo::times(SPEED), &clock, tenants::Knobs::default());
        for (place, name) in (FIRST..).zip(names) {
            world.add(change(NodeFacts::bare_machine(name, Ipv4Addr::new(127, 78, number, place))));
        }
        let state = tempfile::tempdir().unwrap();
        new_bundle(1).save_new(&state.path().join("secrets.yaml")).unwrap();
        let nodes: Vec<_> = NAMES.into_iter().zip(FIRST..).collect();
        Self { world, file: file(number, "{}", &nodes), hopeless: None, state }
    }

    pub(crate) async fn up(&self, until: Option<&str>) -> Ran {
        self.up_from(self.root(), until).await
    }

    /// Brings it up from another state folder.
    pub(crate) async fn up_from(&self, root: &Path, until: Option<&str>) -> Ran {
        self.run_up(root, until, |up| up).await
    }

    /// Brings it up with something between the engine and the stages.
    pub(crate) async fn up_with<W: Work>(
        &self,
        until: Option<&str>,
        between: impl FnOnce(Up) -> W,
    ) -> Ran {
        self.run_up(self.root(), until, between).await
    }

    async fn run_up<W: Work>(
        &self,
        root: &Path,
        until: Option<&str>,
        between: impl FnOnce(Up) -> W,
    ) -> Ran {
        let folder = StateFolder::open(root, &Chance::real()).unwrap();
        let site = self.site(root, &folder);
        let now = Circumstances { simulated_speed: Some(SPEED), ..Circumstances::default() };
        let plan = up::plan(&site.plan, folder.cluster(), "test", &now);
        let until = until.map_or(Until::TheEnd, |stage| Until::Stage(stage.into()));
        run(&folder, plan, until, Arc::new(between(Up::new(Arc::new(site))))).await
    }

    pub(crate) async fn down(&self) -> Ran {
        self.down_from(self.root()).await
    }

    /// Wipes the machines from another state folder.
    pub(crate) async fn down_from(&self, root: &Path) -> Ran {
        let folder = StateFolder::open(root, &Chance::real()).unwrap();
        let site = self.site(root, &folder);
        let plan = down::plan_of_machines("demo", folder.cluster(), "test", Some(SPEED));
        run(&folder, plan, Until::TheEnd, Arc::new(Release::new(Arc::new(site)))).await
    }

    pub(crate) fn node(&self, name: &str) -> Node {
        self.world.node(name).unwrap()
    }

    /// Puts an empty disk into a machine, and switches it on again.
    pub(crate) fn wipe(&self, name: &str) {
        let facts = self.node(name).facts().clone();
        self.node(name).power_off();
        self.world.add(facts);
    }

    /// Returns how many changes the machines and their cluster have seen.
    pub(crate) fn effects(&self) -> usize {
        self.world.effects().all().len()
    }

    pub(crate) fn root(&self) -> &Path {
        self.state.path()
    }

    fn site(&self, root: &Path, folder: &StateFolder) -> Site {
        let cluster = read(&self.file);
        let mut plan = spec::Plan::of(&cluster, folder.cluster());
        plan.nodes.iter_mut().for_each(|node| node.address = on_loopback(node.address));
        if let Endpoint::Vip(vip) = &mut plan.endpoint {
            *vip = on_loopback(*vip);
        }
        if let Some(stage) = self.hopeless {
            plan.timeouts = Timeouts::with(plan.timeouts, stage, PATIENCE);
        }
        let ground = Ground::machines(&plan);
        let mut site = Site::new(plan, ground, root, Clock::real(), Chance::real());
        site.speed = Some(SPEED);
        site
    }
}

/// No file may name machines at addresses of this machine, where the simulated
/// ones are.
fn on_loopback(address: Ipv4Addr) -> Ipv4Addr {
    let [_, b, c, d] = address.octets();
    Ipv4Addr::new(127, b, c, d)
}

/// A cluster file: names of nodes, each with the place of its machine in the
/// network. The first is the control plane.
pub(crate) fn file(number: u8, control_plane: &str, nodes: &[(&str, u8)]) -> String {
    let line = |(turn, (name, place)): (usize, &(&str, u8))| {
        let pool = if turn == 0 { "control-plane" } else { "workers" };
        format!("        - {{ name: {name}, pool: {pool}, address: 10.78.{number}.{place} }}\n")
    };
    let lines: String = nodes.iter().enumerate().map(line).collect();
    let pools = if nodes.len() > 1 { "  pools: [{ name: workers }]\n" } else { "" };
    format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud:
    machines:
      network: 10.78.{number}.0/24
      nodes:
{lines}  talos: {{ version: v1.14.1, install: {{ disk: /dev/sda }} }}
  kubernetes: {{ version: v1.36.3, certSANs: [127.78.{number}.250] }}
  controlPlane: {control_plane}
{pools}  addons:
    cilium: {{}}
"
    )
}
