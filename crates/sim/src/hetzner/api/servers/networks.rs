//! Servers in private networks.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Deserialize;

use crate::hetzner::action::{Reference, Step};
use crate::hetzner::api::generic::{check, missing, started};
use crate::hetzner::api::{Call, Changed};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{Network, PrivateNet, Server, Wish, assign};

/// A request to join a network.
#[derive(Deserialize)]
pub(in crate::hetzner::api) struct Attachment {
    pub(in crate::hetzner::api) network: i64,
    ip: Option<String>,
    ip_range: Option<String>,
    #[serde(default)]
    alias_ips: Vec<String>,
}

impl Attachment {
    /// Asks for any address of a network.
    pub(in crate::hetzner::api) fn to(network: i64) -> Self {
        Self { network, ip: None, ip_range: None, alias_ips: Vec::new() }
    }

    /// Finds the address that the joining one gets.
    pub(in crate::hetzner::api) fn assign(
        &self,
        project: &mut Project,
        zone: &str,
    ) -> Result<Ipv4Addr, Refusal> {
        if !self.alias_ips.is_empty() {
            return Err(Refusal::not_implemented("an alias address"));
        }
        let parsed = |text: &String| text.parse::<Ipv4Addr>().ok();
        let ip = self.ip.as_ref().map(|text| parsed(text).ok_or("ip")).transpose();
        let range = |text: &String| text.parse::<Ipv4Net>().map_err(|_| "ip_range");
        let ip_range = self.ip_range.as_ref().map(range).transpose();
        let invalid = |field| Refusal::invalid(field, "cannot be read");
        let mut wish = Wish { ip: ip.map_err(invalid)?, ip_range: ip_range.map_err(invalid)? };
        let network = missing::<Network>(project, self.network)?;
        let wanted = assign(project, network, zone, wish)?;
        if wish.ip.is_none() || !project.knobs.spend_wrong_ip() {
            return Ok(wanted);
        }
        wish.ip = None;
        let network = missing::<Network>(project, self.network)?;
        assign(project, network, zone, wish)
    }
}

/// `POST /servers/{id}/actions/attach_to_network`
pub(in crate::hetzner::api) fn attach(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    let order: Attachment = call.read()?;
    let id = call.id();
    check::<Server>(project, id)?;
    let server = project.servers.get(id)?;
    if server.private.iter().any(|it| it.network == order.network) {
        return Err(Code::ServerAlreadyAttached.because("server is already attached"));
    }
    let zone = server.location.network_zone;
    let ip = order.assign(project, zone)?;
    let net = PrivateNet::reserved(order.network, ip, id);
    project.servers.get_mut(id)?.private.push(net);
    let step = attaching(id, order.network, project);
    Ok(started::<Server>(project, id, step))
}

/// `POST /servers/{id}/actions/detach_from_network`
pub(in crate::hetzner::api) fn detach(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        network: i64,
    }
    let Order { network } = call.read()?;
    let id = call.id();
    check::<Server>(project, id)?;
    if !project.servers.get(id)?.is_in(network) {
        return Err(Refusal::invalid("network", "the server is not attached to it"));
    }
    let resources = [Reference::to::<Server>(id), Reference::to::<Network>(network)];
    let step = Step::new("detach_from_network", &resources, project.delays.attach_network);
    Ok(started::<Server>(project, id, step.then(move |project| leave(project, id, network))))
}

/// Attaches a server to the network in which it has an address reserved.
pub(super) fn attaching(id: i64, network: i64, project: &Project) -> Step {
    let resources = [Reference::to::<Server>(id), Reference::to::<Network>(network)];
    Step::new("attach_to_network", &resources, project.delays.attach_network)
        .then(move |project| {
            let nets = project.servers.find_mut(id).into_iter().flat_map(|it| &mut it.private);
            nets.filter(|it| it.network == network).for_each(|it| it.attached = true);
            project.tell_again(id);
        })
        .or_else(move |project| leave(project, id, network))
}

fn leave(project: &mut Project, id: i64, network: i64) {
    if let Some(server) = project.servers.find_mut(id) {
        server.private.retain(|it| it.network != network);
    }
    project.tell_again(id);
}
