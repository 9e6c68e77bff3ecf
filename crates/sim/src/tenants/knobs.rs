//! What can be made to go wrong inside a cluster, and what is outside of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Faults of the network and of controllers, and the repositories that Flux finds outside. Nothing
/// is wrong by default, and there is no repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    /// Ways between nodes on which no packet of a pod arrives: from, to.
    pub cut: BTreeSet<(String, String)>,
    /// Packets that a tunnel would make too large do not arrive at other nodes.
    pub large_packets_lost: bool,
    /// Names of services are not found.
    pub names_inside_fail: bool,
    /// Names of the outside are not found.
    pub names_outside_fail: bool,
    /// No packet of a pod leaves the cluster.
    pub egress_blocked: bool,
    /// The cloud controller gets no answer from its cloud.
    pub controller_cut_off: bool,
    /// The cloud controller takes servers for other ones.
    pub wrong_provider_ids: bool,
    /// The cloud controller keeps no routes.
    pub no_routes: bool,
    /// The controller of Sealed Secrets seals for a key of its own.
    pub foreign_sealing_key: bool,
    /// The controller of Sealed Secrets opens nothing.
    pub seals_stay_shut: bool,
    /// Flux finds an older commit than the branch's newest.
    pub flux_behind: bool,
    /// Somebody has told Flux to pause what it applies, or to go on.
    pub flux_paused: Option<bool>,
    /// What the branches of repositories point at.
    pub heads: Heads,
    /// What repositories hold: manifests, by the repository's URL. Which folder
    /// a manifest is in is not simulated.
    pub manifests: BTreeMap<String, Vec<Value>>,
}

/// The commits that branches point at: 40 hexadecimal digits by the
/// repository's URL and the branch.
pub type Heads = BTreeMap<(String, String), String>;
