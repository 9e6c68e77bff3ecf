//! What a node is like, and what goes wrong on it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

/// What a kubelet says about its node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSettings {
    /// The node's name.
    pub name: String,
    /// Its address inside the cluster.
    pub internal_ip: String,
    /// The first three numbers of its pods' addresses, such as `10.244.1`.
    pub pod_prefix: String,
    /// Its labels, as they are at registration.
    pub labels: Vec<(String, String)>,
    /// Its taints at registration, as the API writes them.
    pub taints: Vec<Value>,
    /// Its number of processors.
    pub cpus: u32,
    /// Its memory, in mebibytes.
    pub memory_mib: u32,
    /// Its architecture: `amd64`, `arm64`.
    pub architecture: String,
    /// The version of its kubelet, such as `v1.36.3`.
    pub kubelet_version: String,
    /// The name of its operating system, such as `Talos (v1.14.1)`.
    pub os_image: String,
}

/// What goes wrong on a node; nothing by default. It may change while the
/// kubelet runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trouble {
    /// Pods of the network plugin cannot start here.
    pub no_network_plugin: bool,
    /// The storage plugin's pod does not register with the kubelet.
    pub no_storage_plugin: bool,
    /// Volumes of pods outside the host's network cannot be mounted.
    pub volumes_fail: bool,
    /// Containers of pods whose names begin so keep exiting.
    pub crashing: BTreeSet<&'static str>,
    /// The kubelet says that the node is not ready, for this reason.
    pub not_ready: Option<&'static str>,
    /// The kubelet never registers its node.
    pub never_registers: bool,
    /// Everything takes so many times as long; one where it is zero.
    pub slowness: u32,
}

impl NodeSettings {
    /// A small node without labels and taints.
    pub fn new(name: &str, internal_ip: &str, pod_prefix: &str) -> Self {
        Self {
            name: name.to_owned(),
            internal_ip: internal_ip.to_owned(),
            pod_prefix: pod_prefix.to_owned(),
            labels: Vec::new(),
            taints: Vec::new(),
            cpus: 2,
            memory_mib: 4096,
            architecture: "amd64".to_owned(),
            kubelet_version: "v1.36.3".to_owned(),
            os_image: "Talos (v1.14.1)".to_owned(),
        }
    }
}

impl Trouble {
    /// Lets the containers of pods whose names begin so keep exiting, or not.
    pub(crate) fn crash(&mut self, pods: &'static str, crashing: bool) {
        if crashing {
            self.crashing.insert(pods);
        } else {
            self.crashing.remove(pods);
        }
    }

    /// Returns how long something takes on the node.
    pub(super) fn slowed(&self, delay: Duration) -> Duration {
        delay * self.slowness.max(1)
    }
}
