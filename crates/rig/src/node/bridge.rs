//! The node's network: a bridge with a subnet of its own.

use std::net::Ipv4Addr;
use std::process::Command;

use serde_json::json;

use super::{NodeError, run_tool};
use crate::packages::program;
use crate::run::{Run, RunError};

/// A bridge that a run owns.
#[derive(Debug)]
pub(crate) struct Bridge {
    name: String,
    subnet: u8,
}

impl Bridge {
    /// Makes a bridge on the first subnet that is free.
    pub(crate) fn create(run: &mut Run) -> Result<Self, NodeError> {
        let subnet = free_subnet(run)?;
        let bridge = Self { name: format!("sw-{}", run.id()), subnet };
        run.note(|record| record.interfaces.push(bridge.name.clone()))?;
        let address = format!("{}/24", bridge.gateway());
        ip(&["link", "add", "name", &bridge.name, "type", "bridge"])?;
        ip(&["address", "add", &address, "dev", &bridge.name])?;
        ip(&["link", "set", &bridge.name, "up"])?;
        Ok(bridge)
    }

    /// Returns the bridge's own address, which is also the node's.
    pub(crate) fn gateway(&self) -> String {
        self.address().to_string()
    }

    /// Returns the bridge's own address.
    pub(crate) fn address(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 201, self.subnet, 1)
    }

    /// Returns the bridge's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the CNI configuration. Without masquerading there are no packet
    /// filter rules to leave behind, and a test has no business outside.
    pub(crate) fn conflist(&self, run: &Run) -> String {
        let subnet = format!("10.201.{}.0/24", self.subnet);
        let list = json!({
            "cniVersion": "0.4.0",
            "name": self.name,
            "plugins": [{
                "type": "bridge",
                "bridge": self.name,
                "isGateway": true,
                "ipMasq": false,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{ "subnet": subnet }]],
                    "routes": [{ "dst": "0.0.0.0/0" }],
                    "dataDir": run.path("cni/addresses"),
                },
            }],
        });
        format!("{list:#}\n")
    }
}

fn free_subnet(run: &mut Run) -> Result<u8, NodeError> {
    let taken = routes()?;
    for subnet in 1..=254 {
        let prefix = format!("10.201.{subnet}.");
        if !taken.contains(&prefix) && run.reserve(&format!("subnet-{subnet}"))? {
            return Ok(subnet);
        }
    }
    Err(RunError::NoneFree("subnet of 10.201.0.0/16").into())
}

fn routes() -> Result<String, NodeError> {
    let output = Command::new(program("ip").unwrap_or_else(|| "ip".into()))
        .args(["-4", "route", "show", "table", "all"])
        .output()
        .map_err(|error| NodeError::Tool { command: "ip route".into(), said: error.to_string() })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn ip(args: &[&str]) -> Result<(), NodeError> {
    run_tool(Command::new(program("ip").unwrap_or_else(|| "ip".into())).args(args))
}
