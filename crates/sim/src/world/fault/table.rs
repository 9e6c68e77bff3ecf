//! The table of faults.

use std::time::Duration;

use jiff::SignedDuration;

use super::{Expected, Fault, PLEG, Turn, Wound};
use crate::hetzner::{Access, ForeignCluster, HealthChecks, Known, Shortage, Throttle};

/// All faults, by name.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "apiserver-down-on-one",
        does: "the Kubernetes API does not start on the last control plane",
        expected: Expected::Failed { check: "api", code: 308 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.last_control_plane(), |knobs| knobs.no_static_pods = turn.strikes());
        },
    },
    Fault {
        name: "bootstrapped-twice",
        does: "somebody else bootstraps the first control plane again while its etcd begins",
        expected: Expected::Failed { check: "etcd", code: 319 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.bootstrapped_twice = turn.strikes());
            if turn == Turn::Mend {
                world.restart(cast.first());
            }
        },
    },
    Fault {
        name: "ccm-no-route",
        does: "the cloud controller makes no routes to the pods of nodes",
        expected: Expected::Failed { check: "cloud", code: 423 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.no_routes = turn.strikes()),
    },
    Fault {
        name: "ccm-not-initialising",
        does: "the cloud controller gets no answer from its cloud",
        expected: Expected::Failed { check: "cloud", code: 420 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.controller_cut_off = turn.strikes()),
    },
    Fault {
        name: "ccm-wrong-provider-id",
        does: "the cloud controller takes servers for other ones",
        expected: Expected::Failed { check: "cloud", code: 421 },
        wound: Wound::Lasting,
        turn: |world, _, turn| world.tenants(|knobs| knobs.wrong_provider_ids = turn.strikes()),
    },
    Fault {
        name: "cilium-missing-on-one-node",
        does: "the CNI's pod cannot start on the last node",
        expected: Expected::Failed { check: "cni", code: 410 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.trouble(cast.last(), |trouble| trouble.no_network_plugin = turn.strikes());
        },
    },
    Fault {
        name: "clock-not-in-sync",
        does: "the clock of the first control plane is never set",
        expected: Expected::Refused { stage: "etcd", code: 317 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.clock_out_of_sync = turn.strikes());
        },
    },
    Fault {
        name: "clock-unset-at-first",
        does: "the clock of the last node is twenty years behind until it has its config",
        expected: Expected::Proven,
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let off = turn.or_normal(TWENTY_YEARS_AGO);
            world.turn(cast.last(), |knobs| knobs.clock_off_in_maintenance = off);
        },
    },
    Fault {
        name: "config-refused",
        does: "the first control plane refuses its configuration",
        expected: Expected::Refused { stage: "config", code: 305 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let why = "1 error occurred: * the install disk does not exist";
            let why = turn.or_normal(Some(why.to_owned()));
            world.turn(cast.first(), |knobs| knobs.refuses_config = why);
        },
    },
    Fault {
        name: "connections-cut",
        does: "connections to the last node break in the middle of its first words",
        expected: Expected::Failed { check: "identity", code: 327 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let bytes = turn.or_normal(Some(MIDDLE_OF_A_HANDSHAKE));
            world.turn(cast.last(), |knobs| knobs.cut_after_bytes = bytes);
        },
    },
    Fault {
        name: "coredns-crashing",
        does: "the pods of the cluster's DNS keep exiting",
        expected: Expected::Failed { check: "ready", code: 314 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            for node in cast.all() {
                world.trouble(node, |trouble| trouble.crash("coredns", turn.strikes()));
            }
        },
    },
    Fault {
        name: "csi-crashing",
        does: "the storage plugin keeps exiting on the last node",
        expected: Expected::Failed { check: "storage", code: 430 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.trouble(cast.last(), |it| it.crash("hcloud-csi-node", turn.strikes()));
        },
    },
    Fault {
        name: "csi-missing-on-one-node",
        does: "the storage plugin does not register with the kubelet of the last node",
        expected: Expected::Failed { check: "storage", code: 431 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.trouble(cast.last(), |trouble| trouble.no_storage_plugin = turn.strikes());
        },
    },
    Fault {
        name: "datapath-cut",
        does: "no packet from pods on the last node arrives on the first",
        expected: Expected::Failed { check: "proof", code: 501 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let way = (cast.last().to_owned(), cast.first().to_owned());
            world.tenants(|knobs| knobs.cut = turn.or_normal([way].into()));
        },
    },
    Fault {
        name: "disk-slow",
        does: "the disk of the last control plane is eight times as slow",
        expected: Expected::Proven,
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let slowness = if turn.strikes() { 8 } else { 1 };
            world.turn(cast.last_control_plane(), |knobs| knobs.disk_slowness = slowness);
        },
    },
    Fault {
        name: "egress-blocked",
        does: "no packet of a pod leaves the cluster",
        expected: Expected::Failed { check: "gitops", code: 450 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.egress_blocked = turn.strikes()),
    },
    Fault {
        name: "etcd-foreign-data",
        does: "the disk of the last control plane holds the etcd of another cluster",
        expected: Expected::Failed { check: "etcd", code: 306 },
        wound: Wound::Lasting,
        turn: |world, cast, turn| {
            world.turn(cast.last_control_plane(), |knobs| knobs.foreign_etcd = turn.strikes());
        },
    },
    Fault {
        name: "etcd-member-missing",
        does: "etcd on the last control plane never gets to join the others",
        expected: Expected::Failed { check: "etcd", code: 316 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.last_control_plane(), |knobs| knobs.cannot_join_etcd = turn.strikes());
        },
    },
    Fault {
        name: "etcd-no-space",
        does: "the database of etcd on the first control plane has reached its limit",
        expected: Expected::Failed { check: "etcd", code: 328 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.etcd_has_no_space = turn.strikes());
        },
    },
    Fault {
        name: "etcd-split",
        does: "the last control plane begins an etcd of its own",
        expected: Expected::Failed { check: "etcd", code: 310 },
        wound: Wound::Lasting,
        turn: |world, cast, turn| {
            world.turn(cast.last_control_plane(), |knobs| knobs.own_etcd = turn.strikes());
        },
    },
    Fault {
        name: "firewall-loses-rule",
        does: "the firewall loses the rules for port 50000, and says nothing of it",
        expected: Expected::Failed { check: "network", code: 209 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            let port = turn.or_normal(Some("50000".to_owned()));
            world.hetzner().turn(|knobs| knobs.lost_firewall_port = port);
        },
    },
    Fault {
        name: "flux-behind",
        does: "Flux finds an older commit than the newest of the branch",
        expected: Expected::Failed { check: "gitops", code: 452 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.flux_behind = turn.strikes()),
    },
    Fault {
        name: "flux-suspended",
        does: "somebody has told Flux to pause",
        expected: Expected::Failed { check: "gitops", code: 454 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.flux_paused = Some(turn.strikes())),
    },
    Fault {
        name: "image-missing",
        does: "the project holds no snapshot of Talos",
        expected: Expected::Failed { check: "image", code: 207 },
        wound: Wound::Heals,
        turn: |world, _, turn| match turn {
            Turn::Strike => world.hetzner().remove_snapshots(),
            Turn::Mend => world.add_snapshots(),
        },
    },
    Fault {
        name: "kubelet-volume-mount",
        does: "the kubelet of the last node waits for a volume that is never mounted",
        expected: Expected::Failed { check: "cloud", code: 312 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let volume = turn.or_normal(Some("kube-api-access".to_owned()));
            world.turn(cast.last(), |knobs| knobs.kubelet_volume = volume);
        },
    },
    Fault {
        name: "large-packets-lost",
        does: "packets that a tunnel would make too large do not arrive",
        expected: Expected::Failed { check: "proof", code: 501 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.large_packets_lost = turn.strikes()),
    },
    Fault {
        name: "lb-no-healthy-target",
        does: "the load balancer's health checks are never content",
        expected: Expected::Failed { check: "api", code: 307 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            let checks = turn.or_normal(HealthChecks::NeverHealthy);
            world.hetzner().turn(|knobs| knobs.health_checks = checks);
        },
    },
    Fault {
        name: "lost-answer",
        does: "the answer to the first order of a server gets lost",
        expected: Expected::Proven,
        wound: Wound::Heals,
        turn: |world, _, turn| match turn {
            Turn::Strike => world.effects().lose_next(ORDER),
            Turn::Mend => world.effects().lose_none(ORDER),
        },
    },
    Fault {
        name: "metrics-server-crashing",
        does: "the pods of metrics-server keep exiting",
        expected: Expected::Failed { check: "metrics-server", code: 403 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            for node in cast.all() {
                world.trouble(node, |trouble| trouble.crash("metrics-server", turn.strikes()));
            }
        },
    },
    Fault {
        name: "name-taken",
        does: "somebody else has a server with the name of the first control plane",
        expected: Expected::Failed { check: "preflight", code: 205 },
        wound: Wound::Heals,
        turn: |world, cast, turn| match turn {
            Turn::Strike => world.hetzner().add_foreign_cluster(&namesake(cast.first())),
            Turn::Mend => drop(world.hetzner().vanish(cast.first())),
        },
    },
    Fault {
        name: "names-fail",
        does: "the names of services are not found",
        expected: Expected::Failed { check: "proof", code: 502 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.names_inside_fail = turn.strikes()),
    },
    Fault {
        name: "no-client-certificate",
        does: "client certificates do not reach the first control plane",
        expected: Expected::Failed { check: "config", code: 303 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.loses_client_certificates = turn.strikes());
        },
    },
    Fault {
        name: "node-flaps",
        does: "the last node is ready and not ready in turns",
        expected: Expected::Failed { check: "stability", code: 503 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            if turn.strikes() {
                world.flap("node-flaps", cast.last());
            }
        },
    },
    Fault {
        name: "node-never-boots",
        does: "nothing ever starts on the server of the last node",
        expected: Expected::Failed { check: "nodes", code: 302 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.last(), |knobs| knobs.never_boots = turn.strikes());
        },
    },
    Fault {
        name: "node-not-ready",
        does: "the kubelet of the last node has lost sight of its containers",
        expected: Expected::Failed { check: "ready", code: 313 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.trouble(cast.last(), |trouble| trouble.not_ready = turn.or_normal(Some(PLEG)));
        },
    },
    Fault {
        name: "node-slow",
        does: "everything on the last node takes eight times as long",
        expected: Expected::Proven,
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let slowness = if turn.strikes() { 8 } else { 1 };
            world.turn(cast.last(), |knobs| knobs.slowness = slowness);
            world.trouble(cast.last(), |trouble| trouble.slowness = slowness);
        },
    },
    Fault {
        name: "pki-mismatch",
        does: "the first control plane uses another authority than its config's",
        expected: Expected::Failed { check: "config", code: 304 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.foreign_authority = turn.strikes());
        },
    },
    Fault {
        name: "rate-limited",
        does: "the cloud refuses the next 5 calls as too many",
        expected: Expected::Proven,
        wound: Wound::Heals,
        turn: |world, _, turn| {
            let throttle = Throttle { calls: 5, reset: Duration::from_secs(3) };
            world.hetzner().turn(|knobs| knobs.throttle = turn.or_normal(Some(throttle)));
        },
    },
    Fault {
        name: "registry-unreachable",
        does: "the first control plane gets no images",
        expected: Expected::Failed { check: "registry", code: 329 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.no_registry = turn.strikes());
        },
    },
    Fault {
        name: "sealed-secrets-stay-shut",
        does: "the controller of Sealed Secrets opens nothing",
        expected: Expected::Failed { check: "seal-probe", code: 505 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.seals_stay_shut = turn.strikes()),
    },
    Fault {
        name: "sealing-key-foreign",
        does: "Sealed Secrets seals for a key of its own",
        expected: Expected::Failed { check: "seal", code: 440 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.tenants(|knobs| knobs.foreign_sealing_key = turn.strikes()),
    },
    Fault {
        name: "server-limit",
        does: "the project may hold no more servers",
        expected: Expected::Refused { stage: "nodes", code: 203 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            world.hetzner().turn(|knobs| knobs.server_limit = turn.or_normal(Some(0)));
        },
    },
    Fault {
        name: "server-type-ended",
        does: "the server types that the cluster wants have ended, and are still listed",
        expected: Expected::Failed { check: "preflight", code: 204 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            let ended = turn.or_normal(sold_out(Known::Ended));
            world.hetzner().turn(|knobs| knobs.shortages = ended);
        },
    },
    Fault {
        name: "server-type-not-offered",
        does: "the server types that the cluster wants are not available",
        expected: Expected::Failed { check: "preflight", code: 204 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            let sold_out = turn.or_normal(sold_out(Known::Listed));
            world.hetzner().turn(|knobs| knobs.shortages = sold_out);
        },
    },
    Fault {
        name: "server-type-sold-out",
        does: "the server types that the cluster wants cannot be ordered",
        expected: Expected::Refused { stage: "nodes", code: 204 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            let sold_out = turn.or_normal(sold_out(Known::OnlyWhenOrdered));
            world.hetzner().turn(|knobs| knobs.shortages = sold_out);
        },
    },
    Fault {
        name: "server-vanishes",
        does: "the server of the last node is taken away as soon as it is there",
        expected: Expected::Failed { check: "nodes", code: 208 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            if turn.strikes() {
                world.vanish_once_there("server-vanishes", cast.last());
            }
        },
    },
    Fault {
        name: "token-read-only",
        does: "the token of the project may only read",
        expected: Expected::Refused { stage: "network", code: 202 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            world.hetzner().turn(|knobs| knobs.access = turn.or_normal(Access::ReadOnly));
        },
    },
    Fault {
        name: "token-refused",
        does: "the cloud does not know the token",
        expected: Expected::Failed { check: "preflight", code: 201 },
        wound: Wound::Heals,
        turn: |world, _, turn| {
            world.hetzner().turn(|knobs| knobs.access = turn.or_normal(Access::Nothing));
        },
    },
    Fault {
        name: "volume-limit",
        does: "the cloud sells no volumes",
        expected: Expected::Failed { check: "storage-probe", code: 504 },
        wound: Wound::Heals,
        turn: |world, _, turn| world.hetzner().turn(|knobs| knobs.no_volumes = turn.strikes()),
    },
    Fault {
        name: "worker-never-joins",
        does: "the last node reaches no control plane",
        expected: Expected::Failed { check: "cloud", code: 311 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.last(), |knobs| knobs.cut_off = turn.strikes());
        },
    },
    Fault {
        name: "wrong-machine",
        does: "another machine answers at the address of the last node",
        expected: Expected::Failed { check: "identity", code: 309 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            let claimed = turn.or_normal(Some("1".to_owned()));
            world.turn(cast.last(), |knobs| knobs.claims_instance = claimed);
        },
    },
    Fault {
        name: "wrong-tls-mode",
        does: "the first control plane takes its config and stays in maintenance mode",
        expected: Expected::Failed { check: "config", code: 315 },
        wound: Wound::Heals,
        turn: |world, cast, turn| {
            world.turn(cast.first(), |knobs| knobs.stuck_in_maintenance = turn.strikes());
        },
    },
];

const ORDER: &str = "POST /servers";

/// Where a clock without a battery begins, more or less.
const TWENTY_YEARS_AGO: SignedDuration = SignedDuration::from_hours(-20 * 365 * 24);

/// A node's certificate alone is longer.
const MIDDLE_OF_A_HANDSHAKE: u64 = 300;

/// The types that the built-in cluster, and most files, ask for.
fn sold_out(known: Known) -> Vec<Shortage> {
    let short =
        |server_type: &str| Shortage { server_type: server_type.to_owned(), location: None, known };
    ["cax11", "cax21", "cx23", "cx33"].map(short).into()
}

/// Somebody else's cluster with a server of the same name.
fn namesake(server: &str) -> ForeignCluster {
    let name = server.strip_suffix("-1").unwrap_or(server).to_owned();
    ForeignCluster { name, labels: [("owner".to_owned(), "others".to_owned())].into(), servers: 1 }
}
