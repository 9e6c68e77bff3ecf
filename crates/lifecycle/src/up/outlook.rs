//! What `up` would do now: asks the cloud, and changes nothing.

use clouds::Ownership;
use clouds::hetzner::{Holder, Inventory, Kind, Server, ServerType};
use events::{Cause, Failure};
use serde::Serialize;
use spec::plan::{Bill, NodePlan};

use super::{image, network, preflight};
use crate::hetzner::offers;
use crate::{Ground, Site};

/// What `up` would do, what it would cost, and what stands in its way.
#[derive(Debug)]
pub struct Outlook {
    /// What would become of everything that the plan wants, or that is ours.
    pub changes: Vec<Change>,
    /// The bill of a month, where everything has a price.
    pub bill: Option<Bill>,
    /// What `up` would stop at, before it makes anything.
    pub obstacles: Vec<Cause>,
}

/// What would become of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it is.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What would become of it.
    pub fate: Fate,
    /// How it differs from what is wanted, where it is there and does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

/// What would become of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is made.
    Create,
    /// It is changed in place.
    Change,
    /// It stays as it is.
    Keep,
    /// It differs in what cannot be changed in place: it stays as it is.
    Differs,
    /// It is ours and the file does not want it: it stays as it is.
    Surplus,
    /// It has the name and is not ours: `up` refuses.
    Taken,
}

/// Asks the cloud what `up` would do.
pub async fn outlook(site: &Site) -> Result<Outlook, Failure> {
    let Ground::Hetzner(hetzner) = &site.ground else {
        // Machines are given: nothing of them is made, and nobody tells a price.
        return Ok(Outlook { changes: Vec::new(), bill: None, obstacles: Vec::new() });
    };
    let names = site.wanted().names();
    let (holders, inventory) =
        futures::try_join!(hetzner.holders(&names), hetzner.take_inventory())?;
    let (types, prices) = futures::try_join!(hetzner.server_types(), hetzner.prices())?;
    let seen = Seen { site, holders: &holders, inventory: &inventory };
    let mut changes: Vec<_> = names.iter().map(|(kind, name)| seen.change(*kind, name)).collect();
    changes.extend(seen.surplus());
    let mut obstacles: Vec<Cause> = Vec::new();
    obstacles.extend(preflight::taken(&holders).err().map(|cause| *cause));
    obstacles.extend(preflight::lost_bundle(site, &holders).err().map(|cause| *cause));
    obstacles.extend(seen.sold_out(&types));
    obstacles.extend(image::obstacles(site, &types).await?);
    let bill = preflight::bill(site, &prices);
    obstacles.extend(bill.as_ref().err().map(|cause| Cause::clone(cause)));
    let bill = preflight::table(site, &prices).and_then(|it| Bill::of(&site.plan, &it).ok());
    Ok(Outlook { changes, bill, obstacles })
}

/// What the cloud has.
struct Seen<'a> {
    site: &'a Site,
    holders: &'a [Holder],
    inventory: &'a Inventory,
}

