//! The table of faults.

use std::time::Duration;

use super::{Expected, Fault};
use crate::hetzner::{HealthChecks, Known, Shortage, Throttle};

/// All faults, by name.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "cilium-missing-on-one-node",
        does: "the CNI's pod cannot start on the last node",
        expected: Expected::Failed { gate: "cni", code: 410 },
        turn: |world, cast, turn| {
            world.trouble(cast.last(), |trouble| trouble.no_network_plugin = turn.strikes());
        },
    },
    Fault {
        name: "csi-missing-on-one-node",
        does: "the storage plugin does not register with the kubelet of the last node",
        expected: Expected::Failed { gate: "storage", code: 431 },
        turn: |world, cast, turn| {
            world.trouble(cast.last(), |trouble| trouble.no_storage_plugin = turn.strikes());
        },
    },
    Fault {
        name: "kubelet-volume-mount",
        does: "the kubelet of the last node waits for a volume that is never mounted",
        expected: Expected::Failed { gate: "cloud", code: 312 },
        turn: |world, cast, turn| {
            let volume = turn.or_normal(Some("kube-api-access".to_owned()));
            world.turn(cast.last(), |knobs| knobs.kubelet_volume = volume);
        },
    },
    Fault {
        name: "lb-no-healthy-target",
        does: "the load balancer's health checks are never content",
        expected: Expected::Failed { gate: "api", code: 307 },
        turn: |world, _, turn| {
            let checks = turn.or_normal(HealthChecks::NeverHealthy);
            world.hetzner().turn(|knobs| knobs.health_checks = checks);
        },
    },
    Fault {
        name: "lost-answer",
        does: "the answer to the first order of a server gets lost",
        expected: Expected::Proven,
        turn: |world, _, turn| match turn.strikes() {
            true => world.effects().lose_next(ORDER),
            false => world.effects().lose_none(ORDER),
        },
    },
    Fault {
        name: "no-client-certificate",
        does: "client certificates do not reach the first control plane",
        expected: Expected::Failed { gate: "config", code: 303 },
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.loses_client_certificates = turn.strikes());
        },
    },
    Fault {
        name: "node-slow",
        does: "everything on the last node takes eight times as long",
        expected: Expected::Proven,
        turn: |world, cast, turn| {
            let slowness = if turn.strikes() { 8 } else { 1 };
            world.turn(cast.last(), |knobs| knobs.slowness = slowness);
            world.trouble(cast.last(), |trouble| trouble.slowness = slowness);
        },
    },
    Fault {
        name: "pki-mismatch",
        does: "the first control plane uses another authority than its config's",
        expected: Expected::Failed { gate: "config", code: 304 },
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.foreign_authority = turn.strikes());
        },
    },
    Fault {
        name: "rate-limited",
        does: "the cloud refuses the next 5 calls as too many",
        expected: Expected::Proven,
        turn: |world, _, turn| {
            let throttle = Throttle { calls: 5, reset: Duration::from_secs(3) };
            world.hetzner().turn(|knobs| knobs.throttle = turn.or_normal(Some(throttle)));
        },
    },
    Fault {
        name: "server-type-sold-out",
        does: "the server types that the cluster wants cannot be ordered",
        expected: Expected::Failed { gate: "nodes", code: 204 },
        turn: |world, _, turn| {
            let sold_out = turn.or_normal(sold_out(Known::OnlyWhenOrdered));
            world.hetzner().turn(|knobs| knobs.shortages = sold_out);
        },
    },
    Fault {
        name: "server-vanishes",
        does: "the server of the last node is taken away as soon as it is there",
        expected: Expected::Failed { gate: "nodes", code: 208 },
        turn: |world, cast, turn| {
            if turn.strikes() {
                world.vanish_once_there("server-vanishes", cast.last());
            }
        },
    },
    Fault {
        name: "worker-never-joins",
        does: "the last node reaches no control plane",
        expected: Expected::Failed { gate: "cloud", code: 311 },
        turn: |world, cast, turn| {
            world.turn(cast.last(), |knobs| knobs.cut_off = turn.strikes());
        },
    },
];

const ORDER: &str = "POST /servers";

/// The types that the built-in cluster, and most files, ask for.
fn sold_out(known: Known) -> Vec<Shortage> {
    let short =
        |server_type: &str| Shortage { server_type: server_type.to_owned(), location: None, known };
    ["cax11", "cax21", "cx23", "cx33"].map(short).into()
}
