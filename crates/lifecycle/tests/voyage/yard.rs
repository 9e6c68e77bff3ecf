//! Simulated machines of somebody's own, with one cluster's state folder beside
//! them. There is no cloud.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use engine::{Chance, StateFolder, Until};
use events::Clock;
use lifecycle::down::{self, Release};
use lifecycle::up::{self, Circumstances, Up};
use lifecycle::{Ground, Site};
use sim::talos::{Node, NodeFacts};
use sim::{Tempo, tenants, world};
use spec::plan::{Stage, Timeouts};

use crate::harbour::{Ran, new_bundle, run};

/// How fast the world runs.
const SPEED: u32 = 100;

/// How long a run waits for what will never be ready, in simulated time.
const PATIENCE: spec::Duration = spec::Duration::from_secs(125);

/// What the machines are called: a control plane and a worker.
pub(crate) const NAMES: [&str; 2] = ["cp-1", "w-1"];

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
        let clock = sim::Clock::real();
        let world = world::Yard::new(Tempo::times(SPEED), &clock, tenants::Knobs::default());
        for (place, name) in (11..).zip(NAMES) {
            world.add(change(NodeFacts::bare_machine(name, Ipv4Addr::new(127, 78, number, place))));
        }
        let state = tempfile::tempdir().unwrap();
        new_bundle(1).save_new(&state.path().join("secrets.yaml")).unwrap();
        Self { world, file: file(number), hopeless: None, state }
    }

    pub(crate) async fn up(&self, until: Option<&str>) -> Ran {
        self.up_from(self.root(), until).await
    }

    /// Brings it up from another state folder.
    pub(crate) async fn up_from(&self, root: &Path, until: Option<&str>) -> Ran {
        let folder = StateFolder::open(root, &Chance::real()).unwrap();
        let site = self.site(root, &folder);
        let now = Circumstances { simulated_speed: Some(SPEED), ..Circumstances::default() };
        let plan = up::plan(&site.plan, folder.cluster(), "test", &now);
        let until = until.map_or(Until::TheEnd, |stage| Until::Stage(stage.into()));
        run(&folder, plan, until, Arc::new(Up::new(Arc::new(site)))).await
    }

    pub(crate) async fn down(&self) -> Ran {
        let folder = StateFolder::open(self.root(), &Chance::real()).unwrap();
        let site = self.site(self.root(), &folder);
        let plan = down::plan_of_machines("demo", folder.cluster(), "test", Some(SPEED));
        run(&folder, plan, Until::TheEnd, Arc::new(Release::new(Arc::new(site)))).await
    }

    pub(crate) fn node(&self, name: &str) -> Node {
        self.world.node(name).unwrap()
    }

    /// Returns how many changes the machines and their cluster have seen.
    pub(crate) fn effects(&self) -> usize {
        self.world.effects().all().len()
    }

    pub(crate) fn root(&self) -> &Path {
        self.state.path()
    }

    fn site(&self, root: &Path, folder: &StateFolder) -> Site {
        let reading = spec::read("cluster.yaml", self.file.as_bytes());
        let told = reading.render(spec::Colour::Plain);
        let cluster = reading.into_cluster().unwrap_or_else(|_| panic!("{told}"));
        let mut plan = spec::Plan::of(&cluster, folder.cluster());
        // No file may name machines at addresses of this machine, where the
        // simulated ones are.
        for node in &mut plan.nodes {
            let [_, b, c, d] = node.address.octets();
            node.address = Ipv4Addr::new(127, b, c, d);
        }
        if let Some(stage) = self.hopeless {
            plan.timeouts = Timeouts::with(plan.timeouts, stage, PATIENCE);
        }
        let mut site = Site::new(plan, Ground::Machines, root, Clock::real(), Chance::real());
        site.speed = Some(SPEED);
        site
    }
}

fn file(number: u8) -> String {
    format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud:
    machines:
      network: 10.78.{number}.0/24
      nodes:
        - {{ name: cp-1, pool: control-plane, address: 10.78.{number}.11 }}
        - {{ name: w-1, pool: workers, address: 10.78.{number}.12 }}
  talos: {{ version: v1.14.1, install: {{ disk: /dev/sda }} }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{}}
  pools: [{{ name: workers }}]
  addons:
    cilium: {{}}
"
    )
}
