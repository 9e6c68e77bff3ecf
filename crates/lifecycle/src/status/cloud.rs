//! What the cloud has of ours, and what it costs.

use clouds::hetzner::{Amount, Health, Hetzner, Inventory, LoadBalancer, Ours, PriceList, Server};
use events::Failure;
use spec::Euro;
use spec::plan::NodePlan;

use super::{NodeNow, Seen, ServerNow, Thing, in_time};
use crate::Site;
use crate::hetzner::API_PORT;

/// What the cloud said.
pub(super) struct CloudNow {
    inventory: Result<Inventory, Failure>,
    prices: Option<PriceList>,
}

/// Machines that exist already are where the file says, and there is nothing else.
pub(super) fn machines(site: &Site) -> Vec<NodeNow> {
    let machine = |node: &NodePlan| NodeNow {
        name: node.name.clone(),
        server: Seen::Saw(Some(ServerNow {
            server_type: "machine".to_owned(),
            location: "given".to_owned(),
            status: "not asked".to_owned(),
            address: Some(node.address.into()),
            monthly: None,
        })),
        talos: None,
        kubernetes: None,
    };
    site.plan.nodes.iter().map(machine).collect()
}

pub(super) async fn look(hetzner: &Hetzner) -> CloudNow {
    let inventory = in_time(async { Ok(hetzner.take_inventory().await?) });
    let prices = in_time(async { Ok(hetzner.prices().await?) });
    let (inventory, prices) = futures::join!(inventory, prices);
    CloudNow { inventory, prices: prices.ok() }
}

impl CloudNow {
    /// Returns a node for each server that the plan wants or that is ours.
    pub(super) fn servers(&self, site: &Site) -> Vec<NodeNow> {
        let node = |name: &str, server| NodeNow {
            name: name.to_owned(),
            server,
            talos: None,
            kubernetes: None,
        };
        let planned = site.plan.nodes.iter().map(|it| it.name.as_str());
        match &self.inventory {
            Err(error) => planned.map(|name| node(name, Seen::Blind(error.clone()))).collect(),
            Ok(inventory) => {
                let known: Vec<&str> = planned.collect();
                let more = inventory.servers.iter().map(|it| it.name.as_str());
                let more = more.filter(|name| !known.contains(name));
                let all = known.iter().copied().chain(more);
                all.map(|name| node(name, Seen::Saw(self.server(inventory, name)))).collect()
            }
        }
    }

    fn server(&self, inventory: &Inventory, name: &str) -> Option<ServerNow> {
        let server = inventory.servers.iter().find(|it| it.name == name)?;
        Some(ServerNow {
            server_type: server.server_type.name.clone(),
            location: server.location.name.clone(),
            status: server.status.to_string(),
            address: server.public_address(),
            monthly: self.server_price(server),
        })
    }

    fn server_price(&self, server: &Server) -> Option<Euro> {
        let prices = self.prices.as_ref()?;
        let place = &server.location.name;
        let price = euro(prices.server(&server.server_type.name, place)?);
        let address = server.public_net.ipv4.as_ref().and_then(|_| prices.ipv4(place));
        Some(address.map_or(price, |address| price.plus(euro(address))))
    }

    /// Returns all that is no server, most of what others hang on last.
    pub(super) fn things(&self) -> Seen<Vec<Thing>> {
        let inventory = match &self.inventory {
            Ok(inventory) => inventory,
            Err(error) => return Seen::Blind(error.clone()),
        };
        let mut things: Vec<Thing> = Vec::new();
        things.extend(inventory.networks.iter().map(|it| {
            let subnets = it.subnets.len();
            thing("network", &it.name, format!("{}, {subnets} subnets", it.ip_range))
        }));
        things.extend(
            inventory
                .firewalls
                .iter()
                .map(|it| thing("firewall", &it.name, format!("{} rules", it.rules.len()))),
        );
        things.extend(inventory.load_balancers.iter().map(|it| self.balancer(it)));
        things.extend(inventory.volumes.iter().map(|it| thing("volume", &it.name, String::new())));
        let groups = inventory.placement_groups.iter();
        things.extend(groups.map(|it| thing("placement group", &it.name, String::new())));
        let keys = inventory.ssh_keys.iter();
        things.extend(keys.map(|it| thing("ssh key", &it.name, String::new())));
        Seen::Saw(things)
    }

    fn balancer(&self, balancer: &Ours<LoadBalancer>) -> Thing {
        let health = balancer.health(API_PORT);
        let healthy = health.iter().filter(|(_, it)| *it == Health::Healthy).count();
        let (kind, place) = (&balancer.load_balancer_type.name, &balancer.location.name);
        let address = balancer.public_address();
        let address = address.map_or_else(|| "private".to_owned(), |it| it.to_string());
        let about =
            format!("{kind} {place}  {address}  {healthy}/{} targets healthy", health.len());
        let prices = self.prices.as_ref();
        let monthly = prices.and_then(|prices| prices.load_balancer(kind, place)).map(euro);
        Thing { monthly, ..thing("load balancer", &balancer.name, about) }
    }

    /// Returns what all of it costs; none where a price is not known.
    pub(super) fn monthly(&self, nodes: &[NodeNow]) -> Option<Euro> {
        self.prices.as_ref()?;
        let Seen::Saw(things) = self.things() else { return None };
        let servers = nodes.iter().filter_map(|node| node.server.saw()?.as_ref());
        let servers = servers.map(|server| server.monthly);
        let balancers = things.iter().filter(|it| it.kind == "load balancer").map(|it| it.monthly);
        servers.chain(balancers).sum()
    }
}

fn thing(kind: &'static str, name: &str, about: String) -> Thing {
    Thing { kind, name: name.to_owned(), about, monthly: None }
}

fn euro(amount: Amount) -> Euro {
    Euro::from_millionths(amount.millionths())
}
