//! The causes that the stages can name. `explain` has a page for each.
//!
//! 02xx are refusals of a cloud, 03xx are about Talos and the Kubernetes API,
//! 05xx about the proof, 06xx about a cluster that is only looked at. 01xx are
//! the engine's, 04xx the addons'.

use events::Code;

/// The causes that are a provider's no, and not a gate's.
pub const REFUSALS: &[Code] = &[TOKEN_REFUSED, TOKEN_READ_ONLY, PROJECT_LIMIT, SOLD_OUT];

/// The cloud does not accept the token.
pub const TOKEN_REFUSED: Code = Code(201);
/// The token may only read.
pub const TOKEN_READ_ONLY: Code = Code(202);
/// The project's limit is reached.
pub const PROJECT_LIMIT: Code = Code(203);
/// None of the wanted server types is available.
pub const SOLD_OUT: Code = Code(204);
/// A name is taken by something that is not ours.
pub const NOT_OURS: Code = Code(205);
/// The cluster would cost more than allowed.
pub const TOO_EXPENSIVE: Code = Code(206);
/// There is no Talos image for these nodes.
pub const NO_IMAGE: Code = Code(207);
/// A server has vanished.
pub const SERVER_GONE: Code = Code(208);
/// Something exists and cannot be changed to what is wanted.
pub const DIFFERS: Code = Code(209);
/// The secrets bundle is lost or cannot be used.
pub const BUNDLE_LOST: Code = Code(210);
/// A node cannot be reached on port 50000.
pub const NODE_UNREACHABLE: Code = Code(301);
/// A node refuses connections on port 50000.
pub const NODE_REFUSES: Code = Code(302);
/// The node says that no client certificate was presented.
pub const NO_CLIENT_CERTIFICATE: Code = Code(303);
/// The node belongs to another PKI.
pub const PKI_MISMATCH: Code = Code(304);
/// The node refuses its configuration.
pub const CONFIG_REFUSED: Code = Code(305);
/// Etcd on a control plane is that of another cluster.
pub const ETCD_DATA_FOREIGN: Code = Code(306);
/// The load balancer has no healthy target.
pub const LB_NO_HEALTHY_TARGET: Code = Code(307);
/// The Kubernetes API of a control plane is not ready.
pub const API_NOT_READY: Code = Code(308);
/// The machine that answers is not the one that is meant.
pub const WRONG_MACHINE: Code = Code(309);
/// The control planes do not agree about etcd.
pub const ETCD_DISAGREES: Code = Code(310);
/// A node never joined the cluster.
pub const NODE_NEVER_JOINED: Code = Code(311);
/// The kubelet of a node is not healthy.
pub const KUBELET_UNHEALTHY: Code = Code(312);
/// A node is not ready.
pub const NODE_NOT_READY: Code = Code(313);
/// The cluster has no DNS.
pub const DNS_NOT_READY: Code = Code(314);
/// A node stays in maintenance mode.
pub const STILL_IN_MAINTENANCE: Code = Code(315);
/// Etcd does not run on a control plane.
pub const ETCD_NOT_RUNNING: Code = Code(316);
/// The clock of a node is not set.
pub const CLOCK_NOT_IN_SYNC: Code = Code(317);
/// Most members of etcd are gone.
pub const ETCD_QUORUM_LOST: Code = Code(318);
/// A second bootstrap has stopped etcd.
pub const ETCD_WEDGED: Code = Code(319);
/// The cluster's endpoint does not lead to its API.
pub const ENDPOINT_ASTRAY: Code = Code(320);
/// Etcd was begun, and no control plane has it any more.
pub const ETCD_GONE: Code = Code(321);
/// A node's certificate does not hold at this time.
pub const CERTIFICATE_NOT_NOW: Code = Code(322);
/// A node's certificate is for other addresses.
pub const CERTIFICATE_ELSEWHERE: Code = Code(323);
/// A node does not take our certificate.
pub const CERTIFICATE_REFUSED: Code = Code(324);
/// What answers on a node's port does not speak as Talos does.
pub const NOT_TALOS: Code = Code(325);
/// A node refuses what it is asked for.
pub const CALL_REFUSED: Code = Code(326);
/// The Talos API of a node gives no answer.
pub const NODE_NOT_ANSWERING: Code = Code(327);
/// A member of etcd is not well.
pub const ETCD_UNWELL: Code = Code(328);
/// A node gets no images.
pub const IMAGE_UNAVAILABLE: Code = Code(329);
/// A machine has several network cards, and nothing says which one is meant.
pub const CARD_NOT_NAMED: Code = Code(330);
/// The load balancer has a target that is not healthy.
pub const LB_TARGET_UNHEALTHY: Code = Code(331);
/// Pods on some nodes cannot reach each other.
pub const DATAPATH_BROKEN: Code = Code(501);
/// Names do not resolve in pods.
pub const NAMES_BROKEN: Code = Code(502);
/// The cluster did not stay healthy.
pub const UNSTABLE: Code = Code(503);
/// A volume could not be made, used and taken away.
pub const VOLUME_UNUSABLE: Code = Code(504);
/// What was sealed for our key was not opened.
pub const SEAL_UNOPENED: Code = Code(505);
/// Pods do not reach the outside.
pub const EGRESS_BROKEN: Code = Code(506);
/// What a probe has made does not go away.
pub const PROBE_LEFTOVER: Code = Code(507);
/// A pod that proves the ways between nodes does not get ready.
pub const PROBE_POD_NOT_READY: Code = Code(508);
/// A system workload is not ready.
pub const WORKLOAD_NOT_READY: Code = Code(601);
/// A kubelet's version does not fit that of the API.
pub const VERSION_SKEW: Code = Code(602);
/// A server that extends the API does not answer.
pub const API_SERVICE_UNAVAILABLE: Code = Code(603);
