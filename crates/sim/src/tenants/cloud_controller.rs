//! Hetzner's cloud controller: every node is a server.

use std::net::Ipv4Addr;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use super::cilium::without_taint;
use super::object::{Said, find, replace, report};
use super::presence::{self, Labels, leader};
use super::{Cloud, CloudServer, Knobs};
use crate::kube::controllers::{About, record};
use crate::kube::object::{items, map_at, name, namespace};
use crate::kube::{Key, Kube};

/// How long the controller takes to see a node and to ask the cloud about it.
pub(super) const REACTION: Duration = Duration::from_secs(3);

const NAME: &str = "hcloud-cloud-controller-manager";
const PODS: Labels = &[("app.kubernetes.io/name", NAME)];
const NODES: Key = Key::core("nodes");
const SECRETS: Key = Key::core("secrets");
const LEASES: Key = Key::new("coordination.k8s.io", "leases");

/// The kinds that it follows; leases are renewed all the time, so that it looks
/// again at what the cloud has refused.
pub(super) const FOLLOWED: &[Key] = &[presence::PODS, NODES, SECRETS, LEASES];

const UNINITIALIZED: &str = "node.cloudprovider.kubernetes.io/uninitialized";

/// Initialises the nodes that wait for it, and keeps the routes to their pods.
pub(super) fn pass(kube: &Kube, cloud: &dyn Cloud, knobs: &Knobs) {
    let Some(pod) = leader(kube, PODS).filter(|_| !knobs.controller_cut_off) else { return };
    // Without its network the real one ends at once, again and again.
    let Some(network) = network(kube, cloud, &pod) else { return };
    for node in kube.all(&NODES, "") {
        let Some(mut server) = cloud.server(name(&node)) else { continue };
        server.id += i64::from(knobs.wrong_provider_ids);
        let Some(private) = server.private.get(&network).copied() else { continue };
        if is_uninitialized(&node) {
            initialise(kube, &node, &server, private);
        }
        if keeps_routes(&pod) && !knobs.no_routes {
            keep_route(kube, cloud, network, &node, private);
        }
    }
}

/// Returns the network that the controller's Secret names.
fn network(kube: &Kube, cloud: &dyn Cloud, pod: &Value) -> Option<i64> {
    let secret = find(kube, &SECRETS, namespace(pod), "hcloud")?;
    let network = BASE64_STANDARD.decode(secret["data"]["network"].as_str()?).ok()?;
    cloud.network(String::from_utf8(network).ok()?.trim())
}

/// The controller keeps routes unless its environment says otherwise.
fn keeps_routes(pod: &Value) -> bool {
    let containers = items(&pod["spec"]["containers"]).iter();
    let mut environment = containers.flat_map(|container| items(&container["env"]));
    !environment
        .any(|one| one["name"] == "HCLOUD_NETWORK_ROUTES_ENABLED" && one["value"] == "false")
}

fn is_uninitialized(node: &Value) -> bool {
    items(&node["spec"]["taints"]).iter().any(|taint| taint["key"] == UNINITIALIZED)
}

fn initialise(kube: &Kube, node: &Value, server: &CloudServer, private: Ipv4Addr) {
    let mut told = node.clone();
    told["status"]["addresses"] = addresses(name(node), server, private);
    if !report(kube, &NODES, node, told, NAME) {
        return;
    }
    let Some(node) = find(kube, &NODES, "", name(node)) else { return };
    let mut known = without_taint(&node, UNINITIALIZED);
    // An identity is given once and stays.
    if known["spec"]["providerID"].as_str().is_none_or(str::is_empty) {
        known["spec"]["providerID"] = json!(format!("hcloud://{}", server.id));
    }
    let labels = map_at(&mut known["metadata"], "labels");
    for (key, value) in labels_of(server) {
        labels.insert(key.to_owned(), value.into());
    }
    if replace(kube, &NODES, &node, known, NAME) {
        let message = "Node synced successfully";
        let about = About {
            object: &node,
            kind: "Normal",
            reason: "Synced",
            message,
            source: "cloud-node-controller",
        };
        record(kube, &about);
    }
}

fn addresses(name: &str, server: &CloudServer, private: Ipv4Addr) -> Value {
    let mut addresses = vec![
        json!({ "type": "Hostname", "address": name }),
        json!({ "type": "InternalIP", "address": private }),
    ];
    addresses.extend(server.public.map(|ip| json!({ "type": "ExternalIP", "address": ip })));
    json!(addresses)
}

fn labels_of(server: &CloudServer) -> [(&'static str, &str); 7] {
    [
        ("beta.kubernetes.io/instance-type", &server.server_type),
        ("node.kubernetes.io/instance-type", &server.server_type),
        ("failure-domain.beta.kubernetes.io/region", &server.location),
        ("failure-domain.beta.kubernetes.io/zone", &server.zone),
        ("topology.kubernetes.io/region", &server.location),
        ("topology.kubernetes.io/zone", &server.zone),
        ("instance.hetzner.cloud/provided-by", "cloud"),
    ]
}

/// Has the network know the way to a node's pods.
fn keep_route(kube: &Kube, cloud: &dyn Cloud, network: i64, node: &Value, private: Ipv4Addr) {
    let pods = node["spec"]["podCIDR"].as_str().and_then(|cidr| cidr.parse().ok());
    let Some(pods) = pods else { return };
    // A network that takes no more routes takes them at a later look.
    if cloud.route(network, pods, private).is_err() {
        return;
    }
    let Some(node) = find(kube, &NODES, "", name(node)) else { return };
    // Cilium says the same in its own words; whoever comes first is believed.
    if crate::kube::object::has_condition(&node, "NetworkUnavailable", "False") {
        return;
    }
    let said = Said {
        kind: "NetworkUnavailable",
        status: false,
        reason: "RouteCreated",
        message: "RouteController created a route",
    };
    let mut told = node.clone();
    said.plainly(kube, &mut told);
    report(kube, &NODES, &node, told, NAME);
}
