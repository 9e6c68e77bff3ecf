//! Simulated machines of somebody's own, on a thread of their own, with one
//! cluster's state folder beside them. There is no cloud.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use engine::{Chance, StateFolder};
use events::Clock;
use lifecycle::{Ground, Site};
use sim::talos::{NodeFacts, Stage};
use sim::{Tempo, tenants, world};
use tokio::runtime::{Builder, Runtime};

use crate::sea::{SPEED, Shape, bundle, range};

/// Machines, and the state of a cluster on them.
pub(crate) struct Yard {
    pub(crate) world: world::Yard,
    pub(crate) shape: Shape,
    /// The addresses that no other world has.
    range: Vec<Ipv4Addr>,
    state: PathBuf,
    cluster: spec::Cluster,
    /// The world's own; gone after the world.
    _runtime: Runtime,
}

impl Yard {
    /// Switches the machines on, and makes a state folder with the keys that
    /// take long to make.
    pub(crate) fn new(shape: Shape, state: &Path) -> Self {
        let (cluster, range): (_, Vec<_>) = (cluster(shape), range().hosts().collect());
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let clock = sim::Clock::real();
        let world = world::Yard::new(Tempo::times(SPEED), &clock, tenants::Knobs::default());
        runtime.block_on(async {
            for (name, _, number) in machines(shape) {
                world.add(NodeFacts::bare_machine(&name, range[number]));
            }
        });
        let state_folder = state.to_owned();
        let yard = Self { world, shape, range, state: state_folder, cluster, _runtime: runtime };
        yard.folder();
        bundle().save_new(&state.join("secrets.yaml")).unwrap();
        yard
    }

    pub(crate) fn folder(&self) -> StateFolder {
        StateFolder::open(&self.state, &Chance::seeded(0)).unwrap()
    }

    /// Returns what a new process knows of the cluster's place.
    pub(crate) fn site(&self) -> Site {
        let mut plan = spec::Plan::of(&self.cluster, self.folder().cluster());
        // No file may name machines at addresses of this machine, where the
        // simulated ones are.
        for node in &mut plan.nodes {
            node.address = self.range[usize::from(node.address.octets()[3])];
        }
        let ground = Ground::machines(&plan);
        let mut site = Site::new(plan, ground, &self.state, Clock::real(), Chance::real());
        site.speed = Some(SPEED);
        site
    }

    pub(crate) fn mutations(&self) -> u64 {
        *self.world.effects().count().borrow()
    }

    /// Says which machine does not wait for a config.
    pub(crate) fn waits(&self) -> Result<(), String> {
        for (name, ..) in machines(self.shape) {
            let node = self.world.node(&name).unwrap();
            let (stage, config) = (node.stage(), node.config());
            if stage != Stage::Maintenance || config.is_some() {
                return Err(format!("{name} is {}, config: {}", stage.name(), config.is_some()));
            }
        }
        Ok(())
    }
}

/// Names, pools and numbers of the machines of a shape.
fn machines(shape: Shape) -> Vec<(String, &'static str, usize)> {
    let cps = (1..=shape.control_planes).map(|n| (format!("cp-{n}"), "control-plane", 10 + n));
    cps.chain((1..=shape.workers).map(|n| (format!("w-{n}"), "workers", 20 + n))).collect()
}

/// The same file for every world of a shape.
fn cluster(shape: Shape) -> spec::Cluster {
    let mut nodes = String::new();
    for (name, pool, number) in machines(shape) {
        let machine = format!("{{ name: {name}, pool: {pool}, address: 10.78.0.{number} }}");
        let _ = writeln!(nodes, "        - {machine}");
    }
    let pools = if shape.workers > 0 { "[{ name: workers }]" } else { "[]" };
    let text = format!(
        "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud:
    machines:
      network: 10.78.0.0/24
      nodes:
{nodes}  talos: {{ version: v1.14.1, install: {{ disk: /dev/sda }} }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{}}
  pools: {pools}
  addons:
    cilium: {{}}
"
    );
    let reading = spec::read("cluster.yaml", text.as_bytes());
    let told = reading.render(spec::Colour::Plain);
    reading.into_cluster().unwrap_or_else(|_| panic!("{told}"))
}
