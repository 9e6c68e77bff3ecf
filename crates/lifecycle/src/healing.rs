//! Whether a cause heals by itself, after an action of somebody, or never: by its
//! code. A gate that knows better says so with its cause.

use events::{Code, Heals};

use crate::codes::{
    API_NOT_READY, API_SERVICE_UNAVAILABLE, BUNDLE_LOST, CALL_REFUSED, CARD_NOT_NAMED,
    CERTIFICATE_ELSEWHERE, CERTIFICATE_NOT_NOW, CERTIFICATE_REFUSED, CLOCK_NOT_IN_SYNC,
    CONFIG_REFUSED, DATAPATH_BROKEN, DIFFERS, DNS_NOT_READY, EGRESS_BROKEN, ENDPOINT_ASTRAY,
    ETCD_DATA_FOREIGN, ETCD_DISAGREES, ETCD_GONE, ETCD_NOT_RUNNING, ETCD_QUORUM_LOST, ETCD_UNWELL,
    ETCD_WEDGED, IMAGE_UNAVAILABLE, KUBELET_UNHEALTHY, LB_NO_HEALTHY_TARGET, LB_TARGET_UNHEALTHY,
    NAMES_BROKEN, NO_CLIENT_CERTIFICATE, NO_IMAGE, NODE_NEVER_JOINED, NODE_NOT_ANSWERING,
    NODE_NOT_READY, NODE_REFUSES, NODE_UNREACHABLE, NOT_OURS, NOT_TALOS, PKI_MISMATCH,
    PROBE_LEFTOVER, PROBE_POD_NOT_READY, PROJECT_LIMIT, SEAL_UNOPENED, SERVER_GONE, SOLD_OUT,
    STILL_IN_MAINTENANCE, TOKEN_READ_ONLY, TOKEN_REFUSED, TOO_EXPENSIVE, UNSTABLE, VERSION_SKEW,
    VOLUME_UNUSABLE, WORKLOAD_NOT_READY, WRONG_MACHINE,
};

/// What may pass while something starts, is pulled, joins or is reconciled.
const BY_ITSELF: &[Code] = &[
    engine::codes::NOT_READY_IN_TIME,
    engine::codes::COULD_NOT_LOOK,
    engine::codes::NO_SUCCESS_IN_TIME,
    // A server that starts has not all that is wanted yet.
    DIFFERS,
    NODE_UNREACHABLE,
    NODE_REFUSES,
    API_NOT_READY,
    // While members join, control planes see different ones.
    ETCD_DISAGREES,
    NODE_NEVER_JOINED,
    KUBELET_UNHEALTHY,
    NODE_NOT_READY,
    DNS_NOT_READY,
    ETCD_NOT_RUNNING,
    CLOCK_NOT_IN_SYNC,
    ETCD_QUORUM_LOST,
    ENDPOINT_ASTRAY,
    CERTIFICATE_NOT_NOW,
    CERTIFICATE_ELSEWHERE,
    CALL_REFUSED,
    NODE_NOT_ANSWERING,
    // A registry that does not answer may; one that says no does not.
    IMAGE_UNAVAILABLE,
    addons::codes::WORKLOAD_MISSING,
    addons::codes::WORKLOAD_BEHIND,
    addons::codes::IMAGE_NOT_PULLED,
    addons::codes::POD_UNSCHEDULABLE,
    addons::codes::VOLUME_NOT_MOUNTED,
    addons::codes::NODE_ABSENT,
    addons::codes::CILIUM_AGENT_MISSING,
    addons::codes::CILIUM_TAINT_LEFT,
    addons::codes::NETWORK_UNAVAILABLE,
    addons::codes::POD_NETWORK_MISSING,
    addons::codes::NODE_UNINITIALIZED,
    addons::codes::ADDRESS_WRONG,
    addons::codes::ROUTE_MISSING,
    addons::codes::CSI_PLUGIN_MISSING,
    addons::codes::CSI_DRIVER_UNREGISTERED,
    addons::codes::STORAGE_OBJECT_MISSING,
    addons::codes::SEALING_CERTIFICATE_UNREADABLE,
    addons::codes::FLUX_NOT_READY,
    addons::codes::FLUX_BEHIND,
    addons::codes::FLUX_OBJECT_MISSING,
    addons::codes::METRICS_UNAVAILABLE,
    addons::codes::MANIFEST_NOT_READY,
    UNSTABLE,
    VOLUME_UNUSABLE,
    SEAL_UNOPENED,
    PROBE_LEFTOVER,
    PROBE_POD_NOT_READY,
    WORKLOAD_NOT_READY,
    API_SERVICE_UNAVAILABLE,
];

/// What stays until somebody changes a setting, a file, a machine or a project.
const AFTER_ACTION: &[Code] = &[
    engine::codes::REFUSED,
    TOKEN_REFUSED,
    TOKEN_READ_ONLY,
    PROJECT_LIMIT,
    SOLD_OUT,
    NOT_OURS,
    TOO_EXPENSIVE,
    NO_IMAGE,
    SERVER_GONE,
    BUNDLE_LOST,
    NO_CLIENT_CERTIFICATE,
    PKI_MISMATCH,
    CONFIG_REFUSED,
    LB_NO_HEALTHY_TARGET,
    LB_TARGET_UNHEALTHY,
    WRONG_MACHINE,
    STILL_IN_MAINTENANCE,
    ETCD_WEDGED,
    ETCD_GONE,
    CERTIFICATE_REFUSED,
    NOT_TALOS,
    ETCD_UNWELL,
    CARD_NOT_NAMED,
    addons::codes::POD_CRASHES,
    addons::codes::POD_MISCONFIGURED,
    addons::codes::SEALING_KEY_FOREIGN,
    addons::codes::FLUX_STALLED,
    addons::codes::FLUX_SUSPENDED,
    DATAPATH_BROKEN,
    NAMES_BROKEN,
    EGRESS_BROKEN,
    VERSION_SKEW,
];

/// What stays: the object, node or cluster has to be made anew.
const NEVER: &[Code] = &[engine::codes::BUG, ETCD_DATA_FOREIGN, addons::codes::PROVIDER_ID_WRONG];

/// Returns whether a cause of this code goes away by waiting. One that nobody knows
/// may.
pub(crate) fn of(code: Code) -> Heals {
    let lists =
        [(Heals::ByItself, BY_ITSELF), (Heals::AfterAction, AFTER_ACTION), (Heals::Never, NEVER)];
    let found = lists.into_iter().find(|(_, codes)| codes.contains(&code));
    found.map_or(Heals::ByItself, |(heals, _)| heals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_in_one_list() {
        let all = [BY_ITSELF, AFTER_ACTION, NEVER].concat();
        for page in crate::pages() {
            let count = all.iter().filter(|code| **code == page.code).count();
            assert_eq!(count, 1, "{}", page.code);
        }
        assert_eq!(all.len(), crate::pages().len());
    }
}