impl Seen<'_> {
    fn change(&self, kind: Kind, name: &str) -> Change {
        let holder = self.holders.iter().find(|it| it.kind == kind && it.name == name);
        let (fate, differences) = match holder {
            None => (Fate::Create, Vec::new()),
            Some(holder) => match &holder.ownership {
                Ownership::Foreign { claimed_by } => {
                    (Fate::Taken, vec![owner(claimed_by.as_ref())])
                }
                Ownership::Ours => self.compared(kind, name),
            },
        };
        Change { kind: kind.to_string(), name: name.to_owned(), fate, differences }
    }

    /// Compares what is ours with what is wanted.
    fn compared(&self, kind: Kind, name: &str) -> (Fate, Vec<String>) {
        let (changes, fixed) = match kind {
            Kind::Network => self.network(name),
            Kind::Firewall => (self.firewall(name), Vec::new()),
            Kind::LoadBalancer => (self.balancer(name), Vec::new()),
            Kind::Server => (Vec::new(), self.server(name)),
            Kind::SshKey | Kind::PlacementGroup | Kind::Volume => Default::default(),
        };
        match (fixed.is_empty(), changes.is_empty()) {
            (false, _) => (Fate::Differs, fixed),
            (true, false) => (Fate::Change, changes),
            (true, true) => (Fate::Keep, Vec::new()),
        }
    }

    fn network(&self, name: &str) -> (Vec<String>, Vec<String>) {
        let Some(there) = self.inventory.networks.iter().find(|it| it.name == name) else {
            return Default::default();
        };
        let wanted = self.site.wanted();
        let subnets = wanted.subnets(there, &network::zone(self.site));
        let has = |range| there.subnets.iter().any(|it| it.ip_range == Some(range));
        let missing = subnets.iter().filter(|wish| !has(wish.ip_range));
        let missing = missing.map(|wish| format!("it has no subnet {}", wish.ip_range)).collect();
        (missing, wanted.network().differences(there))
    }

    fn firewall(&self, name: &str) -> Vec<String> {
        let there = self.inventory.firewalls.iter().find(|it| it.name == name);
        let wish = self.site.wanted().firewall();
        there.zip(wish).map(|(there, wish)| wish.differences(there)).unwrap_or_default()
    }

    fn balancer(&self, name: &str) -> Vec<String> {
        let there = self.inventory.load_balancers.iter().find(|it| it.name == name);
        let wish = self.site.wanted().load_balancer();
        there.zip(wish).map(|(there, wish)| wish.differences(there)).unwrap_or_default()
    }

    /// A server may be of any of its offers.
    fn server(&self, name: &str) -> Vec<String> {
        let there = self.inventory.servers.iter().find(|it| it.name == name);
        let node = self.site.plan.nodes.iter().find(|node| node.name == name);
        let Some((there, node)) = there.zip(node) else { return Vec::new() };
        if offers(node).iter().any(|offer| is_of(there, offer)) {
            return Vec::new();
        }
        let wanted: Vec<_> = offers(node)
            .iter()
            .map(|offer| format!("{} in {}", offer.server_type, offer.location))
            .collect();
        let (is, place) = (&there.server_type.name, &there.location.name);
        vec![format!("it is {is} in {place}, not {}", wanted.join(" or "))]
    }

    /// Returns servers of ours that the file does not want any more.
    fn surplus(&self) -> Vec<Change> {
        let wanted = |name: &str| self.site.plan.nodes.iter().any(|node| node.name == name);
        let more = self.inventory.servers.iter().filter(|it| !wanted(&it.name));
        let surplus = |server: &Server| Change {
            kind: Kind::Server.to_string(),
            name: server.name.clone(),
            fate: Fate::Surplus,
            differences: vec!["the cluster file does not want it".to_owned()],
        };
        more.map(|server| surplus(server)).collect()
    }

    /// Returns what cannot be had of what is to be made.
    fn sold_out(&self, types: &[ServerType]) -> Vec<Cause> {
        let exists = |node: &&NodePlan| {
            self.holders.iter().any(|it| it.kind == Kind::Server && it.name == node.name)
        };
        let missing = self.site.plan.nodes.iter().filter(|node| !exists(node));
        let now = self.site.clock.now();
        let sold = |node| preflight::sold(node, types, now).err();
        missing.filter_map(sold).map(|cause| *cause).collect()
    }
}

fn is_of(server: &Server, offer: &spec::plan::Offer) -> bool {
    server.server_type.name == offer.server_type.to_string()
        && server.location.name == offer.location.to_string()
}

fn owner(claimed_by: Option<&String>) -> String {
    match claimed_by {
        Some(other) => format!("it belongs to cluster {other}"),
        None => "it carries no cluster's id".to_owned(),
    }
}
