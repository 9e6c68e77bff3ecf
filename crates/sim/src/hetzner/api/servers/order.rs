//! Ordering a server.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde::Deserialize;
use serde_json::json;

use super::networks::attaching;
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::api::generic::{missing, subject};
use crate::hetzner::api::{Call, Changed, IdOrName, Reply};
use crate::hetzner::catalog::{self, Location, ServerType};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{
    Applied, Behind, Firewall, Image, ImageStatus, Network, PlacementGroup, PrivateNet,
    SPREAD_LIMIT, Server, SshKey, Status, Wish, assign,
};
use crate::hetzner::selector::Labels;

/// The largest user data.
const USER_DATA_LIMIT: usize = 32 * 1024;

#[derive(Deserialize)]
struct Order {
    name: String,
    server_type: IdOrName,
    image: IdOrName,
    location: Option<String>,
    datacenter: Option<IdOrName>,
    automount: Option<bool>,
    #[serde(default)]
    ssh_keys: Vec<IdOrName>,
    user_data: Option<String>,
    start_after_create: Option<bool>,
    labels: Option<Labels>,
    #[serde(default)]
    volumes: Vec<i64>,
    #[serde(default)]
    networks: Vec<i64>,
    #[serde(default)]
    firewalls: Vec<FirewallReference>,
    placement_group: Option<i64>,
    #[serde(default)]
    public_net: PublicNet,
}

#[derive(Deserialize)]
struct FirewallReference {
    firewall: i64,
}

#[derive(Deserialize)]
#[serde(default)]
struct PublicNet {
    enable_ipv4: bool,
    enable_ipv6: bool,
    ipv4: Option<i64>,
    ipv6: Option<i64>,
}

impl Default for PublicNet {
    fn default() -> Self {
        Self { enable_ipv4: true, enable_ipv6: true, ipv4: None, ipv6: None }
    }
}

/// `POST /servers`
pub(in crate::hetzner::api) fn create(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    let order: Order = call.read()?;
    let (server_type, location) = order.place(project)?;
    let image = order.image(project, server_type)?;
    order.check(project)?;
    let private = order.private_nets(project, location)?;
    let card = project.new_card::<Server>(&order.name, order.labels.clone())?;
    let id = card.id;
    let out = || Code::ResourceLimitExceeded.because("no public address is left");
    let server = Server {
        card,
        status: Status::Initializing,
        kind: server_type,
        location,
        image,
        address: project.addresses.take().ok_or_else(out)?,
        ipv4: order.public_net.enable_ipv4.then(|| project.new_id()),
        ipv6: order.public_net.enable_ipv6.then(|| project.new_id()),
        private: private.into_iter().map(|(net, ip)| PrivateNet::reserved(net, ip, id)).collect(),
        placement_group: order.placement_group,
        user_data: order.user_data.clone(),
        behind: Behind::Machine,
    };
    project.servers.put(server);
    for FirewallReference { firewall } in &order.firewalls {
        project.firewalls.get_mut(*firewall)?.applied.push(Applied::Server(id));
    }
    let sold_out = project.knobs.fails_to_deliver(server_type.name, location.name).then(|| {
        let message = format!("{} is not available in {}", server_type.name, location.name);
        Code::ResourceUnavailable.because(message)
    });
    let steps = order.steps(id, project, sold_out);
    let mut actions = project.start(steps);
    let action = actions.remove(0);
    let password = order.ssh_keys.is_empty().then(|| project.random_hex());
    let body = json!({
        "server": project.view::<Server>(id)?,
        "action": action,
        "next_actions": actions,
        "root_password": password,
    });
    Ok(Reply::created(body).about(subject::<Server>(project, id)))
}

impl Order {
    /// Returns the type and the place, if the one can be had in the other.
    fn place(
        &self,
        project: &Project,
    ) -> Result<(&'static ServerType, &'static Location), Refusal> {
        let server_type: &ServerType = catalog::order(&self.server_type.text())?;
        let location = self.location.as_deref().unwrap_or(catalog::LOCATIONS[0].name);
        let location: &Location = catalog::order(location)?;
        let has_ended = project.knobs.has_ended(server_type.name, location.name);
        if server_type.is_deprecated() || has_ended {
            return Err(Code::InvalidServerType.because("server type is no longer offered"));
        }
        if !server_type.is_offered_in(location) {
            return Err(Refusal::invalid("server_type", "is not offered in the location"));
        }
        if !project.knobs.delivers(server_type.name, location.name) {
            let message = format!("{} is not available in {}", server_type.name, location.name);
            return Err(Code::ResourceUnavailable.because(message));
        }
        Ok((server_type, location))
    }

