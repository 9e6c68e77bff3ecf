//! What a node knows of itself.

use std::sync::Arc;

use jiff::Timestamp;

use super::{super::services::Services, Stage};
use crate::talos::{Cluster, KubernetesNode, MachineConfig, cluster::Membership};

/// Everything about a node that changes; what callers read is made of it.
#[derive(Clone, Debug)]
pub(in crate::talos) struct State {
    pub(in crate::talos) stage: Stage,
    pub(in crate::talos) failure: Option<String>,
    /// When anything of it changed last.
    pub(in crate::talos) since: Timestamp,
    /// The configuration in force; the node keeps it over restarts.
    pub(in crate::talos) config: Option<Arc<MachineConfig>>,
    /// The configuration that comes into force with the next restart.
    pub(in crate::talos) staged: Option<Arc<MachineConfig>>,
    /// The cluster that the configuration belongs to.
    pub(in crate::talos) cluster: Option<Cluster>,
    pub(in crate::talos) services: Services,
    /// Whether the boot sequence has come so far that etcd may be bootstrapped.
    pub(in crate::talos) bootstrap_allowed: bool,
    pub(in crate::talos) etcd: EtcdPhase,
    pub(in crate::talos) static_pods: StaticPods,
    pub(in crate::talos) kubernetes: Option<KubernetesNode>,
    /// The version that it runs, where that is another than it came with.
    pub(in crate::talos) version: Option<String>,
    /// The version that comes into force with the next restart.
    pub(in crate::talos) installed: Option<String>,
    /// Whether it has installed itself to its disk since it was new.
    pub(in crate::talos) on_disk: bool,
    /// How often it was started since it was new.
    pub(in crate::talos) boots: u64,
}

/// How far etcd is on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::talos) enum EtcdPhase {
    /// Its data directory is empty, and nobody asked for more.
    Empty,
    /// A bootstrap was asked for, for the so-many-th time, and the image is
    /// being pulled.
    Bootstrapping(u32),
    /// The data directory is about to appear.
    Initialising,
    /// The data directory appeared while somebody asked for a bootstrap again:
    /// etcd is stopped until the machine restarts.
    Wedged,
    /// It is a member, and its data directory says so.
    Member(Membership),
}

/// How far the static pods of a control plane are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::talos) enum StaticPods {
    Absent,
    Starting,
    Ready,
}

impl EtcdPhase {
    /// Says whether its data directory was found when it was looked for.
    pub(in crate::talos) fn has_data(self) -> bool {
        matches!(self, Self::Wedged | Self::Member(_))
    }
}

impl State {
    pub(super) fn off() -> Self {
        Self {
            stage: Stage::Off,
            failure: None,
            since: Timestamp::UNIX_EPOCH,
            config: None,
            staged: None,
            cluster: None,
            services: Services::default(),
            bootstrap_allowed: false,
            etcd: EtcdPhase::Empty,
            static_pods: StaticPods::Absent,
            kubernetes: None,
            version: None,
            installed: None,
            on_disk: false,
            boots: 0,
        }
    }

    /// Forgets all that a machine forgets when it loses power; what is on its
    /// disk stays.
    pub(super) fn stop(&mut self, stage: Stage) {
        let etcd = match self.etcd {
            on_disk @ (EtcdPhase::Member(_) | EtcdPhase::Wedged) => on_disk,
            _ => EtcdPhase::Empty,
        };
        let config = self.staged.take().or(self.config.take());
        let version = self.installed.take().or(self.version.take());
        let (on_disk, boots) = (self.on_disk, self.boots);
        *self = Self { stage, config, etcd, version, on_disk, boots, ..Self::off() };
    }

    pub(in crate::talos) fn is_control_plane(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.is_control_plane())
    }

    /// Returns the membership of etcd, where the node has one.
    pub(in crate::talos) fn member(&self) -> Option<Membership> {
        match self.etcd {
            EtcdPhase::Member(member) => Some(member),
            _ => None,
        }
    }
}

impl Stage {
    /// Returns the word that Talos has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "unknown",
            Self::Booting => "booting",
            Self::Maintenance => "maintenance",
            Self::Installing => "installing",
            Self::Running => "running",
            Self::Rebooting => "rebooting",
            Self::Resetting => "resetting",
            Self::Upgrading => "upgrading",
        }
    }
}
