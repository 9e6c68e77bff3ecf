//! Real Talos nodes: machined, apid, trustd, containerd, etcd, kubelet and a
//! control plane, in containers.
//!
//! Talos has a mode for containers; this does what its provisioner for Docker
//! does, with runc alone. Nodes hang on a bridge of their own and pull images
//! from a registry at the bridge's address, so nothing leaves this machine.
//! Install, reboot, upgrade and disks do not exist in this mode.
//!
//! ```text
//!  depot (cache) ── root ──► node ─┐
//!      └── images ─► registry ─── bridge ◄── test, talosctl
//!                          node ───┘
//! ```

mod bundle;
mod cluster;
mod ctl;
mod depot;
mod host;
mod node;
mod pods;
mod root;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use thiserror::Error;

pub use cluster::{Shape, TalosCluster, kubelet_settings};
pub use ctl::{Talosctl, TalosctlError};
pub use host::Host;
pub use node::TalosNode;
pub use pods::PodImages;

use crate::control_plane::{StartError, binary};
use crate::image::Image;
use crate::janitor::Leftover;
use crate::kubectl::KubectlError;
use crate::node::NodeError;
use crate::node::bridge::Bridge;
use crate::node::cgroup;
use crate::registry::Registry;
use crate::run::{Run, RunError};
use depot::Depot;
use node::Berth;

/// The last number of the first node's address.
const FIRST_ADDRESS: u8 = 10;

/// A bridge with real Talos nodes, which this process owns; dropping it takes
/// all of it away.
#[derive(Debug)]
pub struct Talos {
    nodes: Vec<TalosNode>,
    registry: Registry,
    bridge: Bridge,
    depot: Depot,
    cgroup: String,
    talosctl: Talosctl,
    run: Option<Run>,
}

/// Why there are no Talos nodes.
#[derive(Debug, Error)]
pub enum TalosError {
    /// This machine cannot run them.
    #[error("{0}")]
    Obstacle(String),
    /// What the nodes share could not be made.
    #[error("could not pack what Talos nodes share: {source}")]
    Depot {
        /// What the system said.
        source: io::Error,
    },
    /// A container was not made.
    #[error("runc did not make the node {name}: {said}")]
    Container {
        /// The node.
        name: String,
        /// What it said.
        said: String,
    },
    /// A command inside a node failed.
    #[error("inside the node {name}: {said}")]
    Inside {
        /// The node.
        name: String,
        /// What was said.
        said: String,
    },
    /// The bridge, a tool or the run's folder failed.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// talosctl refused.
    #[error(transparent)]
    Talosctl(#[from] TalosctlError),
    /// kubectl refused.
    #[error(transparent)]
    Kubectl(#[from] KubectlError),
    /// The cluster did not get there in time.
    #[error("{what} after {seconds} s: {because}")]
    Late {
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: u64,
        /// What the last look saw.
        because: String,
    },
}

impl From<RunError> for TalosError {
    fn from(error: RunError) -> Self {
        Self::Node(error.into())
    }
}

impl From<StartError> for TalosError {
    fn from(error: StartError) -> Self {
        Self::Node(error.into())
    }
}

impl Talos {
    /// Makes the bridge and the registry; nodes are added to it.
    pub fn start() -> Result<Self, TalosError> {
        Self::serving(&[])
    }

    /// The same, with images for pods of the test's own.
    pub fn with(pods: &PodImages) -> Result<Self, TalosError> {
        Self::serving(&pods.all())
    }

    fn serving(more: &[Image]) -> Result<Self, TalosError> {
        if let Some(obstacle) = Host::obstacle() {
            return Err(TalosError::Obstacle(obstacle));
        }
        let depot = Depot::open()?;
        let mut run = Run::start()?;
        let bridge = Bridge::create(&mut run)?;
        let cgroup = cgroup::create(&mut run)?;
        let address = SocketAddr::from((bridge.address(), 0));
        let images = [&depot.images(), more].concat();
        let registry =
            Registry::start_at(address, images).map_err(|source| TalosError::Depot { source })?;
        let talosctl = Talosctl::new(&binary("talosctl")?, &run.folder("home")?);
        Ok(Self { nodes: Vec::new(), registry, bridge, depot, cgroup, talosctl, run: Some(run) })
    }

    /// Starts one more node. It comes up in maintenance mode.
    pub fn add(&mut self, name: &str) -> Result<&TalosNode, TalosError> {
        let gateway = self.bridge.address();
        let [a, b, c, _] = gateway.octets();
        let place = u8::try_from(self.nodes.len()).expect("there are fewer nodes than addresses");
        let address = Ipv4Addr::new(a, b, c, FIRST_ADDRESS + place);
        let root = self.depot.root();
        let berth =
            Berth { root: &root, bridge: self.bridge.name(), gateway, cgroup: &self.cgroup };
        let run = self.run.as_mut().expect("it has its run until it ends");
        let node = TalosNode::start(run, &berth, name, address)?;
        self.nodes.push(node);
        Ok(self.nodes.last().expect("it was pushed just now"))
    }

    /// Returns the nodes, in the order in which they were added.
    pub fn nodes(&self) -> &[TalosNode] {
        &self.nodes
    }

    /// Returns the registry that nodes must use as mirror.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the bridge's own address, where a test can serve the nodes.
    pub fn gateway(&self) -> Ipv4Addr {
        self.bridge.address()
    }

    /// Returns the real talosctl, with a home of its own.
    pub fn talosctl(&self) -> &Talosctl {
        &self.talosctl
    }

    /// Returns the folder that holds all files and logs.
    pub fn dir(&self) -> &Path {
        self.run.as_ref().expect("it has its run until it ends").dir()
    }

    /// Takes everything away and says what would not go.
    pub fn end(mut self) -> Vec<Leftover> {
        self.run.take().map(Run::end).unwrap_or_default()
    }
}

/// Returns the components that real nodes and their pods need.
pub fn parts() -> Vec<&'static str> {
    [&depot::PARTS[..], &["rig-net"]].concat()
}
