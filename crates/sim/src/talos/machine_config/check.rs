//! What makes a configuration that reads well into one that makes a node.

use super::{ConfigError, MachineConfig, MachineType};
use crate::talos::pki;

/// Refuses a configuration that cannot make a node, for all its reasons at once.
pub(super) fn check(config: &MachineConfig) -> Result<(), ConfigError> {
    let mut complaints = Vec::new();
    let mut refuse = |wrong: bool, complaint: &str| {
        if wrong {
            complaints.push(complaint.to_owned());
        }
    };
    let cluster = &config.cluster;
    refuse(config.token.is_empty(), "trustd token is invalid");
    refuse(
        !has_host(&cluster.endpoint),
        "invalid controlplane endpoint: hostname must not be blank",
    );
    match config.machine_type {
        MachineType::ControlPlane => refuse(
            config.machine_ca.key.is_none(),
            "issuing CA key is required for controlplane nodes (.machine.ca.key)",
        ),
        MachineType::Worker => {
            refuse(
                config.machine_ca.key.is_some(),
                "issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)",
            );
            refuse(
                cluster.kubernetes_ca.key.is_some(),
                "cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)",
            );
            refuse(
                cluster.etcd_ca.is_some(),
                "etcd config is only allowed on control plane machines",
            );
        }
    }
    if !complaints.is_empty() {
        return Err(ConfigError::Invalid(complaints));
    }
    check_certificates(config)
}

fn check_certificates(config: &MachineConfig) -> Result<(), ConfigError> {
    let cluster = &config.cluster;
    let pairs = [
        ("machine.ca", Some(&config.machine_ca)),
        ("cluster.ca", Some(&cluster.kubernetes_ca)),
        ("cluster.aggregatorCA", cluster.aggregator_ca.as_ref()),
        ("cluster.etcd.ca", cluster.etcd_ca.as_ref()),
    ];
    for (path, pair) in pairs.into_iter().filter_map(|(path, pair)| Some((path, pair?))) {
        pki::check(pair).map_err(|source| ConfigError::Pem { path, source })?;
    }
    Ok(())
}

/// Whether an address names a host; no more is asked of it.
fn has_host(endpoint: &str) -> bool {
    let rest = endpoint.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', ':']).next().is_some_and(|host| !host.is_empty())
}
