//! The documents of a machine config, key by key in the order of talosctl.

mod cluster;
mod hardware;
mod machine;
mod registries;
mod taints;

use events::Role;
use serde::Serialize;

use self::cluster::ClusterPart;
use self::machine::MachinePart;
use super::{Cluster, Node};
use crate::pki::Authority;
use crate::secrets::Bundle;
use crate::yaml::base64;

/// The document that holds nearly everything.
#[derive(Serialize)]
pub(in crate::config) struct MainDocument<'a> {
    version: &'static str,
    debug: bool,
    persist: bool,
    machine: MachinePart<'a>,
    cluster: ClusterPart<'a>,
}

/// The document for the host name, since Talos 1.12.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::config) struct HostnameDocument<'a> {
    api_version: &'static str,
    kind: &'static str,
    auto: &'static str,
    hostname: &'a str,
}

/// An authority's certificate, and its key for those who sign.
#[derive(Serialize)]
struct Pair {
    crt: String,
    key: String,
}

impl<'a> MainDocument<'a> {
    pub(in crate::config) fn of(bundle: &'a Bundle, cluster: &'a Cluster, node: &'a Node) -> Self {
        Self {
            version: "v1alpha1",
            debug: false,
            persist: true,
            machine: MachinePart::of(bundle, cluster, node),
            cluster: ClusterPart::of(bundle, cluster, node),
        }
    }
}

impl<'a> HostnameDocument<'a> {
    pub(in crate::config) fn of(node: &'a Node) -> Self {
        Self {
            api_version: "v1alpha1",
            kind: "HostnameConfig",
            auto: "off",
            hostname: &node.hostname,
        }
    }
}

impl Pair {
    /// Workers get no key of any authority.
    fn of(authority: &Authority, role: Role) -> Self {
        let key = match role {
            Role::ControlPlane => base64(authority.key().pem().reveal()),
            Role::Worker => String::new(),
        };
        Self { crt: base64(authority.certificate().pem()), key }
    }
}
