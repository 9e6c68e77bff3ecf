//! One simulated world: a cloud whose servers are Talos nodes, and Kubernetes
//! on them.
//!
//! ```text
//!  Hetzner API ── a server runs, stops, is gone ──► World ──► talos::Node on its address
//!                                                     ▲            │
//!                                                     └── Surroundings: its cluster, Kubernetes
//! ```
//!
//! The parts do not know each other; this is where they are bound together. A
//! world has a /24 of the loopback network to itself, and ends when it is
//! dropped. A [`Yard`] is a world without a cloud: machines of somebody's own.

pub mod chaos;
pub mod fault;
mod inhabitants;
mod inventory;
mod kubernetes;
mod lives;
mod neighbourhood;
mod node_marks;
mod yard;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ipnet::Ipv4Net;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use thiserror::Error;
use tokio::sync::watch;

pub use self::inventory::{ClusterInventory, Inventory};
pub use self::yard::Yard;

use self::fault::Turn;
use self::inhabitants::Inhabitants;
use self::lives::Lives;
use self::neighbourhood::Neighbourhood;
use crate::hetzner::{self, Architecture, Hetzner, ImageStatus, Snapshot, StartError};
use crate::kube::kubelet::Trouble;
use crate::wire::{Authority, AuthorityError};
use crate::{Clock, Effects, Tempo, talos, tenants};

/// What a world is made with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The network that is the world's own, a /24 within 127.0.0.0/8.
    pub range: Ipv4Net,
    /// How fast simulated time passes.
    pub tempo: Tempo,
    /// The token of the cloud's project.
    pub token: String,
    /// The time of day.
    pub clock: Clock,
    /// What luck begins with.
    pub seed: u64,
    /// The versions of Talos that the project holds snapshots of.
    pub talos: Vec<String>,
    /// What the clusters' own controllers know, and what is wrong with them.
    pub tenants: tenants::Knobs,
}

/// A world that runs until it is dropped.
pub struct World {
    hetzner: Arc<Hetzner>,
    tempo: Tempo,
    lives: Lives,
    neighbourhood: Arc<Neighbourhood>,
    /// The versions of Talos that the project holds snapshots of.
    talos: Vec<String>,
    authority: Authority,
    effects: Effects,
    /// The faults that are there, by name.
    struck: watch::Sender<BTreeSet<&'static str>>,
}

