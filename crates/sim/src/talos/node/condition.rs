//! What keeps a machine from being ready.

use super::{Stage, State, StaticPods};
use crate::talos::{Knobs, resources::static_pod_names};

/// A condition that is not met, with the reason for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::talos) struct Unmet {
    pub(in crate::talos) name: &'static str,
    pub(in crate::talos) reason: String,
}

/// Returns the conditions that are not met, in the order of Talos's checks.
///
/// Only a machine that boots or runs is checked: one in maintenance mode is
/// always ready.
pub(in crate::talos) fn unmet(state: &State, hostname: &str, knobs: &Knobs) -> Vec<Unmet> {
    if !matches!(state.stage, Stage::Booting | Stage::Running) {
        return Vec::new();
    }
    let checks = [
        ("time", time(knobs)),
        ("network", network(state)),
        ("services", services(state)),
        ("staticPods", static_pods(state, hostname)),
        ("nodeReady", node_ready(state, hostname)),
    ];
    checks.into_iter().filter_map(|(name, reason)| Some(Unmet { name, reason: reason? })).collect()
}

fn time(knobs: &Knobs) -> Option<String> {
    knobs.clock_out_of_sync.then(|| "time is not synced".to_owned())
}

/// The network comes up with the first service.
fn network(state: &State) -> Option<String> {
    state.services.get("machined").is_none().then(|| "waiting on: address, connectivity".to_owned())
}

fn services(state: &State) -> Option<String> {
    let kubelet: &[&str] = if state.config.is_some() { &["kubelet"] } else { &[] };
    let more: &[&str] = if state.is_control_plane() { &["etcd", "trustd"] } else { &[] };
    let required = ["apid", "machined"].iter().chain(kubelet).chain(more);
    let problems: Vec<String> = required
        .filter_map(|name| match state.services.get(name) {
            Some(service) if service.runs() => None,
            _ => Some(format!("{name} not running")),
        })
        .collect();
    (!problems.is_empty()).then(|| problems.join(", "))
}

fn static_pods(state: &State, hostname: &str) -> Option<String> {
    let waiting = state.static_pods == StaticPods::Starting;
    let line = |id: String| format!("{id} not ready");
    waiting.then(|| static_pod_names(hostname).map(line).collect::<Vec<_>>().join(", "))
}

fn node_ready(state: &State, hostname: &str) -> Option<String> {
    state.config.as_ref()?;
    match &state.kubernetes {
        None => Some(format!("node {hostname:?} status is not available yet")),
        Some(node) if !node.ready => Some(format!("node {hostname:?} is not ready")),
        Some(_) => None,
    }
}
