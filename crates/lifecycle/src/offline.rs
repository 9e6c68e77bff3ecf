//! Machine configs without a network: what `up` would send, for whoever sends
//! it in another way.

use std::collections::BTreeMap;
use std::net::IpAddr;

use spec::CloudKind;
use spec::plan::{NodePlan, Plan};
use talos::config::MachineConfig;
use talos::credentials::IdentityError;
use talos::secrets::Bundle;

use crate::Site;
use crate::endpoint::Holder;
use crate::machine_config::{self, ConfigError};

/// Addresses that a cloud assigns later, as somebody knows them already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownAddresses {
    /// That of the load balancer.
    pub load_balancer: Option<IpAddr>,
    /// Those of nodes, by their names.
    pub nodes: BTreeMap<String, IpAddr>,
}

/// Why there are no machine configs.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// The cloud has yet to say where the API is.
    #[error("the address of {0} is in every machine config, and is not known before there is one")]
    NoEndpoint(String),
    /// An address is for a node that there is not.
    #[error("the cluster file has no node `{0}`")]
    NoSuchNode(String),
    /// A certificate could not be made.
    #[error("could not make a certificate")]
    Identity(#[from] IdentityError),
    /// The config of a node cannot be made.
    #[error("there is no machine config for {node}")]
    Config {
        /// The node.
        node: String,
        /// Why not.
        source: ConfigError,
    },
}

impl KnownAddresses {
    /// Looks whether all that configs cannot do without is known.
    pub fn check(&self, plan: &Plan) -> Result<(), OfflineError> {
        let is_stray = |name: &&String| plan.nodes.iter().all(|node| node.name != **name);
        if let Some(stray) = self.nodes.keys().find(is_stray) {
            return Err(OfflineError::NoSuchNode(stray.clone()));
        }
        let missing = match Holder::of(plan) {
            Some(Holder::Balancer(name)) if self.load_balancer.is_none() => {
                format!("the load balancer {name}")
            }
            Some(Holder::Server(first)) if self.of(plan, first).is_none() => {
                format!("the server {}", first.name)
            }
            _ => return Ok(()),
        };
        Err(OfflineError::NoEndpoint(missing))
    }

    /// Returns the address by which a node is reached from outside, where it is
    /// known: machines are reached by the addresses that the file gives them.
    pub fn of(&self, plan: &Plan, node: &NodePlan) -> Option<IpAddr> {
        let given = self.nodes.get(&node.name).copied();
        given.or_else(|| (plan.cloud != CloudKind::Hetzner).then_some(node.address.into()))
    }
}

/// Writes the machine configs of all nodes, in the order of the plan.
pub fn machine_configs(
    site: &Site,
    bundle: Bundle,
    known: &KnownAddresses,
) -> Result<Vec<(String, MachineConfig)>, OfflineError> {
    known.check(&site.plan)?;
    let nodes = site.plan.nodes.iter();
    for (node, address) in nodes.filter_map(|it| Some((it, known.of(&site.plan, it)?))) {
        site.learn_address(&node.name, address);
    }
    if let Some(address) = known.load_balancer {
        site.learn_endpoint(address);
    }
    site.keep_bundle(bundle)?;
    let render = |node: &NodePlan| match machine_config::render(site, node) {
        Ok(config) => Ok((node.name.clone(), config)),
        Err(source) => Err(OfflineError::Config { node: node.name.clone(), source }),
    };
    site.plan.nodes.iter().map(render).collect()
}