/// Why there is no world.
#[derive(Debug, Error)]
pub enum WorldError {
    /// It has no authority.
    #[error("could not make the world's certificate authority")]
    Authority(#[from] AuthorityError),
    /// Its cloud did not start.
    #[error("could not start the cloud")]
    Cloud(#[from] StartError),
}

/// More calls than any client makes in a simulated hour, however fast it passes:
/// only a fault limits them.
const CALLS_PER_HOUR: u32 = 1_000_000;

impl World {
    /// Makes a world.
    pub async fn start(settings: Settings) -> Result<Self, WorldError> {
        let Settings { range, tempo, token, clock, seed, talos, tenants } = settings;
        let authority = Authority::new("simulated world")?;
        let effects = Effects::default();
        let lives = Lives::default();
        let time = (tempo, clock.clone());
        let neighbourhood =
            Arc::new(Neighbourhood::new(time, effects.clone(), lives.clone(), tenants));
        let inhabitants = Arc::new(Inhabitants {
            settings: talos::Settings::new(tempo, clock.clone(), effects.clone()),
            neighbourhood: Arc::clone(&neighbourhood),
            lives: lives.clone(),
        });
        let hetzner = Hetzner::start(
            hetzner::Settings {
                listen: SocketAddr::new(IpAddr::V4(first(range)), 0),
                range,
                token,
                tempo,
                delays: hetzner::Delays::default(),
                calls_per_hour: CALLS_PER_HOUR,
                clock,
                rng: StdRng::seed_from_u64(seed),
                effects: effects.clone(),
                machines: inhabitants,
            },
            &authority,
        )
        .await?;
        neighbourhood.is_in(Arc::new(hetzner.insider()));
        let (hetzner, struck) = (Arc::new(hetzner), watch::Sender::default());
        let world =
            Self { hetzner, tempo, lives, neighbourhood, talos, authority, effects, struck };
        world.add_snapshots();
        Ok(world)
    }

    /// Returns the cloud.
    pub fn hetzner(&self) -> &Hetzner {
        &self.hetzner
    }

    /// Returns the node of a server, by its name.
    pub fn node(&self, name: &str) -> Option<talos::Node> {
        self.lives.node(name)
    }

    /// Returns the names of the nodes that run or have run.
    pub fn nodes(&self) -> Vec<String> {
        self.lives.all().nodes.keys().cloned().collect()
    }

    /// Changes what is wrong with the machine of that name, which may still
    /// have to be made.
    pub fn turn(&self, name: &str, turn: impl FnOnce(&mut talos::Knobs)) {
        self.lives.turn_machine(name, turn);
    }

    /// Changes what is wrong with the kubelet of a node, which may still have to join.
    pub fn trouble(&self, name: &str, turn: impl FnOnce(&mut Trouble)) {
        self.lives.turn_kubelet(name, turn);
    }

    /// Changes what is wrong inside the clusters.
    pub fn tenants(&self, turn: impl FnOnce(&mut tenants::Knobs)) {
        self.neighbourhood.turn(turn);
    }

    /// Puts the snapshots into the project that it should hold.
    fn add_snapshots(&self) {
        for version in &self.talos {
            for architecture in [Architecture::X86, Architecture::Arm] {
                self.hetzner.add_snapshot(snapshot(version, architecture));
            }
        }
    }

    /// Lets a node be ready and not ready in turns, for as long as the fault is there.
    fn flap(&self, fault: &'static str, name: &str) {
        let (lives, tempo) = (self.lives.clone(), self.tempo);
        let (struck, name) = (self.struck.subscribe(), name.to_owned());
        tokio::spawn(async move {
            for not_ready in [None, Some(fault::PLEG)].into_iter().cycle() {
                // A world that has ended needs no more.
                if struck.has_changed().is_err() || !struck.borrow().contains(fault) {
                    break;
                }
                lives.turn_kubelet(&name, |trouble| trouble.not_ready = not_ready);
                tempo.pass(Duration::from_mins(1)).await;
            }
            lives.turn_kubelet(&name, |trouble| trouble.not_ready = None);
        });
    }

    /// Restarts a machine, where there is one of that name.
    fn restart(&self, name: &str) {
        if let Some(node) = self.node(name) {
            node.power_off();
            node.power_on();
        }
    }

    /// Returns the names of the faults that are there now.
    pub fn faults(&self) -> BTreeSet<&'static str> {
        self.struck.borrow().clone()
    }

    fn note(&self, fault: &'static str, turn: Turn) {
        self.struck.send_modify(|struck| match turn {
            Turn::Strike => drop(struck.insert(fault)),
            Turn::Mend => drop(struck.remove(fault)),
        });
    }

    /// Takes a server away as soon as it runs, once, unless the fault is mended before.
    fn vanish_once_there(&self, fault: &'static str, name: &str) {
        let (hetzner, lives, tempo) = (Arc::clone(&self.hetzner), self.lives.clone(), self.tempo);
        let (struck, name) = (self.struck.subscribe(), name.to_owned());
        tokio::spawn(async move {
            while lives.node(&name).is_none() {
                tempo.pass(Duration::from_secs(1)).await;
            }
            if struck.borrow().contains(fault) {
                hetzner.vanish(&name);
            }
        });
    }

    /// Returns the authority that vouches for the cloud's API, as PEM.
    pub fn authority(&self) -> &str {
        self.authority.pem()
    }

    /// Returns what clients have changed.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }
}

fn first(range: Ipv4Net) -> Ipv4Addr {
    range.hosts().next().unwrap_or(Ipv4Addr::LOCALHOST)
}

/// The disk of the smallest server types, on which a snapshot was made.
const SNAPSHOT_DISK: u32 = 40;

fn snapshot(version: &str, architecture: Architecture) -> Snapshot {
    let labels = [("os", "talos"), ("talos_version", version)];
    Snapshot {
        description: format!("Talos {version}"),
        architecture,
        disk: SNAPSHOT_DISK,
        status: ImageStatus::Available,
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    }
}
