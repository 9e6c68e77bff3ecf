//! How fast a simulated node is, and what is wrong with it.

use std::time::Duration;

use jiff::SignedDuration;

use crate::{Clock, Effects, Tempo};

/// What a node is started with, besides its facts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How fast simulated time passes.
    pub tempo: Tempo,
    /// The time of day.
    pub clock: Clock,
    /// Where its changes are told.
    pub effects: Effects,
    /// How long things take.
    pub delays: Delays,
    /// What is wrong with it.
    pub knobs: Knobs,
}

/// How long things take on a node, in simulated time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From power on to the maintenance API.
    pub boot: Duration,
    /// How long a configuration takes to be written down, in which no other
    /// is taken.
    pub persist: Duration,
    /// From the answer to a configuration to the first sign of it.
    pub accept: Duration,
    /// How long the old server presents the new certificate.
    pub race_window: Duration,
    /// How long the port is closed while the servers change.
    pub swap: Duration,
    /// How long the installer takes, on a machine that was not started from its
    /// disk.
    pub install: Duration,
    /// From the configuration to a container runtime, with which etcd may be
    /// bootstrapped.
    pub runtime: Duration,
    /// How often a node asks whether a control plane signs its certificate.
    pub trustd_poll: Duration,
    /// How long `time is not in sync yet` takes to be said.
    pub time_sync_patience: Duration,
    /// How long etcd's image takes; a second bootstrap starts that over.
    pub etcd_image: Duration,
    /// The moment in which a second bootstrap breaks etcd for good.
    pub etcd_init: Duration,
    /// From etcd's start to its first sound check.
    pub etcd_start: Duration,
    /// How long a member learns before it votes.
    pub etcd_learn: Duration,
    /// How long the kubelet's image and start take.
    pub kubelet: Duration,
    /// How long the images and the start of the static pods take.
    pub control_plane: Duration,
    /// From a restart to power on.
    pub restart: Duration,
}

/// What is wrong with a node; nothing, unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knobs {
    /// It is switched on, and nothing ever starts.
    pub never_boots: bool,
    /// It says to be the machine with this id of the platform.
    pub claims_instance: Option<String>,
    /// It refuses its configuration, for this reason.
    pub refuses_config: Option<String>,
    /// It takes a configuration and goes on in maintenance mode.
    pub stuck_in_maintenance: bool,
    /// It uses another authority than the one of its configuration.
    pub foreign_authority: bool,
    /// What stands between it and its callers passes no client certificate on.
    pub loses_client_certificates: bool,
    /// Its clock is never in sync.
    pub clock_out_of_sync: bool,
    /// Its clock is so far ahead, or behind, until it has a configuration: the
    /// dates of the certificate that it shows meanwhile are wrong.
    pub clock_off_in_maintenance: SignedDuration,
    /// Its kubelet waits for a volume of this name that is never mounted.
    pub kubelet_volume: Option<String>,
    /// Its etcd never gets to join the others.
    pub cannot_join_etcd: bool,
    /// It begins an etcd of its own instead of joining the others'.
    pub own_etcd: bool,
    /// Its disk holds the etcd data of a cluster that it was part of earlier.
    pub foreign_etcd: bool,
    /// The database of its etcd has reached its limit.
    pub etcd_has_no_space: bool,
    /// Somebody else asks for a bootstrap again, in the worst moment.
    pub bootstrapped_twice: bool,
    /// An unattended install begins whenever a bootstrap has been let in: in
    /// between the two looks that a node takes for one.
    pub installs_under_bootstrap: bool,
    /// Its static pods never start.
    pub no_static_pods: bool,
    /// It reaches no control plane: trustd never signs its certificate and its
    /// kubelet never registers.
    pub cut_off: bool,
    /// It cannot pull images.
    pub no_registry: bool,
    /// Its own address is one of the pods' or of the services', as its checks
    /// of itself say.
    pub addresses_overlap: bool,
    /// Everything takes so many times as long.
    pub slowness: u32,
    /// What is written to its disk takes so many times as long: images, and
    /// all that etcd does.
    pub disk_slowness: u32,
    /// Each connection breaks after the node has sent so many bytes.
    pub cut_after_bytes: Option<u64>,
    /// Each connection breaks after the node has received so many bytes.
    pub cut_after_received: Option<u64>,
}

impl Settings {
    /// A sound node with realistic delays.
    pub fn new(tempo: Tempo, clock: Clock, effects: Effects) -> Self {
        Self { tempo, clock, effects, delays: Delays::default(), knobs: Knobs::default() }
    }
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            boot: Duration::from_secs(25),
            persist: Duration::from_millis(50),
            accept: Duration::from_millis(100),
            race_window: Duration::from_millis(150),
            swap: Duration::from_millis(400),
            install: Duration::from_mins(1),
            runtime: Duration::from_millis(2_500),
            trustd_poll: Duration::from_secs(5),
            time_sync_patience: Duration::from_secs(5),
            etcd_image: Duration::from_secs(6),
            etcd_init: Duration::from_millis(500),
            etcd_start: Duration::from_secs(5),
            etcd_learn: Duration::from_secs(6),
            kubelet: Duration::from_secs(12),
            control_plane: Duration::from_secs(30),
            restart: Duration::from_secs(10),
        }
    }
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            never_boots: false,
            claims_instance: None,
            refuses_config: None,
            stuck_in_maintenance: false,
            foreign_authority: false,
            loses_client_certificates: false,
            clock_out_of_sync: false,
            clock_off_in_maintenance: SignedDuration::ZERO,
            kubelet_volume: None,
            cannot_join_etcd: false,
            own_etcd: false,
            foreign_etcd: false,
            etcd_has_no_space: false,
            bootstrapped_twice: false,
            installs_under_bootstrap: false,
            no_static_pods: false,
            cut_off: false,
            no_registry: false,
            addresses_overlap: false,
            slowness: 1,
            disk_slowness: 1,
            cut_after_bytes: None,
            cut_after_received: None,
        }
    }
}
