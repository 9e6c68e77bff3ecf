//! Faults by name: what each does to a world, and what a run must make of it.
//!
//! A name never travels on a wire: it is turned into knobs before anybody
//! talks to the world.

use std::time::Duration;

use super::World;
use crate::hetzner::{HealthChecks, Known, Shortage, Throttle};
use crate::kube::kubelet::Trouble;
use crate::talos::Knobs;

/// Something that goes wrong in a world.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub does: &'static str,
    /// What a run must make of it.
    pub expected: Expected,
    turn: fn(&World, &Cast),
}

/// What a run must make of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It ends proven, perhaps later.
    Proven,
    /// It fails at this gate, with this cause.
    Failed {
        /// The stage whose gate shows it.
        gate: &'static str,
        /// The number of the cause's code.
        code: u16,
    },
}

/// Who plays in a world: the names of the nodes that will be made.
#[derive(Clone, Debug, Default)]
pub struct Cast {
    /// The control planes, in order.
    pub control_planes: Vec<String>,
    /// The workers, in order.
    pub workers: Vec<String>,
}

/// All faults, by name.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "cilium-missing-on-one-node",
        does: "the CNI's pod cannot start on the last node",
        expected: Expected::Failed { gate: "cni", code: 410 },
        turn: |world, cast| {
            let trouble = Trouble { no_network_plugin: true, ..Trouble::default() };
            world.trouble(cast.last(), trouble);
        },
    },
    Fault {
        name: "csi-missing-on-one-node",
        does: "the storage plugin does not register with the kubelet of the last node",
        expected: Expected::Failed { gate: "storage", code: 431 },
        turn: |world, cast| {
            let trouble = Trouble { no_storage_plugin: true, ..Trouble::default() };
            world.trouble(cast.last(), trouble);
        },
    },
    Fault {
        name: "kubelet-volume-mount",
        does: "the kubelet of the last node waits for a volume that is never mounted",
        expected: Expected::Failed { gate: "cloud", code: 312 },
        turn: |world, cast| {
            let volume = Some("kube-api-access".to_owned());
            world.turn(cast.last(), Knobs { kubelet_volume: volume, ..Knobs::default() });
        },
    },
    Fault {
        name: "lb-no-healthy-target",
        does: "the load balancer's health checks are never content",
        expected: Expected::Failed { gate: "api", code: 307 },
        turn: |world, _| {
            world.hetzner().turn(|knobs| knobs.health_checks = HealthChecks::NeverHealthy);
        },
    },
    Fault {
        name: "lost-answer",
        does: "the answer to the first order of a server gets lost",
        expected: Expected::Proven,
        turn: |world, _| world.effects().lose_next("POST /servers"),
    },
    Fault {
        name: "no-client-certificate",
        does: "client certificates do not reach the first control plane",
        expected: Expected::Failed { gate: "config", code: 303 },
        turn: |world, cast| {
            let knobs = Knobs { loses_client_certificates: true, ..Knobs::default() };
            world.turn(cast.first(), knobs);
        },
    },
    Fault {
        name: "node-slow",
        does: "everything on the last node takes eight times as long",
        expected: Expected::Proven,
        turn: |world, cast| {
            world.turn(cast.last(), Knobs { slowness: 8, ..Knobs::default() });
            world.trouble(cast.last(), Trouble { slowness: 8, ..Trouble::default() });
        },
    },
    Fault {
        name: "pki-mismatch",
        does: "the first control plane uses another authority than its config's",
        expected: Expected::Failed { gate: "config", code: 304 },
        turn: |world, cast| {
            world.turn(cast.first(), Knobs { foreign_authority: true, ..Knobs::default() });
        },
    },
    Fault {
        name: "rate-limited",
        does: "the cloud refuses the next 5 calls as too many",
        expected: Expected::Proven,
        turn: |world, _| {
            let throttle = Throttle { calls: 5, reset: Duration::from_secs(3) };
            world.hetzner().turn(|knobs| knobs.throttle = Some(throttle));
        },
    },
    Fault {
        name: "server-type-sold-out",
        does: "the server types that the cluster wants cannot be ordered",
        expected: Expected::Failed { gate: "nodes", code: 204 },
        turn: |world, _| {
            let short = |server_type: &str| Shortage {
                server_type: server_type.to_owned(),
                location: None,
                known: Known::OnlyWhenOrdered,
            };
            let types = ["cax11", "cax21", "cx23", "cx33"];
            world.hetzner().turn(|knobs| knobs.shortages = types.map(short).into());
        },
    },
    Fault {
        name: "server-vanishes",
        does: "the server of the last node is taken away as soon as it is there",
        expected: Expected::Failed { gate: "nodes", code: 208 },
        turn: |world, cast| world.vanish_once_there(cast.last()),
    },
    Fault {
        name: "worker-never-joins",
        does: "the last node reaches no control plane",
        expected: Expected::Failed { gate: "cloud", code: 311 },
        turn: |world, cast| world.turn(cast.last(), Knobs { cut_off: true, ..Knobs::default() }),
    },
];

impl Fault {
    /// Returns the fault of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAULTS.iter().find(|fault| fault.name == name)
    }

    /// Lets it happen in a world.
    pub fn strike(&self, world: &World, cast: &Cast) {
        (self.turn)(world, cast);
    }
}

impl Cast {
    fn first(&self) -> &str {
        self.control_planes.first().map_or("", String::as_str)
    }

    /// The last worker, or the last control plane where there is none.
    fn last(&self) -> &str {
        self.workers.last().or(self.control_planes.last()).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found() {
        assert!(FAULTS.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(Fault::named("node-slow").map(|fault| fault.name), Some("node-slow"));
        assert!(Fault::named("node-fast").is_none());
    }
}