    /// Returns the image, which must fit the type's processor.
    fn image(&self, project: &Project, server_type: &ServerType) -> Result<Image, Refusal> {
        let wanted = self.image.text();
        let named = project.images.iter().filter(|it| {
            it.card.id.to_string() == wanted || (!it.is_snapshot() && it.card.name == wanted)
        });
        let mut fitting = named.filter(|it| it.architecture == server_type.architecture);
        let image = fitting.next().ok_or_else(|| {
            let architecture = server_type.architecture;
            Refusal::invalid("image", format!("no image `{wanted}` exists for {architecture}"))
        })?;
        if image.status != ImageStatus::Available {
            return Err(Refusal::invalid("image", "is not available yet"));
        }
        if image.disk_size > server_type.disk {
            return Err(Refusal::invalid("image", "does not fit on the server type's disk"));
        }
        Ok(image.clone())
    }

    /// Checks all that is not about type, place and image.
    fn check(&self, project: &Project) -> Result<(), Refusal> {
        if !is_hostname(&self.name) {
            return Err(Refusal::invalid("name", "must be a valid hostname"));
        }
        if self.user_data.as_ref().is_some_and(|data| data.len() > USER_DATA_LIMIT) {
            return Err(Refusal::invalid("user_data", "must not be longer than 32768 bytes"));
        }
        if self.datacenter.is_some() {
            return Err(Refusal::invalid("datacenter", "was removed, use location"));
        }
        let PublicNet { ipv4, ipv6, enable_ipv4, enable_ipv6 } = self.public_net;
        if !enable_ipv4 && !enable_ipv6 && self.networks.is_empty() {
            let message = "a server without public addresses must be in a network";
            return Err(Refusal::invalid("public_net", message));
        }
        if self.automount == Some(true) {
            return Err(Refusal::not_implemented("automount"));
        }
        if ipv4.or(ipv6).is_some() || !self.volumes.is_empty() {
            return Err(Refusal::not_implemented("an order with given addresses or volumes"));
        }
        for key in &self.ssh_keys {
            let wanted = key.text();
            let fits = |it: &SshKey| it.card.name == wanted || it.card.id.to_string() == wanted;
            if !project.ssh_keys.iter().any(fits) {
                return Err(Refusal::invalid("ssh_keys", format!("`{wanted}` does not exist")));
            }
        }
        for it in &self.firewalls {
            missing::<Firewall>(project, it.firewall)?;
        }
        self.check_limits(project)
    }

    fn check_limits(&self, project: &Project) -> Result<(), Refusal> {
        if let Some(group) = self.placement_group {
            let group = missing::<PlacementGroup>(project, group)?;
            if group.servers(project).len() >= SPREAD_LIMIT {
                let message = "a placement group spreads at most 10 servers";
                return Err(Code::PlacementError.because(message));
            }
        }
        project.servers.check_name(&self.name, None)?;
        if project.knobs.server_limit.is_some_and(|limit| project.servers.len() >= limit) {
            return Err(Code::ResourceLimitExceeded.because("server limit exceeded"));
        }
        Ok(())
    }

    fn private_nets(
        &self,
        project: &Project,
        location: &Location,
    ) -> Result<Vec<(i64, Ipv4Addr)>, Refusal> {
        let mut known = BTreeSet::new();
        let assigned = |id: &i64| {
            if !known.insert(*id) {
                return Err(Refusal::invalid("networks", "the same network is named twice"));
            }
            let network = missing::<Network>(project, *id)?;
            Ok((*id, assign(project, network, location.network_zone, Wish::default())?))
        };
        self.networks.iter().map(assigned).collect()
    }

    /// Returns the actions of the order, of which the first makes the server.
    fn steps(&self, id: i64, project: &Project, sold_out: Option<Refusal>) -> Vec<Step> {
        let server = Reference::to::<Server>(id);
        let delays = &project.delays;
        let create = Step::new("create_server", &[server], delays.create_server)
            .failing(sold_out)
            .then(move |project| project.power(id, Status::Off))
            .or_else(move |project| project.remove_server(id));
        let mut steps = vec![create];
        steps.extend(self.networks.iter().map(|network| attaching(id, *network, project)));
        if self.start_after_create != Some(false) {
            let start = Step::new("start_server", &[server], delays.start_server)
                .first(move |project| project.power(id, Status::Starting))
                .then(move |project| project.power(id, Status::Running));
            steps.push(start);
        }
        steps
    }
}

/// A name as RFC 1123 has it.
fn is_hostname(name: &str) -> bool {
    let label = |label: &str| {
        let inner = |sign: u8| sign.is_ascii_alphanumeric() || sign == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}
