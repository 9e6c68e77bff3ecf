//! The machines that a talosconfig leads to.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use futures::future::join_all;
use lifecycle::verify::{ControlPlanes, Roll};
use talos::client::Node;
use talos::credentials::Context;

use crate::command_error::CommandError;
use crate::commands::talos::authority;
use crate::exit::Exit;
use crate::place::Place;
use crate::runtime;

/// Which machines are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Machines {
    /// Those of all Nodes, and those that the talosconfig names.
    All,
    /// Those that the talosconfig names.
    Named,
}

/// How long the names of endpoints may take, all together.
const RESOLVED_WITHIN: Duration = Duration::from_secs(5);

impl From<Machines> for Roll {
    fn from(machines: Machines) -> Self {
        match machines {
            Machines::All => Self::Everybody,
            Machines::Named => Self::Named,
        }
    }
}

/// Returns the control planes that a talosconfig leads to.
pub(super) fn control_planes(file: &Path, roll: Roll) -> Result<ControlPlanes, CommandError> {
    let context = authority::context(file)?;
    let runtime = runtime::new()?;
    let found = context.endpoints.iter().map(async |endpoint| {
        let place: Place = endpoint.parse()?;
        place.resolve(RESOLVED_WITHIN).await
    });
    let found = runtime.block_on(join_all(found));
    runtime.shutdown_background();
    let mut endpoints = Vec::new();
    for (endpoint, found) in context.endpoints.iter().zip(found) {
        let address = found.map_err(|why| {
            let message = format!("could not use the endpoint {endpoint} of {}", file.display());
            CommandError::say(Exit::Usage, format!("{message}: {why}"))
        })?;
        endpoints.push(Node::at(address));
    }
    if endpoints.is_empty() {
        let message = format!("{} names no endpoints", file.display());
        return Err(CommandError::say(Exit::Usage, message)
            .hint("`talosctl config endpoint ADDRESS…` names the control planes"));
    }
    let (others, names) = others(&context, &endpoints);
    Ok(ControlPlanes { endpoints, others, names, roll, identity: context.identity })
}

/// Returns the nodes of a talosconfig that are not among its endpoints, which have
/// ports of their own; and the names of those that have no address in it.
fn others(context: &Context, endpoints: &[Node]) -> (Vec<Node>, Vec<String>) {
    let hosts = context.endpoints.iter().filter_map(|it| Some(it.parse::<Place>().ok()?.host));
    let hosts: Vec<_> = hosts.collect();
    let (mut others, mut names) = (Vec::new(), Vec::new());
    for node in &context.nodes {
        match node.parse::<IpAddr>() {
            Ok(address) if endpoints.iter().any(|it| it.address.ip() == address) => {}
            Ok(address) => others.push(Node::at((address, Node::PORT).into())),
            Err(_) if hosts.contains(node) => {}
            Err(_) => names.push(node.clone()),
        }
    }
    (others, names)
}
