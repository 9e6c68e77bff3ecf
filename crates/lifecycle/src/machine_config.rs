//! The machine config of a node, from the plan.

use std::collections::BTreeMap;

use events::Role;
use ipnet::IpNet;
use spec::plan::{AssignedLater, NodePlan, San};
use talos::config::{
    CloudProvider, Cluster, Cni, Contract, ControlPlanes, HostDns, InputError, Install, KubeProxy,
    MachineConfig, Node,
};

use crate::Site;
use crate::hetzner::API_PORT;

/// Why there is no machine config.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The endpoint's address is not known yet.
    #[error("the address of the load balancer is not known")]
    NoEndpoint,
    /// The Talos version is not supported.
    #[error(transparent)]
    Version(#[from] talos::config::UnsupportedVersion),
    /// The inputs do not make a config.
    #[error(transparent)]
    Input(#[from] InputError),
}

/// Writes the config of a node: the same plan and addresses give the same bytes.
pub(crate) fn render(site: &Site, node: &NodePlan) -> Result<MachineConfig, ConfigError> {
    Ok(MachineConfig::render(site.bundle(), &cluster(site, node)?, &host(site, node))?)
}

/// Returns where the API is reached from outside.
pub(crate) fn endpoint(site: &Site) -> Option<String> {
    use spec::plan::Endpoint;
    let host = match &site.plan.endpoint {
        Endpoint::Hostname(name) => name.clone(),
        Endpoint::LoadBalancer(_) => site.endpoint()?.to_string(),
        Endpoint::PrivateLoadBalancer(address) | Endpoint::Vip(address) => address.to_string(),
        Endpoint::Node(_) => site.address(&site.control_planes().next()?.name)?.to_string(),
    };
    Some(format!("https://{host}:{API_PORT}"))
}

fn cluster(site: &Site, node: &NodePlan) -> Result<Cluster, ConfigError> {
    let plan = &site.plan;
    let workers = plan.nodes.iter().any(|node| node.role == Role::Worker);
    Ok(Cluster {
        name: plan.cluster.to_string(),
        contract: Contract::of(&plan.talos.to_string())?,
        kubernetes: plan.kubernetes.to_string(),
        endpoint: endpoint(site).ok_or(ConfigError::NoEndpoint)?,
        cert_sans: sans(site, node),
        pod_subnets: vec![IpNet::V4(plan.network.pods.net())],
        service_subnets: vec![IpNet::V4(plan.network.services.net())],
        dns_domain: "cluster.local".to_owned(),
        cni: Cni::None,
        kube_proxy: KubeProxy::Disabled,
        cloud_provider: CloudProvider::External,
        // Cilium's eBPF masquerading loses what CoreDNS would ask the node.
        host_dns: HostDns::NodeOnly,
        control_planes: if workers { ControlPlanes::Reserved } else { ControlPlanes::RunWorkloads },
        node_subnets: vec![IpNet::V4(plan.network.nodes.net())],
        mirrors: BTreeMap::new(),
    })
}

/// Every name and address by which this node or the API is reached. The other
/// nodes' are in their own configs: no node waits for another's address.
fn sans(site: &Site, node: &NodePlan) -> Vec<String> {
    let name = |san: &San| match san {
        San::Name(name) => Some(name.clone()),
        San::Address(address) => Some(address.to_string()),
        San::Later(AssignedLater::LoadBalancer) => site.endpoint().map(|it| it.to_string()),
        San::Later(AssignedLater::Server(_)) => None,
    };
    let own = site.address(&node.name).map(|address| address.to_string());
    let mut sans: Vec<_> = site.plan.sans.iter().filter_map(name).chain(own).collect();
    let mut seen = std::collections::BTreeSet::new();
    sans.retain(|san| seen.insert(san.clone()));
    sans
}

fn host(site: &Site, node: &NodePlan) -> Node {
    Node {
        role: node.role,
        hostname: node.name.clone(),
        install: Install {
            disk: "/dev/sda".to_owned(),
            image: format!("ghcr.io/siderolabs/installer:{}", site.plan.talos),
        },
        labels: BTreeMap::new(),
    }
}
